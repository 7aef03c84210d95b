#include "evidence.hpp"

#include <cmath>

#include "base/error.hpp"
#include "normal_draws.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

// Of tr(Sigma^{-1} Y'Y): beyond, what is left of it after the fit is lost in rounding.
constexpr double kMostSquares = 1e11;

Spectrum no_spectrum(const SharedResponses& shared) {
  Spectrum out;
  out.part = -1;
  out.e.resize(0);
  out.h.resize(shared.model.n(), 0);
  out.hs.resize(0, shared.s.cols());
  out.v.resize(0, 0);
  return out;
}

// Sigma = F F' by log f_ii and asinh(f_ij/f_ii), j < i: of two responses the latter is Fisher's z
// of their correlation, and about as normal. By rows, as a prior's free numbers are.
template <class Each>
void each_below(Index q, Each each) {
  for (Index i = 0, at = 0; i < q; ++i)
    for (Index j = 0; j <= i; ++j, ++at) each(i, j, at, at + i - j);  // and where f_ii is
}

Vec to_free(Index q, ConstVecRef own) {
  Vec out = own;
  each_below(q, [&](Index i, Index j, Index at, Index diagonal) {
    if (j < i) out[at] = std::exp(own[diagonal]) * std::sinh(own[at]);
  });
  return out;
}

Vec from_free(Index q, ConstVecRef free) {
  Vec out = free;
  each_below(q, [&](Index i, Index j, Index at, Index diagonal) {
    if (j < i) out[at] = std::asinh(free[at] / std::exp(free[diagonal]));
  });
  return out;
}

// log |d free/d own|; and the gradient in own, of the one in free.
double log_jacobian(Index q, ConstVecRef own) {
  double out = 0;
  each_below(q, [&](Index i, Index j, Index at, Index diagonal) {
    if (j < i) out += own[diagonal] + std::log(std::cosh(own[at]));
  });
  return out;
}

Vec gradient_of_own(Index q, ConstVecRef own, ConstVecRef free, ConstVecRef slope) {
  Vec out = slope;
  each_below(q, [&](Index i, Index j, Index at, Index diagonal) {
    if (j == i) return;
    out[at] = slope[at] * std::exp(own[diagonal]) * std::cosh(own[at]) + std::tanh(own[at]);
    out[diagonal] += slope[at] * free[at] + 1;
  });
  return out;
}

}  // namespace

// What theta makes of the model, and B given it.
struct Evidence::Law {
  Mat root;      // of Sigma
  Mat prior;     // (small, q) precisions of B
  Together both;
  Mat linear;    // (small, q)
  Factor factor; // of vec(B)'s precision
  double residual = 0;  // log |Sigma|
};

Evidence::Evidence(const SharedResponses& shared)
    : shared_(shared), model_(shared.model), none_(no_spectrum(shared)),
      large_(shared.spectra.empty() ? none_ : shared.spectra[0]) {
  bool fits = shared.sums_alone && model_.factors.empty() && shared.joint && model_.settled == 0;
  for (const ColumnPart& part : model_.parts) {
    fits = fits && part.choices.empty();
    for (const auto& prior : part.priors) fits = fits && prior->supports(Use::expected);
  }
  if (!fits)
    throw InvalidInput("engine", "The evidence is of complete responses with normal residuals, at "
                                 "most one large block of columns, and no grouping factors.");
  hy_ = shared.spectra.empty() ? Mat(Mat::Zero(0, model_.q())) : shared.hy;
  for (size_t k = 0; k < model_.parts.size(); ++k)
    for (Index j = 0; j < model_.q(); ++j) size_ += free_size(k, j);
  size_ += model_.residual->free_size(model_.q());
}

const Prior& Evidence::prior(size_t part, Index j) const {
  return *model_.parts[part].priors[static_cast<size_t>(j)];
}

Index Evidence::hyper_count(size_t part) const {
  const ColumnPart& own = model_.parts[part];
  return own.width() + static_cast<Index>(own.unseen);
}

Index Evidence::free_size(size_t part, Index j) const {
  return prior(part, j).free_size(hyper_count(part));
}

Vec Evidence::pack(const std::vector<std::vector<Vec>>& parts, const Vec& sigma) const {
  Vec out(size_);
  Index at = 0;
  for (size_t k = 0; k < parts.size(); ++k)
    for (Index j = 0; j < model_.q(); ++j) {
      const Index own = free_size(k, j);
      if (own > 0) prior(k, j).free(parts[k][static_cast<size_t>(j)], out.segment(at, own));
      at += own;
    }
  Vec free(size_ - at);
  model_.residual->free(sigma, free);
  out.tail(size_ - at) = from_free(model_.q(), free);
  return out;
}

