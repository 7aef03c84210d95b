#pragma once
#include <string>

#include "chain/sampler.hpp"
#include "shared.hpp"

namespace bsvm {

// Gibbs sampling of a discriminative factor model (001, section 5): coefficients with scores
// integrated out, their hyper-parameters, scores given all, then means, loadings and noise.
//
// A draw's `coefficients` are alpha (d), beta (K), and one variance a factor (K), the rate of local
// ones, or none: of these alpha alone means the same in all chains. `hyper` has numbers by the names of factor_numbers().
// `effects` (p) are coefficients of the variables that the draw implies, `unknowns` (N) the means
// of f_n given x alone, its response not used; `law` (2 N K) mean scores given x alone and then
// their second moments, of factors that turn from draw to draw. read_seldom(): mu (p), A (p K),
// psi.
std::unique_ptr<Chain> make_factors_chain(const SharedFactors& shared, int threads,
                                          std::uint64_t seed, int chain);

// Of a draw's `hyper`: those of each part and of the likelihood, of loadings and noise; then
// `leftover`, the variance beta'S beta of f given a complete x; `explained`, the variance over the
// rows of m_n'beta, which x determines; `determinacy`, its share in the sum with the rows' mean
// leftover variance; and `offset`, which goes with the implied coefficients.
std::vector<std::string> factor_numbers(const FactorModel& model);

}  // namespace bsvm
