#pragma once
#include "chain/archive.hpp"
#include "covariance.hpp"
#include "loss.hpp"
#include "model.hpp"

namespace bsvm {

// The latent responses z of y = z + e, z_i = f_i + delta_i, and the numbers of e's density.
class LatentLayer {
 public:
  LatentLayer(const Responses& model, Draws& random);

  bool any() const { return !losses_.empty(); }

  // Draws z given f, each response's given the others'; then for each response delta_j together
  // with its variance, the second residuals together with their scale, and its other numbers.
  // `y` has NaN where a response is missing.
  void draw(const Mat& y, const Mat& f, const DrawKey& now, Covariance& sigma, Mat& z);

  // What the losses' priors have of Sigma, whose root this is.
  double log_prior(const Mat& root) const;

  void read(std::vector<double>& numbers) const;  // what is kept of a draw
  void visit(Archive& archive);

 private:
  std::vector<std::unique_ptr<Loss>> losses_;  // of each response, or none
};

}  // namespace bsvm
