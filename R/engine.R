# An engine: the core's name for it and its numbers. Every constructor ends here. What R asks of an
# engine the core says (its kind, the priors and likelihoods it takes) or traits_of(), in the file
# of its constructor; a new engine is a file R/engine-<name>.R with both.
new_engine <- function(name, parameters, label) {
  structure(list(name = name, parameters = parameters, label = label),
            class = c(paste0("bsvm_engine_", name), "bsvm_engine"))
}

#' @rdname print.bsvm_component
#' @export
print.bsvm_engine <- function(x, ...) {
  cat("Engine: ", x$label, "\n", sep = "")
  invisible(x)
}

# As the user calls it.
engine_call <- function(engine, arguments = "") {
  name <- if (is_independent(engine)) "gaussian" else engine$name # of several responses
  paste0("engine_", name, "(", arguments, ")")
}

# ---- kinds --------------------------------------------------------------------------------------
# Results of an engine, by the core's registry: a bound and moments, a mixture over points of the
# variances, draws, or a point. An engine of none of the last three is the first.

is_approximation <- function(engine) engine$name %in% core_registry()$approximators

is_sampler <- function(engine) engine$name %in% core_registry()$samplers

is_estimator <- function(engine) engine$name %in% core_registry()$estimators

# ---- traits -------------------------------------------------------------------------------------

# Facts that R needs about an engine.
traits_of <- function(engine) UseMethod("traits_of")

#' @export
traits_of.bsvm_engine <- function(engine) new_traits()

# What it does with a model:
#   sparse             takes sparse predictors
#   elsewhere          fits rows that are in other processes
#   streams            fits rows that are read in parts
#   passes             how often it reads all rows, about
#   latent             the ways in which it looks at rows with unknown predictors (latent_uses())
#   latent_groups      ... also in a model with a grouping factor
#   latent_links       draws the linear predictors of such rows: their weights are limited
#   learned            takes terms whose parameters are inferred: "grouped" also next to a grouping
#                      factor, "alone" or "none"
#   integrates         integrates the effects of one factor out where this is possible
#   keeps_several      ... but not those of a single factor that has several for each level
#   needs_integrated   can't do without
#   gp_alone           takes models of Gaussian-process terms and columns of given variances alone,
#                      under pseudo-likelihoods of classes
#   learns_kernels     learns kernels and amplitudes itself
#   dense_selection    selects among dense predictors, next to at most one factor
#   grid               takes a grid of scales `nu`
#   nu                 a scale `nu` must be "given" or "inferred", or may be "any"
#   priors_needed      what to say of a prior it does not take
# What its fits have:
#   mode               modes in place of means
#   duality_gap        a duality gap in place of the gradient's size, of a mode next to a posterior
#   inverse_means      E 1/variance of every variance, also where its posterior has none
#   linear_response    why there is no covariance by linear response; NULL: there is one
# Words:
#   word               for the head of print()
#   bound, trace       names of the objective at the end (NULL: it is no bound and no evidence), and
#                      in the picture of its course
new_traits <- function(sparse = TRUE, elsewhere = FALSE, streams = elsewhere, passes = NA_real_,
                       latent = character(0), latent_groups = TRUE, latent_links = FALSE,
                       learned = "grouped", integrates = FALSE, keeps_several = FALSE,
                       needs_integrated = FALSE, gp_alone = FALSE, learns_kernels = FALSE,
                       dense_selection = FALSE, grid = FALSE, nu = "any", priors_needed = NULL,
                       mode = FALSE, duality_gap = FALSE, inverse_means = FALSE,
                       linear_response = NULL, word = NULL, bound = "Lower bound",
                       trace = "Objective") {
  as.list(environment())
}

trait <- function(engine, name) traits_of(engine)[[name]]

is_mode <- function(engine) trait(engine, "mode")

# The caution printed with the intervals of a fit or summary `x`; NULL for nothing.
engine_note <- function(engine, x) UseMethod("engine_note")

#' @export
engine_note.bsvm_engine <- function(engine, x) NULL

# The same of standard deviations of group effects.
group_note <- function(engine, x) UseMethod("group_note")

#' @export
group_note.bsvm_engine <- function(engine, x) NULL

# The engine for rows that are elsewhere (R/row-source.R), which a user's arguments may rule out.
for_rows_elsewhere <- function(engine) UseMethod("for_rows_elsewhere")

#' @export
for_rows_elsewhere.bsvm_engine <- function(engine) engine

# ---- arguments ----------------------------------------------------------------------------------

# An object of class bsvm_<kind>, or a string that names an exported constructor <kind>_<string>().
as_component <- function(x, kind) {
  if (inherits(x, paste0("bsvm_", kind))) return(check_component(x, kind))
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

known_engines <- function() {
  known_components("engine", getNamespaceExports(environment(as_component)))
}
