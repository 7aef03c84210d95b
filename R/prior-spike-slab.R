#' Spike-and-slab prior
#'
#' Each coefficient is either exactly zero or normal. [engine_gibbs()] draws the coefficients
#' together with indicators of which are not zero.
#'
#' @details
#' With indicators \eqn{\gamma_j \sim \mathrm{Bernoulli}(\pi)}{g_j ~ Bernoulli(pi)},
#' \deqn{\beta_j \mid \gamma_j = 1 \sim N(0, \nu^2\sigma_j^2), \qquad \beta_j \mid \gamma_j = 0
#' \;\mbox{is zero}.}{b_j | g_j = 1 ~ N(0, nu^2 sigma_j^2), b_j = 0 if g_j = 0.}
#' [engine_gibbs()] draws the indicators with all coefficients integrated out (Polson and Scott
#' 2011, Section 4.2, equation 17 with the square completed). A draw therefore has exact zeros. The
#' share of draws in which a coefficient is not zero is its posterior inclusion probability.
#'
#' **How many coefficients.** `pi` is the prior probability of inclusion. By default it is inferred
#' with a beta prior. The default is uniform, which adjusts for the number of coefficients to choose
#' from (Scott and Berger 2010). With more columns than rows, a uniform prior is too weak for the
#' pseudo-likelihood, which rewards any large predictor: `pi` would go to one. In this case the
#' default is Beta(1, number of columns), with one expected coefficient (Castillo, Schmidt-Hieber
#' and van der Vaart 2015). `size`, the expected number of coefficients, fixes `pi` at `size`
#' divided by the number of columns.
#'
#' **How large.** `nu` is the standard deviation of a coefficient that is not zero, for a
#' standardised predictor if [bsvm()] standardises. The margin is from -1 to 1. With `nu = 1`, the
#' default, one standard deviation of a predictor changes the linear predictor by about half the
#' width of the margin. A change by the whole width is rare (one in twenty). This prior is not
#' vague, and should not be. For each coefficient the data have to outweigh a penalty that grows as
#' `log(nu)`, and as `nu` grows without bound no coefficient is included. (Polson and Scott use
#' 100.)
#'
#' For a numeric response ([likelihood_eps_insensitive()] and related likelihoods), `nu` is in units
#' of the median absolute deviation of the response, so the unit of the response does not matter.
#' The scale of the likelihood may be given or inferred.
#'
#' @param pi The prior probability that a coefficient is not zero: a number between 0 and 1. `NULL`
#'   (default) infers it or uses `size`.
#' @param nu Standard deviation of the slab; a positive number.
#' @param sigma Scales of single coefficients, which are multiplied by `nu`: `NULL` (all 1), a
#'   positive number, or one number for each column of the block, in the order of the design matrix.
#' @param size Instead of `pi`: the expected number of coefficients that are not zero, a positive
#'   number below the number of columns.
#' @param a,b Positive numbers: an inferred `pi` has the prior Beta(`a`, `b`). `b = NULL` (default)
#'   is 1, or the number of columns of the block if there are more columns than rows. The time of an
#'   iteration of [engine_gibbs()] is proportional to the number of columns and to the number of
#'   included columns, so a prior that includes thousands is slow.
#' @return An object of class `bsvm_prior`.
#' @section Errors:
#' `bsvm_error_prior` for numbers out of range, for `pi` together with `size`, and for `a` or `b`
#' together with one of them. In [bsvm()] the same class is used if `sigma` or `size` do not fit the
#' number of columns, and for effects of grouping factors. `bsvm_error_unsupported` for other
#' engines and for sparse predictors.
#' @references
#' Castillo, I., Schmidt-Hieber, J. and van der Vaart, A. (2015). Bayesian linear regression with
#' sparse priors. *Annals of Statistics*, 43, 1986-2018.
#'
#' Polson, N. G. and Scott, S. L. (2011). Data augmentation for support vector machines. *Bayesian
#' Analysis*, 6, 1-23 (Section 4.2).
#'
#' Scott, J. G. and Berger, J. O. (2010). Bayes and empirical-Bayes multiplicity adjustment in the
#' variable-selection problem. *Annals of Statistics*, 38, 2587-2619.
#' @seealso [inclusion()]; [engine_gibbs()], the engine that supports this prior;
#' [prior_laplace_zero()]; [prior_for()] lists the parts of a model that can be given a prior.
#' @examples
#' # which of four measurements are needed to tell two species apart, if about two are expected?
#' set.seed(1)
#' fit <- bsvm(Species ~ ., data = iris, subset = Species != "setosa",
#'             prior = prior_spike_slab(size = 2))
#' inclusion(fit)
#'
#' # a given probability of inclusion
#' prior_spike_slab(pi = 0.2, nu = 2)
#' @export
prior_spike_slab <- function(pi = NULL, nu = 1, sigma = NULL, size = NULL, a = 1, b = NULL) {
  check_inclusion(pi, size, !missing(a) || !is.null(b))
  open <- is.null(b)
  numbers <- c(a = check_positive(a, "a", "prior"),
               b = if (open) 1 else check_positive(b, "b", "prior"),
               nu = check_positive(nu, "nu", "prior"))
  if (!is.null(sigma)) check_all_positive(sigma, "sigma")
  words <- if (!is.null(pi)) paste("pi", format(pi))
           else if (!is.null(size)) paste("size", format(size))
           else beta_words(numbers[["a"]], numbers[["b"]])
  label <- paste0("spike and slab, ", words, ", nu ", format(nu),
                  if (!is.null(sigma)) ", sigma given")
  prior <- new_prior("spike_slab", spike_slab_numbers(numbers, pi, !is.null(size)), label, TRUE)
  prior$sigma <- sigma
  prior$size <- size
  prior$open_b <- open && is.null(pi) && is.null(size)
  prior
}

