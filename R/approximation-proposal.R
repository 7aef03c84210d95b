# The distribution that points for the exact posterior are drawn from: Student t around the answer
# of engine_gaussian(), wide enough that the weights see what lies beyond it, whatever engine is
# checked. Points are columns: dense coefficients and those effects that are not integrated out in
# the order of the core (coefficients/log_posterior.hpp), then the free parameters theta of the
# variances, prior by prior.
#
#   theta      t around the mean of the mixture's points, a quarter of them from one of several
#              times its width: a second mode, at a variance near zero, is seen there
#   b | theta  the Gaussian of the nearest point, moved to theta: blocks with one variance exp(2
#              theta_j) add exp(-2 theta_j) to their precision, so near a variance of zero b shrinks
#              to zero as the posterior does. For other variances, those of integrated effects
#              and of correlated ones, the mean moves along the points' regression. Half of the
#              points are drawn from that Gaussian, half from a t of the same scale.

theta_df <- 4
theta_widths <- c(1.2, 1.2, 1.2, 4)
b_df <- 5

# list(draw, log_density): draw(n) gives n points with their log densities as an attribute,
# log_density(points) those of any points.
new_proposal <- function(posterior, target) {
  theta <- theta_proposal(posterior)
  nodes <- proposal_nodes(posterior, target, theta)
  d <- nrow(nodes$means)
  list(
    draw = function(n) {
      free <- theta$draw(n)
      found <- over_points(nodes, free, d + 1L, function(node, k) {
        score <- t_scores(d)
        c(node$mean + backsolve(node$root, score), node_log_density(node, score))
      })
      structure(rbind(found[seq_len(d), , drop = FALSE], free),
                log_density = theta$log_density(free) + found[d + 1L, ])
    },
    log_density = function(points) {
      free <- points[-seq_len(d), , drop = FALSE]
      theta$log_density(free) + drop(over_points(nodes, free, 1L, function(node, k) {
        node_log_density(node, node$root %*% (points[seq_len(d), k] - node$mean))
      }))
    }
  )
}

node_log_density <- function(node, score) {
  sum(log(diag(node$root))) + log_scores(sum(score^2), length(score))
}

# f(node, k), `size` numbers, for each column k of theta, with the Gaussian there.
over_points <- function(nodes, theta, size, f) {
  nearest <- nearest_nodes(nodes, theta)
  moves <- nodes$slope %*% (theta - nodes$theta[, nearest, drop = FALSE])
  still <- length(nodes$own) == 0L
  matrix(vapply(seq_len(ncol(theta)), function(k) {
    node <- if (still) nodes$known[[nearest[k]]] else moved_node(nodes, nearest[k], theta[, k])
    node$mean <- node$mean + moves[, k]
    f(node, k)
  }, numeric(size)), size)
}

# ---- b given theta ------------------------------------------------------------------------------

# list(theta, means, known, precisions, own, slope, metric): the mixture's Gaussians, each with
# its mean and the upper root of its precision. `own` has, for each single variance of coefficients
# in b, its row of theta and their places. `slope` (d x h) is how means move along the other rows.
proposal_nodes <- function(posterior, target, theta) {
  components <- lapply(posterior$components, dense_component)
  means <- stack_columns(lapply(components, `[[`, "mean"))
  precisions <- lapply(components, function(part) chol2inv(upper_root(part$covariance)))
  own <- own_variances(posterior, target)
  slope <- theta$regression(means)
  slope[, vapply(own, `[[`, 0L, "row")] <- 0
  list(theta = posterior$theta, means = means, precisions = precisions,
       known = Map(function(precision, k) list(mean = means[, k], root = upper_root(precision)),
                   precisions, seq_along(precisions)),
       own = own, slope = slope, metric = theta$metric)
}

dense_component <- function(component) {
  if (!inherits(component, "bsvm_integrated")) return(component[c("mean", "covariance")])
  list(mean = component$joint_mean, covariance = component$joint_covariance)
}

