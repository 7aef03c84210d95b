# The sandwich covariance of the population-level coefficients: V (sum of g_i^2 x_i x_i') V, with V
# the posterior covariance, which is what a likelihood's curvature says, and g_i x_i the gradient of
# row i's log density at the fit, whose spread says how much estimates vary. They are the same where
# the density is right. Yang, Wang and He (2016) for the asymmetric Laplace density, whose g^2 they
# have at its mean.

with_sandwich <- function(object, env) {
  need_sandwich(object)
  rows <- rows_again(object, env)
  likelihood <- likelihood_at(object, columns = rows$scale_columns)
  score <- residual_score(likelihood, rows$y - object$link[used_rows(object)])
  if (!is.null(rows$weight)) score <- score * sqrt(rows$weight)
  x <- settled_rows(object, rows, mean_values(object))$x
  core <- core_rows(fit_layout(object), object$design, x)$rows
  posterior <- object$posterior
  covariance <- posterior$covariance
  if (is.null(covariance)) covariance <- stats::cov(t(draw_matrix(posterior$coefficients)))
  spread <- (score * core) %*% covariance
  object$posterior <- structure(list(mean = posterior$mean, covariance = crossprod(spread)),
                                class = "bsvm_moments")
  object["sampling"] <- list(NULL)
  object
}

# d log p(y | f) / df of rows with residuals r.
residual_score <- function(likelihood, r) UseMethod("residual_score")

has_sandwich <- function(object) {
  tryCatch({
    need_sandwich(object)
    TRUE
  }, bsvm_error_unsupported = function(e) FALSE)
}

need_sandwich <- function(object) {
  refuse <- function(...) {
    abort("unsupported", "`method = \"sandwich\"` is for likelihoods of numbers, rows that are ",
          "independent, dense predictors, and engine_gaussian() or engine_slice(): ", ...,
          " The default of `method` is the posterior's covariance.")
  }
  if (!is_residual(object$likelihood)) {
    refuse("this fit is of ", describe_kind(object$response), ".")
  }
  if (!inherits(object$posterior, c("bsvm_draws", "bsvm_mixture")) || is_point(object)) {
    refuse("the covariance of a fit with ", engine_call(object$engine), " is too small or unknown.")
  }
  if (length(object$groups) > 0L) refuse("rows of a level of ", enumerate(names(object$groups)),
                                         " are not independent.")
  if (!is.null(object$design$sparse)) refuse("this fit has sparse ones.")
  if (length(object$design$rotation) > 0L) refuse("this fit has more columns than rows.")
  refuse_modelled(object, "`method = \"sandwich\"`")
  if (length(learned_bases(object)) > 0L) refuse("this fit has terms with parameters.")
}
