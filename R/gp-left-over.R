# Variance of Gaussian-process terms that inducing inputs leave over: a row's own, of no coefficient.

# The shares of blocks' variances (n x blocks, named) that inducing inputs leave over in the rows of
# the fit; NULL for none.
least_left <- 1e-6
frame_left_over <- function(bases) {
  left <- do.call(cbind, lapply(bases, `[[`, "left"))
  if (is.null(left)) return(NULL)
  some <- colMeans(left) >= least_left
  if (any(some)) left[, some, drop = FALSE]
}

# `left` (n x parts) as shares of the variance that a function has over the rows.
shares_left <- function(left, multiplier) {
  if (is.null(multiplier) || all(multiplier == 0)) return(colMeans(left))
  colSums(left) / sum(multiplier^2)
}

# list(left_over) of all columns of terms with a basis (n x blocks, named), or NULL.
left_over_of <- function(matrices) {
  left <- Filter(Negate(is.null), lapply(matrices, attr, "left_over"))
  if (length(left) > 0L) list(left_over = do.call(cbind, left))
}

# The variance (n) left over in rows of list(left_over), at the blocks' mean variances.
left_over_variance <- function(fit, rows) {
  if (!is.null(rows$made)) rows <- settled_rows(fit, rows, known_values(fit))
  labels <- vapply(fit$blocks, `[[`, "", "label")
  own <- fit$blocks[match(colnames(rows$left_over), labels)]
  drop(rows$left_over %*% vapply(own, function(block) mean_variance(block$hyper), 0))
}

# The largest mean share of a function's variance that inducing inputs leave over.
largest_left_over <- function(object) {
  shares <- lapply(gp_bases(object), function(basis) {
    vapply(basis$parts, `[[`, 0, "left_over")
  })
  max(0, unlist(shares))
}

# In draws that variance is noise of each row, from the prior whatever the response: it must be little of
# the function's, and of what the likelihood calls noise.
most_left_drawn <- 0.01
check_explained <- function(fit, what, instead = NULL) {
  if (is_explained(fit)) return(invisible())
  abort("unsupported", what, " needs draws from the posterior, but inducing points do not explain ",
        signif(100 * largest_left_over(fit), 2L), " % of the variance of a function. In draws ",
        "this is noise that does not depend on the response: ",
        signif(100 * left_over_noise_share(fit), 2L), " % of the noise. Use more `points`.",
        instead)
}

is_explained <- function(fit) {
  left <- largest_left_over(fit)
  left <= most_left_drawn && (left < least_left || left_over_noise_share(fit) <= most_left_drawn)
}

# The variance left over in a row on average, in that of a residual; of classes in squares of the
# distance to the margin.
left_over_noise_share <- function(fit) {
  blocks <- stats::setNames(fit$blocks, vapply(fit$blocks, `[[`, "", "label"))
  bases <- Filter(Negate(has_relevance), gp_bases(fit))
  variance <- sum(unlist(lapply(bases, function(basis) {
    Map(function(part, label) part$left_over * mean_variance(blocks[[label]]$hyper), basis$parts,
        names(basis$blocks))
  })))
  variance / if (is_residual(fit$likelihood)) mean(stats::sigma(fit))^2 else 1
}

mean_variance <- function(hyper) {
  mean <- hyper["mean"]
  if (is.finite(mean)) unname(mean) else 1 / hyper[["inverse_mean"]]
}

# For k x S draws of the linear predictor of rows.
left_over_draws <- function(fit, rows) {
  own <- match(colnames(rows$left_over), vapply(fit$blocks, `[[`, "", "label"))
  variance <- Reduce(`+`, Map(function(block, j) {
    outer(rows$left_over[, j], block_variances(fit, block))
  }, own, seq_along(own)))
  sqrt(variance) * left_over_noise(fit, variance, colnames(rows$left_over))
}

# Standard normal, as many as `of`, and independent of those of parts with other labels.
left_over_noise <- function(fit, of, labels) {
  with_stream(fit, paste(c("left over", labels), collapse = " "), stats::rnorm(length(of)))
}
