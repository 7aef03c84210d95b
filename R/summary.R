#' Summary of a fit
#'
#' `summary()` shows the coefficients and the standard deviations of group effects and smooth
#' terms, with credible intervals. `summary(fit, details = TRUE)` adds all other numbers: variances
#' with the implied cost of LIBSVM, priors, diagnostics of draws, support vectors, and how the fit
#' ended.
#'
#' @details
#' * **Size of coefficients.** Under the normalised likelihood the log odds are four times the
#'   linear predictor f between the margins, where |f| < 1. So four times a coefficient is comparable to a
#'   coefficient of logistic regression. Beyond the margins it is two times a coefficient.
#' * **Accuracy of intervals: the approximation.** With `engine_gaussian()` intervals are quantiles
#'   of an approximation close to the exact posterior, and with `engine_gibbs()` quantiles of draws
#'   from it. With `engine_vb()` they come from a variational approximation, which ignores the
#'   posterior dependence between the coefficients, the latent scales and the variances. On the
#'   toenail data of HSAUR3 with `(1 | patientID)`, it estimates the variance between patients as
#'   3.5; the exact posterior mean is 11.0. It estimates the standard deviation of the intercept as
#'   0.16 instead of 0.34. With `(time | patientID)` it estimates the variance of the intercept as
#'   4.2 instead of about 180. `method = "linear_response"` corrects standard deviations, provided
#'   that the variances are right (see [vcov.bsvm()]).
#' * **Accuracy of intervals: the likelihood.** The pseudo-likelihood gives each row too much
#'   weight. In simulations with 500 rows and four predictors, 95 % intervals covered the estimand
#'   in 58 to 74 % of 200 data sets, depending on the coefficient. Under
#'   `likelihood_hinge(normalized = TRUE)`, a probability model, intervals are calibrated.
#' * **Variances** are on the scale of the prior, for coefficients of standardised predictors if the
#'   fit has `standardize = TRUE`. (Effects of grouping factors and smooth terms are not
#'   standardised.) `mean` is the posterior mean of the variance. `plug_in` is
#'   \eqn{1/E[1/s^2]}{1/E[1/s2]}, the value at which a fit with fixed variance gives the same
#'   coefficients. For correlated effects it is the diagonal of the inverse of the mean inverse.
#'   `cost` is `2 * plug_in`, the `cost` of LIBSVM and e1071 for the same penalty. It is `NA` under
#'   the normalised likelihood, which has another loss. Under a half-t prior the variance can go to
#'   zero. Then the mean of \eqn{1/s^2}{1/s2} is infinite, and both `plug_in` and `cost` are `NA`
#'   except for [engine_vb()].
#' * **Draws**: `Rhat` compares the chains. `Bulk_ESS` and `Tail_ESS` are the effective sample sizes
#'   for the centre of the distribution and for the 5 and 95 % quantiles. `MCSE` is the Monte Carlo
#'   error of the mean of the draws. `Estimate` of a coefficient is Rao-Blackwellised, see
#'   [coef.bsvm()], and has a smaller error. If an `Rhat` is above 1.01 or an effective sample size
#'   below 400, `summary()` warns with class `bsvm_warning_convergence` and names the worst. With
#'   more than 500 coefficients these columns are `NA` for some.
#' * **Standard deviations** (`engine_gaussian()`, `engine_map()`) have their own table. If the
#'   model has one inferred variance, their posterior is interpolated between the points of the
#'   grid. With more than one, and with `engine_map()`, the standard deviation is assumed to be
#'   log-normal. The mean variance is infinite if it is infinite under this distribution; `plug_in`
#'   uses only the points of the grid.
#' * **Gaussian-process terms** ([gp()][gp]): length scales are in units of the variables, and in
#'   median distances between the standardised rows. Below 0.1 median distances a function changes
#'   from each row to the next. Above 10 it is nearly linear, and a linear term describes it with
#'   one coefficient. Parameters of kernels are point estimates, so intervals do not include their
#'   uncertainty. The evidence bound includes the priors of estimated parameters. Both scores, the
#'   evidence bound and the leave-one-out log score, are sums over the rows used to estimate the
#'   kernels. If the response has classes, both use the normalised likelihood.
#' * **Support vectors** are the rows with `y f < 1`: inside the margin or misclassified. For
#'   [engine_em()] and [engine_ecme()] they include the rows on the margin (see
#'   [support_vectors()]).
#' * **Gradient**: a gradient of (nearly) zero proves that no better mean exists if the objective
#'   is concave in the mean and the root of the covariance. Given the variances, this holds for the
#'   bound of `engine_vb()`, and under the pseudo-likelihood for the objective of
#'   `engine_gaussian()` and `engine_map()`. It does not hold with missing predictors or with a
#'   prior that selects variables. With such a prior, the bounds of several starts show how much
#'   local optima differ.
#'
#' @param object A fit from [bsvm()].
#' @param level Probability of the credible intervals.
#' @param rank If `TRUE`, the coefficients are ordered by the absolute value of mean divided by
#'   standard deviation, largest first. By default they are in the order of the design matrix.
#' @param method Which covariance of the coefficients: `"posterior"` (default), `"linear_response"`
#'   for variational fits, or `"sandwich"` for a numeric response, as in [vcov.bsvm()].
#' @param check For approximate fits: a check from [check_approximation()], or `TRUE` to run one
#'   now, with its warning. The printed summary then shows how close the fit is, which quantities
#'   are inaccurate, and which engine is exact. `FALSE` (default) for no check.
#' @param details Print everything? `FALSE` by default. The value is kept in the summary, whose
#'   parts do not depend on it, and can be changed in `print()`.
#' @param ... Not used.
#' @return An object of class `summary.bsvm`, a list with the parts below. With fewer than two
#'   draws, standard deviations and limits are `NA`. They are also `NA` for a fit with
#'   [engine_map()] without integrated group effects.
#'
#' For all fits:
#' * `coefficients`: matrix with one row per population-level coefficient and columns `Estimate`,
#'   `SD`, `lower`, `upper`, and with draws `Rhat`, `Bulk_ESS`, `Tail_ESS`, `MCSE`;
#' * `variances`: data frame with one row per variance of a block with a penalty. Its columns are
#'   `block`, `prior`, `mean` (with [engine_map()] the mode), `plug_in`, `cost` and `fixed` (whether
#'   it was given);
#' * `standard_scale`: whether variances of population-level coefficients refer to standardised
#'   predictors;
#' * `priors`: named character vector, the prior of every block;
#' * `nobs`, `n_positive`, `ngroups` (named integer), `n_support`, `support_share`;
#' * `sds`: matrix with one row per inferred standard deviation and per effect of a grouping factor,
#'   with columns `Estimate`, `SD`, `lower`, `upper`. Names of rows in its attribute `"population"`
#'   are those of penalised coefficients, on the scale of the prior. `NULL` without rows;
#' * `correlations`: the same of correlated group effects, or `NULL`;
#' * `smooth_basis`: the names of coefficients that are not printed, which are the penalised
#'   coefficients of smooth terms and all coefficients of Gaussian-process terms. `hidden` is the
#'   number of each kind;
#' * `termination`, and `check` (the check or `NULL`);
#' * from the fit, `formula`, `response`, `engine`, `likelihood`, `standardize`, `default_prior`,
#'   `na.action`, `level`, `method`, `details`;
#' * `point`: whether standard deviations are missing because the fit is only a mode.
#'
#' For fits with draws:
#' * `variance_draws`: matrix like `coefficients`, with one row per inferred variance or covariance,
#'   named as by [as_draws.bsvm()]. It also has `nu` and `alpha` of [prior_bridge()], `pi` of
#'   [prior_spike_slab()], `s` of [prior_laplace_zero()] and `typical_variance` of
#'   [prior_relevance()];
#' * `sampling`: a list of `draws`, `burnin`, `thin`, `chains`, `mixing`, `seed`, `seconds`,
#'   `resumed`.
#'
#' For fits without draws:
#' * `elbo`, `passes`, `gradient`, and with a prior that selects variables `start_bounds`;
#' * with [prior_bridge()] `scales`: data frame with one row per scale and columns `block`, `nu`,
#'   `fixed`;
#' * with [engine_em()] and [engine_ecme()] `estimate`: list of `objective`, `dual` (its lower
#'   bound), `gap` (their difference divided by the objective), `certified`, `optima` and
#'   `n_margin`. `certified` is `FALSE` if there are local optima. `optima` contains the objective
#'   of each start, and `n_margin` is the number of support vectors on the margin;
#' * with inferred parameters of the likelihood or of a term `parameters`: matrix with one row per
#'   parameter and columns `Estimate`, `SD`, `lower`, `upper`.
#'
#' With a model of missing predictors, `missing`: data frame with one row per variable with missing
#' values. Its columns are `column`, `missing` (the number), `share` (of the rows), and `predictor`
#' (`FALSE` for an auxiliary variable).
#'
#' With Gaussian-process terms, `gp`: a list of
#' * `numbers`: data frame with one row per parameter of a kernel and columns `term`, `block`,
#'   `kernel`, `number` (length scale, period, shape), `variable`, `estimate`, `medians` and
#'   `inferred`. `estimate` is in units of the variable, and `medians` gives length scales in median
#'   distances between rows;
#' * `points`: data frame with one row per summand of a kernel. Its columns are `term`, `block` (the
#'   name of the variance of the summand), `kernel`, `points` (number of inducing points) and
#'   `left_over` (mean share of variance that they do not explain);
#' * `learning`: list of `rows`, `seconds`, `evaluations`, `converged` and `scores`, or `NULL` if
#'   all parameters were given. `scores` is a matrix of common factor, evidence bound and
#'   leave-one-out log score, at the highest evidence and as used;
#' * `cautions`: character vector.
#'
#' The print method returns its argument invisibly.
#' @references Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for
#'   support vector machine classification. *Computational Statistics & Data Analysis*, 73,
#'   163-176 (Section 2: with prior variance \eqn{s^2}{s2} their penalty is
#'   \eqn{1/(4 s^2)}{1/(4 s2)}).
#'
#' Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. and Buerkner, P.-C. (2021).
#'   Rank-normalization, folding, and localization: an improved Rhat for assessing convergence of
#'   MCMC. *Bayesian Analysis*, 16, 667-718.
#' @examples
#' # does the infection recede faster under terbinafine, and how much do patients differ?
#' fit <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail)
#' summary(fit)
#' summary(fit, details = TRUE)
#' summary(fit, rank = TRUE)$coefficients
#' @export
summary.bsvm <- function(object, level = 0.95, rank = FALSE,
                         method = c("posterior", "linear_response", "sandwich"), check = FALSE,
                         details = FALSE, ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "summary()", c(conf.level = "Use `level` instead."))
  check_level(level)
  check_flag(rank, "rank")
  check_flag(details, "details")
  method <- pick_one(method, covariance_methods, "method")
  check <- check_of_summary(object, check, parent.frame())
  told <- with_method(object, method, parent.frame())
  kept <- c("formula", "counts", "response", "engine", "likelihood", "standardize", "default_prior",
            "na.action", "nobs", "elbo", "start_bounds", "passes", "termination", "gradient",
            "sampling")
  support <- support_rows(object)
  of_response <- if (!is.null(object$streamed)) Filter(length, object$streamed["n_positive"])
                 else summarise_response(object$response, object$y[used_rows(object)])
  out <- structure(c(object[intersect(kept, names(object))], of_response, list(
    coefficients = coefficient_table(told, level, rank),
    variances = variance_table(object),
    standard_scale = standard_scale(object),
    priors = block_labels(c(object$blocks, object$group_blocks)),
    ngroups = group_counts(object),
    smooth_basis = object$design$columns[penalised_columns(object)],
    hidden = hidden_counts(object), gp = gp_facts(object, level),
    factors = factor_facts(object, level),
    n_support = sum(support),
    support_share = sum(support) / object$nobs,
    level = level, method = method, point = is_point(object), sparse = object$design$sparse,
    pseudo_note = note_of(object$likelihood, "intervals", object), details = details,
    sds = sd_table(object, level), correlations = correlation_table(object, level),
    missing = missing_table(object), check = check,
    scales = scale_table(object),
    parameters = if (is.null(object$sampling)) parameter_table(object, level),
    estimate = estimate_facts(object), residuals = residual_facts(object)
  )), class = "summary.bsvm")
  if (is.null(object$sampling)) return(out)
  out$variance_draws <- drawn_variance_table(object, level)
  warn_diagnosis(rbind(out$coefficients, out$variance_draws))
  out
}

