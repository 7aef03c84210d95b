#include "levels.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "linalg/cholesky.hpp"
#include "linalg/dense.hpp"
#include "linalg/small.hpp"
#include "linalg/weighted_gram.hpp"

namespace bsvm {

namespace {

constexpr std::size_t kMostWide = 4;
constexpr Index kRowsTogether = 256;
constexpr double kMostInverse = 1e290;

// The one that stands for a column's set.
int root_of(std::vector<int>& parent, int j) {
  while (parent[j] != j) j = parent[j] = parent[parent[j]];
  return j;
}

}  // namespace

LevelEquations::LevelEquations(const Design& design) : design_(design) { find_levels(); }

void LevelEquations::find_levels() {
  const Index others = design_.columns() - design_.dense();
  std::vector<int> parent(static_cast<std::size_t>(others));
  std::iota(parent.begin(), parent.end(), 0);
  for (Index i = 0; i < design_.rows(); ++i) {
    const Design::Line row = design_.others(i);
    if (row.size > kMostEffects) wide_.push_back(i);
    for (Index k = 1; row.size <= kMostEffects && k < row.size; ++k)
      parent[root_of(parent, row.at[k])] = root_of(parent, row.at[0]);
  }
  std::vector<int> number(parent.size(), -1);
  level_.resize(parent.size());
  place_.resize(parent.size());
  for (std::size_t j = 0; j < parent.size(); ++j) {
    int& level = number[root_of(parent, static_cast<int>(j))];
    if (level < 0) {
      level = static_cast<int>(levels_.size());
      levels_.emplace_back();
    }
    level_[j] = level;
    place_[j] = static_cast<int>(levels_[level].size());
    levels_[level].push_back(static_cast<int>(j));
  }
  suits_ = wide_.size() <= kMostWide &&
           std::all_of(levels_.begin(), levels_.end(), [](const std::vector<int>& level) {
             return static_cast<Index>(level.size()) <= kMostEffects;
           });
  first_.push_back(0);
  for (const std::vector<int>& level : levels_)
    first_.push_back(first_.back() + level.size() * level.size());
}

bool LevelEquations::set(ConstVecRef theta, ConstVecRef d, Host& host) {
  Vec narrow = theta;
  for (Index row : wide_) narrow[row] = 0;
  if (!set_levels(narrow, d) || !set_dense(narrow, d, host)) return false;
  set_wide(theta);
  return true;
}

// M and its factor, and B'.
bool LevelEquations::set_levels(ConstVecRef theta, ConstVecRef d) {
  const Index p = design_.dense(), others = design_.columns() - p;
  factors_.assign(first_.back(), 0);
  regression_ = Mat::Zero(p, others);
  for (Index j = 0; j < others; ++j)
    factors_[first_[level_[j]] + place_[j] * (levels_[level_[j]].size() + 1)] = d[p + j];
  for (Index i = 0; i < design_.rows(); ++i) {
    if (theta[i] == 0) continue;
    const Design::Line row = design_.others(i);
    for (Index k = 0; k < row.size; ++k) {
      const int j = row.at[k], level = level_[j];
      const double x = theta[i] * row.value[k];
      add_multiple(regression_.col(j).data(), design_.dense_row(i), x, p);
      double* column = factors_.data() + first_[level] + place_[j] * levels_[level].size();
      for (Index l = 0; l < row.size; ++l) column[place_[row.at[l]]] += x * row.value[l];
    }
  }
  Vec own(kMostEffects);
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const std::vector<int>& at = levels_[level];
    if (!small_cholesky(factors_.data() + first_[level], static_cast<Index>(at.size())))
      return false;
    for (Index j = 0; j < p; ++j) {
      for (std::size_t k = 0; k < at.size(); ++k) own[k] = regression_(j, at[k]);
      solve_level(level, own.data());
      for (std::size_t k = 0; k < at.size(); ++k) regression_(j, at[k]) = own[k];
    }
  }
  return true;
}

