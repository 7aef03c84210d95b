#' Variances of the group effects
#'
#' `VarCorr()` returns posterior means of the variances, standard deviations, covariances and
#' correlations of the effects of each grouping factor. It also returns the variances of the
#' functions of Gaussian-process terms.
#'
#' @details
#' **`engine_gaussian()`.** The numbers are means over the posterior of the variances. If the model
#' has one inferred variance, its posterior is interpolated between the points of the grid.
#' Otherwise each standard deviation has a log-normal distribution with the moments of the grid.
#' Covariances and correlations are means over the grid.
#'
#' **`engine_map()`.** All values are at the mode, and intervals (`tidy(conf.int = TRUE)`) are
#' log-normal, from the Hessian.
#'
#' **`engine_gibbs()`.** The numbers are means over the draws of the variances, covariances,
#' standard deviations (their roots) and correlations.
#'
#' **`engine_vb()`.** The posterior of a variance is \eqn{\mathrm{IG}(A, B)}{IG(A, B)} (inverse
#' gamma), with mean \eqn{B / (A - 1)}. The mean of the standard deviation is
#' \eqn{\sqrt{B}\,\Gamma(A - 1/2) / \Gamma(A)}{sqrt(B) Gamma(A - 1/2) / Gamma(A)}, a little below
#' the root of the mean of the variance. The mean of the variance is infinite if \eqn{A \le 1}{A <=
#' 1}: a factor with one level under a vague prior. If \eqn{A < 2} (under vague priors, fewer than
#' four levels), the variance has no finite posterior variance, and its mean is unreliable. Then use
#' the mean of the standard deviation; a note is printed.
#'
#' The covariance of q correlated effects is inverse Wishart(\eqn{\nu, \Lambda}{nu, Lambda}), with
#' mean \eqn{\Lambda / (\nu - q - 1)}{Lambda / (nu - q - 1)}. Its variances are as above with \eqn{A
#' = (\nu - q + 1)/2}{A = (nu - q + 1)/2} and \eqn{B} half the diagonal of \eqn{\Lambda}{Lambda}.
#' The correlations are computed from \eqn{\Lambda}{Lambda}.
#'
#' Variational Bayes can severely underestimate these variances. On the toenail data of the package
#' HSAUR3 with `(1 | patientID)`, `engine_vb()` estimates the variance between patients as 3.5; the
#' exact posterior mean, from [engine_gibbs()], is 11.0. With `(time | patientID)` it estimates 4.2
#' and 0.038 for intercept and slope; the exact values are about 180 and 3.2. These are variances
#' under the pseudo-likelihood: they can be compared between fits with it, but not with the
#' variances of a logistic or probit model.
#'
#' **Fixed variances and independent effects.** A variance that was fixed is returned unchanged.
#' Effects in different random-effects terms, or in one term with `||`, are independent: their
#' covariance is zero.
#'
#' **Gaussian-process terms.** A Gaussian-process term ([gp()][gp]) is shown as a group with one
#' effect, `amplitude`: the prior standard deviation of the function on the scale of the linear
#' predictor. If its kernel is a sum, each summand has an amplitude.
#'
#' @param x A fit from [bsvm()] with a grouping factor or a Gaussian-process term; for the other
#'   methods the value of `VarCorr()`.
#' @param sigma Must be 1; an argument of the generic function. Standard deviations are on the scale
#'   of the linear predictor and are not multiplied by a residual standard deviation.
#' @param ... Not used.
#' @return `VarCorr()`: a list of class `bsvm_varcorr` with one q x q matrix per grouping factor,
#'   the posterior mean of the covariance. Each matrix has the attributes `"stddev"` and
#'   `"correlation"`. The attribute `"shape"` of the list is the smallest \eqn{A}. It is `Inf` if
#'   all variances were fixed or drawn, and with `engine_gaussian()` or `engine_map()`. The
#'   attribute `"note"` is a caution that the print method shows under the pseudo-likelihood, and
#'   otherwise `NULL`.
#'
#' `as.data.frame()`: the columns `grp`, `var1`, `var2`, `vcov` (mean of the variance) and `sdcor`
#' (mean of the standard deviation) as in lme4. In rows with `var2`, the last two columns are a
#' covariance and a correlation.
#' @section Errors:
#' `bsvm_error_unsupported` for a fit with neither a grouping factor nor a Gaussian-process term.
#' The variances of penalised population-level coefficients are in [summary.bsvm()].
#' @references Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for
#'   support vector machine classification. *Computational Statistics & Data Analysis*, 73,
#'   163-176 (Algorithm 2 and Section 3.1).
#' @examples
#' # how much do patients differ in their infection?
#' fit <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail)
#' VarCorr(fit)
#' as.data.frame(VarCorr(fit))
#' @export
VarCorr.bsvm <- function(x, sigma = 1, ...) {
  check_fit(x, "x")
  check_dots(substitute(list(...)), "VarCorr()", NULL)
  functions <- function_spread(x)
  if (is.null(functions)) need_groups(x, "VarCorr()")
  check_sigma(sigma)
  spread <- effect_spread(x)
  covariances <- effect_covariances(x)
  correlations <- effect_correlations(x$posterior, x)
  matrices <- lapply(names(covariances), function(name) {
    own <- spread[spread$factor == name, ]
    structure(covariances[[name]], stddev = stats::setNames(own$sd, own$label),
              correlation = correlations[[name]])
  })
  matrices <- c(stats::setNames(matrices, names(covariances)), function_matrices(functions))
  structure(matrices, shape = min(spread$shape, Inf),
            note = note_of(x$likelihood, "variances", x), class = "bsvm_varcorr")
}

