// Slice sampling with grouping factors: coefficients b, effects u of one or several factors, and the
// parameters theta of their priors. A Gaussian is near the posterior of (b, u) given theta, each
// row's log-likelihood replaced by a quadratic (WorkingRows), and every move goes by it at the
// theta there is, however far theta has come:
//
//   coefficients  along the axes of their covariance, all effects following their regression
//   effects       of a level, along the axes of their covariance given all else; with those of
//                 another factor, effects of the main one in the same rows follow
//   theta         each with what it is the prior of: at fixed e in b = m(theta) + L(theta) e, m and
//                 L L' the Gaussian's mean and covariance given all else. So large effects move as
//                 in a centred parameterisation, small ones as in one that is not centred
//   theta         given coefficients and effects (Gibbs)
//
// What the rows' quadratics are is learnt in the burn-in from the margins' own mean and variance.
// Nothing is approximated: each move is a slice of the posterior itself along a line or a curve.
#include "slice_grouped.hpp"

#include <cmath>
#include <limits>

#include "../error.hpp"
#include "../linalg/small.hpp"
#include "../random/slice.hpp"
#include "../rows/margins.hpp"
#include "coefficients.hpp"
#include "positive_factor.hpp"
#include "working_rows.hpp"

namespace bsvm {
namespace {

constexpr Index kRefresh = 64;    // sweeps after which margins are computed afresh
constexpr Index kFirstLook = 5;   // sweeps until the rows' quadratics are set, then twice as many
constexpr int kSolving = 6;       // steps of conjugate gradients
constexpr double kWidth = 3;      // of a first interval, in standard deviations
constexpr Index kPad = 8;         // rows that kernels take at a time
constexpr double kNowhere = -std::numeric_limits<double>::infinity();

class GroupedChain : public Chain {
 public:
  GroupedChain(const Problem& problem, std::uint64_t seed, int chain, Index burnin)
      : problem_(problem), p_(problem.columns()), e_(problem.group_coefficients()),
        side_(problem, 0, false), state_(side_.start(Vec())), rows_(problem),
        work_(problem, rows_.design()), burnin_(burnin), widths_(Vec::Constant(side_.free_size(), 1)),
        seen_mean_(Vec::Zero(problem.n)), seen_square_(Vec::Zero(problem.n)) {
    state_.seed() = static_cast<double>(seed);
    state_.chain() = chain;
    if (work_.good()) disperse();
  }

  bool good() const { return work_.good(); }
  Index sweeps() const override { return sweeps_; }

  void read(Draw& draw) const override {
    draw.coefficients = draw.expected = side_.outside_mean(state_.mean());
    draw.effects = rows_.effects();
    side_.to_outside(draw.effects);
    draw.expected_effects = draw.effects;
    draw.hyper = side_.drawn(state_);
  }

  Vec save() const override {
    const Index n = problem_.n;
    Vec out(1 + p_ + state_.layout.hyper + e_ + widths_.size() + 5 * n);
    out << static_cast<double>(sweeps_), state_.mean(), state_.hyper(), rows_.effects(), widths_,
        rows_.margin(), work_.save(), seen_mean_, seen_square_;
    return out;
  }

  void restore(ConstVecRef saved) override {
    const Index n = problem_.n;
    if (saved.size() != 1 + p_ + state_.layout.hyper + e_ + widths_.size() + 5 * n ||
        !saved.allFinite())
      throw InvalidInput("checkpoint", "The checkpoint is of another model.");
    Index at = 0;
    const auto take = [&](Index size) {
      at += size;
      return saved.segment(at - size, size);
    };
    sweeps_ = static_cast<Index>(take(1)[0]);
    state_.mean() = take(p_);
    state_.hyper() = take(state_.layout.hyper);
    rows_.effects() = take(e_);
    widths_ = take(widths_.size());
    rows_.margin() = take(n);
    work_.restore(take(2 * n));
    seen_mean_ = take(n);
    seen_square_ = take(n);
    side_.refresh_group_prior(state_);
  }

