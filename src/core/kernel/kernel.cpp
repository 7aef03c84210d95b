#include "kernel.hpp"

#include "distances.hpp"

namespace bsvm {

Mat squared_distances(const Mat& x, const Mat& v) {
  const Mat at = centred_at(v, v);
  Mat out(x.cols(), v.cols());
  Distances(centred_at(v, x), at).columns(0, v.cols(), out.data());
  return out;
}

}  // namespace bsvm
