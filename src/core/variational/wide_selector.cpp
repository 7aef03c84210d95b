// Selection with more columns than rows and no groups: no p x p matrix is formed.
//
// Names as in coefficients/selection.cpp; s are the selected coefficients, u the others, E
// diagonal. With
// F = G E^{-1} G (0 for u), T = C F C' (n, n) and, for the rows' weights X,
//
//   M = X^{1/2} (I + X^{1/2} T X^{1/2})^{-1} X^{1/2} = N'N,   U = C_u'M C_u + E_uu,
//
// Woodbury's identity gives, with c_k the rows' values of column k,
//
//   S_uu = U^{-1},  S_kk = 1/E_k - (g_k / E_k)^2 (c_k'M c_k - h_k'S_uu h_k),  h_k = C_u'M c_k,
//   log det S^{-1} = sum_s log E_k + log det(I + X^{1/2} T X^{1/2}) + log det U,
//   Cov f = T - T M T + J'S_uu J,  J = C_u'(I - M T),
//
// and the mean from M and U under the curvatures. Coefficients' covariance is diagonal but for
// n + |u| directions. A pass over the rows costs less than a round, so there is one of each.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "coefficients/selection.hpp"
#include "linalg/dense.hpp"
#include "linalg/kernels.hpp"
#include "model/current_likelihood.hpp"
#include "model/gather.hpp"
#include "rows/parameter_terms.hpp"
#include "selector.hpp"

namespace bsvm {

namespace {

// M = N'N and U = R R' for weights x (n).
struct Woodbury {
  Mat n, root;  // N (n, n) and R (u, u), lower
  double logdet = 0;

  Woodbury() = default;
  Woodbury(const Mat& t, const Vec& x, const Mat& others, const Vec& prior, Host& host) {
    const Vec half = x.cwiseSqrt();
    Mat inner = half.asDiagonal() * t * half.asDiagonal();
    inner.diagonal().array() += 1;
    if (!cholesky(inner, host)) refuse_precision();
    n = inverse_lower(inner, host) * half.asDiagonal();
    const Mat seen = n * others;
    root = seen.transpose() * seen;
    root.diagonal() += prior;
    if (!cholesky(root, host)) refuse_precision();
    logdet = 2 * (inner.diagonal().array().log().sum() + root.diagonal().array().log().sum());
  }
  Mat times(ConstMatRef a) const { return n.transpose() * (n * a); }  // M a
  Mat whitened(ConstMatRef a) const { return solved_lower(root, a); }
};

// q, and what the next pass needs to know of it.
struct Wide {
  State own;                     // of v; no covariance in it
  Woodbury rows;                 // under the rows' weights
  Vec weight, spread;            // (n) these weights, and Var f
  Vec prior, diagonal, spanned;  // (p) the prior's precisions, and the diagonals of E and F
  Vec variance;                  // (p) S_kk
  Mat t;                         // (n, n) T

  explicit Wide(const Layout& layout) : own(layout) {}
};

class WideSelector : public Selector {
 public:
  explicit WideSelector(const Problem& problem)
      : problem_(problem), side_(problem, 0, false), selection_(problem, side_),
        likelihood_(*problem.likelihood), parameters_(problem), now_(side_.layout()), best_(now_),
        sums_(parameters_alone(side_)) {
    gather();
    find_others();
  }

  void start(int number, const Options& options) override {
    now_.own = side_.start(number == 0 ? options.start : Vec());
    if (number > 0) selection_.draw(number, options.seed, now_.own);
    begin();
  }

  void start_at(const Vec& inclusion) override {
    now_.own = side_.start(Vec());
    selection_.set(now_.own, inclusion);
    begin();
  }

  void hold(double factor) override { hold_first(side_, factor, now_.own); }
  void release() override { now_.own.slopes() = 2; }

  double pass(double damping, Host& host) override {
    if (host.interrupted()) throw Interrupted();
    link_ = design() * selection_.inclusion(now_.own).cwiseProduct(now_.own.mean());
    likelihood_.follow(now_.own);
    likelihood_->terms(Use::augmented, y_, link_.array() + offset_, now_.spread.array(), terms_);
    for (Arr* a : {&terms_.value, &terms_.slope, &terms_.weight, &terms_.curvature}) *a *= weight_;
    find_parameter_sums();
    terms_.curvature += damping * (terms_.weight - terms_.curvature);
    tilted_ = terms_.slope.matrix() + terms_.curvature.matrix().cwiseProduct(link_);
    raw_ = design().cwiseAbs2().transpose() * terms_.weight.matrix();
    return now_.own.begun() ? terms_.value.sum() + now_.own.prior_value()
                            : -std::numeric_limits<double>::infinity();
  }

