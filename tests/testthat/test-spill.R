# Rows on disk: what is known of them, and that nothing is left when something fails.

test_that("what is known of columns does not depend on chunks or pieces", {
  d <- rows_of_all_kinds()
  known <- lapply(list(c(1, 7), c(7, 100), c(250, 1000)), function(sizes) {
    spill <- spill_source(bsvm_source(chunks_of(d, sizes[1])), names(d), piece_rows = sizes[2],
                          grouping = c("k", "day"))
    on.exit(drop_spill(spill))
    expect_identical(spill$pieces, as.integer(ceiling(250 / sizes[2])))
    expect_identical(readRDS(file.path(spill$folder, "meta.rds")), spill)
    expect_identical(vapply(seq_len(spill$pieces), function(k) nrow(read_piece(spill, k)), 1L),
                     diff(unique(c(seq(0L, 250L, min(250L, as.integer(sizes[2]))), 250L))))
    spill[c("rows", "columns", "prototype")]
  })
  expect_identical(known[[2]], known[[1]])
  expect_identical(known[[3]], known[[1]])
  about <- known[[1]]$columns
  expect_identical(known[[1]]$rows, 250)
  expect_identical(vapply(about, `[[`, "", "type"),
                   c(x = "double", k = "integer", t = "factor", l = "logical", f = "factor",
                     o = "factor", day = "double", time = "double", late = "double"))
  expect_identical(lapply(about, `[[`, "levels")[c("t", "f", "o")],
                   list(t = levels(factor(d$t)), f = levels(d$f), o = levels(d$o)))
  expect_identical(lapply(about, `[[`, "values")[c("k", "l", "day", "x")],
                   list(k = sort(unique(d$k)), l = c(FALSE, TRUE),
                        day = as.double(sort(unique(d$day))), x = NULL))
  expect_equal(vapply(about, `[[`, 1, "missing"), colSums(is.na(d)))
  expect_identical(about$x$infinite, 1)
  numbers <- c("x", "k", "day", "time", "late")
  finite <- function(x, of) of(as.double(x)[is.finite(x)])
  expect_identical(vapply(about[numbers], `[[`, 1, "min"), vapply(d[numbers], finite, 1, min))
  expect_identical(vapply(about[numbers], `[[`, 1, "max"), vapply(d[numbers], finite, 1, max))
  expect_identical(about$t$min, NA_real_)
})

test_that("a prototype has the first rows and every level", {
  n <- 5000
  d <- data.frame(t = "a", f = factor("u", levels = c("v", "u", "w")), l = FALSE, g = 1, x = 1:n)
  d$t[c(2000, 3000)] <- "b"
  d$f[2500] <- "w"
  d$l[4000] <- TRUE
  d$g[c(4500, 4600, 4700)] <- c(-1, NA, -1)
  spill <- spill_source(bsvm_source(chunks_of(d, 300)), names(d), grouping = "g", piece_rows = 1024)
  on.exit(drop_spill(spill))
  chosen <- c(1:1000, 2000, 2500, 4000, 4500)
  expect_identical(spill$prototype$x, as.integer(chosen))
  expect_equal(spill$prototype, with_factors(d)[chosen, ], ignore_attr = "row.names")
  frames <- lapply(list(with_factors(d), spill$prototype), function(data) {
    model.frame(~ t + f + l + factor(g), data, drop.unused.levels = TRUE)
  })
  expect_identical(lapply(frames[[2]], levels), lapply(frames[[1]], levels))
})