# The variance of the function of each Gaussian-process term, as a factor of its own.
function_matrices <- function(functions) {
  matrices <- lapply(seq_along(functions$label), function(k) {
    matrix <- matrix(functions$variance[k], dimnames = list(amplitude, amplitude))
    structure(matrix, stddev = stats::setNames(functions$sd[k], amplitude),
              correlation = matrix(1))
  })
  stats::setNames(matrices, functions$label)
}

# The parts of a Gaussian-process term that vary.
amplitude <- "amplitude"

check_sigma <- function(sigma) {
  if (!identical(as.vector(sigma), 1) && !identical(sigma, 1L)) {
    abort("argument", "`sigma` must be 1: standard deviations are not multiplied by it; ",
          "found ", describe(sigma), ".")
  }
}

#' @param row.names,optional Not used; arguments of the generic function.
#' @rdname VarCorr.bsvm
#' @export
as.data.frame.bsvm_varcorr <- function(x, row.names = NULL, optional = FALSE, ...) {
  rows <- lapply(names(x), function(name) rbind(variance_rows(x, name), covariance_rows(x, name)))
  do.call(rbind, rows)
}

variance_rows <- function(x, name) {
  data.frame(grp = name, var1 = rownames(x[[name]]), var2 = NA_character_,
             vcov = diag(x[[name]]), sdcor = attr(x[[name]], "stddev"), row.names = NULL)
}

# Only of effects that were allowed to be correlated: others have a covariance of exactly zero.
covariance_rows <- function(x, name) {
  pairs <- correlated_pairs(x[[name]])
  labels <- rownames(x[[name]])
  data.frame(grp = rep(name, nrow(pairs)), var1 = labels[pairs[, 1L]], var2 = labels[pairs[, 2L]],
             vcov = x[[name]][pairs], sdcor = attr(x[[name]], "correlation")[pairs],
             row.names = NULL)
}

# Pairs j < i with a covariance, j first.
correlated_pairs <- function(covariance) {
  pairs <- which(lower.tri(covariance) & covariance != 0, arr.ind = TRUE, useNames = FALSE)
  pairs[, 2:1, drop = FALSE]
}