 private:
  void make_sweep(Host& host) override {
    if (host.interrupted()) throw Interrupted();
    state_.sweep() = static_cast<double>(sweeps_ + 1);
    if (sweeps_ % kRefresh == 0) rows_.find(state_.mean());
    Draws random(state_.key(), Purpose::rows, 0);
    factorise();
    find_lines();
    move_dense(random);
    Index free = 0;
    for (const PriorPart& part : side_.parts()) {
      if (!part.group && part.free_size() == 1) move_dense_part(part, free, random);
      free += part.free_size();
    }
    for (size_t t = 0; t < work_.factors().size(); ++t) {
      const Index factor = static_cast<Index>(t);
      if (factor != work_.main()) move_factor(factor, random);
    }
    move_factor(work_.main(), random);
    free = 0;
    for (const PriorPart& part : side_.parts()) {
      for (Index k = 0; part.group && k < part.free_size(); ++k)
        move_group_part(part, free, k, random);
      free += part.free_size();
    }
    side_.draw_priors(state_, rows_.group_moments(rows_.effects()));
    ++sweeps_;
    if (sweeps_ <= burnin_) learn();
  }

  // ---- the rows' quadratics

  static bool is_look(Index sweep) {
    const Index turns = sweep / kFirstLook;
    return sweep % kFirstLook == 0 && turns > 0 && (turns & (turns - 1)) == 0;
  }

  void learn() {
    Index since = 1;
    while (since < sweeps_ && !is_look(sweeps_ - since)) ++since;
    const double share = 1.0 / static_cast<double>(since);
    const Vec away = rows_.margin() - seen_mean_;
    seen_mean_ += share * away;
    seen_square_ += away.cwiseProduct(rows_.margin() - seen_mean_);
    if (!is_look(sweeps_)) return;
    work_.set(seen_mean_, (share * seen_square_).array().max(1e-4));
    seen_mean_.setZero();
    seen_square_.setZero();
  }

  // ---- coefficients

  void factorise() {
    factor_.resize(work_.factors().size());
    for (size_t t = 0; t < factor_.size(); ++t) {
      const FactorRows& own = work_.factors()[t];
      const Index q = own.effects;
      const Mat prior = prior_of(own);
      factor_[t] = work_.gram(static_cast<Index>(t));
      factor_[t].colwise() += Eigen::Map<const Vec>(prior.data(), q * q);
      for (Index g = 0; g < own.levels; ++g) small_cholesky(factor_[t].col(g).data(), q);
    }
  }

  Mat prior_of(const FactorRows& own) const {
    return state_.group_prior().block(own.first_effect, own.first_effect, own.effects,
                                      own.effects);
  }

  // Each level's own precision solved for, (u, k) in place.
  void solve_levels(MatRef x) const {
    for (size_t t = 0; t < factor_.size(); ++t) {
      const FactorRows& own = work_.factors()[t];
      const Index q = own.effects;
      for (Index j = 0; j < x.cols(); ++j)
        for (Index g = 0; g < own.levels; ++g) {
          double* at = x.col(j).data() + own.at(g);
          small_forward(factor_[t].col(g).data(), q, at);
          small_backward(factor_[t].col(g).data(), q, at);
        }
    }
  }

  // The regression of all effects on the coefficients; of several factors a few steps towards it.
  void find_follow() {
    follow_ = work_.cross();
    solve_levels(follow_);
    if (work_.factors().size() == 1) return;
    const Vec none = Vec::Zero(p_);
    for (Index j = 0; j < p_; ++j) {
      Vec x = follow_.col(j), r = work_.cross().col(j) - weigh_effects(x), z = r;
      solve_levels(z);
      Vec d = z;
      double size = r.dot(z);
      for (int step = 0; step < kSolving && size > 0; ++step) {
        const Vec turned = weigh_effects(d);
        const double by = size / d.dot(turned);
        x += by * d;
        r -= by * turned;
        z = r;
        solve_levels(z);
        const double next = r.dot(z);
        d = z + next / size * d;
        size = next;
      }
      follow_.col(j) = x;
    }
  }

  // The effects' precision given the coefficients, times x.
  Vec weigh_effects(const Vec& x) const {
    return prior_times(x) + work_.gather(work_.weight().cwiseProduct(work_.along(x)));
  }

