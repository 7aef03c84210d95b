# The cases of bits.R: bits_cases() is a list of them, named "model/engine/likelihood/prior". A case
# is `fit`, a function without arguments; `new`, arguments of predict() for some new rows; and
# `more`, the names of what is asked of the fit beside what all are asked.

seeded <- function(seed, code) {
  set.seed(seed, "Mersenne-Twister", "Inversion", "Rejection")
  force(code)
}

# ---- data ---------------------------------------------------------------------------------------

# Predictors, a time `t` whose slope varies by level of `g`, another factor, weights and offset.
bits_rows <- function(n = 60, m = 6, seed = 1) seeded(seed, {
  d <- data.frame(x1 = rnorm(n), x2 = rnorm(n, 3, 2), x3 = rexp(n), t = rnorm(n),
                  f = factor(sample(letters[1:3], n, TRUE)),
                  g = factor(sprintf("g%02d", c(seq_len(m), sample(m, n - m, TRUE)))),
                  h = factor(rep_len(c("p", "q", "r"), n)), w = sample(0:3, n, TRUE),
                  o = rnorm(n) / 2)
  d$y <- classes(d$x1 - 0.5 * (d$x2 - 3) + rnorm(m)[d$g] + (0.5 + rnorm(m)[d$g] / 2) * d$t)
  d
})

classes <- function(link) {
  factor(ifelse(runif(length(link)) < plogis(2 * link), "yes", "no"), levels = c("no", "yes"))
}

# A trial with few visits of each patient, many of whom are of one class throughout.
bits_trial <- function(patients = 80, visits = 7, seed = 2) seeded(seed, {
  d <- data.frame(p = factor(rep(seq_len(patients), each = visits)),
                  t = rep(seq_len(visits), patients), arm = rep(0:1, each = visits))
  d$t <- d$t + rnorm(nrow(d)) / 4
  d$y <- classes(-1 - 0.2 * d$t * (1 + d$arm) + 2 * rnorm(patients)[d$p])
  d[runif(nrow(d)) < 0.85, ]
})

bits_matrix <- function(n, p, seed = 3) seeded(seed, {
  x <- matrix(rnorm(n * p), n, p, dimnames = list(NULL, paste0("v", seq_len(p))))
  list(x = x, y = classes(drop(x[, 1:3] %*% c(1.5, -1, 0.5))), group = gl(5, 1, n))
})

bits_sparse <- function(n, p, each, seed = 4) seeded(seed, {
  x <- Matrix::sparseMatrix(rep(seq_len(n), each = each), sample(p, n * each, TRUE),
                            x = rnorm(n * each), dims = c(n, p), use.last.ij = TRUE,
                            dimnames = list(NULL, paste0("v", seq_len(p))))
  list(x = x, y = classes(as.vector(x %*% rnorm(p, sd = 0.7))), group = gl(8, 1, n))
})

# Values of x1 are missing at random, of x3 the more often the larger they are.
with_missing <- function(d, seed = 5) seeded(seed, {
  d$x1[runif(nrow(d)) < 0.15] <- NA
  d$x3[runif(nrow(d)) < pnorm(d$x3 - 2)] <- NA
  d
})

# ---- models -------------------------------------------------------------------------------------

# The last of the new rows is of a level that is not in the fit.
by_formula <- function(formula, data, ...) {
  new <- data[1:5, ]
  for (name in intersect(c("g", "p"), names(data))) {
    new[[name]] <- c(as.character(new[[name]][-5]), "new")
  }
  arguments <- list(formula, data, ...)
  new <- list(newdata = new, allow_new_levels = TRUE)
  if (!is.null(arguments$offset)) new$offset <- arguments$offset[1:5]
  list(arguments = arguments, new = new)
}

by_matrix <- function(m, ..., group = NULL) {
  arguments <- list(m$x, m$y, ...)
  arguments$group <- group
  new <- list(newdata = m$x[1:5, ])
  if (!is.null(group)) new$group <- group[1:5]
  list(arguments = arguments, new = new)
}

# Sparse matrices as small as these are made dense, unless `sparse` says otherwise.
by_sparse <- function(m, ...) c(by_matrix(m, ...), sparse = TRUE)

