# Support vector regression: sleepstudy against exact draws, a million rows, spam's predictors beside
# epsilon-SVR, effective draws beside Stan, and coverage.

for (part in c("large-groups-data.R", "memory.R", "spam-data.R"))
  source(file.path(getOption("bsvm.bench"), part), local = TRUE)

tube <- likelihood_eps_insensitive()
quiet <- bsvm_control(verbose = FALSE)

run <- function() {
  rbind(sleepstudy_figures(), size_figures(), spam_figures(), stan_beside(), coverage_figures())
}

sleepstudy_model <- Reaction ~ Days + (Days | Subject)

# Of coefficients, scale, nu and the groups' standard deviations.
moments <- function(fit) {
  draws <- posterior::as_draws_matrix(fit)
  draws <- draws[, !grepl("^(b_|cov_)", colnames(draws))]
  list(mean = colMeans(draws), sd = apply(draws, 2L, stats::sd))
}

sleepstudy_figures <- function() {
  if (!installed(c("lme4", "posterior"))) return(skipped("sleepstudy", "lme4 and posterior are needed."))
  data <- lme4::sleepstudy
  default <- function() bsvm(sleepstudy_model, data, likelihood = tube, control = quiet)
  set.seed(2)
  exact <- moments(update(default(), engine = engine_slice(draws = 20000L, burnin = 1000L)))
  seen <- moments(default())
  shift <- abs(seen$mean - exact$mean) / exact$sd
  ratio <- abs(log(seen$sd / exact$sd))
  gaussian <- update(default(), engine = "gaussian")
  names <- names(fixef(gaussian))
  rbind(figure("sleepstudy, default", median_of(interleaved(list(default)))[[1L]], "s", at_most = 1.5),
        figure("sleepstudy, default: largest shift of a mean", max(shift), "sd", at_most = 0.1),
        figure("sleepstudy, default: largest error of a sd", 100 * max(ratio), "%", at_most = 5),
        figure("sleepstudy, Gaussian: largest shift of a coefficient",
               max(abs(fixef(gaussian) - exact$mean[names]) / exact$sd[names]), "sd", at_most = 0.1),
        figure("sleepstudy, Gaussian: largest error of a coefficient's sd",
               100 * max(abs(log(sqrt(diag(vcov(gaussian))) / exact$sd[names]))), "%", at_most = 5))
}

# A million rows in 100 000 groups by engine_vb(), beside the classifier.
size_figures <- function() {
  input <- large_groups(1e6)
  data <- as_rows(input)
  data$z <- drop(input$x %*% seq(-1, 1, length.out = 10L)) + stats::rnorm(1e5)[input$g] +
    stats::rt(1e6, 3)
  formula <- stats::update(large_formula, z ~ .)
  fit <- function(formula, likelihood) {
    seconds(function() bsvm(formula, data, prior = list(prior_flat(), g = prior_ridge()),
                            likelihood = likelihood, engine = engine_vb(), control = quiet,
                            keep_data = FALSE))
  }
  classes <- fit(large_formula, "hinge")
  given <- fit(formula, likelihood_eps_insensitive(epsilon = 0.5, scale = 1))
  inferred <- fit(formula, tube)
  rbind(figure("1e6 rows, scale and tube given / classifier", given / classes, "ratio", at_most = 2),
        figure("1e6 rows, inferred / classifier", inferred / classes, "ratio", at_most = 5),
        figure("1e6 rows, inferred", inferred, "s"),
        memory_rows(measure_memory("large-groups-memory.R", "numbers", data), "1e6 rows, inferred",
                    2.2))
}

# Spam's predictors and a response made of them with heavy tails.
spam_response <- function() {
  x <- as.matrix(spam_data()[names(spam_data()) != "type"])
  set.seed(1)
  list(x = x, y = drop(x %*% stats::rnorm(ncol(x))) + 2 * stats::rt(nrow(x), 2))
}

