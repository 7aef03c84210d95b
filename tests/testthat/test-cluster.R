# Fits on a cluster: the bits of one process, whatever happens to workers, or a classed error.

# ---- the plan -----------------------------------------------------------------------------------

# The core's tree (core/rows/tree_sum.hpp) in its words.
tree_sum <- function(leaves) {
  while (length(leaves) > 1L) {
    pairs <- split(leaves, (seq_along(leaves) - 1L) %/% 2L)
    leaves <- unname(vapply(pairs, function(pair) {
      if (length(pair) > 1L) pair[1] + pair[2] else pair
    }, 0))
  }
  leaves
}

expect_tree <- function(units, values) {
  units <- units[order(vapply(units, `[[`, 0, "first"))]
  firsts <- vapply(units, `[[`, 0, "first")
  own <- lapply(units, function(unit) tree_sum(values[unit$first:unit$last]))
  expect_identical(bsvm:::add_units(own, firsts, length(values)), tree_sum(values))
}

test_that("units are whole subtrees, whose sums give the bits of the whole tree", {
  values <- with_seed(1, rnorm(300) / 3)
  expect_false(tree_sum(values) == Reduce(`+`, values))
  for (shards in c(1:33, 64, 100, 257, 300)) {
    for (workers in 1:9) {
      units <- bsvm:::plan_units(shards, workers)
      expect_identical(unlist(lapply(units, function(unit) unit$first:unit$last)),
                       seq_len(shards), info = paste(shards, workers))
      expect_tree(units, values[seq_len(shards)])
      expect_tree(bsvm:::divide_units(units, 2 * workers + 3), values[seq_len(shards)])
      loads <- tapply(vapply(units, bsvm:::unit_size, 0), vapply(units, `[[`, 0, "worker"), sum)
      if (shards >= 8 * workers) expect_lt(max(loads), 1.5 * shards / workers)
    }
  }
})

# ---- the same fits ------------------------------------------------------------------------------

test_that("fits are the same to the bit on workers, with random effects and threads", {
  local_small_shards()
  d <- cluster_data()
  cluster <- local_cluster(2)
  left <- function() list.files(tempdir(), "^bsvm-(shards|probe)")
  before <- left()
  fits_compared <- if (identical(Sys.getenv("NOT_CRAN"), "true")) names(cluster_fits)
                   else c("vb", "gaussian_groups")
  for (name in fits_compared) {
    here <- cluster_fits[[name]](d)
    expect_gt(here$streamed$shards, 6)
    for (threads in 1:2) {
      there <- cluster_fits[[name]](d, cluster = cluster, control = bsvm_control(threads = threads))
      expect_identical(cluster_result(there), cluster_result(here), info = paste(name, threads))
    }
  }
  held <- parallel::clusterCall(cluster, function() setdiff(ls(bsvm:::worker_store), "run"))
  expect_identical(held, list(character(0), character(0)))
  expect_identical(setdiff(left(), before), character(0))
  expect_lt(length(serialize(there, NULL)), 1e5) # no connection, no rows
})

test_that("the number and kind of workers do not matter", {
  skip_on_cran()
  local_small_shards()
  d <- cluster_data()
  here <- cluster_result(cluster_fits$vb_groups(d))
  fit <- function(cluster) cluster_result(cluster_fits$vb_groups(d, cluster = cluster))
  for (workers in c(1, 3, 4)) {
    expect_identical(fit(local_cluster(workers, useXDR = workers == 3)), here, info = workers)
  }
  expect_identical(fit(function() parallel::makeCluster(2)), here)
  skip_on_os("windows")
  expect_identical(fit(function() parallel::makeForkCluster(2)), here)
})

test_that("workers that have nothing to do change nothing", {
  skip_on_cran()
  d <- cluster_data(500, 20) # one shard
  cluster <- local_cluster(2)
  expect_identical(cluster_result(cluster_fits$vb_groups(d, cluster = cluster)),
                   cluster_result(cluster_fits$vb_groups(d)))
})

