#' Draws from the prior predictive distribution
#'
#' `prior_predict()` draws responses, expected responses or linear predictors from the prior of a
#' model, before it has seen the response. What the prior implies should be possible, and should not
#' exclude what is plausible.
#'
#' @details
#' Coefficients, group effects, variances and parameters of the likelihood are drawn from their
#' priors together. Default priors depend on the scale of the predictors and, for a numeric response,
#' on its median absolute deviation, so they know that much of the data.
#'
#' Nothing can be drawn from a flat prior; give such coefficients another one. Priors that select
#' variables, [prior_bridge()] and [prior_relevance()] are not supported. Nor are Gaussian-process
#' terms whose parameters are inferred, and [factors].
#'
#' @param object A fit from [bsvm()]. Its response is used for its classes or units only.
#' @param newdata,re_formula,allow_new_levels,group,offset As in [predict.bsvm()].
#' @param type `"response"` (default) for responses, `"epred"` for expected responses (a probability
#'   for two classes), or `"link"` for linear predictors.
#' @param ndraws Number of draws.
#' @param seed A number for [set.seed()]; with `NULL` the draws are the same each time, but for
#'   responses, which use the current state of the generator.
#' @param ... Must be empty.
#' @return A matrix with one row per draw and one column per row, as in
#'   [posterior_predict()][posterior_predict.bsvm].
#' @section Errors:
#' `bsvm_error_unsupported` for priors that can't be drawn from, and for responses under the
#' pseudo-likelihood.
#' @seealso [prior_summary()][prior_for] lists the priors; [posterior_predict.bsvm()].
#' @examples
#' # does the prior allow for patients who are nearly always ill, and for others who never are?
#' fit <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail)
#' risk <- prior_predict(fit, toenail[1:50, ], type = "epred")
#' hist(risk)
#' @export
prior_predict <- function(object, newdata = NULL, type = c("response", "epred", "link"),
                          ndraws = 1000L, re_formula = NULL, allow_new_levels = FALSE,
                          group = NULL, offset = NULL, seed = NULL, ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "prior_predict()", linpred_hints)
  type <- pick_one(type, c("response", "epred", "link"), "type")
  n <- check_count(ndraws, "ndraws")
  if (type == "response") {
    need_density(object, "prior_predict()", refuse_prior_responses)
    need_predictive(object$likelihood)
  }
  fit <- prior_fit(object, n)
  f <- link_draws(fit, newdata, re_formula, allow_new_levels, seq_len(n), group, offset,
                  parent.frame())
  if (type == "link") return(f)
  likelihood <- drawn_likelihood(fit, seq_len(n), newdata)
  if (type == "epred") return(expected_response(likelihood, f))
  shape_draws(object$response, with_given_seed(seed, draw_response(likelihood, f)))
}

refuse_prior_responses <- function(object, what) {
  abort("unsupported", what, " can't draw responses for this fit: ",
        note_of(object$likelihood, "no_draws"), ". Use `type = \"epred\"` or `type = \"link\"`.")
}

# The fit with draws from its prior.
prior_fit <- function(fit, n) {
  check_prior_drawn(fit)
  check_effects_memory(fit, n)
  with_drawn(fit, n, "prior", function() {
    variances <- lapply(all_blocks(fit), draw_prior_variance, n = n)
    layout <- fit_layout(fit)
    own <- seq_along(fit$blocks)
    sds <- sqrt(do.call(rbind, Map(one_variance, fit$blocks, variances[own], n)))
    of_column <- rep(NA_integer_, length(fit$design$columns))
    for (k in own) of_column[fit$blocks[[k]]$columns] <- k
    at <- c(of_column[layout$kept], unlist(lapply(layout$rotation, function(r) {
      rep(r$block, length(r$at))
    })))
    coefficients <- sds[at, , drop = FALSE] * stats::rnorm(length(at) * n)
    sparse <- of_column[fit$design$sparse]
    list(coefficients = coefficients, variances = variances,
         effects = rbind(prior_effects(fit, variances[-own], n),
                         sds[sparse, , drop = FALSE] * stats::rnorm(length(sparse) * n)))
  })
}

