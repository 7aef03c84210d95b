#include "linear_response.hpp"

#include "base/error.hpp"
#include "coefficients/coefficients.hpp"

namespace bsvm {

namespace {

constexpr double kShift = 0.03;

// The State of a run that came to its end; the source is brought there.
State checked(const Result& found, RowSource& source) {
  if (found.end == Termination::interrupted) throw Interrupted();
  if (found.end == Termination::pass_limit)
    throw NumericalFailure("A run did not converge within 'max_passes'; linear response needs the "
                           "optimum.");
  source.back(found.state);
  return found.state;
}

// Leaves the problem as it was, whatever happens.
struct Untilt {
  Problem& problem;
  explicit Untilt(Problem& of) : problem(of) {}
  ~Untilt() { problem.tilt = Vec(); }
};

}  // namespace

Mat linear_response(Problem& problem, const Engine& engine, RowSource& source,
                    const Options& options, Host& host) {
  const Index p = problem.columns();
  const Coefficients side(problem, source.extra());
  Options tight = options;
  tight.tolerance = 1e-16;
  State state = checked(engine.run(problem, source, tight, host), source);
  const Vec sd = side.outside(state, GroupPosterior()).covariance.diagonal().cwiseSqrt();
  const Untilt guard(problem);
  Vec before = Vec::Zero(p);
  const auto mean_at = [&](const Vec& tilt) {
    state.prior_value() += (tilt - before).dot(side.outside_mean(state.mean()));
    before = problem.tilt = tilt;
    tight.from = &state;
    state = checked(engine.run(problem, source, tight, host), source);
    return side.outside_mean(state.mean());
  };
  Mat out(p, p);
  for (Index j = 0; j < p; ++j) {
    const Vec tilt = kShift / sd[j] * Vec::Unit(p, j);
    const Vec up = mean_at(tilt), down = mean_at(-tilt);
    out.col(j) = (up - down) * (sd[j] / (2 * kShift));
  }
  return 0.5 * (out + out.transpose());
}

}  // namespace bsvm