test_that("a pass that takes long tells how many files are done", {
  skip_on_cran()
  skip_on_os("windows")
  local_small_shards()
  local_replace("slow_pass_seconds", 0.5)
  old <- options(bsvm.progress_every = 0.2)
  on.exit(options(old), add = TRUE)
  d <- cluster_data()
  cluster <- local_cluster(2)
  plant_fault(cluster[2], 1, "pause", 3)
  said <- capture.output(type = "message", {
    fit <- cluster_fits$vb_groups(d, cluster = cluster, control = bsvm_control(verbose = TRUE))
  })
  told <- regmatches(said, regexpr("pass [0-9]+, file [0-9]+ of [0-9]+", said))
  expect_gt(length(told), 0)
  numbers <- do.call(rbind, strsplit(gsub("[^0-9 ]", "", told), " +"))
  expect_identical(unique(numbers[, 4]), as.character(fit$streamed$shards))
  done <- as.numeric(numbers[, 3]) # by the worker that is not paused
  expect_true(any(done > 0 & done < fit$streamed$shards))
})

# ---- workers that fail --------------------------------------------------------------------------

test_that("a worker that is killed, fails or answers wrongly is replaced by the others", {
  skip_on_cran()
  skip_on_os("windows")
  local_small_shards()
  d <- cluster_data()
  cases <- list(
    list("vb", 1, "kill"), list("vb", 4, "kill"), list("vb_groups", 1, "kill"),
    list("vb_groups", 2, "kill"), list("vb_slopes", 3, "kill"), list("gaussian_groups", 9, "kill"),
    list("vb_groups", 5, "kill_within"), list("gaussian", 14, "kill_within"),
    list("gibbs", 7, "kill"), list("gibbs_groups", 8, "kill"),
    list("gibbs_groups", 9, "kill_within"), list("gibbs_groups", 4, "damage"),
    list("vb_groups", 4, "fail"), list("vb_groups", 1, "damage"), list("vb_groups", 4, "damage"),
    list("vb_groups", 5, "short"), list("vb_groups", 5, "other"), list("vb", 2, "nonsense"),
    list("vb", 2, "late"), list("vb_groups", 3, "cut"), list("vb_groups", 3, "full")
  )
  here <- lapply(cluster_fits, function(fit) cluster_result(fit(d)))
  for (case in cases) {
    cluster <- local_cluster(2)
    plant_fault(cluster[2], case[[2]], case[[3]])
    found <- try_fit(cluster_fits[[case[[1]]]](d, cluster = cluster))
    info <- paste(case, collapse = " ")
    expect_identical(found$fit, here[[case[[1]]]], info = info)
    expect_match(conditionMessage(found$warned), "worker 2 ", info = info)
    expect_lt(found$seconds, 60) # no hang
  }
})

test_that("a reply that comes twice, or to an earlier question, is not counted", {
  skip_on_cran()
  skip_on_os("windows")
  local_small_shards()
  d <- cluster_data()
  cluster <- local_cluster(2)
  here <- cluster_result(cluster_fits$vb_groups(d))
  plant_fault(cluster[1], 4, "twice")
  expect_silent(there <- cluster_fits$vb_groups(d, cluster = cluster))
  expect_identical(cluster_result(there), here)
  for (node in cluster) parallel:::sendCall(node, function() "stale", list())
  expect_identical(cluster_result(cluster_fits$vb_groups(d, cluster = cluster)), here)
  expect_identical(parallel::clusterCall(cluster, function() "now"), list("now", "now"))
})

test_that("a time limit ends a fit and is no fault of a worker", {
  skip_on_cran()
  local_small_shards()
  d <- cluster_data()
  cluster <- local_cluster(2)
  here <- cluster_result(cluster_fits$vb_groups(d))
  rows <- distribute(bsvm_source(chunks_of(d)), cluster)
  endless <- function(limit) {
    setTimeLimit(elapsed = limit, transient = TRUE)
    on.exit(setTimeLimit())
    bsvm(y ~ x + (1 | g), rows, engine = engine_vb(accelerate = FALSE), likelihood = "hinge",
         control = bsvm_control(tol = 1e-300, max_passes = 2000L))
  }
  for (limit in 1.5 + 1:4 / 40) {
    expect_no_warning(expect_error(endless(limit), "time limit"), class = "bsvm_warning_cluster")
  }
  expect_identical(cluster_result(cluster_fits$vb_groups(d, cluster = cluster)), here)
})

