#include "working_gaussian.hpp"

#include "linalg/dense.hpp"
#include "linalg/small.hpp"

namespace bsvm {

namespace {

// Conjugate gradients end after so many steps, or once this share of the residual's square is left:
// with nested factors after one.
constexpr int kMostSteps = 6;
constexpr double kLeft = 1e-6;

}  // namespace

void WorkingGaussian::find(const Mat& group_prior) {
  prior_ = group_prior;
  find_factors();
  if (design_.cols() == 0) return;
  find_regression();
  find_lines();
}

void WorkingGaussian::find_factors() {
  const size_t count = rows_.factors().size();
  factor_.resize(count);
  joint_.resize(count);
  follow_.resize(count);
  for (size_t t = 0; t < count; ++t) {
    const FactorRows& own = rows_.factors()[t];
    const Mat prior = prior_of(own);
    factor_[t] = rows_.gram(static_cast<Index>(t));
    factor_[t].colwise() += Eigen::Map<const Vec>(prior.data(), prior.size());
    joint_[t] = factor_[t];
    for (Index g = 0; g < own.levels; ++g)
      small_cholesky(factor_[t].col(g).data(), own.effects);
  }
  for (size_t t = 0; t < count; ++t)
    if (static_cast<Index>(t) != rows_.main()) find_joint(static_cast<Index>(t));
}

void WorkingGaussian::find_joint(Index t) {
  const FactorRows& own = rows_.factors()[t];
  const WorkingRows::Links& links = rows_.links(t);
  const Index q = own.effects, m = rows_.factors()[rows_.main()].effects;
  follow_[t] = links.cross;
  for (Index l = 0; l < own.levels; ++l) {
    double* left = joint_[t].col(l).data();
    for (Index k = links.start[l]; k < links.start[l + 1]; ++k) {
      const double* cross = links.cross.col(k).data();
      double* follow = follow_[t].col(k).data();
      for (Index a = 0; a < q; ++a) {
        small_forward(factor(rows_.main(), links.level[k]), m, follow + a * m);
        small_backward(factor(rows_.main(), links.level[k]), m, follow + a * m);
      }
      for (Index a = 0; a < q; ++a)
        for (Index b = 0; b < q; ++b)
          for (Index c = 0; c < m; ++c) left[a + b * q] -= cross[c + a * m] * follow[c + b * m];
    }
    // Rounding may leave none where the data say all: then as given all else.
    if (small_cholesky(left, q)) continue;
    joint_[t].col(l) = factor_[t].col(l);
  }
}

void WorkingGaussian::solve(const std::vector<Mat>& factor, Index t, Vec& x) const {
  const FactorRows& own = rows_.factors()[t];
  for (Index g = 0; g < own.levels; ++g) {
    small_forward(factor[t].col(g).data(), own.effects, x.data() + own.at(g));
    small_backward(factor[t].col(g).data(), own.effects, x.data() + own.at(g));
  }
}

Vec WorkingGaussian::prior_times(const Vec& effects) const {
  Vec out(effects.size());
  for (const FactorRows& own : rows_.factors()) {
    const Index q = own.effects;
    if (q == 1) {
      out.segment(own.first, own.levels) =
          prior_(own.first_effect, own.first_effect) * effects.segment(own.first, own.levels);
      continue;
    }
    Eigen::Map<Mat>(out.data() + own.first, q, own.levels).noalias() =
        prior_of(own) * Eigen::Map<const Mat>(effects.data() + own.first, q, own.levels);
  }
  return out;
}

// The main factor's effects given the others', right-hand side c: (u), zero but for them.
Vec WorkingGaussian::solve_main(const Vec& c, const Vec& others) const {
  const FactorRows& main = rows_.factors()[rows_.main()];
  Vec out = Vec::Zero(c.size());
  rows_.add_gathered(rows_.main(), rows_.weight().cwiseProduct(others), out);
  const Index size = main.levels * main.effects;
  out.segment(main.first, size) = c.segment(main.first, size) - out.segment(main.first, size);
  solve(factor_, rows_.main(), out);
  return out;
}

// The precision of the other factors' effects, the main one's eliminated, times x.
Vec WorkingGaussian::left_of_others(const Vec& x) const {
  const Index main = rows_.main(), count = static_cast<Index>(rows_.factors().size());
  Vec along = Vec::Zero(rows_.weight().size());
  for (Index t = 0; t < count; ++t)
    if (t != main) rows_.add_along(t, x, along);
  rows_.add_along(main, solve_main(Vec::Zero(x.size()), along), along);
  along.array() *= rows_.weight().array();
  Vec out = prior_times(x);
  for (Index t = 0; t < count; ++t)
    if (t != main) rows_.add_gathered(t, along, out);
  return out;
}

// Conjugate gradients for the other factors' effects, the main one's eliminated, and these given
// them; x (u) has the main factor's given none of the others. Preconditioned by each level alone
// with the main levels it is linked with (joint_).
//   along   (n)  f by some of the effects alone, or the rows' weights times that
//   r, z    (u)  residual, and that preconditioned;  d: direction;  now: r'z
//   turned  (u)  the precision of the others times d
void WorkingGaussian::solve_others(const Vec& c, Vec& x) const {
  const Index main = rows_.main(), count = static_cast<Index>(rows_.factors().size());
  const FactorRows& eliminated = rows_.factors()[main];
  const Index size = eliminated.levels * eliminated.effects;
  Vec along = Vec::Zero(rows_.weight().size());
  rows_.add_along(main, x, along);
  along.array() *= rows_.weight().array();
  Vec r = Vec::Zero(c.size());
  for (Index t = 0; t < count; ++t)
    if (t != main) rows_.add_gathered(t, along, r);
  r = c - r;
  r.segment(eliminated.first, size).setZero();
  Vec z = r, others = Vec::Zero(c.size());
  const auto precondition = [&] {
    z = r;
    for (Index t = 0; t < count; ++t)
      if (t != main) solve(joint_, t, z);
  };
  precondition();
  Vec d = z;
  double now = r.dot(z);
  const double enough = kLeft * now;
  for (int step = 0; step < kMostSteps && now > enough; ++step) {
    const Vec turned = left_of_others(d);
    const double by = now / d.dot(turned);
    others += by * d;
    r -= by * turned;
    precondition();
    const double next = r.dot(z);
    d = z + next / now * d;
    now = next;
  }
  along.setZero();
  for (Index t = 0; t < count; ++t)
    if (t != main) rows_.add_along(t, others, along);
  x = others + solve_main(c, along);
}

// Of several factors a few steps towards it.
void WorkingGaussian::find_regression() {
  regression_ = rows_.cross();
  const Vec nothing = Vec::Zero(rows_.weight().size());
  for (Index j = 0; j < regression_.cols(); ++j) {
    const Vec c = regression_.col(j);
    Vec x = solve_main(c, nothing);
    if (rows_.factors().size() > 1) solve_others(c, x);
    regression_.col(j) = x;
  }
}

// The precision for this regression, be it exact or not.
void WorkingGaussian::find_lines() {
  const Index p = design_.cols(), count = static_cast<Index>(rows_.factors().size());
  lines_ = design_;
  Mat weighed(regression_.rows(), p);
  for (Index j = 0; j < p; ++j) {
    const Vec own = regression_.col(j);
    Vec along = Vec::Zero(lines_.rows());
    for (Index t = 0; t < count; ++t) rows_.add_along(t, own, along);
    lines_.col(j) -= along;
    weighed.col(j) = prior_times(own);
  }
  const Mat scaled = rows_.weight().asDiagonal() * lines_;
  precision_.noalias() = lines_.transpose() * scaled;
  precision_.noalias() += regression_.transpose() * weighed;
}

}  // namespace bsvm
