# The laws of the free parameters theta that check-law.R puts together with the coefficients'.

no_shift <- function(theta, k) 0
one_share <- function(theta) matrix(1, 1L, ncol(theta))

# ---- engine_vb(): variances independent of the coefficients and of each other
# ---------------------

variational_theta <- function(fit) {
  laws <- lapply(all_blocks(fit)[core_order(fit)], variational_law)
  sizes <- vapply(laws, `[[`, 0, "size")
  rows <- Map(function(end, size) end - size + seq_len(size), cumsum(sizes), sizes)
  list(
    draw = function(n) {
      do.call(rbind, c(list(matrix(0, 0L, n)), lapply(laws, function(law) law$draw(n))))
    },
    log_density = function(theta) {
      own <- Map(function(law, at) law$log_density(theta[at, , drop = FALSE]), laws, rows)
      Reduce(`+`, own, numeric(ncol(theta)))
    },
    shares = one_share, shift = no_shift
  )
}

# The core counts dense blocks, groups, sparse blocks; all_blocks() has the groups last.
core_order <- function(fit) {
  sparse <- which(of_sparse_columns(fit))
  groups <- length(fit$blocks) + seq_along(fit$group_blocks)
  c(setdiff(seq_along(fit$blocks), sparse), groups, sparse)
}

variational_law <- function(block) {
  hyper <- block$hyper
  if (is_fixed(block)) {
    return(list(size = 0, draw = function(n) matrix(0, 0L, n), log_density = function(theta) 0))
  }
  if (is_joint(block)) return(inverse_wishart_law(block))
  if (all(c("df", "scale") %in% names(hyper))) {
    return(inverse_gamma_law(hyper[["df"]] / 2, hyper[["scale"]] / 2))
  }
  if (!all(c("shape", "scale") %in% names(hyper))) {
    abort("unsupported", "The law engine_vb() found for the variance of ", enumerate(block$label),
          " can't be drawn from: prior '", block$prior$name, "' does not tell it.")
  }
  inverse_gamma_law(hyper[["shape"]], hyper[["scale"]])
}

# Of log s, where s^2 is inverse gamma.
inverse_gamma_law <- function(shape, scale) {
  list(
    size = 1,
    draw = function(n) matrix((log(scale) - log_gamma_draws(n, shape)) / 2, 1L),
    log_density = function(theta) {
      constant <- log(2) + shape * log(scale) - lgamma(shape)
      drop(constant - 2 * shape * theta - scale * exp(-2 * theta))
    }
  )
}

# Of a small shape a draw itself may be zero.
log_gamma_draws <- function(n, shape) {
  log(stats::rgamma(n, shape + 1)) + log(stats::runif(n)) / shape
}

# Of the root F of Sigma = F F', inverse Wishart(df, scale): the Jacobian of Sigma is
# 2^q prod_i F_ii^{q - i}, i from zero, and F_ii that of its logarithm.
inverse_wishart_law <- function(block) {
  q <- length(block$columns)
  df <- block$hyper[["df"]]
  scale <- symmetric(block$hyper, "scale", q)
  log_scale <- determinant(scale)$modulus[[1L]]
  constant <- df / 2 * (log_scale - q * log(2)) - log_multi_gamma(df / 2, q) + q * log(2)
  list(
    size = q * (q + 1) / 2,
    draw = function(n) {
      precision <- stats::rWishart(n, df, solve(scale, tol = 0))
      stack_columns(apply(precision, 3L, function(w) free_of_covariance(solve(w, tol = 0)),
                          simplify = FALSE))
    },
    log_density = function(theta) {
      constant + apply(theta, 2L, function(t) {
        root <- log_cholesky(t, q)
        inverse <- forwardsolve(root, diag(q))
        -sum((df + seq_len(q) - 1) * log(diag(root))) - sum((inverse %*% scale) * inverse) / 2
      })
    }
  )
}

# log of the multivariate gamma function.
log_multi_gamma <- function(x, q) {
  q * (q - 1) / 4 * log(pi) + sum(lgamma(x - (seq_len(q) - 1) / 2))
}

# ---- engine_gaussian(), engine_map()
# --------------------------------------------------------------

mixture_theta <- function(posterior, parts) {
  h <- nrow(posterior$theta)
  if (h == 0L) return(fixed_theta())
  if (!is.null(posterior$theta_covariance)) return(mode_theta(posterior))
  if (ncol(posterior$theta) == 1L) {
    abort("unsupported", "The fit was interrupted before it knew the spread of its variances, so ",
          "it can't be checked. Fit again.")
  }
  kernel_theta(posterior, stack_columns(lapply(parts, `[[`, "mean")))
}

# Three points are those of a normal law.
kernel_share <- function(theta) if (nrow(theta) == 1L && ncol(theta) == 3L) 1 else hidden_share

fixed_theta <- function() {
  list(draw = function(n) matrix(0, 0L, n), log_density = function(theta) numeric(ncol(theta)),
       shares = one_share, shift = no_shift)
}

# engine_map(): normal, and the mode of the coefficients moves along with it.
mode_theta <- function(posterior) {
  centre <- posterior$theta[, 1L]
  law <- dense_law(centre, posterior$theta_covariance)
  c(law[c("draw", "log_density")],
    list(shares = one_share, shift = function(theta, k) posterior$slope %*% (theta - centre)))
}

# Normal laws about the points, drawn in so that mean and covariance are the points', as
# mixture-variance.R has them; the Gaussians move with theta as their means do from point to point.
# For one free parameter too, whose law summary() has by itself: that law, with Gaussians in between
# interpolated, is nearer the exact posterior in the middle but lighter in the coefficients' skewed
# tails, and Pareto k on toenail is 0.8 for 0.5.
kernel_theta <- function(posterior, means, share = kernel_share(posterior$theta)) {
  kernels <- theta_kernels(posterior, means, share)
  list(
    draw = kernels$draw,
    log_density = function(at) log_column_sums(kernels$logs(at)),
    shares = function(at) {
      logs <- kernels$logs(at)
      exp(logs - rep(log_column_sums(logs), each = nrow(logs)))
    },
    shift = function(at, k) kernels$slope %*% (at - posterior$theta[, k])
  )
}

# list(draw, logs, slope): logs(at) are those of weight times density (points x n), slope how means
# go with theta (d x h).
theta_kernels <- function(posterior, means, share) {
  weights <- posterior$weights
  centre <- drop(posterior$theta %*% weights)
  away <- posterior$theta - centre
  covariance <- away %*% (weights * t(away))
  inner <- centre + sqrt(1 - share) * away
  kernel <- dense_law(numeric(nrow(away)), share * covariance)
  list(
    draw = function(n) {
      inner[, sample.int(length(weights), n, TRUE, weights), drop = FALSE] + kernel$draw(n)
    },
    logs = function(at) {
      do.call(rbind, lapply(seq_along(weights), function(k) {
        log(weights[k]) + kernel$log_density(at - inner[, k])
      }))
    },
    slope = (means %*% (weights * t(away))) %*% solve(covariance)
  )
}
