# The same model written differently gives the same posterior.

bsvm <- paper_bsvm

d <- binary_data()
g <- grouped_data()

plain_fit <- function(data, formula = y ~ x1 + x2 + x3 + f, ...) {
  bsvm(formula, data, engine = "vb", control = tight(), ...)
}
group_fit <- function(data, formula = y ~ x1 + t + (1 + t || g), ...) {
  bsvm(formula, data, engine = "vb", control = tight(), ...)
}

same_effects <- function(fit, other, tolerance = tolerances[["invariance"]]) {
  expect_same_posterior(fit, other, tolerance)
  a <- ranef(fit)[[1]]
  b <- ranef(other)[[1]]
  sd <- as.matrix(attr(b, "sd"))
  expect_close(as.matrix(a), as.matrix(b), tolerance, scale = sd)
  expect_close(as.matrix(attr(a, "sd")), sd, tolerance, scale = sd)
}

test_that("the order of the rows does not matter", {
  order <- with_seed(1, sample(nrow(d)))
  expect_same_posterior(plain_fit(d[order, ]), plain_fit(d), tolerances[["invariance"]])
  expect_close(fitted(plain_fit(d[order, ])), fitted(plain_fit(d))[order],
               tolerances[["invariance"]])
  order <- with_seed(1, sample(nrow(g)))
  same_effects(group_fit(g[order, ]), group_fit(g))
})

test_that("the order of the columns does not matter", {
  other <- plain_fit(d, y ~ f + x3 + x1 + x2)
  fit <- plain_fit(d)
  expect_close(fixef(other)[names(fixef(fit))], fixef(fit), tolerances[["invariance"]])
  expect_close(elbo(other), elbo(fit), tolerances[["invariance"]])
})

test_that("swapping the classes changes the signs and nothing else", {
  swap <- function(data) {
    data$y <- factor(data$y, levels = rev(levels(data$y)))
    data
  }
  fit <- plain_fit(d)
  swapped <- plain_fit(swap(d))
  expect_close(fixef(swapped), -fixef(fit), tolerances[["invariance"]])
  expect_close(vcov(swapped), vcov(fit), tolerances[["invariance"]])
  expect_close(elbo(swapped), elbo(fit), tolerances[["invariance"]])
  expect_identical(as.character(predict(swapped, d)), as.character(predict(fit, d)))
  expect_close(as.matrix(ranef(group_fit(swap(g)))$g), -as.matrix(ranef(group_fit(g))$g),
               tolerances[["invariance"]])
})

test_that("weight 2 is the row twice", {
  twice <- c(seq_len(nrow(d)), 1:20)
  w <- rep(c(2, 1), c(20, nrow(d) - 20))
  expect_same_posterior(plain_fit(d, weights = w), plain_fit(d[twice, ]),
                        tolerances[["invariance"]])
  twice <- c(seq_len(nrow(g)), 1:20)
  w <- rep(c(2, 1), c(20, nrow(g) - 20))
  same_effects(group_fit(g, weights = w), group_fit(g[twice, ]))
})

test_that("weight 0 is the row absent, its level and its spread included", {
  d$x1[1:3] <- c(1e3, -5e4, 7)
  w <- rep(c(0, 1), c(3, nrow(d) - 3))
  expect_same_posterior(plain_fit(d, weights = w), plain_fit(d[-(1:3), ]),
                        tolerances[["invariance"]])
  gone <- g$g == "g03"
  fit <- group_fit(g, weights = as.numeric(!gone))
  same_effects(fit, group_fit(droplevels(g[!gone, ])))
  expect_length(fitted(fit), nrow(g))
  expect_finite(fitted(fit))
})

test_that("columns rescaled by powers of two change no bit inside", {
  fit <- plain_fit(d)
  scaled <- plain_fit(transform(d, x1 = x1 * 2^40, x2 = x2 / 2^30))
  expect_identical(scaled$posterior, fit$posterior)
  expect_identical(elbo(scaled), elbo(fit))
  expect_identical(unname(fixef(scaled)[c("x1", "x2")]),
                   unname(fixef(fit)[c("x1", "x2")]) * c(2^-40, 2^30))
})

test_that("columns rescaled and shifted leave a standardised fit alone", {
  fit <- plain_fit(d)
  moved <- plain_fit(transform(d, x1 = x1 * 3.7, x2 = -2e5 * x2, x3 = x3 + 10))
  names <- c("x1", "x2", "x3", "fb", "fc")
  factors <- c(3.7, -2e5, 1, 1, 1)
  sd <- sqrt(diag(vcov(fit)))[names]
  expect_close(fixef(moved)[names] * factors, fixef(fit)[names], 1e-8, scale = sd)
  expect_close(elbo(moved), elbo(fit), 1e-10, scale = abs(elbo(fit)))
  expect_close(fitted(moved), fitted(fit), 1e-8)
})

