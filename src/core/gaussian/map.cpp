// The posterior mode: hyper-parameters where their own posterior is highest, as engine "gaussian"
// finds it, and the coefficients' mode given these.
#include <cmath>

#include "base/error.hpp"
#include "grid.hpp"
#include "linalg/dense.hpp"
#include "make_conditional.hpp"
#include "mode.hpp"
#include "sparse_climb.hpp"
#include "special/functions.hpp"

namespace bsvm {
namespace {

class Map : public Approximator {
 public:
  explicit Map(const Params&) {}

  Approximation run(const Problem& problem, const MakeSource& make_source, const Options& options,
                    int threads, Host& host) const override {
    if (problem.integrated < 0 && problem.multipliers)
      throw InvalidInput("engine", "The mode needs the effects of groups integrated out, which "
                                   "these are not.");
    if (problem.sparse.columns > 0 && problem.parameters() > 0)
      throw InvalidInput("likelihood", "The mode with sparse predictors needs a likelihood without "
                                       "inferred parameters.");
    if (problem.sparse.columns > 0 && problem.integrated < 0)
      return SparseClimb(problem, options, threads, host).run();
    Approximation out;
    const auto conditional =
        make_conditional(problem, make_source, Centre::mode, options, threads, host);
    Node top = conditional->climb();
    out.climb = conditional->progress();
    if (problem.integrated >= 0 && out.climb.end != Termination::interrupted)
      spread(*conditional, top, out);
    else
      keep_only(top, out);
    const Termination climbed = out.climb.end;
    if (problem.integrated < 0 && climbed != Termination::interrupted) {
      const auto source = make_source(Use::expected, threads);
      out.nodes[0] = find_mode(problem, *source, top, out.climb, options, host);
      out.evidence = out.nodes[0].log_density;
      if (climbed != Termination::converged) out.climb.end = climbed;
    }
    if (problem.integrated < 0) out.nodes[0].state.inverse_factor().setZero();
    if (problem.integrated >= 0) conditional->finish(out.nodes);
    out.passes = out.climb.passes;
    return out;
  }

 private:
  // The Hessian in coefficients and hyper-parameters together: with V the covariance of theta and
  // b's mean moving along with it, Cov b = S + slope V slope'.
  static void spread(Conditional& conditional, Node& top, Approximation& out) {
    const Index h = top.theta.size(), d = top.state.layout.p;
    keep_only(top, out);
    if (h == 0) return;
    const Factor curvature = positive_factor(conditional.curvature(top));
    out.theta_covariance = curvature.inverse();
    const Mat root = top.state.inverse_factor().triangularView<Eigen::Lower>();
    const Mat covariance = root.transpose() * root +
                           top.slope * out.theta_covariance * top.slope.transpose();
    const Factor precision(Factor(covariance).inverse());
    out.nodes[0].state.inverse_factor() = solved_lower(precision.lower(), Mat::Identity(d, d));
    out.evidence = top.log_density + 0.5 * (static_cast<double>(h) * kLog2Pi - curvature.logdet());
  }
};

const Register<Approximator, Map> map_entry("map");

}  // namespace
}  // namespace bsvm
