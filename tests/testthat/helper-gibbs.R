# The papers' plain Gibbs sampler, slow and dense, on the twin's models (helper-reference.R).
# With a = the row's latent scale and a weight o on the hinge, exp(-2 o u_+) = exp(-2 (o u)_+):
#
#   1/a ~ inverse Gaussian, mean 1/(o |u|), shape 1
#   b   ~ N(A^-1 h, A^-1),  A = sum o^2/a c c' + D,  h = sum {o y (1 + o/a) - o^2/a offset} c
#   variances given b by conjugacy
#
# `mutation` plants an error: tests have to notice it.

# ---- latent scales ------------------------------------------------------------------------

# 1/a given r = |o u| (mean 1/r, shape 1): the smaller root of the chi-square equation, or its
# mirror image 1/(x r^2); at r = 0 the law of 1/chi-square.
draw_inverse_scale <- function(r) {
  y <- rnorm(length(r))^2
  x <- 1 / (r + y / 2 + sqrt(y) * sqrt(r + y / 4))
  ifelse(runif(length(r)) * (1 + x * r) <= 1, x, 1 / (x * r^2))
}

# ---- variances given coefficients ---------------------------------------------------------

draw_inv_gamma <- function(n, shape, scale) scale / rgamma(n, shape)

draw_inv_wishart <- function(df, scale) {
  chol2inv(chol(matrix(rWishart(1, df, chol2inv(chol(scale))), nrow(scale))))
}

# `state`: list(variance, aux) of one block; both are redrawn given its coefficients b.
gibbs_variance <- function(block, state, b, mutation = "none") {
  a <- block$parameters
  m <- NROW(block$columns) - (mutation == "shape")
  square <- function() sum(b[block$columns]^2)
  switch(block$prior,
    normal = list(variance = a[["variance"]]),
    ridge = list(variance = draw_inv_gamma(1, a[["shape"]] + m / 2, a[["scale"]] + square() / 2)),
    half_t = {
      df <- a[["df"]]
      aux <- draw_inv_gamma(1, (df + 1) / 2, df / state$variance + a[["scale"]]^-2)
      list(variance = draw_inv_gamma(1, (df + m) / 2, df / aux + square() / 2), aux = aux)
    },
    gibbs_joint(block, state, matrix(b[block$columns], ncol = joint_effects(block)), m)
  )
}

# `u`: a level in each row.
gibbs_joint <- function(block, state, u, m = nrow(u)) {
  inverse_a <- numeric(0)
  if (block$prior == "huang_wand") {
    df <- block$parameters[["df"]]
    scale <- df * diag(chol2inv(chol(state$variance))) + half_t_scales(block)^-2
    inverse_a <- rgamma(length(scale), (df + length(scale)) / 2) / scale
  }
  prior <- joint_prior_of(block, inverse_a)
  list(variance = draw_inv_wishart(prior$df + m, prior$scale + crossprod(u)))
}

# ---- a sweep ------------------------------------------------------------------------------

gibbs_start <- function(model) {
  variances <- lapply(model$blocks, function(block) {
    if (block$prior == "normal") return(list(variance = block$parameters[["variance"]]))
    list(variance = if (is.matrix(block$columns)) diag(ncol(block$columns)) else 1)
  })
  list(b = numeric(ncol(model$design)), variances = variances)
}

gibbs_coefficients <- function(model, state, mutation) {
  c <- model$design
  o <- model$weight
  f <- drop(model$offset + c %*% state$b)
  w <- o * draw_inverse_scale(o * abs(1 - model$y * f))
  if (mutation == "clamped") w <- pmin(w, 5)
  linear <- if (mutation == "linear") w else 1 + w
  d <- twin_precision(model, lapply(state$variances, function(v) {
    list(inverse = chol2inv(chol(v$variance)))
  }))
  root <- chol(crossprod(c, o * w * c) + d)
  h <- crossprod(c, o * (model$y * linear - w * model$offset))
  drop(backsolve(root, forwardsolve(t(root), h) + rnorm(ncol(c))))
}

gibbs_sweep <- function(model, state, mutation = "none") {
  b <- gibbs_coefficients(model, state, mutation)
  variances <- Map(gibbs_variance, model$blocks, state$variances, list(b), mutation)
  list(b = b, variances = variances)
}

