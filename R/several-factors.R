# Several grouping factors of rows in files (R/shards.R). Rows are sorted by the main factor, the one with
# most levels, and its levels by the factors it is nested in. Then most levels of all these have their rows
# in one file; of others, and of levels with very many rows, files have parts. These levels are shared:
# their effects are coefficients to every file, and all else is eliminated in the file it is in
# (core/rows/shared_levels.hpp). Of a single file those are shared that are costly to eliminate.

has_several <- function(frame) length(frame$groups) > 1L

effects_of_row <- function(frame) sum(lengths(lapply(frame$groups, `[[`, "labels")))

# The number of the factor by which rows are sorted: 0 without any.
main_factor <- function(frame) {
  if (length(frame$groups) == 0L) return(0L)
  which.max(lengths(lapply(frame$groups, `[[`, "levels")))
}

# Codes (n x factors) and multipliers (n x effects that have some, or NULL) of rows.
codes_of_factors <- function(groups) {
  list(codes = do.call(cbind, lapply(unname(groups), `[[`, "codes")),
       z = do.call(cbind, lapply(unname(groups), `[[`, "z")))
}

# Which columns of z are those of a factor, by factor.
multiplier_columns <- function(groups) {
  size <- vapply(groups, function(group) if (is.null(group$z)) 0L else ncol(group$z), 0L)
  Map(function(end, size) end - size + seq_len(size), cumsum(size), size)
}

# For each level of the main factor its level of every other one, and whether it has but one: noted row by
# row, with codes of all factors.
new_nesting <- function(groups, main) {
  seen <- new.env(parent = emptyenv())
  seen$main <- main
  seen$outer <- lapply(groups, function(group) rep(NA_integer_, length(groups[[main]]$levels)))
  seen$nested <- rep(TRUE, length(groups))
  seen
}

note_nesting <- function(seen, codes) {
  for (k in which(seen$nested)) {
    level <- codes[, seen$main]
    fresh <- is.na(seen$outer[[k]][level])
    seen$outer[[k]][level[fresh]] <- codes[fresh, k]
    seen$nested[k] <- all(seen$outer[[k]][level] == codes[, k])
  }
}

# The place of each level of the main factor among them: by the factors it is nested in, the ones with
# fewest levels first, and then by its code.
main_ranks <- function(seen, groups) {
  outer <- seen$nested & seq_along(groups) != seen$main
  sizes <- lengths(lapply(groups, `[[`, "levels"))
  keys <- seen$outer[outer][order(sizes[outer])]
  codes <- seq_along(seen$outer[[seen$main]])
  order(do.call(order, c(unname(keys), list(codes))))
}

# In which files levels have rows: `first` and `last` by factor.
new_level_files <- function(groups) {
  seen <- new.env(parent = emptyenv())
  seen$first <- lapply(groups, function(group) rep(NA_integer_, length(group$levels)))
  seen$last <- seen$first
  seen
}

note_level_files <- function(seen, codes, file) {
  for (k in seq_along(seen$first)) {
    own <- unique(codes[, k])
    seen$first[[k]][own] <- pmin(seen$first[[k]][own], file, na.rm = TRUE)
    seen$last[[k]][own] <- pmax(seen$last[[k]][own], file, na.rm = TRUE)
  }
}

# Numbers of the levels with rows in several files, by factor.
shared_levels <- function(seen) Map(function(first, last) which(first < last), seen$first, seen$last)

# The columns of these levels, by factor, among those of all.
level_columns <- function(levels, groups) {
  unlist(Map(function(own, group, start) {
    q <- length(group$labels)
    start + rep((own - 1) * q, each = q) + rep(seq_len(q), length(own))
  }, levels, groups, effect_starts(groups)), use.names = FALSE)
}

# The sparse columns of a file's rows, `number` among all: those of its own levels and of shared ones.
file_columns <- function(rows, groups, shared) {
  at <- multiplier_columns(groups)
  levels <- lapply(seq_along(groups), function(k) sort(unique(c(rows$codes[, k], shared[[k]]))))
  own <- Map(function(k, group) {
    list(codes = match(rows$codes[, k], levels[[k]]), levels = levels[[k]], labels = group$labels,
         z = if (length(at[[k]]) > 0L) rows$z[, at[[k]], drop = FALSE])
  }, seq_along(groups), groups)
  c(sparse_effects(own), list(number = as.integer(level_columns(levels, groups))))
}

# The shared columns of a single file: those that stay in the root where all rows are in memory.
root_columns <- function(rows, groups, columns) {
  own <- file_columns(rows, groups, vector("list", length(groups)))
  own$number[with_core_conditions(core_root_columns(own, length(rows$y), columns))]
}

# Effects of so many levels are moved together; sums of rows are in several copies.
check_shared_memory <- function(shared, columns) {
  size <- columns + length(shared)
  check_memory(8 * 8 * size^2, paste("The grouping factors have", in_full(length(shared)),
                                     "effects of levels with rows in several files, which take"),
               "Leave out a grouping factor with many levels, or fit a part of the rows.")
}
