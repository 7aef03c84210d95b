# Refusals, prints and plots of checks.

bsvm <- paper_bsvm

skip_on_cran()

skip_if_not_installed("loo")

likelihoods <- list(pseudo = likelihood_hinge(), normalised = likelihood_hinge(normalized = TRUE))
grouped <- grouped_data()

# ---- refusals, prints, plots ---------------------------------------------------------------------

test_that("what can't be checked is refused with a class", {
  gibbs <- with_seed(1, suppressWarnings(
    bsvm(am ~ mpg, mtcars, engine = engine_gibbs(draws = 50, burnin = 10))))
  expect_error(check_approximation(gibbs), "no approximation to check",
               class = "bsvm_error_unsupported")
  mode <- bsvm(am ~ mpg, mtcars, engine = "map")
  expect_error(check_approximation(mode), "engine_gaussian", class = "bsvm_error_unsupported")
  expect_error(check_approximation(lm(am ~ mpg, mtcars)), "`fit` must be a fit from bsvm",
               class = "bsvm_error_argument")
  fit <- bsvm(am ~ mpg, mtcars, engine = "gaussian")
  for (draws in list(99, 0, -5, NA, "many", c(200, 300), 150.5)) {
    expect_error(check_approximation(fit, draws), "`draws` must be", class = "bsvm_error_argument")
  }
  expect_error(check_approximation(fit, seed = 3), "set.seed", class = "bsvm_error_argument")
  expect_error(check_approximation(fit, exact = fit), "plot", class = "bsvm_error_argument")
  lost <- local({
    gone <- mtcars
    bsvm(am ~ mpg, gone, engine = "gaussian", keep_data = FALSE)
  })
  expect_error(check_approximation(lost), "keep_data = TRUE", class = "bsvm_error_data")
})

test_that("a fit that was changed by hand is refused with a class", {
  fits <- list(
    bsvm(y ~ x1 + (1 | g), grouped, engine = "gaussian", likelihood = likelihoods$normalised,
         prior = list(prior_flat(), g = prior_ridge(2, 1)), keep_data = TRUE),
    bsvm(y ~ x1 + t, grouped, engine = "vb", likelihood = likelihoods$pseudo,
         prior = prior_ridge(2, 1), keep_data = TRUE)
  )
  changes <- list(
    function(fit) { fit$posterior$mean[1] <- NaN; fit },
    function(fit) { fit$posterior$covariance[] <- Inf; fit },
    function(fit) { fit$posterior$mean <- 1; fit },
    function(fit) { fit$posterior <- NULL; fit },
    function(fit) { fit$posterior <- unclass(fit$posterior); fit },
    function(fit) { fit$blocks[[1]]$columns <- 99L; fit },
    function(fit) { fit$blocks <- list(); fit },
    function(fit) { fit$blocks[[1]]$prior$parameters[] <- NaN; fit },
    function(fit) { fit$blocks[[1]]$prior <- NULL; fit },
    function(fit) { fit$design$scale[2] <- NaN; fit },
    function(fit) { fit$design <- NULL; fit },
    function(fit) { fit$likelihood <- NULL; fit },
    function(fit) { fit$engine <- "vb"; fit },
    function(fit) { fit$control <- NULL; fit },
    function(fit) { fit$y <- fit$y[-1]; fit },
    function(fit) { fit$link[] <- NaN; fit },
    function(fit) { fit$groups <- list(g = NULL); fit }
  )
  for (fit in fits) for (change in changes) {
    expect_error(checked(change(fit), 200), class = "bsvm_error", label = deparse1(body(change)))
  }
  expect_error(checked(changes[[1]](fits[[1]])), "not as bsvm\\(\\) made it.*Fit the model again",
               class = "bsvm_error_argument")
})

