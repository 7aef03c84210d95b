# Several responses with correlated residuals, by Gibbs sampling. The frame and the specification
# are those of a fit to each response alone, which share the design: only the responses, their units
# and the numbers of priors differ.

residual_label <- "residual"

fit_correlated <- function(y, call, data, arguments, env) {
  likelihood <- as_likelihood(arguments$likelihood)
  check_open_scale(likelihood)
  engine <- responses_engine(arguments$engine)
  given <- split_residual(arguments$prior)
  frame <- responses_frame(y, call, data, arguments, env)
  rows <- frame$y
  check_responses(y[rows, , drop = FALSE])
  check_dependence(frame, y[rows, , drop = FALSE])
  given$prior <- with_weak_slopes(given$prior, frame)
  frames <- response_frames(frame, y, given$prior, engine)
  specs <- lapply(frames, bsvm_spec, prior = given$prior, likelihood = likelihood_gaussian(),
                  engine = engine, standardize = arguments$standardize)
  units <- vapply(specs, function(spec) spec$design$unit, 0)
  check_loss_rows(frame, likelihood)
  result <- run_responses(specs, frame$groups, y[rows, , drop = FALSE], given$residual, likelihood,
                          engine, arguments$control)
  runs <- response_runs(result, specs, frame$groups)
  groups <- group_covariances(result, specs, frame$groups, units)
  fits <- lapply(seq_len(ncol(y)), function(j) {
    spec <- with_residual_prior(specs[[j]], result$core_residual, j)
    one <- call
    one$formula <- frames[[j]]$formula
    kept <- if (arguments$keep_data) data_for(data, arguments$formula, colnames(y)[j], y, rows)
    fit <- new_bsvm(frames[[j]], spec, runs[[j]], one, arguments$control, kept)
    without_missing(with_joint(fit, groups, j, result$seed), is.na(y[rows, j]))
  })
  out <- new_responses(stats::setNames(fits, colnames(y)), y[rows, , drop = FALSE], call,
                       arguments$formula, identified(result, units), groups,
                       imputed_responses(result, y, rows, specs), runs[[1L]]$sampling,
                       result$termination, arguments, loss_draws(result, likelihood, units),
                       frame$weights)
  warn_responses(out)
  out
}

# A combination of responses that the columns fit exactly, in complete rows: towards a covariance
# that is singular along it the likelihood grows without bound, faster than the prior falls.
check_dependence <- function(frame, y) {
  whole <- which(rowSums(is.na(y)) == 0L)
  x <- frame$x[whole, setdiff(seq_len(ncol(frame$x)), columns_of(frame$bases)), drop = FALSE]
  if (ncol(x) + ncol(y) >= length(whole)) x <- matrix(1, length(whole), 1L)
  if (length(whole) <= ncol(y) + 1L) return(invisible())
  y <- scale(y[whole, , drop = FALSE])
  y <- y[, colSums(is.nan(y)) == 0L, drop = FALSE] # others vary in incomplete rows
  found <- qr(qr.resid(qr(x), y), tol = 1e-7)
  if (found$rank == ncol(y)) return(invisible())
  odd <- colnames(y)[found$pivot[-seq_len(found$rank)]]
  several <- length(odd) > 1L
  abort("response", "The response", plural(odd), " ", enumerate(odd), if (several) " are " else " is ",
        "a linear combination of other responses and predictors: the residual covariance would be ",
        "singular. Remove ", if (several) "them." else "it.")
}

# The data of the fit to one response.
data_for <- function(data, formula, name, y, rows) {
  own <- without_responses(data, formula)[rows, , drop = FALSE]
  own[[name]] <- y[rows, name]
  own
}

# Draws that no data inform are a function of a fit's seed: those of responses are independent, but
# for the effects of levels that are new.
with_joint <- function(fit, groups, j, seed) {
  fit$sampling$seed <- seed + j
  if (length(groups) > 0L) fit$joint <- list(groups = groups, response = j, seed = seed)
  fit
}

