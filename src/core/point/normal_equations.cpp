#include "normal_equations.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "linalg/cholesky.hpp"
#include "linalg/dense.hpp"

namespace bsvm {

namespace {

constexpr double kImportant = 1e4;  // a column's share of the rows' system over its prior's
constexpr double kAccuracy = 1e-10;
constexpr int kMostIterations = 500, kManyIterations = 50;
constexpr Index kMostChosen = 1000;
constexpr Index kManyEffects = 500;  // from where on levels are looked for

Vec solve_factor(const Mat& l, Vec x) {
  solve_lower(l, x);
  solve_transposed(l, x);
  return x;
}

}  // namespace

NormalEquations::NormalEquations(const Design& design, Index most) : design_(design) {
  const Index n = design.rows(), p = design.columns();
  if (p - design.dense() >= kManyEffects && design.dense() <= most) {
    levels_.emplace(design);
    if (levels_->suits()) {
      way_ = Way::levels;
      return;
    }
    levels_.reset();
  }
  way_ = p <= n && p <= most ? Way::columns : n <= most ? Way::rows : Way::iterative;
  if (way_ != Way::columns) return;
  chosen_.resize(p);
  std::iota(chosen_.begin(), chosen_.end(), 0);
}

// Columns whose own terms in A_R D_R^{-1} A_R' would be far above what the rows have beside them.
void NormalEquations::choose() {
  const Vec share = design_.column_squares(theta_).cwiseQuotient(d_);
  const double least = way_ == Way::rows ? kImportant : 1;
  chosen_.clear();
  for (Index j = 0; j < share.size(); ++j)
    if (share[j] > least) chosen_.push_back(j);
  const size_t most = static_cast<size_t>(way_ == Way::rows ? design_.rows() : most_);
  if (chosen_.size() > most) {
    std::nth_element(chosen_.begin(), chosen_.begin() + most, chosen_.end(),
                     [&](Index a, Index b) { return share[a] > share[b]; });
    chosen_.resize(most);
    std::sort(chosen_.begin(), chosen_.end());
  }
}

bool NormalEquations::set(ConstVecRef theta, ConstVecRef d, Host& host) {
  theta_ = theta;
  d_ = d;
  if (way_ == Way::levels) return levels_->set(theta, d, host);
  if (way_ != Way::columns) choose();
  inverse_d_ = d.cwiseInverse();
  for (Index j : chosen_) inverse_d_[j] = 0;
  if (way_ == Way::rows && !factor_rows(host)) return false;
  if (way_ != Way::rows) {
    base_diagonal_ = theta.cwiseInverse();
    if (way_ == Way::iterative) base_diagonal_ += design_.row_squares(inverse_d_);
  }
  const Index f = static_cast<Index>(chosen_.size());
  factor_ = Mat::Zero(f, f);
  factor_.diagonal() = pick(d);
  if (way_ != Way::rows) {
    design_.add_gram(chosen_, base_diagonal_.cwiseInverse(), factor_, host);
    return cholesky(factor_, host);
  }
  Mat columns = design_.columns_at(chosen_);
  solve_lower(base_, columns);
  add_square(columns.transpose(), factor_);
  return cholesky(factor_, host);
}

bool NormalEquations::factor_rows(Host& host) {
  base_ = Mat::Zero(design_.rows(), design_.rows());
  base_.diagonal() = theta_.cwiseInverse();
  design_.add_row_gram(inverse_d_, base_, host);
  return cholesky(base_, host);
}

Vec NormalEquations::pick(ConstVecRef x) const {
  Vec out(chosen_.size());
  for (size_t f = 0; f < chosen_.size(); ++f) out[f] = x[chosen_[f]];
  return out;
}

Vec NormalEquations::spread(ConstVecRef chosen) const {
  Vec out = Vec::Zero(design_.columns());
  for (size_t f = 0; f < chosen_.size(); ++f) out[chosen_[f]] = chosen[f];
  return out;
}

Vec NormalEquations::solve_base(Vec r) const {
  if (way_ == Way::rows) return solve_factor(base_, std::move(r));
  return r.cwiseQuotient(base_diagonal_);
}

NormalEquations::Point NormalEquations::solve_point(const Vec& r, const Vec& v) const {
  Point out;
  out.y = solve_base(r);
  if (chosen_.empty()) return out;
  out.chosen = solve_factor(factor_, v - pick(design_.transposed(out.y)));
  out.y += solve_base(design_.times(spread(out.chosen)));
  return out;
}

Vec NormalEquations::apply(const Point& of) const {
  Vec x = design_.transposed(of.y).cwiseProduct(inverse_d_);
  for (size_t f = 0; f < chosen_.size(); ++f) x[chosen_[f]] = -of.chosen[f];
  return of.y.cwiseQuotient(theta_) + design_.times(x);
}

NormalEquations::Solution NormalEquations::solve(ConstVecRef v, Host& host) {
  Solution out;
  if (way_ == Way::columns || way_ == Way::levels) {
    out.x = way_ == Way::levels ? levels_->solve(v) : solve_factor(factor_, v);
    out.image = design_.times(out.x);
    out.rows = theta_.cwiseProduct(out.image);
    return out;
  }
  const Point at = iterate(v, host);
  out.x = inverse_d_.cwiseProduct(v - design_.transposed(at.y)) + spread(at.chosen);
  out.image = design_.times(out.x);
  out.rows = at.y;
  return out;
}

// Conjugate gradients on y under the preconditioner's constraint, which every direction satisfies;
// where B is factored, they only mend rounding.
NormalEquations::Point NormalEquations::iterate(ConstVecRef v, Host& host) {
  const Vec right = design_.times(inverse_d_.cwiseProduct(v)), chosen = pick(v);
  Point at = solve_point(right, chosen);
  Vec rest = right - apply(at);
  const double size = std::abs(right.dot(at.y)) + std::abs(chosen.dot(at.chosen));
  Point next = solve_point(rest, Vec::Zero(chosen.size())), way = next;
  double decrement = rest.dot(next.y);
  int k = 0;
  for (; k < kMostIterations && decrement > kAccuracy * kAccuracy * size; ++k) {
    if (host.interrupted()) throw Interrupted();
    const Vec image = apply(way);
    const double step = decrement / way.y.dot(image);
    at.y += step * way.y;
    at.chosen += step * way.chosen;
    rest -= step * image;
    next = solve_point(rest, Vec::Zero(chosen.size()));
    const double before = decrement;
    decrement = rest.dot(next.y);
    way.y = next.y + decrement / before * way.y;
    way.chosen = next.chosen + decrement / before * way.chosen;
  }
  if (k > kManyIterations) most_ = std::min(2 * most_, kMostChosen);
  return at;
}

}  // namespace bsvm
