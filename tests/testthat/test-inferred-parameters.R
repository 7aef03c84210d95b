# A likelihood with an inferred scale and a term with an inferred width are added to a copy of the
# source as new files, and agree with quadrature in every engine that takes them.

# The library of a copy with both.
install_with_parameters <- function(folder) {
  tree <- source_tree()
  skip_if(is.null(tree), "the source tree is not at hand: set BSVM_SOURCE to its path")
  copy <- file.path(folder, "bsvm")
  library <- file.path(folder, "library")
  dir.create(library)
  copy_source(tree, copy)
  added <- test_path("fixtures", c("tube", "hill"))
  file.copy(file.path(added[1L], "tube.cpp"), file.path(copy, "src", "core", "likelihood"))
  file.copy(file.path(added[2L], "hill.cpp"), file.path(copy, "src", "core", "block"))
  files <- list.files(added, "[.]R$", full.names = TRUE)
  file.copy(files, file.path(copy, "R"))
  register_methods(copy, files)
  install_copy(copy, library)
  library
}

folder <- new_folder("parameters")
added <- NULL

# What `lines` of an R of its own make as `result`, with the copy.
in_copy <- function(lines, data, seconds = 300) {
  if (is.null(added)) added <<- install_with_parameters(folder)
  saveRDS(data, file.path(folder, "data.rds"))
  quiet <- "quiet <- bsvm_control(verbose = FALSE)"
  found <- child_result(c(sprintf("d <- readRDS(%s)", deparse1(file.path(folder, "data.rds"))),
                          quiet, lines), seconds, added)
  expect(!found$died, paste(c("The process ended.", found$said), collapse = "\n"))
  found$value
}

# Weighted moments over a grid: `log_density` (points, values of the parameter), `points` a row each.
grid_moments <- function(log_density, points, theta) {
  w <- exp(log_density - max(log_density))
  w <- w / sum(w)
  moments <- function(x, w) c(mean = sum(w * x), sd = sqrt(sum(w * x^2) - sum(w * x)^2))
  list(coefficients = apply(points, 2L, moments, rowSums(w)),
       parameter = moments(exp(theta), colSums(w)), weights = w)
}

# ---- a likelihood -------------------------------------------------------------------------------

tube_data <- function(n = 40, seed = 2) {
  set.seed(seed)
  d <- data.frame(x1 = rnorm(n), x2 = rnorm(n), g = factor(rep_len(1:8, n)))
  d$y <- d$x1 - d$x2 / 2 + 0.7 * rexp(n) * sample(c(-1, 1), n, TRUE)
  d
}
epsilon <- 0.3

tube_fit <- function(engine, more = "") {
  sprintf(paste("bsvm(y ~ 0 + x1 + x2, d, likelihood = tube, prior = prior_ridge(variance = 4),",
                "standardize = FALSE, control = quiet, engine = %s%s)"), engine, more)
}
tube_line <- "tube <- bsvm:::likelihood_tube(0.3, prior_half_t(3, 1.5))"

# log p(y, b, log scale), less what is constant.
tube_log_density <- function(d, points, theta) {
  f <- points %*% t(as.matrix(d[c("x1", "x2")]))
  excess <- rowSums(pmax(abs(sweep(f, 2L, d$y)) - epsilon, 0))
  prior <- -rowSums(points^2) / 8
  vapply(theta, function(t) {
    scale <- exp(t)
    -nrow(d) * log(2 * (scale + epsilon)) - excess / scale + prior + t +
      dt(scale / 1.5, 3, log = TRUE)
  }, numeric(nrow(points)))
}

test_that("engines with an inferred scale agree with quadrature", {
  skip_on_cran()
  d <- tube_data()
  points <- as.matrix(expand.grid(seq(0, 2.2, length = 121), seq(-1.5, 0.4, length = 121)))
  theta <- seq(log(0.25), log(2.2), length = 61)
  exact <- grid_moments(tube_log_density(d, points, theta), points, theta)
  found <- in_copy(c(
    tube_line,
    "numbers <- function(fit) {",
    "  all <- summary(fit)",
    "  scale <- if (is.null(all$parameters)) all$variance_draws else all$parameters",
    "  rbind(all$coefficients[, 1:2], scale = scale['scale', 1:2])",
    "}",
    "set.seed(1)",
    "result <- list(",
    paste0("  gaussian = numbers(", tube_fit("engine_gaussian()"), "),"),
    paste0("  slice = numbers(", tube_fit("engine_slice(draws = 5000, burnin = 500)"), "),"),
    paste0("  gibbs = numbers(", tube_fit("engine_gibbs(draws = 5000, burnin = 500)"), "))")
  ), d)
  means <- c(exact$coefficients["mean", ], exact$parameter[["mean"]])
  sds <- c(exact$coefficients["sd", ], exact$parameter[["sd"]])
  for (engine in names(found)) {
    # Of the scale, whose distribution is skewed, the Gaussian engine has its sd to 3 %.
    limit <- if (engine == "gaussian") c(0.02, 0.02, 0.03) else 0.05
    expect(all(abs(found[[engine]][, 1L] - means) / sds < 0.04), paste("means of", engine))
    expect(all(abs(found[[engine]][, 2L] / sds - 1) < limit), paste("sds of", engine))
  }
})

