#' @rdname bsvm_frame
#' @export
bsvm_frame.default <- function(x, y, group = NULL, weights = NULL, offset = NULL,
                               na.action = na.fail, drop.unused.levels = TRUE,
                               class.weights = NULL, missing = NULL, likelihood = NULL,
                               cluster = NULL, ...) {
  check_dots(substitute(list(...)))
  check_cluster(cluster)
  if (base::missing(x)) refuse_nothing()
  given <- "na.action" %in% names(match.call()) && !inherits(missing, "bsvm_missing")
  rule <- as_missing(missing, given)
  refuse_row_scales(likelihood, "bsvm(x, y)")
  x <- check_matrix(x)
  n <- nrow(x)
  if (base::missing(y)) abort("response", "`y`, the response, is missing.")
  check_side(y, n, "y", "response")
  check_side(group, n, "group", "group")
  variables <- list(y = y, group = group, `(weights)` = check_weights(weights, n),
                    `(offset)` = check_offset(offset, n))
  rows <- choose_matrix_rows(weights, n)
  if (models_missing(rule)) check_modelled_matrix(x, variables, rows$used, rule)
  omitted <- if (!models_missing(rule)) {
    settle_matrix(x, variables, rows$used, rule_action(rule, na.action))
  }
  tell_omitted(rule, omitted, if (is.null(rows$used)) n else length(rows$used))
  places <- place_rows(rows, omitted)
  kept <- if (is.null(omitted)) rows$used else setdiff_rows(rows$used, omitted, n)
  frame <- matrix_frame(take_rows(x, kept), lapply(variables, take_rows, rows = kept),
                        drop.unused.levels, likelihood)
  frame[c("na.action", "row_names", "cluster")] <-
    list(places$na.action, matrix_names(x, places, kept), cluster)
  frame["unknowns"] <- list(frame_unknowns(model_rule(rule, NULL), NULL, kept, n))
  if (length(rows$zero) > 0L) frame$absent <- absent_matrix_rows(frame, x, variables, places)
  weigh_classes(frame, class.weights)
}

check_matrix <- function(x) {
  if (inherits(x, "Matrix")) x <- as_sparse(x)
  if (is.data.frame(x)) {
    abort("argument", "bsvm(x, y) takes a numeric matrix, not a data frame. Use a formula, as in ",
          "bsvm(y ~ ., data = x), which treats factors properly.")
  }
  if (!inherits(x, "Matrix") && (!is.matrix(x) || !(is.numeric(x) || is.logical(x)))) {
    abort("predictors", "`x` must be a formula or a numeric matrix; found ", describe(x), ".")
  }
  if (nrow(x) == 0L) abort("data", "`x` has no rows.")
  if (is_sparse(x)) return(x)
  check_size(nrow(x), ncol(x))
  if (!is.double(x)) storage.mode(x) <- "double"
  x
}

check_side <- function(value, n, name, class) {
  if (!is.null(value) && NROW(value) != n) {
    abort(class, "`", name, "` must have one element for each of the ", n, " rows of `x`; found ",
          NROW(value), ".")
  }
}

choose_matrix_rows <- function(weights, n) {
  zero <- which(weights == 0)
  if (length(zero) == 0L) return(list())
  if (length(zero) == n) abort("weights", "At least one of the weights must be above 0.")
  all <- seq_len(n)
  list(all = all, used = all[-zero], zero = zero)
}

# The na.action of a matrix: an index into the used rows, or NULL. Nothing is copied if nothing
# is missing.
settle_matrix <- function(x, variables, rows, na.action) {
  as_na_action(na.action)
  variables <- Filter(Negate(is.null), variables)
  if (!has_bad(stored(x)) && !any(vapply(variables, has_bad, TRUE))) return(NULL)
  columns <- c(looked_at_columns(x), variables)
  columns <- structure(lapply(columns, take_rows, rows = rows), class = "data.frame",
                       row.names = seq_len(if (is.null(rows)) nrow(x) else length(rows)))
  omitted <- attr(settle_missing(columns, na.action, matrix = TRUE), "na.action")
  if (is.null(omitted) && !is.null(count_bad_columns(columns))) {
    abort("argument", "With a matrix, `na.action` must exclude rows, as na.omit does.")
  }
  named_rows(omitted, if (is.null(rows)) rownames(x) else rownames(x)[rows])
}

