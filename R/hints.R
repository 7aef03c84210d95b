# Hints about a model that is not wrong: messages, each with a class of its own.

# ---- of the response --------------------------------------------------------------------------

say_hint <- function(fit) {
  text <- prediction_hint(fit$response, fit)
  if (!is.null(text)) say_wrapped(text)
}

inform_one_class <- function(fit, type, threshold) {
  text <- prediction_hint(fit$response, fit, type, threshold)
  if (!is.null(text)) inform("one_class", text, once = "one_class")
}

# ---- factors of very many levels --------------------------------------------------------------

# With as many columns as this, what a factor needs decides the variance of all.
many_levels <- 30L

# Factors that share an inferred variance with other terms, each once a session.
inform_many_levels <- function(frame, blocks) {
  levels <- lengths(frame$xlevels)
  for (name in names(levels)[levels >= many_levels]) {
    term <- match(name, frame$term_labels)
    own <- which(frame$assign == term)
    shared <- Filter(function(block) {
      any(own %in% block$columns) && !all(block$columns %in% own) && block$prior$penalised &&
        !block$prior$name %in% "normal" && prior_traits(block$prior)[["exchangeable"]]
    }, blocks)
    if (is.na(term) || length(shared) == 0L) next
    inform("many_levels", "The factor `", name, "` has ", levels[[name]], " levels, whose ",
           "coefficients share one variance with those of the other predictors. Write (1 | ", name,
           ") to give them a variance of their own.", once = paste("many_levels", name))
  }
}
