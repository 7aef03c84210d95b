#pragma once
#include <vector>

#include "approximation.hpp"
#include "coefficients/coefficients.hpp"
#include "kernel_newton.hpp"

namespace bsvm {

// What RowNewton does where columns are about as many as rows, and every prior has one variance: then
// f ~ N(offset, sum_b s_b K_b), K_b of the columns of a prior, and a step costs as much as inverting
// a matrix of the rows. Hyper-parameters climb by the gradient d bound / d K (learn/additive.hpp).
// Columns may depend on parameters that are inferred, such as length scales, and the likelihood may have
// some; derivatives in these are differences, of K and of the rows' terms at q.
class FullKernel : public Conditional {
 public:
  FullKernel(const Problem& problem, const Options& options, Host& host);

  // Is it the quicker way to fit this Problem?
  static bool suits(const Problem& problem);

  Node climb() override;
  Node at(ConstVecRef theta, const Node& from) override;
  Mat curvature(const Node& top) override;

 private:
  struct Value {
    Vec theta, gradient;
    double bound = 0, prior = 0;
    KernelNewton::Point q;

    double objective() const { return bound + prior; }
  };
  // Where moments are matched.
  struct Rest {
    Vec theta, gradient;
    double log_density = 0;
    KernelNewton::Point q;

    double objective() const { return log_density; }
  };
  struct Part {
    Mat k;       // (n, n) of variances as they were at first
    std::vector<Index> columns;
    Vec before;  // (columns) precisions then
    bool moves;  // does a column of it depend on parameters?
  };

  void look_at_design(const State& state);
  double rows_value(ConstVecRef numbers, const KernelNewton::Point& q, bool matched) const;
  Vec scales(ConstVecRef theta);
  void take(ConstVecRef theta);
  Mat covariance(const Part& part) const;
  void add_parameters_gradient(ConstVecRef theta, const KernelNewton::Point& q, bool matched,
                               Vec& gradient);
  Value look(ConstVecRef theta, const KernelNewton::Point* near, double tolerance);
  bool matches(const Value& at, Rest& out);
  void climb_bound(Value& best);
  Node top(Rest& rest, Value& near);
  void keep(const Value& at);
  bool is_top(const Rest& rest);
  Rest climb_on(const Rest& from);
  Vec rows_gradient(ConstVecRef theta, const KernelNewton::Point& q, bool matched);
  bool rests(ConstVecRef theta, RowSites sites, Rest& out);
  Vec gradient_near(const Node& top, const Vec& by);
  Node node(const Rest& rest);
  Node unmatched(const Value& best);
  Node node(ConstVecRef theta, const KernelNewton::Point& q, bool matched, double log_density);
  void record(const Value& at);
  void say(const char* what, double value);

  const Problem& problem_;
  Problem rows_;     // if the likelihood has parameters: the rows, and it as it is at these
  Options options_;
  Host& host_;
  Coefficients side_;
  Mat design_;       // (p, n) C', at the parameters
  Vec numbers_;      // that it is at; those of the likelihood are others
  std::vector<Part> parts_;
  State scratch_;  // for the priors' precisions at a theta
  Mat k_;       // (n, n) the covariance of f at the present theta
  Mat pull_;    // (n, n) room for a gradient's
  KernelNewton newton_;
  KernelNewton::Point top_;   // of the highest bound, or near the top of the density
  std::vector<RowSites> known_;  // where moments were matched
  Mat curvature_;  // of log p where moments are matched,
  Vec curved_at_;  // at this theta, if they are known
  bool unmatched_near_ = false;  // did moments fail to match in a gradient_near() a matched top?
};

}  // namespace bsvm
