#include "joint.hpp"

#include <limits>

#include "base/error.hpp"
#include "linalg/dense.hpp"
#include "linalg/small.hpp"
#include "random/wishart.hpp"
#include "special/functions.hpp"

namespace bsvm {
namespace {

// Lower Cholesky factor, the upper triangle zero; false if there is none.
bool factorise(Mat& a) {
  const Index q = a.rows();
  if (!a.allFinite() || !small_cholesky(a.data(), q)) return false;
  a.triangularView<Eigen::StrictlyUpper>().setZero();
  return true;
}

// The same of a matrix that is positive definite but for rounding: taken on the scale of
// correlations, and off-diagonals shrunk a little until it succeeds.
Mat robust_factor(const Mat& a) {
  const Vec root = a.diagonal().cwiseSqrt();
  const Mat correlation = root.cwiseInverse().asDiagonal() * a * root.cwiseInverse().asDiagonal();
  for (double more = 0; more < 0.1 && a.allFinite(); more = more > 0 ? 10 * more : 1e-15) {
    Mat out = correlation / (1 + more);
    out.diagonal().setOnes();
    if (factorise(out)) return root.asDiagonal() * out;
  }
  throw NumericalFailure(
      "The covariance of a grouping factor's effects is not positive definite to working "
      "accuracy. Rescale what multiplies the effects.");
}

// Of a level, times the responses (model/problem.cpp and responses/model.hpp have limits of their own).
constexpr Index kMostJoint = 200;

Index to_effects(double given) {
  if (given != std::floor(given) || given > static_cast<double>(kMostJoint))
    throw InvalidInput("effects", "'effects' must be a whole number from 1 to " +
                                      std::to_string(kMostJoint) + ".");
  return static_cast<Index>(given);
}

}  // namespace

JointPrior::JointPrior(const Params& params) : q_(to_effects(params.positive("effects"))) {}

Mat JointPrior::square(const Moments& b) const {
  if (q_ == 1) return Mat::Constant(1, 1, b.square.sum());
  return Eigen::Map<const Mat>(b.square.data(), q_, q_);
}

void JointPrior::precision(ConstVecRef hyper, VecRef out) const {
  const Mat inverse = mean_inverse(hyper);
  if (q_ == 1) out.setConstant(inverse(0, 0));
  else out = Eigen::Map<const Vec>(inverse.data(), q_ * q_);
}

Mat JointPrior::mean_inverse(ConstVecRef hyper) const {
  Mat root = Mat::Identity(q_, q_);
  solve_lower(factor(hyper), root);
  return hyper[0] * root.transpose() * root;
}

void JointPrior::stretch(Index a, VecRef hyper, double t) const {
  Eigen::Map<Mat>(hyper.data() + 1, q_, q_).row(a) *= t;
}

double JointPrior::mean_log_inverse(ConstVecRef hyper) const {
  double sum = static_cast<double>(q_) * std::log(2.0) - small_logdet(hyper.data() + 1, q_);
  for (Index j = 0; j < q_; ++j) sum += digamma(0.5 * (hyper[0] - static_cast<double>(j)));
  return sum;
}

double JointPrior::log_normaliser(double df, double log_det) const {
  const double q = static_cast<double>(q_), log_pi = kLog2Pi - std::log(2.0);
  double out = 0.5 * df * (log_det - q * std::log(2.0)) - 0.25 * q * (q - 1) * log_pi;
  for (double j = 0; j < q; ++j) out -= log_gamma(0.5 * (df - j));
  return out;
}

double JointPrior::log_density(double df, double log_det, double trace,
                               double log_inverse) const {
  const double q = static_cast<double>(q_);
  return log_normaliser(df, log_det) + 0.5 * (df + q + 1) * log_inverse - 0.5 * trace;
}

double JointPrior::value_without_prior(const Moments& b, ConstVecRef hyper) const {
  const Mat inverse = mean_inverse(hyper);
  const double log_inverse = mean_log_inverse(hyper), df = hyper[0];
  const double trace = inverse.cwiseProduct(square(b)).sum() + b.unseen;
  const double coefficients = 0.5 * (levels(b) * log_inverse - b.count * kLog2Pi - trace);
  const double log_det = small_logdet(hyper.data() + 1, q_);
  const double q = log_density(df, log_det, df * static_cast<double>(q_), log_inverse);
  const double unseen = 0.5 * b.unseen * (1 + kLog2Pi - std::log(inverse(0, 0)));
  return coefficients - q + unseen;
}

void JointPrior::fix(ConstVecRef theta, VecRef hyper) const {
  hyper[0] = 1;
  Eigen::Map<Mat>(hyper.data() + 1, q_, q_) = unpack(theta);
}

void JointPrior::free(ConstVecRef hyper, VecRef theta) const {
  const Mat f = factor(hyper) / std::sqrt(hyper[0]);
  for (Index i = 0, k = 0; i < q_; ++i)
    for (Index j = 0; j <= i; ++j) theta[k++] = i == j ? std::log(f(i, i)) : f(i, j);
}

Mat JointPrior::unpack(ConstVecRef theta) const {
  Mat f = Mat::Zero(q_, q_);
  for (Index i = 0, k = 0; i < q_; ++i)
    for (Index j = 0; j <= i; ++j, ++k) f(i, j) = i == j ? std::exp(theta[k]) : theta[k];
  return f;
}

double JointPrior::log_joint(const Moments& b, ConstVecRef theta, VecRef gradient) const {
  const Mat f = unpack(theta);
  Mat root = Mat::Identity(q_, q_), T(q_, q_), inner = Mat::Zero(q_, q_);
  solve_lower(f, root);
  double out = log_rest(root, T) + static_cast<double>(q_) * std::log(2.0);
  if (b.square.size() > 0) inner = root * square(b) * root.transpose();
  out -= 0.5 * (inner.trace() + b.seen() * kLog2Pi);
  const Mat slope = root.transpose() * (inner + root * T * root.transpose());
  for (Index i = 0, k = 0; i < q_; ++i)
    for (Index j = 0; j <= i; ++j, ++k) {
      const double power = diagonal_power(i) - seen_levels(b);
      if (i == j) out += power * theta[k];
      gradient[k] = i == j ? slope(i, i) * f(i, i) + power : slope(i, j);
    }
  if (std::isfinite(out) && gradient.allFinite()) return out;
  gradient.setZero();
  return -std::numeric_limits<double>::infinity();
}

void JointPrior::settle(double df, const Mat& lambda, VecRef hyper) const {
  hyper[0] = df;
  Eigen::Map<Mat>(hyper.data() + 1, q_, q_) = robust_factor(lambda);
}

void JointPrior::go_further(const Vec& before, double reach, VecRef hyper) const {
  if (reach == 1) return;
  Mat ratio = factor(hyper);  // ratio ratio' = F^{-1} (F F' of hyper) F^{-T}, F of before
  solve_lower(factor(before), ratio);
  const SymmetricEigen eigen(ratio * ratio.transpose());
  const Vec power = eigen.values.array().max(1e-300).pow(0.5 * reach);
  Mat root = lower_product(factor(before), eigen.vectors);
  root = root * power.asDiagonal();
  Mat further = root * root.transpose();
  if (factorise(further)) Eigen::Map<Mat>(hyper.data() + 1, q_, q_) = further;
}

void JointPrior::draw_covariance(double df, const Mat& lambda, Draws& random,
                                 VecRef hyper) const {
  const Mat scale = robust_factor(lambda);
  hyper[0] = 1;
  for (int k = 0; k == 0 || (k < 1000 && !possible(hyper, -1, 1)); ++k)
    inverse_wishart(df, scale.data(), q_, random, hyper.data() + 1);
}

bool JointPrior::possible(ConstVecRef hyper, Index a, double t) const {
  for (Index j = 0; j < q_; ++j) {
    const double factor2 = a < 0 || a == j ? t * t : 1.0;
    if (!possible_variance(factor(hyper).row(j).squaredNorm() / hyper[0] * factor2)) return false;
  }
  return true;
}

NamedNumbers JointPrior::lower_triangle(const char* what, const Mat& a) const {
  NamedNumbers out;
  for (Index j = 0; j < q_; ++j)
    for (Index i = j; i < q_; ++i) {
      const std::string at = "_" + std::to_string(i + 1) + "_" + std::to_string(j + 1);
      out.push_back({q_ == 1 ? what : what + at, a(i, j)});
    }
  return out;
}

NamedNumbers JointPrior::report(ConstVecRef hyper) const {
  const Mat lambda = factor(hyper) * factor(hyper).transpose();
  const double rest = hyper[0] - static_cast<double>(q_ + 1);
  const Mat mean = rest > 0 ? Mat(lambda / rest)
                            : Mat::Constant(q_, q_, std::numeric_limits<double>::infinity());
  NamedNumbers out{{"df", hyper[0]}};
  for (const NamedNumbers& part :
       {lower_triangle("scale", lambda), lower_triangle("mean", mean),
        lower_triangle("inverse_mean", mean_inverse(hyper))})
    out.insert(out.end(), part.begin(), part.end());
  return out;
}

NamedNumbers JointPrior::drawn(ConstVecRef hyper) const {
  return lower_triangle("variance", factor(hyper) * factor(hyper).transpose() / hyper[0]);
}

}  // namespace bsvm
