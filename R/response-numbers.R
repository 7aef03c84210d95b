# A response of numbers, which the frame and the fit have as the user gave them; the core has it in
# units of its spread (R/response-units.R).

#' @export
code_values.bsvm_response_numbers <- function(response, values, drop_unused, name) {
  list(y = numbers_of_response(values, name), response = new_response("numbers"))
}

numbers_of_response <- function(values, name) {
  classed <- is.object(values) && !inherits(values, "AsIs")
  if (!is.numeric(values) || classed || NCOL(values) > 1L) {
    abort("response", "The response `", name, "` must be numbers, as the likelihood is one of ",
          "residuals; found ", describe(values), ". ", advice_for(values))
  }
  values <- as.double(values)
  bad <- sum(!is.finite(values))
  if (bad > 0L) {
    abort("response", "The response `", name, "` must be finite; ", bad, " value",
          if (bad > 1L) "s are" else " is", " infinite or no number.")
  }
  if (largest_size(values) > most_response) refuse_large_response(paste0("The response `", name, "`"))
  values
}

most_response <- 1e150 # its square is a number
least_unit <- 1e-150

refuse_large_response <- function(what) {
  abort("response", what, " must be at most 1e150 in size. Rescale it.")
}

advice_for <- function(values) {
  if (NCOL(values) > 1L) return("Several responses need a formula, as in bsvm(y ~ x, data).")
  if (inherits(values, c("Date", "POSIXt", "difftime"))) return("Use as.numeric() of it.")
  "For two classes do without `likelihood`, or use `likelihood = \"normalized\"`."
}

#' @export
recode_values.bsvm_response_numbers <- function(response, values) as.double(values)

#' @export
code_new_values.bsvm_response_numbers <- function(response, values) {
  if (is.numeric(values)) return(as.double(values))
  abort("newdata", "The response in `newdata` must be numbers; found ", describe(values), ".")
}

#' @export
same_coding.bsvm_response_numbers <- function(response, other) TRUE

#' @export
check_whole_response.bsvm_response_numbers <- function(response) NULL

#' @export
class_factors.bsvm_response_numbers <- function(response, y) NULL

#' @export
describe_kind.bsvm_response_numbers <- function(response) "numbers"

# ---- units --------------------------------------------------------------------------------------

# The median and the median absolute deviation (of normal responses the standard deviation), so that
# outliers do not move them; where half the rows have one value, the standard deviation. Without
# an intercept nothing takes a shift up.
#' @export
response_units.bsvm_response_numbers <- function(response, frame, likelihood) {
  seen <- if (is_streamed(frame)) frame$cluster$spread
          else spread_of(less_offset(frame$y, frame$offset), frame$weights)
  unit <- 1.4826 * seen$deviation
  if (unit <= 1e-8 * seen$furthest) unit <- seen$sd
  given <- likelihood$parameters
  if (!isTRUE(unit > 1e-13 * seen$largest)) unit <- own_unit(given, seen$centre, frame)
  if (unit < least_unit) {
    abort("response", "The response must vary by at least ", least_unit, "; found ", format(unit),
          ". Rescale it.")
  }
  # within a tube of given width the density is bounded
  bounded <- isTRUE(given["epsilon"] > 0)
  if ("scale" %in% names(likelihood$priors) && !bounded) check_inexact(frame)
  list(unit = unit, shift = if (frame$intercept > 0L) seen$centre else 0)
}

less_offset <- function(y, offset) if (is.null(offset)) y else y - offset

# Of the response less the offset: its median, the median size of what is left, the size of the
# largest of that, the standard deviation, and the largest size. R/streamed-response.R has the same of
# rows in files.
spread_of <- function(y, weights) {
  centre <- weighted_median(y, weights)
  list(centre = centre, deviation = weighted_median(abs(y - centre), weights),
       furthest = largest_size(y - centre), sd = column_moments(y, weights)$sd,
       largest = max(abs(y)))
}

# A response that does not vary has the unit of what the likelihood was given.
own_unit <- function(given, centre, frame) {
  known <- given[intersect(c("scale", "sd", "epsilon"), names(given))]
  if (any(known > 0)) return(known[known > 0][[1L]])
  n <- row_count(frame)
  abort("response", "The response must vary", if (!is.null(frame$offset)) " after the offset",
        "; found ", in_full(n), " row", if (n > 1) "s", " of the value ", format(centre),
        ". Residuals of zero have no scale: the posterior would be improper.")
}

# The median of rows that count `weights` times, as if they were written out.
weighted_median <- function(x, weights = NULL) {
  if (is.null(weights)) return(stats::median(x))
  order <- order(x)[weights[order(x)] > 0]
  x <- x[order]
  share <- cumsum(weights[order]) / sum(weights)
  at <- which(share >= 0.5 - 1e-14)[1L]
  if (share[at] > 0.5 + 1e-14 || at == length(x)) x[at] else (x[at] + x[at + 1L]) / 2
}

# A response that fewer columns than rows fit exactly leaves residuals without a scale: near s = 0
# the density is s^(p - n) times the prior's, so that the posterior is improper under any prior
# whose density there is not zero. What group effects and smooths fit is seen afterwards, by its
# scale.
check_inexact <- function(frame) {
  exact <- if (is_streamed(frame)) frame$cluster$exact else is_exact_in_memory(frame)
  if (!exact) return(invisible())
  abort("response", "The response is fitted exactly by ", enumerate(frame$columns, most = 5L),
        ": residuals of zero have no scale, and the posterior would be improper. Remove the ",
        "predictor that is the response, or give the likelihood a `scale`.")
}

