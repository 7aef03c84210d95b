#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "effect_integral.hpp"
#include "hinge_integral.hpp"
#include "integral/rules/outer_sum.hpp"
#include "linalg/small.hpp"
#include "row_atoms.hpp"

namespace bsvm {

// exp{-w sum_k cost_k max(0, sign_k (f - place_k))} integrated over e = u / s ~ N(0, 1), one hinge
// a row or several. The kinks t = (place - o_i) / (z_i s) cut the line into segments, on each of
// which the log integrand is linear in e but for -e^2 / 2, and it is concave: so from its mode it
// falls both ways, by pieces whose moments about their upper ends are positive sums. With
// x = e - mode and psi = e^2 - mode^2 = 2 mode x + x^2, eta = log s:
//
//   d/deta = E e^2 - 1,  d2/deta2 = Var psi - 2 E e^2,  d2/db deta = Cov(psi, dl/db)
//
// since u's law alone depends on s; nothing in this cancels, whatever s. Moving b and u together
// along any shift a (d), c_i = z_i a + rest_i, leaves f but for the rests, and
//
//   d2/db db' = Cov(dl/d rest + a e / s) - a a' / s^2 - sum cost w_i p(t) rest_i rest_i' / |z_i|
//
// with the last sum over the kinks. With a that of the kinks that weigh most, what they add does not
// cancel against the covariance.
class HingeSum : public EffectIntegral {
 public:
  void integrate(const EffectRows& rows, double s, Depth depth, EffectSums& out) override;
  void law(const EffectRows& rows, double s, EffectLaw& out) override;
  double draw(const EffectRows& rows, double s, Draws& random, double& u) override;
  void distribution(const EffectRows& rows, double s, ConstVecRef at, VecRef out) override;

 protected:
  struct Kink {
    double at;     // of e
    double jump;   // by how much the slope falls there
    double pull;   // dl/df while the row is within the hinge: -w sign cost
    int row;
    bool leaves;   // for larger e the row is beyond the hinge
  };

  // What the rows' hinges are: kinks_, or flat_ of rows that do not see u; the rows' log p at u;
  // and flat rows' gradient in b.
  virtual void cut(const EffectRows& rows, double s) = 0;
  virtual double log_p(const EffectRows& rows, double u) const = 0;
  virtual void add_flat(const EffectRows& rows, VecRef gradient) const = 0;

  static double weight_of(const EffectRows& rows, Index i) {
    return rows.weight ? rows.weight[i] : 1;
  }

  std::vector<Kink> kinks_;
  std::vector<Index> flat_;

 private:
  struct Segment {
    double mass = 0, first = 0, second = 0;  // integrals of 1, x, x^2
    double edge = 0;                         // the integrand at its upper end
  };
  struct Piece {
    double start, slope, length, log;  // its upper end, and the log integrand there
    double mass;
  };

  void sort();
  void find_slopes();
  void find_mode();
  double segment_slope(Index k) const { return leaving_[k] - entered_[k]; }
  double segment_end(Index k, int direction) const;
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
  void add_scale(const EffectRows& rows, double psi, EffectSums& out);
  void add_curvature(const EffectRows& rows, double s, bool kinks, MatRef out);
  void find_shift(const EffectRows& rows, bool kinks);
  void take_rest(const EffectRows& rows, Index row);
  void add_segments(const EffectRows& rows, double s, int direction, MatRef out);
  double tail_mass(double at, int direction) const;
  double draw_piece(Draws& random) const;
  static double draw_fall(const Piece& piece, Draws& random);

  std::vector<double> leaving_, entered_;  // (segments) slopes of rows inside, by kind
  double mode_ = 0;
  Index mode_segment_ = 0, low_ = 0, high_ = 0;  // segments low_ .. high_ have mass
  std::vector<Segment> segments_;
  std::vector<Piece> pieces_[2];         // below and above the mode, outwards
  double moment_[5] = {};                // integrals of x^k
  std::vector<Inside> inside_;           // (kinks) shares where the row is within the hinge
  std::vector<double> jumps_, centre_, rest_;  // (d)
  Vec shift_, mixed_;                          // (d)
  OuterSum outer_;
};

// The integral of a Law, which has
//
//   int count() const                      hinges a row
//   Atoms atoms(double y) const            what they are
//   double log_p(const EffectRows&, double u) const
//   double most(const EffectRows&) const   a bound of log_p, whatever u
//
// and is inlined.
template <class Law>
class HingesOf : public HingeSum {
 public:
  explicit HingesOf(const Law& law) : law_(law) {}

  int row_kinks() const override { return law_.count(); }
  RowKink row_kink(int k, double y) const override {
    const Atom atom = law_.atoms(y).atom[k];
    return {atom.place, -atom.cost};
  }
  double most(const EffectRows& rows) const override { return law_.most(rows); }

 private:
  void cut(const EffectRows& rows, double s) override {
    kinks_.clear();
    flat_.clear();
    for (Index i = 0; i < rows.r; ++i) {
      const double slope = rows.z[i] * s;
      if (!std::isfinite(rows.o[i]) || !std::isfinite(slope)) beyond_numbers();
      if (std::abs(slope) < kFlat) {
        flat_.push_back(i);
        continue;
      }
      const Atoms own = law_.atoms(rows.y[i]);
      for (int k = 0; k < law_.count(); ++k) {
        const Atom& atom = own.atom[k];
        const double cost = atom.cost * weight_of(rows, i);
        kinks_.push_back({(atom.place - rows.o[i]) / slope, cost * std::abs(slope),
                          -atom.sign * cost, static_cast<int>(i), -atom.sign * slope > 0});
      }
    }
  }

  double log_p(const EffectRows& rows, double u) const override { return law_.log_p(rows, u); }

  void add_flat(const EffectRows& rows, VecRef gradient) const override {
    for (Index i : flat_) {
      const Atoms own = law_.atoms(rows.y[i]);
      for (int k = 0; k < law_.count(); ++k) {
        const Atom& atom = own.atom[k];
        if (atom.sign * (rows.o[i] - atom.place) > 0)
          add_multiple(gradient.data(), rows.c + i * rows.d,
                       -atom.sign * atom.cost * weight_of(rows, i), rows.d);
      }
    }
  }

  Law law_;
};

}  // namespace bsvm
