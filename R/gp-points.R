# Inducing inputs of Gaussian-process terms, and how many.

most_full <- 1000L        # rows of which all are inducing inputs by default
most_full_asked <- 4000L  # and if they are asked for
most_rank <- 500L         # inducing inputs by default, if these leave nothing over
usual_points <- 200L      # else, at least
most_work <- 5e8          # more of them only while rows times their square are at most this many
little_left <- 0.01       # of the variance on average: then there are enough
most_candidates <- 5000L  # rows that inducing inputs are chosen from
nothing_left <- 1e-8      # of the variance

# Inducing inputs (m x d), standardised, of a part by its number; by default `many`.
gp_points <- function(basis, part, factors, theta, many) {
  given <- points_given(basis$points)
  if (are_inputs(given)) return(given_points(basis, given))
  if (has_relevance(basis)) return(relevance_inputs(basis, factors, theta))
  n <- nrow(basis$rows)
  candidates <- if (identical(given, Inf)) basis$rows else candidate_rows(basis)
  most <- points_wanted(given, n, basis$label)
  if (is.null(given) && basis$infer != "none") {
    lengths <- unlist(lapply(kernel_number_names(basis)[part], `[[`, "scale"))
    theta <- theta - log(shorter_for_points) * lengths
  }
  chosen <- with_core_conditions(core_points(factors, candidates, theta, most, nothing_left))$points
  if (is.null(given) && n > most_full && length(chosen) == most) chosen <- utils::head(chosen, many)
  moved_points(factors, theta, candidates, candidates[chosen, , drop = FALSE])
}

candidate_rows <- function(basis) {
  if (nrow(basis$rows) <= most_candidates) return(basis$rows)
  basis$rows[some_of_many(nrow(basis$rows), most_candidates), , drop = FALSE]
}

# The model with as many inducing inputs by default as its kernels need, which are still those of the
# evidence: with few points a longer length scale is chosen, of which they leave little over. `n`: rows
# of the fit.
with_enough_points <- function(model, bases, n) {
  for (k in seq_along(model$parts)) {
    basis <- basis_of(bases, model$parts[[k]])
    if (!is.null(basis$points) || nrow(basis$rows) <= most_full) next
    many <- enough_points(basis, model$parts[[k]], length(model$parts), n)
    model$parts[[k]]$summand$points <- many
    model$core$summands[[k]]$points <- many
  }
  model
}

enough_points <- function(basis, part, parts, n) {
  most <- min(most_rank, sqrt(most_work / n) / parts)
  if (most < usual_points) return(usual_points)
  rows <- utils::head(candidate_rows(basis), most_averaged)
  theta <- part_theta(part)
  chosen <- with_core_conditions(core_points(part$factors, rows, theta, most, nothing_left))$points
  tried <- seq(usual_points, most, by = 100L)
  for (many in tried) {
    points <- rows[utils::head(chosen, many), , drop = FALSE]
    left <- mean(core_features_of(part$factors, rows, points, theta)$left_over)
    if (left < little_left) break
  }
  as.integer(many)
}

# Means of the rows around each point (k-means), if these leave less over on average: with few points
# they do, since the greedy choice looks at the row that is worst off.
most_averaged <- 2000L
moved_points <- function(factors, theta, rows, points) {
  left <- function(points) mean(core_features_of(factors, rows, points, theta)$left_over)
  before <- if (nrow(points) < nrow(rows)) left(points) else 0
  if (before < least_left || nrow(points) == 1L) return(points)
  if (nrow(rows) > most_averaged) {
    rows <- rows[scrambled(nrow(rows))[seq_len(most_averaged)], , drop = FALSE]
    before <- left(points)
  }
  moved <- unname(suppressWarnings(
    stats::kmeans(rows, points, iter.max = 10L, algorithm = "Lloyd")$centers
  ))
  empty <- rowSums(!is.finite(moved)) > 0 # of points that no row was nearest to
  moved[empty, ] <- points[empty, ]
  if (left(moved) < before) moved else points
}

