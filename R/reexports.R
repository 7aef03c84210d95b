#' Generics that other packages own
#'
#' bsvm has methods for these and exports them again, so that they work without attaching the
#' package that owns them: [nlme::fixef()], [nlme::ranef()], [nlme::VarCorr()] (the ones lme4 and
#' brms use too), [generics::tidy()], [generics::glance()] and [generics::augment()].
#'
#' @param x,object,... See the methods: [fixef.bsvm()], [ranef.bsvm()], [VarCorr.bsvm()],
#'   [tidy.bsvm()], [glance.bsvm()], [augment.bsvm()].
#' @return What the method returns.
#' @examples
#' fit <- bsvm(am ~ mpg + wt, data = mtcars, engine = "vb")
#' fixef(fit)
#' tidy(fit)
#' @name reexports
#' @aliases fixef ranef VarCorr tidy glance augment
#' @importFrom nlme fixef ranef VarCorr
#' @importFrom generics tidy glance augment
#' @export fixef
#' @export ranef
#' @export VarCorr
#' @export tidy
#' @export glance
#' @export augment
NULL
