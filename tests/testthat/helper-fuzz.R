# A fuzzer: random calls of the package's functions, most of them sensible, many with an argument
# that is not, each written down before it is made. A batch of calls is a function of its seed
# alone, and runs in an R of its own, so that a crash or a hang costs the batch and names the call.
# By hand: source() this file and look at fuzz_study(seeds).

fuzz_pick <- function(x, k = 1L) x[sample.int(length(x), k, replace = k > length(x))]
fuzz_chance <- function(p) stats::runif(1) < p

# ---- what there is to choose from, as text --------------------------------------------------

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
  "replace(rnorm(n), 1, NaN)", "replace(rnorm(n), n, Inf)", "rt(n, 1)", "I(matrix(rnorm(2 * n), n))",
  "rep(.Machine$integer.max, n)", "as.complex(rnorm(n))", "I(as.list(seq_len(n)))", "rep(NA, n)"
)
fuzz_groups <- c(
  "gl(4, 3, n)", "sample(letters[1:5], n, TRUE)", "sample(3, n, TRUE)", "1e15 + rep(1:4, length = n)",
  "as.POSIXct('2020-01-01') + rep(1:3, length = n) / 7", "rep('one', n)", "seq_len(n)",
  "addNA(factor(sample(c('a', NA), n, TRUE)))", "factor(rep('a', n), levels = c('a', 'b'))",
  "as.Date('2020-01-01') + rep(1:3, length = n)", "rep(c('', ' ', '<NA>'), length = n)",
  "ordered(rep(1:3, length = n))", "rnorm(n) > 0", "rep(c(1e5, 0.1, -0), length = n)",
  "replace(rep('a', n), 1, NA)", "as.raw(rep(1:3, length = n))", "rep(c('\\u00e9', 'a:b'), length = n)"
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
  "y ~ a + s(b, k = 4)", "y ~ s(a, k = 3) + (1 | g)", "y ~ poly(a, 2)", "y ~ a + offset(b)", "y ~ 0",
  "y ~ a + (1 | g:f)", "y ~ y + a", "y ~ a + nowhere", "~ a", "y ~ (g | a)", "y ~ (f | g)", "b ~ a",
  "y ~ . - g - h + (1 | g)", "y ~ log(a)", "y ~ factor(g)", "y ~ 0 + f", "y ~ a:b + I(a^2)", "y ~ g",
  "`environment<-`(y ~ a, NULL)", "y ~ a + s(b, by = f, k = 3)", "y ~ a + (1 | nowhere)", "y ~ -1 + a"
)
# Of each argument what is sensible; what is odd is above.
fuzz_arguments <- list(
  weights = c("rep(2, n)", "rexp(n)", "rep(0:1, length = n)", "w"), offset = c("rnorm(n)", "a", "1e5 * a"),
  subset = c("a > 0", "-1", "seq_len(n %/% 2)"), na.action = c("na.omit", "na.exclude", "'na.pass'"),
  contrasts = c("list(f = 'contr.sum')", "list(z = 1)"), class.weights = c("c('1' = 5)", "c(u = 2, v = 1)"),
  likelihood = c("'hinge'", "likelihood_hinge(normalized = TRUE)", "likelihood_hinge()"),
  prior = c("prior_ridge()", "prior_flat()", "prior_ridge(variance = prior_half_t())",
            "prior_ridge(variance = 1e300)", "prior_ridge(variance = 1e-300)", "list(a = prior_flat())",
            "prior_bridge()", "prior_lasso()", "prior_spike_slab()", "prior_laplace_zero()",
            "list(g = prior_ridge(variance = 2))"),
  missing = c("'omit'", "missing_normal()", "missing_selection()"), standardize = "FALSE",
  engine = c("'vb'", "'gaussian'", "'map'", "'em'", "engine_slice(draws = 20, burnin = 20, chains = 2)",
             "engine_gibbs(draws = 20, burnin = 20, chains = 2)", "engine_vb(accelerate = FALSE)",
             "engine_gibbs(draws = 5, burnin = mean)", "'ecme'"),
  keep_data = c("TRUE", "FALSE"), control = c("bsvm_control(max_passes = 3)", "bsvm_control(start = 1)"),
  drop.unused.levels = "FALSE"
)
fuzz_methods <- list(
  predict = list(newdata = c("new", "new[0, ]", "new['a']", "as.matrix(new['a'])"), interval = "TRUE",
                 type = c("'class'", "'link'", "'prob'", "'response'"), re_formula = c("NA", "~ (1 | g)"),
                 allow_new_levels = "TRUE", threshold = "0.2", level = "0.5", map = "'probit'",
                 costs = "c('0' = 1, '1' = 5)", na.action = "na.omit", group = "new$g", offset = "new$b"),
  summary = list(level = "0.5"), print = list(n = "2", digits = "3"), coef = list(), fitted = list(),
  fixef = list(), ranef = list(level = "0.9", sd = "FALSE"), VarCorr = list(), vcov = list(),
  confint = list(parm = c("1", "'a'"), level = "0.5", method = "'linear_response'"), tidy = list(
    effects = c("'fixed'", "c('fixed', 'ran_vals')"), conf.int = "TRUE", conf.level = "0.5"),
  glance = list(), augment = list(newdata = "new", data = "d", prob = "TRUE", sd = "TRUE"), nobs = list(),
  model.frame = list(), model.matrix = list(), weights = list(), formula = list(), terms = list(),
  update = list(formula. = ". ~ . + b", engine = "'vb'", data = "new"), elbo = list(), residuals = list(),
  "posterior::as_draws" = list(), posterior_linpred = list(newdata = "new", draws = "10"), log_lik = list(),
  posterior_predict = list(newdata = "new"), posterior_epred = list(draws = "10"), "loo::loo" = list(),
  "bayesplot::pp_check" = list(), inclusion = list(), imputed = list(), logLik = list(), calibration = list(),
  check_approximation = list(draws = "50"), plot = list(), simulate = list(nsim = "2"),
  prior_summary = list(), integrated_loglik = list(), bsvm_control = list(start = "fit")
)