# Rows that lack the response are in no sum over rows.
without_missing <- function(fit, missing) {
  if (!any(missing)) return(fit)
  fit$y[missing] <- NA
  weights <- if (is.null(fit$weights)) rep(1, length(fit$y)) else fit$weights
  fit$weights <- replace(weights, missing, 0)
  fit$nobs <- sum(!missing)
  fit
}

# The scale of one response has the marginal of the covariance's prior.
with_residual_prior <- function(spec, residual, j) {
  numbers <- residual$parameters
  unit <- spec$design$unit
  prior <- if (residual$prior == "huang_wand") {
    prior_half_t(numbers[["df"]], numbers[[paste0("scale_", j)]] * unit)
  } else {
    prior_inv_gamma((numbers[["df"]] - numbers[["effects"]] + 1) / 2,
                    numbers[[paste("scale", j, j, sep = "_")]] * unit^2 / 2)
  }
  at <- which(vapply(spec$blocks, is_parameter, TRUE))
  said <- c("name", "parameters", "label")
  spec$blocks[[at]]$prior[said] <- prior[said]
  spec
}

# The normal residual takes the scale's place, but where a second residual has it.
check_open_scale <- function(likelihood) {
  by_row <- has_row_scales(likelihood)
  if (is_gaussian(likelihood) && is.null(likelihood$priors$scale) && !by_row) {
    abort("argument", "With correlated residuals the likelihood's `scale` can't be a number. Use ",
          "prior = list(residual = prior_half_t(scale = )), or residual = \"independent\".")
  }
  if (!by_row && identical(likelihood$priors$scale, prior_half_t(3))) return(invisible())
  if (by_row || !has_second_residual(likelihood)) {
    abort("argument", "With correlated residuals the likelihood's `scale` can't be given",
          if (by_row) " as a formula", ". Use ",
          "prior = list(residual = prior_half_t(scale = )), or residual = \"independent\".")
  }
  if (!is_gaussian(likelihood) && !is.null(likelihood$priors$scale)) {
    abort("argument", "With correlated residuals `scale` must be a number, or NULL: its prior is ",
          "that of the loss's share of the variance. Omit `scale`.")
  }
}

is_gaussian <- function(likelihood) inherits(likelihood, "bsvm_likelihood_gaussian")

has_second_residual <- function(likelihood) {
  !is_gaussian(likelihood) || identical(likelihood$residual, "paper")
}

check_loss_rows <- function(frame, likelihood) {
  if (!has_second_residual(likelihood) || is.null(frame$weights)) return(invisible())
  abort("unsupported", "`weights` are not supported with ",
        if (is_gaussian(likelihood)) "two residuals" else "a latent response",
        ". Omit them, or use residual = \"independent\".")
}

# Draws with most coefficients integrated out forget their start at once.
few_burnin <- 300L

# Gibbs sampling, with the settings of the engine that was given.
responses_engine <- function(engine) {
  if (is.null(engine)) return(engine_gibbs(burnin = few_burnin))
  engine <- as_component(engine, "engine")
  if (identical(engine$name, "gibbs")) return(engine)
  abort("unsupported", "Several responses with correlated residuals need engine_gibbs(); found ",
        engine_call(engine), ". Omit `engine`, or use `residual = \"independent\"` in the ",
        "likelihood.")
}

# list(prior, residual): the user's priors without that of the residual covariance.
split_residual <- function(prior) {
  if (!is.list(prior) || inherits(prior, "bsvm_prior") || is.null(prior[[residual_label]])) {
    return(list(prior = prior, residual = NULL))
  }
  residual <- prior[[residual_label]]
  prior[[residual_label]] <- NULL
  list(prior = if (length(prior) > 0L) prior, residual = residual)
}

