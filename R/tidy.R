#' Tidy data frames of a fit
#'
#' `tidy()` returns one row per coefficient, variance or group effect, `glance()` one row per fit,
#' and `augment()` one row per observation. All are plain data frames with the usual column names of
#' broom.
#'
#' @param x A fit from [bsvm()].
#' @param effects Which parameters: `"fixed"` (population-level coefficients, except those of
#'   Gaussian-process terms), `"ran_pars"` (standard deviations of the group effects, and of the
#'   functions of Gaussian-process terms) and `"ran_vals"` (the group effects themselves). The first
#'   two by default.
#' @param conf.int Add credible intervals? `FALSE` by default.
#' @param conf.level Probability of the intervals.
#' @param method Which covariance of the population-level coefficients: `"posterior"` (default),
#'   `"linear_response"` for fits with [engine_vb()], or `"sandwich"` for a numeric response, as in
#'   [vcov.bsvm()]. Rows of other effects do not depend on it.
#' @param exponentiate Must be `FALSE`: odds ratios are not constant under the likelihoods of
#'   classes. The odds ratio for one unit of a predictor is \eqn{\exp(4b)}{exp(4 b)} between the
#'   margins and \eqn{\exp(2b)}{exp(2 b)} beyond, with coefficient b and the normalised likelihood.
#'   The average odds ratio compares probabilities averaged over the data (see the examples).
#' @param data The data of the fit, to which columns are added; by default `model.frame(x)`.
#' @param newdata Data to predict, in place of `data`.
#' @param sd Add the posterior standard deviation of the linear predictor as `.sd`? `FALSE` by
#'   default.
#' @param prob Add the class probabilities of `predict(type = "prob")`, in columns named `.pred_`
#'   and the level? By default `TRUE` under the normalised likelihood, for new rows and for fits
#'   that keep their data, and otherwise `FALSE`.
#' @param ... For `augment()` with `newdata`: `re_formula`, `allow_new_levels`, `group` and `offset`
#'   of [predict.bsvm()]. Otherwise must be empty.
#' @return `tidy()`: a data frame with columns `effect`, `group`, `level` (only with `"ran_vals"`),
#'   `term`, `estimate` (posterior mean) and `std.error` (posterior standard deviation). With
#'   `conf.int = TRUE` also `conf.low` and `conf.high`.
#' * Terms are named `sd__(Intercept)` for standard deviations and `cor__(Intercept).time` for
#'   correlations. The standard deviation of the function of a Gaussian-process term is
#'   `sd__amplitude`, with the term as `group`.
#' * Intervals of standard deviations and correlations are quantiles of the posterior. Intervals of
#'   coefficients and group effects are quantiles with draws, and otherwise normal. Intervals of
#'   group effects are also normal if their draws were not kept (`keep_effects = FALSE`).
#' * With `engine_vb()` a correlation has no `std.error` and no interval.
#' * With `engine_gaussian()` intervals of group effects come from a mixture of normal
#'   distributions. [ranef.bsvm()] with `level` returns intervals of their skewed posterior.
#' * With [engine_map()] without integrated group effects `std.error` is `NA`, and `conf.int = TRUE`
#'   is an error of class `bsvm_error_unsupported`.
#'
#' `glance()`: a data frame with one row and the columns
#' * `nobs`, `ngroups` (the number of levels of all grouping factors, 0 without), `n_support`,
#'   `support_share`;
#' * `elbo` (`NA` with [engine_map()] and with draws), `passes` and `gradient` (`NA` with draws);
#' * `converged`. With draws it is `TRUE` if coefficients and variances satisfy all limits of
#'   [engine_gibbs()];
#' * `chains`, `draws`, `max_rhat`, `min_ess` (`NA` without draws). The last two are also `NA`
#'   without the package posterior.
#'
#' `augment()`: `data` or `newdata` with the columns `.fitted` (the linear predictor) and `.class`,
#' and for the data of the fit `.resid` (see [residuals()][fitted.bsvm]). Classes have columns of
#' probabilities, such as `.pred_no` and `.pred_yes` (see `prob`). `.sd` is optional.
#' @examples
#' # does the infection recede faster under terbinafine?
#' fit <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail)
#' tidy(fit, conf.int = TRUE)
#' head(tidy(fit, effects = "ran_vals"))
#' glance(fit)
#' head(augment(fit, prob = TRUE))
#'
#' # average odds ratio of disease: ten years more for all patients, with its interval
#' small <- bsvm(disease ~ sex + age, data = cath)
#' odds <- function(rows) {
#'   p <- rowMeans(posterior_epred(small, rows))
#'   p / (1 - p)
#' }
#' quantile(odds(transform(cath, age = age + 10)) / odds(cath), c(0.025, 0.5, 0.975))
#' @export
tidy.bsvm <- function(x, effects = c("fixed", "ran_pars"), conf.int = FALSE, conf.level = 0.95,
                      method = c("posterior", "linear_response", "sandwich"),
                      exponentiate = FALSE, ...) {
  check_fit(x, "x")
  check_dots(substitute(list(...)), "tidy()", tidy_hints)
  if (check_flag(exponentiate, "exponentiate")) refuse_exponentials(x)
  if (check_flag(conf.int, "conf.int")) need_spread(x, "tidy(conf.int = TRUE)")
  makers <- list(fixed = tidy_fixed, ran_pars = tidy_sd, ran_vals = tidy_groups)
  unknown <- if (is.character(effects)) setdiff(effects, names(makers))
  if (!is.character(effects) || length(effects) == 0L || length(unknown) > 0L) {
    abort("argument", "`effects` must be among \"fixed\", \"ran_pars\" and \"ran_vals\"; found ",
          if (length(unknown) > 0L) enumerate(unknown, "\"") else describe(effects), ".")
  }
  check_level(conf.level, "conf.level")
  told <- with_method(x, method, parent.frame())
  rows <- lapply(effects, function(part) {
    makers[[part]](if (part == "fixed") told else x, conf.level)
  })
  rows <- do.call(rbind, rows)
  if (!"ran_vals" %in% effects) rows$level <- NULL
  if (!conf.int) rows$conf.low <- rows$conf.high <- NULL
  rows
}

