#' Marginal means with the package emmeans
#'
#' `emmeans::emmeans(fit, ~ x)` and its relatives work for fits from [bsvm()] with a formula. All
#' results are computed from posterior draws, never by the delta method.
#'
#' @details
#' By default the means are those of the linear predictor, and `type = "response"` transforms them.
#' With `epred = TRUE` they are those of the expected response in each draw: for two classes the
#' probability of the second level. Contrasts are then risk differences, and `regrid(,
#' transform = "log")` gives risk ratios. emmeans shows medians and highest-density intervals;
#' `summary(means, point.est = mean)` shows posterior means, which are probabilities of new rows.
#'
#' `groups` says which group effects are meant:
#' * `"known"` (default): the average over the groups of the data, those of up to 200 rows.
#' * `"none"`: a group whose effects are zero.
#' * `"new"`: the average over new groups, whose effects have the normal distribution of the model.
#'   This is the probability in the population, and closer to one half. It needs `epred = TRUE`.
#'
#' **Other packages.** `marginaleffects::avg_comparisons(fit, variables = "x")` and its relatives, and
#' `ggeffects::ggpredict(fit, "x")`, use the same draws. They take `groups = "known"`, `"none"` or
#' `"new"` too; marginaleffects warns that it does not know `groups`, and passes it on. Before R 4.4,
#' marginaleffects 1.0 needs `library(rlang)`. `parameters::model_parameters(fit)`,
#' `bayestestR::describe_posterior(fit)` and its relatives summarise the draws of coefficients, and
#' `performance::r2(fit)` those of [bayes_R2()][bayes_R2.bsvm].
#'
#' Under the pseudo-likelihood there are no probabilities; see [posterior_epred.bsvm()] for what
#' `epred = TRUE` then computes.
#'
#' @param object A fit from [bsvm()] with a formula and an engine that has standard deviations.
#' @param data,trms,xlev,grid,... Arguments of the generics in emmeans.
#' @param epred Are the means those of the expected response?
#' @param groups `"known"` (default), `"none"` or `"new"`.
#' @param ndraws Number of draws; see [as_draws.bsvm()].
#' @return As described in the package emmeans (2.0 or later): `recover_data()` a data frame,
#'   `emm_basis()` a list whose `post.beta` are the draws at the rows of the grid.
#' @section Errors:
#' `bsvm_error_unsupported` for a point estimate and for a fit from a matrix.
#' @seealso [plot.bsvm()] with `which = "effects"` for pictures of the same quantities.
#' @examplesIf requireNamespace("emmeans", quietly = TRUE) && requireNamespace("coda", quietly = TRUE)
#' # how probable is an infection after six months, for a new patient under either treatment?
#' fit <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail)
#' means <- emmeans::emmeans(fit, ~ treatment, at = list(time = 6), epred = TRUE, groups = "new")
#' means
#' emmeans::contrast(means, "revpairwise")
#' @name emmeans.bsvm
#' @method recover_data bsvm
#' @rawNamespace S3method(emmeans::recover_data,bsvm)
recover_data.bsvm <- function(object, data = NULL, ...) {
  check_fit(object)
  need_spread(object, "emmeans()")
  if (is.null(data)) data <- rows_averaged_over(object, parent.frame(), "emmeans()", Inf)
  names <- intersect(predictor_names(object), names(data))
  terms <- c("1", paste0("`", names, "`"), made_factors(object)) # the x of factor(x) is a factor
  trms <- stats::terms(stats::reformulate(terms, env = environment(object$formula)))
  emmeans::recover_data(object$call, trms, "na.omit", data = as.data.frame(data), ...)
}

#' @rdname emmeans.bsvm
#' @method emm_basis bsvm
#' @rawNamespace S3method(emmeans::emm_basis,bsvm)
emm_basis.bsvm <- function(object, trms, xlev, grid, epred = FALSE, groups = group_choices,
                           ndraws = NULL, ...) {
  check_fit(object)
  groups <- pick_groups(groups)
  if (groups == "new" && !check_flag(epred, "epred")) {
    abort("argument", "`groups = \"new\"` needs `epred = TRUE`: the average over new groups is ",
          "that of the expected response.")
  }
  type <- if (check_flag(epred, "epred")) "response" else "link"
  plain <- type == "link" && (groups == "none" || is.null(object$groups)) &&
    length(made_bases(object)) == 0L && is.null(object$offset)
  basis <- if (plain) linear_basis(object, grid, ndraws) else {
    draws <- if (groups == "known" && !is.null(object$groups)) {
      over_known_groups(object, grid, ndraws, type)
    } else {
      estimand_draws(object, grid, groups, "emmeans()", ndraws, type)
    }
    list(x = diag(ncol(draws)), draws = draws)
  }
  list(X = basis$x, bhat = colMeans(basis$draws), nbasis = matrix(NA),
       V = stats::cov(basis$draws), dffun = function(k, dfargs) Inf, dfargs = list(),
       misc = emm_words(object, epred, groups), post.beta = unname(basis$draws))
}

# Columns of the design and draws of their coefficients, from which emmeans makes joint tests, too.
linear_basis <- function(object, grid, ndraws) {
  fit <- drawn_fit(object, "emmeans()", check_ndraws(ndraws))
  rows <- prediction_rows(fit, grid, NA, FALSE, NULL, NULL, globalenv())
  draws <- t(coefficient_draws(fit))[chosen_draws(fit, NULL, ndraws), , drop = FALSE]
  list(x = unname(as.matrix(rows$x)), draws = draws)
}

# S x k: each row of the grid in all the groups that rows of the fit belong to.
over_known_groups <- function(object, grid, ndraws, type) {
  rows <- rows_averaged_over(object, globalenv(), "emmeans()", effect_rows)
  object <- drawn_fit(object, "emmeans()", check_ndraws(ndraws)) # once for all rows of the grid
  others <- setdiff(names(rows), names(grid))
  found <- lapply(seq_len(nrow(grid)), function(k) {
    at <- cbind(grid[rep(k, nrow(rows)), , drop = FALSE], rows[others], row.names = NULL)
    rowMeans(estimand_draws(object, at, "known", "emmeans()", ndraws, type))
  })
  stack_columns(found)
}

emm_words <- function(object, epred, groups) {
  words <- words_for_groups(object, groups)
  out <- list(initMesg = if (!is.null(words)) paste0("Group effects: ", words))
  if (epred || !is_kind(object$response, "classes")) return(out)
  label <- if (is_law(object$likelihood)) "prob" else "response"
  c(out, list(tran = class_link(object$likelihood), inv.lbl = label))
}

# Link and its inverse for the probability of the second level.
class_link <- function(likelihood) {
  inverse <- function(f) as.vector(expected_response(likelihood, matrix(f)))
  list(linkfun = function(p) {
         vapply(p, function(p) stats::uniroot(function(f) inverse(f) - p, c(-50, 50))$root, 0)
       }, linkinv = inverse,
       mu.eta = function(f) (inverse(f + 1e-5) - inverse(f - 1e-5)) / 2e-5,
       valideta = function(f) TRUE, name = "link")
}
