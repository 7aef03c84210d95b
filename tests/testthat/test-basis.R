# Terms with a basis: those of the package keep the contract, and a term that is made here goes
# through formula, fit, new rows, priors and pictures without an edit of the package.

d <- binary_data()

expect_basis <- function(formula, data) {
  frame <- bsvm_frame(formula, data)
  for (basis in frame$bases) {
    at <- c(basis$unpenalised, basis$columns)
    expect_s3_class(basis, "bsvm_basis")
    expect_identical(unlist(basis$blocks, use.names = FALSE), basis$columns)
    expect_true(all(frame$term_labels[frame$assign[at]] == basis$label))
    expect_equal(bsvm:::new_basis(basis, frame$terms, data, "error"),
                 unname(as.matrix(frame$x[, at])), tolerance = 1e-9)
    # Of a basis whose columns move (R/basis-made.R) some more.
    others <- c("basis_origin", if (!bsvm:::is_learned(basis)) {
      c("basis_at", "basis_feature", "new_variables")
    })
    for (generic in setdiff(generics_of("bsvm_basis"), others)) {
      expect(has_method(generic, basis), paste(generic, "has no method for", basis$label))
    }
  }
  labels <- bsvm:::basis_labels(frame$bases)
  expect_identical(tail(frame$term_labels, length(labels)), labels)
  expect_true(all(labels %in% bsvm:::settable_names(frame)))
}

test_that("mgcv's smooths keep the contract", {
  skip_if_not_installed("mgcv")
  expect_basis(y ~ x3 + s(x1, k = 5) + t2(x2, x3, k = 3), d)
  expect_basis(y ~ s(x1, by = f, k = 5) + f, d)
  expect_null(bsvm:::basis_kind(quote(poly(x, 2))))
  # As text: R CMD check would look for a package of that name.
  expect_null(bsvm:::basis_kind(str2lang("other::s(x)")))
  expect_s3_class(bsvm:::basis_kind(quote(mgcv::s(x))), "bsvm_basis_smooth")
})

# ---- a term that is made here -------------------------------------------------------------------

heights <- function(x) exp(-outer(x, c(-1, 0, 1), "-")^2)

bumps_methods <- list(
  basis_words = function(kind) list(what = "A term of bumps"),
  basis_variables = function(kind, term) list(term[[2L]]),
  make_bases = function(kind, term, columns, frame_terms, env) {
    name <- deparse1(term[[2L]])
    matrix <- cbind(columns[[name]], heights(columns[[name]]))
    list(structure(list(label = deparse1(term), variable = name, matrix = matrix,
                        penalty = c(0L, 1L, 1L, 1L), ends = range(columns[[name]])),
                   class = class(kind)))
  },
  new_basis = function(basis, terms, newdata, unknown) {
    x <- newdata[[basis$variable]]
    cbind(x, heights(x), deparse.level = 0)
  },
  basis_ranges = function(basis) stats::setNames(list(basis$ends), basis$variable),
  basis_grid = function(basis, grid) cbind(grid[[1L]], heights(grid[[1L]]))
)

with_bumps <- function(code) {
  origin <- list(basis_origin = function(head) c(kind = "bumps", package = "nowhere"))
  with_methods("bsvm_term_bumps", origin, with_methods("bsvm_basis_bumps", bumps_methods, code))
}

test_that("a term that is defined elsewhere keeps the contract, and is fitted", {
  with_bumps({
    expect_basis(y ~ x2 + bumps(x1), d)
    fit <- bsvm(y ~ x2 + bumps(x1), d, engine = "vb", likelihood = "hinge",
                prior = list("bumps(x1)" = prior_ridge(variance = 2)))
    expect_identical(names(fixef(fit)),
                     c("(Intercept)", "x2", "bumps(x1).fixed1", paste0("bumps(x1).", 1:3)))
    expect_close(predict(fit, d, type = "link"), unname(fitted(fit)), 1e-9)
    expect_output(print(fit), "and 3 of smooth terms", fixed = TRUE)
    expect_true(any(grepl("variance 2", prior_summary(fit)$prior[
      prior_summary(fit)$name == "bumps(x1)"])))
    everything <- bsvm_frame(y ~ . + bumps(x1), d[c("y", "x1", "x2")])
    expect_identical(everything$term_labels, c("x2", "bumps(x1)"))
    expect_refusal(bsvm_frame(y ~ x2:bumps(x1), d), "formula", "A term of bumps")
    by_hand <- cbind(d$x2, d$x1, heights(d$x1))
    expect_equal(bsvm_frame(y ~ x2 + bumps(x1), d)$x[, -1L], by_hand, ignore_attr = TRUE)
    skip_if_not_installed("ggplot2")
    expect_s3_class(plot(fit, "smooth"), "ggplot")
  })
})

test_that("without its methods a call is one of a function", {
  expect_refusal(bsvm_frame(y ~ bumps(x1), d), "data", "bumps")
})