void Evidence::unpack(const Vec& theta, std::vector<std::vector<Vec>>& parts, Vec& sigma) const {
  Index at = 0;
  for (size_t k = 0; k < parts.size(); ++k)
    for (Index j = 0; j < model_.q(); ++j) {
      const Index own = free_size(k, j);
      if (own > 0) prior(k, j).fix(theta.segment(at, own), parts[k][static_cast<size_t>(j)]);
      at += own;
    }
  model_.residual->fix(to_free(model_.q(), theta.tail(size_ - at)), sigma);
}

Evidence::Law Evidence::law(const Vec& theta) const {
  const Index q = model_.q(), s = shared_.s.cols();
  Index at = 0;
  Mat precision(s, q);
  Vec variance = Vec::Zero(q);
  for (size_t k = 0; k < model_.parts.size(); ++k) {
    const std::vector<Index>& places = shared_.places[k][0];
    for (Index j = 0; j < q; ++j) {
      const Index own = free_size(k, j);
      const Prior& prior_j = prior(k, j);
      Vec hyper(prior_j.hyper_size(hyper_count(k)));
      Moments shape;
      shape.count = static_cast<double>(hyper_count(k));
      shape.square = Vec::Zero(1);
      prior_j.start(shape, hyper);
      if (own > 0) prior_j.fix(theta.segment(at, own), hyper);
      at += own;
      Vec each(model_.parts[k].width());
      prior_j.precision(hyper, each);
      if (static_cast<Index>(k) == large_.part) variance[j] = 1 / each[0];
      for (size_t a = 0; a < places.size(); ++a)
        precision(places[a], j) = each[static_cast<Index>(a)];
    }
  }
  Mat root = Mat::Zero(q, q);
  const Vec free = to_free(q, theta.tail(size_ - at));
  each_below(q, [&](Index i, Index j, Index place, Index) {
    root(i, j) = i == j ? std::exp(free[place]) : free[place];
  });
  if (!root.allFinite() || !variance.allFinite() || !precision.allFinite() ||
      !(root.diagonal().array() > 0).all())
    throw NumericalFailure("Variances are beyond the range of numbers.");
  const Together both(root, variance);
  SmallSystem system = small_system(large_, shared_.ss, hy_, shared_.sy, both);
  system.precision.diagonal() += as_vector(precision);
  const double residual = 2 * root.diagonal().array().log().sum();
  return {root, precision, both, system.linear, Factor(system.precision), residual};
}

// With b vec(B)'s mean, P its precision and P0 that of its prior, the log density is
//
//   -(rows (q log 2 pi + log |Sigma|) + tr(Sigma^{-1} Y'Y))/2 + log p(H'Y | T, Sigma), Spectrum,
//   + (b'P b + log |P0| - log |P|)/2 + log p(theta).
Evidence::Look Evidence::look(const Vec& theta, bool gradient) const {
  const Law own = law(theta);
  if (!own.factor.positive()) throw NumericalFailure("The posterior precision isn't positive.");
  const double squares = (own.both.g * shared_.yy * own.both.g.transpose()).trace();
  if (!(squares < kMostSquares))
    throw NumericalFailure("The residuals are too small compared with the responses.");
  const Vec b = solved_lower(own.factor.lower(), as_vector(own.linear));
  Look out;
  out.theta = theta;
  out.value = -0.5 * (shared_.rows * (static_cast<double>(model_.q()) * kLog2Pi + own.residual) +
                      squares) +
              log_evidence(large_, hy_, own.both) +
              0.5 * (b.squaredNorm() - own.factor.logdet() + own.prior.array().log().sum());
  Index at = 0;
  Vec slope(size_);
  for (size_t k = 0; k < model_.parts.size(); ++k)
    for (Index j = 0; j < model_.q(); ++j) {
      const Index size = free_size(k, j);
      if (size > 0)
        out.value += prior(k, j).log_joint(Moments(), theta.segment(at, size),
                                           slope.segment(at, size));
      at += size;
    }
  const Vec sigma = theta.tail(size_ - at);
  out.value += model_.residual->log_joint(Moments(), to_free(model_.q(), sigma),
                                          slope.tail(size_ - at)) +
               log_jacobian(model_.q(), sigma);
  if (!std::isfinite(out.value)) throw NumericalFailure("The evidence isn't a number.");
  if (gradient) out.gradient = slopes(theta, own);
  return out;
}

