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
#' # does the infection recede faster under terbinafine, and how much do patients differ?
#' fit <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail)
#' fixef(fit)
#' head(ranef(fit)$patientID, 3)
#' VarCorr(fit)
#' prior_summary(fit)
#' tidy(fit)
#' glance(fit)
#' head(augment(fit), 3)
#'
#' # do sepals tell two species of iris apart?
#' set.seed(1)
#' both <- bsvm(Species ~ Sepal.Length + Sepal.Width, data = iris, subset = Species != "setosa")
#' new <- iris[c(60, 140), ]
#' colMeans(posterior_linpred(both, newdata = new))
#' colMeans(posterior_epred(both, newdata = new))
#' dim(posterior_predict(both, newdata = new))
#' dim(log_lik(both))
#' mean(bayes_R2(both))
#' one <- update(both, . ~ . - Sepal.Width)
#' loo_compare(list(both = loo(both), one = loo(one)))
#' waic(both)
#'
#' # a specification to fit
#' if (requireNamespace("e1071", quietly = TRUE)) {
#'   fit(tuned_svm(times = 2), Species ~ ., data = subset(iris, Species != "setosa"))
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
