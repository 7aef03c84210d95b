#' Posterior predictive checks
#'
#' `pp_check()` compares the observed responses with responses drawn from a fit under a probability
#' model (for classes `likelihood_hinge(normalized = TRUE)`), with plots from the package bayesplot.
#'
#' @details
#' For classes:
#' * `"bars"`: the number of rows of each class, with intervals of the drawn numbers;
#' * `"bars_grouped"`: the same within the levels of `group`;
#' * `"error_binned"`: the mean of observed minus expected classes in bins of the probability of
#'   class +1 (the average of [posterior_epred()][posterior_epred.bsvm] over the draws). It also
#'   shows the limits that contain 95 % of the means if the model is right;
#' * `"stat"`: the distribution of a statistic of the drawn classes (0 and 1), with its observed
#'   value.
#'
#' For a numeric response:
#' * `"dens_overlay"`: densities of drawn responses and of the observed ones;
#' * `"hist"`: their histograms;
#' * `"stat"`: the distribution of a statistic of the drawn responses, with its observed value;
#' * `"intervals"`: intervals of the drawn responses of each row, with the observed one;
#' * `"error_scatter_avg"`: observed responses against average errors.
#'
#' Rows of weight zero are excluded, and other weights are not used. Counts of two classes are checked
#' trial by trial. Responses are drawn by R's
#' random numbers, see [posterior_predict.bsvm()].
#'
#' @param object A fit from [bsvm()] with an engine that has standard deviations, under a
#'   probability model.
#' @param type One of the plots above; the first of each list is the default.
#' @param group For `"bars_grouped"`: the name of a variable of the model, or a factor with one
#'   value per row of the fit.
#' @param re_formula As in [predict.bsvm()].
#' @param draw_ids Which draws, as in [posterior_linpred.bsvm()]; all by default.
#' @param ... Arguments of bayesplot: `prob`, `freq`, `stat`, `bins`, ...
#' @return A ggplot.
#' @section Errors:
#' `bsvm_error_unsupported` under the pseudo-likelihood, for a point estimate, and if bayesplot
#' is not installed or can't draw the plot. `bsvm_error_data` if `group` names a variable and the
#' data can't be found again; `bsvm_error_argument` for other arguments.
#' @references Gabry, J., Simpson, D., Vehtari, A., Betancourt, M. and Gelman, A. (2019).
#'   Visualization in Bayesian workflow. *Journal of the Royal Statistical Society: Series A*, 182,
#'   389-402.
#' @seealso [posterior_predict.bsvm()], [loo.bsvm()].
#' @examplesIf requireNamespace("bayesplot", quietly = TRUE)
#' # does the model reproduce the numbers of infected patients in both arms of the trial?
#' set.seed(1)
#' fit <- bsvm(outcome ~ treatment, data = toenail, subset = visit == 7)
#' bayesplot::pp_check(fit, "bars_grouped", group = "treatment")
#' bayesplot::pp_check(fit)
#' @method pp_check bsvm
#' @rawNamespace S3method(bayesplot::pp_check,bsvm)
pp_check.bsvm <- function(object, type = c("bars", "bars_grouped", "error_binned", "stat"),
                          group = NULL, re_formula = NULL, draw_ids = NULL, ...) {
  check_fit(object)
  need_density(object, "pp_check()", refuse_responses)
  need_predictive(object$likelihood)
  types <- check_types(object$response)
  type <- pick_one(if (missing(type)) types[1L] else type, types, "type")
  need_bayesplot("pp_check()")
  env <- parent.frame()
  group <- check_groups(object, type, group, env)
  object <- drawn_fit(object, "pp_check()")
  f <- link_draws(object, NULL, re_formula, FALSE, draw_ids, NULL, NULL, env)
  used <- which(rep_len(used_rows(object), length(object$y)))
  if (!is.null(object$counts)) used <- rep(used, object$weights[used])
  check_memory(3 * 8 * as.numeric(nrow(f)) * length(used), "Draws of the responses take",
               "Use fewer draws: `draw_ids = 1:100`.")
  drawn <- with_bayesplot(paste0("pp_check(type = \"", type, "\")"), {
    draw_check(object$response, type, used_likelihood(object, draw_ids, used),
               f[, used, drop = FALSE],
               drawn_scale(object$response, object$y[used]), group[used], ...)
  })
  drawn + plot_theme()
}

# For some of the fit's rows.
used_likelihood <- function(object, draw_ids, used) {
  object$scale_columns <- object$scale_columns[used, , drop = FALSE]
  drawn_likelihood(object, draw_ids)
}

# A value for each of the fit's rows; NULL for the types that have no groups.
check_groups <- function(object, type, group, env) {
  if (type != "bars_grouped") {
    if (is.null(group)) return(NULL)
    abort("argument", "`group` is used only with `type = \"bars_grouped\"`; found ",
          "`type = \"", type, "\"`.")
  }
  if (is.character(group) && length(group) == 1L) group <- grouping_variable(object, group, env)
  if (!is.null(group) && is.null(dim(group)) && length(group) == length(object$y)) {
    return(as.factor(group))
  }
  abort("argument", "`group` must be the name of a variable of the model, or have a value for ",
        "each of the ", length(object$y), " rows of the fit; found ", describe(group), ".")
}

grouping_variable <- function(object, name, env) {
  frame <- frame_of_fit(object, env)
  if (name %in% names(frame)) return(frame[[name]])
  abort("argument", "`group` must be a variable of the model; found ", describe(name),
        ". There are ", enumerate(names(frame)), ".")
}
