#include "starts.hpp"

#include "covariance.hpp"

namespace bsvm {

namespace {

// How far apart chains start about what is known, in logarithms of standard deviations.
constexpr double kApart = 0.3;

// A diagonal root about these logarithms of its entries, as free numbers (prior/prior.hpp).
Vec diagonal_root(const Vec& start, Draws& random) {
  const Index q = start.size();
  Vec out = Vec::Zero(q * (q + 1) / 2);
  for (Index j = 0; j < q; ++j) out[j * (j + 3) / 2] = start[j] + kApart * random.normal();
  return out;
}

}  // namespace

std::vector<std::vector<Vec>> start_columns(const Responses& model, Draws& random) {
  std::vector<std::vector<Vec>> out;
  for (const ColumnPart& part : model.parts) {
    out.emplace_back();
    for (Index j = 0; j < model.q(); ++j) {
      const Prior& prior = *part.priors[static_cast<size_t>(j)];
      const double count = static_cast<double>(part.width()) + part.unseen;
      out.back().push_back(dispersed(prior, count, random));
      if (part.start.size() > 0 && prior.free_size(1) == 1)
        prior.fix(Vec::Constant(1, part.start[j] + kApart * random.normal()), out.back().back());
    }
  }
  return out;
}

std::vector<Vec> start_factors(const Responses& model, Draws& random) {
  std::vector<Vec> out;
  for (const LevelPart& factor : model.factors) {
    const Index count = factor.effects() * model.q() * factor.levels;
    out.push_back(dispersed(*factor.prior, static_cast<double>(count), random));
  }
  return out;
}

Vec start_residual(const Responses& model, double rows, Draws& random) {
  Vec out = dispersed(*model.residual, rows * static_cast<double>(model.q()), random);
  if (model.start.size() > 0) model.residual->fix(diagonal_root(model.start, random), out);
  return out;
}

std::vector<Index> start_choices(const Responses& model, Draws& random) {
  std::vector<Index> out;
  for (const ColumnPart& part : model.parts) {
    const double count = static_cast<double>(part.choices.size());
    out.push_back(count > 0 ? static_cast<Index>(count * random.uniform()) : 0);
  }
  return out;
}

}  // namespace bsvm
