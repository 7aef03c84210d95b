# The spread of a response of numbers in files, as spread_of() (R/response-numbers.R) has it of numbers
# in memory. The response less the offset, and weights, are written to a file of their own while rows
# are prepared, and medians are found in a few readings of it (core/data/median_search).

new_streamed_response <- function(folder) {
  seen <- new.env(parent = emptyenv())
  seen$path <- file.path(folder, "response")
  seen$moments <- core_new_moments(1L)
  seen
}

# rows: list(y, offset, weight) of one piece.
note_response <- function(seen, rows) {
  y <- less_offset(rows$y, rows$offset)
  if (largest_size(y) > most_response) refuse_large_response("The response")
  core_add_moments(seen$moments, matrix(y), rows$weight)
  write_value(list(y = y, weight = rows$weight), seen$path, "ab")
}

streamed_spread <- function(seen) {
  on.exit(unlink(seen$path))
  found <- core_read_moments(seen$moments)
  centre <- median_in_file(seen$path, identity)
  list(centre = centre, deviation = median_in_file(seen$path, function(y) abs(y - centre)),
       furthest = max(abs(found$bounds - centre)),
       sd = if (found$bounds[1L] == found$bounds[2L]) 0 else sd_of_sums(found),
       largest = max(abs(found$bounds)))
}

# weighted_median() of what `value` makes of the numbers in the file.
median_in_file <- function(path, value) {
  search <- core_new_median()
  weighted <- FALSE
  repeat {
    each_value(path, function(rows) {
      weighted <<- !is.null(rows$weight)
      core_add_to_median(search, value(rows$y), rows$weight)
    })
    ends <- core_end_median_pass(search)
    if (!is.null(ends)) return(if (weighted) sum(ends) / 2 else mean(ends))
  }
}

# ---- fitted exactly ------------------------------------------------------------------------------

# Do the columns leave nothing of the response, in any row? Most often the sample shows that they do;
# else the coefficients that fit it are tried on all rows.
fitted_exactly <- function(shards, intercept, spill, make) {
  own <- shards$sample
  if (ncol(own$x) >= nrow(own$x) || anyNA(own$x)) return(FALSE)
  b <- exact_coefficients(own$x, less_offset(own$y, own$offset), own$weight)
  if (is.null(b)) return(FALSE)
  fits <- function(rows) {
    left <- less_offset(rows$y, rows$offset) - drop(rows$x %*% b[setdiff(seq_along(b), intercept)])
    if (intercept > 0L) left <- left - b[[intercept]]
    isTRUE(max(abs(left)) <= most_rounding * shards$spread$largest) # not where one is missing
  }
  for (k in seq_len(spill$pieces)) {
    for (part in piece_parts(spill, k, shards$columns)) {
      rows <- make(part)
      if (length(rows$y) > 0L && !fits(rows)) return(FALSE)
    }
  }
  TRUE
}
