#include "ecm.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/or_else.hpp"

namespace bsvm {

namespace {

constexpr double kLeastScale = 1e-9;  // of tau: rows on their margin have none

}  // namespace

Ecm::Ecm(const EcmRows& rows, const SkewedLoss& loss)
    : y_(or_else(rows.y, rows.n, 1)), weight_(or_else(rows.weight, rows.n, 1)),
      offset_(or_else(rows.offset, rows.n, 0)), loss_(loss),
      now_{Vec::Zero(rows.n), Vec::Zero(rows.n), loss.gamma} {}

double Ecm::c(double gamma) const { return std::sqrt(1 + 2 * loss_.gamma0 / gamma); }

Arr Ecm::margins(const Vec& f) const { return 1 - y_ * (f.array() + offset_); }

Arr Ecm::scales(double least) const {
  return (margins(now_.f).abs() / c(now_.gamma)).max(least);
}

Vec Ecm::target(double least) const { return y_ * (1 + scales(least)) - offset_; }

Vec Ecm::noise(double least) const { return scales(least) / (now_.gamma * weight_); }

// f = z - N alpha is K alpha, and has no difference where N is nothing.
void Ecm::update(const RowPrior& prior, Host& host) {
  const Vec z = target(kLeastScale), n = noise(kLeastScale);
  RowGaussian::Predicted predicted = RowGaussian(prior, n, host).predict(z);
  now_.alpha = std::move(predicted.alpha);
  knows_alpha_ = true;
  coefficients_ = std::move(predicted.coefficients);
  now_.f = z - n.cwiseProduct(now_.alpha);
  if (loss_.inferred) now_.gamma = best_gamma();
}

double Ecm::best_gamma() const {
  const double c = this->c(now_.gamma);
  const Arr u = margins(now_.f), size = u.abs();
  const Arr terms = c * size + 2 * u + size / c + 1 / (now_.gamma * c * c);
  return (loss_.shape + 0.5 * weight_.sum() - 1) / (loss_.rate + 0.5 * (weight_ * terms).sum());
}

void Ecm::leap(const RowPrior& prior, Host& host) {
  const Vec first = now_.f, alpha = now_.alpha;
  update(prior, host);
  const Vec step = now_.f - first, rise = now_.alpha - alpha;
  const Vec middle = now_.f, middle_alpha = now_.alpha;
  update(prior, host);
  const Vec bend = now_.f - middle - step, rise_bend = now_.alpha - middle_alpha - rise;
  const double length = bend.norm();
  if (length > 0) {
    const double a = std::max(step.norm() / length, 1.0);
    Point there = now_;
    there.f = first + 2 * a * step + a * a * bend;
    there.alpha = alpha + 2 * a * rise + a * a * rise_bend;
    if (objective(there) > objective(now_)) now_ = there;
  }
  update(prior, host);
}

double Ecm::loss(const Vec& f, double gamma) const {
  const Arr u = margins(f);
  return gamma * (weight_ * (c(gamma) * u.abs() + u)).sum();
}

double Ecm::objective(const Point& at) const {
  double out = -loss(at.f, at.gamma) - 0.5 * at.f.dot(at.alpha);
  if (loss_.gamma0 > 0) out += weight_.sum() * std::log(loss_.gamma0 / c(at.gamma));
  if (loss_.inferred) out += (loss_.shape - 1) * std::log(at.gamma) - loss_.rate * at.gamma;
  return out;
}

// gamma (c |u| + u) is the largest beta u with gamma (1 - c) <= beta <= gamma (1 + c), so that
// beta'(1 - y offset) - alpha' K alpha / 2 with beta = y alpha is below what f minimises.
double Ecm::gap(const RowPrior& prior) const {
  const double c = this->c(now_.gamma);
  const Arr most = now_.gamma * (1 + c) * weight_, least = now_.gamma * (1 - c) * weight_;
  const Arr beta = (y_ * now_.alpha.array()).max(least).min(most);
  const Vec alpha = y_ * beta;
  const double dual = (beta * (1 - y_ * offset_)).sum() - 0.5 * alpha.dot(prior.times(alpha));
  return loss(now_.f, now_.gamma) + 0.5 * now_.f.dot(now_.alpha) - dual;
}

}  // namespace bsvm
