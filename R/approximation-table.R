# The table of a check: what the fit says of each quantity, and the exact posterior.

most_shift <- 0.1
most_ratio <- 1.1

# How many Monte Carlo errors a row must stay on one side of the limits to be decided.
error_margin <- 2

# The shape of a tail (as Pareto k) from which on a standard deviation has no Monte Carlo error,
# where it is not the weights' own; from twice that on a mean has none.
heaviest_tail <- 0.5

most_undecided <- 0.05
largest_error <- 0.05

# A row a quantity; shift_error and ratio_error are the Monte Carlo errors of shift and of the log
# of sd_ratio.
check_table <- function(own, sample) {
  mean <- drop(sample$values %*% sample$weights)
  sd <- sqrt(drop((sample$values - mean)^2 %*% sample$weights))
  mean[sample$tail > 2 * heaviest_tail] <- NA
  sd[has_heavy_tail(sample) | is.na(mean)] <- NA
  shift <- (own$mean - mean) / sd
  ratio <- own$sd / sd
  out <- data.frame(
    mean = own$mean, sd = own$sd, mean_corrected = mean, sd_corrected = sd, shift = shift,
    sd_ratio = ratio, trust = NA, shift_error = sample$mean_error, ratio_error = sample$sd_error,
    row.names = rownames(sample$values)
  )
  out$trust <- verdicts(out)
  out
}

has_heavy_tail <- function(sample) {
  sample$tail > max(heaviest_tail, sample$pareto_k + 0.2, na.rm = TRUE)
}

# Are all rows decided, but for a few of many, and is no corrected value rough?
is_decided <- function(table) {
  mean(is.na(table$trust)) <= most_undecided &&
    all(c(table$shift_error, table$ratio_error) <= largest_error)
}

# TRUE: within both limits by a margin of the errors; FALSE: beyond one of them by as much; NA
# between, and for what can't be told.
verdicts <- function(table) {
  shift <- verdict(abs(table$shift), most_shift, table$shift_error)
  ratio <- verdict(abs(log(table$sd_ratio)), log(most_ratio), table$ratio_error)
  ratio[is.na(table$sd)] <- TRUE # the fit says nothing of it
  shift & ratio
}

verdict <- function(size, limit, error) {
  beyond <- size - limit
  ifelse(beyond <= -error_margin * error, TRUE, ifelse(beyond > error_margin * error, FALSE, NA))
}

# Corrected values mean nothing if neither weights nor chains can be used.
without_corrected <- function(table) {
  table[c("mean_corrected", "sd_corrected", "shift", "sd_ratio", "shift_error", "ratio_error")] <-
    NA_real_
  table$trust <- NA
  table
}

# ---- what the fit says --------------------------------------------------------------------------

# list(mean, sd) of all quantities, as the fit's summaries have them.
fit_moments <- function(fit) {
  moments <- posterior_coefficients(fit)
  spread <- inferred_moments(fit)
  list(mean = unname(c(moments$mean, spread[, 1L])), sd = unname(c(moments$sd, spread[, 2L])))
}

# Mean and sd of the standard deviations and correlations, one row per quantity. The sd is NA for a
# parameter that the fit knows as a point.
inferred_moments <- function(fit) {
  blocks <- all_blocks(fit)
  inferred <- which(vapply(blocks, free_size, 0) > 0)
  do.call(rbind, c(list(matrix(0, 0L, 2L)), lapply(inferred, function(k) {
    if (is_parameter(blocks[[k]])) {
      spread <- unlist(parameter_spread(fit, k, 0.95))[1:2]
      return(rbind(replace(spread, spread[2L] %in% 0 & 1:2 == 2L, NA_real_)))
    }
    sds <- block_spread(fit$posterior, fit, k, 0.95)[, 2:3, drop = FALSE]
    pairs <- below_diagonal(length(blocks[[k]]$columns))
    if (!is_joint(blocks[[k]])) return(sds)
    rbind(sds, correlation_spread(fit$posterior, fit, k, pairs, 0.95)[, 1:2, drop = FALSE])
  })))
}

# Pairs i > j.
below_diagonal <- function(q) {
  pairs <- lower_pairs(q)
  pairs[pairs[, 1L] > pairs[, 2L], , drop = FALSE]
}

# The distributions of log standard deviations (list(shape, scale) where the variance is inverse
# gamma, else as in mixture-variance.R) and of correlations as Fisher's z, in the order of
# inferred_moments(); NULL where the fit has none.
inferred_laws <- function(fit) {
  blocks <- all_blocks(fit)
  inferred <- which(vapply(blocks, free_size, 0) > 0)
  unlist(lapply(inferred, function(k) block_laws(fit, blocks[[k]], k)), recursive = FALSE)
}

block_laws <- function(fit, block, k) {
  if (is_shown_otherwise(block)) return(list(NULL))
  pairs <- if (is_joint(block)) below_diagonal(length(block$columns)) else matrix(0L, 0L, 2L)
  if (!inherits(fit$posterior, "bsvm_mixture")) {
    laws <- lapply(inverse_gammas(block), function(law) {
      if ("shape" %in% names(law)) as.list(law[c("shape", "scale")])
    })
    return(c(laws, vector("list", nrow(pairs))))
  }
  if (!is_joint(block)) return(list(log_sd_law(fit$posterior, k)))
  c(lapply(seq_along(block$columns), function(i) effect_sd_law(fit$posterior, block, k, i)),
    lapply(seq_len(nrow(pairs)), function(r) {
      correlation_law(fit$posterior, block, k, pairs[r, ])
    }))
}

correlation_law <- function(posterior, block, k, pair) {
  point_law(posterior, posterior$free[[k]], function(theta) {
    z <- stats::cov2cor(point_covariance(block, theta))[pair[1L], pair[2L]]
    atanh(pmin(pmax(z, -largest_correlation), largest_correlation))
  })
}