# By default few slopes are not shrunk together. If responses are correlated, slopes of zero can be
# made up for by the residual covariance: the effects of three diets on eleven weights of rats
# disappeared under an inferred variance for each response. The estimates of flat slopes do not depend
# on that covariance.
rows_a_slope <- 3

with_weak_slopes <- function(prior, frame) {
  slopes <- setdiff(seq_along(frame$columns), c(frame$intercept, columns_of(frame$bases)))
  given <- !is.null(prior) && "" %in% names(as_prior_list(prior))
  few <- length(slopes) > 0L && rows_a_slope * length(slopes) <= frame$nobs
  if (given || is_mixed(frame) || !few) return(prior)
  c(list(prior_weak_slope()), as_prior_list(prior))
}

# The frame of the design, its response the number of each row.
responses_frame <- function(y, call, data, arguments, env) {
  formula <- arguments$formula
  hidden <- ".bsvm_row"
  rest <- with_column(without_responses(data, formula), hidden, as.double(seq_len(nrow(y))),
                      seq_len(nrow(y)))
  formula[[2L]] <- as.name(hidden)
  lazy <- frame_call(call)
  lazy$formula <- formula
  values <- list(data = rest, likelihood = likelihood_gaussian(), prior = not_learned)
  frame <- eval_with(lazy, values, env)
  check_made_for_responses(frame, y)
  frame
}

check_made_for_responses <- function(frame, y) {
  if (is_sparse(frame$x)) {
    abort("unsupported", "Sparse predictors are not supported with several responses. Use ",
          "as.matrix() of them.")
  }
  if (!is.null(frame$absent) || !is.null(frame$offset)) {
    abort("unsupported", if (is.null(frame$offset)) "Weights of zero are" else "An offset is",
          " not supported with several responses. ",
          if (is.null(frame$offset)) "Remove these rows." else "Subtract it from the responses.")
  }
  if (!is.null(frame$weights) && anyNA(y[frame$y, ])) {
    abort("unsupported", "`weights` are not supported with missing responses. Omit them, or use ",
          "complete rows.")
  }
  if (any(vapply(gp_bases(frame), function(basis) basis$infer != "none", TRUE))) {
    abort("unsupported", "`infer` of gp() is not supported with several responses. Omit it.")
  }
}

# A frame for each response; missing values have quantiles of the others, for units and starts.
response_frames <- function(frame, y, prior, engine) {
  rows <- frame$y
  frames <- lapply(seq_len(ncol(y)), function(j) {
    own <- frame
    values <- y[rows, j]
    absent <- is.na(values)
    values[absent] <- stats::quantile(values, stats::ppoints(sum(absent)), na.rm = TRUE,
                                      names = FALSE)
    own$y <- values
    own$formula[[2L]] <- as.name(colnames(y)[j])
    own
  })
  names(frames) <- colnames(y)
  if (length(gp_bases(frame)) == 0L) frames else with_shared_kernels(frames, prior, engine)
}

# ---- the core -----------------------------------------------------------------------------------

