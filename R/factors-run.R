# A factor term in the spec, and its run: covariates other than the variables, and the core's draws.

# ---- the model ----------------------------------------------------------------------------------

# NULL, or an error.
check_factor_model <- function(engine, frame, likelihood, assigned) {
  label <- factors_of(frame)$label
  refuse <- function(...) abort("unsupported", "`", label, "` ", ...)
  if (!engine$name %in% factor_engines) {
    refuse("needs engine_gibbs() or engine_vb(); found ", engine_call(engine), ". Omit `engine`.")
  }
  if (length(frame$groups) > 0L) refuse("does not support grouping factors. Omit these.")
  if (is_sparse(frame$x)) refuse("does not support sparse predictors. Use dense ones.")
  if (frame$intercept == 0L) refuse("needs an intercept. Remove `0 +` or `- 1`.")
  if (!is.null(frame$cluster)) refuse("needs all rows in this R session: omit `cluster`.")
  if (!is.null(frame$scale_model)) refuse("does not support a scale that differs by row.")
  if (!is.null(frame$unknowns) && models_missing(frame$unknowns$rule)) {
    refuse("does not support models of missing predictors. Missing values of its own variables ",
           "are part of the factor model; exclude rows with other missing values by na.omit.")
  }
  odd <- Filter(function(basis) is_made(basis) && !is_factors(basis), frame$bases)
  if (length(odd) > 0L || !is.null(frame$left_over)) {
    refuse("does not support ", if (length(odd) > 0L) paste0("`", odd[[1L]]$label, "`. Use ")
           else "inducing points that leave variance over. Use more `points`, or ",
           "a smooth term s(x) in its place.")
  }
  for (block in assigned$blocks) check_factor_prior(block, engine)
  check_exact_process(engine, frame, likelihood)
  check_factor_weights(frame, likelihood)
  NULL
}

# A row's residual can be left to its own scores, as the scale s goes to zero: E p(y | f)^w is then
# s^(1 - w) times a number, so that the posterior is improper if these weights outweigh the rows.
check_factor_weights <- function(frame, likelihood) {
  total <- sum(frame$weights)
  if (is.null(frame$weights) || total <= length(frame$weights) * (1 + 1e-9)) {
    return(invisible())
  }
  open <- factors_of(frame)$feedback && is_residual(likelihood) && has_parameters(likelihood)
  if (!open) return(invisible())
  abort("unsupported", "`", factors_of(frame)$label, "` does not support weights of numbers that ",
        "sum to more than the rows: ", format(total), " of ", length(frame$weights), " rows. ",
        "Repeat rows, divide the weights by their mean, or use `feedback = FALSE`.")
}

# The function of the scores is integrated out given latent scales, at the cube of the rows.
most_exact_rows <- 2000L

check_exact_process <- function(engine, frame, likelihood) {
  basis <- factors_of(frame)
  if (!is_exact(basis)) return(invisible())
  rows <- nrow(frame$made[[basis$label]])
  refuse <- function(...) {
    abort("unsupported", "`points = Inf` of `", basis$label, "` ", ..., " a finite number, ",
          "such as points = ", score_points, ".")
  }
  if (engine$name != "gibbs") refuse("requires engine_gibbs(). Use that engine, or")
  if (rows > most_exact_rows) {
    refuse("supports up to ", most_exact_rows, " rows with a response; found ", rows, ". Use")
  }
  if (!takes_likelihood(engine, likelihood)) {
    refuse("does not support the normalised hinge likelihood. Use likelihood = \"hinge\", or")
  }
}

factor_engines <- c("gibbs", "vb")

# Chains start at principal components, and coefficients are drawn with the scores integrated out.
factor_engine <- function() {
  engine <- engine_gibbs(burnin = few_burnin)
  engine$chosen <- "exact draws of a factor model"
  engine
}

