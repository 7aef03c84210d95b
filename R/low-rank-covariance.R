# bsvm_low_rank: the covariance of many coefficients that few directions correlate,
#
#   diag(diagonal) - less'less + more'more,  less and more with p columns,
#
# where more coefficients are selected over than there are rows. Only what is asked for is formed.

most_expanded <- 2000L

is_low_rank <- function(covariance) inherits(covariance, "bsvm_low_rank")

#' @export
dim.bsvm_low_rank <- function(x) rep(length(x$diagonal), 2L)

covariance_diagonal <- function(covariance) {
  if (!is_low_rank(covariance)) return(diag(covariance))
  covariance$diagonal - colSums(covariance$less^2) + colSums(covariance$more^2)
}

# Rows and columns `at`.
covariance_block <- function(covariance, at) {
  if (!is_low_rank(covariance)) return(covariance[at, at, drop = FALSE])
  diag(covariance$diagonal[at], length(at)) - crossprod(covariance$less[, at, drop = FALSE]) +
    crossprod(covariance$more[, at, drop = FALSE])
}

# x'Sx of each row x.
quadratic_form <- function(rows, covariance) {
  if (!is_low_rank(covariance)) return(rowSums((rows %*% covariance) * rows))
  drop(rows^2 %*% covariance$diagonal) - rowSums(tcrossprod(rows, covariance$less)^2) +
    rowSums(tcrossprod(rows, covariance$more)^2)
}

expand_covariance <- function(covariance) {
  p <- nrow(covariance)
  if (is_low_rank(covariance) && p > most_expanded) {
    abort("size", "The covariance of ", p, " coefficients is not formed; the most is ",
          most_expanded, ". confint() has their intervals, and predict(interval = TRUE) the ",
          "standard deviation of any linear function of them.")
  }
  covariance_block(covariance, seq_len(p))
}

# Draws with this covariance from standard normal `z` (p x n): with K = less diagonal^{-1/2} the
# root of I - K'K is I - K' (I + (I - K K')^{1/2})^{-1} K.
low_rank_draws <- function(covariance, z) {
  root <- sqrt(covariance$diagonal)
  k <- covariance$less / rep(ifelse(root > 0, root, 1), each = nrow(covariance$less))
  spectrum <- eigen(tcrossprod(k), symmetric = TRUE)
  shrink <- 1 / (1 + sqrt(pmax(1 - spectrum$values, 0)))
  z <- z - crossprod(k, spectrum$vectors %*% (shrink * crossprod(spectrum$vectors, k %*% z)))
  more <- matrix(stats::rnorm(nrow(covariance$more) * ncol(z)), nrow(covariance$more))
  root * z + crossprod(covariance$more, more)
}
