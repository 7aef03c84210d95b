# Soft support vectors: of a posterior with a spread, the probability that each row is inside its
# margin. Let a normal q(f) maximise the bound of a pseudo-likelihood. The mean of f is then K alpha
# with alpha_n = y_n w_n {a P_n - b (1 - P_n)}. P_n is this probability, and a and b are the slopes
# of the loss on either side of the margin (kernels.md, section 2). A mode has a Lagrange multiplier
# in place of P_n.

soft_support <- function(object, env) {
  need_spread(object, "support_vectors()")
  if (trait(object$engine, "gp_alone")) {
    abort("unsupported", "support_vectors() needs the Lagrange multipliers of an SVM or ",
          "probabilities of an average over functions. The mean by engine_ecm() is a mode, ",
          "and its standard deviations are too small for these probabilities. The mode at given ",
          "variances has Lagrange multipliers: ",
          "support_vectors(update(fit, engine = engine_em()", given_variances(object), ")).")
  }
  if (!is.null(object$missing)) {
    abort("unsupported", "support_vectors() supports models of missing predictors for point ",
          "estimates only.")
  }
  rows <- rows_again(object, env)
  inside <- inside_margin(object, rows)
  out <- data.frame(row = which(rep_len(used_rows(object), length(object$link))), inside = inside)
  if (is_law(object$likelihood)) return(out)
  slopes <- margin_slopes(likelihood_at(object))
  weight <- if (is.null(rows$weight)) 1 else rows$weight
  out$multiplier <- weight * (slopes$a * inside - slopes$b * (1 - inside))
  out
}

# P(y f < 1) of rows with y, weight and offset.
inside_margin <- function(fit, rows) {
  offset <- if (is.null(rows$offset)) 0 * rows$y else rows$offset
  if (inherits(fit$posterior, "bsvm_draws")) return(inside_by_draws(fit, rows, offset))
  parts <- own_moments(fit, rows)
  drop(stats::pnorm((1 - rows$y * (parts$mean + offset)) / parts$sd) %*% parts$weights)
}

inside_by_draws <- function(fit, rows, offset) {
  out <- numeric(length(rows$y))
  in_row_chunks(fit$posterior, rows, function(at, part) {
    out[at] <<- rowMeans(rows$y[at] * (linear_draws(fit, part) + offset[at]) < 1)
  })
  out
}

# The argument `prior` of a fit by engine_ecm() with the variances that it learned, as one would write
# it; nothing if it learned none.
given_variances <- function(fit) {
  own <- Filter(function(block) isTRUE(block$prior$learned), fit$blocks)
  priors <- vapply(own, function(block) {
    paste0("`", block$label, "` = prior_ridge(variance = ",
           signif(block$prior$parameters[["variance"]], 4L), ")")
  }, "")
  if (length(priors) > 0L) paste0(", prior = list(", paste(priors, collapse = ", "), ")")
}
