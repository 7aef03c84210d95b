# The same draws whatever the threads, and however a run was cut: checkpoints, killed processes,
# resumed runs; and checkpoints that must not be used.

bsvm <- paper_bsvm

case <- structure_cases()$crossed_slopes
settings <- list(draws = 300, burnin = 60, thin = 2, chains = 2, seed = 77)

sample_again <- function(..., of = case) {
  do.call(sample_core, utils::modifyList(c(list(of), settings), list(...)))
}

whole <- sample_again()

# ---- seeds and threads --------------------------------------------------------------------

test_that("draws are a function of seed, chain and sweep alone", {
  expect_same_draws(sample_again(), whole)
  expect_same_draws(sample_again(threads = 2), whole)
  one <- sample_again(chains = 1)
  expect_identical(one$coefficients[, , 1], whole$coefficients[, , 1])
  expect_gt(max(abs(whole$coefficients[, , 1] - whole$coefficients[, , 2])), 0.01)
  expect_false(identical(sample_again(seed = 78)$coefficients, whole$coefficients))
})

test_that("one seed, one fit, for any number of threads", {
  d <- grouped_data()
  fit <- function(threads, seed = 4) {
    with_seed(seed, suppressWarnings(
      bsvm(y ~ x1 + t + (t | g), d, engine = engine_gibbs(draws = 60, burnin = 20, chains = 2),
           control = bsvm_control(threads = threads, verbose = FALSE))
    ))
  }
  one <- fit(1L)
  expect_true(identical(fit(2L)$posterior, one$posterior))
  expect_true(identical(fit(1L)$posterior, one$posterior))
  expect_false(identical(fit(1L, seed = 5)$posterior$coefficients, one$posterior$coefficients))
})

test_that("many rows in blocks and lanes: the same bits for any number of threads", {
  d <- grouped_data(12000, 300)
  case <- core_case(cbind(1, d$x1, d$t), ifelse(d$y == "yes", 1, -1), list(block_normal(1:3)),
                    group = as.integer(d$g), z = cbind(1, d$t),
                    group_blocks = list(block_inverse_wishart(1:2, 3, diag(2))))
  short <- function(threads, chains) {
    drawn(sample_core(case, draws = 8, burnin = 4, chains = chains, threads = threads))
  }
  expect_true(identical(short(2, 1), short(1, 1)))
  expect_true(identical(short(2, 3), short(1, 3)))
})

# ---- resuming -----------------------------------------------------------------------------

test_that("a shorter run, resumed with more draws, is the longer run", {
  file <- new_checkpoint()
  on.exit(unlink(file))
  for (draws in c(1, 37, 299)) {
    part <- sample_again(draws = draws, checkpoint = file, resume = TRUE)
    expect_equal(part$draws, draws)
    expect_identical(part$coefficients, whole$coefficients[, seq_len(draws), , drop = FALSE])
  }
  resumed <- sample_again(checkpoint = file, resume = TRUE, threads = 2)
  expect_same_draws(resumed, whole)
  expect_true(resumed$resumed)
  again <- sample_again(checkpoint = file, resume = TRUE)
  expect_same_draws(again, whole)
})

test_that("writing checkpoints changes nothing, and a file to come is no trouble", {
  file <- new_checkpoint()
  on.exit(unlink(file))
  result <- sample_again(checkpoint = file, checkpoint_interval = 0, resume = TRUE)
  expect_same_draws(result, whole)
  expect_false(result$resumed)
  expect_true(file.exists(file))
  expect_false(file.exists(paste0(file, ".new")))
})

test_that("the seed of a resumed run is the file's", {
  file <- new_checkpoint()
  on.exit(unlink(file))
  sample_again(draws = 20, checkpoint = file)
  expect_same_draws(sample_again(seed = 5, checkpoint = file, resume = TRUE), whole)
})

