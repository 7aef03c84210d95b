# Small fits with draws, and what is in them worked out by hand.

# Runs without the warnings of chains that are short on purpose.
unchecked <- function(code) {
  withCallingHandlers(code, bsvm_warning_convergence = function(w) invokeRestart("muffleWarning"))
}

gibbs_fit <- function(..., draws = 150, burnin = 50, chains = 2, seed = 1,
                      engine = engine_gibbs(draws, burnin, chains = chains)) {
  with_seed(seed, unchecked(paper_bsvm(..., engine = engine, keep_data = TRUE,
                                 control = bsvm_control(verbose = FALSE))))
}

slice_fit <- function(..., draws = 150, burnin = 50, chains = 2) {
  gibbs_fit(..., engine = engine_slice(draws, burnin, chains = chains))
}

# y ~ x1 + t + (t | g) with standardised slopes: data, fit, and S draws by hand on the user's scale:
# coefficients (3 x S), effects (2 x 12 x S), covariance (2 x 2 x S). Draws go chain by chain.
drawn_reference <- function() {
  d <- grouped_data()
  fit <- gibbs_fit(y ~ x1 + t + (t | g), d, prior = prior_ridge(0.01))
  core <- flat_draws(fit$posterior$coefficients)
  x <- scale(d[c("x1", "t")])
  slopes <- core[2:3, ] / attr(x, "scaled:scale")
  coefficients <- rbind(core[1, ] - colSums(slopes * attr(x, "scaled:center")), slopes)
  v <- flat_draws(fit$posterior$variances[[3]])
  s <- ncol(core)
  list(data = d, fit = fit, coefficients = coefficients,
       effects = array(fit$posterior$effects, c(2, 12, s)),
       covariance = array(v[c(1, 2, 2, 3), ], c(2, 2, s)),
       x = cbind(1, d$x1, d$t), z = cbind(1, d$t), codes = as.integer(d$g))
}

flat_draws <- function(array) matrix(array, dim(array)[1])

# Coefficients as they are for the columns as given, of a fit that scaled none; the core centres
# all.
given_draws <- function(fit) {
  draws <- flat_draws(fit$posterior$coefficients)
  draws[1, ] <- draws[1, ] - colSums(draws[-1, , drop = FALSE] * fit$design$center[-1])
  draws
}

# Links of all rows, n x S.
hand_links <- function(ref) {
  links <- ref$x %*% ref$coefficients
  for (i in seq_len(nrow(links))) {
    links[i, ] <- links[i, ] + ref$z[i, ] %*% ref$effects[, ref$codes[i], ]
  }
  links
}

row_sds <- function(draws) apply(draws, 1, stats::sd)

row_tails <- function(draws, level = 0.95) {
  t(apply(draws, 1, stats::quantile, c(1 - level, 1 + level) / 2, names = FALSE))
}

# Another function in the package's namespace while a test runs.
local_replace <- function(name, value, frame = parent.frame()) {
  namespace <- asNamespace("bsvm")
  old <- get(name, namespace)
  put <- function(value) {
    unlockBinding(name, namespace)
    assign(name, value, namespace)
    lockBinding(name, namespace)
  }
  put(value)
  do.call(on.exit, list(as.call(list(put, old)), add = TRUE, after = FALSE), envir = frame)
}

# ---- draws under the normalised likelihood -------------------------------------------------------

# The fit with its draws taken for those under the normalised likelihood: of another law, but as
# good where only what is made of them is at stake.
as_normalised <- function(fit) {
  fit$likelihood <- likelihood_hinge(normalized = TRUE)
  fit
}

# `f` takes fits under the normalised likelihood only and, with `draws`, needs a sampler's draws.
expect_needs_law <- function(f, what, draws = FALSE) {
  d <- grouped_data()
  refused <- function(engine, likelihood, words) {
    fit <- gibbs_fit(y ~ x1 + (1 | g), d, engine = engine, likelihood = likelihood)
    expect_refusal(f(fit), "unsupported", c(what, words))
  }
  refused(engine_gibbs(20, 10, chains = 1), likelihood_hinge(),
          if (draws) "likelihood = \"normalized\"" else "likelihood_hinge(normalized = TRUE)")
  if (draws) refused(engine_gaussian(), likelihood_hinge(normalized = TRUE),
                     c("engine_gaussian()", "engine = engine_slice()"))
}

log_hinge <- function(margin) {
  loss <- -2 * pmax(1 - margin, 0)
  loss - log(exp(loss) + exp(-2 * pmax(1 + margin, 0)))
}

# Log of the integral of prod p(y | o + z u)^w over u ~ N(0, Sigma), by a sum over a fine grid in
# units of the root of Sigma. z: n x q.
grid_integral <- function(y, o, z, covariance, w = rep(1, length(y)), nodes = 6001) {
  if (length(y) == 0L) return(0)
  side <- seq(-9, 9, length.out = nodes)
  v <- if (ncol(z) == 1L) cbind(side) else as.matrix(expand.grid(side, side))
  u <- v %*% chol(covariance)
  total <- rowSums(dnorm(v, log = TRUE))
  for (i in seq_along(y)) total <- total + w[i] * log_hinge(y[i] * (o[i] + drop(u %*% z[i, ])))
  max(total) + log(sum(exp(total - max(total)))) + ncol(z) * log(side[2] - side[1])
}

# Terms by row and by group at one draw, rows of `codes`.
grid_terms <- function(codes, y, o, z, covariance, w = rep(1, length(y)), nodes = 6001) {
  whole <- function(at) {
    grid_integral(y[at], o[at], z[at, , drop = FALSE], covariance, w[at], nodes)
  }
  groups <- split(seq_along(y), codes)
  by_group <- vapply(groups, whole, 0)
  by_row <- vapply(seq_along(y), function(i) {
    by_group[[codes[i]]] - whole(setdiff(groups[[codes[i]]], i))
  }, 0)
  list(row = by_row, group = unname(by_group))
}