# list(b = draws x P, variances = for each block a matrix with a row for each draw: the variance,
# or the lower triangle of Sigma by column).
twin_gibbs <- function(model, draws, burnin = 100, thin = 1, mutation = "none",
                       state = gibbs_start(model)) {
  rows <- model$weight > 0
  model[c("y", "weight", "offset")] <- lapply(model[c("y", "weight", "offset")], `[`, rows)
  model$design <- model$design[rows, , drop = FALSE]
  for (sweep in seq_len(burnin)) state <- gibbs_sweep(model, state, mutation)
  kept <- vector("list", draws)
  for (draw in seq_len(draws)) {
    for (sweep in seq_len(thin)) state <- gibbs_sweep(model, state, mutation)
    kept[[draw]] <- state
  }
  collect_states(kept)
}

collect_states <- function(states) {
  lower <- function(v) v[lower.tri(v, diag = TRUE)]
  blocks <- seq_along(states[[1]]$variances)
  list(
    b = do.call(rbind, lapply(states, `[[`, "b")),
    variances = lapply(blocks, function(k) {
      draws <- lapply(states, function(state) as.matrix(state$variances[[k]]$variance))
      do.call(rbind, lapply(draws, lower))
    })
  )
}

# ---- the core's samplers, in the same form -------------------------------------------------

sample_options <- function(draws = 1000, burnin = 200, thin = 1, chains = 1, seed = 1,
                            mixing = TRUE, threads = 1, checkpoint = "", resume = FALSE,
                            checkpoint_interval = 60, keep_effects = TRUE) {
  list(draws = as.integer(draws), burnin = as.integer(burnin), thin = as.integer(thin),
       chains = as.integer(chains), mixing = mixing, seed = as.double(seed),
       threads = as.integer(threads), verbose = FALSE, checkpoint = checkpoint, resume = resume,
       checkpoint_interval = checkpoint_interval, keep_effects = keep_effects, keep_unknowns = TRUE)
}

# `integrate` is engine_slice()'s and makes the model one for it; `mixing` is engine_gibbs()'s.
sampler_model <- function(case, mixing = TRUE, integrate = NULL) {
  model <- case_model(case)
  model$engine <- list(name = "gibbs", parameters = c(mixing = as.numeric(mixing)))
  if (!is.null(integrate)) {
    model$engine <- list(name = "slice",
                         parameters = c(integrate = as.numeric(integrate)))
    model$integrated <- swept_factor(case)
  }
  if (isTRUE(case$normalised)) {
    model$likelihood <- list(name = "hinge_normalized", parameters = numeric(0))
  }
  model
}

# The factor that engine_slice() sweeps, from 0: of those with one or two effects that with most
# levels. -1 where the core eliminates the one factor in any case.
swept_factor <- function(case) {
  if (!is.null(case[["group"]])) return(if (NCOL(case$z) > 1L) -1L else 0L)
  if (is.null(case$factors)) return(-1L)
  levels <- vapply(case$factors, factor_levels, 1L)
  which.max(ifelse(vapply(case$factors, factor_effects, 1L) <= 2L, levels, 0L)) - 1L
}

sample_core <- function(case, ..., integrate = NULL) {
  options <- sample_options(...)
  bsvm:::core_sample(case_problem(case), sampler_model(case, options$mixing, integrate), options)
}

# (rows, draws, chains) as a matrix with a draw in each row, chain after chain.
stack_chains <- function(x) t(matrix(x, dim(x)[1], dim(x)[2] * dim(x)[3]))

core_draws <- function(result) {
  list(b = cbind(stack_chains(result$coefficients),
                 if (length(result$effects)) stack_chains(result$effects)),
       variances = lapply(result$variances, stack_chains))
}

core_gibbs <- function(case, ...) core_draws(sample_core(case, ...))
core_slice <- function(case, ..., integrate = TRUE) {
  core_draws(sample_core(case, ..., integrate = integrate))
}

# ---- the same draws, however they came about --------------------------------------------

# Everything but how the run came about.
drawn <- function(result) {
  result[c("coefficients", "variances", "effects", "mean", "effects_mean", "effects_sd", "draws")]
}

