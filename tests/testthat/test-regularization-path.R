bsvm <- paper_bsvm

test_that("a path has what single fits have", {
  d <- rule_data(100, 6)
  grid <- c(0.01, 0.03, 0.1, 1)
  path <- regularization_path(bsvm(y ~ ., d$data, prior = prior_lasso(nu = grid),
                                   engine = engine_em()))
  expect_s3_class(path, "bsvm_path")
  expect_identical(nrow(path), 4L * 7L)
  for (nu in grid) {
    single <- bsvm(y ~ ., d$data, prior = prior_lasso(nu = nu), engine = engine_em())
    part <- path[path$nu == nu, ]
    expect_equal(part$estimate, unname(coef(single)))
    expect_equal(part$objective[1L], single$posterior$objective)
    expect_equal(part$nonzero[1L], sum(coef(single)[-1L] != 0))
  }
  expect_true(all(path$gap < 1e-8))
  expect_true(all(diff(unique(path[c("nu", "objective")])$objective) < 0))
})

test_that("the lasso's knots are those of the linear programme, and it is constant between", {
  skip_if_not_installed("lpSolve")
  d <- rule_data(40, 5)
  programme <- function(nu) {
    b <- linear_programme(d$x, d$y, nu)$b
    b * (abs(b) > 1e-9)
  }
  ours <- function(nu) unname(coef(em_fit(d$data, prior_lasso(nu = nu))))
  grid <- exp(seq(log(0.01), log(2), length.out = 12))
  patterns <- lapply(grid, function(nu) programme(nu)[-1L] != 0)
  changes <- which(!mapply(identical, patterns[-1L], patterns[-12L]))
  expect_gt(length(changes), 3L)
  for (k in changes) {
    between <- grid[k + 0:1]
    expect_equal(knot_of(ours, between), knot_of(programme, between), tolerance = 1e-5)
  }
  knot <- knot_of(programme, grid[changes[1L] + 0:1])
  expect_equal(ours(1.001 * knot), programme(1.001 * knot), tolerance = 1e-5)
  expect_equal(ours(1.001 * knot), ours(1.0011 * knot), tolerance = 1e-5)
})

test_that("below alpha = 1 no value of a path is worse than its neighbour before it", {
  d <- rule_data(100, 20, 2)
  path <- with_seed(1, em_fit(d$data, prior_bridge(0.3, nu = 10^seq(-3, 0, length.out = 25)),
                              engine = engine_em(starts = 2)))$posterior$path
  expect_true(all(diff(path$objective) < 1e-8 * path$objective[-1L]))
  expect_true(all(path$gap < 1e-8))
})

# Ends the core's run number `at` with an interrupt: "late" with what it has, "early" with nothing.
interrupt_at <- function(at, when, frame) {
  run <- get("core_estimate", asNamespace("bsvm"))
  calls <- 0L
  local_replace("core_estimate", function(...) {
    calls <<- calls + 1L
    if (calls > at) stop("The path went on.")
    if (calls == at && when == "early") {
      stop(structure(class = c("bsvm_core_interrupted", "error", "condition"),
                     list(message = "Before.", call = NULL, argument = "")))
    }
    result <- run(...)
    if (calls == at) result$termination <- "interrupted"
    result
  }, frame)
}

test_that("an interrupt ends a path with what was found so far", {
  d <- rule_data(60, 5, 2)
  grid <- c(0.02, 0.1, 0.5)
  path <- function() {
    with_seed(1, em_fit(d$data, prior_bridge(0.3, nu = grid), engine = engine_em(starts = 2)))
  }
  whole <- path()$posterior$path
  stopped <- function(at, when) {
    interrupt_at(at, when, environment())
    path()
  }
  # three runs, then two up and two down
  for (case in list(list(2, "late", 2), list(3, "early", 2), list(4, "late", 3),
                    list(5, "early", 3), list(7, "late", 3))) {
    expect_warning(fit <- stopped(case[[1L]], case[[2L]]), "interrupted after",
                   class = "bsvm_warning_interrupted")
    expect_equal(fit$termination, "interrupted")
    expect_equal(fit$posterior$path$nu, grid[seq_len(case[[3L]])])
    expect_finite(list(coef(fit), fit$posterior$path$objective))
  }
  expect_equal(fit$posterior$path$mean, whole$mean)
  expect_s3_class(tryCatch(stopped(1, "early"), interrupt = identity), "bsvm_error_interrupted")
})

test_that("the fit of a grid is that of its last value", {
  d <- rule_data(60, 3)
  fit <- em_fit(d$data, prior_lasso(nu = c(0.1, 0.5)))
  expect_equal(coef(fit), coef(em_fit(d$data, prior_lasso(nu = 0.5))))
  expect_error(regularization_path(em_fit(d$data, prior_lasso(nu = 0.5))), "grid",
               class = "bsvm_error_unsupported")
})

test_that("paths of sparse predictors, and of one prior among several", {
  skip_if_not_installed("Matrix")
  d <- rule_data(60, 5)
  grid <- c(0.02, 0.2)
  sparse <- Matrix::Matrix(d$x[, -1L] * (abs(d$x[, -1L]) > 1.2), sparse = TRUE)
  fit <- bsvm(sparse, factor(d$y), prior = prior_lasso(nu = grid), engine = engine_em(),
              standardize = FALSE)
  dense <- bsvm(as.matrix(sparse), factor(d$y), prior = prior_lasso(nu = grid),
                engine = engine_em(), standardize = FALSE)
  expect_equal(regularization_path(fit)$estimate, regularization_path(dense)$estimate,
               tolerance = 1e-4)
  mixed <- em_fit(d$data, list(prior_lasso(nu = grid), x1 = prior_flat()))
  expect_true(all(regularization_path(mixed)$nonzero <= 4))
  expect_error(em_fit(d$data, list(prior_lasso(nu = grid), x1 = prior_lasso(nu = grid))),
               class = "bsvm_error_unsupported")
})

test_that("the picture has a line a coefficient and one of their number", {
  skip_if_not_installed("ggplot2")
  d <- rule_data(60, 3)
  path <- regularization_path(em_fit(d$data, prior_lasso(nu = c(0.02, 0.1, 0.5))))
  picture <- plot(path)
  expect_s3_class(picture, "ggplot")
  expect_identical(nrow(picture$data), 3L * 3L + 3L)
  panels <- ggplot2::ggplot_build(picture)$layout$layout$what
  expect_identical(as.character(panels), levels(picture$data$what))
  scale <- attr(path, "scale")
  shown <- picture$data[picture$data$term != "", ]
  expect_equal(shown$value, path$estimate[path$term %in% shown$term] * rep(scale, 3))
  raw <- plot(path, scaled = FALSE)$data
  expect_equal(raw$value[raw$term != ""], path$estimate[path$term %in% shown$term])
  expect_match(picture$labels$caption, "optima at 3 values")
  expect_refusal(plot(path, scaled = 3), "argument", "`scaled`")
})

test_that("names at the right stand apart, as near to their lines as can be", {
  at <- apart(c(0, 0.1, 0.1, 5), 1)
  expect_true(all(diff(at) >= 1 - 1e-12))
  expect_equal(at[4], 5)
  expect_equal(mean(at[1:3]), mean(c(0, 0.1, 0.1)))
  expect_equal(apart(c(1, 3, 7), 1), c(1, 3, 7))
  expect_length(apart(numeric(), 1), 0)
})
