#' Fit a Bayesian support vector machine
#'
#' `bsvm()` fits support vector machines and support vector regression as Bayesian models. The
#' penalty is inferred. Models can have random effects, smooth functions and missing predictors;
#' intervals and class probabilities are calibrated.
#'
#' @details
#' **Defaults.** `bsvm(y ~ x, data)` needs no further arguments. The likelihood is the normalised
#' hinge ([likelihood_hinge()]), and the standard deviation of every inferred variance has a half-t
#' prior ([prior_half_t()]). The engine is the cheapest one that is near the exact posterior for the
#' model (see below). `print()` shows all three.
#'
#' **Model.** With the response \eqn{y} coded as -1 or +1 and the linear predictor \eqn{f}, each row
#' contributes \eqn{\exp\{-2 \max(0, 1 - y f)\}}{exp(-2 max(0, 1 - y f))}, to the power of its
#' weight. The exponent is minus twice the hinge loss of the support vector machine. The default
#' likelihood divides the contribution by its sum over the two classes, which makes it a probability
#' model. `likelihood = "hinge"` does not divide: it is the pseudo-likelihood of the papers, a
#' classifier.
#'
#' **Regression.** For a response of numbers, use a likelihood such as
#' [likelihood_eps_insensitive()] (support vector regression) or [likelihood_quantile()]
#' (quantiles). The rest of this page also holds for such models. Numbers in priors are in units of
#' the response. Default priors are those of the pseudo-likelihood times the median absolute
#' deviation of the response: standard deviations of 10 and 40 and a half-t scale of 1 become 10, 40
#' and 1 times this deviation. Lasso, bridge and selection priors are for coefficients in units of
#' this deviation.
#'
#' **Response.** Classes can be a factor (its second level is +1), text with two values (the second
#' in the order of [factor()] is +1), logical (`TRUE` is +1), 0/1 or -1/+1. Factor levels that do
#' not occur are dropped. Counts of two classes are `cbind(successes, failures)`: each row becomes a
#' row of class `"success"` and one of class `"failure"`, weighted with their counts,
#' which is what `fitted()`, `model.frame()` and `augment()` have. `nobs()` counts the rows of the data,
#' `simulate()` returns counts, and `pp_check()` and [holdout()] compare single trials.
#'
#' **Random-effects terms** are read as in lme4. `(1 | g)` gives every level of `g` its own
#' intercept and `(0 + x | g)` its own slope. `(x | g)` gives both, correlated, and `(x || g)` both,
#' independent. There can be any number of grouping factors. They can be crossed, `(1 | g) + (1 |
#' h)`, or nested: `(1 | g / h)` stands for `(1 | g) + (1 | h:g)`, and `a:b` is the factor of the
#' combinations that occur. Correlated effects have an inferred covariance matrix, independent
#' effects one variance each. In a term with `||` the columns of a factor are independent effects
#' too (lme4 keeps these correlated).
#'
#' In a term with an intercept, a varying slope needs a covariate that varies: otherwise the two
#' effects cannot be distinguished, which is an error. A factor with as many effects as there are
#' rows is fitted with a warning of class `bsvm_warning_group`, because the prior then determines
#' its variance.
#'
#' Levels that are numbers are named by the shortest decimals that identify the number. Times are
#' named in universal time with fractions of seconds. The same value therefore has the same name as
#' integer, double, text or factor, so that `predict()` finds it; different values have different
#' names.
#'
#' **Smooth terms** are those of mgcv: `s(x)`, `s(x, z)`, `t2(x, z)`, with `k`, `bs`, `m`, `by`,
#' `fx`, `xt` and `pc` as in mgcv. mgcv makes the basis and its penalty, centres the function, and
#' splits it. The columns without penalty (the straight line of `s(x)`) are population-level
#' coefficients. The penalised columns have normal priors with one variance per penalty, by default
#' [prior_ridge()], in units of the function (see [prior_half_t()]). Rows count once for the basis,
#' whatever their weight.
#'
#' With a factor `by` there is a centred smooth for each level, with its own variance. Constant
#' differences between levels are the main effect of the factor; include it in the formula as well.
#' `te()` and `ti()`, whose penalties overlap, are not supported, nor are the arguments `sp` and
#' `id`. A thin plate spline (`bs = "tp"`, the default) stores up to 2000 values of its variable in
#' the fit; `bs = "cr"` does not.
#'
#' **Gaussian-process terms**, `gp(x1, x2)`, are functions of one or several variables that are
#' described by a kernel. They give a support vector machine with a kernel whose length scales are
#' learned. See [gp()][gp].
#'
#' **Factor terms**, `factors(expr, k = 10)`, let the response depend on many variables through a
#' few factors of these variables: the discriminative factor model. See [factors()][factors].
#'
#' `.` stands for all columns except the response, the grouping factors and the variables of smooth
#' and Gaussian-process terms. A factor that is only the `by` of a smooth is included.
#'
#' **Priors.** Without random effects and smooths, all coefficients except the intercept share one
#' [prior_ridge()], whose variance is inferred. With random effects or smooths, the population-level
#' coefficients have independent, weakly informative normal priors instead. Their standard deviation
#' is 2.5 per standard deviation of the predictor, as with `prior_ridge(variance = 6.25)`. The
#' intercept, at the means of the predictors, has a normal prior with standard deviation 10. Under
#' the pseudo-likelihood, 2.5 and 10 become 10 and 40, since its coefficients are about four times
#' as large. These priors are so wide that they matter only if predictors or groups separate the
#' classes.
#'
#' `prior = prior_flat()` makes all these priors flat. In a model without random effects and
#' smooths, the intercept is also flat if the slopes have another prior, or [prior_ridge()] with a
#' given scale or variance. Group effects and the penalised parts of smooths have [prior_ridge()],
#' with a covariance matrix for correlated effects (see [prior_inv_wishart()]). A single `prior` is
#' for the population-level slopes. In a list, the entry without a name is for these slopes. The
#' names of other entries are `"(Intercept)"`, a column, a term, a smooth or a grouping factor (see
#' [prior_for()]).
#'
#' To reproduce figures of Luts and Ormerod (2014), use `prior = prior_ridge(0.01, 0.01)` and
#' `engine = "vb"` or `"gibbs"`. With random intercepts of `g`, use `prior = list(prior_flat(), g =
#' prior_ridge(0.01, 0.01))`.
#'
#' A factor with 30 levels or more that shares an inferred variance with other predictors gives a
#' message (class `bsvm_message_many_levels`, once per session): its many coefficients determine the
#' common variance. Use `(1 | f)` to give them their own variance. If slopes share a variance,
#' predictions depend on the reference level of a factor, because the differences from that level
#' are shrunk. With `prior_flat()` for the factor, or with `(1 | f)`, they do not depend on it.
#'
#' **Standardisation.** Columns with a penalty are centred (if there is an intercept) and scaled
#' internally to standard deviation one. Flat columns, penalised columns of smooths and the
#' covariates of varying slopes are not scaled. Coefficients and predictions are on the original
#' scale of the predictors; variances and the lower bound are on the standardised scale. With
#' weights `w` the mean and standard deviation are weighted, with divisor `sum(w) - 1`: weight 2 is
#' equivalent to two copies of the row. A penalised column that does not vary is kept unscaled and
#' gives a warning; its coefficient is shrunk to zero.
#'
#' **Sparse designs.** A sparse matrix `x` remains sparse in all computations. So does the design
#' of a formula if it would have more than 1e7 cells and be less than 10 % full (factors with very
#' many levels). Sparse columns are scaled. They are not centred if at most a quarter of their cells
#' differ from zero, which changes only the meaning of the intercept.
#'
#' **Missing values** in response, predictors, grouping factors, weights or offset are an error that
#' counts them, unless `na.action` excludes the rows (`na.omit`; `na.exclude` also pads fitted
#' values). `NaN` counts as missing. Infinite values are an error under any `na.action`.
#'
#' **Weight zero** has the same effect as removing the row, except that the row has a fitted value.
#'
#' **Data in the fit.** Like [stats::glm()] and lme4, the fit keeps the variables that it used
#' (without a copy if all rows are used). It also keeps the values of its arguments, so that methods
#' and [update()][update.bsvm] work in another function or another session. With `keep_data = FALSE`
#' the fit is a smaller file, and methods that need the data evaluate the call again.
#'
#' The environment of the formula is not kept. Constants and functions that the formula uses from
#' there are kept with the terms, a function together with the variables that it names. A function
#' that looks up names that are not written in it, for example with [get()], is kept with its whole
#' environment.
#'
#' @param x A formula, or a numeric matrix of predictors without the column of ones. An intercept is
#'   always fitted to a matrix; a column of ones named `"(Intercept)"` is used as the intercept. The
#'   matrix is not copied. A sparse matrix of package Matrix stays sparse.
#' @param formula The response on the left. On the right predictors as in [stats::glm()],
#'   random-effects terms as in lme4, smooth terms as in mgcv, Gaussian-process terms [gp(x1,
#'   x2)][gp], and a factor term [factors(x, k = )][factors].
#' @param data A data frame. Variables that are not in it are looked up in the environment of the
#'   formula. Or rows that are read in chunks and need not fit in memory: a function of `reset`,
#'   names of files, or a [bsvm_source()], whose page has details.
#' @param y The response for a matrix `x`, coded as in Details.
#' @param group With a matrix: a factor or vector whose levels get random intercepts.
#' @param subset Which rows to use, evaluated in `data`: a logical vector (`NA` counts as `FALSE`),
#'   row numbers or row names (no `NA`). A row that is chosen twice counts twice.
#' @param weights Non-negative numbers with a sum of at most 1e12, one for each row, evaluated in
#'   `data` by the formula method.
#' @param offset Numbers added to the linear predictor, evaluated like `weights`; the formula can
#'   also have `offset()` terms. They are in units of the linear predictor: an offset of a logistic
#'   regression, in log odds, must be divided by 4 under the normalised likelihood.
#' @param na.action What to do with missing values: `na.fail` (default), `na.omit`, `na.exclude`, or
#'   a function of a data frame.
#' @param contrasts As in [stats::model.matrix()]: a named list.
#' @param drop.unused.levels Should levels of factors that do not occur be dropped? `TRUE` by
#'   default. Levels of grouping factors that do not occur are always dropped.
#' @param class.weights Positive numbers named by class, which multiply the weights of that class; a
#'   class that is not named has 1. The sum of the products is at most 1e12.
#' @param likelihood `NULL` (default): the normalised hinge likelihood, unless the engine or a prior
#'   only accepts the pseudo-likelihood (see [likelihood_hinge()]). Otherwise `"normalized"`,
#'   `"hinge"` (the pseudo-likelihood), or an object from [likelihood_hinge()]. For a response of
#'   numbers, an object from [likelihood_eps_insensitive()], [likelihood_laplace()],
#'   [likelihood_quantile()] or [likelihood_gaussian()].
#' @param prior `NULL` (the default priors), a prior, or a list of priors; see Details.
#' @param missing How to treat missing predictors. `NULL` (default): as `na.action` specifies.
#'   [missing_normal()] and [missing_selection()] model them, [missing_fail()] and [missing_omit()]
#'   do not. The strings "fail", "omit", "normal" and "selection" are accepted too.
#' @param engine `NULL` (default): the cheapest engine that is near the exact posterior (see the
#'   section on the default engine). Otherwise [engine_gaussian()], [engine_slice()],
#'   [engine_map()], [engine_vb()], [engine_gibbs()], [engine_em()], [engine_ecme()],
#'   [engine_ecm()], or a string such as `"slice"`. If the engine cannot fit the model, an error of
#'   class `bsvm_error_unsupported` names the engines that can.
#' @param standardize Should penalised columns be standardised? `TRUE` by default. Columns of the
#'   other priors are centred but not scaled, if there is an intercept. A prior for the intercept
#'   (`prior = list("(Intercept)" = ...)`) is then for the linear predictor at the means of the
#'   predictors.
#' @param keep_data Should the fit keep its data? `TRUE` (default) keeps the variables in formula,
#'   `weights` and `offset`, from `data` or elsewhere, for the rows chosen by `subset`. In
#'   `update()`, a term such as `x - mean(x)` then uses only these rows. If `data` was given as a
#'   value, for example by [do.call()], all its columns are kept. A matrix fit keeps `x`, `y`,
#'   `group`, `weights` and `offset`. If `data` is a source, at most 1000 rows are kept.
#' @param cluster `NULL` (default), or a cluster of package parallel among whose workers the rows of a
#'   [bsvm_source()] are divided; see [bsvm_cluster].
#' @param control From [bsvm_control()].
#' @param ... Must be empty.
#' @return An object of class `bsvm`; [new_bsvm()] lists its elements. Methods: [print.bsvm()],
#'   [summary.bsvm()], [coef.bsvm()], [predict.bsvm()], [plot.bsvm()] and others.
#' @section The default engine:
#' `engine = NULL` chooses by the structure and size of the model alone, never by timing, so that
#' the same data have the same engine on every computer. The choice is the cheapest engine that is
#' close to the exact posterior. Close means: posterior means within a tenth of a standard
#' deviation, standard deviations within 10 % and variances within 20 %. This was measured once for
#' a table of structures and sizes (`bench/results/default-engine.csv` of the sources). The choices
#' are:
#'   * without random effects, up to 200 rows and 4000 cells (rows times coefficients):
#'     [engine_slice()], since posteriors from few rows are skewed and sampling is quick;
#'   * with several effects per level, `(x | g)` or `(x || g)`, with nested grouping factors, or
#'     with crossed factors (all but the largest with more than 40 levels together):
#'     [engine_slice()], up to 60 population-level coefficients and 1e7 cells;
#'   * with Gaussian-process terms whose kernels are inferred (`infer`), or whose inducing points do
#'     not explain all variance (see [gp]): [engine_gaussian()];
#'   * with a factor term ([factors]): [engine_gibbs()];
#'   * with sparse predictors that are too many to be made dense: [engine_gaussian()], or, if their
#'     covariance matrix is too large, [engine_map()] with a message of class
#'     `bsvm_message_point_estimate`;
#'   * under priors that only [engine_gibbs()] and [engine_vb()] accept: `engine_gibbs()`. With more
#'     than a million rows times squared coefficients, `engine_vb()` with a message;
#'   * in all other cases: [engine_gaussian()]. If its posterior is skewed, for example because the
#'     classes can almost be separated, `engine_slice()` follows with up to 50 000 cells. With more
#'     cells there is a message of class `bsvm_message_engine`. Skewness is not examined without
#'     random effects and with fewer than 2.5 rows per coefficient.
#'
#'   Draws depend on [set.seed()]. `print()` shows which engine was chosen and why. If the classes
#'   can be separated, the posterior has heavy tails and its standard deviations are poorly
#'   determined: even 50 000 draws leave them uncertain by 10 to 25 %. Use the quantiles from
#'   `confint()` instead.
#' @section Errors:
#' Each error has its own class; see [bsvm_conditions].
#' @references
#' Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for support
#' vector machine classification. *Computational Statistics & Data Analysis*, 73, 163-176
#' (Algorithms 1 and 2, Section 3.1).
#'
#' Zhao, Y., Staudenmayer, J., Coull, B. A. and Wand, M. P. (2006). General design Bayesian
#' generalized linear mixed models. *Statistical Science*, 21, 35-51.
#'
#' Polson, N. G. and Scott, S. L. (2011). Data augmentation for support vector machines.
#' *Bayesian Analysis*, 6, 1-23.
#' @seealso [prior_ridge()], [prior_inv_wishart()], [prior_bridge()], [prior_relevance()],
#'   [prior_spike_slab()], [prior_laplace_zero()], [prior_for()], [likelihood_hinge()],
#'   [engine_vb()], [engine_gaussian()], [engine_map()], [engine_slice()], [engine_gibbs()],
#'   [engine_em()], [engine_ecm()], [check_approximation()], [inclusion()], [bsvm_control()].
#' @examples
#' # does the infection recede faster under terbinafine?
#' fit <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail)
#' summary(fit)
#'
#' # how probable is an infection after six months, for a new patient?
#' new <- data.frame(time = 6, treatment = levels(toenail$treatment), patientID = "new")
#' predict(fit, new, type = "prob", interval = TRUE, allow_new_levels = TRUE)
#'
#' # a smooth function of age
#' if (requireNamespace("mgcv", quietly = TRUE)) {
#'   bsvm(disease ~ sex + s(age, k = 5), data = cath)
#' }
#'
#' # a matrix of predictors
#' bsvm(as.matrix(iris[51:150, 1:4]), iris$Species[51:150])
#'
#' # the papers' classifier
#' bsvm(disease ~ sex + age, data = cath, likelihood = "hinge", prior = prior_ridge(0.01, 0.01),
#'      engine = "vb")
#' @export
bsvm <- function(x, ...) {
  if (nargs() == 0L) refuse_nothing()
  if (!missing(x)) force_argument(x, "x", "argument")
  UseMethod("bsvm")
}

