# An engine: the core's name for it and its numbers. Every constructor ends here.
new_engine <- function(name, parameters, label) {
  structure(list(name = name, parameters = parameters, label = label), class = "bsvm_engine")
}

#' @rdname print.bsvm_component
#' @export
print.bsvm_engine <- function(x, ...) {
  cat("Engine: ", x$label, "\n", sep = "")
  invisible(x)
}

# NULL picks what is nearest to the posterior at comparable cost: the Gaussian engine, but under the
# pseudo-likelihood, where there is a quicker one, only where it costs about as much. Priors that
# these can't take get variational Bayes or, failing that, draws.
as_engine <- function(x, likelihood, frame, assigned) {
  if (!is.null(x)) return(as_component(x, "engine"))
  blocks <- all_blocks(assigned)
  takes_all <- function(engine) all(vapply(blocks, takes_prior, TRUE, engine = engine))
  if (takes_all(engine_gaussian())) {
    if (is_normalised(likelihood) || is_quick(frame, likelihood)) return(engine_gaussian())
    return(engine_vb())
  }
  if (takes_all(engine_vb())) engine_vb() else engine_gibbs()
}

takes_prior <- function(block, engine) {
  core_takes(engine$name, engine$parameters, block$prior$name, block$prior$parameters)
}

check_prior_engines <- function(blocks, engine) {
  for (block in blocks) {
    if (takes_prior(block, engine)) next
    names <- known_components("engine", getNamespaceExports(environment(as_component)))
    able <- Filter(function(name) all(vapply(blocks, takes_prior, TRUE, as_component(name, "engine"))),
                   names)
    abort("unsupported", "engine_", engine$name, "() can't take the prior of ",
          enumerate(block$label, "`"), " (", block$prior$label, "). ",
          if (length(able) > 0L) "All priors of this model go with "
          else "No engine takes all priors of this model",
          if (length(able) > 0L) enumerate(paste0("engine_", able, "()"), ""), ".",
          if (is_estimator(engine)) paste0(" Or give every variance a number, as ",
                                           "prior_ridge(variance = 2)."))
  }
}

is_quick <- function(frame, likelihood) {
  groups <- frame$groups
  simple <- length(groups) == 0L || (length(groups) == 1L && length(groups[[1L]]$labels) == 1L &&
                                       !leaves_kinks(groups[[1L]], likelihood))
  simple && length(frame$columns) <= 200L && length(frame$y) <= 1e5 && !is_sparse(frame$x)
}

# An object of class bsvm_<kind>, or a string that names an exported constructor <kind>_<string>().
as_component <- function(x, kind) {
  if (inherits(x, paste0("bsvm_", kind))) return(x)
  namespace <- environment(as_component)
  known <- known_components(kind, getNamespaceExports(namespace))
  if (is.character(x) && length(x) == 1L && x %in% known) {
    return(get(paste0(kind, "_", x), envir = namespace)())
  }
  abort("argument", "`", kind, "` must be made by ",
        if (length(known) > 1L) "one of ", enumerate(paste0(kind, "_", known, "()"), ""),
        ", or be ",
        if (length(known) > 1L) "one of the strings " else "the string ", enumerate(known, "\""),
        "; found ", describe(x), ".")
}

known_components <- function(kind, exports) {
  prefix <- paste0("^", kind, "_")
  sort(sub(prefix, "", grep(prefix, exports, value = TRUE)))
}
