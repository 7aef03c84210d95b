#include "design.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "block/elsewhere.hpp"
#include "linalg/weighted_gram.hpp"
#include "model/gather.hpp"

namespace bsvm {

namespace {

// Few enough for the cache, enough for the kernels.
Index chunk_of(Index columns) { return std::clamp<Index>(32768 / (columns + 1), 32, 512); }

void check(Host& host) {
  if (host.interrupted()) throw Interrupted();
}

// What brings the largest of these numbers into [1/2, 1).
double power_of_two(const double* first, const double* last) {
  double largest = 0;
  for (; first != last; ++first) largest = std::max(largest, std::abs(*first));
  int exponent = 0;
  std::frexp(largest, &exponent);
  return largest > 0 ? std::ldexp(1.0, std::min(1000, -exponent)) : 1;
}

}  // namespace

Design::Design(const Problem& problem) {
  if (!problem.here()) refuse_elsewhere();
  const Vec turn = take_atoms(problem);
  unit = Vec::Ones(problem.columns() + problem.group_coefficients());
  add_dense(problem, turn);
  if (problem.multipliers) add_groups(problem, turn);
  else add_sparse(problem, turn);
  by_row_ = turned(by_column_, rows());
}

Design::Design(DesignRows rows, Vec units)
    : kink(Eigen::Map<const Vec>(rows.kink.data(), static_cast<Index>(rows.kink.size()))),
      cost(Eigen::Map<const Vec>(rows.cost.data(), kink.size())), unit(std::move(units)),
      dense_(Eigen::Map<const Mat>(rows.c.data(), rows.dense, kink.size())) {
  by_row_.start = std::move(rows.start);
  by_row_.at = std::move(rows.at);
  by_row_.value = std::move(rows.value);
  by_column_ = turned(by_row_, columns() - dense());
}

Vec Design::take_atoms(const Problem& problem) {
  const Index n = problem.n, atoms = n > 0 ? problem.likelihood->atoms(problem.y[0]).count : 1;
  if (atoms == 0)
    throw InvalidInput("likelihood", "A point estimate needs a likelihood that is a sum of "
                                     "hinges.");
  kink.resize(atoms * n);
  cost.resize(atoms * n);
  Vec turn(atoms * n);
  for (Index i = 0; i < n; ++i) {
    const Atoms of = problem.likelihood->atoms(problem.y[i]);
    for (Index k = 0; k < atoms; ++k) {
      const Atom& atom = of.atom[k];
      kink[k * n + i] = atom.sign * ((problem.offset ? problem.offset[i] : 0) - atom.place);
      cost[k * n + i] = atom.cost * (problem.weight ? problem.weight[i] : 1);
      turn[k * n + i] = -atom.sign;
    }
  }
  return turn;
}

void Design::add_dense(const Problem& problem, const Vec& turn) {
  dense_.resize(problem.columns(), rows());
  gather_design(problem, all_rows(problem).data(), problem.n, dense_);
  Index first = 0;
  for (const auto& block : problem.blocks) {
    unit.segment(first, block->columns()) = block->unit();
    first += block->columns();
  }
  for (Index at = problem.n; at < rows(); ++at) dense_.col(at) = dense_.col(at - problem.n);
  for (Index at = 0; at < rows(); ++at) dense_.col(at) *= turn[at];
}

// Column (group, effect) has the multipliers of the group's rows.
void Design::add_groups(const Problem& problem, const Vec& turn) {
  const Index q = problem.effects(), n = problem.n;
  const Mat z = gather_multipliers(problem);
  unit.tail(q * problem.groups) = problem.multipliers->unit().replicate(problem.groups, 1);
  std::vector<std::vector<int>> members(problem.groups);
  for (Index i = 0; i < n; ++i) members[problem.group[i] - 1].push_back(static_cast<int>(i));
  for (const std::vector<int>& member : members)
    for (Index a = 0; a < q; ++a) {
      for (Index first = 0; first < rows(); first += n)
        for (int i : member) {
          by_column_.at.push_back(static_cast<int>(first + i));
          by_column_.value.push_back(turn[first + i] * z(a, i));
        }
      by_column_.start.push_back(static_cast<Index>(by_column_.at.size()));
    }
}

void Design::add_sparse(const Problem& problem, const Vec& turn) {
  const SparseColumns& sparse = problem.sparse;
  if (sparse.columns == 0) return;
  for (Index j = 0; j < sparse.columns; ++j) {
    const int begin = sparse.start[j], end = sparse.start[j + 1];
    const double scale = power_of_two(sparse.value + begin, sparse.value + end);
    unit[dense() + j] = scale;
    for (Index first = 0; first < rows(); first += problem.n)
      for (int k = begin; k < end; ++k) {
        const Index at = first + sparse.row[k];
        by_column_.at.push_back(static_cast<int>(at));
        by_column_.value.push_back(turn[at] * sparse.value[k] * scale);
      }
    by_column_.start.push_back(static_cast<Index>(by_column_.at.size()));
  }
}

Design::Entries Design::turned(const Entries& from, Index lines) {
  Entries out;
  out.start.assign(lines + 1, 0);
  for (int i : from.at) ++out.start[i + 1];
  std::partial_sum(out.start.begin(), out.start.end(), out.start.begin());
  out.at.resize(from.at.size());
  out.value.resize(from.at.size());
  std::vector<Index> next(out.start.begin(), out.start.end() - 1);
  for (Index j = 0; j + 1 < static_cast<Index>(from.start.size()); ++j)
    for (Index k = from.start[j]; k < from.start[j + 1]; ++k) {
      const Index to = next[from.at[k]]++;
      out.at[to] = static_cast<int>(j);
      out.value[to] = from.value[k];
    }
  return out;
}

Vec Design::times(ConstVecRef b) const {
  Vec out = Vec::Zero(rows());
  if (dense() > 0) out.noalias() = dense_.transpose() * b.head(dense());
  for (Index i = 0; i < rows(); ++i)
    for (Index k = by_row_.start[i]; k < by_row_.start[i + 1]; ++k)
      out[i] += by_row_.value[k] * b[dense() + by_row_.at[k]];
  return out;
}

Vec Design::transposed(ConstVecRef a) const {
  Vec out = Vec::Zero(columns());
  if (dense() > 0) out.head(dense()).noalias() = dense_ * a;
  for (Index j = dense(); j < columns(); ++j)
    for (Index k = by_column_.start[j - dense()]; k < by_column_.start[j - dense() + 1]; ++k)
      out[j] += by_column_.value[k] * a[by_column_.at[k]];
  return out;
}

Vec Design::column_squares(ConstVecRef weight) const {
  Vec out = Vec::Zero(columns());
  for (Index i = 0; i < rows() && dense() > 0; ++i)
    out.head(dense()) += weight[i] * dense_.col(i).cwiseAbs2();
  for (Index j = dense(); j < columns(); ++j)
    for (Index k = by_column_.start[j - dense()]; k < by_column_.start[j - dense() + 1]; ++k)
      out[j] += weight[by_column_.at[k]] * by_column_.value[k] * by_column_.value[k];
  return out;
}

Vec Design::row_squares(ConstVecRef weight) const {
  Vec out = Vec::Zero(rows());
  for (Index i = 0; i < rows(); ++i) {
    if (dense() > 0) out[i] = dense_.col(i).cwiseAbs2().dot(weight.head(dense()));
    for (Index k = by_row_.start[i]; k < by_row_.start[i + 1]; ++k)
      out[i] += weight[dense() + by_row_.at[k]] * by_row_.value[k] * by_row_.value[k];
  }
  return out;
}

Mat Design::columns_at(const std::vector<Index>& chosen) const {
  Mat out = Mat::Zero(rows(), static_cast<Index>(chosen.size()));
  for (Index f = 0; f < out.cols(); ++f) {
    const Index j = chosen[f];
    if (j < dense()) out.col(f) = dense_.row(j).transpose();
    for (Index k = j < dense() ? 0 : by_column_.start[j - dense()];
         j >= dense() && k < by_column_.start[j - dense() + 1]; ++k)
      out(by_column_.at[k], f) = by_column_.value[k];
  }
  return out;
}

// (chosen dense columns, r) of rows first .. first + r - 1.
Mat Design::dense_rows(const std::vector<Index>& chosen, Index first, Index r) const {
  if (static_cast<Index>(chosen.size()) == dense()) return dense_.middleCols(first, r);
  Mat out(static_cast<Index>(chosen.size()), r);
  for (Index f = 0; f < out.rows(); ++f) out.row(f) = dense_.row(chosen[f]).segment(first, r);
  return out;
}

void Design::add_gram(const std::vector<Index>& chosen, ConstVecRef weight, Mat& out,
                      Host& host) const {
  const auto first_sparse = std::lower_bound(chosen.begin(), chosen.end(), dense());
  const std::vector<Index> own(chosen.begin(), first_sparse);
  const Index p = static_cast<Index>(own.size()), chunk = chunk_of(p);
  std::vector<Index> place(columns() - dense(), -1);
  for (Index f = p; f < static_cast<Index>(chosen.size()); ++f) place[chosen[f] - dense()] = f;
  WeightedGram squares;
  for (Index first = 0; first < rows(); first += chunk) {
    check(host);
    const Mat c = dense_rows(own, first, std::min(chunk, rows() - first));
    if (p > 0) squares.add(c.data(), p, c.cols(), weight.data() + first, out.data(), out.rows());
    for (Index i = 0; i < c.cols(); ++i)
      add_row(first + i, c.col(i), place, weight[first + i], out);
  }
}

// The products of a row's sparse entries with these, and with its dense ones c.
void Design::add_row(Index i, ConstVecRef c, const std::vector<Index>& place, double weight,
                     Mat& out) const {
  for (Index k = by_row_.start[i]; k < by_row_.start[i + 1]; ++k) {
    const Index f = place[by_row_.at[k]];
    if (f < 0) continue;
    const double x = weight * by_row_.value[k];
    out.row(f).head(c.size()) += x * c.transpose();
    for (Index l = by_row_.start[i]; l <= k; ++l)
      if (place[by_row_.at[l]] >= 0) out(f, place[by_row_.at[l]]) += x * by_row_.value[l];
  }
}

void Design::add_row_gram(ConstVecRef weight, Mat& out, Host& host) const {
  const Index n = rows(), chunk = chunk_of(n);
  WeightedGram squares;
  for (Index first = 0; first < dense(); first += chunk) {
    check(host);
    const Mat c = dense_.middleRows(first, std::min(chunk, dense() - first)).transpose();
    squares.add(c.data(), n, c.cols(), weight.data() + first, out.data(), n);
  }
  for (Index j = dense(); j < columns(); ++j) {
    const Index begin = by_column_.start[j - dense()], end = by_column_.start[j - dense() + 1];
    for (Index k = begin; k < end; ++k)
      for (Index l = begin; l <= k; ++l)
        out(by_column_.at[k], by_column_.at[l]) +=
            weight[j] * by_column_.value[k] * by_column_.value[l];
  }
}

Design Design::select(const std::vector<Index>& chosen) const {
  Design out;
  out.kink = kink;
  out.cost = cost;
  out.unit.resize(static_cast<Index>(chosen.size()));
  const Index dense_left =
      std::lower_bound(chosen.begin(), chosen.end(), dense()) - chosen.begin();
  out.dense_.resize(dense_left, rows());
  for (Index f = 0; f < out.unit.size(); ++f) {
    const Index j = chosen[f];
    out.unit[f] = unit[j];
    if (f < dense_left) out.dense_.row(f) = dense_.row(j);
    else out.by_column_.append(by_column_, j - dense());
  }
  out.by_row_ = turned(out.by_column_, rows());
  return out;
}

void Design::Entries::append(const Entries& from, Index j) {
  const Index begin = from.start[j], end = from.start[j + 1];
  at.insert(at.end(), from.at.begin() + begin, from.at.begin() + end);
  value.insert(value.end(), from.value.begin() + begin, from.value.begin() + end);
  start.push_back(static_cast<Index>(at.size()));
}

}  // namespace bsvm
