# Gaussian-process terms under prior_relevance(): functions sum_j b_j k(x_j, x), no processes. Their
# basis has the field `relevance`, and in each part inputs x_j in the place of inducing inputs, named
# by the number of their row.

has_relevance <- function(basis) isTRUE(basis$relevance)

# The frame whose terms know what their prior makes of them.
with_relevance <- function(frame, blocks) {
  priors <- stats::setNames(lapply(blocks, `[[`, "prior"), vapply(blocks, `[[`, "", "label"))
  change_gp(frame, function(basis) {
    relevant <- vapply(priors[names(basis$blocks)], is_relevance, TRUE)
    basis$relevance <- all(relevant)
    if (any(relevant) && !all(relevant)) {
      abort("prior", "`", basis$label, "` has several kernels: prior_relevance() must be that of ",
            "all of them, or of none.")
    }
    if (any(relevant) && basis$infer != "none") {
      abort("unsupported", "`infer` of `", basis$label, "` is not supported with ",
            "prior_relevance(). Omit it.")
    }
    basis
  })
}

# All distinct rows, or as many as `points` says of those that explain most.
relevance_inputs <- function(basis, factors, theta) {
  first <- which(!duplicated(basis$rows))
  given <- points_given(basis$points)
  most <- if (is.null(given)) usual_points
          else points_wanted(given, nrow(basis$rows), basis$label)
  if (length(first) > most) {
    first <- first[some_of_many(length(first), most_candidates)]
    chosen <- core_points(factors, basis$rows[first, , drop = FALSE], theta, most, nothing_left)
    first <- first[with_core_conditions(chosen)$points]
  }
  points <- basis$rows[first, , drop = FALSE]
  rownames(points) <- first
  points
}

#' Relevance vectors
#'
#' The rows that a relevance vector machine needs: for each row of a Gaussian-process term under
#' [prior_relevance()] its coefficient, and how far the data determine it.
#'
#' @details
#' The effective number of coefficient j is the posterior mean of \eqn{\gamma_j = 1 - \lambda_j
#' V_{jj}}{gamma_j = 1 - lambda_j V_jj}, where \eqn{\lambda_j}{lambda_j} is its prior precision and
#' \eqn{V} the covariance of the coefficients if all these precisions are given: one if the data
#' alone determine the coefficient, zero if the prior does (MacKay, 1992). The sum over all rows is
#' the effective number of parameters of the term. No coefficient is exactly zero; rows with
#' \eqn{\gamma_j > 1/2}{gamma_j > 1/2} are usually counted as relevance vectors. If kernel columns
#' are nearly collinear, several rows can do the work of one, and none may be above one half.
#'
#' With draws the mean is over 40 of them, and the curvature of the likelihood at the fitted values
#' takes the place of the residual precision. Of several responses each is looked at alone. With
#' [engine_vb()], and empirical Bayes ([engine_gibbs()]), the precisions are points.
#'
#' @param object A fit from [bsvm()] with a term under [prior_relevance()].
#' @param ... Must be empty.
#' @return A data frame with a row for each coefficient, the most relevant first: `response` (of
#'   several), `term`, `row` (its number among the rows of the fit, `NA` for `points` that are
#'   given), `estimate` and `sd` of the coefficient in units of the response, and `relevance`, the effective
#'   number.
#' @section Errors: `bsvm_error_unsupported` if no term has such a prior.
#' @references MacKay, D. J. C. (1992). Bayesian interpolation. *Neural Computation*, 4, 415-447.
#' @seealso [prior_relevance()], [support_vectors()].
#' @examples
#' fit <- bsvm(dist ~ gp(speed), data = cars, likelihood = likelihood_gaussian(),
#'             prior = list(gp = prior_relevance()))
#' vectors <- relevance_vectors(fit)
#' head(vectors)
#' sum(vectors$relevance) # effective number of parameters
#' @export
relevance_vectors <- function(object, ...) {
  check_dots(substitute(list(...)), "relevance_vectors()", NULL)
  need_arguments("object", what = "relevance_vectors()")
  if (!is_responses(object)) {
    check_fit(object)
    return(relevance_rows(object, parent.frame()))
  }
  tables <- lapply(object$fits, relevance_rows, parent.frame())
  out <- data.frame(response = rep(names(tables), vapply(tables, nrow, 0L)),
                    do.call(rbind, tables))
  row.names(out) <- NULL
  out
}

