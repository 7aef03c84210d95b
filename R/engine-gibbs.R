#' Gibbs sampling
#'
#' Draws from the exact posterior under the pseudo-likelihood: coefficients, group effects and
#' variances, in several chains.
#'
#' @details
#' **What is drawn.** With the response \eqn{y} coded as -1 or +1, \eqn{f} a row's linear predictor
#' and \eqn{a} its latent scale, one sweep draws
#' * \eqn{1/a} of every row: inverse Gaussian with mean \eqn{1/|1 - y f|}{1/abs(1 - y f)} and
#'   shape 1 (where \eqn{y f = 1} its limit is drawn);
#' * where a prior selects ([prior_spike_slab()], [prior_laplace_zero()]), which coefficients are
#'   in, with all of them integrated out;
#' * all coefficients and group effects together: normal;
#' * the variances given those: inverse gamma or inverse Wishart, with auxiliaries for half-t laws;
#'   under [prior_bridge()] the exponent by slice sampling, the scale, and the latent scales given
#'   these, in this order.
#'
#' That is the sampler of Luts and Ormerod (2014, Appendix A), after Polson and Scott (2011). By
#' itself (`mixing = FALSE`) it is slow to move strong coefficients and, with group effects, the
#' variances and the intercept. With `mixing = TRUE` each sweep ends with moves by slice sampling
#' with the latent scales averaged out: each block together with its variance along its scale, and
#' all blocks at once (interweaving, after Yu and Meng 2011), group effects and coefficients one at
#' a time, and coefficients into the model and out of it. They leave the posterior as it is,
#' exactly, and buy several times as many effective draws a second.
#'
#' **Seeds.** One uniform number is taken from R's stream for each fit, and every random number
#' of the sampler is a function of it, the chain, the sweep and the row. So [set.seed()] governs,
#' R's stream moves by one, and the draws are the same for any number of threads. Chains run side by
#' side if [bsvm_control()] allows more than one thread.
#'
#' **How long.** `summary()` says how well the chains agree (Rhat) and how many independent draws
#' they are worth (effective sample sizes). A fit warns with class `bsvm_warning_convergence`
#' where Rhat exceeds 1.01 or an effective size is below 400 in all. With `draws = NULL` the chains
#' go on until neither is so, as those of [engine_slice()] do. See [as_draws.bsvm()] for the draws.
#'
#' **Separated classes.** Where a plane separates the classes (more columns than rows, say) nothing
#' but its prior bounds the variance, and inverse-gamma(0.01, 0.01), the prior of the papers, hardly
#' does: the posterior is proper, but its draws wander off to any size; inferred variances are
#' therefore truncated to 1e-100 to 1e20. [engine_vb()] does not show this. Use the default,
#' [prior_ridge()], or give a variance; a warning of class `bsvm_warning_rank` says when.
#'
#' **Interrupt.** Ctrl-C ends the run; the draws so far (an equal number from each chain) are kept
#' as a valid fit with `termination` `"interrupted"` and a warning of class
#' `bsvm_warning_interrupted`. During the burn-in there is nothing to keep.
#'
#' **Checkpoints.** With `checkpoint = "file"` the state of all chains and the draws so far are
#' written to the file every half minute and at the end; it is whole whenever the program dies. The
#' same call with `resume = TRUE` goes on from there, to the very draws the run would have given
#' without a break, with the seed of the file. With more `draws` than the file has, the chains go
#' on; without a file it starts afresh, so a script may have `resume = TRUE` from the beginning.
#' Data (rows, order and weights included), model (formula and priors), `burnin`, `thin`, `chains`,
#' `mixing` and `keep_effects` have to be those of the file; `draws` and threads may differ. A file
#' of others, a damaged one, or one that is in the way (`resume = FALSE`) is an error of class
#' `bsvm_error_checkpoint`. A file that can't be written (a full disk) is a warning of class
#' `bsvm_warning_checkpoint` at the end of the run, which keeps its draws.
#'
#' @param draws How many draws each chain keeps; at least 1. With `NULL` (default) chains go on
#'   until effective sample sizes reach 400 and Rhat is at most 1.01, up to 10,000 draws; see
#'   [engine_slice()].
#' @param burnin How many sweeps each chain makes before; at least 0.
#' @param thin Of how many sweeps after the burn-in one is kept; at least 1.
#' @param chains How many chains; from 1 to 1000, and at least 2 for Rhat to mean much. Each makes
#'   `burnin + draws * thin` sweeps, at most 1e9.
#' @param mixing `TRUE` (default) adds the moves along lines, `FALSE` is the papers' sampler.
#' @param checkpoint `NULL` (default) or the name of a file, in a folder that exists.
#' @param resume Go on from `checkpoint`, if the file exists? `FALSE` by default.
#' @param keep_effects Keep the draws of the group effects? `TRUE` by default. `FALSE` saves memory
#'   where there are many: means and standard deviations remain, but standard deviations and draws
#'   of links with group effects do not. With sparse predictors, whose coefficients are kept in the
#'   same place, `FALSE` is an error (class `bsvm_error_argument`) before the run.
#' @param empirical `TRUE` is empirical Bayes, for several responses with correlated residuals only.
#'   Hyper-parameters of coefficients are then held at estimates: variances of blocks and functions,
#'   and each variance of [prior_relevance()]. Everything else is drawn. The first third of the
#'   burn-in, of at least 300 iterations, draws hyper-parameters, too. The rest is stochastic
#'   approximation EM (Delyon et al., 1999), which averages squared coefficients over iterations. If
#'   chains converge to different optima, `Rhat` is large. `FALSE` (default) draws hyper-parameters.
#' @param ... Must be empty; arguments of other samplers (`iter`, `warmup`, `cores`, `seed`) are
#'   errors that say what they are here.
#' @return An object of class `bsvm_engine`.
#' @section Errors: `bsvm_error_argument` if a number is not whole or out of range. When it runs,
#'   `bsvm_error_size` where the draws would take more than the option `bsvm.max_memory` (bytes, 16
#'   GiB unless set) and `bsvm_error_checkpoint` for a checkpoint that can't be used.
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
#' @seealso [engine_gaussian()] and [engine_vb()], which are faster and approximate, the first of
#'   them also for `likelihood_hinge(normalized = TRUE)`; [as_draws.bsvm()],
#'   [posterior_linpred.bsvm()], [summary.bsvm()], [plot.bsvm()].
#' @examples
#' set.seed(1)
#' fit <- bsvm(am ~ mpg + wt, data = mtcars, engine = engine_gibbs(draws = 500, burnin = 200))
#' summary(fit)
#'
#' # a long run in pieces
#' file <- tempfile()
#' long <- bsvm(am ~ mpg + wt, data = mtcars,
#'              engine = engine_gibbs(draws = 500, checkpoint = file))
#' more <- update(long, engine = engine_gibbs(draws = 1000, checkpoint = file, resume = TRUE))
#' unlink(file)
#' @export
engine_gibbs <- function(draws = NULL, burnin = 1000, thin = 1, chains = 4, mixing = TRUE,
                         checkpoint = NULL, resume = FALSE, keep_effects = TRUE,
                         empirical = FALSE, ...) {
  check_dots(substitute(list(...)), "engine_gibbs()", sampler_hints)
  settings <- sampler_settings(draws, burnin, thin, chains, checkpoint, resume, keep_effects)
  check_flag(mixing, "mixing")
  check_flag(empirical, "empirical")
  if (empirical && settings$burnin < least_settling) {
    abort("argument", "`empirical = TRUE` needs a `burnin` of at least ", least_settling,
          ", in which hyper-parameters are estimated; found ", settings$burnin, ".")
  }
  engine <- new_engine("gibbs", c(mixing = as.numeric(mixing)),
                       sampler_label("Gibbs sampler", settings,
                                     paste0(if (!mixing) ", plain", if (empirical) ", empirical")))
  engine$settings <- c(settings, list(empirical = empirical))
  engine
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
  new_traits(latent = "drawn", word = "Gibbs sampler")
}
