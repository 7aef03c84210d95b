#' Bridge and lasso priors
#'
#' The exponential-power priors of Polson and Scott (2011) range from ridge (`alpha = 2`) and lasso
#' (`alpha = 1`) to stronger sparsity. With `alpha` below 1 they shrink small coefficients to nearly
#' zero and leave large ones almost unchanged.
#'
#' @details
#' Coefficient j of the block has the density
#' \deqn{p(b_j) = \exp\{-|b_j/(\nu\sigma_j)|^\alpha\} /
#' \{2\nu\sigma_j\Gamma(1 + 1/\alpha)\}.}{p(b_j) = exp(-|b_j/(nu sigma_j)|^alpha) /
#' (2 nu sigma_j Gamma(1 + 1/alpha)).}
#' Equation (5) of Polson and Scott has another constant, which is wrong; this matters if `alpha` is
#' inferred. The prior refers to the coefficients of standardised predictors if [bsvm()]
#' standardises, which is the default. `prior_bridge(2, nu = sqrt(2 * v))` is `prior_ridge(variance
#' = v)`. `prior_lasso(nu)`, or `prior_bridge(1, nu)`, is the Laplace distribution with scale `nu`.
#'
#' **The scale.** With `nu = NULL` it is inferred. Given \eqn{\alpha}, its prior is
#' \deqn{\nu^{-\alpha} \sim Gamma(shape, rate).}{nu^-alpha ~ Gamma(shape, rate).}
#' [engine_gibbs()] draws it; [engine_ecme()] sets it to its mode given the coefficients. For `alpha
#' = 2` the prior of the variance \eqn{\nu^2/2}{nu^2/2} is inverse-gamma(`shape`, `rate/2`). With
#' the defaults, 1 and 1, this is inverse-gamma(1, 1/2), as for correlated group effects (see
#' [prior_inv_wishart()]). The prior is proper, and so is the posterior.
#' \eqn{\nu^{-\alpha}}{nu^-alpha} has a mode for any number \eqn{k} of coefficients, because this
#' needs \eqn{k/\alpha + shape > 1}.
#'
#' `shape = 0.01`, `rate = 0.02` is the vague prior of [prior_ridge()]. If `nu` is estimated by its
#' mode, be careful with a `rate` near zero. The best point estimate then has all coefficients, and
#' `nu`, equal to zero. Draws of `nu` are truncated to 1e-150 to 1e10.
#'
#' **The exponent.** With `alpha = NULL` it is inferred too. Its prior is uniform on 0 to 2, and for
#' numerical reasons starts at 0.05. (There coefficients from the prior may differ by a factor of
#' 1e25.) The prior of `nu` is as above given `alpha`. Up to a constant, the joint density is the
#' likelihood times
#' \deqn{\nu^{-\alpha\,shape - 1} \alpha \exp(-rate\,\nu^{-\alpha}) \prod_j p(b_j | \nu,
#' \alpha)}{nu^(-alpha shape - 1) alpha exp(-rate nu^-alpha) prod_j p(b_j | nu, alpha)}
#' in \eqn{\nu}{nu}, \eqn{\alpha} and the coefficients. Only draws can show which values of `alpha`
#' are plausible, so this requires [engine_gibbs()].
#'
#' **Draws.** Given latent scales the coefficients are normal, \eqn{b_j \sim N(0, \nu^2 \sigma_j^2
#' \omega_j)}{b_j ~ N(0, nu^2 sigma_j^2 omega_j)}. For `alpha = 2`, \eqn{\omega_j = 1/2}; for `alpha
#' = 1`, \eqn{1/\omega_j} is inverse Gaussian. For other `alpha`, \eqn{1/\omega_j} has an
#' exponentially tilted stable distribution, which is drawn exactly. [engine_gibbs()] accepts
#' `alpha` from 0.05. If a block has more columns than the fit has rows, the time of a draw grows
#' with the cube of the number of columns. More than 2000 columns are then an error of class
#' `bsvm_error_size`.
#'
#' Effects of a grouping factor can't have this prior, because all levels share one variance.
#'
#' @param alpha The exponent: a number above 0 and at most 2, or `NULL`: inferred.
#' @param nu The scale: a positive number, or `NULL` (default): inferred. It can also be a vector of
#'   increasing positive numbers; [engine_em()] then returns an estimate for each.
#' @param sigma Scales of single coefficients, which are multiplied by `nu`: `NULL` (all 1), a
#'   positive number, or one number for each column of the block, in the order of the design matrix.
#' @param shape,rate Positive numbers, the parameters of the prior of `nu` if it is inferred.
#' @return An object of class `bsvm_prior`.
#' @section Errors:
#' `bsvm_error_prior` for invalid numbers, for `shape` or `rate` together with a given `nu`, and in
#' [bsvm()] if the length of `sigma` is not the number of columns of the block.
#' `bsvm_error_unsupported` for an engine that does not support the prior.
#' @references Polson, N. G. and Scott, S. L. (2011). Data augmentation for support vector machines.
#'   *Bayesian Analysis*, 6, 1-23 (equation (5), Sections 3.3 and 4.1).
#'
#' Polson, N. G., Scott, J. G. and Windle, J. (2014). The Bayesian bridge. *Journal of the Royal
#' Statistical Society, Series B*, 76, 713-733.
#' @seealso [prior_ridge()], [prior_spike_slab()]; [engine_gibbs()], [engine_em()].
#' @examples
#' # which of four measurements tell two species apart, if small effects are shrunk to zero?
#' set.seed(1)
#' fit <- bsvm(Species ~ ., data = iris, subset = Species != "setosa", prior = prior_lasso())
#' summary(fit)
#'
#' # a power between 0 and 2 that is inferred
#' more <- update(fit, prior = prior_bridge(alpha = NULL, shape = 4, rate = 4))
#' summary(more)$variance_draws # nu and alpha
#'
#' prior_bridge(2, nu = sqrt(2 * 3)) # prior_ridge(variance = 3)
#' @export
prior_bridge <- function(alpha = 1, nu = NULL, sigma = NULL, shape = 1, rate = 1) {
  check_exponent(alpha)
  check_nu(nu)
  if (!is.null(sigma)) check_all_positive(sigma, "sigma")
  shape <- check_positive(shape, "shape", "prior")
  rate <- check_positive(rate, "rate", "prior")
  if (!is.null(nu) && any(c(shape, rate) != 1)) {
    abort("prior", "`shape` and `rate` are of the prior of `nu`, if it is inferred; found ",
          "`nu` given too.")
  }
  numbers <- c(alpha = if (is.null(alpha)) 0 else alpha,
               nu = if (is.null(nu)) 0 else nu[length(nu)], shape = shape, rate = rate)
  prior <- new_prior("bridge", numbers, bridge_label(numbers, nu, sigma), TRUE)
  prior$sigma <- sigma
  if (length(nu) > 1L) prior$grid <- nu
  prior
}

