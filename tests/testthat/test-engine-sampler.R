# What engine_gibbs() and engine_slice() have in common. Each has one flag of its own.

bsvm <- paper_bsvm

flags <- c(engine_gibbs = "mixing", engine_slice = "integrate")

for (name in names(flags)) {
  engine <- get(name)
  with_one <- function(argument, value) do.call(engine, stats::setNames(list(value), argument))
  ticked <- function(argument) paste0("`", argument, "`")

  test_that(sprintf("%s(): numbers of draws, chains and the like are whole and in range", name), {
    for (argument in c("draws", "thin", "chains")) {
      for (value in list(0, -1, 1.5, NA, NaN, Inf, "10", c(1, 2), NULL, TRUE, 3e9, list(5))) {
        if (argument == "draws" && is.null(value)) next  # the default
        expect_refusal(with_one(argument, value), "argument", ticked(argument))
      }
    }
    for (value in list(-1, 0.5, 2.5, NA, Inf, "10", c(1, 2), NULL, 3e9)) {
      expect_refusal(engine(burnin = value), "argument", "`burnin`")
    }
    for (value in list(0, 1.5, 3e9)) {
      expect_refusal(engine(draws = value), "argument", "a whole number of at least 1")
    }
    expect_refusal(engine(draws = "100"), "argument", "\"100\"")
    expect_refusal(engine(burnin = -1), "argument", c("at least 0", "-1"))
    expect_s3_class(engine(burnin = 0), "bsvm_engine")
  })

  test_that(sprintf("%s(): flags and file names", name), {
    for (value in list(NA, 1, "yes", NULL, c(TRUE, FALSE))) {
      for (flag in c(flags[[name]], "keep_effects")) {
        if (flag %in% c("integrate", "mixing") && is.null(value)) next # the default
        expect_refusal(with_one(flag, value), "argument", ticked(flag))
      }
      expect_refusal(engine(resume = value, checkpoint = "a"), "argument", "`resume`")
    }
    for (value in list("", NA_character_, 1, c("a", "b"), TRUE, character())) {
      expect_refusal(engine(checkpoint = value), "argument", "`checkpoint`")
    }
    expect_refusal(engine(resume = TRUE), "argument", c("`resume = TRUE`", "`checkpoint`"))
  })

  test_that(sprintf("%s(): there are limits to chains and sweeps", name), {
    expect_refusal(engine(chains = 1001), "argument", c("`chains`", "at most 1000", "1001"))
    expect_refusal(engine(draws = 1e9, burnin = 1000), "argument", c("at most 1e9", "1000001000"))
    expect_refusal(engine(draws = 2e9, thin = 2e9), "argument", "`thin`")
    expect_silent(engine(draws = 1e9 - 1000, chains = 1000))
  })

  test_that(sprintf("%s(): other samplers' arguments are refused with what they are", name), {
    expect_refusal(engine(iter = 2000), "argument", c("`iter`", "`draws`", "`burnin`"))
    expect_refusal(engine(warmup = 500), "argument", "`burnin`")
    expect_refusal(engine(cores = 4), "argument", "bsvm_control(threads = )")
    expect_refusal(engine(seed = 1), "argument", "set.seed()")
    expect_refusal(engine(nix = 1), "argument", c(paste0(name, "()"), "`nix`"))
  })

  test_that(sprintf("%s(): a start is for other engines", name), {
    expect_refusal(bsvm(y ~ x1, binary_data(), engine = engine(20, 10),
                        control = bsvm_control(start = c(0, 0))),
                   "argument", c("`start`", "engine_vb()", "engine_gaussian()"))
  })

  test_that(sprintf("%s(): no seed but R's, one uniform a fit, equal seeds equal draws", name), {
    d <- binary_data()
    fit <- function(seed) {
      set.seed(seed)
      unchecked(bsvm(y ~ x1, d, engine = engine(20, 0, chains = 2)))
    }
    with_seed(7, {
      runif(1)
      moved <- .Random.seed
      one <- fit(7)
      expect_identical(.Random.seed, moved)
      expect_identical(fit(7)$posterior, one$posterior)
      expect_false(identical(fit(8)$posterior$mean, one$posterior$mean))
    })
  })
}
