// Gaussians given the hyper-parameters, on a small grid of these (models.md, rows 19 and 26).
#include "base/error.hpp"
#include "grid.hpp"
#include "make_conditional.hpp"

namespace bsvm {
namespace {

// log p(theta) of all hyper-parameters.
double log_prior(const Model& problem, ConstVecRef theta) {
  double out = 0;
  Vec unused(theta.size());
  Index first = 0;
  for (const auto* slots : {&problem.priors, &problem.group_priors})
    for (const PriorSlot& slot : *slots) {
      const Index size = slot.prior->free_size(static_cast<Index>(slot.columns.size()));
      Moments nothing;
      nothing.square = Vec::Zero(slot.prior->effects() * slot.prior->effects());
      if (size > 0)
        out += slot.prior->log_joint(nothing, theta.segment(first, size),
                                     unused.segment(first, size));
      first += size;
    }
  return out;
}

// For looks at what lies far from the top, where a variance is nothing. A parameter of the
// likelihood or of a block has no such end.
LogPrior prior_of(const Model& problem) {
  if (problem.parameters() > 0) return nullptr;
  return [&problem](ConstVecRef theta) { return log_prior(problem, theta); };
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
