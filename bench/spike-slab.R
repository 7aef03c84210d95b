# Spike and slab by Gibbs sampling. On spam (pi = 0.01, nu = 1): a sweep beside one dsyrk by
# OpenBLAS and n inverse-Gaussian draws, and how quickly the indicators that are neither certain nor
# hopeless mix beside the sampler of 000, Appendix B, in plain R, each of whose sweeps is given the
# time of that bound. Then 5000 columns and 100 rows.

for (part in c("spam-gibbs.R", "spam-data.R"))
  source(file.path(getOption("bsvm.bench"), part), local = TRUE)

run <- function() {
  if (!installed(c("kernlab", "posterior")))
    return(skipped("spike-slab", "The packages kernlab and posterior are needed."))
  data <- spam_data()
  reasons <- c(sweep_limit_missing(), blas_missing())
  if (any(nzchar(reasons)))
    return(rbind(skipped("a sweep / its bound", paste(reasons, collapse = " ")), wide_figures()))
  bound <- spam_bound(data)
  sweeps <- lapply(c(`TRUE` = TRUE, `FALSE` = FALSE), spam_selection, data = data, bound = bound)
  rbind(sweep_rows_of(sweeps), indicator_figures(data, sweeps), wide_figures())
}

selecting_prior <- function() prior_spike_slab(pi = 0.01, nu = 1)

spam_selection <- function(mixing, data, bound) {
  engine <- engine_gibbs(draws = 500L, burnin = 500L, chains = 1L, mixing = mixing)
  spec <- bsvm_spec(bsvm_frame(type ~ ., data), selecting_prior(), "hinge", engine,
                    standardize = FALSE)
  sweep_and_bound(spec, bound)
}

bound_of <- function(seen) sum(seen[c("draws", "syrk")])

sweep_rows_of <- function(sweeps) {
  do.call(rbind, lapply(names(sweeps), function(mixing) {
    seen <- sweeps[[mixing]]
    name <- function(what) sprintf("mixing = %s: %s", mixing, what)
    rbind(figure(name("a sweep"), 1e3 * seen[["sweep"]], "ms"),
          figure(name("OpenBLAS dsyrk + n inverse-Gaussian draws"), 1e3 * bound_of(seen), "ms"),
          figure(name("a sweep / (dsyrk + draws)"), seen[["sweep"]] / bound_of(seen), "ratio",
                 at_most = 2))
  }))
}

# ---- how quickly indicators mix -----------------------------------------------------------------

draws_of_core <- 50000L # after as many, two chains side by side on two cores
draws_of_appendix <- 10000L

fit_chains <- function(data, draws, chains) {
  engine <- engine_gibbs(draws = draws, burnin = draws, chains = chains)
  suppressWarnings(bsvm(type ~ ., data, likelihood = "hinge", prior = selecting_prior(),
                        engine = engine, standardize = FALSE,
                        control = bsvm_control(threads = chains)),
                   classes = "bsvm_warning")
}

# Smallest effective size per draw, over the indicators that the package's long run has between.
indicator_figures <- function(data, sweeps) {
  set.seed(1)
  ours <- NULL
  taken <- seconds(function() ours <<- fit_chains(data, draws_of_core, 2L))
  alone <- seconds(function() fit_chains(data, 5000L, 1L))
  both <- seconds(function() fit_chains(data, 5000L, 2L))
  g <- lapply(1:2, indicators, fit = ours)
  p <- vapply(g, colMeans, numeric(ncol(g[[1L]])))
  between <- abs(rowMeans(p) - 0.5) < 0.45
  set.seed(1)
  theirs <- appendix_b(data, draws_of_appendix)
  size <- function(g) apply(g[, between, drop = FALSE], 2L, effective_size) / nrow(g)
  own <- rowMeans(vapply(g, size, numeric(sum(between))))
  rate <- c(min(own) / sweeps[["TRUE"]][["sweep"]], min(size(theirs)) / bound_of(sweeps[["TRUE"]]))
  rbind(figure("two chains of 50000 + 50000 draws on two cores", taken, "s"),
        figure("two chains on two cores / one on one", both / alone, "ratio"),
        figure("indicators between 0.05 and 0.95", sum(between), ""),
        figure("largest difference between the chains' probabilities", max(abs(p[, 1L] - p[, 2L])),
               ""),
        figure("smallest effective size a second", rate[1L], "1/s"),
        figure("median effective size a second", stats::median(own) / sweeps[["TRUE"]][["sweep"]],
               "1/s"),
        figure("the smallest, Appendix B at the bound's speed", rate[2L], "1/s"),
        figure("ratio", rate[1L] / rate[2L], "ratio", at_least = 20))
}

indicators <- function(chain, fit) t(fit$posterior$coefficients[-1L, , chain] != 0) * 1

# One that never moved tells nothing at all.
effective_size <- function(g) if (stats::var(g) > 0) posterior::ess_basic(g) else 0

# 000, Appendix B, with this prior: v given g, then each g_k given v and the others.
appendix_b <- function(data, draws, pi = 0.01, nu = 1) {
  x <- cbind(1, as.matrix(data[-match("type", names(data))]))
  y <- ifelse(as.integer(data$type) == 2L, 1, -1)
  precision <- c(1e-8, rep(nu^-2, ncol(x) - 1L))
  g <- c(1, rep(0, ncol(x) - 1L))
  v <- numeric(ncol(x))
  kept <- matrix(0, draws, ncol(x) - 1L)
  for (sweep in seq_len(2L * draws)) {
    w <- inverse_scales(abs(1 - y * drop(x %*% (g * v))))
    s <- crossprod(x * sqrt(w))
    h <- drop(crossprod(x, y * (1 + w)))
    root <- chol(s * tcrossprod(g) + diag(precision))
    v <- backsolve(root, backsolve(root, g * h, transpose = TRUE) + stats::rnorm(ncol(x)))
    g <- appendix_indicators(g, v, s, h, stats::qlogis(pi))
    if (sweep > draws) kept[sweep - draws, ] <- g[-1L]
  }
  kept
}

appendix_indicators <- function(g, v, s, h, odds) {
  for (k in seq_along(g)[-1L]) {
    g[k] <- 0
    gain <- v[k] * (h[k] - sum(s[k, ] * g * v)) - s[k, k] * v[k]^2 / 2
    g[k] <- stats::runif(1L) < stats::plogis(odds + gain)
  }
  g
}

# Inverse Gaussian with mean 1/r and shape 1.
inverse_scales <- function(r) {
  z <- stats::rnorm(length(r))^2
  x <- 1 / (r + z / 2 + sqrt(z) * sqrt(r + z / 4))
  ifelse(stats::runif(length(r)) * (1 + x * r) <= 1, x, 1 / (x * r^2))
}

# ---- many columns -------------------------------------------------------------------------------

wide_figures <- function(n = 100L, p = 5000L) {
  set.seed(1)
  x <- matrix(stats::rnorm(n * p), n)
  y <- ifelse(x[, 1L] - x[, 2L] + stats::rnorm(n) / 2 > 0, 1, -1)
  sweep_of <- function(mixing) {
    engine <- engine_gibbs(draws = 200L, burnin = 200L, chains = 1L, mixing = mixing)
    spec <- bsvm_spec(bsvm_frame(x = x, y = y), prior_spike_slab(size = 5), "hinge", engine)
    figure(sprintf("p = %d, n = %d, mixing = %s: a sweep", p, n, mixing),
           1e3 * processor_seconds(function() suppressWarnings(bsvm_run(spec))) / 400, "ms",
           at_most = 50)
  }
  rbind(sweep_of(TRUE), sweep_of(FALSE))
}