# How many inducing inputs a term of so many rows will have, 0 for one in each row.
points_in_mind <- function(basis) {
  given <- points_given(basis$points)
  if (is.null(given) && has_relevance(basis)) given <- min(usual_points, nrow(basis$rows))
  n <- nrow(basis$rows)
  if (are_inputs(given)) return(nrow(given))
  wanted <- points_wanted(given, n, basis$label)
  if (is.null(given) && n > most_full) wanted <- usual_points
  if (wanted >= n) 0L else as.integer(wanted)
}

points_wanted <- function(given, n, label) {
  if (is.null(given)) return(if (n <= most_full) n else min(n, most_rank))
  good <- is.numeric(given) && length(given) == 1L && !is.na(given) && given >= 1 &&
    (is.infinite(given) || given == round(given))
  if (!good) {
    abort("formula", "`points` of `", label, "` must be a whole number, Inf (every row), a matrix ",
          "or a data frame of inputs, or points_learned(); found ", describe(given), ".")
  }
  if (is.infinite(given) && n > most_full_asked) {
    abort("size", "`points = Inf` of `", label, "` is for at most ", most_full_asked,
          " rows; found ", n, ". A covariance of all rows would take ",
          format(8 * n^2 / 2^30, digits = 2L), " GiB, and its factorisation hours. Write points = ",
          usual_points, ", or more.")
  }
  wanted <- min(given, n)
  check_memory(3 * 8 * wanted * n, paste0(wanted, " inducing points of ", n, " rows take"),
               paste0("Write points = ", usual_points, "."))
  as.integer(wanted)
}

are_inputs <- function(points) is.matrix(points) || is.data.frame(points)

# A matrix goes by the order of its columns, unless their names are those of the inputs.
given_points <- function(basis, given) {
  x <- if (is.data.frame(given)) named_points(basis, given) else given
  inputs <- input_names(basis)
  if (all(inputs %in% colnames(x))) x <- x[, inputs, drop = FALSE]
  if (!is.numeric(x) || ncol(x) != length(inputs) || nrow(x) == 0L || any(!is.finite(x))) {
    abort("formula", "`points` of `", basis$label, "` must have ", length(inputs), " column",
          if (length(inputs) > 1L) "s", " of finite numbers",
          if (length(inputs) > 1L) paste0(", one for each of ", enumerate(inputs)), "; found ",
          describe(given), ".", if (!is.data.frame(given)) factor_hint(basis))
  }
  unname(unique(gp_inputs(x, basis$inputs)))
}

# A data frame goes by its names: those of the variables, or of the inputs they become.
named_points <- function(basis, given) {
  inputs <- input_names(basis)
  if (all(inputs %in% names(given)) && !all(basis$covariates %in% names(given))) {
    return(as.matrix(given[inputs]))
  }
  absent <- setdiff(basis$covariates, names(given))
  if (length(absent) > 0L) {
    abort("formula", "`points` of `", basis$label, "` is a data frame without a column for ",
          enumerate(absent), ". It needs the columns ", enumerate(basis$covariates),
          " in any order; found ", enumerate(names(given)), ".")
  }
  columns <- given[basis$covariates]
  levels <- basis$expression$xlevels
  for (name in intersect(basis$covariates, names(levels))) {
    values <- as.character(columns[[name]])
    unseen <- setdiff(values, levels[[name]])
    if (length(unseen) > 0L) {
      abort("formula", "`points` of `", basis$label, "` has levels of `", name, "` that the data ",
            "do not have: ", enumerate(unseen, "'"), ". The levels are ",
            enumerate(levels[[name]], "'"), ".")
    }
    columns[[name]] <- factor(values, levels[[name]], exclude = NULL)
  }
  x <- gp_numbers(columns, levels)$x
  colnames(x) <- if (ncol(x) == length(inputs)) inputs
  x
}

factor_hint <- function(basis) {
  factors <- intersect(basis$covariates, names(basis$expression$xlevels))
  if (length(factors) == 0L) return(NULL)
  paste0(" A factor has a column of zeros and ones for each level. Use a data frame instead, which ",
         "has the factor itself: ", enumerate(factors), ".")
}