#' @param digits Significant digits.
#' @rdname VarCorr.bsvm
#' @export
print.bsvm_varcorr <- function(x, digits = max(3L, getOption("digits") - 2L), ...) {
  check_digits(digits)
  table <- do.call(rbind, lapply(names(x), variance_rows, x = x))
  shown <- cbind(Groups = ifelse(duplicated(table$grp), "", table$grp), Name = table$var1,
                 Variance = format(table$vcov, digits = digits),
                 Std.Dev. = format(table$sdcor, digits = digits))
  corr <- lapply(x, correlation_text)
  width <- max(vapply(corr, ncol, 0L))
  if (width > 0L) {
    shown <- cbind(shown, pad_columns(corr, width))
    colnames(shown)[-(1:4)] <- c("Corr", rep("", width - 1L))
  }
  rownames(shown) <- rep("", nrow(shown))
  print(shown, quote = FALSE, right = FALSE)
  say_few_levels(table$vcov, attr(x, "shape"))
  for (line in attr(x, "note")) say_wrapped(line)
  invisible(x)
}

# As lme4 prints them: with each effect its correlations with those before.
correlation_text <- function(covariance) {
  q <- nrow(covariance)
  if (nrow(correlated_pairs(covariance)) == 0L) return(matrix("", q, 0L))
  text <- matrix("", q, q - 1L)
  below <- which(lower.tri(covariance), arr.ind = TRUE)
  text[below] <- formatC(attr(covariance, "correlation")[below], digits = 2L, format = "f")
  text
}

pad_columns <- function(corr, width) {
  padded <- lapply(corr, function(text) cbind(text, matrix("", nrow(text), width - ncol(text))))
  do.call(rbind, padded)
}

say_few_levels <- function(variances, shape) {
  if (any(is.infinite(variances)) && is.infinite(shape)) {
    cat("The data hardly bound a variance from above: it has no finite posterior mean.\n")
  } else if (any(is.infinite(variances))) {
    cat("Too few levels for a finite posterior mean of a variance (inverse-gamma shape <= 1).\n")
  } else if (shape < 2) {
    cat("Few levels: the mean of a variance is unreliable (inverse-gamma shape below 2).\n")
  }
}

# A row a Gaussian-process term, or a summand of its kernel: label, and the numbers of
# effect_spread(). NULL without any.
function_spread <- function(fit, level = 0.95) {
  names <- unlist(lapply(gp_bases(fit), function(basis) names(basis$blocks)))
  at <- which(vapply(fit$blocks, function(block) {
    block$label %in% names && has_variance(block)
  }, TRUE))
  if (length(at) == 0L) return(NULL)
  numbers <- lapply(at, function(k) block_spread(fit$posterior, fit, k, level))
  cbind(data.frame(label = vapply(fit$blocks[at], `[[`, "", "label")),
        spread_columns(do.call(rbind, numbers)))
}

spread_columns <- function(numbers) {
  colnames(numbers) <- c("variance", "sd", "sd_sd", "lower", "upper", "shape")
  numbers
}

# A row an effect, over all factors: factor, label, mean of the variance, mean (`sd`), sd (`sd_sd`)
# and limits of the standard deviation, and the inverse-gamma shape (Inf where there is none).
effect_spread <- function(fit, level = 0.95) {
  labels <- lapply(fit$groups, `[[`, "labels")
  rows <- data.frame(factor = as.character(rep(names(labels), lengths(labels))),
                     label = as.character(unlist(labels, use.names = FALSE)))
  numbers <- matrix(NA_real_, nrow(rows), 6L)
  for (k in seq_along(fit$group_blocks)) {
    block <- fit$group_blocks[[k]]
    numbers[block$columns, ] <- block_spread(fit$posterior, fit, length(fit$blocks) + k, level)
  }
  cbind(rows, spread_columns(numbers))
}

# The numbers above for block k, a row an effect.
block_spread <- function(posterior, fit, k, level) UseMethod("block_spread")

#' @export
block_spread.default <- function(posterior, fit, k, level) {
  block <- all_blocks(fit)[[k]]
  laws <- inverse_gammas(block)
  t(vapply(laws, function(law) {
    c(variance_moments(law), sd_limits(law, level), c(law, shape = Inf)[["shape"]])
  }, numeric(6)))
}

