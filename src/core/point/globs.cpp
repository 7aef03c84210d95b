#include "globs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bsvm {

namespace {

constexpr Index kLeastHinges = 10000;  // that are kept however wide they are
constexpr Index kHingesEach = 20;      // at least, for a coefficient
constexpr Index kRowsEach = 40;        // of a level in a sample; where it would have fewer, levels are sampled
constexpr double kOnMargin = 1e-7;     // of u

double distance(const Hinge& hinge) { return std::min(std::abs(hinge.best), std::abs(hinge.next)); }

}  // namespace

Globs::Globs(const Problem& whole, const RowParts& parts, Index most)
    : reader_(whole, parts), most_(most / (reader_.p() + reader_.q() + 6)), kept_(none()),
      some_(none()) {
  most_ = std::max({most_, kLeastHinges, kHingesEach * unit().size()});
}

Design Globs::sample(Host& host) {
  if (reader_.hinges() > most_) stride_ = 1 + 2 * reader_.hinges() / most_;
  const bool by_levels = most_ < kRowsEach * (unit().size() - reader_.p());
  HingePoints nowhere{Vec::Zero(unit().size()), Vec::Zero(unit().size()), Penalties()};
  reader_.each(nowhere, host, [&](const Hinge& hinge) {
    if ((by_levels ? hinge.level : hinge.row) % stride_ == 0) some_.add(hinge);
  });
  // A sample is off by about this; effects are found by the next look.
  move_ = std::sqrt(static_cast<double>(reader_.p()) / static_cast<double>(some_.size()));
  DesignRows rows;
  rows.dense = reader_.p();
  add_rows(some_, static_cast<double>(stride_), rows);
  return Design(std::move(rows), unit());
}

double Globs::look(HingePoints& points, ConstVecRef pull, Host& host) {
  best_ = points.best;
  pull_ = pull;
  crowded_ = false;
  kept_ = some_ = none();
  limit_ = std::numeric_limits<double>::infinity();
  at_best_ = at_next_ = {Vec::Zero(unit().size())};
  double loss = 0, some = 0, moved = 0;  // sums of sums: there may be many rows
  Index last = 0;
  reader_.each(points, host, [&](const Hinge& hinge) {
    if (hinge.row / 512 != last) {
      last = hinge.row / 512;
      loss += some;
      some = 0;
    }
    some += hinge.cost * std::max(hinge.next, 0.0);
    moved += (hinge.next - hinge.best) * (hinge.next - hinge.best);
    if (distance(hinge) > limit_) return beyond(hinge);
    kept_.add(hinge);
    if (static_cast<Index>(kept_.size()) > most_) keep_nearest();
  });
  next_ = points.next;
  if (moved > 0) move_ = std::sqrt(moved / static_cast<double>(reader_.hinges()));
  return loss + some;
}

void Globs::Kept::add(const Hinge& hinge) {
  for (Index j = 0; j < p; ++j) c.push_back(-hinge.sign * hinge.c[j]);
  for (Index a = 0; a < q; ++a) z.push_back(-hinge.sign * hinge.z[a]);
  kink.push_back(hinge.kink);
  cost.push_back(hinge.cost);
  best.push_back(hinge.best);
  next.push_back(hinge.next);
  row.push_back(hinge.row);
  level.push_back(static_cast<int>(hinge.level));
}

// Into the last one, if it is of the same level.
void Globs::Kept::merge(const Hinge& hinge) {
  if (size() == 0 || level.back() != hinge.level) return add(hinge);
  const double sum = cost.back() + hinge.cost, share = hinge.cost / sum;
  const auto mix = [&](double& x, double y) { x += share * (y - x); };
  double* own = c.data() + c.size() - p;
  for (Index j = 0; j < p; ++j) mix(own[j], -hinge.sign * hinge.c[j]);
  own = z.data() + z.size() - q;
  for (Index a = 0; a < q; ++a) mix(own[a], -hinge.sign * hinge.z[a]);
  mix(kink.back(), hinge.kink);
  mix(best.back(), hinge.best);
  mix(next.back(), hinge.next);
  cost.back() = sum;
}

Hinge Globs::Kept::at(std::size_t k) const {
  return {row[k],   c.data() + k * static_cast<std::size_t>(p),
          z.data() + k * static_cast<std::size_t>(q), -1, kink[k], cost[k], level[k], best[k],
          next[k]};
}

// Level by level, in the order of A pull.
std::vector<std::size_t> Globs::Kept::along(const Vec& pull) const {
  std::vector<double> place(size(), 0);
  for (std::size_t k = 0; k < size(); ++k)
    for (Index j = 0; j < p; ++j) place[k] += at(k).c[j] * pull[j];
  std::vector<std::size_t> out(size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
    return level[a] != level[b] ? level[a] < level[b] : place[a] < place[b];
  });
  return out;
}

