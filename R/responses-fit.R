# Several responses with correlated residuals, by Gibbs sampling. The frame and the specification
# are those of a fit to each response alone, which share the design: only the responses, their units
# and the numbers of priors differ.

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
  plain <- engine
  plain$settings$empirical <- FALSE
  specs <- lapply(frames, bsvm_spec, prior = given$prior, likelihood = likelihood_gaussian(),
                  engine = plain, standardize = arguments$standardize)
  specs <- lapply(specs, replace, "engine", list(engine))
  units <- vapply(specs, function(spec) spec$design$unit, 0)
  check_loss_rows(frame, likelihood)
  result <- run_responses(specs, frames[[1L]], y[rows, , drop = FALSE], given$residual, likelihood,
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
                       frame$weights, kernel_draws(result, frames[[1L]]), result$evidence)
  warn_responses(out)
  warn_evidence(out$evidence)
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
  if (ncol(y) == 0L) return(invisible())
  found <- qr(qr.resid(qr(x), y), tol = 1e-7)
  if (found$rank == ncol(y)) return(invisible())
  odd <- colnames(y)[found$pivot[-seq_len(found$rank)]]
  several <- length(odd) > 1L
  abort("response", "The response", plural(odd), " ", enumerate(odd),
        if (several) " are " else " is ", "a linear combination of other responses and ",
        "predictors: the residual covariance would be singular. Remove ",
        if (several) "them." else "it.")
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

# Draws with most coefficients integrated out forget their start at once.
few_burnin <- 300L

# Gibbs sampling, with the settings of the engine that was given.
responses_engine <- function(engine) {
  if (is.null(engine)) return(engine_gibbs(burnin = few_burnin))
  engine <- as_component(engine, "engine")
  if (identical(engine$name, "gibbs")) return(engine)
  if (identical(engine$name, "gaussian")) return(independent_engine(engine))
  abort("unsupported", "Several responses with correlated residuals need engine_gibbs() or ",
        "engine_gaussian(); found ", engine_call(engine), ". Omit `engine`, or use ",
        "`residual = \"independent\"` in the likelihood.")
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
  if (has_factors(frame)) {
    abort("unsupported", "factors() is not supported with several responses. Fit the responses ",
          "separately, or use `residual = \"independent\"` in the likelihood.")
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

run_responses <- function(specs, frame, y, residual, likelihood, engine, control) {
  check_no_start(control)
  check_draws_memory(specs[[1L]], length(specs))
  units <- vapply(specs, function(spec) spec$design$unit, 0)
  shift <- vapply(specs, function(spec) spec$design$shift, 0)
  residual <- core_residual(residual, units, names(specs))
  internal <- t((t(y) - shift) / units)
  options <- sampler_options(engine, control)
  options$independent <- is_independent(engine)
  if (options$most > 0L) options$most <- min(options$most, most_kept(specs[[1L]]) %/% length(specs))
  options$most <- max(options$most, if (options$most > 0L) options$draws else 0L)
  blocks <- lapply(specs, function(spec) {
    Filter(function(block) !isTRUE(block$parameter), spec$model$blocks)
  })
  check_blocks(blocks[[1L]], specs[[1L]], engine)
  sets <- choice_sets(specs[[1L]], frame, length(specs))
  blocks <- lapply(blocks, with_choices, sets)
  if (is_independent(engine)) check_independent(specs[[1L]], likelihood, y, blocks[[1L]])
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
    unname(blocks), core_factors(specs, frame$groups),
    c(residual, list(start = starts$residual)), core_losses(likelihood, units), options))
  result$seconds <- proc.time()[["elapsed"]] - started
  result$options <- options
  result$core_residual <- residual
  warn_checkpoint(result$checkpoint_failed, options$checkpoint)
  result <- with_named_draws(result, sets, length(specs), length(specs[[1L]]$group_blocks),
                             has_second_residual(likelihood))
  if (is_independent(engine)) {
    weights <- specs[[1L]]$problem$weight
    result$evidence <- evidence_of(result$weights, units,
                                   if (is.null(weights)) nrow(y) else sum(weights))
  }
  result
}