check_modelled_matrix <- function(x, variables, rows, rule) {
  if (is_sparse(x)) {
    if (!has_bad(stored(x))) return(invisible())
    abort("unsupported", rule_name(rule), " can't model sparse predictors. A dense matrix works.")
  }
  variables <- Filter(Negate(is.null), variables)
  check_modelled(lapply(variables, take_rows, rows = rows), rep("needed", length(variables)), rule)
  if (any(is.infinite(x))) {
    refuse_infinite(count_bad_columns(looked_at_columns(x)), "predictors", TRUE)
  }
}

# na.exclude() pads with these names.
named_rows <- function(omitted, names) {
  if (!is.null(omitted) && !is.null(names)) names(omitted) <- names[omitted]
  omitted
}

take_rows <- function(value, rows) {
  if (is.null(rows) || is.null(value)) return(value)
  if (length(dim(value)) == 2L) value[rows, , drop = FALSE] else value[rows]
}

setdiff_rows <- function(rows, omitted, n) {
  if (is.null(rows)) rows <- seq_len(n)
  rows[-omitted]
}

matrix_columns <- function(x) {
  names <- colnames(x)
  if (is.null(names)) names <- sprintf("x%d", seq_len(ncol(x)))
  names[is.na(names) | names == ""] <- "x"
  make.unique(names)
}

matrix_names <- function(x, places, kept) {
  names <- rownames(x)
  rows <- if (is.null(places$all)) kept else places$all
  if (is.null(names) || is.null(rows)) names else names[rows]
}

# A column of ones named "(Intercept)" is taken as the intercept; else one is implied and counted
# in `columns`, but not bound to x, which would copy it.
matrix_frame <- function(x, variables, drop_unused, likelihood) {
  coded <- code_response(variables$y, drop_unused, kind = kind_for(likelihood))
  names <- matrix_columns(x)
  given <- match("(Intercept)", names, 0L)
  if (given > 0L && !isTRUE(all(x[, given] == 1))) {
    abort("predictors", "The column `(Intercept)` of `x` must be all ones.")
  }
  check_magnitudes(x, names, absent = !is_sparse(x) && anyNA(x))
  implicit <- given == 0L
  assign <- seq_along(names)
  assign[assign == given] <- 0L
  new_frame(
    y = coded$y, response = coded$response, x = x, columns = c(if (implicit) "(Intercept)", names),
    assign = c(if (implicit) 0L, assign), term_labels = names,
    intercept = if (implicit) 1L else given, implicit = implicit,
    weights = variables[["(weights)"]], offset = variables[["(offset)"]],
    groups = matrix_groups(variables$group), bars = !is.null(variables$group)
  )
}

matrix_groups <- function(values) {
  if (is.null(values)) return(NULL)
  index <- index_levels(values, "group")
  warn_levels(index, 1L, "group")
  list(group = list(name = "group", variable = quote(group), codes = index$codes,
                    levels = index$levels, z = NULL, labels = "(Intercept)",
                    effect_terms = "(Intercept)", blocks = list(1L), expressions = list(NULL)))
}

absent_matrix_rows <- function(frame, x, variables, places) {
  absent <- lapply(variables, take_rows, rows = places$zero)
  list(at = places$at, y = recode_values(frame$response, absent$y),
       x = with_intercept(frame, take_rows(x, places$zero)),
       groups = given_groups(frame$groups, absent$group), offset = absent[["(offset)"]])
}

# The groups of rows that come as `group` of a fit from bsvm(x, y): as group_rows().
given_groups <- function(groups, values) {
  if (is.null(groups)) return(NULL)
  list(group = group_codes(groups[[1L]], level_names(check_group_values(values, "group")), NULL))
}

# The matrix with all columns the fit counts.
with_intercept <- function(frame, x) {
  if (!frame$implicit) return(x)
  cbind(rep(1, nrow(x)), x)
}
