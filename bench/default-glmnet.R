# bsvm() without any choice, compared with cv.glmnet(): logistic regression with a lasso or a ridge
# penalty whose size tenfold cross-validation chooses. There are few predictors, some, or many more
# than rows; few of them have effects, or all. Models see the same rows and are judged on others.

turns <- 20L

# Two thirds of the rows train.
split_rows <- function(formula, data, seed) {
  frame <- stats::model.frame(formula, data)
  x <- stats::model.matrix(formula, frame)[, -1L]
  y <- stats::model.response(frame)
  set.seed(seed)
  train <- sample(nrow(x), round(2 / 3 * nrow(x)))
  list(x = x[train, ], y = y[train], new = x[-train, ], truth = y[-train])
}

# 100 rows and 1000 predictors train, 1000 rows test; half of the log odds are above 2 in size.
wide_rows <- function(effects, seed) {
  set.seed(seed)
  n <- c(100L, 1000L)
  x <- matrix(stats::rnorm(sum(n) * 1000L), sum(n))
  colnames(x) <- paste0("x", seq_len(1000L))
  chosen <- seq_len(effects)
  odds <- drop(x[, chosen] %*% stats::rnorm(effects)) * 3 / sqrt(effects)
  y <- factor(stats::rbinom(sum(n), 1L, stats::plogis(odds)))
  train <- seq_len(n[1L])
  list(x = x[train, ], y = y[train], new = x[-train, ], truth = y[-train])
}

problems <- list(
  "Pima, 532 x 7" = function(seed) {
    split_rows(type ~ ., rbind(MASS::Pima.tr, MASS::Pima.te), seed)
  },
  "Sonar, 208 x 60" = function(seed) {
    here <- new.env()
    utils::data("Sonar", package = "mlbench", envir = here)
    split_rows(Class ~ ., here$Sonar, seed)
  },
  "100 x 1000, 10 effects" = function(seed) wide_rows(10L, seed),
  "100 x 1000, 1000 effects" = function(seed) wide_rows(1000L, seed)
)

# Each gives the probabilities of the second class for new rows.
by_glmnet <- function(alpha) {
  function(data) {
    fit <- glmnet::cv.glmnet(data$x, data$y, family = "binomial", alpha = alpha)
    drop(stats::predict(fit, data$new, s = "lambda.min", type = "response"))
  }
}

models <- list(
  bsvm = function(data) {
    fit <- suppressWarnings(bsvm(data$x, data$y, control = bsvm_control(verbose = FALSE)))
    stats::predict(fit, data$new, type = "prob")[, 2L]
  },
  lasso = by_glmnet(1), ridge = by_glmnet(0)
)

judge <- function(prob, truth) {
  second <- truth == levels(truth)[2L]
  right <- pmax(ifelse(second, prob, 1 - prob), 1e-15)
  wrong <- (prob >= 0.5) != second
  c(error = (mean(wrong[second]) + mean(wrong[!second])) / 2, score = mean(log(right)))
}

# Error, score and seconds x models, of one turn. The order of the models alternates.
turn_of <- function(problem, seed) {
  data <- problem(seed)
  found <- list()
  for (name in if (seed %% 2L) names(models) else rev(names(models))) {
    prob <- NULL
    taken <- seconds(function() prob <<- models[[name]](data))
    found[[name]] <- c(judge(prob, data$truth), seconds = taken)
  }
  simplify2array(found[names(models)])
}

figures_of <- function(name) {
  models$bsvm(problems[[name]](0L))
  found <- simplify2array(lapply(seq_len(turns), turn_of, problem = problems[[name]]))
  seen <- apply(found, c(1L, 2L), mean)
  seen["seconds", ] <- apply(found["seconds", , ], 1L, stats::median)
  better <- function(what, other) found[what, "bsvm", ] - found[what, other, ]
  error_of <- function(what, other) stats::sd(better(what, other)) / sqrt(turns)
  rows <- lapply(names(models), function(model) {
    title <- paste0(name, ", ", model, ": ")
    rbind(figure(paste0(title, "balanced error rate"), seen["error", model], ""),
          figure(paste0(title, "log score"), seen["score", model], ""),
          figure(paste0(title, "fit and predictions"), seen["seconds", model], "s"))
  })
  less <- lapply(c("lasso", "ridge"), function(other) {
    title <- paste0(name, ": bsvm's log score less the ", other, "'s")
    rbind(figure(title, mean(better("score", other)), ""),
          figure(paste0(title, ", standard error"), error_of("score", other), ""))
  })
  do.call(rbind, c(rows, less))
}

run <- function() {
  if (!installed(c("glmnet", "mlbench", "MASS"))) {
    return(skipped("glmnet", "The packages glmnet, mlbench and MASS are needed."))
  }
  # machine.txt is of the cases that ran last
  do.call(rbind, c(lapply(names(problems), figures_of), list(figure("processor", processor(), ""))))
}
