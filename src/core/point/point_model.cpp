#include "point_model.hpp"

#include "base/error.hpp"

namespace bsvm {

namespace {

// The columns of the effect `a` of a factor, or of a block of sparse predictors, level by level.
std::vector<Index> effect_columns(const Problem& problem, Index a) {
  Index first = problem.columns();
  std::vector<SparseTerm> terms = problem.sparse.terms;
  if (problem.multipliers) terms = {{problem.groups, problem.effects()}};
  std::vector<Index> out;
  for (const SparseTerm& term : terms) {
    for (Index level = 0; a < term.effects && level < term.levels; ++level)
      out.push_back(first + level * term.effects + a);
    if (a < term.effects) return out;
    a -= term.effects;
    first += term.levels * term.effects;
  }
  return out;
}

}  // namespace

PointModel::PointModel(const Problem& problem, const Design& design) : design_(design) {
  for (const PriorSlot& slot : problem.priors) parts_.push_back({slot.prior.get(), slot.columns});
  for (const PriorSlot& slot : problem.group_priors)
    parts_.push_back({slot.prior.get(), effect_columns(problem, slot.columns[0])});
  for (const Part& part : parts_)
    if (!part.prior->supports(Use::point) || part.prior->effects() != 1)
      throw InvalidInput("prior", "A point estimate can't be had with one of the priors.");
}

PointModel::Hyper PointModel::start() const {
  Hyper out;
  for (const Part& part : parts_) {
    const Index m = static_cast<Index>(part.at.size());
    Moments shape;
    shape.count = static_cast<double>(m);
    out.emplace_back(part.prior->hyper_size(m));
    part.prior->start(shape, out.back());
  }
  return out;
}

PointModel::Hyper PointModel::best(const Hyper& hyper, ConstVecRef b) const {
  Hyper out = hyper;
  for (size_t k = 0; k < parts_.size(); ++k)
    parts_[k].prior->to_mode(outside(parts_[k], b), out[k]);
  return out;
}

Vec PointModel::logs(const Hyper& hyper) {
  std::vector<double> all;
  for (const Vec& part : hyper) all.insert(all.end(), part.data(), part.data() + part.size());
  return Eigen::Map<const Vec>(all.data(), static_cast<Index>(all.size())).array().log();
}

PointModel::Hyper PointModel::from_logs(ConstVecRef logs, Hyper shape) {
  Index first = 0;
  for (Vec& part : shape) {
    part = logs.segment(first, part.size()).array().exp();
    first += part.size();
  }
  return shape;
}

Vec PointModel::outside(const Part& part, ConstVecRef b) const {
  Vec out(part.at.size());
  for (size_t f = 0; f < part.at.size(); ++f) out[f] = b[part.at[f]] * design_.unit[part.at[f]];
  return out;
}

Penalties PointModel::penalties(const Hyper& hyper) const {
  Penalties out{Vec(design_.columns()), Vec(design_.columns())};
  for (size_t k = 0; k < parts_.size(); ++k) {
    const std::vector<Index>& at = parts_[k].at;
    const Penalty own = parts_[k].prior->penalty(hyper[k], static_cast<Index>(at.size()));
    for (size_t f = 0; f < at.size(); ++f) {
      out.power[at[f]] = own.power;
      out.scale[at[f]] = own.scale[f] / design_.unit[at[f]];
    }
  }
  return out;
}

double PointModel::objective(const Hyper& hyper, ConstVecRef b) const {
  return design_.cost.dot((design_.kink - design_.times(b)).cwiseMax(0)) + prior_loss(hyper, b);
}

double PointModel::prior_loss(const Hyper& hyper, ConstVecRef b) const {
  double sum = 0;
  for (size_t k = 0; k < parts_.size(); ++k)
    sum += parts_[k].prior->loss(outside(parts_[k], b), hyper[k]);
  return sum;
}

}  // namespace bsvm
