#include "model.hpp"

#include "base/error.hpp"

namespace bsvm {

namespace {

void check_choices(const ColumnPart& part) {
  if (part.choices.empty()) return;
  size_t columns = 0;
  bool same = true;
  for (const auto& choice : part.choices) {
    columns += choice.size();
    same = same && choice.size() == part.choices[0].size();
  }
  if (columns != part.columns.size() || part.unseen > 0)
    throw InvalidInput("blocks", "Choices must have the columns of their block.");
  if (!same && !has_one_variance(part))
    throw InvalidInput("blocks", "Choices must have equally many columns.");
}

void check_columns(const Responses& model) {
  std::vector<int> seen(static_cast<size_t>(model.p()), 0);
  for (const ColumnPart& part : model.parts) {
    if (static_cast<Index>(part.priors.size()) != model.q())
      throw InvalidInput("prior", "A block of columns needs a prior for each response.");
    if (part.start.size() > 0 && (part.start.size() != model.q() || !part.start.allFinite()))
      throw InvalidInput("start", "A block needs a start for each response.");
    for (Index j : part.columns) {
      if (j < 0 || j >= model.p()) throw InvalidInput("blocks", "A block has a column too many.");
      ++seen[static_cast<size_t>(j)];
    }
    check_choices(part);
    for (const auto& prior : part.priors)
      if (!prior->supports(Use::drawn) || prior->selects() || prior->effects() != 1 ||
          (model.settled > 0 && !prior->supports(Use::augmented)) ||
          prior->of_number() || (part.unseen > 0 && !prior->exchangeable()))
        throw InvalidInput("prior", "This prior does not go with several responses.");
  }
  for (int times : seen)
    if (times != 1) throw InvalidInput("blocks", "Each column must be in one block.");
}

void check_factor(const LevelPart& factor, const Responses& model) {
  if (static_cast<Index>(factor.code.size()) != model.n() || factor.z.rows() != model.n())
    throw InvalidInput("group", "A grouping factor needs a code and multipliers for each row.");
  for (int code : factor.code)
    if (code < 0 || code >= factor.levels) throw InvalidInput("group", "A code is no level.");
  if (factor.prior->effects() != factor.effects() * model.q())
    throw InvalidInput("prior", "A grouping factor's prior must be of all its effects.");
}

}  // namespace

bool has_one_variance(const ColumnPart& part) {
  for (const auto& prior : part.priors)
    if (!prior->exchangeable()) return false;
  return true;
}

void add_drawn(const Prior& prior, const Vec& hyper, std::vector<double>& to) {
  for (const auto& number : prior.drawn(hyper)) to.push_back(number.second);
}

std::vector<double> drawn_of_columns(const Responses& model,
                                     const std::vector<std::vector<Vec>>& hyper) {
  std::vector<double> out;
  for (size_t j = 0; j < static_cast<size_t>(model.q()); ++j)
    for (size_t k = 0; k < hyper.size(); ++k)
      add_drawn(*model.parts[k].priors[j], hyper[k][j], out);
  return out;
}

void check(const Responses& model) {
  if (model.y.rows() != model.n() || model.q() < 1)
    throw InvalidInput("y", "The responses need a row for each row of the design.");
  if (model.weight.size() > 0 && model.weight.size() != model.n())
    throw InvalidInput("weight", "The weights must be one a row.");
  if (model.weight.size() > 0 && model.y.array().isNaN().any())
    throw InvalidInput("weight", "Weights do not go with missing responses.");
  check_columns(model);
  for (const LevelPart& factor : model.factors) check_factor(factor, model);
  if (model.start.size() > 0 && (model.start.size() != model.q() || !model.start.allFinite()))
    throw InvalidInput("start", "The residuals need a start for each response.");
  if (!model.losses.empty() && static_cast<Index>(model.losses.size()) != model.q())
    throw InvalidInput("likelihood", "Each response needs a loss.");
  if (!model.losses.empty() && model.weight.size() > 0)
    throw InvalidInput("weight", "Weights do not go with a second layer of residuals.");
  if (model.residual->effects() != model.q())
    throw InvalidInput("prior", "The residual covariance needs a prior of all responses.");
}

}  // namespace bsvm
