#include <algorithm>

#include "core/kernel/points.hpp"
#include "core/learn/ecm_learner.hpp"
#include "core/learn/learner.hpp"
#include "core/learn/moving_points.hpp"
#include "r_convert.h"
#include "r_host.h"
#include "r_kernel.h"

using Rcpp::_;
using Rcpp::as;
using Rcpp::List;
using Rcpp::NumericMatrix;
using Rcpp::NumericVector;

namespace {

constexpr bsvm::Index kTogether = 1024;  // rows whose features are found together

bsvm::Mat to_matrix(SEXP x) {
  const NumericMatrix m(x);
  return Eigen::Map<const bsvm::Mat>(m.begin(), m.nrow(), m.ncol());
}

// (d, n) of inputs that R has by row.
bsvm::Mat to_inputs(SEXP x) { return to_matrix(x).transpose(); }

const double* numbers_or_none(const List& model, const char* name) {
  SEXP x = model[name];
  return Rf_isNull(x) ? nullptr : REAL(x);
}

bsvm::Summand to_summand(const List& given) {
  bsvm::Summand out;
  if (!Rf_isNull(given["multiplier"])) out.multiplier = to_vec(given["multiplier"]);
  if (Rf_isNull(given["kernel"])) {
    out.features = to_matrix(given["features"]);
    return out;
  }
  out.kernel = to_kernel(given["kernel"]);
  out.points = to_count(given, "points");
  out.inputs = to_inputs(given["inputs"]);
  if (given.containsElementNamed("inducing")) out.inducing = to_inputs(given["inducing"]);
  return out;
}

bsvm::FreeNumber to_number(const List& given) {
  bsvm::FreeNumber out;
  out.start = as<double>(given["start"]);
  out.low = as<double>(given["low"]);
  out.high = as<double>(given["high"]);
  out.length = as<bool>(given["length"]);
  if (Rf_isNull(given["prior"])) return out;
  const std::string name = as<std::string>(given["prior"]);
  out.prior = bsvm::Registry<bsvm::Prior>::make(name, to_params(name, given["parameters"]));
  return out;
}

bsvm::AdditiveModel to_additive(const List& model) {
  bsvm::AdditiveModel out;
  const NumericVector y = model["y"];
  out.n = y.size();
  out.y = REAL(model["y"]);
  out.weight = numbers_or_none(model, "weight");
  out.offset = numbers_or_none(model, "offset");
  out.fixed = to_matrix(model["fixed"]);
  out.variance = to_vec(model["variance"]);
  for (const List summand : as<List>(model["summands"]))
    out.summands.push_back(to_summand(summand));
  for (const List number : as<List>(model["numbers"])) out.numbers.push_back(to_number(number));
  const List likelihood = model["likelihood"];
  const std::string name = as<std::string>(likelihood["name"]);
  out.likelihood = bsvm::Registry<bsvm::Likelihood>::make(
      name, to_params(name, likelihood["parameters"]));
  return out;
}

}  // namespace

// Kernels climb from two starts, from one, or are as given (none); then, perhaps, a factor of their
// length scales is chosen.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_learn(Rcpp::List model, int starts, bool choosing, SEXP verbose) {
  return with_host(verbose, [&](RHost& host) {
    bsvm::Learner learner(to_additive(model), host);
    const bsvm::Learned found = choosing ? learner.choose(starts) : learner.climb(starts);
    NumericMatrix factors(static_cast<int>(found.factors.size()), 3);
    for (int k = 0; k < factors.nrow(); ++k) {
      const bsvm::LookedAt& one = found.factors[k];
      factors(k, 0) = one.log_factor;
      factors(k, 1) = one.objective;
      factors(k, 2) = one.leave_one_out;
    }
    return List::create(_["theta"] = to_numeric(found.value.theta),
                        _["bound"] = found.value.bound, _["log_factor"] = found.log_factor,
                        _["factors"] = factors, _["converged"] = found.converged,
                        _["matched"] = found.matched,
                        _["evaluations"] = found.evaluations, _["passes"] = found.passes,
                        _["mean"] = to_numeric(found.value.rows.m),
                        _["variance"] = to_numeric(found.value.rows.v));
  });
}

// Inducing inputs go to where the bound is highest, of those summands that are `moving`: their inputs
// (m, d) or NULL, the numbers there, and the bound with the priors before and after.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_learn_points(Rcpp::List model, Rcpp::LogicalVector moving, SEXP verbose) {
  return with_host(verbose, [&](RHost& host) {
    bsvm::MovingPoints climber(to_additive(model), as<std::vector<bool>>(moving), host);
    const bsvm::MovingPoints::Moved found = climber.climb();
    List points(moving.size());
    for (size_t k = 0; k < found.points.size(); ++k) {
      if (!moving[k]) continue;
      const bsvm::Mat& own = found.points[k];
      NumericMatrix turned(static_cast<int>(own.cols()), static_cast<int>(own.rows()));
      Eigen::Map<bsvm::Mat>(turned.begin(), own.cols(), own.rows()) = own.transpose();
      points[k] = turned;
    }
    return List::create(_["points"] = points, _["theta"] = to_numeric(found.value.at.theta),
                        _["before"] = found.before, _["after"] = found.value.objective(),
                        _["converged"] = found.converged, _["evaluations"] = found.evaluations);
  });
}