# R looks for the limit at moments that can't be chosen: here each is at the worst one.
test_that("nothing that answers errors takes a time limit for one", {
  said <- "reached elapsed time limit"
  limit <- function(...) stop(said)
  expect_error(bsvm:::reason_lost(simpleError(said)), said)
  expect_identical(bsvm:::reason_lost(simpleError("gone")), "gone")
  seen <- NULL
  limited <- function() {
    setTimeLimit(elapsed = 0.2, transient = TRUE)
    on.exit(setTimeLimit())
    seen <<- bsvm:::unless_error({
      end <- Sys.time() + 0.5
      while (Sys.time() < end) sqrt(2)
      "whole"
    }, "error")
    for (k in 1:100) Sys.sleep(0.01)
  }
  expect_error(limited(), said)
  expect_identical(seen, "whole")
  expect_identical(bsvm:::unless_error(stop("gone"), "error"), "error")
  node <- structure(list(), class = "limited")
  team <- list2env(list(cluster = structure(list(node), class = "cluster")))
  registerS3method("sendData", "limited", limit, asNamespace("parallel"))
  expect_error(bsvm:::call_all(team, identity, 1), said)
  passed <- function(code) expect_identical(class(tryCatch(code, error = identity))[1L], "simpleError")
  passed(bsvm(y ~ x, bsvm_source(function(reset) limit())))
  passed(bsvm:::of_file(limit(), "rows.csv", 1))
  passed(bsvm:::of_query(limit()))
  spill <- bsvm:::spill_source(bsvm_source(chunks_of(cluster_data())), c("y", "x"))
  on.exit(bsvm:::drop_spill(spill), add = TRUE)
  local_replace("read_value", limit)
  passed(bsvm:::read_piece(spill, 1L))
})

test_that("sockets have the user's timeouts again where a limit comes as a fit ends", {
  worker <- list2env(list(live = TRUE, number = 1))
  team <- list2env(list(own = FALSE, sockets = TRUE, run = "run", tag = 0, workers = list(worker)))
  restored <- 0
  local_replace("next_tag", function(team) "tag")
  local_replace("send_message", function(...) stop("reached elapsed time limit"))
  local_replace("restore_timeout", function(worker) restored <<- restored + 1)
  expect_error(bsvm:::close_team(team), "time limit")
  expect_identical(restored, 1)
})

test_that("rows that are counted wrongly are an error", {
  skip_on_cran()
  local_small_shards()
  cluster <- local_cluster(2)
  plant_fault(cluster[1], 1, "count")
  expect_refusal(cluster_fits$vb(cluster_data(), cluster = cluster), "cluster",
                 c("16001 rows", "16000"))
})

test_that("a worker that hangs is given up, and does no harm when it wakes", {
  skip_on_cran()
  skip_on_os("windows")
  local_small_shards()
  d <- cluster_data()
  here <- lapply(cluster_fits, function(fit) cluster_result(fit(d)))
  for (case in list(list("vb_groups", 4, 3), list("gaussian_groups", 7, 4.5),
                    list("vb", 2, 25))) {
    cluster <- local_cluster(2)
    plant_fault(cluster[1], case[[2]], "pause", case[[3]])
    found <- try_fit(cluster_fits[[case[[1]]]](d, cluster = cluster,
                                               control = bsvm_control(timeout = 4)))
    expect_identical(found$fit, here[[case[[1]]]], info = case[[1]])
  }
  expect_match(conditionMessage(found$warned), "did not answer within 4 seconds")
  # it is still asleep, and another fit goes on without it
  found <- try_fit(cluster_fits$vb(d, cluster = cluster, control = bsvm_control(timeout = 4)))
  expect_identical(found$fit, here$vb)
})

