#include "problem.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "linalg/small.hpp"

namespace bsvm {

Index Model::columns() const {
  Index p = 0;
  for (const auto& part : blocks) p += part->columns();
  return p;
}

Index Model::effects() const {
  if (multipliers) return multipliers->columns();
  Index effects = 0;
  for (const SparseTerm& term : sparse.terms) effects += term.effects;
  return effects;
}

Index Model::group_coefficients() const {
  return multipliers ? multipliers->columns() * groups : sparse.columns;
}

Index Model::parameters() const {
  Index size = likelihood->free_size();
  for (const auto& block : blocks) size += block->free_size();
  return size;
}

std::vector<Index> Model::single_parameters() const {
  const Index own = likelihood->free_size(), first = own - likelihood->coefficients();
  std::vector<Index> out;
  for (Index k = 0; k < parameters(); ++k)
    if (k < first || k >= own) out.push_back(k);
  return out;
}

bool Model::selects() const {
  return std::any_of(priors.begin(), priors.end(),
                     [](const PriorSlot& slot) { return slot.prior->selects(); });
}

namespace {

bool finite(double x) { return std::isfinite(x); }

template <class Rule>
bool all(const double* x, Index size, Rule holds) {
  return std::all_of(x, x + size, holds);
}

void check_cover(const std::vector<PriorSlot>& priors, Index columns, const char* argument) {
  std::vector<int> seen(columns, 0);
  for (const PriorSlot& slot : priors)
    for (Index j : slot.columns) {
      if (j < 0 || j >= columns)
        throw InvalidInput(argument, "A prior names a column that does not exist.");
      ++seen[j];
    }
  for (int times : seen)
    if (times != 1)
      throw InvalidInput(argument, "Every column must have exactly one prior.");
}

// The levels of the term that has these effects, 0 if there is no such term.
Index levels_of(const Model& problem, const std::vector<Index>& effects) {
  if (problem.multipliers) return problem.groups;
  Index first = 0;
  for (const SparseTerm& term : problem.sparse.terms) {
    const auto inside = [&](Index a) { return a >= first && a < first + term.effects; };
    if (std::all_of(effects.begin(), effects.end(), inside)) return term.levels;
    first += term.effects;
  }
  return 0;
}

void check_group_slot(const Model& problem, const PriorSlot& slot) {
  const Index effects = static_cast<Index>(slot.columns.size());
  if (effects != slot.prior->effects())
    throw InvalidInput("prior", "The effects that a grouping factor's prior ties together must be "
                                "those of its block.");
  if (effects > kMostEffects)
    throw InvalidInput("formula", "A group can have at most " +
                                      std::to_string(kMostEffects) + " correlated effects.");
  if (slot.levels != levels_of(problem, slot.columns))
    throw InvalidInput("group_blocks", "A prior's effects must belong to one grouping factor.");
}

void check_sparse(const Problem& problem) {
  const SparseColumns& sparse = problem.sparse;
  const Index n = problem.n;
  Index columns = 0;
  for (const SparseTerm& term : sparse.terms) columns += term.levels * term.effects;
  bool good = columns == sparse.columns;
  if (good && !problem.here()) return;
  good = good && (columns == 0 || sparse.start[0] == 0);
  for (Index j = 0; good && j < sparse.columns; ++j)
    good = sparse.start[j] <= sparse.start[j + 1];
  for (Index j = 0; good && j < sparse.columns; ++j) {
    for (int k = sparse.start[j]; good && k < sparse.start[j + 1]; ++k)
      good = sparse.row[k] >= 0 && sparse.row[k] < n &&
             (k == sparse.start[j] || sparse.row[k] > sparse.row[k - 1]);
  }
  if (!good)
    throw InvalidInput("sparse", "The sparse columns must be compressed by column, with rows "
                                 "in increasing order.");
  if (columns > 0 && !all(sparse.value, sparse.start[columns], finite))
    throw InvalidInput("sparse", "Their numbers must be finite.");
}

void check_rows(const Problem& problem) {
  const Index n = problem.n;
  problem.likelihood->check(problem.y, n);
  if (problem.weight && !all(problem.weight, n, [](double w) { return w >= 0 && finite(w); }))
    throw InvalidInput("weight", "They must be finite numbers that are not negative.");
  if (!problem.offset || n == 0) return;
  double largest = 0;
  for (Index i = 0; i < n && !std::isnan(largest); ++i)
    if (!(std::abs(problem.offset[i]) <= largest)) largest = std::abs(problem.offset[i]);
  const double most = problem.likelihood->most_offset();
  if (largest <= most) return;
  std::ostringstream text;
  text << "Its largest size is " << largest << "; sizes up to " << most << " are possible."
       << problem.likelihood->offset_scale()
       << " Rescale the offset, or leave out rows with such an offset.";
  throw InvalidInput("offset", text.str());
}

void check_latent(const Problem& problem) {
  if (problem.sparse.columns > 0)
    throw InvalidInput("missing", "What is unknown in the design goes with dense predictors and at "
                                  "most one grouping factor.");
  problem.latent->check(problem);
}

// Each has a prior, after those of coefficients; and what looks at rows without a State is refused.
void check_parameters(const Problem& problem) {
  Index with_prior = 0, of_blocks = problem.parameters() - problem.likelihood->free_size();
  for (const PriorSlot& slot : problem.priors) {
    if (!slot.parameter) {
      if (with_prior > 0)
        throw InvalidInput("prior", "Priors of parameters must come after those of coefficients.");
      continue;
    }
    if (!slot.columns.empty() || slot.prior->free_size(0) != 1)
      throw InvalidInput("prior", "The prior of a parameter must be one of a single number that is "
                                  "not given.");
    ++with_prior;
  }
  if (with_prior != problem.parameters())
    throw InvalidInput("prior", "Every parameter of the likelihood and of a term needs a prior.");
  if (of_blocks > 0 && problem.latent->any())
    throw InvalidInput("missing", "What is unknown in the design can't be modelled together with "
                                  "parameters of terms that are inferred.");
  if (of_blocks > 0 && problem.integrated >= 0)
    throw InvalidInput("engine", "Group effects can't be integrated out together with parameters "
                                 "of terms that are inferred.");
  if (of_blocks > 0 && problem.selects())
    throw InvalidInput("prior", "A prior that selects can't stand together with parameters of "
                                "terms that are inferred.");
  if (of_blocks > 0 && problem.sparse.columns > 0)
    throw InvalidInput("formula", "Terms with inferred parameters can't stand together with "
                                  "sparse predictors or several grouping factors.");
}

// In their order, and with the rows that these have.
void check_large(const Problem& problem) {
  Index before = -1;
  for (const LargeLevel& large : problem.large) {
    const int code = static_cast<int>(large.level) + 1;
    const bool counted =
        !problem.group || std::count(problem.group, problem.group + problem.n, code) == large.rows;
    if (large.level <= before || large.level >= problem.groups || large.rows < 1 || !counted)
      throw InvalidInput("group", "Large levels of a grouping factor are not those of its rows.");
    before = large.level;
  }
}

}  // namespace

void check(const Problem& problem) {
  check_parameters(problem);
  check_large(problem);
  if (problem.latent->any()) check_latent(problem);
  if (problem.here()) check_rows(problem);
  check_sparse(problem);
  if (problem.multipliers && problem.sparse.columns > 0)
    throw InvalidInput("sparse", "Sparse columns and a grouping factor can't stand together.");
  check_cover(problem.priors, problem.columns(), "blocks");
  check_cover(problem.group_priors, problem.effects(), "group_blocks");
  for (const PriorSlot& slot : problem.priors)
    if (slot.unseen > 0 && !slot.prior->exchangeable())
      throw InvalidInput("prior",
                         "A block with more columns than rows needs one variance for all "
                         "its coefficients.");
  for (const PriorSlot& slot : problem.priors)
    if (slot.prior->effects() != 1)
      throw InvalidInput("prior", "A covariance is for the effects of a grouping factor.");
  for (const auto* slots : {&problem.priors, &problem.group_priors})
    for (const PriorSlot& slot : *slots)
      if (slot.prior->of_number() && !slot.parameter)
        throw InvalidInput("prior", "A prior of a parameter can't be one of coefficients.");
  for (const PriorSlot& slot : problem.group_priors) check_group_slot(problem, slot);
  if (problem.multipliers && problem.effects() > kMostEffects)
    throw InvalidInput("formula", "A group can have at most " +
                                      std::to_string(kMostEffects) + " effects.");
}

}  // namespace bsvm