// The bound at given numbers, its gradient with that of the priors, and the leave-one-out score.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_learn_at(Rcpp::List model, Rcpp::NumericVector theta, double tolerance) {
  return with_host(R_NilValue, [&](RHost& host) {
    bsvm::Additive additive(to_additive(model), host);
    const bsvm::Additive::Value at = additive.at(to_vec(theta), nullptr, tolerance);
    return List::create(_["bound"] = at.bound, _["prior"] = at.prior,
                        _["gradient"] = to_numeric(at.gradient),
                        _["leave_one_out"] = additive.leave_one_out(at),
                        _["mean"] = to_numeric(at.rows.m), _["variance"] = to_numeric(at.rows.v),
                        _["slope"] = to_numeric(at.rows.slope),
                        _["weight"] = to_numeric(at.rows.weight));
  });
}

namespace {

// list(gamma, gamma0, inferred, shape, rate, rounds, iterations, move), and of each summand its
// pseudo-inputs (m, d) or NULL.
bsvm::EcmScheme to_scheme(const List& given, const List& points) {
  bsvm::EcmScheme out;
  out.loss.gamma = as<double>(given["gamma"]);
  out.loss.gamma0 = as<double>(given["gamma0"]);
  out.loss.inferred = as<bool>(given["inferred"]);
  out.loss.shape = as<double>(given["shape"]);
  out.loss.rate = as<double>(given["rate"]);
  out.rounds = to_count(given, "rounds");
  out.iterations = to_count(given, "iterations", 1);
  out.move_points = as<bool>(given["move"]);
  for (R_xlen_t k = 0; k < points.size(); ++k) {
    SEXP one = points[k];
    out.points.push_back(Rf_isNull(one) ? bsvm::Mat() : to_inputs(one));
  }
  return out;
}

NumericMatrix by_row(const bsvm::Mat& inputs) {
  NumericMatrix out(static_cast<int>(inputs.cols()), static_cast<int>(inputs.rows()));
  Eigen::Map<bsvm::Mat>(out.begin(), inputs.cols(), inputs.rows()) = inputs.transpose();
  return out;
}

}  // namespace

// Kernels and pseudo-inputs by rounds of ECM and of the evidence given the latent scales.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_learn_ecm(Rcpp::List model, Rcpp::List points, Rcpp::List options, SEXP verbose) {
  return with_host(verbose, [&](RHost& host) {
    bsvm::EcmLearner learner(to_additive(model), to_scheme(options, points), host);
    const bsvm::EcmLearned found = learner.run();
    NumericMatrix rounds(static_cast<int>(found.rounds.size()), 4);
    for (int k = 0; k < rounds.nrow(); ++k) {
      const bsvm::EcmRound& one = found.rounds[k];
      const double row[] = {one.before, one.after, one.gamma, one.change};
      for (int j = 0; j < 4; ++j) rounds(k, j) = row[j];
    }
    List moved(points.size());
    for (size_t k = 0; k < found.points.size(); ++k)
      if (found.points[k].size() > 0) moved[k] = by_row(found.points[k]);
    return List::create(_["theta"] = to_numeric(found.theta), _["points"] = moved,
                        _["gamma"] = found.gamma, _["rounds"] = rounds);
  });
}

// The evidence given the latent scales at linear predictors f, with its gradient in theta and the
// pseudo-inputs; and f after one update from there.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_ecm_at(Rcpp::List model, Rcpp::List points, Rcpp::List options,
                       Rcpp::NumericVector x, Rcpp::NumericVector f) {
  return with_host(R_NilValue, [&](RHost& host) {
    bsvm::EcmLearner learner(to_additive(model), to_scheme(options, points), host);
    learner.rows().start(to_vec(f));
    const bsvm::EcmLearner::Evidence at = learner.evidence(to_vec(x));
    learner.rows().update(learner.prior(to_vec(x)), host);
    return List::create(_["start"] = to_numeric(learner.start()), _["evidence"] = at.value,
                        _["gradient"] = to_numeric(at.gradient),
                        _["f"] = to_numeric(learner.rows().point().f),
                        _["gamma"] = learner.rows().point().gamma,
                        _["objective"] = learner.rows().objective());
  });
}

