// LoadingsPosterior's look at x.
//
//   this file   is                            |  this file   is
//   rows        (1 + K, N) E (1, w_n)         |  products    (1 + K, variables) rows x
//   gram        sum_n E (1, w_n)(1, w_n)'     |  priors      (1 + K) E of precisions, 0 if local
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "linalg/kernels.hpp"
#include "rows/lanes.hpp"
#include "variables_pass.hpp"
#include "variational_loadings.hpp"

namespace bsvm {

namespace {

constexpr Index kChunksTogether = 16;
constexpr double kMostPrecision = 1e20;  // of a local variance

}  // namespace

struct LoadingsPosterior::Design {
  const ScorePosterior& w;
  Mat rows, gram;
  Vec priors;
  std::vector<double> packed;

  Design(const ScorePosterior& of, Vec precisions)
      : w(of), rows(1 + of.mean.cols(), of.mean.rows()), gram(of.moments()),
        priors(std::move(precisions)) {
    rows.row(0).setOnes();
    rows.bottomRows(of.mean.cols()) = of.mean.transpose();
  }
};

// Of some variables.
struct LoadingsPosterior::Sums {
  Mat linear, moments, weighted;
  double residual = 0, center = 0, logdets = 0;

  void clear() {
    for (Mat* own : {&linear, &moments, &weighted}) own->setZero();
    residual = center = logdets = 0;
  }
  void add(const Sums& other) {
    linear += other.linear;
    moments += other.moments;
    weighted += other.weighted;
    residual += other.residual;
    center += other.center;
    logdets += other.logdets;
  }
};

void LoadingsPosterior::update(const ScorePosterior& w, int threads, Host& host) {
  Vec precisions(b_.rows());
  precisions[0] = 1 / model_.mean_variance;
  precisions.tail(model_.factors).setZero();
  if (!local()) precisions.tail(model_.factors) = variances().cwiseInverse();
  Design design(w, precisions);
  if (shares()) {
    if (host.interrupted()) throw Interrupted();
    update_shared(design);
  } else {
    update_each(design, threads, host);
  }
  update_variances();
  gather();
}

void LoadingsPosterior::update_shared(const Design& design) {
  const Index k = model_.factors;
  const double n = static_cast<double>(model_.n());
  const Factor factor(Mat(psi_of(0) * design.gram + Mat(design.priors.asDiagonal())));
  if (!factor.positive()) refuse_numbers();
  const Mat products = design.rows * *x_, covariance = factor.inverse();
  b_ = psi_of(0) * covariance * products;
  covariance_.col(0) = Eigen::Map<const Vec>(covariance.data(), covariance.size());
  logdets_ = -all_variables() * factor.logdet();
  moments_ = b_ * b_.transpose() + all_variables() * covariance;
  linear_ = *x_ * b_.bottomRows(k).transpose();
  update_noise(squares_ - 2 * products.cwiseProduct(b_).sum() +
               moments_.cwiseProduct(design.gram).sum());
  center_ = psi_of(0) * (squares_ - 2 * products.row(0).dot(b_.row(0)) + n * moments_(0, 0));
}

void LoadingsPosterior::update_each(const Design& given, int threads, Host& host) {
  Design design = given;
  design.packed.resize(static_cast<size_t>(packed_size(design.rows.rows(), design.rows.cols())));
  pack(design.rows.data(), design.rows.rows(), design.rows.cols(), nullptr, design.packed.data());
  Sums all{Mat::Zero(model_.n(), model_.factors), Mat::Zero(b_.rows(), b_.rows()),
           Mat::Zero(weighted_.rows(), weighted_.cols())};
  const Index chunks = (variables() + kVariables - 1) / kVariables;
  std::vector<Sums> parts(static_cast<size_t>(std::min(kChunksTogether, chunks)), all);
  for (Index first = 0; first < chunks; first += kChunksTogether) {
    const Index count = std::min(kChunksTogether, chunks - first);
    run_lanes(count, threads, host, [&](Index lane, int, const Checkpoint& checkpoint) {
      checkpoint();
      Sums& own = parts[static_cast<size_t>(lane)];
      own.clear();
      const Index from = (first + lane) * kVariables;
      update_chunk(design, from, std::min(kVariables, variables() - from), own);
    });
    for (Index lane = 0; lane < count; ++lane) all.add(parts[static_cast<size_t>(lane)]);
  }
  moments_ = all.moments;
  weighted_ = all.weighted;
  linear_ = all.linear;
  logdets_ = all.logdets;
  update_noise(all.residual);
  center_ = (model_.noise.each ? 1 : psi_of(0)) * all.center;
}

void LoadingsPosterior::update_chunk(const Design& design, Index first, Index count, Sums& sums) {
  const Index n = model_.n(), k = model_.factors, size = 1 + k;
  Mat products = Mat::Zero(size, count), weighted(count, k);
  PanelProduct of{design.packed.data(), size, n, x_->data() + first * n, count, n,
                  products.data(), size};
  of.packed_y = false;
  kernels().product(of);
  for (Index j = 0; j < count; ++j) {
    const Index i = first + j;
    const double psi = psi_of(i);
    const Mat gram = gram_of(design, i);
    Mat precision = psi * gram;
    precision.diagonal() += design.priors;
    if (local())
      precision.diagonal().tail(k).array() +=
          (2 * rate_ / square_.col(i).array()).sqrt().min(kMostPrecision);
    const Factor factor(precision);
    if (!factor.positive()) refuse_numbers();
    const Mat covariance = factor.inverse();
    covariance_.col(i) = Eigen::Map<const Vec>(covariance.data(), covariance.size());
    b_.col(i) = psi * covariance * products.col(j);
    const Mat second = second_of(i);
    const double residual = std::max(0.0, shared_.squares[i] - 2 * products.col(j).dot(b_.col(i)) +
                                              gram.cwiseProduct(second).sum());
    if (model_.noise.each) {
      noise_shape_[i] = model_.noise.shape + 0.5 * seen_of(i);
      noise_rate_[i] = model_.noise.rate + 0.5 * residual;
      sums.weighted += psi_of(i) * second;
    }
    const double weight = model_.noise.each ? psi_of(i) : 1;
    sums.residual += residual;
    sums.moments += second;
    sums.logdets -= factor.logdet();
    sums.center += weight * (shared_.squares[i] - 2 * b_(0, i) * products(0, j) +
                             seen_of(i) * second(0, 0));
    weighted.row(j) = weight * b_.col(i).tail(k).transpose();
  }
  if (k == 0) return;
  std::vector<double> room(static_cast<size_t>(packed_size(n, count)));
  pack_block(x_->data() + first * n, n, n, count, nullptr, room.data());
  PanelProduct back{room.data(), n, count, weighted.data(), k, count, sums.linear.data(), n};
  back.packed_y = false;
  kernels().product(back);
}

// The sum over the rows where variable i is seen.
Mat LoadingsPosterior::gram_of(const Design& design, Index i) const {
  const Index gap = shared_.gap_of[static_cast<size_t>(i)];
  if (gap < 0) return design.gram;
  const Gaps& gaps = shared_.variable_gaps[static_cast<size_t>(gap)];
  const Index k = model_.factors;
  Mat out = Mat::Zero(1 + k, 1 + k);
  for (const Index n : gaps.listed) {
    out += design.rows.col(n) * design.rows.col(n).transpose();
    out.bottomRightCorner(k, k) += design.w.of(n);
  }
  return gaps.lists_seen ? out : Mat(design.gram - out);
}

}  // namespace bsvm
