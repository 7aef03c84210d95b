#include <chrono>

#include "core/factors/factors_chain.hpp"
#include "core/factors/variational.hpp"
#include "r_factors.h"
#include "r_host.h"

using Rcpp::_;
using Rcpp::as;
using Rcpp::List;
using Rcpp::NumericVector;

namespace {

bsvm::VariationalOptions to_variational(const List& options) {
  bsvm::VariationalOptions out;
  out.augmented = as<bool>(options["augmented"]);
  out.starts = to_count(options, "starts", 1);
  out.most = to_count(options, "most", 1);
  out.tolerance = as<double>(options["tolerance"]);
  out.seed = to_seed(options);
  out.threads = to_count(options, "threads", 1);
  return out;
}

// Columns are draws.
struct DrawnColumns {
  bsvm::Mat coefficients, hyper, implied, links, seldom;
  bsvm::Vec implied_mean, implied_square, links_mean, links_square;
};

// Interrupted, fewer than were asked for; of a fit that was interrupted already, all.
DrawnColumns draws_of(const bsvm::SharedFactors& shared, const bsvm::FactorPosterior& posterior,
                      const List& options, bool fit_interrupted, RHost& host) {
  const bsvm::Index draws = to_count(options, "draws"), every = to_count(options, "every");
  const bool effects = as<bool>(options["keep_effects"]),
             unknowns = as<bool>(options["keep_unknowns"]);
  DrawnColumns out;
  bsvm::Index kept = 0;
  for (; kept < draws && (fit_interrupted || !host.interrupted()); ++kept) {
    const bsvm::VariationalDraw own = bsvm::draw_variational(
        shared, posterior, to_seed(options), static_cast<std::uint64_t>(kept));
    if (kept == 0) {
      out.coefficients.resize(own.coefficients.size(), draws);
      out.hyper.resize(own.hyper.size(), draws);
      out.implied.resize(effects ? own.implied.size() : 0, draws);
      out.links.resize(unknowns ? own.links.size() : 0, draws);
      out.seldom.resize(own.whole.size(), every > 0 ? draws / every : 0);
      out.implied_mean = out.implied_square = bsvm::Vec::Zero(own.implied.size());
      out.links_mean = out.links_square = bsvm::Vec::Zero(own.links.size());
    }
    out.coefficients.col(kept) = own.coefficients;
    out.hyper.col(kept) = own.hyper;
    if (effects) out.implied.col(kept) = own.implied;
    if (unknowns) out.links.col(kept) = own.links;
    const double by = 1 / static_cast<double>(kept + 1);
    const auto average = [by](const bsvm::Vec& one, bsvm::Vec& mean, bsvm::Vec& square) {
      const bsvm::Vec away = one - mean;
      mean += by * away;
      square += away.cwiseProduct(one - mean);
    };
    average(own.implied, out.implied_mean, out.implied_square);
    average(own.links, out.links_mean, out.links_square);
    if (every > 0 && (kept + 1) % every == 0) out.seldom.col(kept / every) = own.whole;
  }
  for (bsvm::Mat* part : {&out.coefficients, &out.hyper, &out.implied, &out.links})
    part->conservativeResize(Eigen::NoChange, kept);
  out.seldom.conservativeResize(Eigen::NoChange, every > 0 ? kept / every : 0);
  for (bsvm::Vec* square : {&out.implied_square, &out.links_square})
    *square = (*square / static_cast<double>(std::max<bsvm::Index>(1, kept - 1))).cwiseSqrt();
  return out;
}

// One chain of independent draws.
NumericVector one_chain(const bsvm::Mat& draws) {
  return to_array(draws, {draws.rows(), draws.cols(), 1});
}

List kept_loadings(const bsvm::SharedFactors& shared, const bsvm::Mat& seldom) {
  const bsvm::FactorModel& model = shared.model;
  const bsvm::Index p = model.p(), k = model.factors, draws = seldom.cols();
  const bsvm::Index noise = model.noise.each ? p : 1;
  bsvm::Index next = 0;
  const auto part = [&](bsvm::Index rows, std::vector<bsvm::Index> dim) {
    const bsvm::Mat own = draws > 0 ? bsvm::Mat(seldom.middleRows(next, rows))
                                    : bsvm::Mat(rows, 0);
    next += rows;
    dim.push_back(draws);
    dim.push_back(1);
    return to_array(own, dim);
  };
  const NumericVector mean = part(p, {p}), loadings = part(p * k, {p, k}),
                      psi = part(noise, {noise});
  const List out = List::create(_["mean"] = mean, _["loadings"] = loadings, _["noise"] = psi);
  if (model.linear()) return out;
  const bsvm::Index m = shared.points.cols(), size = model.process.start.size();
  const NumericVector b = part(m, {m}), theta = part(size, {size}), variance = part(1, {1});
  return join(out, List::create(_["b"] = b, _["theta"] = theta, _["variance"] = variance));
}

// What q is, in closed form.
List closed_form(const bsvm::SharedFactors& shared, const bsvm::FactorPosterior& posterior) {
  const bsvm::FactorModel& model = shared.model;
  const bsvm::LoadingsPosterior& loadings = posterior.loadings();
  const bsvm::ClassifierPosterior& classifier = posterior.classifier();
  const bsvm::ScorePosterior given_x = bsvm::scores_given_x(shared, loadings.sums());
  const bsvm::Mat means = loadings.means();
  bsvm::Mat sds(means.rows(), means.cols()), score_sds(model.n(), model.factors);
  for (bsvm::Index i = 0; i < sds.cols(); ++i)
    sds.col(i) = loadings.covariance(i).diagonal().cwiseSqrt();
  for (bsvm::Index n = 0; n < model.n(); ++n)
    score_sds.row(n) = given_x.of(n).diagonal().cwiseSqrt().transpose();
  const bsvm::Index p = model.p(), k = model.factors, n = model.n();
  return List::create(
      _["scores_mean"] = to_array(given_x.mean, {n, k, 1}),
      _["scores_sd"] = to_array(score_sds, {n, k, 1}),
      _["mean"] = to_numeric(means.row(0)), _["mean_sd"] = to_numeric(sds.row(0)),
      _["loadings"] = to_array(means.bottomRows(k).transpose(), {p, k}),
      _["loadings_sd"] = to_array(sds.bottomRows(k).transpose(), {p, k}),
      _["noise"] = to_numeric(loadings.noise()),
      _["coefficients_mean"] = to_numeric(classifier.mean()),
      _["coefficients_cov"] = to_array(classifier.covariance(),
                                       {classifier.mean().size(), classifier.mean().size()}),
      _["theta"] = to_numeric(classifier.theta()));
}

}  // namespace