# ---- calls ----------------------------------------------------------------------------------

fuzz_data <- function() {
  odd <- fuzz_chance(0.4)
  column <- function(from, sane) if (odd && fuzz_chance(0.4)) fuzz_pick(from) else fuzz_pick(sane)
  n <- if (fuzz_chance(0.1)) fuzz_pick(c(0, 1, 2, 3, 5)) else fuzz_pick(c(12, 30, 60))
  a <- column(fuzz_numbers, "rnorm(n)")
  y <- column(fuzz_responses, fuzz_responses[1:6])
  text <- sprintf("local({ n <- %d; a <- %s; d <- list(a = a, b = %s, f = %s, g = %s, y = %s, w = rep(1, n));
    d <- structure(d, class = 'data.frame', row.names = seq_len(n)); %s; d })", n, a,
    column(fuzz_numbers, "rnorm(n)"), column(fuzz_groups, fuzz_groups[1:3]),
    column(fuzz_groups, fuzz_groups[1:3]), if (a %in% fuzz_numbers[1:12]) y else "rep(0:1, length = n)",
    if (odd && fuzz_chance(0.2)) fuzz_pick(c("names(d)[2] <- 'a b'", "names(d)[2] <- ''", "d$b <- NULL",
      "names(d)[3] <- 'a'", "names(d)[2] <- strrep('x', 9999)", "names(d)[2] <- '(Intercept)'",
      "d <- as.list(d)", "d <- as.matrix(d)", "names(d)[2] <- '.'", "row.names(d) <- paste0('r', 1:n)",
      "d$f <- unclass(d$f)", "attr(d$f, 'levels') <- NULL", "d <- d[c(1, 1, 1), ]"))
    else "NULL")
}

fuzz_call <- function(name, first, arguments, share) {
  taken <- names(arguments)[stats::runif(length(arguments)) < share]
  values <- vapply(taken, function(a) {
    if (fuzz_chance(0.2)) fuzz_pick(fuzz_odd) else fuzz_pick(arguments[[a]])
  }, "")
  sprintf("%s(%s)", name, paste(c(first, sprintf("%s = %s", taken, values)), collapse = ", "))
}

fuzz_fit <- function() {
  if (fuzz_chance(0.1)) {
    return(fuzz_call("bsvm", c(fuzz_pick(c("as.matrix(d[c('a', 'b')])", "Matrix::Matrix(cbind(d$a, 0), sparse = TRUE)",
      "matrix(rnorm(90), nrow(d))", "d", fuzz_odd)), "d$y"), c(fuzz_arguments[-3], list(group = "d$g")), 0.1))
  }
  formula <- fuzz_pick(if (fuzz_chance(0.6)) fuzz_formulas[1:15] else fuzz_formulas)
  fuzz_call("bsvm", c(formula, if (fuzz_chance(0.02)) fuzz_pick(fuzz_odd) else "d"), fuzz_arguments, 0.06)
}

# A fit in which something was replaced at the first or second level.
fuzz_changed <- function(fit) {
  name <- fuzz_pick(names(fit))
  inner <- if (is.list(fit[[name]]) && !is.null(names(fit[[name]])) && fuzz_chance(0.5)) fuzz_pick(names(fit[[name]]))
  sprintf("{ bad <- fit; bad[[%s]] <- %s; bad }", deparse1(c(name, inner)), fuzz_pick(fuzz_odd[-1]))
}

