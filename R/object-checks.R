# Are objects what their class says? A class is easily given, and a list easily changed; what is
# wrong is said before it breaks something that has nothing to do with it.

# Refuses a call without arguments that have no default, by name.
need_arguments <- function(..., what) {
  frame <- parent.frame()
  for (name in c(...)) {
    if (!eval(call("missing", as.name(name)), frame)) next
    abort("argument", what, " needs `", name, "`, which is missing. See its help page.")
  }
}

# Kinds of values by name; with `?` in front, NULL is one too.
value_kinds <- list(
  numbers = list(is.numeric, "numbers"), text = list(is.character, "text"),
  list = list(is.list, "a list"), flag = list(is.logical, "TRUE or FALSE"),
  code = list(is.call, "a call or formula")
)

fit_fields <- c(
  call = "code", formula = "?code", terms = "?code", xlevels = "?list", contrasts = "?list",
  na.action = "?numbers", response = "list", y = "numbers", weights = "?numbers",
  offset = "?numbers", link = "numbers", nobs = "numbers", design = "list", groups = "?list",
  bases = "?list", posterior = "list", blocks = "list", group_blocks = "?list",
  elbo = "?numbers", passes = "?numbers", gradient = "?numbers", sampling = "?list",
  termination = "text", engine = "list", likelihood = "list", standardize = "flag",
  missing = "?list", control = "list", default_prior = "?flag", data = "?list", arguments = "?list",
  odds_slope = "?numbers", counts = "?list", scale_model = "?list", scale_columns = "?numbers"
)

part_fields <- list(
  design = c(columns = "?text", assign = "?numbers", term_labels = "?text", center = "numbers",
             scale = "numbers", intercept = "numbers", implicit = "flag", unit = "numbers",
             shift = "numbers", sparse = "?numbers", rotation = "list"),
  engine = c(name = "text", label = "text"),
  likelihood = c(name = "text", label = "text", normalized = "flag"),
  sampling = c(draws = "numbers", burnin = "numbers", thin = "numbers", chains = "numbers",
               seconds = "numbers"),
  missing = c(rule = "list"), control = c(threads = "numbers")
)

posterior_fields <- c(
  mean = "numbers", weights = "?numbers", components = "?list", theta = "?numbers",
  log_density = "?numbers", free = "?list", integrated = "?numbers", point = "?flag",
  group_file = "?list", group_mean = "?numbers", group_precision = "?numbers", group_regression = "?numbers",
  effects = "?numbers", effects_mean = "?numbers", effects_sd = "?numbers", factor = "?list",
  coefficients = "?numbers", variances = "?list", inclusion = "?list", multipliers = "?numbers",
  path = "?list"
)

posterior_classes <- c("bsvm_moments", "bsvm_sparse_moments", "bsvm_draws", "bsvm_mixture",
                       "bsvm_point")

# A fit, or a summary of one, as bsvm() and summary() make them.
check_fit <- function(fit, name = "object", class = "bsvm") {
  if (inherits(fit, "summary.bsvm")) return(invisible(fit))
  if (!inherits(fit, class)) {
    if (inherits(fit, "bsvm_factor_model")) refuse_alone("This")
    if (inherits(fit, "bsvm_quantiles")) refuse_quantiles_together("This")
    if (inherits(fit, "bsvm_responses")) refuse_for_all("This")
    abort("argument", "`", name, "` must be a fit from bsvm(); found ", describe(fit), ".")
  }
  check_fields(fit, fit_fields)
  for (part in names(part_fields)) {
    if (!is.null(fit[[part]])) check_fields(fit[[part]], part_fields[[part]], part)
  }
  if (!inherits(fit$posterior, posterior_classes)) refuse_fit("`posterior` has no known class")
  for (part in c("likelihood", "response", "engine")) {
    if (!inherits(fit[[part]], paste0("bsvm_", part))) refuse_fit("`", part, "` has no known class")
  }
  check_whole_response(fit$response)
  check_fields(fit$posterior, posterior_fields, "posterior")
  check_fit_blocks(c(fit$blocks, fit$group_blocks))
  check_fit_groups(fit$groups)
  check_lengths(fit)
  invisible(fit)
}

refuse_fit <- function(...) {
  abort("argument", "The fit is not as bsvm() made it: ", ..., ". Fit the model again.")
}

