# Clusters whose workers fail when they are told to.

# Rows in shards as small as they can be, while a test runs.
local_small_shards <- function(frame = parent.frame()) {
  size <- bsvm:::core_shard_size
  local_replace("core_shard_size", function(p, numbers) size(p, 2^23), frame)
}

# A cluster that ends with the test, whatever has become of its workers.
local_cluster <- function(workers = 2, ..., frame = parent.frame()) {
  cluster <- parallel::makeCluster(workers, ...)
  pids <- unlist(parallel::clusterCall(cluster, Sys.getpid))
  end <- function() {
    for (node in cluster) try(close(node$con), silent = TRUE)
    for (pid in pids) tools::pskill(pid, tools::SIGKILL)
  }
  do.call(on.exit, list(as.call(list(end)), add = TRUE, after = FALSE), envir = frame)
  structure(cluster, pids = pids)
}

process_runs <- function(pid) tools::pskill(pid, 0)

# Before this worker gives the `at`-th answer of unit number `unit`, it does what `fault` says; later
# ones are as they should be.
plant_fault <- function(node, at, fault, ...) {
  plant <- function(at, fault, more) {
    namespace <- asNamespace("bsvm")
    old <- get("answer_message", namespace)
    seen <- 0
    changed <- function(message, change) {
      reply <- old(message)
      file <- bsvm:::answer_file(message$file, reply$key)
      saveRDS(change(readRDS(file)), file)
      reply
    }
    faults <- list(
      kill = function(message) tools::pskill(Sys.getpid(), tools::SIGKILL),
      stop = function(message) {
        tools::pskill(Sys.getpid(), tools::SIGSTOP)
        Sys.sleep(0.1)
        old(message)
      },
      pause = function(message) {
        system(sprintf("(sleep %g; kill -CONT %d)", more[[1L]], Sys.getpid()), wait = FALSE)
        tools::pskill(Sys.getpid(), tools::SIGSTOP)
        Sys.sleep(0.1)
        old(message)
      },
      fail = function(message) stop("planted"),
      damage = function(message) {
        changed(message, function(found) {
          found$answers[[1L]][1L] <- found$answers[[1L]][1L] + 1
          found
        })
      },
      count = function(message) {
        changed(message, function(found) {
          found$answers[[1L]][2L] <- found$answers[[1L]][2L] + 1
          found$checksums[1L] <- bsvm:::answer_checksum(found$answers[[1L]])
          found
        })
      },
      short = function(message) {
        changed(message, function(found) {
          parts <- c("units", "answers", "checksums")
          found[parts] <- lapply(found[parts], `[`, -1L)
          found
        })
      },
      late = function(message) changed(message, function(found) replace(found, "tag", "earlier")),
      cut = function(message) {
        reply <- old(message)
        writeBin(as.raw(88), bsvm:::answer_file(message$file, reply$key))
        reply
      },
      full = function(message) replace(old(message), "failed", "no space left"),
      other = function(message) replace(old(message), "run", "another"),
      nonsense = function(message) "nonsense",
      # the same reply before its own, and one to an earlier message
      twice = function(message) {
        reply <- old(message)
        for (frame in sys.frames()) {
          if (exists("master", frame, inherits = FALSE)) master <- get("master", frame)
        }
        for (tag in c("earlier", message$tag)) {
          parallel:::sendData(master, list(type = "VALUE", value = reply, success = TRUE, tag = tag))
        }
        reply
      }
    )
    new <- function(message) {
      if (is.null(message$file)) return(old(message))
      seen <<- seen + 1
      if (seen == at) faults[[fault]](message) else old(message)
    }
    put <- function(name, value) {
      unlockBinding(name, namespace)
      assign(name, value, namespace)
      lockBinding(name, namespace)
    }
    if (fault == "kill_within") {
      unit <- get("answer_unit", namespace)
      put("answer_unit", function(...) {
        seen <<- seen + 1
        if (seen == at) tools::pskill(Sys.getpid(), tools::SIGKILL)
        unit(...)
      })
    } else put("answer_message", new)
    NULL
  }
  environment(plant) <- globalenv()
  invisible(parallel::clusterCall(node, plant, at, fault, list(...)))
}

