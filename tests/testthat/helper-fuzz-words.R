# The fuzzer's vocabulary, as text: columns, formulas, arguments, methods.

fuzz_odd <- c(
  "NULL", "NA", "NaN", "Inf", "-1", "0", "0.5", "1e308", "-1e300", "1e-308", "2147483648", "'x'",
  "character(0)", "list()", "list(1)", "quote(x)", "quote(x + y)", "mean", "c(1, NA)", "1:3", "1i",
  "factor('a')", "as.Date('2020-01-01')", "raw(2)", "new.env()", "~ x", "y ~ x", "data.frame()",
  "matrix(0, 0, 0)", "matrix(NaN, 2, 2)", "structure(list(), class = 'bsvm')", "TRUE", "c(a = 1)",
  "structure(list(), class = c('bsvm_prior', 'bsvm_engine', 'bsvm_missing', 'bsvm_likelihood'))",
  "structure(1, class = 'bsvm_control')", "structure(list(name = 'vb'), class = 'bsvm_engine')"
)
fuzz_numbers <- c(
  "rnorm(n)", "rexp(n)", "seq_len(n)", "round(rnorm(n))", "rep(1, n)", "rep(0, n)", "rnorm(n) > 0",
  "1e15 + seq_len(n)", "1e6 + rnorm(n)", "rnorm(n) * 1e-200", "rnorm(n) * 1e100",
  "rnorm(n) * 1e155", "rnorm(n) * 1e307", "replace(rnorm(n), 1, 1e20)", "replace(rnorm(n), 1, NA)",
  "replace(rnorm(n), 1, NaN)", "replace(rnorm(n), n, Inf)", "rt(n, 1)",
  "I(matrix(rnorm(2 * n), n))", "rep(.Machine$integer.max, n)", "as.complex(rnorm(n))",
  "I(as.list(seq_len(n)))", "rep(NA, n)"
)
fuzz_groups <- c(
  "gl(4, 3, n)", "sample(letters[1:5], n, TRUE)", "sample(3, n, TRUE)",
  "1e15 + rep(1:4, length = n)", "as.POSIXct('2020-01-01') + rep(1:3, length = n) / 7",
  "rep('one', n)", "seq_len(n)", "addNA(factor(sample(c('a', NA), n, TRUE)))",
  "factor(rep('a', n), levels = c('a', 'b'))", "as.Date('2020-01-01') + rep(1:3, length = n)",
  "rep(c('', ' ', '<NA>'), length = n)", "ordered(rep(1:3, length = n))", "rnorm(n) > 0",
  "rep(c(1e5, 0.1, -0), length = n)", "replace(rep('a', n), 1, NA)", "as.raw(rep(1:3, length = n))",
  "rep(c('\\u00e9', 'a:b'), length = n)"
)
fuzz_responses <- c(
  rep("rbinom(n, 1, plogis(a))", 6L), "rnorm(n) > 0", "a > 0", "rep(1, n)", "rep(1:2, length = n)",
  "rep(c('u', 'v'), length = n)", "rep(c(-1, 1), length = n)", "gl(3, 1, n)", "rnorm(n)",
  "factor(rep(c('u', NA), length = n), exclude = NULL)", "replace(rbinom(n, 1, 0.5), 1, NA)",
  "cbind(rbinom(n, 5, 0.5), 5)", "as.Date('2020-01-01') + 0:1", "rbinom(n, 1, 0.03)"
)
fuzz_formulas <- c(
  "y ~ a", "y ~ a + b", "y ~ a + b + f", "y ~ a * f", "y ~ .", "y ~ . - g", "y ~ a + (1 | g)",
  "y ~ a + (a | g)", "y ~ a + (a || g)", "y ~ (1 | g) + (1 | f)", "y ~ b + (1 | g / f)", "y ~ 1",
  "y ~ a + s(b, k = 4)", "y ~ s(a, k = 3) + (1 | g)", "y ~ poly(a, 2)", "y ~ a + offset(b)",
  "y ~ 0", "y ~ a + (1 | g:f)", "y ~ y + a", "y ~ a + nowhere", "~ a", "y ~ (g | a)", "y ~ (f | g)",
  "b ~ a", "y ~ . - g - h + (1 | g)", "y ~ log(a)", "y ~ factor(g)", "y ~ 0 + f",
  "y ~ a:b + I(a^2)", "y ~ g", "`environment<-`(y ~ a, NULL)", "y ~ a + s(b, by = f, k = 3)",
  "y ~ a + (1 | nowhere)", "y ~ -1 + a"
)
# Of each argument what is sensible; what is odd is above.
fuzz_arguments <- list(
  weights = c("rep(2, n)", "rexp(n)", "rep(0:1, length = n)", "w"),
  offset = c("rnorm(n)", "a", "1e5 * a"), subset = c("a > 0", "-1", "seq_len(n %/% 2)"),
  na.action = c("na.omit", "na.exclude", "'na.pass'"),
  contrasts = c("list(f = 'contr.sum')", "list(z = 1)"),
  class.weights = c("c('1' = 5)", "c(u = 2, v = 1)"),
  likelihood = c("'hinge'", "likelihood_hinge(normalized = TRUE)", "likelihood_hinge()"),
  prior = c(
    "prior_ridge()", "prior_flat()", "prior_ridge(variance = prior_half_t())",
    "prior_ridge(variance = 1e300)", "prior_ridge(variance = 1e-300)", "list(a = prior_flat())",
    "prior_bridge()", "prior_lasso()", "prior_spike_slab()", "prior_laplace_zero()",
    "prior_relevance()", "list(g = prior_ridge(variance = 2))"
  ),
  missing = c("'omit'", "missing_normal()", "missing_selection()"), standardize = "FALSE",
  engine = c(
    "'vb'", "'gaussian'", "'map'", "'em'", "engine_slice(draws = 20, burnin = 20, chains = 2)",
    "engine_gibbs(draws = 20, burnin = 20, chains = 2)", "engine_vb(accelerate = FALSE)",
    "engine_gibbs(draws = 5, burnin = mean)", "'ecme'"
  ),
  keep_data = c("TRUE", "FALSE"), drop.unused.levels = "FALSE",
  control = c("bsvm_control(max_passes = 3)", "bsvm_control(start = 1)")
)

