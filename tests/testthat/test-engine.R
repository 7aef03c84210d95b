bsvm <- paper_bsvm

test_that("an engine is an object or its name", {
  d <- binary_data()
  by_name <- bsvm(y ~ x1, d, engine = "vb")
  by_object <- bsvm(y ~ x1, d, engine = engine_vb())
  expect_identical(by_name$posterior, by_object$posterior)
  expect_identical(by_name$engine, by_object$engine)
  expect_output(print(engine_vb()), "variational Bayes")
  expect_output(print(engine_vb(FALSE)), "plain updates")
})

test_that("an unknown engine or likelihood is refused, with what there is", {
  d <- binary_data()
  expect_refusal(bsvm(y ~ x1, d, engine = "nuts"), "argument", c("`engine`", "vb", "gibbs", "nuts"))
  expect_refusal(bsvm(y ~ x1, d, likelihood = "nix"), "argument", c("\"normalized\"", "\"hinge\""))
  for (helper in c("call", "word", "nix")) {
    error <- expect_refusal(bsvm(y ~ x1, d, engine = helper), "argument")
    expect_identical(conditionMessage(error), paste0(
      "`engine` must be made by one of engine_ecm(), engine_ecme(), engine_em(), engine_gaussian(), ",
      "engine_gibbs(), engine_map(), engine_slice() and engine_vb(), or be one of the strings ",
      "\"ecm\", \"ecme\", \"em\", \"gaussian\", \"gibbs\", \"map\", \"slice\" and \"vb\"; found \"",
      helper, "\"."
    ))
  }
  expect_refusal(bsvm(y ~ x1, d, engine = 3), "argument", c("engine_vb()", "3"))
  expect_refusal(engine_vb(accelerate = 1), "argument", "`accelerate`")
  expect_refusal(bsvm(y ~ x1, d, likelihood = "logit"), "argument", c("`likelihood`", "hinge"))
})
