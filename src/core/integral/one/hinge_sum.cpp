#include "hinge_sum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "normal_piece.hpp"
#include "special/functions.hpp"

namespace bsvm {

namespace {

constexpr double kNegligible = 40;   // what has fallen by this much is no longer there

}  // namespace

void HingeSum::sort() {
  const auto before = [](const Kink& a, const Kink& b) {
    if (a.at != b.at) return a.at < b.at;
    return a.row < b.row || (a.row == b.row && a.pull < b.pull);
  };
  const size_t count = kinks_.size();
  if (count > 24) return std::sort(kinks_.begin(), kinks_.end(), before);
  for (size_t k = 1; k < count; ++k) {
    const Kink now = kinks_[k];
    size_t to = k;
    for (; to > 0 && before(now, kinks_[to - 1]); --to) kinks_[to] = kinks_[to - 1];
    kinks_[to] = now;
  }
}

// Sums from either end, so that a slope that should be small is not a difference of large ones.
void HingeSum::find_slopes() {
  const size_t count = kinks_.size();
  leaving_.resize(count + 1);
  entered_.resize(count + 1);
  leaving_[count] = entered_[0] = 0;
  for (size_t k = count; k > 0; --k)
    leaving_[k - 1] = leaving_[k] + (kinks_[k - 1].leaves ? kinks_[k - 1].jump : 0);
  for (size_t k = 0; k < count; ++k)
    entered_[k + 1] = entered_[k] + (kinks_[k].leaves ? 0 : kinks_[k].jump);
}

double HingeSum::segment_end(Index k, int direction) const {
  if (direction > 0) return k < static_cast<Index>(kinks_.size()) ? kinks_[k].at : kInfinite;
  return k > 0 ? kinks_[k - 1].at : -kInfinite;
}

void HingeSum::find_mode() {
  Index low = 0, high = static_cast<Index>(kinks_.size());
  while (low < high) {  // the first segment at whose upper end the integrand falls
    const Index k = (low + high) / 2;
    if (segment_slope(k) <= kinks_[k].at) high = k;
    else low = k + 1;
  }
  mode_segment_ = low;
  mode_ = std::max(segment_slope(low), segment_end(low, -1));
}

double HingeSum::log_integral(const EffectRows& rows, double s) const {
  return log_p(rows, s * mode_) - 0.5 * mode_ * mode_ + std::log(moment_[0]) - 0.5 * kLog2Pi;
}

template <int K>
void HingeSum::add_piece(int direction, Index segment, double fall, double scale,
                         const Piece& piece) {
  double j[K + 1];
  piece_moments<K>(piece.slope, piece.length, fall, j);
  const double away = std::abs(piece.start - mode_);
  Segment& to = segments_[segment];
  double power[5] = {1, away, away * away, 0, 0};
  if (K == 4) power[3] = power[2] * away, power[4] = power[2] * power[2];
  constexpr double choose[5][5] = {
      {1, 0, 0, 0, 0}, {1, 1, 0, 0, 0}, {1, 2, 1, 0, 0}, {1, 3, 3, 1, 0}, {1, 4, 6, 4, 1}};
  double about[5] = {};
  for (int k = 0; k <= K; ++k) {
    for (int i = 0; i <= k; ++i) about[k] += choose[k][i] * power[k - i] * j[i];
    about[k] *= k % 2 ? direction * scale : scale;
    moment_[k] += about[k];
  }
  to.mass += about[0];
  to.first += about[1];
  to.second += about[2];
  pieces_[direction > 0].push_back(piece);
  pieces_[direction > 0].back().mass = about[0];
}

// Outwards from the mode until nothing is left.
template <int K>
void HingeSum::fall(int direction) {
  double at = mode_, log = 0, scale = 1;  // the integrand's, exp(log)
  Index k = mode_segment_;
  for (;; k += direction) {
    const double end = segment_end(k, direction), length = direction * (end - at);
    if (length > 0) {
      const double slope = std::max(0.0, direction * (at - segment_slope(k)));
      const double fall = piece_fall(slope, length);
      add_piece<K>(direction, k, fall, scale, {at, slope, length, log, 0});
      log -= fall;
      scale *= std::exp(-fall);
    }
    if (!(log > -kNegligible) || std::isinf(end)) break;
    segments_[direction > 0 ? k : k - 1].edge = scale;
    at = end;
  }
  (direction > 0 ? high_ : low_) = k;
}

template <int K>
void HingeSum::run(const EffectRows& rows, double s) {
  cut(rows, s);
  sort();
  find_slopes();
  find_mode();
  segments_.assign(kinks_.size() + 1, Segment());
  for (double& each : moment_) each = 0;
  for (int side : {0, 1}) pieces_[side].clear();
  fall<K>(-1);
  fall<K>(1);
  if (!(moment_[0] > 0 && moment_[0] < kInfinite)) beyond_numbers();
}

// For every kink, over the segments where its row is within the hinge: their share, and that of
// a moment.
template <class Moment>
void HingeSum::find_inside(Moment moment) {
  const Index count = static_cast<Index>(kinks_.size());
  double total = 0;
  for (Index k = low_; k <= high_; ++k) total += moment(segments_[k]);
  Inside below;
  inside_.resize(count);
  const double scale = 1 / moment_[0];
  for (Index k = 0; k < count; ++k) {
    if (k >= low_ && k <= high_) {
      below.mass += segments_[k].mass;
      below.moment += moment(segments_[k]);
    }
    if (k == high_) below = {moment_[0], total};
    inside_[k] = kinks_[k].leaves
                     ? Inside{below.mass * scale, below.moment * scale}
                     : Inside{(moment_[0] - below.mass) * scale, (total - below.moment) * scale};
  }
}

void HingeSum::add_gradient(const EffectRows& rows, VecRef out) const {
  for (size_t k = 0; k < kinks_.size(); ++k) {
    const double factor = kinks_[k].pull * inside_[k].mass;
    if (factor != 0) add_multiple(out.data(), rows.c + kinks_[k].row * rows.d, factor, rows.d);
  }
}

// The last row of the Hessian.
void HingeSum::add_scale(const EffectRows& rows, double psi, EffectSums& out) {
  const double a = 2 * mode_, scale = 1 / moment_[0];
  const double second = a * a * moment_[2] + 2 * a * moment_[3] + moment_[4];
  const Index d = rows.d;
  out.hessian(d, d) = second * scale - psi * psi - 2 * (mode_ * mode_ + psi);
  for (size_t k = 0; k < kinks_.size(); ++k) {
    const Index i = kinks_[k].row;
    const double factor = kinks_[k].pull * (inside_[k].moment - inside_[k].mass * psi);
    if (factor == 0) continue;
    for (Index j = 0; j < d; ++j) out.hessian(d, j) += factor * rows.c[i * d + j];
  }
}

// The mean of c_i / z_i over the kinks, each as its weight and the density there say.
void HingeSum::find_shift(const EffectRows& rows, bool kinks) {
  shift_.setZero(rows.d);
  double total = 0;
  for (Index k = low_; kinks && k < high_; ++k) {
    const double weight = kinks_[k].jump * segments_[k].edge;
    total += weight;
    if (weight > 0)
      add_multiple(shift_.data(), rows.c + kinks_[k].row * rows.d, weight / rows.z[kinks_[k].row],
                   rows.d);
  }
  if (total > 0) shift_ /= total;
  if (!shift_.allFinite()) shift_.setZero();
}

void HingeSum::take_rest(const EffectRows& rows, Index row) {
  rest_.resize(rows.d);
  subtract_multiple(rest_.data(), rows.c + row * rows.d, shift_.data(), rows.z[row], rows.d);
}

// How dl/d rest changes from segment to segment, from that of the mode on: a kink takes
// w cost sign(z) rest from it.
void HingeSum::add_segments(const EffectRows& rows, double s, int direction, MatRef out) {
  const double scale = 1 / moment_[0];
  jumps_.assign(rows.d, 0);
  for (Index k = mode_segment_; k != (direction > 0 ? high_ : low_);) {
    const Kink& kink = kinks_[direction > 0 ? k : k - 1];
    const double sign = rows.z[kink.row] > 0 ? -direction : direction;
    take_rest(rows, kink.row);
    add_multiple(jumps_.data(), rest_.data(), sign * std::abs(kink.pull), rows.d);
    k += direction;
    const double share = segments_[k].mass * scale;
    if (share == 0) continue;
    outer_.add(jumps_.data(), share, out);
    add_multiple(centre_.data(), jumps_.data(), share, rows.d);
    add_multiple(mixed_.data(), jumps_.data(), segments_[k].first * scale / s, rows.d);
  }
}

void HingeSum::add_curvature(const EffectRows& rows, double s, bool kinks, MatRef out) {
  const double mean = moment_[1] / moment_[0], spread = moment_[2] / moment_[0] - mean * mean;
  find_shift(rows, kinks);
  outer_.start(rows.d);
  centre_.assign(rows.d, 0);
  mixed_.setZero(rows.d);
  add_segments(rows, s, -1, out);
  add_segments(rows, s, 1, out);
  outer_.add(centre_.data(), -1, out);
  for (Index k = low_; kinks && k < high_; ++k) {
    const Index i = kinks_[k].row;
    const double density = segments_[k].edge / moment_[0];
    take_rest(rows, i);
    outer_.add(rest_.data(), -std::abs(kinks_[k].pull) * density / std::abs(rows.z[i] * s), out);
  }
  outer_.add(shift_.data(), (spread - 1) / s / s, out);
  outer_.finish(out);
  add_multiple(mixed_.data(), centre_.data(), -mean / s, rows.d);
  for (Index j = 0; j < rows.d; ++j)
    for (Index i = j; i < rows.d; ++i)
      out(i, j) += shift_[i] * mixed_[j] + mixed_[i] * shift_[j];
}

void HingeSum::integrate(const EffectRows& rows, double s, Depth depth, EffectSums& out) {
  if (depth == Depth::value) run<0>(rows, s);
  else if (depth == Depth::gradient) run<2>(rows, s);
  else run<4>(rows, s);
  out.value = log_integral(rows, s);
  if (depth == Depth::value) return;
  const double a = 2 * mode_, psi = (a * moment_[1] + moment_[2]) / moment_[0];
  find_inside([a](const Segment& k) { return a * k.first + k.second; });
  out.gradient.setZero(rows.d + 1);
  add_gradient(rows, out.gradient);
  add_flat(rows, out.gradient);
  out.gradient[rows.d] = mode_ * mode_ - 1 + psi;
  if (depth == Depth::gradient) return;
  out.hessian.setZero(rows.d + 1, rows.d + 1);
  add_curvature(rows, s, depth == Depth::curvature,
                out.hessian.topLeftCorner(rows.d, rows.d));
  add_scale(rows, psi, out);
}

void HingeSum::law(const EffectRows& rows, double s, EffectLaw& out) {
  run<2>(rows, s);
  const double mean = moment_[1] / moment_[0];
  out.mean = s * (mode_ + mean);
  out.variance = s * s * (moment_[2] / moment_[0] - mean * mean);
  find_inside([](const Segment& k) { return k.first; });
  out.slope.setZero(rows.d);
  for (size_t k = 0; k < kinks_.size(); ++k) {
    const Index i = kinks_[k].row;
    const double factor = inside_[k].moment - inside_[k].mass * mean;
    add_multiple(out.slope.data(), rows.c + i * rows.d,
                 kinks_[k].pull * s * factor, rows.d);
  }
}

// What lies beyond `at`, which is on that side of the mode.
double HingeSum::tail_mass(double at, int direction) const {
  const std::vector<Piece>& pieces = pieces_[direction > 0];
  double sum = 0;
  for (size_t k = pieces.size(); k > 0; --k) {
    const Piece& piece = pieces[k - 1];
    const double into = direction * (at - piece.start);
    if (into <= 0) {
      sum += piece.mass;
      continue;
    }
    if (into >= piece.length) break;
    const double slope = piece.slope + into, length = piece.length - into;
    double part;
    piece_moments<0>(slope, length, piece_fall(slope, length), &part);
    return sum + part * std::exp(piece.log - piece_fall(piece.slope, into));
  }
  return sum;
}

double HingeSum::draw(const EffectRows& rows, double s, Draws& random, double& u) {
  run<0>(rows, s);
  u = s * draw_piece(random);
  return log_integral(rows, s);
}

// The law is a mixture of pieces, each a normal density's tail cut off at both ends.
double HingeSum::draw_piece(Draws& random) const {
  double left = moment_[0] * random.uniform();
  const Piece* last = nullptr;
  for (const int direction : {-1, 1})
    for (const Piece& piece : pieces_[direction > 0]) {
      left -= piece.mass;
      if (left <= 0) return piece.start + direction * draw_fall(piece, random);
      if (piece.mass > 0) last = &piece;
    }
  return last ? last->start : mode_;  // rounding left a little
}

// From exp(-slope t - t^2 / 2) on [0, length], slope >= 0, by the exponential that fits it best
// (Robert 1995).
double HingeSum::draw_fall(const Piece& piece, Draws& random) {
  const double slope = piece.slope, rate = 0.5 * (slope + std::sqrt(slope * slope + 4));
  const double most = std::min(rate, slope + piece.length);
  const double share = std::expm1(-rate * piece.length);
  while (true) {
    const double t = -std::log1p(share * random.uniform()) / rate, away = slope + t - rate;
    if (2 * std::log(random.uniform()) <= (most - rate) * (most - rate) - away * away) return t;
  }
}

void HingeSum::distribution(const EffectRows& rows, double s, ConstVecRef at, VecRef out) {
  run<0>(rows, s);
  for (Index k = 0; k < at.size(); ++k) {
    const double e = at[k] / s;
    out[k] = e < mode_ ? tail_mass(e, -1) / moment_[0] : 1 - tail_mass(e, 1) / moment_[0];
  }
}

}  // namespace bsvm
