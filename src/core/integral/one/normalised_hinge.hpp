#pragma once
#include <memory>
#include <vector>

#include "effect_integral.hpp"
#include "integral/rules/chebyshev.hpp"
#include "integral/rules/outer_sum.hpp"
#include "window_search.hpp"

namespace bsvm {

// prod p(y | f)^w integrated over e = u / s ~ N(0, 1) by panels of Gauss-Legendre nodes between
// kinks, where the integrand counts. Rows that are smooth on a stretch of e enter it as a
// polynomial, so that a panel looks at few rows however many there are. Derivatives as in
// hinge_sum.hpp, and
//
//   d2/db db' = Cov(dl/db) + sum_i c_i c_i' (E l_i'' + what l_i' jumps by at its kinks times
//               the density there)
class NormalisedHinge : public EffectIntegral, public LineTerms {
 public:
  int row_kinks() const override { return 2; }
  RowKink row_kink(int k, double y) const override;
  const LineTerms* line() const override { return this; }
  void hurry() override { ease_ = 2; }
  void terms(const LineRow* rows, Index r, const double* x, Index points, double* log_p,
             double* slope, double* bend) const override;
  void integrate(const EffectRows& rows, double s, Depth depth, EffectSums& out) override;
  void law(const EffectRows& rows, double s, EffectLaw& out) override;
  void distribution(const EffectRows& rows, double s, ConstVecRef at, VecRef out) override;

 private:
  // What rows that are smooth on [low, high] add there, at Chebyshev's nodes.
  struct Level {
    double low = 0, high = 0;
    std::vector<double> x, value, first, second;  // (kChebyshev)
    Mat slope;                                    // (d, kChebyshev) dl/db
    std::vector<double> mass, moment;  // (kChebyshev) what integrates such polynomials
    std::vector<LineRow> smooth, active;
    std::vector<Index> smooth_row, active_row;
  };
  // Rows that are looked at node by node, and the polynomial for the others, or null.
  struct Leaf {
    const std::vector<LineRow>& rows;
    const std::vector<Index>& index;
    Level* base;
  };
  enum class Moment { square, mean };

  void take(const EffectRows& rows, double s);
  void run(const EffectRows& rows, double s, Depth depth, Moment moment);
  void run_small();
  void run_large();

  // normalised_levels.cpp
  void descend(size_t depth, double low, double high, const Level* parent,
               const std::vector<LineRow>& rows, const std::vector<Index>& index);
  void sort_rows(const std::vector<LineRow>& rows, const std::vector<Index>& index, Level& out);
  void start_level(double low, double high, const Level* parent, Level& out);
  void add_smooth(Level& level);
  void take_moments(const Level& level);
  static double split_point(const Level& level);
  void run_leaf(Level& level);
  static void pass_up(const Level& part, Level& parent);
  void add_tied_kinks(Level& level, double at);

  // normalised_panels.cpp
  void add_stretch(const Leaf& leaf, double low, double high, const Probe* known);
  void add_panels(const Leaf& leaf, double low, double high, const Probe* known);
  Probe probe(const Leaf& leaf, double e) const;
  double roughness(const Leaf& leaf, double centre, double half) const;
  void add_panel(const Leaf& leaf, double low, double high, int rule);
  void flush(const Leaf& leaf);
  double* product_of(Index rows, Index nodes);
  void add_base(const Leaf& leaf);
  void add_masses();
  void add_row_moments(const Leaf& leaf);
  void add_products(const Leaf& leaf);
  bool bends() const { return depth_ == Depth::smooth || depth_ == Depth::curvature; }
  void add_jump(const LineRow& row, Index index, double f, double density);
  void add_kinks(const Leaf& leaf, double low, double high);

  void add_rows(const EffectRows& rows, VecRef gradient) const;
  void add_scale(const EffectRows& rows, double psi, EffectSums& out) const;
  void add_curvature(const EffectRows& rows, MatRef out);

  // The task.
  double ease_ = 1;                          // of the rules' limits
  Depth depth_ = Depth::value;
  Moment moment_of_ = Moment::square;
  bool weighted_ = false, by_rows_ = true;   // products over rows, or over coefficients
  const EffectRows* given_ = nullptr;
  std::vector<double> cuts_;                 // of e: masses between them are wanted

  std::vector<LineRow> rows_;
  std::vector<Index> index_, all_, flat_;  // rows_ among those given; 0, 1, ..; and the rest
  WindowSearch search_;
  double centre_ = 0, reference_ = 0;
  std::vector<std::unique_ptr<Level>> levels_;

  // Nodes that wait, and room for what is known of them.
  std::vector<double> node_, node_weight_, value_, divisor_, mass_, moment_, slope_, basis_;
  std::vector<double> first_, mixed_, second_;  // of a leaf's rows
  std::vector<std::pair<double, double>> waiting_;
  Mat at_nodes_, scaled_;                       // (d, nodes)

  // Sums over the nodes.
  double sum_[5] = {};                   // of (e - centre)^k
  std::vector<double> gamma_, xi_, kappa_;  // (r) of slope, slope times moment, its derivative
  Mat product_;                          // of slopes, lower triangle: (r, r) or (d, d)
  std::vector<double> bins_;             // masses between the cuts
  Vec own_slope_;
  OuterSum outer_;
};

}  // namespace bsvm
