// ECM at known kernels (learn/ecm.hpp), and the Gaussian of the coefficients given the latent
// scales where it ends: with A the columns in units of their prior standard deviations, and row
// weights w_i = 1 / (lambda_i / gamma + delta_i), delta the variance that is a row's own,
//
//   S = (I + A' W A)^{-1},   mu = S A' W (y (1 + lambda) - offset).
#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "coefficients/coefficients.hpp"
#include "ecm.hpp"
#include "gaussian/grid.hpp"
#include "linalg/cholesky.hpp"
#include "model/gather.hpp"

namespace bsvm {
namespace {

constexpr double kLeastTolerance = 1e-8;  // of the gap, relative to the objective
constexpr double kSmallGap = 1e-6;        // which is enough if updates run out
constexpr double kLeastLambda = 1e-9;
constexpr double kSmallShare = 0.5;       // of as many columns as rows: those of linear terms

// gamma and gamma0 of a likelihood whose loss is a (u)_+ + b (-u)_+.
SkewedLoss loss_of(const Likelihood& likelihood) {
  const Atoms atoms = likelihood.atoms(1);
  if (atoms.count == 0 || atoms.atom[0].place != 1 || atoms.atom[0].sign != -1)
    throw InvalidInput("likelihood", "ECM needs the hinge pseudo-likelihood of classes.");
  const double a = atoms.atom[0].cost, b = atoms.count > 1 ? atoms.atom[1].cost : 0;
  SkewedLoss out;
  out.gamma = (a - b) / 2;
  out.gamma0 = a * b / (a - b);
  return out;
}

// log p(log gamma) of a gamma prior has the slope shape - rate gamma.
SkewedLoss inferred_loss(const Problem& problem) {
  const PriorSlot& slot = problem.priors.back();
  SkewedLoss out = loss_of(*problem.likelihood->with(Vec::Zero(1)));
  Vec at_one(1), at_two(1);
  slot.prior->log_joint(Moments(), Vec::Zero(1), at_one);
  slot.prior->log_joint(Moments(), Vec::Constant(1, std::log(2.0)), at_two);
  out.inferred = true;
  out.rate = at_one[0] - at_two[0];
  out.shape = at_one[0] + out.rate;
  return out;
}

class EcmEngine : public Approximator {
 public:
  explicit EcmEngine(const Params&) {}
  Use likelihood_use() const override { return Use::augmented; }

  Approximation run(const Problem& problem, const MakeSource&, const Options& options, int,
                    Host& host) const override {
    refuse_others(problem);
    const Coefficients side(problem);
    if (side.free_size() > problem.parameters() || problem.selects())
      throw InvalidInput("prior", "ECM needs coefficients with given variances.");
    State state = side.start(Vec());
    const Mat design = gather_design(problem);
    const Vec sd = side.precision(state).cwiseSqrt().cwiseInverse();
    const Split split(problem);
    const RowPrior prior = prior_of(problem, state, design, sd, split);
    const bool inferred = problem.parameters() > 0;
    Ecm ecm({problem.n, problem.y, problem.weight, problem.offset},
            inferred ? inferred_loss(problem) : loss_of(*problem.likelihood));
    if (options.start.size() > 0)
      ecm.start(design.transpose() * options.start.cwiseQuotient(side.units()));
    Approximation out;
    climb(ecm, prior, options, host, out.climb);
    Node node;
    node.theta = Vec::Constant(inferred ? 1 : 0, std::log(ecm.point().gamma));
    side.fix_priors(state, node.theta);
    take_posterior(ecm, prior, design, sd, split, state, host);
    node.state = state;
    node.log_density = node.bound = ecm.objective();
    keep_only(node, out);
    out.passes = out.climb.passes;
    return out;
  }

 private:
  static void refuse_others(const Problem& problem) {
    if (problem.effects() > 0 || problem.latent->any() || problem.parameters() > 1)
      throw InvalidInput("engine", "ECM takes Gaussian-process and linear terms alone, with at "
                                   "most one parameter of the likelihood to infer.");
  }

  // Columns by the size of their blocks: those of small ones may have very large variances.
  struct Split {
    std::vector<Index> few, many;