#' @param x A summary.
#' @param n Maximum number of coefficients to print; 60 by default, `Inf` for all.
#' @param digits Significant digits.
#' @rdname summary.bsvm
#' @export
print.summary.bsvm <- function(x, n = 60L, digits = max(3L, getOption("digits") - 3L),
                               details = isTRUE(x$details), ...) {
  check_shown(n)
  check_digits(digits)
  x$details <- check_flag(details, "details")
  if (!details) {
    x$engine["chosen"] <- list(NULL)
    if (!is.null(x$sampling)) digits <- min(digits, 3L) # as the Monte Carlo error allows
  }
  say_model(x, x$ngroups, x$missing)
  say_table(x, n, digits)
  say_sds(x, n, digits)
  say_gp(x$gp, x$nobs, n, digits, details)
  say_factors(x$factors, digits)
  if (details) say_details(x, n, digits) else say_rest(x, digits)
  if (!is.null(x$check)) cat("\n")
  for (note in check_note(x)) say_wrapped(note)
  invisible(x)
}

coefficient_table <- function(object, level, rank) {
  moments <- posterior_coefficients(object)
  all <- seq_along(moments$mean)
  table <- cbind(Estimate = moments$mean, SD = moments$sd,
                 coefficient_limits(object$posterior, object, all, level))
  if (!is.null(object$sampling)) table <- cbind(table, diagnose_coefficients(object))
  rownames(table) <- names(moments$mean)
  if (rank) table <- table[order(-abs(table[, 1L] / table[, 2L])), , drop = FALSE]
  table
}

