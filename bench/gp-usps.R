# Handwritten digits with Gaussian-process terms, 001, Tables 1 and 2: threes against fives (1540
# images) on random stratified splits of 767 and 773, all rows or 100 inducing points, and fours
# against the rest, 7291 and 2007, 100 points. Inducing points do not depend on random numbers but on
# the rows and their order: splits are drawn anew, and of the fours the order of the training rows is.
# BSVM_REPEATS has the number of repeats.

for (part in c("gp-data.R", "gp-rivals.R"))
  source(file.path(getOption("bsvm.bench"), part), local = TRUE)

run <- function() {
  reason <- usps_missing()
  if (nzchar(reason)) return(skipped("digits", reason))
  if (!installed("kernlab")) return(skipped("digits", "The package kernlab is needed."))
  images <- usps_images()
  rbind(figure("repeats", repeats(10L), ""), threes_and_fives(usps_3v5(images)), fours(images),
        folds_of_all(usps_3v5(images)))
}

threes_and_fives <- function(data) {
  clock <- study_clock()
  models <- list(full = timed_bsvm(clock, "full", y ~ gp(x)),
                 "100 points" = timed_bsvm(clock, "100 points", y ~ gp(x, points = 100)),
                 "200 points" = timed_bsvm(clock, "200 points", y ~ gp(x, points = 200)),
                 # the paper's own: pseudo-inputs of FITC learned together with the kernel
                 FITC = timed_bsvm(clock, "FITC", y ~ gp(x, points = 100), likelihood = "hinge",
                                   engine = engine_ecm()),
                 ksvm = tuned_ksvm(clock), gausspr = default_gausspr(clock))
  set.seed(1)
  study <- suppressWarnings(holdout(models, data, times = repeats(10L), prop = 767 / 1540,
                                    response = "y", metrics = c("error", "log_score"),
                                    progress = FALSE))
  seen <- told("3v5, 767/773", study_summary(study, clock))
  of <- function(model, what) seen[[what]][seen$model == model]
  rbind(study_rows("3v5, 767/773", seen, 773, best = "full"),
        figure("3v5, 767/773, full: error asked for", of("full", "error"), "%", at_most = 2.7),
        figure("3v5, 767/773, full: seconds asked for", of("full", "seconds"), "s", at_most = 6),
        figure("3v5, 767/773, 100 points: error asked for", of("100 points", "error"), "%", at_most = 3.6),
        figure("3v5, 767/773, 100 points: seconds asked for", of("100 points", "seconds"), "s",
               at_most = 1.5))
}

told <- function(label, seen) {
  message(label)
  message(paste(utils::capture.output(print(seen, digits = 3, row.names = FALSE)), collapse = "\n"))
  seen
}

fours <- function(images) {
  train <- usps_4(images, "train")
  test <- usps_4(images, "test")
  set.seed(1)
  seen <- lapply(seq_len(repeats(10L)), function(k) {
    own <- train[sample(nrow(train)), ]
    do.call(rbind, lapply(c(100, 200), function(points) four_scores(own, test, points)))
  })
  seen <- told("4 against the rest", stats::aggregate(cbind(error, log_score, seconds, tuning) ~ points,
                                                      do.call(rbind, seen), mean))
  rows <- lapply(seq_len(nrow(seen)), function(k) {
    name <- function(what) paste0("4 against the rest, ", seen$points[k], " points: ", what)
    of <- seen[k, ]
    first <- of$points == 100
    rbind(figure(name("error"), of$error, "%", at_most = if (first) 2.4),
          figure(name("log score"), of$log_score, ""),
          figure(name("a fit"), of$seconds, "s", at_most = if (first) 3),
          figure(name("of it, finding the kernel"), of$tuning, "s"))
  })
  do.call(rbind, rows)
}

four_scores <- function(train, test, points) {
  fit <- NULL
  formula <- eval(substitute(y ~ gp(x, points = m), list(m = points)))
  taken <- seconds(function() {
    fit <<- bsvm(formula, train, control = bsvm_control(verbose = FALSE), keep_data = FALSE)
  })
  p <- predict(fit, test, type = "prob")[, "four"]
  four <- test$y == "four"
  data.frame(points, error = 100 * mean((p > 0.5) != four),
             log_score = mean(log(ifelse(four, p, 1 - p))), seconds = taken,
             tuning = summary(fit)$gp$learning$seconds)
}

# Table 1's tenfold cross-validation, once: all rows and ksvm's grid take minutes for each fold, and are
# left out of a quick look (BSVM_REPEATS=1).
folds_of_all <- function(data) {
  clock <- study_clock()
  models <- list(bsvm = timed_bsvm(clock, "bsvm", y ~ gp(x)),
                 gausspr = default_gausspr(clock))
  if (repeats(10L) > 1L) {
    models[["all rows"]] <- timed_bsvm(clock, "all rows", y ~ gp(x, points = Inf))
    models$ksvm <- tuned_ksvm(clock)
  }
  set.seed(1)
  study <- suppressWarnings(cross_validate(models, data, folds = 10L, response = "y",
                                           metrics = c("error", "log_score"), progress = FALSE))
  seen <- told("3v5, tenfold", study_summary(study, clock))
  study_rows("3v5, tenfold", seen, nrow(data), 1.49)
}