fuzz_use <- function(fit) {
  name <- fuzz_pick(names(fuzz_methods))
  text <- fuzz_call(name, "fit", fuzz_methods[[name]], 0.25)
  if (fuzz_chance(0.15)) text <- sprintf("local({ fit <- %s; %s })", fuzz_changed(fit), text)
  text
}

fuzz_bare <- function() {
  exported <- setdiff(getNamespaceExports("bsvm"), "prior_summary") # of another package
  name <- fuzz_pick(grep("^(engine_|prior_|likelihood_|missing_|bsvm|new_|holdout|cross_|tuned)", exported, value = TRUE))
  known <- setdiff(names(formals(getExportedValue("bsvm", name))), "...")
  fuzz_call(name, character(), stats::setNames(rep(list(fuzz_odd), length(known)), known), 0.3)
}

# ---- batches --------------------------------------------------------------------------------

# What became of a call: "value", the class of an error of the package's own, "stopped" where a time
# limit or a signal was at work, or "unclassed: " and the message.
fuzz_outcome <- function(text, home, stopping) {
  on.exit(setTimeLimit())
  tryCatch({
    value <- suppressMessages(suppressWarnings(eval(parse(text = text, keep.source = FALSE), home)))
    if (inherits(value, "bsvm") && grepl("^(bsvm|update)", text)) home$fit <- value
    "value"
  }, bsvm_error = function(e) class(e)[1L], interrupt = function(e) "stopped", error = function(e) {
    if (stopping && grepl("time limit", conditionMessage(e))) return("stopped")
    paste0("unclassed: ", gsub("\n", " ", conditionMessage(e)), " in ", deparse1(conditionCall(e)[1L]))
  })
}

# Appends to the file `log` each call before it is made, and what became of it.
fuzz_batch <- function(seed, log, calls = 100L) {
  grDevices::pdf(NULL)
  sink(nullfile())
  home <- new.env()
  for (k in seq_len(calls)) {
    set.seed(seed * 1000 + k)
    if (k %% 5L == 1L) repeat {
      text <- fuzz_data()
      home$d <- tryCatch(suppressWarnings(eval(parse(text = text))), error = function(e) NULL)
      if (is.null(home$d)) next
      home$new <- if (is.data.frame(home$d)) home$d[rev(seq_len(nrow(home$d))), ] else home$d
      cat("data", deparse1(text), "\n", file = log, append = TRUE)
      break
    }
    kind <- stats::runif(1)
    call <- if (kind < 0.08) fuzz_bare() else if (is.null(home$fit) || kind < 0.5) fuzz_fit() else fuzz_use(home$fit)
    stop_how <- if (fuzz_chance(0.04)) fuzz_pick(c("limit", "signal")) else ""
    cat("call", k, stop_how, deparse1(call), "\n", file = log, append = TRUE)
    started <- sum(proc.time()[1:2])
    if (stop_how == "limit") setTimeLimit(elapsed = 0.05, transient = TRUE)
    if (stop_how == "signal") system(sprintf("(sleep 0.05; kill -INT %d) >/dev/null 2>&1 &", Sys.getpid()))
    result <- fuzz_outcome(call, home, nzchar(stop_how))
    if (stop_how == "signal") tryCatch(Sys.sleep(0.3), interrupt = function(e) NULL)
    cat("end", k, round(sum(proc.time()[1:2]) - started, 2), result, "\n", file = log, append = TRUE)
  }
}

# Batches in processes of their own; a data frame of seed, k, seconds, outcome and the call.
fuzz_study <- function(seeds, folder = tempfile("fuzz"), timeout = 900) {
  dir.create(folder, showWarnings = FALSE)
  here <- normalizePath(if (file.exists("helper-fuzz.R")) "helper-fuzz.R" else testthat::test_path("helper-fuzz.R"))
  tables <- lapply(seeds, function(seed) {
    log <- file.path(folder, paste0("seed-", seed, ".log"))
    unlink(log)
    script <- sprintf(".libPaths(%s); library(bsvm); source(%s); fuzz_batch(%d, %s)", deparse1(.libPaths()),
                      deparse1(here), seed, deparse1(log))
    system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", "-e", shQuote(script)), stdout = NULL,
            stderr = paste0(log, ".err"), timeout = timeout)
    fuzz_read(seed, readLines(log))
  })
  do.call(rbind, tables)
}

fuzz_read <- function(seed, lines) {
  calls <- grep("^call ", lines, value = TRUE)
  ends <- strsplit(grep("^end ", lines, value = TRUE), " ")
  ended <- length(ends)
  data.frame(seed = seed, k = seq_along(calls),
             seconds = c(as.numeric(vapply(ends, `[[`, "", 3L)), rep(Inf, length(calls) - ended)),
             outcome = c(vapply(ends, function(e) paste(e[-(1:3)], collapse = " "), ""),
                         rep("crash or hang", length(calls) - ended)), call = calls)
}
