#' Relevance prior: a variance for each coefficient
#'
#' Each coefficient has a variance of its own (automatic relevance determination), so that few are
#' large and the others next to zero. On a Gaussian-process term it makes the relevance vector
#' machine.
#'
#' @details
#' Coefficient j of the block has
#' \deqn{b_j | s_j \sim N(0, s_j^2), \quad s_j^2 \sim \mathrm{IG}(shape, scale),}{%
#'   b_j | s_j ~ N(0, s_j^2),  s_j^2 ~ IG(shape, scale),}
#' which is Student's t with `2 * shape` degrees of freedom and scale `sqrt(scale / shape)`. The
#' default is a Cauchy distribution of scale one. Chakraborty et al. (2012) have precisions
#' \eqn{\lambda_j = 1/s_j^2 \sim Gamma(c, d)}{lambda_j = 1/s_j^2 ~ Gamma(c, d)}: `shape` is c, and
#' `scale` is d. Their `prior_relevance(1e-8, 1e-5)` is flat where a coefficient is less than 0.004
#' and nearly log-uniform beyond: nothing can be predicted from such a prior alone.
#'
#' Coefficients are those of standardised columns. For a response of numbers they are in units of
#' the response's spread, its median absolute deviation.
#'
#' **Relevance vectors.** `prior = list(gp = prior_relevance())`, or with a term as its name, changes
#' the model of a term [gp()][gp]: the function is no longer a Gaussian process but the sum
#' \deqn{f(x) = \sum_j b_j k(x_j, x)}{f(x) = sum_j b_j k(x_j, x)}
#' over rows \eqn{x_j}{x_j} of the data (Tipping, 2001). These are all distinct rows up to 200, else
#' 200 of them or as many as `points` says, and fewer if these explain the function exactly. The kernel is learned as for the Gaussian process. The
#' rows with large coefficients are the relevance vectors, which [relevance_vectors()] lists. Far
#' from all of them the function and its standard deviation go to zero, which is too sure there: a
#' Gaussian process, the default, is not.
#'
#' [engine_gibbs()] draws from the posterior. [engine_vb()] approximates it, and with a `shape` and
#' `scale` near zero prunes: its iterations are then those of the relevance vector machine.
#'
#' Effects of a grouping factor can't have this prior, since all levels share one variance.
#'
#' @param shape,scale Of the inverse-gamma distribution of each variance: positive numbers, one half
#'   by default.
#' @return An object of class `bsvm_prior`.
#' @section Errors: `bsvm_error_prior` if a number is not positive and finite;
#'   `bsvm_error_unsupported` of the fit for other engines.
#' @references Chakraborty, S., Ghosh, M. and Mallick, B. K. (2012). Bayesian nonlinear regression for
#'   large p small n problems. *Journal of Multivariate Analysis*, 108, 28-40 (Section 3).
#'
#' Tipping, M. E. (2001). Sparse Bayesian learning and the relevance vector machine. *Journal of
#' Machine Learning Research*, 1, 211-244.
#' @seealso [relevance_vectors()], [gp()][gp]; [prior_lasso()], [prior_spike_slab()].
#' @examples
#' # Which of the predictors matter for fuel consumption?
#' fit <- bsvm(mpg ~ ., data = mtcars, likelihood = likelihood_gaussian(),
#'             prior = prior_relevance())
#' coef(fit)
#'
#' # a relevance vector machine
#' rvm <- bsvm(dist ~ gp(speed), data = cars, likelihood = likelihood_gaussian(),
#'             prior = list(gp = prior_relevance()))
#' head(relevance_vectors(rvm))
#' @export
prior_relevance <- function(shape = 0.5, scale = 0.5) {
  numbers <- c(shape = check_positive(shape, "shape", "prior"),
               scale = check_positive(scale, "scale", "prior"))
  new_prior("relevance", numbers, paste0("relevance, inverse-gamma(", numbers[["shape"]], ", ",
                                         numbers[["scale"]], ") on each variance"), TRUE)
}

is_relevance <- function(prior) identical(prior$name, "relevance")
