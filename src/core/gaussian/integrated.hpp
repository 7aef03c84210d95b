#pragma once
#include "approximation.hpp"
#include "base/progress.hpp"
#include "coefficients/prior_density.hpp"
#include "rows/integrated/integrated_source.hpp"

namespace bsvm {

// With the effects of one grouping factor integrated out of the likelihood (models.md, row 26) what
// is left are few coefficients b, and hyper-parameters theta. Given theta, b is Gaussian about
// its mode, with the Hessian there, and
//
//   log p(theta, y) = log p(y, b, theta) - log|H|/2 + d log(2 pi)/2      at the mode (Laplace).
//
// With Centre::mean averages over that Gaussian at sqrt(3) standard deviations along axes of it (as
// Gauss and Hermite's rule with three nodes has them) take their place: E gradient = 0 gives its
// mean, E Hessian = -E[gradient e'] (Stein) its precision. Where they differ little, what the top
// shows mends the other nodes too; where they differ much, as where hardly smoothed kinks are
// few, each node has its own, and the bound E log p + entropy in place of Laplace's.
// Coefficients of a State are the dense columns, then the other factors' effects.
class Integrated : public Conditional {
 public:
  Integrated(const Problem& problem, Centre centre, int threads, const Options& options,
             Host& host);

  Node climb() override;
  Node at(ConstVecRef theta, const Node& from) override;
  Mat curvature(const Node& top) override;
  void finish(std::vector<Node>& nodes) override;

 private:
  using Part = PriorDensity::Part;
  // log p(y, b, theta) and the rows' share of it; gradient and minus the second derivatives are
  // in b and then what of theta the rows see.
  struct Look {
    Vec b, theta;
    double rows, value;
    Vec row_gradient, gradient;
    Mat row_curvature, curvature;
  };

  // Averages over a node's Gaussian: log density, its gradient, minus its second derivatives along
  // the rows of the inverse factor.
  struct Average {
    double value;
    Vec gradient;
    Mat curvature;
  };

  // How far a node went: the largest change of a curvature, and standard deviations; and what of
  // log density it gains.
  struct Moved {
    double bent, length, gain;
  };

  Vec point(ConstVecRef b, ConstVecRef theta) const;
  Look look(ConstVecRef b, ConstVecRef theta);
  void add_priors(Look& look) const;
  Vec newton_step(const Look& now, bool with_theta, double& gain) const;
  bool rise(Vec step, Look& now);
  double follow(Look& now) const;
  void climb_from(Look& now);
  Node node(const Look& look) const;

  // integrated_average.cpp
  void look_aside(const Vec& b, ConstVecRef theta);
  Mat axes(const Mat& inverse_factor, Mat& turn);
  Average average(const Node& node, double value, ConstVecRef gradient);
  Moved move(const Average& average, Node& node) const;
  double bound(const Average& average, const Node& node) const;
  void learn(Node& top);
  static Mat changed(const Mat& before, const Mat& after);
  Mat changed_factor(const Mat& inverse_factor) const;
  bool averaged(Node& node);

  GroupPosterior outside(const GroupPosterior& inside) const;
  Mat precision_change(const Part& part, ConstVecRef theta, Index k) const;
  Mat precision_products(const Look& look, const Mat& root) const;
  Mat bent_by_theta(const Look& look) const;
  void record(double value);

  const Problem& problem_;
  Centre centre_;
  IntegratedSource source_;
  Options options_;
  Host& host_;
  ClimbShare share_;
  PriorDensity prior_;
  Index d_, h_;             // coefficients, free parameters
  Index seen_;              // of which rows see: the integrated effects', the likelihood's
  RowSums sums_;
  Look top_;        // the highest
  bool own_average_ = false;  // has each node averages of its own?
  Vec shift_;       // (d) else what the top's do to every mean
  Mat change_;      // (d, d), and to every precision, from either side
  Mat gram_;        // (d, d) of all rows, once it is asked for
};

}  // namespace bsvm