  Vec prior_times(const Vec& effects) const {
    Vec out(e_);
    for (const FactorRows& own : work_.factors()) {
      const Index q = own.effects;
      Eigen::Map<Mat>(out.data() + own.first, q, own.levels).noalias() =
          prior_of(own) * Eigen::Map<const Mat>(effects.data() + own.first, q, own.levels);
    }
    return out;
  }

  // Margins along each coefficient with the effects following, and the precision this leaves.
  void find_lines() {
    if (p_ == 0) return;
    find_follow();
    lines_ = rows_.design();
    Mat weighed(e_, p_);
    for (Index j = 0; j < p_; ++j) {
      lines_.col(j) -= work_.along(follow_.col(j));
      weighed.col(j) = prior_times(follow_.col(j));
    }
    left_ = lines_.transpose() * (work_.weight().asDiagonal() * lines_) +
            follow_.transpose() * weighed;
  }

  void move_dense(Draws& random) {
    if (p_ == 0) return;
    const Vec precision = side_.precision(state_);
    Mat all = left_;
    all.diagonal() += precision;
    Mat axes = Mat::Identity(p_, p_);
    positive_factor(all).matrixU().solveInPlace(axes);
    const Mat effects = -follow_ * axes, slopes = lines_ * axes;
    for (Index j = 0; j < p_; ++j) {
      const Vec weighed = prior_times(effects.col(j)),
                pulled = precision.cwiseProduct(axes.col(j));
      const double bend = weighed.dot(effects.col(j)) + pulled.dot(axes.col(j)),
                   pull = weighed.dot(rows_.effects()) + pulled.dot(state_.mean());
      const double t = slice([&](double by) {
        return along(slopes.col(j).data(), by) - by * (pull + 0.5 * by * bend);
      }, kWidth, random);
      rows_.margin() += t * slopes.col(j);
      rows_.effects() += t * effects.col(j);
      state_.mean() += t * axes.col(j);
    }
  }

  double along(const double* slope, double t) const {
    return problem_.likelihood->along(rows_.margin().data(), slope, problem_.weight, t,
                                      problem_.n);
  }

  // ---- effects, level by level

  void move_factor(Index t, Draws& random) {
    const FactorRows& own = work_.factors()[t];
    const Mat prior = prior_of(own);
    for (Index g = 0; g < own.levels; ++g) {
      if (t == work_.main()) move_level(t, g, prior, random);
      else move_with_main(t, g, prior, random);
    }
  }

  // Rows that a move touches, where each stands in margin_, and what they change by.
  void take_rows(const FactorRows& own, Index g) {
    for (Index k = own.start[g]; k < own.start[g + 1]; ++k) touched_.push_back(own.row[k]);
  }

  // A slice along what `slope_` says of the touched rows.
  double slice_touched(double pull, double bend, Draws& random) {
    const Index r = static_cast<Index>(touched_.size()), padded = (r + kPad - 1) / kPad * kPad;
    if (margin_.size() < padded) {
      margin_.resize(padded);
      weight_.resize(padded);
    }
    if (slope_.size() < padded) slope_.conservativeResize(padded);
    for (Index k = 0; k < r; ++k) {
      margin_[k] = rows_.margin()[touched_[k]];
      if (problem_.weight) weight_[k] = problem_.weight[touched_[k]];
    }
    for (Index k = r; k < padded; ++k) {  // far on its side whatever moves
      margin_[k] = 1e300;
      slope_[k] = weight_[k] = 0;
    }
    const double* weight = problem_.weight ? weight_.data() : nullptr;
    const double t = slice([&](double by) {
      return problem_.likelihood->along(margin_.data(), slope_.data(), weight, by, padded) -
             by * (pull + 0.5 * by * bend);
    }, kWidth, random);
    for (Index k = 0; k < r; ++k) rows_.margin()[touched_[k]] += t * slope_[k];
    return t;
  }

  void room(Index r) {
    if (slope_.size() < r + kPad) slope_.resize(2 * r + kPad);
  }

