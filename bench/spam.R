# Spam: 4601 rows, 57 standardised predictors, one inferred ridge penalty.
# Bound, passes, what a pass costs beside OpenBLAS, and the whole fit beside an untuned e1071::svm.

source(file.path(getOption("bsvm.bench"), "spam-data.R"), local = TRUE)

fit_bsvm <- function(data, accelerate = TRUE) {
  bsvm(type ~ ., data, likelihood = "hinge", prior = papers_prior(),
       engine = engine_vb(accelerate = accelerate), standardize = FALSE,
       control = bsvm_control(tol = 1e-10))
}

run <- function() {
  if (!installed("kernlab")) return(skipped("spam", "The package kernlab is needed."))
  data <- spam_data()
  fit <- fit_bsvm(data)
  rbind(optimum(fit, data), pass_cost(data, fit$passes), whole_fit(data))
}

optimum <- function(fit, data) {
  rbind(figure("bound", elbo(fit), "nats", near = -1982.98335659, within = 1e-7,
               digits = 12L),
        figure("passes", fit$passes, "passes", at_most = 60),
        figure("passes of the plain updates", fit_bsvm(data, accelerate = FALSE)$passes, "passes"))
}

# bsvm_run() and the limit take turns, so that both see the same machine. Processor time: the
# limit's short calls are hardly ever interrupted, a whole run often is.
pass_cost <- function(data, passes, turns = 11L) {
  reason <- blas_missing()
  spec <- bsvm_spec(bsvm_frame(type ~ ., data), papers_prior(), "hinge", engine_vb(),
                    standardize = FALSE)
  control <- bsvm_control(tol = 1e-10)
  bsvm_run(spec, control)
  turn <- function(i) {
    limit <- if (nzchar(reason)) NULL else blas_limit(nrow(data), ncol(data))
    pass <- processor_seconds(function() bsvm_run(spec, control)) / passes
    list(pass = pass, limit = limit)
  }
  measured <- lapply(seq_len(turns), turn)
  pass <- stats::median(vapply(measured, `[[`, 0, "pass"))
  rbind(figure("a pass", 1e3 * pass, "ms"),
        if (nzchar(reason)) skipped("the machine's limit", reason)
        else limit_figures(pass, lapply(measured, `[[`, "limit")))
}

limit_figures <- function(pass, limits) {
  middle <- function(value) stats::median(vapply(limits, value, 0))
  syrk <- middle(syrk_seconds)
  trsm <- middle(function(l) l$dtrsm)
  n <- 4601
  P <- 58
  rbind(figure(paste0("OpenBLAS (", limits[[1L]]$core, ") dsyrk"), 1e3 * syrk, "ms"),
        figure("OpenBLAS dsyrk, rate", n * P * (P + 1) / syrk / 1e9, "GFlop/s"),
        figure("OpenBLAS dtrsm", 1e3 * trsm, "ms"),
        figure("OpenBLAS dtrsm, rate", n * P^2 / trsm / 1e9, "GFlop/s"),
        figure("a pass / (dsyrk + dtrsm)", pass / middle(blas_seconds), "ratio", at_most = 3))
}

whole_fit <- function(data) {
  if (!installed("e1071")) return(skipped("e1071", "The package e1071 is needed."))
  svm <- function() e1071::svm(type ~ ., data, kernel = "linear")
  middle <- median_of(interleaved(list(bsvm = function() fit_bsvm(data), svm = svm), times = 7L))
  rbind(figure("bsvm, whole fit", 1e3 * middle[["bsvm"]], "ms"),
        figure("e1071 linear, whole fit", 1e3 * middle[["svm"]], "ms"),
        figure("bsvm / e1071", middle[["bsvm"]] / middle[["svm"]], "ratio", at_most = 1 / 4))
}