drawn_variance_table <- function(object, level) {
  draws <- inferred_draws(object)
  values <- draw_matrix(draws)
  cbind(Estimate = rowMeans(values), SD = sqrt(row_variances(values)),
        row_quantiles(values, level), diagnose(draws))
}

# A row a standard deviation of effects of groups, and of what else has an inferred variance. Those
# of population-level coefficients, on the scale of the prior, are named in "population".
sd_table <- function(object, level) {
  blocks <- all_blocks(object)
  of_group <- seq_along(blocks) > length(object$blocks)
  inferred <- vapply(blocks, function(block) {
    isTRUE(block$prior$penalised) && !(is_fixed(block) && !isTRUE(block$prior$learned))
  }, TRUE)
  at <- which((of_group | inferred) & vapply(blocks, has_variance, TRUE) &
                !vapply(blocks, is_parameter, TRUE))
  if (is_point(object) || length(at) == 0L) return(NULL)
  rows <- lapply(at, function(k) {
    table <- block_spread(object$posterior, object, k, level)[, 2:5, drop = FALSE]
    dimnames(table) <- list(spread_names(blocks[[k]]), c("Estimate", "SD", "lower", "upper"))
    table
  })
  table <- do.call(rbind, rows)
  table[table[, "SD"] %in% 0, -1L] <- NA_real_ # given
  of_basis <- vapply(blocks[at], function(block) {
    all(block$columns %in% columns_of(object$bases))
  }, TRUE)
  own <- blocks[at][!of_group[at] & !of_basis]
  structure(table, population = unlist(lapply(own, spread_names)))
}

