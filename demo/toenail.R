# The first analysis of the README: 1908 visits of 294 patients, is the infection moderate or severe,
# and does it recede faster under terbinafine?
# Run by `make demo`, or in R by demo("toenail", package = "bsvm").
library(bsvm)
options(digits = 3)

# 1. Every patient has an intercept. Nothing else has to be chosen.
fit <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail)
print(summary(fit))

# 2. The probability month by month, by treatment.
picture <- plot(fit, "effects", pars = c("time", "treatment")) +
  ggplot2::labs(x = "Months since the start", y = "Probability, mean and 95 % interval") +
  ggplot2::theme(legend.position = "top")
file <- commandArgs(trailingOnly = TRUE)
file <- if (length(file) > 0) file[1] else tempfile("toenail", fileext = ".png")
ggplot2::ggsave(file, picture, width = 6, height = 4, dpi = 120, bg = "white")
cat("The picture:", normalizePath(file), "\n")

# 3. How sure is it that the infection recedes faster under terbinafine?
print(hypothesis(fit, "`time:treatmentterbinafine` < 0"))

# 4. The first patient at three more visits: the probability with its interval.
visits <- data.frame(patientID = "1", treatment = "terbinafine", time = c(0, 6, 12))
print(cbind(visits, predict(fit, visits, type = "prob", interval = TRUE)))

# 5. Five splits of the rows, three quarters to learn from. The linear SVM of e1071 has time and
# treatment only.
logistic <- function(rows) {
  model <- lme4::glmer(outcome ~ time * treatment + (1 | patientID), rows, binomial)
  function(new) list(prob = predict(model, new, type = "response", allow.new.levels = TRUE))
}
linear_svm <- function(rows) {
  model <- e1071::svm(outcome ~ time * treatment, rows, kernel = "linear", probability = TRUE)
  function(new) {
    class <- predict(model, new, probability = TRUE)
    list(class = class, prob = attr(class, "probabilities")[, levels(class)[2]])
  }
}
set.seed(1)
print(holdout(list("bsvm" = fit, "glmer" = logistic, "linear SVM" = linear_svm), toenail,
              times = 5, metrics = c("ber", "log_score", "seconds"), progress = FALSE))
