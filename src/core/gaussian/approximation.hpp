#pragma once
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "base/host.hpp"
#include "model/options.hpp"
#include "model/problem.hpp"
#include "model/result.hpp"
#include "rows/row_source.hpp"

namespace bsvm {

constexpr double kNodeTolerance = 0.05;    // on the gradient of nodes beside the top: 1e-3 nats
constexpr double kMostSpread = 1e6;        // of State::spread(), in retries from wider starts
constexpr double kThetaDifference = 1e-4;  // in theta, of derivatives
constexpr int kMoreStarts = 2;             // where the bound need not be concave
constexpr double kAway = 3;                // of their means, in standard deviations
constexpr double kLooseTolerance = 1e-5;  // on the bound, of climbs from there
constexpr double kHigherBound = 1e-3;     // than the best so far: then they led elsewhere

// What rounding makes of a bound.
inline double slack(double bound) { return 1e-13 * (1 + std::abs(bound)); }

// Everything but the hyper-parameters given these: a Gaussian.
struct Node {
  Vec theta;               // (h) free parameters of all priors (prior/prior.hpp)
  double log_density = 0;  // of theta and the rows, as approximated
  double bound = 0;        // the bound it was before moments were matched, where they could be
  bool matched = true;     // were they? Else log_density is the bound
  Vec pull;                // (h) its gradient, where it is known; or empty
  State state;             // mean and inverse factor of the coefficients
  GroupPosterior groups;
  Mat slope;               // (coefficients, h) d mean/d theta, where it is known; or empty
  Imputations imputed;     // of missing predictors

  Node() : state(Layout()) {}
};

// What a Gaussian given theta has its moments from: the mode and the Hessian there; or averages
// over the Gaussian itself.
enum class Centre { mode, mean };

// How a run went.
struct Progress {
  std::vector<TraceEntry> trace;
  int passes = 0;
  double gradient = 0;
  Termination end = Termination::pass_limit;
};

// log p(theta, y) and the rest given theta, as a function of theta.
class Conditional {
 public:
  virtual ~Conditional() = default;
  const Progress& progress() const { return progress_; }

  // The highest node there is, from any start.
  virtual Node climb() = 0;

  // The node at theta, from what is known at `from`.
  virtual Node at(ConstVecRef theta, const Node& from) = 0;

  // Minus the second derivatives of log_density at the highest node, about.
  virtual Mat curvature(const Node& top) = 0;

  // What is wanted only of the nodes that are kept, such as the groups.
  virtual void finish(std::vector<Node>& /*nodes*/) {}

 protected:
  Progress progress_;
};

// A mixture of Gaussians over a few values of the hyper-parameters.
struct Approximation {
  std::vector<Node> nodes;
  Vec weights;            // (nodes) sum to one
  double evidence = 0;    // log p(y), as approximated
  std::vector<bool> unbounded;  // (h) does its density not fall on the way up?
  Mat theta_covariance;   // (h, h)
  Progress climb;         // to the highest node
  int passes = 0;         // in all
};

// What the nodes together know of missing predictors.
Imputations imputations(const Approximation& of);

// Deterministic engines that give such a mixture.
class Approximator {
 public:
  virtual ~Approximator() = default;
  // What it asks of the likelihood; of priors it asks what Use::expected does.
  virtual Use likelihood_use() const { return Use::expected; }
  virtual Approximation run(const Problem& problem, const MakeSource& make_source,
                            const Options& options, int threads, Host& host) const = 0;
};

}  // namespace bsvm
