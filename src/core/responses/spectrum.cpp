#include "spectrum.hpp"

#include <algorithm>
#include <cmath>

#include "normal_draws.hpp"

namespace bsvm {

Spectrum make_spectrum(Index part, std::vector<Index> columns, const Mat& x,
                       const Vec& root) {
  Spectrum out;
  out.part = part;
  Mat f(x.rows(), static_cast<Index>(columns.size()));
  for (Index k = 0; k < f.cols(); ++k)
    f.col(k) = x.col(columns[static_cast<size_t>(k)]).cwiseProduct(root);
  const SymmetricEigen eigen(f.transpose() * f);
  out.e = eigen.values.cwiseMax(0);
  out.v = eigen.vectors;
  out.h.noalias() = f * out.v;
  out.columns = std::move(columns);
  return out;
}

double log_evidence(const Spectrum& spectrum, const Mat& hr, const Together& both) {
  const Mat a = hr * both.g.transpose();
  double out = 0;
  for (Index l = 0; l < a.cols(); ++l) {
    const double t = both.t[l];
    for (Index k = 0; k < a.rows(); ++k) {
      const double more = 1 + spectrum.e[k] * t;
      out += t * a(k, l) * a(k, l) / more - std::log(more);
    }
  }
  return 0.5 * out;
}

SmallSystem small_system(const Spectrum& spectrum, const Mat& ss, const Mat& hr, const Mat& sr,
                         const Together& both) {
  const Index s = ss.rows(), q = both.t.size();
  SmallSystem out{Mat::Zero(s * q, s * q), Mat::Zero(s, q)};
  for (Index l = 0; l < q; ++l) {
    const Vec g = both.g.row(l).transpose();
    const Mat weighted = spectrum.hs.transpose() * spectrum.shrunk(both.t[l]).asDiagonal();
    add_kron(g * g.transpose(), ss - weighted * spectrum.hs, out.precision);
    out.linear += (sr * g - weighted * (hr * g)) * g.transpose();
  }
  return out;
}

Mat draw_turned(const Spectrum& spectrum, const Mat& left, const Together& both, Draws& random) {
  const Mat a = left * both.g.transpose();
  Mat w(a.rows(), a.cols());
  for (Index l = 0; l < a.cols(); ++l) {
    const Vec v = spectrum.shrunk(both.t[l]);
    for (Index m = 0; m < a.rows(); ++m)
      w(m, l) = v[m] * a(m, l) + std::sqrt(v[m]) * random.normal();
  }
  return w * both.inverse.transpose();
}

VarianceChange::VarianceChange(const Spectrum& spectrum, const Mat& hr, const Together& both,
                               Index j)
    : e_(spectrum.e), s_(Arr::Zero(e_.size())), c_(Arr::Zero(e_.size())) {
  const Mat a = hr * both.g.transpose();
  for (Index l = 0; l < a.cols(); ++l) {
    const double v = both.g(l, j);
    const Arr shrunk = v / (1 + e_.array() * both.t[l]);
    s_ += v * shrunk;
    c_ += shrunk * a.col(l).array();
  }
}

double VarianceChange::operator()(double delta) const {
  double out = 0;
  for (Index k = 0; k < e_.size(); ++k) {
    const double more = std::max(1 + delta * e_[k] * s_[k], 1e-300);
    out += delta * c_[k] * c_[k] / more - std::log(more);
  }
  return 0.5 * out;
}

}  // namespace bsvm