test_that("resumed fits of the front door are the uninterrupted ones", {
  d <- grouped_data()
  file <- new_checkpoint()
  on.exit(unlink(file))
  fit <- function(draws, ...) {
    set.seed(9)
    suppressWarnings(bsvm(y ~ x1 + (1 | g), d, control = bsvm_control(verbose = FALSE),
                          engine = engine_gibbs(draws = draws, burnin = 30, chains = 2, ...)))
  }
  with_seed(1, {
    fit(40, checkpoint = file)
    expect_refusal(fit(40, checkpoint = file), "checkpoint", "resume = TRUE")
    resumed <- fit(100, checkpoint = file, resume = TRUE)
    expect_true(identical(resumed$posterior, fit(100)$posterior))
    expect_true(resumed$sampling$resumed)
  })
})

# ---- killed -------------------------------------------------------------------------------

# A case big enough that a run takes seconds, and a checkpoint long to write.
long_case <- function() {
  d <- grouped_data(1500, 150)
  core_case(cbind(1, d$x1, d$t), ifelse(d$y == "yes", 1, -1), list(block_normal(1:3, 100)),
            group = as.integer(d$g), z = cbind(1, d$t),
            group_blocks = list(block_inverse_wishart(1:2, 4, diag(2))))
}

sample_long <- function(case, ...) {
  sample_core(case, draws = 4000, burnin = 500, chains = 2, seed = 3, checkpoint_interval = 0, ...)
}

killable_script <- function(folder) {
  helpers <- normalizePath(test_path(paste0("helper-", c("data", "reference", "gibbs"), ".R")))
  c(
    sprintf(".libPaths(%s)", deparse1(.libPaths())),
    sprintf("setwd(%s)", deparse1(folder)),
    sprintf("for (file in %s) source(file)", deparse1(helpers)),
    sprintf("sample_long <- %s", paste(deparse(sample_long), collapse = "\n")),
    "case <- readRDS('case.rds')",
    "writeLines(as.character(Sys.getpid()), 'partial')",
    "file.rename('partial', 'pid')",
    "sample_long(case, checkpoint = 'chain', resume = TRUE)",
    "file.create('done')"
  )
}

# A function that says whether the child is at a write: there is a new file beside the checkpoint,
# or the checkpoint is not as long as it was.
is_writing <- function(folder) {
  paths <- file.path(folder, c("chain", "chain.new"))
  before <- file.size(paths)
  function() !identical(file.size(paths), before)
}

# Kills a child after some seconds, or as soon as `due()`. Was it still at work?
kill_one <- function(folder, after, due = function() FALSE) {
  unlink(file.path(folder, "pid"))
  run_child(folder, killable_script(folder))
  pid <- child_pid(folder)
  if (is.na(pid)) return(FALSE)
  end <- Sys.time() + after
  while (Sys.time() < end && !due()) NULL
  tools::pskill(pid, tools::SIGKILL)
  !file.exists(file.path(folder, "done"))
}

test_that("killed at random moments and during writes, then resumed: the same chain", {
  skip_on_os("windows")
  skip_on_cran()
  folder <- new_folder("killed")
  on.exit(unlink(folder, recursive = TRUE))
  case <- long_case()
  saveRDS(case, file.path(folder, "case.rds"))
  moments <- with_seed(6, runif(5, 0.05, 0.6))
  killed <- vapply(seq_along(moments), function(k) {
    if (k %% 2 == 0) kill_one(folder, 30, is_writing(folder)) else kill_one(folder, moments[k])
  }, TRUE)
  expect_gt(sum(killed), 1)
  chain <- file.path(folder, "chain")
  if (!file.exists(chain)) kill_one(folder, 30, function() file.exists(chain)) # on a busy machine
  expect_true(file.exists(chain))
  resumed <- sample_long(case, checkpoint = chain, resume = TRUE)
  expect_true(resumed$resumed)
  expect_same_draws(resumed, sample_long(case))
})

# ---- checkpoints that must not be used ----------------------------------------------------

