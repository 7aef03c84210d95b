# Probabilities of known groups, whose effects are not normal, against sums over grids.

normalised <- likelihood_hinge(normalized = TRUE)
hinge_probability <- function(f) plogis(2 * f + 2 * pmin(pmax(f, -1), 1))
second <- function(...) unname(predict(..., type = "prob")[, 2])

# Exact probabilities of rows of known groups whose links have `offsets`: y ~ 1 + (1 | g) with a
# flat intercept b and a half-t(3, 1) standard deviation s, `size` rows a group, by sums over (b,
# log s, v = b + u): v has the likelihood's kinks among its points whatever b and s are. Groups with
# as many rows of class +1 are alike: a row each in the answer, from none to all.
exact_known_groups <- function(positive, size, offsets, likelihood) {
  log_p <- function(margin) {
    loss <- -2 * pmax(1 - margin, 0)
    if (likelihood$name == "hinge") return(loss)
    loss - log(exp(loss) + exp(-2 * pmax(1 + margin, 0)))
  }
  b <- seq(-16, 6, by = 0.1)
  t <- seq(-1.8, 3, by = 0.15)
  v <- seq(-60, 40, by = 0.05)
  mass <- exp(outer(log_p(v), 0:size) + outer(log_p(-v), size:0))
  alike <- tabulate(positive + 1, size + 1)
  log_joint <- matrix(0, length(b), length(t))
  p <- array(0, c(length(b), length(t), size + 1, length(offsets)))
  for (j in seq_along(t)) {
    prior <- dnorm(outer(b, v, `-`) / exp(t[j]))
    whole <- prior %*% mass
    log_joint[, j] <- dt(exp(t[j]), 3, log = TRUE) - sum(alike) * t[j] + t[j] + log(whole) %*% alike
    for (o in seq_along(offsets)) {
      p[, j, , o] <- prior %*% (mass * hinge_probability(v + offsets[o])) / whole
    }
  }
  weight <- exp(log_joint - max(log_joint))
  apply(p, 3:4, function(own) sum(own * weight) / sum(weight))
}

known_groups_fit <- function(groups, size, sd, centre, likelihood) {
  d <- with_seed(1, {
    d <- data.frame(g = gl(groups, size), o = 0)
    d$y <- as.integer(runif(nrow(d)) < hinge_probability(centre + rnorm(groups, 0, sd)[d$g]))
    d
  })
  bsvm(y ~ 1 + (1 | g), d, offset = o, likelihood = likelihood, engine = "gaussian",
       prior = list("(Intercept)" = prior_flat(), g = prior_ridge(variance = prior_half_t(3, 1))))
}

test_that("rows of known groups have the probabilities of sums over grids", {
  designs <- list(c(60, 4, 1.5, -1), c(150, 3, 1, -0.8), c(294, 6, 1.2, -1))
  offsets <- c(-0.5, 0, 0.5)
  for (design in designs) for (likelihood in list(normalised, likelihood_hinge())) {
    size <- design[2]
    fit <- known_groups_fit(design[1], size, design[3], design[4], likelihood)
    positive <- tapply(fit$y > 0, rep(seq_len(design[1]), each = size), sum)
    exact <- exact_known_groups(positive, size, offsets, likelihood)
    first <- match(0:size, positive)
    new <- expand.grid(g = fit$groups$g$levels[first], o = offsets)
    off <- abs(second(fit, new, map = "likelihood") / exact - 1)
    expect_lt(max(off[exact > 0.01]), 0.008)
    expect_lt(max(off[exact > 0.001]), 0.035)
    fit$posterior$shapes <- NULL
    expect_gt(max(abs(second(fit, new, map = "likelihood") / as.vector(exact) - 1)), 0.5)
    expect_identical(unname(predict(fit, new)), factor(as.integer(second(fit, new) >= 0.5)))
  }
})

test_that("averages over a law of given shape are those of a fine sum", {
  hermite <- function(z) cbind(z^2 - 1, z^3 - 3 * z, z^4 - 6 * z^2 + 3, z^5 - 10 * z^3 + 15 * z,
                               z^6 - 15 * z^4 + 45 * z^2 - 15,
                               z^7 - 21 * z^5 + 105 * z^3 - 105 * z)
  shape <- c(0.02, 0.96, -0.15, 0.01, 0.004, -0.001, -2e-4, 1e-5)
  z <- seq(-4.5, 4.5, length.out = 2001)
  x <- drop(cbind(1, z, hermite(z)) %*% shape)
  weight <- dnorm(z) / sum(dnorm(z))
  cases <- expand.grid(mean = c(-3, -0.4, 1), own = c(0.1, 1, 4), rest = c(0, 0.2, 2))
  expected <- mapply(function(mean, own, rest) {
    sum(weight * normal_probability(mean + own * x, rep(rest, length(x))))
  }, cases$mean, cases$own, cases$rest)
  found <- shaped_response(normalised, cases$mean, cases$own, cases$rest,
                           matrix(shape, 8, nrow(cases)))
  within <- ifelse(cases$rest > 0, 5e-5, 1.5e-3)
  expect_lt(max(abs(found / expected - 1) / within), 1)
  normal <- shaped_response(normalised, cases$mean, cases$own, cases$rest,
                            matrix(c(0, 1, 0, 0), 4, nrow(cases)))
  whole <- normal_probability(cases$mean, sqrt(cases$own^2 + cases$rest^2))
  within <- ifelse(cases$rest > 0, 6e-4, 4e-3) # tails of x beyond 4.5 are left out
  expect_lt(max(abs(normal / whole - 1) / within), 1)
})

