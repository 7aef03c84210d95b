# Smooth terms. mgcv makes the basis and its penalty, and splits it: columns without a penalty join
# the fixed effects, penalised ones are a block under a normal prior for each penalty.
#   transform  turns mgcv's columns into ours: those without penalty, then block by block

# te() and ti() are refused with what to use instead.
#' @export
basis_origin.bsvm_term_s <- function(head) c(kind = "smooth", package = "mgcv")

#' @export
basis_origin.bsvm_term_t2 <- basis_origin.bsvm_term_s

#' @export
basis_origin.bsvm_term_te <- basis_origin.bsvm_term_s

#' @export
basis_origin.bsvm_term_ti <- basis_origin.bsvm_term_s

#' @export
basis_words.bsvm_basis_smooth <- function(kind) {
  list(what = "A smooth term", instead = " A smooth for each level of `f` is s(x, by = f).")
}

# The covariates of s(x, z, by = f, k = 5), and `f` if there is one.
#' @export
basis_variables.bsvm_basis_smooth <- function(kind, term) {
  arguments <- as.list(term)[-1L]
  named <- names(arguments)
  if (is.null(named)) named <- rep("", length(arguments))
  covariates <- unname(arguments[named == ""])
  if (length(covariates) == 0L) {
    abort("formula", "The smooth term `", deparse1(term), "` has no variable.")
  }
  refuse_operators(term, covariates)
  if (!is.language(arguments$by) && !is_no_variable(arguments$by)) {
    abort("formula", "`", deparse1(term), "`: `by` must be a variable.")
  }
  c(covariates, if (!is_no_variable(arguments$by)) list(arguments$by))
}

# mgcv writes `by = NA` for none.
is_no_variable <- function(by) is.null(by) || identical(by, NA)

# Columns of the data that a smooth term has among its effects: not a factor that is only `by`,
# since a smooth for each level is centred and leaves the levels' means to the factor.
#' @export
basis_effects.bsvm_basis_smooth <- function(kind, term, data) {
  by <- as.list(term)$by
  taken <- NextMethod()
  is_factor <- is.name(by) && (is.factor(data[[text_of(by)]]) || is.character(data[[text_of(by)]]))
  if (is_factor) setdiff(taken, text_of(by)) else taken
}

# Each level of a factor `by` makes one. In addition to what every basis has:
#   term, by           as in mgcv: its covariates, the text of `by` ("NA" for none)
#   object, transform  mgcv's object without the data, and what turns its columns into ours
#   expression         what rebuilds the variables: list(terms, xlevels)
#   range              of each variable: c(min, max), or the levels
#' @export
make_bases.bsvm_basis_smooth <- function(kind, term, columns, frame_terms, env) {
  need_mgcv(term)
  spec <- smooth_spec(kind$head, term, env)
  expression <- smooth_expression(term, columns, frame_terms)
  data <- smooth_data(spec, expression, columns)
  complete <- complete_cases(data)
  data <- data[complete, , drop = FALSE]
  check_covariates(spec, data, term)
  for (margin in smooth_margins(spec)) check_given_size(margin, data, term)
  # modCon = 3: t2() has the same constraint in the fit and in predictions
  objects <- with_mgcv(mgcv::smoothCon(spec, data, absorb.cons = TRUE, modCon = 3), deparse1(term),
                       function(e) explain_smooth(e, spec, data, term))
  lapply(objects, function(object) {
    object$X <- scatter_complete(object$X, complete)
    structure(list(label = object$label, term = spec$term, by = spec$by, object = object,
                   expression = expression, range = lapply(data, range_of)), class = class(kind))
  })
}

# Only all smooths together tell what two of them share.
#' @export
settle_bases.bsvm_basis_smooth <- function(kind, bases, x) {
  Map(split_smooth, bases, without_overlap(lapply(bases, `[[`, "object"), x))
}

#' @export
basis_of_some_rows.bsvm_basis_smooth <- function(kind) TRUE

