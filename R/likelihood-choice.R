# Which likelihood a model gets: that of `likelihood =`, or one that its engine and priors accept.

# The words of `likelihood`: "hinge" names the constructor, these one of its values.
as_likelihood <- function(x) {
  if (identical(x, "normalized") || identical(x, "normalised")) {
    return(likelihood_hinge(normalized = TRUE))
  }
  if (!is_one_string(x) || x %in% known_likelihoods()) return(as_component(x, "likelihood"))
  abort("argument", "`likelihood` must be one of the strings \"normalized\" and ",
        enumerate(known_likelihoods(), "\""), ", or be made by ",
        enumerate(paste0("likelihood_", known_likelihoods(), "()"), "", last = "or"), "; found ",
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
  only_pseudo <- !is.null(engine) && !takes_likelihood(engine, normalised)
  if (!only_pseudo && !accepted(engine, frame, pseudo, assigned)) return(normalised)
  pseudo$cause <- if (only_pseudo && !has_factors(frame)) engine_call(engine)
                  else words_for_cause(frame, engine, assigned)
  pseudo
}

accepted <- function(engine, frame, likelihood, assigned) {
  if (is.null(engine)) return(length(able_engines(frame, likelihood, assigned)) > 0L)
  is.null(refusal(as_component(engine, "engine"), frame, likelihood, assigned))
}

# The part of the model that needs the pseudo-likelihood, in words.
words_for_cause <- function(frame, engine, assigned) {
  gaussian <- engine_gaussian()
  odd <- Filter(function(block) !takes_prior(block, gaussian), all_blocks(assigned))
  if (length(odd) > 0L) return(paste0("the prior of ", enumerate(odd[[1L]]$label)))
  if (has_factors(frame) && is_exact(factors_of(frame))) return("`points = Inf`")
  rule <- frame$unknowns$rule
  if (is.null(rule)) return("the engine")
  if (is.null(engine) || !takes_latent(gaussian, rule)) return(rule_name(rule))
  paste0(engine_call(engine), " with missing predictors and such weights")
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
