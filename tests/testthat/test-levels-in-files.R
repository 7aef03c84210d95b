# Sources with many levels of a grouping factor: levels that no row of the prototype has, and effects
# that are in files, against fits of the same rows in memory.

# From a few levels and numbers on.
local_many_levels <- function(levels = 7, numbers = 100, frame = parent.frame()) {
  local_replace("prototype_levels", levels, frame)
  local_replace("most_group_numbers", numbers, frame)
  local_replace("spill_rows", 1000L, frame)
  local_small_shards(frame = frame)
}

# Several rows a level, for ids of a kind.
rows_with_ids <- function(ids, n = 3000, seed = 1) {
  d <- streamed_data(n, seed = seed)
  at <- with_seed(seed, sample(length(ids), n, TRUE))
  effect <- with_seed(seed, stats::rnorm(length(ids)))
  d$g <- ids[at]
  d$y <- factor(ifelse(d$x + effect[at] + with_seed(seed, stats::rlogis(n)) > 0, "yes", "no"))
  d
}

in_files <- function(fit) {
  parts <- if (is.null(fit$posterior$components)) list(fit$posterior) else fit$posterior$components
  all(vapply(parts, function(part) !is.null(part$group_file) && is.null(part$group_mean), TRUE))
}

files_of <- function(fit) {
  parts <- c(list(fit$posterior), fit$posterior$components)
  unlist(lapply(parts, function(part) part$group_file$path))
}

without_keys <- function(groups) {
  lapply(groups, function(group) group[setdiff(names(group), "keys")])
}

quiet_bsvm <- function(...) suppressMessages(suppressWarnings(bsvm(...)))

ids_of_kinds <- function(m = 700) {
  with_seed(2, list(
    integer = sample(1e9L, m), whole = sample(m) * 3 + 99990, decimal = round(stats::rnorm(m), 4),
    large = sample(1e9L, m) * 1e4 + 1, text = sprintf("t%04d", sample(m)),
    date = as.Date("2000-01-01") + sample(5 * m, m),
    factor = factor(sprintf("f%d", seq_len(m)), levels = sprintf("f%d", sample(m + 20L)))
  ))
}

test_that("levels that the prototype lacks are those of a data frame, whatever ids are", {
  local_many_levels(numbers = Inf)
  keyed <- c("integer", "whole", "decimal", "large")
  ids <- ids_of_kinds()
  for (kind in names(ids)) {
    d <- rows_with_ids(ids[[kind]])
    for (case in c("all", "weights", "missing")) {
      own <- if (case == "missing") transform(d, x = replace(x, k == 0, NA)) else d
      fit <- function(data) {
        if (case == "weights") quiet_bsvm(y ~ x + (1 | g), data, weights = k, engine = engine_vb())
        else quiet_bsvm(y ~ x + (1 | g), data, na.action = na.omit, engine = engine_vb())
      }
      here <- fit(own)
      there <- fit(chunks_of(own))
      expect_identical(there$posterior, here$posterior)
      expect_identical(without_keys(there$groups), here$groups)
      expect_identical(!is.null(there$groups$g$keys), kind %in% keyed)
      new <- own[1:40, ]
      new$x <- 1
      new$g[2] <- NA
      for (change in list(identity, as.character, factor)) {
        new$g <- change(new$g)
        expect_identical(predict(there, new, allow_new_levels = TRUE),
                         predict(here, new, allow_new_levels = TRUE))
      }
    }
  }
})

test_that("the prototype has the first levels alone, and a row for each where others need them", {
  local_replace("prototype_rows", 5)
  local_many_levels()
  d <- rows_with_ids(ids_of_kinds()$integer)
  rows_of <- function(formula) {
    parts <- parse_formula(formula, d)
    parts$lone <- lone_grouping(parts, list())
    spill <- spill_variables(bsvm_source(chunks_of(d)), parts, list(), "y",
                             bsvm_control(verbose = FALSE))
    on.exit(drop_spill(spill))
    nrow(spill$prototype)
  }
  expect_lt(rows_of(y ~ x + (1 | g)), 20)
  expect_lt(rows_of(y ~ x + (1 | g) + (0 + x | g)), 20)
  expect_gt(rows_of(y ~ x + (1 | factor(g))), 600)
  for (formula in list(y ~ g + (1 | g), y ~ x + (g | g), y ~ x + (1 | g:f), y ~ x + (1 | g / f))) {
    expect_identical(lone_grouping(parse_formula(formula, d), list()), character(0))
  }
  parts <- parse_formula(y ~ x + (1 | g), d)
  expect_identical(lone_grouping(parts, list(weights = quote(g))), character(0))
  parts <- parse_formula(y ~ x + (1 | f) + (1 | g), d)
  expect_identical(lone_grouping(parts, list()), c("f", "g"))
})

