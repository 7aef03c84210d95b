# Methods for the packages marginaleffects and ggeffects, which ask for predictions with draws, and
# for insight and parameters, by which these and others learn what a model is.

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

#' @method model_parameters bsvm
#' @rawNamespace S3method(parameters::model_parameters,bsvm)
model_parameters.bsvm <- function(model, ci = 0.95, ndraws = NULL, ...) {
  check_fit(model, "model")
  level <- check_level(ci)
  fit <- drawn_fit(model, "model_parameters()", check_ndraws(ndraws))
  names <- draw_names(fit)
  names["effects"] <- list(NULL)
  draws <- draw_matrix(parameter_draws(fit, names))
  limits <- row_quantiles(draws, level)
  data.frame(Parameter = rownames(draws), Mean = rowMeans(draws), SD = sqrt(row_variances(draws)),
             CI = level, CI_low = limits[, 1L], CI_high = limits[, 2L],
             pd = pmax(rowMeans(draws > 0), rowMeans(draws < 0)),
             Effects = ifelse(grepl("^(sd|cor)_", rownames(draws)), "random", "fixed"),
             row.names = NULL)
}
