#' Draws of the response
#'
#' `posterior_predict()` draws new responses from the posterior predictive distribution.
#' `simulate()` returns such draws for the rows of the fit as a data frame.
#'
#' @details
#' **Classes.** Under `likelihood_hinge(normalized = TRUE)`, one class is drawn for each draw of the
#' linear predictor of a row, with the probability that [posterior_epred()][posterior_epred.bsvm]
#' returns. Group effects and new levels are treated as in [posterior_linpred.bsvm()].
#'
#' **Numeric response.** Under [likelihood_eps_insensitive()] and the other likelihoods for a
#' numeric response except [likelihood_quantile()], a draw is the linear predictor plus a residual.
#' The residual is drawn from its density, given the scale and tube in the same draw.
#'
#' The responses are drawn by R's random numbers; [set.seed()] or `seed` makes them reproducible.
#'
#' @param object A fit from [bsvm()] with an engine that has standard deviations, under
#'   `likelihood_hinge(normalized = TRUE)` or a likelihood for a numeric response.
#' @param newdata,re_formula,allow_new_levels,group,offset,draw_ids,ndraws As in
#'   [posterior_linpred.bsvm()].
#' @param seed A number for [set.seed()], which leaves the state of the random number generator
#'   unchanged. `NULL` (default) uses the current state.
#' @param ... Must be empty.
#' @return A matrix with one row per draw (chain by chain) and one column per row of `newdata`, or
#'   of the fit. For a numeric response it is numeric. For classes it is an integer matrix: 1 is the
#'   second level of the response, the class +1, and 0 the first. The attribute `"classes"` contains
#'   their names. A row with a missing variable has a column of `NA`.
#' @section Errors:
#' `bsvm_error_unsupported` under the pseudo-likelihood, which is not a distribution of the
#' response, and for a point estimate; `bsvm_error_argument` for other arguments.
#' @seealso [pp_check.bsvm()], [posterior_linpred.bsvm()].
#' @examples
#' # how many of ten patients have the disease?
#' set.seed(1)
#' fit <- bsvm(disease ~ sex + age, data = cath)
#' drawn <- posterior_predict(fit, newdata = cath[1:10, ])
#' dim(drawn)
#' table(rowSums(drawn)) / nrow(drawn)
#' @export
posterior_predict.bsvm <- function(object, newdata = NULL, re_formula = NULL,
                                   allow_new_levels = FALSE, draw_ids = NULL, group = NULL,
                                   offset = NULL, seed = NULL, ndraws = NULL, ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "posterior_predict()", predict_draws_hints)
  need_density(object, "posterior_predict()", refuse_responses)
  refuse_inferred(object, "posterior_predict()")
  need_predictive(object$likelihood)
  fit <- drawn_fit(object, "posterior_predict()", check_ndraws(ndraws))
  response_draws(fit, newdata, re_formula, allow_new_levels, chosen_draws(fit, draw_ids, ndraws),
                 group, offset, seed, parent.frame())
}

response_draws <- function(fit, newdata, re_formula, allow_new_levels, draw_ids, group, offset,
                           seed, env) {
  f <- link_draws(fit, newdata, re_formula, allow_new_levels, draw_ids, group, offset, env)
  likelihood <- drawn_likelihood(fit, draw_ids, newdata)
  shape_draws(fit$response, with_given_seed(seed, draw_response(likelihood, f)))
}

#' @param nsim Number of responses to simulate, from equally spaced draws of the posterior.
#' @rdname posterior_predict.bsvm
#' @importFrom stats simulate
#' @export
simulate.bsvm <- function(object, nsim = 1, seed = NULL, ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "simulate()", predict_draws_hints)
  check_count(nsim, "nsim")
  need_density(object, "simulate()", refuse_responses)
  fit <- drawn_fit(object, "simulate()", max(nsim, approximate_draws))
  total <- draw_count(fit$posterior)
  if (nsim > total) {
    abort("argument", "`nsim` must be at most the number of draws, ", total, "; found ", nsim, ".")
  }
  refuse_inferred(object, "simulate()")
  need_predictive(object$likelihood)
  ids <- round(seq(1, total, length.out = nsim))
  env <- parent.frame()
  if (!is.null(object$counts)) {
    return(simulated_counts(fit, link_draws(fit, NULL, NULL, FALSE, ids, NULL, NULL, env), seed))
  }
  drawn <- response_draws(fit, NULL, NULL, FALSE, ids, NULL, NULL, seed, env)
  columns <- lapply(seq_len(nsim), function(s) simulated_values(object$response, drawn[s, ]))
  names(columns) <- paste0("sim_", seq_len(nsim))
  as.data.frame(columns, row.names = seq_len(ncol(drawn)))
}

predict_draws_hints <- linpred_hints[names(linpred_hints) != "seed"]

# `...`: kinds of generators, for set.seed().
with_given_seed <- function(seed, code, ...) {
  if (is.null(seed)) return(code)
  check_number(seed, "seed")
  with_seed_kept({
    set.seed(seed, ...)
    code
  })
}

# The caller's random numbers are left as they were.
with_seed_kept <- function(code) {
  old <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(if (is.null(old)) rm(list = intersect(".Random.seed", names(globalenv())),
                               envir = globalenv())
          else assign(".Random.seed", old, globalenv()))
  force(code)
}
