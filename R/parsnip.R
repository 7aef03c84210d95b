#' The engine "bsvm" of parsnip's linear support vector machine
#'
#' Once bsvm and parsnip are both loaded, `parsnip::svm_linear()` has an engine `"bsvm"` for
#' classification, so that fits take part in the recipes, workflows and tuning of the tidymodels.
#' `bsvm_parsnip()` is what parsnip calls; there is no other use for it.
#'
#' @details
#' **The formula** reaches [bsvm()] as it is: bars and smooth terms work in `fit()`, and in a
#' workflow as the argument `formula` of `add_model()`. The outcome must be a factor of two levels.
#'
#' **Arguments.** The argument `cost` of `svm_linear()` is that of LIBSVM: it fixes the variance of
#' the slopes at `cost / 2` under the pseudo-likelihood, for predictors that are standardised
#' inside, as kernlab's engine does too, and at a sixteenth of that under the normalised likelihood,
#' whose coefficients are a quarter. Without it the priors are those of [bsvm()], penalty inferred,
#' and there is nothing to tune. `margin` is for regression and is not used. Others go into
#' `set_engine()`: `prior`, `likelihood`, `missing`, `class.weights`, `standardize`, `keep_data`,
#' `control`, and `algorithm` for what is `engine` in [bsvm()], a name that parsnip has taken.
#'
#' **Case weights** become `weights`. An offset is a term `offset()` of the formula.
#'
#' **Predictions** are of type `"class"`, `"prob"`, `"linear_pred"` (the link) and `"raw"`, which
#' hands its `opts` on to [predict.bsvm()], as in `opts = list(interval = TRUE)`. But for `"raw"`
#' they allow levels of grouping factors that the fit has not seen, as resampling brings.
#'
#' @param formula,data As in [bsvm()].
#' @param weights Non-negative numbers, one a row, or `NULL` (default).
#' @param cost A positive number, LIBSVM's cost, or `NULL` (default): `prior` says.
#' @param prior As in [bsvm()].
#' @param algorithm The argument `engine` of [bsvm()].
#' @param ... Other arguments of [bsvm()] that are not evaluated in `data`.
#' @return A fit from [bsvm()].
#' @section Errors: `bsvm_error_argument` if `cost` is not a positive number, or comes with `prior`;
#'   `bsvm_error_unsupported` for a likelihood whose response is not of classes; else those of
#'   [bsvm()].
#' @seealso [augment.bsvm()] and [tidy.bsvm()] for data frames of a fit by itself.
#' @examples
#' if (requireNamespace("parsnip", quietly = TRUE)) {
#'   cars <- transform(mtcars, am = factor(am, labels = c("automatic", "manual")))
#'   model <- parsnip::svm_linear(mode = "classification", cost = 4)
#'   model <- parsnip::set_engine(model, "bsvm", algorithm = "vb")
#'   fit <- parsnip::fit(model, am ~ mpg + wt, data = cars)
#'   predict(fit, cars[1:3, ])
#' }
#' # what it calls
#' bsvm_parsnip(am ~ mpg + wt, data = mtcars, cost = 4, algorithm = "vb")
#' @export
bsvm_parsnip <- function(formula, data, weights = NULL, cost = NULL, prior = NULL,
                         algorithm = NULL, ...) {
  need_arguments("formula", "data", what = "bsvm_parsnip()")
  check_formula(formula)
  need_classes(new_response(kind_for(list(...)[["likelihood"]])), "bsvm_parsnip()",
               "Use bsvm() with this likelihood.")
  prior <- if (is.null(cost)) prior else cost_prior(cost, prior)
  arguments <- list(formula = formula, data = data, weights = weights, prior = prior,
                    engine = algorithm, ...)
  call <- as.call(c(bsvm, Filter(Negate(is.null), arguments)))
  fit <- eval_with(call, list(data = data), parent.frame())
  fit$call <- clean_call(call)
  fit
}

cost_prior <- function(cost, prior) {
  if (!is.null(prior)) {
    abort("argument", "`cost` and `prior` both say how coefficients are penalised: give one of ",
          "the two.")
  }
  prior <- prior_ridge(variance = check_positive(cost, "cost") / 2)
  prior$open_scale <- "fixed" # LIBSVM's cost speaks of the pseudo-likelihood
  prior
}

# parsnip is suggested: whichever of the two packages is loaded first, its engine is registered as
# soon as both are. Should that fail, bsvm still loads; hooks are tried by R.
.onLoad <- function(libname, pkgname) {
  if (isNamespaceLoaded("parsnip")) try(register_parsnip())
  setHook(packageEvent("parsnip", "onLoad"), function(...) register_parsnip())
}

# Registering twice (a namespace that is loaded again) would be an error of parsnip's.
register_parsnip <- function(model = "svm_linear", mode = "classification", engine = "bsvm") {
  if (engine %in% parsnip::get_from_env(model)$engine) return(invisible())
  parsnip::set_model_engine(model, mode, engine)
  parsnip::set_dependency(model, engine, "bsvm", mode)
  parsnip::set_model_arg(model, engine, parsnip = "cost", original = "cost",
                         func = list(pkg = "dials", fun = "cost"), has_submodel = FALSE)
  parsnip::set_encoding(model, mode, engine, options = list(
    predictor_indicators = "none", compute_intercept = FALSE, remove_intercept = FALSE,
    allow_sparse_x = FALSE
  ))
  parsnip::set_fit(model, mode, engine, value = list(
    interface = "formula", protect = c("formula", "data", "weights"),
    func = c(pkg = "bsvm", fun = "bsvm_parsnip"), defaults = list()
  ))
  for (type in names(parsnip_predictions)) {
    parsnip::set_pred(model, mode, engine, type, value = parsnip_predictions[[type]])
  }
}

parsnip_prediction <- function(..., post = NULL) {
  list(pre = NULL, post = post, func = c(fun = "predict"),
       args = list(object = quote(object$fit), newdata = quote(new_data), ...))
}

# parsnip's type of prediction, and how predict() gives it.
parsnip_predictions <- list(
  class = parsnip_prediction(type = "class", allow_new_levels = TRUE),
  prob = parsnip_prediction(type = "prob", allow_new_levels = TRUE,
                            post = function(x, object) as.data.frame(x)),
  linear_pred = parsnip_prediction(type = "link", allow_new_levels = TRUE),
  raw = parsnip_prediction()
)
