#include "integrated_twin.hpp"

#include <cmath>

#include "gaussian_twin.hpp"

namespace bsvm_test {

namespace {

RowsData rows_of(const Data& data, int group) {
  std::vector<Index> rows;
  for (Index i = 0; i < data.shape.n; ++i)
    if (data.group[i] == group) rows.push_back(i);
  const Index r = static_cast<Index>(rows.size()), p = data.shape.p;
  const Mat design = data.design();
  RowsData out{Vec(r), Vec(r), Vec(r), Vec(r), Mat(p, r)};
  for (Index k = 0; k < r; ++k) {
    out.y[k] = data.y[rows[k]];
    out.weight[k] = data.weight[rows[k]];
    out.o[k] = data.offset[rows[k]];
    out.z[k] = data.shape.ones ? 1 : data.z(rows[k], 0);
    out.c.col(k) = design.row(rows[k]).transpose();
  }
  return out;
}

// Brute force holds b in double: what is finer than that goes into the difference.
RowsData at(const RowsData& data, const VecL& b) { return moved(data, b.cast<double>()); }

}  // namespace

IntegratedTwin::IntegratedTwin(const Data& data, const char* likelihood, VecL variance,
                               Real shape, Real scale)
    : law_(law_of(likelihood)), variance_(std::move(variance)), shape_(shape), scale_(scale) {
  for (int g = 1; g <= data.shape.groups; ++g) groups_.push_back(rows_of(data, g));
}

Real IntegratedTwin::value(const VecL& b, Real theta) const {
  const Real s = std::exp(theta);
  Real sum = log_inverse_gamma(s * s, shape_, scale_) + std::log(2 * s * s);
  for (Index j = 0; j < size(); ++j) sum += log_normal(b[j], variance_[j]);
  for (const RowsData& rows : groups_)
    if (rows.y.size() > 0) sum += brute_force(law_, at(rows, b), s, {}, 4).value;
  return sum;
}

VecL IntegratedTwin::gradient(const VecL& both) const {
  const VecL b = both.head(size());
  const Real s = std::exp(both[size()]);
  VecL out = VecL::Zero(size() + 1);
  for (const RowsData& rows : groups_)
    if (rows.y.size() > 0) out += brute_force(law_, at(rows, b), s, {}, 4).gradient;
  out.head(size()) -= b.cwiseQuotient(variance_);
  out[size()] += 2 * scale_ / (s * s) - 2 * shape_;
  return out;
}

MatL IntegratedTwin::curvature(const VecL& both) const {
  const Index n = size() + 1;
  const Real h = 1e-4L;
  MatL out(n, n);
  for (Index j = 0; j < n; ++j)
    out.col(j) = (gradient(both - h * VecL::Unit(n, j)) - gradient(both + h * VecL::Unit(n, j))) /
                 (2 * h);
  return (out + out.transpose()) / 2;
}

// Of the first `free` coordinates.
VecL IntegratedTwin::climb(VecL both, Index free) const {
  MatL covariance;  // curvature is slow: anew only where steps are long
  for (int k = 0; k < 60; ++k) {
    if (k % 8 == 0) covariance = inverse(curvature(both).topLeftCorner(free, free));
    VecL step = product(covariance, gradient(both).head(free)).col(0);
    if (step.norm() > 1) step /= step.norm();
    both.head(free) += step;
    if (step.norm() < 1e-8L) break;
  }
  return both;
}

VecL IntegratedTwin::mode(VecL b, Real theta) const {
  VecL both(size() + 1);
  both << b, theta;
  return climb(both, size()).head(size());
}

VecL IntegratedTwin::top(VecL both) const { return climb(both, size() + 1); }

Real IntegratedTwin::laplace(const VecL& mode, Real theta) const {
  VecL both(size() + 1);
  both << mode, theta;
  const MatL own = curvature(both).topLeftCorner(size(), size());
  const Real logdet = 2 * lower_factor(own).diagonal().array().log().sum();
  return value(both) + 0.5L * (static_cast<Real>(size()) * std::log(2 * kPi) - logdet);
}

EffectTruth IntegratedTwin::effect(int group, const VecL& both) const {
  return brute_force(law_, at(groups_[group - 1], both.head(size())), std::exp(both[size()]));
}

}  // namespace bsvm_test