# A row a pair of correlated effects.
correlation_table <- function(object, level) {
  rows <- tidy_correlations(object, level)
  if (is.null(rows)) return(NULL)
  table <- as.matrix(rows[c("estimate", "std.error", "conf.low", "conf.high")])
  pair <- sub(".", ", ", sub("^cor__", "", rows$term), fixed = TRUE)
  dimnames(table) <- list(paste0(rows$group, ": ", pair), c("Estimate", "SD", "lower", "upper"))
  table
}

# A row a variance that is a penalty; flat blocks have none to speak of.
variance_table <- function(object) {
  blocks <- Filter(has_variance, c(penalised_blocks(object), object$group_blocks))
  rows <- lapply(blocks, function(block) {
    plug_in <- plug_in_variances(block)
    if (!has_plug_in(block, object$engine)) plug_in[] <- NA_real_
    data.frame(block = spread_names(block), prior = block$prior$label,
               mean = diag(block_covariance(block)), plug_in = plug_in,
               cost = libsvm_cost(object$likelihood, plug_in),
               fixed = is_fixed(block) && !isTRUE(block$prior$learned)) # with a kernel
  })
  if (length(rows) > 0L) return(do.call(rbind, rows))
  data.frame(block = character(0), prior = character(0), mean = numeric(0), plug_in = numeric(0),
             cost = numeric(0), fixed = logical(0))
}