#' @export
block_spread.bsvm_draws <- function(posterior, fit, k, level) {
  block <- all_blocks(fit)[[k]]
  q <- if (is_joint(block)) length(block$columns) else 1L
  draws <- block_covariance_draws(fit, k, q)
  t(vapply(seq_len(q), function(j) {
    root <- sqrt(draws[j, j, ])
    limits <- row_quantiles(matrix(root, 1L), level)
    c(mean(draws[j, j, ]), mean(root), stats::sd(root), limits, Inf)
  }, numeric(6)))
}

# The distribution of each variance of a block: numbers like those of a block with one variance.
inverse_gammas <- function(block) {
  if (!is_joint(block)) return(list(block$hyper))
  q <- length(block$columns)
  lapply(seq_len(q), function(j) {
    shape <- (block$hyper[["df"]] - q + 1) / 2
    scale <- block$hyper[[paste("scale", j, j, sep = "_")]] / 2
    c(shape = shape, scale = scale, mean = if (shape > 1) scale / (shape - 1) else Inf)
  })
}

# Posterior means of a variance and of its root, and the posterior sd of the root: of an inverse
# gamma if there is a shape, else of a known number.
variance_moments <- function(hyper) {
  variance <- hyper[["mean"]]
  if (!"shape" %in% names(hyper)) return(c(variance = variance, sd = sqrt(variance), sd_sd = 0))
  shape <- hyper[["shape"]]
  root <- if (shape > 0.5) {
    sqrt(hyper[["scale"]]) * exp(lgamma(shape - 0.5) - lgamma(shape))
  } else {
    Inf
  }
  spread <- if (is.finite(variance)) sqrt(max(variance - root^2, 0)) else Inf
  c(variance = variance, sd = root, sd_sd = spread)
}

# Quantiles of the standard deviation: 1/variance is gamma(shape, rate = scale).
sd_limits <- function(hyper, level) {
  if (!"shape" %in% names(hyper)) return(rep(sqrt(hyper[["mean"]]), 2))
  tails <- c((1 + level) / 2, (1 - level) / 2)
  1 / sqrt(stats::qgamma(tails, hyper[["shape"]], rate = hyper[["scale"]]))
}

# Posterior mean of the correlations: list by factor of q x q matrices.
effect_correlations <- function(posterior, fit) UseMethod("effect_correlations")

#' @export
effect_correlations.default <- function(posterior, fit) {
  fill_by_factor(fit, function(block, k) {
    if (!is_joint(block)) return(matrix(1))
    stats::cov2cor(symmetric(block$hyper, "scale", length(block$columns)))
  })
}

#' @export
effect_correlations.bsvm_draws <- function(posterior, fit) {
  fill_by_factor(fit, function(block, k) {
    apply(correlation_draws(fit, k, length(block$columns)), 1:2, mean)
  })
}

# q x q x S draws of the correlations of block k.
correlation_draws <- function(fit, k, q) {
  draws <- block_covariance_draws(fit, k, q)
  sd <- vapply(seq_len(q), function(j) sqrt(draws[j, j, ]), numeric(dim(draws)[3L]))
  sd <- matrix(sd, ncol = q)
  for (i in seq_len(q)) for (j in seq_len(q)) draws[i, j, ] <- draws[i, j, ] / (sd[, i] * sd[, j])
  draws
}

# Mean, sd and limits of the correlations of some pairs of a block's effects, a row a pair.
correlation_spread <- function(posterior, fit, k, pairs, level) UseMethod("correlation_spread")

#' @export
correlation_spread.default <- function(posterior, fit, k, pairs, level) {
  block <- all_blocks(fit)[[k]]
  correlation <- stats::cov2cor(symmetric(block$hyper, "scale", length(block$columns)))
  cbind(correlation[pairs], NA_real_, NA_real_, NA_real_)
}

#' @export
correlation_spread.bsvm_draws <- function(posterior, fit, k, pairs, level) {
  draws <- correlation_draws(fit, k, length(all_blocks(fit)[[k]]$columns))
  t(apply(pairs, 1L, function(pair) {
    one <- draws[pair[1L], pair[2L], ]
    c(mean(one), stats::sd(one), row_quantiles(matrix(one, 1L), level))
  }))
}