grid_models <- function(d = bits_rows()) {
  formulas <- list(
    slopes = y ~ x1 + x2, intercepts = y ~ x1 + (1 | g), independent = y ~ x1 + (t || g),
    correlated = y ~ x1 + (t | g), crossed = y ~ x1 + (1 | g) + (1 | h),
    nested = y ~ x1 + (1 | h / g), crossed_slopes = y ~ x1 + (t | g) + (1 | h),
    smooth = y ~ x1 + s(x2, k = 5), smooth_groups = y ~ s(x2, k = 5) + (t | g)
  )
  lapply(formulas, by_formula, d)
}

row_models <- function(d = bits_rows(), many = bits_rows(4000, 40)) {
  list(
    weights = by_formula(y ~ x1 + x2 + f, d, weights = d$w),
    weights_groups = by_formula(y ~ x1 + (1 | g), d, weights = d$w, offset = d$o),
    weights_crossed = by_formula(y ~ x1 + (1 | g) + (1 | h), d, weights = d$w + 0.5, offset = d$o),
    offset = by_formula(y ~ x1 + x2 + offset(o), d),
    class_weights = by_formula(y ~ x1 + f, d, class.weights = c(yes = 3)),
    unscaled = by_formula(y ~ x1 * f + x2, d, standardize = FALSE),
    separated = by_formula(y ~ x1 + x2, transform(d, y = x1 + x2 > 3)),
    rare = by_formula(y ~ x1 + (1 | g), transform(d, y = y == "yes" & g %in% c("g01", "g02"))),
    far = by_formula(y ~ x1 + (1 | g), d, offset = rep_len(c(1e5, -1e5), 60)),
    many = by_formula(y ~ x1 + x2 + x3 + f, many),
    many_groups = by_formula(y ~ x1 + x2 + (1 | g), many),
    many_crossed = by_formula(y ~ x1 + (1 | g) + (1 | f:h), many)
  )
}

group_models <- function(d = bits_rows(120, 12), trial = bits_trial()) {
  crossed <- bits_rows(400, 50)
  crossed$h <- factor(rep_len(1:45, 400))
  list(
    trial = by_formula(y ~ t * arm + (1 | p), trial),
    trial_slopes = by_formula(y ~ t * arm + (t | p), trial[trial$p %in% 1:12, ]),
    three_effects = by_formula(y ~ x1 + (t + x3 | g), d),
    slope_only = by_formula(y ~ x1 + (0 + t | g), d),
    holes = by_formula(y ~ x1 + (0 + t | g), transform(d, t = t * (f == "a"))),
    three_factors = by_formula(y ~ x1 + (1 | g) + (1 | h) + (1 | f:h), d),
    large_crossed = by_formula(y ~ x1 + (1 | g) + (1 | h), crossed),
    two_slopes = by_formula(y ~ (t | g) + (x1 | f), d),
    smooth_by = by_formula(y ~ f + s(x2, by = f, k = 4), d),
    surface = by_formula(y ~ t2(x1, x2, k = 3) + (1 | g), d)
  )
}

column_models <- function() {
  wide <- bits_matrix(20, 50)
  fewer <- bits_matrix(40, 30)
  sparse <- bits_sparse(200, 60, 3)
  list(
    wide = by_matrix(wide), wide_groups = by_matrix(wide, group = wide$group),
    very_wide = by_matrix(bits_matrix(30, 300)), widest = by_matrix(bits_matrix(30, 1500)),
    few_rows = by_matrix(fewer), few_rows_groups = by_matrix(fewer, group = fewer$group),
    large = by_matrix(bits_matrix(2500, 40)),
    sparse = by_sparse(sparse), sparse_groups = by_sparse(sparse, group = sparse$group),
    sparse_wide = by_sparse(bits_sparse(100, 200, 5)), sparse_as_dense = by_matrix(sparse),
    sparse_many = by_sparse(bits_sparse(500, 1200, 6))
  )
}

missing_models <- function(d = with_missing(bits_rows(80, 8))) {
  normal <- function(formula, ...) by_formula(formula, d, missing = missing_normal(), ...)
  list(
    missing = normal(y ~ x1 + x2 + x3), missing_groups = normal(y ~ x1 + x3 + (1 | g)),
    missing_slopes = normal(y ~ x1 + f + (t | g)),
    missing_weights = normal(y ~ x1 + x3 + f, weights = d$w, offset = d$o),
    auxiliary = by_formula(y ~ x1 + x2, d, missing = missing_normal(auxiliary = ~ x3)),
    selection = by_formula(y ~ x1 + x2 + x3, d, missing = missing_selection(~ x3)),
    selection_groups = by_formula(y ~ x1 + x3 + (1 | g), d, missing = missing_selection()),
    omitted = by_formula(y ~ x1 + x2 + x3, d, missing = missing_omit())
  )
}

