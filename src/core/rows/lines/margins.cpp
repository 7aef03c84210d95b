#include "margins.hpp"

#include <numeric>

#include "model/state.hpp"
#include "slide.hpp"

namespace bsvm {

namespace {

constexpr Index kPad = 8;  // rows that kernels take at a time

}  // namespace

Margins::Margins(const Problem& problem)
    : problem_(problem), design_(problem.n, problem.columns()),
      effects_(Vec::Zero(problem.group_coefficients())), margin_(Vec::Zero(problem.n)),
      slope_(problem.n) {
  take_design();
  if (problem.multipliers) take_multipliers();
  else take_sparse();
}

void Margins::take_design() {
  const State nothing{Layout()};
  std::vector<int> rows(problem_.n);
  std::iota(rows.begin(), rows.end(), 0);
  const Eigen::Map<const Vec> y(problem_.y, problem_.n);
  design_.setZero();
  Index column = 0;
  for (const auto& block : problem_.blocks)
    for (Index j = 0; j < block->columns(); ++j, ++column) {
      block->add_column(j, rows.data(), problem_.n, nothing, 1, design_.col(column).data());
      design_.col(column).array() *= y.array();
    }
}

void Margins::take_multipliers() {
  const Index q = problem_.effects(), n = problem_.n;
  terms_ = {{problem_.groups, q, 0, 0}};
  const State nothing{Layout()};
  std::vector<int> rows(n);
  std::iota(rows.begin(), rows.end(), 0);
  Mat z(q, n);
  problem_.multipliers->fill(rows.data(), n, nothing, z);
  start_.assign(problem_.groups * q + 1, 0);
  const auto each = [&](const auto& visit) {
    for (Index i = 0; i < n; ++i)
      for (Index a = 0; a < q; ++a)
        if (z(a, i) != 0) visit((problem_.group[i] - 1) * q + a, i, z(a, i));
  };
  each([&](Index column, Index, double) { ++start_[column + 1]; });
  std::partial_sum(start_.begin(), start_.end(), start_.begin());
  row_.resize(start_.back());
  value_.resize(start_.back());
  std::vector<Index> at(start_.begin(), start_.end() - 1);
  each([&](Index column, Index i, double multiplier) {
    row_[at[column]] = static_cast<int>(i);
    value_[at[column]++] = problem_.y[i] * multiplier;
  });
}

void Margins::take_sparse() {
  const SparseColumns& sparse = problem_.sparse;
  Index effect = 0, first = 0;
  for (const SparseTerm& term : sparse.terms) {
    terms_.push_back({term.levels, term.effects, effect, first});
    effect += term.effects;
    first += term.levels * term.effects;
  }
  start_.assign(1, 0);
  for (Index k = 0; k < sparse.columns; ++k) start_.push_back(sparse.start[k + 1]);
  row_.assign(sparse.row, sparse.row + start_.back());
  value_.resize(start_.back());
  for (size_t e = 0; e < row_.size(); ++e) value_[e] = problem_.y[row_[e]] * sparse.value[e];
}

void Margins::find(ConstVecRef dense) {
  Vec x(dense.size() + effects_.size());
  x << dense, effects_;
  margin_ = change(x);
  if (problem_.offset)
    margin_.array() += Eigen::Map<const Arr>(problem_.y, problem_.n) *
                       Eigen::Map<const Arr>(problem_.offset, problem_.n);
}

Vec Margins::change(ConstVecRef x) const {
  const Index p = design_.cols();
  Vec out = design_ * x.head(p);
  for (Index j = 0; j < effects_.size(); ++j)
    for (Index e = start_[j]; x[p + j] != 0 && e < start_[j + 1]; ++e)
      out[row_[e]] += x[p + j] * value_[e];
  return out;
}

Mat Margins::changes(const Mat& x) const {
  Mat out(rows(), x.cols());
  for (Index k = 0; k < x.cols(); ++k) out.col(k) = change(x.col(k));
  return out;
}

Vec Margins::weigh(ConstVecRef dense_precision, const Mat& group_prior, ConstVecRef x) const {
  const Index p = design_.cols();
  Vec out(x.size());
  out.head(p) = dense_precision.cwiseProduct(x.head(p));
  for (const Term& term : terms_) {
    const Index q = term.effects, size = term.levels * q;
    const auto own = group_prior.block(term.first_effect, term.first_effect, q, q);
    if (q == 1) {
      out.segment(p + term.first, size) = own(0, 0) * x.segment(p + term.first, size);
      continue;
    }
    Eigen::Map<Mat>(out.data() + p + term.first, q, term.levels).noalias() =
        own * Eigen::Map<const Mat>(x.data() + p + term.first, q, term.levels);
  }
  return out;
}

double Margins::value(const Vec& a, const Vec& b, double s, double t) const {
  return problem_.likelihood->over(margin_.data(), a.data(), b.data(), problem_.weight, s, t,
                                   problem_.n);
}

double Margins::value_between(const Vec& from, const Vec& to, double share) const {
  return problem_.likelihood->over(from.data(), from.data(), to.data(), problem_.weight, -share,
                                   share, problem_.n);
}

double Margins::value() const {
  return problem_.likelihood->along(margin_.data(), margin_.data(), problem_.weight, 0,
                                    problem_.n);
}

double Margins::along(double t) {
  return problem_.likelihood->along(margin_.data(), slope_.data(), problem_.weight, t, problem_.n);
}

// ---- lines

void Margins::aim(const State&, const Line& line) {
  line_ = line;
  slope_.setZero();
  for (Index j = 0; j < line.dense.size(); ++j)
    if (line.dense[j] != 0) slope_ += line.dense[j] * design_.col(j);
  if (!(line.effect.array() != 0).any()) return;
  for (const Term& term : terms_)
    for (Index k = 0; k < term.levels * term.effects; ++k) {
      const Index j = term.first + k;
      const double by = line.effect[term.first_effect + k % term.effects] * effects_[j];
      for (Index e = start_[j]; by != 0 && e < start_[j + 1]; ++e)
        slope_[row_[e]] += by * value_[e];
    }
}

void Margins::move(State&, double t) {
  margin_ += t * slope_;
  for (const Term& term : terms_) {
    Eigen::Map<Mat> own(effects_.data() + term.first, term.effects, term.levels);
    own.array().colwise() *= 1 + t * line_.effect.segment(term.first_effect, term.effects).array();
  }
}

// ---- effects one at a time

Mat Margins::slide(const State& state, Index factor) {
  for (size_t k = 0; k < terms_.size(); ++k) {
    if (factor >= 0 && static_cast<Index>(k) != factor) continue;
    const Term& term = terms_[k];
    const auto prior = state.group_prior().block(term.first_effect, term.first_effect,
                                                 term.effects, term.effects);
    for (Index level = 0; level < term.levels; ++level) {
      const Index first = term.first + level * term.effects;
      Draws random(state.key(), Purpose::groups, static_cast<std::uint64_t>(first));
      auto own = effects_.segment(first, term.effects);
      for (Index a = 0; a < term.effects; ++a)
        own[a] += slide(first + a, prior(a, a), prior.col(a).dot(own), random);
    }
  }
  return group_moments(effects_);
}

double Margins::slide(Index column, double precision, double pull, Draws& random) {
  const Index first = start_[column], r = start_[column + 1] - first;
  const Index padded = (r + kPad - 1) / kPad * kPad;
  for (Arr* own : {&own_margin_, &own_slope_, &own_weight_})
    if (own->size() < padded) own->resize(padded);
  for (Index e = 0; e < r; ++e) {
    own_margin_[e] = margin_[row_[first + e]];
    own_slope_[e] = value_[first + e];
  }
  for (Index e = 0; problem_.weight && e < r; ++e)
    own_weight_[e] = problem_.weight[row_[first + e]];
  for (Index e = r; e < padded; ++e) {  // far on its side whatever the effect
    own_margin_[e] = 1e300;
    own_slope_[e] = own_weight_[e] = 0;
  }
  const SlideRows of{own_margin_.data(), own_slope_.data(),
                     problem_.weight ? own_weight_.data() : nullptr, padded};
  const double by = slide_effect(*problem_.likelihood, of, precision, pull, random);
  for (Index e = 0; e < r; ++e) margin_[row_[first + e]] = own_margin_[e];
  return by;
}

Mat Margins::group_moments(ConstVecRef effects) const {
  const Index q = problem_.effects();
  Mat out = Mat::Zero(q, q);
  for (const Term& term : terms_) {
    const Eigen::Map<const Mat> own(effects.data() + term.first, term.effects, term.levels);
    out.block(term.first_effect, term.first_effect, term.effects, term.effects) =
        own * own.transpose();
  }
  return out;
}

}  // namespace bsvm
