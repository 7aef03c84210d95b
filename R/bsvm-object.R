#' The fitted object
#'
#' `new_bsvm()` assembles the fitted object, the last of the four stages of [bsvm()].
#'
#' @param frame From [bsvm_frame()].
#' @param spec From [bsvm_spec()].
#' @param result From [bsvm_run()].
#' @param call The call to be kept for [update()]; data that are given in it as values are removed.
#' @param control From [bsvm_control()].
#' @param data The data to be kept in the fit, or `NULL`.
#' @param arguments Named list of the values of arguments of [bsvm()], with which [update()] and
#'   [holdout()] fit again. It has those that were given among `na.action`, `contrasts`,
#'   `drop.unused.levels`, `class.weights`, `prior`, `missing`, `likelihood`, `engine`,
#'   `standardize` and `control`. `NULL`: the values are not known.
#' @return An object of class `bsvm`, a list with
#' * `call`, `formula`, `terms`, `xlevels`, `contrasts`, `na.action`: as in [stats::glm()]. Terms
#'   and formula do not carry the environment in which they were made;
#' * `response` (of class `bsvm_response`: `levels`, `type`), `y` (-1 or +1), `weights`, `offset`,
#'   `link` (the fitted linear predictor), `nobs` (rows with a positive weight);
#' * `design`: `columns`, `assign`, `term_labels`, `center`, `scale`, `intercept`, `implicit`,
#'   `rotation`;
#' * `groups`: `NULL` or a list named by grouping factor, and `bases`: `NULL` or a list of the terms
#'   with a basis, such as smooth terms. Both are as in [bsvm_frame()], without the rows;
#' * `posterior`: as in [bsvm_run()], on the scale of the standardised columns;
#' * `blocks`, `group_blocks`: as in [bsvm_spec()], each with `hyper`, the inferred parameters of
#'   its variance;
#' * `start_bounds` of [engine_vb()], if a prior selects variables;
#' * `termination`. With [engine_vb()] and [engine_gaussian()] also `elbo`, `trace`, `passes` and
#'   `gradient`. With [engine_map()] and [engine_ecm()] these without `elbo`, with [engine_em()] and
#'   [engine_ecme()] `trace` and `passes`, and with [engine_gibbs()] `sampling`;
#' * `missing`: `NULL` or, if missing predictors are modelled, `rule`, `law`, `imputed` and `draws`,
#'   which [imputed()] returns;
#' * `odds_slope`: under the pseudo-likelihood, the slope of `map = "logistic"` in [predict.bsvm()];
#' * `engine`, `likelihood`, `standardize`, `control`, `default_prior`, `data`, `arguments`,
#'   `version`.
#' @examples
#' # how do the four stages make a fit?
#' frame <- bsvm_frame(disease ~ sex + age, data = cath)
#' spec <- bsvm_spec(frame)
#' run <- bsvm_run(spec)
#' new_bsvm(frame, spec, run, call = quote(bsvm(disease ~ sex + age, data = cath)))
#' @export
new_bsvm <- function(frame, spec, result, call, control = bsvm_control(), data = NULL,
                     arguments = NULL) {
  need_arguments("frame", "spec", "result", "call", what = "new_bsvm()")
  check_belongs(frame, spec, result, call)
  design <- spec$design
  given <- frame
  missing <- fit_missing(frame, spec, result)
  if (!is.null(missing)) {
    used <- setdiff(seq_len(frame$nobs + length(frame$absent$at)), frame$absent$at)
    frame$x <- if (is_streamed(frame)) {
      complete_rows(missing$rule, list(missing = missing), frame, frame$unknowns$auxiliary)$x
    } else fill_imputed(frame$x, missing, frame$implicit, used)
    if (!is.null(frame$absent)) {
      frame$absent$x <- complete_rows(missing$rule, list(missing = missing), frame$absent)$x
    }
  }
  fit <- structure(class = "bsvm", list(
    call = clean_call(call), formula = frame$formula, terms = frame$terms,
    xlevels = frame$xlevels, contrasts = frame$contrasts, na.action = frame$na.action,
    response = frame$response, y = all_rows(frame, "y"), weights = all_weights(frame),
    offset = all_rows(frame, "offset"), link = numeric(frame$nobs + length(frame$absent$at)),
    nobs = frame$nobs, design = design,
    groups = kept_groups(frame$groups), bases = frame$bases, posterior = result$posterior,
    blocks = with_hyper(spec$blocks, result$hyper),
    group_blocks = with_hyper(spec$group_blocks, result$group_hyper),
    elbo = result$bound, start_bounds = result$start_bounds, trace = result$trace,
    passes = result$passes,
    gradient = result$gradient, sampling = result$sampling, termination = result$termination,
    engine = spec$engine, likelihood = spec$likelihood, standardize = spec$standardize,
    scale_model = frame$scale_model, scale_columns = all_scale_columns(frame),
    missing = missing, control = control, default_prior = spec$default_prior, data = data,
    arguments = arguments,
    version = unname(getNamespaceVersion(environment(new_bsvm)))
  ))
  check_fit(fit)
  fit$link <- fitted_link(fit, frame)
  if (is_residual(fit$likelihood)) warn_exact(fit)
  fit$posterior$shapes <- effect_shapes(fit, frame)
  fit$odds_slope <- own_odds_slope(fit, given)
  fit
}

