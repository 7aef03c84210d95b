#' Gibbs sampling
#'
#' `engine_gibbs()` draws coefficients, group effects and variances from the exact posterior under
#' the pseudo-likelihood, in several chains.
#'
#' @details
#' **Method.** Let \eqn{y} be the response coded as -1 or +1, \eqn{f} the linear predictor of a row
#' and \eqn{a} its latent scale. One iteration draws
#' * \eqn{1/a} of every row: inverse Gaussian with mean \eqn{1/|1 - y f|}{1/abs(1 - y f)} and shape
#'   1 (if \eqn{y f = 1}, its limit is drawn);
#' * with variable selection ([prior_spike_slab()], [prior_laplace_zero()]), which coefficients are
#'   included, with all of them integrated out;
#' * all coefficients and group effects together: normal;
#' * the variances given the coefficients and effects: inverse gamma or inverse Wishart, with
#'   auxiliary variables for half-t priors. Under [prior_bridge()]: the exponent by slice sampling,
#'   the scale, and the latent scales given these, in this order.
#'
#' This is the sampler of Luts and Ormerod (2014, Appendix A), after Polson and Scott (2011). By
#' itself (`mixing = FALSE`) it moves strong coefficients slowly and, with group effects, also the
#' variances and the intercept. With `mixing = TRUE` each iteration also has moves by slice sampling
#' with the latent scales averaged out. These move
#' * each block together with its variance along its scale, and all blocks at once (interweaving,
#'   after Yu and Meng 2011);
#' * group effects and coefficients one at a time;
#' * coefficients into the model and out of it.
#'
#' The moves do not change the posterior, and give several times as many effective draws per second.
#'
#' **Seeds.** One uniform number is drawn with R's generator for each fit. Every random number of
#' the sampler is a function of this number, the chain, the iteration and the row. [set.seed()]
#' therefore makes a fit repeatable, R's stream advances by one, and the draws are the same for any
#' number of threads. Chains run in parallel if [bsvm_control()] allows more than one thread. For a
#' source of rows ([bsvm_source()]) they run one after another, and threads or workers of a cluster
#' divide the rows.
#'
#' **How long.** `summary(details = TRUE)` shows how well the chains agree (Rhat) and
#' their effective sample sizes. A fit warns with class `bsvm_warning_convergence` if Rhat exceeds 1.01 or an effective
#' sample size of all chains together is below 400. With `draws = NULL` the chains continue until
#' neither is the case, as those of [engine_slice()] do. See [as_draws.bsvm()] for the draws.
#'
#' **Separated classes.** If a plane separates the classes (for example with more columns than
#' rows), a variance is bounded only by its prior. The prior of the papers, inverse-gamma(0.01,
#' 0.01), hardly does: the posterior is proper, but draws can become arbitrarily large. Inferred
#' variances are therefore truncated to 1e-100 to 1e20. [engine_vb()] does not show this problem. A
#' warning of class `bsvm_warning_rank` reports it; use the default, [prior_ridge()], or give a
#' variance.
#'
#' **Interrupt.** Ctrl-C stops the run. The draws so far (an equal number from each chain) are kept
#' as a valid fit with `termination` `"interrupted"` and a warning of class
#' `bsvm_warning_interrupted`. During the burn-in there is nothing to keep.
#'
#' **Checkpoints.** With `checkpoint = "file"` the state of all chains and the draws so far are
#' written to the file every half minute and when the run stops. The file is complete whenever the
#' program stops. The same call with `resume = TRUE` continues from the file and with its seed.
#' Draws are the same as without the break. With more `draws` than the file has, the chains
#' continue. Without a file the run starts from the beginning, so that a script may always have
#' `resume = TRUE`.
#'
#' Data (rows, order and weights included), model (formula and priors), `burnin`, `thin`, `chains`,
#' `mixing` and `keep_effects` must be the same as in the file. The number of draws, threads and workers
#' of a cluster may differ. A source and a data frame with the same rows count as different data. A
#' file with other settings, a damaged file, or an existing file with `resume = FALSE` is an error
#' of class `bsvm_error_checkpoint`. If the file cannot be written (a full disk), the run keeps its
#' draws and gives a warning of class `bsvm_warning_checkpoint` when it finishes.
#'
#' @param draws How many draws each chain keeps; at least 1. With `NULL` (default) chains continue
#'   until effective sample sizes reach 400 and Rhat is at most 1.01, up to 10,000 draws; see
#'   [engine_slice()].
#' @param burnin How many iterations each chain makes before the first draw; at least 0.
#' @param thin After the burn-in, one draw is kept out of this many iterations; at least 1.
#' @param chains How many chains; from 1 to 1000, and at least 2 for a meaningful Rhat. Each makes
#'   `burnin + draws * thin` iterations, at most 1e9.
#' @param mixing `TRUE` adds the slice sampling moves; `FALSE` is the sampler of the papers. With
#'   `NULL` (default) it is `TRUE`, and `FALSE` for a source of rows ([bsvm_source()]), where each
#'   move would read all rows several times.
#' @param checkpoint `NULL` (default) or the name of a file, in a folder that exists.
#' @param resume Continue from `checkpoint`, if the file exists? `FALSE` by default.
#' @param keep_effects Keep the draws of the group effects? `TRUE` by default. `FALSE` saves memory
#'   if there are many: their means and standard deviations are kept, but standard deviations and
#'   draws of linear predictors with group effects are not available. With sparse predictors, whose
#'   coefficients are stored in the same place, `FALSE` is an error (class `bsvm_error_argument`)
#'   before the run.
#' @param empirical `TRUE` is empirical Bayes, for several responses with correlated residuals only.
#'   Hyper-parameters of coefficients are then held at estimates: variances of blocks and functions,
#'   and each variance of [prior_relevance()]. Everything else is drawn. The first third of the
#'   burn-in, of at least 300 iterations, draws hyper-parameters, too. The rest is stochastic
#'   approximation EM (Delyon et al., 1999), which averages squared coefficients over iterations. If
#'   chains converge to different optima, `Rhat` is large. `FALSE` (default) draws hyper-parameters.
#' @param ... Must be empty. For arguments of other samplers (`iter`, `warmup`, `cores`, `seed`) the
#'   error names the argument to use instead.
#' @return An object of class `bsvm_engine`.
#' @section Errors:
#' `bsvm_error_argument` if a number is not whole or out of range. The fit gives `bsvm_error_size`
#' if the draws would need more than the option `bsvm.max_memory` (bytes, 16 GiB unless set). It
#' gives `bsvm_error_checkpoint` for a checkpoint that cannot be used.
#' @references Delyon, B., Lavielle, M. and Moulines, E. (1999). Convergence of a stochastic
#' approximation version of the EM algorithm. *Annals of Statistics*, 27, 94-128.
#'
#' Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for support
#' vector machine classification. *Computational Statistics & Data Analysis*, 73, 163-176
#' (Appendix A).
#'
#' Polson, N. G. and Scott, S. L. (2011). Data augmentation for support vector machines.
#' *Bayesian Analysis*, 6, 1-23 (Section 4.1).
#'
#' Yu, Y. and Meng, X.-L. (2011). To center or not to center: that is not the question. *Journal of
#' Computational and Graphical Statistics*, 20, 531-570.
#' @seealso [engine_gaussian()] and [engine_vb()], which are faster and approximate;
#'   `engine_gaussian()` and [engine_slice()] also for `likelihood_hinge(normalized = TRUE)`;
#'   [as_draws.bsvm()], [posterior_linpred.bsvm()], [summary.bsvm()], [plot.bsvm()].
#' @examples
#' # do the sepals tell two species of iris apart?
#' set.seed(1)
#' fit <- bsvm(Species ~ Sepal.Length + Sepal.Width, data = iris, subset = Species != "setosa",
#'             engine = engine_gibbs())
#' summary(fit)
#'
#' # a long run in pieces
#' file <- tempfile()
#' short <- update(fit, engine = engine_gibbs(draws = 500, checkpoint = file))
#' long <- update(fit, engine = engine_gibbs(draws = 1000, checkpoint = file, resume = TRUE))
#' unlink(file)
#' @export
engine_gibbs <- function(draws = NULL, burnin = 1000, thin = 1, chains = 4, mixing = NULL,
                         checkpoint = NULL, resume = FALSE, keep_effects = TRUE,
                         empirical = FALSE, ...) {
  check_dots(substitute(list(...)), "engine_gibbs()", sampler_hints)
  settings <- sampler_settings(draws, burnin, thin, chains, checkpoint, resume, keep_effects)
  if (!is.null(mixing)) check_flag(mixing, "mixing")
  check_flag(empirical, "empirical")
  if (empirical && settings$burnin < least_settling) {
    abort("argument", "`empirical = TRUE` needs a `burnin` of at least ", least_settling,
          ", in which hyper-parameters are estimated; found ", settings$burnin, ".")
  }
  label <- sampler_label("Gibbs sampler", settings, if (empirical) ", empirical")
  engine <- new_engine("gibbs", c(mixing = 1), label)
  engine$settings <- c(settings, list(empirical = empirical, mixing_given = !is.null(mixing)))
  if (isFALSE(mixing)) without_mixing(engine) else engine
}

without_mixing <- function(engine) {
  engine$parameters[["mixing"]] <- 0
  engine$label <- paste0(engine$label, ", plain")
  engine
}

# Moves look at rows again and again.
#' @export
for_rows_elsewhere.bsvm_engine_gibbs <- function(engine) {
  if (engine$parameters[["mixing"]] == 0) return(engine)
  if (isTRUE(engine$settings$mixing_given)) {
    abort("unsupported", "engine_gibbs(mixing = TRUE) needs all rows in this R session. Leave ",
          "`mixing` out.")
  }
  without_mixing(engine)
}

least_settling <- 300 # sweeps

is_empirical <- function(engine) isTRUE(engine$settings$empirical)

refuse_empirical <- function(engine) {
  if (is.null(engine) || !is_empirical(as_component(engine, "engine"))) return(invisible())
  abort("unsupported", "engine_gibbs(empirical = TRUE) is for several responses with correlated ",
        "residuals. Use empirical = FALSE, or engine_vb().")
}

#' @export
traits_of.bsvm_engine_gibbs <- function(engine) {
  new_traits(elsewhere = TRUE, passes = least_sweeps(engine$settings), latent = "drawn",
             word = "Gibbs sampler")
}