tidy_hints <- c(level = "Use `conf.level` instead.")

refuse_exponentials <- function(x) {
  what <- "tidy(exponentiate = TRUE) is not available: "
  if (!is_kind(x$response, "classes")) {
    abort("unsupported", what, "the response is not on a log scale. Use tidy(fit).")
  }
  abort("unsupported", what, "odds ratios are not constant under this likelihood, so a ",
        "coefficient is not a log odds ratio. Use average odds ratios instead: ",
        "marginaleffects::avg_comparisons(", if (is_law(x$likelihood)) "fit" else normalised_call,
        ", comparison = \"lnoravg\", transform = \"exp\"). See ?tidy.bsvm.")
}

#' @rdname tidy.bsvm
#' @export
glance.bsvm <- function(x, ...) {
  check_fit(x, "x")
  check_dots(substitute(list(...)), "glance()", NULL)
  support <- support_rows(x)
  quality <- chain_quality(x)
  data.frame(nobs = nobs.bsvm(x), ngroups = sum(group_counts(x)), elbo = or_na(x$elbo),
             passes = or_na(x$passes), converged = quality$converged,
             gradient = or_na(x$gradient), n_support = sum(support),
             support_share = sum(support) / x$nobs, chains = or_na(x$sampling$chains),
             draws = or_na(x$sampling$draws), max_rhat = quality$rhat, min_ess = quality$ess)
}

or_na <- function(value) if (is.null(value)) NA else value

chain_quality <- function(x) {
  if (is.null(x$sampling)) {
    return(list(converged = x$termination == "converged", rhat = NA_real_, ess = NA_real_))
  }
  table <- rbind(diagnose_coefficients(x), diagnose(inferred_draws(x)))
  rhat <- largest(table[, "Rhat"])
  ess <- -largest(-table[, c("Bulk_ESS", "Tail_ESS")])
  list(converged = rhat <= rhat_limit && ess >= ess_limit, rhat = rhat, ess = ess)
}

