#pragma once
#include "family.hpp"

namespace bsvm {

// A likelihood whose scale differs by row: with y = f + s_i e, and p the density of e's family,
//
//   p_i(y | f) = p(y / s_i | f / s_i) / s_i,   log s_i = z_i'gamma,
//
// so that slopes are over s_i, and weights and curvatures over s_i^2. What a row has as its response
// is its number, from 0, by which `response` and z are looked up: `scale_columns` (n, k) of the
// parameters, with `response` (n). gamma is inferred, after the `size` free numbers of the member, of
// which the first is the logarithm of its scale.
std::unique_ptr<Likelihood> make_scaled_family(const Params& params, Index size, Member member);

}  // namespace bsvm
