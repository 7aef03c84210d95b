#include "draws.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "normal.hpp"

namespace bsvm {
namespace {

constexpr std::uint32_t kMultiply[] = {0xD2511F53u, 0xCD9E8D57u};
constexpr std::uint32_t kWeyl[] = {0x9E3779B9u, 0xBB67AE85u};
constexpr int kRounds = 10;

// The counter of a stream's first block; blocks are counted in the upper 24 bits of word 1.
Words first_counter(const DrawKey& key, Purpose purpose, std::uint64_t index) {
  return {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
          static_cast<std::uint32_t>(key.sweep),
          static_cast<std::uint32_t>(key.sweep >> 32) << 20 |
              static_cast<std::uint32_t>(purpose) << 16 | (key.chain & 0xFFFFu)};
}

std::uint64_t join(std::uint32_t low, std::uint32_t high) {
  return static_cast<std::uint64_t>(high) << 32 | low;
}

// The upper 52 bits as the middle of one of 2^52 intervals of (0, 1).
inline double to_unit(std::uint64_t bits) {
  bits = bits >> 12 | 0x3FF0000000000000u;
  double x;  // in [1, 2)
  std::memcpy(&x, &bits, sizeof x);
  return (x - 1) + 0x1p-53;
}

// Philox of W counters that differ in words 0 and 1, word by word, in loops without branches.
constexpr int W = 8;
struct Lanes {
  std::uint32_t word[4][W];
};

void philox(Lanes& c, std::uint64_t key) {
  std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < kRounds; ++round, k0 += kWeyl[0], k1 += kWeyl[1])
    for (int i = 0; i < W; ++i) {
      const std::uint64_t a = static_cast<std::uint64_t>(kMultiply[0]) * c.word[0][i];
      const std::uint64_t b = static_cast<std::uint64_t>(kMultiply[1]) * c.word[2][i];
      c.word[0][i] = static_cast<std::uint32_t>(b >> 32) ^ c.word[1][i] ^ k0;
      c.word[2][i] = static_cast<std::uint32_t>(a >> 32) ^ c.word[3][i] ^ k1;
      c.word[1][i] = static_cast<std::uint32_t>(b);
      c.word[3][i] = static_cast<std::uint32_t>(a);
    }
}

void draw_lanes(const Words& first, std::uint64_t key, std::uint64_t row, double* one,
                double* other) {
  Lanes c;
  for (int i = 0; i < W; ++i) {
    const std::uint64_t index = row + static_cast<std::uint64_t>(i);
    c.word[0][i] = static_cast<std::uint32_t>(index);
    c.word[1][i] = first[1] + static_cast<std::uint32_t>(index >> 32);
    for (int k = 2; k < 4; ++k) c.word[k][i] = first[k];
  }
  philox(c, key);
  for (int i = 0; i < W; ++i) {
    one[i] = to_unit(join(c.word[0][i], c.word[1][i]));
    other[i] = to_unit(join(c.word[2][i], c.word[3][i]));
  }
}

// Normals from uniforms p (N). Those in the tails are listed first: a branch for each
// would be mispredicted every seventh time.
template <int N>
void to_normals(const double* p, double* out) {
  int tail[N + 1], tails = 0;
  for (int i = 0; i < N; ++i) {
    tail[tails] = i;
    tails += !is_central(p[i]);
  }
  for (int i = 0; i < N; ++i) out[i] = central_quantile(p[i] - 0.5);
  for (int k = 0; k < tails; ++k) out[tail[k]] = tail_quantile(p[tail[k]]);
}

template <int N>
void draw_batch(const DrawKey& key, Index row, std::uint32_t before, double* normal,
                double* uniform) {
  Words first = first_counter(key, Purpose::rows, 0);
  first[1] += before << 8;
  double p[N];
  for (int i = 0; i < N; i += W)
    draw_lanes(first, key.seed, static_cast<std::uint64_t>(row + i), p + i, uniform + i);
  to_normals<N>(p, normal);
}

}  // namespace

Words philox(Words c, std::uint64_t key) {
  std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < kRounds; ++round, k0 += kWeyl[0], k1 += kWeyl[1]) {
    const std::uint64_t a = static_cast<std::uint64_t>(kMultiply[0]) * c[0];
    const std::uint64_t b = static_cast<std::uint64_t>(kMultiply[1]) * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(a)};
  }
  return c;
}

Draws::Draws(const DrawKey& key, Purpose purpose, std::uint64_t index)
    : counter_(first_counter(key, purpose, index)), seed_(key.seed) {}

double Draws::uniform() {
  has_spare_ = !has_spare_;
  if (!has_spare_) return to_unit(spare_);
  const Words block = philox(counter_, seed_);
  counter_[1] += 1u << 8;
  spare_ = join(block[2], block[3]);
  return to_unit(join(block[0], block[1]));
}

double Draws::normal() { return normal_quantile(uniform()); }

// Marsaglia & Tsang (2000); a shape below one from shape + 1, in logarithms. Without a positive
// shape there is no such distribution and nothing would be accepted.
double Draws::log_gamma_draw(double shape) {
  if (!(shape > 0 && shape < 1e300)) return std::log(shape);
  if (shape < 1) {
    const double more = log_gamma_draw(shape + 1);
    return more + std::log(uniform()) / shape;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double log_v = 3 * std::log(root);
    if (std::log(uniform()) < 0.5 * x * x + d * (1 - root * root * root + log_v))
      return std::log(d) + log_v;
  }
}

double Draws::gamma(double shape) { return std::max(std::exp(log_gamma_draw(shape)), 1e-300); }

double Draws::inverse_gamma(double shape, double scale) {
  const double draw = std::exp(std::log(scale) - log_gamma_draw(shape));
  return std::min(std::max(draw, 1e-300), 1e300);
}

void row_draws(const DrawKey& key, Index first, Index r, double* normal, double* uniform,
               std::uint32_t before) {
  constexpr int N = 8 * W;
  Index i = 0;
  for (; i + N <= r; i += N) draw_batch<N>(key, first + i, before, normal + i, uniform + i);
  for (; i + W <= r; i += W) draw_batch<W>(key, first + i, before, normal + i, uniform + i);
  if (i == r) return;
  double x[W], u[W];
  draw_batch<W>(key, first + i, before, x, u);
  std::copy(x, x + (r - i), normal + i);
  std::copy(u, u + (r - i), uniform + i);
}

}  // namespace bsvm
