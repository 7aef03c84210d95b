# Methods for the packages marginaleffects and ggeffects, which ask for predictions with draws, for
# insight and parameters, by which these and others learn what a model is, and for bayestestR and
# performance, which summarise draws.

#' @method get_predict bsvm
#' @rawNamespace S3method(marginaleffects::get_predict,bsvm)
get_predict.bsvm <- function(model, newdata, type = "response", ndraws = NULL, groups = "known",
                             re_formula = NULL, ...) {
  check_fit(model, "model")
  if (is.null(type)) type <- "response"
  type <- pick_one(type, c("response", "link"), "type")
  groups <- if (is.null(re_formula)) pick_groups(groups) else "none"
  draws <- estimand_draws(model, as.data.frame(newdata), groups, "marginaleffects", ndraws, type)
  rows <- if (is.null(newdata$rowid)) seq_len(ncol(draws)) else newdata$rowid
  structure(data.frame(rowid = rows, estimate = colMeans(draws)), posterior_draws = t(draws))
}

#' @method get_vcov bsvm
#' @rawNamespace S3method(marginaleffects::get_vcov,bsvm)
get_vcov.bsvm <- function(model, ...) NULL

#' @method get_coef bsvm
#' @rawNamespace S3method(marginaleffects::get_coef,bsvm)
get_coef.bsvm <- function(model, ...) fixef.bsvm(model)

# marginaleffects supports the classes that this option names.
register_marginaleffects <- function() {
  classes <- getOption("marginaleffects_model_classes")
  options(marginaleffects_model_classes = union(classes, "bsvm"))
}

# Rows of the grid with their expected response. Grouping factors are at zero unless `groups` says
# otherwise, as with the package's `type = "fixed"`.
#' @method get_predictions bsvm
#' @rawNamespace S3method(ggeffects::get_predictions,bsvm)
get_predictions.bsvm <- function(model, data_grid = NULL, terms = NULL, ci_level = 0.95, ...,
                                 groups = "none", ndraws = NULL) {
  check_fit(model, "model")
  draws <- estimand_draws(model, as.data.frame(data_grid), pick_groups(groups), "ggeffects", ndraws)
  data_grid$predicted <- colMeans(draws)
  wanted <- is.numeric(ci_level) && !is.na(ci_level)
  limits <- if (wanted) row_quantiles(t(draws), ci_level) else blank_limits(ncol(draws))
  data_grid$conf.low <- limits[, 1L]
  data_grid$conf.high <- limits[, 2L]
  attr(data_grid, "std.error") <- apply(draws, 2L, stats::sd)
  data_grid
}

#' @method model_info bsvm
#' @rawNamespace S3method(insight::model_info,bsvm)
model_info.bsvm <- function(x, ...) {
  check_fit(x, "x")
  like <- if (is_kind(x$response, "classes")) stats::binomial() else stats::gaussian()
  rows <- data.frame(y = c(0, 1, 0, 1), x = c(1, 2, 3, 3))
  info <- insight::model_info(stats::glm(y ~ x, family = like, data = rows))
  info[c("is_bayesian", "is_mixed", "n_obs")] <- list(TRUE, !is.null(x$groups), nobs.bsvm(x))
  info
}

#' @method link_inverse bsvm
#' @rawNamespace S3method(insight::link_inverse,bsvm)
link_inverse.bsvm <- function(x, ...) {
  check_fit(x, "x")
  likelihood <- likelihood_at(x)
  function(f) as.vector(expected_response(likelihood, matrix(f)))
}

#' @method find_formula bsvm
#' @rawNamespace S3method(insight::find_formula,bsvm)
find_formula.bsvm <- function(x, ...) {
  check_fit(x, "x")
  if (is.null(x$formula)) return(NULL)
  parts <- split_special(x$formula[[3L]])
  fixed <- formula.bsvm(x)
  fixed[[3L]] <- parts$fixed
  bars <- lapply(parts$bars, function(bar) {
    stats::as.formula(call("~", call("|", bar[[2L]], bar[[3L]])), environment(x$formula))
  })
  out <- list(conditional = add_terms(fixed, lapply(parts$bases, open_term)))
  if (length(bars) == 1L) out$random <- bars[[1L]]
  if (length(bars) > 1L) out$random <- bars
  structure(out, class = c("insight_formula", "list"))
}

#' @method find_parameters bsvm
#' @rawNamespace S3method(insight::find_parameters,bsvm)
find_parameters.bsvm <- function(x, flatten = FALSE, ...) {
  check_fit(x, "x")
  names <- x$design$columns
  if (check_flag(flatten, "flatten")) names else list(conditional = names)
}