check_fields <- function(part, fields, name = NULL) {
  if (!is.list(part)) refuse_fit("`", c(name, "fit")[1L], "` must be a list")
  for (field in names(fields)) {
    kind <- fields[[field]]
    value <- part[[field]]
    if (is.null(value) && startsWith(kind, "?")) next
    known <- value_kinds[[sub("?", "", kind, fixed = TRUE)]]
    if (known[[1L]](value)) next
    refuse_fit("`", paste(c(name, field), collapse = "$"), "` must be ", known[[2L]], ", found ",
               describe(value))
  }
}

check_fit_blocks <- function(blocks) {
  if (are_blocks(blocks)) return(invisible())
  refuse_fit("`blocks` and `group_blocks` must be lists of blocks with priors")
}

are_blocks <- function(blocks) {
  all(vapply(blocks, function(block) {
    is.list(block) && is_prior(block$prior) && is.numeric(block$columns) &&
      is.character(block$label) && (is.null(block$hyper) || is.vector(block$hyper))
  }, TRUE))
}

check_fit_groups <- function(groups) {
  good <- vapply(groups, function(group) {
    is.list(group) && is.character(group$levels) && is.character(group$labels) &&
      is.language(group$variable) && is.list(group$blocks)
  }, TRUE)
  if (!all(good) || is.null(names(groups)) && length(groups) > 0L) {
    refuse_fit("`groups` must be a named list of grouping factors")
  }
}

check_lengths <- function(fit) {
  n <- length(fit$link)
  p <- length(fit$design$columns)
  columns <- sort(unlist(lapply(fit$blocks, `[[`, "columns")))
  effects <- length(unlist(lapply(fit$groups, `[[`, "labels")))
  good <- c(
    y = length(fit$y) == n, weights = length(fit$weights) %in% c(0L, n),
    offset = length(fit$offset) %in% c(0L, n), nobs = length(fit$nobs) == 1L,
    `design$center` = length(fit$design$center) == p,
    `design$scale` = length(fit$design$scale) == p,
    `design$assign` = length(fit$design$assign) == p,
    `posterior$covariance` = covariance_fits(fit$posterior),
    `posterior$coefficients` = !inherits(fit$posterior, "bsvm_draws") ||
      length(dim(fit$posterior$coefficients)) == 3L,
    `posterior$components` = !inherits(fit$posterior, "bsvm_mixture") ||
      length(fit$posterior$components) == max(1L, length(fit$posterior$weights)),
    `design$sparse` = all(fit$design$sparse %in% seq_len(p)),
    blocks = identical(as.integer(columns), seq_len(p)),
    bases = is.null(fit$terms) ||
      length(fit$design$term_labels) == length(labels(fit$terms)) + length(fit$bases),
    group_blocks = length(unlist(lapply(fit$group_blocks, `[[`, "columns"))) == effects
  )
  if (!all(good)) refuse_fit("`", names(good)[!good][1L], "` has the wrong length")
}

covariance_fits <- function(posterior) {
  covariance <- posterior$covariance
  if (is.null(covariance) || inherits(covariance, "bsvm_low_rank")) return(TRUE)
  is.numeric(covariance) && identical(dim(covariance), rep(length(posterior$mean), 2L))
}

# ---- stages ---------------------------------------------------------------------------------

frame_fields <- c(
  y = "numbers", response = "list", columns = "?text", assign = "?numbers", term_labels = "?text",
  intercept = "numbers", implicit = "flag", weights = "?numbers", offset = "?numbers",
  groups = "?list", bases = "?list", nobs = "numbers", bars = "flag", made = "?list",
  left_over = "?numbers",
  unknowns = "?list", absent = "?list", scale_model = "?list", scale_columns = "?numbers"
)

spec_fields <- c(problem = "list", model = "list", design = "list", blocks = "list",
                 group_blocks = "?list", likelihood = "list", engine = "list", standardize = "flag",
                 default_prior = "?flag", missing = "?list", law = "?list")

check_frame <- function(frame) {
  good <- has_fields(frame, frame_fields) && length(dim(frame$x)) == 2L &&
    length(frame$nobs) == 1L && all(c(nrow(frame$x), length(frame$y)) == frame$nobs) &&
    length(frame$columns) ==
      ncol(frame$x) + isTRUE(frame$implicit) + length(made_columns(frame)) &&
    inherits(frame$response, "bsvm_response")
  if (!good) refuse_stage("frame")
}