  double advance(Step how, double longest, Host& host) override {
    const double pull = is_held(now_.own) ? 0 : side_.parameter_gradient(now_.own, sums_);
    double square = pull * pull;
    const Vec parameters = moved_parameters(side_, now_.own, sums_, how, longest);
    if (parameters.size() > 0) side_.set_parameters(now_.own, parameters);
    if (how == Step::bold) update_boldly();
    if (now_.own.begun() && how != Step::careful) square += improve_indicators();
    square += improve_coefficients(host);
    now_.own.begun() = 1;
    side_.update_priors(now_.own, moments(), -log_precision(), Mat(),
                        how == Step::bold ? kBoldReach : 1);
    return std::sqrt(std::max(square, 0.0));  // as that of row_selector
  }

  void keep() override { best_ = now_; }
  void back() override { now_ = best_; }
  void report(Result& out) const override;

 private:
  // What rows say of parameters needs no sums over columns.
  static Layout parameters_alone(const Coefficients& side) {
    Layout out;
    out.parameters = side.parameters();
    return out;
  }
  void begin() {
    now_.own.slopes() = 2;
    now_.spread = Vec::Constant(problem_.n, now_.own.spread());
  }
  // (n, p); the three columns beyond it are there for the kernels.
  Eigen::Map<const Mat> design() const { return {columns_.data(), problem_.n, problem_.columns()}; }
  Vec scatter(const Wide& q) const {
    const Arr g = selection_.inclusion(q.own).array();
    return g * (1 - g) * (q.variance + q.own.mean().cwiseAbs2()).array();
  }
  // The moments are first taken to where the prior is now.
  void update_boldly() {
    const Vec follow = followed(side_, now_.variance, now_.own);
    const Arr ratio = now_.prior.array() / side_.precision(now_.own).array();
    side_.update_boldly(now_.own, moments().array() * ratio.pow(follow.array()), follow);
  }
  Vec moments() const { return now_.variance + now_.own.mean().cwiseAbs2(); }
  double log_precision() const {
    double sum = now_.rows.logdet;
    for (const Index j : selection_.columns()) sum += std::log(now_.diagonal[j]);
    return sum;
  }

  void gather();
  void find_others();
  void find_parameter_sums();
  Vec couplings(const Vec& g) const;
  Vec forms(const Mat& q) const;
  double improve_indicators();
  double improve_coefficients(Host& host);
  double improve_mean(const Mat& t, const Vec& ratio, const Vec& diagonal, const Vec& prior,
                      Host& host);
  double change(const Vec& diagonal) const;
  Mat span(const Vec& f);
  void find_variances(const Vec& ratio);
  void find_spread(const Mat& t);

  const Problem& problem_;
  const Coefficients side_;
  const Selection selection_;
  Mat columns_, others_;   // (n, p + 3) the design; (n, u) those of its columns not selected
  std::vector<Index> at_;  // which these are
  std::vector<double> packed_, packed_weighted_;
  Arr y_, weight_, offset_;
  CurrentLikelihood likelihood_;
  ParameterTerms parameters_;
  Wide now_, best_;