own_variances <- function(posterior, target) {
  fit <- target$fit
  free <- posterior$free
  dense <- Map(function(block, row) list(row = row, at = block$columns),
               target$model$blocks, free[seq_along(target$model$blocks)])
  first <- fit_layout(fit)$size
  others <- fit$groups[-target$integrated]
  starts <- effect_starts(others)
  effects <- Map(function(block, row, k) {
    group <- others[[block$factor]]
    if (is.null(group) || is_joint(block)) return(NULL)
    q <- length(group$labels)
    place <- match(block$labels, group$labels)
    list(row = row, at = first + starts[[block$factor]] +
           (seq_along(group$levels) - 1L) * q + place)
  }, fit$group_blocks, free[-seq_along(target$model$blocks)], seq_along(fit$group_blocks))
  Filter(function(own) length(own$row) == 1L && length(own$at) > 0L, unname(c(dense, effects)))
}

# The rows see the same at any variance: h = A m and A - P do not change, P the prior precision.
moved_node <- function(nodes, k, theta) {
  precision <- nodes$precisions[[k]]
  linear <- precision %*% nodes$means[, k]
  for (own in nodes$own) {
    at <- cbind(own$at, own$at)
    precision[at] <- precision[at] + exp(-2 * theta[own$row]) - exp(-2 * nodes$theta[own$row, k])
  }
  root <- tryCatch(chol(precision), error = function(e) NULL)
  if (is.null(root)) return(nodes$known[[k]])
  list(mean = backsolve(root, backsolve(root, linear, transpose = TRUE)), root = root)
}

nearest_nodes <- function(nodes, theta) {
  if (ncol(nodes$theta) == 1L) return(rep(1L, ncol(theta)))
  distances <- vapply(seq_len(ncol(nodes$theta)), function(k) {
    colSums((nodes$metric %*% (theta - nodes$theta[, k]))^2)
  }, numeric(ncol(theta)))
  max.col(-matrix(distances, ncol(theta)), ties.method = "first")
}

upper_root <- function(covariance) {
  if (length(covariance) == 0L) return(covariance)
  tryCatch(chol(covariance), error = function(e) {
    abort("numerical", "The covariance of the Gaussian approximation is not positive definite to ",
          "working accuracy. Rescale predictors, or use narrower priors.")
  })
}

# Standard scores: half of them Gaussian, half t.
t_scores <- function(d) {
  scale <- if (stats::runif(1L) < 0.5) 1 else sqrt(b_df / stats::rchisq(1L, b_df))
  scale * stats::rnorm(d)
}

# The log density of scores with this sum of squares.
log_scores <- function(squares, d) {
  logs <- c(-d * log(2 * pi) / 2 - squares / 2, log_t(squares, d, b_df))
  max(logs) + log(mean(exp(logs - max(logs))))
}

# log of means of exponentials, along the rows.
log_row_means <- function(logs) {
  top <- over_columns(logs, pmax)
  top + log(rowMeans(exp(logs - top)))
}

# The log density of a d-dimensional t with unit scale.
log_t <- function(squares, d, df) {
  lgamma((df + d) / 2) - lgamma(df / 2) - d * log(df * pi) / 2 -
    (df + d) / 2 * log1p(squares / df)
}

# ---- theta --------------------------------------------------------------------------------------

# list(draw, log_density, regression, metric).
theta_proposal <- function(posterior) {
  h <- nrow(posterior$theta)
  if (h == 0L) return(fixed_theta())
  weights <- posterior$weights
  centre <- drop(posterior$theta %*% weights)
  away <- posterior$theta - centre
  covariance <- away %*% (weights * t(away))
  root <- t(upper_root(covariance))
  list(
    draw = function(n) {
      scale <- sample(theta_widths, n, TRUE) * sqrt(theta_df / stats::rchisq(n, theta_df))
      centre + root %*% (normals(h, n) * rep(scale, each = h))
    },
    log_density = function(theta) {
      squares <- colSums(forwardsolve(root, theta - centre)^2)
      logs <- vapply(theta_widths, function(width) {
        log_t(squares / width^2, h, theta_df) - h * log(width)
      }, squares)
      log_row_means(matrix(logs, length(squares))) - sum(log(diag(root)))
    },
    regression = function(means) (means %*% (weights * t(away))) %*% chol2inv(t(root)),
    metric = solve(root)
  )
}

fixed_theta <- function() {
  list(draw = function(n) matrix(0, 0L, n), log_density = function(theta) numeric(ncol(theta)),
       regression = function(means) matrix(0, nrow(means), 0L), metric = matrix(0, 0L, 0L))
}

normals <- function(d, n) matrix(stats::rnorm(d * n), d, n)