run_responses <- function(specs, groups, y, residual, likelihood, engine, control) {
  check_no_start(control)
  check_draws_memory(specs[[1L]], length(specs))
  units <- vapply(specs, function(spec) spec$design$unit, 0)
  shift <- vapply(specs, function(spec) spec$design$shift, 0)
  residual <- core_residual(residual, units, names(specs))
  internal <- t((t(y) - shift) / units)
  options <- sampler_options(engine, control)
  if (options$most > 0L) options$most <- min(options$most, most_kept(specs[[1L]]) %/% length(specs))
  options$most <- max(options$most, if (options$most > 0L) options$draws else 0L)
  blocks <- lapply(specs, function(spec) {
    Filter(function(block) !isTRUE(block$parameter), spec$model$blocks)
  })
  check_blocks(blocks[[1L]], specs[[1L]])
  free_memory(length(y))
  starts <- response_starts(specs, internal, blocks[[1L]])
  blocks[[1L]] <- lapply(seq_along(blocks[[1L]]), function(k) {
    own <- blocks[[1L]][[k]]
    start <- starts$blocks[k, ]
    own["start"] <- list(if (length(start) > 0L && !anyNA(start)) start)
    own
  })
  started <- proc.time()[["elapsed"]]
  result <- with_core_conditions(core_responses(
    specs[[1L]]$problem[c("x", "center", "scale", "weight", "intercept")], internal,
    unname(blocks), core_factors(specs, groups),
    c(residual, list(start = starts$residual)), core_losses(likelihood, units), options))
  result$seconds <- proc.time()[["elapsed"]] - started
  result$options <- options
  result$core_residual <- residual
  warn_checkpoint(result$checkpoint_failed, options$checkpoint)
  second <- if (has_second_residual(likelihood)) length(specs) else 0L
  result$losses <- utils::tail(result$hyper, second)
  count <- length(result$hyper) - length(result$losses)
  result$residual <- result$hyper[[count]]
  result$factors <- result$hyper[count - rev(seq_along(specs[[1L]]$group_blocks))]
  result
}

check_blocks <- function(blocks, spec) {
  selects <- vapply(spec$blocks, function(block) prior_traits(block$prior)[["selects"]], TRUE)
  if (!any(selects)) return(invisible())
  abort("unsupported", "Priors that select variables are not supported with several responses; ",
        "found ", spec$blocks[[which(selects)[1L]]]$prior$label, ". Use prior_ridge() or ",
        "prior_lasso().")
}

# A part of the core's model for each block of a grouping factor: the effects of all responses have
# one covariance.
core_factors <- function(specs, groups) {
  blocks <- specs[[1L]]$group_blocks
  first <- effects_before(groups)
  lapply(seq_along(blocks), function(k) {
    group <- groups[[blocks[[k]]$factor]]
    at <- blocks[[k]]$columns - first[[blocks[[k]]$factor]]
    z <- if (!is.null(group$z)) group$z[, at, drop = FALSE]
    priors <- lapply(specs, function(spec) spec$model$group_blocks[[k]])
    c(list(codes = group$codes, levels = length(group$levels), z = z),
      joint_prior(priors, length(at), blocks[[k]]$label))
  })
}

# How many effects the factors before each one have.
effects_before <- function(groups) {
  counts <- vapply(groups, function(group) length(group$labels), 0L)
  stats::setNames(cumsum(c(0L, counts))[seq_along(counts)], names(groups))
}

# The priors of the same d effects of each response as one of their covariance: standard deviations
# keep their distributions, and so do the covariances of each response.
joint_prior <- function(priors, d, label) {
  numbers <- lapply(priors, `[[`, "parameters")
  all <- d * length(priors)
  if (all > most_responses) {
    abort("size", "`", label, "` has ", all, " correlated effects over all responses; at most ",
          most_responses, " are possible. Use fewer responses, or `||`.")
  }
  kind <- priors[[1L]]$prior
  if (kind %in% c("half_t", "huang_wand")) {
    scales <- unlist(lapply(numbers, function(x) x[setdiff(names(x), c("effects", "df"))]),
                     use.names = FALSE)
    return(list(prior = "huang_wand", parameters = c(
      effects = all, df = numbers[[1L]][["df"]],
      stats::setNames(scales, paste0("scale_", seq_len(all))))))
  }
  if (!kind %in% c("ridge", "inverse_wishart")) {
    abort("prior", "With several responses the prior of `", label, "` must be one with an ",
          "inferred variance, such as prior_ridge() or prior_inv_wishart().")
  }
  df <- if (kind == "ridge") 2 * numbers[[1L]][["shape"]] else numbers[[1L]][["df"]]
  scale <- matrix(0, all, all)
  for (j in seq_along(numbers)) {
    at <- (j - 1L) * d + seq_len(d)
    scale[at, at] <- if (kind == "ridge") 2 * numbers[[j]][["scale"]]
                     else full_matrix(numbers[[j]][-(1:2)])
  }
  list(prior = "inverse_wishart", parameters = c(effects = all, df = df + all - d,
                                                 lower_triangle(scale)))
}

