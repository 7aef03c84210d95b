#include "globs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bsvm {

namespace {

constexpr Index kLeastHinges = 10000;  // that are kept however wide they are
constexpr Index kHingesEach = 20;      // at least, for a coefficient
constexpr Index kRowsEach = 40;        // of a level in a sample: with fewer, levels are sampled
constexpr double kOnMargin = 1e-7;     // of u
constexpr int kTogetherSummed = 4096;

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

double Globs::look(HingePoints& points, Host& host) {
  best_ = points.best;
  crowded_ = false;
  kept_ = some_ = none();
  limit_ = std::numeric_limits<double>::infinity();
  at_best_ = at_next_ = {Vec::Zero(unit().size())};
  double loss = 0, some = 0, moved = 0;  // sums of sums: there may be many rows
  Index last = 0;
  reader_.each(points, host, [&](const Hinge& hinge) {
    if (hinge.row / kTogetherSummed != last) {
      last = hinge.row / kTogetherSummed;
      loss += some;
      some = 0;
    }
    some += hinge.cost * std::max(hinge.next, 0.0);
    moved += (hinge.next - hinge.best) * (hinge.next - hinge.best);
    if (distance(hinge) > limit_) return beyond(hinge);
    kept_.add(hinge);
    if (static_cast<Index>(kept_.size()) > most_) keep_nearest();
  });
  at_best_.flush();
  at_next_.flush();
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

double Globs::Kept::number(std::size_t k, Index j) const {
  if (j < p) return c[k * static_cast<std::size_t>(p) + static_cast<std::size_t>(j)];
  return j < p + q ? z[k * static_cast<std::size_t>(q) + static_cast<std::size_t>(j - p)] : kink[k];
}

// Takes these hinges, of one level: equal ones as one, and with `pairs` any two that are left of a
// split, again and again, at the median of what differs most. A split keeps equal ones together.
void Globs::Kept::join(const Kept& from, std::size_t* first, std::size_t* last, bool pairs) {
  const std::ptrdiff_t size = last - first;
  Index widest = 0;
  double most = 0;
  for (Index j = 0; j < p + q + 1 && size > 1; ++j) {
    double sum = 0, squares = 0;
    const double origin = from.number(*first, j);
    for (const std::size_t* k = first; k < last; ++k) {
      const double x = from.number(*k, j) - origin;
      sum += x;
      squares += x * x;
    }
    const double spread = squares - sum * sum / static_cast<double>(size);
    if (squares > 0 && std::max(spread, 1e-300) > most) {
      most = std::max(spread, 1e-300);
      widest = j;
    }
  }
  if (most == 0 || (pairs && size == 2)) {
    add(from.at(*first));
    for (const std::size_t* k = first + 1; k < last; ++k) merge(from.at(*k));
    return;
  }
  const auto value = [&](std::size_t k) { return from.number(k, widest); };
  std::size_t* middle = first + size / 2;
  std::nth_element(first, middle, last,
                   [&](std::size_t a, std::size_t b) { return value(a) < value(b); });
  const double median = value(*middle);
  middle = std::stable_partition(first, last, [&](std::size_t k) { return value(k) < median; });
  if (middle == first)
    middle = std::stable_partition(first, last, [&](std::size_t k) { return value(k) <= median; });
  join(from, first, middle, pairs);
  join(from, middle, last, pairs);
}

// The nearer half stays. Where even that is on the margin, all of it may hold the minimum, as with a
// rare class: there hinges become one, which is below their sum.
void Globs::keep_nearest() {
  std::vector<double> distances;
  for (std::size_t k = 0; k < kept_.size(); ++k) distances.push_back(distance(kept_.at(k)));
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  crowded_ = *middle <= kOnMargin;
  limit_ = std::min(limit_, std::max(kOnMargin, std::nextafter(*middle, 0.0)));
  const Kept all = std::move(kept_);
  kept_ = none();
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Hinge hinge = all.at(k);
    if (distance(hinge) > limit_) beyond(hinge);
    else kept_.add(hinge);
  }
  if (crowded_) join_crowd();
}

// Equal ones, which nothing is lost by; if these are few, neighbours.
void Globs::join_crowd() {
  for (bool pairs : {false, true}) {
    if (pairs && static_cast<Index>(kept_.size()) <= most_ / 4 * 3) return;
    const Kept all = std::move(kept_);
    kept_ = none();
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return all.level[a] < all.level[b];
    });
    for (std::size_t first = 0, last; first < order.size(); first = last) {
      last = first + 1;
      while (last < order.size() && all.level[order[last]] == all.level[order[first]]) ++last;
      kept_.join(all, order.data() + first, order.data() + last, pairs);
    }
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
  if (sum.recent.size() == 0) sum.recent = Vec::Zero(p + 2);
  for (Index j = 0; j < p; ++j) sum.recent[j] += factor * hinge.c[j];
  for (Index a = 0; a < q; ++a) sum.a[p + hinge.level * q + a] += factor * hinge.z[a];
  sum.recent[p] += cost * hinge.kink;
  sum.recent[p + 1] += cost;
  if (++sum.count == kTogetherSummed) sum.flush();
}

void Globs::Linear::flush() {
  const Index p = recent.size() - 2;
  count = 0;
  if (p < 0) return;
  a.head(p) += recent.head(p);
  kink += recent[p];
  cost += recent[p + 1];
  recent.setZero();
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
  rest.flush();
  const Vec& b = at_next ? next_ : best_;
  const double value = rest.kink - rest.a.dot(b);
  const double enough = 10 * rest.a.cwiseAbs().dot(Vec::Ones(b.size()) + b.cwiseAbs());
  rest.kink += std::max(0.0, enough - value);
  rest.cost = std::max(value, enough);
  add_linear(rest, rows);
  return Design(std::move(rows), unit());
}

}  // namespace bsvm
