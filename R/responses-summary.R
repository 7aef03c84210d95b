# Prints and pictures of several responses.

# Mean, standard deviation and limits of standard deviations and correlations of draws of lower
# triangles.
covariance_table <- function(draws, labels, level) {
  triangles <- draw_matrix(draws)
  pairs <- triangle_pairs(length(labels))
  on <- pairs[, 1L] == pairs[, 2L]
  sds <- sqrt(triangles[on, , drop = FALSE])
  off <- which(!on)
  correlations <- triangles[off, , drop = FALSE] /
    (sds[pairs[off, 1L], , drop = FALSE] * sds[pairs[off, 2L], , drop = FALSE])
  list(sd = draws_table(sds, labels, level),
       correlation = draws_table(correlations, paste0(labels[pairs[off, 2L]], ", ",
                                                      labels[pairs[off, 1L]]), level))
}

draws_table <- function(values, labels, level) {
  out <- cbind(Estimate = rowMeans(values), SD = sqrt(row_variances(values)),
               row_quantiles(values, level))
  rownames(out) <- labels
  out
}

#' @export
VarCorr.bsvm_responses <- function(x, sigma = 1, level = 0.95, ...) {
  check_dots(substitute(list(...)), "VarCorr()", NULL)
  check_sigma(sigma)
  level <- check_level(level)
  if (is.null(x$residual)) {
    abort("unsupported", "VarCorr() of several responses needs correlated residuals. Use the ",
          "fits to single responses, as VarCorr(fit$fits[[1]]).")
  }
  groups <- lapply(x$groups, function(group) {
    matrix_of(group$draws, group$labels, level)
  })
  names(groups) <- make.unique(vapply(x$groups, `[[`, "", "factor"))
  structure(c(groups, list(residual__ = matrix_of(x$residual, response_names(x), level))),
            class = "bsvm_responses_varcorr")
}

# Posterior mean of a covariance, with the tables of its standard deviations and correlations.
matrix_of <- function(draws, labels, level) {
  mean <- full_matrix(rowMeans(draw_matrix(draws)))
  dimnames(mean) <- list(labels, labels)
  structure(mean, stddev = sqrt(diag(mean)), correlation = stats::cov2cor(mean),
            table = covariance_table(draws, labels, level))
}

#' @export
as.data.frame.bsvm_responses_varcorr <- function(x, row.names = NULL, optional = FALSE, ...) {
  rows <- lapply(names(x), function(name) {
    pairs <- triangle_pairs(nrow(x[[name]]))
    same <- pairs[, 1L] == pairs[, 2L]
    labels <- rownames(x[[name]])
    data.frame(grp = if (name == "residual__") "Residual" else name, var1 = labels[pairs[, 2L]],
               var2 = ifelse(same, NA_character_, labels[pairs[, 1L]]), vcov = x[[name]][pairs],
               sdcor = ifelse(same, sqrt(abs(x[[name]][pairs])),
                              attr(x[[name]], "correlation")[pairs]),
               row.names = NULL)
  })
  do.call(rbind, rows)
}

#' @export
print.bsvm_responses_varcorr <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  check_digits(digits)
  for (name in names(x)) {
    table <- attr(x[[name]], "table")
    cat(if (name == "residual__") "Residuals" else name, ": standard deviations\n", sep = "")
    print(table$sd, digits = digits)
    if (nrow(table$correlation) > 0L) {
      cat("correlations\n")
      print(table$correlation, digits = digits)
    }
  }
  invisible(x)
}

label_of_responses <- function(x) {
  own <- as_likelihood(x$arguments$likelihood)$label
  if (is.null(x$residual)) return(paste0(own, ", independent residuals"))
  if (is.null(x$loss)) return(paste0(own, ", correlated residuals"))
  if (has_tube(x)) paste0(own, " about a latent response with correlated residuals")
  else "Gaussian, correlated and independent residuals, of which the sum is shown"
}

# Scales and shares of the epsilon-insensitive density of each response.
tube_tables <- function(x, level) {
  numbers <- draw_matrix(x$loss$draws)
  q <- length(x$fits)
  scale <- numbers[seq_len(q), , drop = FALSE]
  nu <- numbers[-seq_len(q), , drop = FALSE]
  variance <- tube_variance(scale, nu)
  normal <- draw_matrix(x$residual)[diag(triangle_places(q)), , drop = FALSE]
  names <- response_names(x)
  list(scale = draws_table(scale, names, level), nu = draws_table(nu, names, level),
       share = draws_table(variance / (variance + normal), names, level))
}

