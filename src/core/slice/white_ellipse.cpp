#include "white_ellipse.hpp"

#include "random/ellipse.hpp"

namespace bsvm {

void move_white(const WhiteEllipse& of, Predictors& rows, VecRef z, Vec& x, double& value,
                Draws& random) {
  const double w00 = of.weighed0.dot(of.x0), w01 = of.weighed0.dot(of.x1),
               w11 = of.weighed1.dot(of.x1);
  const double w0 = of.weighed0.dot(x) - w00, w1 = of.weighed1.dot(x) - w01;
  const double z00 = z.squaredNorm(), z01 = z.dot(of.nu), z11 = of.nu.squaredNorm();
  const auto prior = [&](double c, double s) {
    return 0.5 * (c * c * (z00 - w00) + 2 * c * s * (z01 - w01) + s * s * (z11 - w11)) -
           c * w0 - s * w1;
  };
  double c = 1, s = 0, trial = value;
  ellipse([&](double to_c, double to_s) {
    trial = rows.value(of.along0, of.along1, to_c - 1, to_s);
    return trial + prior(to_c, to_s);
  }, value + prior(1, 0), random, c, s);
  if (s == 0 && c == 1) return;
  value = trial;
  rows.f() += (c - 1) * of.along0 + s * of.along1;
  x += (c - 1) * of.x0 + s * of.x1;
  z = c * z + s * of.nu;
}

}  // namespace bsvm