need_mgcv <- function(term) {
  if (!requireNamespace("mgcv", quietly = TRUE)) {
    abort("unsupported", "The smooth term `", deparse1(term), "` needs the package mgcv, which is ",
          "not installed: install.packages(\"mgcv\").")
  }
}

# A basis is made of complete rows; others are NA.
scatter_complete <- function(x, complete) {
  if (all(complete)) return(x)
  out <- matrix(NA_real_, length(complete), ncol(x))
  out[complete, ] <- as.matrix(x)
  out
}

# Runs mgcv: its warnings get a class of ours, `explain` is told its errors.
with_mgcv <- function(expression, label, explain) {
  said <- character(0)
  value <- withCallingHandlers(tryCatch(expression, error = explain), warning = function(w) {
    said <<- c(said, mgcv_message(w))
    invokeRestart("muffleWarning")
  })
  for (text in unique(said)) warn("predictors", "`", label, "`: mgcv warns: ", text, ".")
  value
}

mgcv_message <- function(condition) sub("[.]$", "", trimws(conditionMessage(condition)))

# The call as mgcv's s() or t2() evaluates it. Its variables stay unevaluated, k and the like are
# looked for where the formula was made.
smooth_spec <- function(kind, term, env) {
  if (kind %in% c("te", "ti")) refuse_tensor(term, kind)
  call <- term
  call[[1L]] <- if (kind == "s") mgcv::s else mgcv::t2
  refuse <- function(condition) {
    abort("formula", "The smooth term `", deparse1(term), "` can't be used: ",
          mgcv_message(condition), ".")
  }
  named <- as.list(term)[intersect(names(term), c("k", "bs"))]
  given <- tryCatch(lapply(named, eval, env), error = refuse)
  check_smooth_arguments(given, term, kind)
  spec <- tryCatch(eval(call, env), error = refuse, warning = refuse)
  if (!length(given$k) %in% c(0L, 1L, length(spec$margin))) {
    refuse_smooth_value(term, "k", paste(length(spec$margin), "numbers, or one"), given$k)
  }
  if (!is.null(spec$id)) refuse_smooth_argument(term, "id", "each smooth has its own variance")
  if (!is.null(spec$sp)) {
    refuse_smooth_argument(term, "sp", paste0("`prior = list(\"", spec$label,
                                              "\" = prior_ridge(variance = ))` fixes it"))
  }
  spec
}

smooth_expression <- function(term, columns, frame_terms) {
  terms <- stats::as.formula(call("~", open_term(term)), env = globalenv())
  terms <- with_predvars(stats::terms(terms), frame_terms)
  list(terms = terms, xlevels = stats::.getXlevels(terms, columns))
}

# The variables under the names mgcv has for them. Character columns become factors.
smooth_data <- function(spec, expression, columns) {
  names <- vapply(as.list(attr(expression$terms, "variables"))[-1L], text_of, "")
  wanted <- unique(c(spec$term, if (spec$by != "NA") spec$by))
  data <- stats::setNames(as.list(columns[names]), wanted)
  texts <- which(vapply(data, is.character, TRUE))
  data[texts] <- Map(factor, data[texts], levels = expression$xlevels[names[texts]])
  structure(data, class = "data.frame", row.names = .set_row_names(nrow(columns)))
}

range_of <- function(v) if (is.numeric(v)) range(v) else levels(v)

# Smooths of the same variables, as s(x) and t2(x, z), share functions: mgcv takes them from the
# larger one.
without_overlap <- function(objects, x) {
  variables <- unlist(lapply(objects, function(o) paste(o$term, o$by, o$by.level)))
  if (!anyDuplicated(variables)) return(objects)
  labels <- vapply(objects, `[[`, "", "label")
  with_mgcv(mgcv::gam.side(objects, as.matrix(x)), paste(labels, collapse = " + "), function(e) {
    abort("formula", "The smooth terms ", enumerate(labels), " can't be told apart: ",
          mgcv_message(e), ".")
  })
}

