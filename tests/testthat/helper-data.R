# Constructors of small data sets. The caller's random numbers are left as they were.

with_seed <- function(seed, code) {
  old <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(if (is.null(old)) rm(".Random.seed", envir = globalenv())
          else assign(".Random.seed", old, globalenv()))
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
  force(code)
}

new_folder <- function(name) {
  folder <- tempfile(name)
  dir.create(folder)
  normalizePath(folder)
}

# Two classes, numeric predictors, a factor of three levels.
binary_data <- function(n = 60, seed = 1) {
  with_seed(seed, {
    d <- data.frame(x1 = rnorm(n), x2 = rnorm(n, 3, 2), x3 = rexp(n),
                    f = factor(sample(c("a", "b", "c"), n, TRUE)))
    link <- 0.3 + 1.2 * d$x1 - 0.5 * (d$x2 - 3) + 0.5 * (d$f == "b")
    d$y <- factor(ifelse(runif(n) < plogis(2 * link), "yes", "no"), levels = c("no", "yes"))
    d
  })
}

# The same with a grouping factor `g` and a numeric predictor `t` whose slope varies by group.
grouped_data <- function(n = 120, m = 12, seed = 2) {
  d <- binary_data(n, seed)
  with_seed(seed + 1, {
    g <- sample(m, n, TRUE)
    g[seq_len(m)] <- seq_len(m)
    d$g <- factor(sprintf("g%02d", g))
    d$t <- rnorm(n)
    link <- d$x1 + rnorm(m)[g] + (0.5 + 0.5 * rnorm(m)[g]) * d$t
    d$y <- factor(ifelse(runif(n) < plogis(2 * link), "yes", "no"), levels = c("no", "yes"))
    d
  })
}

toenail_data <- function() {
  skip_if_not_installed("HSAUR3")
  get(utils::data("toenail", package = "HSAUR3", envir = environment()))
}

spam_data <- function() {
  skip_if_not_installed("kernlab")
  get(utils::data("spam", package = "kernlab", envir = environment()))
}

# ---- blocks, as the core takes them -------------------------------------------------------

block_normal <- function(columns, variance = 1e8) {
  list(prior = "normal", parameters = c(variance = variance), columns = as.integer(columns),
       unseen = 0)
}

block_ridge <- function(columns, shape = 0.01, scale = 0.01, unseen = 0) {
  list(prior = "ridge", parameters = c(shape = shape, scale = scale),
       columns = as.integer(columns), unseen = unseen)
}

block_half_t <- function(columns, df = 3, scale = 1, unseen = 0) {
  list(prior = "half_t", parameters = c(df = df, scale = scale), columns = as.integer(columns),
       unseen = unseen)
}

# `scale`: a symmetric matrix.
block_inverse_wishart <- function(columns, df, scale) {
  at <- which(lower.tri(scale, diag = TRUE), arr.ind = TRUE)
  values <- stats::setNames(scale[at], sprintf("scale_%d_%d", at[, 1], at[, 2]))
  list(prior = "inverse_wishart", parameters = c(effects = length(columns), df = df, values),
       columns = as.integer(columns), unseen = 0)
}

block_huang_wand <- function(columns, df, scale) {
  values <- stats::setNames(scale, sprintf("scale_%d", seq_along(scale)))
  list(prior = "huang_wand", parameters = c(effects = length(columns), df = df, values),
       columns = as.integer(columns), unseen = 0)
}

# ---- whole problems, for the core and the twin alike --------------------------------------

# x (n, p), y -1/+1 and blocks; `...`: weight, offset, group_blocks and group, z, n_groups, or
# `factors` (see twin_model()); `normalised`: is the likelihood? (The twin's is not.)
core_case <- function(x, y, blocks, ...) {
  case <- list(x = x, y = y, blocks = blocks, ...)
  if (!is.null(case[["group"]]) && is.null(case$n_groups)) case$n_groups <- max(case[["group"]])
  case
}

random_case <- function(n = 60, p = 4, seed = 1) {
  with_seed(seed, {
    x <- cbind(1, matrix(rnorm(n * (p - 1)), n))
    link <- x %*% (c(0.3, 1, -1, rep(0, p))[seq_len(p)])
    y <- ifelse(runif(n) < plogis(2 * link), 1, -1)
    list(x = x, y = as.vector(y), weight = sample(0:3, n, TRUE), offset = rnorm(n) / 2,
         group = sample(c(seq_len(9), sample(9, n - 9, TRUE))), z = cbind(1, rnorm(n)))
  })
}