test_that("without workers there is no fit, unless a function makes them again", {
  skip_on_cran()
  skip_on_os("windows")
  local_small_shards()
  d <- cluster_data()
  dying <- function(...) {
    cluster <- local_cluster(2, frame = test)
    for (k in 1:2) plant_fault(cluster[k], 3 + k, "kill")
    cluster
  }
  test <- environment()
  error <- try_fit(cluster_fits$vb_groups(d, cluster = dying()))$error
  expect_s3_class(error, "bsvm_error_cluster")
  expect_match(conditionMessage(error), "All workers of `cluster` were lost: worker 1 ")
  made <- 0
  cluster <- function() if ((made <<- made + 1) == 1) dying() else local_cluster(2, frame = test)
  found <- try_fit(cluster_fits$vb_groups(d, cluster = cluster))
  expect_identical(found$fit, cluster_result(cluster_fits$vb_groups(d)))
  expect_identical(made, 2)
  expect_s3_class(try_fit(cluster_fits$vb_groups(d, cluster = dying))$error, "bsvm_error_cluster")
})

test_that("workers are lost at three questions at most, at each as many as there are", {
  skip_on_cran()
  skip_on_os("windows")
  local_small_shards()
  d <- cluster_data()
  cluster <- local_cluster(5)
  for (k in 1:4) plant_fault(cluster[k], 4, "kill")
  found <- try_fit(cluster_fits$vb_groups(d, cluster = cluster))
  expect_identical(found$fit, cluster_result(cluster_fits$vb_groups(d)))
  cluster <- local_cluster(5)
  for (k in 1:4) plant_fault(cluster[k], 3 * k, "kill")
  error <- try_fit(cluster_fits$vb_groups(d, cluster = cluster))$error
  expect_match(conditionMessage(error), "Too many workers of `cluster` were lost: worker 1 ")
})

test_that("kills at random points leave the same bits", {
  skip_unless_extended()
  skip_on_os("windows")
  local_small_shards()
  d <- cluster_data()
  here <- lapply(cluster_fits, function(fit) cluster_result(fit(d)))
  with_seed(99, for (k in 1:50) {
    cluster <- local_cluster(2)
    name <- sample(names(cluster_fits), 1)
    system(sprintf("(sleep %g; kill -9 %d 2> /dev/null)", runif(1, 0, 1.3),
                   sample(attr(cluster, "pids"), 1)), wait = FALSE)
    found <- try_fit(cluster_fits[[name]](d, cluster = cluster))
    expect_identical(found$fit, here[[name]])
    expect_lt(found$seconds, 60) # no hang
  })
})

test_that("a shard that is damaged is an error that names it", {
  local_small_shards()
  d <- cluster_data()
  write <- bsvm:::write_shards
  local_replace("write_shards", function(...) {
    shards <- write(...)
    file <- file(shards$paths[3], "r+b")
    seek(file, 500, rw = "write")
    writeBin(as.raw(1:50), file)
    close(file)
    shards
  })
  cluster <- local_cluster(2)
  expect_refusal(cluster_fits$vb(d, cluster = cluster), "disk", c("shard-000003", "is damaged"))
  local_replace("write_shards", write)
  expect_identical(cluster_result(cluster_fits$vb(d, cluster = cluster)),
                   cluster_result(cluster_fits$vb(d)))
})

test_that("draws are not lost with all workers", {
  skip_on_cran()
  skip_on_os("windows")
  local_small_shards()
  d <- cluster_data()
  whole <- cluster_result(cluster_fits$gibbs_groups(d))
  file <- tempfile()
  on.exit(unlink(file), add = TRUE)
  cluster <- local_cluster(2)
  for (k in 1:2) plant_fault(cluster[k], 30, "kill")
  fit <- function(...) drawn_few(y ~ x + (z | g), chunks_of(d, 3000), checkpoint = file, ...)
  expect_refusal(fit(cluster = cluster), "cluster",
                 c("All workers", paste0("The draws so far are in '", file), "resume = TRUE"))
  expect_identical(cluster_result(fit()), whole)
})