# The residuals have half-t standard deviations, correlations uniform each, unless it is given.
core_residual <- function(prior, units, names) {
  q <- length(units)
  if (is.null(prior)) prior <- prior_half_t(df = 2)
  if (inherits(prior, "bsvm_hyperprior") && identical(prior$name, "half_t")) {
    given <- is.null(prior$open_scale)
    scale <- prior$parameters[["scale"]] / (if (given) units else 1)
    return(list(prior = "huang_wand", parameters = c(
      effects = q, df = prior$parameters[["df"]],
      stats::setNames(rep_len(scale, q), paste0("scale_", seq_len(q))))))
  }
  if (!inherits(prior, "bsvm_prior") || !identical(prior$name, "inverse_wishart")) {
    abort("prior", "The prior of `", residual_label, "` must be prior_half_t() or ",
          "prior_inv_wishart(); found ", describe(prior), ".")
  }
  filled <- fill_inv_wishart(prior, names, if (is.null(prior$arguments$scale)) rep(1, q) else units)
  numbers <- filled$parameters
  if (is.matrix(prior$arguments$scale)) {
    numbers <- c(numbers[1:2], lower_triangle(prior$arguments$scale / outer(units, units)))
  }
  list(prior = "inverse_wishart", parameters = numbers)
}

# The second residual of each response, in the core's units.
core_losses <- function(likelihood, units) {
  if (!has_second_residual(likelihood)) return(list())
  if (is_gaussian(likelihood)) {
    return(lapply(units, function(unit) {
      prior <- likelihood$priors$scale
      given <- if (is.null(prior$open_scale)) unit else 1
      power <- if (prior$name == "ridge") 2 else 1
      prior$parameters[["scale"]] <- prior$parameters[["scale"]] / given^power
      list(prior = prior$name, parameters = prior$parameters)
    }))
  }
  numbers <- likelihood$parameters
  if (isTRUE(numbers["epsilon"] > 0)) {
    abort("argument", "With correlated residuals the tube is given by `nu`, not by `epsilon`.")
  }
  nu <- if (isTRUE(numbers["epsilon"] == 0)) 1
        else if ("kappa" %in% names(numbers)) 1 / (1 + numbers[["kappa"]]) else 0
  beta <- likelihood$priors$nu$parameters
  lapply(units, function(unit) {
    list(scale = if ("scale" %in% names(numbers)) numbers[["scale"]] / unit else 0, nu = nu,
         a = if (is.null(beta)) 1 else beta[[1L]], b = if (is.null(beta)) 1 else beta[[2L]])
  })
}

# NULL, or list(kind, draws): "normal", the variances (q, draws, chains) of the second residual, or
# "tube", scales and then shares nu (2 q, draws, chains), in the user's units.
loss_draws <- function(result, likelihood, units) {
  if (length(result$losses) == 0L) return(NULL)
  if (is_gaussian(likelihood)) {
    parts <- Map(function(draws, unit) draws * unit^2, result$losses, units)
    return(list(kind = "normal", draws = bind_arrays(parts)))
  }
  scales <- Map(function(draws, unit) draws[1L, , , drop = FALSE] * unit, result$losses, units)
  shares <- lapply(result$losses, function(draws) draws[2L, , , drop = FALSE])
  list(kind = "tube", draws = bind_arrays(c(scales, shares)))
}

bind_arrays <- function(parts) {
  size <- dim(parts[[1L]])
  array(do.call(rbind, lapply(parts, draw_matrix)), c(sum(vapply(parts, nrow, 0L)), size[-1L]))
}