# Large arrays that differ are no use in a message.
expect_same_draws <- function(actual, expected) {
  same <- vapply(names(drawn(expected)), function(part) {
    identical(actual[[part]], expected[[part]])
  }, TRUE)
  expect(all(same), paste("Not the same bits:", paste(names(same)[!same], collapse = ", ")))
}

new_checkpoint <- function() tempfile("chain", fileext = ".bsvm")

# ---- comparing draws ----------------------------------------------------------------------

# Coefficients and log variances of those blocks whose variance is unknown; of a joint block the
# log variances and the correlations.
draw_table <- function(model, draws) {
  unknown <- vapply(model$blocks, function(block) block$prior != "normal", TRUE)
  cbind(draws$b, do.call(cbind, lapply(draws$variances[unknown], function(v) {
    q <- (sqrt(8 * ncol(v) + 1) - 1) / 2
    at <- matrix(0, q, q)
    at[lower.tri(at, diag = TRUE)] <- seq_len(ncol(v))
    pairs <- which(lower.tri(at), arr.ind = TRUE)
    correlations <- apply(pairs, 1, function(k) {
      v[, at[k[1], k[2]]] / sqrt(v[, at[k[1], k[1]]] * v[, at[k[2], k[2]]])
    })
    cbind(log(v[, diag(at)]), if (nrow(pairs) > 0) correlations)
  })))
}

# The same and linear predictors of some rows, which see how coefficients hang together.
law_table <- function(model, draws) {
  rows <- seq(1, length(model$y), length.out = 8)
  cbind(draw_table(model, draws), tcrossprod(draws$b, model$design[rows, , drop = FALSE]))
}

# Standard error of the mean of each column, by batches.
batch_error <- function(values, batches = 20) {
  size <- nrow(values) %/% batches
  used <- seq_len(size * batches)
  apply(values[used, , drop = FALSE], 2, function(v) {
    sd(colMeans(matrix(v, size))) / sqrt(batches)
  })
}

# Means and sds of draws against exact ones: within `mean` sd and `sd` of one.
expect_exact <- function(draws, exact, mean = 0.02, sd = 0.03, label = "draws") {
  expect_close(colMeans(draws), exact$mean, mean, scale = exact$sd,
               label = paste("mean of", label))
  expect_close(apply(draws, 2, stats::sd) / exact$sd, rep(1, ncol(draws)), sd, scale = 1,
               label = paste("sd of", label))
}

# Two chains of the same law: locations and spreads of their common ranks (tails may be heavy)
# agree within their errors, by batches.
expect_same_law <- function(a, b, z = 5) {
  own <- seq_len(nrow(a))
  score <- apply(rbind(a, b), 2, rank) / (nrow(a) + nrow(b)) - 1 / 2
  for (power in 1:2) {
    x <- score[own, , drop = FALSE]^power
    y <- score[-own, , drop = FALSE]^power
    error <- sqrt(batch_error(x)^2 + batch_error(y)^2)
    worst <- max(abs(colMeans(x) - colMeans(y)) / error)
    expect(worst < z, sprintf("Rank moments of order %d differ by %.1f standard errors.", power,
                              worst))
  }
}

# ---- the papers' trial --------------------------------------------------------------------

toenail_fit <- function(engine, ...) {
  d <- toenail_data()
  with_seed(1, suppressWarnings(paper_bsvm(outcome ~ time * treatment + (1 | patientID), d, ...,
                                     engine = engine, control = bsvm_control(verbose = FALSE))))
}

# The patients' variance is 11.0, the intercept -1.10 (sd 0.34): exact values by integrating the
# patients' effects out in closed form (tests/core).
expect_toenail <- function(fit) {
  variance <- stack_chains(fit$posterior$variances[[length(fit$posterior$variances)]])
  coefficients <- stack_chains(fit$posterior$coefficients) # of centred columns
  intercept <- coefficients %*% c(1, -fit$design$center[-1])
  expect_lt(abs(mean(variance) - 11.0), 4 * batch_error(variance) + 0.05)
  expect_lt(abs(mean(intercept) + 1.10), 4 * batch_error(intercept) + 0.005)
  expect_lt(abs(sd(intercept) - 0.34), 0.03)
  expect_close(VarCorr(fit)$patientID[1, 1], mean(variance), 1e-8)
  expect_lt(abs(fixef(fit)[["(Intercept)"]] - mean(intercept)), 4 * batch_error(intercept))
}
