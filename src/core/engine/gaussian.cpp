// Gaussians given the hyper-parameters, on a small grid of these (models.md, rows 19 and 26).
#include "../error.hpp"
#include "grid.hpp"
#include "make_conditional.hpp"

namespace bsvm {
namespace {

class GaussianEngine : public Approximator {
 public:
  explicit GaussianEngine(const Params&) {}

  Approximation run(const Problem& problem, const Options& options, int threads,
                    Host& host) const override {
    Approximation out;
    const auto conditional = make_conditional(problem, Centre::mean, options, threads, host);
    const Node top = conditional->climb();
    out.climb = conditional->progress();
    out.imputed = conditional->imputations(top);
    try {
      if (out.climb.end != Termination::interrupted)
        explore(*conditional, free_units(problem, top.theta), top, out);
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

const Register<Approximator, GaussianEngine> entry("gaussian");

}  // namespace
}  // namespace bsvm
