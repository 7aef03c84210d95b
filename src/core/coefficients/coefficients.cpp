#include "coefficients.hpp"

#include <cmath>

#include "base/error.hpp"
#include "free_parameters.hpp"
#include "linalg/dense.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

// Of the dense coefficients' covariance.
double logdet(const State& state) {
  return 2 * state.inverse_factor().diagonal().array().log().sum();
}

[[noreturn]] void refuse_levels() {
  throw InvalidInput("prior", "Group effects and sparse predictors need one variance for all of a "
                              "block.");
}

}  // namespace

void refuse_sums() {
  throw NumericalFailure(
      "A sum over the rows became infinite or undefined. Check the scale of "
      "predictors, offset and weights.");
}

void refuse_precision() {
  throw NumericalFailure(
      "The posterior precision of the coefficients is not positive definite to "
      "working accuracy. Rescale or standardise the predictors, drop columns that "
      "repeat others, or give the coefficients a tighter prior, such as a half-t on the "
      "standard deviation: separated classes leave vague ones unbounded.");
}

Coefficients::Coefficients(const Model& problem, Index extra, bool covariance)
    : problem_(problem), extra_(extra),
      unit_(Vec::Ones(extra + problem.columns())),
      group_unit_(Vec::Ones(problem.effects())) {
  Index first = extra;
  for (const auto& block : problem.blocks) {
    unit_.segment(first, block->columns()) = block->unit();
    first += block->columns();
  }
  if (problem.multipliers) group_unit_ = problem.multipliers->unit();
  layout_.p = unit_.size();
  layout_.covariance = covariance;
  tilt_ = Vec::Zero(layout_.p);
  if (problem.tilt.size() > 0)
    tilt_.tail(problem.tilt.size()) = problem.tilt.cwiseProduct(unit_.tail(problem.tilt.size()));
  layout_.q = problem.effects();
  layout_.leaving = static_cast<Index>(problem.leaving.size());
  layout_.large = static_cast<Index>(problem.large.size());
  layout_.latent = problem.latent->state_size();
  layout_.latent_sums = problem.latent->sums_size();
  if (covariance && problem.selects()) layout_.scatter = layout_.p;
  for (const bool group : {false, true})
    for (const PriorSlot& slot : group ? problem.group_priors : problem.priors) {
      if (group && slot.prior->effects() == 1 && !slot.prior->exchangeable()) refuse_levels();
      const Index size = slot.prior->hyper_size(static_cast<Index>(slot.columns.size()));
      if (slot.parameter && layout_.parameters++ == 0) parameter_first_ = free_size();
      parts_.push_back({slot, group, layout_.hyper, size});
      layout_.hyper += size;
    }
}

State Coefficients::start(ConstVecRef mean) const {
  State state(layout_);
  if (mean.size() > 0) state.mean().tail(mean.size()) = mean.cwiseQuotient(unit_.tail(mean.size()));
  state.damping() = 1;
  for (const PriorPart& part : parts_) {
    Moments shape;
    shape.count = part.count();
    shape.unseen = part.slot.unseen;
    if (part.slot.start.size() > 0) part.slot.prior->fix(part.slot.start, hyper(state, part));
    else part.slot.prior->start(shape, hyper(state, part));
  }
  latent().start(state);
  refresh(state);
  return state;
}

Vec Coefficients::precision(const State& state) const {
  Vec out = Vec::Zero(layout_.p);
  for (const PriorPart& part : parts_) {
    if (part.group) continue;
    Vec own(part.slot.columns.size());
    part.slot.prior->precision(hyper(state, part), own);
    for (size_t k = 0; k < part.slot.columns.size(); ++k) {
      const Index j = extra_ + part.slot.columns[k];
      out[j] = own[k] * unit_[j] * unit_[j];
    }
  }
  return out;
}

