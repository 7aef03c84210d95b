// Polynomials: k = B^degree / mean with, of length scales l_d and each variable's mean square,
//
//   B = (offset + u) / (offset + 1),   u = sum_d q_d x_d v_d,
//   q_d = l_d^-2 / sum_e square_e l_e^-2,
//
// so that the mean of B(x, x) over the rows is one, and `mean`, that of B^degree at l = 1, brings
// the kernel to it. theta: nothing, for a length scale of all variables would be the amplitude; or
// with `ard` log l_d. The slope of B in log l_d is -2 q_d (x_d v_d - square_d u) / (offset + 1).
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/registry.hpp"
#include "distances.hpp"
#include "radial.hpp"

namespace bsvm {
namespace {

class Polynomial : public Kernel {
 public:
  explicit Polynomial(const Params& params)
      : variables_(variables_of(params)), degree_(degree_of(params)),
        offset_(params.not_negative("offset")), ard_(params.flag("ard")),
        mean_(params.given("mean") ? params.positive("mean") : 1),
        square_(params.numbers("square")) {
    if (square_.size() != variables_ || !square_.allFinite() || !(square_.minCoeff() > 0))
      throw InvalidInput("square", "'square' of poly must have a positive number a variable.");
  }

  Index variables() const override { return variables_; }
  Index size() const override { return ard_ ? variables_ : 0; }

  void values(const Mat& x, const Mat& v, ConstVecRef theta, Mat& out) const override {
    inner_products(x, shares(theta).asDiagonal() * v, out);
    each_stretch(out.size(), [&](Index first, Index count) {
      Eigen::Map<Arr> part(out.data() + first, count);
      part = power(base(part), degree_) / mean_;
    });
  }

  Vec diagonal(const Mat& x, ConstVecRef theta) const override {
    return power(base(squares(x, theta)), degree_) / mean_;
  }

  Vec pull(const Mat& x, const Mat& v, ConstVecRef theta, const Mat& weight) const override {
    if (!ard_) return Vec();
    const Mat sums = matrix_product(x, slopes(x, v, theta, weight));
    return scales_pull(sums.cwiseProduct(v).rowwise().sum(), theta);
  }

  Vec diagonal_pull(const Mat& x, ConstVecRef theta, const Vec& weight) const override {
    if (!ard_) return Vec();
    const Vec slope = weight.array() * derivative(squares(x, theta));
    return scales_pull(matrix_product(x.cwiseAbs2(), slope), theta);
  }

  Mat input_pull(const Mat& x, const Mat& v, ConstVecRef theta,
                 const Mat& weight) const override {
    return shares(theta).asDiagonal() * matrix_product(x, slopes(x, v, theta, weight));
  }

 private:
  static int degree_of(const Params& params) {
    const double found = params.positive("degree");
    if (found != std::floor(found) || found > 100)
      throw InvalidInput("degree", "'degree' of poly must be a whole number, 1 to 100.");
    return static_cast<int>(found);
  }

  // Parts of a matrix that stay near the processor.
  template <class Visit>
  static void each_stretch(Index size, Visit visit) {
    constexpr Index most = 8192;
    for (Index first = 0; first < size; first += most) visit(first, std::min(most, size - first));
  }

  static Arr power(const Arr& base, int degree) {
    Arr out = base;
    for (int k = 1; k < degree; ++k) out *= base;
    return out;
  }

  Arr base(const Arr& u) const { return (offset_ + u) / (offset_ + 1); }

  // dk/du.
  Arr derivative(const Arr& u) const {
    const double factor = degree_ / (mean_ * (offset_ + 1));
    if (degree_ == 1) return Arr::Constant(u.size(), factor);
    return factor * power(base(u), degree_ - 1);
  }

  // (n, m): weight o dk/du.
  Mat slopes(const Mat& x, const Mat& v, ConstVecRef theta, const Mat& weight) const {
    Mat out;
    inner_products(x, shares(theta).asDiagonal() * v, out);
    each_stretch(out.size(), [&](Index first, Index count) {
      Eigen::Map<Arr> part(out.data() + first, count);
      part = derivative(part) * Eigen::Map<const Arr>(weight.data() + first, count);
    });
    return out;
  }

  // Of sum_ij (weight o dk/du)_ij x_id v_jd.
  Vec scales_pull(const Vec& sums, ConstVecRef theta) const {
    const Vec q = shares(theta);
    return -2 * q.cwiseProduct(sums - q.dot(sums) * square_);
  }

  // (d): q.
  Vec shares(ConstVecRef theta) const {
    Vec out = Vec::Ones(variables_);
    if (ard_) out = (-2 * (theta.array() - theta.minCoeff())).exp();
    return out / out.dot(square_);
  }

  Arr squares(const Mat& x, ConstVecRef theta) const {
    const Vec q = shares(theta);
    Arr out(x.cols());
    for (Index i = 0; i < x.cols(); ++i) out[i] = x.col(i).cwiseAbs2().dot(q);
    return out;
  }

  Index variables_;
  int degree_;
  double offset_;
  bool ard_;
  double mean_;
  Vec square_;
};

const Register<Kernel, Polynomial> poly_entry("poly");

}  // namespace
}  // namespace bsvm
