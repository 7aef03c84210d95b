#' The engine "bsvm" of parsnip's linear support vector machine
#'
#' Once bsvm and parsnip are both loaded, `parsnip::svm_linear()` has an engine `"bsvm"` for
#' classification and regression, so that fits take part in the recipes, workflows and tuning of the
#' tidymodels. `bsvm_parsnip()` is what parsnip calls; there is no other use for it.
#'
#' @details **The formula** reaches [bsvm()] as it is: bars and smooth terms work in `fit()`, and in
#' a workflow as the argument `formula` of `add_model()`. The outcome must be a factor of two
#' levels, or numbers for regression, whose likelihood is [likelihood_eps_insensitive()] unless
#' `likelihood` says otherwise.
#'
#' **Arguments.** The argument `cost` of `svm_linear()` is that of LIBSVM: it fixes the variance of
#' the slopes at `cost / 2` under the pseudo-likelihood, for predictors that are standardised
#' inside, as kernlab's engine does too, and at a sixteenth of that under the normalised likelihood,
#' whose coefficients are a quarter. Without it the priors are those of [bsvm()], penalty inferred,
#' and there is nothing to tune. In regression `margin` is the tube's `epsilon`, in units of the
#' response, and `cost` fixes the variance at `cost` times the residuals' scale, which must then be
#' given: `likelihood = likelihood_eps_insensitive(scale = )`. Others go into
#' `set_engine()`: `prior`, `likelihood`, `missing`, `class.weights`, `standardize`, `keep_data`,
#' `control`, and `algorithm` for what is `engine` in [bsvm()], a name that parsnip has taken.
#'
#' **Case weights** become `weights`. An offset is a term `offset()` of the formula.
#'
#' **Predictions** are of type `"class"`, `"prob"`, `"linear_pred"` (the link) and `"raw"`, which
#' hands its `opts` on to [predict.bsvm()], as in `opts = list(interval = TRUE)`. But for `"raw"`
#' they allow levels of grouping factors that the fit has not seen, as resampling brings. In
#' regression they are of type `"numeric"`, `"pred_int"` (of new responses), `"conf_int"` (of the
#' linear predictor) and `"raw"`.
#'
#' @param formula,data As in [bsvm()].
#' @param weights Non-negative numbers, one a row, or `NULL` (default).
#' @param cost A positive number, LIBSVM's cost, or `NULL` (default): `prior` says.
#' @param margin A number of at least 0, the tube's `epsilon`, or `NULL` (default): `likelihood`
#'   says.
#' @param prior,likelihood As in [bsvm()].
#' @param mode `"classification"` (default) or `"regression"`.
#' @param algorithm The argument `engine` of [bsvm()].
#' @param ... Other arguments of [bsvm()] that are not evaluated in `data`.
#' @return A fit from [bsvm()].
#' @section Errors: `bsvm_error_argument` if `cost` is not a positive number, or comes with `prior`,
#'   or in regression without a given scale; `bsvm_error_unsupported` for a likelihood of the other
#'   mode; else those of [bsvm()].
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
bsvm_parsnip <- function(formula, data, weights = NULL, cost = NULL, margin = NULL, prior = NULL,
                         algorithm = NULL, likelihood = NULL,
                         mode = c("classification", "regression"), ...) {
  need_arguments("formula", "data", what = "bsvm_parsnip()")
  check_formula(formula)
  mode <- pick_one(mode, c("classification", "regression"), "mode")
  if (mode == "regression") {
    likelihood <- margin_likelihood(margin, likelihood)
    prior <- if (is.null(cost)) prior else scale_cost_prior(cost, prior, likelihood)
  } else {
    need_classes(new_response(kind_for(likelihood)), "bsvm_parsnip()",
                 "Use `mode = \"regression\"` with this likelihood.")
    prior <- if (is.null(cost)) prior else cost_prior(cost, prior)
  }
  arguments <- list(formula = formula, data = data, weights = weights, prior = prior,
                    engine = algorithm, likelihood = likelihood, ...)
  call <- as.call(c(bsvm, Filter(Negate(is.null), arguments)))
  fit <- eval_with(call, list(data = data), parent.frame())
  fit$call <- clean_call(call)
  fit
}

