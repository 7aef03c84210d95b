# Writes inst/cheatsheet.pdf, one page: Rscript tools/cheatsheet.R, with bsvm and ggplot2 installed.
# Its fonts are those that every reader of PDF has, and the same words give the same file.
library(grid)
library(bsvm)

# Boxes by column: a title, and pairs of code and what it does.
columns <- list(
  list(
    "Fit" = c(
      "bsvm(y ~ x1 + x2, data)", "two classes; the penalty is inferred",
      "bsvm(y ~ x + (1 | g), data)", "group effects as in lme4, also (x | g), (1 | g/h)",
      "bsvm(y ~ s(x) + gp(u, v), data)", "smooth terms, Gaussian processes",
      "bsvm(cbind(successes, failures) ~ x, data)", "counts",
      "bsvm(y ~ factors(genes, k = 5), data)", "many variables, few factors",
      "bsvm(x, y)", "a matrix, dense or sparse",
      "update(fit, . ~ . + z)", "the same with one term more"
    ),
    "likelihood =" = c(
      '"normalized"', "the default of classes: a probability model",
      '"hinge"', "the pseudo-likelihood of the papers",
      "likelihood_eps_insensitive()", "numbers: support vector regression",
      "likelihood_quantile(c(0.1, 0.9))", "quantiles; also likelihood_laplace()",
      "likelihood_gaussian()", "the normal density"
    ),
    "prior =" = c(
      "prior_ridge()", "one inferred variance; prior_ridge(variance = 2): given",
      "prior_flat()", "no penalty",
      "prior_lasso()", "few large coefficients; engine_gibbs() or engine_em()",
      "prior_spike_slab(size = 5)", "about five of many are not zero",
      "list(prior_ridge(), x = prior_flat())", "by coefficient, term or group",
      "prior_for(y ~ x + (1 | g), data)", "what can be set"
    ),
    "missing =" = c(
      "missing_omit()", "complete rows",
      "missing_normal()", "integrated out; then imputed(fit)"
    )
  ),
  list(
    "Ask" = c(
      'plot(fit, "effects", pars = c("time", "treatment"))', "the picture below",
      'hypothesis(fit, "time < 0")', "probability of a statement",
      "importance(fit, newdata)", "permutation importance of predictors",
      "emmeans::emmeans(fit, ~ treatment, epred = TRUE)", "means, contrasts, risk ratios"
    ),
    "Predict" = c(
      "predict(fit, new)", "classes, or numbers",
      'predict(fit, new, type = "prob", interval = TRUE)', "the probability of class +1",
      'predict(fit, new, type = "link", interval = TRUE)', "the linear predictor",
      "predict(fit, new, allow_new_levels = TRUE)", "new groups: averaged over",
      "predict(fit, new, re_formula = NA)", "group effects at zero",
      "posterior_epred(fit, new)", "draws of the probability or mean"
    ),
    "A coefficient" = c(
      "4 * fixef(fit)", "comparable to logistic regression: the log odds are 4 f where |f| < 1"
    )
  ),
  list(
    "Look" = c(
      "summary(fit)", "details = TRUE has all numbers",
      "fixef(fit); ranef(fit); VarCorr(fit)", "coefficients, groups, variances",
      "confint(fit); tidy(fit); posterior::as_draws(fit)", "intervals, data frames, draws",
      "plot(fit)", "coefficients, or smooth terms",
      'plot(fit, "groups")', "effects of the groups"
    ),
    "Check" = c(
      "check_approximation(fit)", "is it near the exact posterior?",
      "update(fit, engine = engine_slice())", "exact draws of the same model",
      "loo(fit); bayesplot::pp_check(fit)", "does the model fit?",
      "calibration(fit, new)", "are its probabilities right?",
      "holdout(list(a = fit, b = other), data)", "errors of rows held out, paired",
      "tuned_svm(y ~ x)", "the SVM of e1071 and its grid, as a rival"
    ),
    "engine =" = c(
      "NULL", "the default: the cheapest that is near the exact posterior",
      "engine_gaussian()", "an approximation, in milliseconds",
      "engine_slice()", "exact draws; engine_gibbs() for priors that select",
      "engine_vb()", "the papers' variational Bayes: intervals too narrow",
      "engine_em()", "the classical SVM for a given penalty: prior_ridge(cost / 2)",
      "engine_map()", "the mode"
    ),
    "Select variables" = c(
      "inclusion(fit); plot_inclusion(fit)", "after prior_spike_slab()",
      "plot(regularization_path(fit))", "after prior_lasso(nu = 10^seq(-3, 0, 0.1))"
    ),
    "More" = c(
      'vignette("bsvm")', "one analysis from question to picture",
      'vignette("coming-from")', "calls of glmer, brms and e1071, translated"
    )
  )
)