# Nodes without a connection of their own, as those of MPI: these are nodes of sockets in disguise.
disguised_cluster <- function(cluster) {
  for (method in c("sendData", "recvData")) {
    own <- getFromNamespace(method, "parallel")
    registerS3method(method, "bsvm_disguised",
                     local({ f <- own; function(node, ...) f(node$inner, ...) }),
                     asNamespace("parallel"))
  }
  structure(lapply(cluster, function(node) structure(list(inner = node), class = "bsvm_disguised")),
            class = c("bsvm_disguised_cluster", "cluster"))
}

# ---- fits of rows in many small shards ----------------------------------------------------------

cluster_data <- function(n = 16000, levels = 200) {
  with_seed(1, {
    d <- data.frame(x = rnorm(n), z = rnorm(n), g = factor(sample(levels, n, TRUE)))
    d$y <- factor(ifelse(d$x + rnorm(levels)[d$g] + rlogis(n) > 0, "yes", "no"))
    d
  })
}

# Too few for anything but a comparison of bits.
drawn_few <- function(formula, data, ..., draws = 6, mixing = NULL, checkpoint = NULL) {
  engine <- engine_gibbs(draws = draws, burnin = 3, chains = 2, mixing = mixing,
                         checkpoint = checkpoint, resume = !is.null(checkpoint))
  with_seed(1, withCallingHandlers(
    bsvm(formula, data, engine = engine, likelihood = "hinge", ...),
    bsvm_warning_convergence = function(w) tryInvokeRestart("muffleWarning")
  ))
}

cluster_fits <- list(
  vb = function(d, ...) {
    bsvm(y ~ x + z, chunks_of(d, 3000), engine = engine_vb(), likelihood = "hinge", ...)
  },
  vb_groups = function(d, ...) {
    bsvm(y ~ x + (1 | g), chunks_of(d, 3000), engine = engine_vb(), likelihood = "hinge", ...)
  },
  vb_slopes = function(d, ...) {
    bsvm(y ~ x + (z | g), chunks_of(d, 3000), engine = engine_vb(), likelihood = "hinge", ...)
  },
  gaussian = function(d, ...) {
    bsvm(y ~ x + z, chunks_of(d, 3000), engine = engine_gaussian(integrate = FALSE), ...)
  },
  gaussian_groups = function(d, ...) {
    bsvm(y ~ x + (1 | g), chunks_of(d, 3000), engine = engine_gaussian(integrate = FALSE), ...)
  },
  gp = function(d, ...) { # with what inducing points leave over
    bsvm(y ~ z + gp(x, kernel = kernel_se(0.7), points = 6), chunks_of(d, 3000), engine = engine_vb(),
         likelihood = "hinge", ...)
  },
  gibbs = function(d, ...) drawn_few(y ~ x + z, chunks_of(d, 3000), ...),
  gibbs_groups = function(d, ...) drawn_few(y ~ x + (z | g), chunks_of(d, 3000), ...)
)

cluster_result <- function(fit) {
  fit[c("posterior", "blocks", "group_blocks", "elbo", "trace", "nobs", "termination")]
}

# list(error) or list(fit, warned, seconds)
try_fit <- function(fit) {
  warned <- NULL
  started <- proc.time()[["elapsed"]]
  found <- tryCatch(withCallingHandlers(fit, bsvm_warning_cluster = function(w) {
    warned <<- w
    tryInvokeRestart("muffleWarning")
  }), bsvm_error = identity)
  list(fit = if (!inherits(found, "error")) cluster_result(found),
       error = if (inherits(found, "error")) found, warned = warned,
       seconds = proc.time()[["elapsed"]] - started)
}