with_hyper <- function(blocks, hyper) {
  Map(function(block, hyper) c(block, list(hyper = hyper)), blocks, hyper, USE.NAMES = FALSE)
}

all_rows <- function(frame, field) {
  if (is.null(frame[[field]])) return(NULL)
  merge_rows(frame[[field]], frame$absent[[field]], frame$absent)
}

all_weights <- function(frame) {
  if (is.null(frame$weights)) return(NULL)
  merge_rows(frame$weights, 0, frame$absent)
}

# The grouping factors without their rows.
kept_groups <- function(groups) {
  if (is.null(groups)) return(NULL)
  lapply(groups, function(group) group[setdiff(names(group), c("codes", "z", "z_sums"))])
}

# x %*% coefficients on the user's scale, group effects and offset: no standardised copy.
fitted_link <- function(fit, frame) {
  link <- if (is.null(frame$made)) {
    coefficients <- population_mean(fit$posterior, fit$design)
    function(rows) {
      own <- at_levels(fit, rows)
      link_of(own$rows, coefficients, effect_means(own$fit$posterior, own$fit$groups))
    }
  } else {
    function(rows) made_link(fit, rows)
  }
  out <- link(frame)
  if (!is.null(frame$absent)) {
    absent <- link(c(frame$absent, list(implicit = FALSE)))
    out <- merge_rows(out, absent, frame$absent)
  }
  if (!is.null(frame$row_names)) names(out) <- frame$row_names
  out
}

# The population-level coefficients on the user's scale. Those of sparse columns are the last of the
# core's effects.
population_mean <- function(posterior, design) {
  effects <- if (is.null(posterior$effects_mean)) posterior$effects else posterior$effects_mean
  user_mean(design, c(posterior$mean, utils::tail(as.vector(effects), length(design$sparse))))
}

link_of <- function(rows, coefficients, means) {
  link <- if (rows$implicit) rows$x %*% coefficients[-1L] + coefficients[1L]
          else rows$x %*% coefficients
  link <- as.matrix(link)
  dim(link) <- NULL
  link <- link + groups_link(means, rows$groups)
  if (!is.null(rows$offset)) link <- link + rows$offset
  link
}

# Their expressions in the call may mean something else later, as the variable of a loop does: their
# values are kept. The first ones are nowhere else in the fit.
refit_arguments <- c("na.action", "contrasts", "drop.unused.levels", "class.weights", "prior",
                     "missing")
given_arguments <- c(refit_arguments, "likelihood", "engine", "standardize", "control")

# The values of the first ones, NULL if they are not known.
own_arguments <- function(fit) {
  fit$arguments[intersect(names(fit$arguments), refit_arguments)]
}

arguments_of_data <- c("data", "x", "y", "group", "weights", "offset", "subset",
                       "cluster")

# The placeholder in a kept call for data that were given as a value.
value_mark <- function(name) as.name(paste0("<", name, ">"))

is_value_mark <- function(term) is.name(term) && grepl("^<.+>$", as.character(term))

# The call as code only: do.call() puts values into it, a formula brings its environment.
clean_call <- function(call) {
  call[[1L]] <- quote(bsvm)
  for (name in intersect(names(call), arguments_of_data)) {
    value <- call[[name]]
    if (!is.null(value) && !is.language(value) && !is.character(value)) {
      call[[name]] <- value_mark(name) # names of files are short
    }
  }
  if (inherits(call$formula, "formula")) attributes(call$formula) <- NULL
  call
}