test_that("names that stand for numbers are those that match_levels() knows", {
  keys <- sort(c(-3, 0, 0.1, 7, 1e5, 123456.789, 2^31, 1e15, 1e22))
  names <- c("7", "007", "7.0", "1e5", "1e+05", "100000", "0.1", ".1", "-3", "0", "-0", "a", NA,
             "2147483648", "1e15", "1e+15", "1e22", "1e+22", "123456.789", " 7", "0x7", "Inf", "NA")
  expect_identical(codes_of_names(names, keys), match_levels(names, number_names(keys)))
  whole <- c(-2147483647L, -5L, 0L, 99999L, 100000L, 2147483647L)
  expect_identical(as.character(whole), number_names(whole))
  expect_identical(core_find_sorted(whole, c(5, 0, NA, 1e5, 1e300, -5)), c(0L, 3L, NA, 5L, 0L, 2L))
  expect_identical(core_union_sorted(c(1, 3, 5), c(0, 3, 9)), c(0, 1, 3, 5, 9))
  expect_null(whole_numbers(c(1, 2^31)))
  expect_null(whole_numbers(c(1, NA)))
  expect_identical(whole_numbers(c(-1, -0, 7)), c(-1L, 0L, 7L))
})

expect_same_answers <- function(there, here, d) {
  new <- d[c(5, 1:60), ]
  new$g[3] <- NA
  new$g[4] <- -12345
  new$n <- NULL
  ask <- function(f) expect_identical(f(there), f(here))
  ask(function(fit) predict(fit, new, interval = TRUE, allow_new_levels = TRUE))
  ask(function(fit) predict(fit, new, re_formula = NA, type = "link", interval = TRUE))
  ask(function(fit) predict(fit, d[1, ], type = "link"))
  ask(function(fit) ranef(fit, level = 0.9))
  ask(coef)
  ask(VarCorr)
  ask(function(fit) posterior_linpred(fit, newdata = d[1:5, ], ndraws = 20))
  ask(function(fit) fit$odds_slope)
  ask(function(fit) utils::capture.output(print(VarCorr(fit)), summary(fit)$coefficients))
}

test_that("effects in files give the numbers of effects in memory, to the bit", {
  local_many_levels()
  d <- rows_with_ids(ids_of_kinds()$integer)
  d$n <- 500 + 30 * d$x + stats::rt(nrow(d), 4)
  local_replace("each_group_chunk", function(posterior, f) { # of a few levels
    in_chunks(posterior$group_file$levels, 97, function(at) f(at, read_group_effects(posterior, at)))
  })
  compare <- function(formula, engine, ...) {
    here <- quiet_bsvm(formula, d, engine = engine, ...)
    there <- quiet_bsvm(formula, chunks_of(d), engine = engine, ...)
    expect_true(in_files(there))
    expect_identical(there$elbo, here$elbo)
    expect_same_answers(there, here, d)
  }
  vb <- engine_vb()
  compare(y ~ x + (1 | g), vb, likelihood = "hinge")
  compare(y ~ x + (x | g), vb, likelihood = "hinge", weights = k)
  compare(n ~ x + (0 + x | g), vb, likelihood = "laplace") # in units of the response
  compare(y ~ x + (1 | g), engine_gaussian(integrate = FALSE))
})

test_that("a saved fit reads its files in another R process, and says if they are not whole", {
  skip_on_cran()
  local_many_levels()
  folder <- folder_for_rows()
  on.exit(unlink(folder, recursive = TRUE), add = TRUE)
  d <- rows_with_ids(ids_of_kinds()$whole)
  fit <- function(control = bsvm_control(effects_folder = folder)) {
    suppressWarnings(bsvm(y ~ x + (1 | g), chunks_of(d), likelihood = "hinge", engine = engine_vb(),
                          control = control))
  }
  expect_message(fit(bsvm_control()), "700|69[0-9] levels .*removed when R ends.*effects_folder")
  expect_no_message(kept <- fit())
  again <- update(kept, data = chunks_of(d), prior = prior_ridge(variance = 1))
  path <- files_of(kept)
  expect_setequal(normalizePath(c(path, files_of(again))), normalizePath(list.files(folder, full.names = TRUE)))
  new <- d[1:20, ]
  expected <- predict(kept, new, interval = TRUE)
  parts <- file.path(folder, c("fit.rds", "new.rds", "found.rds"))
  saveRDS(kept, parts[1L])
  saveRDS(new, parts[2L])
  code <- sprintf("library(bsvm); saveRDS(predict(readRDS('%s'), readRDS('%s'), interval = TRUE), '%s')",
                  parts[1L], parts[2L], parts[3L])
  libraries <- paste0("R_LIBS=", paste(.libPaths(), collapse = .Platform$path.sep))
  script <- file.path(folder, "predict.R")
  writeLines(enc2utf8(code), script, useBytes = TRUE)
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), env = libraries)
  expect_identical(readRDS(parts[3L]), expected)

  bytes <- readBin(path, "raw", file.size(path))
  put <- function(bytes) writeBin(bytes, path)
  changed <- function(at) replace(bytes, at, xor(bytes[at], as.raw(1)))
  ask <- function() predict(kept, new)
  put(changed(1))
  expect_refusal(ask(), "disk", c("another version", "fit the model again", "re_formula = NA"))
  put(changed(10))
  expect_refusal(ask(), "disk", "damaged")
  put(changed(length(bytes) - 20))
  expect_refusal(ranef(kept), "disk", "damaged")
  put(utils::head(bytes, -8))
  expect_refusal(ask(), "disk", "damaged")
  put(readBin(files_of(again), "raw", 1e6))
  expect_refusal(ask(), "disk", "another fit")
  unlink(path)
  expect_refusal(ask(), "disk", c("not there", "put it back"))
  # what the refusal says works
  expect_length(predict(kept, new, re_formula = NA, type = "link"), 20)
  put(bytes)
  expect_identical(predict(kept, new, interval = TRUE), expected)
})

