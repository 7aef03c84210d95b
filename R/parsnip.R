#' The engine "bsvm" for support vector machines in parsnip
#'
#' If bsvm and parsnip are both loaded, `parsnip::svm_linear()`, `svm_rbf()` and `svm_poly()` have an
#' engine `"bsvm"` for classification and regression. With it, bsvm can be used in the recipes,
#' workflows and tuning of the tidymodels. `bsvm_parsnip()` is the function that parsnip calls; there
#' is no other use for it.
#'
#' @details
#' **Kernels.** For `svm_rbf()` and `svm_poly()`, the predictors become the variables of one term
#' [gp()][gp]. Its kernel is [kernel_se()] with the length scale `1 / sqrt(2 * rbf_sigma)`, or
#' [kernel_poly()] with `degree` and the offset `1 / (scale_factor * k)`, where `k` is the number of
#' variables. These are kernlab's kernels. Without `rbf_sigma` the length scale is learned, so there
#' is nothing to tune. Without `degree` it is 2, and without `scale_factor` the offset is 1.
#' Interactions are part of the kernel and not accepted in the formula.
#'
#' **The formula** is otherwise given to [bsvm()] unchanged. Random-effects terms and smooth terms can be used
#' in `fit()`, and in a workflow as the argument `formula` of `add_model()`. The outcome must be a
#' factor with two levels, or numeric for regression. The likelihood for regression is
#' [likelihood_eps_insensitive()] unless the argument `likelihood` is given.
#'
#' **Cost in classification.** The argument `cost` of `svm_linear()` is the cost of LIBSVM. Under
#' the pseudo-likelihood it fixes the variance of the slopes at `cost / 2`, for predictors that are
#' standardised internally, as in the kernlab engine of parsnip. Under the normalised likelihood,
#' whose coefficients are a quarter as large, the variance is a sixteenth of this. With a kernel
#' it is the variance of the term's amplitude. Without `cost`
#' the default priors of [bsvm()] are used: the penalty is inferred, and there is nothing to tune.
#'
#' **Margin and cost in regression.** `margin` is the `epsilon` of the tube, in units of the
#' response. `cost` fixes the variance of the slopes at `cost` times the scale of the residuals.
#' This scale must then be given: `likelihood = likelihood_eps_insensitive(scale = )`.
#'
#' **Other arguments** are given to `set_engine()`: `prior`, `likelihood`, `missing`,
#' `class.weights`, `standardize`, `keep_data` and `control`. Use `algorithm` for the argument
#' `engine` of [bsvm()], because parsnip uses the name `engine` itself.
#'
#' **Case weights** become `weights`. An offset is a term `offset()` of the formula.
#'
#' **Predictions** for classification are of type `"class"`, `"prob"`, `"conf_int"` (of the
#' probabilities), `"linear_pred"` (the linear predictor) and `"raw"`. For regression they are of type `"numeric"`, `"pred_int"` (for new
#' responses), `"conf_int"` (for the linear predictor) and `"raw"`. Type `"raw"` hands its `opts` to
#' [predict.bsvm()], as in `opts = list(interval = TRUE)`. All types except `"raw"` accept new
#' levels of grouping factors, which resampling can produce.
#'
#' @param formula,data As in [bsvm()].
#' @param weights Non-negative numbers, one per row, or `NULL` (default).
#' @param cost The cost of LIBSVM, a positive number. `NULL` (default) uses `prior`.
#' @param margin The `epsilon` of the tube, a number of at least 0. `NULL` (default) uses
#'   `likelihood`.
#' @param prior,likelihood As in [bsvm()].
#' @param kernel `"linear"` (default), `"rbf"` or `"poly"`.
#' @param rbf_sigma,degree,scale_factor Parameters of kernlab's kernels; `NULL` (default) as above.
#' @param mode `"classification"` (default) or `"regression"`.
#' @param algorithm The argument `engine` of [bsvm()].
#' @param ... Other arguments of [bsvm()] that are not evaluated in `data`.
#' @return A fit from [bsvm()].
#' @section Errors:
#' `bsvm_error_argument` if `cost` is not a positive number, if it is combined with `prior`, or in
#' regression if the scale is not given. `bsvm_error_unsupported` for a likelihood of the other
#' mode; otherwise the errors of [bsvm()].
#' @seealso [augment.bsvm()] and [tidy.bsvm()] for data frames from a fit.
#' @examples
#' # how does the model fit into tidymodels?
#' if (requireNamespace("parsnip", quietly = TRUE)) {
#'   model <- parsnip::svm_linear(mode = "classification")
#'   model <- parsnip::set_engine(model, "bsvm")
#'   fit <- parsnip::fit(model, disease ~ sex + age, data = cath)
#'   predict(fit, cath[1:3, ], type = "prob")
#' }
#' # what it calls
#' bsvm_parsnip(disease ~ sex + age, data = cath)
#' @export
bsvm_parsnip <- function(formula, data, weights = NULL, cost = NULL, margin = NULL, prior = NULL,
                         algorithm = NULL, likelihood = NULL,
                         mode = c("classification", "regression"),
                         kernel = c("linear", "rbf", "poly"), rbf_sigma = NULL, degree = NULL,
                         scale_factor = NULL, ...) {
  need_arguments("formula", "data", what = "bsvm_parsnip()")
  check_formula(formula)
  kernel <- pick_one(kernel, c("linear", "rbf", "poly"), "kernel")
  if (kernel != "linear") {
    formula <- kernel_formula(formula, data, switch(
      kernel, rbf = rbf_call(rbf_sigma), poly = poly_call(degree, scale_factor)))
  }
  mode <- pick_one(mode, c("classification", "regression"), "mode")
  if (mode == "regression") {
    likelihood <- margin_likelihood(margin, likelihood)
    prior <- if (is.null(cost)) prior else scale_cost_prior(cost, prior, likelihood)
  } else {
    need_classes(new_response(kind_for(likelihood)), "bsvm_parsnip()",
                 "Use `mode = \"regression\"` with this likelihood.")
    prior <- if (is.null(cost)) prior else cost_prior(cost, prior)
  }
  if (kernel != "linear" && !is.null(cost)) prior <- list(gp = prior)
  arguments <- list(formula = formula, data = data, weights = weights, prior = prior,
                    engine = algorithm, likelihood = likelihood, ...)
  call <- as.call(c(bsvm, Filter(Negate(is.null), arguments)))
  fit <- eval_with(call, list(data = data), parent.frame())
  fit$call <- clean_call(call)
  fit
}

