#include "loadings.hpp"

#include <algorithm>
#include <cmath>

namespace bsvm {

FactorVariances::FactorVariances(const FactorModel& model, Draws& random) : model_(model) {
  if (model.loadings.local) return;
  for (const auto& prior : model.loadings.priors) {
    Moments shape;
    shape.count = static_cast<double>(model.p());
    shape.square = Vec::Zero(1);
    hyper_.emplace_back(prior->hyper_size(1));
    prior->start(shape, hyper_.back());
    prior->scale(hyper_.back(), std::exp(random.normal()));
  }
}

Vec FactorVariances::precisions() const {
  Vec out = Vec::Ones(model_.factors), one(1);
  for (size_t k = 0; k < hyper_.size(); ++k) {
    model_.loadings.priors[k]->precision(hyper_[k], one);
    out[static_cast<Index>(k)] = one[0];
  }
  return out;
}

Vec FactorVariances::variances() const {
  if (model_.loadings.local) return Vec();
  return precisions().cwiseInverse();
}

void FactorVariances::draw(const Vec& squares, double count, const DrawKey& now) {
  for (size_t k = 0; k < hyper_.size(); ++k) {
    Moments own;
    own.square = Vec::Constant(1, squares[static_cast<Index>(k)]);
    own.count = count;
    Draws random(now, Purpose::hyper, (std::uint64_t{1} << 32) + k);
    model_.loadings.priors[k]->draw(own, random, hyper_[k]);
  }
}

void FactorVariances::visit(Archive& archive) {
  for (Vec& own : hyper_) archive.part(own);
}

double draw_precision(const NoisePart& prior, double count, double square, Draws& random) {
  const double rate = prior.rate + 0.5 * std::max(square, 0.0);
  return random.gamma(prior.shape + 0.5 * count) / rate;
}

}  // namespace bsvm
