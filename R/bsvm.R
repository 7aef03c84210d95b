#' Fit a Bayesian support vector machine
#'
#' A linear support vector machine as a Bayesian model, with the penalty inferred and random
#' effects where the formula has bars.
#'
#' @details
#' **Model.** With the response \eqn{y} coded as -1 or +1 and the linear predictor \eqn{f}, each
#' row contributes \eqn{\exp\{-2 \max(0, 1 - y f)\}}{exp(-2 max(0, 1 - y f))}, to the power of its
#' weight: the hinge loss of the support vector machine.
#'
#' **Response.** A factor (its second level is +1), logical (`TRUE` is +1), 0/1 or -1/+1. Factor
#' levels that do not occur are dropped.
#'
#' **Bars.** `(1 | g)` gives every level of `g` an intercept of its own, `(0 + x | g)` a slope, and
#' `(x || g)` both, independent. Each of these effects has its own inferred variance. In a term
#' with `||` the columns of a factor are independent effects too. There can be one grouping
#' factor; `a:b` crosses two into one. Correlated effects, `(x | g)`, are refused. `.` stands for
#' all columns but the response and the grouping factor.
#'
#' **Which effects are penalised.** Without bars all but the intercept share one [prior_ridge()].
#' With bars the population-level effects have [prior_flat()], and the group effects
#' [prior_ridge()]. `prior` sets it otherwise: one prior is for the population-level slopes; in a
#' list, the entry without a name is for those, and names are `"(Intercept)"`, a column, a term or
#' the grouping factor (see [prior_for()]).
#'
#' **Standardisation.** Columns with a penalty are centred (if there is an intercept) and scaled to
#' standard deviation one inside; flat columns are used as given. Coefficients and predictions
#' are on the scale of the predictors as given, variances and the bound on the standardised scale.
#' With weights `w` the mean and standard deviation are weighted, with divisor `sum(w) - 1`, so
#' that weight 2 is the row twice. A penalised column that does not vary is kept unscaled, its
#' coefficient is shrunk to zero, and a warning says so.
#'
#' **Missing values** in response, predictors, grouping factor, weights or offset are an error that
#' counts them, unless `na.action` leaves rows out (`na.omit`; `na.exclude` also pads fitted
#' values). `NaN` counts as missing; infinite values are an error under any `na.action`.
#'
#' **Weight zero** is as if the row were absent, but it has a fitted link.
#'
#' **What is kept.** The fit keeps the response and the fitted link, not the data. Methods that need
#' the data evaluate the call again, unless `keep_data = TRUE`. Of what the formula takes from
#' elsewhere, constants and functions stay with the terms. A function that was made inside another
#' one brings along everything that lay there when it was made, large objects too: define it at top
#' level, or remove those first.
#'
#' @param x A formula, or a numeric matrix of predictors without the column of ones (an intercept
#'   is always fitted; a column of ones named `"(Intercept)"` is taken for it). The matrix is
#'   not copied.
#' @param formula Response on the left; on the right predictors as in [stats::glm()] and terms with
#'   bars as in lme4.
#' @param data A data frame; variables that are not in it are looked for where the formula was
#'   made.
#' @param y The response for a matrix `x`, coded as above.
#' @param group With a matrix: a factor or vector whose levels get random intercepts.
#' @param subset Which rows to use, evaluated in `data`: a logical vector (`NA` counts as `FALSE`),
#'   row numbers or row names (no `NA`). A row that is chosen twice counts twice.
#' @param weights Non-negative numbers, one a row, evaluated in `data` by the formula method.
#' @param offset Numbers added to the linear predictor, evaluated like `weights`; the formula may
#'   have `offset()` terms too.
#' @param na.action What to do with missing values: `na.fail` (default), `na.omit`, `na.exclude`,
#'   or a function of a data frame.
#' @param contrasts As in [stats::model.matrix()]: a named list.
#' @param drop.unused.levels Should levels of factors that do not occur be dropped? `TRUE` by
#'   default. Levels of the grouping factor always are.
#' @param class.weights Positive numbers named by class, which multiply the weights of that class;
#'   a class that is not named has 1.
#' @param likelihood [likelihood_hinge()], or `"hinge"`.
#' @param prior `NULL` (the default priors), a prior, or a list of priors; see Details.
#' @param engine [engine_vb()], a string such as `"vb"`, or `NULL` (default): the most exact engine
#'   that is affordable for the model.
#' @param standardize Should penalised columns be standardised? `TRUE` by default.
#' @param keep_data Should the fit keep its data? `FALSE` by default. `TRUE` keeps the variables
#'   that formula, `weights` and `offset` name, from `data` or elsewhere, for the rows `subset`
#'   chose (in `update()`, a term such as `x - mean(x)` sees only these); of a matrix fit `x`, `y`,
#'   `group`, `weights` and `offset`.
#' @param control From [bsvm_control()].
#' @param ... Must be empty.
#' @return An object of class `bsvm`; [new_bsvm()] lists what it holds. Methods: [print.bsvm()],
#'   [summary.bsvm()], [coef.bsvm()], [predict.bsvm()], [plot.bsvm()] and others.
#' @section Errors: Each has a class of its own; see [bsvm_conditions].
#' @references
#' Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for support
#' vector machine classification. *Computational Statistics & Data Analysis*, 73, 163-176
#' (Algorithms 1 and 2, Section 3.1).
#'
#' Polson, N. G. and Scott, S. L. (2011). Data augmentation for support vector machines.
#' *Bayesian Analysis*, 6, 1-23.
#' @seealso [prior_ridge()], [prior_for()], [engine_vb()], [bsvm_control()].
#' @examples
#' # penalty inferred
#' fit <- bsvm(am ~ mpg + wt + qsec, data = mtcars, engine = "vb")
#' summary(fit)
#' predict(fit, data.frame(mpg = 25, wt = 2.5, qsec = 18))
#'
#' # random intercepts
#' set.seed(1)
#' d <- data.frame(x = rnorm(200), clinic = gl(20, 10))
#' d$sick <- d$x + rnorm(20)[d$clinic] + rnorm(200) > 0
#' bsvm(sick ~ x + (1 | clinic), data = d, engine = "vb")
#'
#' # matrix
#' bsvm(as.matrix(mtcars[c("mpg", "wt")]), mtcars$am, engine = "vb")
#' @export
bsvm <- function(x, ...) {
  if (nargs() == 0L) refuse_nothing()
  UseMethod("bsvm")
}

