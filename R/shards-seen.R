# What is known of all rows that go to files (R/shards.R), gathered while they pass.

most_sampled <- 1000

new_seen <- function(frame, rows, folder) {
  seen <- new.env(parent = emptyenv())
  seen$response <- if (is_kind(frame$response, "numbers")) new_streamed_response(folder)
  seen$columns <- length(frame$columns)
  seen$others <- setdiff(seq_len(seen$columns), frame$intercept)
  if (!is.null(frame$unknowns)) seen$unknowns <- new_seen_unknowns(frame, seen$others)
  seen$moments <- core_new_moments(if (is.null(seen$unknowns)) length(seen$others) else 1L)
  seen$n <- 0
  if (is.null(seen$response)) seen$positive <- 0
  seen$wanted <- unique(round(seq(1, rows, length.out = min(rows, most_sampled))))
  seen$sample <- list()
  seen$names <- frame$columns
  seen
}

note_rows <- function(seen, rows) {
  if (!is.null(seen$unknowns)) note_unknowns(seen$unknowns, rows)
  core_add_moments(seen$moments, if (is.null(seen$unknowns)) rows$x else matrix(rows$y), rows$weight)
  if (!is.null(rows$z)) {
    if (is.null(seen$z)) seen$z <- core_new_moments(ncol(rows$z))
    core_add_moments(seen$z, rows$z, rows$weight)
  }
  if (!is.null(rows$offset)) {
    if (is.null(seen$offset)) seen$offset <- core_new_moments(1L)
    core_add_moments(seen$offset, matrix(rows$offset), NULL)
  }
  if (!is.null(seen$response)) note_response(seen$response, rows)
  at <- seen$wanted[seen$wanted > seen$n & seen$wanted <= seen$n + length(rows$y)] - seen$n
  if (length(at) > 0L) {
    seen$sample[[length(seen$sample) + 1L]] <- some_shard_rows(rows[names(rows) != "raw"], at)
    seen$rows[[length(seen$rows) + 1L]] <- rows$raw[at, , drop = FALSE]
  }
  seen$n <- seen$n + length(rows$y)
  if (is.null(seen$response)) seen$positive <- seen$positive + sum(rows$y > 0)
}

# The fields of a bsvm_shards that these are.
seen_moments <- function(seen) {
  if (!is.null(seen$positive) && seen$positive %in% c(0, seen$n)) {
    abort("response", "All rows of the source that take part in the fit are of one class.")
  }
  found <- core_read_moments(seen$moments)
  check_total_weight(found$weight)
  of <- found
  if (!is.null(seen$unknowns)) of <- seen_unknowns(seen$unknowns, length(seen$others))
  offset <- if (!is.null(seen$offset)) core_read_moments(seen$offset)
  mean <- sd <- numeric(seen$columns)
  mean[seen$others] <- of$mean
  constant <- of$bounds[1L, ] == of$bounds[2L, ]
  mean[seen$others][constant] <- of$bounds[1L, constant]
  sd[seen$others] <- ifelse(constant, 0, sd_of_sums(of))
  mean[-seen$others] <- 1
  if (length(seen$others) == 0L) mean[] <- 1
  sample <- bind_shard_rows(seen$sample)
  x <- matrix(1, length(sample$y), seen$columns, dimnames = list(NULL, seen$names))
  x[, seen$others] <- sample$x
  sample$x <- x
  list(n = seen$n, n_positive = seen$positive, moments = list(mean = mean, sd = sd),
       weight = found$weight, bounds = of$bounds, unknowns = of$unknowns,
       z_sums = if (!is.null(seen$z)) core_read_moments(seen$z),
       spread = if (!is.null(seen$response)) streamed_spread(seen$response),
       offset_mean = offset$mean, offset_bounds = offset$bounds, sample = sample,
       rows = unnumbered(do.call(rbind, seen$rows)))
}

unnumbered <- function(data) {
  row.names(data) <- NULL
  data
}

# As in column_moments().
sd_of_sums <- function(sums) {
  sqrt(sums$squares / ifelse(sums$weight <= 1, NA_real_, sums$weight - 1))
}

# Some columns of what core_read_moments() gives.
columns_of_sums <- function(sums, at) {
  sums[c("mean", "squares")] <- lapply(sums[c("mean", "squares")], `[`, at)
  sums$bounds <- sums$bounds[, at, drop = FALSE]
  sums
}

# Means of the squares of columns.
streamed_squares <- function(shards, columns) {
  mean <- shards$moments$mean[columns]
  mean^2 + shards$moments$sd[columns]^2 * (1 - 1 / shards$weight)
}