relevance_rows <- function(fit, env) {
  bases <- Filter(has_relevance, gp_bases(fit))
  if (length(bases) == 0L) {
    abort("unsupported", "relevance_vectors() needs a Gaussian-process term with relevance ",
          "vectors. Fit with prior = list(gp = prior_relevance()).")
  }
  columns <- unlist(lapply(bases, `[[`, "blocks"), use.names = FALSE)
  parts <- unlist(lapply(bases, `[[`, "parts"), recursive = FALSE)
  of <- rep(basis_labels(bases), vapply(bases, function(basis) length(basis$columns), 0L))
  moments <- posterior_coefficients(fit)
  out <- data.frame(term = of, row = unlist(lapply(parts, input_rows), use.names = FALSE),
                    estimate = moments$mean[columns], sd = moments$sd[columns],
                    relevance = effective_numbers(fit, columns, env))
  out <- out[order(-out$relevance), ]
  row.names(out) <- NULL
  out
}

input_rows <- function(part) {
  names <- rownames(part$points)
  if (is.null(names)) rep(NA_integer_, nrow(part$points)) else as.integer(names)
}

# 1 - E lambda_j V_jj, V the covariance of the coefficients given all lambda: that of the posterior
# where these are points or independent of the coefficients, else found anew at some draws. Given
# b_j, lambda_j is Gamma(shape + 1/2, scale + b_j^2 / 2), in the core's units.
most_looked_at <- 40L # draws
effective_numbers <- function(fit, columns, env) {
  numbers <- relevance_numbers(fit, columns)
  unit <- fit$design$unit
  if (!has_draws(fit) || is_empirical(fit$engine)) {
    moments <- posterior_coefficients(fit)
    square <- (moments$mean[columns]^2 + moments$sd[columns]^2) / unit^2
    precision <- (numbers$shape + 0.5) / (numbers$scale + square / 2)
    return(pmax(0, 1 - precision * (moments$sd[columns] / unit)^2))
  }
  rows <- rows_again(fit, env)
  x <- core_rows(fit_layout(fit), fit$design, rows$x)$rows
  gram <- crossprod(x, row_curvature(fit, rows) * x) * unit^2
  prior <- diag(other_precisions(fit), ncol(x))
  draws <- coefficient_draws(fit, columns) / unit
  at <- unique(round(seq(1, ncol(draws), length.out = min(most_looked_at, 2e4 / ncol(x)))))
  each <- with_stream(fit, "relevance vectors", vapply(at, function(s) {
    precision <- stats::rgamma(length(columns), numbers$shape + 0.5,
                               numbers$scale + draws[, s]^2 / 2)
    diag(prior)[columns] <- precision
    1 - precision * diag(chol2inv(chol(gram + prior)))[columns]
  }, numeric(length(columns))))
  pmin(pmax(rowMeans(each), 0), 1)
}

# shape and scale of the prior of each column.
relevance_numbers <- function(fit, columns) {
  numbers <- vapply(columns, function(j) {
    block <- Find(function(block) j %in% block$columns, fit$blocks)
    block$prior$parameters[c("shape", "scale")]
  }, numeric(2))
  list(shape = numbers[1L, ], scale = numbers[2L, ])
}

# Of E log p(y | f) in the mean of f, per squared unit of the response.
row_curvature <- function(fit, rows) {
  link <- posterior_linear(fit, rows[intersect(c("x", "groups", "made"), names(rows))], sd = TRUE)
  mean <- link$mean + if (is.null(rows$offset)) 0 else rows$offset
  weight <- if (is.null(rows$weight)) rep(1, length(mean)) else rows$weight
  pmax(expected_terms(likelihood_at(fit), rows$y, weight, mean, link$sd^2)$curvature, 0)
}

# Prior precisions of all columns in the core's units, those with relevance left at zero.
other_precisions <- function(fit) {
  out <- numeric(length(fit$design$columns))
  for (block in fit$blocks) {
    known <- block$hyper["inverse_mean"]
    if (!is_parameter(block) && !is.na(known)) {
      out[block$columns] <- known * if (has_unit(block)) fit$design$unit^2 else 1
    }
  }
  out
}