// The model of core_factor_model() by variational Bayes (core/factors/variational.hpp); `data` and
// `model` are the same. `options`: augmented, starts, most, tolerance, seed, threads, verbose;
// draws, every, keep_effects, keep_unknowns: of independent draws from q, which come out as one
// chain of core_factor_model() does: coefficients, variances, hyper, implied, links, kept_loadings,
// and means and standard deviations over them of implied and links. In closed form: mean, loadings,
// noise and coefficients of q; scores given x alone. `elbo`, `trace`, `bounds` of all starts,
// `converged`, `termination`; `classifier_elbo` of a classifier without feedback.
// [[Rcpp::export(rng = false)]]
Rcpp::List core_factor_vb(Rcpp::List data, Rcpp::List model, Rcpp::List options) {
  return with_host(options["verbose"], [&](RHost& host) {
    const bsvm::FactorModel own = to_factor_model(data, model);
    const bsvm::SharedFactors shared(own);
    const bsvm::VariationalFit fit =
        bsvm::fit_variational(shared, to_variational(options), host);
    const DrawnColumns draws =
        draws_of(shared, *fit.posterior, options, fit.termination == "interrupted", host);
    const bsvm::Index size = own.coefficients();
    NumericVector hyper = one_chain(draws.hyper);
    if (draws.hyper.rows() > 0)
      hyper.attr("dimnames") =
          List::create(Rcpp::wrap(bsvm::factor_numbers(own)), R_NilValue, R_NilValue);
    const bsvm::Index drawn = draws.coefficients.rows();
    const List facts = List::create(
        _["elbo"] = fit.bound, _["classifier_elbo"] = fit.classifier_bound,
        _["trace"] = Rcpp::wrap(fit.trace), _["bounds"] = to_numeric(fit.bounds),
        _["converged"] = fit.converged, _["termination"] = fit.termination,
        _["use"] = fit.use == bsvm::Use::augmented ? "augmented" : "expected",
        _["draws"] = static_cast<int>(draws.coefficients.cols()));
    const List out = List::create(
        _["coefficients"] = one_chain(draws.coefficients.topRows(std::min(size, drawn))),
        _["variances"] = one_chain(draws.coefficients.bottomRows(std::max<bsvm::Index>(
            0, drawn - size))),
        _["hyper"] = hyper, _["implied"] = one_chain(draws.implied),
        _["implied_mean"] = to_numeric(draws.implied_mean),
        _["implied_sd"] = to_numeric(draws.implied_square),
        _["links"] = one_chain(draws.links), _["links_mean"] = to_numeric(draws.links_mean),
        _["links_sd"] = to_numeric(draws.links_square),
        _["kept_loadings"] = kept_loadings(shared, draws.seldom),
        _["points"] = to_array(shared.points.transpose(),
                               {shared.points.cols(), shared.points.rows()}));
    return join(join(out, closed_form(shared, *fit.posterior)), facts);
  });
}
