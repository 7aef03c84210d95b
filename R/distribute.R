#' Rows that are prepared once for several fits
#'
#' The first fit with `data = distribute(source)` reads the source and writes the rows of the design
#' matrix to files. Later fits with the same variables, such as those with other priors or another
#' engine, use these files again. The results are those of `data = source`, to the last bit.
#'
#' @details
#' Files are used again if `formula`, `weights`, `offset`, `na.action`, `contrasts`,
#' `drop.unused.levels`, `class.weights`, `missing` and `likelihood` are the same as in an earlier
#' fit. With a Gaussian-process term `prior` must be the same, too, since the kernel depends on it.
#' Variables and functions in these that are not in the source must have the same values. Functions
#' that these functions call are not compared. For anything else the source is read again, and the
#' files are kept in addition to the earlier ones.
#'
#' Changes of the source after the first fit play no part: call `distribute()` again. The files are
#' in [tempdir()], or in the folder `rows_folder` of [bsvm_control()] that the first fit has. They are
#' removed with the R object, by `rm(rows); gc()` for example, and at the end of the R session.
#' @param data A [bsvm_source()], or what it accepts: names of files, or a function of `reset`.
#' @param cluster `NULL`, or a cluster for all fits that do not name another one (see
#'   [bsvm_cluster]).
#' @return A [bsvm_source()] for `data` of [bsvm()]. Nothing has been read.
#' @section Errors: `bsvm_error_argument` if `data` is not a source, or `cluster` is not a cluster.
#' @seealso [bsvm_source()], [bsvm_cluster].
#' @examples
#' file <- file.path(tempdir(), "cath.csv")
#' write.csv(cath, file, row.names = FALSE)
#'
#' # how much do the coefficients depend on the prior? The file is read once
#' rows <- distribute(file)
#' for (variance in c(0.1, 1, 10)) {
#'   fit <- bsvm(disease ~ sex + age, data = rows, prior = prior_ridge(variance = variance))
#'   print(coef(fit))
#' }
#' @export
distribute <- function(data, cluster = NULL) {
  source <- as_source(data)
  if (is.null(source)) {
    abort("argument", "`data` must be a bsvm_source(), names of files or a function of `reset`; ",
          "found ", describe(data), ".")
  }
  source$cluster <- check_source_cluster(cluster)
  source$kept <- new.env(parent = emptyenv())
  source$kept$process <- Sys.getpid()
  reg.finalizer(source$kept, forget_rows)
  source
}

# Forked processes have it, too.
forget_rows <- function(kept) {
  if (identical(kept$process, Sys.getpid())) for (rows in kept$rows) drop_shards(rows$shards)
}

# list(frame, shards): `make()`, or what an earlier fit has made of a source that keeps it. Files that
# a fit writes, such as states of levels, are in a folder of its own.
rows_once <- function(source, arguments, parts, given, make) {
  kept <- source$kept
  if (is.null(kept)) return(make())
  key <- rows_key(source, arguments, parts, given)
  rows <- Find(function(rows) {
    identical(rows$key, key) && all(file.exists(rows$shards$paths))
  }, kept$rows)
  if (is.null(rows)) {
    rows <- c(make(), list(key = key))
    kept$rows[[length(kept$rows) + 1L]] <- rows
  }
  rows$shards$folder <- tempfile("bsvm-fit-", dirname(rows$shards$folder))
  dir.create(rows$shards$folder)
  rows
}

# All that the rows of the design depend on, but the source: kernels depend on priors.
rows_key <- function(source, arguments, parts, given) {
  formula <- arguments$formula
  auxiliary <- rule_terms(arguments$missing)
  written <- c(list(as.call(as.list(formula))), given, auxiliary)
  home <- formula_environment(formula)
  names <- setdiff(unlist(lapply(written, all.names, unique = TRUE)), source_names(source))
  list(written = written, values = values_behind(names, home),
       others = arguments[c("na.action", "contrasts", "drop.unused.levels", "class.weights",
                            "likelihood", "missing", if (length(gp_columns_of(parts)) > 0L) "prior")],
       contrasts = getOption("contrasts"))
}

# The values of names, and of those that functions among them use, if these are not in a package.
values_behind <- function(names, from, seen = NULL) {
  values <- lapply(stats::setNames(nm = names), get0, envir = from)
  own <- Filter(function(value) {
    is.function(value) && !is.primitive(value) && !isNamespace(environment(value))
  }, values)
  seen <- c(seen, names)
  c(values, lapply(unname(own), function(f) {
    values_behind(setdiff(all.names(body(f), unique = TRUE), seen), environment(f), seen)
  }))
}
