#include "process_numbers.hpp"

#include <cmath>

#include "process_links.hpp"
#include "random/slice.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

constexpr double kNumberWidth = 2.5, kFarthestNumber = 50;  // logarithms

}  // namespace

ProcessNumbers::ProcessNumbers(const ProcessPart& process)
    : process_(process), theta_(process.start) {
  Vec hyper(process.variance->hyper_size(1)), precision(1);
  Moments shape;
  shape.square = Vec::Zero(1);
  process.variance->start(shape, hyper);
  process.variance->precision(hyper, precision);
  log_sd_[0] = -0.5 * std::log(precision[0]);
  if (infers_variance()) free_.push_back(-1);
  for (Index k = 0; k < theta_.size(); ++k)
    if (process.numbers[static_cast<size_t>(k)]) free_.push_back(k);
}

void ProcessNumbers::start_apart(Draws& random) {
  for (const Index k : free_)
    if (k >= 0) theta_[k] += 0.3 * random.normal();
  if (infers_variance()) log_sd_[0] = 0.3 * random.normal();
}

double ProcessNumbers::sd() const { return std::exp(log_sd()); }

double ProcessNumbers::log_prior_of_sd(double log_sd) const {
  if (std::abs(log_sd) > kFarthestNumber) return kNothing;
  Vec gradient(1);
  return process_.variance->log_joint(Moments(), Vec::Constant(1, log_sd), gradient);
}

double ProcessNumbers::log_prior() const {
  double sum = 0;
  for (const Index k : free_) {
    if (k < 0) {
      sum += log_prior_of_sd(log_sd());
      continue;
    }
    if (std::abs(theta_[k]) > kFarthestNumber) return kNothing;
    Vec gradient(1);
    sum += process_.numbers[static_cast<size_t>(k)]->log_joint(
        Moments(), Vec::Constant(1, theta_[k]), gradient);
  }
  return sum;
}

void ProcessNumbers::move(const std::function<double()>& log_density, Draws& random) {
  const Vec theta = theta_, log_sd = log_sd_;
  Vec direction(static_cast<Index>(free_.size()));
  for (Index k = 0; k < direction.size(); ++k) direction[k] = random.normal();
  direction.normalize();
  double last = kNothing;
  const auto go = [&](double by) {
    for (Index k = 0; k < direction.size(); ++k) {
      const Index at = free_[static_cast<size_t>(k)];
      if (at < 0) log_sd_[0] = log_sd[0] + by * direction[k];
      else theta_[at] = theta[at] + by * direction[k];
    }
  };
  const double moved = slice_within([&](double by) {
    go(by);
    const double prior = log_prior();
    if (!(prior > kNothing)) return kNothing;
    last = by;
    return prior + log_density();
  }, kNumberWidth, random);
  go(moved);
  if (last != moved) log_density();
}

NamedNumbers ProcessNumbers::drawn() const {
  NamedNumbers out;
  const std::vector<std::string> names = process_numbers(process_);
  for (size_t k = 0; k < free_.size(); ++k)
    out.push_back({names[k], std::exp(free_[k] < 0 ? 2 * log_sd() : theta_[free_[k]])});
  return out;
}

void ProcessNumbers::visit(Archive& archive) {
  archive.part(theta_);
  archive.part(log_sd_);
}

}  // namespace bsvm
