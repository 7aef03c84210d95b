# The group standard deviation over the slope, 400 groups of 5 rows, half-t prior, normalised
# likelihood: beside glmer's with nine points of quadrature, when the truth is 1 and when it is 0.
# The ratio is one of posterior means, and is free of the likelihood's scale.

grouped_data <- function(truth, seed, groups = 400L, size = 5L) {
  set.seed(seed)
  g <- gl(groups, size)
  x <- stats::rnorm(length(g))
  link <- x + truth * stats::rnorm(groups)[g]
  data.frame(y = stats::rbinom(length(g), 1L, stats::plogis(link)), x, g)
}

ratio_bsvm <- function(data, likelihood, engine) {
  fit <- bsvm(y ~ x + (1 | g), data, engine = engine, likelihood = likelihood,
              prior = list(prior_flat(), g = prior_ridge(variance = prior_half_t())))
  attr(VarCorr(fit)$g, "stddev")[[1L]] / fixef(fit)[["x"]]
}

ratio_glmer <- function(data) {
  fit <- suppressMessages(lme4::glmer(y ~ x + (1 | g), data, stats::binomial(), nAGQ = 9L))
  attr(lme4::VarCorr(fit)$g, "stddev")[[1L]] / lme4::fixef(fit)[["x"]]
}

# data sets x 3
ratios <- function(truth, sets, engine = engine_gaussian()) {
  t(vapply(seq_len(sets), function(seed) {
    data <- grouped_data(truth, seed)
    c(normalised = ratio_bsvm(data, likelihood_hinge(normalized = TRUE), engine),
      pseudo = ratio_bsvm(data, likelihood_hinge(), engine), glmer = ratio_glmer(data))
  }, numeric(3)))
}

run <- function(sets = 10L) {
  if (!installed("lme4")) return(skipped("group-sd", "The package lme4 is needed."))
  one <- ratios(1, sets)
  none <- ratios(0, sets)
  share <- one[, "normalised"] / one[, "glmer"]
  rbind(figure("data sets for each truth", sets, "data sets"), ratio_figures("truth 1", one),
        figure("truth 1, normalised: ratio / glmer's, mean", mean(share), "ratio", near = 1,
               within = 0.15),
        figure("truth 1, normalised: the same, smallest", min(share), "ratio"),
        figure("truth 1, normalised: the same, largest", max(share), "ratio"),
        ratio_figures("truth 0", none, at_most = 0.3),
        figure("truth 0, normalised: largest sd / slope", max(none[, "normalised"]), "ratio"))
}

ratio_figures <- function(title, seen, at_most = NULL) {
  title <- paste0(title, ", ", c("normalised", "pseudo", "glmer (nAGQ = 9)"),
                  ": sd / slope, mean")
  rbind(figure(title[1L], mean(seen[, "normalised"]), "ratio", at_most = at_most),
        figure(title[2L], mean(seen[, "pseudo"]), "ratio"),
        figure(title[3L], mean(seen[, "glmer"]), "ratio"))
}
