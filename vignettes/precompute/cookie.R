# Results of the vignette `cookie`: biscuit doughs of 004. BSVM_COOKIE names cookie.csv.gz (columns
# set, sample, fat, sucrose, flour, water, w1100 to w2498), as in ppls::cookie; pls is needed.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))),
                 "stored.R"))
suppressPackageStartupMessages(library(bsvm))

constituents <- c("fat", "sucrose", "flour", "water")
raw <- utils::read.csv(Sys.getenv("BSVM_COOKIE"))
doughs <- raw[c("set", "sample", constituents)]
doughs$nir <- as.matrix(raw[paste0("w", seq(1380, 2400, 4))])
calibration <- doughs$set == "calibration"
outlier <- calibration & doughs$sample == 23
train <- doughs[calibration & !outlier, ]
test <- doughs[!calibration, ]
truth <- function(data) as.matrix(data[constituents])
formula <- cbind(fat, sucrose, flour, water) ~ gp(nir, kernel = kernel_linear())
models <- list(
  "bsvm, gp(nir, kernel = kernel_linear())" = function(data) {
    bsvm(formula, data, likelihood = likelihood_gaussian(), prior = NULL)
  },
  "bsvm, gp(nir)" = function(data) {
    bsvm(update(formula, . ~ gp(nir)), data, likelihood = likelihood_gaussian(), prior = NULL)
  },
  "bsvm, nir" = function(data) {
    bsvm(update(formula, . ~ nir), data, likelihood = likelihood_gaussian(), prior = NULL)
  },
  "bsvm, epsilon-insensitive, correlated" = function(data) {
    bsvm(formula, data, likelihood = likelihood_eps_insensitive(residual = "correlated"),
         prior = NULL)
  },
  "bsvm, epsilon-insensitive, independent" = function(data) {
    bsvm(formula, data, likelihood = likelihood_eps_insensitive(), prior = NULL)
  }
)
pls_models <- list(
  "PLS2, 6 components" = function(data) pls::plsr(update(formula, . ~ nir), 6L, data = data),
  "PLS1, by cross-validation" = function(data) chosen(pls::plsr, data),
  "PCR, by cross-validation" = function(data) chosen(pls::pcr, data)
)

# A model for each response, the number of components by fivefold cross-validation.
chosen <- function(method, data) {
  lapply(constituents, function(name) {
    set.seed(1)
    one <- data.frame(y = data[[name]])
    one$nir <- data$nir
    fit <- method(y ~ nir, ncomp = 12L, data = one, validation = "CV", segments = 5L)
    list(fit = fit, ncomp = which.min(fit$validation$PRESS))
  })
}

predictions <- function(fit, data) {
  if (inherits(fit, "bsvm_responses")) return(predict(fit, data))
  if (inherits(fit, "mvr")) return(stats::predict(fit, newdata = data, ncomp = 6L)[, , 1L])
  vapply(fit, function(one) {
    stats::predict(one$fit, newdata = data, ncomp = one$ncomp)[, 1L, 1L]
  }, numeric(nrow(data)))
}

errors <- function(model, from, to) {
  set.seed(1)
  fit <- suppressMessages(suppressWarnings(model(from)))
  list(fit = fit, mse = colMeans((predictions(fit, to) - truth(to))^2))
}

all <- c(models, pls_models)
alone <- lapply(all, errors, from = train, to = test)
with_outlier <- lapply(all, errors, from = doughs[calibration, ], to = test)
table_of <- function(found) {
  data.frame(model = names(found), do.call(rbind, lapply(found, `[[`, "mse")), check.names = FALSE,
             row.names = NULL)
}

intervals <- do.call(rbind, lapply(names(models), function(name) {
  found <- predict(alone[[name]]$fit, test, interval = "prediction")
  y <- truth(test)
  data.frame(model = name, constituent = constituents,
             coverage = 100 * colMeans(found[, "lower", ] <= y & y <= found[, "upper", ]),
             width = colMeans(found[, "upper", ] - found[, "lower", ]), row.names = NULL)
}))

# Random splits of all 72 samples but the outlier, 39 to fit.
splits <- lapply(seq_len(20L), function(k) {
  set.seed(100 + k)
  rows <- which(!outlier)
  from <- sample(rows, 39L)
  vapply(all, function(model) errors(model, doughs[from, ], doughs[setdiff(rows, from), ])$mse,
         numeric(4L))
})
repeated <- apply(simplify2array(splits), 1:2, mean)
best <- alone[[1L]]$fit
store("cookie", list(
  fit = table_of(alone), outlier = table_of(with_outlier), intervals = intervals,
  splits = data.frame(model = colnames(repeated), t(repeated), check.names = FALSE,
                      row.names = NULL),
  correlations = attr(VarCorr(best)$residual__, "correlation"), sampling = best$sampling$seconds
))