expect_untouched_refusal <- function(file, code, words = character()) {
  before <- if (!dir.exists(file)) readBin(file, "raw", file.size(file))
  error <- expect_error(code, class = "bsvm_core_invalid")
  expect_equal(error$argument, "checkpoint")
  for (word in words) expect_match(conditionMessage(error), word, fixed = TRUE)
  if (!dir.exists(file)) expect_identical(readBin(file, "raw", file.size(file)), before)
}

test_that("a checkpoint of other data, another model or other settings is refused", {
  file <- new_checkpoint()
  on.exit(unlink(file))
  sample_again(draws = 10, checkpoint = file)
  refused <- function(of = case, words = "other", ...) {
    expect_untouched_refusal(file, sample_again(of = of, checkpoint = file, resume = TRUE, ...),
                             words)
  }
  other <- function(change) {
    changed <- case
    eval(substitute(change), environment())
    changed
  }
  refused(other(changed$y[1] <- -changed$y[1]), words = "other data")
  refused(other(changed$x[3, 2] <- changed$x[3, 2] + 1e-12))
  refused(other(changed$weight[1] <- changed$weight[1] + 1))
  refused(other(changed$factors[[2]]$codes[1:2] <- changed$factors[[2]]$codes[1:2] %% 5 + 1))
  refused(other(changed$blocks[[1]]$parameters[["variance"]] <- 11))
  refused(other(changed$group_blocks[[1]] <- block_half_t(3, 1, 1)))
  refused(chains = 3, words = c("chains = ", "3 is asked"))
  refused(burnin = 61, words = c("burnin = ", "61 is asked"))
  refused(thin = 3, words = c("thin = ", "3 is asked"))
  refused(mixing = FALSE)
  refused(keep_effects = FALSE, words = "keep_effects = 1")
})

test_that("a damaged checkpoint, or what is none, is refused and left as it was", {
  file <- new_checkpoint()
  on.exit(unlink(file, recursive = TRUE))
  sample_again(draws = 10, checkpoint = file)
  good <- readBin(file, "raw", file.size(file))
  refused <- function(bytes) {
    writeBin(bytes, file)
    expect_untouched_refusal(file, sample_again(checkpoint = file, resume = TRUE))
  }
  size <- length(good)
  for (length in c(0, 1, 7, 8, 15, 16, 40, size %/% 2, size - 8, size - 1)) {
    refused(good[seq_len(length)])
  }
  for (at in with_seed(8, c(1, 9, 20, size, sample(size, 12)))) {
    bit <- as.raw(2^(at %% 8))
    refused(replace(good, at, xor(good[at], bit)))
  }
  refused(c(good, as.raw(0)))
  refused(charToRaw("y,x\n1,2\n"))
  refused(serialize(1:10, NULL))
  writeBin(good, file)
  expect_identical(sample_again(draws = 10, checkpoint = file, resume = TRUE)$coefficients,
                   whole$coefficients[, 1:10, , drop = FALSE])
})

test_that("what a killed write left beside a checkpoint is no trouble", {
  file <- new_checkpoint()
  on.exit(unlink(c(file, paste0(file, ".new"))))
  sample_again(draws = 10, checkpoint = file)
  writeBin(as.raw(1:100), paste0(file, ".new"))
  expect_same_draws(sample_again(checkpoint = file, resume = TRUE), whole)
  unlink(file)
  writeBin(as.raw(1:100), paste0(file, ".new"))
  expect_same_draws(sample_again(checkpoint = file, resume = TRUE), whole)
})

test_that("a checkpoint that can't be written or read is an error that names it", {
  folder <- new_folder("chain")
  on.exit(unlink(folder, recursive = TRUE))
  expect_error(sample_again(checkpoint = folder, resume = TRUE), class = "bsvm_core_invalid")
  expect_error(sample_again(checkpoint = file.path(folder, "no", "file")),
               class = "bsvm_core_invalid")
})
