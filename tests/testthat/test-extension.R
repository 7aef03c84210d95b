# A prior is added to a copy of the source in one file, and works: registry, R, and twin.

# Fits with the new prior in an R of its own; returns what it saved.
use_copy <- function(library, folder, data) {
  saveRDS(data, file.path(folder, "data.rds"))
  script <- file.path(folder, "use.R")
  writeLines(c(
    sprintf(".libPaths(c(%s, %s))", deparse1(library), deparse1(.libPaths())),
    "library(bsvm)",
    sprintf("setwd(%s)", deparse1(folder)),
    "d <- readRDS('data.rds')",
    "numbers <- c(df = 4, scale = 0.8)",
    "prior <- bsvm:::new_prior('student', numbers, 'independent t, 4 df, scale 0.8', TRUE)",
    "fit <- bsvm(y ~ x1 + x2 + x3, d, prior = prior, engine = 'vb', standardize = FALSE,",
    "            control = bsvm_control(tol = 1e-24))",
    "invisible(capture.output(print(fit), print(summary(fit))))",
    "saveRDS(list(priors = bsvm:::core_registry()$priors, mean = fixef(fit),",
    "             covariance = vcov(fit), bound = elbo(fit)), 'result.rds')"
  ), script)
  output <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)),
                    stdout = TRUE, stderr = TRUE)
  result <- file.path(folder, "result.rds")
  expect(file.exists(result), paste(c("The new prior does not fit.", output), collapse = "\n"))
  readRDS(result)
}

test_that("a prior added in one file is listed, fits, and agrees with its twin", {
  skip_on_cran()
  tree <- source_tree()
  skip_if(is.null(tree), "the source tree is not at hand: set BSVM_SOURCE to its path")
  folder <- new_folder("extension")
  on.exit(unlink(folder, recursive = TRUE))
  copy <- file.path(folder, "bsvm")
  library <- file.path(folder, "library")
  dir.create(library)
  copy_source(tree, copy)
  file.copy(test_path("fixtures", "student.cpp"), file.path(copy, "src", "core", "prior"))
  install_copy(copy, library)
  d <- binary_data()
  result <- use_copy(library, folder, d)
  expect_true("student" %in% result$priors)

  # A t is a normal whose variance is IG(df/2, df scale^2/2): one ridge block a coefficient.
  design <- centred(cbind(1, d$x1, d$x2, d$x3))
  slopes <- lapply(2:4, block_ridge, shape = 4 / 2, scale = 4 * 0.8^2 / 2)
  twin <- twin_fit(twin_model(design$x, ifelse(d$y == "yes", 1, -1),
                              c(list(block_normal(1)), slopes)))
  covariance <- design$back %*% twin$covariance %*% t(design$back)
  sd <- sqrt(diag(covariance))
  expect_close(result$mean, design$back %*% twin$mean, tolerances[["twin"]], scale = sd)
  expect_close(result$covariance, covariance, tolerances[["twin"]], scale = outer(sd, sd))
  expect_close(result$bound, twin$bound, tolerances[["bound"]], scale = abs(twin$bound))
})