    explicit Split(const Problem& problem) {
      for (const PriorSlot& slot : problem.priors) {
        const bool small = static_cast<double>(slot.columns.size()) < kSmallShare * problem.n;
        auto& to = small ? few : many;
        to.insert(to.end(), slot.columns.begin(), slot.columns.end());
      }
    }
  };

  static RowPrior prior_of(const Problem& problem, const State& state, const Mat& design,
                           const Vec& sd, const Split& split) {
    const Index n = problem.n;
    RowPrior out;
    out.own = Vec::Zero(n);
    if (problem.left_over) {
      Mat shares;
      gather_left_over(problem, all_rows(problem).data(), n, shares);
      out.own = shares * state.leaving();
    }
    const std::vector<Index>& few = split.few;
    const auto pick = [&](const std::vector<Index>& columns, bool scaled) {
      Mat picked(n, static_cast<Index>(columns.size()));
      for (size_t j = 0; j < columns.size(); ++j)
        picked.col(static_cast<Index>(j)) =
            (scaled ? sd[columns[j]] : 1.0) * design.row(columns[j]).transpose();
      return picked;
    };
    out.fixed = pick(few, false);
    out.variance.resize(static_cast<Index>(few.size()));
    for (size_t j = 0; j < few.size(); ++j)
      out.variance[static_cast<Index>(j)] = sd[few[j]] * sd[few[j]];
    out.features = pick(split.many, true);
    if (design.rows() < n) return out;
    out.covariance = out.features * out.features.transpose();
    out.features.resize(n, 0);
    return out;
  }

  // Until the gap shows that the mode is found.
  static void climb(Ecm& ecm, const RowPrior& prior, const Options& options, Host& host,
                    Progress& out) {
    const double tolerance = std::max(options.tolerance, kLeastTolerance);
    double before = 0;
    while (out.passes < options.max_passes) {
      if (host.interrupted()) {
        if (out.passes == 0) throw Interrupted();
        out.end = Termination::interrupted;
        return;
      }
      if (!ecm.knows_alpha() || out.passes + 3 > options.max_passes) {
        ecm.update(prior, host);
        ++out.passes;
      } else {
        ecm.leap(prior, host);
        out.passes += 3;
      }
      const double value = ecm.objective();
      out.gradient = std::max(ecm.gap(prior), 0.0) / (1 + std::abs(value));
      out.trace.push_back({value, out.gradient, 1, 1});
      std::ostringstream text;
      text.precision(12);
      text << "iteration " << out.passes << ": log posterior " << value << ", gap ";
      text.precision(3);
      text << out.gradient;
      host.progress(text.str());
      const bool still =
          out.trace.size() > 1 && value - before <= tolerance * (1 + std::abs(value));
      if (out.gradient <= tolerance && still) {
        out.end = Termination::converged;
        return;
      }
      before = value;
    }
    if (out.gradient <= kSmallGap) out.end = Termination::converged;
  }

  static void take_posterior(const Ecm& ecm, const RowPrior& prior, const Mat& design,
                             const Vec& sd, const Split& split, State& state, Host& host) {
    const Vec noise = ecm.noise(kLeastLambda) + prior.own;
    const Mat weighted = design * noise.cwiseInverse().cwiseSqrt().asDiagonal();
    Mat precision = weighted * weighted.transpose();
    precision.diagonal() += sd.cwiseAbs2().cwiseInverse();
    if (!precision.allFinite() || !cholesky(precision, host)) refuse_precision();
    state.inverse_factor() = inverse_lower(precision, host);
    state.mean() = sd.cwiseAbs2().cwiseProduct(Vec(design * ecm.point().alpha));
    const Vec& found = ecm.coefficients();
    const auto few = static_cast<Index>(split.few.size()), first = found.size() - few;
    for (Index j = 0; j < few; ++j) state.mean()[split.few[j]] = found[first + j];
    for (Index j = 0; j < first; ++j)
      state.mean()[split.many[j]] = sd[split.many[j]] * found[j];
    state.begun() = 1;
  }
};

const Register<Approximator, EcmEngine> ecm_entry("ecm");

}  // namespace
}  // namespace bsvm