check_factor_prior <- function(block, engine) {
  if (is_parameter(block)) return(invisible())
  flat <- !is.null(block$loadings) && is_wide(block$prior)
  if (takes_prior(block, engine) && !selects(block) && !flat && block$prior$name != "relevance") {
    return(invisible())
  }
  abort("unsupported", "A model with factors() does not support the prior of ",
        enumerate(block$label),
        " (", block$prior$label, "). Use prior_ridge() or prior_lasso().")
}

# Of the loadings: `given`, or by default local shrinkage, and one variance a factor where variables
# outnumber rows.
loadings_prior <- function(given, frame, basis) {
  x <- frame$made[[basis$label]]
  rows <- nrow(x) + basis$unlabelled_rows
  if (is.null(given)) return(if (ncol(x) > rows) prior_ridge() else prior_lasso())
  lasso <- given$name == "bridge" && given$parameters[["alpha"]] == 1 && is.null(given$grid)
  if (lasso || given$name %in% c("half_t", "ridge", "normal") && given$penalised) return(given)
  abort("unsupported", "`loadings` in `prior` must be prior_ridge() (a variance for each factor) or ",
        "prior_lasso() (local shrinkage); found ", given$label, ".")
}

# The core's numbers of it. A Laplace distribution with scale nu is a normal one whose
# variance is exponential with rate 1 / (2 nu^2).
core_loadings <- function(prior, k) {
  numbers <- prior$parameters
  if (prior$name != "bridge") {
    return(list(local = FALSE,
                priors = rep(list(list(prior = prior$name, parameters = numbers)), k)))
  }
  given <- numbers[["nu"]] > 0
  list(local = TRUE, rate = if (given) 1 / (2 * numbers[["nu"]]^2) else 0,
       shape = numbers[["shape"]], rate_of_rate = numbers[["rate"]])
}

# list(x, labelled): standardised variables, of rows without a response last; NULL without such a
# term.
core_factor_data <- function(frame) {
  basis <- factors_of(frame)
  if (is.null(basis)) return(NULL)
  own <- frame$made[[basis$label]]
  x <- rbind(unname(own), attr(own, "unlabelled"))
  attributes(x) <- list(dim = dim(x))
  list(x = standard_variables(x, basis), labelled = nrow(own),
       basis = basis[c("k", "kernel", "points", "noise", "feedback", "label", "alone")])
}

# Standardised variables are the core's, as they are for new rows.
with_factor_scales <- function(design, frame) {
  for (basis in Filter(is_linear_factors, frame$bases)) {
    design$center[basis$columns] <- basis$center
    design$scale[basis$columns] <- basis$scale
  }
  design
}

# ---- the run ------------------------------------------------------------------------------------

run_factors <- function(spec, control) {
  check_no_start(control)
  if (spec$engine$name == "vb") return(run_variational_factors(spec, control))
  options <- factor_options(spec, control)
  started <- proc.time()[["elapsed"]]
  result <- with_core_conditions(core_factor_model(factor_data(spec$problem), factor_model(spec),
                                                   options))
  result$seconds <- proc.time()[["elapsed"]] - started
  warn_checkpoint(result$checkpoint_failed, options$checkpoint)
  out <- factor_result(result, options$every, spec, control)
  out$sampling <- sampling_facts(result, options)
  if (result$termination == "interrupted") warn_cut_short(out$sampling)
  else warn_diagnosis(diagnose(identified_draws(out$posterior, spec)))
  warn_determinacy(out, spec)
  out
}

# Draws that mean the same in all chains; without a response those of the variables alone.
identified_draws <- function(posterior, spec) {
  own <- posterior$factors$identified
  if (spec$problem$factors$basis$alone) {
    return(own[intersect(c("psi", "determinacy"), rownames(own))[1L], , , drop = FALSE])
  }
  bind_variables(some_coefficients(posterior, spec$design),
                 variance_draws(spec$blocks, posterior$variances), own)
}

# Draws of q are independent, and as good as those of a chain to whoever reads them. With a kernel
# each draw is read by itself, and other starts have not been seen to end higher.
variational_draws <- 1000L
function_draws <- 400L
variational_starts <- 3L