bits_models <- function() {
  c(grid_models(), row_models(), group_models(), column_models(), missing_models())
}

# ---- engines, likelihoods, priors ---------------------------------------------------------------

short_gibbs <- function(draws = 30, burnin = 10, chains = 2, ...) {
  engine_gibbs(draws, burnin, chains = chains, ...)
}

short_slice <- function(draws = 30, burnin = 10, chains = 2, ...) {
  engine_slice(draws, burnin, chains = chains, ...)
}

grid_engines <- list(
  vb = engine_vb(), gibbs = short_gibbs(), gibbs_plain = short_gibbs(mixing = FALSE),
  slice = short_slice(integrate = TRUE), slice_effects = short_slice(integrate = FALSE),
  gaussian = engine_gaussian(), gaussian_effects = engine_gaussian(integrate = FALSE),
  map = engine_map(), em = engine_em(starts = 2), ecme = engine_ecme()
)

bits_engines <- c(grid_engines, list(
  default = NULL, slice_default = short_slice(), vb_plain = engine_vb(accelerate = FALSE),
  vb_starts = engine_vb(starts = 3), gibbs_thinned = short_gibbs(thin = 3, keep_effects = FALSE),
  slice_thinned = short_slice(thin = 3, keep_effects = FALSE),
  em_plain = engine_em(accelerate = FALSE, starts = 1),
  em_annealed = engine_em(starts = 1, annealing = 1), ecme_plain = engine_ecme(accelerate = FALSE)
))

grid_priors <- list(
  fixed = prior_ridge(variance = 1), ridge = prior_ridge(0.01),
  half_t = prior_ridge(variance = prior_half_t(3, 1)), flat = prior_flat(10),
  wishart = prior_inv_wishart(), bridge = prior_bridge(0.8, nu = 0.5), lasso = prior_lasso(),
  laplace_zero = prior_laplace_zero(0.3), spike_slab = prior_spike_slab(0.3), relevance = prior_relevance()
)

bits_priors <- c(grid_priors, list(
  default = NULL, lasso_given = prior_lasso(nu = 0.3), lasso_path = prior_lasso(nu = 4^(-3:0)),
  bridge_half = prior_bridge(0.5, nu = 0.3), bridge_high = prior_bridge(1.6, nu = 0.5),
  bridge_path = prior_bridge(0.6, nu = 4^(-2:0)), bridge_inferred = prior_bridge(NULL),
  bridge_scale = prior_bridge(1.5), slab_inferred = prior_spike_slab(),
  laplace = prior_laplace_zero(1)
))

bits_likelihoods <- list(pseudo = likelihood_hinge(),
                         normalised = likelihood_hinge(normalized = TRUE))

# ---- which of these together --------------------------------------------------------------------

core_name <- function(engine) sub("_.*", "", engine)

only_pseudo <- function(engine) core_name(engine) %in% c("vb", "gibbs", "em", "ecme")

# A data frame of cases; `target`: what the prior is named for, "" for the slopes.
together <- function(model, engine, likelihood = names(bits_likelihoods), prior = "default",
                     target = "", more = "") {
  all <- expand.grid(likelihood = likelihood, target = target, prior = prior, engine = engine,
                     model = model, more = more, stringsAsFactors = FALSE)
  all[!(all$likelihood == "normalised" & only_pseudo(all$engine)), ]
}

variances <- c("fixed", "ridge", "half_t", "flat", "wishart")

taken_priors <- list(
  vb = c(variances, "laplace_zero", "relevance"), gibbs = names(grid_priors), slice = variances,
  gaussian = variances, map = variances, em = c("fixed", "flat", "bridge"), ecme = "lasso"
)

# Are all variances given but that of `target`, as point estimates need?
none_else <- function(model, target) {
  switch(model, slopes = TRUE, intercepts = , independent = target == "g",
         smooth = target == "s(x2)", FALSE)
}

# Are there coefficients by the name of the target, for priors other than a flat one?
has_target <- function(model, target, prior) {
  switch(target, g = !model %in% c("slopes", "smooth", "nested"),
         "s(x2)" = grepl("smooth", model), model != "smooth_groups" || prior == "flat")
}

# Group effects have variances, correlated ones a covariance matrix, and nothing else has one.
fits_target <- function(model, target, prior) {
  if (target != "g") return(prior != "wishart")
  correlated <- model %in% c("correlated", "crossed_slopes", "smooth_groups")
  prior %in% (if (correlated) c("wishart", "half_t") else variances)
}