# The variance of an epsilon-insensitive residual.
tube_variance <- function(scale, nu) {
  kappa <- (1 - nu) / nu
  scale^2 * ((1 - nu) * kappa^2 / 3 + nu * (kappa^2 + 2 * kappa + 2))
}

# ---- out of the core ----------------------------------------------------------------------------

# For each response the value of run_sampler().
response_runs <- function(result, specs, groups) {
  q <- length(specs)
  size <- dim(result$coefficients)
  p <- size[1L] / q
  parts <- (length(result$hyper) - length(result$losses) - 1L - length(result$factors)) / q
  lapply(stats::setNames(seq_len(q), names(specs)), function(j) {
    spec <- specs[[j]]
    at <- (j - 1L) * p + seq_len(p)
    is_parameter_block <- vapply(spec$blocks, is_parameter, TRUE)
    variances <- vector("list", length(spec$blocks))
    variances[!is_parameter_block] <- result$hyper[(j - 1L) * parts + seq_len(parts)]
    own <- result$residual[triangle_places(q)[j, j], , , drop = FALSE] + second_variance(result, j)
    dimnames(own) <- list("variance", NULL, NULL)
    variances[is_parameter_block] <- list(own)
    effects <- response_effects(result, specs, groups, j)
    posterior <- draws_posterior(list(
      coefficients = result$coefficients[at, , , drop = FALSE],
      variances = c(variances, response_factors(result, specs, j)), effects = effects$draws,
      mean = result$mean[at], effects_mean = effects$mean, effects_sd = effects$sd))
    posterior <- posterior_in_units(posterior, spec)
    population <- seq_along(posterior$variances) <= length(spec$blocks)
    list(posterior = posterior,
         hyper = Map(draws_hyper, spec$blocks, posterior$variances[population]),
         group_hyper = Map(draws_hyper, spec$group_blocks, posterior$variances[!population]),
         termination = result$termination,
         sampling = c(sampling_facts(result, result$options), result["prepared"]))
  })
}

# Where the entries of a q x q lower triangle by column are in it: a row each, its row and column.
triangle_pairs <- function(q) which(lower.tri(diag(q), diag = TRUE), arr.ind = TRUE)

# The other way round: for each entry of the matrix the place of it in the triangle, 0 above.
triangle_places <- function(q) {
  place <- matrix(0L, q, q)
  place[lower.tri(place, diag = TRUE)] <- seq_len(q * (q + 1L) / 2L)
  place
}

# What a second residual adds to the variance of response j, in the core's units.
second_variance <- function(result, j) {
  if (length(result$losses) == 0L) return(0)
  own <- result$losses[[j]]
  if (nrow(own) == 1L) return(own)
  tube_variance(own[1L, , , drop = FALSE], own[2L, , , drop = FALSE])
}

# The part of each factor's covariance that is response j's.
response_factors <- function(result, specs, j) {
  q <- length(specs)
  Map(function(draws, block) {
    d <- length(block$columns)
    at <- (j - 1L) * d + seq_len(d)
    own <- triangle_places(d * q)[at, at, drop = FALSE]
    rows <- own[lower.tri(own, diag = TRUE)]
    out <- draws[rows, , , drop = FALSE]
    pairs <- triangle_pairs(d)
    dimnames(out) <- list(if (d == 1L) "variance"
                          else paste("variance", pairs[, 1L], pairs[, 2L], sep = "_"), NULL, NULL)
    out
  }, result$factors, specs[[1L]]$group_blocks)
}