run_variational_factors <- function(spec, control) {
  x <- spec$problem$factors$x
  k <- spec$problem$factors$basis$k
  linear <- is.null(spec$problem$factors$basis$kernel)
  draws <- if (linear) variational_draws else function_draws
  draws <- as.integer(max(least_factor_draws, min(draws, most_implied / ncol(x))))
  options <- list(
    augmented = takes_likelihood(as_component("vb", "engine"), spec$likelihood),
    starts = if (linear) variational_starts else 1L,
    most = control$max_passes, tolerance = 1e-3, seed = floor(stats::runif(1L) * 2^31),
    threads = control$threads, verbose = progress_pace(control$verbose), draws = draws,
    every = max(1L, as.integer(ceiling(draws * as.numeric(ncol(x)) * k / most_implied)),
                as.integer(draws %/% 400L)),
    keep_effects = TRUE, keep_unknowns = FALSE)
  result <- with_core_conditions(core_factor_vb(factor_data(spec$problem), factor_model(spec),
                                                options))
  if (ncol(result$coefficients) == 0L) {
    resignal_interrupted(simpleCondition("Interrupted before there was a draw."))
  }
  result$termination <- if (result$termination == "limit") "pass_limit" else result$termination
  out <- factor_result(result, options$every, spec, control)
  out$bound <- bound_in_units(result$elbo, spec)
  out$trace <- cbind(bound = bound_in_units(result$trace, spec), gradient = NA_real_)
  out$passes <- length(result$trace)
  warn_variational(result, control)
  warn_determinacy(out, spec)
  out
}

warn_variational <- function(result, control) {
  if (result$termination == "converged") return(invisible())
  if (result$termination == "interrupted") {
    return(warn("interrupted", "The fit was interrupted after ", length(result$trace),
                " iterations and is kept as it was."))
  }
  warn("convergence", "The fit did not converge in ", control$max_passes, " iterations. Raise ",
       "`max_passes` in bsvm_control().")
}

factor_result <- function(result, every, spec, control) {
  posterior <- implied_posterior(result, spec)
  posterior$factors <- factor_draws(result, every, spec, control)
  posterior <- posterior_in_units(posterior, spec)
  list(posterior = posterior, hyper = Map(draws_hyper, spec$blocks, posterior$variances),
       group_hyper = list(), termination = result$termination)
}

# Draws of the variables' implied coefficients are kept, so that new rows can be predicted: where
# there are many variables, fewer draws.
most_implied <- 2^26 # numbers, half a gigabyte
least_factor_draws <- 50L

factor_options <- function(spec, control) {
  options <- sampler_options(spec$engine, control)
  x <- spec$problem$factors$x
  k <- spec$problem$factors$basis$k
  own <- if (is_exact(spec$problem$factors$basis)) spec$problem$factors$labelled else 0
  numbers <- ncol(x) + length(spec$problem$center) + k + 10
  fit <- floor(most_implied / (options$chains * numbers))
  if (options$most > 0L) {
    options$draws <- as.integer(max(least_factor_draws, min(options$draws, fit)))
    options$most <- as.integer(max(options$draws, min(options$most, fit)))
  }
  check_memory(8 * 3 * options$draws * options$chains * numbers,
               paste0(options$draws, " draws of ", options$chains, " chains, ", numbers,
                      " numbers each, take"), "Use fewer `draws`.")
  options$keep_effects <- TRUE
  options$keep_unknowns <- FALSE
  # draws of loadings, and of scores at which a function is, of a chain
  fit <- floor(most_implied / ((ncol(x) + own) * k * options$chains))
  kept <- max(1, min(most_loadings(spec$problem$factors$basis), fit))
  options$every <- max(1L, as.integer(ceiling(options$draws / kept)))
  if (options$most > 0L) options$most <- as.integer(min(options$most, options$every * max(kept, fit)))
  options
}

