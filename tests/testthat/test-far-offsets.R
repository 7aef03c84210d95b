# Offsets and hand-changed numbers far beyond what a model can mean, in an R of their own, since
# what is tested is that R survives them: a finite answer, or a classed error that says what is
# wrong.

# Lines that make `result`: for each call its error's class and message, or its coefficients.
survey_lines <- function(setup, calls) {
  c(setup,
    "outcome <- function(code) tryCatch(",
    "  suppressWarnings(suppressMessages(code)),",
    "  error = function(e) list(class = class(e), message = conditionMessage(e)))",
    "result <- list()",
    vapply(calls, function(call) {
      sprintf("result[[length(result) + 1L]] <- outcome(%s)", call)
    }, ""))
}

expect_survived <- function(setup, calls, class = NULL, words = character()) {
  child <- child_result(survey_lines(setup, calls))
  expect(!child$died, paste0("R died or did not end.\n", child$said))
  for (k in seq_along(child$value)) {
    found <- child$value[[k]]
    label <- paste0("\n", calls[k])
    if (is.numeric(found)) {
      expect(is.null(class) && all(is.finite(found)), paste0("Not refused, or not finite:", label))
      next
    }
    expect("bsvm_error" %in% found$class, paste0("Not classed: ", found$message, label))
    if (!is.null(class)) {
      expect(paste0("bsvm_error_", class) %in% found$class,
             paste0("Of another class: ", found$message, label))
    }
    for (word in words) {
      expect(grepl(word, found$message, fixed = TRUE),
             paste0("Does not say ", word, ": ", found$message, label))
    }
  }
}

grouped_setup <- c(
  "set.seed(1)",
  "n <- 80",
  "d <- data.frame(x1 = rnorm(n), g = gl(8, 10), h = gl(4, 1, n), y = rep(0:1, 40))",
  "far <- function(size) transform(d, o = rep(c(1, -1), 40) * size)",
  "slopes <- list(x1 = prior_ridge(variance = 4))",
  "few <- list(slice = engine_slice(40, 20, chains = 1), gibbs = engine_gibbs(40, 20, chains = 1))",
  "fit <- function(formula, data, engine, normalized, prior = slopes, ...) {",
  "  if (engine %in% names(few)) engine <- few[[engine]]",
  "  fixef(bsvm(formula, data, offset = o, engine = engine, prior = prior, ...,",
  "             likelihood = likelihood_hinge(normalized = normalized)))",
  "}"
)

formulas <- c("y ~ x1", "y ~ x1 + (1 | g)", "y ~ x1 + (x1 | g)", "y ~ x1 + (1 | g) + (1 | h)")

each_engine <- function(size, engines = c("gaussian", "map", "slice", "vb", "gibbs"),
                        forms = formulas) {
  calls <- character()
  for (engine in engines)
    for (normalized in if (engine %in% c("vb", "gibbs")) FALSE else c(FALSE, TRUE))
      calls <- c(calls, sprintf("fit(%s, far(%s), \"%s\", %s)", forms, size, engine, normalized))
  calls
}

test_that("offsets beyond what numbers can hold are refused by name", {
  skip_on_cran()
  sizes <- c("1.1e6", "1e12", "1e18", "1e30", "1e200", "1e300")
  calls <- unlist(lapply(sizes, each_engine, engines = c("gaussian", "map"),
                         forms = "y ~ x1 + (x1 | g)"))
  expect_survived(grouped_setup, c(calls, each_engine("1e18")), "offset", "offset")
})

# Two effects a level under the normalised likelihood are left out: at effects of such a size each
# value is a long quadrature.
test_that("offsets up to there have an answer", {
  skip_on_cran()
  calls <- each_engine("1e6")
  slow <- grepl("(x1 | g)", calls, fixed = TRUE) & grepl("TRUE", calls, fixed = TRUE)
  expect_survived(grouped_setup, calls[!slow])
})

# A row far beyond its margin says nothing.
test_that("rows that an offset puts beyond their margin are as if absent", {
  d <- grouped_data(120, 12)
  d$o <- 0
  extra <- d[1:20, ]
  for (normalized in c(FALSE, TRUE)) {
    run <- function(data) {
      bsvm(y ~ x1 + (1 | g), data, offset = o, engine = "gaussian",
           likelihood = likelihood_hinge(normalized = normalized),
           prior = list(x1 = prior_ridge(variance = 4), g = prior_ridge(variance = 1)))
    }
    plain <- run(d)
    for (size in c(1e3, 1e6)) {
      extra$o <- ifelse(extra$y == levels(d$y)[2L], size, -size)
      far <- run(rbind(d, extra))
      sd <- sqrt(diag(vcov(plain)))
      expect_close(fixef(far), fixef(plain), 2e-3, scale = sd)
      expect_close(sqrt(diag(vcov(far))), sd, 2e-3, scale = sd)
    }
  }
})

