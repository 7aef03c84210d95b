#include "latent_layer.hpp"

#include <cmath>

#include "random/slice.hpp"

namespace bsvm {

namespace {

// First width of slices of logarithms.
constexpr double kLayerWidth = 1;

// One response of the layer, at fixed f: its rows that are seen.
class OneResponse {
 public:
  OneResponse(Index j, const Mat& y, const Mat& f, Loss& loss, Covariance& sigma, Mat& delta)
      : j_(j), loss_(loss), sigma_(sigma), delta_(delta) {
    for (Index i = 0; i < y.rows(); ++i)
      if (!std::isnan(y(i, j))) {
        rows_.push_back(i);
        away_.push_back(y(i, j) - f(i, j));
      }
  }

  // y - f - t delta.
  const std::vector<double>& second(double t) {
    second_.resize(rows_.size());
    for (size_t k = 0; k < rows_.size(); ++k) second_[k] = away_[k] - t * delta_(rows_[k], j_);
    return second_;
  }

  // delta_j and its standard deviation together by a slice: their density is that of Sigma alone.
  void stretch_latent(Draws& random) {
    const double variance = sigma_.variance(j_);
    const double t = std::exp(slice([&](double step) {
      const double own = std::exp(step);
      return sigma_.log_stretched(j_, own) + loss_.log_density(second(own)) +
             loss_.log_prior(own * own * variance, 1);
    }, kLayerWidth, random));
    delta_.col(j_) *= t;
    sigma_.stretch(j_, t);
  }

  // The second residuals e and their scale together, delta_j = y - f - t e: what that leaves is
  // -delta'Lambda delta/2, as a function of t - 1.
  void stretch_loss(Draws& random) {
    const auto lambda = sigma_.inverse().col(j_);
    const std::vector<double> e = second(1);
    double ee = 0, ed = 0;
    for (size_t k = 0; k < rows_.size(); ++k) {
      ee += e[k] * e[k] * lambda[j_];
      ed += e[k] * delta_.row(rows_[k]).dot(lambda);
    }
    const double variance = sigma_.variance(j_);
    const double t = std::exp(slice([&](double step) {
      const double own = std::exp(step), more = own - 1;
      return more * ed - 0.5 * more * more * ee + loss_.log_prior(variance, own);
    }, kLayerWidth, random));
    for (size_t k = 0; k < rows_.size(); ++k) delta_(rows_[k], j_) -= (t - 1) * e[k];
    loss_.stretch(t);
  }

  void draw_numbers(Draws& random) { loss_.draw_numbers(second(1), sigma_.variance(j_), random); }

 private:
  Index j_;
  Loss& loss_;
  Covariance& sigma_;
  Mat& delta_;
  std::vector<Index> rows_;
  std::vector<double> away_, second_;
};

}  // namespace

LatentLayer::LatentLayer(const Responses& model, Draws& random) {
  for (const LossPart& loss : model.losses)
    losses_.push_back(loss.variance ? make_normal_loss(*loss.variance)
                                    : make_tube_loss(loss.scale, loss.nu, loss.a, loss.b));
  for (const auto& loss : losses_)
    if (loss->has_share()) loss->stretch(std::exp(random.normal()));
}

void LatentLayer::draw(const Mat& y, const Mat& f, const DrawKey& now, Covariance& sigma, Mat& z) {
  const Mat& lambda = sigma.inverse();
  Mat delta = z - f;
  for (Index i = 0; i < y.rows(); ++i) {
    Draws random(now, Purpose::unknown, static_cast<std::uint64_t>(i));
    for (Index j = 0; j < y.cols(); ++j) {
      const double v = 1 / lambda(j, j);
      const double others = delta.row(i).dot(lambda.row(j)) - delta(i, j) * lambda(j, j);
      const double mean = f(i, j) - v * others;
      const double drawn =
          std::isnan(y(i, j))
              ? mean + std::sqrt(v) * random.normal()
              : losses_[static_cast<size_t>(j)]->draw_latent(y(i, j), mean, v, random);
      delta(i, j) = drawn - f(i, j);
    }
  }
  for (Index j = 0; j < y.cols(); ++j) {
    Loss& loss = *losses_[static_cast<size_t>(j)];
    OneResponse own(j, y, f, loss, sigma, delta);
    Draws random(now, Purpose::move, (std::uint64_t{1} << 34) + static_cast<std::uint64_t>(j));
    own.stretch_latent(random);
    if (loss.has_share()) own.stretch_loss(random);
    own.draw_numbers(random);
  }
  z = f + delta;
}

double LatentLayer::log_prior(const Mat& root) const {
  double out = 0;
  for (size_t j = 0; j < losses_.size(); ++j)
    out += losses_[j]->log_prior(root.row(static_cast<Index>(j)).squaredNorm(), 1);
  return out;
}

void LatentLayer::read(std::vector<double>& numbers) const {
  for (const auto& loss : losses_) {
    const Vec own = loss->numbers();
    numbers.insert(numbers.end(), own.data(), own.data() + own.size());
  }
}

void LatentLayer::visit(Archive& archive) {
  for (const auto& loss : losses_)
    archive.part(loss->state(), [&](ConstVecRef saved) { loss->restore(saved); });
}

}  // namespace bsvm
