#' Log-likelihood of the rows in each draw
#'
#' `log_lik()` returns the log-likelihood of each row in each posterior draw. For two classes, under
#' `likelihood_hinge(normalized = TRUE)`, it is the log probability of the class of the row. For a
#' numeric response it is the log density.
#'
#' @details
#' An entry is \eqn{w_i \log p(y_i | f_i)}{w_i log p(y_i | f_i)}, where \eqn{f_i}{f_i} is the linear
#' predictor in the draw, including the offset, **given the drawn group effects**. For leave-one-out
#' cross-validation of grouped rows use [loo.bsvm()], which integrates the group effects out. Given
#' its own group effect, a row of a small group is hardly held out.
#'
#' The weight \eqn{w_i}{w_i} is the weight in the fit, including `class.weights`: a row of weight 2
#' counts as two rows. A row of weight 0 has zeros. Rows of `newdata` have weight 1.
#'
#' Group effects and new levels are treated as in [posterior_linpred.bsvm()].
#'
#' @param object A fit from [bsvm()] with draws, under `likelihood_hinge(normalized = TRUE)` or a
#'   likelihood for a numeric response.
#' @param newdata Rows with the variables of the formula, including the response; the rows of the
#'   fit by default.
#' @param re_formula,allow_new_levels,draw_ids,group,offset As in [posterior_linpred.bsvm()].
#' @param y For a fit from `bsvm(x, y)`: the classes of the rows of `newdata`, coded as in the fit.
#' @param ... Must be empty.
#' @return A matrix with one row per draw (chain by chain) and one column per row of `newdata`, or
#'   of the fit. A row with a missing variable has a column of `NA`.
#' @section Errors:
#' `bsvm_error_unsupported` under the pseudo-likelihood, and for a fit without draws.
#' `bsvm_error_newdata` if `newdata` lacks the response or has a class that is not in the fit;
#' `bsvm_error_argument` for other arguments.
#' @seealso [loo.bsvm()], [posterior_predict.bsvm()], [integrated_loglik()].
#' @examples
#' # which flowers are hardest to assign to their species?
#' set.seed(1)
#' d <- subset(iris, Species != "setosa")
#' fit <- bsvm(Species ~ Sepal.Length + Sepal.Width, data = d)
#' log_p <- log_lik(fit)
#' dim(log_p)
#' d[order(colMeans(log_p))[1:3], ]
#' @export
log_lik.bsvm <- function(object, newdata = NULL, re_formula = NULL, allow_new_levels = FALSE,
                         draw_ids = NULL, group = NULL, offset = NULL, y = NULL, ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "log_lik()", linpred_hints)
  need_law(object, "log_lik()", refuse_measure)
  refuse_modelled(object, "log_lik()")
  refuse_inferred(object, "log_lik()")
  if (has_factors(object)) {
    rows <- prediction_rows(object, newdata, re_formula, allow_new_levels, group, offset,
                            parent.frame())
    return(factor_log_lik(object, rows, draw_ids, observed_rows(object, newdata, y),
                          drawn_likelihood(object, draw_ids, newdata)))
  }
  f <- link_draws(object, newdata, re_formula, allow_new_levels, draw_ids, group, offset,
                  parent.frame())
  observed <- observed_rows(object, newdata, y)
  f[] <- log_density(drawn_likelihood(object, draw_ids, newdata),
                    rep(observed$y, each = nrow(f)), f)
  if (is.null(observed$weight)) return(f)
  f[] <- f * rep(observed$weight, each = nrow(f))
  f[, observed$weight == 0] <- 0
  f
}

# list(y, weight) of the rows link_draws() has.
observed_rows <- function(object, newdata, y) {
  if (is.null(newdata)) {
    need_rows(object, "Without `newdata` this function")
    if (!is.null(y)) {
      abort("argument", "`y` is used only with `newdata`; the fit has its own classes.")
    }
    return(list(y = unname(object$y), weight = unname(as_double(object$weights))))
  }
  list(y = new_response_of(object, newdata, y))
}

# As the core has it, NA where it is missing.
new_response_of <- function(object, newdata, y) {
  values <- if (is.null(object$formula)) given_response(y, nrow(newdata))
            else response_in(object, newdata, y)
  code_new_values(object$response, values)
}

given_response <- function(y, n) {
  if (is.null(y)) {
    abort("newdata", "A fit from bsvm(x, y) finds no response in `newdata`: give the classes of ",
          "the new rows as `y`.")
  }
  check_side(y, n, "y", "newdata")
  y
}

response_in <- function(object, newdata, y) {
  if (!is.null(y)) {
    abort("argument", "`y` is for fits from bsvm(x, y); this fit finds its response, `",
          deparse1(object$formula[[2L]]), "`, in `newdata`.")
  }
  response <- object$formula[[2L]]
  if (!is.null(object$counts) && !deparse1(response) %in% names(newdata)) {
    abort("newdata", "The fit has counts; here `newdata` must have a row for each trial, with its ",
          "class (\"failure\" or \"success\") in the column `", deparse1(response), "`.")
  }
  need_variables(variables_in(response), object$terms, newdata)
  home <- formula_home(object, globalenv())
  tryCatch(eval(response, newdata, home), error = function(e) {
    abort("newdata", "The response `", deparse1(response), "` can't be evaluated in `newdata`: ",
          conditionMessage(e), ".")
  })
}
