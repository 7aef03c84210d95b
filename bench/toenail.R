# Toenail trial: random intercepts against lme4::glmer, the same formula.
# Time from formula to fitted object, and error on 20 random splits of the rows.

trial_formula <- outcome ~ time * treatment + (1 | patientID)

fit_bsvm <- function(data) {
  bsvm(trial_formula, data, likelihood = "hinge", prior = papers_prior("patientID"),
       engine = engine_vb(), control = bsvm_control(tol = 1e-10))
}

fit_glmer <- function(data) {
  suppressMessages(suppressWarnings(lme4::glmer(trial_formula, data, family = stats::binomial())))
}

run <- function() {
  if (!installed(c("HSAUR3", "lme4")))
    return(skipped("toenail", "The packages HSAUR3 and lme4 are needed."))
  toenail <- HSAUR3::toenail
  write_profile(toenail)
  rbind(speed(toenail), stages(toenail), accuracy(toenail))
}

speed <- function(data) {
  times <- interleaved(list(bsvm = function() fit_bsvm(data), glmer = function() fit_glmer(data)),
                       times = 7L)
  middle <- median_of(times)
  rbind(figure("bsvm, whole fit", 1e3 * middle[["bsvm"]], "ms"),
        figure("glmer, whole fit", 1e3 * middle[["glmer"]], "ms"),
        figure("bsvm / glmer", middle[["bsvm"]] / middle[["glmer"]], "ratio", at_most = 1 / 50))
}

# The front end (parse, specify, package) against the core, which bsvm_run() does little more
# than call.
stages <- function(data, times = 21L) {
  fit <- fit_bsvm(data)
  frame <- bsvm_frame(trial_formula, data)
  make_spec <- function() bsvm_spec(frame, papers_prior("patientID"), "hinge", engine_vb())
  spec <- make_spec()
  control <- bsvm_control(tol = 1e-10)
  middle <- median_of(interleaved(list(frame = function() bsvm_frame(trial_formula, data),
                                       spec = make_spec,
                                       run = function() bsvm_run(spec, control)), times))
  rbind(figure("stage bsvm_frame", 1e3 * middle[["frame"]], "ms"),
        figure("stage bsvm_spec", 1e3 * middle[["spec"]], "ms"),
        figure("stage bsvm_run", 1e3 * middle[["run"]], "ms"),
        figure("passes", fit$passes, "passes"),
        figure("bsvm_run a pass", 1e6 * middle[["run"]] / fit$passes, "microseconds"))
}

balanced_error <- function(truth, predicted) mean(tapply(truth != predicted, truth, mean))

error_bsvm <- function(train, test) {
  predicted <- predict(fit_bsvm(train), test, type = "class", allow_new_levels = TRUE)
  balanced_error(test$outcome, predicted)
}

error_glmer <- function(train, test) {
  probability <- stats::predict(fit_glmer(train), test, type = "response", allow.new.levels = TRUE)
  balanced_error(test$outcome, levels(test$outcome)[1L + (probability > 0.5)])
}

# splits x 2
split_errors <- function(data, splits = 20L, seed = 20L) {
  set.seed(seed)
  t(vapply(seq_len(splits), function(split) {
    inside <- sample(nrow(data), round(0.75 * nrow(data)))
    c(bsvm = error_bsvm(data[inside, ], data[-inside, ]),
      glmer = error_glmer(data[inside, ], data[-inside, ]))
  }, c(bsvm = 0, glmer = 0)))
}

accuracy <- function(data) {
  errors <- split_errors(data)
  worse <- errors[, "bsvm"] - errors[, "glmer"]
  rbind(figure("mean BER, glmer, 20 splits", mean(errors[, "glmer"]), "rate"),
        figure("mean BER, bsvm, same splits", mean(errors[, "bsvm"]), "rate",
               at_most = mean(errors[, "glmer"])),
        figure("mean of the differences", mean(worse), "rate"),
        figure("its standard error", stats::sd(worse) / sqrt(length(worse)), "rate"))
}

# Which R functions the time goes to, in results/toenail-profile.txt.
write_profile <- function(data, fits = 200L, top = 30L) {
  file <- tempfile()
  utils::Rprof(file, interval = 0.001)
  for (i in seq_len(fits)) fit_bsvm(data)
  utils::Rprof(NULL)
  shares <- utils::head(utils::summaryRprof(file)$by.total[c("total.pct", "self.pct")], top)
  writeLines(utils::capture.output(print(shares)), results_file("toenail-profile.txt"))
}
