# The toenail trial: 1908 visits of 294 patients, is the infection moderate or severe?
# Run by `make demo`, or in R by demo("toenail", package = "bsvm").
library(bsvm)
library(ggplot2)
data("toenail", package = "HSAUR3")

# 1. A support vector machine with a random intercept for every patient, and nothing chosen.
fit <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail)
print(summary(fit))

# 2. Five ways to learn from some rows and predict the others; the first three know the patient. The
# second is the papers' model: variational Bayes, the hinge loss as a pseudo-likelihood, their prior.
plain <- outcome ~ time * treatment
mixed <- outcome ~ time * treatment + (1 | patientID)

methods <- list(
  "bsvm" = list(
    fit = function(rows) bsvm(mixed, data = rows),
    predict = function(fit, rows) predict(fit, newdata = rows, allow_new_levels = TRUE)
  ),
  "papers' VB" = list(
    fit = function(rows) {
      bsvm(mixed, data = rows, likelihood = "hinge", engine = "vb",
           prior = list(prior_flat(), patientID = prior_ridge(0.01, 0.01)))
    },
    predict = function(fit, rows) predict(fit, newdata = rows, allow_new_levels = TRUE)
  ),
  "glmer" = list(
    fit = function(rows) lme4::glmer(mixed, data = rows, family = binomial),
    predict = function(fit, rows) {
      link <- predict(fit, newdata = rows, allow.new.levels = TRUE)
      levels(rows$outcome)[1 + (link > 0)]
    }
  ),
  "linear svm" = list(
    fit = function(rows) e1071::svm(plain, data = rows, kernel = "linear"),
    predict = function(fit, rows) predict(fit, newdata = rows)
  ),
  "weighted svm" = list(
    fit = function(rows) {
      e1071::svm(plain, data = rows, kernel = "linear", class.weights = "inverse")
    },
    predict = function(fit, rows) predict(fit, newdata = rows)
  )
)

# Mean of the two classes' error rates: always guessing the larger class scores one half.
balanced_error <- function(truth, guess) mean(tapply(as.character(guess) != truth, truth, mean))

try_method <- function(name, train, test) {
  warned <- FALSE
  note_warning <- function(w) {
    warned <<- TRUE
    invokeRestart("muffleWarning")
  }
  seconds <- sum(system.time(
    fit <- withCallingHandlers(methods[[name]]$fit(train), warning = note_warning)
  )[c("user.self", "sys.self")])
  error <- balanced_error(test$outcome, methods[[name]]$predict(fit, test))
  data.frame(method = name, error = error, seconds = seconds, warned = warned)
}

try_split <- function(split) {
  set.seed(split)
  chosen <- sample(nrow(toenail), round(3 / 4 * nrow(toenail)))
  do.call(rbind, lapply(names(methods), try_method, toenail[chosen, ], toenail[-chosen, ]))
}

cat("\nTwenty random splits of the rows, three quarters to learn from:\n\n")
results <- do.call(rbind, lapply(1:20, try_split))
results$method <- factor(results$method, names(methods))

comparison <- data.frame(
  balanced_error = round(tapply(results$error, results$method, mean), 3),
  sd = round(tapply(results$error, results$method, sd), 3),
  seconds = signif(tapply(results$seconds, results$method, median), 2),
  warned = tapply(results$warned, results$method, sum)
)
print(comparison)
cat("\nbalanced_error: mean of the two classes' error rates; seconds: median processor time of a",
    "\nfit; warned: how many of the 20 fits gave a warning.\n")

# 3. The picture.
subtitle <- paste0("Median processor seconds a fit: ",
                   paste(rownames(comparison), comparison$seconds, collapse = ", "))
subtitle <- paste(strwrap(subtitle, 80), collapse = "\n")
picture <- ggplot(results, aes(x = error, y = factor(method, rev(levels(method))))) +
  geom_boxplot() +
  labs(title = "Toenail trial: 20 splits, 3/4 of the rows to learn from", subtitle = subtitle,
       x = "Balanced error rate on the other rows", y = NULL) +
  theme_minimal() +
  theme(plot.title.position = "plot", panel.grid.major.y = element_blank())

file <- commandArgs(trailingOnly = TRUE)
file <- if (length(file) > 0) file[1] else tempfile("toenail", fileext = ".png")
ggsave(file, picture, width = 7, height = 3, dpi = 120, bg = "white")
cat("The picture:", normalizePath(file), "\n")
