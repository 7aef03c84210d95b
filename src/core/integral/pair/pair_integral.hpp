#pragma once
#include <array>
#include <memory>
#include <vector>

#include "integral/one/effect_integral.hpp"
#include "integral/rules/stretches.hpp"

namespace bsvm {

// Two effects of a level, u = F e with e ~ N(0, I) and F lower triangular: rows.z multiplies
// the first, `second` (r) the other.
struct PairRows {
  EffectRows rows;
  const double* second;
};

struct PairScale {
  double f00, f10, f11;  // f00, f11 > 0
};

// (d + 2, r) what derivatives of f in b and the scale are made of: c, f00 z_0, z_1.
void pair_columns(const PairRows& of, const PairScale& scale, Mat& out);

struct PairLaw {
  Eigen::Vector2d mean = Eigen::Vector2d::Zero();
  Eigen::Matrix2d covariance = Eigen::Matrix2d::Zero();
  Mat slope;  // (d, 2) dE u/db
};

// Both integrated out: e_1 by an EffectIntegral, and of what is left, a smooth function of e_0,
// adaptive quadrature. An object holds scratch.
//
// With g and H the inner integral's gradient and Hessian at e_0, the outer ones are E g and
// E H + Cov g under the law of e_0. Kinks of rows that hardly see the second effect would be
// spikes of H: what a row's kink adds is its jump times an integral along the line in the plane of
// (e_0, e_1) where the row is at its kink, which is an inner integral once more.
class PairIntegral {
 public:
  // To about `tolerance`, of the whole.
  explicit PairIntegral(std::unique_ptr<EffectIntegral> inner, double tolerance = 1e-10)
      : inner_(std::move(inner)), tolerance_(tolerance) {}

  // Derivatives in (b, log f00, f10, log f11): gradient (d + 3), hessian likewise.
  void integrate(const PairRows& of, const PairScale& scale, Depth depth, EffectSums& out);

  void law(const PairRows& of, const PairScale& scale, PairLaw& out);

  // P(u_effect <= at_k).
  void distribution(const PairRows& of, const PairScale& scale, Index effect, ConstVecRef at,
                    VecRef out);

 private:
  struct Node {
    double e, mass;
  };

  void take(const PairRows& of, const PairScale& scale);
  std::array<double, 2> places(Index row) const;
  const EffectRows& at(double e);
  Probe probe(double e);
  double value(double e);
  void find_nodes(const std::vector<double>& cuts);
  void add_starts(double reach);
  std::vector<double> ends(double low, double high, const std::vector<double>& cuts) const;
  void add_panel(double low, double high);
  void scale_derivatives(double e, Depth depth);
  void add_node(const Node& node, Depth depth, EffectSums& out);
  void add_kinks(EffectSums& out);
  void add_kink(Index row, const RowKink& kink, EffectSums& out);

  std::unique_ptr<EffectIntegral> inner_;
  double tolerance_;

  const PairRows* of_ = nullptr;
  PairScale scale_{};
  EffectRows rows_{};       // as the inner integral sees them
  Vec o_, along_;           // (r) at e_0, and by what f changes with it
  Mat columns_;             // (d + 2, r) c, f00 z_0, z_1
  std::vector<double> start_;
  std::vector<Stretch> open_, found_;
  std::vector<std::pair<double, double>> waiting_;
  Probe best_{};
  double most_ = 0;         // the inner integral's logarithm, at most
  double total_ = 0;        // of the masses
  std::vector<Node> nodes_;
  EffectSums sums_;
  EffectLaw law_;
  Vec centre_, away_;       // (d + 3)
  Vec line_;                // (r) what multiplies the place on a line
  Vec still_, moving_;      // (d + 2) a row's derivatives there
};

}  // namespace bsvm