# Draws of the loadings that a fit keeps of each chain: methods read them one by one.
most_loadings_kept <- 100L
most_functions_kept <- 250L

most_loadings <- function(basis) {
  if (is.null(basis$kernel) || is_exact(basis)) most_loadings_kept else most_functions_kept
}

factor_data <- function(problem) {
  own <- problem$factors
  extra <- nrow(own$x) - own$labelled
  covariates <- covariate_matrix(problem)
  d <- ncol(covariates)
  # What rows without a response have of covariates matters to nothing; the intercept is recognised
  # by being constant.
  first <- covariates[1L, ]
  constant <- colSums(covariates != rep(first, each = nrow(covariates))) == 0
  blank <- matrix(rep(ifelse(constant, first, 0), each = extra), extra, d)
  y <- if (own$basis$alone) rep(NA_real_, own$labelled) else problem$y
  list(x = own$x, covariates = rbind(covariates, blank), y = c(y, rep(NA_real_, extra)),
       weight = if (!is.null(problem$weight)) c(problem$weight, rep(1, extra)),
       offset = if (!is.null(problem$offset)) c(problem$offset, numeric(extra)))
}

# As the core's design has them, without the scores.
covariate_matrix <- function(problem) {
  x <- as.matrix(problem$x)
  if (problem$intercept) x <- cbind(1, x)
  at <- seq_len(ncol(x))
  center <- problem$center[at]
  scale <- problem$scale[at]
  out <- (x - rep(center, each = nrow(x))) / rep(scale, each = nrow(x))
  dimnames(out) <- NULL
  out
}

factor_model <- function(spec) {
  basis <- spec$problem$factors$basis
  blocks <- spec$model$blocks
  of_factors <- vapply(spec$blocks, function(block) !is.null(block$loadings), TRUE)
  parameter <- vapply(blocks, function(block) isTRUE(block$parameter), TRUE)
  loadings <- core_loadings(spec$blocks[[which(of_factors)]]$loadings, basis$k)
  x <- spec$problem$factors$x
  d <- length(spec$problem$center)
  linear <- is.null(basis$kernel)
  parts <- Map(function(block, factors) {
    list(places = if (factors) d + seq_len(basis$k) else block$columns, prior = block$prior,
         parameters = block$parameters)
  }, blocks, of_factors)
  list(factors = basis$k, mean_variance = 1, feedback = basis$feedback,
       reduced = ncol(x) > nrow(x) + basis$k && !anyNA(x) && !loadings$local &&
         basis$noise == "common",
       loadings = loadings, noise = list(each = basis$noise == "each", shape = 1, rate = 1),
       parts = if (basis$alone) no_response_parts(d + basis$k)
               else unname(parts[!parameter & (linear | !of_factors)]),
       kernel = if (!linear) core_score_kernel(basis, blocks[[which(of_factors)]]),
       likelihood = list(name = spec$model$likelihood$name,
                         parameters = spec$model$likelihood$parameters,
                         priors = lapply(blocks[parameter], `[`, c("prior", "parameters"))))
}

# A kernel of scores, which are N(0, I): distances of two rows, and of length scales their prior, are
# known beforehand.
core_score_kernel <- function(basis, block) {
  k <- basis$k
  distance <- sqrt(2 * stats::qchisq(0.5, k))
  unit <- rbind(diag(k), -diag(k)) * sqrt(k) # of mean square one
  made <- term_kernel(kernel_products(basis$kernel)[[1L]],
                      list(label = basis$label, median = distance, least = distance / 100,
                           inputs = list(scale = rep(1, k))), unit, rep(1, nrow(unit)))
  list(factors = made$factors, start = vapply(made$numbers, `[[`, 0, "start"),
       priors = unname(lapply(made$numbers, function(number) {
         if (!is.null(number$prior)) number[c("prior", "parameters")]
       })),
       variance = block[c("prior", "parameters")], exact = is_exact(basis),
       points = if (is_exact(basis)) 1L else basis$points)
}
