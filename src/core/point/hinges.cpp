#include "hinges.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "model/gather.hpp"

namespace bsvm {

namespace {

constexpr Index kTogether = 512;  // rows that are looked at together

}  // namespace

HingeReader::HingeReader(const Problem& whole, const RowParts& parts)
    : parts_(parts), p_(whole.columns()), q_(whole.effects()), levels_(whole.groups),
      hinges_(whole.n * whole.likelihood->atoms(1).count), unit_(Vec::Ones(p_ + q_ * levels_)) {
  Index first = 0;
  for (const auto& block : whole.blocks) {
    unit_.segment(first, block->columns()) = block->unit();
    first += block->columns();
  }
  if (q_ > 0) unit_.tail(q_ * levels_) = whole.multipliers->unit().replicate(levels_, 1);
}

void HingeReader::each(HingePoints& points, Host& host, const Visit& visit) const {
  Mat b(2, p_);
  b << points.best.head(p_).transpose(), points.next.head(p_).transpose();
  Looked at;
  parts_([&](const Problem& part) {
    const std::vector<int> order = by_level(part);
    for (Index first = 0, last; first < part.n; first = last) {
      if (host.interrupted()) throw Interrupted();
      last = q_ > 0 ? first + 1 : std::min(first + kTogether, part.n);
      while (q_ > 0 && last < part.n && part.group[order[last]] == part.group[order[first]]) ++last;
      const Rows rows{part, order.data() + first, order.data() + last,
                      q_ > 0 ? part.first_level + part.group[order[first]] - 1 : 0};
      if (points.effects.size() > 0) find_effects(rows, b, points, at, host);
      each_of(rows, b, points, at, visit);
    }
  });
}

std::vector<int> HingeReader::by_level(const Problem& part) const {
  std::vector<int> order = all_rows(part);
  if (q_ > 0)
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return part.group[a] < part.group[b]; });
  return order;
}

void HingeReader::each_of(const Rows& rows, const Mat& b, HingePoints& points, Looked& at,
                          const Visit& visit) const {
  const double* best = points.best.data() + p_ + rows.level * q_;
  const double* next = points.next.data() + p_ + rows.level * q_;
  for (const int* from = rows.first; from < rows.last; from += kTogether) {
    look_at(rows, from, b, at);
    for (Hinge& hinge : at.hinges) {
      for (Index a = 0; a < q_; ++a) {
        hinge.best += hinge.sign * hinge.z[a] * best[a];
        hinge.next += hinge.sign * hinge.z[a] * next[a];
      }
      visit(hinge);
    }
  }
}

// kTogether of the rows, from `first` on.
void HingeReader::look_at(const Rows& rows, const int* first, const Mat& b, Looked& out) const {
  const Problem& part = rows.part;
  const Index r = std::min<Index>(kTogether, rows.last - first);
  out.c.resize(p_, r);
  out.z.resize(q_, r);
  gather_design(part, first, r, out.c);
  if (q_ > 0) gather_multipliers(part, first, r, out.z);
  out.f.noalias() = b * out.c;
  out.hinges.clear();
  for (Index i = 0; i < r; ++i) {
    const double offset = part.offset ? part.offset[first[i]] : 0;
    const double weight = part.weight ? part.weight[first[i]] : 1;
    const Atoms of = part.likelihood->atoms(part.y[first[i]]);
    for (int k = 0; k < of.count; ++k) {
      const double sign = of.atom[k].sign, kink = sign * (offset - of.atom[k].place);
      out.hinges.push_back({part.first_row + first[i], out.c.col(i).data(), out.z.col(i).data(),
                            sign, kink, of.atom[k].cost * weight, rows.level,
                            kink + sign * out.f(0, i), kink + sign * out.f(1, i)});
    }
  }
}

void HingeReader::find_effects(const Rows& rows, const Mat& b, HingePoints& points, Looked& at,
                               Host& host) const {
  DesignRows own;
  own.dense = q_;
  for (const int* from = rows.first; from < rows.last; from += kTogether) {
    look_at(rows, from, b, at);
    for (const Hinge& hinge : at.hinges) {
      for (Index a = 0; a < q_; ++a) own.c.push_back(-hinge.sign * hinge.z[a]);
      own.kink.push_back(hinge.next);
      own.cost.push_back(hinge.cost);
      own.start.push_back(0);
    }
  }
  const Design design(std::move(own), Vec::Ones(q_));
  const Point found = minimise_convex(design, points.effects, PointOptions{}, host);
  if (found.end == Termination::interrupted) throw Interrupted();
  if (found.b.size() < q_) throw NumericalFailure("The effects of a level have no objective that is a "
                                                  "number. Check the scale of predictors and offset.");
  points.next.segment(p_ + rows.level * q_, q_) = found.b;
}

}  // namespace bsvm
