bsvm <- paper_bsvm

skip_if_not_installed("bayesplot")
skip_if_not_installed("posterior")
ref <- drawn_reference()
fit <- ref$fit

test_that("bayesplot's pictures are ggplots of coefficients and variances", {
  for (which in c("trace", "rank", "density")) {
    drawn <- plot(fit, which)
    expect_s3_class(drawn, "ggplot")
    expect_silent(ggplot2::ggplot_build(drawn))
    column <- grep("^[pP]arameter$", names(drawn$data))
    shown <- unique(as.character(drawn$data[[column]]))
    expect_setequal(shown, c("(Intercept)", "x1", "t", "var_population-level slopes",
                             "sd_g__Intercept", "sd_g__t", "cor_g__Intercept__t"))
  }
  trace <- plot(fit, "trace", pars = "r_g[g03,t]")$data
  expect_equal(sort(trace$value), sort(ref$effects[2, 3, ]))
})

test_that("intervals are of slopes: mean and quantiles of the draws", {
  drawn <- plot(fit, "intervals", level = 0.8)
  expect_equal(nrow(plot(fit, pars = "x1")$data), 1)
  shown <- drawn$data
  expect_setequal(as.character(shown$parameter), c("x1", "t"))
  tails <- row_tails(ref$coefficients[2:3, ], 0.8)
  at <- match(c("x1", "t"), shown$parameter)
  expect_close(cbind(shown$ll, shown$hh)[at, ], tails, 1e-10)
  expect_close(shown$m[at], rowMeans(ref$coefficients[2:3, ]), 1e-10)
  expect_equal(nrow(plot(fit, "intervals", intercept = TRUE)$data), 3)
  expect_equal(nrow(plot(fit, "intervals", n = 1)$data), 1)
})

test_that("coefficients and groups show quantiles of the draws", {
  shown <- plot(fit, intercept = TRUE, scaled = FALSE)$data
  limits <- confint(fit)[as.character(shown$term), ]
  expect_close(cbind(shown$lower, shown$upper), limits, tolerances[["rounding"]])
  groups <- plot(fit, "groups")$data
  one <- groups[groups$grp == "g04" & groups$term == "t", ]
  expect_close(c(one$lower, one$upper), row_tails(matrix(ref$effects[2, 4, ], 1)),
               1e-10)
})

test_that("what can't be shown is refused", {
  plain <- bsvm(y ~ x1, ref$data, engine = "vb")
  for (which in c("trace", "rank", "density", "intervals")) {
    expect_refusal(plot(plain, which), "unsupported", c(which, "engine_slice()"))
  }
  expect_refusal(plot(fit, "bound"), "unsupported", "engine_gibbs()")
  expect_refusal(plot(fit, "trace", pars = "nix"), "argument", c("`pars`", "nix"))
  expect_refusal(plot(fit, "trace", pars = 3), "argument", "`pars`")
  expect_refusal(plot(fit, "trace", n = 0), "argument", "`n`")
  expect_refusal(plot(fit, "traces"), "argument", c("`which`", "traces"))
  expect_refusal(plot(fit, "groups", select = "h"), "argument", c("`select`", "h"))
  expect_refusal(plot(fit, "intervals", level = 1), "argument", "`level`")
})

test_that("one chain is shown too, and what bayesplot can't do has a class", {
  one <- gibbs_fit(y ~ x1, ref$data, draws = 20, chains = 1)
  for (which in c("trace", "rank", "density", "intervals")) {
    expect_s3_class(plot(one, which), "ggplot")
  }
  expect_refusal(with_bayesplot(plot_call("density"), stop("requires multiple chains")),
                 "unsupported", c("density", "multiple chains"))
})

test_that("long names are broken into lines", {
  long <- c("x", "var_population-level slopes", strrep("z", 60),
            "cov_patient_identifier: (Intercept), a_rather_long_variable_name")
  lines <- strsplit(wrap_names(long), "\n")
  expect_true(all(nchar(unlist(lines)) <= 24))
  expect_identical(lines[1:2], list("x", c("var_population-level", "slopes")))
  expect_identical(gsub(" ", "", vapply(lines, paste, "", collapse = "")), gsub(" ", "", long))
  for (which in c("trace", "rank", "density")) {
    expect_true(is.function(plot(fit, which)$facet$params$labeller))
    labels <- plot(fit, which)$facet$params$labeller(data.frame(p = long[2]))
    expect_match(unlist(labels), "level\nslopes")
  }
})