# Can the engine take a model of the grid? As in tests/testthat/test-combinations.R.
runs <- function(model, engine, prior, target) {
  name <- core_name(engine)
  several <- model %in% c("crossed", "nested", "crossed_slopes")
  prior %in% taken_priors[[name]] && has_target(model, target, prior) &&
    fits_target(model, target, prior) && !(name == "vb" && prior == "laplace_zero" && several) &&
    (!name %in% c("em", "ecme") || none_else(model, target))
}

# Numbers of rows of the data frame `all` until every value of every key, columns of `all` pasted
# together, was met: always the row with the most that are new.
covering <- function(all, keys) {
  values <- vapply(keys, function(key) {
    paste(paste(key, collapse = " "), do.call(paste, all[key]))
  }, character(nrow(all)))
  chosen <- integer()
  repeat {
    gains <- rowSums(matrix(!values %in% values[chosen, ], nrow(all)))
    if (max(gains) == 0) return(sort(chosen))
    chosen <- c(chosen, which.max(gains))
  }
}

grid_cases <- function() {
  all <- together(names(grid_models()), names(grid_engines), prior = names(grid_priors),
                  target = c("", "s(x2)", "g"))
  all <- all[mapply(runs, all$model, all$engine, all$prior, all$target), ]
  method <- c("engine", "likelihood")
  all[covering(all, list(c(method, "model"), c(method, "prior"), c(method, "target"),
                         c("model", "prior", "target"))), ]
}

most <- c("vb", "gibbs", "gaussian", "slice_default")

# One likelihood an engine.
once <- function(model, ...) {
  rbind(together(model, most[1:2], ...), together(model, most[3:4], "normalised", ...))
}

row_cases <- function() {
  rbind(
    together(c("weights", "weights_groups"), c(most, "map")),
    together("weights", "em", prior = "fixed"), together("weights_groups", "slice"),
    together("weights_crossed", most, "pseudo"),
    once(c("offset", "class_weights", "unscaled", "rare")),
    together(c("separated", "far"), most), together("many", c(most, "map"), more = "threads"),
    once("many_groups"), together("many_groups", most, "pseudo", more = "threads"),
    together("many_crossed", c("vb", "gibbs", "gaussian_effects"), "pseudo", more = "threads")
  )
}

group_cases <- function() {
  rbind(
    together("trial", c(most, "vb_plain", "gibbs_thinned", "map", "slice", "slice_thinned",
                        "gaussian_effects", "default")),
    together("trial_slopes", c("vb", "gibbs", "map", "slice_default", "slice")),
    together("correlated", c("vb", "gibbs", "slice"), "pseudo", "wishart", "g"),
    together("slope_only", c("vb", "gibbs", "gaussian", "map", "slice")),
    once(c("three_effects", "holes", "large_crossed", "smooth_by", "surface")),
    together(c("three_factors", "two_slopes"), c("vb", "gibbs", "gaussian_effects"), "pseudo")
  )
}

column_cases <- function() {
  selecting <- c("laplace_zero", "laplace", "spike_slab", "slab_inferred")
  rbind(
    together(c("wide", "few_rows"), c(most, "map")),
    once(c("wide_groups", "few_rows_groups", "very_wide")),
    together("wide", "gibbs", prior = c(selecting, "bridge_inferred", "lasso")),
    together("few_rows", c("vb", "vb_starts", "vb_plain", "gibbs"), prior = selecting[1:2]),
    together("wide", c("vb", "vb_plain"), prior = "laplace_zero"),
    together(c("wide_groups", "few_rows_groups"), c("vb", "gibbs"), prior = "laplace_zero"),
    together("very_wide", "vb", prior = "laplace_zero"),
    together("widest", "em", prior = c("lasso_given", "fixed")),
    together("large", c("vb", "gaussian", "map"), more = "threads")
  )
}

sparse_cases <- function() {
  rbind(
    together("sparse", c("vb", "gibbs", "gaussian", "map"), prior = "half_t"),
    together("sparse", "map", prior = "fixed"), together("sparse", "default"),
    together(c("sparse", "sparse_wide"), c("em", "gibbs"), prior = "lasso_given"),
    together(c("sparse_groups", "sparse_as_dense"), c("vb", "gibbs", "gaussian"), "pseudo"),
    together("sparse_groups", "map", prior = "half_t"),
    together("sparse_wide", c("vb", "gaussian", "map", "gibbs"), prior = "half_t"),
    together("sparse_many", "map", prior = "half_t"), together("sparse_many", "em", prior = "fixed")
  )
}

