# Gaussian-process terms under prior_relevance(): functions sum_j b_j k(x_j, x), no processes. Their
# basis has the field `relevance`, and in each part inputs x_j in the place of inducing inputs, named
# by the number of their row.

has_relevance <- function(basis) isTRUE(basis$relevance)

is_relevant <- function(fit) {
  any(vapply(fit$blocks, function(block) is_relevance(block$prior), TRUE))
}

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
    basis
  })
}

# Neither are other terms whose kernels are inferred.
refuse_infer_of_others <- function(frame) {
  relevant <- Filter(has_relevance, gp_bases(frame))
  inferred <- Filter(function(basis) basis$infer != "none", gp_bases(frame))
  if (length(relevant) == 0L || length(inferred) == 0L) return(invisible())
  abort("unsupported", "`infer` of `", inferred[[1L]]$label, "` is not supported with ",
        "prior_relevance(). Omit it.")
}

# A frame is made for the priors it was made with.
check_relevance <- function(frame, blocks) {
  priors <- stats::setNames(lapply(blocks, `[[`, "prior"), vapply(blocks, `[[`, "", "label"))
  for (basis in gp_bases(frame)) {
    same <- vapply(priors[names(basis$blocks)], is_relevance, TRUE) == has_relevance(basis)
    if (all(same)) next
    abort("prior", "`", basis$label, "` of the frame was made ",
          if (!has_relevance(basis)) "not ", "for prior_relevance(), and the prior is ",
          priors[[names(basis$blocks)[1L]]]$label, ". Give bsvm_frame() and bsvm_spec() the same ",
          "`prior`.")
  }
}

# From variances of one the bound of nearly collinear kernel functions climbs to an optimum at which
# most of the function is noise: 19 to 25 nats lower in three data sets of 100 rows.
starting_wide <- function(prior) {
  prior$parameters[["start"]] <- 1e-4
  prior
}

