#pragma once
#include "likelihood.hpp"

namespace bsvm {

// The density of a number y
//
//   p(y | f) = c exp{-a (r - e1)_+ - b (-r - e2)_+},  r = y - f,  1/c = 1/a + 1/b + e1 + e2,
//
// a, b > 0 and e1 + e2 >= 0: between -e2 and e1 a residual costs nothing. With e1 = e2 = epsilon
// and a = b it is the epsilon-insensitive density, with e1 = e2 = 0 the Laplace density, asymmetric
// or not. Every value has log c in it. With b = 0, where what is left is one hinge and no density,
// c is one.
class TwoHinges : public Likelihood {
 public:
  TwoHinges(double a, double b, double e1, double e2);

  bool supports(Use use) const override { return use != Use::marginal; }
  double most_offset() const override;
  double log_constant() const { return pair_.log_c; }
  int scales() const override { return 2; }
  Atoms atoms(double y) const override;

  void terms(Use use, const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m,
             const Eigen::Ref<const Arr>& v, RowTerms& out) const override;
  void draw(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& f,
            const Eigen::Ref<const Arr>& weight, const RowDraws& random,
            RowTerms& out) const override;
  double over(const LineRows& rows, double s, double t) const override;
  Tilted averaged(double y, double mean, double v, double weight) const override;
  double draw_averaged(double y, double mean, double v, double weight,
                       Draws& random) const override;

 private:
  void augmented(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m,
                 const Eigen::Ref<const Arr>& v, RowTerms& out) const;
  void expected(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m,
                const Eigen::Ref<const Arr>& v, RowTerms& out) const;
  void point(const Eigen::Ref<const Arr>& y, const Eigen::Ref<const Arr>& m, RowTerms& out) const;
  HingePair times(double weight) const;  // the loss of a row of that weight

  HingePair pair_;
};

}  // namespace bsvm
