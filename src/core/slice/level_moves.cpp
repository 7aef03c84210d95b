#include "level_moves.hpp"

#include "linalg/small.hpp"
#include "random/slice.hpp"

namespace bsvm {

namespace {

constexpr double kWidth = 5;  // of an interval, in standard deviations

// u' A v of q numbers.
double form(const Mat& a, const double* u, const double* v, Index q) {
  double out = 0;
  for (Index i = 0; i < q; ++i)
    for (Index j = 0; j < q; ++j) out += a(i, j) * u[i] * v[j];
  return out;
}

double dot(const double* x, const double* y, Index q) {
  double out = 0;
  for (Index a = 0; a < q; ++a) out += x[a] * y[a];
  return out;
}

// Column a of L^{-T}.
void find_axis(const double* factor, Index q, Index a, double* axis) {
  std::fill(axis, axis + q, 0.0);
  axis[a] = 1;
  small_backward(factor, q, axis);
}

}  // namespace

void LevelMoves::run(Predictors& rows, Draws& random) {
  const Index main = working_.main(), count = static_cast<Index>(working_.factors().size());
  const Mat main_prior = gaussian_.prior_of(working_.factors()[main]);
  for (Index t = 0; t < count; ++t) {
    const FactorRows& own = working_.factors()[t];
    const Mat prior = gaussian_.prior_of(own);
    for (Index l = 0; t != main && l < own.levels; ++l)
      move_with_main(own, t, l, prior, main_prior, rows, random);
  }
  const FactorRows& own = working_.factors()[main];
  for (Index g = 0; g < own.levels; ++g) move_level(own, main, g, main_prior, rows, random);
}

// Their y, f and weights, and room for what f changes by.
void LevelMoves::gather(const Predictors& rows) {
  const Index r = static_cast<Index>(touched_.size());
  for (Arr* own : {&y_, &f_, &slope_, &weight_})
    if (own->size() < r) own->resize(2 * r);
  for (Index k = 0; k < r; ++k) {
    y_[k] = problem_.y[touched_[k]];
    f_[k] = rows.f()[touched_[k]];
    if (problem_.weight) weight_[k] = problem_.weight[touched_[k]];
  }
}

double LevelMoves::slice_touched(double pull, double bend, Predictors& rows, Draws& random) {
  const Index r = static_cast<Index>(touched_.size());
  const double* weight = problem_.weight ? weight_.data() : nullptr;
  const LineRows along{y_.data(), f_.data(), nullptr, slope_.data(), weight, r};
  const double t = slice_within([&](double by) {
    return rows.likelihood().along(along, by) - by * (pull + 0.5 * by * bend);
  }, kWidth, random);
  for (Index k = 0; k < r; ++k) {
    f_[k] += t * slope_[k];
    rows.f()[touched_[k]] = f_[k];
  }
  return t;
}

void LevelMoves::take(const FactorRows& own, Index g) {
  touched_.insert(touched_.end(), own.row.begin() + own.start[g],
                  own.row.begin() + own.start[g + 1]);
}

void LevelMoves::move_level(const FactorRows& own, Index t, Index g, const Mat& prior,
                            Predictors& rows, Draws& random) {
  const Index q = own.effects;
  touched_.clear();
  take(own, g);
  gather(rows);
  double* u = rows.effects().data() + own.at(g);
  double axis[kMostEffects];
  for (Index a = 0; a < q; ++a) {
    find_axis(gaussian_.factor(t, g), q, a, axis);
    for (size_t k = 0; k < touched_.size(); ++k)
      slope_[static_cast<Index>(k)] = dot(own.z.data() + touched_[k] * q, axis, q);
    const double by = slice_touched(form(prior, axis, u, q), form(prior, axis, axis, q), rows,
                                    random);
    add_multiple(u, axis, by, q);
  }
}

// Level l of factor t, with what the main factor's levels in its rows follow.
//   touched_    rows of these main levels, level by level (`followed` of them), then rows of l that
//               have none
//   axis        (q) column a of L^{-T}, along which u moves by `by`
//   others_     (m, linked levels) by what each main level's effects move with that
//   slope_      by what f moves in each touched row
//   pull, bend  first and second derivative of minus the log prior along the move
void LevelMoves::move_with_main(const FactorRows& own, Index t, Index l, const Mat& prior,
                                const Mat& main_prior, Predictors& rows, Draws& random) {
  const FactorRows& main = working_.factors()[working_.main()];
  const WorkingRows::Links& links = working_.links(t);
  const Index q = own.effects, m = main.effects, first = links.start[l], last = links.start[l + 1];
  touched_.clear();
  for (Index j = first; j < last; ++j) take(main, links.level[j]);
  const Index followed = static_cast<Index>(touched_.size());
  for (Index k = own.start[l]; k < own.start[l + 1]; ++k)
    if (main.level[own.row[k]] < 0) touched_.push_back(own.row[k]);
  gather(rows);
  others_.resize(m * (last - first));
  double* u = rows.effects().data() + own.at(l);
  double axis[kMostEffects];
  for (Index a = 0; a < q; ++a) {
    find_axis(gaussian_.joint_factor(t, l), q, a, axis);
    double pull = form(prior, axis, u, q), bend = form(prior, axis, axis, q);
    others_.setZero();
    for (Index j = first, k = 0; j < last; ++j) {
      double* other = others_.data() + (j - first) * m;
      for (Index b = 0; b < q; ++b)
        add_multiple(other, gaussian_.follow(t).col(j).data() + b * m, -axis[b], m);
      const double* now = rows.effects().data() + main.at(links.level[j]);
      pull += form(main_prior, other, now, m);
      bend += form(main_prior, other, other, m);
      const Index size = main.start[links.level[j] + 1] - main.start[links.level[j]];
      for (const Index end = k + size; k < end; ++k)
        slope_[k] = dot(main.z.data() + touched_[k] * m, other, m);
    }
    for (Index k = followed; k < static_cast<Index>(touched_.size()); ++k) slope_[k] = 0;
    for (size_t k = 0; k < touched_.size(); ++k)
      if (own.level[touched_[k]] == l)
        slope_[static_cast<Index>(k)] += dot(own.z.data() + touched_[k] * q, axis, q);
    const double by = slice_touched(pull, bend, rows, random);
    add_multiple(u, axis, by, q);
    for (Index j = first; j < last; ++j)
      add_multiple(rows.effects().data() + main.at(links.level[j]),
                   others_.data() + (j - first) * m, by, m);
  }
}

}  // namespace bsvm
