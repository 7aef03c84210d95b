# Predictions and draws of several responses: those of each, bound together; draws of new responses
# have the residual covariance.

#' @export
nobs.bsvm_responses <- function(object, ...) object$nobs

#' @export
formula.bsvm_responses <- function(x, ...) x$formula

#' @export
coef.bsvm_responses <- function(object, ...) {
  check_dots(substitute(list(...)), "coef()", NULL)
  do.call(cbind, lapply(object$fits, fixef.bsvm))
}

#' @export
fixef.bsvm_responses <- function(object, ...) coef.bsvm_responses(object, ...)

#' @export
ranef.bsvm_responses <- function(object, ...) lapply(object$fits, ranef.bsvm, ...)

# Rows by name: independent fits may have different ones.
#' @export
fitted.bsvm_responses <- function(object, ...) {
  check_dots(substitute(list(...)), "fitted()", NULL)
  values <- lapply(object$fits, stats::fitted)
  rows <- if (is.null(object$residual)) rownames(object$y) else names(values[[1L]])
  if (is.null(rows)) return(do.call(cbind, values))
  found <- lapply(values, function(own) unname(own[match(rows, names(own))]))
  matrix(unlist(found), length(rows), dimnames = list(rows, names(values)))
}

#' @export
residuals.bsvm_responses <- function(object, ...) {
  check_dots(substitute(list(...)), "residuals()", NULL)
  fitted <- fitted.bsvm_responses(object)
  y <- object$y
  if (nrow(y) != nrow(fitted)) y <- stats::napredict(object$fits[[1L]]$na.action, y)
  unname(y) - fitted
}

#' @export
predict.bsvm_responses <- function(object, newdata = NULL, interval = FALSE, level = 0.95, ...) {
  if (is.null(newdata) && identical(interval, FALSE)) {
    check_dots(substitute(list(...)), "predict()", NULL)
    return(fitted.bsvm_responses(object))
  }
  if (identical(interval, "prediction") && has_tube(object)) {
    return(drawn_intervals(object, newdata, level, ...))
  }
  found <- lapply(object$fits, predict.bsvm, newdata = newdata, interval = interval, level = level,
                  ...)
  if (!is.data.frame(found[[1L]])) return(do.call(cbind, found))
  rows <- vapply(found, nrow, 0L)
  if (any(rows != rows[1L])) refuse_unequal("predict()")
  array(unlist(lapply(found, as.matrix)), c(rows[[1L]], ncol(found[[1L]]), length(found)),
        list(rownames(found[[1L]]), names(found[[1L]]), names(found)))
}

has_tube <- function(object) identical(object$loss$kind, "tube")

# With a normal and an epsilon-insensitive residual: quantiles of draws, the same each time.
drawn_intervals <- function(object, newdata, level, re_formula = NULL, allow_new_levels = FALSE,
                            ...) {
  check_dots(substitute(list(...)), "predict()", NULL)
  f <- posterior_epred.bsvm_responses(object, newdata, re_formula = re_formula,
                                      allow_new_levels = allow_new_levels)
  total <- dim(f)[1L]
  times <- ceiling(4000 / total)
  out <- array(0, c(dim(f)[2L], 4L, dim(f)[3L]),
               list(dimnames(f)[[2L]], c("fit", "sd", "lower", "upper"), dimnames(f)[[3L]]))
  ids <- rep(seq_len(total), times)
  in_chunks(dim(f)[2L], 2^22 / length(ids), function(at) {
    drawn <- with_given_seed(1 + at[1L], add_residuals(f[ids, at, , drop = FALSE], object, ids))
    for (j in seq_len(dim(f)[3L])) {
      own <- t(matrix(drawn[, , j], length(ids)))
      out[at, , j] <<- cbind(colMeans(matrix(f[, at, j], total)), sqrt(row_variances(own)),
                             row_quantiles(own, level))
    }
  })
  if (!is.null(newdata)) return(out)
  rows <- stats::napredict(object$fits[[1L]]$na.action, seq_len(nrow(out)))
  out[rows, , , drop = FALSE]
}

refuse_unequal <- function(what) {
  abort("argument", what, " needs the same rows for all responses, and some are missing. Give ",
        "`newdata`, or use the fits to single responses, fit$fits.")
}

#' @export
posterior_linpred.bsvm_responses <- function(object, transform = FALSE, newdata = NULL, ...) {
  stack_draws(lapply(object$fits, posterior_linpred.bsvm, transform = transform,
                     newdata = newdata, ...), "posterior_linpred()")
}

#' @export
posterior_epred.bsvm_responses <- function(object, newdata = NULL, ...) {
  stack_draws(lapply(object$fits, posterior_epred.bsvm, newdata = newdata, ...),
              "posterior_epred()")
}

# draws x rows x responses.
stack_draws <- function(draws, what) {
  sizes <- vapply(draws, dim, integer(2L))
  if (any(sizes[2L, ] != sizes[2L, 1L])) refuse_unequal(what)
  least <- min(sizes[1L, ]) # independent posteriors have any draws together
  draws <- lapply(draws, function(own) {
    own[round(seq(1, nrow(own), length.out = least)), , drop = FALSE]
  })
  array(unlist(draws, use.names = FALSE), c(least, sizes[[2L, 1L]], length(draws)),
        list(NULL, colnames(draws[[1L]]), names(draws)))
}

