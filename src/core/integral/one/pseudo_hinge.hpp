#pragma once
#include <vector>

#include "effect_integral.hpp"
#include "integral/rules/outer_sum.hpp"

namespace bsvm {

// exp{-2 w (1 - y f)_+} integrated over e = u / s ~ N(0, 1). The kinks
// t_i = (y_i - o_i) / (z_i s) cut the line into segments, on each of which the log integrand is
// linear in e but for -e^2 / 2, and it is concave: so from its mode it falls both ways, by pieces
// whose moments about their upper ends are positive sums. With x = e - mode and
// psi = e^2 - mode^2 = 2 mode x + x^2, eta = log s:
//
//   d/deta = E e^2 - 1,  d2/deta2 = Var psi - 2 E e^2,  d2/db deta = Cov(psi, dl/db)
//
// since u's law alone depends on s; nothing in this cancels, whatever s. Moving b and u together
// along any shift a (d), c_i = z_i a + rest_i, leaves f but for the rests, and
//
//   d2/db db' = Cov(dl/d rest + a e / s) - a a' / s^2 - sum_i 2 w_i p(t_i) rest_i rest_i' / |z_i|
//
// With a that of the kinks that weigh most, what they add does not cancel against the covariance.
class PseudoHinge : public EffectIntegral {
 public:
  int row_kinks() const override { return 1; }
  RowKink row_kink(int k, double y) const override;
  void integrate(const EffectRows& rows, double s, Depth depth, EffectSums& out) override;
  void law(const EffectRows& rows, double s, EffectLaw& out) override;
  double draw(const EffectRows& rows, double s, Draws& random, double& u) override;
  void distribution(const EffectRows& rows, double s, ConstVecRef at, VecRef out) override;

 private:
  struct Kink {
    double at;     // of e
    double jump;   // by how much the slope falls there
    Index row;
    bool leaves;   // for larger e the row is beyond its margin
  };
  struct Segment {
    double mass = 0, first = 0, second = 0;  // integrals of 1, x, x^2
    double edge = 0;                         // the integrand at its upper end
  };
  struct Piece {
    double start, slope, length, log;  // its upper end, and the log integrand there
    double mass;
  };

  void cut(const EffectRows& rows, double s);
  void sort();
  void find_slopes();
  void find_mode();
  double segment_slope(Index k) const { return leaving_[k] - entered_[k]; }
  double segment_end(Index k, int direction) const;
  double value_at_mode(const EffectRows& rows, double s) const;
  double log_integral(const EffectRows& rows, double s) const;
  template <int K>
  void fall(int direction);
  template <int K>
  void add_piece(int direction, Index segment, double fall, double scale, const Piece& piece);
  template <int K>
  void run(const EffectRows& rows, double s);

  struct Inside {
    double mass = 0, moment = 0;
  };
  template <class Moment>
  void find_inside(Moment moment);
  void add_gradient(const EffectRows& rows, VecRef out) const;
  void add_flat(const EffectRows& rows, EffectSums& out) const;
  void add_scale(const EffectRows& rows, double psi, EffectSums& out);
  void add_curvature(const EffectRows& rows, double s, bool kinks, MatRef out);
  void find_shift(const EffectRows& rows, bool kinks);
  void take_rest(const EffectRows& rows, Index row);
  void add_segments(const EffectRows& rows, double s, int direction, MatRef out);
  double tail_mass(double at, int direction) const;
  double draw_piece(Draws& random) const;
  static double draw_fall(const Piece& piece, Draws& random);

  std::vector<Kink> kinks_;
  std::vector<Index> flat_;              // rows that do not see u
  std::vector<double> leaving_, entered_;  // (segments) slopes of rows inside, by kind
  double mode_ = 0;
  Index mode_segment_ = 0, low_ = 0, high_ = 0;  // segments low_ .. high_ have mass
  std::vector<Segment> segments_;
  std::vector<Piece> pieces_[2];         // below and above the mode, outwards
  double moment_[5] = {};                // integrals of x^k
  std::vector<Inside> inside_;           // (kinks) shares where the row is within its margin
  std::vector<double> jumps_, centre_, rest_;  // (d)
  Vec shift_, mixed_;                          // (d)
  OuterSum outer_;
};

}  // namespace bsvm
