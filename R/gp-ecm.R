# Kernels as engine_ecm() learns them (src/core/learn/ecm_learner.hpp): from all rows, under the
# fit's own likelihood, with pseudo-inputs where there are fewer inducing points than rows.

learns_by_ecm <- function(engine) {
  !is.null(engine) && trait(as_component(engine, "engine"), "learns_kernels")
}

# As learn_kernels().
learn_by_ecm <- function(frame, prior, likelihood, engine, verbose) {
  likelihood <- if (is.null(likelihood)) likelihood_hinge() else as_likelihood(likelihood)
  check_kind(frame$response, likelihood)
  rows <- seq_len(frame$nobs)
  frame <- with_distances(with_gp_unit(frame, 1), rows)
  assigned <- scale_priors(assign_priors(frame, prior), likelihood)
  assigned$blocks <- c(assigned$blocks, parameter_blocks(likelihood))
  check_engine(engine, frame, likelihood, assigned)
  units <- list(unit = 1, shift = 0)
  model <- learning_model(frame, assigned, likelihood, units, rows)
  bases <- gp_bases(frame)
  points <- lapply(model$parts, function(part) {
    basis <- basis_of(bases, part)
    if (points_in_mind(basis) == 0L) return(NULL)
    gp_points(basis, part$part, part$factors, part_theta(part), part$summand$points)
  })
  started <- proc.time()[["elapsed"]]
  found <- with_core_conditions(core_learn_ecm(model$core, points, ecm_scheme(likelihood, engine),
                                               verbose))
  model <- with_learned(model, found$theta)
  for (k in seq_along(points)) model$parts[[k]]$points <- found$points[[k]]
  facts <- list(rounds = found$rounds, seconds = proc.time()[["elapsed"]] - started,
                converged = TRUE)
  bases <- settle_gp(gp_bases(frame), model, rows, facts, verbose)
  bases <- with_gp_columns(bases, frame, makes_columns(frame, bases, engine))
  bases <- judge_kernels(bases, model, NULL)
  tell_kernels(bases)
  bind_gp(frame, bases)
}

# The core's options for the likelihood and the rounds.
ecm_scheme <- function(likelihood, engine) {
  inferred <- !is.null(likelihood$priors[["gamma"]])
  numbers <- if (inferred) likelihood$priors[["gamma"]]$parameters else c(shape = 1, rate = 0)
  given <- c(gamma = 1, gamma0 = 0)
  given[names(likelihood$parameters)] <- likelihood$parameters
  settings <- engine$settings
  list(gamma = given[["gamma"]], gamma0 = given[["gamma0"]], inferred = inferred,
       shape = numbers[["shape"]], rate = numbers[["rate"]], rounds = settings$rounds,
       iterations = settings$iterations, move = settings$learn_points)
}

# The pseudo-likelihoods of classes whose `gamma0` is given.
is_ecm_likelihood <- function(likelihood) {
  response_kind(likelihood) == "classes" && !is_law(likelihood) &&
    !"gamma0" %in% names(likelihood$priors)
}

# An engine for Gaussian-process terms has these, and columns of given variances.
check_gp_alone <- function(engine, frame, assigned) {
  if (!trait(engine, "gp_alone")) return(invisible())
  refuse <- function(...) abort("unsupported", engine_call(engine), " ", ...)
  gps <- gp_bases(frame)
  if (length(gps) == 0L) refuse("needs a Gaussian-process term, as in y ~ gp(x).")
  others <- Filter(Negate(is_gp), frame$bases)
  if (length(others) > 0L) {
    refuse("does not support smooth terms: ", enumerate(basis_labels(others)), ".")
  }
  if (length(frame$groups) > 0L) {
    refuse("does not support random-effects terms: ", enumerate(names(frame$groups)), ".")
  }
  own <- unlist(lapply(gps, function(basis) names(basis$blocks)))
  for (block in assigned$blocks) {
    known <- is_parameter(block) || block$label %in% own || is_known_normal(block)
    if (!known) {
      refuse("needs given variances of linear terms, as prior_flat() and ",
             "prior_ridge(variance = 4) have; found ", block$prior$label, " of ",
             enumerate(block$label, "`"), ".")
    }
  }
}

# Below, the density of `gamma` given the function decreases from zero on.
check_gamma_mode <- function(engine, frame, likelihood) {
  prior <- likelihood$priors[["gamma"]]
  if (!trait(engine, "gp_alone") || is.null(prior)) return(invisible())
  shape <- prior$parameters[["shape"]]
  rows <- if (is.null(frame$weights)) length(frame$y) else sum(frame$weights)
  if (shape + rows / 2 > 1) return(invisible())
  abort("unsupported", engine_call(engine), " estimates `gamma` by its mode, and with shape ",
        format(shape), " and ", if (is.null(frame$weights)) "rows" else "weights",
        " that add up to ", format(rows), " the density of `gamma` has no mode above zero. Use ",
        "prior_gamma(shape = 1) or a larger shape.")
}

# ---- what is said -------------------------------------------------------------------------------

# list(rows, seconds, rounds), `rounds` a matrix with a row for each: the log evidence given the
# latent scales before and after ML-II, gamma, and the largest change of a logarithm.
ecm_facts <- function(learned) {
  rounds <- learned$rounds
  colnames(rounds) <- c("before", "after", "gamma", "change")
  list(rows = learned$rows, seconds = learned$seconds, rounds = rounds)
}

say_ecm <- function(learning) {
  rounds <- learning$rounds
  n <- nrow(rounds)
  if (n == 0L) return(invisible())
  change <- 100 * (exp(rounds[n, "change"]) - 1)
  say_wrapped(paste0("Kernels were learned from ", learning$rows, " rows in ",
                     format(learning$seconds, digits = 2L), " s, by ", n, " round",
                     if (n > 1L) "s", " of ECM and ML-II. The last round changed a number of the ",
                     "kernels by ", format(change, digits = 2L), " %: the rounds do not maximise ",
                     "one objective."), 2L)
}