spam_figures <- function(variance = 1, scale = 1, epsilon = 0.5) {
  if (!installed(c("kernlab", "e1071"))) return(skipped("spam", "kernlab and e1071 are needed."))
  data <- spam_response()
  fit <- function() {
    bsvm(data$x, data$y, prior = prior_ridge(variance = variance), standardize = FALSE,
         likelihood = likelihood_eps_insensitive(epsilon = epsilon, scale = scale),
         engine = engine_em(), control = bsvm_control(tol = 1e-8, verbose = FALSE))
  }
  svm <- function() {
    e1071::svm(data$x, data$y, type = "eps-regression", kernel = "linear", cost = variance / scale,
               epsilon = epsilon, scale = FALSE)
  }
  ours <- fit()
  middle <- median_of(interleaved(list(ours = fit, svm = svm), times = 3L))
  out <- rbind(
    figure("spam, mode: relative duality gap", ours$posterior$gap, "", at_most = 1e-6),
    figure("spam, mode", 1e3 * middle[["ours"]], "ms"),
    figure("spam, mode / e1071 eps-regression", middle[["ours"]] / middle[["svm"]], "ratio",
           at_most = 1 / 4)
  )
  if (!installed("LiblineaR")) return(rbind(out, skipped("LiblineaR", "LiblineaR is needed.")))
  rival <- function() {
    LiblineaR::LiblineaR(data$x, data$y, type = 13, cost = variance / scale, svr_eps = epsilon)
  }
  middle <- median_of(interleaved(list(ours = fit, rival = rival), times = 3L))
  rbind(out, figure("spam, mode / LiblineaR type 13", middle[["ours"]] / middle[["rival"]], "ratio",
                    at_most = 10))
}

# Another likelihood with the same formula.
stan_beside <- function() {
  if (!installed(c("rstanarm", "rstan", "lme4"))) return(skipped("Stan", "rstanarm is needed."))
  data <- lme4::sleepstudy
  fit <- bsvm(sleepstudy_model, data, likelihood = tube, control = quiet,
              engine = engine_slice(draws = 2000L, burnin = 1000L, chains = 1L))
  ess <- function(draws, names) {
    min(apply(draws[, , names, drop = FALSE], 3L, posterior::ess_bulk))
  }
  own <- posterior::as_draws_array(fit)
  names <- grep("^(b_|cov_)", posterior::variables(own), value = TRUE, invert = TRUE)
  rate <- ess(own, names) / fit$sampling$seconds
  seen <- suppressWarnings(rstanarm::stan_glmer(sleepstudy_model, data, chains = 1L, iter = 2000L,
                                                seed = 1L, refresh = 0L))$stanfit
  theirs <- posterior::as_draws_array(seen)
  kept <- grep("^b\\[|mean_PPD|log-posterior", posterior::variables(theirs), value = TRUE, invert = TRUE)
  stan <- ess(theirs, kept) / sum(rstan::get_elapsed_time(seen))
  rbind(figure("sleepstudy, slice: smallest effective sample size a second", rate, "1/s"),
        figure("sleepstudy, slice / rstanarm's stan_glmer", rate / stan, "ratio", at_least = 10))
}

# Coverage of 95 % intervals by default, of the slope, new responses and the groups' standard
# deviation, of data from the density itself and others.
residual_draws <- list(
  "its own density" = function(n) {
    outside <- stats::runif(n) < 0.6
    sign <- sample(c(-1, 1), n, TRUE)
    sign * ifelse(outside, 2 / 3 + stats::rexp(n), 2 / 3 * stats::runif(n)) # nu 0.6, scale 1
  },
  normal = function(n) stats::rnorm(n), t3 = function(n) stats::rt(n, 3),
  contaminated = function(n) stats::rnorm(n) * ifelse(stats::runif(n) < 0.1, 6, 1)
)

covered <- function(seed, draw, n = 120L, m = 12L) {
  set.seed(seed)
  new <- seq_len(n + 20L) > n
  g <- factor(rep_len(seq_len(m), n + 20L))
  x <- stats::rnorm(n + 20L)
  data <- data.frame(x, g, y = 1 + 0.5 * x + stats::rnorm(m)[g] + draw(n + 20L))
  fit <- suppressWarnings(bsvm(y ~ x + (1 | g), data[!new, ], likelihood = tube, control = quiet))
  inside <- function(value, limits) limits[1L] <= value && value <= limits[2L]
  limits <- predict(fit, data[new, ], interval = "prediction")
  sd <- generics::tidy(fit, effects = "ran_pars", conf.int = TRUE)
  c(slope = inside(0.5, confint(fit)["x", ]),
    "new responses" = mean(data$y[new] >= limits$lower & data$y[new] <= limits$upper),
    "group sd" = inside(1, c(sd$conf.low, sd$conf.high)))
}

coverage_figures <- function(times = 300L) {
  do.call(rbind, lapply(names(residual_draws), function(name) {
    seen <- rowMeans(vapply(seq_len(times), covered, c(0, 0, 0), residual_draws[[name]]))
    own <- name == "its own density"
    do.call(rbind, lapply(names(seen), function(what) {
      figure(paste0("coverage, ", name, ": ", what), 100 * seen[[what]], "%",
             near = if (own) 95, within = if (own) 2)
    }))
  }))
}