#' @export
posterior_predict.bsvm_responses <- function(object, newdata = NULL, draw_ids = NULL, seed = NULL,
                                             ...) {
  if (is.null(object$residual)) {
    drawn <- with_given_seed(seed, lapply(object$fits, posterior_predict.bsvm, newdata = newdata,
                                          draw_ids = draw_ids, ...))
    return(stack_draws(drawn, "posterior_predict()"))
  }
  f <- posterior_epred.bsvm_responses(object, newdata, draw_ids = draw_ids, ...)
  ids <- check_draw_ids(draw_ids, ncol(draw_matrix(object$residual)))
  with_given_seed(seed, add_residuals(f, object, ids))
}

# A row's residuals are correlated; those of rows are not.
add_residuals <- function(f, object, ids) {
  triangles <- draw_matrix(object$residual)
  q <- dim(f)[3L]
  for (s in seq_along(ids)) {
    root <- chol(full_matrix(triangles[, ids[s]]))
    f[s, , ] <- f[s, , ] + matrix(stats::rnorm(dim(f)[2L] * q), ncol = q) %*% root
  }
  if (!has_tube(object)) return(f)
  numbers <- draw_matrix(object$loss$draws)
  for (j in seq_len(q)) {
    f[, , j] <- f[, , j] + tube_draws(numbers[j, ids], numbers[q + j, ids], dim(f)[1:2])
  }
  f
}

# A matrix of draws of the density, its numbers one a row.
tube_draws <- function(scale, nu, size) {
  width <- scale * (1 - nu) / nu
  outside <- stats::runif(prod(size)) < nu
  away <- ifelse(outside, width + scale * stats::rexp(prod(size)), width * stats::runif(prod(size)))
  matrix(ifelse(stats::runif(prod(size)) < 0.5, -away, away), size[1L])
}

#' @export
log_lik.bsvm_responses <- function(object, draw_ids = NULL, ...) {
  check_dots(substitute(list(...)), "log_lik()", NULL)
  if (is.null(object$residual)) {
    abort("unsupported", "log_lik() of several responses needs correlated residuals. Use the ",
          "fits to single responses, as log_lik(fit$fits[[1]]).")
  }
  if (has_tube(object)) {
    abort("unsupported", "log_lik() and loo() are not available with a latent response: its ",
          "density has no closed form. Use residual = \"independent\" in the likelihood.")
  }
  f <- posterior_epred.bsvm_responses(object, draw_ids = draw_ids)
  ids <- check_draw_ids(draw_ids, ncol(draw_matrix(object$residual)))
  triangles <- draw_matrix(object$residual)
  patterns <- apply(!is.na(object$y), 1L, paste, collapse = " ")
  out <- matrix(0, length(ids), dim(f)[2L], dimnames = list(NULL, dimnames(f)[[2L]]))
  weights <- object$weights
  for (s in seq_along(ids)) {
    covariance <- full_matrix(triangles[, ids[s]])
    for (pattern in unique(patterns)) {
      rows <- which(patterns == pattern)
      seen <- which(!is.na(object$y[rows[1L], ]))
      if (length(seen) == 0L) next
      root <- chol(covariance[seen, seen, drop = FALSE])
      away <- t(object$y[rows, seen, drop = FALSE] - matrix(f[s, rows, seen], length(rows)))
      out[s, rows] <- -colSums(backsolve(root, away, transpose = TRUE)^2) / 2 -
        sum(log(diag(root))) - length(seen) * log(2 * pi) / 2
    }
  }
  if (is.null(weights)) out else out * rep(weights, each = nrow(out))
}

#' @export
loo.bsvm_responses <- function(x, cores = 1, ...) {
  check_dots(substitute(list(...)), "loo()", NULL)
  for (fit in x$fits) check_explained(fit, "loo()")
  check_count(cores, "cores")
  if (isTRUE(x$sampling$draws < 2L)) {
    abort("argument", "loo() needs at least two draws in each chain, better hundreds; the fit has ",
          x$sampling$draws, ". Use update(fit, engine = engine_gibbs(draws = 1000)).")
  }
  terms <- log_lik.bsvm_responses(x)
  terms <- terms[, rowSums(!is.na(x$y)) > 0L, drop = FALSE]
  chains <- x$sampling$chains
  array <- array(terms, c(nrow(terms) / chains, chains, ncol(terms)))
  loo::loo(array, r_eff = loo::relative_eff(exp(array), cores = cores), cores = cores)
}

#' @export
bayes_R2.bsvm_responses <- function(object, ...) {
  own <- lapply(object$fits, function(fit) matrix(bayes_R2.bsvm(fit, ...)))
  found <- stack_draws(own, "bayes_R2()")
  matrix(found, nrow(found), dimnames = list(NULL, names(own)))
}

#' @export
sigma.bsvm_responses <- function(object, ...) vapply(object$fits, stats::sigma, 0)
