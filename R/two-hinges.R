# The law of a residual r = y - f whose minus log density is two hinges,
#
#   p(r) = c exp(-a max(0, r - e1) - b max(0, -r - e2)),   c = 1/(1/a + 1/b + e1 + e2):
#
# epsilon-insensitive (a = b = 1/scale, e1 = e2 = epsilon), Laplace (epsilon = 0), asymmetric
# Laplace (a = tau/scale, b = (1 - tau)/scale, e1 = e2 = 0). `law`: list(a, b, e1, e2), each one
# number or one for each element of the other arguments. Mass above the tube c/a, in it c (e1 + e2),
# below c/b.

hinges_constant <- function(law) 1 / (1 / law$a + 1 / law$b + law$e1 + law$e2)

hinges_log_density <- function(r, law) {
  log(hinges_constant(law)) - law$a * pmax(r - law$e1, 0) - law$b * pmax(-r - law$e2, 0)
}

hinges_cdf <- function(r, law) {
  c <- hinges_constant(law)
  below <- c / law$b * exp(pmin(0, law$b * (r + law$e2)))
  inside <- c * (pmin(pmax(r, -law$e2), law$e1) + law$e2)
  above <- c / law$a * -expm1(pmin(0, -law$a * (r - law$e1)))
  below + inside + above
}

hinges_quantile <- function(p, law) {
  c <- hinges_constant(law)
  below <- c / law$b
  above <- c / law$a
  ifelse(p < below, -law$e2 + log(p / below) / law$b,
         ifelse(p > 1 - above, law$e1 - log((1 - p) / above) / law$a, (p - below) / c - law$e2))
}

hinges_draw <- function(n, law) hinges_quantile(stats::runif(n), law)

# Beyond an end e the distance has mean 1/a and mean square 2/a^2.
hinges_moments <- function(law) {
  c <- hinges_constant(law)
  mean <- c * ((law$e1^2 - law$e2^2) / 2 + (law$e1 + 1 / law$a) / law$a -
                 (law$e2 + 1 / law$b) / law$b)
  square <- c * ((law$e1^3 + law$e2^3) / 3 + (law$e1^2 + 2 * law$e1 / law$a + 2 / law$a^2) / law$a +
                   (law$e2^2 + 2 * law$e2 / law$b + 2 / law$b^2) / law$b)
  list(mean = mean, variance = square - mean^2)
}

# P(r + e <= t) with e ~ N(0, sd^2) independent of r: the predictive distribution of a response given
# the moments of its linear predictor. Each tail of r is exponential, of which a convolution with a
# normal density is closed,
#   E max(0, t + e) = t Phi(t/sd) + sd phi(t/sd),  E exp(b (t + e)) 1(t + e < 0) =
#   phi(t/sd) R(t/sd + b sd),  R Mills' ratio.
# Above zero it is one less that of -r, so that it is a small tail that is computed.
hinges_normal_cdf <- function(t, sd, law) {
  sharp <- sd <= 0
  if (all(sharp)) return(hinges_cdf(t, law))
  above <- t > 0
  side <- function(low, high) ifelse(above, law[[high]], law[[low]])
  own <- list(a = side("a", "b"), b = side("b", "a"), e1 = side("e1", "e2"), e2 = side("e2", "e1"))
  tail <- pmin(pmax(hinges_normal_tail(-abs(t), ifelse(sharp, 1, sd), own), 0), 1)
  ifelse(sharp, hinges_cdf(t, law), ifelse(above, 1 - tail, tail))
}

hinges_normal_tail <- function(t, sd, law) {
  u1 <- t - law$e1
  u2 <- t + law$e2
  ramp <- function(u) u * stats::pnorm(u / sd) + sd * stats::dnorm(u / sd)
  tail <- function(u, b) exp_tail(u / sd, b * sd)
  hinges_constant(law) * ((stats::pnorm(u1 / sd) - tail(-u1, law$a)) / law$a +
                            (stats::pnorm(u2 / sd) + tail(u2, law$b)) / law$b + ramp(u2) - ramp(u1))
}

# phi(x) R(x + b), R(z) = (1 - Phi(z))/phi(z): in logarithms, since either may under- or overflow.
exp_tail <- function(x, b) {
  exp(b * x + b^2 / 2 + stats::pnorm(x + b, lower.tail = FALSE, log.p = TRUE))
}

# log E exp(-a max(0, t + e - e1) - b max(0, -t - e - e2)) with e ~ N(0, sd^2): with the density's
# constant the log density of a response given the moments of its linear predictor.
hinges_log_average <- function(t, sd, law) {
  x1 <- (t - law$e1) / sd
  x2 <- (-t - law$e2) / sd
  side <- function(x, b) -b * x + b^2 / 2 + stats::pnorm(b - x, lower.tail = FALSE, log.p = TRUE)
  above <- side(x1, law$a * sd)
  below <- side(x2, law$b * sd)
  # on the side of the smaller tails
  inside <- log(ifelse(t > 0, stats::pnorm(-x1) - stats::pnorm(x2),
                       stats::pnorm(-x2) - stats::pnorm(x1)))
  top <- pmax(above, below, inside)
  top + log(exp(above - top) + exp(below - top) + exp(inside - top))
}

# Slope and negative curvature in m of E log p(y | f), f ~ N(m, sd^2), t = y - m.
hinges_expected_terms <- function(t, sd, law) {
  x1 <- (t - law$e1) / sd
  x2 <- (-t - law$e2) / sd
  list(slope = law$a * stats::pnorm(x1) - law$b * stats::pnorm(x2),
       curvature = (law$a * stats::dnorm(x1) + law$b * stats::dnorm(x2)) / sd)
}

# The law of p^weight but for its constant.
weighted_law <- function(law, weight) {
  law$a <- law$a * weight
  law$b <- law$b * weight
  law
}
