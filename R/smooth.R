# Smooth terms. mgcv makes the basis and its penalty, and splits it: columns without a penalty join
# the fixed effects, penalised ones are a block under a normal prior for each penalty.
#   transform  turns mgcv's columns into ours: those without penalty, then block by block

smooth_names <- c("s", "t2", "te", "ti")

# "s" for s(x) and mgcv::s(x), and so on; "" for everything else.
smooth_kind <- function(term) {
  if (!is.call(term)) return("")
  head <- term[[1L]]
  if (is_call_to(head, c("::", ":::")) && identical(head[[2L]], quote(mgcv))) head <- head[[3L]]
  if (is.name(head) && as.character(head) %in% smooth_names) as.character(head) else ""
}

is_smooth <- function(term) nzchar(smooth_kind(term))

# The covariates of s(x, z, by = f, k = 5), and `f` if there is one.
smooth_variables <- function(term) {
  arguments <- as.list(term)[-1L]
  named <- names(arguments)
  if (is.null(named)) named <- rep("", length(arguments))
  covariates <- unname(arguments[named == ""])
  if (length(covariates) == 0L) {
    abort("formula", "The smooth term `", deparse1(term), "` has no variable.")
  }
  if (!is.language(arguments$by) && !is_no_variable(arguments$by)) {
    abort("formula", "`", deparse1(term), "`: `by` must be a variable.")
  }
  c(covariates, if (!is_no_variable(arguments$by)) list(arguments$by))
}

# mgcv writes `by = NA` for none.
is_no_variable <- function(by) is.null(by) || identical(by, NA)

# Columns of the data that a smooth term has among its effects: not a factor that is only `by`,
# since a smooth for each level is centred and leaves the levels' means to the factor.
smooth_effects <- function(term, data) {
  by <- as.list(term)$by
  taken <- unique(unlist(lapply(smooth_variables(term), variables_in)))
  is_factor <- is.name(by) && (is.factor(data[[text_of(by)]]) || is.character(data[[text_of(by)]]))
  if (is_factor) setdiff(taken, text_of(by)) else taken
}

# The smooths of a model, NULL if there are none; each level of a factor `by` makes one.
#   label, term, by    as in mgcv: "s(x):fa", its covariates, the text of `by` ("NA" for none)
#   object, transform  mgcv's object without the data, and what turns its columns into ours
#   expression         what rebuilds the variables: list(terms, xlevels)
#   range              of each variable: c(min, max), or the levels
#   unpenalised, columns, blocks  positions in the design; blocks: of `columns`, one a penalty
#   matrix             n x k, in the order c(unpenalised, columns); taken out by bind_smooths()
make_smooths <- function(terms, columns, frame_terms, env, x) {
  if (length(terms) == 0L) return(NULL)
  need_mgcv(terms[[1L]])
  smooths <- unlist(lapply(terms, build_smooths, columns, frame_terms, env), recursive = FALSE)
  labels <- vapply(smooths, `[[`, "", "label")
  if (anyDuplicated(labels)) {
    abort("formula", "The smooth term ", enumerate(unique(labels[duplicated(labels)])),
          " stands twice; each may stand once.")
  }
  objects <- without_overlap(lapply(smooths, `[[`, "object"), x)
  place_smooths(Map(split_smooth, smooths, objects), ncol(x))
}

need_mgcv <- function(term) {
  if (!requireNamespace("mgcv", quietly = TRUE)) {
    abort("unsupported", "The smooth term `", deparse1(term), "` needs the package mgcv, which is ",
          "not installed: install.packages(\"mgcv\").")
  }
}

build_smooths <- function(term, columns, frame_terms, env) {
  spec <- smooth_spec(term, env)
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
    list(label = object$label, term = spec$term, by = spec$by, object = object,
         expression = expression, range = lapply(data, range_of))
  })
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

# What mgcv's s() or t2() makes of the call. Its variables stay unevaluated, k and the like are
# looked for where the formula was made.
smooth_spec <- function(term, env) {
  kind <- smooth_kind(term)
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
  if (length(names) != length(wanted)) {
    abort("formula", "The variables of a smooth term must be single ones; found ",
          enumerate(wanted), ". I() makes one of an expression.")
  }
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

# What PredictMat() does not need grows with the rows.
strip_smooth <- function(object) {
  object[c("X", "S", "Xb", "fac", "cmX")] <- NULL
  if (!is.null(object$form)) environment(object$form) <- globalenv() # it was mgcv's, with the data
  if (!is.null(object$margin)) object$margin <- lapply(object$margin, strip_smooth)
  object
}

# Positions in the design, of which `before` columns come first.
place_smooths <- function(smooths, before) {
  for (k in seq_along(smooths)) {
    penalty <- smooths[[k]]$penalty
    at <- before + seq_along(penalty)
    columns <- at[penalty > 0L]
    smooths[[k]]$unpenalised <- at[penalty == 0L]
    smooths[[k]]$columns <- columns
    smooths[[k]]$blocks <- smooth_blocks(smooths[[k]]$label, columns, penalty[penalty > 0L])
    smooths[[k]]$penalty <- NULL
    before <- before + length(penalty)
  }
  smooths
}

# As gam() names its smoothing parameters: "s(x)"; "t2(x,z)1", "t2(x,z)2".
smooth_blocks <- function(label, columns, penalty) {
  blocks <- unname(split(columns, penalty))
  numbers <- if (length(blocks) > 1L) seq_along(blocks) else ""
  stats::setNames(blocks, paste0(rep(label, length(blocks)), numbers[seq_along(blocks)]))
}

smooth_labels <- function(smooths) vapply(smooths, `[[`, "", "label")

# "s(x).fixed1", "s(x).1", "s(x).2": columns without penalty, then the penalised ones.
smooth_columns <- function(smooth) {
  fixed <- sprintf("%s.fixed%d", smooth$label, seq_along(smooth$unpenalised))
  c(fixed, sprintf("%s.%d", smooth$label, seq_along(smooth$columns)))
}

# The design of the frame with the smooths' columns; `assign` counts their labels after the terms.
bind_smooths <- function(design, smooths, n_terms) {
  if (is.null(smooths)) return(design)
  matrices <- lapply(smooths, `[[`, "matrix")
  design$x <- bind_columns(design$x, smooths, matrices)
  design$assign <- c(design$assign,
                     rep(n_terms + seq_along(smooths), vapply(matrices, ncol, 0L)))
  design
}

bind_columns <- function(x, smooths, matrices) {
  if (length(smooths) == 0L) return(x)
  names <- c(colnames(x), unlist(lapply(smooths, smooth_columns)))
  x <- do.call(cbind, c(list(x), matrices))
  dimnames(x) <- list(NULL, names)
  x
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

# The same for new data.
new_smooth <- function(smooth, terms, newdata, unknown) {
  need_mgcv(as.name(smooth$label))
  expression <- smooth$expression
  environment(expression$terms) <- environment(terms)
  columns <- new_columns(expression$terms, newdata, unknown)
  columns <- match_factors(columns, expression$xlevels, unknown)
  check_classes(expression$terms, columns)
  smooth_matrix(smooth, smooth_data(smooth, expression, columns))
}