# One on the other side adds a line to the log posterior, wherever on that side it is.
test_that("rows that an offset puts on the other side pull the same from any distance", {
  d <- grouped_data(120, 12)
  d$o <- 0
  extra <- d[1:6, ]
  for (normalized in c(FALSE, TRUE)) {
    at <- function(size) {
      extra$o <- ifelse(extra$y == levels(d$y)[2L], -size, size)
      bsvm(y ~ x1 + (1 | g), rbind(d, extra), offset = o, engine = "gaussian",
           likelihood = likelihood_hinge(normalized = normalized),
           prior = list(x1 = prior_ridge(variance = 4), g = prior_ridge(variance = 1)))
    }
    near <- at(1e3)
    sd <- sqrt(diag(vcov(near)))
    for (size in c(1e4, 1e6)) {
      far <- at(size)
      expect_close(fixef(far), fixef(near), 2e-3, scale = sd)
      expect_close(sqrt(diag(vcov(far))), sd, 2e-3, scale = sd)
    }
  }
})

test_that("numbers of a spec that were changed by hand are refused before they are used", {
  skip_on_cran()
  setup <- c(grouped_setup, "d$o <- 0",
             "spec_of <- function(formula, engine) {",
             "  bsvm_spec(bsvm_frame(formula, d), engine = engine, prior = slopes,",
             "            likelihood = likelihood_hinge(normalized = engine != 'vb'))",
             "}",
             "run <- function(formula, engine, change) {",
             "  spec <- spec_of(formula, engine)",
             "  spec$problem <- change(spec$problem)",
             "  bsvm_run(spec)$posterior$mean",
             "}")
  changes <- c("function(p) { p$x[3] <- NaN; p }", "function(p) { p$x[3] <- Inf; p }",
               "function(p) { p$y[3] <- NaN; p }", "function(p) { p$y[3] <- 1e300; p }",
               "function(p) { p$weight <- c(NaN, rep(1, 79)); p }",
               "function(p) { p$offset <- c(Inf, numeric(79)); p }",
               "function(p) { p$offset <- rep(1e18, 80); p }",
               "function(p) { p$center[1] <- NaN; p }", "function(p) { p$scale[1] <- 0; p }",
               "function(p) { p$x <- NULL; p }", "function(p) { p$y <- p$y[-1]; p }")
  groups <- c("function(p) { p$n_groups <- NaN; p }", "function(p) { p$n_groups <- 1e12; p }",
              "function(p) { p$group[1] <- NA; p }", "function(p) { p$group[1] <- 99L; p }",
              "function(p) { p$z[1] <- NaN; p }")
  calls <- c(outer(c("y ~ x1", "y ~ x1 + (x1 | g)"), changes, function(f, change) {
    sprintf("run(%s, 'gaussian', %s)", f, change)
  }), sprintf("run(y ~ x1 + (x1 | g), 'gaussian', %s)", groups),
  sprintf("run(y ~ x1, 'vb', %s)", changes))
  expect_survived(setup, calls)
})

test_that("check_approximation() refuses a fit whose numbers were changed by hand", {
  skip_on_cran()
  skip_if_not_installed("loo")
  setup <- c(grouped_setup, "d$o <- 0",
             "ours <- function(formula) {",
             "  bsvm(formula, d, engine = 'gaussian', prior = slopes, keep_data = TRUE,",
             "       likelihood = likelihood_hinge(normalized = TRUE))",
             "}",
             "fits <- list(ours(y ~ x1), ours(y ~ x1 + (1 | g)), ours(y ~ x1 + (x1 | g)),",
             "             bsvm(y ~ x1 + (1 | g), d, engine = 'vb', keep_data = TRUE,",
             "                  prior = slopes, likelihood = likelihood_hinge()))",
             "check <- function(k, change) {",
             "  fit <- fits[[k]]",
             "  fit$posterior <- change(fit$posterior)",
             "  check_approximation(fit, draws = 100)$pareto_k",
             "}")
  all <- c("function(p) { p$components[[1]]$mean[1] <- NaN; p$mean[1] <- NaN; p }",
           "function(p) { p$components <- list(); p$mean <- p$mean[-1]; p }",
           "function(p) NULL")
  mixed <- c("function(p) { p$theta[1] <- NaN; p }",
             "function(p) { p$theta <- p$theta[, -1, drop = FALSE]; p }",
             "function(p) { p$theta <- rbind(p$theta, 1); p }",
             "function(p) { p$weights[1] <- NaN; p }", "function(p) { p$weights[] <- 0; p }",
             "function(p) { p$components[[2]]$covariance <- diag(9); p }")
  vb <- c("function(p) { p$group_mean[2] <- NaN; p }",
          "function(p) { p$group_precision <- p$group_precision[, , -1]; p }",
          "function(p) { p$covariance[1] <- Inf; p }", "function(p) { p$mean <- 'a'; p }")
  calls <- c(outer(1:3, all, function(k, change) sprintf("check(%d, %s)", k, change)),
             outer(2:3, mixed, function(k, change) sprintf("check(%d, %s)", k, change)),
             sprintf("check(4, %s)", vb))
  expect_survived(setup, calls, "argument", "Fit the model again")
})

test_that("an offset whose mean has no square is refused as offsets too large are", {
  d <- data.frame(a = with_seed(1, rnorm(40)), y = rep(0:1, 20), o = 1e300)
  for (engine in list(NULL, "map", "gaussian", "slice")) {
    expect_error(bsvm(y ~ a + offset(o), d, engine = engine), class = "bsvm_error_offset")
  }
})
