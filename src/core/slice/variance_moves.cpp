#include "variance_moves.hpp"

#include <cmath>
#include <limits>

#include "linalg/dense.hpp"
#include "linalg/small.hpp"
#include "random/slice.hpp"

namespace bsvm {

namespace {

constexpr double kNowhere = -std::numeric_limits<double>::infinity();

double log_joint(const PriorPart& part, const Moments& moments, const Vec& theta) {
  Vec gradient(theta.size());
  return part.slot.prior->log_joint(moments, theta, gradient);
}

// Of the lower triangle by rows: the number of parameter k's diagonal entry.
Index diagonal_of(Index k) {
  Index row = 0;
  while ((row + 1) * (row + 2) / 2 <= k) ++row;
  return row * (row + 3) / 2;
}

}  // namespace

//   b (m)            the block's coefficients
//   lines (n, m)     what f changes by with them, effects following
//   f0, effects0  at b = 0
//   h (m), P (m, m)  the Gaussian of b: log density h'b - b'P b / 2, the block's prior apart
class VarianceMoves::Dense {
 public:
  Dense(const VarianceMoves& moves, const PriorPart& part, State& state, Predictors& rows)
      : moves_(moves), part_(part), state_(state), rows_(rows), zero_(Vec::Zero(rows.rows())) {
    const WorkingGaussian& gaussian = moves.gaussian_;
    const std::vector<Index>& columns = part.slot.columns;
    const Index m = static_cast<Index>(columns.size());
    lines_.resize(rows.rows(), m);
    follow_.resize(rows.effects().size(), m);
    precision_.resize(m, m);
    Vec b(m);
    for (Index j = 0; j < m; ++j) {
      lines_.col(j) = gaussian.lines().col(columns[j]);
      follow_.col(j) = gaussian.regression().col(columns[j]);
      for (Index i = 0; i < m; ++i) precision_(i, j) = gaussian.precision()(columns[i], columns[j]);
      b[j] = state.mean()[columns[j]];
    }
    f0_ = rows.f() - lines_ * b;
    effects0_ = rows.effects() + follow_ * b;
    const WorkingRows& working = moves.working_;
    h_ = lines_.transpose() * working.weight().cwiseProduct(working.target() - f0_) +
         follow_.transpose() * gaussian.prior_times(effects0_);
    const Factor factor = find_factor();
    noise_ = transposed_product(factor.lower(), b) - solved_lower(factor.lower(), h_);
  }

  double place(const Vec& theta) {
    const Factor factor = find_factor();
    Vec b = solved_lower(factor.lower(), h_) + noise_;
    solve_transposed(factor.lower(), b);
    rows_.f() = f0_ + lines_ * b;
    rows_.effects() = effects0_ - follow_ * b;
    for (Index j = 0; j < b.size(); ++j) state_.mean()[part_.slot.columns[j]] = b[j];
    const Moments moments = moves_.side_.moments(part_, state_.mean().cwiseAbs2(), Mat());
    const double of_effects = rows_.effects().dot(moves_.gaussian_.prior_times(rows_.effects()));
    return rows_.value(zero_, zero_, 0, 0) - 0.5 * of_effects + log_joint(part_, moments, theta) -
           0.5 * factor.logdet();
  }

  void stay() {}

 private:
  Factor find_factor() const {
    const Vec prior = moves_.side_.precision(state_);
    Mat all = precision_;
    for (Index j = 0; j < all.cols(); ++j) all(j, j) += prior[part_.slot.columns[j]];
    return positive_factor(all);
  }

