#pragma once
#include "integral_oracle.hpp"

namespace bsvm_test {

// Kinds of rows that an integral over their effect meets.
enum class Kind { plain, ones, weights, one_sign, ties, flat, far, steep };

// `rows` as they are of that kind.
inline void vary(RowsData& rows, Kind kind, Noise& noise) {
  const Index r = rows.y.size();
  if (kind == Kind::ones) rows.z.setOnes();
  if (kind == Kind::weights || kind == Kind::ties) {
    rows.weight = Vec(r);
    for (Index i = 0; i < r; ++i) rows.weight[i] = 0.2 + 3 * noise.uniform();
  }
  if (kind == Kind::far) rows.o *= 20;
  if (kind == Kind::steep) rows.z *= 8;
  for (Index i = 0; i < r; ++i) {
    if (kind == Kind::flat && i % 3 == 1) rows.z[i] = 0;
    if (kind != Kind::ties || i % 2 == 0) continue;  // the same kinks, other columns
    rows.y[i] = rows.y[i - 1];
    rows.o[i] = rows.o[i - 1];
    rows.z[i] = rows.z[i - 1];
  }
}

}  // namespace bsvm_test
