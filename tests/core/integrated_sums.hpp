#pragma once
#include "hosts.hpp"
#include "oracle.hpp"
#include "rows/integrated/integrated_source.hpp"

namespace bsvm_test {

inline RowSums sums_at(IntegratedSource& source, const Vec& point, Depth depth = Depth::curvature) {
  Host host;
  RowSums out(point.size());
  source.sums(point, depth, out, host);
  return out;
}

}  // namespace bsvm_test
