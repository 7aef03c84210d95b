#pragma once
#include <memory>
#include <vector>

#include "pair_integral.hpp"

namespace bsvm {

// What PairIntegral does, for engines, which ask often and for nearby parameters: a sum over a
// grid in the plane of (e_0, e_1) that stays where it is while parameters move a little, with kinks
// of the rows softened to the grid's width. So it is a smooth function with exact derivatives, and
// little away from the integral: 1e-4 in a group's logarithm where effects are as large as margins,
// 1e-2 where they are ten times that.
//
// Softened: at a kink S(v), v = f - place, takes the place of max(v, 0), S'' a kernel without a
// second moment, so that what a smooth density is multiplied by hardly changes. Where effects are
// so large that log p falls far within a step, PairIntegral itself is asked.
class PairGrid {
 public:
  static constexpr double kTolerance = 1e-6;  // of PairIntegral, for engines

  // A group's grid: e = centre + axes t, t at equal steps.
  struct Frame {
    Eigen::Vector2d centre = Eigen::Vector2d::Zero(), low = centre, step = centre;
    Eigen::Matrix2d axes = Eigen::Matrix2d::Identity();
    Eigen::Vector2d mean = centre, variance = centre;  // of t, as it was made
    PairScale scale{};               // likewise; softening goes by it
    double reference = 0;            // log of the highest node's mass, likewise
    Index points = 0;                // an axis; 0: there is none yet
    bool exact = false;              // no grid will do
  };

  // Both of the same likelihood; `line` must outlive the grid.
  PairGrid(const LineTerms& line, std::unique_ptr<EffectIntegral> inner)
      : law_(line), exact_(std::move(inner), kTolerance) {}

  // As PairIntegral has them; the frame is made anew where it does not fit.
  void integrate(const PairRows& of, const PairScale& scale, Depth depth, Frame& frame,
                 EffectSums& out);
  void law(const PairRows& of, const PairScale& scale, Frame& frame, PairLaw& out);

 private:
  enum class Want { moments, slopes, products };

  void take(const PairRows& of, const PairScale& scale);
  bool fit(Want want, Frame& frame);
  bool same_scale(const Frame& frame) const;
  bool fits(const Frame& frame) const;
  void make(Frame& frame);
  bool find_mass(Frame& frame);
  void cut_to_mass(Frame& frame) const;
  void find_widths(const Frame& frame);
  void run(const Frame& frame, Want want, bool soft);
  void set_line(const Frame& frame, Index line);
  void soften(const Frame& frame);
  void add_masses(const Frame& frame, Index line);
  void add_slopes();
  void add_products();
  double log_total(const Frame& frame) const;
  void add_curvature(EffectSums& out) const;

  const LineTerms& law_;
  PairIntegral exact_;
  const PairRows* of_ = nullptr;
  PairScale scale_{};
  Mat columns_;                    // (d + 2, r) c, f00 z_0, z_1
  Mat loading_;                    // (2, r) what multiplies e
  Vec soft_;                       // (r) half width of soft kinks
  std::vector<LineRow> rows_;     // on a line
  Vec x_, log_p_, mass_, e0_, e1_; // (points) on a line
  Mat slope_, bend_, moved_;       // (points, r) of log p in f; (points, d + 3) its derivatives
  Mat weights_;                    // (points, 6) mass times 1, e0, e1, e0^2, e0 e1, e1^2

  // Sums over the nodes.
  double total_ = 0, highest_ = 0;
  Eigen::Vector2d first_, second_; // of t, t^2
  std::vector<double> highest_at_[2];  // profiles of the log mass
  Mat row_slopes_, row_bends_;     // (r, 3), (r, 6) against weights_
  Mat product_;                    // (d + 3, d + 3) of moved_
  Eigen::Vector2d mean_;           // of e
  Eigen::Matrix2d square_;
  Mat mixed_;                      // (d + 3, 2) moved_ against e
};

}  // namespace bsvm