// The nearer half stays. Where even that is on the margin, all of it may hold the minimum, as with a
// rare class: there two hinges become one, which is below their sum, neighbours along the pull of the
// rows inside the margin, which they must be able to balance.
void Globs::keep_nearest() {
  std::vector<double> distances;
  for (std::size_t k = 0; k < kept_.size(); ++k) distances.push_back(distance(kept_.at(k)));
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  crowded_ = *middle <= kOnMargin;
  limit_ = std::min(limit_, std::max(kOnMargin, std::nextafter(*middle, 0.0)));
  const Kept all = std::move(kept_);
  const std::vector<std::size_t> order = crowded_ ? all.along(pull_) : std::vector<std::size_t>();
  kept_ = none();
  std::size_t left = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Hinge hinge = all.at(crowded_ ? order[k] : k);
    if (distance(hinge) > limit_) beyond(hinge);
    else if (crowded_ && ++left % 2 == 0) kept_.merge(hinge);
    else kept_.add(hinge);
  }
}

void Globs::beyond(const Hinge& hinge) {
  if (hinge.best > 0) add(hinge, 1, at_best_);
  if (hinge.next > 0) add(hinge, 1, at_next_);
  if (hinge.row % stride_ == 0) some_.add(hinge);
}

void Globs::add(const Hinge& hinge, double times, Linear& sum) const {
  const Index p = reader_.p(), q = reader_.q();
  const double cost = times * hinge.cost, factor = -hinge.sign * cost;
  for (Index j = 0; j < p; ++j) sum.a[j] += factor * hinge.c[j];
  for (Index a = 0; a < q; ++a) sum.a[p + hinge.level * q + a] += factor * hinge.z[a];
  sum.kink += cost * hinge.kink;
  sum.cost += cost;
}

void Globs::add_rows(const Kept& kept, double times, DesignRows& out) const {
  out.c.insert(out.c.end(), kept.c.begin(), kept.c.end());
  out.value.insert(out.value.end(), kept.z.begin(), kept.z.end());
  out.kink.insert(out.kink.end(), kept.kink.begin(), kept.kink.end());
  for (std::size_t k = 0; k < kept.size(); ++k) {
    out.cost.push_back(times * kept.cost[k]);
    for (Index a = 0; a < kept.q; ++a)
      out.at.push_back(static_cast<int>(kept.level[k] * kept.q + a));
    out.start.push_back(static_cast<Index>(out.at.size()));
  }
}

// A row of the mean, which costs as much as all.
void Globs::add_linear(const Linear& sum, DesignRows& out) const {
  if (!(sum.cost > 0)) return;
  const Vec mean = sum.a / sum.cost;
  out.c.insert(out.c.end(), mean.data(), mean.data() + out.dense);
  for (Index j = out.dense; j < mean.size(); ++j)
    if (mean[j] != 0) {
      out.at.push_back(static_cast<int>(j - out.dense));
      out.value.push_back(mean[j]);
    }
  out.start.push_back(static_cast<Index>(out.at.size()));
  out.kink.push_back(sum.kink / sum.cost);
  out.cost.push_back(sum.cost);
}

Design Globs::near(bool at_next) const {
  DesignRows rows;
  rows.dense = reader_.p();
  add_rows(kept_, 1, rows);
  add_linear(at_next ? at_next_ : at_best_, rows);
  return Design(std::move(rows), unit());
}

// The linear part may be of either sign: as a hinge it has a constant that keeps it above zero.
Design Globs::near_and_some(bool at_next) const {
  DesignRows rows;
  rows.dense = reader_.p();
  add_rows(kept_, 1, rows);
  add_rows(some_, static_cast<double>(stride_), rows);
  Linear rest = at_next ? at_next_ : at_best_;
  for (std::size_t k = 0; k < some_.size(); ++k) {
    const Hinge hinge = some_.at(k);
    if ((at_next ? hinge.next : hinge.best) > 0) add(hinge, -static_cast<double>(stride_), rest);
  }
  const Vec& b = at_next ? next_ : best_;
  const double value = rest.kink - rest.a.dot(b);
  const double enough = 10 * rest.a.cwiseAbs().dot(Vec::Ones(b.size()) + b.cwiseAbs());
  rest.kink += std::max(0.0, enough - value);
  rest.cost = std::max(value, enough);
  add_linear(rest, rows);
  return Design(std::move(rows), unit());
}

}  // namespace bsvm