  void move_level(Index t, Index g, const Mat& prior, Draws& random) {
    const FactorRows& own = work_.factors()[t];
    const Index q = own.effects;
    touched_.clear();
    take_rows(own, g);
    room(static_cast<Index>(touched_.size()));
    auto u = rows_.effects().segment(own.at(g), q);
    for (Index a = 0; a < q; ++a) {
      Vec axis = Vec::Unit(q, a);
      small_backward(factor_[t].col(g).data(), q, axis.data());
      for (size_t k = 0; k < touched_.size(); ++k)
        slope_[static_cast<Index>(k)] = own.z.col(touched_[k]).dot(axis);
      const Vec weighed = prior * axis;
      u += slice_touched(weighed.dot(u), weighed.dot(axis), random) * axis;
    }
  }

  void move_with_main(Index t, Index l, const Mat& prior, Draws& random) {
    const FactorRows &own = work_.factors()[t], &main = work_.factors()[work_.main()];
    const Index q = own.effects, m = main.effects;
    const Mat main_prior = prior_of(main);
    const auto& links = work_.links(t, l);
    Mat left = prior + Eigen::Map<const Mat>(work_.gram(t).col(l).data(), q, q);
    std::vector<Mat> follow;
    touched_.clear();
    for (const WorkingRows::Link& link : links) {
      follow.push_back(link.cross);
      for (Index a = 0; a < q; ++a) {
        small_forward(factor_[work_.main()].col(link.level).data(), m,
                      follow.back().col(a).data());
        small_backward(factor_[work_.main()].col(link.level).data(), m,
                       follow.back().col(a).data());
      }
      left.noalias() -= link.cross.transpose() * follow.back();
      take_rows(main, link.level);
    }
    for (Index k = own.start[l]; k < own.start[l + 1]; ++k)
      if (main.level[own.row[k]] < 0) touched_.push_back(own.row[k]);
    room(static_cast<Index>(touched_.size()));
    Mat axes = Mat::Identity(q, q);
    positive_factor(left).matrixU().solveInPlace(axes);
    auto u = rows_.effects().segment(own.at(l), q);
    for (Index a = 0; a < q; ++a) {
      const Vec axis = axes.col(a), weighed = prior * axis;
      double pull = weighed.dot(u), bend = weighed.dot(axis);
      std::vector<Vec> others;
      Index k = 0;
      for (size_t j = 0; j < links.size(); ++j) {
        const Index g = links[j].level;
        others.push_back(-follow[j] * axis);
        const Vec pulled = main_prior * others[j];
        pull += pulled.dot(rows_.effects().segment(main.at(g), m));
        bend += pulled.dot(others[j]);
        for (Index end = k + main.start[g + 1] - main.start[g]; k < end; ++k)
          slope_[k] = main.z.col(touched_[k]).dot(others[j]);
      }
      for (; k < static_cast<Index>(touched_.size()); ++k) slope_[k] = 0;
      for (k = 0; k < static_cast<Index>(touched_.size()); ++k)
        if (own.level[touched_[k]] == l) slope_[k] += own.z.col(touched_[k]).dot(axis);
      const double by = slice_touched(pull, bend, random);
      u += by * axis;
      for (size_t j = 0; j < links.size(); ++j)
        rows_.effects().segment(main.at(links[j].level), m) += by * others[j];
    }
  }

  // ---- variances

  // A slice along one free parameter of a part, `place` telling the log density of what follows.
  template <class Place>
  void move_parameter(const PriorPart& part, Index at, Index k, const Place& place,
                      Draws& random) {
    Vec theta(part.free_size());
    part.slot.prior->free(side_.hyper(state_, part), theta);
    const double now = theta[k];
    Index row = 0;
    while ((row + 1) * (row + 2) / 2 <= k) ++row;
    const Index diagonal = row * (row + 3) / 2;
    const double unit = k == diagonal ? 1 : std::exp(theta[diagonal]);
    const auto to = [&](double by) {
      theta[k] = now + unit * by;
      const double variance = k == diagonal ? std::exp(2 * theta[k]) : theta[k] * theta[k];
      if (!(variance <= kMostVariance) || (k == diagonal && !possible_variance(variance)))
        return kNowhere;
      part.slot.prior->fix(theta, side_.hyper(state_, part));
      return place(theta);
    };
    const double t = slice(to, widths_[at + k], random);
    to(t);
    if (sweeps_ < burnin_)
      widths_[at + k] = 0.95 * widths_[at + k] + 0.05 * std::max(3 * std::abs(t), 1e-3);
  }

