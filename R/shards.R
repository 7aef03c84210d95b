# Rows of a fit in files, which the core reads in each pass (core/rows/shards).
#
# write_shards() returns an object of class bsvm_shards, a place for rows (R/row-source.R):
#   folder, paths   where they are; `bytes` of all
#   n, n_groups     rows with a positive weight, and levels; `shards`, how many
#   large           large_levels(), or NULL
#   several         of several grouping factors: list(levels, effects) of each, and `shared`, columns of
#                   levels with rows in several files (R/several-factors.R)
#   columns         a row's columns, the intercept included; `intercept`: is it one of them?
#   slopes          multipliers of a single factor's effects, 0 for a random intercept
#   moments         list(mean, sd) by column, list(weight) their sum
#   bounds          least and largest value of each column, 2 x p without the intercept
#   z_sums          sums_of_column() of the multipliers; `offset_mean`, `offset_bounds`
#   n_positive      of a response of classes: rows of the second one
#   spread, exact   of a response of numbers: what spread_of() has of it; do the columns fit it exactly?
#   sample          at most 1000 rows, evenly spread: x, y, weight, offset, group, codes, z, left_over,
#                   beside
#   rows            the same rows as the source has them, a data frame
#   unknowns        what is known of missing predictors (R/missing-streamed.R)
#
# A shard is whole lanes of a pass and, with a grouping factor, whole levels but for large ones, whose
# rows keep their order. Rows are sorted by level in two steps: each piece is dealt out to the shards,
# and each shard is sorted by itself.
write_shards <- function(spill, frame, choose, n, control) {
  folder <- rows_tempfile("bsvm-shards-", control)
  done <- FALSE
  on.exit(if (!done) unlink(folder, recursive = TRUE))
  dir.create(folder)
  make <- row_maker(frame, choose)
  dealt <- shard_plan(spill, frame, choose)
  check_shard_space(n, frame, folder)
  seen <- new_seen(frame, n, folder)
  deal <- if (is.null(dealt$counts)) deal_in_order(dealt, folder)
          else deal_by_level(dealt, folder, if (has_several(frame)) frame)
  tell <- progress_teller(spill$rows, control$verbose, "rows prepared")
  on.exit(tell(NULL), add = TRUE)
  for (k in seq_len(spill$pieces)) {
    for (part in piece_parts(spill, k, length(frame$columns))) {
      rows <- make(part)
      if (length(rows$y) == 0L) next
      note_rows(seen, rows)
      deal$add(rows[names(rows) != "raw"])
    }
    tell(min(k * as.numeric(spill$piece_rows), spill$rows))
  }
  shards <- new_shards(folder, deal$finish(), frame, seen)
  if (!is.null(seen$response)) {
    shards$exact <- fitted_exactly(shards, frame$intercept, spill, make)
  }
  if (has_several(frame)) {
    shards$several <- list(levels = lengths(lapply(frame$groups, `[[`, "levels"), use.names = FALSE),
                           effects = lengths(lapply(frame$groups, `[[`, "labels"), use.names = FALSE),
                           shared = deal$shared())
  } else shards["large"] <- list(dealt$large)
  done <- TRUE
  shards
}

new_shards <- function(folder, paths, frame, seen) {
  found <- seen_moments(seen)
  one <- length(frame$groups) == 1L
  structure(class = "bsvm_shards", c(found, list(
    folder = folder, paths = paths, shards = length(paths), bytes = sum(file.size(paths)),
    n_groups = if (one) length(frame$groups[[1L]]$levels) else 0L,
    slopes = if (!one || is.null(seen$z)) 0L else length(frame$groups[[1L]]$labels),
    columns = length(frame$columns), intercept = frame$intercept > 0L
  )))
}

drop_shards <- function(shards) unlink(shards$folder, recursive = TRUE)

# Numbers of a row that are neither of the design nor of the response.
beside_columns <- function(frame) {
  c(colnames(frame$left_over), colnames(frame$unknowns$auxiliary))
}

# Twice the rows, while they are sorted.
check_shard_space <- function(n, frame, folder, free = free_bytes(folder)) {
  others <- length(beside_columns(frame)) + if (is_kind(frame$response, "numbers")) 5 else 3
  if (has_several(frame)) others <- others + 1.5 * effects_of_row(frame)
  bytes <- 8 * n * (length(frame$columns) + others)
  if (is.na(free) || bytes * (1 + (length(frame$groups) > 0L)) <= free) return(invisible())
  abort("disk", "The rows of the fit take ", signif(bytes / 2^30, 3), " GiB in files, and the disk ",
        "has ", signif(free / 2^30, 3), " GiB free. Use control = bsvm_control(rows_folder = ",
        "\"path\") with a folder on a larger disk.")
}

