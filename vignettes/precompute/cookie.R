# Results of the vignette `cookie`: biscuit doughs of 004. BSVM_COOKIE names cookie.csv.gz (columns
# set, sample, fat, sucrose, flour, water, w1100 to w2498), as in ppls::cookie; pls and kernlab are needed.

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
# The paper's models (sections 3, 4 and 8) and its two sets of prior distributions. Those of the
# loss are not: the share of the loss in the variance has a uniform distribution.
paper_priors <- list(
  "(i)" = list(gp = prior_relevance(1e-8, 1e-5), residual = prior_inv_wishart(5, 10 * diag(4))),
  "(ii)" = list(gp = prior_relevance(1e-9, 1e-6), residual = prior_inv_wishart(10, diag(4)))
)
paper_scales <- list("(i)" = prior_inv_gamma(1, 10), "(ii)" = prior_inv_gamma(0.5, 1))
chains <- function(...) engine_gibbs(draws = 1000L, burnin = 1000L, ...)
of_paper <- function(set) {
  force(set)
  list(
    MBRVM = function(data) {
      bsvm(formula, data, prior = paper_priors[[set]], engine = chains(),
           likelihood = likelihood_gaussian(residual = "paper", scale = paper_scales[[set]]))
    },
    MBSVM = function(data) {
      bsvm(formula, data, prior = paper_priors[[set]], engine = chains(),
           likelihood = likelihood_eps_insensitive(residual = "correlated"))
    })
}
relevance <- function(data, likelihood = likelihood_gaussian(), ...) {
  bsvm(formula, data, likelihood = likelihood, engine = engine_gibbs(draws = 1000L, ...),
       prior = list(gp = prior_relevance(1e-8, 1e-5)))
}
paper_models <- c(
  stats::setNames(of_paper("(i)"), c("MBRVM (i)", "MBSVM (i)")),
  stats::setNames(of_paper("(ii)"), c("MBRVM (ii)", "MBSVM (ii)")),
  list(
    "MBRVM, default residual" = function(data) relevance(data, burnin = 1000L),
    EMBRVM = function(data) relevance(data, burnin = 3000L, empirical = TRUE),
    EMBSVM = function(data) {
      relevance(data, likelihood_eps_insensitive(residual = "correlated"), burnin = 3000L,
                empirical = TRUE)
    }
  ))

pls_models <- list(
  "PLS2, 6 components" = function(data) pls::plsr(update(formula, . ~ nir), 6L, data = data),
  "PLS1, by cross-validation" = function(data) chosen(pls::plsr, data),
  "PCR, by cross-validation" = function(data) chosen(pls::pcr, data),
  "stepwise regression" = function(data) stepwise(data),
  "SVM, polynomial kernel" = function(data) tuned(data, list("polydot", degree = 1:3)),
  "SVM, radial kernel" = function(data) tuned(data, list("rbfdot", sigma = 10^(-4:-2))),
  "rvm of kernlab" = function(data) {
    each_response(data, function(x, y) {
      fit <- kernlab::rvm(x, y, kernel = "polydot", kpar = list(degree = 1))
      function(new) kernlab::predict(fit, new)
    })
  },
  "ML-II, linear kernel" = function(data) ml_two(data)
)

# list of functions of new spectra; spectra are centred.
each_response <- function(data, fit) {
  center <- colMeans(data$nir)
  stats::setNames(lapply(constituents, function(name) {
    set.seed(1)
    predicts <- fit(sweep(data$nir, 2L, center), data[[name]])
    function(new) as.vector(predicts(sweep(new$nir, 2L, center)))
  }), constituents)
}

# A Gaussian process of each response alone, whose amplitude and residual variance maximise the
# likelihood: by the eigenvalues of the kernel, the residual variance in closed form.
ml_two <- function(data) {
  each_response(data, function(x, y) {
    kernel <- tcrossprod(x)
    size <- mean(diag(kernel))
    found <- eigen(kernel / size, symmetric = TRUE)
    keep <- seq_len(nrow(x) - 1L) # the intercept is flat
    turned <- drop(crossprod(found$vectors[, keep], y - mean(y)))
    loss <- function(ratio) {
      variance <- 1 + exp(ratio) * pmax(found$values[keep], 0)
      length(keep) * log(mean(turned^2 / variance)) + sum(log(variance))
    }
    grid <- seq(-10, 20, by = 0.5)
    top <- grid[which.min(vapply(grid, loss, 0))]
    ratio <- exp(stats::optimize(loss, top + c(-1, 1))$minimum)
    weights <- solve(kernel / size * ratio + diag(nrow(x)), y - mean(y))
    function(new) mean(y) + ratio / size * drop(tcrossprod(new, x) %*% weights)
  })
}

# Forward selection by BIC of at most ten wavelengths.
stepwise <- function(data) {
  each_response(data, function(x, y) {
    chosen <- integer(0)
    bic <- function(at) {
      rest <- stats::lm.fit(cbind(1, x[, at, drop = FALSE]), y)$residuals
      length(y) * log(mean(rest^2)) + log(length(y)) * (length(at) + 1)
    }
    best <- bic(chosen)
    while (length(chosen) < 10L) {
      values <- vapply(seq_len(ncol(x)), function(j) bic(c(chosen, j)), 0)
      if (min(values) >= best) break
      best <- min(values)
      chosen <- c(chosen, which.min(values))
    }
    beta <- stats::lm.fit(cbind(1, x[, chosen, drop = FALSE]), y)$coefficients
    function(new) cbind(1, new[, chosen, drop = FALSE]) %*% beta
  })
}