  const VarianceMoves& moves_;
  const PriorPart& part_;
  State& state_;
  Predictors& rows_;
  Mat lines_, follow_, precision_;
  Vec f0_, effects0_, h_, noise_, zero_;
};

//   u (m, levels)       the block's effects, `to` where they are tried
//   h (m, levels), gram (m m, levels)  the Gaussian of each level's, the block's prior apart
class VarianceMoves::Levels {
 public:
  Levels(const VarianceMoves& moves, const PriorPart& part, State& state, Predictors& rows)
      : moves_(moves), part_(part), state_(state), rows_(rows), own_(factor_of(moves, part)),
        m_(static_cast<Index>(part.slot.columns.size())), slope_(rows.rows()),
        square_(state.mean().cwiseAbs2()), group_moments_(rows.group_moments(rows.effects())) {
    const Index q = own_.effects;
    const Mat& gram = moves.working_.gram(&own_ - moves.working_.factors().data());
    u_.resize(m_, own_.levels);
    gram_.resize(m_ * m_, own_.levels);
    for (Index g = 0; g < own_.levels; ++g)
      for (Index a = 0; a < m_; ++a) {
        u_(a, g) = rows.effects()[own_.at(g) + effect(a)];
        for (Index b = 0; b < m_; ++b)
          gram_(a + b * m_, g) = gram(effect(a) + effect(b) * q, g);
      }
    z_.resize(m_, rows.rows());
    for (Index a = 0; a < m_; ++a) z_.row(a) = own_.z.row(effect(a));
  }

  // False where nothing but rounding holds the effects.
  bool begin() {
    const WorkingRows& working = moves_.working_;
    h_ = Mat::Zero(m_, own_.levels);
    for (Index i = 0; i < z_.cols(); ++i) {
      const double missed = working.weight()[i] * (working.target()[i] - rows_.f()[i]);
      for (Index a = 0; own_.level[i] >= 0 && a < m_; ++a)
        h_(a, own_.level[i]) += z_(a, i) * missed;
    }
    stay();
    if (!find_factor()) return false;
    noise_.resize(m_, own_.levels);
    for (Index g = 0; g < own_.levels; ++g) {
      h_.col(g) += Eigen::Map<const Mat>(gram_.col(g).data(), m_, m_) * u_.col(g);
      const double* l = factor_.col(g).data();
      double mean[kMostEffects];
      std::copy(h_.col(g).data(), h_.col(g).data() + m_, mean);
      small_forward(l, m_, mean);
      for (Index a = 0; a < m_; ++a) {
        noise_(a, g) = -mean[a];
        for (Index b = a; b < m_; ++b) noise_(a, g) += l[b + a * m_] * u_(b, g);
      }
    }
    return true;
  }

  double place(const Vec& theta) {
    if (!find_factor()) {
      stay();
      return kNowhere;
    }
    to_ = h_;
    double volume = 0;
    for (Index g = 0; g < own_.levels; ++g) {
      const double* l = factor_.col(g).data();
      double* x = to_.col(g).data();
      small_forward(l, m_, x);
      for (Index a = 0; a < m_; ++a) x[a] += noise_(a, g);
      small_backward(l, m_, x);
      double size = 1;
      for (Index a = 0; a < m_; ++a) size *= l[a + a * m_];
      volume += std::log(size);
    }
    const Mat squares = to_ * to_.transpose();
    for (Index a = 0; a < m_; ++a)
      for (Index b = 0; b < m_; ++b)
        group_moments_(part_.slot.columns[a], part_.slot.columns[b]) = squares(a, b);
    const Mat moved = to_ - u_;
    const double* z = z_.data();
    for (Index i = 0; i < z_.cols(); ++i, z += m_) {
      slope_[i] = 0;
      for (Index a = 0; own_.level[i] >= 0 && a < m_; ++a)
        slope_[i] += z[a] * moved(a, own_.level[i]);
    }
    return rows_.value(slope_, slope_, 1, 0) - volume +
           log_joint(part_, moves_.side_.moments(part_, square_, group_moments_), theta);
  }

  // Where it was before any trial: a chain at the edge of numbers may have none that is possible.
  void stay() {
    to_ = u_;
    slope_.setZero();
  }

