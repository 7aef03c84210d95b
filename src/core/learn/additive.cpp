#include "additive.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "block/dense.hpp"
#include "kernel/points.hpp"

namespace bsvm {

namespace {

constexpr double kFlatVariance = 1e4;  // of a flat prior, in units of the linear predictor
constexpr double kNumberStep = 3e-5;
constexpr double kNothingLeft = 1e-8;  // of the variance, by inducing inputs
constexpr double kLeastLeft = 1e-8;  // of 1 - v w, of a row that nothing else tells about

PriorSlot normal_slot(double variance, Index first, Index count) {
  PriorSlot out;
  out.prior = Registry<Prior>::make("normal", Params("normal", {{"variance", variance}}));
  for (Index j = 0; j < count; ++j) out.columns.push_back(first + j);
  return out;
}

}  // namespace

Vec bounded(const std::vector<FreeNumber>& numbers, Vec theta) {
  for (size_t k = 0; k < numbers.size(); ++k) {
    double& own = theta[static_cast<Index>(k)];
    own = std::clamp(own, numbers[k].low, numbers[k].high);
  }
  return theta;
}

Vec uphill(const std::vector<FreeNumber>& numbers, ConstVecRef theta, Vec gradient) {
  for (size_t k = 0; k < numbers.size(); ++k) {
    const double at = theta[static_cast<Index>(k)];
    double& own = gradient[static_cast<Index>(k)];
    if ((own > 0 && at >= numbers[k].high) || (own < 0 && at <= numbers[k].low)) own = 0;
  }
  return gradient;
}

Additive::Additive(AdditiveModel model, Host& host) : model_(std::move(model)), host_(host) {
  for (const Summand& summand : model_.summands) likelihood_first_ += summand.size();
  problem_.n = model_.n;
  problem_.y = model_.y;
  problem_.weight = model_.weight;
  problem_.offset = model_.offset;
  if (model_.likelihood->free_size() == 0) problem_.likelihood = std::move(model_.likelihood);
}

Vec Additive::start() const {
  Vec out(static_cast<Index>(model_.numbers.size()));
  for (Index k = 0; k < out.size(); ++k) out[k] = model_.numbers[k].start;
  return out;
}

void Additive::look_for(const std::vector<bool>& numbers) {
  kernels_ = false;
  Index first = 0;
  for (const Summand& summand : model_.summands) {
    for (Index k = 1; k < summand.size(); ++k) kernels_ = kernels_ || numbers[first + k];
    first += summand.size();
  }
}

bool Additive::approximate() {
  for (const Summand& summand : model_.summands)
    if (summand.kernel &&
        (summand.inducing.cols() > 0 || (summand.points > 0 && summand.points < model_.n)))
      approximate_ = true;
  return approximate_;
}

bool Additive::match() {
  matched_ = !approximate_ && !model_.likelihood;
  return matched_;
}

Additive::Made Additive::make(const Summand& summand, ConstVecRef theta) const {
  Made out;
  if (approximate_) return make_features(summand, theta);
  if (!summand.kernel) {
    out.covariance.noalias() = summand.features * summand.features.transpose();
    return out;
  }
  out.covariance.resize(model_.n, model_.n);
  summand.kernel->values(summand.inputs, summand.inputs, theta, out.covariance);
  const Vec& times = summand.multiplier;
  if (times.size() > 0) out.covariance = times.asDiagonal() * out.covariance * times.asDiagonal();
  return out;
}

Additive::Made Additive::make_features(const Summand& summand, ConstVecRef theta) const {
  Made out;
  if (!summand.kernel) {
    out.features = summand.features;
    return out;
  }
  fill_features(summand, theta, out);
  const Vec& times = summand.multiplier;
  if (times.size() > 0) {
    out.features = times.asDiagonal() * out.features;
    out.left_over = times.cwiseAbs2().cwiseProduct(out.left_over);
  }
  return out;
}

// Of the function itself, before it is multiplied.
void Additive::fill_features(const Summand& summand, ConstVecRef theta, Made& out) const {
  if (summand.inducing.cols() == 0) {
    const Index most = summand.points > 0 ? summand.points : model_.n;
    ChosenPoints chosen =
        choose_points(*summand.kernel, summand.inputs, theta, most, kNothingLeft, host_);
    out.features = std::move(chosen.features);
    out.left_over = std::move(chosen.left_over);
    return;
  }
  const Features given(*summand.kernel, summand.inducing, theta, host_);
  Mat features(given.columns(), model_.n);
  given.fill(summand.inputs, features);
  out.left_over = given.left_over(summand.inputs, features);
  out.features = features.transpose();
}

void Additive::move(size_t k, Mat inducing) {
  model_.summands[k].inducing = std::move(inducing);
  if (k < made_.size()) made_[k].stale = true;
}

// Those whose own numbers are what they were stay.
void Additive::make_all(ConstVecRef theta) {
  const bool same = made_.size() == model_.summands.size() && made_as_ == approximate_;
  made_.resize(model_.summands.size());
  Index first = 0;
  for (size_t k = 0; k < made_.size(); ++k) {
    const Summand& summand = model_.summands[k];
    const auto own = theta.segment(first + 1, summand.size() - 1);
    if (!same || made_[k].stale || made_[k].theta != own) {
      made_[k] = make(summand, own);
      made_[k].theta = own;
    }
    first += summand.size();
  }
  made_as_ = approximate_;
}

Additive::Value Additive::at(ConstVecRef theta, const Value* near, double tolerance) {
  if (host_.interrupted()) throw Interrupted();
  Value out;
  out.theta = theta;
  make_all(theta);
  if (model_.likelihood)
    problem_.likelihood = model_.likelihood->with(theta.tail(theta.size() - likelihood_first_));
  out.rows = approximate_ ? best_by_columns(theta, near, tolerance)
                          : best_by_rows(theta, near, tolerance);
  out.bound = out.rows.bound;
  find_gradient(out);
  return out;
}

RowNewton::Known Additive::best_by_rows(ConstVecRef theta,
                                        const Value* near, double tolerance) {
  total_.noalias() = model_.fixed * model_.variance.cwiseMin(kFlatVariance).asDiagonal() *
                     model_.fixed.transpose();
  Index first = 0;
  for (size_t k = 0; k < made_.size(); ++k) {
    total_ += std::exp(2 * theta[first]) * made_[k].covariance;
    first += model_.summands[k].size();
  }
  if (!total_.allFinite()) throw NumericalFailure("A kernel is beyond what numbers hold.");
  if (!newton_) newton_.reset(new KernelNewton(problem_, host_));
  newton_->given(total_);
  const int before = newton_->passes();
  const RowNewton::Known* known = near ? &near->rows : nullptr;
  KernelNewton::Point at;
  if (!matched_ || !known || !match_from(newton_->sites(*known), at)) {
    at = newton_->best(known, tolerance);
    if (matched_ && !match_from(newton_->sites(at), at))
      throw NumericalFailure("Moments do not match.");
  }
  passes_ += newton_->passes() - before;
  // What q is made of is nearer to the best than what the rows say of it.
  return {at.bound, at.m, at.v, at.alpha, at.weight, std::move(at.covariance), Vec(), Vec(),
          at.converged};
}

// log p(y) stands for the bound.
bool Additive::match_from(RowSites sites, KernelNewton::Point& at) {
  KernelNewton::Point found;
  if (!newton_->match(sites, found, found.bound)) return false;
  found.converged = true;
  at = std::move(found);
  return true;
}

RowNewton::Known Additive::best_by_columns(ConstVecRef theta,
                                           const Value* near, double tolerance) {
  take_design(theta);
  RowNewton ascent(problem_, Options(), host_);
  RowNewton::Known out = ascent.best(near ? &near->rows : nullptr, tolerance);
  passes_ += ascent.progress().passes;
  return out;
}

// X, and columns whose coefficients are N(0, 1).
void Additive::take_design(ConstVecRef theta) {
  const Index n = model_.n, q = model_.fixed.cols();
  std::vector<double> sds;
  Index first = 0, columns = 0;
  for (size_t k = 0; k < made_.size(); ++k) {
    sds.push_back(std::exp(theta[first]));
    columns += made_[k].features.cols();
    first += model_.summands[k].size();
  }
  const Index p = q + columns;
  design_.resize(n, p);
  design_.leftCols(q) = model_.fixed;
  left_over_ = Vec::Zero(n);
  for (size_t k = 0, at = static_cast<size_t>(q); k < made_.size(); ++k) {
    design_.middleCols(static_cast<Index>(at), made_[k].features.cols()) =
        sds[k] * made_[k].features;
    at += static_cast<size_t>(made_[k].features.cols());
    if (made_[k].left_over.size() > 0) left_over_ += sds[k] * sds[k] * made_[k].left_over;
  }
  problem_.left_over = left_over_.data();
  problem_.leaving = {q};  // whose variance is one
  problem_.blocks.clear();
  problem_.blocks.emplace_back(new DenseBlock(design_.data(), n, Vec::Zero(p), Vec::Ones(p)));
  problem_.priors.clear();
  for (Index j = 0; j < q; ++j) problem_.priors.push_back(normal_slot(model_.variance[j], j, 1));
  if (columns > 0) problem_.priors.push_back(normal_slot(1, q, columns));
}

void Additive::find_gradient(Value& at) const {
  at.gradient = Vec::Zero(at.theta.size());
  if (approximate_) add_columns_gradient(at);
  else add_rows_gradient(at);
  add_likelihood_gradient(at);
  add_priors(at);
  if (approximate_ || !kernels_) hold_kernels(at);
}

// pull: d bound / d K.
void Additive::add_rows_gradient(Value& at) const {
  const Vec alpha = at.rows.slope, w = at.rows.weight;
  Mat pull = at.rows.covariance.selfadjointView<Eigen::Lower>();
  pull = w.asDiagonal() * pull * w.asDiagonal();
  pull.noalias() += alpha * alpha.transpose();
  pull.diagonal() -= w;
  pull *= 0.5;
  Index first = 0, k = 0;
  for (const Summand& summand : model_.summands) {
    const double variance = std::exp(2 * at.theta[first]);
    at.gradient[first] = 2 * variance * made_[k++].covariance.cwiseProduct(pull).sum();
    const Index size = summand.size() - 1;
    if (size > 0 && kernels_) {
      const Vec& times = summand.multiplier;
      const Mat own_pull = times.size() > 0 ? Mat(times.asDiagonal() * pull * times.asDiagonal())
                                            : pull;
      at.gradient.segment(first + 1, size) =
          variance * summand.kernel->pull(summand.inputs, summand.inputs,
                                          at.theta.segment(first + 1, size), own_pull);
    }
    first += summand.size();
  }
}

// Their numbers stay: a gradient of their priors alone would lead astray.
void Additive::hold_kernels(Value& at) const {
  Index first = 0;
  for (const Summand& summand : model_.summands) {
    at.gradient.segment(first + 1, summand.size() - 1).setZero();
    first += summand.size();
  }
}

// Of the amplitudes: with s in the prior of coefficients the bound's derivative at fixed q is that
// of log p(b | s), and what is left over.
void Additive::add_columns_gradient(Value& at) const {
  Index first = 0, column = model_.fixed.cols();
  const Vec square = at.rows.square.cwiseProduct(problem_.blocks[0]->unit().cwiseAbs2());
  for (size_t k = 0; k < made_.size(); ++k) {
    const Index m = made_[k].features.cols();
    at.gradient[first] = square.segment(column, m).sum() - static_cast<double>(m);
    if (made_[k].left_over.size() > 0)
      at.gradient[first] -=
          std::exp(2 * at.theta[first]) * at.rows.weight.matrix().dot(made_[k].left_over);
    first += model_.summands[k].size();
    column += m;
  }
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
    const double unexplained = approximate_ ? left_over_[i] : 0;
    const double v = rows.v[i] - unexplained;
    const double c = v / std::max(1 - v * rows.weight[i], kLeastLeft);
    const Tilted without = problem_.likelihood->averaged(
        model_.y[i], rows.m[i] - c * rows.slope[i], c + unexplained, 1);
    out += weight * without.value;
  }
  return out;
}

}  // namespace bsvm