test_that("draws go on from a checkpoint, with other workers and in one process", {
  skip_on_cran()
  local_small_shards()
  d <- cluster_data()
  whole <- cluster_result(cluster_fits$gibbs_groups(d))
  file <- tempfile()
  on.exit(unlink(file), add = TRUE)
  fit <- function(...) drawn_few(y ~ x + (z | g), chunks_of(d, 3000), checkpoint = file, ...)
  fit(draws = 2, cluster = local_cluster(2))
  fit(draws = 4)
  expect_identical(cluster_result(fit(draws = 6, cluster = local_cluster(3))), whole)
  d$x[16000] <- d$x[16000] + 1e-9 # other data
  expect_refusal(fit(draws = 8), "checkpoint", c("data"))
})

# ---- Ctrl-C, and the end of this process --------------------------------------------------------

helper_files <- function() {
  names <- c("data", "draws", "source", "cluster")
  deparse1(normalizePath(test_path(sprintf("helper-%s.R", names))))
}

test_that("after Ctrl-C the cluster can be used, and nothing stale is read", {
  skip_on_cran()
  skip_on_os("windows")
  result <- child_result(c(
    sprintf("for (file in %s) source(file)", helper_files()),
    "work <- function() {",
    "  local_small_shards()",
    "  d <- cluster_data()",
    "  cluster <- local_cluster(2)",
    "  here <- cluster_result(cluster_fits$gaussian_groups(d))",
    "  endless <- bsvm_control(tol = 1e-300, max_passes = 1e5, verbose = FALSE)",
    "  ended <- same <- NULL",
    "  for (k in 1:6) {",
    "    who <- c(Sys.getpid(), if (k %% 2 == 0) attr(cluster, 'pids'))", # as from a terminal
    "    system(sprintf('(sleep %g; kill -INT %s)', k / 6, paste(who, collapse = ' ')), wait = FALSE)",
    "    sent <- proc.time()[['elapsed']] + k / 6",
    "    tryCatch(suppressWarnings(cluster_fits[[c('vb', 'vb_groups')[1 + k %% 2]]](d,",
    "               cluster = cluster, control = endless)), interrupt = identity)",
    "    ended <- c(ended, proc.time()[['elapsed']] - sent)",
    "    fit <- try_fit(cluster_fits$gaussian_groups(d, cluster = cluster))",
    "    same <- c(same, identical(fit$fit, here), is.null(fit$warned))",
    "  }",
    "  list(ended = ended, same = same)",
    "}",
    "result <- work()"
  ))
  expect_false(result$died, info = result$said)
  expect_true(all(result$value$same))
  expect_lt(max(result$value$ended), 5)
})

test_that("workers end with this process", {
  skip_on_cran()
  skip_on_os("windows")
  folder <- new_folder("killed")
  on.exit(unlink(folder, recursive = TRUE))
  pids <- file.path(folder, "pids")
  child_result(c(
    sprintf("for (file in %s) source(file)", helper_files()),
    "work <- function() {",
    "  local_small_shards()",
    "  cluster <- parallel::makeCluster(2)",
    "  pids <- unlist(parallel::clusterCall(cluster, Sys.getpid))",
    sprintf("  writeLines(as.character(pids), %s)", deparse1(pids)),
    "  system(sprintf('(sleep 0.7; kill -9 %d)', Sys.getpid()), wait = FALSE)",
    "  cluster_fits$vb(cluster_data(), cluster = cluster, control = bsvm_control(tol = 1e-300,",
    "                  max_passes = 1e5, verbose = FALSE))",
    "}",
    "result <- work()"
  ))
  workers <- as.integer(readLines(pids))
  end <- Sys.time() + 5
  while (any(process_runs(workers)) && Sys.time() < end) Sys.sleep(0.1)
  expect_false(any(process_runs(workers)))
  for (pid in workers) tools::pskill(pid, tools::SIGKILL)
})

# ---- before the fit -----------------------------------------------------------------------------

