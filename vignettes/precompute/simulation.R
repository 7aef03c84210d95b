# Results of the vignette `simulation`: 000, section 4.2, all nine cells, 200 data sets each.
# Rscript vignettes/precompute/simulation.R [cores]; half an hour on two.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))),
                 "stored.R"))
library(bsvm)

cores <- as.integer(c(commandArgs(trailingOnly = TRUE), "2")[1L])
cells <- expand.grid(d = c(10L, 50L, 100L), n = c(100L, 200L, 500L))
data_sets <- 200L
some <- 50L # of them for engine_gaussian(), under both likelihoods
rare <- 10L # for the papers' sampler at full length
tuned <- 3L # and for the tuned machine

# Data to train on and 1000 rows to test, of one law.
draw_data <- function(n, d) {
  intercept <- stats::rnorm(1L)
  slopes <- stats::rnorm(d)
  one <- function(n) {
    x <- matrix(stats::rnorm(n * d), n, dimnames = list(NULL, sprintf("x%d", seq_len(d))))
    list(x = x, y = stats::rbinom(n, 1L, stats::plogis(intercept + drop(x %*% slopes))))
  }
  train <- one(n)
  while (length(unique(train$y)) < 2L) train <- one(n)
  list(train = train, test = one(1000L))
}

balanced_error <- function(class, y) {
  (mean(!class[y == 1L]) + mean(class[y == 0L])) / 2
}

# Processor seconds and balanced error rate of a classifier, a function of x and y that gives one of
# new x.
judge <- function(name, learn, data) {
  seconds <- sum(system.time(classify <- learn(data$train$x, data$train$y))[1:2])
  data.frame(model = name, ber = balanced_error(classify(data$test$x), data$test$y),
             seconds = seconds)
}

# With the papers' prior, whose scale goes with the likelihood.
by_bsvm <- function(engine, likelihood = "hinge") function(x, y) {
  fit <- suppressWarnings(bsvm(x, y, likelihood = likelihood, prior = prior_ridge(shape = 0.01),
                               engine = engine, control = bsvm_control(verbose = FALSE)))
  function(new) predict(fit, new, type = "link") >= 0
}
exact <- engine_slice(draws = 1000L, burnin = 200L, chains = 1L)
learners <- list("VB" = by_bsvm(engine_vb()), "exact draws" = by_bsvm(exact))
gaussian <- list("engine_gaussian()" = by_bsvm(engine_gaussian()),
                 "normalised" = by_bsvm(engine_gaussian(), "normalized"))
gibbs <- by_bsvm(engine_gibbs(draws = 5000L, burnin = 5000L, chains = 1L))
tuned_machine <- function(x, y) {
  model <- fit(tuned_svm(), y ~ ., data = data.frame(x, y = y))
  function(new) predict(model, data.frame(new), type = "link") >= 0
}

one_data_set <- function(k, n, d) {
  set.seed(1e5 * d + 1e3 * n + k)
  data <- draw_data(n, d)
  chosen <- c(learners, if (k <= some) gaussian, if (k <= rare) list("Gibbs" = gibbs),
              if (k <= tuned) list("tuned SVM" = tuned_machine))
  cbind(n = n, d = d, data_set = k, do.call(rbind, Map(judge, names(chosen), chosen,
                                                       MoreArgs = list(data = data))))
}

results <- lapply(seq_len(nrow(cells)), function(cell) {
  n <- cells$n[cell]
  d <- cells$d[cell]
  message(format(Sys.time(), "%H:%M "), "n = ", n, ", d = ", d)
  found <- timed(parallel::mclapply(seq_len(data_sets), one_data_set, n, d, mc.cores = cores,
                                    mc.preschedule = FALSE))
  list(values = do.call(rbind, found$value), elapsed = data.frame(n, d, seconds = found$seconds))
})
store("simulation", list(values = do.call(rbind, lapply(results, `[[`, "values")),
                         elapsed = do.call(rbind, lapply(results, `[[`, "elapsed"))))
