# Rules for what is unknown in the design: those of the package keep the contract. test-extension.R
# adds one to a copy of the source.

test_that("the rules of the package keep the contract", {
  d <- binary_data()
  d$x1[3:6] <- NA
  uses <- c("augmented", "expected", "drawn", "marginal")
  for (rule in list(missing_normal(), missing_selection())) {
    for (generic in generics_of("bsvm_missing")) {
      expect(has_method(generic, rule), paste(generic, "has no method for", rule$name))
    }
    expect_true(all(bsvm:::latent_uses(rule) %in% uses))
    frame <- bsvm_frame(y ~ x1 + x2, d, missing = rule)
    expect_identical(frame$unknowns$rule, rule)
    spec <- bsvm_spec(frame, engine = "vb", likelihood = "hinge")
    expect_identical(spec$problem$latent$name, rule$name)
    for (array in spec$problem$latent$arrays) expect_true(is.null(array) || is.double(array))
    expect_true(all(c("variables", "column", "center", "scale", "missing") %in% names(spec$law)))
  }
  for (rule in list(missing_fail(), missing_omit())) {
    expect_false(bsvm:::models_missing(rule))
    expect_identical(bsvm:::latent_uses(rule), character(0))
    expect_null(suppressMessages(bsvm_frame(y ~ x2, d, missing = rule))$unknowns)
  }
})
