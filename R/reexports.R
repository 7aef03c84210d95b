#' Generic functions from other packages
#'
#' bsvm has methods for these generic functions and re-exports them, so they work without attaching
#' the package that defines them:
#' * [nlme::fixef()], [nlme::ranef()] and [nlme::VarCorr()], which lme4 and brms use too;
#' * [generics::tidy()], [generics::glance()], [generics::augment()] and [generics::fit()];
#' * [rstantools::posterior_linpred()], [rstantools::posterior_epred()],
#'   [rstantools::posterior_predict()], [rstantools::log_lik()], [rstantools::bayes_R2()] and
#'   [rstantools::prior_summary()];
#' * [loo::loo()], [loo::waic()] and the function [loo::loo_compare()].
#'
#' @param x,object,transform,... See the methods: [fixef.bsvm()], [ranef.bsvm()], [VarCorr.bsvm()],
#'   [tidy.bsvm()], [glance.bsvm()], [augment.bsvm()], [posterior_linpred.bsvm()],
#'   [posterior_epred.bsvm()], [posterior_predict.bsvm()], [log_lik.bsvm()], [bayes_R2.bsvm()],
#'   [prior_summary.bsvm()], [loo.bsvm()], [fit.bsvm_tuned_svm()].
#' @return The value of the method.
#' @examples
#' set.seed(1)
#' d <- data.frame(x = rnorm(200), clinic = gl(20, 10))
#' d$sick <- d$x + rnorm(20)[d$clinic] + rnorm(200) > 0
#' fit <- bsvm(sick ~ x + (1 | clinic), data = d, engine = "vb")
#' fixef(fit)
#' head(ranef(fit)$clinic, 3)
#' VarCorr(fit)
#' prior_summary(fit)
#' tidy(fit)
#' glance(fit)
#' head(augment(fit), 3)
#'
#' # with draws, under a law of the response
#' drawn <- bsvm(am ~ mpg + wt, data = mtcars, likelihood = likelihood_hinge(normalized = TRUE),
#'               engine = engine_slice(draws = 500, burnin = 200))
#' new <- data.frame(mpg = c(15, 25), wt = c(4, 2))
#' colMeans(posterior_linpred(drawn, newdata = new))
#' colMeans(posterior_epred(drawn, newdata = new))
#' dim(posterior_predict(drawn, newdata = new))
#' dim(log_lik(drawn))
#' mean(bayes_R2(drawn))
#' both <- loo(drawn)
#' weight <- loo(update(drawn, . ~ . - mpg))
#' loo_compare(list(both = both, weight = weight))
#' waic(drawn)
#'
#' # a specification to fit
#' if (requireNamespace("e1071", quietly = TRUE)) {
#'   fit(tuned_svm(times = 2), am ~ mpg + wt, data = mtcars)
#' }
#' @name reexports
#' @aliases fixef ranef VarCorr tidy glance augment fit posterior_linpred posterior_epred
#'   posterior_predict log_lik bayes_R2 prior_summary loo waic loo_compare
#' @importFrom nlme fixef ranef VarCorr
#' @importFrom generics tidy glance augment fit
#' @importFrom rstantools posterior_linpred posterior_epred posterior_predict log_lik bayes_R2
#'   prior_summary
#' @importFrom loo loo waic loo_compare
#' @export fixef
#' @export ranef
#' @export VarCorr
#' @export tidy
#' @export glance
#' @export augment
#' @export fit
#' @export posterior_linpred
#' @export posterior_epred
#' @export posterior_predict
#' @export log_lik
#' @export bayes_R2
#' @export prior_summary
#' @export loo
#' @export waic
#' @export loo_compare
NULL
