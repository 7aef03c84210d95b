#' Summarise a fit
#'
#' Coefficients with their posterior standard deviations and credible intervals, variances with
#' the cost they imply in LIBSVM's terms, group sizes, support vectors, and how the fit ended.
#'
#' @details
#' * **Intervals** are those of a variational approximation to the posterior under a
#'   pseudo-likelihood, and too narrow: the approximation leaves out how the coefficients and the
#'   latent scales move together, and the pseudo-likelihood itself counts each row as more than it
#'   is worth.
#' * **Variances** are on the scale of the prior: coefficients of standardised predictors when the
#'   fit has `standardize = TRUE`. (Effects of grouping factors are not standardised.)
#'   `mean` is the posterior mean of the variance, `plug_in` is \eqn{1/E[1/s^2]}{1/E[1/s2]}, the
#'   value at which a fit with fixed variance gives the same coefficients, and
#'   `cost` is `2 * plug_in`: LIBSVM's (and e1071's) `cost` for the same penalty.
#' * **Support vectors** are the rows with `y f < 1`: inside the margin or misclassified.
#' * **Certificate**: for given variances the bound is concave in the mean and the root of the
#'   covariance, so a gradient of (nearly) zero proves that no better mean exists.
#'
#' @param object A fit from [bsvm()].
#' @param level Probability of the credible intervals.
#' @param rank If `TRUE`, the coefficients are ordered by the size of mean over standard deviation,
#'   largest first; by default they stand in the order of the design.
#' @param ... Not used.
#' @return An object of class `summary.bsvm`: a list with
#' * `coefficients`: matrix, a row a population-level coefficient, columns `Estimate`, `SD`,
#'   `lower`, `upper`;
#' * `variances`: data frame, a row a block with a penalty: `block`, `prior`, `mean`, `plug_in`,
#'   `cost`; and `standard_scale`, whether those of population-level coefficients refer to
#'   standardised predictors;
#' * `priors`: named character, the prior of every block;
#' * `nobs`, `n_positive`, `ngroups` (named integer), `n_support`, `support_share`;
#' * `elbo`, `passes`, `termination`, `gradient`;
#' * and, from the fit, `formula`, `response`, `engine`, `likelihood`, `standardize`,
#'   `default_prior`, `na.action`, `level`.
#'
#' The print method returns it invisibly.
#' @references Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for
#'   support vector machine classification. *Computational Statistics & Data Analysis*, 73,
#'   163-176 (Section 2: with prior variance \eqn{s^2}{s2} their penalty is
#'   \eqn{1/(4 s^2)}{1/(4 s2)}).
#' @examples
#' fit <- bsvm(am ~ mpg + wt + qsec, data = mtcars, engine = "vb")
#' summary(fit)
#' summary(fit, rank = TRUE)$coefficients
#' @export
summary.bsvm <- function(object, level = 0.95, rank = FALSE, ...) {
  kept <- c("formula", "response", "engine", "likelihood", "standardize", "default_prior",
            "na.action", "nobs", "elbo", "passes", "termination", "gradient")
  support <- support_rows(object)
  structure(c(object[intersect(kept, names(object))], list(
    coefficients = coefficient_table(object, level, rank),
    variances = variance_table(object),
    standard_scale = standard_scale(object),
    priors = block_labels(c(object$blocks, object$group_blocks)),
    n_positive = sum(used_rows(object) & object$y > 0),
    ngroups = group_counts(object),
    n_support = sum(support),
    support_share = sum(support) / object$nobs,
    level = level
  )), class = "summary.bsvm")
}

#' @param x A summary.
#' @param n How many coefficients to print at most; 60 by default.
#' @param digits Significant digits.
#' @rdname summary.bsvm
#' @export
print.summary.bsvm <- function(x, n = 60L, digits = max(3L, getOption("digits") - 3L), ...) {
  say_model(x, x$ngroups)
  say_table(x, n, digits)
  say_variances(x$variances, x$standard_scale, digits)
  say_priors(x)
  say_fit(x, digits)
  invisible(x)
}

coefficient_table <- function(object, level, rank) {
  moments <- posterior_coefficients(object)
  table <- cbind(Estimate = moments$mean, SD = moments$sd,
                 normal_limits(moments$mean, moments$sd, level))
  rownames(table) <- names(moments$mean)
  if (isTRUE(rank)) table <- table[order(-abs(table[, 1L] / table[, 2L])), , drop = FALSE]
  table
}

# A row a block whose variance is a penalty; flat blocks have none to speak of.
variance_table <- function(object) {
  blocks <- c(penalised_blocks(object), object$group_blocks)
  hyper <- function(name) vapply(blocks, function(block) block$hyper[[name]], numeric(1))
  plug_in <- 1 / hyper("inverse_mean")
  labels <- block_labels(blocks)
  data.frame(block = names(labels), prior = unname(labels),
             mean = hyper("mean"), plug_in = plug_in, cost = 2 * plug_in)
}

penalised_blocks <- function(object) {
  Filter(function(block) isTRUE(block$prior$penalised), object$blocks)
}

# Standardisation touches the variances of penalised population-level columns only.
standard_scale <- function(object) {
  isTRUE(object$standardize) && length(penalised_blocks(object)) > 0L
}

group_counts <- function(object) {
  if (is.null(object$group)) return(integer())
  stats::setNames(length(object$group$levels), object$group$name)
}

say_table <- function(x, n, digits) {
  cat("\nPopulation-level coefficients (", format(100 * x$level), " % credible intervals):\n",
      sep = "")
  if (nrow(x$coefficients) == 0L) {
    cat("none\n")
  } else {
    print_columns(utils::head(x$coefficients, n), digits)
    say_more(nrow(x$coefficients) - n, "coefficients")
    say_flat(x)
  }
}

say_priors <- function(x) {
  cat("\nPriors:\n")
  say_wrapped(paste0(names(x$priors), ": ", x$priors), 2L)
}

say_fit <- function(x, digits) {
  cat("\nSupport vectors: ", x$n_support, " of ", x$nobs, " rows (",
      format(100 * x$support_share, digits = 3L), " %)\n", sep = "")
  say_end(x, digits)
  cat("Gradient of the concave objective: ", format(x$gradient, digits = 2L), "\n\n", sep = "")
  say_wrapped(paste("Intervals are those of a variational approximation to a pseudo-posterior,",
                    "and too narrow."))
}
