#include "coefficients.hpp"

#include <algorithm>
#include <cmath>

#include "../error.hpp"
#include "../special/functions.hpp"

namespace bsvm {

namespace {

Vec gather(const Vec& from, const std::vector<Index>& at) {
  Vec out(at.size());
  for (size_t k = 0; k < at.size(); ++k) out[k] = from[at[k]];
  return out;
}

// How many coefficients a slot speaks of: columns, or the levels of a group.
double count(const PriorSlot& slot, Index replicates) {
  return static_cast<double>(slot.columns.size() * replicates) + slot.unseen;
}

// visit(slot, its hyper-parameters) over priors in order; returns the next offset.
template <class Visit>
Index each_prior(const std::vector<PriorSlot>& priors, Index start, Visit visit) {
  for (const PriorSlot& slot : priors) {
    const Index size = slot.prior->hyper_size(static_cast<Index>(slot.columns.size()));
    visit(slot, start, size);
    start += size;
  }
  return start;
}

}  // namespace

Coefficients::Coefficients(const Problem& problem) : problem_(problem) {
  layout_.p = problem.columns();
  layout_.q = problem.effects();
  unit_.resize(layout_.p);
  Index first = 0;
  for (const auto& block : problem.blocks) {
    unit_.segment(first, block->columns()) = block->unit();
    first += block->columns();
  }
  if (problem.multipliers) group_unit_ = problem.multipliers->unit();
  const auto nothing = [](const PriorSlot&, Index, Index) {};
  layout_.hyper = each_prior(problem.group_priors,
                             each_prior(problem.priors, 0, nothing), nothing);
}

State Coefficients::start(ConstVecRef mean) const {
  State state(layout_);
  if (mean.size() > 0) state.mean() = mean.cwiseQuotient(unit_);
  state.damping() = 1;
  auto hyper = state.hyper();
  const auto begin = [&](Index replicates) {
    return [&hyper, replicates](const PriorSlot& slot, Index start, Index size) {
      Moments shape;
      shape.count = count(slot, replicates);
      shape.unseen = slot.unseen;
      slot.prior->start(shape, hyper.segment(start, size));
    };
  };
  const Index next = each_prior(problem_.priors, 0, begin(1));
  each_prior(problem_.group_priors, next, begin(problem_.groups));
  refresh_group_prior(state);
  return state;
}

Vec Coefficients::precision(const State& state) const {
  Vec out = Vec::Zero(layout_.p);
  each_prior(problem_.priors, 0, [&](const PriorSlot& slot, Index start, Index size) {
    Vec own(slot.columns.size());
    slot.prior->precision(state.hyper().segment(start, size), own);
    for (size_t k = 0; k < slot.columns.size(); ++k) {
      const Index j = slot.columns[k];
      out[j] = own[k] * unit_[j] * unit_[j];
    }
  });
  return out;
}

void Coefficients::refresh_group_prior(State& state) const {
  const Index first = each_prior(problem_.priors, 0, [](const PriorSlot&, Index, Index) {});
  state.group_prior().setZero();
  each_prior(problem_.group_priors, first, [&](const PriorSlot& slot, Index start, Index size) {
    Vec own(1);
    slot.prior->precision(state.hyper().segment(start, size), own);
    const Index a = slot.columns[0];
    state.group_prior()(a, a) = own[0] * group_unit_[a] * group_unit_[a];
  });
}

Coefficients::Proposal Coefficients::propose(const State& state, RowSums& sums,
                                             Host& host) const {
  if (!sums.x.allFinite())
    throw NumericalFailure(
        "A sum over the rows became infinite or undefined. Check the scale of "
        "predictors, offset and weights.");
  const Vec prior = precision(state);
  Mat next = sums.weight(), curvature = sums.curvature();
  next.diagonal() += prior;
  curvature.diagonal() += prior;
  Proposal out{Mat(), sums.linear() - prior.cwiseProduct(state.mean()), 0};
  double square = sums.group_decrement() + sums.group_change();
  if (state.begun()) square += relative_change(state, next, host);
  if (!cholesky(next, host) || !cholesky(curvature, host))
    throw NumericalFailure(
        "The posterior precision of the coefficients is not positive definite to "
        "working accuracy. Rescale or standardise the predictors, drop columns that "
        "repeat others, or give the coefficients a tighter prior.");
  out.inverse_factor = inverse_lower(next, host);
  curvature.triangularView<Eigen::Lower>().solveInPlace(out.step);
  out.gradient = std::sqrt(square + out.step.squaredNorm());
  curvature.triangularView<Eigen::Lower>().transpose().solveInPlace(out.step);
  return out;
}

// |L^{-1} next L^{-T} - I|^2 / 2 in the Frobenius norm, a panel of columns at a time so
// that the host is asked often.
double Coefficients::relative_change(const State& state, const Mat& next, Host& host) const {
  const auto inverse_factor = state.inverse_factor().triangularView<Eigen::Lower>();
  const Mat whole = next.selfadjointView<Eigen::Lower>();
  const Index p = layout_.p, panel = std::max<Index>(16, 20000000 / (p * p + 1));
  double sum = 0;
  for (Index k = 0; k < p; k += panel) {
    if (host.interrupted()) throw Interrupted();
    const Index width = std::min(panel, p - k);
    const Mat rows = state.inverse_factor().middleRows(k, width).transpose();
    Mat ratio = inverse_factor * (whole * rows).eval();
    ratio.diagonal(-k).array() -= 1;
    sum += ratio.squaredNorm();
  }
  return 0.5 * sum;
}

void Coefficients::update_priors(State& state, const Mat& group_moments,
                                 double reach) const {
  const Vec square = (state.inverse_factor().colwise().squaredNorm().transpose() +
                      state.mean().cwiseAbs2())
                         .cwiseProduct(unit_.cwiseAbs2());
  Vec group_square = group_moments.diagonal();
  if (layout_.q > 0) group_square.array() *= group_unit_.array().square();

  double value = entropy(state);
  auto hyper = state.hyper();
  const auto update = [&](const Vec& from, Index replicates) {
    return [&, replicates](const PriorSlot& slot, Index start, Index size) {
      const Moments moments{gather(from, slot.columns), count(slot, replicates), slot.unseen};
      auto own = hyper.segment(start, size).array();
      const Arr before = own;
      slot.prior->update(moments, hyper.segment(start, size));
      if (reach != 1) own *= (own / before).pow(reach - 1);
      value += slot.prior->value(moments, hyper.segment(start, size));
    };
  };
  const Index next = each_prior(problem_.priors, 0, update(square, 1));
  each_prior(problem_.group_priors, next, update(group_square, problem_.groups));
  refresh_group_prior(state);
  state.prior_value() = value;
}

OutsideMoments Coefficients::outside(const Result& result) const {
  const State& state = result.state;
  OutsideMoments out;
  out.mean = unit_.cwiseProduct(state.mean());
  const Mat root = unit_.asDiagonal() * state.inverse_factor().transpose();
  Mat lower = Mat::Zero(layout_.p, layout_.p);
  lower.selfadjointView<Eigen::Lower>().rankUpdate(root);
  out.covariance = lower.selfadjointView<Eigen::Lower>();
  out.groups = result.groups;
  const Index p = layout_.p, q = layout_.q;
  if (q == 0) return out;
  const Vec inverse_unit = unit_.cwiseInverse(), inverse_group = group_unit_.cwiseInverse();
  out.groups.mean.array().colwise() *= group_unit_.array();
  for (Index g = 0; g < problem_.groups; ++g) {
    Eigen::Map<Mat> precision(out.groups.precision.data() + g * q * q, q, q);
    precision = (inverse_group.asDiagonal() * precision * inverse_group.asDiagonal()).eval();
    Eigen::Map<const Mat> inside(result.groups.regression.data() + g * p * q, p, q);
    Eigen::Map<Mat> regression(out.groups.regression.data() + g * p * q, q, p);
    regression = (inverse_unit.asDiagonal() * inside * group_unit_.asDiagonal()).transpose();
  }
  return out;
}

// Of q(b, u), on the outside scale.
double Coefficients::entropy(const State& state) const {
  const double groups = static_cast<double>(problem_.groups);
  const double count = layout_.p + groups * layout_.q;
  double units = unit_.array().log().sum();
  if (layout_.q > 0) units += groups * group_unit_.array().log().sum();
  const double logdet = 2 * state.inverse_factor().diagonal().array().log().sum();
  return 0.5 * (count * (1 + kLog2Pi) + logdet - state.group_logdet()) + units;
}

}  // namespace bsvm
