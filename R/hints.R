# What users should hear of a model that is not wrong: messages, each with a class of its own.

# ---- one class for all rows -----------------------------------------------------------------

# The class all rows of the fit are put into, NULL where there are two. Without predictors it is
# no news.
only_class <- function(fit) {
  if (length(fit$design$columns) < 2L && is.null(fit$groups)) return(NULL)
  positive <- fit$link[used_rows(fit)] >= 0
  positive <- positive[!is.na(positive)]
  if (length(positive) == 0L || any(positive != positive[1L])) return(NULL)
  fit$response$levels[1L + positive[1L]]
}

# Classes follow the sign of the linear predictor, whatever the share of the other class.
one_class_text <- function(fit) {
  class <- only_class(fit)
  if (is.null(class)) return(NULL)
  other <- setdiff(fit$response$levels, class)
  share <- mean(fit$y[used_rows(fit)] == if (other == fit$response$levels[2L]) 1 else -1)
  paste0("All rows are put into class \"", class, "\"; ", format_share(share), " are of class \"",
         other, "\". To find these, use predict() with a `threshold` or with `costs`, or fit with ",
         "`class.weights`.")
}

say_one_class <- function(fit) {
  text <- one_class_text(fit)
  if (!is.null(text)) say_wrapped(text)
}

inform_one_class <- function(fit, type, threshold) {
  if (type != "class" || !is.null(threshold) || isTRUE(session$one_class)) return(invisible())
  text <- one_class_text(fit)
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