# Draws, as for other Bayesian models: those of the coefficients or, with `effects = "all"`, of all
# inferred parameters except the group effects.
#' @method get_parameters bsvm
#' @rawNamespace S3method(insight::get_parameters,bsvm)
get_parameters.bsvm <- function(x, effects = c("fixed", "all"), ndraws = NULL, ...) {
  draws <- drawn_parameters(x, pick_one(effects, c("fixed", "all"), "effects"), ndraws,
                            "get_parameters()")
  data.frame(t(draws$values), check.names = FALSE, row.names = NULL)
}

# list(values, parameters x draws; kind of each).
drawn_parameters <- function(fit, effects, ndraws, what) {
  check_fit(fit)
  fit <- drawn_fit(fit, what, check_ndraws(ndraws))
  names <- draw_names(fit)
  names["effects"] <- list(NULL)
  if (effects == "fixed") names["variances"] <- list(NULL)
  values <- draw_matrix(parameter_draws(fit, names))
  of_groups <- grepl("^(sd|cor)_", rownames(values)) & !rownames(values) %in% names$coefficients
  kind <- rep("auxiliary", nrow(values))
  kind[rownames(values) %in% names$coefficients] <- "fixed"
  kind[of_groups] <- "random"
  list(values = values, kind = kind)
}

# Several generics of bayestestR, applied to a data frame of draws.
summary_of_draws <- function(x, effects = c("fixed", "all"), ...) {
  getExportedValue("bayestestR", .Generic)(get_parameters.bsvm(x, effects), ...)
}

#' @method p_direction bsvm
#' @rawNamespace S3method(bayestestR::p_direction,bsvm)
p_direction.bsvm <- summary_of_draws

#' @method hdi bsvm
#' @rawNamespace S3method(bayestestR::hdi,bsvm)
hdi.bsvm <- summary_of_draws

#' @method eti bsvm
#' @rawNamespace S3method(bayestestR::eti,bsvm)
eti.bsvm <- summary_of_draws

#' @method ci bsvm
#' @rawNamespace S3method(bayestestR::ci,bsvm)
ci.bsvm <- summary_of_draws

#' @method point_estimate bsvm
#' @rawNamespace S3method(bayestestR::point_estimate,bsvm)
point_estimate.bsvm <- summary_of_draws

#' @method rope bsvm
#' @rawNamespace S3method(bayestestR::rope,bsvm)
rope.bsvm <- summary_of_draws

#' @method describe_posterior bsvm
#' @rawNamespace S3method(bayestestR::describe_posterior,bsvm)
describe_posterior.bsvm <- function(posterior, effects = c("fixed", "all"), ...) {
  getExportedValue("bayestestR", "describe_posterior")(get_parameters.bsvm(posterior, effects), ...)
}

#' @method r2_posterior bsvm
#' @rawNamespace S3method(performance::r2_posterior,bsvm)
r2_posterior.bsvm <- function(model, ...) {
  check_fit(model, "model")
  draws <- list(R2_Bayes = bayes_R2.bsvm(model))
  if (!is.null(model$groups)) draws$R2_Bayes_marginal <- bayes_R2.bsvm(model, re_formula = NA)
  labels <- if (is.null(model$groups)) "R2" else c("Conditional R2", "Marginal R2")
  Map(function(values, label) stats::setNames(values, rep(label, length(values))), draws, labels)
}

#' @method r2 bsvm
#' @rawNamespace S3method(performance::r2,bsvm)
r2.bsvm <- function(model, ...) getExportedValue("performance", "r2_bayes")(model, ...)

#' @method model_parameters bsvm
#' @rawNamespace S3method(parameters::model_parameters,bsvm)
model_parameters.bsvm <- function(model, ci = 0.95, effects = c("all", "fixed", "random"),
                                  ndraws = NULL, ...) {
  level <- check_level(ci)
  effects <- pick_one(effects, c("all", "fixed", "random"), "effects")
  found <- drawn_parameters(model, "all", ndraws, "model_parameters()")
  draws <- found$values
  limits <- row_quantiles(draws, level)
  table <- data.frame(Parameter = rownames(draws), Mean = rowMeans(draws),
                      SD = sqrt(row_variances(draws)), CI = level, CI_low = limits[, 1L],
                      CI_high = limits[, 2L],
                      pd = pmax(rowMeans(draws > 0), rowMeans(draws < 0)), Effects = found$kind,
                      row.names = NULL)
  if (effects == "all") table else table[table$Effects == effects, , drop = FALSE]
}
