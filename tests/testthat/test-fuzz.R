test_that("no random call crashes R, hangs, or fails without a class", {
  skip_unless_extended()
  skip_on_os("windows") # signals
  study <- fuzz_study(1:20)
  # the slowest known, a fit of `(g | a)` with as many levels as rows, takes up to 20 s
  bad <- grepl("^unclassed|^crash", study$outcome) | study$seconds > 40
  expect(!any(bad), paste(c("Calls that fail:", study$outcome[bad], study$call[bad]),
                          collapse = "\n"))
  expect_gte(nrow(study), 2000L)
  expect_gt(mean(study$outcome == "value"), 0.25)
})

test_that("a batch is a function of its seed", {
  skip_unless_extended()
  log <- function() {
    file <- tempfile("fuzz")
    fuzz_study(99, folder = file)[c("k", "call")]
  }
  expect_identical(log(), log())
})
