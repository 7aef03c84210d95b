#pragma once
#include <memory>

#include "approximation.hpp"
#include "base/progress.hpp"
#include "coefficients/coefficients.hpp"
#include "rows/row_source.hpp"

namespace bsvm {

// What DenseAscent does, where a source eliminates effects of groups: natural-gradient steps
//
//   A <- A + t (D + C'WC - A),   mu <- mu + t A^{-1} gradient,   W = diag(-2 dl/dv),
//
// which the source makes by blending the rows' weights. W is the curvature too (Price 1958), so the
// mean takes Newton's step. t grows with every step that raises the bound; else q goes back to
// where it was and t shrinks.
class Ascent : public Conditional {
 public:
  Ascent(const Model& problem, std::unique_ptr<RowSource> source, const Options& options,
         Host& host);

  // Hyper-parameters climb along: after each pass they go to where the bound is best.
  Node climb() override;
  Node at(ConstVecRef theta, const Node& from) override;
  Mat curvature(const Node& top) override;

 private:
  // A State, its hyper-parameters, the bound and its gradient in these.
  struct Point {
    State state;
    Vec theta, pull;
    double bound;
    Vec shared = Vec();  // of the gradient, by the rows' shares of variances
  };

  Point begin(const Vec& mean);
  void start_again(Point& best);
  Point run(Point from, double tolerance, bool climbing);
  bool pass(bool climbing, Point& at, Coefficients::Proposal& next);
  void advance(const Coefficients::Proposal& next, bool climbing, Point& point);
  void value(const Mat& group_moments, Point& point) const;
  bool finished(const Point& at, double gain, double tolerance) const;
  void record(const Point& point);
  void find_pull(Point& point) const;
  Node node(Point point);

  const Model& problem_;
  std::unique_ptr<RowSource> source_;
  Options options_;
  Host& host_;
  ClimbShare share_;
  Coefficients side_;
  RowSums sums_;
  bool concave_, started_ = false;  // was this run's mean given?
  State last_;  // the best of the last run
};

}  // namespace bsvm