# NA for none but NA.
largest <- function(x) if (all(is.na(x))) NA_real_ else max(x, na.rm = TRUE)

#' @rdname tidy.bsvm
#' @export
augment.bsvm <- function(x, data = NULL, newdata = NULL, sd = FALSE, ..., prob = NULL) {
  check_fit(x, "x")
  if (check_flag(sd, "sd")) need_spread(x, "augment(sd = TRUE)")
  asked <- !is.null(prob)
  if (!asked) prob <- has_own_probabilities(x) && !(is.null(newdata) && is.null(x$data))
  if (check_flag(prob, "prob")) {
    need_classes(x$response, "augment(prob = TRUE)", "`.fitted` is the expected response.")
  }
  if (!is.null(newdata)) {
    if (is.null(dim(newdata))) newdata <- check_newdata(newdata)
    check_dots(not_for_predict(substitute(list(...))), "augment()", augment_hints)
    added <- prediction_columns(x, newdata, sd, ...)
    if (prob) {
      added <- cbind(added, probability_columns(predict.bsvm(x, newdata, type = "prob", ...)))
    }
    return(add_columns(newdata, added))
  }
  check_dots(substitute(list(...)), "augment() of the fit's own data", augment_hints)
  env <- parent.frame()
  needed <- sd || (prob && asked)
  if (needed && !is.null(data) && !is.null(x$formula)) x$data <- data # for its predictors
  if (is.null(data)) data <- frame_of_fit(x, env)
  added <- fitted_columns(x, sd, env)
  if (prob) {
    own <- shape_prediction(x$response, list(prob = fitted_probability(x, env)), "prob", NULL)
    added <- cbind(added, probability_columns(own))
  }
  if (NROW(data) != nrow(added) && NROW(data) == length(x$link)) {
    added <- added[-x$na.action, , drop = FALSE]
  }
  check_rows(data, nrow(added))
  add_columns(data, added)
}

has_own_probabilities <- function(x) is_kind(x$response, "classes") && is_law(x$likelihood)

# The arguments that augment() gives to predict() for new rows.
for_predict <- c("re_formula", "allow_new_levels", "group", "offset")

not_for_predict <- function(dots) {
  dots[setdiff(seq_along(dots), which(names(dots) %in% for_predict))]
}

augment_hints <- c(
  stats::setNames(rep("It is used only with `newdata`.", length(for_predict)), for_predict),
  predict_hints[c("re.form", "re_form", "allow.new.levels", "newx")],
  new_data = "Use `newdata` instead.", se = "Use `sd` instead.", se.fit = "Use `sd` instead.",
  se_fit = "Use `sd` instead.", interval = "Limits are in predict(interval = TRUE).",
  level = "Limits are in predict(interval = TRUE).",
  conf.int = "Limits are in predict(interval = TRUE).",
  type = "`.fitted` is the linear predictor, `.class` the class.",
  type.predict = "`.fitted` is the linear predictor, `.class` the class.",
  type.residuals = "`.resid` is 1 - y f.", na.action = "Rows with missing values get `NA`."
)

tidy_rows <- function(effect, group, level, term, estimate, sd, limits) {
  n <- length(estimate)
  data.frame(effect = rep(effect, n), group = rep_len(group, n), level = rep_len(level, n),
             term = as.character(term), estimate = estimate, std.error = sd,
             conf.low = limits[, 1L], conf.high = limits[, 2L], row.names = NULL)
}

tidy_fixed <- function(x, conf.level) {
  moments <- posterior_coefficients(x)
  shown <- setdiff(seq_along(moments$mean), columns_of(gp_bases(x)))
  limits <- coefficient_limits(x$posterior, x, shown, conf.level)
  tidy_rows("fixed", NA_character_, NA_character_, names(moments$mean)[shown],
            unname(moments$mean)[shown], unname(moments$sd)[shown], limits)
}

