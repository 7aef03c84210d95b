# A factor model of the variables alone: no row has a response. The fit has a class of its own, so that
# what needs a response has no method for it.

lacks_responses <- function(frame) {
  basis <- factors_of(frame)
  !is.null(basis) && basis$alone
}

tell_no_response <- function(frame) {
  if (!lacks_responses(frame)) return(invisible())
  inform("no_response", "No row has a response: this fits a factor model of the variables alone. ",
         "See factor_loadings(), factor_scores() and factor_table(); it predicts nothing.")
}

as_factor_model <- function(fit) {
  class(fit) <- "bsvm_factor_model"
  fit
}

# Methods of stats for any object would return NULL, and those of others an error of their own.
refuse_alone <- function(what) {
  abort("unsupported", what, " needs a response, which no row of this fit has. See ",
        "factor_loadings(), factor_scores() and factor_table().")
}

# The method of all these generics.
#' @rawNamespace S3method(coef,bsvm_factor_model,without_response)
#' @rawNamespace S3method(confint,bsvm_factor_model,without_response)
#' @rawNamespace S3method(fitted,bsvm_factor_model,without_response)
#' @rawNamespace S3method(residuals,bsvm_factor_model,without_response)
#' @rawNamespace S3method(predict,bsvm_factor_model,without_response)
#' @rawNamespace S3method(simulate,bsvm_factor_model,without_response)
#' @rawNamespace S3method(vcov,bsvm_factor_model,without_response)
#' @rawNamespace S3method(model.frame,bsvm_factor_model,without_response_formula)
#' @rawNamespace S3method(model.matrix,bsvm_factor_model,without_response)
#' @rawNamespace S3method(weights,bsvm_factor_model,without_response)
#' @rawNamespace S3method(sigma,bsvm_factor_model,without_response)
#' @rawNamespace S3method(family,bsvm_factor_model,without_response)
#' @rawNamespace S3method(logLik,bsvm_factor_model,without_response)
#' @rawNamespace S3method(anova,bsvm_factor_model,without_response)
#' @rawNamespace S3method(deviance,bsvm_factor_model,without_response)
#' @rawNamespace S3method(df.residual,bsvm_factor_model,without_response)
#' @rawNamespace S3method(extractAIC,bsvm_factor_model,without_response_scale)
#' @rawNamespace S3method(as.matrix,bsvm_factor_model,without_response_x)
#' @rawNamespace S3method(as.array,bsvm_factor_model,without_response_x)
#' @rawNamespace S3method(fixef,bsvm_factor_model,without_response)
#' @rawNamespace S3method(ranef,bsvm_factor_model,without_response)
#' @rawNamespace S3method(VarCorr,bsvm_factor_model,without_response_sigma)
#' @rawNamespace S3method(prior_summary,bsvm_factor_model,without_response)
#' @rawNamespace S3method(posterior_epred,bsvm_factor_model,without_response)
#' @rawNamespace S3method(posterior_linpred,bsvm_factor_model,without_response)
#' @rawNamespace S3method(posterior_predict,bsvm_factor_model,without_response)
#' @rawNamespace S3method(log_lik,bsvm_factor_model,without_response)
#' @rawNamespace S3method(loo,bsvm_factor_model,without_response_x)
#' @rawNamespace S3method(waic,bsvm_factor_model,without_response_x)
#' @rawNamespace S3method(tidy,bsvm_factor_model,without_response_x)
#' @rawNamespace S3method(glance,bsvm_factor_model,without_response_x)
#' @rawNamespace S3method(augment,bsvm_factor_model,without_response_x)
#' @rawNamespace S3method(hypothesis,bsvm_factor_model,without_response_x)
#' @rawNamespace S3method(importance,bsvm_factor_model,without_response_x)
#' @rawNamespace S3method(bayes_R2,bsvm_factor_model,without_response)
#' @rawNamespace S3method(elbo,bsvm_factor_model,without_response)
#' @rawNamespace S3method(posterior::as_draws,bsvm_factor_model,without_response_x)
#' @rawNamespace S3method(posterior::as_draws_array,bsvm_factor_model,without_response_x)
#' @rawNamespace S3method(posterior::as_draws_df,bsvm_factor_model,without_response_x)
#' @rawNamespace S3method(posterior::as_draws_list,bsvm_factor_model,without_response_x)
#' @rawNamespace S3method(posterior::as_draws_matrix,bsvm_factor_model,without_response_x)
#' @rawNamespace S3method(posterior::as_draws_rvars,bsvm_factor_model,without_response_x)
#' @rawNamespace S3method(bayesplot::pp_check,bsvm_factor_model,without_response)
#' @rawNamespace S3method(bayesplot::rhat,bsvm_factor_model,without_response)
#' @rawNamespace S3method(bayesplot::neff_ratio,bsvm_factor_model,without_response)
#' @rawNamespace S3method(lme4::ngrps,bsvm_factor_model,without_response)
without_response <- function(object, ...) refuse_alone(paste0(.Generic, "()"))