# The numbers that priors drew, in the core's order.
with_named_draws <- function(result, sets, q, factors, second) {
  parts <- max(0L, sets)
  counts <- c(parts * q, factors, 1L, if (second) q else 0L, sum(tabulate(sets) > 1L))
  counts <- c(counts, length(result$hyper) - sum(counts))
  own <- split(result$hyper, rep(factor(seq_along(counts), seq_along(counts)), counts))
  result$factors <- own[[2L]]
  result$residual <- own[[3L]][[1L]]
  result$losses <- own[[4L]]
  result$chosen <- own[[5L]]
  result$weights <- unlist(own[[6L]]) # of independent proposals
  result$priors <- lapply(seq_len(q), function(j) {
    with_zeros(own[[1L]][(j - 1L) * parts + sets], sets, result$chosen)
  })
  result
}

# The variance of a kernel is zero in draws that have another one.
with_zeros <- function(draws, sets, chosen) {
  several <- which(tabulate(sets) > 1L)
  for (k in seq_along(several)) {
    own <- which(sets == several[k])
    for (c in seq_along(own)) {
      if (!identical(rownames(draws[[own[c]]]), "variance")) next
      draws[[own[c]]] <- draws[[own[c]]] * (chosen[[k]] == c - 1L)
    }
  }
  draws
}

# For each block of coefficients the number of the core's part that it belongs to: kernels of which
# one is chosen are one part.
choice_sets <- function(spec, frame, q) {
  blocks <- Filter(Negate(is_parameter), spec$blocks)
  own <- vapply(blocks, `[[`, "", "label")
  first <- seq_along(own)
  for (basis in Filter(is_choice, gp_bases(frame))) {
    at <- match(names(basis$blocks), own)
    first[at] <- min(at)
    priors <- unique(lapply(blocks[at], function(block) block$prior[c("name", "parameters")]))
    if (length(priors) > 1L) {
      abort("prior", "`", basis$label, "` is a choice of kernels, which have one prior together. ",
            "Name it by the term, or \"gp\".")
    }
    left <- max(vapply(basis$parts, left_over, 0))
    if (left > least_left) {
      abort("unsupported", "`", basis$label, "`: a choice of kernels needs inducing points that ",
            "leave nothing over, and these leave over ", format(100 * left, digits = 2L), " % of ",
            "the variance. Use points = Inf.")
    }
    if (has_relevance(basis)) check_chosen_relevance(basis, blocks, at, frame, q)
  }
  match(first, unique(first))
}

# The core draws which kernel it is with all coefficients together.
most_chosen <- 600L
check_chosen_relevance <- function(basis, blocks, at, frame, q) {
  refuse <- function(...) {
    abort("unsupported", "`", basis$label, "`: a choice of kernels with prior_relevance() ", ...)
  }
  sizes <- lengths(lapply(blocks, `[[`, "columns"))
  large <- setdiff(which(sizes > 4L), at)
  if (length(frame$groups) > 0L || length(large) > 0L) {
    refuse("can't be combined with ", if (length(frame$groups) > 0L) "grouping factors"
           else paste0("other blocks of many columns, such as `", blocks[[large[1L]]]$label, "`"),
           ". Omit these, or use one kernel.")
  }
  total <- q * (sum(sizes[-at]) + sizes[at[1L]])
  if (total <= most_chosen) return(invisible())
  refuse("can have at most ", most_chosen, " coefficients of all responses; found ", total,
         ". Use points = ", max(1L, (most_chosen %/% q) - sum(sizes[-at])), ".")
}

with_choices <- function(blocks, sets) {
  lapply(unname(split(blocks, sets)), function(own) {
    if (length(own) == 1L) return(own[[1L]])
    columns <- lapply(own, `[[`, "columns")
    out <- own[[1L]]
    out$columns <- unlist(columns)
    out$choices <- columns
    out
  })
}

# Empirical Bayes takes the step of variational Bayes for hyper-parameters.
check_settling <- function(blocks) {
  for (block in blocks) {
    if (takes_prior(block, as_component("vb", "engine"))) next
    abort("unsupported", "engine_gibbs(empirical = TRUE) does not support the prior of `",
          block$label, "` (", block$prior$label, "). Use prior_ridge() or prior_relevance().")
  }
}

check_blocks <- function(blocks, spec, engine) {
  own <- Filter(Negate(is_parameter), spec$blocks)
  if (is_empirical(engine)) check_settling(own)
  selects <- vapply(spec$blocks, function(block) prior_traits(block$prior)[["selects"]], TRUE)
  if (!any(selects)) return(invisible())
  abort("unsupported", "Priors that select variables are not supported with several responses; ",
        "found ", spec$blocks[[which(selects)[1L]]]$prior$label, ". Use prior_ridge() or ",
        "prior_lasso().")
}

