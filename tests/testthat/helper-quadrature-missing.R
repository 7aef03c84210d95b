# The exact posterior with one predictor, partly missing: x (n), standardised by what is observed,
# under b0 ~ N(0, 1e8), b1 ~ N(0, variance) or what `log_prior` says, x_i ~ N(B, S),
# B ~ N(0, mean_variance), S ~ IW(scale, df). Sums over a grid of (b0, b1, B, log S); the missing
# value of a row, which is normal given these, by the trapezoid rule. Moments of b, B, S and of the
# missing values.
exact_missing <- function(y, x, variance, weight = rep(1, length(y)), normalised = FALSE, df = 2,
                          scale = 0.01, mean_variance = 1e8, nodes = 25, law_nodes = 9,
                          log_prior = function(b) dnorm(b, 0, sqrt(variance), log = TRUE)) {
  absent <- is.na(x)
  observed <- x[!absent]
  class <- function(y, f) {
    pseudo <- function(g) exp(-2 * pmax(1 - g, 0))
    if (normalised) pseudo(y * f) / (pseudo(f) + pseudo(-f)) else pseudo(y * f)
  }
  z <- seq(-6, 6, by = 0.15)
  density <- dnorm(z) * 0.15
  # E L^w z^j, j = 0, 1, 2, given f ~ N(m, s^2), for both classes.
  averages <- function(y, m, s, w, powers) {
    sums <- lapply(powers, function(j) 0 * m)
    for (k in seq_along(z)) {
      l <- class(y, m + s * z[k])^w * density[k]
      sums <- Map(function(sum, j) sum + l * z[k]^j, sums, powers)
    }
    sums
  }
  kinds <- unique(data.frame(y, weight)[absent, ])
  log_density <- function(b0, b1, mean, log_s) {
    g <- expand.grid(b0 = b0, b1 = b1)
    likelihood <- 0
    for (i in which(!absent)) {
      likelihood <- likelihood + weight[i] * log(class(y[i], g$b0 + g$b1 * x[i]))
    }
    likelihood <- likelihood + dnorm(g$b0, 0, 1e4, log = TRUE) + log_prior(g$b1)
    h <- expand.grid(mean = mean, log_s = log_s)
    s <- exp(h$log_s)
    law <- -length(observed) / 2 * h$log_s -
      (length(observed) * h$mean^2 - 2 * h$mean * sum(observed) + sum(observed^2)) / (2 * s) +
      dnorm(h$mean, 0, sqrt(mean_variance), log = TRUE) -
      (df + 2) / 2 * h$log_s - scale / (2 * s) + h$log_s
    m <- outer(g$b0, rep(1, nrow(h))) + outer(g$b1, h$mean)
    sd <- outer(g$b1, sqrt(s))
    total <- outer(likelihood, law, `+`)
    for (k in seq_len(nrow(kinds))) {
      count <- sum(absent & y == kinds$y[k] & weight == kinds$weight[k])
      total <- total + count * log(averages(kinds$y[k], m, sd, kinds$weight[k], 0)[[1]])
    }
    list(g = g, h = h, m = m, sd = sd, log = total)
  }
  at <- function(mean, sd, n, width) mean + sd * seq(-width, width, length.out = n)
  n <- length(observed)
  law_mean <- at(mean(observed), sd(observed) / sqrt(n), law_nodes, 4.5)
  log_s <- at(log(mean((observed - mean(observed))^2)), sqrt(2 / n), law_nodes, 4.5)
  centre <- c(0, 0)
  spread <- c(6, 6)
  for (round in 1:8) {
    few <- round < 8
    found <- log_density(at(centre[1], spread[1], nodes, 1), at(centre[2], spread[2], nodes, 1),
                         if (few) mean(observed) else law_mean, if (few) median(log_s) else log_s)
    weights <- exp(found$log - max(found$log))
    of_b <- weighted_moments(as.matrix(found$g), rowSums(weights))
    centre <- of_b$mean
    spread <- pmin(spread, pmax(6 * of_b$sd, spread / 5))
  }
  p <- weights / sum(weights)
  law <- weighted_moments(cbind(mean = found$h$mean, variance = exp(found$h$log_s)),
                          colSums(weights))
  x_mean <- rep(found$h$mean, each = nrow(found$g))
  x_sd <- rep(exp(found$h$log_s / 2), each = nrow(found$g))
  entries <- vapply(seq_len(nrow(kinds)), function(k) {
    a <- averages(kinds$y[k], found$m, found$sd, kinds$weight[k], 0:2)
    first <- a[[2]] / a[[1]]
    second <- a[[3]] / a[[1]]
    mean <- sum(p * (x_mean + x_sd * first))
    square <- sum(p * (x_mean^2 + 2 * x_mean * x_sd * first + x_sd^2 * second))
    c(mean, sqrt(square - mean^2))
  }, c(0, 0))
  of <- match(paste(y, weight)[absent], paste(kinds$y, kinds$weight))
  list(mean = of_b$mean, sd = of_b$sd, law = law, imputed_mean = entries[1, of],
       imputed_sd = entries[2, of])
}

# A data set for it.
one_missing <- function(n = 40, share = 0.3, seed = 1) {
  with_seed(seed, {
    x <- rnorm(n)
    y <- ifelse(runif(n) < plogis(0.5 + 1.5 * x), 1, -1)
    x[seq_len(round(share * n))] <- NA
    list(x = (x - mean(x, na.rm = TRUE)) / sd(x, na.rm = TRUE), y = y)
  })
}