missing_cases <- function() {
  rbind(
    together("missing", most), once("missing_weights"),
    together(c("missing_groups", "missing_slopes"), c("vb", "gibbs", "gaussian")),
    once("auxiliary"),
    together("missing", c("vb", "gibbs"), prior = "laplace_zero"),
    together("missing", "gibbs", prior = c("spike_slab", "bridge")),
    together("missing", "gaussian", prior = "half_t"),
    together(c("selection", "selection_groups"), c("vb", "vb_plain", "gibbs", "gibbs_plain")),
    together("omitted", "default")
  )
}

point_cases <- function() {
  penalties <- c("lasso_given", "bridge_half", "bridge_high", "fixed", "lasso_path", "bridge_path")
  rbind(
    together("few_rows", "em", prior = penalties), together("wide", "em", prior = penalties[1:4]),
    together("few_rows", c("em_plain", "em_annealed"), prior = c("lasso_given", "bridge_half")),
    together("few_rows", c("ecme", "ecme_plain"), prior = c("lasso", "bridge_scale")),
    together("slopes", "gibbs", prior = c("bridge_half", "bridge_high", "bridge_inferred"))
  )
}

# Of these more is asked.
asking_cases <- function() {
  rbind(
    together(c("slopes", "intercepts"), c("vb", "gaussian", "map"), more = "check"),
    together(c("correlated", "crossed"), "vb", more = "check"),
    together(c("weights_groups", "offset", "crossed", "sparse"), "gaussian", "pseudo",
             more = "check"),
    together("intercepts", "gaussian_effects", "normalised", more = "check"),
    together(c("slopes", "intercepts", "correlated", "crossed"), "vb_plain", more = "response"),
    together(c("slopes", "intercepts", "correlated", "smooth", "crossed", "slope_only"),
             "slice_default", "normalised", more = "loo"),
    together(c("intercepts", "correlated", "trial"), "map", more = "integrated"),
    together(c("intercepts", "crossed"), c("vb", "gaussian", "slice"), more = "limits"),
    together("independent", "map", more = "limits"),
    together(c("slopes", "crossed", "nested"), "default")
  )
}

# Some of what can't be.
refused_cases <- function() {
  rbind(
    together("slopes", c("gaussian", "slice"), prior = "spike_slab"),
    together("crossed", "vb", prior = "laplace_zero"), together("three_effects", "map"),
    together("correlated", "gaussian", "pseudo", "fixed", "g"),
    together("sparse", "slice", "normalised"),
    together("missing", c("map", "em"), "pseudo", "fixed"),
    together("slopes", "em", prior = "lasso"), together("slopes", "ecme", prior = "lasso_path")
  )
}

# ---- all of them --------------------------------------------------------------------------------

quietly <- function(...) bsvm_control(verbose = FALSE, ...)

as_case <- function(row, model) {
  prior <- bits_priors[[row$prior]]
  if (!is.null(prior)) prior <- stats::setNames(list(prior), row$target)
  threads <- if (row$more == "threads") 2L else 1L
  arguments <- c(model$arguments, list(
    engine = bits_engines[[row$engine]], likelihood = bits_likelihoods[[row$likelihood]],
    prior = prior, control = quietly(threads = threads)
  ))
  list(fit = function() {
    old <- options(bsvm.dense_cells = if (isTRUE(model$sparse)) 0)
    on.exit(options(old))
    do.call(bsvm, arguments)
  }, new = model$new, more = row$more)
}

case_name <- function(row) {
  name <- paste(row$model, row$engine, row$likelihood, row$prior, sep = "/")
  paste0(name, ifelse(nzchar(row$target), paste(" on", row$target), ""),
         ifelse(nzchar(row$more), paste(" with", row$more), ""))
}

table_cases <- function() {
  rows <- rbind(grid_cases(), row_cases(), group_cases(), column_cases(), sparse_cases(),
                missing_cases(), point_cases(), asking_cases(), refused_cases())
  rows <- rows[!duplicated(rows), ]
  models <- bits_models()
  cases <- lapply(seq_len(nrow(rows)), function(k) as_case(rows[k, ], models[[rows$model[k]]]))
  stats::setNames(cases, case_name(rows))
}

