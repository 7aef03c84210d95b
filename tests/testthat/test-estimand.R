# Known groups, groups at zero and averages over new groups, against sums by hand.

fit <- bsvm(y ~ trt + week + (1 | ID), MASS::bacteria, engine = "gaussian")
slopes <- with_seed(1, {
  d <- data.frame(g = gl(20, 10), t = rep(0:9, 20))
  d$y <- rnorm(20)[d$g] + (0.2 + 0.2 * rnorm(20)[d$g]) * (d$t - 4.5) + rlogis(200) / 2 > 0
  bsvm(y ~ t + (t | g), d, engine = "gaussian")
})

test_that("an average over new groups is the integral over their effects, draw by draw", {
  rows <- data.frame(t = c(0, 4, 9))
  found <- estimand_draws(slopes, rows, "new", "test", 50)
  drawn <- drawn_fit(slopes, "test", 50L)
  at <- posterior_linpred(drawn, newdata = rows, re_formula = NA)
  covariance <- covariance_draws(drawn, "g")
  by_hand <- function(s, k) {
    z <- c(1, rows$t[k])
    sd <- sqrt(drop(z %*% covariance[, , s] %*% z))
    u <- seq(-9, 9, length.out = 4001)
    p <- expected_response(slopes$likelihood, matrix(at[s, k] + sd * u))
    sum(p * dnorm(u)) / sum(dnorm(u))
  }
  expect_close(c(found[7, 1], found[31, 2], found[50, 3]),
               c(by_hand(7, 1), by_hand(31, 2), by_hand(50, 3)), 1e-6)
})

test_that("the three estimands on bacteria", {
  rows <- MASS::bacteria
  means <- vapply(group_choices, function(groups) {
    mean(estimand_draws(fit, rows, groups, "test"))
  }, 0)
  expect_equal(means[["known"]], mean(predict(fit, type = "prob")[, 2]), tolerance = 0.01)
  expect_equal(means[["none"]], mean(predict(fit, rows, type = "prob", re_formula = NA)[, 2]),
               tolerance = 0.01)
  new <- transform(rows, ID = "another")
  expect_equal(means[["new"]], mean(predict(fit, new, type = "prob", allow_new_levels = TRUE)[, 2]),
               tolerance = 0.01)
  expect_lt(means[["new"]], means[["none"]])
})

test_that("the risk difference's interval is that of exact draws", {
  difference <- function(fit) {
    risk <- lapply(c("placebo", "drug"), function(level) {
      rows <- transform(MASS::bacteria, trt = factor(level, levels(trt)))
      rowMeans(estimand_draws(fit, rows, "known", "test"))
    })
    quantile(risk[[2]] - risk[[1]], c(0.025, 0.975))
  }
  exact <- with_seed(1, update(fit, engine = engine_slice(draws = 2500, burnin = 300),
                               control = bsvm_control(verbose = FALSE)))
  expect_close(difference(fit), difference(exact), 0.02) # Monte Carlo error of both: 0.006
})

test_that("emmeans: means, contrasts and ratios are those of the draws", {
  skip_if_not_installed("emmeans", "1.8")
  skip_if_not_installed("coda")
  expect_draws <- function(means, groups, type) {
    grid <- data.frame(trt = factor(levels(MASS::bacteria$trt), levels(MASS::bacteria$trt)),
                       week = mean(MASS::bacteria$week))
    draws <- estimand_draws(fit, grid, groups, "test", type = type)
    expect_close(as.data.frame(means)[[2]], apply(draws, 2, median), 1e-12)
    draws
  }
  expect_draws(emmeans::emmeans(fit, ~ trt, groups = "none"), "none", "link")
  tests <- emmeans::joint_tests(fit, groups = "none")
  own <- 2:3 # chi-squared of treatment over its degrees of freedom
  drawn <- stats::cov(as.matrix(fit)[, own])
  centre <- colMeans(as.matrix(fit)[, own])
  expect_equal(tests$F.ratio[tests[["model term"]] == "trt"],
               drop(centre %*% solve(drawn, centre)) / 2, tolerance = 1e-2)
  known <- as.data.frame(emmeans::emmeans(fit, ~ trt, epred = TRUE))
  rows <- rows_averaged_over(fit, environment(), "test", effect_rows)
  rows <- transform(rows, trt = factor("drug", levels(trt)), week = mean(MASS::bacteria$week))
  expect_close(known$emmean[2], median(rowMeans(posterior_epred(fit, rows))), 1e-12)
  means <- emmeans::emmeans(fit, ~ trt, epred = TRUE, groups = "new")
  draws <- expect_draws(means, "new", "response")
  against <- as.data.frame(emmeans::contrast(means, "trt.vs.ctrl"))
  expect_close(against$estimate, apply(draws[, 2:3] - draws[, 1], 2, median), 1e-12)
  ratio <- as.data.frame(emmeans::contrast(emmeans::regrid(means, transform = "log"),
                                           "trt.vs.ctrl", type = "response"))
  expect_close(ratio$ratio, apply(draws[, 2:3] / draws[, 1], 2, median), 1e-3)
  none <- emmeans::emmeans(fit, ~ trt, groups = "none")
  response <- as.data.frame(summary(none, type = "response"))
  expect_close(response$prob, apply(expect_draws(none, "none", "link"), 2,
                                    function(f) median(expected_response(fit$likelihood,
                                                                         matrix(f)))), 1e-6)
  smooth <- bsvm(type ~ s(glu) + bmi, MASS::Pima.tr, engine = "gaussian")
  at <- emmeans::emmeans(smooth, ~ glu, at = list(glu = c(90, 150)), epred = TRUE)
  expect_equal(nrow(as.data.frame(at)), 2)
  expect_refusal(emmeans::emmeans(fit, ~ trt, groups = "new"), "argument", "epred = TRUE")
  expect_refusal(emm_basis.bsvm(fit, NULL, NULL, MASS::bacteria, groups = "all"), "argument",
                 "`groups`")
})

