# Algorithm 4 of 000 in plain R, row by row as it is printed (misprints mended), and a little wider.
#   y          -1 or +1
#   u (n, d)   the variables, NA where missing; the column of the design is shift + factor u
#   predictor  (d) which of them have a column; others are auxiliary
#   fixed      complete columns of the design, which come first
#   given      (n, k) what the variables are regressed on
#   blocks     of coefficients: list(columns, variance), variance NULL: inferred
# Returns coefficients, covariance, the bound with every constant, the law of the variables (mean B,
# precision, sigma = E Sigma), their means `filled` and covariances `spread`.
twin_missing <- function(y, u, fixed = matrix(1, length(y)), shift = 0, factor = 1,
                         predictor = rep(TRUE, ncol(u)), given = matrix(1, length(y)),
                         weight = 1, blocks = NULL, mean_variance = 1e8, psi = 0.01,
                         df = ncol(u) + 1, passes = 20000L, tol = 1e-13) {
  n <- nrow(u)
  d <- ncol(u)
  k <- ncol(given)
  weight <- rep_len(weight, n)
  at <- ncol(fixed) + seq_len(sum(predictor))
  p <- ncol(fixed) + length(at)
  shift <- rep_len(shift, d)[predictor]
  factor <- rep_len(factor, d)[predictor]
  if (is.null(blocks)) {
    blocks <- list(list(columns = 1, variance = 1e8), list(columns = seq_len(p)[-1]))
  }
  # The design from variables, by row: c = c0 + turn u, turn (p, d).
  turn <- matrix(0, p, d)
  turn[cbind(at, which(predictor))] <- factor
  absent <- is.na(u)
  filled <- u
  filled[absent] <- 0
  spread <- array(0, c(d, d, n))
  for (i in seq_len(n)) diag(spread[, , i])[absent[i, ]] <- 1
  base <- function(i) c(fixed[i, ], shift)
  w <- rep(1, n)
  inverse <- vapply(blocks, function(b) if (is.null(b$variance)) 1 else 1 / b$variance, 0)
  precision <- diag(d)
  mean <- matrix(0, k, d)
  bound <- -Inf
  bounds <- numeric(0)
  gram <- crossprod(given)
  for (pass in seq_len(passes)) {
    # The coefficients.
    c <- cbind(fixed, affine(filled[, predictor, drop = FALSE], factor, shift))
    total <- apply(spread, 1:2, function(s) sum(weight * w * s))
    a <- crossprod(c * (weight * w), c) + turn %*% total %*% t(turn)
    for (b in seq_along(blocks)) {
      j <- blocks[[b]]$columns
      a[cbind(j, j)] <- a[cbind(j, j)] + inverse[b]
    }
    s <- solve(a)
    b <- drop(s %*% crossprod(c, weight * y * (1 + w)))
    omega <- s + tcrossprod(b)
    # Every row's missing entries and weight.
    chi <- m <- numeric(n)
    entropy <- 0
    for (i in seq_len(n)) {
      lost <- which(absent[i, ])
      if (length(lost) > 0L) {
        known <- filled[i, ]
        known[lost] <- 0
        q <- precision + weight[i] * w[i] * t(turn) %*% omega %*% turn
        rest <- base(i) + drop(turn %*% known)
        h <- precision %*% (drop(given[i, ] %*% mean) - known) +
          weight[i] * t(turn) %*% (y[i] * (1 + w[i]) * b - w[i] * omega %*% rest)
        own <- solve(q[lost, lost, drop = FALSE])
        filled[i, lost] <- own %*% h[lost]
        spread[, , i] <- 0
        spread[lost, lost, i] <- own
        entropy <- entropy + 0.5 * (length(lost) * (1 + log(2 * pi)) +
                                      as.numeric(determinant(own)$modulus))
      }
      ci <- base(i) + drop(turn %*% filled[i, ])
      m[i] <- sum(ci * b)
      chi[i] <- (1 - y[i] * m[i])^2 + sum(ci * (s %*% ci)) +
        sum(spread[, , i] * (t(turn) %*% omega %*% turn))
    }
    w <- 1 / sqrt(chi)
    # The imputation model: vec B ~ N, Sigma^{-1} ~ Wishart.
    formed <- solve(kronecker(precision, gram) + diag(k * d) / mean_variance)
    mean <- matrix(formed %*% as.vector(crossprod(given, filled) %*% precision), k, d)
    about <- outer(seq_len(d), seq_len(d), Vectorize(function(i, j) {
      sum(gram * formed[(i - 1) * k + seq_len(k), (j - 1) * k + seq_len(k)])
    }))
    scatter <- psi * diag(d) + about + crossprod(filled - given %*% mean) + apply(spread, 1:2, sum)
    precision <- (df + n) * solve(scatter)
    # The variances.
    second <- b^2 + diag(s)
    penalty <- 0
    for (j in seq_along(blocks)) {
      size <- length(blocks[[j]]$columns)
      square <- sum(second[blocks[[j]]$columns])
      if (is.null(blocks[[j]]$variance)) {
        rate <- 0.01 + square / 2
        inverse[j] <- (0.01 + size / 2) / rate
        penalty <- penalty + 0.01 * log(0.01) - lgamma(0.01) - (0.01 + size / 2) * log(rate) +
          lgamma(0.01 + size / 2)
      } else {
        penalty <- penalty - size / 2 * log(blocks[[j]]$variance) - square * inverse[j] / 2
      }
    }
    old <- bound
    bound <- sum(weight * (y * m - 1 - sqrt(chi))) + penalty + p / 2 +
      0.5 * as.numeric(determinant(s)$modulus) +
      k * d / 2 + 0.5 * as.numeric(determinant(formed)$modulus) - n * d / 2 * log(2 * pi) -
      k * d / 2 * log(mean_variance) - (sum(mean^2) + sum(diag(formed))) / (2 * mean_variance) +
      df / 2 * d * log(psi) - (df + n) / 2 * as.numeric(determinant(scatter)$modulus) +
      d * n / 2 * log(2) + log_gamma_d((df + n) / 2, d) - log_gamma_d(df / 2, d) + entropy
    bounds <- c(bounds, bound)
    if (pass > 2L && bound < old - 1e-8 * abs(old)) stop("the twin's bound fell")
    if (bound - old < tol) break
  }
  list(coefficients = b, covariance = s, bound = bound, bounds = bounds, mean = mean,
       mean_covariance = formed, precision = precision, scatter = scatter, filled = filled,
       spread = spread, weight = w, passes = pass, inverse = inverse,
       sigma = scatter / (df + n - d - 1))
}