# Of one component, by sums over the intercept b ~ N(mean, sd^2) and a grid of the level's effects.
exact_pair_probability <- function(sigma, rows, y, mean, sd, z_new, log_p) {
  axis <- seq(-7, 7, length.out = 71)
  e <- as.matrix(expand.grid(axis, axis))
  u <- e %*% chol(sigma)
  by_row <- u %*% t(rows)
  own <- drop(u %*% z_new)
  nodes <- seq(-3, 3, by = 0.75)
  each <- vapply(mean + sd * nodes, function(b) {
    log_mass <- -rowSums(e^2) / 2
    for (i in seq_along(y)) log_mass <- log_mass + log_p(y[i] * (b + by_row[, i]))
    mass <- exp(log_mass - max(log_mass))
    sum(mass * hinge_probability(b + own)) / sum(mass)
  }, 0)
  sum(each * dnorm(nodes)) / sum(dnorm(nodes))
}

test_that("two effects a level: rows in any direction have the probabilities of sums over a grid", {
  e <- with_seed(4, {
    e <- data.frame(g = gl(40, 5), x = rnorm(200))
    e$y <- as.integer(runif(200) < hinge_probability(-1 + rnorm(40, 0, 1.5)[e$g] +
                                                       rnorm(40, 0, 0.8)[e$g] * e$x))
    e
  })
  log_normalised <- function(margin) log(hinge_probability(margin))
  log_pseudo <- function(margin) -2 * pmax(1 - margin, 0)
  for (likelihood in list(normalised, likelihood_hinge())) {
    fit <- bsvm(y ~ 1 + (x | g), e, likelihood = likelihood, engine = "gaussian",
                prior = list("(Intercept)" = prior_ridge(variance = 1),
                             g = prior_inv_wishart(df = 4, scale = diag(2))))
    expect_identical(dim(fit$posterior$shapes), c(48L, 40L, 1L))
    k <- which.max(fit$posterior$weights)
    own <- component_fit(fit, k)
    new <- expand.grid(x = c(-2, -0.5, 0, 1.5), g = levels(e$g)[1:12], stringsAsFactors = FALSE)
    rows <- prediction_rows(fit, new, NULL, FALSE, NULL, NULL, environment())
    link <- posterior_linear(own, rows)
    found <- component_probability(own, rows, link$mean, link$sd, "g",
                                   component_shapes(fit$posterior, k))
    b <- posterior_coefficients(own)
    exact <- vapply(seq_len(nrow(new)), function(i) {
      at <- which(e$g == new$g[i])
      exact_pair_probability(effect_covariances(own)[[1]], cbind(1, e$x[at]), 2 * e$y[at] - 1,
                             b$mean, b$sd, c(1, new$x[i]),
                             if (likelihood$name == "hinge") log_pseudo else log_normalised)
    }, 0)
    pseudo <- likelihood$name == "hinge"
    common <- exact > if (pseudo) 0.01 else 0
    expect_gt(sum(common), 25)
    expect_lt(max(abs(found / exact - 1)[common]), if (pseudo) 0.08 else 0.015)
    normal <- normal_probability(link$mean, link$sd)
    expect_gt(max(abs(normal / exact - 1)[common]), 0.3)
  }
})

test_that("shapes serve what has known levels only, and not what is left out of the prediction", {
  fit <- known_groups_fit(60, 4, 1.5, -1, normalised)
  new <- data.frame(g = c("1", "new"), o = 0)
  rows <- prediction_rows(fit, new, NULL, TRUE, NULL, NULL, environment())
  link <- component_moments(fit, function(own) posterior_linear(own, rows))
  normal <- matrix(normal_probability(link$mean, link$sd), 2) %*% fit$posterior$weights
  p <- second(fit, new, allow_new_levels = TRUE)
  expect_close(p[2], normal[2], 1e-12)
  expect_gt(abs(p[1] - normal[1]), 0.01)
  plain <- fit
  plain$posterior$shapes <- NULL
  expect_identical(second(fit, new, re_formula = NA), second(plain, new, re_formula = NA))
})