// The bounds at theta with amplitudes of almost zero, one after the other, with the inducing inputs of
// the fit; `amplitudes`: their places in theta (from 1); `matched`: log p(y) with moments matched.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector core_learn_without(Rcpp::List model, Rcpp::NumericVector theta,
                                       Rcpp::IntegerVector amplitudes, double log_least,
                                       bool matched) {
  return with_host(R_NilValue, [&](RHost& host) {
    bsvm::Additive additive(to_additive(model), host);
    additive.approximate();
    if (matched) additive.match();
    additive.look_for(std::vector<bool>(theta.size(), false));
    NumericVector out(amplitudes.size());
    for (R_xlen_t k = 0; k < out.size(); ++k) {
      bsvm::Vec less = to_vec(theta);
      less[amplitudes[k] - 1] = log_least;
      out[k] = additive.at(less, nullptr, 0).bound;
    }
    return out;
  });
}

// Which rows of x (n, d) are inducing points (from 1), and the variance they leave over (n).
// [[Rcpp::export(rng = false)]]
Rcpp::List core_points(Rcpp::List kernel, Rcpp::NumericMatrix x, Rcpp::NumericVector theta,
                       int most, double tolerance) {
  return with_host(R_NilValue, [&](RHost& host) {
    const auto made = to_kernel(kernel);
    const bsvm::ChosenPoints chosen =
        bsvm::choose_points(*made, to_inputs(x), to_vec(theta), most, tolerance, host);
    Rcpp::IntegerVector points(chosen.points.size());
    for (size_t k = 0; k < chosen.points.size(); ++k)
      points[k] = static_cast<int>(chosen.points[k]) + 1;
    return List::create(_["points"] = points, _["left_over"] = to_numeric(chosen.left_over));
  });
}

// (n, m) features of rows x (n, d) given inducing inputs (m, d), and the variance (n) left over.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_features_of(Rcpp::List kernel, Rcpp::NumericMatrix x, Rcpp::NumericMatrix inputs,
                            Rcpp::NumericVector theta) {
  return with_host(R_NilValue, [&](RHost& host) {
    const auto made = to_kernel(kernel);
    const bsvm::Features features(*made, to_inputs(inputs), to_vec(theta), host);
    const bsvm::Mat rows = to_inputs(x);
    const bsvm::Index n = rows.cols(), m = features.columns();
    NumericMatrix out(static_cast<int>(n), static_cast<int>(m));
    Eigen::Map<bsvm::Mat> all(out.begin(), n, m);
    bsvm::Vec left(n);
    for (bsvm::Index first = 0; first < n; first += kTogether) {
      const bsvm::Index r = std::min(kTogether, n - first);
      const bsvm::Mat own = rows.middleCols(first, r);
      bsvm::Mat filled(m, r);
      features.fill(own, filled);
      left.segment(first, r) = features.left_over(own, filled);
      all.middleRows(first, r) = filled.transpose();
    }
    return List::create(_["features"] = out, _["left_over"] = to_numeric(left));
  });
}

// Draws of a Gaussian process in rows x (n, d) given inducing inputs (m, d): for each column of theta
// (numbers, draws) and of the features' coefficients (m, draws) a column of `mean`, and with
// `leaving` the variance of unit amplitude left over there.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_process_draws(Rcpp::List kernel, Rcpp::NumericMatrix x, Rcpp::NumericMatrix inputs,
                              Rcpp::NumericMatrix theta, Rcpp::NumericMatrix coefficients,
                              bool leaving) {
  return with_host(R_NilValue, [&](RHost& host) {
    const auto made = to_kernel(kernel);
    const bsvm::Mat rows = to_inputs(x), points = to_inputs(inputs);
    const Eigen::Map<const bsvm::Mat> numbers(theta.begin(), theta.nrow(), theta.ncol()),
        b(coefficients.begin(), coefficients.nrow(), coefficients.ncol());
    NumericMatrix mean(x.nrow(), theta.ncol());
    NumericMatrix left(leaving ? x.nrow() : 0, theta.ncol());
    bsvm::Mat out(points.cols(), leaving ? rows.cols() : 0);
    for (int s = 0; s < theta.ncol(); ++s) {
      if (host.interrupted()) throw bsvm::Interrupted();
      const bsvm::Features features(*made, points, numbers.col(s), host);
      Eigen::Map<bsvm::Vec> to(&mean(0, s), x.nrow());
      if (!leaving) {
        to = features.product(rows, b.col(s));
        continue;
      }
      features.fill(rows, out);
      to = out.transpose() * b.col(s);
      Eigen::Map<bsvm::Vec>(&left(0, s), x.nrow()) = features.left_over(rows, out);
    }
    return List::create(_["mean"] = mean, _["left_over"] = left);
  });
}
