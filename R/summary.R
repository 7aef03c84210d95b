#' Summarise a fit
#'
#' Coefficients with their posterior standard deviations and credible intervals, variances with
#' the cost they imply in LIBSVM's terms, group sizes, support vectors, and how the fit ended.
#'
#' @details
#' * **Intervals** have two sources of error. *The approximation*: with `engine_vb()` they are those
#'   of a variational one, which leaves out how the coefficients, the latent scales and the
#'   variances move together; on the toenail data of HSAUR3 with `(1 | patientID)` it puts the
#'   patients' variance at 3.5, where the exact posterior mean is 11.0, and the intercept's standard
#'   deviation at 0.16 for 0.34; with `(time | patientID)` the variance of the intercept at 4.2 for
#'   about 180. `method = "linear_response"` mends standard deviations, as far as the variances are
#'   right (see [vcov.bsvm()]). With
#'   `engine_gaussian()` they are quantiles of an approximation close to the exact posterior, with
#'   `engine_gibbs()` of draws from it. *The target*: the posterior under the pseudo-likelihood
#'   counts each row as more than it is worth: in simulations with 500 rows and four predictors its
#'   95 % intervals covered the estimand in 58 to 74 % of 200 data sets, by coefficient. Under
#'   `likelihood_hinge(normalized = TRUE)`, a probability model, intervals are calibrated.
#' * **Variances** are on the scale of the prior: coefficients of standardised predictors when the
#'   fit has `standardize = TRUE`. (Effects of grouping factors and smooth terms are not
#'   standardised.) `mean` is the posterior mean of the variance, `plug_in` is
#'   \eqn{1/E[1/s^2]}{1/E[1/s2]}, the value at which a fit with fixed variance gives the same
#'   coefficients (for correlated effects the diagonal of the inverse of the mean inverse), and
#'   `cost` is `2 * plug_in`: LIBSVM's (and e1071's) `cost` for the same penalty, `NA` under the
#'   normalised likelihood, whose loss is another. Under a half-t prior, which lets the variance go
#'   to zero, the mean of \eqn{1/s^2}{1/s2} is infinite, and both are `NA` except for [engine_vb()].
#' * **Draws**: `Rhat` compares the chains, `Bulk_ESS` and `Tail_ESS` are the numbers of independent
#'   draws that would tell as much of the middle and of the 5 and 95 % quantiles, and `MCSE` is the
#'   Monte Carlo error of the mean of the draws (`Estimate` of a coefficient is Rao-Blackwellised,
#'   see [coef.bsvm()], and has less). Where an `Rhat` is above 1.01 or an effective size below 400,
#'   `summary()` warns with class `bsvm_warning_convergence` and names the worst. Beyond 500
#'   coefficients they are `NA` for some.
#' * **Standard deviations** (`engine_gaussian()`, `engine_map()`) have a table of their own. With
#'   one inferred variance in the model their law is interpolated between the points of the grid;
#'   with more, and with `engine_map()`, the standard deviation is taken as log-normal. Its mean
#'   variance is infinite where that law says so; `plug_in` is over the points of the grid alone.
#' * **Gaussian-process terms** ([gp()][gp]): length scales are in units of the variables, and in
#'   median distances between the standardised rows. Below 0.1 median distances a function changes
#'   from each row to the next, above 10 it is nearly linear, and the variable itself says the same
#'   with one coefficient. Numbers of kernels are point estimates, so that intervals do not include
#'   their uncertainty. The evidence bound includes the priors of what was learned. Both scores are
#'   sums over the rows that the kernels were learned from, under the normalised likelihood if the
#'   response has classes.
#' * **Support vectors** are the rows with `y f < 1`: inside the margin or misclassified. Of
#'   [engine_em()] and [engine_ecme()] those on the margin are among them (see [support_vectors()]).
#' * **Certificate**: for given variances the bound of `engine_vb()`, and under the
#'   pseudo-likelihood the objective of `engine_gaussian()` and `engine_map()`, is concave (in the
#'   mean and the root of the covariance), so a gradient of (nearly) zero proves that no better mean
#'   exists. Where a prior selects, or predictors are missing, it is not; of a prior that selects
#'   the bounds of several starts show how much they differ.
#'
#' @param object A fit from [bsvm()].
#' @param level Probability of the credible intervals.
#' @param rank If `TRUE`, the coefficients are ordered by the size of mean over standard deviation,
#'   largest first; by default they stand in the order of the design.
#' @param method Which covariance of the coefficients: `"posterior"` (default), for variational fits
#'   `"linear_response"`, or of numbers `"sandwich"`, as in [vcov.bsvm()].
#' @param check Of approximate fits: a check made by [check_approximation()], whose sentences the
#'   print then has (how close the fit is, what is off, which engine is exact); or `TRUE` to make
#'   one now, with its warning. `FALSE` (default) for none.
#' @param ... Not used.
#' @return An object of class `summary.bsvm`: a list with the parts below. With fewer than two draws
#'   standard deviations and limits are `NA`, as of a fit by [engine_map()] without integrated group
#'   effects.
#' * `coefficients`: matrix, a row a population-level coefficient, columns `Estimate`, `SD`,
#'   `lower`, `upper`, and with draws `Rhat`, `Bulk_ESS`, `Tail_ESS`, `MCSE`;
#' * `variances`: data frame, a row a variance of a block with a penalty: `block`, `prior`, `mean`
#'   (by [engine_map()] the mode), `plug_in`, `cost` and `fixed`, whether it was given; and
#'   `standard_scale`, whether those of population-level coefficients refer to standardised
#'   predictors;
#' * with draws `variance_draws`: matrix as `coefficients`, a row an inferred variance or covariance
#'   (of [prior_bridge()] `nu` and `alpha`, of [prior_spike_slab()] `pi`, of [prior_laplace_zero()]
#'   `s`, of [prior_relevance()] `typical_variance`), named as by [as_draws.bsvm()]; and `sampling`,
#'   a list of `draws`,
#'   `burnin`, `thin`, `chains`, `mixing`, `seed`, `seconds`, `resumed`;
#' * of [engine_gaussian()] and [engine_map()] `sds`: matrix, a row an inferred standard deviation,
#'   columns `Estimate`, `SD`, `lower`, `upper`; `NULL` without integrated group effects of
#'   `engine_map()`;
#' * `priors`: named character, the prior of every block;
#' * `nobs`, `n_positive`, `ngroups` (named integer), `n_support`, `support_share`, and
#'   `smooth_basis`, the names of the penalised coefficients of smooth terms and of all coefficients
#'   of Gaussian-process terms, which are not printed, and `hidden`, how many of each;
#' * with Gaussian-process terms `gp`, a list: `numbers`, data frame, a row a number of a kernel:
#'   `term`, `block`, `kernel`, `number` (length scale, period, shape), `variable`, `estimate` (in
#'   units of the variable), `medians` (length scales in median distances between rows), `inferred`;
#'   `points`, data frame, a row a summand of a kernel: `term`, `block` (as the variance of the
#'   summand is called), `kernel`, `points` (inducing points),
#'   `left_over` (mean share of variance they do not explain); `learning`, list of `rows`,
#'   `seconds`,
#'   `evaluations`, `converged` and `scores` (matrix of common factor, evidence bound and
#'   leave-one-out log score where the evidence is highest and as used), `NULL` if all numbers were
#'   given; `cautions`, sentences;
#' * `termination`, and without draws `elbo`, `passes`, `gradient`, and where a prior selects
#'   `start_bounds`; `check`, the check or `NULL`;
#' * with [prior_bridge()] and not of draws `scales`: data frame, a row a scale: `block`, `nu`,
#'   `fixed`; of [engine_em()] and [engine_ecme()] `estimate`: list of `objective`, `dual` (its
#'   lower bound), `gap` (their difference over the objective), `certified` (`FALSE` where there are
#'   local optima), `optima` (the objective of each start) and `n_margin` (support vectors on the
#'   margin);
#' * where parameters of the likelihood or of a term are inferred, and there are no draws,
#'   `parameters`: matrix, a row a parameter, columns `Estimate`, `SD`, `lower`, `upper`;
#' * where missing predictors are modelled `missing`: data frame, a row a variable with missing
#'   values: `column`, `missing` (how many), `share` (of the rows), `predictor` (is it one, or
#'   auxiliary?);
#' * and, from the fit, `formula`, `response`, `engine`, `likelihood`, `standardize`,
#'   `default_prior`, `na.action`, `level`, `method`, and `point`, whether standard deviations are
#'   missing since the fit is a mode alone.
#'
#' The print method returns it invisibly.
#' @references Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for
#'   support vector machine classification. *Computational Statistics & Data Analysis*, 73,
#'   163-176 (Section 2: with prior variance \eqn{s^2}{s2} their penalty is
#'   \eqn{1/(4 s^2)}{1/(4 s2)}).
#'
#' Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. and Buerkner, P.-C. (2021).
#'   Rank-normalization, folding, and localization: an improved Rhat for assessing convergence of
#'   MCMC. *Bayesian Analysis*, 16, 667-718.
#' @examples
#' fit <- bsvm(am ~ mpg + wt + qsec, data = mtcars, engine = "vb")
#' summary(fit)
#' summary(fit, rank = TRUE)$coefficients
#' @export
summary.bsvm <- function(object, level = 0.95, rank = FALSE,
                         method = c("posterior", "linear_response", "sandwich"), check = FALSE,
                         ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "summary()", c(conf.level = "Here that is `level`."))
  check_level(level)
  check_flag(rank, "rank")
  method <- pick_one(method, covariance_methods, "method")
  check <- check_of_summary(object, check, parent.frame())
  told <- with_method(object, method, parent.frame())
  kept <- c("formula", "response", "engine", "likelihood", "standardize", "default_prior",
            "na.action", "nobs", "elbo", "start_bounds", "passes", "termination", "gradient",
            "sampling")
  support <- support_rows(object)
  of_response <- summarise_response(object$response, object$y[used_rows(object)])
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
    pseudo_note = note_of(object$likelihood, "intervals", object),
    sds = sd_table(object, level), missing = missing_table(object), check = check,
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
#' @param n How many coefficients to print at most; 60 by default, `Inf` for all.
#' @param digits Significant digits.
#' @rdname summary.bsvm
#' @export
print.summary.bsvm <- function(x, n = 60L, digits = max(3L, getOption("digits") - 3L), ...) {
  check_shown(n)
  check_digits(digits)
  say_model(x, x$ngroups, x$missing)
  say_table(x, n, digits)
  if (is.null(x$sampling)) say_variances(x$variances, x$standard_scale, digits, x)
  else say_drawn_variances(x, n, digits)
  say_scales(x$scales, digits)
  say_parameters(x$parameters, digits)
  say_sds(x, n, digits)
  say_gp(x$gp, x$nobs, n, digits)
  say_factors(x$factors, digits)
  say_priors(x)
  say_missing(x$missing, digits)
  say_fit(x, digits)
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

# A row an inferred standard deviation, of fits that average over them.
sd_table <- function(object, level) {
  if (!inherits(object$posterior, "bsvm_mixture") || is_point(object)) return(NULL)
  inferred <- which(lengths(object$posterior$free) > 0L &
                      !vapply(all_blocks(object), is_parameter, TRUE))
  rows <- lapply(inferred, function(k) {
    table <- block_spread(object$posterior, object, k, level)[, 2:5, drop = FALSE]
    dimnames(table) <- list(spread_names(all_blocks(object)[[k]]),
                            c("Estimate", "SD", "lower", "upper"))
    table
  })
  do.call(rbind, rows)
}

say_sds <- function(x, n, digits) {
  if (is.null(x$sds)) return(invisible())
  cat("\nStandard deviations (roots of these; ", format(100 * x$level), " % credible intervals):\n",
      sep = "")
  print_columns(utils::head(x$sds, n), digits)
  say_more(nrow(x$sds) - n, "standard deviations")
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

# Of point estimates: list(objective, dual, gap, certified, optima, n_margin), else NULL.
estimate_facts <- function(object) {
  if (!inherits(object$posterior, "bsvm_point")) return(NULL)
  facts <- unclass(object$posterior)[c("objective", "dual", "gap", "certified", "optima")]
  if (!is_kind(object$response, "classes")) return(facts)
  c(facts, list(n_margin = sum(support_vectors(object)$kind == "margin")))
}

# Was the variance given, not inferred?
is_fixed <- function(block) "variance" %in% names(block$prior$parameters)

# Of correlated effects each has its variance.
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
