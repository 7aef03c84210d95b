# Results of a factor term from draws, as a fit has them.

# Draws of each block's variance, or inferred parameter, by block.
factor_variances <- function(result, spec) {
  hyper <- result$hyper
  names <- rownames(hyper)
  parameter <- vapply(spec$blocks, is_parameter, TRUE)
  process <- vapply(spec$blocks, function(block) !is.null(block$loadings), TRUE) &
    !is.null(spec$problem$factors$basis$kernel)
  lapply(seq_along(spec$blocks), function(k) {
    if (process[k]) {
      own <- hyper[names == "process.variance", , , drop = FALSE]
      dimnames(own) <- list(rep("variance", nrow(own)), NULL, NULL)
      return(own)
    }
    if (parameter[k]) {
      own <- hyper[paste0("theta_", sum(parameter[seq_len(k)])), , , drop = FALSE]
      own <- exp(2 * own) # logarithms of numbers, of which R has the squares (R/parameters.R)
      dimnames(own) <- list("variance", NULL, NULL)
      return(own)
    }
    prefix <- paste0("part_", sum(!(parameter | process)[seq_len(k)]), ".")
    at <- startsWith(names, prefix)
    own <- hyper[at, , , drop = FALSE]
    dimnames(own) <- list(substring(names[at], nchar(prefix) + 1L), NULL, NULL)
    own
  })
}

# Draws of covariates' coefficients, and of those of the variables that each draw implies. The link
# for variables at zero is part of the intercept.
implied_posterior <- function(result, spec) {
  own <- seq_along(spec$problem$center)
  size <- dim(result$coefficients)
  alpha <- result$coefficients[own, , , drop = FALSE]
  at <- spec$design$intercept
  linear <- is.null(spec$problem$factors$basis$kernel)
  if (linear) alpha[at, , ] <- alpha[at, , ] + result$hyper["offset", , ]
  coefficients <- bind_variables(alpha, if (linear) result$implied else array(0, c(1L, size[-1L])))
  draws_posterior(list(coefficients = coefficients, variances = factor_variances(result, spec),
                       mean = rowMeans(draw_matrix(coefficients)), effects = NULL,
                       effects_mean = numeric(0), effects_sd = numeric(0)))
}

# Results of factors, in units of the core's response:
#   identified   draws of numbers that mean the same in all chains (number, draws, chains): `leftover`,
#                the variance of the link of a row that its variables leave over; `explained`, that
#                of what they determine over the rows, `determinacy`, its share; `offset`, the link for
#                variables at zero less the intercept; `psi`, the precision of common noise
#   kept         of every so many draws, the numbers `at` of each chain: `mean` (p, m, chains),
#                `loadings` (p, K, m, chains), `noise`, and `beta` (K, m, chains) or, of a function of
#                the scores, `kernel`, `points`, `b`, `theta`, `variance`, or, if it has no inducing
#                points, `inputs` (K, rows, m, chains), scores, in place of `points`; of the rows'
#                scores given their variables `between`, the covariance of their means, and
#                `within`, the
#                mean of their covariances (K, K, m times chains)
factor_draws <- function(result, every, spec, control) {
  names <- rownames(result$hyper)
  process <- !is.null(spec$problem$factors$basis$kernel)
  shown <- c(intersect(c("determinacy", "explained", "leftover", "offset", "psi"), names),
             grep("^kernel_", names, value = TRUE))
  basis <- spec$problem$factors$basis
  kept <- some_loadings(result$kept_loadings, most_loadings(basis))
  kept$at <- every * kept$at
  own <- which(vapply(spec$blocks, function(block) !is.null(block$loadings), TRUE))
  if (process) {
    kept <- c(kept, if (!is_exact(basis)) list(points = result$points), list(kernel =
                core_score_kernel(basis, spec$model$blocks[[own]])$factors))
  } else {
    at <- length(spec$problem$center) + seq_len(basis$k)
    kept$beta <- result$coefficients[at, kept$at, , drop = FALSE]
  }
  labelled <- seq_len(spec$problem$factors$labelled)
  if (length(kept$at) > 0L) {
    kept <- c(kept, score_spread(spec$problem$factors$x[labelled, , drop = FALSE], kept, control))
  }
  list(identified = result$hyper[shown, , , drop = FALSE], kept = kept)
}

# At most so many draws of each chain, evenly spread, and `at`, their numbers among the core's.
some_loadings <- function(kept, most) {
  at <- spread_over(dim(kept$mean)[2L], most)
  chosen <- lapply(kept, function(own) {
    size <- dim(own)
    last <- length(size) - 1L # that of draws
    numbers <- prod(size[seq_len(last - 1L)])
    array(array(own, c(numbers, size[last + 0:1]))[, at, ], c(size[seq_len(last - 1L)], length(at),
                                                             size[last + 1L]))
  })
  c(chosen, list(at = at))
}

score_spread <- function(x, kept, control) {
  found <- kept_scores(kept, x, control)
  size <- dim(found$covariance)
  counts <- tabulate(found$pattern, size[3L]) / nrow(x)
  within <- apply(found$covariance * rep(counts, each = size[1L]^2), c(1L, 2L, 4L), sum)
  between <- apply(found$scores, 3L, function(own) {
    own <- matrix(own, nrow(x))
    crossprod(own - rep(colMeans(own), each = nrow(x))) / nrow(x)
  })
  list(between = array(between, size[-3L]), within = array(within, size[-3L]))
}

# Where the variables determine little of the link, scores follow the response. Under the
# pseudo-likelihood that is rewarded: of 50 sets of classes at random (100 rows, 50 variables of 3
# factors, 5 in the model) determinacy was 0.48 to 0.69, under the normalised one 0.83 to 0.92. Under
# any a weight w above one is rewarded: far off, E p(y | f)^w is 1/2, at zero 2^-w.
least_determinacy <- 0.5
least_determinacy_rewarded <- 0.7

warn_determinacy <- function(result, spec) {
  if (spec$problem$factors$basis$alone) return(invisible())
  share <- mean(result$posterior$factors$identified["determinacy", , ])
  normalised <- is_law(spec$likelihood)
  weighted <- any(spec$problem$weight > 1)
  rewarded <- weighted || !normalised
  if (share >= if (rewarded) least_determinacy_rewarded else least_determinacy) return(invisible())
  warn("determinacy", "The variables determine only ", format(100 * share, digits = 2L),
       " % of the variance of the linear predictor that is due to factors. The other part follows the ",
       "response row by row and does not predict new rows.",
       if (weighted) " Weights above one reward this: repeat rows in their place.",
       if (normalised) " Use fewer factors."
       else paste0(" Use ", if (is_exact(spec$problem$factors$basis)) exact_normalised
                   else normalised_call, ", under which this hardly happens, or fewer factors."))
}

# The exact process has no normalised likelihood.
exact_normalised <- "points = 100 and likelihood = \"normalized\""

scale_factor_draws <- function(factors, unit) {
  if (!is.null(factors$kept$beta)) factors$kept$beta <- factors$kept$beta * unit
  else factors$kept$variance <- factors$kept$variance * unit^2
  power <- c(offset = 1, leftover = 2, explained = 2)
  power <- power[names(power) %in% rownames(factors$identified)]
  for (name in names(power)) {
    factors$identified[name, , ] <- factors$identified[name, , ] * unit^power[[name]]
  }
  factors
}