#' @rdname prior_bridge
#' @export
prior_lasso <- function(nu = NULL, sigma = NULL, shape = 1, rate = 1) {
  prior_bridge(1, nu, sigma, shape, rate)
}

check_exponent <- function(alpha) {
  if (is.null(alpha)) return(invisible())
  alpha <- check_positive(alpha, "alpha", "prior")
  if (alpha > 2) abort("prior", "`alpha` must be at most 2; found ", describe(alpha), ".")
}

check_nu <- function(nu) {
  if (is.null(nu)) return(invisible())
  check_all_positive(nu, "nu")
  if (any(diff(nu) <= 0)) {
    abort("prior", "A grid of `nu` must increase; found ", format(nu[which(diff(nu) <= 0)[1L]]),
          " before ", format(nu[which(diff(nu) <= 0)[1L] + 1L]), ".")
  }
}

bridge_label <- function(numbers, nu, sigma) {
  alpha <- numbers[["alpha"]]
  paste0(if (alpha == 1) "lasso" else paste("bridge, alpha", if (alpha > 0) format(alpha)
                                                            else "inferred"),
         ", nu ", nu_words(numbers, nu), if (!is.null(sigma)) ", sigma given")
}

nu_words <- function(numbers, nu) {
  if (length(nu) > 1L) return(paste(format(nu[1L]), "to", format(nu[length(nu)])))
  if (length(nu) == 1L) return(format(nu))
  paste0("inferred, gamma(", format(numbers[["shape"]]), ", ", format(numbers[["rate"]]),
         ") on nu^-alpha")
}
