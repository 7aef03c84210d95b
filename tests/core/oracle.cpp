#include "oracle.hpp"

#include <Eigen/Cholesky>
#include <cmath>

namespace bsvm_test {

namespace {

const Real kLogTwoPi = std::log(2 * std::acos(-1.0L));

Real log_determinant(const MatL& a) {
  return 2 * lower_factor(a).diagonal().array().log().sum();
}

VecL flat(const MatL& a) { return Eigen::Map<const VecL>(a.data(), a.size()); }

}  // namespace

MatL inverse(const MatL& a) { return a.llt().solve(MatL::Identity(a.rows(), a.cols())); }

MatL lower_factor(const MatL& a) { return a.llt().matrixL(); }

MatL product(const MatL& a, const MatL& b) { return a * b; }

double gap(Real found, Real expected) {
  return static_cast<double>(std::abs(found - expected) /
                             (expected == 0 ? 1 : std::abs(expected)));
}

Oracle::Oracle(const Data& data, const Mat& c_dense, const Mat& z)
    : p(c_dense.cols()), q(data.shape.groups > 0 ? z.cols() : 0), groups(data.shape.groups),
      c(MatL::Zero(data.shape.n, p + groups * q)), y(data.y.cast<Real>()),
      weight(data.weight.cast<Real>()), offset(data.offset.cast<Real>()),
      prior(MatL::Identity(size(), size())), mean(VecL::Zero(size())), step(mean) {
  c.leftCols(p) = c_dense.cast<Real>();
  for (Index i = 0; i < data.shape.n; ++i)
    for (Index a = 0; a < q; ++a) c(i, at(data.group[i] - 1, a)) = z(i, a);
}

void Oracle::set_group_prior(const Mat& precision) {
  for (Index g = 0; g < groups; ++g)
    prior.block(at(g, 0), at(g, 0), q, q) = precision.cast<Real>();
}

TermsL Oracle::terms() const {
  const VecL m = offset + c * mean;
  VecL v = VecL::Ones(m.size());
  if (begun) v = (c * covariance).cwiseProduct(c).rowwise().sum();
  TermsL out{m, m, m, m};
  for (Index i = 0; i < m.size(); ++i) {
    const Real u = 1 - y[i] * m[i], root = std::sqrt(u * u + v[i]);
    out.value[i] = weight[i] * (-u - root);
    out.slope[i] = weight[i] * y[i] * (1 + u / root);
    out.weight[i] = weight[i] / root;
    out.curvature[i] = weight[i] * v[i] / (root * root * root);
  }
  return out;
}

MatL Oracle::precision(const VecL& omega) const {
  return MatL(c.transpose() * omega.asDiagonal() * c) + prior;
}

VecL Oracle::gradient() const { return c.transpose() * terms().slope - prior * mean; }

ReducedSums Oracle::reduce(Real damping) const {
  const TermsL rows = terms();
  const MatL next = precision(rows.weight);
  const MatL newton = precision(rows.curvature + damping * (rows.weight - rows.curvature));
  const Index groups_size = size() - p;
  const auto schur = [&](const MatL& a) -> MatL {
    const MatL own = inverse(a.bottomRightCorner(groups_size, groups_size));
    return a.topLeftCorner(p, p) - prior.topLeftCorner(p, p) -
           a.topRightCorner(p, groups_size) * own * a.bottomLeftCorner(groups_size, p);
  };
  ReducedSums out;
  const VecL own = gradient().tail(groups_size);
  const VecL reach = inverse(newton.bottomRightCorner(groups_size, groups_size)) * own;
  out.value = rows.value.sum();
  out.linear =
      c.leftCols(p).transpose() * rows.slope - newton.topRightCorner(p, groups_size) * reach;
  out.weight = schur(next);
  out.curvature = schur(newton);
  out.logdet = log_determinant(next.bottomRightCorner(groups_size, groups_size));
  out.decrement = own.dot(reach);
  out.change = begun ? group_change(next) : 0;
  return out;
}

// With P the precision before, N the next one, and both written in b and u_g + B_g b:
// the blocks of half |P^{-1/2} N P^{-1/2} - I|^2 that are not b's own.
Real Oracle::group_change(const MatL& next) const {
  Real sum = 0;
  for (Index g = 0; g < groups; ++g) {
    const auto own = [&](const MatL& a) -> MatL { return a.block(at(g, 0), at(g, 0), q, q); };
    const auto cross = [&](const MatL& a) -> MatL { return a.block(0, at(g, 0), p, q); };
    const MatL before = inverse(own(previous));
    const MatL ratio = before * own(next) - MatL::Identity(q, q);
    const MatL coupling = cross(next) - cross(previous) * before * own(next);
    sum += 0.5L * (ratio * ratio).trace() +
           (covariance.topLeftCorner(p, p) * coupling * before * coupling.transpose()).trace();
  }
  return sum;
}

void Oracle::advance(Real damping, Real fraction) {
  const TermsL rows = terms();
  const VecL damped = rows.curvature + damping * (rows.weight - rows.curvature);
  step = inverse(precision(damped)) * gradient();
  mean += fraction * step;
  previous = precision(rows.weight);
  covariance = inverse(previous);
  begun = true;
}

MatL Oracle::inverse_factor() const {
  const MatL l = lower_factor(inverse(covariance.topLeftCorner(p, p)));
  return l.triangularView<Eigen::Lower>().solve(MatL::Identity(p, p));
}

MatL Oracle::group_moments() const {
  MatL out = MatL::Zero(q, q);
  for (Index g = 0; g < groups; ++g)
    for (Index a = 0; a < q; ++a)
      for (Index b = 0; b < q; ++b)
        out(b, a) += mean[at(g, b)] * mean[at(g, a)] + covariance(at(g, b), at(g, a));
  return out;
}

MatL Oracle::group_mean() const {
  return Eigen::Map<const MatL>(mean.data() + p, q, groups);
}

MatL Oracle::group_precision() const {
  MatL out(q * q, groups);
  for (Index g = 0; g < groups; ++g)
    out.col(g) = flat(previous.block(at(g, 0), at(g, 0), q, q));
  return out;
}

MatL Oracle::group_regression() const {
  MatL out(p * q, groups);
  for (Index g = 0; g < groups; ++g)
    out.col(g) = flat(previous.block(0, at(g, 0), p, q) *
                      inverse(previous.block(at(g, 0), at(g, 0), q, q)));
  return out;
}

Real digamma_l(Real x) {
  Real shift = 0;
  for (; x < 60; ++x) shift -= 1 / x;
  const Real r = 1 / (x * x);
  return shift + std::log(x) - 0.5L / x -
         r * (1.0L / 12 - r * (1.0L / 120 - r * (1.0L / 252 - r * (1.0L / 240 - r / 132))));
}

TwinPrior fixed_variance(Real variance, std::vector<Index> at) {
  TwinPrior out;
  out.at = std::move(at);
  out.variance = variance;
  return out;
}

TwinPrior inferred_variance(Real shape, Real scale, std::vector<Index> at) {
  TwinPrior out;
  out.at = std::move(at);
  out.shape = shape;
  out.scale = scale;
  return out;
}

void TwinPrior::update(Real square) {
  q_shape = shape + 0.5L * static_cast<Real>(at.size());
  q_scale = scale + 0.5L * square;
}

Real TwinPrior::value(Real square) const {
  const Real m = static_cast<Real>(at.size());
  if (variance > 0)
    return -0.5L * (m * (kLogTwoPi + std::log(variance)) + square / variance);
  const Real log_s2 = std::log(q_scale) - digamma_l(q_shape), inverse_s2 = q_shape / q_scale;
  const auto log_density = [&](Real a, Real b) {  // E log IG(s2; a, b)
    return a * std::log(b) - std::lgamma(a) - (a + 1) * log_s2 - b * inverse_s2;
  };
  return -0.5L * (m * (kLogTwoPi + log_s2) + square * inverse_s2) + log_density(shape, scale) -
         log_density(q_shape, q_scale);
}

Real Twin::square(const TwinPrior& prior) const {
  Real sum = 0;
  for (Index j : prior.at) sum += q.mean[j] * q.mean[j] + q.covariance(j, j);
  return sum;
}

void Twin::set_prior() {
  q.prior.setZero();
  for (const TwinPrior& prior : priors)
    for (Index j : prior.at) q.prior(j, j) = prior.precision();
}

void Twin::pass() {
  set_prior();
  const VecL w = q.terms().weight;  // 1/sqrt(chi), times the row's own weight
  q.covariance = inverse(q.precision(w));
  const VecL linear = (q.weight + w).cwiseProduct(q.y) - w.cwiseProduct(q.offset);
  q.mean = q.covariance * (q.c.transpose() * linear);
  q.begun = true;
  for (TwinPrior& prior : priors) prior.update(square(prior));
}

Real Twin::bound() const {
  Real sum = q.terms().value.sum() +
             0.5L * (static_cast<Real>(q.size()) * (1 + kLogTwoPi) + log_determinant(q.covariance));
  for (const TwinPrior& prior : priors) sum += prior.value(square(prior));
  return sum;
}

int Twin::run(int most, Real tolerance) {
  for (int pass_number = 1; pass_number <= most; ++pass_number) {
    const VecL before = q.mean;
    pass();
    if ((q.mean - before).norm() < tolerance * (1 + before.norm())) return pass_number;
  }
  return most + 1;
}

Twin usual_twin(const Data& data) {
  Twin twin{Oracle(data, data.design(), data.z), {}};
  const Index p = data.shape.p;
  if (p > 0) twin.priors.push_back(fixed_variance(100, {0}));
  if (p > 1) twin.priors.push_back(inferred_variance(0.7, 0.4, range(1, p)));
  for (Index a = 0; a < twin.q.q; ++a) {
    TwinPrior prior = inferred_variance(0.5, 0.3 + 0.1 * static_cast<double>(a), {});
    for (Index g = 0; g < twin.q.groups; ++g) prior.at.push_back(twin.q.at(g, a));
    twin.priors.push_back(prior);
  }
  return twin;
}

}  // namespace bsvm_test
