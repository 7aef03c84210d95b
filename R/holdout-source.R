# Studies of rows that are read from a source (R/source.R): what splits and metrics need of all rows is
# read once, and models get sources of some of the rows.

# Rows of a data frame or a source, by their numbers; those of a source in its order.
rows_numbered <- function(data, numbers) {
  if (inherits(data, "bsvm_source")) rows_of_source(data, sort(numbers))
  else data[numbers, , drop = FALSE]
}

rows_in <- function(data) if (inherits(data, "bsvm_source")) data$rows else nrow(data)

columns_known <- function(data) if (inherits(data, "bsvm_source")) source_names(data) else names(data)

# `keep`: increasing. `source$rows`, if it is known: how many rows there were when splits were drawn.
rows_of_source <- function(source, keep) {
  open <- function(columns) {
    reader <- source$open(columns)
    before <- 0
    read <- function() {
      repeat {
        chunk <- reader$read()
        if (is.null(chunk)) check_rows_again(before, source$rows)
        if (!is.data.frame(chunk)) return(chunk)
        first <- before
        before <<- before + nrow(chunk)
        own <- findInterval(c(first, before), keep)
        if (own[2L] > own[1L]) {
          return(chunk[keep[seq.int(own[1L] + 1L, own[2L])] - first, , drop = FALSE])
        }
      }
    }
    list(read = read, place = reader$place, close = reader$close)
  }
  out <- new_source(paste(in_full(length(keep)), "rows of", source$label), source$names, open)
  out$rows <- length(keep)
  out
}

check_rows_again <- function(found, expected) {
  if (is.null(expected) || found == expected) return(invisible())
  abort("source", "The source returned ", in_full(found), " rows, and ", in_full(expected), " when it ",
        "was read before. Each reading must give the same rows in the same order.")
}

# The variables that responses, groups and tested rows are made of, of all rows. `call` and `env` as in
# prepare_study().
columns_of_study <- function(source, models, call, env) {
  known <- source_names(source)
  written <- lapply(c("group", "test", "response"), function(name) {
    expression <- eval(as.call(list(quote(substitute), as.name(name))), call)
    value <- tryCatch(with_seed_kept(eval(expression, env)), error = function(e) NULL)
    c(all.vars(expression), if (is.character(value) && length(value) == 1L) value,
      if (inherits(value, "formula")) all.vars(value))
  })
  responses <- lapply(Filter(Negate(is.null), lapply(models, model_formula, env)),
                      function(formula) all.vars(formula[[2L]]))
  used <- intersect(known, unlist(c(written, responses)))
  reader <- open_source(source, if (length(used) > 0L) used else known[1L])
  on.exit(reader$close())
  parts <- list()
  while (!is.null(rows <- reader$read())) parts[[length(parts) + 1L]] <- rows
  if (length(parts) == 0L) abort("data", "The source has no rows.")
  do.call(rbind, parts)
}

# A function or a connection is of this process alone.
check_source_study <- function(source, models, cores, cluster) {
  if (!isTRUE(source$anywhere) && (cores > 1L || !is.null(cluster))) {
    abort("unsupported", "`cores` and `cluster` need a data frame or files: other processes can't ",
          "read ", source$label, ". Leave them out.")
  }
  if (any(vapply(models, inherits, TRUE, "bsvm_tuned_svm"))) {
    abort("unsupported", "tuned_svm() needs a data frame; found a source of rows.")
  }
}

refuse_source_counts <- function(models, data, env) {
  if (is.null(trials_of_study(models, data, env))) return(invisible())
  abort("unsupported", "A source of rows does not support counts as the response. Give a row for ",
        "each trial, or a data frame.")
}
