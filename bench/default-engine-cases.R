# The models of default-engine.R: a structure, a size, data and formula. Seeds and sizes are stated,
# so the data are the same wherever they are made; real data are those of the packages named.

# Fixed effects `x1` to `xp`; `levels` of each factor; effects of the intercept and, for `slopes`,
# of x1.
simulated <- function(seed, n, p = 2L, levels = c(), slopes = FALSE, crossed = TRUE, wave = FALSE) {
  set.seed(seed)
  x <- matrix(stats::rnorm(n * p), n, p, dimnames = list(NULL, paste0("x", seq_len(p))))
  link <- drop(x[, seq_len(min(p, 3L)), drop = FALSE] %*% c(1, -0.5, 0.25)[seq_len(min(p, 3L))])
  d <- data.frame(x)
  for (k in seq_along(levels)) {
    g <- if (crossed && k > 1L) sample(levels[k], n, TRUE) else rep_len(seq_len(levels[k]), n)
    link <- link + stats::rnorm(levels[k], 0, 1 / k)[g]
    if (slopes && k == 1L) link <- link + stats::rnorm(levels[k], 0, 0.5)[g] * d$x1
    d[[c("g", "h")[k]]] <- factor(g)
  }
  if (wave) link <- link + sin(2 * d$x1) + cos(d$x2)
  d$y <- stats::rlogis(n) < link
  d
}

simulated_case <- function(structure, formula, ...) {
  given <- list(...)
  force(formula)
  list(structure = structure, formula = formula, data = function() do.call(simulated, given))
}

real_case <- function(structure, formula, package, data) {
  list(structure = structure, formula = formula, package = package, data = data)
}

slopes_of <- function(p) stats::reformulate(paste0("x", seq_len(p)), "y")

ticks <- function() transform(lme4::grouseticks, y = TICKS > 0)

instructors <- function(n) {
  set.seed(1)
  d <- lme4::InstEval[sample(nrow(lme4::InstEval), n), ]
  d$y <- as.numeric(d$y) > 3
  droplevels(d)
}

# A name says structure and size; `gam`: compared with mgcv's time, else with lme4's.
choice_cases <- list(
  "plain 40 x 3" = simulated_case("no groups", slopes_of(3), 15, 40, 3),
  "plain 100 x 5" = simulated_case("no groups", slopes_of(5), 16, 100, 5),
  "plain 200 x 5" = simulated_case("no groups", slopes_of(5), 1, 200, 5),
  "plain 201 x 5" = simulated_case("no groups", slopes_of(5), 1, 201, 5),
  "plain 200 x 30" = simulated_case("no groups", slopes_of(30), 17, 200, 30),
  "plain 201 x 30" = simulated_case("no groups", slopes_of(30), 17, 201, 30),
  "plain 2000 x 10" = simulated_case("no groups", slopes_of(10), 2, 2000, 10),
  "plain 500 x 50" = simulated_case("no groups", slopes_of(50), 3, 500, 50),
  "(1 | g) 30 x 10" = simulated_case("(1 | g)", y ~ x1 + x2 + (1 | g), 4, 300, 2, 30),
  "(1 | g) 300 x 4" = simulated_case("(1 | g)", y ~ x1 + x2 + (1 | g), 5, 1200, 2, 300),
  "(1 | g) 500 x 20" = simulated_case("(1 | g)", y ~ x1 + x2 + (1 | g), 6, 1e4, 2, 500),
  "(1 | patientID), toenail" = real_case("(1 | g)", outcome ~ treatment * time + (1 | patientID),
                                         "HSAUR3", function() HSAUR3::toenail),
  "(x1 | g) 20 x 10" = simulated_case("(x | g)", y ~ x1 + x2 + (x1 | g), 7, 200, 2, 20,
                                      slopes = TRUE),
  "(x1 | g) 100 x 12" = simulated_case("(x | g)", y ~ x1 + x2 + (x1 | g), 8, 1200, 2, 100,
                                       slopes = TRUE),
  "(x1 | g) 500 x 20" = simulated_case("(x | g)", y ~ x1 + x2 + (x1 | g), 9, 1e4, 2, 500,
                                       slopes = TRUE),
  "(x1 || g) 100 x 12" = simulated_case("(x || g)", y ~ x1 + x2 + (x1 || g), 10, 1200, 2, 100,
                                        slopes = TRUE),
  "(Days | Subject), sleepstudy" = real_case(
    "(x | g)", y ~ Days + (Days | Subject), "lme4",
    function() transform(lme4::sleepstudy, y = Reaction > stats::median(Reaction))),
  "(week | ID), bacteria" = real_case("(x | g)", y ~ trt + week + (week | ID), "MASS",
                                      function() MASS::bacteria),
  "crossed 40 x 10, 400 rows" = simulated_case("crossed", y ~ x1 + x2 + (1 | g) + (1 | h), 11, 400,
                                               2, c(40, 10)),
  "crossed 100 x 40, 2000 rows" = simulated_case("crossed", y ~ x1 + x2 + (1 | g) + (1 | h), 12,
                                                 2000, 2, c(100, 40)),
  "BROOD and LOCATION, grouseticks" = real_case(
    "crossed", y ~ YEAR + cHEIGHT + (1 | BROOD) + (1 | LOCATION), "lme4", ticks),
  "s and d, InstEval, 4000 rows" = real_case("crossed", y ~ service + (1 | s) + (1 | d), "lme4",
                                             function() instructors(4000)),
  "s(x1) + s(x2) 400" = c(simulated_case("smooths", y ~ s(x1) + s(x2), 13, 400, wave = TRUE),
                          gam = list(y ~ s(x1) + s(x2))),
  "s(x1) + (1 | g) 60 x 10" = c(
    simulated_case("smooths and (1 | g)", y ~ s(x1) + x2 + (1 | g), 14, 600, 2, 60, wave = TRUE),
    gam = list(y ~ s(x1) + x2 + s(g, bs = "re"))),
  "s(HEIGHT, by = YEAR) + (1 | BROOD), grouseticks" = c(
    real_case("smooths and (1 | g)", y ~ s(HEIGHT, by = YEAR) + (1 | BROOD), "lme4", ticks),
    gam = list(y ~ s(HEIGHT, by = YEAR) + s(BROOD, bs = "re")))
)