# A run that is broken off after `first` draws, and goes on to 40.
resumed <- function(formula, data, engine, first = 20, more = data) {
  file <- file.path(tempdir(), "bits.checkpoint")
  on.exit(unlink(file))
  run <- function(draws, data, resume) {
    bsvm(formula, data, likelihood = "hinge", control = quietly(),
         engine = engine(draws, 10, chains = 2, checkpoint = file, resume = resume))
  }
  suppressWarnings(run(first, data, FALSE))
  run(40, more, TRUE)
}

# The data of these are made at once: within a case they would take of its random numbers.
resumed_cases <- function(d = bits_rows(), trial = bits_trial(30)) {
  force(d)
  force(trial)
  list(
    "slopes/gibbs/pseudo/resumed" = function() resumed(y ~ x1 + x2, d, engine_gibbs),
    "correlated/gibbs/pseudo/resumed" = function() resumed(y ~ x1 + (t | g), d, engine_gibbs),
    "crossed/slice/pseudo/resumed" = function() {
      resumed(y ~ x1 + (1 | g) + (1 | h), d, engine_slice)
    },
    "trial/slice/pseudo/resumed" = function() {
      resumed(y ~ t + (1 | p), trial, function(...) engine_slice(..., integrate = TRUE))
    },
    "slopes/slice/pseudo/resumed" = function() resumed(y ~ x1 + x2, d, engine_slice),
    "slopes/gibbs/pseudo/resumed with other data" = function() {
      resumed(y ~ x1 + x2, d, engine_gibbs, more = d[-1, ])
    }
  )
}

control_cases <- function(d = bits_rows()) {
  force(d)
  fit <- function(...) function() bsvm(y ~ x1 + x2 + (1 | g), d, ...)
  list(
    "intercepts/vb/pseudo/three passes" = fit(engine = "vb", control = quietly(max_passes = 3)),
    "intercepts/gaussian/pseudo/three passes" =
      fit(engine = "gaussian", likelihood = "hinge", control = quietly(max_passes = 3)),
    "intercepts/gaussian/normalised/loose" =
      fit(engine = "gaussian", control = quietly(tol = 1e-3)),
    "intercepts/vb/pseudo/started" =
      fit(engine = "vb", control = quietly(start = c(0.5, 1, -0.3))),
    "intercepts/gaussian/normalised/started" =
      fit(engine = engine_gaussian(integrate = FALSE), control = quietly(start = c(0.5, 1, -0.3))),
    "intercepts/slice/normalised/started" =
      fit(engine = "slice", control = quietly(start = c(0.5, 1, -0.3)))
  )
}

# Point estimates beside group effects, all of whose variances are given.
given_cases <- function(d = bits_rows()) {
  force(d)
  given <- prior_ridge(variance = 0.7)
  fit <- function(formula, engine, ...) {
    function() bsvm(formula, d, engine = engine, control = quietly(), prior = list(...))
  }
  list(
    "crossed/em/pseudo/given" =
      fit(y ~ x1 + x2 + (1 | g) + (1 | h), "em", prior_lasso(nu = 1), g = given, h = given),
    "independent/ecme/pseudo/given" = fit(y ~ x1 + x2 + (t || g), "ecme", prior_lasso(), g = given)
  )
}

study_of <- function(study) list(study, holdout_runs(study), holdout_predictions(study))

study_cases <- function(d = bits_rows(100, 10), new = bits_rows(200, seed = 9)) {
  force(d)
  force(new)
  vb <- function(formula) bsvm(formula, d, engine = "vb", control = quietly())
  gaussian <- function(formula) bsvm(formula, d, engine = "gaussian", control = quietly())
  list(
    "slopes/vb/pseudo/holdout" = function() {
      models <- list(one = vb(y ~ x1 + x2), two = vb(y ~ x1 + f + s(x2, k = 4)))
      study_of(holdout(models, d, times = 4, metrics = c("ber", "brier", "log_score"),
                       predictions = TRUE, progress = FALSE))
    },
    "intercepts/gaussian/normalised/folds" = function() {
      study_of(cross_validate(list(gaussian(y ~ x1 + (1 | g))), d, folds = 4, group = g,
                              metrics = c("error", "auc", "slope"), predictions = TRUE,
                              progress = FALSE))
    },
    "slopes/vb/pseudo/calibration map" = function() calibration_map(vb(y ~ x1), new)
  )
}

bits_cases <- function() {
  others <- c(resumed_cases(), control_cases(), given_cases(), study_cases())
  c(table_cases(), lapply(others, function(fit) list(fit = fit, new = NULL, more = "")))
}