test_that("marginaleffects, ggeffects and parameters have the same draws", {
  rows <- MASS::bacteria[1:4, ]
  found <- get_predict.bsvm(fit, rows, groups = "new")
  draws <- estimand_draws(fit, rows, "new", "test")
  expect_close(attr(found, "posterior_draws"), t(draws), 0)
  expect_identical(found$estimate, unname(colMeans(draws)))
  expect_identical(get_predict.bsvm(fit, rows, re_formula = NA),
                   get_predict.bsvm(fit, rows, groups = "none"))
  grid <- get_predictions.bsvm(fit, rows)
  none <- estimand_draws(fit, rows, "none", "test")
  expect_close(grid$conf.low, apply(none, 2, quantile, 0.025), 1e-12)
  table <- model_parameters.bsvm(fit)
  expect_identical(table$Parameter, c(names(fixef(fit)), "sd_ID__Intercept"))
  expect_identical(table$Effects, rep(c("fixed", "random"), c(4, 1)))
  expect_identical(model_parameters.bsvm(fit, effects = "random")$Parameter, "sd_ID__Intercept")
  expect_refusal(model_parameters.bsvm(fit, effects = "both"), "argument", "`effects`")
  expect_true("bsvm" %in% getOption("marginaleffects_model_classes"))
  skip_if_not_installed("marginaleffects")
  skip_if_not_installed("collapse", "2.0.18")
  library(rlang)
  on.exit(detach("package:rlang"))
  compared <- marginaleffects::avg_comparisons(fit, variables = "trt")
  risk <- lapply(levels(rows$trt), function(level) {
    rowMeans(estimand_draws(fit, transform(MASS::bacteria, trt = factor(level, levels(trt))),
                            "known", "test"))
  })
  expect_close(compared$estimate, c(median(risk[[2]] - risk[[1]]), median(risk[[3]] - risk[[1]])),
               1e-8)
})

test_that("insight, bayestestR and performance have the draws of parameters and of R-squared", {
  draws <- as.matrix(fit)
  found <- get_parameters.bsvm(fit)
  expect_equal(as.matrix(found), draws[, names(fixef(fit))], ignore_attr = TRUE)
  expect_named(get_parameters.bsvm(fit, "all"), c(names(fixef(fit)), "sd_ID__Intercept"))
  expect_identical(find_parameters.bsvm(fit), list(conditional = names(fixef(fit))))
  expect_identical(find_parameters.bsvm(fit, flatten = TRUE), names(fixef(fit)))
  r2 <- r2_posterior.bsvm(fit)
  expect_identical(unname(r2$R2_Bayes), bayes_R2(fit))
  expect_identical(unname(r2$R2_Bayes_marginal), bayes_R2(fit, re_formula = NA))
  skip_if_not_installed("insight", "1.3")
  expect_identical(insight::get_parameters(fit), found)
  expect_identical(insight::find_parameters(fit)$conditional, names(fixef(fit)))
  skip_if_not_installed("bayestestR")
  for (name in c("p_direction", "hdi", "eti", "ci", "point_estimate", "describe_posterior")) {
    own <- getExportedValue("bayestestR", name)
    expect_equal(as.data.frame(own(fit)), as.data.frame(own(found)), info = name,
                 ignore_attr = TRUE)
  }
  drug <- getExportedValue("bayestestR", "p_direction")(fit)$pd[2]
  expect_identical(drug, mean(draws[, "trtdrug"] < 0))
  skip_if_not_installed("performance")
  expect_identical(getExportedValue("performance", "r2")(fit)$R2_Bayes[[1]], median(bayes_R2(fit)))
})

