#' Variances of the group effects
#'
#' Posterior mean of the variance, and of the standard deviation, of the effects of each grouping
#' factor.
#'
#' @details
#' With an inferred variance the posterior of the variance is
#' \eqn{\mathrm{IG}(A, B)}{IG(A, B)} (inverse gamma), so its mean is \eqn{B / (A - 1)} and the
#' mean of the standard deviation is \eqn{\sqrt{B}\,\Gamma(A - 1/2) / \Gamma(A)}{sqrt(B)
#' Gamma(A - 1/2) / Gamma(A)}; the second is a little below the root of the first. The mean of
#' the variance is infinite where \eqn{A \le 1}{A <= 1}: a factor with one level under a vague
#' prior. Where \eqn{A < 2} (under vague priors, fewer than four levels) the variance has no finite
#' posterior variance and its mean is unreliable: prefer the mean of the standard deviation; a note
#' is printed. A variance that was fixed is returned as it is. Effects of one factor are
#' independent of each other, so the matrices are diagonal.
#'
#' These are variances under the papers' pseudo-likelihood: comparable between its fits, not with
#' those of a logistic or probit model.
#'
#' @param x A fit from [bsvm()] with a grouping factor; for the other methods the value of
#'   `VarCorr()`.
#' @param sigma Not used; an argument of the generic.
#' @param ... Not used.
#' @return A list by grouping factor of q x q matrices (posterior mean of the variances on the
#'   diagonal) with attributes `"stddev"` and `"correlation"`, of class `bsvm_varcorr`; its
#'   attribute `"shape"` is the least \eqn{A}, `Inf` where all variances were fixed.
#'   `as.data.frame()` gives lme4's columns `grp`, `var1`, `var2` (always `NA`), `vcov` (mean of
#'   the variance) and `sdcor` (mean of the standard deviation). Without a grouping factor: an
#'   error of class `bsvm_error_unsupported`; the variances of penalised population-level
#'   coefficients are in [summary.bsvm()].
#' @references Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for
#'   support vector machine classification. *Computational Statistics & Data Analysis*, 73,
#'   163-176 (Algorithm 2 and Section 3.1).
#' @examples
#' set.seed(1)
#' d <- data.frame(x = rnorm(200), clinic = gl(20, 10))
#' d$sick <- d$x + rnorm(20)[d$clinic] + rnorm(200) > 0
#' fit <- bsvm(sick ~ x + (1 | clinic), data = d, engine = "vb")
#' VarCorr(fit)
#' as.data.frame(VarCorr(fit))
#' @export
VarCorr.bsvm <- function(x, sigma = 1, ...) {
  need_groups(x, "VarCorr()")
  moments <- vapply(x$group_blocks, function(block) variance_moments(block$hyper), numeric(3))
  matrix <- effect_matrix(moments, x$group$labels)
  shapes <- vapply(x$group_blocks, function(block) c(block$hyper, shape = Inf)[["shape"]], 0)
  structure(stats::setNames(list(matrix), x$group$name), shape = min(shapes),
            class = "bsvm_varcorr")
}

#' @param row.names,optional Not used; arguments of the generic.
#' @rdname VarCorr.bsvm
#' @export
as.data.frame.bsvm_varcorr <- function(x, row.names = NULL, optional = FALSE, ...) {
  rows <- lapply(names(x), function(name) {
    data.frame(grp = name, var1 = rownames(x[[name]]), var2 = NA_character_,
               vcov = diag(x[[name]]), sdcor = attr(x[[name]], "stddev"), row.names = NULL)
  })
  do.call(rbind, rows)
}

#' @param digits Significant digits.
#' @rdname VarCorr.bsvm
#' @export
print.bsvm_varcorr <- function(x, digits = max(3L, getOption("digits") - 2L), ...) {
  table <- as.data.frame(x)
  shown <- data.frame(Groups = table$grp, Name = table$var1,
                      Variance = format(table$vcov, digits = digits),
                      Std.Dev. = format(table$sdcor, digits = digits))
  shown$Groups[duplicated(shown$Groups)] <- ""
  print(shown, row.names = FALSE, right = FALSE)
  if (any(is.infinite(table$vcov))) {
    cat("Too few levels for a finite posterior mean of a variance (inverse-gamma shape <= 1).\n")
  } else if (attr(x, "shape") < 2) {
    cat("Few levels: the mean of a variance is unreliable (inverse-gamma shape below 2).\n")
  }
  invisible(x)
}

effect_matrix <- function(moments, labels) {
  q <- length(labels)
  names <- list(labels, labels)
  structure(matrix(diag(moments["variance", ], q), q, dimnames = names),
            stddev = stats::setNames(moments["sd", ], labels),
            correlation = matrix(diag(q), q, dimnames = names))
}

# Posterior means of a variance and of its root, and the posterior sd of the root, from a
# block's hyper-parameters: an inverse gamma if it has a shape, else a known number.
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
