#pragma once
#include "latent_layer.hpp"
#include "spectrum.hpp"

namespace bsvm {

// (q) the variance of each response's coefficients; `hyper` are their priors'.
Vec variances(const Spectrum& own, const ColumnPart& part, const std::vector<Vec>& hyper);

// Slices with the coefficients of a large block integrated out. hr = H'R (m, q) of what the block
// is to fit; `variance` (q) the block's, `index` its number among the spectra.

// Each residual standard deviation, Sigma -> D Sigma D. rr = R'R, of so many rows.
void stretch_residuals(const Spectrum& own, size_t index, const Mat& hr, const Mat& rr, double rows,
                       const Vec& variance, const LatentLayer& latent, const DrawKey& now,
                       Covariance& sigma);

// Each variance that is not fixed, by the logarithm of its root; `hyper` are its priors'.
void slide_variances(const Spectrum& own, const ColumnPart& part, const Mat& hr, const Mat& root,
                     const DrawKey& now, std::vector<Vec>& hyper, Vec& variance);

}  // namespace bsvm
