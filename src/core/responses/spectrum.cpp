#include "spectrum.hpp"

#include <algorithm>
#include <cmath>

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