test_that("pieces have fewer rows, the more columns there are", {
  expect_identical(vapply(c(0, 1, 8, 21, 100, 1e4), rows_of_piece, 0L),
                   c(65536L, 65536L, 65536L, 24966L, 5242L, 1024L))
  d <- as.data.frame(matrix(0, 2000, 300))
  spill <- spill_source(bsvm_source(chunks_of(d, 700)), names(d))
  on.exit(drop_spill(spill))
  expect_identical(spill$piece_rows, 1747L)
  expect_identical(vapply(1:2, function(k) nrow(read_piece(spill, k)), 0L), c(1747L, 253L))
  parts <- piece_parts(spill, 1, 500)
  expect_identical(unname(vapply(parts, nrow, 0L)), c(1048L, 699L))
  expect_identical(do.call(rbind, unname(parts)), read_piece(spill, 1))
  expect_identical(piece_parts(spill, 2, 500), list(read_piece(spill, 2)))
})

test_that("columns without a value, constants and odd numbers survive", {
  d <- data.frame(none = NA, nan = c(NaN, 1, -0, 0), text = NA_character_, one = 1L)
  spill <- spill_source(bsvm_source(chunks_of(d, 1)), names(d), piece_rows = 2, grouping = "nan")
  on.exit(drop_spill(spill))
  expect_identical(pieces_together(spill), transform(d, text = factor(text)))
  expect_identical(spill$columns$none[c("type", "missing", "min")],
                   list(type = "logical", missing = 4, min = NA_real_))
  expect_identical(spill$columns$nan$values, c(0, 1))
  expect_identical(spill$columns$text$levels, character())
})

test_that("a million levels of text and of numbers are found and kept", {
  skip_on_cran()
  n <- if (identical(Sys.getenv("BSVM_EXTENDED_TESTS"), "true")) 1e6 else 1e5
  d <- with_seed(2, data.frame(t = sprintf("id%07d", sample(n)), g = sample(n) + 0.5))
  d <- rbind(d, d[n:1, ])
  spill <- spill_source(bsvm_source(chunks_of(d, 30000)), names(d), grouping = "g")
  on.exit(drop_spill(spill))
  expect_identical(spill$columns$t$levels, sort(unique(d$t)))
  expect_identical(spill$columns$g$values, sort(unique(d$g)))
  found <- pieces_together(spill)
  expect_identical(as.character(found$t), d$t)
  expect_identical(found$g, d$g)
})

test_that("folders that cannot be used are refused before anything is read", {
  source <- bsvm_source(function(reset = FALSE) stop("never"))
  file <- tempfile()
  writeLines("mine", file)
  on.exit(unlink(file))
  for (folder in list(file.path(file, "below"), file, 3, NA_character_, character())) {
    expect_refusal(spill_source(source, "x", folder), "argument", "a folder that can be written")
  }
  expect_identical(readLines(file), "mine")
  folder <- file.path(folder_for_rows(), "new", "er")
  spill <- spill_source(bsvm_source(chunks_in_turn(cath)), "sex", folder)
  expect_setequal(list.files(folder), c("meta.rds", "piece-000001"))
  expect_refusal(spill_source(source, "sex", folder), "argument", "already has rows")
  writeLines("mine", file.path(folder, "notes"))
  drop_spill(spill)
  expect_identical(list.files(folder), "notes")
  skip_on_os("windows")
  if (file.access("/", 2) != 0) { # root may write everywhere
    Sys.chmod(folder, "0500")
    expect_refusal(spill_source(source, "x", folder), "argument", "a folder that can be written")
    Sys.chmod(folder, "0700")
  }
  if (dir.exists("/proc/self")) { # but there
    expect_refusal(spill_source(source, "x", "/proc/self"), "argument", "a folder that can be written")
  }
})

# A writer that fails at the k-th file after half of it.
disk_of <- function(k, how) {
  written <- 0
  function(value, path) {
    written <<- written + 1
    write_value(value, path)
    if (written < k) return()
    writeBin(readBin(path, "raw", 20), path)
    how(path)
  }
}

