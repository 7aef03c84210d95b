#pragma once
#include "random/draws.hpp"
#include "rows/lines/predictors.hpp"

namespace bsvm {

// Some whitened coordinates z of the coefficients x, all others held: as z turns to c z + s nu with
// a normal nu, x changes by (c - 1) x0 + s x1, and f by (c - 1) along0 + s along1.
//  weighed0, weighed1  the priors' precision times x0 and x1
struct WhiteEllipse {
  const Vec &nu, &x0, &x1, &weighed0, &weighed1, &along0, &along1;
};

// Elliptical slice sampling of z (Murray, Adams & MacKay 2010), whose density with respect to N(0, I)
// is that of the rows and of the priors of x over that of z. `value`: of the rows, before and after.
void move_white(const WhiteEllipse& of, Predictors& rows, VecRef z, Vec& x, double& value,
                Draws& random);

}  // namespace bsvm
