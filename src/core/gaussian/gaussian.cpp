// Gaussians given the hyper-parameters, on a small grid of these (models.md, rows 19 and 26).
#include "base/error.hpp"
#include "grid.hpp"
#include "make_conditional.hpp"

namespace bsvm {
namespace {

// For looks at what lies far from the top, where a variance is nothing. A parameter of the
// likelihood or of a block has no such end.
LogPrior prior_of(const Model& problem) {
  if (problem.parameters() > 0) return nullptr;
  return [&problem](ConstVecRef theta) {
    Vec unused(theta.size());
    return log_prior(problem, theta, unused);
  };
}

class GaussianEngine : public Approximator {
 public:
  explicit GaussianEngine(const Params&) {}

  Approximation run(const Problem& problem, const MakeSource& make_source, const Options& options,
                    int threads, Host& host) const override {
    Approximation out;
    const auto conditional =
        make_conditional(problem, make_source, Centre::mean, options, threads, host);
    const Node top = conditional->climb();
    out.climb = conditional->progress();
    try {
      if (out.climb.end != Termination::interrupted)
        explore(*conditional, free_units(problem, top.theta), top, out, prior_of(problem));
    } catch (const Interrupted&) {
      out.climb.end = Termination::interrupted;
    }
    if (out.climb.end == Termination::interrupted) {
      keep_only(top, out);
      conditional->finish(out.nodes);
    }
    out.passes = conditional->progress().passes;
    return out;
  }
};

const Register<Approximator, GaussianEngine> gaussian_entry("gaussian");

}  // namespace
}  // namespace bsvm
