#include "pair_integral.hpp"

#include <algorithm>
#include <cmath>

#include "special/functions.hpp"

namespace bsvm {

namespace {

constexpr Index kMostRowsWithLines = 2000;     // rows: lines take their square
constexpr double kLeastSteep = 1e-30;
constexpr double kRounding = 1e-14;   // of a log integrand; of the integrand as much times that
constexpr double kMostRounding = 1e-2;
constexpr Index kMostPanels = 500;    // between two ends: what still disagrees then is rounding
constexpr double kLayer = 8;          // of e_1, over which the inner integral smooths a kink;
constexpr double kSharp = 0.5;        // over less than this of a stretch it gets its own panels

// Gauss and Kronrod's pair of rules with 7 and 15 nodes (QUADPACK, qk15).
constexpr double kX[8] = {0.99145537112081263921, 0.94910791234275852453, 0.86486442335976907279,
                          0.74153118559939443986, 0.58608723546769113029, 0.40584515137739716691,
                          0.20778495500789846760, 0};
constexpr double kKronrod[8] = {0.022935322010529224964, 0.063092092629978553291,
                                0.10479001032225018384,  0.14065325971552591875,
                                0.16900472663926790283,  0.19035057806478540991,
                                0.20443294007529889241,  0.20948214108472782801};
constexpr double kGauss[4] = {0.12948496616886969327, 0.27970539148927666790,
                              0.38183005050511894495, 0.41795918367346938776};

}  // namespace

void pair_columns(const PairRows& of, const PairScale& scale, Mat& out) {
  const Index d = of.rows.d, r = of.rows.r;
  out.resize(d + 2, r);
  for (Index i = 0; i < r; ++i) {
    std::copy(of.rows.c + i * d, of.rows.c + (i + 1) * d, out.col(i).data());
    out(d, i) = scale.f00 * of.rows.z[i];
    out(d + 1, i) = of.second[i];
  }
}

void PairIntegral::take(const PairRows& of, const PairScale& scale) {
  of_ = &of;
  scale_ = scale;
  const EffectRows& rows = of.rows;
  const Index d = rows.d, r = rows.r;
  pair_columns(of, scale, columns_);
  o_.resize(r);
  along_ = columns_.row(d) + scale.f10 * columns_.row(d + 1);
  rows_ = {rows.y, rows.weight, o_.data(), of.second, columns_.data(), d + 2, r};
  most_ = inner_->most(rows_);
}

// The kinks of a row; of one that has one alone that of the other class too.
std::array<double, 2> PairIntegral::places(Index row) const {
  const double y = rows_.y[row], first = inner_->row_kink(0, y).place;
  return {first, inner_->row_kinks() > 1 ? inner_->row_kink(1, y).place : -first};
}

// The rows with e_0 given.
const EffectRows& PairIntegral::at(double e) {
  for (Index i = 0; i < rows_.r; ++i) o_[i] = of_->rows.o[i] + along_[i] * e;
  return rows_;
}

// The inner integral's curvature is unknown: the prior's is used.
Probe PairIntegral::probe(double e) {
  inner_->integrate(at(e), scale_.f11, Depth::gradient, sums_);
  const Index d = of_->rows.d;
  const double slope = sums_.gradient[d] + scale_.f10 * sums_.gradient[d + 1];
  return {e, sums_.value - 0.5 * e * e, slope - e, 1};
}

double PairIntegral::value(double e) {
  inner_->integrate(at(e), scale_.f11, Depth::value, sums_);
  return std::exp(sums_.value - 0.5 * e * e - best_.value);
}

// More than one stretch to begin with, since the integrand may have more than one mode: at
// quantiles of where single rows are undecided.
void PairIntegral::add_starts(double reach) {
  if (!std::isfinite(reach)) beyond_numbers();
  start_.clear();
  for (Index i = 0; i < rows_.r; ++i) {
    const auto [one, other] = places(i);
    const double e = (0.5 * (one + other) - of_->rows.o[i]) / along_[i];
    if (std::abs(e) < reach) start_.push_back(e);  // not where it is no number
  }
  std::sort(start_.begin(), start_.end());
  double low = -reach;
  const size_t parts = std::min<size_t>(4, start_.size() + 1);
  for (size_t k = 1; k <= parts; ++k) {
    const double high = k < parts ? start_[k * start_.size() / parts] : reach;
    if (!(high > low)) continue;
    open_.push_back({low, high, probe(std::clamp(0.0, low + 0.1 * (high - low),
                                                 high - 0.1 * (high - low)))});
    low = high;
  }
}

// Kinks that the inner integral hardly smooths, and where masses are asked for.
std::vector<double> PairIntegral::ends(double low, double high,
                                       const std::vector<double>& cuts) const {
  std::vector<double> out{high};
  for (double cut : cuts)
    if (cut > low && cut < high) out.push_back(cut);
  for (Index i = 0; i < rows_.r; ++i) {
    const double width = std::abs(of_->second[i] * scale_.f11 / along_[i]);
    if (!(kLayer * width < kSharp * (high - low))) continue;
    for (double f : places(i))
      for (double away : {-kLayer * width, 0.0, kLayer * width}) {
        const double e = (f - of_->rows.o[i]) / along_[i] + away;
        if (e > low && e < high) out.push_back(e);
      }
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Halved until the two rules agree as far as rounding of the log integrand lets them.
void PairIntegral::add_panel(double low, double high) {
  const double rounding = kRounding * std::abs(best_.value);
  if (!(rounding < kMostRounding)) beyond_numbers();
  const double limit = std::max(tolerance_, rounding);
  waiting_.assign(1, {low, high});
  for (Index panels = 0; !waiting_.empty(); ++panels) {
    const auto [a, b] = waiting_.back();
    waiting_.pop_back();
    const double centre = 0.5 * (a + b), half = 0.5 * (b - a);
    if (!(half > 0)) continue;
    double kronrod = 0, gauss = 0;
    const size_t first = nodes_.size();
    for (int k = 0; k < 8; ++k)
      for (double side : {-half, half}) {
        if (k == 7 && side > 0) continue;
        const double e = centre + side * kX[k], f = value(e) * half;
        nodes_.push_back({e, f * kKronrod[k]});
        kronrod += f * kKronrod[k];
        if (k % 2 == 1) gauss += f * kGauss[k / 2];
      }
    const bool short_enough = half < 1e-9 * (high - low) || half < 1e-13 * std::abs(centre);
    if (std::abs(kronrod - gauss) <= limit * std::max(total_, kronrod) || short_enough ||
        panels >= kMostPanels) {
      total_ += kronrod;
      continue;
    }
    nodes_.resize(first);
    waiting_.push_back({a, centre});
    waiting_.push_back({centre, b});
  }
}

void PairIntegral::find_nodes(const std::vector<double>& cuts) {
  open_.clear();
  nodes_.clear();
  total_ = 0;
  best_ = probe(0);
  add_starts(std::sqrt(2 * (kDeep - std::min(best_.value - most_, 0.0))));
  find_stretches([&](double e) { return probe(e); }, [](double, double) { return 0.0; }, open_,
                 best_, found_);
  for (size_t k = 0; k < found_.size(); ++k)  // where most is, first
    if (found_[k].low <= best_.e && best_.e <= found_[k].high)
      std::rotate(found_.begin(), found_.begin() + static_cast<Index>(k), found_.end());
  for (const Stretch& each : found_) {
    double low = each.low;
    for (double high : ends(each.low, each.high, cuts)) {
      if (high > low) add_panel(low, high);
      low = high;
    }
  }
  if (!(total_ > 0 && std::isfinite(total_))) beyond_numbers();
}

// From the inner columns' derivatives to those in log f00 and f10.
void PairIntegral::scale_derivatives(double e, Depth depth) {
  const Index d = of_->rows.d;
  if (depth != Depth::gradient) {
    for (Index j : {d, d + 1}) {
      sums_.hessian.row(j) *= e;
      sums_.hessian.col(j) *= e;
    }
    sums_.hessian(d, d) += e * sums_.gradient[d];
  }
  sums_.gradient.segment(d, 2) *= e;
}

// Centred about the first node, lest the covariance cancel.
void PairIntegral::add_node(const Node& node, Depth depth, EffectSums& out) {
  const double share = node.mass / total_;
  if (share < 1e-4 * tolerance_) return;
  inner_->integrate(at(node.e), scale_.f11, depth, sums_);
  scale_derivatives(node.e, depth);
  if (centre_.size() == 0) centre_ = sums_.gradient;
  away_ = sums_.gradient - centre_;
  out.gradient += share * away_;
  if (depth == Depth::gradient) return;
  out.hessian.triangularView<Eigen::Lower>() += share * sums_.hessian;
  out.hessian.selfadjointView<Eigen::Lower>().rankUpdate(away_, share);
}

void PairIntegral::integrate(const PairRows& of, const PairScale& scale, Depth depth,
                             EffectSums& out) {
  take(of, scale);
  find_nodes({});
  out.value = best_.value + std::log(total_) - 0.5 * kLog2Pi;
  if (depth == Depth::value) return;
  const Index size = of.rows.d + 3;
  const bool lines = depth == Depth::curvature && of.rows.r <= kMostRowsWithLines;
  out.gradient.setZero(size);
  if (depth != Depth::gradient) out.hessian.setZero(size, size);
  centre_.resize(0);
  for (const Node& node : nodes_) add_node(node, lines ? Depth::smooth : depth, out);
  if (depth != Depth::gradient)
    out.hessian.selfadjointView<Eigen::Lower>().rankUpdate(out.gradient, -1);
  out.gradient += centre_;
  if (lines) add_kinks(out);
}

void PairIntegral::add_kinks(EffectSums& out) {
  for (Index i = 0; i < rows_.r; ++i)
    for (int k = 0; k < inner_->row_kinks(); ++k) add_kink(i, inner_->row_kink(k, rows_.y[i]), out);
}

// (e_0, e_1) = t n + x m with n along the row's own slope and m across: there f is at the kink
// whatever x, and x ~ N(0, 1).
//   steep             |(df/de_0, df/de_1)|: the density of f there is that of t over it
//   line_        (r)  what x is multiplied by in the rows' f
//   log_share         log of the integral along the line, times N(t; 0, 1), over the whole integral
//   still_, moving_   (d + 2) df/d(b, log f00, f10) = still + x moving; still_ then at E x
// so that E over x of its square is still_ still_' + Var x moving_ moving_'.
void PairIntegral::add_kink(Index row, const RowKink& kink, EffectSums& out) {
  const auto slope = [&](Index i) { return of_->second[i] * scale_.f11; };
  const double steep = std::hypot(along_[row], slope(row));
  const double t = (kink.place - of_->rows.o[row]) / steep;
  const double n0 = along_[row] / steep, n1 = slope(row) / steep;
  if (!(steep > kLeastSteep) || !(0.5 * t * t < kDeep + 10 + most_ - best_.value)) return;
  line_.resize(rows_.r);
  for (Index i = 0; i < rows_.r; ++i) {
    o_[i] = of_->rows.o[i] + t * (n0 * along_[i] + n1 * slope(i));
    line_[i] = i == row ? 0 : n0 * slope(i) - n1 * along_[i];
  }
  o_[row] = kink.place;
  EffectRows rows = rows_;
  rows.z = line_.data();
  rows.d = 0;
  inner_->integrate(rows, 1, Depth::value, sums_);
  const double log_share = sums_.value - 0.5 * (t * t + kLog2Pi) - best_.value -
                           std::log(total_) + 0.5 * kLog2Pi;
  if (!(log_share > std::log(1e-4 * tolerance_))) return;
  inner_->law(rows, 1, law_);
  const double weight = rows_.weight ? rows_.weight[row] : 1;
  const double share = kink.jump * weight * std::exp(log_share) / steep;
  const Index d = of_->rows.d;
  still_ = columns_.col(row);
  moving_.setZero(d + 2);
  moving_.tail(2) = -n1 * still_.tail(2);
  still_.tail(2) *= t * n0;
  still_ += law_.mean * moving_;
  auto hessian = out.hessian.topLeftCorner(d + 2, d + 2);
  hessian.selfadjointView<Eigen::Lower>().rankUpdate(still_, share);
  hessian.selfadjointView<Eigen::Lower>().rankUpdate(moving_, share * law_.variance);
}

void PairIntegral::law(const PairRows& of, const PairScale& scale, PairLaw& out) {
  take(of, scale);
  find_nodes({});
  const Index d = of.rows.d;
  Eigen::Vector2d mean = Eigen::Vector2d::Zero(), away;
  Eigen::Matrix2d square = Eigen::Matrix2d::Zero();
  Vec slope = Vec::Zero(d);
  Mat mixed = Mat::Zero(d, 2);
  const double e0 = best_.e;
  inner_->law(at(e0), scale.f11, law_);
  const Eigen::Vector2d centre(scale.f00 * e0, scale.f10 * e0 + law_.mean);
  for (const Node& node : nodes_) {
    if (node.mass < 1e-4 * tolerance_ * total_) continue;
    const double share = node.mass / total_;
    inner_->law(at(node.e), scale.f11, law_);
    inner_->integrate(rows_, scale.f11, Depth::gradient, sums_);
    away = Eigen::Vector2d(scale.f00 * node.e, scale.f10 * node.e + law_.mean) - centre;
    mean += share * away;
    square += share * away * away.transpose();
    square(1, 1) += share * law_.variance;
    slope += share * sums_.gradient.head(d);
    mixed += share * sums_.gradient.head(d) * away.transpose();
    mixed.col(1) += share * law_.slope.head(d);
  }
  out.mean = centre + mean;
  out.covariance = square - mean * mean.transpose();
  out.slope = mixed - slope * mean.transpose();
}

void PairIntegral::distribution(const PairRows& of, const PairScale& scale, Index effect,
                                ConstVecRef at_points, VecRef out) {
  take(of, scale);
  std::vector<double> cuts;
  for (Index k = 0; effect == 0 && k < at_points.size(); ++k)
    cuts.push_back(at_points[k] / scale.f00);
  find_nodes(cuts);
  out.setZero();
  Vec own(at_points.size());
  for (const Node& node : nodes_) {
    const double share = node.mass / total_;
    if (share < 1e-14) continue;
    if (effect == 0) {
      for (Index k = 0; k < at_points.size(); ++k)
        if (node.e < cuts[k]) out[k] += share;
      continue;
    }
    inner_->distribution(at(node.e), scale.f11,
                         at_points.array() - scale.f10 * node.e, own);
    out += share * own;
  }
  out = out.cwiseMin(1.0);
}

}  // namespace bsvm