test_that("folders that can't have the files are refused before the source is read", {
  local_many_levels()
  expect_refusal(bsvm_control(effects_folder = "no/such/folder"), "argument", "a folder that exists")
  expect_refusal(bsvm_control(effects_folder = 1), "argument", "a folder that exists")
  never <- bsvm_source(function(reset) stop("was read"))
  skip_if_not(dir.exists("/proc/self"))
  expect_refusal(bsvm(y ~ x + (1 | g), never, control = bsvm_control(effects_folder = "/proc/self")),
                 "argument", "can be written")
  expect_refusal(bsvm(y ~ x + (1 | g), never, control = bsvm_control(rows_folder = "/proc/self")),
                 "argument", c("`rows_folder`", "can be written"))
  d <- rows_with_ids(ids_of_kinds()$integer)
  local_replace("free_bytes", function(folder) if (grepl("bsvm-shards", folder)) Inf else 1000)
  expect_refusal(quiet_bsvm(y ~ x + (1 | g), chunks_of(d), engine = engine_vb()), "disk",
                 c("GiB free", "effects_folder"))
})

test_that("what needs all effects says so if they are too many", {
  local_many_levels()
  d <- rows_with_ids(ids_of_kinds()$integer)
  fit <- quiet_bsvm(y ~ x + (1 | g), chunks_of(d), engine = engine_vb())
  old <- options(bsvm.max_memory = 30000)
  on.exit(options(old), add = TRUE)
  expect_refusal(posterior_linpred(fit, newdata = d[1, ]), "size", "ndraws")
  expect_refusal(posterior_linpred(fit, newdata = d[1, ], ndraws = 1), "size", "predict()")
  expect_length(predict(fit, d[1:2, ]), 2)
})

test_that("an interrupted or failed fit leaves no file of effects, and prepared rows can be used again", {
  local_many_levels()
  folder <- tempfile("effects-")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE), add = TRUE)
  d <- rows_with_ids(ids_of_kinds()$integer)
  control <- bsvm_control(effects_folder = folder)
  rows <- distribute(chunks_of(d))
  first <- quiet_bsvm(y ~ x + (1 | g), rows, engine = engine_vb(), control = control)
  again <- quiet_bsvm(y ~ x + (1 | g), rows, engine = engine_vb(), control = control)
  expect_identical(ranef(again), ranef(first))
  expect_length(list.files(folder), 2)
  # points of a mixture that are not kept leave no file
  mixture <- quiet_bsvm(y ~ x + (1 | g), rows, engine = engine_gaussian(integrate = FALSE),
                        control = control)
  expect_setequal(setdiff(list.files(folder), basename(files_of(list(posterior = first$posterior)))),
                  basename(c(files_of(again), files_of(mixture))))
})

test_that("workers write the effects of their rows, which are joined", {
  skip_on_cran()
  local_many_levels()
  d <- rows_with_ids(ids_of_kinds()$integer)
  cluster <- local_cluster(2)
  here <- quiet_bsvm(y ~ x + (x | g), d, likelihood = "hinge", engine = engine_vb())
  there <- quiet_bsvm(y ~ x + (x | g), chunks_of(d), likelihood = "hinge", engine = engine_vb(),
                      cluster = cluster)
  expect_true(in_files(there))
  expect_gt(there$streamed$shards, 1)
  expect_same_answers(there, here, d)
})