# What is not so for some rows is not so for all.
is_exact_in_memory <- function(frame) {
  n <- length(frame$y)
  p <- length(frame$columns)
  some <- unique(round(seq(1, n, length.out = min(n, 5 * p + 100))))
  if (p == 0L || p >= n || is_sparse(frame$x) || length(some) * p^2 > 1e9) return(FALSE)
  exact <- function(rows) {
    x <- frame$x[rows, , drop = FALSE]
    if (frame$implicit) x <- cbind(1, x)
    y <- less_offset(frame$y, frame$offset)[rows]
    !anyNA(x) && !is.null(exact_coefficients(x, y, frame$weights[rows]))
  }
  exact(some) && exact(seq_len(n))
}

most_rounding <- 1e-10 # of the largest response: nothing but rounding

# Those that leave nothing of y, or NULL. `weights` may be NULL.
exact_coefficients <- function(x, y, weights) {
  root <- if (is.null(weights)) 1 else sqrt(weights)
  fit <- stats::lm.fit(x * root, y * root)
  if (max(abs(fit$residuals)) > most_rounding * max(abs(y * root))) return(NULL)
  ifelse(is.na(fit$coefficients), 0, fit$coefficients)
}

smallest_scale <- 1e-5 # of the response's spread

warn_exact <- function(fit) {
  scale <- likelihood_at(fit)$values[["scale"]]
  inferred <- "scale" %in% names(fit$likelihood$priors)
  exact <- which(scale <= smallest_scale * fit$design$unit)
  if (!inferred || length(exact) == 0L) return(invisible())
  if (has_row_scales(fit$likelihood)) return(warn_exact_rows(fit, scale, exact))
  warn("exact", "The response is fitted exactly, or nearly: the scale of its residuals is ",
       format(mean(scale), digits = 2L), ", and goes to zero. The posterior is improper: ",
       "estimates and intervals are not valid. Remove the term that is the response, or give the ",
       "likelihood a `scale`.")
}

# Rows that are measured precisely, and not fitted exactly, have residuals as large as their scale,
# or somewhat smaller if effects of groups follow them.
warn_exact_rows <- function(fit, scale, exact) {
  exact <- intersect(exact, which(rep_len(used_rows(fit), length(scale))))
  rounding <- 1e-12 * max(abs(fit$y), na.rm = TRUE)
  size <- abs(fit$y - fit$link)[exact] / pmax(scale[exact], rounding)
  if (length(exact) == 0L || isTRUE(stats::median(size) > 0.2)) return(invisible())
  warn("exact", length(exact), " of ", stats::nobs(fit), " rows are fitted exactly, or nearly: ",
       "the scale of their residuals is ", format(min(scale[exact]), digits = 2L), " or more, and ",
       "only its prior keeps it from zero. These rows determine the coefficients: estimates and ",
       "intervals are not valid. Exclude them, or the predictor from `scale` that separates them.")
}

# ---- predictions --------------------------------------------------------------------------------

#' @export
prediction_types.bsvm_response_numbers <- function(response) c("response", "link", "quantile")

#' @export
interval_type.bsvm_response_numbers <- function(response) "response"

#' @export
check_prediction_type.bsvm_response_numbers <- function(response, type, interval) {
  type <- pick_one(type, prediction_types(response), "type")
  if (type != "quantile" || !interval) return(type)
  abort("argument", "`interval` is not used with `type = \"quantile\"`: give the limits as ",
        "`probs`.")
}

#' @export
interval_kind.bsvm_response_numbers <- function(response, interval) {
  if (isTRUE(interval)) return("prediction")
  if (identical(interval, FALSE)) return("none")
  pick_one(interval, c("prediction", "confidence"), "interval")
}

#' @export
shape_prediction.bsvm_response_numbers <- function(response, found, type, threshold) {
  if (type == "quantile") found$quantiles else shape_links(found)
}

#' @export
check_types.bsvm_response_numbers <- function(response) {
  c("dens_overlay", "hist", "stat", "intervals", "error_scatter_avg")
}

#' @export
drawn_scale.bsvm_response_numbers <- function(response, y) y

#' @export
draw_check.bsvm_response_numbers <- function(response, type, likelihood, f, y, group, ...) {
  replicates <- unname(draw_response(likelihood, f))
  if (type %in% c("dens_overlay", "hist")) {
    shown <- round(seq(1, nrow(replicates), length.out = min(nrow(replicates),
                                                             if (type == "hist") 8L else 50L)))
    replicates <- replicates[shown, , drop = FALSE]
  }
  switch(type,
    dens_overlay = bayesplot::ppc_dens_overlay(y, replicates, ...),
    hist = bayesplot::ppc_hist(y, replicates, ...),
    stat = bayesplot::ppc_stat(y, replicates, ...),
    intervals = bayesplot::ppc_intervals(y, replicates, ...),
    error_scatter_avg = bayesplot::ppc_error_scatter_avg(y, replicates, ...)
  )
}
