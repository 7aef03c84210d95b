#include "evidence_modes.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "gaussian/bfgs.hpp"
#include "special/functions.hpp"
#include "starts.hpp"

namespace bsvm {

namespace {

constexpr double kFreedom = 8;  // of the t laws: tails of a logarithm are exponential
constexpr int kMostLooks = 300;
constexpr double kGain = 1e-6;       // nats
constexpr double kGradientStep = 1e-4;       // of differences of gradients
constexpr double kFlat = 0.05;       // least curvature: the prior of a logarithm may be flatter
constexpr double kSame = 0.1;        // modes nearer than this, in standard deviations, are one
constexpr double kLeastShare = 0.01;  // of a mode
// Starts have the logarithms of the standard deviations of columns moved by these.
constexpr double kMoves[] = {0, -3, 3};

}  // namespace

EvidenceModes::EvidenceModes(const Evidence& evidence, Host& host) {
  const SharedResponses& shared = evidence.shared();
  const Index residual = shared.model.q() * (shared.model.q() + 1) / 2;
  std::vector<Evidence::Look> found;
  for (const double move : kMoves) {
    // the same starts for every seed of a run: what is found is a property of the model
    Draws random({0, 0, 0}, Purpose::hyper, 0);
    const auto parts = start_columns(shared.model, random);
    const Vec sigma = start_residual(shared.model, shared.rows, random);
    Vec theta = evidence.pack(parts, sigma);
    theta.head(theta.size() - residual).array() += move;
    Climb<Evidence::Look> climb;
    climb.look = [&](const Vec& at, const Evidence::Look&) {
      if (host.interrupted()) throw Interrupted();
      return evidence.look(at, true);
    };
    climb.uphill = [](const Evidence::Look& now) { return now.gradient; };
    climb.bounded = [](const Vec& at) { return at; };
    climb.numbers = theta.size();
    climb.gain = kGain;
    climb.most = kMostLooks;
    bool converged = false;
    try {
      found.push_back(bfgs(evidence.look(theta, true), climb, converged));
    } catch (const NumericalFailure&) {
      continue;
    }
  }
  if (found.empty()) throw NumericalFailure("No mode of the variances was found.");
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.value > b.value; });
  double top = kNothing;
  for (const Evidence::Look& look : found) {
    const bool known = std::any_of(modes_.begin(), modes_.end(), [&](const Mode& mode) {
      const Vec apart = mode.root.transpose() * (look.theta - mode.center);
      return apart.norm() < kSame * std::sqrt(static_cast<double>(apart.size()));
    });
    if (known) continue;
    modes_.push_back(mode_at(evidence, look));
    top = std::max(top, modes_.back().log_share);
  }
  double total = 0;
  for (Mode& mode : modes_) {
    mode.log_share = std::max(mode.log_share - top, std::log(kLeastShare));
    total += std::exp(mode.log_share);
  }
  for (Mode& mode : modes_) mode.log_share -= std::log(total);
}

EvidenceModes::Mode EvidenceModes::mode_at(const Evidence& evidence,
                                           const Evidence::Look& look) const {
  const Index h = look.theta.size();
  Mat curvature(h, h);
  for (Index k = 0; k < h; ++k) {
    Vec above = look.theta, below = look.theta;
    above[k] += kGradientStep;
    below[k] -= kGradientStep;
    curvature.col(k) =
        (evidence.look(below, true).gradient - evidence.look(above, true).gradient) / (2 * kGradientStep);
  }
  const SymmetricEigen eigen(0.5 * (curvature + curvature.transpose()));
  Mode out;
  out.center = look.theta;
  out.root = positive_factor(eigen.with(eigen.values.cwiseMax(kFlat))).lower();
  out.log_root = out.root.diagonal().array().log().sum();
  out.log_share = look.value - out.log_root;
  return out;
}

double EvidenceModes::log_density(const Vec& theta) const {
  const double h = static_cast<double>(theta.size()), whole = 0.5 * (kFreedom + h);
  const double constant = log_gamma(whole) - log_gamma(0.5 * kFreedom) -
                          0.5 * h * (kLog2Pi - std::log(2.0) + std::log(kFreedom));
  double out = kNothing;
  for (const Mode& mode : modes_) {
    const double square = (mode.root.transpose() * (theta - mode.center)).squaredNorm();
    const double own =
        mode.log_share + constant + mode.log_root - whole * std::log1p(square / kFreedom);
    out = std::max(out, own) + log1p_exp(-std::abs(out - own));
  }
  return out;
}

Vec EvidenceModes::draw(Draws& random) const {
  double left = random.uniform();
  size_t k = 0;
  for (; k + 1 < modes_.size(); ++k) {
    left -= std::exp(modes_[k].log_share);
    if (left < 0) break;
  }
  Vec z(modes_[k].center.size());
  for (Index i = 0; i < z.size(); ++i) z[i] = random.normal();
  z *= std::sqrt(0.5 * kFreedom / random.gamma(0.5 * kFreedom));
  solve_transposed(modes_[k].root, z);
  return modes_[k].center + z;
}

}  // namespace bsvm