# Epsilon-regression of kernlab: cost and the kernel's parameter by fivefold cross-validation.
tuned <- function(data, kernel) {
  each_response(data, function(x, y) {
    grid <- expand.grid(cost = 10^(0:3), parameter = kernel[[2L]])
    fits <- Map(function(cost, parameter) {
      set.seed(1)
      kernlab::ksvm(x, y, type = "eps-svr", kernel = kernel[[1L]], C = cost, cross = 5L,
                    scaled = FALSE, epsilon = 0.05,
                    kpar = stats::setNames(list(parameter), names(kernel)[2L]))
    }, grid$cost, grid$parameter)
    fit <- fits[[which.min(vapply(fits, kernlab::cross, 0))]]
    function(new) kernlab::predict(fit, new)
  })
}

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
  if (is.function(fit[[1L]])) return(vapply(fit, function(one) one(data), numeric(nrow(data))))
  vapply(fit, function(one) {
    stats::predict(one$fit, newdata = data, ncomp = one$ncomp)[, 1L, 1L]
  }, numeric(nrow(data)))
}

# rvm() fails where one relevance vector is left.
errors <- function(model, from, to) {
  set.seed(1)
  fit <- tryCatch(suppressMessages(suppressWarnings(model(from))), error = function(e) {
    message("failed: ", conditionMessage(e))
  })
  list(fit = fit, mse = if (is.null(fit)) stats::setNames(rep(NA_real_, 4L), constituents)
                        else colMeans((predictions(fit, to) - truth(to))^2))
}

all <- c(models, paper_models, pls_models)
alone <- lapply(all, errors, from = train, to = test)
with_outlier <- lapply(all, errors, from = doughs[calibration, ], to = test)
table_of <- function(found) {
  data.frame(model = names(found), do.call(rbind, lapply(found, `[[`, "mse")), check.names = FALSE,
             row.names = NULL)
}

intervals <- do.call(rbind, lapply(names(c(models, paper_models)), function(name) {
  found <- predict(alone[[name]]$fit, test, interval = "prediction")
  y <- truth(test)
  data.frame(model = name, constituent = constituents,
             coverage = 100 * colMeans(found[, "lower", ] <= y & y <= found[, "upper", ]),
             width = colMeans(found[, "upper", ] - found[, "lower", ]), row.names = NULL)
}))

# Random splits of all 72 samples but the outlier, 39 to fit.
split_errors <- function(data_of) {
  splits <- parallel::mclapply(seq_len(20L), function(k) {
    set.seed(100 + k)
    data <- data_of(k)
    from <- sample(nrow(data), 39L)
    vapply(all, function(model) errors(model, data[from, ], data[-from, ])$mse, numeric(4L))
  }, mc.cores = parallel::detectCores())
  found <- simplify2array(splits)
  mean <- apply(found, 1:2, mean, na.rm = TRUE)
  list(mean = data.frame(model = colnames(mean), t(mean), check.names = FALSE, row.names = NULL),
       se = apply(found, 1:2, stats::sd, na.rm = TRUE) / sqrt(length(splits)),
       failed = apply(is.na(found), 2L, sum) / 4)
}
repeated <- split_errors(function(k) doughs[!outlier, ])

# Responses from the fitted MBRVM (i): its posterior means.
drawn_from <- alone[["MBRVM (i)"]]$fit
expected <- predict(drawn_from, doughs[!outlier, ])
root <- chol(VarCorr(drawn_from)$residual__)
simulated <- split_errors(function(k) {
  out <- doughs[!outlier, ]
  out[constituents] <- expected + matrix(stats::rnorm(length(expected)), nrow(expected)) %*% root
  out
})

# Mean squared errors over the validation set of draws of the functions, and of the degree of a
# polynomial kernel.
spread_of <- function(name) {
  drawn <- posterior_linpred(alone[[name]]$fit, newdata = test)
  kept <- seq(1L, dim(drawn)[1L], length.out = 1000L)
  vapply(1:4, function(j) {
    rowMeans(sweep(drawn[kept, , j], 2L, truth(test)[, j])^2)
  }, numeric(1000L))
}
spreads <- lapply(c("MBRVM (ii)", "MBSVM (ii)"), spread_of)
set.seed(1)
degrees <- bsvm(update(formula, . ~ gp(nir, kernel = kernel_poly(degree = 1:5, offset = 0))), train,
                likelihood = likelihood_gaussian(), prior = list(gp = prior_relevance()),
                engine = chains())
best <- alone[[1L]]$fit
store("cookie", list(
  fit = table_of(alone), outlier = table_of(with_outlier), intervals = intervals,
  splits = repeated$mean, splits_se = repeated$se, simulated = simulated$mean,
  failed = repeated$failed + simulated$failed,
  spreads = lapply(spreads, function(x) signif(x, 3L)),
  degrees = tabulate(degrees$kernels[[1L]], 5L) / length(degrees$kernels[[1L]]),
  correlations = attr(VarCorr(best)$residual__, "correlation"), sampling = best$sampling$seconds
))