test_that("a design as given, rescaled with its prior, gives the same answer", {
  fit <- plain_fit(d, y ~ x1, prior = prior_ridge(variance = 2), standardize = FALSE)
  scaled <- plain_fit(transform(d, x1 = x1 * 8), y ~ x1, prior = prior_ridge(variance = 2 / 64),
                      standardize = FALSE)
  expect_close(fixef(scaled) * c(1, 8), fixef(fit), tolerances[["invariance"]])
})

test_that("a recoded factor leaves the fit alone where its effects are flat", {
  recoded <- g
  recoded$f <- factor(g$f, levels = c("c", "a", "b"))
  formula <- y ~ x1 + f + (1 | g)
  fit <- group_fit(g, formula)
  expect_close(fitted(group_fit(recoded, formula)), fitted(fit), 1e-6)
  sums <- group_fit(g, formula, contrasts = list(f = "contr.sum"))
  expect_close(fitted(sums), fitted(fit), 1e-6)
})

test_that("names and coding of the levels do not matter", {
  fit <- group_fit(g)
  coded <- list(character = as.character(g$g), integer = as.integer(g$g),
                unused = factor(g$g, levels = c("none", levels(g$g))),
                reversed = factor(g$g, levels = rev(levels(g$g))))
  for (kind in names(coded)) {
    other <- group_fit(transform(g, g = coded[[kind]]))
    effects <- as.matrix(ranef(other)$g)
    if (kind == "reversed") effects <- effects[rev(seq_len(nrow(effects))), ]
    expect_close(effects, as.matrix(ranef(fit)$g), tolerances[["invariance"]], label = kind)
    expect_equal(nrow(effects), nlevels(g$g))
  }
})

test_that("character and logical predictors are the factors they stand for", {
  fit <- plain_fit(d)
  expect_identical(fixef(plain_fit(transform(d, f = as.character(f)))), fixef(fit))
  logical <- plain_fit(transform(d, f = f == "b"), y ~ x1 + f)
  number <- plain_fit(transform(d, f = as.numeric(f == "b")), y ~ x1 + f)
  expect_close(fixef(logical), fixef(number), tolerances[["rounding"]])
  expect_equal(names(fixef(logical)), c("(Intercept)", "x1", "fTRUE"))
})

test_that("a shifted offset moves a flat intercept by as much", {
  fit <- plain_fit(d, offset = rep(0, nrow(d)))
  expect_same_posterior(fit, plain_fit(d), tolerances[["rounding"]])
  shifted <- plain_fit(d, offset = rep(0.7, nrow(d)))
  expect_close(fixef(shifted), fixef(fit) - c(0.7, 0, 0, 0, 0, 0), 1e-6)
  expect_close(fitted(shifted), fitted(fit), 1e-6)
})

test_that("an offset is a predictor whose coefficient is known", {
  argument <- bsvm(y ~ x2, d, offset = 1.3 * x1, engine = "vb", control = tight())
  term <- plain_fit(d, y ~ x2 + offset(1.3 * x1))
  expect_same_posterior(argument, term, tolerances[["rounding"]])
  expect_close(fitted(term), predict(term, d, type = "link"), tolerances[["rounding"]])
  without <- plain_fit(d, y ~ x2)
  expect_gt(max(abs(fixef(term) - fixef(without))), 0.01)
})

test_that("noise of the size of rounding does not matter", {
  noisy <- transform(d, x1 = x1 * (1 + 1e-15), x2 = x2 + 1e-15)
  expect_same_posterior(plain_fit(noisy), plain_fit(d), 1e-8)
})

test_that("acceleration changes the road, not the end", {
  plain <- bsvm(y ~ x1 + x2 + x3 + f, d, engine = engine_vb(accelerate = FALSE),
                control = tight())
  expect_same_posterior(plain, plain_fit(d), tolerances[["twin"]])
  expect_lt(plain_fit(d)$passes, plain$passes)
})

# ---- several factors ----------------------------------------------------------------------

g$h <- factor(with_seed(9, sample(c("p", "q", "r", "s"), nrow(g), TRUE)))
crossed <- y ~ x1 + t + (t | g) + (1 | h)

same_every_effect <- function(fit, other, tolerance = tolerances[["invariance"]]) {
  expect_same_posterior(fit, other, tolerance)
  for (factor in names(ranef(other))) {
    sd <- as.matrix(attr(ranef(other)[[factor]], "sd"))
    expect_close(as.matrix(ranef(fit)[[factor]]), as.matrix(ranef(other)[[factor]]), tolerance,
                 scale = sd)
    expect_close(as.matrix(attr(ranef(fit)[[factor]], "sd")), sd, tolerance, scale = sd)
  }
}

test_that("crossed factors: order of rows and of terms, weight 2 and weight 0", {
  fit <- group_fit(g, crossed)
  order <- with_seed(1, sample(nrow(g)))
  same_every_effect(group_fit(g[order, ], crossed), fit)
  same_every_effect(group_fit(g, y ~ x1 + t + (1 | h) + (t | g)), fit)
  weighted <- function(w) {
    bsvm(crossed, cbind(g, w = w), weights = w, engine = "vb", control = tight())
  }
  twice <- c(seq_len(nrow(g)), 1:20)
  w <- rep(c(2, 1), c(20, nrow(g) - 20))
  same_every_effect(weighted(w), group_fit(g[twice, ], crossed))
  gone <- g$h == "q" | g$g == "g05"
  same_every_effect(weighted(as.numeric(!gone)), group_fit(droplevels(g[!gone, ]), crossed))
})

