# The default on dense predictors, about as many as rows and many more: processor time of the whole
# fit, and compared with long runs of engine_slice() what it says of coefficients and of the log
# standard deviation of the slopes.

sizes <- list(c(100L, 50L), c(100L, 100L), c(100L, 199L), c(100L, 200L), c(100L, 201L),
              c(100L, 400L), c(212L, 1000L), c(400L, 400L), c(500L, 1000L))
most_seconds <- function(size) {
  switch(paste(size, collapse = " x "), "212 x 1000" = 1.5, "400 x 400" = 2.5, "500 x 1000" = 6, 1)
}
judged <- list(c(100L, 50L), c(100L, 100L), c(100L, 199L), c(100L, 201L), c(100L, 400L))

dense_data <- function(size, seed = 1L) {
  set.seed(seed)
  x <- matrix(stats::rnorm(prod(size)), size[1L])
  signal <- drop(x %*% (1.5 * stats::rnorm(size[2L]) / sqrt(size[2L])))
  list(x = x, y = factor(stats::rbinom(size[1L], 1L, stats::plogis(2 * signal))))
}

fit_dense <- function(data, engine = NULL) {
  suppressWarnings(bsvm(data$x, data$y, engine = engine, control = bsvm_control(verbose = FALSE)))
}

time_of <- function(size) {
  data <- dense_data(size)
  task <- function() fit_dense(data)
  task()
  figure(sprintf("%d x %d: whole fit, processor time", size[1L], size[2L]),
         stats::median(replicate(3L, processor_seconds(task))), "s", at_most = most_seconds(size))
}

# Mean and standard deviation of the slopes' log standard deviation.
log_sd <- function(fit) {
  posterior <- fit$posterior
  if (!inherits(posterior, "bsvm_mixture")) {
    draws <- log(posterior$variances[[2L]][1L, , ]) / 2
    return(c(mean(draws), stats::sd(draws)))
  }
  mean <- sum(posterior$weights * posterior$theta)
  c(mean, sqrt(sum(posterior$weights * (drop(posterior$theta) - mean)^2)))
}

beside_slice <- function(size) {
  data <- dense_data(size)
  fit <- fit_dense(data)
  set.seed(2L)
  exact <- fit_dense(data, engine_slice(draws = 10000L, burnin = 1000L))
  sd <- sqrt(diag(stats::vcov(exact)))
  scale <- log_sd(exact)
  title <- sprintf("%d x %d: ", size[1L], size[2L])
  rbind(figure(paste0(title, "largest error of a coefficient's mean"),
               max(abs(stats::coef(fit) - stats::coef(exact)) / sd), "exact sd", at_most = 0.1),
        figure(paste0(title, "median ratio of coefficients' sds"),
               stats::median(sqrt(diag(stats::vcov(fit))) / sd), "ratio", near = 1, within = 0.1),
        figure(paste0(title, "error of the log standard deviation's mean"),
               abs(log_sd(fit)[1L] - scale[1L]) / scale[2L], "exact sd", at_most = 0.1),
        figure(paste0(title, "ratio of its sd"), log_sd(fit)[2L] / scale[2L], "ratio", near = 1,
               within = 0.2))
}

run <- function() {
  do.call(rbind, c(lapply(sizes, time_of), lapply(judged, beside_slice)))
}