Vec Coefficients::included(const State& state) const {
  Vec out = Vec::Ones(layout_.p);
  for (const PriorPart& part : parts_) {
    if (!part.selects()) continue;
    const auto g = inclusion(state, part);
    for (Index k = 0; k < g.size(); ++k) out[extra_ + part.slot.columns[k]] = g[k];
  }
  return out;
}

void Coefficients::refresh(State& state) const {
  Index own = 0;
  for (const PriorPart& part : parts_)
    if (part.parameter())
      part.slot.prior->free(hyper(state, part), state.parameters().segment(own++, 1));
  for (Index k = 0; k < layout_.leaving; ++k) {
    const PriorPart& part = parts_[problem_.leaving[k]];
    Vec precision(part.slot.columns.size());
    part.slot.prior->precision(hyper(state, part), precision);
    state.leaving()[k] = 1 / precision[0];
  }
  state.group_prior().setZero();
  for (const PriorPart& part : parts_) {
    if (!part.group) continue;
    const std::vector<Index>& effects = part.slot.columns;
    const Index q = static_cast<Index>(effects.size());
    Vec own(q * q);
    part.slot.prior->precision(hyper(state, part), own);
    for (Index a = 0; a < q; ++a)
      for (Index b = 0; b < q; ++b)
        state.group_prior()(effects[a], effects[b]) =
            own[a + b * q] * group_unit_[effects[a]] * group_unit_[effects[b]];
  }
}

// Second moments of a prior's coefficients on the outside scale; square (p), group_square
// (q, q) on the inside one.
Moments Coefficients::moments(const PriorPart& part, ConstVecRef square,
                              const Mat& group_square) const {
  const std::vector<Index>& columns = part.slot.columns;
  const Index m = static_cast<Index>(columns.size());
  Moments out;
  out.count = part.count();
  out.unseen = part.slot.unseen;
  out.square.resize(part.group ? m * m : m);
  for (Index k = 0; k < out.square.size(); ++k) {
    const Index a = columns[k % m], b = columns[part.group ? k / m : k];
    out.square[k] = part.group
                        ? group_square(a, b) * group_unit_[a] * group_unit_[b]
                        : square[extra_ + a] * unit_[extra_ + a] * unit_[extra_ + a];
  }
  return out;
}

Coefficients::Proposal Coefficients::propose(const State& state, RowSums& sums,
                                             Host& host) const {
  if (!sums.x.allFinite()) refuse_sums();
  const Vec prior = precision(state);
  Mat next = sums.weight(), curvature = sums.curvature();
  next.diagonal() += prior;
  curvature.diagonal() += prior;
  Proposal out{Mat(), gradient(state, sums), 0};
  double square = sums.group_decrement() + sums.group_change() + latent().change(sums, state);
  if (!cholesky(next, host) || !cholesky(curvature, host)) refuse_precision();
  if (state.begun()) square += relative_change(state, next, host);
  out.inverse_factor = inverse_lower(next, host);
  solve_lower(curvature, out.step);
  out.gradient = std::sqrt(square + out.step.squaredNorm());
  solve_transposed(curvature, out.step);
  return out;
}

// How far the precision moved from the State's, in the State's metric: with S the State's
// covariance and A = L L' the new precision, tr(S A) - p - log det(S A), which is
// |S^{1/2} A S^{1/2} - I|^2 / 2 (Frobenius) to second order.
double Coefficients::relative_change(const State& state, const Mat& factor, Host& host) const {
  return divergence(state.inverse_factor(), factor, host);
}

Coefficients::Proposal Coefficients::propose_natural(const State& state, RowSums& sums,
                                                     Host& host) const {
  if (!sums.x.allFinite()) refuse_sums();
  const Vec prior = precision(state);
  Mat factor = sums.weight();
  factor.diagonal() += prior;
  if (!cholesky(factor, host)) refuse_precision();
  Proposal out{inverse_lower(factor, host), gradient(state, sums), 0};
  double square = sums.group_decrement() + sums.group_change() + latent().change(sums, state);
  if (state.begun()) square += relative_change(state, factor, host);
  solve_lower(factor, out.step);
  out.gradient = std::sqrt(square + out.step.squaredNorm());
  solve_transposed(factor, out.step);
  return out;
}