void LevelEquations::solve_level(std::size_t level, double* x) const {
  const Index m = static_cast<Index>(levels_[level].size());
  small_forward(factors_.data() + first_[level], m, x);
  small_backward(factors_.data() + first_[level], m, x);
}

// S and its factor.
bool LevelEquations::set_dense(ConstVecRef theta, ConstVecRef d, Host& host) {
  const Index p = design_.dense(), others = design_.columns() - p;
  dense_factor_ = Mat::Zero(p, p);
  if (p == 0) return true;
  WeightedGram squares;
  squares.add(regression_.data(), p, others, d.data() + p, dense_factor_.data(), p);
  Mat rest(p, kRowsTogether);
  for (Index first = 0; first < design_.rows(); first += kRowsTogether) {
    if (host.interrupted()) throw Interrupted();
    const Index r = std::min(kRowsTogether, design_.rows() - first);
    for (Index i = 0; i < r; ++i) {
      double* own = rest.col(i).data();
      std::copy_n(design_.dense_row(first + i), p, own);
      const Design::Line row = design_.others(first + i);
      for (Index k = 0; theta[first + i] > 0 && k < row.size; ++k)
        add_multiple(own, regression_.col(row.at[k]).data(), -row.value[k], p);
    }
    squares.add(rest.data(), p, r, theta.data() + first, dense_factor_.data(), p);
  }
  dense_factor_.diagonal() += d.head(p);
  return cholesky(dense_factor_, host);
}

Vec LevelEquations::solve_narrow(ConstVecRef v) const {
  const Index p = design_.dense(), others = design_.columns() - p;
  Vec x = v;
  x.head(p) -= regression_ * v.tail(others);
  if (p > 0) {
    Vec dense = x.head(p);
    solve_lower(dense_factor_, dense);
    solve_transposed(dense_factor_, dense);
    x.head(p) = dense;
  }
  Vec own(kMostEffects);
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const std::vector<int>& at = levels_[level];
    for (std::size_t k = 0; k < at.size(); ++k) own[k] = v[p + at[k]];
    solve_level(level, own.data());
    for (std::size_t k = 0; k < at.size(); ++k) x[p + at[k]] = own[k];
  }
  x.tail(others).noalias() -= regression_.transpose() * x.head(p);
  return x;
}

Vec LevelEquations::wide_row(Index row) const {
  Vec out = Vec::Zero(design_.columns());
  std::copy_n(design_.dense_row(row), design_.dense(), out.data());
  const Design::Line entries = design_.others(row);
  for (Index k = 0; k < entries.size; ++k)
    out[design_.dense() + entries.at[k]] = entries.value[k];
  return out;
}

// (M + A_w'T A_w)^{-1} = M^{-1} - M^{-1}A_w' (T^{-1} + A_w M^{-1} A_w')^{-1} A_w M^{-1}.
void LevelEquations::set_wide(ConstVecRef theta) {
  const Index w = static_cast<Index>(wide_.size());
  wide_solved_.resize(design_.columns(), w);
  wide_factor_.resize(w, w);
  for (Index k = 0; k < w; ++k) wide_solved_.col(k) = solve_narrow(wide_row(wide_[k]));
  for (Index k = 0; k < w; ++k)
    wide_factor_.row(k) = wide_row(wide_[k]).transpose() * wide_solved_;
  for (Index k = 0; k < w; ++k)
    wide_factor_(k, k) += std::min(1 / theta[wide_[k]], kMostInverse);
}

Vec LevelEquations::solve(ConstVecRef v) const {
  Vec x = solve_narrow(v);
  const Index w = static_cast<Index>(wide_.size());
  if (w == 0) return x;
  Vec share(w);
  for (Index k = 0; k < w; ++k) share[k] = wide_row(wide_[k]).dot(x);
  x.noalias() -= wide_solved_ * wide_factor_.ldlt().solve(share);
  return x;
}

}  // namespace bsvm