beta_words <- function(a, b) paste0("pi ~ Beta(", format(a), ", ", format(b), ")")

# The core's parameters: the odds are fixed where the shapes are zero.
spike_slab_numbers <- function(numbers, pi, fixed) {
  inferred <- is.null(pi) && !fixed
  odds <- if (inferred) log(numbers[["a"]] / numbers[["b"]])
          else if (fixed) 0 else stats::qlogis(pi)
  c(log_odds = odds, shape_in = inferred * numbers[["a"]], shape_out = inferred * numbers[["b"]],
    nu = numbers[["nu"]])
}

check_inclusion <- function(pi, size, shapes) {
  if (!is.null(pi) && !is.null(size)) {
    abort("prior", "prior_spike_slab() takes either `pi` or `size`, not both.")
  }
  if (shapes && !(is.null(pi) && is.null(size))) {
    abort("prior", "`a` and `b` are the prior of a `pi` that is inferred; omit them, or `pi` ",
          "and `size`.")
  }
  if (!is.null(size)) size <- check_positive(size, "size", "prior")
  if (!is.null(pi) && (check_number(pi, "pi", "prior") <= 0 || pi >= 1)) {
    abort("prior", "`pi` must be above 0 and below 1; found ", describe(pi), ".")
  }
}

# A block whose prior depends on the number of columns, now that there is one.
fill_size <- function(block, rows) {
  size <- block$prior$size
  columns <- length(block$columns)
  if (isTRUE(block$prior$open_b) && columns > rows) return(with_few(block, columns))
  if (is.null(size)) return(block)
  if (size >= columns) {
    abort("prior", "`size` of prior_spike_slab() must be below the number of columns of ",
          enumerate(block$label, "`"), ", ", columns, "; found ", format(size), ".")
  }
  share <- size / columns
  block$prior$parameters[["log_odds"]] <- stats::qlogis(share)
  block$prior$label <- sub(", nu", paste0(" (pi ", format(share, digits = 3L), "), nu"),
                           block$prior$label, fixed = TRUE)
  block
}

# Beta(a, columns) in place of Beta(a, 1).
with_few <- function(block, columns) {
  a <- block$prior$parameters[["shape_in"]]
  block$prior$parameters[c("log_odds", "shape_out")] <- c(log(a / columns), columns)
  block$prior$label <- sub(beta_words(a, 1), beta_words(a, columns), block$prior$label,
                           fixed = TRUE)
  block
}
