# Group effects of a streamed fit with very many levels are in a file that the core writes
# (core/rows/shards/group_file). In place of group_mean, group_precision and group_regression the
# posterior, or a component of it, then has `group_file`:
#
#   path, sum           of the file, and a checksum by which it is known again
#   effects, columns    of a level, and of the coefficients that it follows; `levels`
#   unit, group_unit    powers of two that bring its numbers to the core's outside scale
#   scale               the response's unit, if it has one
#
# Few functions know this. effect_means() and effect_sds() read the file in chunks of levels.
# posterior_linear() asks at_levels() for a fit in memory with the levels of its rows alone. What
# needs all levels, such as draws, asks with_group_effects().

# Numbers of a posterior's group effects beyond which they are in a file.
most_group_numbers <- 2^24

# How names of the files begin, "" for effects in memory. `shards$effects_folder` is the user's.
group_file_names <- function(spec, shards) {
  if (group_file_bytes(spec$problem, shards$n_groups) / 8 <= most_group_numbers ||
        is_sampler(spec$engine)) {
    return("")
  }
  folder <- if (is.null(shards$effects_folder)) tempdir() else shards$effects_folder
  bytes <- group_file_bytes(spec$problem, shards$n_groups)
  free <- free_bytes(folder)
  if (!is.na(free) && bytes > free) {
    abort("disk", "The effects of ", in_full(shards$n_groups), " levels take ",
          signif(bytes / 2^30, 3L), " GiB in files, and the disk has ", signif(free / 2^30, 3L),
          " GiB free. Use control = bsvm_control(effects_folder = \"path\") with a folder on a larger ",
          "disk.")
  }
  file.path(normalizePath(folder), basename(tempfile("effects-")))
}

group_file_bytes <- function(problem, levels) {
  q <- max(1, NCOL(problem$z))
  8 * levels * q * (1 + q + length(problem$center))
}

# Of a fit: the parts of its posterior with a file.
group_files <- function(posterior) {
  parts <- c(list(posterior), posterior$components)
  Filter(Negate(is.null), lapply(parts, `[[`, "group_file"))
}

has_group_file <- function(fit) length(group_files(fit$posterior)) > 0L

tell_group_files <- function(fit, folder) {
  files <- group_files(fit$posterior)
  if (length(files) == 0L || !is.null(folder)) return(invisible())
  paths <- vapply(files, `[[`, "", "path")
  message("The effects of ", in_full(files[[1L]]$levels), " levels are in files that are removed ",
          "when R ends (", signif(sum(file.size(paths)) / 2^30, 3L), " GiB in ", dirname(paths[1L]),
          "). To keep them with the fit use control = bsvm_control(effects_folder = \"path\").")
}

# ---- reading ------------------------------------------------------------------------------------

# A posterior in memory, of some of the levels.
read_group_effects <- function(posterior, levels) {
  file <- posterior$group_file
  found <- withCallingHandlers(
    with_core_conditions(core_read_groups(file, levels)),
    bsvm_error_disk = function(e) refuse_group_file(e, file)
  )
  names(found) <- paste0("group_", names(found))
  posterior$group_file <- NULL
  posterior[names(found)] <- found
  if (is.null(file$scale)) return(posterior)
  scale_fields(posterior, file$scale, "group_mean", NULL, "group_precision")
}

refuse_group_file <- function(e, file) {
  abort("disk", conditionMessage(e), " The fit needs this file for group effects: put it back, or fit ",
        "the model again. `re_formula = NA` predicts without group effects.")
}

# f(levels, posterior in memory) for chunks of levels.
each_group_chunk <- function(posterior, f) {
  file <- posterior$group_file
  size <- file$effects * (1 + file$effects + file$columns)
  in_chunks(file$levels, 2^20 / size, function(at) f(at, read_group_effects(posterior, at)))
}

# q x m numbers of all levels, f(posterior) of those in memory.
of_group_levels <- function(posterior, f) {
  out <- matrix(0, posterior$group_file$effects, posterior$group_file$levels)
  each_group_chunk(posterior, function(at, own) out[, at] <<- f(own))
  out
}

# The fit and rows, list(fit, rows), with none but the levels of these.
at_levels <- function(fit, rows) {
  if (!has_group_file(fit) || length(rows$groups) == 0L) return(list(fit = fit, rows = rows))
  codes <- rows$groups[[1L]]$codes
  own <- sort(unique(codes[known(codes)]))
  if (length(own) == 0L) own <- 1L
  there <- known(codes)
  rows$groups[[1L]]$codes[there] <- match(codes[there], own)
  if (!is.null(rows$groups[[1L]]$levels)) rows$groups[[1L]]$levels <- fit$groups[[1L]]$levels[own]
  fit$groups[[1L]]$levels <- fit$groups[[1L]]$levels[own]
  fit$groups[[1L]]$keys <- NULL
  list(fit = in_memory_at(fit, own), rows = rows)
}

in_memory_at <- function(fit, levels) {
  read <- function(part) if (is.null(part$group_file)) part else read_group_effects(part, levels)
  components <- lapply(fit$posterior$components, read)
  fit$posterior <- read(fit$posterior)
  if (length(components) > 0L) fit$posterior$components <- components
  fit
}

# The fit with all its group effects in memory, for `what`.
with_group_effects <- function(fit, what) {
  if (!has_group_file(fit)) return(fit)
  file <- group_files(fit$posterior)[[1L]]
  check_memory(3 * sum(file.size(vapply(group_files(fit$posterior), `[[`, "", "path"))),
               paste0("For ", what, " the effects of ", in_full(file$levels), " levels take"),
               "predict() reads those of the rows alone.")
  in_memory_at(fit, seq_len(file$levels))
}
