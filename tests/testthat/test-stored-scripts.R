# Scripts behind stored figures: what they give must not change with a default, so each of their
# fits names its likelihood and its prior. Only what is about the defaults leaves them open.

script_folder <- function(...) {
  folder <- test_path("..", "..", ...)
  skip_if_not(dir.exists(folder), "the source tree is not at hand")
  folder
}

# All calls of these functions in an expression.
calls_of <- function(expr, functions) {
  if (is.function(expr) || !is.recursive(expr)) return(list())
  own <- is.call(expr) && is.name(expr[[1L]]) && as.character(expr[[1L]]) %in% functions
  parts <- lapply(as.list(expr), function(part) {
    if (missing(part)) list() else calls_of(part, functions)
  })
  c(if (own) list(expr), unlist(parts, recursive = FALSE))
}

names_all <- function(call) {
  passed_on <- any(vapply(as.list(call)[-1L], identical, NA, quote(...)))
  full <- if (identical(call[[1L]], quote(bsvm_spec))) {
    match.call(args(bsvm::bsvm_spec), call)
  } else call
  passed_on && "prior" %in% names(call) || all(c("likelihood", "prior") %in% names(full))
}

unnamed_fits <- function(file) {
  calls <- calls_of(parse(file, keep.source = FALSE), c("bsvm", "bsvm_spec"))
  Filter(Negate(names_all), calls)
}

test_that("fits of the scripts in bench/ and vignettes/precompute/ name likelihood and prior", {
  files <- c(list.files(script_folder("bench"), "[.]R$", full.names = TRUE),
             list.files(script_folder("vignettes", "precompute"), "[.]R$", full.names = TRUE))
  # These fit the default on purpose.
  on_purpose <- "default|^gp|^scale|^postgres|^(coverage|regression|responses|factors)[.]R$"
  files <- files[!grepl(on_purpose, basename(files))]
  expect_gt(length(files), 20)
  for (file in files) {
    left <- vapply(unnamed_fits(file), function(call) paste(deparse(call), collapse = " "), "")
    expect(length(left) == 0L, sprintf("%s: %s", basename(file), toString(left)))
  }
})

test_that("the search finds fits that leave something open", {
  file <- tempfile(fileext = ".R")
  on.exit(unlink(file))
  writeLines(c("f <- function(d) bsvm(y ~ x, d, engine = 'vb', likelihood = 'hinge')",
               "bsvm(y ~ x, d, prior = p, likelihood = 'hinge')",
               "g <- bsvm_spec(frame, p, 'hinge')", "bsvm_spec(frame, engine = e)"), file)
  expect_length(unnamed_fits(file), 2L)
})

test_that("the default is as good as the papers' model on separable and nearly separable classes", {
  studies <- readRDS(file.path(script_folder("vignettes"), "defaults.rds"))$studies
  for (problem in c("iris 1-2", "iris 2-3", "mtcars")) {
    means <- studies[[problem]]$means
    of <- function(model, metric) means$mean[means$model == model & means$metric == metric]
    expect_lte(of("default", "ber"), of("papers' VB", "ber") + 1e-12)
    expect_gte(of("default", "log_score"), of("papers' VB", "log_score"))
  }
  means <- studies[["iris 1-2"]]$means
  expect_identical(means$mean[means$model == "default" & means$metric == "ber"], 0)
})