  // Of the last pass.
  Vec link_, tilted_, raw_;  // f less its offset; t = C' tilted; the raw diagonal (p)
  RowTerms terms_, moved_terms_;
  RowSums sums_;  // the parameters' alone
};

void WideSelector::gather() {
  const Index n = problem_.n, p = problem_.columns();
  columns_ = Mat::Zero(n, p + 3);
  columns_.leftCols(p) = gather_design(problem_).transpose();
  packed_.resize(packed_size(n, p));
  packed_weighted_.resize(packed_.size());
  pack(columns_.data(), n, p, nullptr, packed_.data());
  y_ = Eigen::Map<const Arr>(problem_.y, n);
  weight_ = problem_.weight ? Arr(Eigen::Map<const Arr>(problem_.weight, n)) : Arr::Ones(n);
  offset_ = problem_.offset ? Arr(Eigen::Map<const Arr>(problem_.offset, n)) : Arr::Zero(n);
  terms_.resize(n);
  moved_terms_.resize(n);
}

void WideSelector::find_others() {
  std::vector<char> selected(problem_.columns(), 0);
  for (const Index j : selection_.columns()) selected[j] = 1;
  for (Index j = 0; j < problem_.columns(); ++j)
    if (!selected[j]) at_.push_back(j);
  others_.resize(problem_.n, at_.size());
  for (size_t k = 0; k < at_.size(); ++k) others_.col(k) = columns_.col(at_[k]);
}

// At the linear predictors' moments of this pass.
void WideSelector::find_parameter_sums() {
  sums_.clear();
  parameters_.prepare(now_.own);
  const auto value = [&](const ParameterTerms::Moved& to) -> const Arr& {
    to.likelihood->terms(Use::augmented, y_, link_.array() + offset_, now_.spread.array(),
                         moved_terms_);
    return moved_terms_.value *= weight_;
  };
  parameters_.add(y_, terms_.value, value, sums_);
}

// (p) sum_{l != k} R_kl g_l S_lk under this pass's weights. With Cov(f, v_k) = (g_k / E_k) B c_k,
// B = (I - T M) (I - C_u S_uu C_u'M), it is (g_k / E_k) c_k'X B c_k - R_kk g_k S_kk.
Vec WideSelector::couplings(const Vec& g) const {
  const Mat m = now_.rows.times(Mat::Identity(problem_.n, problem_.n));
  Mat solved = now_.rows.whitened(others_.transpose() * m);
  solve_transposed(now_.rows.root, solved);
  Mat right = -others_ * solved, left = -now_.t * m;
  right.diagonal().array() += 1;
  left.diagonal().array() += 1;
  const Vec form = forms(terms_.weight.matrix().asDiagonal() * (left * right));
  return g.cwiseProduct(form.cwiseQuotient(now_.diagonal) - raw_.cwiseProduct(now_.variance));
}

// (p) c_k'Q c_k.
Vec WideSelector::forms(const Mat& q) const {
  constexpr Index kWidth = 512;
  const Index n = problem_.n, p = problem_.columns();
  std::vector<double> packed(packed_size(n, n));
  pack(q.data(), n, n, nullptr, packed.data());
  Vec out(p);
  for (Index first = 0; first < p; first += kWidth) {
    const Index width = std::min(kWidth, p - first);
    Mat product = Mat::Zero(n, width);
    PanelProduct of{packed.data(), n, n, columns_.data() + first * n, width, n, product.data(), n};
    of.packed_y = false;
    kernels().product(of);
    out.segment(first, width) =
        product.cwiseProduct(columns_.middleCols(first, width)).colwise().sum().transpose();
  }
  return out;
}

// As in coefficients/selection.cpp, but for the covariances' part of the sum over l, which is that
// at the
// start for all.
double WideSelector::improve_indicators() {
  const Vec prior = selection_.log_odds(now_.own), mean = now_.own.mean();
  Vec g = selection_.inclusion(now_.own);
  const Vec coupling = couplings(g);
  Vec rest = tilted_ - terms_.curvature.matrix().cwiseProduct(link_);
  double square = 0;
  for (const Index j : selection_.columns()) {
    const double before = g[j], moment = now_.variance[j] + mean[j] * mean[j];
    g[j] = inclusion_at(prior[j] + mean[j] * columns_.col(j).dot(rest) - coupling[j] -
                        raw_[j] * before * now_.variance[j] + raw_[j] * moment * (before - 0.5));
    rest -= (g[j] - before) * mean[j] * terms_.curvature.matrix().cwiseProduct(columns_.col(j));
    square += squared_move(before, g[j]);
  }
  selection_.set(now_.own, g);
  return square;
}

double WideSelector::improve_coefficients(Host& host) {
  const Arr g = selection_.inclusion(now_.own).array();
  now_.prior = side_.precision(now_.own);
  const Vec diagonal = now_.prior.array() + g * (1 - g) * raw_.array();
  now_.spanned = g.square() / diagonal.array();
  Vec prior(at_.size());
  for (size_t k = 0; k < at_.size(); ++k) {
    prior[k] = diagonal[at_[k]];
    now_.spanned[at_[k]] = 0;
  }
  now_.t = span(now_.spanned);
  const Vec ratio = g / diagonal.array();
  double square = improve_mean(now_.t, ratio, diagonal, prior, host) + change(diagonal);
  now_.rows = Woodbury(now_.t, terms_.weight.matrix(), others_, prior, host);
  now_.weight = terms_.weight.matrix();
  now_.diagonal = diagonal;
  find_variances(ratio);
  find_spread(now_.t);
  return square;
}

// T = C diag(f) C'.
Mat WideSelector::span(const Vec& f) {
  const Index n = problem_.n, p = problem_.columns();
  Mat t = Mat::Zero(n, n);
  pack(columns_.data(), n, p, f.data(), packed_weighted_.data());
  kernels().gram(packed_.data(), packed_weighted_.data(), n, p, t.data());
  return symmetric(t);
}

// (G C K C' G + E) mu = G C tilted: with r = (I + K T)^{-1} tilted the others are
// U^{-1} C_u'r, and mu_s = G E^{-1} C_s (r - M C_u mu_u). Returns the squared step.
double WideSelector::improve_mean(const Mat& t, const Vec& ratio, const Vec& diagonal,
                                  const Vec& prior, Host& host) {
  const Vec k = terms_.curvature.matrix();
  const Woodbury rows(t, k, others_, prior, host);
  const Vec r = tilted_ - rows.times(t * tilted_);
  Vec others = rows.whitened(others_.transpose() * r);
  solve_transposed(rows.root, others);
  const Vec e = r - rows.times(others_ * others);
  Vec mean = ratio.cwiseProduct(design().transpose() * e);
  for (size_t j = 0; j < at_.size(); ++j) mean[at_[j]] = others[j];
  const Vec step = mean - now_.own.mean();
  now_.own.mean() = mean;
  const Vec moved = design() * selection_.inclusion(now_.own).cwiseProduct(step);
  return k.dot(moved.cwiseAbs2()) + diagonal.dot(step.cwiseAbs2());
}

// Of the precision, in the metric of q: the diagonals of its two parts, which are at rest where it
// is.
double WideSelector::change(const Vec& diagonal) const {
  if (!now_.own.begun()) return 0;
  const Vec rows = (terms_.weight.matrix() - now_.weight).cwiseProduct(now_.spread);
  const Vec own = (diagonal - now_.diagonal).cwiseProduct(now_.variance);
  return 0.5 * (rows.squaredNorm() + own.squaredNorm());
}

void WideSelector::find_variances(const Vec& ratio) {
  const Index n = problem_.n, p = problem_.columns();
  std::vector<double> root(packed_size(n, n));
  pack(now_.rows.n.data(), n, n, nullptr, root.data());
  Vec z = Vec::Zero(p);
  kernels().variances(root.data(), columns_.data(), n, p, z.data());
  const Mat shared = now_.rows.whitened(now_.rows.times(others_).transpose()) * design();
  z -= shared.colwise().squaredNorm().transpose();
  now_.variance = now_.diagonal.cwiseInverse() - ratio.cwiseAbs2().cwiseProduct(z);
  const Mat inverse = now_.rows.whitened(Mat::Identity(others_.cols(), others_.cols()));
  for (size_t k = 0; k < at_.size(); ++k) now_.variance[at_[k]] = inverse.col(k).squaredNorm();
}

void WideSelector::find_spread(const Mat& t) {
  const Mat seen = now_.rows.n * t, others = others_ - t * now_.rows.times(others_);
  now_.spread = t.diagonal() - seen.colwise().squaredNorm().transpose() +
                now_.rows.whitened(others.transpose()).colwise().squaredNorm().transpose();
  now_.spread = now_.spread.cwiseMax(0) + design().cwiseAbs2() * scatter(now_);
}

void WideSelector::report(Result& out) const {
  const Vec unit = side_.units(), g = selection_.inclusion(best_.own);
  out.state = best_.own;
  out.state.mean() = g.cwiseProduct(best_.own.mean());
  out.inclusion = selection_.report(best_.own, best_.variance.cwiseSqrt());
  out.spread.diagonal = (best_.spanned + scatter(best_)).cwiseProduct(unit.cwiseAbs2());
  out.spread.less = best_.rows.n * design() * best_.spanned.cwiseProduct(unit).asDiagonal();
  Mat more = -(best_.rows.times(others_).transpose() * design()) * best_.spanned.asDiagonal();
  for (size_t k = 0; k < at_.size(); ++k) more(k, at_[k]) = 1;
  out.spread.more = best_.rows.whitened(more) * unit.asDiagonal();
}

}  // namespace

std::unique_ptr<Selector> wide_selector(const Problem& problem) {
  return std::unique_ptr<Selector>(new WideSelector(problem));
}

}  // namespace bsvm
