#pragma once
#include "chain/archive.hpp"
#include "shared.hpp"

namespace bsvm {

// The coefficients and effects of a chain, and what they leave of the responses, as sums over rows:
// from sums of the responses where these are enough (SharedResponses::sums_alone), else by products
// with the rows.
class Fit {
 public:
  explicit Fit(const SharedResponses& shared);

  const Mat& small() const { return small_; }  // (small, q)
  void set_small(Mat coefficients);
  void set_turned(size_t spectrum, Mat turned);        // (m, q) V'W of a large block
  void set_effects(size_t factor, Index level, ConstVecRef u);  // (d q) of a level
  void effects_are_set(size_t factor);                 // all of them
  const Mat& effects(size_t factor) const { return u_[factor]; }  // (d q, levels)

  Mat coefficients() const;  // (p, q), those of large blocks turned back
  Vec all_effects() const;

  // What all but the small columns and one large block or factor leave, R, as R'R, S'R, and H'R or
  // Z'R of each level; and what all but the small columns leave, as S'R.
  struct BlockSums {
    Mat hr, sr, rr;
  };
  BlockSums beside_spectrum(size_t spectrum) const;
  // R itself, if sums alone are not enough.
  Mat rest(size_t spectrum) const { return less(spectrum); }
  struct LevelSums {
    std::vector<Mat> zr;
    Mat sr;
  };
  LevelSums beside_factor(size_t factor) const;
  Mat beside_small() const;

  Mat residuals() const;  // (n, q)
  Mat residual_squares() const;

  Mat& y() { return y_; }  // (n, q) complete; if it changes, sums alone are not enough
  const Mat& y() const { return y_; }

  // All but what is seen of y: the missing responses, or with `latent` all of it.
  void visit(Archive& archive, bool latent);
  Vec missing() const;  // row by row

 private:
  Index q() const { return y_.cols(); }
  Eigen::Map<const Mat> level(size_t factor, size_t level) const;  // (d, q)
  Mat level_sums(const std::vector<Mat>& products, Index rows) const;
  Mat small_level_sums() const;
  Mat spectrum_fit(size_t spectrum) const;
  Mat factor_fit(size_t factor) const;
  Mat less(size_t but) const;
  void find_parts();

  const SharedResponses& shared_;
  Mat y_, small_;
  std::vector<Mat> turned_;  // of each spectrum
  std::vector<Mat> u_;       // of each factor
  Mat small_part_;           // (n, q) of the fit, unless sums are enough
  std::vector<Mat> parts_;   // of each spectrum, then each factor
};

}  // namespace bsvm