# One of each kind of problem, small: what is compared with the twin.
core_cases <- function() {
  r <- random_case()
  fixed <- list(block_normal(1), block_normal(2:4, 2))
  inferred <- list(block_normal(1), block_ridge(2:4))
  several <- list(block_ridge(2:3), block_half_t(4), block_normal(1))
  slopes <- list(block_ridge(1), block_half_t(2))
  list(
    fixed = core_case(r$x, r$y, fixed),
    ridge = core_case(r$x, r$y, inferred),
    half_t = core_case(r$x, r$y, list(block_normal(1, 100), block_half_t(2:4, 2, 0.5))),
    several = core_case(r$x, r$y, several, weight = r$weight, offset = r$offset),
    scattered = core_case(r$x, r$y, list(block_ridge(c(4, 2)), block_normal(c(1, 3)))),
    intercepts = core_case(r$x, r$y, list(block_normal(1:4)), group = r$group,
                           group_blocks = list(block_ridge(1))),
    fixed_intercepts = core_case(r$x, r$y, inferred, group = r$group,
                                 group_blocks = list(block_normal(1, 0.7))),
    slopes = core_case(r$x, r$y, several, weight = r$weight, offset = r$offset, group = r$group,
                       z = r$z, group_blocks = slopes),
    mixed_slopes = core_case(r$x, r$y, list(block_normal(1:4)), group = r$group, z = r$z,
                             group_blocks = list(block_normal(2, 0.5), block_ridge(1))),
    only_groups = core_case(r$x[, 0], r$y, list(), group = r$group,
                            group_blocks = list(block_ridge(1))),
    wide = wide_case()
  )
}

# More coefficients than rows.
wide_case <- function(n = 15, p = 40) {
  r <- random_case(n, p, seed = 5)
  core_case(r$x, r$y, list(block_normal(1), block_ridge(2:p)))
}

case_twin <- function(case) {
  arguments <- case[intersect(names(case), names(formals(twin_model)))]
  model <- do.call(twin_model, arguments)
  model$normalised <- case$normalised
  model
}

case_problem <- function(case) {
  list(x = case$x, center = rep(0, ncol(case$x)), scale = rep(1, ncol(case$x)), y = case$y,
       weight = if (!is.null(case$weight)) as.double(case$weight), offset = case$offset,
       group = if (!is.null(case[["group"]])) as.integer(case[["group"]]),
       n_groups = if (is.null(case$n_groups)) 0L else as.integer(case$n_groups), z = case$z,
       sparse = if (!is.null(case$factors)) case_sparse(case$factors))
}

# All columns of the factors, by column.
case_sparse <- function(factors) {
  dense <- do.call(cbind, lapply(factors, factor_design))
  c(csc(dense)[c("i", "p", "x")],
    list(n_columns = ncol(dense), levels = vapply(factors, factor_levels, 1L),
         effects = vapply(factors, factor_effects, 1L)))
}

# A dense matrix compressed by column.
csc <- function(dense) {
  at <- which(dense != 0, arr.ind = TRUE)
  count <- tabulate(at[, 2], ncol(dense))
  list(i = as.integer(at[, 1] - 1), p = as.integer(c(0, cumsum(count))), x = dense[at],
       nrow = nrow(dense))
}

case_model <- function(case, accelerate = TRUE) {
  hinge <- list(name = "hinge", parameters = c(margin = 1)[0])
  list(likelihood = if (is.null(case$likelihood)) hinge else case$likelihood,
       engine = list(name = "vb", parameters = c(accelerate = as.numeric(accelerate))),
       blocks = case$blocks,
       group_blocks = if (is.null(case$group_blocks)) list() else case$group_blocks)
}

core_options <- function(tol = 1e-24, max_passes = 20000L, threads = 1L, start = NULL) {
  list(tol = tol, max_passes = max_passes, threads = threads, start = start, verbose = FALSE)
}

run_core <- function(case, accelerate = TRUE, ...) {
  bsvm:::core_fit(case_problem(case), case_model(case, accelerate), core_options(...))
}

# Mean and covariance of (b, u_1, ..., u_m) as one dense system, from the core's answer.
core_dense <- function(result) {
  if (!is.null(result$effects)) return(core_dense_sparse(result))
  regression <- -core_regression(result)
  p <- length(result$mean)
  root <- rbind(diag(1, p), regression)
  covariance <- root %*% matrix(result$covariance, p) %*% t(root)
  list(mean = c(result$mean, as.vector(result$group_mean)),
       covariance = covariance + core_own_covariance(result))
}

# B_g stacked over the groups, (m q, p).
core_regression <- function(result) {
  b <- result$group_regression
  p <- length(result$mean)
  if (is.null(b) || length(result$group_mean) == 0) return(matrix(0, 0, p))
  do.call(rbind, lapply(seq_len(dim(b)[3]), function(g) matrix(b[, , g], dim(b)[1], p)))
}

core_own_covariance <- function(result) {
  p <- length(result$mean)
  own <- matrix(0, p + length(result$group_mean), p + length(result$group_mean))
  a <- result$group_precision
  for (g in seq_len(NCOL(result$group_mean) * (length(result$group_mean) > 0))) {
    q <- dim(a)[1]
    j <- p + (g - 1) * q + seq_len(q)
    own[j, j] <- solve(matrix(a[, , g], q))
  }
  own
}

