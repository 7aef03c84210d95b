#include "additive.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "block/dense.hpp"
#include "kernel/points.hpp"

namespace bsvm {

namespace {

constexpr double kNumberStep = 3e-5;
constexpr double kLeastLeft = 1e-8;  // of 1 - v w, of a row that nothing else tells about

PriorSlot normal_slot(double variance, Index first, Index count) {
  PriorSlot out;
  out.prior = Registry<Prior>::make("normal", Params("normal", {{"variance", variance}}));
  for (Index j = 0; j < count; ++j) out.columns.push_back(first + j);
  return out;
}

}  // namespace

Additive::Additive(AdditiveModel model, Host& host) : model_(std::move(model)), host_(host) {
  const Index n = model_.n, q = model_.fixed.cols();
  for (const Summand& summand : model_.summands) likelihood_first_ += summand.size();
  design_.resize(n, q + n);
  design_.leftCols(q) = model_.fixed;
  problem_.n = n;
  problem_.y = model_.y;
  problem_.weight = model_.weight;
  problem_.offset = model_.offset;
  for (Index j = 0; j < q; ++j) problem_.priors.push_back(normal_slot(model_.variance[j], j, 1));
  problem_.priors.push_back(normal_slot(1, q, n));
  if (model_.likelihood->free_size() == 0) problem_.likelihood = std::move(model_.likelihood);
}

Vec Additive::start() const {
  Vec out(static_cast<Index>(model_.numbers.size()));
  for (Index k = 0; k < out.size(); ++k) out[k] = model_.numbers[k].start;
  return out;
}

// (n, n), of unit amplitude.
Mat Additive::covariance(const Summand& summand, ConstVecRef theta) const {
  if (!summand.kernel) return summand.features * summand.features.transpose();
  Mat out(model_.n, model_.n);
  summand.kernel->values(summand.inputs, summand.inputs, theta, out);
  if (summand.multiplier.size() > 0)
    out = summand.multiplier.asDiagonal() * out * summand.multiplier.asDiagonal();
  return out;
}

Additive::Value Additive::at(ConstVecRef theta, const Value* near, double tolerance) {
  if (host_.interrupted()) throw Interrupted();
  Value out;
  out.theta = theta;
  std::vector<Mat> own;  // of unit amplitude
  Mat total = Mat::Zero(model_.n, model_.n);
  Index first = 0;
  for (const Summand& summand : model_.summands) {
    own.push_back(covariance(summand, theta.segment(first + 1, summand.size() - 1)));
    total += std::exp(2 * theta[first]) * own.back();
    first += summand.size();
  }
  take_design(total);
  if (model_.likelihood) problem_.likelihood = model_.likelihood->with(theta.tail(theta.size() - first));
  RowNewton ascent(problem_, Options(), host_);
  out.rows = ascent.best(near ? &near->rows : nullptr, tolerance);
  passes_ += ascent.progress().passes;
  out.bound = out.rows.bound;
  find_gradient(own, out);
  return out;
}

void Additive::take_design(const Mat& total) {
  const Index p = design_.cols();
  design_.rightCols(model_.n) = covariance_root(total, host_);
  problem_.blocks.clear();
  problem_.blocks.emplace_back(
      new DenseBlock(design_.data(), model_.n, Vec::Zero(p), Vec::Ones(p)));
}

void Additive::find_gradient(const std::vector<Mat>& own, Value& at) const {
  const Vec alpha = at.rows.slope, w = at.rows.weight;
  Mat pull = at.rows.covariance.selfadjointView<Eigen::Lower>();
  pull = w.asDiagonal() * pull * w.asDiagonal();
  pull.noalias() += alpha * alpha.transpose();
  pull.diagonal() -= w;
  pull *= 0.5;
  at.gradient = Vec::Zero(at.theta.size());
  Index first = 0, k = 0;
  for (const Summand& summand : model_.summands) {
    const double variance = std::exp(2 * at.theta[first]);
    at.gradient[first] = 2 * variance * own[k++].cwiseProduct(pull).sum();
    const Index size = summand.size() - 1;
    if (size > 0) {
      const Vec& times = summand.multiplier;
      const Mat own_pull = times.size() > 0 ? Mat(times.asDiagonal() * pull * times.asDiagonal())
                                            : pull;
      at.gradient.segment(first + 1, size) =
          variance * summand.kernel->pull(summand.inputs, summand.inputs,
                                          at.theta.segment(first + 1, size), own_pull);
    }
    first += summand.size();
  }
  add_likelihood_gradient(at);
  add_priors(at);
}

double Additive::rows_value(ConstVecRef numbers, const RowNewton::Known& rows) const {
  using View = Eigen::Map<const Arr>;
  RowTerms terms;
  terms.resize(model_.n);
  model_.likelihood->with(numbers)->terms(Use::expected, View(model_.y, model_.n), rows.m, rows.v,
                                          terms);
  return model_.weight ? (View(model_.weight, model_.n) * terms.value).sum() : terms.value.sum();
}

void Additive::add_likelihood_gradient(Value& at) const {
  const Index size = at.theta.size() - likelihood_first_;
  for (Index k = 0; k < size; ++k) {
    Vec up = at.theta.tail(size), down = up;
    up[k] += kNumberStep;
    down[k] -= kNumberStep;
    at.gradient[likelihood_first_ + k] =
        (rows_value(up, at.rows) - rows_value(down, at.rows)) / (2 * kNumberStep);
  }
}

void Additive::add_priors(Value& at) const {
  for (Index k = 0; k < at.theta.size(); ++k) {
    const FreeNumber& number = model_.numbers[k];
    if (!number.prior) {
      at.gradient[k] = 0;
      continue;
    }
    Vec slope(1);
    at.prior += number.prior->log_joint(Moments(), at.theta.segment(k, 1), slope);
    at.gradient[k] += slope[0];
  }
}

double Additive::leave_one_out(const Value& of) const {
  const RowNewton::Known& rows = of.rows;
  double out = 0;
  for (Index i = 0; i < model_.n; ++i) {
    const double weight = model_.weight ? model_.weight[i] : 1;
    const double left = std::max(1 - rows.v[i] * rows.weight[i], kLeastLeft);
    const double c = rows.v[i] / left;
    const Tilted without =
        problem_.likelihood->averaged(model_.y[i], rows.m[i] - c * rows.slope[i], c, 1);
    out += weight * without.value;
  }
  return out;
}

}  // namespace bsvm