# Of generics with other arguments, which methods must have, too.
without_response_x <- function(x, ...) refuse_alone(paste0(.Generic, "()"))
without_response_sigma <- function(x, sigma = 1, ...) refuse_alone("VarCorr()")
without_response_scale <- function(fit, scale = 0, k = 2, ...) refuse_alone("extractAIC()")
without_response_formula <- function(formula, ...) refuse_alone("model.frame()")

# Coefficients, of which the data say nothing, have a proper distribution, so that draws end.
no_response_parts <- function(count) {
  list(list(places = seq_len(count), prior = "normal", parameters = c(variance = 1)))
}

#' A factor model without a response
#'
#' What [bsvm()] returns if no row has a response and the formula has a [factors()] term with
#' `unlabelled = TRUE`: a factor model of the variables, with missing values integrated out.
#' [factor_loadings()], [factor_scores()], [factor_table()] and the plots `"loadings"` (default) and
#' `"scores"` accept it. It has no coefficients and makes no predictions.
#'
#' @param x,object A fit of class `bsvm_factor_model`.
#' @param digits Significant digits.
#' @param which `"loadings"` (default) or `"scores"`.
#' @param level Probability of the credible intervals.
#' @param n How many variables to show at most.
#' @param select Two factors to show the scores on, such as `c("F1", "F3")`.
#' @param ... Must be empty.
#' @return `print()` returns `x` invisibly, `summary()` the data frame of [factor_table()], `plot()` a
#'   ggplot object.
#' @seealso [factors()]
#' @examples
#' # how many opinions are behind the ratings of judges by lawyers?
#' d <- data.frame(y = rep(NA, nrow(USJudgeRatings)))
#' d$x <- as.matrix(USJudgeRatings)
#' fit <- bsvm(y ~ factors(x, k = 2, unlabelled = TRUE), data = d)
#' factor_table(fit)
#' head(factor_scores(fit))
#' @name bsvm_factor_model
NULL

#' @rdname bsvm_factor_model
#' @export
print.bsvm_factor_model <- function(x, digits = 3L, ...) {
  need_factors(x, "print()")
  check_digits(digits)
  basis <- factors_of(x)
  cat("Factor model without a response (", word_for_engine(x$engine), ")\n", sep = "")
  say_wrapped(paste0(x$nobs, " rows, ", basis$k, " factor", if (basis$k > 1L) "s", " of ",
                     length(basis$names), " variables",
                     if (!is.null(basis$chosen)) ", as many as predict held-out variables best", "; ",
                     loadings_words(x), "."), 2L)
  shown <- factor_table(x)
  print(data.frame(shown[-1L], row.names = shown$factor), digits = digits)
  say_wrapped(paste("`share` is of the variance of all variables, `determinacy` of the variance of the",
                    "factor that the variables determine."), 2L)
  invisible(x)
}

#' @rdname bsvm_factor_model
#' @export
summary.bsvm_factor_model <- function(object, level = 0.95, ...) {
  check_dots(substitute(list(...)), "summary()", NULL)
  factor_table(object, level = level)
}

#' @rdname bsvm_factor_model
#' @export
plot.bsvm_factor_model <- function(x, which = c("loadings", "scores"), level = 0.95, n = 20L,
                                   select = NULL, ...) {
  check_dots(substitute(list(...)), "plot()", NULL)
  need_ggplot2()
  which <- pick_one(which, c("loadings", "scores"), "which")
  check_level(level)
  if (which == "loadings") return(plot_loadings(x, level, check_count(n, "n")))
  plot_scores(x, select, parent.frame())
}
