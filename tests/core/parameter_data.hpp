#pragma once
#include <cmath>

#include "model/state.hpp"
#include "simulate.hpp"
#include "two_atoms.hpp"

// Problems with parameters that are inferred.
namespace bsvm_test {

inline PriorSlot parameter_slot(const char* prior, std::map<std::string, double> numbers) {
  PriorSlot slot;
  slot.prior = Registry<Prior>::make(prior, Params(prior, std::move(numbers)));
  slot.parameter = true;
  return slot;
}

inline PriorSlot parameter_prior(double scale) {
  return parameter_slot("half_t", {{"df", 3}, {"scale", scale}});
}

// Columns cos(j w x), w = exp(theta).
class Waves : public Block {
 public:
  Waves(Vec x, Index columns) : x_(std::move(x)), unit_(Vec::Constant(columns, 0.5)) {}
  Index columns() const override { return unit_.size(); }
  bool varies() const override { return true; }
  Index free_size() const override { return 1; }
  void find_parameters(Index first) override { first_ = first; }
  const Vec& unit() const override { return unit_; }
  void fill(const int* rows, Index r, const State& state,
            Eigen::Ref<Mat, 0, Eigen::OuterStride<>> out) const override {
    for (Index i = 0; i < r; ++i)
      for (Index j = 0; j < columns(); ++j) out(j, i) = height(j, rows[i], state);
  }

 private:
  double height(Index j, int row, const State& state) const {
    return 0.5 * std::cos(static_cast<double>(j + 1) * std::exp(state.parameters()[first_]) *
                          x_[row]);
  }
  Vec x_, unit_;
  Index first_ = 0;
};

// The usual problem with numbers for a response, about the rows' linear predictors at some
// coefficients, and a likelihood whose scale, or scale and odds, are inferred.
struct NumberData {
  explicit NumberData(const Shape& shape) : data(simulate(shape)) {
    Noise noise(shape.seed + 100);
    data.y = data.design() * noise.normals(shape.p) + data.offset + 0.8 * noise.normals(shape.n);
    Vec level = noise.normals(shape.groups + 1);
    for (Index i = 0; i < shape.n && shape.groups > 0; ++i) data.y[i] += level[data.group[i]];
  }

  Problem problem(bool both) const {
    Problem out = usual_problem(data);
    out.likelihood = std::make_unique<InsensitiveFamily>(0.3, both);
    out.priors.push_back(parameter_prior(0.7));
    if (both) out.priors.push_back(parameter_prior(1.5));
    check(out);
    return out;
  }

  Data data;
};

}  // namespace bsvm_test