# The core has a factor's effects by block, level, response and effect; a fit by factor, level,
# effect. Zero rows where there are none.
response_effects <- function(result, specs, groups, j) {
  blocks <- specs[[1L]]$group_blocks
  q <- length(specs)
  before <- 0L
  at <- lapply(groups, function(group) matrix(0L, length(group$labels), length(group$levels)))
  first <- effects_before(groups)
  for (block in blocks) {
    d <- length(block$columns)
    levels <- length(groups[[block$factor]]$levels)
    place <- array(before + seq_len(d * q * levels), c(d, q, levels))
    own <- block$columns - first[[block$factor]]
    at[[block$factor]][own, ] <- place[, j, ]
    before <- before + d * q * levels
  }
  rows <- as.integer(unlist(at))
  list(draws = if (specs[[1L]]$engine$settings$keep_effects) result$effects[rows, , , drop = FALSE],
       mean = result$effects_mean[rows], sd = result$effects_sd[rows])
}

# Lower triangles of covariances, in the units of what they are of.
triangle_in_units <- function(draws, units) {
  square <- outer(units, units)
  draws * square[lower.tri(square, diag = TRUE)]
}

# The residual covariance: of two normal residuals the sum, since no more is identified.
identified <- function(result, units) {
  draws <- result$residual
  if (length(result$losses) > 0L && nrow(result$losses[[1L]]) == 1L) {
    for (j in seq_along(units)) {
      at <- triangle_places(length(units))[j, j]
      draws[at, , ] <- draws[at, , ] + result$losses[[j]][1L, , ]
    }
  }
  triangle_in_units(draws, units)
}

group_covariances <- function(result, specs, groups, units) {
  first <- effects_before(groups)
  Map(function(draws, block) {
    labels <- outer(block$labels, names(specs), function(a, b) paste0(b, ": ", a))
    list(factor = block$factor, labels = c(labels), columns = block$columns - first[[block$factor]],
         draws = triangle_in_units(draws, rep(units, each = length(block$columns))))
  }, result$factors, specs[[1L]]$group_blocks)
}

# The core has the missing responses row by row.
imputed_responses <- function(result, y, rows, specs) {
  own <- y[rows, , drop = FALSE]
  at <- which(t(is.na(own)), arr.ind = TRUE)
  if (nrow(at) == 0L) return(NULL)
  second <- vapply(seq_along(specs), function(j) mean(second_variance(result, j)), 0)[at[, 1L]]
  unit <- vapply(specs, function(spec) spec$design$unit, 0)[at[, 1L]]
  shift <- vapply(specs, function(spec) spec$design$shift, 0)[at[, 1L]]
  data.frame(row = rows[at[, 2L]], response = colnames(y)[at[, 1L]],
             mean = result$missing_mean * unit + shift,
             sd = sqrt(result$missing_sd^2 + second) * unit, row.names = NULL)
}

# One warning for the worst of all quantities.
warn_responses <- function(object) {
  if (identical(object$termination, "interrupted")) return(warn_cut_short(object$sampling))
  tables <- lapply(response_names(object), function(name) {
    table <- diagnose_coefficients(object$fits[[name]], most = 50)
    rownames(table) <- paste0(name, ": ", rownames(table), recycle0 = TRUE)
    table
  })
  residual <- object$residual
  dimnames(residual) <- list(residual_names(object), NULL, NULL)
  table <- do.call(rbind, c(tables, list(diagnose(residual)),
                            if (has_tube(object)) list(diagnose(named_loss(object)))))
  if (nrow(table) > 0L && all(is.na(table[, "Rhat"]))) return(warn_unchecked())
  warn_diagnosis(table)
}

# The draws of the loss's numbers, with names.
named_loss <- function(object) {
  names <- response_names(object)
  draws <- object$loss$draws
  labels <- c(paste0(names, ": scale of the loss"), paste0(names, ": nu of the loss"))
  dimnames(draws) <- list(labels, NULL, NULL)
  draws
}

# sigma2_a, cov_a__b: names of the lower triangle.
residual_names <- function(object) {
  names <- response_names(object)
  pairs <- triangle_pairs(length(names))
  ifelse(pairs[, 1L] == pairs[, 2L], paste0("residual variance of ", names[pairs[, 1L]]),
         paste0("residual covariance of ", names[pairs[, 2L]], " and ", names[pairs[, 1L]]))
}
