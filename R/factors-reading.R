# What factor terms are read by: loadings and scores, aligned between draws.

#' Loadings and scores of a factor term
#'
#' The factors of a fit with [factors()]. `factor_loadings()` returns how the variables depend on
#' them, `factor_scores()` the position of each row on them, and `factor_table()` what each factor
#' explains.
#'
#' @details The model is the same if factors are rotated, to \eqn{A Q} and \eqn{w Q} for any
#'   orthogonal \eqn{Q}{Q}. With a variance for each factor, or local shrinkage, it is nearly so.
#'   Draws from the posterior rotate. Before they are averaged, draws of the loadings are aligned:
#'   each is rotated to be as near as possible to their mean. The mean is rotated by the varimax
#'   criterion (`rotation = "varimax"`), or to its principal axes (`rotation = "none"`). Factors are
#'   in the order of the variance that they explain, and each has the sign that makes its largest
#'   loadings positive. `coef()`, predictions, determinacy and the shares of variance of all factors
#'   together do not depend on this.
#'
#' Loadings are those of standardised variables (see [factors()]); factors have variance one, so
#' that a loading is about the correlation of a variable with a factor. A hundred draws of each
#' chain are used, 250 with inducing points (fewer with very many variables).
#'
#' Scores are estimated from the variables of a row, without its response: in the same way for rows
#' of the fit and new rows, and also if some variables are missing.
#'
#' The **determinacy** of a factor is the share of its variance that the variables determine:
#' the variance over the rows of its mean scores, divided by that and the variance of a score given
#' the variables.
#'
#' @param object A fit by [bsvm()] with a [factors()] term.
#' @param rotation `"varimax"` (default), or `"none"`: principal axes.
#' @param level Probability of the credible intervals.
#' @param newdata A data frame with the variables of the term; the rows of the fit by default.
#' @param ... Must be empty.
#' @return
#' * `factor_loadings()`: a data frame of class `bsvm_loadings` with a row for each variable and
#'   factor, and columns `variable`, `factor` (`"F1"`, ...), `estimate`, `sd`, `lower`, `upper`.
#'   Printed are the variables with the largest loadings of each factor.
#' * `factor_scores()`: a matrix with a row for each row of the data and a column for each factor,
#'   of posterior means, with an attribute `"sd"`, a matrix of the same shape.
#' * `factor_table()`: a data frame with a row for each factor. Its columns are `factor`, `share`
#'   (of the variance of all variables) and `determinacy`. With a linear classifier it also has the
#'   factor's `coefficient` in the linear predictor, with `sd`, `lower` and `upper`.
#' @section Errors:
#' `bsvm_error_unsupported` for a fit without a factor term; `bsvm_error_newdata`.
#' @references Henao, R., Yuan, X. and Carin, L. (2014). Bayesian nonlinear support vector machines
#'   and discriminative factor modeling. *Advances in Neural Information Processing Systems*, 27
#'   (Section 5).
#'
#' Kaiser, H. F. (1958). The varimax criterion for analytic rotation in factor analysis.
#' *Psychometrika*, 23, 187-200.
#' @seealso [factors()]; `plot(fit, "loadings")` and `plot(fit, "scores")` of [plot.bsvm()].
#' @examples
#' # what is behind ten properties of cars, and what of it costs fuel?
#' set.seed(1)
#' d <- mtcars["mpg"]
#' d$x <- as.matrix(mtcars[2:11])
#' fit <- bsvm(mpg ~ factors(x, k = 2), data = d, likelihood = likelihood_gaussian())
#' factor_loadings(fit)
#' head(factor_scores(fit))
#' factor_table(fit)
#' @name factor_loadings
NULL

