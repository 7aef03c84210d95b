# Point estimates: spam's ridge and lasso beside e1071 and LiblineaR, and 1e5 sparse columns.

source(file.path(getOption("bsvm.bench"), "spam-data.R"), local = TRUE)

variance <- 0.5 # LIBSVM's cost of one

fit_em <- function(data, prior) {
  bsvm(type ~ ., data, likelihood = "hinge", prior = prior, engine = engine_em(),
       standardize = FALSE, control = bsvm_control(tol = 1e-8, verbose = FALSE))
}

run <- function() {
  rbind(spam_figures(), sparse_figures())
}

spam_figures <- function() {
  if (!installed("kernlab")) return(skipped("spam", "The package kernlab is needed."))
  data <- spam_data()
  ridge <- fit_em(data, prior_ridge(variance = variance))
  lasso <- fit_em(data, prior_lasso(nu = 0.1))
  rbind(figure("spam, ridge: relative duality gap", ridge$posterior$gap, "", at_most = 1e-8),
        figure("spam, ridge: systems", ridge$passes, ""),
        figure("spam, lasso: relative duality gap", lasso$posterior$gap, "", at_most = 1e-8),
        figure("spam, lasso: systems", lasso$passes, ""),
        beside_e1071(data), beside_liblinear(data))
}

beside_e1071 <- function(data) {
  if (!installed("e1071")) return(skipped("e1071", "The package e1071 is needed."))
  middle <- median_of(interleaved(list(
    ridge = function() fit_em(data, prior_ridge(variance = variance)),
    lasso = function() fit_em(data, prior_lasso(nu = 0.1)),
    svm = function() e1071::svm(type ~ ., data, kernel = "linear", cost = 2 * variance)
  ), times = 5L))
  rbind(figure("spam, ridge, whole fit", 1e3 * middle[["ridge"]], "ms"),
        figure("spam, lasso, whole fit", 1e3 * middle[["lasso"]], "ms"),
        figure("spam, ridge / e1071 at its default tolerance", middle[["ridge"]] / middle[["svm"]],
               "ratio", at_most = 1 / 4))
}

# Its type 3 penalises the bias, and so does the fit it is beside.
beside_liblinear <- function(data) {
  if (!installed("LiblineaR")) return(skipped("LiblineaR", "The package LiblineaR is needed."))
  x <- as.matrix(data[names(data) != "type"])
  fits <- list(
    bsvm = function() bsvm(x, data$type, likelihood = "hinge", engine = engine_em(),
                           standardize = FALSE,
                           prior = list(prior_ridge(variance = variance),
                                        "(Intercept)" = prior_ridge(variance = variance)),
                           control = bsvm_control(tol = 1e-8, verbose = FALSE)),
    liblinear = function() LiblineaR::LiblineaR(x, data$type, type = 3, cost = 2 * variance)
  )
  middle <- median_of(interleaved(fits, times = 5L))
  theirs <- fits$liblinear()
  b <- theirs$W[c(length(theirs$W), seq_len(ncol(x)))]
  rbind(figure("spam, ridge / LiblineaR type 3", middle[["bsvm"]] / middle[["liblinear"]], "ratio",
               at_most = 1),
        figure("objective / LiblineaR's", fits$bsvm()$posterior$objective /
                 ridge_objective(b, x, data$type, theirs$ClassNames[1L]), "ratio", at_most = 1,
               digits = 8L))
}

ridge_objective <- function(b, x, type, positive) {
  y <- ifelse(type == positive, 1, -1)
  2 * sum(pmax(0, 1 - y * drop(cbind(1, x) %*% b))) + sum(b^2) / (2 * variance)
}

# 10000 rows with 20 entries each in 1e5 columns, one in twenty of which matters.
sparse_data <- function(n = 10000L, p = 100000L, entries = 20L) {
  set.seed(1)
  x <- Matrix::sparseMatrix(i = rep(seq_len(n), each = entries), x = stats::rnorm(n * entries),
                            j = sample.int(p, n * entries, replace = TRUE), dims = c(n, p))
  b <- numeric(p)
  b[sample.int(p, p / 20)] <- stats::rnorm(p / 20, sd = 2)
  list(x = x, y = factor(as.vector(x %*% b) + stats::rnorm(n) > 0))
}

sparse_figures <- function() {
  if (!installed("Matrix")) return(skipped("sparse", "The package Matrix is needed."))
  data <- sparse_data()
  rbind(sparse_figure("ridge", data, prior_ridge(variance = 1)),
        sparse_figure("lasso", data, prior_lasso(nu = 0.1)))
}

sparse_figure <- function(name, data, prior) {
  seconds <- system.time(
    fit <- bsvm(data$x, data$y, likelihood = "hinge", prior = prior, engine = engine_em(),
                standardize = FALSE, control = bsvm_control(tol = 1e-8, verbose = FALSE))
  )[["elapsed"]]
  rbind(figure(paste0("1e5 sparse columns, ", name), seconds, "s"),
        figure(paste0("1e5 sparse columns, ", name, ": relative duality gap"), fit$posterior$gap,
               "", at_most = 1e-8))
}