Vec Coefficients::gradient(const State& state, RowSums& sums) const {
  return sums.linear() + tilt_ - precision(state).cwiseProduct(state.mean());
}

Vec Coefficients::second_moments(const State& state) const {
  return state.inverse_factor().colwise().squaredNorm().transpose() + state.mean().cwiseAbs2();
}

Index Coefficients::free_size() const {
  Index size = 0;
  for (const PriorPart& part : parts_) size += part.free_size();
  return size;
}

Vec Coefficients::free(const State& state) const {
  Vec theta(free_size());
  Index first = 0;
  for (const PriorPart& part : parts_) {
    const Index size = part.free_size();
    part.slot.prior->free(hyper(state, part), theta.segment(first, size));
    first += size;
  }
  return theta;
}

void Coefficients::fix_priors(State& state, ConstVecRef theta) const {
  Index first = 0;
  for (const PriorPart& part : parts_) {
    const Index size = part.free_size();
    if (size > 0) part.slot.prior->fix(theta.segment(first, size), hyper(state, part));
    first += size;
  }
  refresh(state);
}

double Coefficients::value_at(const State& state, const Mat& group_moments, ConstVecRef theta,
                              VecRef gradient) const {
  const Vec square = second_moments(state);
  double value = entropy(state, logdet(state)) + tilt_.dot(state.mean());
  value += latent().value(state);
  Index first = 0;
  for (const PriorPart& part : parts_) {
    const Index size = part.free_size();
    value += part.slot.prior->log_joint(moments(part, square, group_moments),
                                        theta.segment(first, size),
                                        gradient.segment(first, size));
    first += size;
  }
  return value;
}

void Coefficients::update_priors(State& state, const Mat& group_moments,
                                 double reach) const {
  update_priors(state, second_moments(state), logdet(state), group_moments, reach);
}

void Coefficients::update_priors(State& state, ConstVecRef square, double logdet,
                                 const Mat& group_moments, double reach) const {
  double value = entropy(state, logdet) + tilt_.dot(state.mean());
  value += latent().value(state);
  Vec unused(layout_.parameters);
  if (layout_.parameters > 0) value += log_parameters(state.parameters(), unused);
  for (const PriorPart& part : parts_) {
    if (part.parameter()) continue;
    const Moments own = moments(part, square, group_moments);
    part.slot.prior->update(own, reach, hyper(state, part));
    value += part.slot.prior->value(own, hyper(state, part));
  }
  refresh(state);
  state.prior_value() = value;
}

void Coefficients::update_boldly(State& state, ConstVecRef square, ConstVecRef follow) const {
  for (const PriorPart& part : parts_) {
    if (part.group || part.parameter()) continue;
    Moments own = moments(part, square, Mat());
    own.follow.resize(own.square.size());
    for (Index k = 0; k < own.follow.size(); ++k)
      own.follow[k] = follow[extra_ + part.slot.columns[k]];
    part.slot.prior->update(own, 1, hyper(state, part));
  }
}

void factor_precision(const std::function<void(Mat&)>& fill, Mat& out, Host& host) {
  for (double more : {0.0, 1e-14, 1e-12, 1e-10}) {
    fill(out);
    out.diagonal() *= 1 + more;
    if (cholesky(out, host)) return;
  }
  refuse_precision();
}

