# Checks of approximate fits, and the parts they are made of.

checked <- function(fit, draws = 1000, seed = 1) {
  with_seed(seed, withCallingHandlers(
    check_approximation(fit, draws),
    bsvm_warning_approximation = function(w) invokeRestart("muffleWarning")
  ))
}

pieces <- function(fit) {
  target <- bsvm:::check_target(fit, globalenv())
  answer <- bsvm:::gaussian_answer(target)
  list(target = target, answer = answer, proposal = bsvm:::new_proposal(answer, target))
}

density_at <- function(pieces, points) bsvm:::target_log_density(pieces$target, points)

# Weighted mean and sd of each row of f(values).
corrected <- function(check, f = identity) {
  values <- f(check$values)
  mean <- drop(values %*% check$weights)
  list(mean = mean, sd = sqrt(drop((values - mean)^2 %*% check$weights)))
}

# Coefficients and log variances of a check with one inferred variance.
with_log_variance <- function(values) {
  last <- nrow(values)
  values[last, ] <- 2 * log(values[last, ])
  values
}

expect_exact_moments <- function(found, exact, at, tolerance) {
  expect_close(found$mean, exact$mean[at], tolerance, scale = exact$sd[at])
  expect_close(found$sd, exact$sd[at], tolerance, scale = exact$sd[at])
}