  double log_joint(const PriorPart& part, const Vec& square, const Mat& group_moments,
                   const Vec& theta) const {
    Vec gradient(theta.size());
    return part.slot.prior->log_joint(side_.moments(part, square, group_moments), theta, gradient);
  }

  // A block of coefficients and its variance, all effects following.
  void move_dense_part(const PriorPart& part, Index at, Draws& random) {
    const std::vector<Index>& columns = part.slot.columns;
    const Index m = static_cast<Index>(columns.size());
    if (m == 0) return;
    Mat lines(problem_.n, m), follow(e_, m), left(m, m);
    Vec b(m);
    for (Index j = 0; j < m; ++j) {
      lines.col(j) = lines_.col(columns[j]);
      follow.col(j) = follow_.col(columns[j]);
      for (Index i = 0; i < m; ++i) left(i, j) = left_(columns[i], columns[j]);
      b[j] = state_.mean()[columns[j]];
    }
    const Vec margin0 = rows_.margin() - lines * b, effects0 = rows_.effects() + follow * b;
    const Vec h = lines.transpose() * work_.weight().cwiseProduct(work_.target() - margin0) +
                  follow.transpose() * prior_times(effects0);
    const auto factor = [&] {
      const Vec precision = side_.precision(state_);
      Mat own = left;
      for (Index j = 0; j < m; ++j) own(j, j) += precision[columns[j]];
      return positive_factor(own);
    };
    const auto first = factor();
    const Vec noise = first.matrixU() * b - first.matrixL().solve(h);
    const Mat moments(problem_.effects(), problem_.effects());
    const Vec zero = Vec::Zero(problem_.n);
    move_parameter(part, at, 0, [&](const Vec& theta) {
      const auto now = factor();
      const Vec to = now.matrixU().solve(now.matrixL().solve(h) + noise);
      rows_.margin() = margin0 + lines * to;
      rows_.effects() = effects0 - follow * to;
      for (Index j = 0; j < m; ++j) state_.mean()[columns[j]] = to[j];
      return along(zero.data(), 0) - 0.5 * rows_.effects().dot(prior_times(rows_.effects())) +
             log_joint(part, state_.mean().cwiseAbs2(), moments, theta) -
             now.matrixLLT().diagonal().array().log().sum();
    }, random);
  }

