#' Relevance prior: a variance for each coefficient
#'
#' Each coefficient has its own variance (automatic relevance determination): a few coefficients can
#' be large while the others are close to zero. For a Gaussian-process term this gives the relevance
#' vector machine.
#'
#' @details
#' Coefficient j of the block has
#' \deqn{b_j | s_j \sim N(0, s_j^2), \quad s_j^2 \sim \mathrm{IG}(shape, scale),}{%
#'   b_j | s_j ~ N(0, s_j^2),  s_j^2 ~ IG(shape, scale),}
#' which is Student's t with `2 * shape` degrees of freedom and scale `sqrt(scale / shape)`. The
#' default is a Cauchy distribution. Chakraborty et al. (2012) use precisions \eqn{\lambda_j =
#' 1/s_j^2 \sim Gamma(c, d)}{lambda_j = 1/s_j^2 ~ Gamma(c, d)}: `shape` is c, and `scale` is d.
#' Their `prior_relevance(1e-8, 1e-5)` is flat for coefficients below 0.004 and nearly log-uniform
#' above. Nothing can be predicted from such a prior alone.
#'
#' Coefficients refer to standardised predictors. `summary(details = TRUE)` shows the geometric mean
#' of the variances (`typical_variance`).
#'
#' **Relevance vectors.** `prior = list(gp = prior_relevance())`, or a list with the name of a term,
#' changes the model of a term [gp()][gp]. The function is no longer a Gaussian process but the sum
#' \deqn{f(x) = \sum_j b_j k(x_j, x)}{f(x) = sum_j b_j k(x_j, x)}
#' over rows \eqn{x_j}{x_j} of the data (Tipping, 2001). Up to 200 distinct rows are all used. From
#' more rows, 200 are chosen, or the number in `points`; fewer if they explain the function exactly.
#' The kernel is estimated as for the Gaussian process. The rows with large coefficients are the
#' relevance vectors, which [relevance_vectors()] lists. With most kernels, such as [kernel_se()],
#' the function and its standard deviation go to zero far from all of these rows. Intervals there
#' are too narrow. The intervals of a Gaussian process, the default, are not.
#'
#' [engine_gibbs()] draws from the posterior. [engine_vb()] approximates it. With `shape` and
#' `scale` near zero it prunes coefficients, as the relevance vector machine does, and may need many
#' iterations (`max_passes` of [bsvm_control()]).
#'
#' @param shape,scale Positive numbers, the parameters of the inverse-gamma distribution of each
#'   variance. `shape` is one half by default. The default of `scale` for a numeric response is one
#'   half times the squared median absolute deviation of the response. For classes it depends on the
#'   likelihood ([prior_inv_gamma()]).
#' @return An object of class `bsvm_prior`.
#' @section Errors:
#' `bsvm_error_prior` if a number is not positive and finite. `bsvm_error_unsupported` in the fit
#' for other engines, and for effects of a grouping factor, which share one variance.
#' @references Chakraborty, S., Ghosh, M. and Mallick, B. K. (2012). Bayesian nonlinear regression
#'   for large p small n problems. *Journal of Multivariate Analysis*, 108, 28-40 (Section 3).
#'
#' Tipping, M. E. (2001). Sparse Bayesian learning and the relevance vector machine. *Journal of
#' Machine Learning Research*, 1, 211-244.
#' @seealso [relevance_vectors()], [gp()][gp]; [prior_lasso()], [prior_spike_slab()].
#' @examples
#' # which of the predictors matter for fuel consumption?
#' fit <- bsvm(mpg ~ ., data = mtcars, likelihood = likelihood_gaussian(),
#'             prior = prior_relevance())
#' coef(fit)
#'
#' # a relevance vector machine
#' rvm <- bsvm(dist ~ gp(speed), data = cars, likelihood = likelihood_gaussian(),
#'             prior = list(gp = prior_relevance()))
#' head(relevance_vectors(rvm))
#' @export
prior_relevance <- function(shape = 0.5, scale = NULL) {
  numbers <- c(shape = check_positive(shape, "shape", "prior"), scale = given_scale(scale, 0.5))
  prior <- new_prior("relevance", numbers, relevance_label(numbers), TRUE)
  if (is.null(scale)) prior$open_scale <- "relevance"
  prior
}

relevance_label <- function(numbers) {
  paste0("relevance, inverse-gamma(", numbers[["shape"]], ", ",
         format(numbers[["scale"]], digits = 3L), ") on each variance")
}

is_relevance <- function(prior) identical(prior$name, "relevance")
