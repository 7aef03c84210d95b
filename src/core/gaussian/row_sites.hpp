#pragma once
#include <functional>
#include <vector>

#include "likelihood/likelihood.hpp"

namespace bsvm {

// Sites exp(-weight f^2/2 + linear f) of the rows, f less its offset, (n) each, and at which theta.
struct RowSites {
  Vec theta;
  Arr weight, linear;
};

// What sites are of: rows of this likelihood, with their weights and offsets (n).
struct SiteRows {
  const Likelihood& likelihood;
  const Arr &y, &weight, &offset;
};

// Moments of f by expectation propagation (Minka 2001), all rows at once: each row in turn is the
// only one that counts as it is, and its site given that row's moments. Where that comes to rest,
// which it need not, log p(y) is stationary in the sites.
//
// With g = lambda - w m the site's slope at m, f without the row is N(m - c g, c) with c = v / (1 -
// w v), and the row's share of log p(y), less what the bound's entropy and prior have of it, is
//
//   log E p - log(1 - w v)/2 + c g^2/2 - w v/2,
//
// as p - tr(D S) = sum w v for any sites. A row of weight k is k rows.
//
//  take    makes q of sites, and m and v (n) its moments of f; false where they leave none
//  others  of log p(y) what no row knows of, at that q: its entropy and prior
//
// False where sites don't come to rest; else they are where they did, and log_density what it was
// at those before.
bool rest_sites(const SiteRows& rows, const std::function<bool(const RowSites&)>& take,
                const std::function<double()>& others, const Arr& m, const Arr& v,
                RowSites& sites, double& log_density);

// The nearest that are known; `along`: followed along a line through the two nearest places where
// theta is one number.
RowSites sites_near(const std::vector<RowSites>& known, ConstVecRef theta, bool along);

}  // namespace bsvm
