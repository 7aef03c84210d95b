#include "evidence_modes.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "gaussian/bfgs.hpp"
#include "special/functions.hpp"
#include "starts.hpp"

namespace bsvm {

namespace {

constexpr double kFreedom = 6;  // of the t laws
constexpr double kLook = 2;     // how far out the density is looked at, in standard deviations
constexpr double kLeastScale = 0.4, kMostScale = 4;
constexpr int kMostLooks = 300;
constexpr double kGain = 1e-6;       // nats
constexpr double kGradientStep = 1e-4;       // of differences of gradients
constexpr Index kPilot = 2000;            // weighted draws by which a law is adapted,
constexpr std::uint64_t kRounds = 2;      // so many times,
constexpr double kLeastPerNumber = 10;    // if so many are effective for each number of theta
constexpr int kMostSteps = 50;        // of Newton's method
constexpr double kLongest = 3;
constexpr int kMostWidened = 15;
constexpr double kFlat = 0.05;       // least curvature: the prior of a logarithm may be flatter
constexpr double kSame = 0.1;        // modes nearer than this, in standard deviations, are one
constexpr double kLeastShare = 0.01;  // of a mode
// Starts have the logarithms of the standard deviations of columns moved by these.
constexpr double kMoves[] = {0, -3, 3};

// Minus the second derivatives, by differences of gradients.
SymmetricEigen curvature_at(const Evidence& evidence, const Vec& theta) {
  const Index h = theta.size();
  Mat out(h, h);
  for (Index k = 0; k < h; ++k) {
    Vec above = theta, below = theta;
    above[k] += kGradientStep;
    below[k] -= kGradientStep;
    out.col(k) = (evidence.look(below, true).gradient - evidence.look(above, true).gradient) /
                 (2 * kGradientStep);
  }
  return SymmetricEigen(0.5 * (out + out.transpose()));
}

// Newton's steps from where BFGS has come to: near a singular Sigma that is not far.
Evidence::Look polished(const Evidence& evidence, Evidence::Look now, Host& host) {
  for (int step = 0; step < kMostSteps; ++step) {
    if (host.interrupted()) throw Interrupted();
    const SymmetricEigen eigen = curvature_at(evidence, now.theta);
    const Vec turned = eigen.vectors.transpose() * now.gradient;
    const Vec by = eigen.vectors * turned.cwiseQuotient(eigen.values.cwiseAbs().cwiseMax(kFlat));
    const double rise = by.dot(now.gradient);
    if (rise < kGain) break;
    bool moved = false;
    for (double share = std::min(1.0, kLongest / by.norm()); share > 1e-4 && !moved; share /= 4) {
      try {
        Evidence::Look next = evidence.look(now.theta + share * by, true);
        moved = next.value > now.value;
        if (moved) now = std::move(next);
      } catch (const NumericalFailure&) {
      }
    }
    if (!moved) break;
  }
  return now;
}

// At residuals wide enough: of a response with one huge value the unit is far too small.
Evidence::Look first_look(const Evidence& evidence, Vec theta) {
  const Index q = evidence.shared().model.q(), first = theta.size() - q * (q + 1) / 2;
  for (int widened = 0;; ++widened) {
    try {
      return evidence.look(theta, true);
    } catch (const NumericalFailure&) {
      if (widened == kMostWidened) throw;
    }
    for (Index i = 0; i < q; ++i) theta[first + i * (i + 3) / 2] += 1;
  }
}

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
      found.push_back(polished(
          evidence, bfgs(first_look(evidence, theta), climb, converged), host));
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
      const Vec apart = mode.inverse * (look.theta - mode.center);
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
  for (std::uint64_t round = 1; modes_.size() == 1 && round <= kRounds; ++round)
    adapt(evidence, round, host);
}

EvidenceModes::Mode EvidenceModes::mode_at(const Evidence& evidence,
                                           const Evidence::Look& look) const {
  const Index h = look.theta.size();
  const SymmetricEigen eigen = curvature_at(evidence, look.theta);
  const Vec root = eigen.values.cwiseMax(kFlat).cwiseSqrt();
  Mode out;
  out.center = look.theta;
  out.axes = eigen.vectors * root.cwiseInverse().asDiagonal();
  out.inverse = root.asDiagonal() * eigen.vectors.transpose();
  out.scale = Mat::Ones(h, 2);
  for (Index k = 0; k < h; ++k)
    for (Index side = 0; side < 2; ++side) {
      double fall = kInfinite;
      try {
        const Vec there = look.theta + (side == 0 ? -kLook : kLook) * out.axes.col(k);
        fall = look.value - evidence.look(there, false).value;
      } catch (const NumericalFailure&) {
      }
      const double scale = fall > 0 ? kLook / std::sqrt(2 * fall) : kMostScale;
      out.scale(k, side) = std::min(std::max(scale, kLeastScale), kMostScale);
    }
  out.set_constant(-root.array().log().sum());
  out.log_share = look.value - out.constant;
  return out;
}

void EvidenceModes::Mode::set_constant(double log_axes) {
  const double one = log_gamma(0.5 * (kFreedom + 1)) - log_gamma(0.5 * kFreedom) -
                     0.5 * (kLog2Pi - std::log(2.0) + std::log(kFreedom));
  constant = static_cast<double>(center.size()) * one - log_axes -
             scale.rowwise().mean().array().log().sum();
}

// To the moments of its own weighted draws, weights truncated at the root of their number (Ionides
// 2008): the mean and covariance, and along the axes of the covariance those of either side.
void EvidenceModes::adapt(const Evidence& evidence, std::uint64_t round, Host& host) {
  const Index h = modes_[0].center.size();
  Mat thetas(h, kPilot);
  Vec logs(kPilot);
  for (Index k = 0; k < kPilot; ++k) {
    if (host.interrupted()) throw Interrupted();
    Draws random({0, 0, round}, Purpose::move, static_cast<std::uint64_t>(k));
    thetas.col(k) = draw(random);
    try {
      logs[k] = evidence.look(thetas.col(k), false).value - log_density(thetas.col(k));
    } catch (const NumericalFailure&) {
      logs[k] = kNothing;
    }
  }
  Vec weights = (logs.array() - logs.maxCoeff()).exp();
  weights = weights.cwiseMin(weights.mean() * std::sqrt(static_cast<double>(kPilot)));
  weights /= weights.sum();
  if (1 / weights.squaredNorm() < kLeastPerNumber * static_cast<double>(h)) return;
  Mode& mode = modes_[0];
  mode.center = thetas * weights;
  const Mat off = thetas.colwise() - mode.center;
  const SymmetricEigen eigen(off * weights.asDiagonal() * off.transpose());
  const Vec sd = eigen.values.cwiseMax(1e-12).cwiseSqrt();
  mode.axes = eigen.vectors * sd.asDiagonal();
  mode.inverse = sd.cwiseInverse().asDiagonal() * eigen.vectors.transpose();
  const Mat z = mode.inverse * off;
  for (Index k = 0; k < h; ++k)
    for (Index side = 0; side < 2; ++side) {
      double square = 0, share = 0;
      for (Index i = 0; i < kPilot; ++i)
        if ((z(k, i) > 0) == (side == 1)) {
          square += weights[i] * z(k, i) * z(k, i);
          share += weights[i];
        }
      const double scale = share > 0 ? std::sqrt(square / share) : 1;
      mode.scale(k, side) = std::min(std::max(scale, kLeastScale), kMostScale);
    }
  mode.set_constant(sd.array().log().sum());
}

double EvidenceModes::log_density(const Vec& theta) const {
  double out = kNothing;
  for (const Mode& mode : modes_) {
    const Vec z = mode.inverse * (theta - mode.center);
    double own = mode.log_share + mode.constant;
    for (Index k = 0; k < z.size(); ++k) {
      const double scaled = z[k] / mode.scale(k, z[k] > 0 ? 1 : 0);
      own -= 0.5 * (kFreedom + 1) * std::log1p(scaled * scaled / kFreedom);
    }
    const double top = std::max(out, own);
    out = top + std::log(std::exp(out - top) + std::exp(own - top));
  }
  return out;
}

Vec EvidenceModes::draw(Draws& random) const {
  double left = random.uniform();
  size_t which = 0;
  for (; which + 1 < modes_.size(); ++which) {
    left -= std::exp(modes_[which].log_share);
    if (left < 0) break;
  }
  const Mode& mode = modes_[which];
  Vec z(mode.center.size());
  for (Index k = 0; k < z.size(); ++k) {
    const double below = mode.scale(k, 0), above = mode.scale(k, 1);
    const double t = std::abs(random.normal()) *
                     std::sqrt(0.5 * kFreedom / random.gamma(0.5 * kFreedom));
    z[k] = random.uniform() * (below + above) < below ? -below * t : above * t;
  }
  return mode.center + mode.axes * z;
}

}  // namespace bsvm
