# The table of a check: what the fit says of each quantity, and the exact posterior.

most_shift <- 0.1
most_ratio <- 1.1

# How many Monte Carlo errors a row must stay on one side of the limits to be decided.
error_margin <- 2

# A row a quantity; shift_error and ratio_error are the Monte Carlo errors of shift and of the log
# of sd_ratio.
check_table <- function(own, sample) {
  mean <- drop(sample$values %*% sample$weights)
  sd <- sqrt(drop((sample$values - mean)^2 %*% sample$weights))
  sd[sample$heavy] <- NA
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
  list(mean = c(unname(moments$mean), spread[, 1L]), sd = c(unname(moments$sd), spread[, 2L]))
}

# Of the standard deviations and correlations: mean and sd, a row a quantity.
inferred_moments <- function(fit) {
  blocks <- all_blocks(fit)
  inferred <- which(vapply(blocks, free_size, 0) > 0)
  do.call(rbind, c(list(matrix(0, 0L, 2L)), lapply(inferred, function(k) {
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
