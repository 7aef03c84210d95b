# A factor term in the spec, and its run: covariates beside the variables, and the core's draws.

# ---- the model ----------------------------------------------------------------------------------

# NULL, or an error.
check_factor_model <- function(engine, frame, likelihood, assigned) {
  label <- factors_of(frame)$label
  refuse <- function(...) abort("unsupported", "`", label, "` ", ...)
  if (!engine$name %in% factor_engines) {
    refuse("needs engine_gibbs() or engine_vb(); found ", engine_call(engine), ". Omit `engine`.")
  }
  if (length(frame$groups) > 0L) refuse("does not go with grouping factors. Omit these.")
  if (is_sparse(frame$x)) refuse("does not go with sparse predictors. Use dense ones.")
  if (frame$intercept == 0L) refuse("needs an intercept. Remove `0 +` or `- 1`.")
  if (!is.null(frame$cluster)) refuse("needs all rows in this R session: omit `cluster`.")
  if (!is.null(frame$scale_model)) refuse("does not go with a scale that differs by row.")
  if (!is.null(frame$unknowns) && models_missing(frame$unknowns$rule)) {
    refuse("does not go with models of missing predictors. Missing values of its own variables are ",
           "part of the factor model; leave rows out where others are missing, by na.omit.")
  }
  odd <- Filter(function(basis) is_made(basis) && !is_factors(basis), frame$bases)
  if (length(odd) > 0L || !is.null(frame$left_over)) {
    refuse("does not go with ", if (length(odd) > 0L) paste0("`", odd[[1L]]$label, "`. Use ")
           else "inducing points that leave variance over. Use more `points`, or ",
           "a smooth term s(x) in its place.")
  }
  for (block in assigned$blocks) check_factor_prior(block, engine)
  NULL
}

factor_engines <- c("gibbs", "vb")

# Chains start at principal components, and coefficients are drawn with the scores integrated out.
factor_engine <- function() {
  engine <- engine_gibbs(burnin = few_burnin)
  engine$chosen <- "exact draws of a factor model"
  engine
}

check_factor_prior <- function(block, engine) {
  if (is_parameter(block) || (takes_prior(block, engine) && !selects(block) &&
                                block$prior$name != "relevance")) return(invisible())
  abort("unsupported", "A model with factors() can't take the prior of ", enumerate(block$label),
        " (", block$prior$label, "). Use prior_ridge() or prior_lasso().")
}

# Of the loadings: `given`, or by default local shrinkage, and one variance a factor where variables
# outnumber rows.
loadings_prior <- function(given, frame, basis) {
  x <- frame$made[[basis$label]]
  if (is.null(given)) return(if (ncol(x) > nrow(x)) prior_ridge() else prior_lasso())
  lasso <- given$name == "bridge" && given$parameters[["alpha"]] == 1 && is.null(given$grid)
  if (lasso || given$name %in% c("half_t", "ridge", "normal") && given$penalised) return(given)
  abort("unsupported", "`loadings` in `prior` must be prior_ridge() (a variance for each factor) or ",
        "prior_lasso() (local shrinkage); found ", given$label, ".")
}

# The core's numbers of it. A Laplace law with scale nu is a normal one whose variance is
# exponential with rate 1 / (2 nu^2).
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
       basis = basis[c("k", "kernel", "points", "noise", "feedback", "label")])
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
  out <- factor_result(result, spec, control)
  out$sampling <- sampling_facts(result, options)
  if (result$termination == "interrupted") warn_cut_short(out$sampling)
  else warn_diagnosis(diagnose(bind_variables(
    some_coefficients(out$posterior, spec$design),
    variance_draws(spec$blocks, out$posterior$variances), out$posterior$factors$identified)))
  warn_determinacy(out, spec)
  out
}

# Draws of q are independent, and as good as those of a chain to whoever reads them.
variational_draws <- 1000L