# Code that does not parse is a misprint.
for (box in do.call(c, columns)) parse(text = box[c(TRUE, FALSE)])

hue <- "#0072B2"
code_font <- gpar(fontfamily = "Courier", fontsize = 7.6, col = "black")
word_font <- gpar(fontfamily = "Helvetica", fontsize = 7.6, col = "grey30")
points_of <- function(grob) convertWidth(grobWidth(grob), "points", valueOnly = TRUE)

# Draws a box from `top` down and returns where it ends, all in points.
draw_box <- function(title, entries, top, width) {
  at <- function(label, x, y, font) {
    grob <- textGrob(label, unit(x, "points"), unit(y, "points"), c("left", "top"), gp = font)
    grid.draw(grob)
    points_of(grob)
  }
  grid.rect(unit(0, "points"), unit(top, "points"), unit(width, "points"), unit(14, "points"),
            just = c("left", "top"), gp = gpar(fill = hue, col = NA))
  at(title, 5, top - 3.5, gpar(fontfamily = "Helvetica", fontface = "bold", fontsize = 9,
                               col = "white"))
  y <- top - 19
  for (k in seq(1, length(entries), 2)) {
    end <- 5 + at(entries[k], 5, y, code_font)
    if (end > width) stop("Too wide: ", entries[k], call. = FALSE)
    word <- textGrob(entries[k + 1], gp = word_font)
    fits <- end + 8 + points_of(word) < width
    if (!fits) y <- y - 9.5
    at(entries[k + 1], if (fits) end + 8 else 13, y, word_font)
    y <- y - 12
  }
  y - 5
}

fit <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail)
picture <- plot(fit, "effects", pars = c("time", "treatment")) +
  ggplot2::labs(x = "Months since the start", y = "Probability, mean and 95 % interval",
                caption = NULL) +
  ggplot2::theme(legend.position = "top", text = ggplot2::element_text(size = 8),
                 axis.text = ggplot2::element_text(size = 7),
                 legend.text = ggplot2::element_text(size = 8),
                 plot.title = ggplot2::element_text(size = 9))

file <- "inst/cheatsheet.pdf"
pdf(file, width = 11.69, height = 8.27, title = "bsvm", compress = FALSE)
grid.newpage()
grid.text("bsvm: Bayesian support vector machines", unit(30, "points"), unit(1, "npc") -
            unit(24, "points"), just = c("left", "top"),
          gp = gpar(fontfamily = "Helvetica", fontface = "bold", fontsize = 17))
grid.text("fit <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail)",
          unit(1, "npc") - unit(30, "points"), unit(1, "npc") - unit(29, "points"),
          just = c("right", "top"), gp = gpar(fontfamily = "Courier", fontsize = 9.5))
width <- 252
for (j in seq_along(columns)) {
  pushViewport(viewport(x = unit(30 + (j - 1) * (width + 13), "points"), y = unit(20, "points"),
                        width = unit(width, "points"), height = unit(8.27 * 72 - 74, "points"),
                        just = c("left", "bottom")))
  top <- 8.27 * 72 - 74
  for (title in names(columns[[j]])) top <- draw_box(title, columns[[j]][[title]], top, width)
  if (j == 2) print(picture, vp = viewport(y = unit(0, "points"), height = unit(top, "points"),
                                           just = "bottom"), newpage = FALSE)
  if (top < 0) stop("Column ", j, " is ", -top, " points too long.", call. = FALSE)
  popViewport()
}
invisible(dev.off())

# Without the date, in as many bytes: positions are listed at the end of the file.
lines <- readLines(file, encoding = "bytes", warn = FALSE)
dates <- grep("^/(CreationDate|ModDate) ", lines, useBytes = TRUE)
lines[dates] <- gsub("[0-9]", "0", lines[dates], useBytes = TRUE)
writeLines(lines, file, useBytes = TRUE)
cat(file, file.size(file), "bytes\n")
