#include "make_conditional.hpp"

#include "ascent.hpp"
#include "base/error.hpp"
#include "dense_ascent.hpp"
#include "full_kernel.hpp"
#include "integrated.hpp"
#include "row_newton.hpp"

namespace bsvm {

std::unique_ptr<Conditional> make_conditional(const Problem& problem,
                                              const MakeSource& make_source, Centre centre,
                                              const Options& options, int threads, Host& host) {
  std::unique_ptr<Conditional> out;
  if (problem.integrated >= 0) {
    out.reset(new Integrated(problem, centre, threads, options, host));
    return out;
  }
  if (!problem.likelihood->supports(Use::expected))
    throw InvalidInput("likelihood", "Gaussian variational inference needs a likelihood whose "
                                     "logarithm has an expectation, such as the hinge.");
  if (FullKernel::suits(problem)) {
    out.reset(new FullKernel(problem, options, host));
    return out;
  }
  if (RowNewton::suits(problem)) {
    out.reset(new RowNewton(problem, options, host));
    return out;
  }
  auto source = make_source(Use::expected, threads);
  if (problem.effects() == 0)
    out.reset(new DenseAscent(problem, std::move(source), options, host));
  else
    out.reset(new Ascent(problem, std::move(source), options, host));
  return out;
}

}  // namespace bsvm
