# A likelihood: the core's name and numbers, what print says, and whether it is a density of the
# response. Every constructor ends here. What R asks of a likelihood are the generics below; a new
# likelihood is a file with its constructor and the methods that differ from the defaults. Their `f`
# is the linear predictor, and `y` the response as the core has it, an element for each of `f` or,
# if `f` is a matrix, for each of its rows.
#
# `normalized`: is it a density of the response given f? `class`: without "bsvm_likelihood_", the
# more special first; by default the name. `priors`: of parameters that are inferred, in the core's
# order, a list of priors of a variance by the names of the parameters (R/parameters.R).
new_likelihood <- function(name, parameters, label, normalized, class = name, priors = NULL) {
  stopifnot(is.character(name), is.numeric(parameters), is.character(label),
            is.logical(normalized), is.null(priors) || !is.null(names(priors)))
  structure(c(list(name = name, parameters = parameters, label = label, normalized = normalized),
              if (!is.null(priors)) list(priors = priors)),
            class = c(paste0("bsvm_likelihood_", class), "bsvm_likelihood"))
}

#' @rdname print.bsvm_component
#' @export
print.bsvm_likelihood <- function(x, ...) {
  given <- x$parameters
  inferred <- setdiff(names(x$priors), names(x$scale_sds))
  say_wrapped(paste0(
    "Likelihood: ", x$label,
    if (length(given) > 0L) {
      paste0(", ", paste(names(given), "=", vapply(given, format, ""), collapse = ", "))
    },
    if (length(inferred) > 0L) paste0(", ", paste(inferred, collapse = " and "), " inferred"),
    if (has_row_scales(x)) paste0(", scale by row: ", deparse1(x$scale_formula))
  ))
  invisible(x)
}

# ---- facts --------------------------------------------------------------------------------------

# Without a density of the response there is no log-likelihood, no leave-one-out and no replicate,
# and intervals are not calibrated.
is_law <- function(likelihood) isTRUE(likelihood$normalized)

is_concave <- function(likelihood) core_is_concave(likelihood$name, likelihood$parameters)

# With as many columns as rows the mode of coefficients and scale together is at a scale of zero; of
# a pseudo-likelihood's numbers a mode is no estimate either.
takes_likelihood <- function(engine, likelihood) {
  of_scale <- has_parameters(likelihood) && (is_residual(likelihood) || !is_law(likelihood))
  if (is_mode(engine) && of_scale) return(FALSE)
  if (trait(engine, "gp_alone") && !is_ecm_likelihood(likelihood)) return(FALSE)
  core_takes_likelihood(engine$name, engine$parameters, likelihood$name, likelihood$parameters)
}

# ---- the response -------------------------------------------------------------------------------

# The kind of response it is for: the class, without "bsvm_response_", of R/response.R.
response_kind <- function(likelihood) UseMethod("response_kind")

# log p(y | f), of a pseudo-likelihood its logarithm.
log_density <- function(likelihood, y, f) UseMethod("log_density")

# E(y | f), on the scale that posterior_epred() has: of two classes the probability of class +1.
expected_response <- function(likelihood, f) UseMethod("expected_response")

# The same averaged over f ~ N(mean, sd^2), both finite.
averaged_response <- function(likelihood, mean, sd) UseMethod("averaged_response")

# Over how much of f E(y | f) changes at its fastest.
response_width <- function(likelihood) UseMethod("response_width")

#' @export
response_width.bsvm_likelihood <- function(likelihood) coefficient_scale(law_of(likelihood))

# Draws of the response on that scale.
draw_response <- function(likelihood, f) UseMethod("draw_response")

# Residuals of rows.
row_residuals <- function(likelihood, y, f) UseMethod("row_residuals")

# How far f lies on the side of its row; -Inf for a response without sides.
row_margins <- function(likelihood, y, f) UseMethod("row_margins")

#' @export
row_margins.bsvm_likelihood <- function(likelihood, y, f) rep(-Inf, length(y))

# Does the loss of the row pull at f? Such a row is a support vector.
is_support <- function(likelihood, y, f) UseMethod("is_support")

# ---- scales and costs ---------------------------------------------------------------------------

# The size of coefficients relative to those of logistic regression, which the numbers of a prior
# are for until it meets its likelihood.
coefficient_scale <- function(likelihood) UseMethod("coefficient_scale")

#' @export
coefficient_scale.bsvm_likelihood <- function(likelihood) 1

# The cost of LIBSVM that a variance of the coefficients stands for.
libsvm_cost <- function(likelihood, variance) UseMethod("libsvm_cost")

#' @export
libsvm_cost.bsvm_likelihood <- function(likelihood, variance) rep(NA_real_, length(variance))

# The cost of a row with none, one or two effects of its level integrated out, relative to none.
integral_costs <- function(likelihood) UseMethod("integral_costs")

#' @export
integral_costs.bsvm_likelihood <- function(likelihood) c(1, 30, 2000)

# Can group effects be integrated out of it, this many a level?
integrates <- function(likelihood, effects) UseMethod("integrates")

#' @export
integrates.bsvm_likelihood <- function(likelihood, effects) !has_parameters(likelihood)

# Can a mode lie where log p(y | f) is not differentiable?
has_concave_kinks <- function(likelihood) UseMethod("has_concave_kinks")

#' @export
has_concave_kinks.bsvm_likelihood <- function(likelihood) FALSE

# The largest weight of a row whose f the core draws exactly, where predictors are missing.
most_drawn_weight <- function(likelihood) UseMethod("most_drawn_weight")

#' @export
most_drawn_weight.bsvm_likelihood <- function(likelihood) Inf

# The standard deviation of the response given f, as sigma() has it.
response_sd <- function(likelihood, fit) UseMethod("response_sd")

# ---- words --------------------------------------------------------------------------------------

# The first words of a print.
model_title <- function(likelihood) UseMethod("model_title")

#' @export
model_title.bsvm_likelihood <- function(likelihood) "Bayesian support vector machine"

# Parts of warnings about a posterior that the data leave open:
#   open, perfectly, perhaps, skewed   why it is, as a fact, surely, perhaps, nearly
#   unreliable, all_unreliable         what is then not to be trusted
open_words <- function(likelihood) UseMethod("open_words")

#' @export
open_words.bsvm_likelihood <- function(likelihood) {
  list(open = "The data hardly determine the coefficients",
       perfectly = "The data can be fitted perfectly", perhaps = "The data can perhaps be fitted",
       skewed = "as with few rows", unreliable = "estimates and intervals are unreliable",
       all_unreliable = "estimates and predictions are unreliable")
}

# The density of the response that belongs to it: itself, of a pseudo-likelihood what it becomes.
law_of <- function(likelihood) UseMethod("law_of")

#' @export
law_of.bsvm_likelihood <- function(likelihood) likelihood

# What to say of a fit under it, NULL for nothing:
#   intervals  next to intervals          variances  next to variances of group effects
#   coefficients  below a table of these, how to read them
#   caption    below a picture of these   no_measure, no_draws  why log-likelihoods, draws of the
#                                                   response are not defined
# `fit`: a fit, or what has its blocks and likelihood.
note_of <- function(likelihood, about, fit = NULL) UseMethod("note_of")

#' @export
note_of.bsvm_likelihood <- function(likelihood, about, fit = NULL) NULL