test_that("workers that would compute other bits, or see other files, are refused", {
  d <- cluster_data(300, 5)
  cluster <- local_cluster(2)
  fit <- function(cluster) cluster_fits$vb(d, cluster = cluster)
  put <- function(name, value) {
    f <- function(name, value) {
      old <- get(name, baseenv())
      unlockBinding(name, baseenv())
      assign(name, value, baseenv())
      invisible(old)
    }
    environment(f) <- globalenv()
    parallel::clusterCall(cluster[2], f, name, value)[[1L]]
  }
  old <- put("R.version", replace(as.list(R.version), "minor", "0.9"))
  expect_refusal(fit(cluster), "cluster", c("Worker 2 (", "differs", "R is", "0.9 there"))
  put("R.version", old)
  reader <- put("readRDS", local(function(...) stop("no file"), baseenv()))
  expect_refusal(fit(cluster), "cluster", c("Worker 2 (", "can't read from the folder", "rows_folder"))
  put("readRDS", reader)
  maker <- put("file.create", local(function(...) FALSE, baseenv()))
  expect_refusal(fit(cluster), "cluster", c("Worker 2 (", "can't write to the folder"))
  put("file.create", maker)
  expect_silent(fit(cluster))
  twice <- structure(list(cluster[[1]], cluster[[1]]), class = class(cluster))
  expect_refusal(fit(twice), "cluster", "are the same R process")
})

test_that("dead workers are left out with a warning, and none is an error", {
  skip_on_os("windows")
  d <- cluster_data(300, 5)
  cluster <- local_cluster(2)
  tools::pskill(attr(cluster, "pids")[1], tools::SIGKILL)
  Sys.sleep(0.2)
  found <- try_fit(cluster_fits$vb(d, cluster = cluster))
  expect_identical(found$fit, cluster_result(cluster_fits$vb(d)))
  expect_match(conditionMessage(found$warned), "worker 1 ")
  for (node in cluster) close(node$con)
  expect_refusal(cluster_fits$vb(d, cluster = cluster), "cluster", "All workers")
})

test_that("clusters without sockets are called as a whole", {
  skip_on_cran()
  local_small_shards()
  d <- cluster_data()
  here <- cluster_result(cluster_fits$gaussian_groups(d))
  cluster <- local_cluster(2)
  there <- cluster_fits$gaussian_groups(d, cluster = disguised_cluster(cluster))
  expect_identical(cluster_result(there), here)
  for (fault in c("fail", "short", "nonsense", "kill")) {
    cluster <- local_cluster(2)
    plant_fault(cluster[1], 4, fault)
    error <- try_fit(cluster_fits$vb_groups(d, cluster = disguised_cluster(cluster)))$error
    expect_s3_class(error, "bsvm_error_cluster")
    expect_match(conditionMessage(error), "All workers of `cluster` were lost: ", info = fault)
  }
})

test_that("clusters of mirai give the same bits, and an error once a process was killed", {
  skip_on_cran()
  skip_on_os("windows")
  skip_if_not_installed("mirai")
  make <- function() getExportedValue("mirai", "make_cluster")(2)
  local_small_shards()
  d <- cluster_data()
  here <- cluster_result(cluster_fits$vb_groups(d))
  cluster <- make()
  on.exit(try(parallel::stopCluster(cluster), silent = TRUE), add = TRUE)
  fit <- function(cluster) try_fit(cluster_fits$vb_groups(d, cluster = cluster))
  expect_identical(fit(cluster)$fit, here)
  tools::pskill(parallel::clusterCall(cluster, Sys.getpid)[[1]], tools::SIGKILL)
  expect_s3_class(fit(cluster)$error, "bsvm_error_cluster")
  expect_s3_class(fit(cluster)$error, "bsvm_error_cluster")
  expect_identical(fit(make)$fit, here)
})

test_that("`cluster` and `timeout` are checked", {
  d <- cluster_data(300, 5)
  expect_refusal(cluster_fits$vb(d, cluster = 2), "argument", c("`cluster`", "makeCluster"))
  expect_refusal(cluster_fits$vb(d, cluster = function() 2), "argument", c("returned 2"))
  empty <- structure(list(), class = "cluster")
  expect_refusal(cluster_fits$vb(d, cluster = empty), "argument", "no workers")
  expect_refusal(bsvm(y ~ x, d, cluster = empty), "argument", "bsvm_source()")
  expect_refusal(bsvm_control(timeout = 0), "argument", "`timeout`")
  expect_output(print(bsvm_control(timeout = 3)), "timeout 3")
})
