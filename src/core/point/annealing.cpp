#include "annealing.hpp"

#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "random/power_mixture.hpp"

namespace bsvm {

namespace {

constexpr double kColdest = 1e-4;
constexpr double kLeast = 1e-100, kMost = 1e100;  // precisions and weights

Vec normals(Index count, Draws& random) {
  Vec out(count);
  for (Index i = 0; i < count; ++i) out[i] = random.normal();
  return out;
}

}  // namespace

HeatedChain::HeatedChain(const Design& design, ConstVecRef start, std::uint64_t seed, int chain)
    : design_(design), equations_(design), key_{seed, static_cast<std::uint32_t>(chain), 0},
      b_(start), image_(design.times(start)) {}

Vec HeatedChain::row_weights(double temperature, Draws& random) const {
  const Vec size = (design_.kink - image_).cwiseAbs();
  Vec out(size.size());
  for (Index i = 0; i < out.size(); ++i) {
    const double rate = design_.cost[i] / (2 * temperature), normal = random.normal();
    out[i] = temperature * rate * rate *
             inverse_gaussian(rate * size[i], normal, random.uniform());
  }
  return out.cwiseMax(kLeast).cwiseMin(kMost);
}

Vec HeatedChain::precisions(const Penalties& penalties, double temperature,
                            Draws& random) const {
  Vec out(b_.size());
  for (Index j = 0; j < out.size(); ++j) {
    const double alpha = penalties.power[j],
                 log_scale = std::log(penalties.scale[j]) + std::log(temperature) / alpha,
                 log_tau = draw_log_mixing(alpha, std::log(std::abs(b_[j])) - log_scale, random);
    out[j] = temperature * std::exp(log_tau - 2 * log_scale);
  }
  return out.cwiseMax(kLeast).cwiseMin(kMost);
}

// Noise A'W^{1/2} z + D^{1/2} z' has the covariance M, whatever solves the system.
bool HeatedChain::sweep(const Penalties& penalties, double temperature, Host& host) {
  if (host.interrupted()) throw Interrupted();
  ++key_.sweep;
  Draws rows(key_, Purpose::rows, 0), dense(key_, Purpose::dense, 0);
  const Vec weight = row_weights(temperature, rows),
            precision = precisions(penalties, temperature, dense);
  if (!equations_.set(weight, precision, host)) return false;
  const double size = std::sqrt(temperature);
  const Vec in_rows = design_.cost / 2 + weight.cwiseProduct(design_.kink) +
                      size * weight.cwiseSqrt().cwiseProduct(normals(weight.size(), rows));
  const Vec right = design_.transposed(in_rows) +
                    size * precision.cwiseSqrt().cwiseProduct(normals(b_.size(), dense));
  const NormalEquations::Solution drawn = equations_.solve(right, host);
  if (!drawn.x.allFinite()) return false;
  b_ = drawn.x;
  image_ = drawn.image;
  return true;
}

Vec anneal(const PointModel& model, HeatedChain chain, int sweeps, PointModel::Hyper& hyper,
           Host& host) {
  Vec best = chain.b();
  double lowest = std::numeric_limits<double>::infinity();
  PointModel::Hyper now = hyper;
  for (int k = 0; k < sweeps; ++k) {
    const double share = sweeps > 1 ? static_cast<double>(k) / (sweeps - 1) : 1;
    if (!chain.sweep(model.penalties(now), std::pow(kColdest, share), host)) break;
    now = model.best(now, chain.b());
    const double objective = model.objective(now, chain.b());
    if (!(objective < lowest)) continue;
    lowest = objective;
    best = chain.b();
    hyper = now;
  }
  return best;
}

}  // namespace bsvm