#' @rdname factor_loadings
#' @export
factor_loadings <- function(object, rotation = c("varimax", "none"), level = 0.95, ...) {
  need_factors(object, "factor_loadings()")
  check_dots(substitute(list(...)), "factor_loadings()", NULL)
  check_level(level)
  aligned <- aligned_factors(object, pick_one(rotation, c("varimax", "none"), "rotation"))
  p <- dim(aligned$loadings)[1L]
  k <- dim(aligned$loadings)[2L]
  draws <- matrix(aligned$loadings, p * k)
  basis <- factors_of(object)
  structure(data.frame(variable = rep(basis$names, k), factor = rep(factor_names(k), each = p),
                       estimate = rowMeans(draws), sd = sqrt(row_variances(draws)),
                       row_quantiles(draws, level)),
            rotation = rotation, class = c("bsvm_loadings", "data.frame"))
}

#' @param x From `factor_loadings()`.
#' @param n How many variables of each factor to print.
#' @param digits Significant digits.
#' @rdname factor_loadings
#' @export
print.bsvm_loadings <- function(x, n = 10L, digits = 2L, ...) {
  check_shown(n)
  check_digits(digits)
  cat("Loadings of standardised variables; draws aligned",
      if (identical(attr(x, "rotation")[1L], "varimax")) ", varimax rotation", "\n", sep = "")
  for (own in split(x, factor(x$factor, unique(x$factor)))) {
    own <- own[order(-abs(own$estimate)), ]
    cat("\n", own$factor[1L], if (nrow(own) > n) paste0(" (", n, " of ", nrow(own), " variables)"),
        ":\n", sep = "")
    shown <- utils::head(own, n)
    print(data.frame(shown[c("estimate", "sd", "lower", "upper")], row.names = shown$variable),
          digits = digits)
  }
  invisible(x)
}

#' @rdname factor_loadings
#' @export
factor_scores <- function(object, newdata = NULL, rotation = c("varimax", "none"), ...) {
  need_factors(object, "factor_scores()")
  check_dots(substitute(list(...)), "factor_scores()", NULL)
  aligned <- aligned_factors(object, pick_one(rotation, c("varimax", "none"), "rotation"))
  rows <- prediction_rows(object, newdata, NULL, FALSE, NULL, NULL, parent.frame())
  row_scores(object, rows, aligned)
}

#' @rdname factor_loadings
#' @export
factor_table <- function(object, rotation = c("varimax", "none"), level = 0.95, ...) {
  need_factors(object, "factor_table()")
  check_dots(substitute(list(...)), "factor_table()", NULL)
  check_level(level)
  aligned <- aligned_factors(object, pick_one(rotation, c("varimax", "none"), "rotation"))
  kept <- object$posterior$factors$kept
  turned <- function(square, j) {
    turn <- matrix(aligned$turns[, , j], ncol(square))
    colSums(turn * (square %*% turn))
  }
  k <- nrow(aligned$share)
  determined <- vapply(seq_len(ncol(aligned$share)), function(j) {
    between <- turned(matrix(kept$between[, , j], k), j)
    between / (between + turned(matrix(kept$within[, , j], k), j))
  }, numeric(k))
  out <- data.frame(factor = factor_names(k), share = rowMeans(aligned$share))
  if (!is.null(aligned$beta)) {
    out <- data.frame(out, coefficient = rowMeans(aligned$beta),
                      sd = sqrt(row_variances(aligned$beta)), row_quantiles(aligned$beta, level))
  }
  out$determinacy <- rowMeans(matrix(determined, k))
  out
}

need_factors <- function(object, what) {
  check_fit(object, class = c("bsvm", "bsvm_factor_model"))
  if (has_factors(object)) return(invisible())
  abort("unsupported", what, " requires a factors() term, which this fit does not have.")
}

# Refuses functions that need a fit's own problem again, in which the variables are no columns.
refuse_factors <- function(object, what) {
  if (!has_factors(object)) return(invisible())
  abort("unsupported", what, " does not support a fit with factors(). Compare fits by holdout().")
}

factor_names <- function(k) paste0("F", seq_len(k))

# ---- alignment ----------------------------------------------------------------------------------

most_alignments <- 20L

