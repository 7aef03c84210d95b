#include "kernel.hpp"

#include "distances.hpp"

namespace bsvm {

namespace {
constexpr Index kPacket = 8;  // numbers a processor takes at once, at most
}

// Kernels centre at the mean of v. Numbers beyond the last whole packet of a column would have another
// exponential function.
Mat values_of_rows(const Kernel& kernel, const Mat& x, const Mat& v, ConstVecRef theta) {
  const Index n = x.cols(), whole = (n + kPacket - 1) / kPacket * kPacket;
  Mat out;
  if (whole == n) {
    kernel.values(x, v, theta, out);
    return out;
  }
  Mat rows = Mat::Zero(x.rows(), whole);
  rows.leftCols(n) = x;
  kernel.values(rows, v, theta, out);
  return out;
}

Mat squared_distances(const Mat& x, const Mat& v) {
  const Mat at = centred_at(v, v);
  Mat out(x.cols(), v.cols());
  Distances(centred_at(v, x), at).columns(0, v.cols(), out.data());
  return out;
}

}  // namespace bsvm