#' @rdname bsvm
#' @export
bsvm.formula <- function(formula, data = NULL, subset, weights, offset, na.action = na.fail,
                         contrasts = NULL, drop.unused.levels = TRUE, class.weights = NULL,
                         likelihood = NULL, prior = NULL, missing = NULL,
                         engine = NULL, standardize = TRUE, keep_data = TRUE,
                         control = bsvm_control(), ..., cluster = NULL) {
  if (is_several(likelihood)) {
    refuse_quantiles_of_several(formula, data, likelihood)
    return(fit_each(likelihood, match.call(), parent.frame()))
  }
  check_dots(substitute(list(...)))
  check_flag(keep_data, "keep_data")
  check_control(control)
  matched <- match.call()
  call <- as_written(matched, environment())
  data <- force_argument(data, "data", "data")
  source <- as_source(data)
  if (!is.null(source)) {
    given <- intersect(given_arguments, names(matched))
    return(fit_source(source, matched, call, parent.frame(),
                      c(mget(frame_arguments), list(given = mget(given), cluster = cluster))))
  }
  counts <- count_response(formula, data, likelihood)
  if (!is.null(counts)) {
    return(fit_counts(matched, call, counts, formula, data, parent.frame()))
  }
  responses <- several_responses(formula, data, likelihood)
  if (!is.null(responses)) {
    arguments <- list(formula = formula, data = data, na.action = na.action, contrasts = contrasts,
                      drop.unused.levels = drop.unused.levels, likelihood = likelihood,
                      prior = prior, engine = engine, standardize = standardize,
                      keep_data = keep_data, control = control)
    return(fit_responses(responses, passed_on(matched, call, data, parent.frame()), data, arguments,
                         parent.frame()))
  }
  lazy <- frame_call(passed_on(matched, call, data, parent.frame()))
  values <- c(list(data = data), if (!is.null(likelihood)) list(likelihood = likelihood),
              if (!is.null(cluster)) list(cluster = cluster),
              if (!is.null(prior)) list(prior = prior),
              if (!is.null(engine)) list(engine = engine), list(control = control))
  frame <- eval_with(lazy, values, parent.frame())
  tell_no_response(frame)
  spec <- bsvm_spec(frame, prior, likelihood, engine, standardize)
  run <- run_default(frame, spec, prior, control)
  fit <- new_bsvm(frame, run$spec, run$result, call, control,
                  if (keep_data) kept_data(frame, call, data, formula),
                  mget(intersect(given_arguments, names(matched)), environment()))
  if (lacks_responses(frame)) as_factor_model(fit) else fit
}