# All distinct rows, or as many as `points` says of those that explain most.
relevance_inputs <- function(basis, factors, theta) {
  rows <- seq_len(nrow(basis$rows))
  if (!is.null(basis$level)) rows <- which(basis$multiplier != 0) # of other levels it says nothing
  first <- rows[!duplicated(basis$rows[rows, , drop = FALSE])]
  given <- points_given(basis$points)
  most <- if (is.null(given)) usual_points
          else points_wanted(given, nrow(basis$rows), basis$label)
  if (length(first) > most && is_choice(basis)) { # the same rows for all kernels
    first <- sort(first[some_of_many(length(first), most)])
  } else if (length(first) > most) {
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
#' `relevance_vectors()` lists the rows that a relevance vector machine uses. For each row of a
#' Gaussian-process term under [prior_relevance()] it returns the coefficient, and to what degree
#' the data determine it.
#'
#' @details
#' The effective number of coefficient j is the posterior mean of \eqn{\gamma_j = 1 - \lambda_j
#' V_{jj}}{gamma_j = 1 - lambda_j V_jj}. Here \eqn{\lambda_j}{lambda_j} is the prior precision of
#' the coefficient, and \eqn{V} is the covariance of the coefficients given all these precisions.
#' The effective number is one if the data alone determine the coefficient, and zero if the prior
#' does (MacKay, 1992). The sum over all rows is the effective number of parameters of the term. No
#' coefficient is exactly zero; rows with \eqn{\gamma_j > 1/2}{gamma_j > 1/2} are usually counted as
#' relevance vectors. If the kernel functions of several rows are nearly the same, these rows share
#' the effective number, and possibly none of them is above one half.
#'
#' With draws the mean is over at least 40 of them, and over all if there are few coefficients. The
#' curvature of the likelihood at the fitted values replaces the residual precision. Variances of
#' other terms and of up to 2000 group effects are at their posterior means. For several responses,
#' each is computed separately. With [kernel_choice()] a row has a coefficient for each kernel,
#' which counts in draws with this kernel. With [engine_vb()], and with empirical Bayes
#' ([engine_gibbs()]), precisions are point estimates, separately in each chain.
#'
#' @param object A fit from [bsvm()] with a term under [prior_relevance()].
#' @param ... Must be empty.
#' @return A data frame with one row per coefficient, the most relevant first:
#' * `response` (for several responses) and `term`;
#' * `row`, its number among the rows of the fit, or `NA` for given `points`;
#' * `estimate` and `sd` of the coefficient in units of the response;
#' * `relevance`, the effective number.
#' @section Errors:
#' `bsvm_error_unsupported` if no term has such a prior.
#' @references MacKay, D. J. C. (1992). Bayesian interpolation. *Neural Computation*, 4, 415-447.
#' @seealso [prior_relevance()], [support_vectors()].
#' @examples
#' # how many rows are enough to describe the function of speed?
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

# E(1 - lambda_j V_jj), V the covariance of the coefficients given all lambda: that of the posterior
# where these are points or independent of the coefficients, else found anew at draws. Given b_j,
# lambda_j is Gamma(shape + 1/2, scale + b_j^2 / 2).
most_operations <- 1e9
fewest_looked_at <- 40L # draws
effective_numbers <- function(fit, columns, env) {
  numbers <- relevance_numbers(fit, columns)
  held <- function(mean, variance) {
    precision <- (numbers$shape + 0.5) / (numbers$scale + (mean^2 + variance) / 2)
    pmax(0, 1 - precision * variance)
  }
  if (!has_draws(fit)) {
    moments <- posterior_coefficients(fit)
    return(held(moments$mean[columns], moments$sd[columns]^2))
  }
  draws <- coefficient_draws(fit, columns)
  if (is_empirical(fit$engine)) { # each chain has its own
    chain <- rep(seq_len(fit$sampling$chains), each = ncol(draws) / fit$sampling$chains)
    each <- lapply(split(seq_len(ncol(draws)), chain), function(at) {
      held(rowMeans(draws[, at, drop = FALSE]), row_variances(draws[, at, drop = FALSE]))
    })
    return(Reduce(`+`, each) / length(each))
  }
  known <- other_sums(fit, env)
  place <- match(columns, known$columns)
  most <- min(ncol(draws), max(fewest_looked_at, most_operations / nrow(known$precision)^3))
  at <- unique(round(seq(1, ncol(draws), length.out = most)))
  each <- with_stream(fit, "relevance vectors", vapply(at, function(s) {
    here <- draws[, s] != 0 # of kernels of which one is chosen the others have zeros
    lambda <- stats::rgamma(sum(here), numbers$shape[here] + 0.5,
                            numbers$scale[here] + draws[here, s]^2 / 2)
    used <- setdiff(seq_len(nrow(known$precision)), place[!here])
    own <- match(place[here], used)
    precision <- known$precision[used, used]
    diag(precision)[own] <- diag(precision)[own] + lambda
    out <- numeric(length(columns))
    out[here] <- 1 - lambda * diag(inverse_of_precision(precision))[own]
    out
  }, numeric(length(columns))))
  out <- rowMeans(matrix(each, length(columns)))
  if (anyNA(out)) refuse_precision()
  pmin(pmax(out, 0), 1)
}

inverse_of_precision <- function(precision) {
  root <- tryCatch(chol(precision), error = function(e) refuse_precision())
  chol2inv(root)
}

refuse_precision <- function() {
  abort("numerical", "The covariance of the coefficients can't be computed. Give prior_relevance() a ",
        "`shape` and `scale` nearer to one.")
}

# shape and scale of the prior of each column.
relevance_numbers <- function(fit, columns) {
  numbers <- vapply(columns, function(j) {
    block <- Find(function(block) j %in% block$columns, fit$blocks)
    block$prior$parameters[c("shape", "scale")]
  }, numeric(2))
  list(shape = numbers[1L, ], scale = numbers[2L, ])
}

# list(columns, precision): the precision of all coefficients and group effects but for the prior of
# those with relevance, the likelihood's curvature at the fitted values in the rows' place. `columns`
# are those of the design that its first rows are of; those of a wide block are as the core has them.
other_sums <- function(fit, env) {
  rows <- rows_again(fit, env)
  layout <- fit_layout(fit)
  prior <- prior_precisions(fit)
  effects <- effect_parts(fit, rows)
  x <- cbind(core_rows(layout, fit$design, rows$x)$rows, effects$columns)
  own <- prior[layout$kept]
  for (r in layout$rotation) own[r$at] <- prior[r$columns[1L]]
  precision <- crossprod(x, row_curvature(fit, rows) * x)
  at <- seq_len(layout$size)
  diag(precision)[at] <- diag(precision)[at] + own
  rest <- seq_len(nrow(precision))[-at]
  precision[rest, rest] <- precision[rest, rest] + effects$precision
  list(columns = layout$kept, precision = precision)
}

# list(columns, precision) of group effects, at the posterior means of their covariances; without any,
# and of more than 2000 effects, none.
most_effects <- 2000L
effect_parts <- function(fit, rows) {
  none <- list(columns = matrix(0, nrow(rows$x), 0L), precision = matrix(0, 0L, 0L))
  sizes <- vapply(fit$groups, function(group) length(group$levels) * length(group$labels), 0)
  if (length(sizes) == 0L || sum(sizes) > most_effects) return(none)
  first <- effects_before(fit$groups)
  parts <- Map(function(block, k) {
    group <- fit$groups[[block$factor]]
    own <- block$columns - first[[block$factor]]
    levels <- seq_along(group$levels)
    here <- rows$groups[[block$factor]]
    z <- if (is.null(here$z)) matrix(1, nrow(rows$x), 1L) else here$z
    of_level <- outer(here$codes, levels, `==`) + 0
    covariance <- rowMeans(block_covariance_draws(fit, length(fit$blocks) + k, length(own)),
                           dims = 2L)
    list(columns = do.call(cbind, lapply(own, function(a) z[, a] * of_level)),
         precision = kronecker(solve(covariance), diag(length(levels))))
  }, fit$group_blocks, seq_along(fit$group_blocks))
  list(columns = do.call(cbind, lapply(parts, `[[`, "columns")),
       precision = as.matrix(Matrix::bdiag(lapply(parts, `[[`, "precision"))))
}

# The curvature of E log p(y | f) in the mean of f.
row_curvature <- function(fit, rows) {
  link <- posterior_linear(fit, rows[intersect(c("x", "groups", "made"), names(rows))], sd = TRUE)
  mean <- link$mean + if (is.null(rows$offset)) 0 else rows$offset
  weight <- if (is.null(rows$weight)) rep(1, length(mean)) else rows$weight
  pmax(expected_terms(likelihood_at(fit), rows$y, weight, mean, link$sd^2)$curvature, 0)
}

# Prior precisions of all columns; zero for those without relevance.
prior_precisions <- function(fit) {
  out <- numeric(length(fit$design$columns))
  for (block in fit$blocks) {
    known <- block$hyper["inverse_mean"]
    if (!is_parameter(block) && isTRUE(is.finite(known))) out[block$columns] <- known
  }
  out
}
