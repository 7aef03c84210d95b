# check_approximation() against the truth: 200 fits of simulated data by every approximate engine,
# with and without random intercepts, few rows and many, independent and correlated columns, both
# likelihoods. The truth are long chains of engine_slice(). Results of each fit and quantity are
# stored in results/check-fits.csv.

check_designs <- function() {
  plain <- expand.grid(n = c(25L, 60L, 200L), p = c(2L, 5L), correlation = c(0, 0.6, 0.95),
                       levels = 0L, turn = 1:3)
  groups <- expand.grid(n = c(60L, 150L, 300L), p = c(1L, 3L), correlation = c(0, 0.6),
                        levels = c(6L, 15L), turn = 1:2)
  designs <- rbind(plain, groups)
  designs$seed <- seq_len(nrow(designs))
  designs$likelihood <- rep_len(c("pseudo", "normalised"), nrow(designs))
  designs$prior <- ifelse(designs$turn == 2L, "inverse gamma", "half-t")
  designs
}

check_likelihoods <- list(pseudo = likelihood_hinge(),
                          normalised = likelihood_hinge(normalized = TRUE))

# Columns with this correlation, effects of 1, -0.5, 0, ...; group effects of standard deviation 1.
check_data <- function(design) {
  set.seed(700L + design$seed)
  n <- design$n
  common <- stats::rnorm(n)
  x <- sqrt(design$correlation) * common +
    sqrt(1 - design$correlation) * matrix(stats::rnorm(n * design$p), n)
  colnames(x) <- paste0("x", seq_len(design$p))
  link <- drop(x %*% rep_len(c(1, -0.5, 0), design$p))
  d <- data.frame(x)
  if (design$levels > 0L) {
    d$g <- factor(rep_len(seq_len(design$levels), n))
    link <- link + stats::rnorm(design$levels)[d$g]
  }
  d$y <- stats::rbinom(n, 1L, stats::plogis(link))
  if (length(unique(d$y)) < 2L) d$y[1L] <- 1 - d$y[1L]
  d
}

check_model <- function(design, engine) {
  formula <- stats::reformulate(c(paste0("x", seq_len(design$p)),
                                  if (design$levels > 0L) "(1 | g)"), "y")
  ridge <- prior_ridge(variance = if (design$prior == "half-t") prior_half_t()
                                  else prior_inv_gamma(0.01, 0.01))
  prior <- if (design$levels > 0L) list(prior_ridge(variance = 6.25), g = ridge) else ridge
  suppressWarnings(bsvm(formula, check_data(design), engine = engine, keep_data = TRUE,
                        likelihood = check_likelihoods[[design$likelihood]], prior = prior))
}

# A row a quantity of the true posterior; `error` the Monte Carlo error of its mean, in sds.
check_truth <- function(design) {
  set.seed(design$seed)
  exact <- check_model(design, engine_slice(draws = 4000, burnin = 500, chains = 4,
                                            keep_effects = FALSE))
  names <- c(names(fixef(exact)), if (design$levels > 0L) "g" else "slopes")
  draws <- posterior::as_draws_matrix(exact)
  draws <- draws[, seq_along(names)]
  last <- length(names)
  if (design$levels == 0L) draws[, last] <- sqrt(draws[, last])
  data.frame(true_mean = colMeans(draws), true_sd = apply(draws, 2L, stats::sd),
             true_error = 1 / sqrt(apply(draws, 2L, posterior::ess_mean)))
}

check_engines <- function(design) {
  c(if (design$likelihood == "pseudo") "vb", "gaussian", if (design$levels > 0L) "map")
}

# A row a quantity, NULL where the engine has no standard deviations.
check_one <- function(design, engine, truth) {
  fit <- check_model(design, engine)
  if (isTRUE(fit$posterior$point)) return(NULL)
  set.seed(design$seed)
  started <- proc.time()
  check <- withCallingHandlers(check_approximation(fit), bsvm_warning_approximation = function(w) {
    invokeRestart("muffleWarning")
  })
  taken <- proc.time() - started
  data.frame(design[c("seed", "n", "p", "correlation", "levels", "likelihood", "prior")],
             engine = engine,
             quantity = rownames(check$table), check$table, truth, k = check$pareto_k,
             method = check$method, draws = check$draws, ess = check$ess,
             close = all(check$table$trust %in% TRUE),
             seconds = sum(taken[c("user.self", "sys.self")]), row.names = NULL)
}

check_rows <- function(designs = check_designs()) {
  rows <- lapply(seq_len(nrow(designs)), function(i) {
    design <- designs[i, ]
    row.names(design) <- NULL
    truth <- check_truth(design)
    do.call(rbind, lapply(check_engines(design), function(engine) check_one(design, engine, truth)))
  })
  do.call(rbind, rows)
}

# What the fit, or the corrected values, are off by: in limits of 0.1 sd and 10 %.
in_limits <- function(rows, mean, sd) {
  pmax(abs(rows[[mean]] - rows$true_mean) / rows$true_sd / 0.1,
       abs(log(rows[[sd]] / rows$true_sd)) / log(1.1), na.rm = TRUE)
}

check_figures <- function(rows) {
  rows$off <- in_limits(rows, "mean", "sd")
  rows$left <- in_limits(rows, "mean_corrected", "sd_corrected")
  fit <- interaction(rows$seed, rows$engine, drop = TRUE)
  said <- tapply(rows$close, fit, all)
  worst <- tapply(rows$off, fit, max)
  told <- !is.na(rows$mean_corrected) & !is.na(rows$sd_corrected)
  wrong <- rows$off > 1
  list(said = said, worst = worst, told = told, wrong = wrong, rows = rows)
}

store_check <- function(rows) {
  numbers <- vapply(rows, is.double, TRUE)
  rows[numbers] <- lapply(rows[numbers], signif, 5L)
  utils::write.csv(rows, results_file("check-fits.csv"), row.names = FALSE)
}

check_summary <- function(rows) {
  found <- check_figures(rows)
  own <- found$rows[found$told, ]
  wrong <- found$wrong[found$told]
  seconds <- tapply(rows$seconds, interaction(rows$seed, rows$engine, drop = TRUE), max)
  rbind(
    figure("fits", length(found$said), "fits"),
    figure("fits off by more than 0.1 sd or 10 %", sum(found$worst > 1), "fits"),
    figure("fits said to be close", sum(found$said), "fits"),
    figure("fits said to be close that are off", mean(found$said & found$worst > 1), "share",
           at_most = 0.02),
    figure("quantities that are off: corrected values nearer",
           mean(own$left[wrong] < own$off[wrong]), "share", at_least = 0.95),
    figure("other quantities: corrected values within 0.1 sd and 10 %",
           mean(own$left[!wrong] <= 1), "share", at_least = 0.95),
    figure("quantities whose corrected values are not given", mean(!found$told), "share"),
    figure("processor time of a check, median", stats::median(seconds), "s"),
    figure("processor time of a check, largest", max(seconds), "s")
  )
}

run <- function() {
  rows <- check_rows()
  store_check(rows)
  check_summary(rows)
}