run_variational_factors <- function(spec, control) {
  x <- spec$problem$factors$x
  k <- spec$problem$factors$basis$k
  draws <- as.integer(max(least_factor_draws, min(variational_draws, most_implied / ncol(x))))
  options <- list(
    augmented = takes_likelihood(as_component("vb", "engine"), spec$likelihood), starts = 3L,
    most = control$max_passes, tolerance = 1e-3, seed = floor(stats::runif(1L) * 2^31),
    threads = control$threads, verbose = progress_pace(control$verbose), draws = draws,
    every = max(1L, as.integer(ceiling(draws * as.numeric(ncol(x)) * k / most_implied)),
                as.integer(draws %/% 400L)),
    keep_effects = TRUE, keep_unknowns = FALSE)
  result <- with_core_conditions(core_factor_vb(factor_data(spec$problem), factor_model(spec),
                                                options))
  result$termination <- if (result$termination == "limit") "pass_limit" else result$termination
  out <- factor_result(result, spec, control)
  out$seed <- options$seed
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
                " passes and is kept as it was."))
  }
  warn("convergence", "The fit did not converge in ", control$max_passes, " passes. Raise ",
       "`max_passes` in bsvm_control().")
}

factor_result <- function(result, spec, control) {
  posterior <- implied_posterior(result, spec)
  posterior$factors <- factor_draws(result, spec, control)
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
  most <- if (is.null(spec$problem$factors$basis$kernel)) most_loadings_kept else most_functions_kept
  kept <- max(1, min(most, floor(most_implied / (ncol(x) * k * options$chains))))
  options$every <- max(1L, as.integer(ceiling(options$draws / kept)))
  options
}

most_loadings_kept <- 100L # draws of each chain
most_functions_kept <- 250L

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
  list(x = own$x, covariates = rbind(covariates, blank), y = c(problem$y, rep(NA_real_, extra)),
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
       reduced = ncol(x) > nrow(x) && !anyNA(x) && !loadings$local && basis$noise == "common",
       loadings = loadings, noise = list(each = basis$noise == "each", shape = 1, rate = 1),
       parts = unname(parts[!parameter & (linear | !of_factors)]),
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
       variance = block[c("prior", "parameters")], points = basis$points)
}

# ---- what came out ------------------------------------------------------------------------------

# Draws of each block's variance, or inferred parameter, by block.
factor_variances <- function(result, spec) {
  hyper <- result$hyper
  names <- rownames(hyper)
  parameter <- vapply(spec$blocks, is_parameter, TRUE)
  process <- vapply(spec$blocks, function(block) !is.null(block$loadings), TRUE) &
    !is.null(spec$problem$factors$basis$kernel)
  lapply(seq_along(spec$blocks), function(k) {
    if (process[k]) {
      own <- hyper[names == "process.variance", , , drop = FALSE]
      dimnames(own) <- list(rep("variance", nrow(own)), NULL, NULL)
      return(own)
    }
    if (parameter[k]) {
      own <- hyper[paste0("theta_", sum(parameter[seq_len(k)])), , , drop = FALSE]
      own <- exp(2 * own) # logarithms of numbers, of which R has the squares (R/parameters.R)
      dimnames(own) <- list("variance", NULL, NULL)
      return(own)
    }
    prefix <- paste0("part_", sum(!(parameter | process)[seq_len(k)]), ".")
    at <- startsWith(names, prefix)
    own <- hyper[at, , , drop = FALSE]
    dimnames(own) <- list(substring(names[at], nchar(prefix) + 1L), NULL, NULL)
    own
  })
}

# Draws of covariates' coefficients, and of those of the variables that each draw implies. The link
# for variables at zero is part of the intercept.
implied_posterior <- function(result, spec) {
  own <- seq_along(spec$problem$center)
  size <- dim(result$coefficients)
  alpha <- result$coefficients[own, , , drop = FALSE]
  at <- spec$design$intercept
  linear <- is.null(spec$problem$factors$basis$kernel)
  if (linear) alpha[at, , ] <- alpha[at, , ] + result$hyper["offset", , ]
  coefficients <- bind_variables(alpha, if (linear) result$implied else array(0, c(1L, size[-1L])))
  draws_posterior(list(coefficients = coefficients, variances = factor_variances(result, spec),
                       mean = rowMeans(draw_matrix(coefficients)), effects = NULL,
                       effects_mean = numeric(0), effects_sd = numeric(0)))
}

