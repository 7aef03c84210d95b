#include "hinge_kernels.hpp"

#include <cmath>
#include <cstdint>

#define BSVM_INLINE inline __attribute__((always_inline))
#define BSVM_UNROLL _Pragma("GCC unroll 8")
#if defined(__x86_64__) && (defined(__clang__) || (defined(__GNUC__) && !defined(_WIN32)))
#define BSVM_AVX2 __attribute__((target("avx2,fma")))
#endif

namespace bsvm {

namespace {

// Vectors of GCC and Clang; every function is compiled for two kinds of processor.
template <int W>
struct Vector;
template <>
struct Vector<2> {
  typedef double type __attribute__((vector_size(16), aligned(8), may_alias));
  typedef std::int64_t bits __attribute__((vector_size(16)));
};
template <>
struct Vector<4> {
  typedef double type __attribute__((vector_size(32), aligned(8), may_alias));
  typedef std::int64_t bits __attribute__((vector_size(32)));
};

template <int W>
using V = typename Vector<W>::type;

// Vectors go by reference: by value they would need an agreement on registers.
template <int W>
BSVM_INLINE const V<W>& at(const double* x) {
  return *reinterpret_cast<const V<W>*>(x);
}
template <int W>
BSVM_INLINE V<W>& at(double* x) {
  return *reinterpret_cast<V<W>*>(x);
}

// exp(x), x <= 0: 2^n exp(t), |t| <= log(2) / 2, by Taylor's polynomial. N of them side by side:
// each step waits for the one before.
template <int W, int N>
BSVM_INLINE void exponentials_of(const V<W>* x, V<W>* out) {
  typedef typename Vector<W>::bits Bits;
  const V<W> least = V<W>{} - 700.0;
  constexpr double magic = 6755399441055744.0;  // 1.5 2^52: the sum's last bits are n
  V<W> shifted[N], t[N];
  BSVM_UNROLL for (int j = 0; j < N; ++j) {
    const V<W> from = x[j] > least ? x[j] : least;
    shifted[j] = from * 1.4426950408889634074 + magic;
    const V<W> n = shifted[j] - magic;
    t[j] = (from - n * 6.93147180369123816490e-1) - n * 1.90821492927058770002e-10;
    out[j] = V<W>{} + 1.0 / 479001600;
  }
  constexpr double inverse[] = {1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                                1.0 / 5040,     1.0 / 720,     1.0 / 120,    1.0 / 24,
                                1.0 / 6,        0.5,           1.0,          1.0};
  for (int k = 0; k < 12; ++k)
    BSVM_UNROLL for (int j = 0; j < N; ++j) out[j] = out[j] * t[j] + inverse[k];
  BSVM_UNROLL for (int j = 0; j < N; ++j) out[j] = (V<W>)((Bits)out[j] + ((Bits)shifted[j] << 52));
}

template <int W>
BSVM_INLINE void exponential(const V<W>& x, V<W>& out) {
  exponentials_of<W, 1>(&x, &out);
}

// log(1 + e), 0 <= e <= 1, by the series of atanh.
template <int W>
BSVM_INLINE void log_one_plus(const V<W>& e, V<W>& out) {
  const V<W> zero = V<W>{};
  const auto large = e > zero + 0.41421356237309504880;
  const V<W> s = (large ? e - 1.0 : e) / (large ? e + 3.0 : e + 2.0), q = s * s;
  out = zero + 1.0 / 19;
  constexpr double inverse[] = {1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9,
                                1.0 / 7,  1.0 / 5,  1.0 / 3,  1.0};
  for (int k = 0; k < 9; ++k) out = out * q + inverse[k];
  out = 2.0 * s * out + (large ? zero + 0.69314718055994530942 : zero);
}

// p(-y | f), the slope of h, and what log p is the sum of: -short_of - log(1 + small).
template <int W>
struct At {
  V<W> other, bend, short_of, small;