#' @rdname bsvm
#' @export
bsvm.default <- function(x, y, group = NULL, weights = NULL, offset = NULL, na.action = na.fail,
                         drop.unused.levels = TRUE, class.weights = NULL,
                         likelihood = NULL, prior = NULL, missing = NULL,
                         engine = NULL, standardize = TRUE, keep_data = TRUE,
                         control = bsvm_control(), ..., cluster = NULL) {
  if (is_several(likelihood)) return(fit_each(likelihood, match.call(), parent.frame()))
  check_dots(substitute(list(...)))
  check_flag(keep_data, "keep_data")
  check_control(control)
  rule <- as_missing(missing, "na.action" %in% names(match.call()))
  if (!base::missing(y)) force_argument(y, "y", "response")
  frame <- bsvm_frame.default(x, y, group, weights, offset, rule_action(rule, na.action),
                              drop.unused.levels, class.weights, rule, likelihood, cluster)
  spec <- bsvm_spec(frame, prior, likelihood, engine, standardize)
  run <- run_default(frame, spec, prior, control)
  matched <- match.call()
  new_bsvm(frame, run$spec, run$result, as_written(matched, environment()), control,
           if (keep_data) list(x = x, y = y, group = group, weights = weights, offset = offset),
           mget(intersect(given_arguments, names(matched)), environment()))
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
  written <- substitute(list(...))
  for (name in intersect(lazy_arguments, names(call))) call[[name]] <- written[[name]]
  names(call)[names(call) == "x"] <- "data"
  call[[1L]] <- bsvm.formula
  eval(call, parent.frame())
}