# What is known of factors, in units of the core's response:
#   identified   draws of numbers that mean the same in all chains (number, draws, chains): `leftover`,
#                the variance of the link of a row that its variables leave over; `explained`, that
#                of what they determine over the rows, `determinacy`, its share; `offset`, the link for
#                variables at zero less the intercept; `psi`, the precision of common noise
#   kept         of every so many draws, the numbers `at` of each chain: `mean` (p, m, chains),
#                `loadings` (p, K, m, chains), `noise`, and `beta` (K, m, chains) or, of a function of
#                the scores, `kernel`, `points`, `b`, `theta`, `variance`; of the rows' scores
#                given their variables `between`, the covariance of their means, and `within`, the
#                mean of their covariances (K, K, m times chains)
factor_draws <- function(result, spec, control) {
  names <- rownames(result$hyper)
  process <- !is.null(spec$problem$factors$basis$kernel)
  shown <- c(intersect(c("determinacy", "explained", "leftover", "offset", "psi"), names),
             grep("^kernel_", names, value = TRUE))
  draws <- dim(result$coefficients)[2L]
  kept <- result$kept_loadings
  m <- dim(kept$mean)[2L]
  kept$at <- (draws %/% max(m, 1L)) * seq_len(m)
  basis <- spec$problem$factors$basis
  own <- which(vapply(spec$blocks, function(block) !is.null(block$loadings), TRUE))
  if (process) {
    kept <- c(kept, list(points = result$points, kernel =
                           core_score_kernel(basis, spec$model$blocks[[own]])$factors))
  } else {
    at <- length(spec$problem$center) + seq_len(basis$k)
    kept$beta <- result$coefficients[at, kept$at, , drop = FALSE]
  }
  labelled <- seq_len(spec$problem$factors$labelled)
  kept <- c(kept, score_spread(spec$problem$factors$x[labelled, , drop = FALSE], kept, control))
  list(identified = result$hyper[shown, , , drop = FALSE], kept = kept)
}

score_spread <- function(x, kept, control) {
  found <- kept_scores(kept, x, control)
  size <- dim(found$covariance)
  counts <- tabulate(found$pattern, size[3L]) / nrow(x)
  within <- apply(found$covariance * rep(counts, each = size[1L]^2), c(1L, 2L, 4L), sum)
  between <- apply(found$scores, 3L, function(own) {
    own <- matrix(own, nrow(x))
    crossprod(own - rep(colMeans(own), each = nrow(x))) / nrow(x)
  })
  list(between = array(between, size[-3L]), within = array(within, size[-3L]))
}

# Where the variables determine little of the link, scores follow the response. Under the
# pseudo-likelihood that is rewarded: of 50 sets of classes at random (100 rows, 50 variables of 3
# factors, 5 in the model) determinacy was 0.48 to 0.69, under the normalised one 0.83 to 0.92.
least_determinacy <- 0.5
least_determinacy_pseudo <- 0.7

warn_determinacy <- function(result, spec) {
  share <- mean(result$posterior$factors$identified["determinacy", , ])
  law <- is_law(spec$likelihood)
  if (share >= if (law) least_determinacy else least_determinacy_pseudo) return(invisible())
  warn("determinacy", "The variables determine only ", format(100 * share, digits = 2L),
       " % of the variance of the link that is due to factors: the rest are scores that follow the ",
       "response, row by row, and say nothing of new rows.",
       if (law) " Use fewer factors."
       else paste0(" Use ", normalised_call, ", under which this hardly happens, or fewer factors."))
}

scale_factor_draws <- function(factors, unit) {
  if (!is.null(factors$kept$beta)) factors$kept$beta <- factors$kept$beta * unit
  else factors$kept$variance <- factors$kept$variance * unit^2
  power <- c(offset = 1, leftover = 2, explained = 2)
  power <- power[names(power) %in% rownames(factors$identified)]
  for (name in names(power)) {
    factors$identified[name, , ] <- factors$identified[name, , ] * unit^power[[name]]
  }
  factors
}