# The bound of q(b) = N(m, L L') with latent scales averaged out, at a scale.
tube_bound <- function(x, d) {
  m <- x[1:2]
  root <- matrix(c(exp(x[3L]), x[4L], 0, exp(x[5L])), 2L)
  scale <- exp(x[6L])
  design <- as.matrix(d[c("x1", "x2")])
  f <- drop(design %*% m)
  v <- rowSums((design %*% root)^2)
  hinge <- function(u) (u + sqrt(u^2 + v)) / 2
  rows <- -log(2 * (scale + epsilon)) - (hinge(d$y - f - epsilon) + hinge(f - d$y - epsilon)) / scale
  prior <- -log(2 * pi * 4) - (sum(m^2) + sum(root^2)) / 8
  half_t <- log(2) + dt(scale / 1.5, 3, log = TRUE) - log(1.5) + x[6L]
  sum(rows) + prior + half_t + 1 + log(2 * pi) + x[3L] + x[5L]
}

test_that("variational Bayes is at its twin's optimum, scale included", {
  skip_on_cran()
  d <- tube_data()
  best <- optim(c(1, -0.5, -2, 0, -2, -0.5), tube_bound, d = d, method = "BFGS",
                control = list(fnscale = -1, maxit = 1000, reltol = 1e-15))
  found <- in_copy(c(
    tube_line,
    paste0("fit <- ", tube_fit("engine_vb()")),
    "result <- list(mean = fixef(fit), covariance = vcov(fit), bound = elbo(fit),",
    "               scale = summary(fit)$parameters[1L])"
  ), d)
  root <- matrix(c(exp(best$par[3L]), best$par[4L], 0, exp(best$par[5L])), 2L)
  sd <- sqrt(rowSums(root^2))
  expect_close(found$mean, best$par[1:2], 1e-4, scale = sd)
  expect_close(found$covariance, tcrossprod(root), 1e-4, scale = outer(sd, sd))
  expect_close(found$scale, exp(best$par[6L]), 1e-5)
  expect_close(found$bound, best$value, 1e-8)
})

test_that("with group effects the engines agree, and a fit survives its checkpoint to the bit", {
  skip_on_cran()
  d <- tube_data(120)
  d$y <- d$y + rnorm(8)[d$g]
  found <- in_copy(c(
    tube_line,
    "fit <- function(engine, ...) bsvm(y ~ x1 + (1 | g), d, likelihood = tube, engine = engine,",
    "                                  control = quiet, ...)",
    "numbers <- function(fit) {",
    "  all <- summary(fit)",
    "  scale <- if (is.null(all$parameters)) all$variance_draws else all$parameters",
    "  c(all$coefficients['x1', 1:2], scale['scale', 1:2],",
    "    sqrt(unlist(lapply(VarCorr(fit), c))))",
    "}",
    "set.seed(3)",
    "same <- function(engine) {",
    "  kept <- tempfile()",
    "  piece <- function(draws, ...) {",
    "    suppressWarnings(fit(engine(draws, burnin = 100, chains = 1, checkpoint = kept, ...)))",
    "  }",
    "  set.seed(4)",
    "  whole <- suppressWarnings(fit(engine(60, burnin = 100, chains = 1)))",
    "  set.seed(4)",
    "  piece(30)",
    "  drawn <- function(fit) fit$posterior[c('coefficients', 'variances')]",
    "  identical(drawn(whole), drawn(piece(60, resume = TRUE)))",
    "}",
    "result <- list(gaussian = numbers(fit(engine_gaussian())),",
    "               slice = numbers(fit(engine_slice(draws = 3000))),",
    "               gibbs = numbers(fit(engine_gibbs(draws = 3000))),",
    "               same = c(same(engine_gibbs), same(engine_slice)))"
  ), d)
  expect_identical(found$same, c(TRUE, TRUE))
  for (engine in c("slice", "gaussian"))
    expect_close(found[[engine]][1:4], found$gibbs[1:4], 0.08,
                 scale = found$gibbs[c(2, 2, 4, 4)])
})