test_that("crossed factors: names, coding and order of the levels do not matter", {
  fit <- group_fit(g, crossed)
  coded <- transform(g, g = as.integer(g), h = as.character(h))
  same_every_effect(group_fit(coded, crossed), fit)
  reversed <- transform(g, h = factor(h, levels = rev(levels(h))))
  other <- group_fit(reversed, crossed)
  expect_close(ranef(other)$h[levels(g$h), ], ranef(fit)$h[levels(g$h), ], 1e-8)
  expect_close(fitted(other), fitted(fit), 1e-8)
})

test_that("nested factors are the crossed ones they stand for", {
  fit <- group_fit(g, y ~ x1 + t + (1 | h / g))
  same_every_effect(group_fit(g, y ~ x1 + t + (1 | h) + (1 | g:h)), fit, 1e-7)
  expect_close(fitted(group_fit(transform(g, hg = interaction(h, g)),
                                y ~ x1 + t + (1 | h) + (1 | hg))), fitted(fit), 1e-7)
})

test_that("correlated effects do not depend on the slope's units or the base level", {
  fit <- group_fit(g, y ~ x1 + t + (t | g))
  units <- group_fit(transform(g, t = t * 60), y ~ x1 + t + (t | g))
  expect_close(elbo(units), elbo(fit) - log(60), 1e-6)
  expect_close(fitted(units), fitted(fit), 1e-5)
})

# ---- draws --------------------------------------------------------------------------------

draws_of <- function(data, formula, ...) {
  with_seed(2, suppressWarnings(
    bsvm(formula, data, engine = engine_gibbs(40, 20, chains = 2), ...,
         control = bsvm_control(verbose = FALSE))
  ))
}

test_that("columns rescaled by powers of two change no bit of the draws", {
  fit <- draws_of(d, y ~ x1 + x2 + f)
  scaled <- draws_of(transform(d, x1 = x1 * 2^40, x2 = x2 / 2^30), y ~ x1 + x2 + f)
  expect_true(identical(scaled$posterior, fit$posterior))
})

test_that("a term that a formula writes in two ways has the same draws", {
  expect_true(identical(draws_of(g, y ~ x1 + (t || g))$posterior,
                        draws_of(g, y ~ x1 + (1 | g) + (0 + t | g))$posterior))
  expect_true(identical(draws_of(g, y ~ x1 + (1 | g / h))$posterior,
                        draws_of(g, y ~ x1 + (1 | h:g) + (1 | g))$posterior))
})

test_that("swapping the classes leaves the law of the draws, with other signs", {
  swapped <- transform(d, y = factor(y, levels = rev(levels(y))))
  long <- function(data) {
    fit <- with_seed(3, bsvm(y ~ x1 + x2, data, engine = engine_gibbs(4000, 200, chains = 2)))
    stack_chains(fit$posterior$coefficients)
  }
  expect_same_law(-long(swapped), long(d))
})

# The averages of engine_gaussian() look aside along axes that do not depend on the coordinates.
test_that("engine_gaussian(): order of terms and coding of factors do not matter", {
  data <- with_seed(3, {
    n <- 240
    data <- data.frame(x = rnorm(n), z = rexp(n), f = gl(3, 1, n), g = gl(24, 10),
                       h = gl(12, 20, n))
    data$y <- as.integer(plogis(data$x - data$z + 0.5 * (data$f == "2") + rnorm(24)[data$g]) >
                           runif(n))
    data
  })
  coded <- transform(data, f = factor(f, levels = c(3, 1, 2)))
  contrasts(coded$f) <- contr.sum(3)
  cases <- list(list("(1 | g)", FALSE), list("(1 | g)", TRUE), list("(x | g)", FALSE),
                list("(1 | g) + (1 | h)", FALSE))
  for (case in cases) {
    run <- function(terms, data) {
      bsvm(stats::as.formula(paste("y ~", terms, "+", case[[1]])), data, engine = "gaussian",
           prior = prior_flat(), likelihood = likelihood_hinge(normalized = case[[2]]))
    }
    fit <- run("x + z + f", data)
    sd <- sqrt(diag(vcov(fit)))
    other <- run("f + z + x", data)
    expect_close(fixef(other)[names(sd)], fixef(fit), 1e-8, scale = sd)
    expect_close(sqrt(diag(vcov(other)))[names(sd)], sd, 1e-8, scale = sd)
    slopes <- c("x", "z")
    recoded <- run("x + z + f", coded)
    expect_close(fixef(recoded)[slopes], fixef(fit)[slopes], 1e-4, scale = sd[slopes])
    expect_close(sqrt(diag(vcov(recoded)))[slopes], sd[slopes], 1e-4, scale = sd[slopes])
    expect_close(fitted(recoded), fitted(fit), 1e-4)
  }
})