# Kept draws of all chains, turned alike: list(loadings p x K x m, beta K x m, turns K x K x m, share
# K x m of the variables' variance).
aligned_factors <- function(fit, rotation) {
  kept <- fit$posterior$factors$kept
  check_kept_loadings(kept)
  size <- dim(kept$loadings)
  p <- size[1L]
  k <- size[2L]
  m <- prod(size[-(1:2)])
  loadings <- array(kept$loadings, c(p, k, m))
  turns <- aligning_turns(loadings, rotation)
  respond <- !is.null(kept$beta) && inherits(fit, "bsvm") # not a function, and a response
  beta <- if (respond) matrix(kept$beta, k)
  noise <- matrix(kept$noise, ncol = m)
  share <- matrix(0, k, m)
  for (j in seq_len(m)) {
    loadings[, , j] <- matrix(loadings[, , j], p) %*% turns[, , j]
    if (!is.null(beta)) beta[, j] <- crossprod(matrix(turns[, , j], k), beta[, j])
    squares <- colSums(matrix(loadings[, , j], p)^2)
    share[, j] <- squares / (sum(squares) + sum(rep_len(1 / noise[, j], p)))
  }
  list(loadings = loadings, beta = beta, turns = turns, share = share)
}

# Orthogonal matrices (K x K x m) that bring the loadings of all draws near one another (generalised
# Procrustes), and their mean into simple form. Only A'A of pairs is needed, not the draws again.
aligning_turns <- function(loadings, rotation) {
  size <- dim(loadings)
  k <- size[2L]
  m <- size[3L]
  own <- function(j) matrix(loadings[, , j], size[1L])
  turns <- array(diag(k), c(k, k, m))
  target <- own(m)
  for (pass in seq_len(most_alignments)) {
    mean <- matrix(0, size[1L], k)
    for (j in seq_len(m)) {
      found <- svd(crossprod(own(j), target))
      turns[, , j] <- tcrossprod(found$u, found$v)
      mean <- mean + own(j) %*% turns[, , j] / m
    }
    moved <- sum((mean - target)^2) / sum(mean^2)
    target <- mean
    if (moved < 1e-8) break
  }
  last <- simple_turn(target, rotation)
  for (j in seq_len(m)) turns[, , j] <- matrix(turns[, , j], k) %*% last
  turns
}

# Turned to principal axes, and by varimax; in the order of their squares, the largest loadings
# positive.
simple_turn <- function(loadings, rotation) {
  turn <- svd(loadings, nu = 0)$v
  if (rotation == "varimax" && ncol(loadings) > 1L) {
    turn <- turn %*% stats::varimax(loadings %*% turn, normalize = FALSE)$rotmat
  }
  turned <- loadings %*% turn
  order <- order(-colSums(turned^2))
  sign <- ifelse(colSums(turned^3) < 0, -1, 1)
  turn[, order, drop = FALSE] %*% diag(sign[order], ncol(turn))
}

# Means of scores over draws, with their standard deviations.
row_scores <- function(object, rows, aligned) {
  moments <- aligned_scores(object, rows, aligned)
  mean <- apply(moments$mean, 1:2, mean)
  sd <- sqrt(apply(moments$variance, 1:2, mean) +
               apply(moments$mean, 1:2, function(x) mean((x - mean(x))^2)))
  dimnames(mean) <- dimnames(sd) <- list(rows$names, factor_names(ncol(mean)))
  structure(mean, sd = sd)
}

# list(mean, variance), rows x K x m: of scores given the variables of these rows.
aligned_scores <- function(fit, rows, aligned) {
  basis <- factors_of(fit)
  x <- standard_variables(rows$made[[basis$label]], basis)
  found <- kept_scores(fit$posterior$factors$kept, x, fit$control)
  size <- dim(found$scores)
  mean <- variance <- array(0, size)
  for (j in if (nrow(x) > 0L) seq_len(size[3L])) {
    turn <- matrix(aligned$turns[, , j], basis$k)
    mean[, , j] <- matrix(found$scores[, , j], nrow(x)) %*% turn
    each <- matrix(apply(found$covariance[, , , j, drop = FALSE], 3L, function(s) {
      s <- matrix(s, basis$k)
      colSums(turn * (s %*% turn))
    }), basis$k)
    variance[, , j] <- t(each[, found$pattern, drop = FALSE])
  }
  list(mean = mean, variance = variance)
}