# NA where the system has no `df`.
free_bytes <- function(folder) {
  said <- tryCatch(suppressWarnings(system2("df", c("-Pk", shQuote(folder)), TRUE, FALSE)),
                   error = function(e) NULL)
  if (length(said) < 2L) return(NA_real_)
  suppressWarnings(as.numeric(strsplit(trimws(said[2L]), " +")[[1L]][4L])) * 1024
}

# ---- rows of a piece ----------------------------------------------------------------------------

# A function of a piece: list(x without the intercept, y, weight, offset, group, z, left_over, beside, and
# raw, as they came) of the rows that take part. Of several factors `group` is the one by which rows are
# sorted, and `codes` are those of all.
row_maker <- function(frame, choose) {
  parts <- frame[c("terms", "xlevels", "contrasts", "bases", "groups")]
  home <- formula_environment(frame$formula)
  response <- frame$formula[[2L]]
  leaving <- colnames(frame$left_over)
  main <- main_factor(frame)
  function(piece) {
    chosen <- choose(piece)
    rows <- chosen$rows
    if (nrow(rows) == 0L) return(list())
    design <- design_rows(parts, rows, unknown = "missing")
    y <- as.double(recode_values(frame$response, eval(response, rows, home)))
    factors <- if (!is.null(frame$response$class_weights)) class_factors(frame$response, y)
    weight <- chosen$weights
    group <- if (main > 0L) design$groups[[main]]
    several <- if (has_several(frame)) codes_of_factors(design$groups)
    check_streamed_rows(design, y, !is.null(frame$unknowns), frame$groups)
    list(x = design$x[, setdiff(seq_along(frame$columns), frame$intercept), drop = FALSE], y = y,
         weight = if (is.null(factors)) weight else factors * (if (is.null(weight)) 1 else weight),
         offset = sum_offsets(design$offset, chosen$offset), group = group$codes,
         codes = several$codes, z = if (is.null(several)) group$z else several$z,
         left_over = if (!is.null(leaving)) design$left_over[, leaving, drop = FALSE],
         beside = piece_auxiliary(frame, rows), raw = rows)
  }
}

# `modelled`: may values of `x` be missing?
check_streamed_rows <- function(design, y, modelled, groups) {
  finite <- all(is.finite(y)) && all_finite(design$offset) &&
    all(vapply(design$groups, function(g) all(g$codes > 0L) && all_finite(g$z), TRUE))
  Map(function(own, group) if (!is.null(own$z)) check_magnitudes(own$z, group$labels), design$groups,
      groups)
  bad <- if (modelled) is.infinite(design$x) else !is.finite(design$x)
  refuse_not_finite(c(colnames(design$x)[colSums(bad) > 0],
                      if (!finite) "the response, offset or groups"))
  check_magnitudes(design$x, absent = modelled)
}

all_finite <- function(x) !anyNA(x) && !(is.numeric(x) && any(is.infinite(x)))

refuse_not_finite <- function(names) {
  if (length(names) == 0L) return(invisible())
  abort("missing", "Some rows of the source have missing or infinite values of ",
        enumerate(names, ""), ". Look for logarithms of 0, divisions by 0 and whole numbers of 2^31 ",
        "or more. `na.action = na.omit` excludes rows with missing values.")
}

# ---- which rows go where ------------------------------------------------------------------------

