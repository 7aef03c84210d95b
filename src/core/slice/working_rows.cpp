#include "working_rows.hpp"

#include <algorithm>
#include <numeric>

#include "model/gather.hpp"

namespace bsvm {

namespace {

constexpr double kLeastWeight = 1e-3, kMostAway = 10;  // of a row; of its target from its mean

void sort_rows(FactorRows& factor) {
  const Index n = static_cast<Index>(factor.level.size());
  factor.start.assign(factor.levels + 1, 0);
  for (int g : factor.level)
    if (g >= 0) ++factor.start[g + 1];
  std::partial_sum(factor.start.begin(), factor.start.end(), factor.start.begin());
  factor.row.resize(factor.start.back());
  std::vector<Index> at(factor.start.begin(), factor.start.end() - 1);
  for (Index i = 0; i < n; ++i)
    if (factor.level[i] >= 0) factor.row[at[factor.level[i]]++] = static_cast<int>(i);
}

FactorRows multiplied_rows(const Problem& problem) {
  const Index q = problem.effects(), n = problem.n;
  FactorRows out{problem.groups, q, 0, 0, {}, gather_multipliers(problem), {}, {}};
  for (Index i = 0; i < n; ++i) out.level.push_back(problem.group[i] - 1);
  return out;
}

// False where a row has several levels.
bool take_column(const Problem& problem, Index column, Index level, Index effect,
                 FactorRows& factor) {
  const SparseColumns& sparse = problem.sparse;
  for (int e = sparse.start[column]; e < sparse.start[column + 1]; ++e) {
    int& own = factor.level[sparse.row[e]];
    if (own >= 0 && own != level) return false;
    own = static_cast<int>(level);
    factor.z(effect, sparse.row[e]) = sparse.value[e];
  }
  return true;
}

}  // namespace

std::vector<FactorRows> factor_rows(const Problem& problem) {
  std::vector<FactorRows> out;
  if (problem.multipliers) {
    out.push_back(multiplied_rows(problem));
    sort_rows(out[0]);
    return out;
  }
  Index effect = 0, first = 0;
  for (const SparseTerm& term : problem.sparse.terms) {
    FactorRows factor{term.levels, term.effects, effect, first,
                      std::vector<int>(problem.n, -1), Mat::Zero(term.effects, problem.n), {}, {}};
    for (Index k = 0; k < term.levels * term.effects; ++k)
      if (!take_column(problem, first + k, k / term.effects, k % term.effects, factor)) return {};
    out.push_back(std::move(factor));
    effect += term.effects;
    first += term.levels * term.effects;
  }
  for (FactorRows& factor : out) sort_rows(factor);
  return out;
}

WorkingRows::WorkingRows(const Problem& problem, const Mat& design)
    : problem_(problem), design_(design), factors_(factor_rows(problem)) {
  for (const FactorRows& factor : factors_) {
    effects_ += factor.levels * factor.effects;
    if (factor.levels > factors_[main_].levels) main_ = &factor - factors_.data();
  }
  gram_.resize(factors_.size());
  links_.resize(factors_.size());
  link_.resize(factors_.size());
  for (size_t t = 0; t < factors_.size(); ++t)
    if (static_cast<Index>(t) != main_) find_links(static_cast<Index>(t));
}

void WorkingRows::find_links(Index t) {
  const FactorRows &factor = factors_[t], &main = factors_[main_];
  Links& links = links_[t];
  link_[t].assign(problem_.n, -1);
  links.start.assign(1, 0);
  for (Index l = 0; l < factor.levels; ++l) {
    std::vector<int> rows(factor.row.begin() + factor.start[l],
                          factor.row.begin() + factor.start[l + 1]);
    std::stable_sort(rows.begin(), rows.end(),
                     [&](int i, int j) { return main.level[i] < main.level[j]; });
    for (int i : rows) {
      const int g = main.level[i];
      if (g < 0) continue;
      const bool first = static_cast<Index>(links.level.size()) == links.start.back();
      if (first || links.level.back() != g) links.level.push_back(g);
      link_[t][i] = static_cast<Index>(links.level.size()) - 1;
    }
    links.start.push_back(static_cast<Index>(links.level.size()));
  }
}

void WorkingRows::set(const Likelihood& likelihood, const Vec& mean, const Vec& variance) {
  RowTerms terms;
  terms.resize(problem_.n);
  const Eigen::Map<const Arr> y(problem_.y, problem_.n);
  likelihood.terms(Use::expected, y, mean.array(), variance.array(), terms);
  const Arr weight = terms.weight.max(kLeastWeight);
  target_ = (mean.array() + (terms.slope / weight).max(-kMostAway).min(kMostAway)).matrix();
  weight_ = weight.matrix();
  if (problem_.weight)
    weight_.array() *= Eigen::Map<const Arr>(problem_.weight, problem_.n);
  sum();
}

Vec WorkingRows::save() const {
  Vec out(2 * problem_.n);
  out << weight_, target_;
  return out;
}

void WorkingRows::restore(ConstVecRef saved) {
  weight_ = saved.head(problem_.n);
  target_ = saved.tail(problem_.n);
  sum();
}

void WorkingRows::sum() {
  const Mat weighted = weight_.asDiagonal() * design_;
  dense_ = design_.transpose() * weighted;
  cross_ = Mat::Zero(effects_, design_.cols());
  for (size_t t = 0; t < factors_.size(); ++t) {
    const FactorRows& factor = factors_[t];
    const Index q = factor.effects;
    gram_[t] = Mat::Zero(q * q, factor.levels);
    for (Index i = 0; i < problem_.n; ++i) {
      const int g = factor.level[i];
      for (Index a = 0; g >= 0 && a < q; ++a) {
        for (Index b = 0; b < q; ++b)
          gram_[t](a + b * q, g) += weight_[i] * factor.z(a, i) * factor.z(b, i);
        cross_.row(factor.at(g) + a) += factor.z(a, i) * weighted.row(i);
      }
    }
    if (static_cast<Index>(t) != main_) sum_links(static_cast<Index>(t));
  }
}

void WorkingRows::sum_links(Index t) {
  const FactorRows &factor = factors_[t], &main = factors_[main_];
  const Index q = factor.effects, m = main.effects;
  Mat& cross = links_[t].cross;
  cross = Mat::Zero(m * q, static_cast<Index>(links_[t].level.size()));
  for (Index i = 0; i < problem_.n; ++i)
    for (Index b = 0; link_[t][i] >= 0 && b < q; ++b)
      for (Index a = 0; a < m; ++a)
        cross(a + b * m, link_[t][i]) += weight_[i] * main.z(a, i) * factor.z(b, i);
}

void WorkingRows::add_along(Index t, const Vec& u, Vec& out) const {
  const FactorRows& factor = factors_[t];
  const double *z = factor.z.data(), *from = u.data() + factor.first;
  for (Index i = 0; i < problem_.n; ++i, z += factor.effects)
    for (Index a = 0; factor.level[i] >= 0 && a < factor.effects; ++a)
      out[i] += z[a] * from[factor.level[i] * factor.effects + a];
}

void WorkingRows::add_gathered(Index t, const Vec& r, Vec& out) const {
  const FactorRows& factor = factors_[t];
  const double* z = factor.z.data();
  double* to = out.data() + factor.first;
  for (Index i = 0; i < problem_.n; ++i, z += factor.effects)
    for (Index a = 0; factor.level[i] >= 0 && a < factor.effects; ++a)
      to[factor.level[i] * factor.effects + a] += z[a] * r[i];
}

}  // namespace bsvm