// Fisher's identity: the gradient of log p(y, theta) is the mean of that of log p(y, B, W, theta),
// which the priors have, given second moments of B, W and the residuals R.
//
//   u_k    row k of H'S                          C   cov(vec(B G'))
//   v_kl   variance of (V'W G')_kl given B       M   sum over k of E w_k w_k', w_k row k of V'W G'
//   A_ll'  S'S - sum over k of (v_kl + v_kl' - e_k v_kl v_kl') u_k u_k'
//
//   M   = mean + sum over k of {diag(v_k) + v_kl v_kl' u_k'C_ll' u_k}
//   R'R = mean + G^{-1} {sum over k of e_k diag(v_k) + tr(A_ll' C_l'l)} G^{-T}
Vec Evidence::slopes(const Vec& theta, const Law& law) const {
  const Index q = model_.q(), s = shared_.s.cols();
  const Mat inverse = law.factor.inverse(), &g = law.both.g, &back = law.both.inverse;
  const Vec solved = law.factor.solve(as_vector(law.linear));
  const Mat b = Eigen::Map<const Mat>(solved.data(), s, q);
  Mat turn = Mat::Zero(s * q, s * q);
  add_kron(g, Mat::Identity(s, s), turn);
  const Mat c = turn * inverse * turn.transpose();
  Mat v(large_.e.size(), q);
  for (Index l = 0; l < q; ++l) v.col(l) = large_.shrunk(law.both.t[l]);
  const Mat w = v.cwiseProduct((hy_ - large_.hs * b) * g.transpose());
  Mat second = w.transpose() * w, left = Mat::Zero(q, q);
  for (Index l = 0; l < q; ++l) {
    second(l, l) += v.col(l).sum();
    left(l, l) += v.col(l).dot(large_.e);
    for (Index k = 0; k < q; ++k) {
      const Vec product = v.col(l).cwiseProduct(v.col(k));
      const Vec shift = v.col(l) + v.col(k) - large_.e.cwiseProduct(product);
      const auto own = c.block(l * s, k * s, s, s);
      const Mat us = large_.hs * own;
      second(l, k) += product.dot(us.cwiseProduct(large_.hs).rowwise().sum());
      left(l, k) += shared_.ss.cwiseProduct(own).sum() -
                    shift.dot(us.cwiseProduct(large_.hs).rowwise().sum());
    }
  }
  const Mat turned = w * back.transpose();
  const Mat sb = shared_.sy.transpose() * b;
  const Mat hw = (hy_ - large_.hs * b).transpose() * turned;
  const Mat squares = shared_.yy - sb - sb.transpose() + b.transpose() * shared_.ss * b - hw -
                      hw.transpose() + turned.transpose() * large_.e.asDiagonal() * turned +
                      back * left * back.transpose();
  const Mat block = back * second * back.transpose();
  const Vec variances = inverse.diagonal();
  const Mat small = b.cwiseAbs2() + Eigen::Map<const Mat>(variances.data(), s, q);

  Vec out(size_);
  Index at = 0;
  for (size_t k = 0; k < model_.parts.size(); ++k)
    for (Index j = 0; j < q; ++j) {
      const Index size = free_size(k, j);
      if (size == 0) continue;
      Moments moments;
      moments.unseen = model_.parts[k].unseen;
      moments.count = static_cast<double>(model_.parts[k].width()) + moments.unseen;
      const std::vector<Index>& places = shared_.places[k][0];
      if (static_cast<Index>(k) == large_.part) moments.square = Vec::Constant(1, block(j, j));
      else moments.square.resize(static_cast<Index>(places.size()));
      for (size_t a = 0; a < places.size(); ++a)
        moments.square[static_cast<Index>(a)] = small(places[a], j);
      prior(k, j).log_joint(moments, theta.segment(at, size), out.segment(at, size));
      at += size;
    }
  Moments residual;
  residual.square = as_vector(squares);
  residual.count = shared_.rows * static_cast<double>(q);
  const Vec sigma = theta.tail(size_ - at), free = to_free(q, sigma);
  Vec slope(free.size());
  model_.residual->log_joint(residual, free, slope);
  out.tail(size_ - at) = gradient_of_own(q, sigma, free, slope);
  return out;
}

Evidence::Coefficients Evidence::draw(const Vec& theta, Draws& small, Draws& large) const {
  const Law own = law(theta);
  Vec b = solved_lower(own.factor.lower(), as_vector(own.linear));
  for (Index k = 0; k < b.size(); ++k) b[k] += small.normal();
  solve_transposed(own.factor.lower(), b);
  Coefficients out;
  out.small = Eigen::Map<const Mat>(b.data(), shared_.s.cols(), model_.q());
  out.turned = draw_turned(large_, hy_ - large_.hs * out.small, own.both, large);
  return out;
}

}  // namespace bsvm
