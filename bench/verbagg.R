# Verbal aggression (lme4::VerbAgg, 7584 answers of 316 persons to 24 items): crossed persons and
# items by variational Bayes beside glmer, whole fits that take turns.

answer_formula <- r2 ~ Anger + Gender + btype + situ + (1 | id) + (1 | item)

run <- function() {
  if (!installed("lme4")) return(skipped("verbagg", "The package lme4 is needed."))
  data <- lme4::VerbAgg
  fit <- function() {
    bsvm(answer_formula, data, likelihood = "hinge", prior = papers_prior("id", "item"),
         engine = engine_vb())
  }
  glmer <- function() {
    suppressMessages(lme4::glmer(answer_formula, data, family = stats::binomial()))
  }
  middle <- median_of(interleaved(list(bsvm = fit, glmer = glmer), times = 5L))
  rbind(figure("bsvm by VB, whole fit", 1e3 * middle[["bsvm"]], "ms"),
        figure("passes", fit()$passes, "passes"),
        figure("glmer, whole fit", 1e3 * middle[["glmer"]], "ms"),
        figure("bsvm / glmer", middle[["bsvm"]] / middle[["glmer"]], "ratio", at_most = 1 / 50))
}