affine <- function(u, factor, shift) sweep(sweep(u, 2, factor, `*`), 2, shift, `+`)

log_gamma_d <- function(x, d) sum(lgamma(x - (seq_len(d) - 1) / 2))

# Predictors with a share of the values of some columns missing completely at random.
simulate_missing <- function(n, d, share, columns = seq_len(d), seed = 1, slope = 1) {
  with_seed(seed, {
    sigma <- 0.5^abs(outer(seq_len(d), seq_len(d), "-"))
    x <- matrix(rnorm(n * d), n) %*% chol(sigma)
    colnames(x) <- paste0("x", seq_len(d))
    y <- ifelse(runif(n) < plogis(slope * drop(x %*% rep_len(c(2, -1), d))), 1, -1)
    full <- x
    x[, columns][runif(n * length(columns)) < share] <- NA
    list(x = x, y = y, full = full)
  })
}

# The true values of the entries of imputed(), in its order.
true_values <- function(found, full) full[cbind(found$row, match(found$column, colnames(full)))]

# The variables of a fit as its law has them, of the columns of the design x (NA where missing) and
# auxiliary ones, and where they are in the core's design.
law_variables <- function(fit, x, auxiliary = NULL) {
  law <- fit$missing$law
  dense <- law$column > 0
  u <- matrix(NA_real_, nrow(x), length(law$column))
  u[, dense] <- x[, law$column[dense]]
  if (!is.null(auxiliary)) u[, !dense] <- auxiliary[, law$variables[!dense]]
  center <- scale <- numeric(length(dense))
  center[dense] <- fit$design$center[law$column[dense]]
  scale[dense] <- fit$design$scale[law$column[dense]]
  list(u = scale(u, law$center, law$scale), predictor = dense,
       shift = ifelse(dense, (law$center - center) / scale, 0),
       factor = ifelse(dense, law$scale / scale, 1))
}

