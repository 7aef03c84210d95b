#' Hinge likelihood
#'
#' The likelihood of the support vector machine: the probability model that the hinge loss becomes
#' if it is normalised over the two classes (the default of [bsvm()]), or the papers'
#' pseudo-likelihood.
#'
#' @details
#' With the response \eqn{y} coded as -1 or +1 and the linear predictor \eqn{f}, each row
#' contributes \eqn{L(y, f) = \exp\{-2 \max(0, 1 - y f)\}}{L(y, f) = exp(-2 max(0, 1 - y f))}.
#'
#' `normalized = TRUE` (in [bsvm()] also `likelihood = "normalized"`) divides by the sum over the
#' two classes,
#' \deqn{p(y | f) = \frac{L(y, f)}{L(1, f) + L(-1, f)} = \frac{1}{1 + \exp\{-y h(f)\}},}{p(y | f) =
#' L(y, f) / (L(1, f) + L(-1, f)) = 1 / (1 + exp(-y h(f))),}
#' where \eqn{h(f)}{h(f)} is \eqn{4 f}{4f} on the margin, from -1 to 1, \eqn{2 f + 2}{2f + 2} above
#' and \eqn{2 f - 2}{2f - 2} below: logistic regression whose log odds flatten beyond the margin.
#' Its intervals, variances and class probabilities are calibrated. Inside the margin the log odds
#' are \eqn{4 f}{4f}, so coefficients are about a quarter of those of logistic regression, and
#' default scales of priors are smaller accordingly (see [prior_half_t()]). The likelihood is not
#' log-concave, and there are no latent scales that would make it normal given them:
#' [engine_gaussian()], [engine_map()] and, for draws, [engine_slice()] accept it; [engine_vb()],
#' [engine_gibbs()], [engine_em()] and [engine_ecme()] do not.
#'
#' `normalized = FALSE` (`likelihood = "hinge"`) is the pseudo-likelihood \eqn{L}{L} itself. It does
#' not sum to one over the two classes, and the sum depends on \eqn{f}, so there is no
#' log-likelihood (see [logLik.bsvm()]), and every row rewards a large \eqn{|f|}. The 95 % intervals
#' of its pseudo-posterior are too narrow (they covered the estimand in 58 to 74 % of simulated data
#' sets, the intervals of the normalised likelihood in 94 to 97 %), it finds group variance where
#' there is none, and under class imbalance it misses real effects. Its class predictions are good,
#' and every engine accepts it.
#'
#' **The default of bsvm()**, `likelihood = NULL`, is the normalised likelihood if the engine and
#' the priors accept it. An engine or a prior that only has the pseudo-likelihood (`engine_vb()`,
#' `engine_gibbs()`, `engine_em()`, `engine_ecme()`, [prior_spike_slab()], [prior_laplace_zero()],
#' [prior_bridge()], [prior_lasso()], [missing_selection()]) selects that, with a message of class
#' `bsvm_message_likelihood` once a session. `likelihood = "hinge"` says that it is meant, and there
#' is no message.
#'
#' **Probabilities.** \eqn{p(y | f)} is the probability of a class given the linear predictor, and
#' `predict(type = "prob")` its average over the posterior, the probability of the posterior
#' predictive distribution. With draws, [posterior_epred()][posterior_epred.bsvm] has it draw by
#' draw, and [loo()][loo.bsvm], [log_lik()][log_lik.bsvm],
#' [posterior_predict()][posterior_predict.bsvm] and [pp_check()][pp_check.bsvm] work on them. The
#' pseudo-likelihood has no probabilities of its own; [predict.bsvm()] describes which maps of its
#' linear predictors are near them, [calibration()] how near.
#'
#' @param normalized `FALSE` (default) for the pseudo-likelihood, `TRUE` for the probability model.
#' @param ... Must be empty.
#' @return An object of class `bsvm_likelihood`.
#' @section Errors: `bsvm_error_argument` if `normalized` is not `TRUE` or `FALSE`, and for any
#'   other argument; in [bsvm()], `bsvm_error_unsupported` for an engine that needs latent scales.
#' @references
#' Mallick, B. K., Ghosh, D. and Ghosh, M. (2005). Bayesian classification of tumours by using gene
#' expression data. *Journal of the Royal Statistical Society: Series B*, 67, 219-234.
#'
#' Polson, N. G. and Scott, S. L. (2011). Data augmentation for support vector machines. *Bayesian
#' Analysis*, 6, 1-23 (Theorem 1).
#'
#' Sollich, P. (2002). Bayesian methods for support vector machines: evidence and predictive class
#' probabilities. *Machine Learning*, 46, 21-52.
#' @examples
#' likelihood_hinge()
#' likelihood_hinge(normalized = TRUE)
#' bsvm(am ~ mpg, data = mtcars)
#' bsvm(am ~ mpg, data = mtcars, likelihood = "hinge", engine = "vb")
#' @export
likelihood_hinge <- function(normalized = FALSE, ...) {
  check_dots(substitute(list(...)), "likelihood_hinge()", likelihood_hints)
  check_flag(normalized, "normalized")
  if (normalized) return(new_likelihood("hinge_normalized", numeric(0), "normalised hinge", TRUE))
  new_likelihood("hinge", numeric(0), "hinge pseudo-likelihood", FALSE)
}

