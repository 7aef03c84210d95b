#include "spectrum_slices.hpp"

#include <cmath>

#include "random/slice.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

// First width of slices of the logarithm of a standard deviation.
constexpr double kSliceWidth = 1;

}  // namespace

Vec variances(const Spectrum& own, const ColumnPart& part, const std::vector<Vec>& hyper) {
  Vec out(static_cast<Index>(hyper.size())), precision(static_cast<Index>(own.columns.size()));
  for (size_t j = 0; j < hyper.size(); ++j) {
    part.priors[j]->precision(hyper[j], precision);
    out[static_cast<Index>(j)] = 1 / precision[0];
  }
  return out;
}

void stretch_residuals(const Spectrum& own, size_t index, const Mat& hr, const Mat& rr, double rows,
                       const Vec& variance, const LatentLayer& latent, const DrawKey& now,
                       Covariance& sigma) {
  const Index q = rr.rows();
  for (Index j = 0; j < q; ++j) {
    const size_t at = index * static_cast<size_t>(q) + static_cast<size_t>(j);
    Draws random(now, Purpose::move, (std::uint64_t{1} << 32) + at);
    const auto log_density = [&](double step) {
      const double t = std::exp(step);
      Mat root = sigma.root(), inverse = sigma.inverse();
      root.row(j) *= t;
      inverse.row(j) /= t;
      inverse.col(j) /= t;
      return sigma.log_stretched(j, t) - rows * step - 0.5 * inverse.cwiseProduct(rr).sum() +
             log_evidence(own, hr, Together(root, variance)) + latent.log_prior(root);
    };
    sigma.stretch(j, std::exp(slice(log_density, kSliceWidth, random)));
  }
}

void slide_variances(const Spectrum& own, const ColumnPart& part, const Mat& hr, const Mat& root,
                     const DrawKey& now, std::vector<Vec>& hyper, Vec& variance) {
  const Index q = variance.size();
  for (Index j = 0; j < q; ++j) {
    const Prior& prior = *part.priors[static_cast<size_t>(j)];
    if (prior.free_size(static_cast<Index>(own.columns.size())) == 0) continue;
    Draws random(now, Purpose::move, static_cast<std::uint64_t>(own.part * q + j));
    const double here = 0.5 * std::log(variance[j]);
    const VarianceChange change(own, hr, Together(root, variance), j);
    Vec theta(1), gradient(1);
    const auto log_density = [&](double step) {
      theta[0] = here + step;
      const double s2 = std::exp(2 * theta[0]);
      if (!possible_variance(s2)) return kNothing;
      return prior.log_joint(Moments(), theta, gradient) + change(s2 - variance[j]);
    };
    theta[0] = here + slice(log_density, kSliceWidth, random);
    variance[j] = std::exp(2 * theta[0]);
    prior.fix(theta, hyper[static_cast<size_t>(j)]);
  }
}

}  // namespace bsvm
