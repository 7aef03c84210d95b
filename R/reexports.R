#' Generics that other packages own
#'
#' bsvm has methods for these and exports them again, so that they work without attaching the
#' package that owns them: [nlme::fixef()], [nlme::ranef()], [nlme::VarCorr()] (the ones lme4 and
#' brms use too), [generics::tidy()], [generics::glance()], [generics::augment()],
#' [generics::fit()], [rstantools::posterior_linpred()], [rstantools::posterior_epred()],
#' [rstantools::posterior_predict()], [rstantools::log_lik()] and [rstantools::prior_summary()].
#'
#' @param x,object,transform,... See the methods: [fixef.bsvm()], [ranef.bsvm()],
#'   [VarCorr.bsvm()], [tidy.bsvm()], [glance.bsvm()], [augment.bsvm()],
#'   [posterior_linpred.bsvm()], [posterior_epred.bsvm()], [posterior_predict.bsvm()],
#'   [log_lik.bsvm()], [prior_summary.bsvm()], [fit.bsvm_tuned_svm()].
#' @return What the method returns.
#' @examples
#' fit <- bsvm(am ~ mpg + wt, data = mtcars, engine = "vb")
#' fixef(fit)
#' tidy(fit)
#' @name reexports
#' @aliases fixef ranef VarCorr tidy glance augment fit posterior_linpred posterior_epred
#'   posterior_predict log_lik prior_summary
#' @importFrom nlme fixef ranef VarCorr
#' @importFrom generics tidy glance augment fit
#' @importFrom rstantools posterior_linpred posterior_epred posterior_predict log_lik
#'   prior_summary
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
#' @export prior_summary
NULL