# The same from the factor of the precision, whose rows are the sparse columns in their order of
# elimination, then the dense ones: L = (leading columns; 0, inverse of `root`).
core_dense_sparse <- function(result) {
  f <- result$factor
  ps <- length(result$effects)
  p <- length(result$mean)
  lower <- matrix(0, ps + p, ps + p)
  for (j in seq_len(f$n_leading)) {
    at <- seq.int(f$p[j] + 1, length.out = f$p[j + 1] - f$p[j])
    lower[f$i[at] + 1, j] <- f$x[at]
  }
  rest <- seq_len(ps + p) > f$n_leading
  if (any(rest)) lower[rest, rest] <- solve(matrix(f$root, sum(rest)))
  permuted <- chol2inv(t(lower))
  column <- c(f$order + 1 + p, seq_len(p))
  covariance <- permuted
  covariance[column, column] <- permuted
  list(mean = c(result$mean, result$effects), covariance = covariance)
}

# ---- a grouped fit and its twin -----------------------------------------------------------

# y ~ x1 + t + (1 + t || g): the data, the fit, and the dense posterior of
# (b, u of level 1, u of level 2, ...).
grouped_reference <- function() {
  d <- grouped_data()
  x <- cbind("(Intercept)" = 1, x1 = d$x1, t = d$t)
  z <- cbind("(Intercept)" = 1, t = d$t)
  model <- twin_model(x, ifelse(d$y == "yes", 1, -1), list(block_normal(1:3)),
                      group = as.integer(d$g), z = z,
                      group_blocks = list(block_ridge(1), block_ridge(2)))
  fit <- paper_bsvm(y ~ x1 + t + (1 + t || g), d, engine = "vb", control = tight())
  list(data = d, x = x, z = z, fit = fit, twin = twin_fit(model))
}

# Mean and sd of the links of rows (x, code, z) under a dense posterior; code NA: no level.
dense_links <- function(x, codes, z, twin) {
  p <- ncol(x)
  q <- ncol(z)
  rows <- matrix(0, nrow(x), length(twin$mean))
  rows[, seq_len(p)] <- x
  for (i in which(!is.na(codes))) rows[i, p + (codes[i] - 1) * q + seq_len(q)] <- z[i, ]
  list(mean = drop(rows %*% twin$mean), sd = sqrt(rowSums((rows %*% twin$covariance) * rows)))
}

# ---- what the core has registered, listed here or not -------------------------------------------

# Numbers that `make` takes although its parameters are unknown here: what it misses is given a
# number, and one if it will not have another. `numbers`: to begin with.
any_numbers <- function(make, numbers = numeric()) {
  refused <- function() tryCatch({
    make(numbers)
    NULL
  }, bsvm_core_invalid = function(e) e$argument)
  while (!is.null(name <- refused())) {
    if (name %in% names(numbers) && numbers[[name]] == 1) stop("Nothing suits `", name, "`.")
    numbers[name] <- if (name %in% names(numbers)) 1 else 0.8 + 0.3 * length(numbers)
  }
  numbers
}

any_prior_numbers <- function(prior) {
  any_numbers(function(numbers) bsvm:::core_prior_traits(prior, numbers), c(effects = 1))
}

# Engines by name, samplers with few draws; with `gp` those for Gaussian-process terms alone, else
# all others. One without a constructor here has the settings of one of its kind.
registered_engines <- function(gp = FALSE) {
  registry <- bsvm:::core_registry()
  models <- list(engines = engine_vb(), approximators = engine_gaussian(),
                 samplers = engine_gibbs(draws = 20, burnin = 10, chains = 2),
                 estimators = engine_em())
  kinds <- registry[names(models)]
  names <- unlist(kinds, use.names = FALSE)
  models <- stats::setNames(rep(models, lengths(kinds)), names)
  all <- sapply(names, simplify = FALSE, function(name) {
    make <- get0(paste0("engine_", name), asNamespace("bsvm"), mode = "function")
    if (is.null(make)) return(unnamed_engine(name, models[[name]]))
    if (name %in% registry$samplers) make(draws = 20, burnin = 10, chains = 2) else make()
  })
  Filter(function(engine) bsvm:::trait(engine, "gp_alone") == gp, all)
}

unnamed_engine <- function(name, model) {
  model$parameters <- any_numbers(function(numbers) {
    bsvm:::core_takes(name, numbers, "normal", c(variance = 1))
  }, model$parameters)
  model[c("name", "label")] <- name
  model
}

registered_likelihoods <- function() {
  known <- list(likelihood_hinge(), likelihood_hinge(normalized = TRUE),
                likelihood_hinge(gamma = 0.7, gamma0 = 0.3), likelihood_gaussian(),
                likelihood_quantile(0.7))
  names(known) <- vapply(known, `[[`, "", "name")
  others <- setdiff(bsvm:::core_registry()$likelihoods, names(known))
  c(known, sapply(others, simplify = FALSE, function(name) {
    make <- get0(paste0("likelihood_", name), asNamespace("bsvm"), mode = "function")
    if (is.null(make)) bsvm:::new_likelihood(name, numeric(), name, FALSE) else make()
  }))
}