# list(size, counts, large, rank, starts): core_shard_size(), and with a grouping factor rows of each level,
# large_levels(), and the first row of each shard in the order of levels. With several factors levels are
# those of main_factor() in the order of `rank`, a place for each.
shard_plan <- function(spill, frame, choose) {
  p <- length(frame$columns)
  numbers <- p + 3 + length(beside_columns(frame))
  if (has_several(frame)) numbers <- numbers + 1.5 * effects_of_row(frame)
  main <- main_factor(frame)
  if (main == 0L) return(list(size = core_shard_size(p, numbers)))
  q <- length(frame$groups[[main]]$labels)
  levels <- length(frame$groups[[main]]$levels)
  counts <- numeric(levels)
  nesting <- if (has_several(frame)) new_nesting(frame$groups, main)
  terms <- stats::delete.response(frame$terms)
  for (k in seq_len(spill$pieces)) {
    rows <- choose(read_piece(spill, k))$rows
    if (nrow(rows) == 0L) next
    groups <- if (is.null(nesting)) frame$groups[main] else frame$groups
    all <- codes_of_factors(group_rows(groups, terms, rows, "missing"))$codes
    all <- all[rowSums(is.na(all) | all < 1L) == 0, , drop = FALSE] # others are refused when rows are made
    if (!is.null(nesting)) note_nesting(nesting, all)
    codes <- all[, if (is.null(nesting)) 1L else main]
    own <- unique(codes) # few of the levels, if these are very many
    if (length(own) > 0L) counts[own] <- counts[own] + tabulate(match(codes, own), length(own))
  }
  rank <- if (!is.null(nesting)) main_ranks(nesting, frame$groups)
  counts <- if (is.null(rank)) counts else counts[order(rank)]
  # What is known of a level takes memory, too (core/data/group_states.hpp).
  of_levels <- 4 * q * (p + q + 1) * levels / sum(counts)
  size <- core_shard_size(p, ceiling(numbers + q + of_levels))
  large <- large_levels(counts, p, q)
  list(size = size, counts = counts, large = large, rank = rank,
       starts = core_shard_starts(counts, as.double(large$level), p, size))
}

# ... in the order of the source.
deal_in_order <- function(plan, folder) {
  size <- plan$size[["rows"]]
  waiting <- list()
  have <- 0
  paths <- character(0)
  write <- function(rows) {
    paths <<- c(paths, file.path(folder, sprintf("shard-%06d", length(paths) + 1L)))
    write_shard(paths[length(paths)], rows, (length(paths) - 1) * size)
  }
  list(
    add = function(rows) {
      waiting[[length(waiting) + 1L]] <<- rows
      have <<- have + length(rows$y)
      if (have < size) return(invisible())
      all <- bind_shard_rows(waiting)
      whole <- have %/% size
      for (k in seq_len(whole)) write(some_shard_rows(all, (k - 1) * size + seq_len(size)))
      rest <- setdiff(seq_len(have), seq_len(whole * size))
      waiting <<- if (length(rest) > 0L) list(some_shard_rows(all, rest)) else list()
      have <<- length(rest)
    },
    finish = function() {
      if (have > 0) write(bind_shard_rows(waiting))
      paths
    }
  )
}

# ... by level: parts of a shard wait in a file. `several`: a frame with several factors, or NULL.
deal_by_level <- function(plan, folder, several = NULL) {
  targets <- length(plan$starts)
  parts <- file.path(folder, sprintf("parts-%06d", seq_len(targets)))
  paths <- file.path(folder, sprintf("shard-%06d", seq_len(targets)))
  place <- level_placer(plan)
  seen <- if (!is.null(several)) new_level_files(several$groups)
  shared <- numeric(0)
  list(
    add = function(rows) {
      if (!is.null(seen)) rows$group <- plan$rank[rows$group]
      places <- split(seq_along(rows$y), findInterval(place(rows$group), plan$starts))
      for (k in names(places)) {
        own <- some_shard_rows(rows, places[[k]])
        if (!is.null(seen)) note_level_files(seen, own$codes, as.integer(k))
        write_value(own, parts[as.integer(k)], "ab")
      }
    },
    shared = function() shared,
    finish = function() {
      if (!is.null(seen)) {
        shared <<- as.double(level_columns(shared_levels(seen), several$groups))
        check_shared_memory(shared, length(several$columns))
      }
      for (k in seq_len(targets)) {
        rows <- tryCatch(bind_shard_rows(read_values(parts[k])), error = function(e) {
          pass_on(e)
          refuse_piece(parts[k])
        })
        rows <- some_shard_rows(rows, order(rows$group, method = "radix"))
        if (!is.null(seen)) {
          if (targets == 1L) shared <<- root_columns(rows, several$groups, length(several$columns))
          rows$sparse <- file_columns(rows, several$groups, shared_levels(seen))
          rows[c("group", "codes", "z")] <- list(NULL)
        }
        write_shard(paths[k], rows, plan$starts[k] - 1, if (is.null(seen)) rows$group[1L] - 1 else 0)
        unlink(parts[k])
      }
      paths
    }
  )
}