# What a fit of a source takes by value.
frame_arguments <- c("formula", "na.action", "contrasts", "drop.unused.levels", "class.weights",
                     "likelihood", "prior", "missing", "engine", "standardize", "keep_data", "control")

# Arguments that are evaluated in the data.
lazy_arguments <- c("subset", "weights", "offset")

# Through another function's `...` an argument is `..1` in a matched call. What is evaluated in the
# data stays as it was written if it names columns only, else it is the value it has where it
# was written (`from` is the function that passed it on).
passed_on <- function(call, written, data, from) {
  for (name in intersect(lazy_arguments, names(call))) {
    if (!is_dot_number(call[[name]])) next
    own <- written[[name]]
    call[[name]] <- if (all(all.vars(own) %in% names(data))) own else {
      tryCatch(eval(call[[name]], from), error = function(e) own)
    }
  }
  call
}

# The call with arguments as they were written, not `..1`.
as_written <- function(call, env) {
  for (name in setdiff(names(call), "")) {
    if (is_dot_number(call[[name]])) call[[name]] <- eval(call("substitute", as.name(name)), env)
  }
  call
}

is_dot_number <- function(term) is.name(term) && grepl("^[.][.][0-9]+$", as.character(term))

# The part of a call that bsvm_frame() takes, so that `weights` and its like stay unevaluated.
frame_call <- function(call) {
  taken <- c("formula", "data", "subset", "weights", "offset", "na.action", "contrasts",
             "drop.unused.levels", "class.weights", "missing")
  call <- call[c(1L, which(names(call) %in% taken))]
  call[[1L]] <- bsvm_frame.formula
  call
}