known_prior_draws <- c("normal", "half_t", "ridge", "huang_wand", "inverse_wishart", "beta", "gamma",
                       "log_normal")

check_prior_drawn <- function(fit) {
  refuse <- function(...) abort("unsupported", "prior_predict() does not support ", ...)
  if (has_factors(fit)) refuse("factor terms.")
  if (length(learned_bases(fit)) > 0L) refuse("Gaussian-process terms with inferred parameters.")
  others <- Filter(function(block) !block$prior$name %in% known_prior_draws, all_blocks(fit))
  for (block in others) {
    refuse("the prior of `", block$label, "` (", block$prior$label, "). Use prior_ridge().")
  }
  flat <- Filter(function(block) startsWith(block$prior$label, "flat"), all_blocks(fit))
  for (block in flat) {
    name <- if (block$label != slopes_label) paste0("\"", block$label, "\" = ")
    abort("unsupported", "The prior of `", block$label, "` is flat, so nothing can be drawn from ",
          "it. Use prior = list(", name, "prior_ridge(variance = 1)).")
  }
}

# As posterior$variances has them: of a parameter the square of the core's number.
draw_prior_variance <- function(block, n) {
  numbers <- block$prior$parameters
  switch(
    block$prior$name,
    normal = matrix(0, 0L, n),
    half_t = one_row((numbers[["scale"]] * stats::rt(n, numbers[["df"]]))^2),
    ridge = one_row(numbers[["scale"]] / stats::rgamma(n, numbers[["shape"]])),
    beta = one_row(number_of_shown(block, stats::rbeta(n, numbers[[1L]], numbers[[2L]]))^2),
    gamma = one_row(stats::rgamma(n, numbers[["shape"]], numbers[["rate"]])^2),
    log_normal = one_row(stats::rlnorm(n, log(numbers[["median"]]), numbers[["sd"]])^2),
    huang_wand = prior_huang_wand(numbers, n),
    inverse_wishart = prior_wishart(numbers[["df"]], solve(full_matrix(numbers[-(1:2)])), n)
  )
}

# 1/a_k ~ gamma(1/2, 1/A_k^2), and the covariance inverse Wishart given a.
prior_huang_wand <- function(numbers, n) {
  q <- numbers[["effects"]]
  df <- numbers[["df"]]
  scale <- numbers[-(1:2)]
  drawn <- vapply(seq_len(n), function(s) {
    inverse <- stats::rgamma(q, 0.5, 1 / scale^2)
    solve(stats::rWishart(1L, df + q - 1, diag(1 / (2 * df * inverse), q))[, , 1L])
  }, matrix(0, q, q))
  joint_rows(drawn, q)
}

prior_wishart <- function(df, precision, n) {
  joint_rows(apply(stats::rWishart(n, df, precision), 3L, solve), nrow(precision))
}

# n draws of the one variance of a population-level block.
one_variance <- function(block, drawn, n) {
  if (nrow(drawn) > 0L) drawn[1L, ] else rep(block$prior$parameters[["variance"]], n)
}

# All effects, by factor, level and effect.
prior_effects <- function(fit, variances, n) {
  parts <- lapply(fit$groups, function(group) {
    q <- length(group$labels)
    roots <- array_roots(prior_covariance(fit, group, variances, n))
    out <- array(0, c(q, length(group$levels), n))
    for (g in seq_along(group$levels)) {
      out[, g, ] <- apply_roots(roots, matrix(stats::rnorm(q * n), q))
    }
    matrix(out, q * length(group$levels), n)
  })
  if (length(parts) == 0L) matrix(0, 0L, n) else do.call(rbind, unname(parts))
}

prior_covariance <- function(fit, group, variances, n) {
  drawn <- fit
  drawn$posterior <- structure(list(
    coefficients = array(0, c(1L, n, 1L)),
    variances = c(rep(list(NULL), length(fit$blocks)), lapply(variances, as_one_chain))),
    class = "bsvm_draws")
  covariance_draws(drawn, group$name)
}