  // One parameter of a block of effects, which follow it level by level.
  void move_group_part(const PriorPart& part, Index at, Index k, Draws& random) {
    const std::vector<Index>& columns = part.slot.columns;
    Index t = static_cast<Index>(work_.factors().size()) - 1;
    while (work_.factors()[t].first_effect > columns[0]) --t;
    const FactorRows& own = work_.factors()[t];
    const Index q = own.effects, m = static_cast<Index>(columns.size());
    Mat u(m, own.levels), pull = Mat::Zero(m, own.levels), gram(m * m, own.levels);
    const Vec missed = work_.weight().cwiseProduct(work_.target() - rows_.margin());
    const auto effect = [&](Index a) { return columns[a] - own.first_effect; };
    for (Index i = 0; i < problem_.n; ++i)
      for (Index a = 0; own.level[i] >= 0 && a < m; ++a)
        pull(a, own.level[i]) += own.z(effect(a), i) * missed[i];
    for (Index g = 0; g < own.levels; ++g)
      for (Index a = 0; a < m; ++a) {
        u(a, g) = rows_.effects()[own.at(g) + effect(a)];
        for (Index b = 0; b < m; ++b)
          gram(a + b * m, g) = work_.gram(t)(effect(a) + effect(b) * q, g);
      }
    for (Index g = 0; g < own.levels; ++g)
      pull.col(g) += Eigen::Map<const Mat>(gram.col(g).data(), m, m) * u.col(g);
    Mat noise(m, own.levels), to = u, factor;
    const auto factorise_part = [&] {
      side_.refresh_group_prior(state_);
      Mat prior(m, m);
      for (Index a = 0; a < m; ++a)
        for (Index b = 0; b < m; ++b) prior(a, b) = state_.group_prior()(columns[a], columns[b]);
      factor = gram;
      factor.colwise() += Eigen::Map<const Vec>(prior.data(), m * m);
      bool good = true;
      for (Index g = 0; g < own.levels; ++g)
        good = good && small_cholesky(factor.col(g).data(), m);
      return good;
    };
    if (!factorise_part()) return;
    for (Index g = 0; g < own.levels; ++g) {
      const double* l = factor.col(g).data();
      Vec mean = pull.col(g);
      small_forward(l, m, mean.data());
      for (Index a = 0; a < m; ++a) {
        noise(a, g) = -mean[a];
        for (Index b = a; b < m; ++b) noise(a, g) += l[b + a * m] * u(b, g);
      }
    }
    Mat moments = rows_.group_moments(rows_.effects());
    const Vec square = state_.mean().cwiseAbs2();
    Vec slope(problem_.n);
    move_parameter(part, at, k, [&](const Vec& theta) {
      if (!factorise_part()) return kNowhere;
      double volume = 0;
      for (Index g = 0; g < own.levels; ++g) {
        const double* l = factor.col(g).data();
        double* x = to.col(g).data();
        for (Index a = 0; a < m; ++a) {
          x[a] = pull(a, g);
          volume += std::log(l[a + a * m]);
        }
        small_forward(l, m, x);
        for (Index a = 0; a < m; ++a) x[a] += noise(a, g);
        small_backward(l, m, x);
      }
      const Mat squares = to * to.transpose();
      for (Index a = 0; a < m; ++a)
        for (Index b = 0; b < m; ++b) moments(columns[a], columns[b]) = squares(a, b);
      for (Index i = 0; i < problem_.n; ++i) {
        slope[i] = 0;
        const int g = own.level[i];
        for (Index a = 0; g >= 0 && a < m; ++a)
          slope[i] += own.z(effect(a), i) * (to(a, g) - u(a, g));
      }
      return along(slope.data(), 1) + log_joint(part, square, moments, theta) - volume;
    }, random);
    rows_.margin() += slope;
    for (Index g = 0; g < own.levels; ++g)
      for (Index a = 0; a < m; ++a) rows_.effects()[own.at(g) + effect(a)] = to(a, g);
    side_.refresh_group_prior(state_);
  }

  // Chains start apart.
  void disperse() {
    Draws random(state_.key(), Purpose::move, 0);
    for (const PriorPart& part : side_.parts())
      part.slot.prior->scale(side_.hyper(state_, part), std::exp(random.normal() - 1));
    side_.refresh_group_prior(state_);
    rows_.find(state_.mean());
    work_.set(rows_.margin(), Vec::Ones(problem_.n));
  }

  const Problem& problem_;
  Index p_, e_;  // dense coefficients, effects
  Coefficients side_;
  State state_;
  Margins rows_;
  WorkingRows work_;
  Index burnin_, sweeps_ = 0;
  Vec widths_;                     // (free parameters) of first intervals
  Vec seen_mean_, seen_square_;    // (n) of margins since the last look
  std::vector<Mat> factor_;        // (effects^2, levels) of each factor: of a level's precision
  Mat follow_, lines_, left_;      // (u, p), (n, p), (p, p)
  std::vector<int> touched_;
  Arr margin_, slope_, weight_;    // of the touched rows
};

}  // namespace

std::unique_ptr<Chain> grouped_chain(const Problem& problem, std::uint64_t seed, int chain,
                                     Index burnin) {
  std::unique_ptr<GroupedChain> out(new GroupedChain(problem, seed, chain, burnin));
  if (!out->good()) return nullptr;
  return std::unique_ptr<Chain>(std::move(out));
}

}  // namespace bsvm
