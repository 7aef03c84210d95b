#include "prior_density.hpp"

namespace bsvm {

namespace {

// Effects that are coefficients.
Index other_effects(const Model& problem) {
  if (problem.integrated < 0) return problem.group_coefficients();
  if (problem.multipliers) return 0;
  const SparseTerm& term = problem.sparse.terms[problem.integrated];
  return problem.group_coefficients() - term.levels * term.effects;
}

}  // namespace

PriorDensity::PriorDensity(const Model& problem)
    : columns_(problem.columns()), unit_(Vec::Ones(columns_ + other_effects(problem))) {
  Index first = 0;
  for (const auto& block : problem.blocks) {
    unit_.segment(first, block->columns()) = block->unit();
    first += block->columns();
  }
  if (problem.multipliers && problem.integrated < 0)
    unit_.tail(problem.group_coefficients()) =
        problem.multipliers->unit().replicate(problem.groups, 1);
  for (const PriorSlot& slot : problem.priors) {
    add_part(slot, {slot.columns}, false);
    if (!slot.parameter) parameter_first_ = free_;
  }
  for (const PriorSlot& slot : problem.group_priors) add_effects(problem, slot);
  parameters_ = problem.parameters();
  for (Part& part : parts_) {
    if (part.integrated) part.seen = part.first - own_first_;
    if (part.slot->parameter) part.seen = own_ + part.first - parameter_first_;
  }
}

Vec PriorDensity::seen(ConstVecRef theta) const {
  Vec out(seen());
  out << theta.segment(own_first_, own_), theta.segment(parameter_first_, parameters_);
  return out;
}

void PriorDensity::add_seen(ConstVecRef step, Vec& theta) const {
  theta.segment(own_first_, own_) += step.head(own_);
  theta.segment(parameter_first_, parameters_) += step.tail(parameters_);
}

void PriorDensity::add_part(const PriorSlot& slot, std::vector<std::vector<Index>> at,
                          bool integrated) {
  const Index size = slot.prior->free_size(static_cast<Index>(slot.columns.size()));
  if (integrated && own_ == 0) own_first_ = free_;
  if (integrated) own_ += size;
  parts_.push_back({&slot, free_, size, std::move(at), integrated, -1});
  free_ += size;
}

// For every level the coefficients of the slot, whose first effect is the level's `within`th.
void PriorDensity::add_levels(const PriorSlot& slot, Index first, Index levels, Index effects,
                            Index within) {
  std::vector<std::vector<Index>> at(levels);
  for (Index level = 0; level < levels; ++level)
    for (Index column : slot.columns)
      at[level].push_back(first + level * effects + within + column - slot.columns[0]);
  add_part(slot, std::move(at), false);
}

void PriorDensity::add_effects(const Model& problem, const PriorSlot& slot) {
  Index effect = 0, coefficient = columns_;
  if (problem.multipliers) {
    if (problem.integrated >= 0) return add_part(slot, {}, true);
    return add_levels(slot, coefficient, problem.groups, problem.effects(), slot.columns[0]);
  }
  for (Index t = 0; t < static_cast<Index>(problem.sparse.terms.size()); ++t) {
    const SparseTerm& term = problem.sparse.terms[t];
    const Index within = slot.columns[0] - effect;
    if (within >= 0 && within < term.effects) {
      if (t == problem.integrated) return add_part(slot, {}, true);
      return add_levels(slot, coefficient, term.levels, term.effects, within);
    }
    effect += term.effects;
    if (t != problem.integrated) coefficient += term.levels * term.effects;
  }
}

Moments PriorDensity::moments(const Part& part, ConstVecRef b, const Mat& covariance) const {
  Moments out;
  if (part.integrated || part.slot->parameter) return out;
  const bool dense = part.at[0][0] < columns_;
  const Index m = static_cast<Index>(part.slot->columns.size());
  out.square = Vec::Zero(dense ? m : m * m);
  out.count = static_cast<double>(m * static_cast<Index>(part.at.size())) + part.slot->unseen;
  out.unseen = part.slot->unseen;
  for (const std::vector<Index>& at : part.at)
    for (Index k = 0; k < out.square.size(); ++k) {
      const Index i = at[k % m], j = at[dense ? k : k / m];
      const double spread = covariance.size() > 0 ? covariance(i, j) : 0;
      out.square[k] += (b[i] * b[j] + spread) * unit_[i] * unit_[j];
    }
  return out;
}

void PriorDensity::add_precision(const Part& part, ConstVecRef theta, double share, Mat& a) const {
  const Index m = static_cast<Index>(part.slot->columns.size());
  const bool dense = part.at[0][0] < columns_;
  Vec hyper(part.slot->prior->hyper_size(m)), own(dense ? m : m * m);
  if (part.size > 0) part.slot->prior->fix(theta.segment(part.first, part.size), hyper);
  part.slot->prior->precision(hyper, own);
  for (const std::vector<Index>& at : part.at)
    for (Index k = 0; k < own.size(); ++k) {
      const Index i = at[k % m], j = at[dense ? k : k / m];
      a(i, j) += share * own[k] * unit_[i] * unit_[j];
    }
}

Mat PriorDensity::precision(ConstVecRef theta) const {
  Mat out = Mat::Zero(coefficients(), coefficients());
  for (const Part& part : parts_)
    if (!part.integrated && !part.slot->parameter) add_precision(part, theta, 1, out);
  return out;
}

double PriorDensity::log_density(ConstVecRef b, ConstVecRef theta) const {
  double out = 0;
  for (const Part& part : parts_) {
    Vec gradient(part.size);
    out += part.slot->prior->log_joint(moments(part, b, Mat()),
                                       theta.segment(part.first, part.size), gradient);
  }
  return out;
}

}  // namespace bsvm