Vec Coefficients::draw(State& state, RowSums& sums, Host& host) const {
  if (!sums.x.allFinite()) refuse_sums();
  const Vec prior = precision(state);
  Mat factor;
  factor_precision([&](Mat& out) {
    out = sums.weight();
    out.diagonal() += prior;
  }, factor, host);
  Vec step = gradient(state, sums);
  solve_lower(factor, step);
  Vec noise(layout_.p);
  Draws random(state.key(), Purpose::dense, 0);
  for (Index j = 0; j < layout_.p; ++j) noise[j] = random.normal();
  Mat both(layout_.p, 2);  // without and with the noise
  both << step, step + noise;
  solve_transposed(factor, both);
  const Vec expected = state.mean() + both.col(0);
  state.step() = both.col(1);
  state.mean() += both.col(1);
  return expected;
}

void Coefficients::draw_priors(State& state, const Mat& group_moments) const {
  const Vec square = state.mean().cwiseAbs2();
  std::uint64_t index = 0;
  for (const PriorPart& part : parts_) {
    Draws random(state.key(), Purpose::hyper, index++);
    if (part.parameter()) continue;
    part.slot.prior->draw(moments(part, square, group_moments), random, hyper(state, part));
  }
  refresh(state);
}

Vec Coefficients::drawn(const State& state) const {
  std::vector<double> out;
  for (const PriorPart& part : parts_)
    for (const auto& number : part.slot.prior->drawn(hyper(state, part)))
      out.push_back(number.second);
  return Eigen::Map<const Vec>(out.data(), static_cast<Index>(out.size()));
}

OutsideMoments Coefficients::outside(const State& state,
                                     const GroupPosterior& groups) const {
  const Index p = problem_.columns();
  const Vec unit = unit_.tail(p);
  OutsideMoments out;
  out.mean = outside_mean(state.mean());
  const Mat root = unit.asDiagonal() * state.inverse_factor().bottomRightCorner(p, p).transpose();
  Mat lower = Mat::Zero(p, p);
  add_square(root, lower);
  out.covariance = symmetric(lower);
  if (layout_.scatter > 0) {
    out.scatter = unit.cwiseAbs2().cwiseProduct(state.scatter());
    out.covariance.diagonal() += out.scatter;
  }
  out.groups = groups;
  if (problem_.multipliers && groups.mean.size() > 0) groups_outside(unit, group_unit_, out.groups);
  return out;
}

void groups_outside(ConstVecRef unit, ConstVecRef group_unit, GroupPosterior& groups) {
  const Index p = unit.size(), q = group_unit.size();
  const Vec inverse_unit = unit.cwiseInverse(), inverse_group = group_unit.cwiseInverse();
  groups.mean.array().colwise() *= group_unit.array();
  for (Index g = 0; g < groups.mean.cols(); ++g) {
    Eigen::Map<Mat> precision(groups.precision.data() + g * q * q, q, q);
    precision = (inverse_group.asDiagonal() * precision * inverse_group.asDiagonal()).eval();
    double* own = groups.regression.data() + g * p * q;
    const Mat inside = Eigen::Map<const Mat>(own, p, q);
    Eigen::Map<Mat> regression(own, q, p);
    regression = (inverse_unit.asDiagonal() * inside * group_unit.asDiagonal()).transpose();
  }
}

Mat Coefficients::outside_root(const State& state) const {
  return state.inverse_factor() * unit_.asDiagonal();
}

Vec Coefficients::outside_mean(ConstVecRef mean) const {
  return mean.cwiseProduct(unit_).tail(problem_.columns());
}

void Coefficients::to_outside(VecRef effects) const {
  if (!problem_.multipliers) return;
  for (Index k = 0; k < effects.size(); ++k) effects[k] *= group_unit_[k % layout_.q];
}

// Of q(b, u), on the outside scale.
double Coefficients::entropy(const State& state, double logdet) const {
  const double groups = problem_.multipliers ? static_cast<double>(problem_.groups) : 0;
  const double count = static_cast<double>(problem_.columns() + problem_.group_coefficients());
  double units = unit_.array().log().sum();
  if (groups > 0) units += groups * group_unit_.array().log().sum();
  return 0.5 * (count * (1 + kLog2Pi) + logdet - state.group_logdet()) + units;
}

}  // namespace bsvm