test_that("draws that can't be weighed are an error, a few of them the lightest", {
  expect_error(bsvm:::check_ratios(c(rep(1, 99), NaN)), class = "bsvm_error_numerical")
  expect_error(bsvm:::check_ratios(rep(-Inf, 200)), class = "bsvm_error_numerical")
  expect_error(bsvm:::check_ratios(c(rep(0, 200), Inf)), class = "bsvm_error_numerical")
  found <- bsvm:::check_ratios(c(rep(5, 199), -Inf))
  expect_equal(found, c(rep(0, 199), -700))
  expect_equal(bsvm:::smoothed_weights(rep(0, 200)), list(k = 0, weights = rep(1 / 200, 200)))
})

test_that("separated classes are finite or a warning", {
  d <- data.frame(x = c(-3:-1, 1:3), y = rep(0:1, each = 3))
  for (engine in c("vb", "gaussian")) {
    fit <- suppressWarnings(bsvm(y ~ x, d, engine = engine, keep_data = TRUE,
                                 likelihood = likelihoods$pseudo,
                                 prior = prior_flat(variance = 1e8)))
    check <- tryCatch(checked(fit), bsvm_error = identity)
    if (inherits(check, "bsvm_check")) expect_false(all(check$table$trust %in% TRUE))
    else expect_s3_class(check, "bsvm_error_numerical")
  }
})

cars_fit <- function(formula = am ~ mpg + wt) {
  bsvm(formula, mtcars, engine = "gaussian", likelihood = likelihoods$normalised,
       prior = prior_ridge(variance = 0.1))
}

test_that("summary() says the sentence", {
  fit <- cars_fit()
  check <- checked(fit, NULL)
  told <- summary(fit, check = check)
  expect_identical(told$check, check)
  expect_output(print(told), "engine_gaussian\\(\\) is close to the exact posterior")
  made <- with_seed(1, summary(fit, check = TRUE))
  expect_equal(made$check$table, check$table)
  expect_null(summary(fit)$check)
  other <- cars_fit(am ~ mpg + qsec)
  expect_error(summary(other, check = check), "that of another", class = "bsvm_error_argument")
  expect_error(summary(fit, check = "yes"), "check_approximation", class = "bsvm_error_argument")
})

test_that("advice can be followed", {
  fit <- bsvm(y ~ x1 + t, grouped, engine = "vb", likelihood = likelihoods$pseudo,
              prior = prior_ridge(2, 1), keep_data = TRUE)
  said <- paste(bsvm:::check_sentences(checked(fit, NULL)), collapse = " ")
  advice <- regmatches(said, regexpr("update\\(.*\\)(?= draws)", said, perl = TRUE))
  exact <- with_seed(1, eval(str2lang(advice)))
  expect_equal(exact$engine$name, "slice")
})

test_that("prints", {
  check <- checked(cars_fit(), 2000)
  expect_identical(withVisible(print(check, n = 1))$visible, FALSE) |> capture.output()
  check$ess <- 1800 # the rest is masked
  expect_snapshot(print_masked(check))

  off <- check
  off$table$trust <- c(TRUE, FALSE, FALSE)
  off$table[2, c("shift", "sd_ratio")] <- c(0.31, 0.69)
  off$table[3, c("shift", "sd_ratio")] <- c(-0.02, 1.4)
  expect_snapshot(writeLines(bsvm:::check_sentences(off)))

  open <- check
  open$table$trust <- c(TRUE, NA, NA)
  open$table$sd_corrected[3] <- NA
  expect_snapshot(writeLines(bsvm:::check_sentences(open)))

  chains <- check
  chains[c("method", "draws")] <- list("chains", 3840L)
  chains$exact$seconds <- 300
  expect_snapshot(writeLines(bsvm:::source_sentence(chains)))
  chains$usable <- FALSE
  chains$table <- bsvm:::without_corrected(chains$table)
  expect_snapshot(print_masked(chains))
  chains$exact <- NULL
  chains$method <- "importance"
  expect_match(paste(bsvm:::check_sentences(chains), collapse = " "), "No engine draws from")
})

