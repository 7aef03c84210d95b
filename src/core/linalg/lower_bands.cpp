#include "lower_bands.hpp"

#include <algorithm>

#include "kernels.hpp"

namespace bsvm {

namespace {
constexpr Index kBandRows = 32;
}

LowerBands::LowerBands(ConstMatRef lower) {
  const Index p = lower.rows();
  const Mat whole = lower.triangularView<Eigen::Lower>();
  for (Index first = 0; first < p; first += kBandRows) {
    const Index rows = std::min(kBandRows, p - first), depth = first + rows;
    bands_.push_back({first, rows, std::vector<double>(packed_size(rows, depth))});
    pack_block(whole.data() + first, p, rows, depth, nullptr, bands_.back().packed.data());
  }
}

void LowerBands::multiply(const Mat& c, Eigen::Ref<Mat, 0, Eigen::OuterStride<>> out) const {
  out.setZero();
  for (const Band& band : bands_) {
    PanelProduct of{band.packed.data(), band.rows, band.first + band.rows, c.data(), c.cols(),
                    c.rows(), out.data() + band.first, out.outerStride()};
    of.packed_y = false;
    kernels().product(of);
  }
}

}  // namespace bsvm