  // Where it was placed last.
  void take() {
    rows_.f() += slope_;
    for (Index g = 0; g < own_.levels; ++g)
      for (Index a = 0; a < m_; ++a) rows_.effects()[own_.at(g) + effect(a)] = to_(a, g);
    u_ = to_;
  }

 private:
  static const FactorRows& factor_of(const VarianceMoves& moves, const PriorPart& part) {
    const std::vector<FactorRows>& factors = moves.working_.factors();
    size_t t = factors.size() - 1;
    while (factors[t].first_effect > part.slot.columns[0]) --t;
    return factors[t];
  }

  Index effect(Index a) const { return part_.slot.columns[a] - own_.first_effect; }

  bool find_factor() {
    moves_.side_.refresh(state_);
    Mat prior(m_, m_);
    for (Index a = 0; a < m_; ++a)
      for (Index b = 0; b < m_; ++b)
        prior(a, b) = state_.group_prior()(part_.slot.columns[a], part_.slot.columns[b]);
    factor_ = gram_;
    factor_.colwise() += Eigen::Map<const Vec>(prior.data(), m_ * m_);
    for (Index g = 0; g < own_.levels; ++g)
      if (!small_cholesky(factor_.col(g).data(), m_)) return false;
    return true;
  }

  const VarianceMoves& moves_;
  const PriorPart& part_;
  State& state_;
  Predictors& rows_;
  const FactorRows& own_;
  Index m_;
  Mat u_, to_, gram_, h_, noise_, factor_, z_;
  Vec slope_, square_;
  Mat group_moments_;
};

VarianceMoves::VarianceMoves(const Coefficients& side, const WorkingRows& working,
                             const WorkingGaussian& gaussian)
    : side_(side), working_(working), gaussian_(gaussian),
      widths_(Vec::Constant(side.free_size(), 1)) {}

// An entry below the diagonal is measured by its row's diagonal one, which stays.
template <class Block>
void VarianceMoves::move(const PriorPart& part, Index at, Index k, Block& block, State& state,
                         bool tune, Draws& random) {
  Vec theta(part.free_size());
  part.slot.prior->free(side_.hyper(state, part), theta);
  const Index diagonal = diagonal_of(k);
  const double now = theta[k], unit = k == diagonal ? 1 : std::exp(theta[diagonal]);
  double last = kNowhere;
  const auto to = [&](double by) {
    last = by;
    theta[k] = now + unit * by;
    const double variance = k == diagonal ? std::exp(2 * theta[k]) : theta[k] * theta[k];
    if (!(variance <= kMostVariance) || (k == diagonal && !possible_variance(variance))) {
      theta[k] = now;
      part.slot.prior->fix(theta, side_.hyper(state, part));
      block.stay();
      return kNowhere;
    }
    part.slot.prior->fix(theta, side_.hyper(state, part));
    return block.place(theta);
  };
  double& width = widths_[at + k];
  const double t = slice(to, width, random);
  if (last != t) to(t);
  if (tune) width = 0.95 * width + 0.05 * std::max(3 * std::abs(t), 1e-3);
}

void VarianceMoves::run_dense(State& state, Predictors& rows, bool tune, Draws& random) {
  Index at = 0;
  for (const PriorPart& part : side_.parts()) {
    if (!part.group && part.free_size() == 1 && !part.slot.columns.empty()) {
      Dense block(*this, part, state, rows);
      move(part, at, 0, block, state, tune, random);
    }
    at += part.free_size();
  }
}

void VarianceMoves::run_groups(State& state, Predictors& rows, bool tune, Draws& random) {
  Index at = 0;
  for (const PriorPart& part : side_.parts()) {
    const Index size = part.free_size();
    if (part.group && size > 0) {
      Levels block(*this, part, state, rows);
      for (Index k = 0; k < size && block.begin(); ++k) {
        move(part, at, k, block, state, tune, random);
        block.take();
      }
      side_.refresh(state);
    }
    at += size;
  }
}

}  // namespace bsvm
