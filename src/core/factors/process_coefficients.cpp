// The normal density near p(x | y): of row n log E p(y_n | f_n) at variance v_n + V has slope g
// and curvature k in the mean m_n. If p were normal in f, V could be taken out of it again, which
// leaves
//
//   the precision  r = k / (1 - k V)   and, times the mean,   r (m_n - offset_n) + g / (1 - k V),
//
// exactly so for normal p. With V = 0 a hinge would have no curvature but at its kinks. A few steps
// from x = 0, each at the mean of the one before, lead to the density.
//
//   this file   meaning             |  this file   meaning
//   z           L'(x - center)      |  turns       L^{-T} of some of z, of as many normal numbers
//   f           offset_n + c_n'x    |  along       what these do to f
#include "process_coefficients.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "linalg/kernels.hpp"
#include "links.hpp"
#include "random/ellipse.hpp"

namespace bsvm {

namespace {

constexpr double kSmoothing = 0.3;  // V
constexpr int kSteps = 4;
constexpr double kLeastShare = 1e-3;  // of 1 - k V, which is positive
constexpr Index kTogether = 16;       // coordinates of an ellipse
constexpr int kRounds = 1;

// c (p, n), times a factor for each column if there are some, as the kernels take it.
std::vector<double> packed(const Mat& c, const double* factor) {
  std::vector<double> out(static_cast<size_t>(packed_size(c.rows(), c.cols())));
  pack(c.data(), c.rows(), c.cols(), factor, out.data());
  return out;
}

}  // namespace

double NormalRows::log_likelihood(const Likelihood& likelihood, const Vec& mean) const {
  double sum = 0;
  for (Index i = 0; i < y.size(); ++i)
    sum += likelihood.averaged(y[i], mean[i], std::max(variance[i], kLeastLeftover),
                               weight[i]).value;
  return sum;
}

NormalBase::NormalBase(const NormalRows& rows, const Likelihood& likelihood, const Vec& prior)
    : center_(Vec::Zero(rows.design.rows())) {
  const Index n = rows.design.cols();
  Vec weight(n), linear(n);
  const std::vector<double> plain = packed(rows.design, nullptr);
  for (int step = 0; step < kSteps; ++step) {
    const Vec by = rows.design.transpose() * center_;
    for (Index i = 0; i < n; ++i) {
      const Tilted of = likelihood.averaged(rows.y[i], rows.offset[i] + by[i],
                                            rows.variance[i] + kSmoothing, rows.weight[i]);
      const double k = std::max(of.curvature, 0.0);
      const double share = std::max(1 - k * kSmoothing, kLeastShare);
      weight[i] = k / share;
      linear[i] = (k * by[i] + of.slope) / share;
    }
    Mat precision = prior.asDiagonal();
    kernels().gram(packed(rows.design, weight.data()).data(), plain.data(), precision.rows(), n,
                   precision.data());
    precision_ = positive_factor(precision);
    center_ = precision_.solve(Vec(rows.design * linear));
  }
}

Vec NormalBase::from_white(const Vec& z) const {
  Vec out = z;
  solve_transposed(root(), out);
  return out + center_;
}

double NormalBase::log_density(const Vec& z) const {
  return 0.5 * (precision_.logdet() - z.squaredNorm());
}

void draw_by_ellipses(const NormalRows& rows, const Likelihood& likelihood, const Vec& prior,
                      const NormalBase& base, Vec& x, Draws& random) {
  const Index c = x.size();
  Vec z = base.white(x), f = rows.means(x);
  double here = rows.log_likelihood(likelihood, f);
  const Index blocks = (c + kTogether - 1) / kTogether;
  for (Index k = 0; k < kRounds * blocks; ++k) {
    const Index first = c * (k % blocks) / blocks, count = c * (k % blocks + 1) / blocks - first;
    Mat turns = Mat::Zero(c, 2);
    turns.col(0).segment(first, count) = z.segment(first, count);
    for (Index i = 0; i < count; ++i) turns(first + i, 1) = random.normal();
    const Mat own = turns.middleRows(first, count);
    solve_transposed(base.root(), turns);
    const Mat along = rows.design.transpose() * turns;
    const Vec rest = x - turns.col(0);
    const Mat weighed = prior.asDiagonal() * turns;
    const Eigen::Matrix2d bend = own.transpose() * own - turns.transpose() * weighed;
    const Eigen::Vector2d slope = weighed.transpose() * rest;
    double last = here;
    const auto log_density = [&](double cos, double sin) {
      const Eigen::Vector2d at(cos, sin);
      return last + 0.5 * at.dot(bend * at) - slope.dot(at);
    };
    double cos = 1, sin = 0;
    ellipse([&](double to_cos, double to_sin) {
      last = rows.log_likelihood(likelihood,
                                 f + (to_cos - 1) * along.col(0) + to_sin * along.col(1));
      return log_density(to_cos, to_sin);
    }, log_density(1, 0), random, cos, sin);
    if (cos == 1 && sin == 0) continue;
    here = last;
    f += (cos - 1) * along.col(0) + sin * along.col(1);
    x += (cos - 1) * turns.col(0) + sin * turns.col(1);
    z.segment(first, count) = cos * own.col(0) + sin * own.col(1);
  }
}

}  // namespace bsvm