responses_header <- function(x) {
  cat("Bayesian regression with ", length(x$fits), " responses (", label_of_responses(x), ")\n",
      sep = "")
  cat("  ", deparse1(x$formula), "\n  ", x$nobs, " rows", sep = "")
  missing <- sum(is.na(x$y))
  if (missing > 0L) cat(", ", missing, " missing responses", sep = "")
  cat("\n")
  if (!is.null(x$sampling)) {
    empirical <- is_empirical(x$fits[[1L]]$engine)
    cat("  ", if (is.null(x$evidence)) "engine_gibbs(" else "engine_gaussian(",
        if (empirical) "empirical = TRUE", "): ", x$sampling$chains,
        " chains of ", x$sampling$draws, " draws, ",
        format(x$sampling$seconds, digits = 2L), " s\n", sep = "")
  }
  if (!is.null(x$evidence)) {
    cat("  Log evidence ", format(x$evidence$value, digits = 6L), " (standard error ",
        format(x$evidence$error, digits = 1L), ", Pareto k ",
        format(x$evidence$pareto_k, digits = 1L), ")\n", sep = "")
  }
}

#' @export
print.bsvm_responses <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  check_digits(digits)
  responses_header(x)
  shown <- shown_coefficients(x)
  if (length(shown) > 0L) {
    cat("\nPopulation-level coefficients (posterior means):\n")
    print(coef.bsvm_responses(x)[shown, , drop = FALSE], digits = digits)
  }
  cat("\nResidual standard deviations:\n")
  print(sigma.bsvm_responses(x), digits = digits)
  if (length(x$fits) > most_printed && !is.null(x$residual)) {
    cat("\nResidual correlations: see VarCorr(), or plot(fit, \"correlation\").\n")
  } else if (!is.null(x$residual)) {
    cat("\nResidual correlations", if (has_tube(x)) " of the latent response", ":\n", sep = "")
    print(attr(VarCorr.bsvm_responses(x)$residual__, "correlation"), digits = 2L)
  }
  invisible(x)
}

most_printed <- 12L # responses, of a matrix of correlations

# Without the columns of functions.
shown_coefficients <- function(x) {
  fit <- x$fits[[1L]]
  setdiff(seq_along(fit$design$columns), columns_of(fit$bases))
}

#' @export
summary.bsvm_responses <- function(object, level = 0.95, ...) {
  check_dots(substitute(list(...)), "summary()", NULL)
  level <- check_level(level)
  shown <- shown_coefficients(object)
  coefficients <- lapply(object$fits, function(fit) {
    table <- draws_or_moments(fit, shown, level)
    rownames(table) <- fit$design$columns[shown]
    table
  })
  structure(class = "summary.bsvm_responses", list(
    fit = object, coefficients = coefficients, level = level,
    gp = gp_facts(object$fits[[1L]], level), kernels = kernel_shares(object),
    r2 = if (has_draws(object$fits[[1L]])) {
      tryCatch(vapply(object$fits, function(fit) mean(bayes_R2.bsvm(fit)), 0),
               bsvm_error_data = function(e) NULL) # keep_data = FALSE, in another session
    },
    tube = if (has_tube(object)) tube_tables(object, level),
    varcorr = if (!is.null(object$residual)) VarCorr.bsvm_responses(object, level = level)))
}

# Posterior probabilities of the kernels of each choice, a list by term.
kernel_shares <- function(object) {
  Map(function(draws, term) {
    basis <- Find(function(basis) basis$label == term, gp_bases(object$fits[[1L]]))
    kernels <- vapply(basis$kernel$parts, format, "")
    stats::setNames(tabulate(draws, length(kernels)) / length(draws), kernels)
  }, object$kernels, names(object$kernels))
}

say_shares <- function(shares, digits) {
  for (term in names(shares)) {
    say_wrapped(paste0("Posterior probabilities of the kernels of ", term, ":"), 2L)
    print(data.frame(Probability = shares[[term]]), digits = digits)
  }
}

has_draws <- function(fit) inherits(fit$posterior, "bsvm_draws")

draws_or_moments <- function(fit, at, level) {
  moments <- posterior_coefficients(fit)
  cbind(Estimate = moments$mean[at], SD = moments$sd[at],
        coefficient_limits(fit$posterior, fit, at, level))
}

#' @export
print.summary.bsvm_responses <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  check_digits(digits)
  responses_header(x$fit)
  for (name in names(x$coefficients)) {
    if (nrow(x$coefficients[[name]]) == 0L) next
    cat("\n", name, " (", format(100 * x$level), " % credible intervals):\n", sep = "")
    print(x$coefficients[[name]], digits = digits)
  }
  say_gp(x$gp, x$fit$nobs, most_printed, digits)
  say_shares(x$kernels, digits)
  if (!is.null(x$r2)) {
    cat("\nBayesian R-squared:\n")
    print(x$r2, digits = 3L)
  }
  cat("\n")
  if (is.null(x$fit$residual)) {
    cat("Residual standard deviations:\n")
    print(sigma.bsvm_responses(x$fit), digits = digits)
  } else {
    print(x$varcorr, digits = digits)
  }
  if (!is.null(x$tube)) {
    cat("\nLoss: scale\n")
    print(x$tube$scale, digits = digits)
    cat("share outside the tube (nu)\n")
    print(x$tube$nu, digits = digits)
    cat("share in the residual variance\n")
    print(x$tube$share, digits = digits)
  }
  invisible(x)
}

