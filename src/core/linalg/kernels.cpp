#include "kernels.hpp"

#include <algorithm>

// One tile of both sums: A panels (4 A rows) by 4 columns, kept in registers.
// Written in the vector extension that GCC and Clang share, once for every
// width W; the wrappers at the end compile it for two kinds of processor.
#define BSVM_INLINE inline __attribute__((always_inline))
#define BSVM_UNROLL _Pragma("GCC unroll 8")
// (GCC for Windows does not align what it spills of 32-byte vectors.)
#if defined(__x86_64__) && (defined(__clang__) || (defined(__GNUC__) && !defined(_WIN32)))
#define BSVM_AVX2 __attribute__((target("avx2,fma")))
#endif

namespace bsvm {

void pack(const double* c, Index p, Index r, const double* factor, double* out) {
  pack_block(c, p, p, r, factor, out);
}

void pack_block(const double* c, Index stride, Index p, Index r, const double* factor,
                double* out) {
  const Index whole = p / 4, rest = p % 4;
  for (Index i = 0; i < r; ++i) {
    const double* from = c + i * stride;
    const double scale = factor ? factor[i] : 1.0;
    double* to = out + 4 * i;
    for (Index a = 0; a < whole; ++a, from += 4, to += 4 * r)
      BSVM_UNROLL for (int k = 0; k < 4; ++k) to[k] = scale * from[k];
    if (rest == 0) continue;
    for (int k = 0; k < 4; ++k) to[k] = k < rest ? scale * from[k] : 0.0;
  }
}

void pack_transposed(const double* c, Index stride, Index p, Index r, double* out) {
  for (Index j = 0; j < p; j += 4, out += 4 * r)
    for (Index k = 0; k < 4; ++k) {
      const double* from = j + k < p ? c + (j + k) * stride : nullptr;
      for (Index i = 0; i < r; ++i) out[4 * i + k] = from ? from[i] : 0.0;
    }
}

namespace {

template <int W>
struct Vector;
template <>
struct Vector<2> {
  typedef double type __attribute__((vector_size(16), aligned(8), may_alias));
  typedef double local __attribute__((vector_size(16)));  // what a template takes it for
};
template <>
struct Vector<4> {
  typedef double type __attribute__((vector_size(32), aligned(8), may_alias));
  typedef double local __attribute__((vector_size(32)));
};

// tile (4, 4 A) <- sum_k outer(x_k, y_k), row j of the tile for entry j of y.
// x: A panels `stride` apart, each advancing by 4; y_k: four numbers `gap` apart,
// advancing by `step`.
template <int W, int A>
BSVM_INLINE void multiply(const double* x, Index stride, const double* y, Index gap,
                          Index step, Index count, double* tile) {
  typedef typename Vector<W>::type V;
  constexpr int parts = 4 / W;
  V sum[4][A][parts] = {};
  for (Index k = 0; k < count; ++k, x += 4, y += step) {
    V left[A][parts];
    BSVM_UNROLL for (int a = 0; a < A; ++a)
      BSVM_UNROLL for (int h = 0; h < parts; ++h)
        left[a][h] = *reinterpret_cast<const V*>(x + a * stride + h * W);
    BSVM_UNROLL for (int j = 0; j < 4; ++j)
      BSVM_UNROLL for (int a = 0; a < A; ++a)
        BSVM_UNROLL for (int h = 0; h < parts; ++h) sum[j][a][h] += left[a][h] * y[j * gap];
  }
  BSVM_UNROLL for (int j = 0; j < 4; ++j)
    BSVM_UNROLL for (int a = 0; a < A; ++a)
      BSVM_UNROLL for (int h = 0; h < parts; ++h)
        *reinterpret_cast<V*>(tile + j * 4 * A + a * 4 + h * W) = sum[j][a][h];
}

constexpr Index kStretch = 256;  // columns that are taken together: they stay near the processor

// Four numbers `gap` apart, advancing by `step`.
struct Quad {
  const double* first;
  Index gap, step;
};

// Panel b of y from column k on; one that is not whole is copied to `room` if it is not
// packed, so that nothing beyond the matrix is read.
BSVM_INLINE Quad quad_of(const PanelProduct& of, Index b, Index k, Index last, double* room) {
  const Index gap = of.packed_y ? 1 : of.y_stride, step = of.packed_y ? 4 : 1;
  const double* from = of.y + 4 * b * of.y_stride + k * step;
  const Index whole = std::min<Index>(4, of.n - 4 * b);
  if (of.packed_y || whole == 4) return {from, gap, step};
  for (Index i = k; i < last; ++i, ++from)
    for (Index j = 0; j < 4; ++j) room[4 * (i - k) + j] = j < whole ? from[j * gap] : 0.0;
  return {room, 1, 4};
}

// Panels of y and columns of both, which are taken together.
struct Stretch {
  Index first_panel, last_panel, first, last;
};

// Panels a .. a + A - 1 of x against those of y.
template <int W, int A>
BSVM_INLINE void product_rows(const PanelProduct& of, Index a, const Stretch& now) {
  double tile[16 * A], room[4 * kStretch];
  const Index end = of.lower ? std::min(now.last_panel, a + A) : now.last_panel;
  const Index rows = std::min<Index>(4 * A, of.m - 4 * a);
  for (Index b = now.first_panel; b < end; ++b) {
    const Index first = of.y_from_row ? std::max(now.first, 4 * b) : now.first;
    if (first >= now.last) break;
    const Quad y = quad_of(of, b, first, now.last, room);
    multiply<W, A>(of.x + 4 * (a * of.depth + first), 4 * of.depth, y.first, y.gap, y.step,
                   now.last - first, tile);
    const Index columns = std::min<Index>(4, of.n - 4 * b);
    for (Index j = 0; j < columns; ++j) {
      double* c = of.c + (4 * b + j) * of.stride + 4 * a;
      for (Index i = 0; i < rows; ++i) c[i] += of.sign * tile[j * 4 * A + i];
    }
  }
}

template <int W, int A>
BSVM_INLINE void product(const PanelProduct& of) {
  constexpr Index width = 32;
  const Index panels = (of.m + 3) / 4, y_panels = (of.n + 3) / 4;
  for (Index first = 0; first < of.depth; first += kStretch)
    for (Index b = 0; b < y_panels; b += width) {
      const Stretch now{b, std::min(y_panels, b + width), first,
                        std::min(of.depth, first + kStretch)};
      Index a = of.lower ? b : 0;  // width is a multiple of A
      for (; a + A <= panels; a += A) product_rows<W, A>(of, a, now);
      for (; a < panels; ++a) product_rows<W, 1>(of, a, now);
    }
}

// Rows 4a .. of M times four columns of c: squares to out[4].
template <int W, int A>
BSVM_INLINE void squares(const double* m, const double* c, Index a, Index p, double* out) {
  double tile[16 * A];
  const Index count = std::min<Index>(p, 4 * (a + A));  // M is lower triangular
  multiply<W, A>(m + a * 4 * p, 4 * p, c, p, 1, count, tile);
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 4 * A; ++i) out[j] += tile[j * 4 * A + i] * tile[j * 4 * A + i];
}

template <int W, int A>
BSVM_INLINE void variances(const double* m, const double* c, Index p, Index r, double* v) {
  const Index panels = (p + 3) / 4;
  for (Index i = 0; i < r; i += 4) {
    double out[4] = {0, 0, 0, 0};
    Index a = 0;
    for (; a + A <= panels; a += A) squares<W, A>(m, c + i * p, a, p, out);
    for (; a < panels; ++a) squares<W, 1>(m, c + i * p, a, p, out);
    for (Index j = 0; j < std::min<Index>(4, r - i); ++j) v[i + j] += out[j];
  }
}

// Eight sums side by side: a single one would wait for every addition.
template <int W, bool Weighted, bool Plane>
BSVM_INLINE double positive_parts(const LineRows& rows, double s, double t) {
  typedef typename Vector<W>::type V;
  constexpr int parts = 8 / W;
  V sum[parts] = {};
  const V zero = {};
  Index i = 0;
  for (; i + 8 <= rows.r; i += 8)
    BSVM_UNROLL for (int h = 0; h < parts; ++h) {
      const Index at = i + h * W;
      const V y = *reinterpret_cast<const V*>(rows.y + at);
      V u = 1 - y * *reinterpret_cast<const V*>(rows.f + at) -
            t * y * *reinterpret_cast<const V*>(rows.b + at);
      if (Plane) u -= s * y * *reinterpret_cast<const V*>(rows.a + at);
      const V positive = u > zero ? u : zero;
      sum[h] += Weighted ? positive * *reinterpret_cast<const V*>(rows.weight + at) : positive;
    }
  for (int k = 0; i < rows.r; ++i, ++k) {
    const double y = rows.y[i];
    sum[k / W][k % W] += (Weighted ? rows.weight[i] : 1.0) *
                         std::max(1 - y * rows.f[i] - t * y * rows.b[i] -
                                      (Plane ? s * y * rows.a[i] : 0.0), 0.0);
  }
  double total = 0;
  for (int h = 0; h < parts; ++h)
    for (int k = 0; k < W; ++k) total += sum[h][k];
  return total;
}

template <int W>
BSVM_INLINE double positive_parts_any(const LineRows& rows, double s, double t) {
  if (rows.a) return rows.weight ? positive_parts<W, true, true>(rows, s, t)
                                 : positive_parts<W, false, true>(rows, s, t);
  return rows.weight ? positive_parts<W, true, false>(rows, s, t)
                     : positive_parts<W, false, false>(rows, s, t);
}

// Functions of a residual, for one and for a vector of them. What is no number stays none.
struct PairTerm {
  const HingePair& of;
  template <class V>
  BSVM_INLINE void operator()(const V& r, V& out) const {
    const V zero = {}, above = of.a * (r - of.e1), below = -of.b * (r + of.e2);
    const V loss = above > below ? above : below;
    out = of.log_c - (loss < zero ? zero : loss);
  }
};

struct SquareTerm {
  template <class V>
  BSVM_INLINE void operator()(const V& r, V& out) const {
    out = r * r;
  }
};

template <int W, bool Weighted, bool Plane, class Term>
BSVM_INLINE double residual_terms(const LineRows& rows, double s, double t, const Term& term) {
  typedef typename Vector<W>::type V;
  constexpr int parts = 8 / W;
  V sum[parts] = {};
  Index i = 0;
  for (; i + 8 <= rows.r; i += 8)
    BSVM_UNROLL for (int h = 0; h < parts; ++h) {
      const Index at = i + h * W;
      typename Vector<W>::local r = *reinterpret_cast<const V*>(rows.y + at) -
                                    *reinterpret_cast<const V*>(rows.f + at) -
                                    t * *reinterpret_cast<const V*>(rows.b + at), out;
      if (Plane) r -= s * *reinterpret_cast<const V*>(rows.a + at);
      term(r, out);
      sum[h] += Weighted ? out * *reinterpret_cast<const V*>(rows.weight + at) : out;
    }
  for (int k = 0; i < rows.r; ++i, ++k) {
    double out;
    term(rows.y[i] - rows.f[i] - t * rows.b[i] - (Plane ? s * rows.a[i] : 0.0), out);
    sum[k / W][k % W] += (Weighted ? rows.weight[i] : 1.0) * out;
  }
  double total = 0;
  for (int h = 0; h < parts; ++h)
    for (int k = 0; k < W; ++k) total += sum[h][k];
  return total;
}

template <int W, class Term>
BSVM_INLINE double residual_terms_any(const LineRows& rows, double s, double t, const Term& term) {
  if (rows.a) return rows.weight ? residual_terms<W, true, true>(rows, s, t, term)
                                 : residual_terms<W, false, true>(rows, s, t, term);
  return rows.weight ? residual_terms<W, true, false>(rows, s, t, term)
                     : residual_terms<W, false, false>(rows, s, t, term);
}

template <int W>
BSVM_INLINE double dot(const double* x, const double* y, Index p) {
  typedef typename Vector<W>::type V;
  constexpr int parts = 8 / W;
  V sum[parts] = {};
  Index k = 0;
  for (; k + 8 <= p; k += 8)
    BSVM_UNROLL for (int h = 0; h < parts; ++h)
      sum[h] += *reinterpret_cast<const V*>(x + k + h * W) *
                *reinterpret_cast<const V*>(y + k + h * W);
  double total = 0;
  for (int h = 0; h < parts; ++h)
    for (int i = 0; i < W; ++i) total += sum[h][i];
  for (; k < p; ++k) total += x[k] * y[k];
  return total;
}

template <int W>
BSVM_INLINE void dots(const double* c, const double* b, Index p, Index r, double* out) {
  for (Index i = 0; i < r; ++i) out[i] += dot<W>(c + i * p, b, p);
}

// Four vectors of rows at a time stay in registers while the columns pass.
template <int W>
BSVM_INLINE void combine(const double* x, Index stride, const double* a, const double* b, Index n,
                         Index k, double* xa, double* xb) {
  typedef typename Vector<W>::type V;
  constexpr int tall = 4;
  Index i = 0;
  for (; i + tall * W <= n; i += tall * W) {
    V ya[tall] = {}, yb[tall] = {};
    for (Index j = 0; j < k; ++j)
      BSVM_UNROLL for (int h = 0; h < tall; ++h) {
        const V now = *reinterpret_cast<const V*>(x + j * stride + i + h * W);
        ya[h] += a[j] * now;
        yb[h] += b[j] * now;
      }
    BSVM_UNROLL for (int h = 0; h < tall; ++h) {
      *reinterpret_cast<V*>(xa + i + h * W) = ya[h];
      *reinterpret_cast<V*>(xb + i + h * W) = yb[h];
    }
  }
  for (; i < n; ++i) {
    xa[i] = xb[i] = 0;
    for (Index j = 0; j < k; ++j) {
      xa[i] += a[j] * x[j * stride + i];
      xb[i] += b[j] * x[j * stride + i];
    }
  }
}

void product_portable(const PanelProduct& of) { product<2, 1>(of); }
void variances_portable(const double* m, const double* c, Index p, Index r, double* v) {
  variances<2, 1>(m, c, p, r, v);
}
double positive_parts_portable(const LineRows& rows, double s, double t) {
  return positive_parts_any<2>(rows, s, t);
}
double hinge_pairs_portable(const LineRows& rows, double s, double t, const HingePair& of) {
  return residual_terms_any<2>(rows, s, t, PairTerm{of});
}
double residual_squares_portable(const LineRows& rows, double s, double t) {
  return residual_terms_any<2>(rows, s, t, SquareTerm());
}
void dots_portable(const double* c, const double* b, Index p, Index r, double* out) {
  dots<2>(c, b, p, r, out);
}
void combine_portable(const double* x, Index stride, const double* a, const double* b, Index n,
                      Index k, double* xa, double* xb) {
  combine<2>(x, stride, a, b, n, k, xa, xb);
}

#ifdef BSVM_AVX2
BSVM_AVX2 double positive_parts_avx2(const LineRows& rows, double s, double t) {
  return positive_parts_any<4>(rows, s, t);
}
BSVM_AVX2 double hinge_pairs_avx2(const LineRows& rows, double s, double t, const HingePair& of) {
  return residual_terms_any<4>(rows, s, t, PairTerm{of});
}
BSVM_AVX2 double residual_squares_avx2(const LineRows& rows, double s, double t) {
  return residual_terms_any<4>(rows, s, t, SquareTerm());
}
BSVM_AVX2 void dots_avx2(const double* c, const double* b, Index p, Index r, double* out) {
  dots<4>(c, b, p, r, out);
}
BSVM_AVX2 void combine_avx2(const double* x, Index stride, const double* a, const double* b,
                            Index n, Index k, double* xa, double* xb) {
  combine<4>(x, stride, a, b, n, k, xa, xb);
}
BSVM_AVX2 void product_avx2(const PanelProduct& of) { product<4, 2>(of); }
BSVM_AVX2 void variances_avx2(const double* m, const double* c, Index p, Index r, double* v) {
  variances<4, 2>(m, c, p, r, v);
}
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

}  // namespace

const Kernels& portable_kernels() {
  static const Kernels portable{product_portable, variances_portable,
                                positive_parts_portable, hinge_pairs_portable,
                                residual_squares_portable, dots_portable, combine_portable};
  return portable;
}

const Kernels& kernels() {
#ifdef BSVM_AVX2
  static const Kernels avx2{product_avx2, variances_avx2, positive_parts_avx2, hinge_pairs_avx2,
                            residual_squares_avx2, dots_avx2, combine_avx2};
  static const bool supported = has_avx2();
  if (supported) return avx2;
#endif
  return portable_kernels();
}

}  // namespace bsvm