tidy_sd <- function(x, conf.level) {
  rbind(if (!is.null(x$groups)) sd_rows(effect_spread(x, conf.level)),
        tidy_correlations(x, conf.level), tidy_functions(x, conf.level))
}

sd_rows <- function(spread) {
  tidy_rows("ran_pars", spread$factor, NA_character_, paste0("sd__", spread$label),
            spread$sd, spread$sd_sd, cbind(spread$lower, spread$upper))
}

# Gaussian-process terms.
tidy_functions <- function(x, conf.level) {
  spread <- function_spread(x, conf.level)
  if (is.null(spread)) return(NULL)
  spread$factor <- spread$label
  spread$label <- amplitude
  sd_rows(spread)
}

tidy_correlations <- function(x, conf.level) {
  rows <- lapply(seq_along(x$group_blocks), function(k) {
    block <- x$group_blocks[[k]]
    if (!is_joint(block)) return(NULL)
    pairs <- lower_pairs(length(block$columns))
    pairs <- pairs[pairs[, 1L] != pairs[, 2L], 2:1, drop = FALSE]
    numbers <- correlation_spread(x$posterior, x, length(x$blocks) + k, pairs, conf.level)
    tidy_rows("ran_pars", block$factor, NA_character_,
              paste0("cor__", block$labels[pairs[, 1L]], ".", block$labels[pairs[, 2L]]),
              numbers[, 1L], numbers[, 2L], numbers[, 3:4, drop = FALSE])
  })
  do.call(rbind, rows)
}

tidy_groups <- function(x, conf.level) {
  if (is.null(x$groups)) return(NULL)
  long <- long_ranef(x)
  tidy_rows("ran_vals", long$grpvar, as.character(long$grp), as.character(long$term),
            long$condval, long$condsd, effect_limits(x$posterior, x, long, conf.level))
}

# With standard deviations, NA where the posterior has none.
long_ranef <- function(x) {
  long <- as.data.frame.bsvm_ranef(ranef.bsvm(x))
  if (is.null(long$condsd)) long$condsd <- NA_real_
  long
}

prediction_columns <- function(x, newdata, sd, ...) {
  sd <- isTRUE(sd)
  link <- predict.bsvm(x, newdata, type = "link", interval = sd, ...)
  link_columns(x, if (sd) link$fit else unname(link), if (sd) link$sd)
}

# For the rows of the fit, padded as fitted() is.
fitted_columns <- function(x, sd, env) {
  added <- link_columns(x, unname(fitted.bsvm(x)), if (isTRUE(sd)) fitted_sd(x, env))
  added$.resid <- unname(residuals.bsvm(x))
  added
}

fitted_sd <- function(x, env) {
  rows <- prediction_rows(x, NULL, NULL, FALSE, NULL, NULL, env)
  link <- posterior_linear(x, rows)
  sd <- blank_link(link, rows_without_level(rows) | is.na(link$mean))$sd
  stats::napredict(x$na.action, sd)
}

fitted_probability <- function(x, env) {
  rows <- prediction_rows(x, NULL, NULL, FALSE, NULL, NULL, env)
  stats::napredict(x$na.action, row_probability(x, rows, as_map(NULL, x)))
}

# Named as tidymodels has them.
probability_columns <- function(prob) {
  stats::setNames(as.data.frame(unname(prob)), paste0(".pred_", colnames(prob)))
}

link_columns <- function(x, link, sd) {
  columns <- augmented_columns(x$response, link)
  if (!is.null(sd)) columns$.sd <- sd
  columns
}

add_columns <- function(data, added) {
  data <- as.data.frame(data)
  data[names(added)] <- added
  data
}

check_rows <- function(data, rows) {
  if (NROW(data) != rows) {
    abort("data", "`data` must be the data of the fit, with ", rows, " rows; it has ", NROW(data),
          ". Give other rows as `newdata`.")
  }
}
