#include "simulate.hpp"

#include <cmath>
#include <numeric>

#include "block/dense.hpp"
#include "model/state.hpp"

namespace bsvm_test {

double Noise::uniform() {
  std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (static_cast<double>((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

double Noise::normal() {
  double sum = -6;
  for (int k = 0; k < 12; ++k) sum += uniform();
  return sum;
}

Vec Noise::normals(Index n) {
  Vec out(n);
  for (Index i = 0; i < n; ++i) out[i] = normal();
  return out;
}

namespace {

// (n, columns): one, then predictors of different centre and scale.
Mat predictors(Index n, Index columns, Noise& draws) {
  Mat x(n, columns);
  for (Index j = 0; j < columns; ++j) {
    x.col(j) = draws.normals(n) * (0.5 + static_cast<double>(j));
    x.col(j).array() += static_cast<double>(j);
  }
  if (columns > 0) x.col(0).setOnes();
  return x;
}

std::vector<int> groups_of_rows(const Shape& shape, Noise& draws) {
  std::vector<int> group(shape.n);
  for (Index i = 0; i < shape.n; ++i)
    group[i] = static_cast<int>(i == 0 ? 1 : i <= shape.large ? 2
                                                              : 3 + draws.below(shape.groups - 3));
  for (Index i = shape.n - 1; i > 0; --i) std::swap(group[i], group[draws.below(i + 1)]);
  return group;
}

void standardise(Data& data) {
  data.center = Vec::Zero(data.shape.p);
  data.scale = Vec::Ones(data.shape.p);
  for (Index j = 1; j < data.shape.p && data.shape.standardised; ++j) {
    data.center[j] = data.x.col(j).mean();
    data.scale[j] = std::sqrt((data.x.col(j).array() - data.center[j]).square().mean());
  }
}

// Labels that depend on the design, the group and chance.
void label(Data& data, Noise& draws) {
  const Index n = data.shape.n;
  const Vec noise = draws.normals(n), level = draws.normals(data.shape.groups + 1);
  data.y.resize(n);
  for (Index i = 0; i < n; ++i) {
    double f = 0.3 + 0.8 * noise[i] + (data.shape.groups > 0 ? level[data.group[i]] : 0);
    for (Index j = 1; j < std::min<Index>(data.shape.p, 4); ++j)
      f += (data.x(i, j) - static_cast<double>(j)) / static_cast<double>(j + j * j);
    data.y[i] = f > 0 ? 1 : -1;
  }
}

}  // namespace

Mat Data::design() const {
  Mat out = x;
  out.rowwise() -= center.transpose();
  out.array().rowwise() /= scale.transpose().array();
  return out;
}

Data simulate(const Shape& shape) {
  Noise draws(shape.seed);
  Data data;
  data.shape = shape;
  data.x = predictors(shape.n, shape.p, draws);
  data.z = predictors(shape.n, shape.q, draws);
  if (shape.q == 1 && !shape.ones) data.z = draws.normals(shape.n);
  if (shape.groups > 0) data.group = groups_of_rows(shape, draws);
  standardise(data);
  label(data, draws);
  data.weight = draws.normals(shape.n).array().abs() + 0.2;
  data.offset = 0.3 * draws.normals(shape.n);
  if (!shape.weights) data.weight.setOnes();
  if (!shape.offset) data.offset.setZero();
  return data;
}

PriorSpec normal_prior(double variance, std::vector<Index> columns) {
  return {"normal", Params("normal", {{"variance", variance}}), std::move(columns), 0};
}

PriorSpec ridge_prior(double shape, double scale, std::vector<Index> columns, double unseen) {
  return {"ridge", Params("ridge", {{"shape", shape}, {"scale", scale}}), std::move(columns),
          unseen};
}

PriorSlot to_slot(const PriorSpec& spec) {
  PriorSlot slot;
  slot.prior = Registry<Prior>::make(spec.name, spec.params);
  slot.columns = spec.columns;
  slot.unseen = spec.unseen;
  return slot;
}

Problem to_problem(const Data& data, const std::vector<PriorSpec>& priors,
                   const std::vector<PriorSpec>& group_priors) {
  const Shape& shape = data.shape;
  Problem out;
  out.n = shape.n;
  out.y = data.y.data();
  if (shape.weights) out.weight = data.weight.data();
  if (shape.offset) out.offset = data.offset.data();
  out.blocks.emplace_back(new DenseBlock(data.x.data(), shape.n, data.center, data.scale));
  if (shape.groups > 0) {
    out.group = data.group.data();
    out.groups = shape.groups;
    if (shape.ones) out.multipliers.reset(new OnesBlock);
    else out.multipliers.reset(new DenseBlock(data.z.data(), shape.n, Vec::Zero(shape.q),
                                              Vec::Ones(shape.q)));
  }
  out.likelihood = Registry<Likelihood>::make("hinge", Params());
  for (const PriorSpec& spec : priors) out.priors.push_back(to_slot(spec));
  for (const PriorSpec& spec : group_priors) {
    out.group_priors.push_back(to_slot(spec));
    out.group_priors.back().levels = shape.groups;
  }
  return out;
}

std::vector<PriorSpec> usual_priors(Index p) {
  std::vector<PriorSpec> out;
  if (p > 0) out.push_back(normal_prior(100, {0}));
  if (p > 1) out.push_back(ridge_prior(0.7, 0.4, range(1, p)));
  return out;
}

std::vector<PriorSpec> usual_group_priors(Index q) {
  std::vector<PriorSpec> out;
  for (Index a = 0; a < q; ++a)
    out.push_back(ridge_prior(0.5, 0.3 + 0.1 * static_cast<double>(a), {a}));
  return out;
}

Problem usual_problem(const Data& data) {
  return to_problem(data, usual_priors(data.shape.p), usual_group_priors(data.shape.q));
}

Problem with(Problem problem, const char* likelihood, Index integrated) {
  problem.likelihood = Registry<Likelihood>::make(likelihood, Params());
  problem.integrated = integrated;
  check(problem);
  return problem;
}

Mat inside(const Block& block, Index n) {
  std::vector<int> rows(n);
  std::iota(rows.begin(), rows.end(), 0);
  Mat out(block.columns(), n);
  block.fill(rows.data(), n, State(Layout{}), out);
  return out;
}

Mat inside(const Problem& problem) {
  Mat out(problem.columns(), problem.n);
  Index first = 0;
  for (const auto& block : problem.blocks) {
    out.middleRows(first, block->columns()) = inside(*block, problem.n);
    first += block->columns();
  }
  return out;
}

std::vector<Index> range(Index first, Index last) {
  std::vector<Index> out(last - first);
  std::iota(out.begin(), out.end(), first);
  return out;
}

}  // namespace bsvm_test