fuzz_methods <- list(
  predict = list(
    newdata = c("new", "new[0, ]", "new['a']", "as.matrix(new['a'])"), interval = "TRUE",
    type = c("'class'", "'link'", "'prob'", "'response'"), re_formula = c("NA", "~ (1 | g)"),
    allow_new_levels = "TRUE", threshold = "0.2", level = "0.5", map = "'probit'",
    costs = "c('0' = 1, '1' = 5)", na.action = "na.omit", group = "as.list(new)$g", offset = "n"
  ),
  summary = list(level = "0.5"), print = list(n = "2", digits = "3"),
  ranef = list(level = "0.9", sd = "FALSE"), nobs = list(), terms = list(),
  confint = list(parm = c("1", "'a'"), level = "0.5", method = "'linear_response'"),
  tidy = list(effects = c("'fixed'", "c('fixed', 'ran_vals')"), conf.int = "TRUE"),
  augment = list(newdata = "new", data = "d", prob = "TRUE", sd = "TRUE"),
  update = list(formula. = ". ~ . + b", engine = "'vb'", data = "new"),
  posterior_linpred = list(newdata = "new", draws = "10"), "posterior::as_draws" = list(),
  posterior_predict = list(newdata = "new"), posterior_epred = list(draws = "10"),
  check_approximation = list(draws = "50"), bsvm_control = list(start = "fit"),
  simulate = list(nsim = "2"), coef = list(), fitted = list(), fixef = list(), VarCorr = list(),
  vcov = list(), glance = list(), model.frame = list(), model.matrix = list(), weights = list(),
  formula = list(), elbo = list(), residuals = list(), log_lik = list(), "loo::loo" = list(),
  "bayesplot::pp_check" = list(), inclusion = list(), imputed = list(), logLik = list(),
  calibration = list(), plot = list(), prior_summary = list(), integrated_loglik = list()
)

# What may be wrong with a data frame `d` of `n` rows.
fuzz_damages <- c(
  "names(d)[2] <- 'a b'", "names(d)[2] <- ''", "d$b <- NULL", "names(d)[3] <- 'a'",
  "names(d)[2] <- strrep('x', 9999)", "names(d)[2] <- '(Intercept)'", "d <- as.list(d)",
  "d <- as.matrix(d)", "names(d)[2] <- '.'", "row.names(d) <- paste0('r', 1:n)",
  "d$f <- unclass(d$f)", "attr(d$f, 'levels') <- NULL", "d <- d[c(1, 1, 1), ]"
)
fuzz_matrices <- c(
  "data.matrix(as.data.frame(d))", "matrix(rnorm(3 * NROW(d)), NROW(d))", "d",
  "Matrix::Matrix(diag(2)[rep(1:2, length = NROW(d)), ], sparse = TRUE)"
)