#' @export
tidy.bsvm_responses <- function(x, ...) {
  parts <- lapply(x$fits, tidy.bsvm, ...)
  data.frame(response = rep(names(parts), vapply(parts, nrow, 0L)), do.call(rbind, parts),
             row.names = NULL)
}

# The parameters of each response, its name before theirs; rescor__a__b of the residuals.
#' @rawNamespace S3method(posterior::as_draws,bsvm_responses)
as_draws.bsvm_responses <- function(x, ...) {
  parts <- Map(function(fit, name) {
    draws <- as_draws_array.bsvm(fit, ...)
    posterior::variables(draws) <- paste0(name, ": ", posterior::variables(draws))
    draws
  }, x$fits, response_names(x))
  if (is.null(x$residual)) return(bind_shortest(parts))
  names <- response_names(x)
  pairs <- triangle_pairs(length(names))
  off <- which(pairs[, 1L] != pairs[, 2L])
  place <- diag(triangle_places(length(names)))
  correlations <- x$residual[off, , , drop = FALSE] /
    sqrt(x$residual[place[pairs[off, 1L]], , , drop = FALSE] *
           x$residual[place[pairs[off, 2L]], , , drop = FALSE])
  dimnames(correlations) <- list(paste0("rescor__", names[pairs[off, 2L]], "__",
                                        names[pairs[off, 1L]]), NULL, NULL)
  own <- list(posterior::as_draws_array(aperm(correlations, c(2L, 3L, 1L))))
  if (has_tube(x)) {
    own <- c(own, list(posterior::as_draws_array(aperm(named_loss(x), c(2L, 3L, 1L)))))
  }
  do.call(posterior::bind_draws, c(unname(parts), own, along = "variable"))
}

# Draws of independent fits: as many of each chain as the shortest has.
bind_shortest <- function(parts) {
  chains <- vapply(parts, posterior::nchains, 0)
  if (any(chains != chains[1L])) {
    abort("unsupported", "as_draws() needs fits with equally many chains; found ",
          enumerate(chains), ". Use as_draws(fit$fits[[1]]).")
  }
  least <- min(vapply(parts, posterior::niterations, 0))
  cut <- lapply(unname(parts), posterior::subset_draws, iteration = seq_len(least))
  do.call(posterior::bind_draws, c(cut, along = "variable"))
}

#' @export
confint.bsvm_responses <- function(object, parm, level = 0.95, ...) {
  parts <- lapply(object$fits, stats::confint, level = level, ...)
  out <- do.call(rbind, parts)
  rownames(out) <- paste0(rep(names(parts), vapply(parts, nrow, 0L)), ": ", rownames(out))
  if (missing(parm)) out else out[parm, , drop = FALSE]
}

refuse_for_all <- function(what) {
  abort("unsupported", what, " is not available for several responses. Use it for the fits to ",
        "single responses: `fit$fits[[1]]` is the first.")
}

#' @export
vcov.bsvm_responses <- function(object, ...) refuse_for_all("vcov()")

#' @export
logLik.bsvm_responses <- function(object, ...) {
  abort("unsupported", "logLik() is not defined: a Bayesian fit has no maximised likelihood. ",
        "Use loo().")
}

#' @export
hypothesis.bsvm_responses <- function(x, ...) refuse_for_all("hypothesis()")

#' @export
importance.bsvm_responses <- function(x, ...) refuse_for_all("importance()")

#' @method pp_check bsvm_responses
#' @rawNamespace S3method(bayesplot::pp_check,bsvm_responses)
pp_check.bsvm_responses <- function(object, ...) refuse_for_all("pp_check()")

#' @export
as.array.bsvm_responses <- function(x, ...) refuse_for_all("as.array()")

#' @export
as.matrix.bsvm_responses <- function(x, ...) refuse_for_all("as.matrix()")

#' @export
waic.bsvm_responses <- function(x, ...) refuse_for_all("waic()")

#' @export
glance.bsvm_responses <- function(x, ...) refuse_for_all("glance()")

#' @export
augment.bsvm_responses <- function(x, ...) refuse_for_all("augment()")

#' @export
model.matrix.bsvm_responses <- function(object, ...) stats::model.matrix(object$fits[[1L]], ...)

#' @export
simulate.bsvm_responses <- function(object, nsim = 1, seed = NULL, ...) {
  check_dots(substitute(list(...)), "simulate()", NULL)
  total <- draw_count(object$fits[[1L]]$posterior)
  check_count(nsim, "nsim")
  ids <- rep_len(round(seq(1, total, length.out = min(nsim, total))), nsim)
  drawn <- posterior_predict.bsvm_responses(object, draw_ids = ids, seed = seed)
  out <- lapply(seq_len(nsim), function(s) drawn[s, , ])
  stats::setNames(out, paste0("sim_", seq_len(nsim)))
}
