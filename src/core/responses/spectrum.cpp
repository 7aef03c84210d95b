#include "spectrum.hpp"

#include <cmath>

namespace bsvm {

Spectrum make_spectrum(Index part, std::vector<Index> columns, const Mat& x) {
  Spectrum out;
  out.part = part;
  Mat f(x.rows(), static_cast<Index>(columns.size()));
  for (Index k = 0; k < f.cols(); ++k) f.col(k) = x.col(columns[static_cast<size_t>(k)]);
  const SymmetricEigen eigen(f.transpose() * f);
  out.e = eigen.values.cwiseMax(0);
  out.v = eigen.vectors;
  out.h = f * out.v;
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

}  // namespace bsvm