# A fit by engine_vb() against the twin. `x`: all columns of the design, intercept included.
expect_twin <- function(fit, y, x, fixed, given = matrix(1, length(y)), auxiliary = NULL, ...) {
  v <- law_variables(fit, x, auxiliary)
  complete <- sweep(sweep(x, 2, fit$design$center), 2, fit$design$scale, `/`)
  twin <- twin_missing(y, v$u, complete[, fixed, drop = FALSE], v$shift, v$factor, v$predictor,
                       given, ...)
  law <- fit$missing$law
  order <- c(fixed, law$column[v$predictor])
  sd <- sqrt(diag(twin$covariance))
  expect_close(fit$elbo, twin$bound, tolerances[["bound"]], max(1, abs(twin$bound)))
  expect_close(fit$posterior$mean[order], twin$coefficients, 1e-5, sd)
  own <- matrix(fit$posterior$covariance, ncol(x))[order, order]
  expect_close(own, twin$covariance, 1e-5, outer(sd, sd))
  expect_close(law$mean, twin$mean, 1e-5)
  expect_close(law$covariance, twin$sigma, 1e-5)
  found <- fit$missing$imputed
  at <- cbind(found$row, found$variable)
  absent <- which(is.na(v$u), arr.ind = TRUE)
  expect_equal(at[order(at[, 1], at[, 2]), ], unname(absent[order(absent[, 1], absent[, 2]), ]),
               ignore_attr = TRUE)
  expect_close((found$mean - law$center[found$variable]) / law$scale[found$variable],
               twin$filled[at], 1e-5)
  variance <- twin$spread[cbind(found$variable, found$variable, found$row)]
  expect_close(found$sd / law$scale[found$variable], sqrt(variance), 1e-5)
  invisible(twin)
}

# E_q log p - log q by simulation, of a fit by engine_vb() with a given variance and at most one
# missing value a row: list(value, error). Latent scales are taken at their best, in closed form.
simulated_missing_bound <- function(fit, y, x, variance, draws = 4000L) {
  law <- fit$missing$law
  d <- length(law$variables)
  n <- nrow(x)
  v <- law_variables(fit, cbind(1, x))
  settings <- fit$missing$rule$settings
  df <- d + 1
  scatter <- law$covariance * (df + n - d - 1)
  found <- fit$missing$imputed
  at <- cbind(found$row, found$variable)
  mean <- (found$mean - law$center[found$variable]) / law$scale[found$variable]
  sd <- found$sd / law$scale[found$variable]
  b <- fit$posterior$mean + t(chol(matrix(fit$posterior$covariance, d + 1))) %*%
    matrix(rnorm((d + 1) * draws), d + 1)
  precision <- stats::rWishart(draws, df + n, solve(scatter))
  formed <- solve((df + n) * n * solve(scatter) + diag(d) / settings$mean_variance)
  log_wishart <- function(p, v, inverse) {
    (v - d - 1) / 2 * log(det(p)) - sum(inverse * p) / 2 - v * d / 2 * log(2) +
      v / 2 * log(det(inverse)) - log_gamma_d(v / 2, d)
  }
  log_mvn <- function(z, center, covariance) {
    e <- z - center
    -0.5 * (length(z) * log(2 * pi) + log(det(covariance)) + sum(e * solve(covariance, e)))
  }
  u <- matrix(0, n, draws)
  rest <- vapply(seq_len(draws), function(s) {
    z <- v$u
    z[at] <- rnorm(length(mean), mean, sd)
    center <- law$mean[1, ] + drop(t(chol(formed)) %*% rnorm(d))
    p <- precision[, , s]
    f <- b[1, s] + affine(z, v$factor, v$shift) %*% b[-1, s]
    u[, s] <<- 1 - y * f
    e <- sweep(z, 2, center)
    n / 2 * log(det(p)) - n * d / 2 * log(2 * pi) - 0.5 * sum((e %*% p) * e) +
      log_mvn(center, 0, settings$mean_variance * diag(d)) -
      log_mvn(center, law$mean[1, ], formed) +
      log_wishart(p, df, settings$scale * diag(d)) - log_wishart(p, df + n, scatter) -
      sum(dnorm(z[at], mean, sd, log = TRUE)) +
      dnorm(b[1, s], 0, 1e4, log = TRUE) + sum(dnorm(b[-1, s], 0, sqrt(variance), log = TRUE)) -
      log_mvn(b[, s], fit$posterior$mean, matrix(fit$posterior$covariance, d + 1))
  }, 0)
  scale <- sqrt(rowMeans(u^2))
  rows <- -colSums(u) - colSums(u^2 / scale + scale) / 2
  list(value = mean(rest + rows), error = stats::sd(rest + rows) / sqrt(draws))
}