check_spec <- function(spec) {
  good <- has_fields(spec, spec_fields) && is.numeric(spec$problem$y) &&
    length(dim(spec$problem$x)) == 2L && nrow(spec$problem$x) == length(spec$problem$y) &&
    are_blocks(c(spec$blocks, spec$group_blocks))
  if (!good) refuse_stage("spec")
  check_component(spec$engine, "engine")
  check_component(spec$likelihood, "likelihood")
}

refuse_stage <- function(name) {
  abort("argument", "`", name, "` has the class bsvm_", name, ", but not what bsvm_", name, "() ",
        "puts into it. Use the value of bsvm_", name, "() as it is.")
}

# Do a frame, a spec and a result belong together?
check_belongs <- function(frame, spec, result, call) {
  if (!inherits(frame, "bsvm_frame") || !inherits(spec, "bsvm_spec") || !is.list(result)) {
    abort("argument", "new_bsvm() needs a `frame` made by bsvm_frame(), a `spec` made of it by ",
          "bsvm_spec(), and a `result` of bsvm_run(); found ", describe(frame), ", ",
          describe(spec), " and ", describe(result), ".")
  }
  if (!is.call(call)) abort("argument", "`call` must be a call; found ", describe(call), ".")
  same <- identical(frame$columns, spec$design$columns) &&
    identical(response_in_units(frame$y, spec$design), problem_response(spec$problem)) &&
    length(unlist(lapply(spec$group_blocks, `[[`, "columns"))) ==
      length(unlist(lapply(frame$groups, `[[`, "labels")))
  if (!same) {
    abort("argument", "`frame` and `spec` do not belong together: `spec` must be ",
          "bsvm_spec(frame), of the same rows and columns.")
  }
  made <- inherits(result$posterior, posterior_classes) &&
    length(result$posterior$mean) == sum(lengths(lapply(spec$model$blocks, `[[`, "columns"))) &&
    length(result$hyper) == length(spec$blocks) &&
    length(result$group_hyper) == length(spec$group_blocks)
  if (!made) {
    abort("argument", "`result` and `spec` do not belong together: `result` must be ",
          "bsvm_run(spec).")
  }
}

# ---- components ---------------------------------------------------------------------------

# Something of class bsvm_<kind> has what its constructors give it: the fields of the kind and, of
# engines and rules for missing values, the names of settings.
component_fields <- list(
  engine = c(name = "text", parameters = "numbers", label = "text", settings = "?list"),
  likelihood = c(name = "text", parameters = "numbers", label = "text", normalized = "flag"),
  missing = c(name = "text", label = "text", settings = "list"),
  prior = c(name = "text", parameters = "numbers", label = "text", penalised = "flag"),
  hyperprior = c(name = "text", parameters = "numbers", label = "text"),
  control = c(threads = "numbers", tol = "numbers", max_passes = "numbers", verbose = "?flag",
              start = "?numbers")
)

check_component <- function(x, kind) {
  if (!has_fields(x, component_fields[[kind]]) || !has_settings(x, kind)) {
    class <- if (kind %in% c("prior", "hyperprior")) "prior" else "argument"
    name <- if (kind == "hyperprior") "variance" else kind
    abort(class, "`", name, "` has the class bsvm_", kind, ", but not what the function that ",
          "makes it, such as ", component_example[[kind]], "(), puts into it. Use the function's ",
          "own value.")
  }
  x
}

component_example <- c(engine = "engine_vb", likelihood = "likelihood_hinge",
                       missing = "missing_normal", prior = "prior_ridge",
                       hyperprior = "prior_half_t", control = "bsvm_control")

has_fields <- function(x, fields) {
  if (!is.list(x)) return(FALSE)
  all(vapply(names(fields), function(field) {
    value <- x[[field]]
    kind <- fields[[field]]
    is.null(value) && startsWith(kind, "?") ||
      value_kinds[[sub("?", "", kind, fixed = TRUE)]][[1L]](value)
  }, TRUE)) && !any(c(length(x$name), length(x$label)) > 1L)
}

has_settings <- function(x, kind) {
  if (!kind %in% c("engine", "missing")) return(TRUE)
  made <- get0(paste0(kind, "_", x$name), environment(has_settings), mode = "function")
  if (is.null(made)) return(kind == "engine") # of another package, or none: the core knows
  own <- tryCatch(made(), error = function(e) NULL)
  is.null(own) || setequal(names(own$parameters), names(x$parameters)) &&
    all(names(own$settings) %in% names(x$settings))
}