test_that("what can't take an inferred scale says so before it starts", {
  skip_on_cran()
  d <- transform(tube_data(), z = replace(x2, 1:3, NA))
  refused <- function(code) sprintf("tryCatch(%s, error = function(e) class(e)[1L])", code)
  fit <- "bsvm(y ~ x1 + z, d, likelihood = tube, "
  found <- in_copy(c(
    tube_line,
    "result <- c(",
    paste(c(refused(paste0(fit, "missing = missing_normal())")),
            refused("bsvm(y ~ x1 + x2, d, likelihood = tube, prior = prior_spike_slab())"),
            refused("bsvm(y ~ x1 + x2, d, likelihood = tube, engine = engine_em())")),
          collapse = ", "), ")"
  ), d)
  expect_true(all(found %in% c("bsvm_error_unsupported", "bsvm_error_missing",
                               "bsvm_error_prior")), info = paste(found, collapse = " "))
})

# ---- a term -------------------------------------------------------------------------------------

hill_data <- function(n = 250, seed = 5) {
  set.seed(seed)
  x <- runif(n, -2, 2)
  f <- 2 * exp(-(x - 1)^2 / 0.32) - 1.2 * exp(-(x + 1)^2 / 0.32)
  data.frame(x, y = factor(ifelse(runif(n) < plogis(4 * f), "b", "a")))
}
hill_columns <- function(x, width) exp(-outer(x, c(-1, 1), "-")^2 / (2 * width^2))

test_that("a term with an inferred width agrees with quadrature, and so do its predictions", {
  skip_on_cran()
  d <- hill_data()
  points <- as.matrix(expand.grid(seq(-4, 0.3, length = 81), seq(0.5, 8, length = 121)))
  theta <- seq(log(0.25), log(0.7), length = 61)
  sign <- ifelse(d$y == "b", 1, -1)
  log_density <- vapply(theta, function(t) {
    g <- points %*% t(sign * hill_columns(d$x, exp(t)))
    odds <- 2 * pmax(1 + g, 0) - 2 * pmax(1 - g, 0)
    rowSums(plogis(odds, log.p = TRUE)) - rowSums(points^2) / 4 + t + dt(exp(t), 3, log = TRUE)
  }, numeric(nrow(points)))
  exact <- grid_moments(log_density, points, theta)
  at <- c(-1, 0, 0.5, 1, 1.5)
  links <- lapply(theta, function(t) points %*% t(hill_columns(at, exp(t))))
  mean <- Reduce(`+`, Map(function(f, k) colSums(f * exact$weights[, k]), links, seq_along(theta)))
  square <- Reduce(`+`, Map(function(f, k) colSums(f^2 * exact$weights[, k]), links,
                            seq_along(theta)))
  sd <- sqrt(square - mean^2)
  found <- in_copy(c(
    "new <- data.frame(x = c(-1, 0, 0.5, 1, 1.5))",
    "numbers <- function(engine) {",
    "  fit <- bsvm(y ~ 0 + hill(x), d, prior = list('hill(x)' = prior_ridge(variance = 2)),",
    "              engine = engine, control = quiet)",
    "  all <- summary(fit)",
    "  width <- if (is.null(all$parameters)) all$variance_draws else all$parameters",
    "  list(coefficients = all$coefficients[, 1:2], width = width['hill(x): width', 1:2],",
    "       link = predict(fit, new, type = 'link', interval = TRUE),",
    "       same = max(abs(predict(fit, d, type = 'link') - fitted(fit))))",
    "}",
    "set.seed(6)",
    "result <- list(gaussian = numbers(engine_gaussian()),",
    "               slice = numbers(engine_slice(draws = 20000, burnin = 1000)))"
  ), d)
  for (engine in names(found)) {
    of <- found[[engine]]
    expect_lt(of$same, 1e-12)
    expect_close(of$width[[1L]], exact$parameter[["mean"]], 0.04, scale = exact$parameter[["sd"]])
    expect_close(of$width[[2L]] / exact$parameter[["sd"]], 1, 0.03)
    expect_close(of$coefficients[, 1L], exact$coefficients["mean", ], 0.05,
                 scale = exact$coefficients["sd", ])
    expect_close(of$coefficients[, 2L] / exact$coefficients["sd", ], rep(1, 2), 0.04)
    expect_close(of$link$fit, mean, 0.05, scale = sd)
    expect_close(of$link$sd / sd, rep(1, 5), 0.04)
  }
})

unlink(folder, recursive = TRUE)
