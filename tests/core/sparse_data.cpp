#include "sparse_data.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <numeric>

namespace bsvm_test {

Index SparseData::effects() const {
  Index out = 0;
  for (const SparseTerm& term : terms) out += term.effects;
  return out;
}

Mat SparseData::dense() const {
  Mat out = Mat::Zero(n(), columns());
  for (Index j = 0; j < columns(); ++j)
    for (int k = start[j]; k < start[j + 1]; ++k) out(row[k], j) = value[k];
  return out;
}

void SparseData::add_factor(const std::vector<int>& codes, Index levels, const Mat& z) {
  terms.push_back({levels, z.cols()});
  for (Index level = 0; level < levels; ++level)
    for (Index a = 0; a < z.cols(); ++a) {
      for (Index i = 0; i < n(); ++i) {
        if (codes[i] != level || z(i, a) == 0) continue;
        row.push_back(static_cast<int>(i));
        value.push_back(z(i, a));
      }
      start.push_back(static_cast<int>(row.size()));
    }
}

void SparseData::add_predictors(const Mat& x) {
  const std::vector<int> nobody(n(), 0);
  for (Index j = 0; j < x.cols(); ++j) {
    add_factor(nobody, 1, x.col(j));
    terms.pop_back();
  }
  terms.push_back({x.cols(), 1});
}

SparseColumns SparseData::view() const {
  return {columns(), start.data(), row.data(), value.data(), terms};
}

Problem SparseData::problem(const std::vector<PriorSpec>& group_priors) const {
  Problem out = to_problem(data, usual_priors(data.shape.p), group_priors);
  out.sparse = view();
  for (PriorSlot& slot : out.group_priors) {
    Index first = 0;
    for (const SparseTerm& term : terms) {
      if (slot.columns[0] >= first) slot.levels = term.levels;
      first += term.effects;
    }
  }
  return out;
}

Problem SparseData::problem() const { return problem(usual_group_priors(effects())); }

std::vector<int> random_codes(Index n, Index levels, Noise& noise) {
  std::vector<int> out(n);
  for (int& code : out) code = static_cast<int>(noise.below(levels));
  return out;
}

Mat with_slope(Index n, Noise& noise) {
  Mat out = Mat::Ones(n, 2);
  out.col(1) = noise.normals(n);
  return out;
}

SparseData crossed(const Shape& shape, const std::vector<Index>& levels) {
  SparseData out(shape);
  Noise noise(shape.seed + 11);
  for (Index m : levels)
    out.add_factor(random_codes(shape.n, m, noise), m, Mat::Ones(shape.n, 1));
  return out;
}

SparseData nested(const Shape& shape, Index outer, Index inner) {
  SparseData out(shape);
  Noise noise(shape.seed + 12);
  const std::vector<int> codes = random_codes(shape.n, inner, noise);
  std::vector<int> parents(codes);
  for (int& code : parents) code = static_cast<int>(code % outer);
  out.add_factor(codes, inner, with_slope(shape.n, noise));
  out.add_factor(parents, outer, Mat::Ones(shape.n, 1));
  return out;
}

SparseData mixed(const Shape& shape) {
  SparseData out = nested(shape, 4, 17);
  Noise noise(shape.seed + 13);
  Mat x = Mat::Zero(shape.n, 6);
  for (Index j = 0; j < 5; ++j)
    for (Index i = 0; i < shape.n; ++i)
      if (noise.uniform() < 0.2) x(i, j) = noise.normal();
  out.add_predictors(x);
  out.add_factor(random_codes(shape.n, 5, noise), 5, with_slope(shape.n, noise));
  return out;
}

Mat level_precision(const SparseData& data, const Mat& effects) {
  Mat out = Mat::Zero(data.columns(), data.columns());
  Index column = 0, effect = 0;
  for (const SparseTerm& term : data.terms) {
    const Index q = term.effects;
    for (Index level = 0; level < term.levels; ++level, column += q)
      out.block(column, column, q, q) = effects.block(effect, effect, q, q);
    effect += q;
  }
  return out;
}

SparseOracle::SparseOracle(const SparseData& data, const Problem& problem,
                           std::vector<int> positions, Index leading)
    : Oracle(data.data, data.data.x, Mat()), order(std::move(positions)), lead(leading) {
  const Index dense = data.data.shape.p, columns = data.columns();
  p = columns - lead + dense;
  q = 1;
  groups = lead;
  const Mat z = data.dense();
  c = MatL::Zero(data.n(), columns + dense);
  for (Index k = 0; k < columns; ++k) c.col(at(k)) = z.col(order[k]).cast<Real>();
  c.middleCols(p - dense, dense) = inside(problem).transpose().cast<Real>();
  prior = MatL::Zero(c.cols(), c.cols());
  mean = step = VecL::Zero(c.cols());
}

Index SparseOracle::at_column(Index column) const {
  return at(std::find(order.begin(), order.end(), static_cast<int>(column)) - order.begin());
}

void SparseOracle::set_prior(const SparseData& data, const Mat& effects, const Vec& dense) {
  const Mat own = level_precision(data, effects);
  for (Index k = 0; k < data.columns(); ++k)
    for (Index l = 0; l < data.columns(); ++l) prior(at(k), at(l)) = own(order[k], order[l]);
  for (Index j = 0; j < dense.size(); ++j) {
    const Index k = p - dense.size() + j;
    prior(k, k) = dense[j];
  }
}

Real SparseOracle::leading_divergence(const MatL& next) const {
  const auto distance = [](const MatL& s, const MatL& a) -> Real {
    const MatL x = product(s, a);
    return x.trace() - static_cast<Real>(a.rows()) -
           2 * lower_factor(a).diagonal().array().log().sum() -
           2 * lower_factor(s).diagonal().array().log().sum();
  };
  const Index groups_size = size() - p;
  const MatL own = inverse(next.bottomRightCorner(groups_size, groups_size));
  const MatL root = next.topLeftCorner(p, p) -
                    product(product(next.topRightCorner(p, groups_size), own),
                            next.bottomLeftCorner(groups_size, p));
  return distance(covariance, next) - distance(covariance.topLeftCorner(p, p), root);
}

}  // namespace bsvm_test