# A function of the levels of some rows: which row, in the order of levels, each of them is if its level
# is a large one, and else the first of its level.
level_placer <- function(plan) {
  first <- c(0, cumsum(plan$counts)) + 1
  large <- plan$large$level
  dealt <- numeric(length(large))
  function(group) {
    out <- first[group]
    number <- match(group, large, 0L)
    for (k in setdiff(unique(number), 0L)) {
      own <- which(number == k)
      out[own] <- out[own] + dealt[k] + seq_along(own) - 1
      dealt[k] <<- dealt[k] + length(own)
    }
    out
  }
}

# After so many rows and levels in other shards.
write_shard <- function(path, rows, first_row, first_level = 0) {
  if (!is.null(rows$group)) {
    rows$n_groups <- rows$group[length(rows$group)] - as.integer(first_level)
    rows$group <- rows$group - as.integer(first_level)
  } else rows$n_groups <- 0L
  rows[c("first_row", "first_level")] <- list(first_row, first_level)
  with_core_conditions(core_write_shard(path, rows))
}

some_shard_rows <- function(rows, at) {
  lapply(rows, function(part) if (is.matrix(part)) part[at, , drop = FALSE] else part[at])
}

bind_shard_rows <- function(parts) {
  if (length(parts) == 1L) return(parts[[1L]])
  stats::setNames(lapply(names(parts[[1L]]), function(name) {
    own <- lapply(parts, `[[`, name)
    if (is.matrix(own[[1L]])) do.call(rbind, own) else unlist(own)
  }), names(parts[[1L]]))
}

# Calls f(value) with each value that write_value(, , "ab") has put there.
each_value <- function(path, f) {
  connection <- file(path, "rb")
  on.exit(close(connection))
  size <- file.size(path)
  while (seek(connection) < size) f(unserialize(connection))
}

read_values <- function(path) {
  out <- list()
  each_value(path, function(value) out[[length(out) + 1L]] <<- value)
  out
}

# ---- a pass over them ---------------------------------------------------------------------------

# A point estimate needs a level's rows together.
check_largest_level <- function(rows, columns) {
  if (is.null(rows)) return(invisible())
  check_memory(3 * 8 * max(rows) * (columns + 4),
               paste("The grouping factor has a level with", in_full(max(rows)), "rows, which take"),
               "Use engine_vb() or engine_gaussian(integrate = FALSE).")
}

# As the core checks rows in memory, in units of the response.
most_offset <- 1e6

check_offset_size <- function(bounds, unit) {
  if (is.null(bounds) || max(abs(bounds)) / unit <= most_offset) return(invisible())
  abort("offset", "The offset has values of size ", format(max(abs(bounds)), digits = 3L),
        "; sizes up to ", if (unit == 1) "1e6" else format(most_offset * unit, digits = 3L),
        " are possible. Rescale it, or give these rows weight 0.")
}

#' @export
with_rows_of.bsvm_shards <- function(cluster, spec, fit) {
  check_offset_size(cluster$offset_bounds, spec$design$unit)
  problem <- spec$problem
  bounds <- if (cluster$intercept) cbind(1, cluster$bounds) else cluster$bounds
  q <- max(1L, cluster$slopes)
  known <- list(units = core_shard_units(bounds, problem$center, problem$scale),
                group_units = if (cluster$slopes == 0L) 1
                              else core_shard_units(cluster$z_sums$bounds, numeric(q), rep(1, q)),
                n = cluster$n, n_groups = cluster$n_groups, large = cluster$large,
                several = cluster$several,
                leaving = spec$problem$leaving, latent = spec$problem$latent)
  own <- c(list(center = problem$center, scale = problem$scale, intercept = cluster$intercept,
                slopes = cluster$slopes), spec$design[c("shift", "unit")])
  # for the fingerprint of a checkpoint alone: the rows in their units
  if (has_checkpoint(spec$engine)) {
    known$rows <- c(own, list(sums = core_shard_sums(cluster$paths)))
  }
  rows <- if (is_estimator(spec$engine)) {
    check_largest_level(cluster$large$rows, cluster$columns)
    core_shard_parts(own, spec$model, known, cluster$paths)
  } else if (is.null(cluster$team)) {
    core_shard_rows(own, spec$model, known, cluster$paths, file.path(cluster$folder, "state-"),
                    group_file_names(spec, cluster))
  } else {
    cluster$team$groups_to <- group_file_names(spec, cluster)
    ask_rows_of_team(cluster$team, cluster, own, spec$model, known)
  }
  fit(known, rows)
}
