#pragma once
#include <vector>

#include "model.hpp"
#include "spectrum.hpp"

namespace bsvm {

// What chains of a model share: nothing here changes.
struct SharedResponses {
  explicit SharedResponses(const Responses& model);

  // Z'r of each level of a factor, (d, columns of r).
  std::vector<Mat> level_products(size_t factor, const Mat& r) const;

  const Responses& model;
  Mat y;                     // rows times the roots of their weights; so are s and z
  std::vector<Mat> z;        // of each factor
  double rows;               // the sum of the weights
  std::vector<Index> small;  // columns in no spectrum
  // Of each part's sets of columns among these; none of a spectrum.
  std::vector<std::vector<std::vector<Index>>> places;
  Index chosen = -1;         // the part of small columns with choices
  std::vector<Spectrum> spectra;
  std::vector<std::vector<size_t>> blocks;  // of spectra; one of each is in the model
  Mat s, ss;                 // (n, small) those columns, and S'S
  bool joint;                // are coefficients of small columns drawn for all responses at once?
  // Complete responses with at most one large block and one factor are known by sums alone:
  bool sums_alone;
  Mat yy, sy, hy;            // Y'Y, S'Y, H'Y
  // Of each factor and level: Z'Z (d, d), Z'S (d, small); of sums alone Z'Y (d, q), Z'H (d, m).
  std::vector<std::vector<Mat>> zz, zs;
  std::vector<Mat> zy, zh;
  std::vector<Index> incomplete;  // rows with a missing response

 private:
  double crossed_sums() const;
};

Mat columns_of(const Mat& x, const std::vector<Index>& columns);

}  // namespace bsvm
