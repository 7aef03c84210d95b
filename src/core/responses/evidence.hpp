#pragma once
#include "fit.hpp"

namespace bsvm {

// The log density of a model's hyper-parameters theta with all coefficients integrated out, in
// O(m q) for a large block of m columns: of complete responses with one layer of normal residuals,
// at most one large block, and no factors. theta has the free numbers (prior/prior.hpp) of the prior
// of each part and response, part by part, then q (q + 1)/2 numbers of Sigma.
class Evidence {
 public:
  // Throws InvalidInput of another model.
  explicit Evidence(const SharedResponses& shared);

  Index size() const { return size_; }

  struct Look {
    Vec theta, gradient;
    double value = 0;  // log p(y, theta)
    double objective() const { return value; }
  };
  // May throw NumericalFailure. Without `gradient` it is left empty.
  Look look(const Vec& theta, bool gradient) const;

  struct Coefficients {
    Mat small, turned;  // (small, q), and V'W of the large block (m or 0, q)
  };
  Coefficients draw(const Vec& theta, Draws& small, Draws& large) const;

  // theta of hyper-parameters by part and response, and Sigma's; and back.
  Vec pack(const std::vector<std::vector<Vec>>& parts, const Vec& sigma) const;
  void unpack(const Vec& theta, std::vector<std::vector<Vec>>& parts, Vec& sigma) const;

  const SharedResponses& shared() const { return shared_; }

 private:
  struct Law;
  Law law(const Vec& theta) const;
  Vec slopes(const Vec& theta, const Law& law) const;
  const Prior& prior(size_t part, Index j) const;
  Index free_size(size_t part, Index j) const;
  Index hyper_count(size_t part) const;

  const SharedResponses& shared_;
  const Responses& model_;
  Spectrum none_;           // of a model without a large block
  const Spectrum& large_;
  Mat hy_;                  // H'Y
  Index size_ = 0;
};

}  // namespace bsvm
