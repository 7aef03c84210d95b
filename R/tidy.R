#' Tidy data frames of a fit
#'
#' `tidy()` has a row a coefficient, variance or group effect; `glance()` one row a fit;
#' `augment()` a row an observation. All are plain data frames with the columns broom users expect.
#'
#' @param x A fit from [bsvm()].
#' @param effects Which parts: `"fixed"` (population-level coefficients), `"ran_pars"` (standard
#'   deviations of the group effects) and `"ran_vals"` (the group effects themselves); the first
#'   two by default.
#' @param conf.int Add credible intervals? `FALSE` by default.
#' @param conf.level Their probability.
#' @param data The data the fit was made with, to which columns are added; by default
#'   `model.frame(x)`.
#' @param newdata Data to predict, in place of `data`.
#' @param sd Add the posterior standard deviation of the link as `.sd`? `FALSE` by default.
#' @param ... For `augment()`: arguments of [predict.bsvm()] such as `allow_new_levels`. Else not
#'   used.
#' @return
#' * `tidy()`: columns `effect`, `group`, `level` (only with `"ran_vals"`), `term`, `estimate`
#'   (posterior mean), `std.error` (posterior standard deviation), and `conf.low`, `conf.high` on
#'   request. Terms of standard deviations are named as `sd__(Intercept)`; their intervals are
#'   quantiles of the posterior, those of coefficients and group effects normal.
#' * `glance()`: one row with `nobs`, `ngroups` (0 without a grouping factor), `elbo`, `passes`,
#'   `converged`, `gradient`, `n_support`, `support_share`.
#' * `augment()`: `data` or `newdata` with `.fitted` (the link), `.class`, and, for the data of the
#'   fit, `.resid` (`1 - y f`); `.sd` on request.
#' @examples
#' set.seed(1)
#' d <- data.frame(x = rnorm(200), clinic = gl(20, 10))
#' d$sick <- d$x + rnorm(20)[d$clinic] + rnorm(200) > 0
#' fit <- bsvm(sick ~ x + (1 | clinic), data = d, engine = "vb")
#' tidy(fit, conf.int = TRUE)
#' head(tidy(fit, effects = "ran_vals"))
#' glance(fit)
#' head(augment(fit))
#' @export
tidy.bsvm <- function(x, effects = c("fixed", "ran_pars"), conf.int = FALSE, conf.level = 0.95,
                      ...) {
  makers <- list(fixed = tidy_fixed, ran_pars = tidy_sd, ran_vals = tidy_groups)
  unknown <- setdiff(effects, names(makers))
  if (length(unknown) > 0L) {
    abort("argument", "`effects` must be among \"fixed\", \"ran_pars\" and \"ran_vals\"; found ",
          enumerate(unknown, "\""), ".")
  }
  rows <- lapply(makers[effects], function(make) make(x, check_level(conf.level, "conf.level")))
  rows <- do.call(rbind, unname(rows))
  if (!"ran_vals" %in% effects) rows$level <- NULL
  if (!isTRUE(conf.int)) rows$conf.low <- rows$conf.high <- NULL
  rows
}

#' @rdname tidy.bsvm
#' @export
glance.bsvm <- function(x, ...) {
  support <- support_rows(x)
  data.frame(nobs = x$nobs, ngroups = length(x$group$levels), elbo = x$elbo, passes = x$passes,
             converged = x$termination == "converged", gradient = x$gradient,
             n_support = sum(support), support_share = sum(support) / x$nobs)
}

#' @rdname tidy.bsvm
#' @export
augment.bsvm <- function(x, data = NULL, newdata = NULL, sd = FALSE, ...) {
  if (!is.null(newdata)) return(add_columns(newdata, prediction_columns(x, newdata, sd, ...)))
  env <- parent.frame()
  if (isTRUE(sd) && !is.null(data) && !is.null(x$formula)) x$data <- data # the sd needs predictors
  if (is.null(data)) data <- frame_of_fit(x, env)
  added <- fitted_columns(x, sd, env)
  if (NROW(data) != nrow(added) && NROW(data) == length(x$link)) {
    added <- added[-x$na.action, , drop = FALSE]
  }
  check_rows(data, nrow(added))
  add_columns(data, added)
}

tidy_rows <- function(effect, group, level, term, estimate, sd, limits) {
  n <- length(estimate)
  data.frame(effect = rep(effect, n), group = rep(group, n), level = rep_len(level, n),
             term = as.character(term), estimate = estimate, std.error = sd,
             conf.low = limits[, 1L], conf.high = limits[, 2L], row.names = NULL)
}

tidy_fixed <- function(x, conf.level) {
  moments <- posterior_coefficients(x)
  tidy_rows("fixed", NA_character_, NA_character_, names(moments$mean), unname(moments$mean),
            unname(moments$sd), normal_limits(moments$mean, moments$sd, conf.level))
}

tidy_sd <- function(x, conf.level) {
  if (is.null(x$group)) return(NULL)
  moments <- vapply(x$group_blocks, function(block) variance_moments(block$hyper), numeric(3))
  limits <- vapply(x$group_blocks, function(block) sd_limits(block$hyper, conf.level), numeric(2))
  tidy_rows("ran_pars", x$group$name, NA_character_, paste0("sd__", x$group$labels),
            moments["sd", ], moments["sd_sd", ], t(limits))
}

tidy_groups <- function(x, conf.level) {
  if (is.null(x$group)) return(NULL)
  long <- as.data.frame.bsvm_ranef(ranef.bsvm(x))
  tidy_rows("ran_vals", x$group$name, as.character(long$grp), as.character(long$term),
            long$condval, long$condsd, normal_limits(long$condval, long$condsd, conf.level))
}

# Quantiles of the standard deviation: 1/variance is gamma(shape, rate = scale).
sd_limits <- function(hyper, level) {
  if (!"shape" %in% names(hyper)) return(rep(sqrt(hyper[["mean"]]), 2))
  tails <- c((1 + level) / 2, (1 - level) / 2)
  1 / sqrt(stats::qgamma(tails, hyper[["shape"]], rate = hyper[["scale"]]))
}

prediction_columns <- function(x, newdata, sd, ...) {
  sd <- isTRUE(sd)
  link <- predict.bsvm(x, newdata, type = "link", interval = sd, ...)
  link_columns(x, if (sd) link$fit else unname(link), if (sd) link$sd)
}

# For the rows of the fit, padded as fitted() is.
fitted_columns <- function(x, sd, env) {
  link <- training_link(x, TRUE, isTRUE(sd), env)
  added <- link_columns(x, unname(link$mean), link$sd)
  added$.resid <- unname(residuals.bsvm(x))
  added
}

link_columns <- function(x, link, sd) {
  columns <- data.frame(.fitted = link, .class = link_class(link, x$response$levels))
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