  BSVM_INLINE At(const LineRow& row, const V<W>& x) {
    const V<W> zero = V<W>{}, one = zero + 1.0;
    const V<W> margin = row.y * (row.o + row.z * x);
    const V<W> size = margin > zero ? margin : -margin;
    const V<W> h = 2.0 * (size + (size < one ? size : one));
    exponential<W>(-h, small);
    other = (margin > zero ? small : one) / (one + small);
    bend = size < one ? zero + 4.0 : zero + 2.0;
    short_of = margin > zero ? zero : h;
  }
};

template <int W>
BSVM_INLINE void add_logarithm(const V<W>& x, V<W>& to) {
  for (int k = 0; k < W; ++k) to[k] += std::log(x[k]);
}

struct Outputs {
  double *log_p, *product, *slope, *first, *second;
};

// W points, rows in turn. The product of 1 + small over rows needs one logarithm; it is at most
// 2^512.
//   linear   sum of w short_of
//   logs     sum of w log(1 + small); of unweighted rows by their products' logarithms
//   product  of 1 + small, of unweighted rows since the last logarithm
//   size     w |dlog p/df|;  first: sum of dlog p/dx;  second: sum of -d2log p/dx2
template <int W, bool Weighted, bool Slopes, bool Bends>
BSVM_INLINE void terms_at(const LineRow* rows, Index r, const double* x, Index points, Index p,
                          const Outputs& out) {
  const V<W> here = at<W>(x + p);
  V<W> linear = {}, logs = {}, first = {}, second = {}, product = V<W>{} + 1.0;
  for (Index i = 0; i < r; ++i) {
    const LineRow& row = rows[i];
    const At<W> now(row, here);
    linear += Weighted ? row.w * now.short_of : now.short_of;
    if (Weighted) {
      V<W> own;
      log_one_plus<W>(now.small, own);
      logs += row.w * own;
    } else {
      product *= 1.0 + now.small;
    }
    if (!Weighted && i % kMostProduct == kMostProduct - 1) {
      add_logarithm<W>(product, logs);
      product = V<W>{} + 1.0;
    }
    if (!Slopes && !Bends) continue;
    const V<W> size = row.w * now.bend * now.other;
    if (Slopes) at<W>(out.slope + i * points + p) = row.y * size;
    if (!Bends) continue;
    first += row.y * row.z * size;
    second += row.z * row.z * size * now.bend * (1.0 - now.other);
  }
  if (!Weighted && out.product) at<W>(out.product + p) *= product;
  else if (!Weighted) add_logarithm<W>(product, logs);
  at<W>(out.log_p + p) -= linear + logs;
  if (!Bends) return;
  at<W>(out.first + p) += first;
  at<W>(out.second + p) += second;
}

template <int W, bool Weighted>
BSVM_INLINE void terms_weighted(const LineRow* rows, Index r, const double* x, Index points,
                                const Outputs& out) {
  for (Index p = 0; p < points; p += W) {
    if (out.slope && out.first) terms_at<W, Weighted, true, true>(rows, r, x, points, p, out);
    else if (out.slope) terms_at<W, Weighted, true, false>(rows, r, x, points, p, out);
    else if (out.first) terms_at<W, Weighted, false, true>(rows, r, x, points, p, out);
    else terms_at<W, Weighted, false, false>(rows, r, x, points, p, out);
  }
}

template <int W>
BSVM_INLINE void terms(const LineRow* rows, Index r, bool weighted, const double* x,
                       Index points, const Outputs& out) {
  if (weighted) terms_weighted<W, true>(rows, r, x, points, out);
  else terms_weighted<W, false>(rows, r, x, points, out);
}

template <int W>
BSVM_INLINE void exponentials(double* x, Index points) {
  for (Index p = 0; p < points; p += W) {
    V<W> out;
    exponential<W>(at<W>(x + p), out);
    at<W>(x + p) = out;
  }
}

template <int W>
BSVM_INLINE double total(const V<W>& x) {
  double sum = 0;
  for (int k = 0; k < W; ++k) sum += x[k];
  return sum;
}

// d(slope)/df = -w bend^2 other (1 - other), and |slope| = w bend other.
template <int W>
BSVM_INLINE void moments(const LineRow* rows, Index r, const double* x, Index points,
                         const double* slope, const double* mass, const double* moment,
                         double* first, double* mixed, double* second) {
  const V<W> zero = V<W>{}, one = zero + 1.0;
  for (Index i = 0; i < r; ++i, slope += points) {
    const LineRow& row = rows[i];
    V<W> a = zero, b = zero, c = zero;
    for (Index p = 0; p < points; p += W) {
      const V<W> own = at<W>(slope + p), f = row.o + row.z * at<W>(x + p);
      const V<W> bend = (f > zero ? f : -f) < one ? zero + 4.0 : zero + 2.0;
      const V<W> weighted = at<W>(mass + p) * own;
      a += weighted;
      b += at<W>(moment + p) * own;
      c -= weighted * (row.y * bend - own / row.w);
    }
    first[i] += total<W>(a);
    mixed[i] += total<W>(b);
    second[i] += total<W>(c);
  }
}

// N W rows whose margins are `here`, as At has them, without slopes.
template <int W, int N, bool Weighted>
BSVM_INLINE void add_rows(const V<W>* here, const V<W>* weight, V<W>& linear, V<W>& logs,
                          V<W>& product) {
  const V<W> zero = V<W>{}, one = zero + 1.0;
  V<W> minus[N], small[N], own;
  BSVM_UNROLL for (int j = 0; j < N; ++j) {
    const V<W> size = here[j] > zero ? here[j] : -here[j];
    minus[j] = -2.0 * (size + (size < one ? size : one));
  }
  exponentials_of<W, N>(minus, small);
  BSVM_UNROLL for (int j = 0; j < N; ++j) {
    const V<W> short_of = here[j] > zero ? zero : minus[j];
    linear += Weighted ? weight[j] * short_of : short_of;
    if (!Weighted) continue;
    log_one_plus<W>(small[j], own);
    logs += weight[j] * own;
  }
  if (Weighted) return;
  V<W> part = one + small[0];
  BSVM_UNROLL for (int j = 1; j < N; ++j) part *= one + small[j];
  product *= part;
}

// log of the product of all entries, each in [1, 2^kMostProduct].
template <int W>
BSVM_INLINE double log_product(const V<W>& x) {
  double sum = 0, whole = 1;
  for (int k = 0; k < W; ++k) {
    whole *= x[k];
    if (whole < 0x1p500) continue;
    sum += std::log(whole);
    whole = 1;
  }
  return sum + std::log(whole);
}

// The margins y f and weights of N W rows from row `i` on.
template <int W, int N, bool Weighted>
BSVM_INLINE void take_rows(const LineRows& rows, Index i, double s, double t, V<W>* here, V<W>* w) {
  BSVM_UNROLL for (int j = 0; j < N; ++j) {
    const Index from = i + j * W;
    here[j] = at<W>(rows.f + from) + t * at<W>(rows.b + from);
    if (rows.a) here[j] += s * at<W>(rows.a + from);
    here[j] *= at<W>(rows.y + from);
    if (Weighted) w[j] = at<W>(rows.weight + from);
  }
}

template <int W, bool Weighted>
BSVM_INLINE double log_p_either(const LineRows& rows, double s, double t) {
  constexpr int many = 4, few = 2;
  const Index r = rows.r;
  V<W> linear = {}, logs = {}, product = V<W>{} + 1.0, here[many], w[many] = {};
  double sum = 0;
  Index i = 0;
  for (Index rounds = 1; i + many * W <= r; i += many * W, ++rounds) {
    take_rows<W, many, Weighted>(rows, i, s, t, here, w);
    add_rows<W, many, Weighted>(here, w, linear, logs, product);
    if (Weighted || rounds % (kMostProduct / 2 / many) != 0) continue;
    sum += log_product<W>(product);
    product = V<W>{} + 1.0;
  }
  for (; i + few * W <= r; i += few * W) {
    take_rows<W, few, Weighted>(rows, i, s, t, here, w);
    add_rows<W, few, Weighted>(here, w, linear, logs, product);
  }
  if (i < r) {
    for (int k = 0; k < few * W; ++k) {  // rows that are not there have p = 1
      const Index row = i + k;
      here[k / W][k % W] =
          row < r ? rows.y[row] * (rows.f[row] + t * rows.b[row] + (rows.a ? s * rows.a[row] : 0.0))
                  : 1e300;
      if (Weighted) w[k / W][k % W] = row < r ? rows.weight[row] : 0.0;
    }
    add_rows<W, few, Weighted>(here, w, linear, logs, product);
  }
  if (Weighted) return total<W>(linear) - total<W>(logs);
  return total<W>(linear) - sum - log_product<W>(product);
}

template <int W>
BSVM_INLINE double log_p(const LineRows& rows, double s, double t) {
  return rows.weight ? log_p_either<W, true>(rows, s, t) : log_p_either<W, false>(rows, s, t);
}

void terms_portable(const LineRow* rows, Index r, bool weighted, const double* x, Index points,
                    double* log_p, double* product, double* slope, double* first,
                    double* second) {
  terms<2>(rows, r, weighted, x, points, {log_p, product, slope, first, second});
}
void exponentials_portable(double* x, Index points) { exponentials<2>(x, points); }
void moments_portable(const LineRow* rows, Index r, const double* x, Index points,
                      const double* slope, const double* mass, const double* moment,
                      double* first, double* mixed, double* second) {
  moments<2>(rows, r, x, points, slope, mass, moment, first, mixed, second);
}

double log_p_portable(const LineRows& rows, double s, double t) { return log_p<2>(rows, s, t); }

#ifdef BSVM_AVX2
BSVM_AVX2 double log_p_avx2(const LineRows& rows, double s, double t) {
  return log_p<4>(rows, s, t);
}
BSVM_AVX2 void terms_avx2(const LineRow* rows, Index r, bool weighted, const double* x,
                          Index points, double* log_p, double* product, double* slope,
                          double* first, double* second) {
  terms<4>(rows, r, weighted, x, points, {log_p, product, slope, first, second});
}
BSVM_AVX2 void exponentials_avx2(double* x, Index points) { exponentials<4>(x, points); }
BSVM_AVX2 void moments_avx2(const LineRow* rows, Index r, const double* x, Index points,
                            const double* slope, const double* mass, const double* moment,
                            double* first, double* mixed, double* second) {
  moments<4>(rows, r, x, points, slope, mass, moment, first, mixed, second);
}
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

}  // namespace

const HingeKernels& portable_hinge_kernels() {
  static const HingeKernels portable{terms_portable, exponentials_portable,
                                     log_p_portable, moments_portable};
  return portable;
}

const HingeKernels& hinge_kernels() {
#ifdef BSVM_AVX2
  static const HingeKernels avx2{terms_avx2, exponentials_avx2, log_p_avx2, moments_avx2};
  static const bool supported = has_avx2();
  if (supported) return avx2;
#endif
  return portable_hinge_kernels();
}

}  // namespace bsvm
