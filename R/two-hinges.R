# The density of a residual r = y - f whose negative logarithm is two hinges,
#
#   p(r) = c exp(-a max(0, r - e1) - b max(0, -r - e2)),   c = 1/(1/a + 1/b + e1 + e2):
#
# epsilon-insensitive (a = b = 1/scale, e1 = e2 = epsilon), Laplace (epsilon = 0), asymmetric Laplace
# (a = tau/scale, b = (1 - tau)/scale, e1 = e2 = 0). `h`: list(a, b, e1, e2), each one number or one
# for each element of the other arguments. Mass above the tube c/a, in it c (e1 + e2), below c/b.

hinges_constant <- function(h) 1 / (1 / h$a + 1 / h$b + h$e1 + h$e2)

hinges_log_density <- function(r, h) {
  log(hinges_constant(h)) - h$a * pmax(r - h$e1, 0) - h$b * pmax(-r - h$e2, 0)
}

hinges_cdf <- function(r, h) {
  c <- hinges_constant(h)
  below <- c / h$b * exp(pmin(0, h$b * (r + h$e2)))
  inside <- c * (pmin(pmax(r, -h$e2), h$e1) + h$e2)
  above <- c / h$a * -expm1(pmin(0, -h$a * (r - h$e1)))
  below + inside + above
}

hinges_quantile <- function(p, h) {
  c <- hinges_constant(h)
  below <- c / h$b
  above <- c / h$a
  ifelse(p < below, -h$e2 + log(p / below) / h$b,
         ifelse(p > 1 - above, h$e1 - log((1 - p) / above) / h$a, (p - below) / c - h$e2))
}

# Beyond an end e the distance has mean 1/a and mean square 2/a^2.
hinges_moments <- function(h) {
  c <- hinges_constant(h)
  tail_mean <- function(e, a) (e + 1 / a) / a
  tail_square <- function(e, a) (e^2 + 2 * e / a + 2 / a^2) / a
  mean <- c * ((h$e1^2 - h$e2^2) / 2 + tail_mean(h$e1, h$a) - tail_mean(h$e2, h$b))
  square <- c * ((h$e1^3 + h$e2^3) / 3 + tail_square(h$e1, h$a) + tail_square(h$e2, h$b))
  list(mean = mean, variance = square - mean^2)
}

# P(r + e <= t) with e ~ N(0, sd^2) independent of r: the predictive distribution of a response
# given the moments of its linear predictor. Each tail of r is exponential, of which a convolution
# with a normal density is closed,
#   E max(0, t + e) = t Phi(t/sd) + sd phi(t/sd),  E exp(b (t + e)) 1(t + e < 0) =
#   phi(t/sd) R(t/sd + b sd),  R Mills' ratio.
# Above zero it is one less that of -r, so that it is a small tail that is computed.
hinges_normal_cdf <- function(t, sd, h) {
  sharp <- sd <= 0
  if (all(sharp)) return(hinges_cdf(t, h))
  above <- t > 0
  side <- function(low, high) ifelse(above, h[[high]], h[[low]])
  own <- list(a = side("a", "b"), b = side("b", "a"), e1 = side("e1", "e2"), e2 = side("e2", "e1"))
  tail <- pmin(pmax(hinges_normal_tail(-abs(t), ifelse(sharp, 1, sd), own), 0), 1)
  ifelse(sharp, hinges_cdf(t, h), ifelse(above, 1 - tail, tail))
}

hinges_normal_tail <- function(t, sd, h) {
  u1 <- t - h$e1
  u2 <- t + h$e2
  ramp <- function(u) u * stats::pnorm(u / sd) + sd * stats::dnorm(u / sd)
  tail <- function(u, b) exp_tail(u / sd, b * sd)
  hinges_constant(h) * ((stats::pnorm(u1 / sd) - tail(-u1, h$a)) / h$a +
                          (stats::pnorm(u2 / sd) + tail(u2, h$b)) / h$b + ramp(u2) - ramp(u1))
}

# phi(x) R(x + b), R(z) = (1 - Phi(z))/phi(z): in logarithms, since either may under- or overflow.
exp_tail <- function(x, b) {
  exp(b * x + b^2 / 2 + stats::pnorm(x + b, lower.tail = FALSE, log.p = TRUE))
}

# log E exp(-a max(0, t + e - e1) - b max(0, -t - e - e2)) with e ~ N(0, sd^2): with the density's
# constant the log density of a response given the moments of its linear predictor.
hinges_log_average <- function(t, sd, h) {
  x1 <- (t - h$e1) / sd
  x2 <- (-t - h$e2) / sd
  side <- function(x, b) -b * x + b^2 / 2 + stats::pnorm(b - x, lower.tail = FALSE, log.p = TRUE)
  above <- side(x1, h$a * sd)
  below <- side(x2, h$b * sd)
  # on the side of the smaller tails
  inside <- log(ifelse(t > 0, stats::pnorm(-x1) - stats::pnorm(x2),
                       stats::pnorm(-x2) - stats::pnorm(x1)))
  top <- pmax(above, below, inside)
  top + log(exp(above - top) + exp(below - top) + exp(inside - top))
}

# Slope and negative curvature in m of E log p(y | f), f ~ N(m, sd^2), t = y - m.
hinges_expected_terms <- function(t, sd, h) {
  x1 <- (t - h$e1) / sd
  x2 <- (-t - h$e2) / sd
  list(slope = h$a * stats::pnorm(x1) - h$b * stats::pnorm(x2),
       curvature = (h$a * stats::dnorm(x1) + h$b * stats::dnorm(x2)) / sd)
}

# The hinges of p^weight.
weighted_hinges <- function(h, weight) {
  h$a <- h$a * weight
  h$b <- h$b * weight
  h
}
