#include "predictors.hpp"

#include <cmath>
#include <numeric>

#include "linalg/small.hpp"
#include "model/gather.hpp"
#include "random/slice.hpp"

namespace bsvm {

Predictors::Predictors(const Problem& problem)
    : problem_(problem), varies_(varies(problem)), likelihood_(*problem.likelihood),
      effects_(Vec::Zero(problem.group_coefficients())), f_(Vec::Zero(problem.n)),
      slope_(problem.n) {
  if (problem.multipliers) terms_ = {{problem.groups, problem.effects(), 0, 0}};
  else take_sparse();
  numbers_ = design_numbers(problem);
  if (varies_) return;
  design_ = gather_columns(problem, all_rows(problem));
  if (problem.multipliers) take_multipliers(gather_multipliers(problem));
}

void Predictors::look(const State& state) {
  if (!varies_) return;
  const Vec numbers = state.parameters().tail(numbers_);
  if (numbers_ > 0 && looked_.size() > 0 && numbers == looked_) return;
  const std::vector<int> rows = all_rows(problem_);
  Mat c(problem_.columns(), problem_.n), z(problem_.effects(), problem_.n);
  gather_design(problem_, rows.data(), problem_.n, state, c);
  design_ = c.transpose();
  looked_ = numbers;
  if (!problem_.multipliers) return;
  gather_multipliers(problem_, rows.data(), problem_.n, state, z);
  take_multipliers(z);
}

void Predictors::take_multipliers(const Mat& z) {
  const Index q = z.rows(), n = z.cols();
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
    value_[at[column]++] = multiplier;
  });
}

void Predictors::take_sparse() {
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
  value_.assign(sparse.value, sparse.value + start_.back());
}

void Predictors::find(const State& state) {
  likelihood_.follow(state);
  look(state);
  Vec x(design_.cols() + effects_.size());
  x << state.mean().tail(design_.cols()), effects_;
  f_ = change(x);
  if (problem_.offset) f_ += Eigen::Map<const Vec>(problem_.offset, problem_.n);
}

Vec Predictors::change(ConstVecRef x) const {
  const Index p = design_.cols();
  Vec out = design_ * x.head(p);
  for (Index j = 0; j < effects_.size(); ++j)
    for (Index e = start_[j]; x[p + j] != 0 && e < start_[j + 1]; ++e)
      out[row_[e]] += x[p + j] * value_[e];
  return out;
}

Mat Predictors::changes(const Mat& x) const {
  Mat out(rows(), x.cols());
  for (Index k = 0; k < x.cols(); ++k) out.col(k) = change(x.col(k));
  return out;
}

Vec Predictors::weigh(ConstVecRef dense_precision, const Mat& group_prior, ConstVecRef x) const {
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

// a may be null: zero.
LineRows Predictors::rows_at(const Vec& f, const Vec* a, const Vec& b) const {
  return {problem_.y, f.data(), a ? a->data() : nullptr, b.data(), problem_.weight, problem_.n};
}

double Predictors::value(const Vec& a, const Vec& b, double s, double t) const {
  return likelihood_->over(rows_at(f_, &a, b), s, t);
}

double Predictors::value_between(const Vec& from, const Vec& to, double share) const {
  return likelihood_->over(rows_at(from, &from, to), -share, share);
}

double Predictors::value() const { return likelihood_->along(rows_at(f_, nullptr, f_), 0); }

double Predictors::along(double t) {
  return likelihood_->along(rows_at(f_, nullptr, slope_), t);
}

// ---- lines

void Predictors::aim(const Line& line) {
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

void Predictors::move(double t) {
  f_ += t * slope_;
  for (const Term& term : terms_) {
    Eigen::Map<Mat> own(effects_.data() + term.first, term.effects, term.levels);
    own.array().colwise() *= 1 + t * line_.effect.segment(term.first_effect, term.effects).array();
  }
}

double Predictors::log_likelihood(const State& state) {
  if (varies_) find(state);
  likelihood_.follow(state);
  return value();
}

// ---- effects one at a time

Mat Predictors::slide(const State& state, Index factor, Purpose purpose) {
  for (size_t k = 0; k < terms_.size(); ++k) {
    if (factor >= 0 && static_cast<Index>(k) != factor) continue;
    const Term& term = terms_[k];
    const auto prior = state.group_prior().block(term.first_effect, term.first_effect,
                                                 term.effects, term.effects);
    for (Index level = 0; level < term.levels; ++level) {
      const Index first = term.first + level * term.effects;
      Draws random(state.key(), purpose,
                   static_cast<std::uint64_t>(first) + (purpose == Purpose::move));
      auto own = effects_.segment(first, term.effects);
      for (Index a = 0; a < term.effects; ++a)
        own[a] += slide(first + a, prior(a, a), prior.col(a).dot(own), random);
    }
  }
  return group_moments(effects_);
}

// precision: the prior's; pull: the gradient of minus its log density. The slice's first interval
// is some four standard deviations.
double Predictors::slide(Index column, double precision, double pull, Draws& random) {
  const Index first = start_[column], r = start_[column + 1] - first;
  for (Arr* own : {&own_y_, &own_f_, &own_slope_, &own_weight_})
    if (own->size() < r) own->resize(2 * r);
  for (Index e = 0; e < r; ++e) {
    const int i = row_[first + e];
    own_y_[e] = problem_.y[i];
    own_f_[e] = f_[i];
    own_slope_[e] = value_[first + e];
    if (problem_.weight) own_weight_[e] = problem_.weight[i];
  }
  const LineRows own{own_y_.data(), own_f_.data(), nullptr, own_slope_.data(),
                     problem_.weight ? own_weight_.data() : nullptr, r};
  const double width = 4 / std::sqrt(precision + 0.3 * squared_length(own_slope_.data(), r));
  const double by = slice([&](double x) {
    return likelihood_->along(own, x) - x * (pull + 0.5 * precision * x);
  }, width, random);
  for (Index e = 0; e < r; ++e) f_[row_[first + e]] = own_f_[e] + own_slope_[e] * by;
  return by;
}

Mat Predictors::group_moments(ConstVecRef effects) const {
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