test_that("a write that fails leaves nothing behind, and no transaction", {
  connection <- sqlite_of(data.frame(x = 1:10))
  on.exit(DBI::dbDisconnect(connection))
  source <- bsvm_source(connection, query = "SELECT x FROM rows", chunk_size = 3)
  folder <- folder_for_rows()
  writeLines("mine", file.path(folder, "notes"))
  full <- function(path) bsvm:::abort("disk", "full: ", path)
  stopped <- function(path) {
    signalCondition(structure(list(message = "", call = NULL), class = c("interrupt", "condition")))
  }
  for (k in 1:5) { # the fifth is what is known of all
    expect_refusal(spill_source(source, "x", folder, piece_rows = 3, write = disk_of(k, full)),
                   "disk")
    expect_identical(list.files(folder), "notes")
    expect_false(in_transaction(connection))
    tryCatch(spill_source(source, "x", folder, piece_rows = 3, write = disk_of(k, stopped)),
             interrupt = function(e) expect_identical(list.files(folder), "notes"))
    expect_identical(list.files(folder), "notes")
    expect_false(in_transaction(connection))
  }
  spill <- spill_source(source, "x", folder, piece_rows = 3, write = disk_of(6, full))
  expect_identical(pieces_together(spill)$x, 1:10)
})

test_that("a source that fails leaves nothing behind", {
  before <- list.files(tempdir(), "^bsvm-rows-")
  source <- bsvm_source(chunks_in_turn(cath, cath, transform(cath, sex = 1i)))
  expect_refusal(spill_source(source, "sex", piece_rows = 100), "source", "complex")
  expect_identical(setdiff(list.files(tempdir(), "^bsvm-rows-"), before), character(0))
})

test_that("a disk that takes no more bytes is a classed error", {
  skip_on_cran()
  skip_on_os("windows")
  skip_if(!nzchar(Sys.which("sh")))
  folder <- folder_for_rows()
  script <- file.path(folder, "child.R")
  target <- file.path(folder, "rows")
  # The bytes of the last buffer fail when the file is closed, those before when they are written.
  writeLines(c(sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")),
               "given <- commandArgs(TRUE)",
               "write <- getFromNamespace('write_value', 'bsvm')",
               "said <- tryCatch(write(runif(as.numeric(given[2])), given[1]),",
               "                 bsvm_error_disk = function(e) conditionMessage(e))",
               "cat('SAID', said)"), script)
  for (size in c(10, 100, 1e5)) {
    command <- paste("trap '' XFSZ; ulimit -f 1;", shQuote(file.path(R.home("bin"), "Rscript")),
                     shQuote(script), shQuote(target), size, "2>&1")
    said <- paste(system2("sh", c("-c", shQuote(command)), stdout = TRUE), collapse = "\n")
    if (size == 10) expect_false(grepl("full", said), info = said)
    else expect_match(said, "SAID The rows can't be written .* The disk may be full")
  }
})

test_that("pieces that have changed are refused", {
  spill <- spill_source(bsvm_source(chunks_in_turn(cath)), names(cath), piece_rows = 100)
  on.exit(drop_spill(spill))
  file <- file.path(spill$folder, "piece-000002")
  bytes <- readBin(file, "raw", 1e6)
  writeBin(bytes[-1], file)
  expect_refusal(read_piece(spill, 2), "disk", "missing or damaged")
  writeBin(rev(bytes), file)
  expect_refusal(read_piece(spill, 2), "disk", "missing or damaged")
  unlink(file)
  expect_refusal(read_piece(spill, 2), "disk", "piece-000002")
  expect_refusal(read_piece(spill, 999), "disk", "piece-000999")
})

test_that("long readings tell how many rows they have read", {
  old <- options(bsvm.progress_after = 0, bsvm.progress_every = 0)
  on.exit(options(old))
  source <- bsvm_source(chunks_of(cath, 100))
  told <- function(verbose) {
    capture.output(drop_spill(spill_source(source, "sex", piece_rows = 100, verbose = verbose)),
                   type = "message")
  }
  expect_match(told(NULL), "^bsvm, [0-9]+ s: [0-9]+ rows read$")
  expect_identical(told(FALSE), character())
})
