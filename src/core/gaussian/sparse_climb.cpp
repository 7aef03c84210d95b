#include "sparse_climb.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "base/progress.hpp"
#include "rows/lanes.hpp"

namespace bsvm {

namespace {

constexpr Index kMostSides = 16;         // 128 draws
constexpr double kMostBytes = 1e9;       // that they take
constexpr double kMeanTolerance = 1e-4, kDrawTolerance = 1e-3;  // of conjugate gradients
constexpr int kMostSparseProducts = 1000;
constexpr int kMostNewton = 50, kMostSparseHalvings = 30;
constexpr double kUsualPasses = 40;
constexpr int kMostSettle = 40;          // passes at one theta
constexpr double kSparseGrowth = 1.3, kSparseRetreat = 0.5;
constexpr double kLeastSparseShare = 0.05, kMostSparseShare = 0.9;

}  // namespace

SparseClimb::SparseClimb(const Problem& problem, const Options& options, int threads, Host& host)
    : problem_(problem), options_(options), threads_(threads), host_(host), design_(problem),
      side_(problem), state_(side_.start(options.start)), y_(problem.n),
      weight_(Arr::Ones(problem.n)), offset_(Arr::Zero(problem.n)),
      mean_(Mat::Zero(1, design_.columns())) {
  if (threads < 1) throw InvalidInput("threads", "'threads' must be at least 1.");
  const Index n = problem.n;
  y_ = Eigen::Map<const Arr>(problem.y, n);
  if (problem.weight) weight_ = Eigen::Map<const Arr>(problem.weight, n);
  if (problem.offset) offset_ = Eigen::Map<const Arr>(problem.offset, n);
  mean_.leftCols(design_.dense()) = state_.mean().transpose();
  terms_.resize(n);
  theta_ = side_.free(state_);
  last_step_ = last_move_ = Vec::Zero(theta_.size());
  for (const PriorPart& part : side_.parts())
    scalar_ = scalar_ && (part.free_size() == 0 || part.slot.prior->exchangeable());
  refresh_prior();
  v_ = design_.row_squares(prior_->dense().cwiseInverse().cwiseMin(1.0), prior_->inverse())
           .array().min(1.0);
  draw_noise();
}

void SparseClimb::draw_noise() {
  const Index d = design_.columns(), n = design_.rows();
  const double bytes = static_cast<double>(kSide) * static_cast<double>(12 * d + 4 * n);
  sides_.resize(std::clamp<Index>(static_cast<Index>(kMostBytes / bytes), 1, kMostSides));
  std::uint32_t number = 0;
  for (Side& side : sides_) {
    side.coefficient_noise.resize(kSide, d);
    side.row_noise.resize(kSide, n);
    side.draw = Mat::Zero(kSide, d);
    for (Index k = 0; k < kSide; ++k, ++number) {
      Draws random(DrawKey{0, number, 0}, Purpose::dense, 0);
      for (Index j = 0; j < d; ++j)
        side.coefficient_noise(k, j) = static_cast<float>(random.normal());
      for (Index i = 0; i < n; ++i) side.row_noise(k, i) = static_cast<float>(random.normal());
    }
  }
}

void SparseClimb::refresh_prior() {
  side_.fix_priors(state_, theta_);
  prior_.reset(new LevelPrecision(design_, side_.precision(state_), state_.group_prior()));
}

// The objective at the mean, the rows' variances held.
void SparseClimb::look() {
  m_ = offset_ + design_.times(mean_).transpose().array();
  problem_.likelihood->terms(Use::expected, y_, m_, v_, terms_);
  for (Arr* a : {&terms_.value, &terms_.slope, &terms_.weight}) *a *= weight_;
  value_ = terms_.value.sum() - 0.5 * mean_.cwiseProduct(prior_->times(mean_)).sum();
}

SparseClimb::Blocks SparseClimb::blocks_of(const Vec& w) const {
  const Index p = design_.dense();
  Blocks out;
  Mat dense = design_.dense_rows() * w.asDiagonal() * design_.dense_rows().transpose();
  dense.diagonal() += prior_->dense();
  out.dense = Factor(dense);
  if (!out.dense.positive()) refuse_precision();
  const Vec diagonal = design_.weighted_squares(w) + prior_->diagonal();
  out.inverse = diagonal.tail(diagonal.size() - p).cwiseInverse();
  return out;
}

Mat SparseClimb::Blocks::solve(const Mat& x) const {
  const Index p = x.cols() - inverse.size();
  Mat out(x.rows(), x.cols());
  out.leftCols(p) = dense.solve(x.leftCols(p).transpose()).transpose();
  out.rightCols(inverse.size()) = x.rightCols(inverse.size()) * inverse.asDiagonal();
  return out;
}

// A = D + B'WB.
Product SparseClimb::product_with(const Vec& w) const {
  return [this, &w](const Mat& x) -> Mat {
    Mat rows = design_.times(x);
    rows.array().rowwise() *= w.transpose().array();
    return prior_->times(x) + design_.transposed_times(rows);
  };
}

// A^{-1} x under these weights.
Mat SparseClimb::solve(const Vec& w, const Mat& x) const {
  const Blocks blocks = blocks_of(w);
  Mat out = Mat::Zero(1, x.cols());
  run_lanes(1, 1, host_, [&](Index, int, const Checkpoint& checkpoint) {
    conjugate_gradient(product_with(w), [&](const Mat& r) { return blocks.solve(r); }, x,
                       kMeanTolerance, kMostSparseProducts, checkpoint, out);
  });
  return out;
}

// Newton steps until one would gain no more than `tolerance`. False if none helps.
bool SparseClimb::climb_mean(double tolerance) {
  for (int k = 0; k < kMostNewton; ++k) {
    look();
    if (!std::isfinite(value_)) refuse_numbers();
    const Vec w = terms_.weight.max(0.0);
    const Mat gradient =
        design_.transposed_times(terms_.slope.matrix().transpose()) - prior_->times(mean_);
    const Mat step = solve(w, gradient);
    decrement_ = step.cwiseProduct(gradient).sum();
    if (!std::isfinite(decrement_)) refuse_numbers();
    if (decrement_ <= 2 * tolerance) return true;
    const Mat before = mean_;
    const double now = value_, slack = 1e-13 * (1 + std::abs(now));
    double share = 1;
    int halved = 0;
    for (; halved < kMostSparseHalvings; ++halved, share /= 2) {
      mean_ = before + share * step;
      look();
      if (value_ >= now + 1e-4 * share * decrement_ - slack) break;
    }
    if (halved == kMostSparseHalvings) {
      mean_ = before;
      look();
      return false;
    }
  }
  return true;
}

// (q, q) sum over draws and levels of u u', a block a term.
Mat SparseClimb::level_sums(const Mat& x) const {
  const Levels& levels = design_.levels();
  const Index p = design_.dense(), q = prior_->effects();
  Mat out = Mat::Zero(q, q);
  for (Index k = p; k < x.cols();) {
    const int first = levels.effect[k - p];
    const Index size = levels.effects[first];
    const auto own = x.middleCols(k, size);
    out.block(first, first, size, size).noalias() += own.transpose() * own;
    k += size;
  }
  return out;
}

// Draws of N(0, A^{-1}) and what they say of variances. `alone`: (n) c_i.
void SparseClimb::sample(Side& side, const Vec& w, const Vec& alone, const Blocks& blocks,
                         const std::function<void()>& checkpoint) const {
  const Index p = design_.dense();
  const Mat noise = side.coefficient_noise.cast<double>();
  Mat rows = side.row_noise.cast<double>();
  rows.array().rowwise() *= w.cwiseSqrt().transpose().array();  // W^{1/2} z
  const Mat right = prior_->root_times(noise) + design_.transposed_times(rows);
  conjugate_gradient(product_with(w), [&](const Mat& x) { return blocks.solve(x); }, right,
                     kDrawTolerance, kMostSparseProducts, checkpoint, side.draw);
  const Mat f = design_.times(side.draw);
  Mat own = design_.times(prior_->root_transposed_solve(noise));
  const Vec share = (1 + w.array() * alone.array()).inverse();
  own.array() += rows.array().rowwise() * alone.transpose().array();
  own.array().rowwise() *= share.transpose().array();
  side.total = f.colwise().squaredNorm().transpose();
  side.beyond = (f - own).colwise().squaredNorm().transpose();
  const Mat rest = side.draw - blocks.solve(right);
  side.square = rest.colwise().squaredNorm().transpose();
  side.dense = rest.leftCols(p).transpose() * rest.leftCols(p);
  side.level = level_sums(side.draw);
}

// The rows' variances and the coefficients', under these weights: averages over the draws, in the
// header's symbols. Returns how far the former moved: the root mean square of their logarithms'
// change, weighted by what rows tell.
//  name      size    meaning
//  alone     (n)     c_i
//  least     (n)     L_i = c_i / (1 + w_i c_i), the most that v_i can be
//  total     (n)     mean of f_i^2: v_i, with a relative error that does not depend on it
//  beyond    (n)     mean of (f_i - g_i)^2, so that least - beyond is v_i too, better near L_i
//  part      (n)     v_i / L_i, about
//  by_total  (n)     share of the first in the average of the two, by their variances
//  next      (n)     that average
//  square    (d)     mean of (x - M^{-1} A x)^2
//  told              w_i v_i, what the row tells
double SparseClimb::find_variances(const Vec& w) {
  const Index n = design_.rows(), p = design_.dense(), d = design_.columns();
  const Blocks blocks = blocks_of(w);
  const Vec alone = design_.row_squares(prior_->dense().cwiseInverse(), prior_->inverse());
  run_lanes(static_cast<Index>(sides_.size()), threads_, host_,
            [&](Index at, int, const Checkpoint& checkpoint) {
    sample(sides_[at], w, alone, blocks, checkpoint);
  });
  const double draws = static_cast<double>(kSide * static_cast<Index>(sides_.size()));
  Arr total = Arr::Zero(n), beyond = Arr::Zero(n);
  Vec square = Vec::Zero(d);
  dense_covariance_ = Mat::Zero(p, p);
  level_covariance_ = Mat::Zero(prior_->effects(), prior_->effects());
  for (const Side& side : sides_) {
    total += side.total / draws;
    beyond += side.beyond / draws;
    square += side.square / draws;
    dense_covariance_ += side.dense / draws;
    level_covariance_ += side.level / draws;
  }
  dense_covariance_ += blocks.dense.solve(Mat::Identity(p, p));
  variance_.resize(d);
  variance_.head(p) = dense_covariance_.diagonal();
  variance_.tail(d - p) = square.tail(d - p) + blocks.inverse;
  const Arr least = alone.array() / (1 + w.array() * alone.array());
  const Arr part = total / (total + beyond).max(1e-300);  // v_i / L_i, about
  const Arr by_total = (1 - part).square() / ((1 - part).square() + part.square());
  const Arr next = (by_total * total + (1 - by_total) * (least - beyond)).max(1e-3 * least * part);
  double moved = 0, sum = 0;
  for (Index i = 0; i < n; ++i) {
    if (!(next[i] > 0)) continue;
    const double told = w[i] * next[i] + 1e-12;
    const double change = std::log(next[i] / std::max(v_[i], 1e-300));
    moved += told * change * change;
    sum += told;
  }
  v_ = next;
  if (!v_.allFinite() || !variance_.allFinite()) refuse_numbers();
  return sum > 0 ? std::sqrt(moved / sum) : 0;
}

void SparseClimb::record(double change) {
  progress_.gradient = std::sqrt(std::max(0.0, decrement_));
  progress_.trace.push_back({value_, progress_.gradient, 1, 1});
  std::ostringstream text;
  text.precision(12);
  text << "iteration " << progress_.passes << ": objective " << value_ << ", change ";
  text.precision(3);
  text << change;
  tell(host_, text.str(), std::min(0.95, static_cast<double>(progress_.passes) / kUsualPasses));
}

Node SparseClimb::node() const {
  const Index p = design_.dense();
  Node out;
  out.theta = theta_;
  out.log_density = out.bound = value_;
  out.matched = false;
  out.state = state_;
  out.state.begun() = 1;
  out.state.mean() = mean_.row(0).head(p).transpose();
  out.state.inverse_factor().setZero();
  out.groups.effect = mean_.row(0).tail(mean_.cols() - p).transpose();
  out.groups.effect_sd = variance_.tail(mean_.cols() - p).cwiseSqrt();
  return out;
}

// Variances under weights that go a share of the way to those at the mean: at full length they may
// swing between two values for ever. Returns how far the variances still have to go.
double SparseClimb::spread() {
  const Vec next = terms_.weight.max(0.0);
  if (w_.size() == 0) w_ = next;
  else w_ += share_ * (next - w_);
  const double moved = find_variances(w_) / share_;
  share_ = std::clamp(share_ * (moved < last_moved_ ? kSparseGrowth : kSparseRetreat),
                      kLeastSparseShare, kMostSparseShare);
  last_moved_ = moved;
  return moved;
}

// Mean and variances at this theta.
void SparseClimb::settle(double tolerance) {
  for (int k = 0; k < kMostSettle; ++k) {
    if (progress_.passes >= options_.max_passes) return;
    ++progress_.passes;
    climb_mean(kRough);
    const double moved = spread();
    record(moved);
    if (moved <= tolerance) return;
  }
}

// How much more log p(theta, y) is by expectation propagation than by the bound: what matching
// moments gives, row by row (likelihood/matched_terms.hpp).
double SparseClimb::matching() const {
  RowTerms matched;
  matched.resize(design_.rows());
  problem_.likelihood->terms(Use::matched, y_, m_, v_, matched);
  return (matched.value * weight_ - terms_.value).sum();
}

// One step of expectation propagation, as gaussian/moment_matching does.
void SparseClimb::match() {
  look();
  RowTerms matched;
  matched.resize(design_.rows());
  problem_.likelihood->terms(Use::matched, y_, m_, v_, matched);
  const Vec w = (matched.weight * weight_).max(0.0);
  const Vec slope = matched.slope * weight_;
  const Mat gradient = design_.transposed_times(slope.transpose()) - prior_->times(mean_);
  mean_ += solve(w, gradient);
  find_variances(w);
}

}  // namespace bsvm