likelihood_hints <- c(
  normalised = "Here that is `normalized`.", normalise = "Here that is `normalized`.",
  normalize = "Here that is `normalized`.",
  cost = "In bsvm() it is `prior_ridge(variance = cost / 2)` with `likelihood = \"hinge\"`."
)

# `normalized`: do the probabilities of the two classes sum to one?
new_likelihood <- function(name, parameters, label, normalized) {
  structure(list(name = name, parameters = parameters, label = label, normalized = normalized),
            class = "bsvm_likelihood")
}

#' @rdname print.bsvm_component
#' @export
print.bsvm_likelihood <- function(x, ...) {
  cat("Likelihood: ", x$label, "\n", sep = "")
  invisible(x)
}

# The words of `likelihood`: "hinge" names the constructor, these one of its values.
as_likelihood <- function(x) {
  if (identical(x, "normalized") || identical(x, "normalised")) {
    return(likelihood_hinge(normalized = TRUE))
  }
  if (!is_one_string(x) || x %in% known_likelihoods()) return(as_component(x, "likelihood"))
  abort("argument", "`likelihood` must be one of the strings \"normalized\" and ",
        enumerate(known_likelihoods(), "\""), ", or be made by likelihood_hinge(); found ",
        describe(x), ".")
}

known_likelihoods <- function() {
  known_components("likelihood", getNamespaceExports(environment(as_component)))
}

is_one_string <- function(x) is.character(x) && length(x) == 1L && !is.na(x)

# ---- none given ---------------------------------------------------------------------------------

# The normalised likelihood if the engine (NULL: any) and the priors accept it. If they accept
# neither, the refusal is to speak of what was asked for.
default_likelihood <- function(frame, engine, assigned) {
  normalised <- likelihood_hinge(normalized = TRUE)
  if (accepted(engine, frame, normalised, assigned)) return(normalised)
  pseudo <- likelihood_hinge()
  engine <- if (!is.null(engine)) as_component(engine, "engine")
  only_pseudo <- !is.null(engine) && engine$name %in% latent_engines
  if (!only_pseudo && !accepted(engine, frame, pseudo, assigned)) return(normalised)
  pseudo$cause <- if (only_pseudo) paste0("engine_", engine$name, "()")
                  else words_for_cause(frame, assigned)
  pseudo
}

accepted <- function(engine, frame, likelihood, assigned) {
  if (is.null(engine)) return(length(able_engines(frame, likelihood, assigned)) > 0L)
  is.null(refusal(as_component(engine, "engine"), frame, likelihood, assigned))
}

# What only the pseudo-likelihood has.
words_for_cause <- function(frame, assigned) {
  gaussian <- engine_gaussian()
  odd <- Filter(function(block) !takes_prior(block, gaussian), all_blocks(assigned))
  if (length(odd) > 0L) return(paste0("the prior of ", enumerate(odd[[1L]]$label)))
  rule <- frame$unknowns$rule
  if (!is.null(rule)) rule_name(rule) else "the engine"
}

# Said once the model is known to be possible.
tell_pseudo <- function(likelihood) {
  if (is.null(likelihood$cause)) return(likelihood)
  inform("likelihood", "Fitted with the hinge pseudo-likelihood, which ", likelihood$cause,
         " requires: classes are reliable, but intervals are too narrow and probabilities ",
         "approximate. ",
         "likelihood = \"hinge\" confirms the choice.", once = "likelihood")
  likelihood$cause <- NULL
  likelihood
}
