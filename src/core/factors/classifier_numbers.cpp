#include "classifier_numbers.hpp"

#include <cmath>

#include "random/slice.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

constexpr double kParameterWidth = 0.5, kFarthestParameter = 100;  // logarithms

}  // namespace

CoefficientPriors::CoefficientPriors(const FactorModel& model, Draws& random) : model_(model) {
  for (const CoefficientPart& part : model.parts) {
    const Index m = static_cast<Index>(part.places.size());
    Moments shape;
    shape.count = static_cast<double>(m);
    shape.square = Vec::Zero(m);
    hyper_.emplace_back(part.prior->hyper_size(m));
    part.prior->start(shape, hyper_.back());
    part.prior->scale(hyper_.back(), std::exp(random.normal()));
  }
}

Moments CoefficientPriors::moments(size_t part, const Vec& b) const {
  const std::vector<Index>& places = model_.parts[part].places;
  Moments out;
  out.square.resize(static_cast<Index>(places.size()));
  out.count = static_cast<double>(places.size());
  for (Index a = 0; a < out.square.size(); ++a)
    out.square[a] = std::pow(b[places[static_cast<size_t>(a)]], 2);
  return out;
}

Vec CoefficientPriors::precision() const {
  Vec out(model_.coefficients());
  for (size_t k = 0; k < hyper_.size(); ++k) {
    const CoefficientPart& part = model_.parts[k];
    Vec own(static_cast<Index>(part.places.size()));
    if (own.size() == 0) continue;
    part.prior->precision(hyper_[k], own);
    for (Index a = 0; a < own.size(); ++a) out[part.places[static_cast<size_t>(a)]] = own[a];
  }
  return out;
}

void CoefficientPriors::scale(size_t part, double t) {
  model_.parts[part].prior->scale(hyper_[part], t);
}

void CoefficientPriors::draw(const Vec& b, const DrawKey& now) {
  for (size_t k = 0; k < hyper_.size(); ++k) {
    const CoefficientPart& part = model_.parts[k];
    if (part.places.empty()) continue;
    Draws random(now, Purpose::hyper, k);
    part.prior->draw(moments(k, b), random, hyper_[k]);
  }
}

NamedNumbers CoefficientPriors::drawn() const {
  NamedNumbers out;
  for (size_t k = 0; k < hyper_.size(); ++k)
    for (const auto& number : model_.parts[k].prior->drawn(hyper_[k]))
      out.push_back({"part_" + std::to_string(k + 1) + "." + number.first, number.second});
  return out;
}

void CoefficientPriors::visit(Archive& archive) {
  for (Vec& own : hyper_) archive.part(own);
}

LikelihoodNumbers::LikelihoodNumbers(const FactorModel& model, Draws& random)
    : model_(model), theta_(model.likelihood->free_size()) {
  for (Index k = 0; k < theta_.size(); ++k) theta_[k] = 0.3 * random.normal();
  set(theta_);
}

void LikelihoodNumbers::set(const Vec& theta) {
  theta_ = theta;
  if (theta_.size() > 0) own_ = model_.likelihood->with(theta_);
}

void LikelihoodNumbers::draw(const std::function<double(const Likelihood&)>& log_likelihood,
                             const DrawKey& now) {
  for (Index k = 0; k < theta_.size(); ++k) {
    Draws random(now, Purpose::hyper, (std::uint64_t{4} << 32) + static_cast<std::uint64_t>(k));
    const Vec here = theta_;
    const Prior& prior = *model_.parameters[static_cast<size_t>(k)];
    const double moved = slice([&](double by) {
      Vec theta = here, gradient(1);
      theta[k] += by;
      if (std::abs(theta[k]) > kFarthestParameter) return kNothing;
      return log_likelihood(*model_.likelihood->with(theta)) +
             prior.log_joint(Moments(), theta.segment(k, 1), gradient);
    }, kParameterWidth, random);
    set(here + moved * Vec::Unit(here.size(), k));
  }
}

NamedNumbers LikelihoodNumbers::drawn() const {
  NamedNumbers out;
  for (Index k = 0; k < theta_.size(); ++k)
    out.push_back({"theta_" + std::to_string(k + 1), theta_[k]});
  return out;
}

void LikelihoodNumbers::visit(Archive& archive) {
  archive.part(theta_, [&](ConstVecRef saved) { set(saved); });
}

}  // namespace bsvm