split_smooth <- function(smooth, object) {
  if (length(object$S) > 1L && !inherits(object, c("t2.smooth", "fs.interaction"))) {
    abort("unsupported", "`", smooth$label, "`: this basis has several penalties on the same ",
          "coefficients, which are no independent blocks. Use another `bs`, or t2().")
  }
  parts <- penalty_parts(object)
  order <- order(parts$penalty)
  smooth$transform <- parts$turn[, order, drop = FALSE]
  smooth$penalty <- parts$penalty[order]
  smooth$matrix <- as.matrix(object$X) %*% smooth$transform
  smooth$object <- strip_smooth(object)
  smooth
}

# list(turn, penalty): mgcv's columns times `turn` have penalties that are sums of squares; the
# penalty each belongs to, 0 for none. Those of t2() are diagonal, and mgcv's own split fails where
# one of them has a single column.
penalty_parts <- function(object) {
  k <- ncol(object$X)
  none <- isTRUE(object$fixed) || length(object$S) == 0L
  if (none) return(list(turn = diag(k), penalty = integer(k)))
  if (inherits(object, "t2.smooth")) return(diagonal_parts(lapply(object$S, diag)))
  split <- with_mgcv(mgcv::smooth2random(object, "", type = 2), object$label, function(e) {
    abort("formula", "`", object$label, "`: the smooth can't be split: ", mgcv_message(e), ".")
  })
  turn <- if (is.null(split$trans.U)) diag(k) else split$trans.U
  list(turn = turn * rep(split$trans.D, each = k), penalty = split$pen.ind)
}

diagonal_parts <- function(diagonals) {
  total <- Reduce(`+`, diagonals)
  penalty <- integer(length(total))
  for (k in seq_along(diagonals)) penalty[diagonals[[k]] != 0] <- k
  list(turn = diag(ifelse(total == 0, 1, 1 / sqrt(total)), length(total)), penalty = penalty)
}

# The parts that PredictMat() does not need grow with the rows.
strip_smooth <- function(object) {
  object[c("X", "S", "Xb", "fac", "cmX")] <- NULL
  if (!is.null(object$form)) environment(object$form) <- globalenv() # it was mgcv's, with the data
  if (!is.null(object$margin)) object$margin <- lapply(object$margin, strip_smooth)
  object
}

# The columns of a smooth, in the order c(unpenalised, columns), for rows of its variables, which
# are named as in `term` and `by`. A row with a missing value is NA.
smooth_matrix <- function(smooth, columns) {
  complete <- complete_cases(columns)
  matrix <- matrix(NA_real_, nrow(columns), ncol(smooth$transform))
  if (any(complete)) {
    basis <- with_mgcv(mgcv::PredictMat(smooth$object, columns[complete, , drop = FALSE]),
                       smooth$label, function(e) {
      abort("newdata", "`newdata` can't be used for `", smooth$label, "`: ", mgcv_message(e), ".")
    })
    matrix[complete, ] <- as.matrix(basis) %*% smooth$transform
  }
  matrix
}

#' @export
new_basis.bsvm_basis_smooth <- function(basis, terms, newdata, unknown) {
  need_mgcv(as.name(basis$label))
  expression <- basis$expression
  environment(expression$terms) <- environment(terms)
  columns <- new_columns(expression$terms, newdata, unknown)
  columns <- match_factors(columns, expression$xlevels, unknown)
  check_classes(expression$terms, columns)
  smooth_matrix(basis, smooth_data(basis, expression, columns))
}

#' @export
basis_ranges.bsvm_basis_smooth <- function(basis) {
  ranges <- basis$range[basis$term]
  if (all(vapply(ranges, is.numeric, TRUE))) ranges
}

#' @export
basis_grid.bsvm_basis_smooth <- function(basis, grid) smooth_matrix(basis, at_one(basis, grid))

# The grid with the `by` variable, if there is one: 1, or the level the curve belongs to.
at_one <- function(smooth, grid) {
  if (smooth$by == "NA") return(grid)
  level <- smooth$object$by.level
  grid[[smooth$by]] <- if (is.null(level)) 1 else factor(level, smooth$range[[smooth$by]])
  grid
}