#' @rdname bsvm
#' @export
bsvm.formula <- function(formula, data = NULL, subset, weights, offset, na.action = na.fail,
                         contrasts = NULL, drop.unused.levels = TRUE, class.weights = NULL,
                         likelihood = likelihood_hinge(), prior = NULL, engine = NULL,
                         standardize = TRUE, keep_data = FALSE, control = bsvm_control(), ...) {
  check_dots(substitute(list(...)))
  check_flag(keep_data, "keep_data")
  check_control(control)
  call <- match.call()
  data <- force_data(data)
  frame <- eval_with(frame_call(call), list(data = data), parent.frame())
  spec <- bsvm_spec(frame, prior, likelihood, engine, standardize)
  result <- bsvm_run(spec, control)
  new_bsvm(frame, spec, result, call, control,
           if (keep_data) kept_data(frame, call, data, formula))
}

#' @rdname bsvm
#' @export
bsvm.default <- function(x, y, group = NULL, weights = NULL, offset = NULL, na.action = na.fail,
                         drop.unused.levels = TRUE, class.weights = NULL,
                         likelihood = likelihood_hinge(), prior = NULL, engine = NULL,
                         standardize = TRUE, keep_data = FALSE, control = bsvm_control(), ...) {
  check_dots(substitute(list(...)))
  check_flag(keep_data, "keep_data")
  check_control(control)
  frame <- bsvm_frame.default(x, y, group, weights, offset, na.action, drop.unused.levels,
                              class.weights)
  spec <- bsvm_spec(frame, prior, likelihood, engine, standardize)
  result <- bsvm_run(spec, control)
  new_bsvm(frame, spec, result, match.call(), control,
           if (keep_data) list(x = x, y = y, group = group, weights = weights, offset = offset))
}

refuse_nothing <- function() {
  abort("formula", "bsvm() needs a formula and data, as in bsvm(y ~ x, data), or a matrix and a ",
        "response, as in bsvm(x, y).")
}

# A data frame as the first argument: fine if a formula comes with it, as from a pipe.
#' @export
bsvm.data.frame <- function(x, ...) {
  call <- match.call()
  if (is.null(call$formula)) check_matrix(x)
  names(call)[names(call) == "x"] <- "data"
  call[[1L]] <- bsvm.formula
  eval(call, parent.frame())
}

# The part of a call that bsvm_frame() takes, so that `weights` and its like stay unevaluated.
frame_call <- function(call) {
  taken <- c("formula", "data", "subset", "weights", "offset", "na.action", "contrasts",
             "drop.unused.levels", "class.weights")
  call <- call[c(1L, which(names(call) %in% taken))]
  call[[1L]] <- bsvm_frame.formula
  call
}