# The predictors as variables of one gp() term; terms with functions of their own stay.
kernel_formula <- function(formula, data, kernel) {
  parts <- split_special(formula[[3L]])
  inner <- all.names(parts$fixed)
  if (any(c(":", "*", "^", "%in%") %in% inner)) {
    abort("formula", "`formula` must have no interactions for svm_rbf() and svm_poly(): the kernel ",
          "has them. Found ", deparse1(formula), ".")
  }
  terms <- Filter(function(part) !is.numeric(part$term), added_terms(parts$fixed))
  offset <- vapply(terms, function(part) is_call_to(part$term, "offset"), TRUE)
  offsets <- lapply(terms[offset], `[[`, "term")
  terms <- terms[!offset]
  if (length(terms) == 0L || any(vapply(terms, `[[`, "", "sign") == "-")) {
    abort("formula", "`formula` must have predictors, none of them with a minus; found ",
          deparse1(formula), ".")
  }
  term <- as.call(c(list(quote(gp)), lapply(terms, `[[`, "term"), list(kernel = kernel(terms, data))))
  formula[[3L]] <- term
  add_terms(formula, c(offsets, parts$bars, parts$bases))
}

rbf_call <- function(sigma) {
  if (is.null(sigma)) return(function(terms, data) quote(kernel_se()))
  check_positive(sigma, "rbf_sigma")
  function(terms, data) call("kernel_se", 1 / sqrt(2 * sigma))
}

poly_call <- function(degree, scale) {
  degree <- if (is.null(degree)) 2L else check_count(degree, "degree")
  if (is.null(scale)) return(function(terms, data) call("kernel_poly", degree, 1))
  check_positive(scale, "scale_factor")
  function(terms, data) {
    dot <- any(vapply(terms, function(part) identical(part$term, quote(.)), TRUE))
    k <- if (dot) ncol(data) - 1L else length(terms)
    call("kernel_poly", degree, 1 / (scale * k))
  }
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
  register_marginaleffects()
}

# Registering twice (a namespace that is loaded again) would be an error of parsnip's.
register_parsnip <- function(engine = "bsvm") {
  for (kernel in names(parsnip_arguments)) {
    model <- paste0("svm_", kernel)
    known <- parsnip::get_from_env(model)
    for (mode in c("classification", "regression")) {
      if (any(known$engine == engine & known$mode == mode)) next
      register_mode(model, mode, engine, kernel)
    }
    for (argument in parsnip_arguments[[kernel]]) {
      parsnip::set_model_arg(model, engine, parsnip = argument, original = argument,
                             func = list(pkg = "dials", fun = argument_parameters[[argument]]),
                             has_submodel = FALSE)
    }
  }
}

parsnip_arguments <- list(linear = c("cost", "margin"), rbf = c("cost", "rbf_sigma", "margin"),
                          poly = c("cost", "degree", "scale_factor", "margin"))

argument_parameters <- c(cost = "cost", margin = "svm_margin", rbf_sigma = "rbf_sigma",
                         degree = "degree", scale_factor = "scale_factor")

register_mode <- function(model, mode, engine, kernel) {
  parsnip::set_model_engine(model, mode, engine)
  parsnip::set_dependency(model, engine, "bsvm", mode)
  parsnip::set_encoding(model, mode, engine, options = list(
    predictor_indicators = "none", compute_intercept = FALSE, remove_intercept = FALSE,
    allow_sparse_x = FALSE
  ))
  parsnip::set_fit(model, mode, engine, value = list(
    interface = "formula", protect = c("formula", "data", "weights"),
    func = c(pkg = "bsvm", fun = "bsvm_parsnip"), defaults = list(mode = mode, kernel = kernel)
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

# Intervals of the probabilities of both classes.
class_interval <- function(x, object) {
  levels <- object$lvl
  columns <- list(1 - x$upper, 1 - x$lower, x$lower, x$upper)
  names(columns) <- paste0(c(".pred_lower_", ".pred_upper_"), rep(levels, each = 2L))
  as.data.frame(columns, check.names = FALSE)
}

# parsnip's type of prediction, and how predict() gives it.
parsnip_predictions <- list(
  classification = list(
    class = parsnip_prediction(type = "class", allow_new_levels = TRUE),
    prob = parsnip_prediction(type = "prob", allow_new_levels = TRUE,
                              post = function(x, object) as.data.frame(x)),
    conf_int = parsnip_prediction(type = "prob", interval = TRUE, level = quote(level),
                                  allow_new_levels = TRUE, post = class_interval),
    linear_pred = parsnip_prediction(type = "link", allow_new_levels = TRUE),
    raw = parsnip_prediction()
  ),
  regression = list(
    numeric = parsnip_prediction(type = "response", allow_new_levels = TRUE),
    pred_int = parsnip_interval("prediction"), conf_int = parsnip_interval("confidence"),
    raw = parsnip_prediction()
  )
)
