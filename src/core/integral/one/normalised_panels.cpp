// A NormalisedHinge's panels: between kinks, few rows at a time.
#include <algorithm>
#include <cmath>

#include "integral/rules/legendre.hpp"
#include "normalised_hinge.hpp"

namespace bsvm {

namespace {

constexpr Index kBatch = 256;        // nodes that are looked at together
constexpr double kSaturated = 10.5;  // |f| beyond which log p is linear to 1e-10

// Up to which change of the log integrand (kappa), and which nearness of poles (rough), a
// rule is good to 1e-10; to about 1e-7 with both twice that.
struct Limit {
  double change, rough;
};
constexpr Limit kLimits[] = {{0.003, 0.002}, {0.2, 0.06}, {0.6, 0.2},
                             {1.5, 0.35},    {3.6, 0.65}, {5, 0.95}};

// The shortest rule that will do `below` the maximum, or -1.
int choose_rule(double change, double rough, double below, double ease) {
  for (int k = 0; k < 6; ++k)
    if (rough <= ease * kLimits[k].rough &&
        change <= ease * kLimits[k].change * std::exp(below / (2 * kLegendre[k].order)))
      return k;
  return -1;
}

}  // namespace

Probe NormalisedHinge::probe(const Leaf& leaf, double e) const {
  Probe out = WindowSearch::probe(leaf.rows.data(), static_cast<Index>(leaf.rows.size()),
                                  weighted_, e);
  if (!leaf.base) return out;
  double basis[kChebyshev];
  const Level& base = *leaf.base;
  chebyshev().basis((e - 0.5 * (base.low + base.high)) / (0.5 * (base.high - base.low)), basis);
  for (Index k = 0; k < kChebyshev; ++k) {
    out.value += basis[k] * base.value[k];
    out.first += basis[k] * base.first[k];
    out.second += basis[k] * base.second[k];
  }
  return out;
}

// How near the rows' poles are, of which those beyond the margin are e^-4 as strong.
double NormalisedHinge::roughness(const Leaf& leaf, double centre, double half) const {
  double most = 0;
  for (const LineRow& row : leaf.rows) {
    const double f = std::abs(row.o + row.z * centre), reach = half * std::abs(row.z);
    if (f < 1) most = std::max(most, 1.2732395447351628 * reach);
    else if (f - reach < kSaturated) most = std::max(most, 0.213 * reach);
  }
  return most;
}

// Between kinks, cut where masses are asked for.
void NormalisedHinge::add_stretch(const Leaf& leaf, double low, double high, const Probe* known) {
  for (auto cut = std::upper_bound(cuts_.begin(), cuts_.end(), low);
       cut != cuts_.end() && *cut < high; ++cut) {
    add_panels(leaf, low, *cut, nullptr);
    low = *cut;
    known = nullptr;
  }
  add_panels(leaf, low, high, known);
}

// Halved until a rule will do.
void NormalisedHinge::add_panels(const Leaf& leaf, double low, double high, const Probe* known) {
  waiting_.assign(1, {low, high});
  while (!waiting_.empty()) {
    const auto [a, b] = waiting_.back();
    waiting_.pop_back();
    const double centre = 0.5 * (a + b), half = 0.5 * (b - a);
    if (!(half > 0)) continue;
    Probe at{};
    if (known && std::abs(known->e - centre) <= half) {
      at = *known;
      const double away = centre - at.e;
      at.value += away * (at.first - 0.5 * away * at.second);
      at.first -= away * at.second;
    } else {
      at = probe(leaf, centre);
    }
    known = nullptr;
    const double rise = half * std::abs(at.first);  // concave here: no more than this
    const double below = reference_ - at.value - rise;
    if (below > kDeep + 4) continue;
    const int rule = choose_rule(rise + 0.5 * half * half * at.second,
                                 roughness(leaf, centre, half), std::max(0.0, below), ease_);
    if (rule < 0 && half > 1e-14 * std::abs(centre)) {
      waiting_.push_back({a, centre});
      waiting_.push_back({centre, b});
    } else {
      add_panel(leaf, a, b, rule < 0 ? 5 : rule);
    }
  }
}

void NormalisedHinge::add_panel(const Leaf& leaf, double low, double high, int rule) {
  const Legendre& nodes = kLegendre[rule];
  if (static_cast<Index>(node_.size()) + nodes.order > kBatch) flush(leaf);
  const double centre = 0.5 * (low + high), half = 0.5 * (high - low);
  for (int k = 0; k < nodes.order / 2; ++k)
    for (double side : {-half, half}) {
      node_.push_back(centre + side * nodes.x[k]);
      node_weight_.push_back(half * nodes.w[k]);
    }
}

// The nodes that wait enter the sums.
void NormalisedHinge::flush(const Leaf& leaf) {
  if (node_.empty()) return;
  while (node_.size() % 4 != 0) {
    node_.push_back(node_.back());
    node_weight_.push_back(0);
  }
  const Index n = static_cast<Index>(node_.size()), r = static_cast<Index>(leaf.rows.size());
  value_.assign(n, 0);
  if (leaf.base) add_base(leaf);
  const bool slopes = depth_ != Depth::value;
  if (slopes && static_cast<Index>(slope_.size()) < n * r) slope_.resize(n * r);
  hinge_kernels().terms(leaf.rows.data(), r, weighted_, node_.data(), n, value_.data(),
                        product_of(r, n), slopes ? slope_.data() : nullptr, nullptr, nullptr);
  add_masses();
  if (slopes) add_row_moments(leaf);
  if (bends()) add_products(leaf);
  node_.clear();
  node_weight_.clear();
}

// Room for the kernel's product, all one, where it can do without logarithms.
double* NormalisedHinge::product_of(Index rows, Index nodes) {
  divisor_.assign(nodes, 1);
  return weighted_ || rows >= kMostProduct ? nullptr : divisor_.data();
}

// The polynomial of rows that are smooth here, at the nodes.
void NormalisedHinge::add_base(const Leaf& leaf) {
  const Level& base = *leaf.base;
  const double centre = 0.5 * (base.low + base.high), half = 0.5 * (base.high - base.low);
  basis_.resize(node_.size() * kChebyshev);
  for (size_t p = 0; p < node_.size(); ++p) {
    double* basis = basis_.data() + p * kChebyshev;
    chebyshev().basis((node_[p] - centre) / half, basis);
    for (Index k = 0; k < kChebyshev; ++k) value_[p] += basis[k] * base.value[k];
  }
}

void NormalisedHinge::add_masses() {
  const size_t n = node_.size();
  mass_.resize(n);
  moment_.resize(n);
  for (size_t p = 0; p < n; ++p) mass_[p] = value_[p] - 0.5 * node_[p] * node_[p] - reference_;
  hinge_kernels().exponentials(mass_.data(), static_cast<Index>(n));
  for (size_t p = 0; p < n; ++p) {
    const double e = node_[p], x = e - centre_;
    const double mass = mass_[p] *= node_weight_[p] / divisor_[p];
    moment_[p] = mass * x * (moment_of_ == Moment::mean ? 1 : 2 * centre_ + x);
    sum_[0] += mass;
    sum_[1] += mass * x;
    sum_[2] += mass * x * x;
    sum_[3] += mass * x * x * x;
    sum_[4] += mass * x * x * x * x;
    if (!cuts_.empty())
      bins_[std::lower_bound(cuts_.begin(), cuts_.end(), e) - cuts_.begin()] += mass;
  }
}

// The rows' own sums, and what will give the smooth ones theirs.
void NormalisedHinge::add_row_moments(const Leaf& leaf) {
  const size_t n = node_.size();
  const Index r = static_cast<Index>(leaf.rows.size());
  for (auto* each : {&first_, &mixed_, &second_}) each->assign(r, 0);
  hinge_kernels().moments(leaf.rows.data(), r, node_.data(), static_cast<Index>(n), slope_.data(),
                          mass_.data(), moment_.data(), first_.data(), mixed_.data(),
                          second_.data());
  for (Index k = 0; k < r; ++k) {
    gamma_[leaf.index[k]] += first_[k];
    xi_[leaf.index[k]] += mixed_[k];
    kappa_[leaf.index[k]] += second_[k];
  }
  if (!leaf.base) return;
  for (size_t p = 0; p < n; ++p)
    for (Index k = 0; k < kChebyshev; ++k) {
      leaf.base->mass[k] += mass_[p] * basis_[p * kChebyshev + k];
      leaf.base->moment[k] += moment_[p] * basis_[p * kChebyshev + k];
    }
}

// Of the rows' slopes, or of the coefficients'.
void NormalisedHinge::add_products(const Leaf& leaf) {
  const Index n = static_cast<Index>(node_.size()), r = static_cast<Index>(leaf.rows.size());
  const Index d = given_->d;
  const Eigen::Map<const Mat> slope(slope_.data(), n, r);
  const Eigen::Map<const Vec> mass(mass_.data(), n);
  if (by_rows_) {
    scaled_.noalias() = mass.asDiagonal() * slope;
    for (Index j = 0; j < r; ++j)
      for (Index i = j; i < r; ++i) product_(i, j) += scaled_.col(i).dot(slope.col(j));
    return;
  }
  at_nodes_.setZero(d, n);
  for (Index k = 0; k < r; ++k) {
    const double* c = given_->c + index_[leaf.index[k]] * d;
    for (Index p = 0; p < n; ++p)
      for (Index j = 0; j < d; ++j) at_nodes_(j, p) += slope(p, k) * c[j];
  }
  if (leaf.base)
    at_nodes_.noalias() +=
        leaf.base->slope * Eigen::Map<const Mat>(basis_.data(), kChebyshev, n);
  scaled_.noalias() = at_nodes_ * mass.asDiagonal();
  product_.noalias() += scaled_ * at_nodes_.transpose();
}

// What the row's slope jumps by at f = -1 or 1, times the density there.
void NormalisedHinge::add_jump(const LineRow& row, Index index, double f, double density) {
  kappa_[index] += row_kink(row.y * f < 0 ? 0 : 1, row.y).jump * row.w / std::abs(row.z) * density;
}

// At all kinks of a leaf's rows between low and high.
void NormalisedHinge::add_kinks(const Leaf& leaf, double low, double high) {
  for (size_t first = 0; first < leaf.rows.size();) {
    node_.clear();
    size_t last = first;
    for (; last < leaf.rows.size() && node_.size() + 2 <= kBatch; ++last)
      for (double f : {-1.0, 1.0}) node_.push_back(kink(leaf.rows[last], f));
    for (double& e : node_)
      if (!(e > low && e < high)) e = low;
    const size_t wanted = node_.size();
    while (node_.size() % 4 != 0) node_.push_back(low);
    value_.assign(node_.size(), 0);
    if (leaf.base) add_base(leaf);
    hinge_kernels().terms(leaf.rows.data(), static_cast<Index>(leaf.rows.size()), weighted_,
                          node_.data(), static_cast<Index>(node_.size()), value_.data(), nullptr,
                          nullptr, nullptr, nullptr);
    for (size_t k = 0; k < wanted; ++k) {
      const double e = node_[k];
      if (e == low) continue;
      const LineRow& row = leaf.rows[first + k / 2];
      add_jump(row, leaf.index[first + k / 2], k % 2 == 0 ? -1 : 1,
               std::exp(value_[k] - 0.5 * e * e - reference_));
    }
    first = last;
  }
  node_.clear();
}

}  // namespace bsvm