# Under a half-t prior the variance may go to zero and 1/variance has no mean; engine_vb() is made
# with one all the same.
has_plug_in <- function(block, engine) {
  trait(engine, "inverse_means") || is_mode(engine) ||
    !block$prior$name %in% c("half_t", "huang_wand")
}

# Priors of other families have a scale instead.
has_variance <- function(block) {
  is_joint(block) ||
    (!selects(block) && !is_weak(block$prior) && "inverse_mean" %in% names(block$hyper))
}

# A row a scale nu of a block: data frame with `block`, `nu` and `fixed`, whether it was given.
scale_table <- function(object) {
  if (!is.null(object$sampling)) object$blocks <- NULL # its draws are with the variances
  blocks <- Filter(function(block) "nu" %in% names(block$hyper), object$blocks)
  numbers <- function(f) as.numeric(vapply(blocks, f, 0))
  data.frame(block = vapply(blocks, `[[`, "", "label"),
             nu = numbers(function(block) block$hyper[["nu"]]),
             fixed = numbers(function(block) block$prior$parameters[["nu"]]) > 0)
}

# For point estimates list(objective, dual, gap, certified, optima, n_margin), else NULL.
estimate_facts <- function(object) {
  if (!inherits(object$posterior, "bsvm_point")) return(NULL)
  facts <- unclass(object$posterior)[c("objective", "dual", "gap", "certified", "optima")]
  if (!is_kind(object$response, "classes") || !is.null(object$streamed)) return(facts)
  c(facts, list(n_margin = sum(support_vectors(object)$kind == "margin")))
}

# Was the variance given, not inferred?
is_fixed <- function(block) "variance" %in% names(block$prior$parameters)

# Correlated effects have a variance each.
spread_names <- function(block) {
  if (is_joint(block)) paste0(block$factor, ": ", block$labels) else block$label
}

plug_in_variances <- function(block) {
  if (!is_joint(block)) return(1 / block$hyper[["inverse_mean"]])
  diag(inverse_or_na(symmetric(block$hyper, "inverse_mean", length(block$columns))))
}

penalised_blocks <- function(object) {
  Filter(function(block) {
    isTRUE(block$prior$penalised) && !is_weak(block$prior) && !is_parameter(block)
  }, object$blocks)
}

# Standardisation touches the variances of penalised columns only, and not of smooth terms.
standard_scale <- function(object) {
  penalised <- unlist(lapply(penalised_blocks(object), `[[`, "columns"))
  isTRUE(object$standardize) && length(setdiff(penalised, penalised_columns(object))) > 0L
}

group_counts <- function(object) {
  counts <- vapply(object$groups, function(group) length(group$levels), 0L)
  if (length(counts) == 0L) integer() else counts
}