# Appendix C of 000 in plain R, of a fit of y ~ x1 + x2 + (1 | g) beside an auxiliary x3, all priors
# with given variances: list(coefficients (b, then effects), entries), a row a draw.
twin_gibbs_missing <- function(fit, d, variance, draws, burnin = 500) {
  v <- law_variables(fit, cbind(1, d$x1, d$x2), cbind(x3 = d$x3))
  z <- stats::model.matrix(~ factor(g) - 1, d)
  p <- 3 + ncol(z)
  n <- nrow(d)
  k <- ncol(v$u)
  absent <- is.na(v$u)
  u <- v$u
  u[absent] <- 0
  penalty <- diag(1 / c(rep(1e8, 3), rep(variance, ncol(z))))
  b <- numeric(p)
  mean <- numeric(k)
  precision <- diag(k)
  at <- which(t(absent), arr.ind = TRUE)[, 2:1]
  out <- list(coefficients = matrix(0, draws, p), entries = matrix(0, draws, nrow(at)))
  used <- v$predictor
  for (sweep in seq_len(burnin + draws)) {
    c <- cbind(1, affine(u[, used], v$factor[used], v$shift[used]), z)
    w <- draw_inverse_scale(abs(1 - d$y * drop(c %*% b)))
    root <- chol(crossprod(c * w, c) + penalty)
    b <- drop(backsolve(root, backsolve(root, crossprod(c, d$y * (1 + w)), transpose = TRUE) +
                          rnorm(p)))
    slope <- numeric(k)
    slope[used] <- v$factor[used] * b[2:3]
    f <- drop(c %*% b)
    for (i in which(rowSums(absent) > 0)) {
      m <- which(absent[i, ])
      q <- precision[m, m, drop = FALSE] + w[i] * tcrossprod(slope[m])
      rest <- f[i] - sum(slope[m] * u[i, m])
      e <- u[i, ] - mean
      e[m] <- -mean[m]
      h <- slope[m] * (d$y[i] * (1 + w[i]) - w[i] * rest) - (precision %*% e)[m]
      r <- chol(q)
      u[i, m] <- backsolve(r, backsolve(r, h, transpose = TRUE) + rnorm(length(m)))
    }
    r <- chol(n * precision + diag(k) / 1e8)
    mean <- drop(backsolve(r, backsolve(r, precision %*% colSums(u), transpose = TRUE) + rnorm(k)))
    scatter <- crossprod(sweep(u, 2, mean)) + 0.01 * diag(k)
    precision <- stats::rWishart(1, n + k + 1, solve(scatter))[, , 1]
    if (sweep <= burnin) next
    out$coefficients[sweep - burnin, ] <- b
    out$entries[sweep - burnin, ] <- affine(u, fit$missing$law$scale, fit$missing$law$center)[at]
  }
  out
}

# bsvm() without the warning about coefficients of incomplete predictors.
quiet_missing <- function(...) {
  withCallingHandlers(paper_bsvm(...), bsvm_warning_pseudo_missing = function(w) {
    invokeRestart("muffleWarning")
  })
}