margin_likelihood <- function(margin, likelihood) {
  if (is.null(likelihood)) return(likelihood_eps_insensitive(epsilon = margin))
  if (!is.null(margin)) {
    abort("argument", "`margin` and `likelihood` both set the width of the tube: give one of the ",
          "two, or `likelihood = likelihood_eps_insensitive(epsilon = )`.")
  }
  likelihood <- as_likelihood(likelihood)
  if (response_kind(likelihood) == "numbers") return(likelihood)
  abort("unsupported", "`mode = \"regression\"` needs a likelihood of numbers, as ",
        "likelihood_eps_insensitive(); found ", likelihood$label, ".")
}

# LIBSVM's cost of epsilon-SVR is the variance over the residuals' scale.
scale_cost_prior <- function(cost, prior, likelihood) {
  check_one_penalty(prior)
  check_positive(cost, "cost")
  scale <- likelihood$parameters["scale"]
  if (is.na(scale)) {
    abort("argument", "`cost` is LIBSVM's where the residuals' scale is known: give `likelihood = ",
          "likelihood_eps_insensitive(scale = )`, or leave `cost` out and the penalty is inferred.")
  }
  prior_ridge(variance = cost * scale[[1L]])
}

check_one_penalty <- function(prior) {
  if (is.null(prior)) return(invisible())
  abort("argument", "`cost` and `prior` both set the penalty of the coefficients: give one of the ",
        "two.")
}

cost_prior <- function(cost, prior) {
  check_one_penalty(prior)
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
register_parsnip <- function(model = "svm_linear", engine = "bsvm") {
  known <- parsnip::get_from_env(model)
  for (mode in c("classification", "regression")) {
    if (any(known$engine == engine & known$mode == mode)) next
    register_mode(model, mode, engine)
  }
  for (argument in c("cost", "margin")) {
    parsnip::set_model_arg(model, engine, parsnip = argument, original = argument,
                           func = list(pkg = "dials", fun = argument_parameters[[argument]]),
                           has_submodel = FALSE)
  }
}

argument_parameters <- c(cost = "cost", margin = "svm_margin")

register_mode <- function(model, mode, engine) {
  parsnip::set_model_engine(model, mode, engine)
  parsnip::set_dependency(model, engine, "bsvm", mode)
  parsnip::set_encoding(model, mode, engine, options = list(
    predictor_indicators = "none", compute_intercept = FALSE, remove_intercept = FALSE,
    allow_sparse_x = FALSE
  ))
  parsnip::set_fit(model, mode, engine, value = list(
    interface = "formula", protect = c("formula", "data", "weights"),
    func = c(pkg = "bsvm", fun = "bsvm_parsnip"), defaults = list(mode = mode)
  ))
  for (type in names(parsnip_predictions[[mode]])) {
    parsnip::set_pred(model, mode, engine, type, value = parsnip_predictions[[mode]][[type]])
  }
}

parsnip_prediction <- function(..., post = NULL) {
  list(pre = NULL, post = post, func = c(fun = "predict"),
       args = list(object = quote(object$fit), newdata = quote(new_data), ...))
}

parsnip_interval <- function(kind) {
  parsnip_prediction(interval = kind, level = quote(level), allow_new_levels = TRUE,
                     post = function(x, object) {
                       data.frame(.pred_lower = x$lower, .pred_upper = x$upper)
                     })
}

# parsnip's type of prediction, and how predict() gives it.
parsnip_predictions <- list(
  classification = list(
    class = parsnip_prediction(type = "class", allow_new_levels = TRUE),
    prob = parsnip_prediction(type = "prob", allow_new_levels = TRUE,
                              post = function(x, object) as.data.frame(x)),
    linear_pred = parsnip_prediction(type = "link", allow_new_levels = TRUE),
    raw = parsnip_prediction()
  ),
  regression = list(
    numeric = parsnip_prediction(type = "response", allow_new_levels = TRUE),
    pred_int = parsnip_interval("prediction"), conf_int = parsnip_interval("confidence"),
    raw = parsnip_prediction()
  )
)
