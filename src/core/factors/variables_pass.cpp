#include "variables_pass.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "linalg/kernels.hpp"
#include "linalg/small.hpp"
#include "loadings.hpp"
#include "random/inverse_gaussian.hpp"
#include "rows/lanes.hpp"

namespace bsvm {

namespace {

// Of a local variance, so that a loading that was drawn as zero can leave it.
constexpr double kMostLocalPrecision = 1e20;
constexpr double kStartLoading = 0.5;

}  // namespace

void VariableSums::clear() {
  linear.setZero();
  moments.setZero();
  weighted.setZero();
  size = residual = 0;
}

void VariableSums::add(const VariableSums& other) {
  linear += other.linear;
  moments += other.moments;
  weighted += other.weighted;
  size += other.size;
  residual += other.residual;
}

// What all variables are given in a sweep.
struct VariablesPass::Design {
  Mat rows;    // (1 + K, N) W1'
  Mat gram;    // W1'W1
  std::vector<double> packed;  // W1'
  const Given& given;
  const DrawKey& now;
  Mat root;    // of P, if complete variables share it

  Design(const Mat& w, const Given& of, const DrawKey& key, bool shares)
      : rows(w.cols() + 1, w.rows()), given(of), now(key) {
    rows.row(0).setOnes();
    rows.bottomRows(w.cols()) = w.transpose();
    gram = rows * rows.transpose();
    packed.resize(static_cast<size_t>(packed_size(rows.rows(), rows.cols())));
    pack(rows.data(), rows.rows(), rows.cols(), nullptr, packed.data());
    if (!shares) return;
    root = of.psi * gram;
    root.diagonal() += of.precisions;
    if (!small_cholesky(root.data(), root.rows())) refuse_numbers();
  }
};

VariablesPass::VariablesPass(const SharedFactors& shared, Index together)
    : shared_(shared), model_(shared.model), together_(together),
      b_(Mat::Constant(1 + model_.factors, model_.p(), kStartLoading)),
      psi_(Vec::Ones(model_.noise.each ? model_.p() : 0)) {
  b_.row(0).setZero();
}

VariableSums VariablesPass::draw(const Mat& w, const Given& given, const DrawKey& now,
                                 int threads, Host& host) {
  const Design design(w, given, now, !model_.loadings.local && !model_.noise.each);
  const Index p = model_.p(), chunks = (p + kVariables - 1) / kVariables;
  VariableSums out(model_.n(), model_.factors, model_.noise.each);
  std::vector<VariableSums> parts(static_cast<size_t>(std::min(together_, chunks)), out);
  for (Index first = 0; first < chunks; first += together_) {
    const Index count = std::min(together_, chunks - first);
    run_lanes(count, threads, host, [&](Index lane, int, const Checkpoint& checkpoint) {
      checkpoint();
      VariableSums& own = parts[static_cast<size_t>(lane)];
      own.clear();
      const Index from = (first + lane) * kVariables;
      draw_chunk(design, from, std::min(kVariables, p - from), own);
    });
    for (Index lane = 0; lane < count; ++lane) out.add(parts[static_cast<size_t>(lane)]);
  }
  return out;
}

VariableSums VariablesPass::sums() const {
  const Index p = model_.p();
  VariableSums out(model_.n(), model_.factors, model_.noise.each), part = out;
  std::vector<double> room;
  for (Index from = 0; from < p; from += kVariables) {
    part.clear();
    add_sums(from, std::min(kVariables, p - from), room, part);
    out.add(part);
  }
  return out;
}

void VariablesPass::draw_chunk(const Design& design, Index first, Index count,
                               VariableSums& sums) {
  const Index n = model_.n(), k = design.rows.rows();
  Mat products = Mat::Zero(k, count), precision(k, k);  // W1'x_i
  PanelProduct of{design.packed.data(), k, n, shared_.x().data() + first * n, count, n,
                  products.data(), k};
  of.packed_y = false;
  kernels().product(of);
  for (Index i = 0; i < count; ++i)
    draw_one(design, first + i, products.data() + i * k, precision, sums);
  std::vector<double> room;
  add_sums(first, count, room, sums);
}

// W1'W1 over the rows where variable i is seen.
Mat VariablesPass::gram_of(const Design& design, Index i) const {
  const Gaps& gaps = shared_.variable_gaps[static_cast<size_t>(
      shared_.gap_of[static_cast<size_t>(i)])];
  Mat out = Mat::Zero(design.gram.rows(), design.gram.cols());
  for (const Index n : gaps.listed) out += design.rows.col(n) * design.rows.col(n).transpose();
  return gaps.lists_seen ? out : Mat(design.gram - out);
}

void VariablesPass::draw_one(const Design& design, Index i, const double* product, Mat& precision,
                             VariableSums& sums) {
  const Index k = design.rows.rows(), gap = shared_.gap_of[static_cast<size_t>(i)];
  const bool each = model_.noise.each, local = model_.loadings.local;
  const double psi = each ? psi_[i] : design.given.psi;
  Draws random(design.now, Purpose::design, static_cast<std::uint64_t>(i));
  Mat own_gram;
  if (gap >= 0) own_gram = gram_of(design, i);
  const Mat& gram = gap >= 0 ? own_gram : design.gram;
  double* b = b_.data() + i * k;
  const double* root = design.root.data();
  if (gap >= 0 || each || local) {
    precision = psi * gram;
    precision(0, 0) += design.given.precisions[0];
    const double rate = std::sqrt(2 * design.given.rate);
    for (Index j = 1; j < k; ++j) {
      if (!local) {
        precision(j, j) += design.given.precisions[j];
        continue;
      }
      const double normal = random.normal(), uniform = random.uniform();
      precision(j, j) += std::min(
          rate * rate * inverse_gaussian(rate * std::abs(b[j]), normal, uniform),
          kMostLocalPrecision);
    }
    if (!small_cholesky(precision.data(), k)) refuse_numbers();
    root = precision.data();
  }
  for (Index j = 0; j < k; ++j) b[j] = psi * product[j];
  small_forward(root, k, b);
  for (Index j = 0; j < k; ++j) b[j] += random.normal();
  small_backward(root, k, b);
  double square = shared_.squares[i];
  for (Index j = 0; j < k; ++j) {
    double fit = 0;
    for (Index l = 0; l < k; ++l) fit += gram(l, j) * b[l];
    square += b[j] * (fit - 2 * product[j]);
  }
  sums.residual += std::max(square, 0.0);
  if (!each) return;
  const double count = gap >= 0 ? shared_.variable_gaps[static_cast<size_t>(gap)].seen
                                : static_cast<double>(model_.n());
  psi_[i] = draw_precision(model_.noise, count, square, random);
}

// Or only those that means take part in.
void VariablesPass::add_moments(Index first, Index count, bool of_means,
                                VariableSums& sums) const {
  const Index k = model_.factors;
  for (Index i = 0; i < count; ++i) {
    const double* b = b_.data() + (first + i) * (k + 1);
    for (Index l = 0; l <= (of_means ? 0 : k); ++l)
      for (Index j = l; j <= k; ++j) sums.moments(j, l) += b[j] * b[l];
    if (!model_.noise.each) continue;
    for (Index l = 0; l <= (of_means ? 0 : k); ++l)
      for (Index j = l; j <= k; ++j) sums.weighted(j, l) += psi_[first + i] * b[j] * b[l];
  }
  for (Mat* own : {&sums.moments, &sums.weighted})
    for (Index l = 0; l < own->cols(); ++l)
      for (Index j = l + 1; j < own->rows(); ++j) (*own)(l, j) = (*own)(j, l);
}

void VariablesPass::add_sums(Index first, Index count, std::vector<double>& room,
                             VariableSums& sums) const {
  const Index n = model_.n(), k = model_.factors;
  add_moments(first, count, false, sums);
  if (k == 0) return;
  Mat weighted(count, k);
  for (Index i = 0; i < count; ++i) {
    const double weight = model_.noise.each ? psi_[first + i] : 1;
    const double* a = b_.data() + (first + i) * (k + 1) + 1;
    for (Index j = 0; j < k; ++j) {
      weighted(i, j) = weight * a[j];
      sums.size += std::abs(a[j]);
    }
  }
  room.resize(static_cast<size_t>(packed_size(n, count)));
  pack_block(shared_.x().data() + first * n, n, n, count, nullptr, room.data());
  PanelProduct of{room.data(), n, count, weighted.data(), k, count, sums.linear.data(), n};
  of.packed_y = false;
  kernels().product(of);
}

void VariablesPass::translate(const Vec& delta, VariableSums& sums) {
  const Index p = model_.p();
  b_.row(0) -= delta.transpose() * b_.bottomRows(model_.factors);
  VariableSums part(0, model_.factors, model_.noise.each), all = part;
  for (Index from = 0; from < p; from += kVariables) {
    part.clear();
    add_moments(from, std::min(kVariables, p - from), true, part);
    all.add(part);
  }
  const auto take = [](const Mat& from, Mat& to) {
    if (from.size() == 0) return;
    to.row(0) = from.row(0);
    to.col(0) = from.col(0);
  };
  take(all.moments, sums.moments);
  take(all.weighted, sums.weighted);
}

}  // namespace bsvm
