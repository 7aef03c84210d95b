test_that("errors, warnings and messages have the class of their topic and a common one", {
  error <- expect_error(bsvm:::abort("prior", "no ", 3), class = "bsvm_error_prior")
  expect_s3_class(error, c("bsvm_error_prior", "bsvm_error", "error", "condition"), exact = TRUE)
  expect_equal(conditionMessage(error), "no 3")
  expect_warning(bsvm:::warn("rank", "w"), class = "bsvm_warning_rank")
})

test_that("things are enumerated and described for messages", {
  expect_equal(bsvm:::enumerate("a"), "`a`")
  expect_equal(bsvm:::enumerate(c("a", "b", "c")), "`a`, `b` and `c`")
  expect_equal(bsvm:::enumerate(c("a", "b", "c"), "", last = "or"), "a, b or c")
  expect_equal(bsvm:::enumerate(letters[1:9], "'", 2), "'a', 'b' and 7 more")
  found <- list("NULL" = NULL, "a function" = mean, "a data frame" = mtcars, "3" = 3,
                "a 2 x 3 integer matrix" = matrix(1:6, 2), "a character vector of length 2" =
                  c("a", "b"), "an object of class \"factor\"" = factor(1), "\"x\"" = "x",
                "a list of length 1" = list(1))
  for (i in seq_along(found)) expect_equal(bsvm:::describe(found[[i]]), names(found)[i])
})

test_that("messages say what must hold, what was found and what to do", {
  skip_if_not_installed("mgcv")
  d <- binary_data()
  g <- grouped_data()
  holes <- transform(d, x1 = replace(x1, 1:2, c(NA, NaN)), x2 = replace(x2, 3, Inf))
  fit <- bsvm(y ~ x1 + (1 | g), g, engine = "vb")
  calls <- expression(
    bsvm(~ x1, d), bsvm(y ~ 0, d), bsvm(y ~ x1 + absent, d), bsvm(y ~ x1, d[0, ]),
    bsvm(f ~ x1, d), bsvm(y ~ x1, d[d$y == "no", ]), bsvm(x1 ~ x2, d),
    bsvm(y ~ x1 + x2, holes), bsvm(y ~ x2, holes),
    bsvm(y ~ x1, d, weights = rep(0, 60)), bsvm(y ~ x1, d, weights = rep(-1, 60)),
    bsvm(y ~ x1, d, offset = 1:3), bsvm(y ~ x1, transform(d, x1 = x1 * 1e200)),
    bsvm(y ~ te(x1, x2), d), bsvm(y ~ s(x1, k = 2), d), bsvm(y ~ log((1 | g)), g),
    bsvm(y ~ x1 + (t | g), g, prior = list(g = prior_ridge(0.01))), bsvm(y ~ x1 * (1 | g), g),
    bsvm(y ~ x1, d, kernel = "radial"), bsvm(y ~ x1, d, cost = 3), bsvm(y ~ x1, d, engine = "svm"),
    bsvm(y ~ x1, d, prior = list(z = prior_ridge(0.01))), prior_ridge(variance = -1),
    prior_ridge(1, variance = 2), bsvm_control(tol = 0), bsvm_control(threads = 0.5),
    predict(fit, data.frame(x1 = 1, g = "new")), predict(fit, data.frame(g = "g01")),
    predict(fit, g, re.form = NA), predict(fit, g, type = "prob", map = "platt"), logLik(fit),
    confint(fit, level = 2)
  )
  say <- function(call) {
    tryCatch(eval(call), bsvm_error = function(e) {
      cat("> ", deparse1(call), "\n", class(e)[1], ": ", conditionMessage(e), "\n\n", sep = "")
    })
  }
  expect_snapshot_output(for (call in as.list(calls)) say(call))
})

test_that("usage sections show as callable only what is exported", {
  exported <- getNamespaceExports("bsvm")
  for (page in tools::Rd_db("bsvm")) {
    tags <- vapply(page, attr, "", "Rd_tag")
    plain <- unlist(lapply(page[tags == "\\usage"], function(section) {
      unlist(Filter(function(part) identical(attr(part, "Rd_tag"), "RCODE"), section))
    }))
    calls <- grep("^[A-Za-z.][A-Za-z0-9._]*\\(", trimws(plain, "left"), value = TRUE)
    called <- sub("\\(.*", "", calls)
    called <- called[grepl("\\.", called)]
    expect(all(called %in% exported), paste("Not exported:", paste(setdiff(called, exported),
                                                                 collapse = ", ")))
  }
})

test_that("the page of conditions has every class that is signalled", {
  code <- unlist(lapply(ls(asNamespace("bsvm"), all.names = TRUE), function(name) {
    value <- get(name, asNamespace("bsvm"))
    if (is.function(value)) deparse(value)
  }))
  signalled <- function(what) {
    found <- regmatches(code, gregexpr(paste0("\\b", what, "\\(\"[a-z_]+\""), code))
    unique(sub(".*\"(.*)\"", "\\1", unlist(found)))
  }
  page <- tools::Rd_db("bsvm")[["bsvm_conditions.Rd"]]
  text <- paste(unlist(page), collapse = "")
  for (class in c(signalled("abort"), signalled("warn"), signalled("inform"))) {
    expect(grepl(class, text, fixed = TRUE), paste0("`", class, "` is not in ?bsvm_conditions."))
  }
})