test_that("effects are averages of draws over the rows, at each value", {
  skip_if_not_installed("ggplot2")
  plotted <- plot(fit, "effects", pars = "trt")$data
  rows <- rows_averaged_over(fit, environment(), "test", effect_rows)
  drug <- rowMeans(estimand_draws(fit, transform(rows, trt = factor("drug", levels(trt))), "known",
                                  "test"))
  expect_close(plotted$estimate[2], mean(drug), 1e-12)
  expect_close(plotted$upper[2], quantile(drug, 0.975), 1e-12)
  none <- plot(fit, "effects", pars = "trt", groups = "none")$data # weeks differ in their rows
  drug <- estimand_draws(fit, transform(rows, trt = factor("drug", levels(trt))), "none", "test")
  expect_close(none$estimate[2], mean(drug), 1e-12)
  pair <- plot(fit, "effects", pars = c("week", "trt"), groups = "new")
  expect_silent(ggplot2::ggplot_build(pair))
  expect_setequal(levels(pair$data$by), levels(MASS::bacteria$trt))
  reference <- plot(fit, "effects", others = "reference", groups = "none")$data
  expect_close(reference$estimate[reference$predictor == "trt"][1],
               mean(posterior_epred(fit, data.frame(trt = "placebo", week = 4),
                                    re_formula = NA)), 1e-12)
  cars <- bsvm(mpg ~ wt + factor(cyl), mtcars, likelihood = likelihood_gaussian(),
               engine = "gaussian")
  expect_false(any(plot(cars, "effects", pars = "cyl")$data$number))
  papers <- bsvm(am ~ wt, mtcars, engine = "vb", likelihood = "hinge")
  expect_match(plot(papers, "effects")$labels$title, "linear predictor")
  for (bad in list("nix", 3, NA, c("week", "week2"))) {
    expect_refusal(plot(fit, "effects", pars = bad), "argument", "`pars`")
  }
  expect_refusal(plot(fit, "effects", groups = "all"), "argument", "`groups`")
  expect_refusal(plot(fit, "effects", others = "mean"), "argument", "`others`")
  matrix <- bsvm(as.matrix(mtcars[c("wt", "hp")]), mtcars$am, engine = "gaussian")
  expect_refusal(plot(matrix, "effects"), "unsupported", "formula")
})

test_that("numbers that the formula makes a factor have values of the data", {
  d <- transform(mtcars, `my f` = gear, code = rep(1:32 + 0.5, length.out = 32), check.names = FALSE)
  d$code[1:2] <- 1.5
  fit <- bsvm(am ~ wt + factor(cyl) + factor(`my f`), d, engine = "gaussian")
  for (others in other_choices) {
    p <- plot(fit, "effects", pars = c("cyl", "my f"), others = others)
    expect_s3_class(p$data$x, "factor")
  }
  many <- bsvm(mpg ~ wt + factor(code), d, likelihood = likelihood_gaussian(), engine = "vb")
  expect_s3_class(plot(many, "effects", others = "reference"), "ggplot")
  skip_if_not_installed("emmeans", "1.8")
  means <- as.data.frame(emmeans::emmeans(fit, ~ cyl))
  expect_identical(as.character(means$cyl), c("4", "6", "8"))
})

test_that("pictures of effects have rare levels and the extremes of all rows", {
  skip_if_not_installed("ggplot2")
  d <- with_seed(1, data.frame(x = rnorm(900), g = factor(rep(c("a", "b"), 450), c("a", "b", "rare"))))
  d$g[500] <- "rare"
  d$y <- d$x > sin(1:900)
  rows <- effect_base(bsvm(y ~ x + g, d, engine = "gaussian"), d, "average")
  expect_identical(nrow(rows), effect_rows)
  built <- ggplot2::ggplot_build(plot(bsvm(y ~ x + g, d, engine = "gaussian"), "effects"))$data
  points <- Find(function(layer) "flipped_aes" %in% names(layer) && nrow(layer) == 3L, built)
  expect_identical(nrow(points), 3L)
  expect_equal(range(built[[2]]$x), range(d$x))
})

test_that("long names of levels do not overlap", {
  skip_if_not_installed("ggplot2")
  d <- data.frame(y = rep(0:1, 30), z = sin(1:60),
                  g = gl(5, 12, labels = paste("a long name of", c("Ada", "Bo", "Cy", "Di", "Eve"))))
  fit <- bsvm(y ~ g + z, d, engine = "gaussian")
  angle <- function(picture) picture$theme$axis.text.x$angle
  expect_identical(angle(plot(fit, "effects")), 35)
  expect_identical(angle(plot(fit, "effects", pars = "g")), 35)
  expect_false(identical(angle(plot(fit, "effects", pars = "z")), 35))
})