test_that("plots have a panel a quantity, both densities, and nothing below zero", {
  skip_if_not_installed("ggplot2")
  prior <- list(prior_flat(), g = prior_ridge(2, 1))
  model <- function(formula, engine, ...) {
    bsvm(formula, grouped, engine = engine, keep_data = TRUE, likelihood = likelihoods$pseudo, ...)
  }
  fit <- model(y ~ x1 + t + (1 | g), "gaussian", prior = prior)
  correlated <- model(y ~ x1 + (t | g), "vb",
                      prior = list(prior_flat(), g = prior_inv_wishart()))
  for (own in list(fit, correlated, model(y ~ x1 + (1 | g), "map", prior = prior))) {
    check <- checked(own)
    drawn <- plot(check)
    expect_silent(ggplot2::ggplot_build(drawn))
    shown <- drawn$data
    expect_setequal(as.character(shown$quantity), rownames(check$table))
    expect_setequal(as.character(shown$source),
                    c("corrected", paste0("engine_", own$engine$name, "()")))
    expect_gt(min(shown$value[startsWith(as.character(shown$quantity), "sd_")]), 0)
    expect_lt(max(0, abs(shown$value[startsWith(as.character(shown$quantity), "cor_")])), 1)
    for (part in split(shown, interaction(shown$quantity, shown$source), drop = TRUE)) {
      between <- (part$density[-1] + part$density[-nrow(part)]) / 2
      expect_close(sum(diff(part$value) * between), 1, 0.01)
      between <- (part$height[-1] + part$height[-nrow(part)]) / 2
      expect_close(sum(diff(part$at) * between), 1, 0.01)
    }
  }
  check <- checked(fit)
  one <- plot(check, parameters = "t")
  expect_equal(levels(one$data$quantity), "t")
  expect_error(plot(check, parameters = "nobody"), class = "bsvm_error_argument")
  gibbs <- with_seed(1, suppressWarnings(model(y ~ x1 + t + (1 | g), prior = prior,
                                               engine_gibbs(200, 50, chains = 1))))
  expect_silent(ggplot2::ggplot_build(plot(check, exact = gibbs)))
  expect_error(plot(check, exact = fit), "by draws", class = "bsvm_error_argument")
  other <- with_seed(1, suppressWarnings(model(y ~ x1, engine_gibbs(50, 10, chains = 1),
                                               prior = prior_flat())))
  expect_error(plot(check, exact = other), "same model", class = "bsvm_error_argument")
  check$usable <- FALSE
  expect_refusal(plot(check), "unsupported", c("`exact`", "Pareto k"))
  expect_silent(ggplot2::ggplot_build(plot(check, exact = gibbs)))
  check$method <- "chains"
  check$exact <- list(name = "engine_slice()", seconds = 1)
  drawn <- plot(check)
  expect_setequal(as.character(drawn$data$source), c("engine_slice()", "engine_gaussian()"))
  expect_match(drawn$labels$caption, "not converged")
})

test_that("axes of standard deviations are logarithmic, with round numbers", {
  at <- check_breaks(log(c(0.3, 40)) + panel_offset)
  expect_identical(check_labels(at), c("1", "10"))
  expect_identical(check_labels(check_breaks(log(c(0.3, 7)) + panel_offset)), c("0.5", "1", "5"))
  expect_identical(check_labels(check_breaks(c(-1.2, 3.1))), c("0", "2"))
})

test_that("the density of an inverse-gamma variance's root is that of its draws", {
  law <- list(shape = 3, scale = 2)
  at <- seq(-3, 4, 0.001)
  density <- bsvm:::law_density(law, at)
  expect_close(sum(density) * 0.001, 1, 1e-6)
  expect_close(sum(exp(2 * at) * density) * 0.001, 1, 1e-3) # the variance's mean, 2 / (3 - 1)
})
