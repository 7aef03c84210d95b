#' Priors for a variance
#'
#' These functions define the prior of an inferred variance, for the argument `variance` of
#' [prior_ridge()].
#'
#' @details
#' `prior_half_t()`, the default, puts a half-t distribution on the standard deviation, with density
#' proportional to \eqn{(1 + (s/scale)^2/df)^{-(df+1)/2}}{(1 + (s/scale)^2/df)^(-(df+1)/2)}, `s >
#' 0`. It does not keep the variance away from zero, and bounds it from above. `prior_inv_gamma()`
#' is the prior of Luts and Ormerod (2014). Its density is proportional to \eqn{v^{-shape-1}
#' \exp(-scale/v)}{v^(-shape-1) exp(-scale/v)} in the variance \eqn{v}.
#'
#' **Scale.** A default scale is in units of the model.
#' * Coefficients under `likelihood_hinge(normalized = TRUE)` are about a quarter of those under the
#'   pseudo-likelihood. The scale is therefore 1/4 for the half-t distribution and 0.01/16 for the
#'   inverse-gamma, in place of 1 and 0.01.
#' * The scale of `prior_half_t()` is divided by the root mean square of the covariate for varying
#'   slopes such as `(0 + x | g)`. For a smooth term it is divided by the root mean square over the
#'   rows of its columns together. The scale then refers to the contribution of the term to the
#'   linear predictor. The result depends neither on the units of `x` nor on the scaling of a basis.
#'
#' A prior printed alone shows the numbers for the pseudo-likelihood; [prior_summary()] shows the
#' numbers of a fit. A scale that is given is used unchanged.
#'
#' @param shape,scale Positive numbers. For `prior_inv_gamma()`, shape and scale of the
#'   inverse-gamma distribution; `scale = NULL` is 0.01. For `prior_half_t()`, `scale` is the scale
#'   of the standard deviation, and `scale = NULL` is 1. Both defaults are in the units above.
#' @param df Degrees of freedom; a positive number.
#' @return An object of class `bsvm_hyperprior`.
#' @section Errors:
#' `bsvm_error_prior` for a number that is not positive and finite.
#' @references
#' Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for support
#' vector machine classification. *Computational Statistics & Data Analysis*, 73, 163-176
#' (Section 2.2).
#'
#' Gelman, A. (2006). Prior distributions for variance parameters in hierarchical models.
#' *Bayesian Analysis*, 1, 515-534.
#' @seealso [prior_ridge()].
#' @examples
#' # do the estimates depend on the prior of the variance?
#' fit <- bsvm(disease ~ sex + age, data = cath, prior = prior_ridge(variance = prior_half_t()))
#' papers <- update(fit, prior = prior_ridge(variance = prior_inv_gamma(0.01, 0.01)))
#' cbind(half_t = fixef(fit), inv_gamma = fixef(papers))
#' @export
prior_inv_gamma <- function(shape = 0.01, scale = NULL) {
  shape <- check_positive(shape, "shape", "prior")
  new_law("inverse-gamma", c(shape = shape, scale = given_scale(scale, 0.01)), is.null(scale))
}

#' @rdname prior_inv_gamma
#' @export
prior_half_t <- function(df = 3, scale = NULL) {
  df <- check_positive(df, "df", "prior")
  new_law("half-t", c(df = df, scale = given_scale(scale, 1)), is.null(scale))
}

given_scale <- function(scale, default) {
  if (is.null(scale)) default else check_positive(scale, "scale", "prior")
}

# `open`: does the scale go with the likelihood?
new_law <- function(law, parameters, open) {
  hyper <- new_hyperprior(c("inverse-gamma" = "ridge", "half-t" = "half_t")[[law]], parameters,
                          law_label(law, parameters))
  if (open) hyper$open_scale <- law
  hyper
}

# `name` is the core's name of a normal prior whose variance has this distribution.
new_hyperprior <- function(name, parameters, label) {
  structure(list(name = name, parameters = parameters, label = label), class = "bsvm_hyperprior")
}

#' @rdname print.bsvm_component
#' @export
print.bsvm_hyperprior <- function(x, ...) {
  of <- switch(x$name, beta = "share", gamma = "positive number", "variance")
  cat("Prior of a ", of, ": ", x$label, "\n", sep = "")
  invisible(x)
}

# ---- scales that were not given --------------------------------------------------------------

# `assigned` from assign_priors(), with every prior as it is under the likelihood.
scale_priors <- function(assigned, likelihood) {
  scale_block <- function(block) {
    block$prior <- scale_prior(block$prior, likelihood)
    block
  }
  assigned$blocks <- lapply(assigned$blocks, scale_block)
  assigned$group_blocks <- lapply(assigned$group_blocks, scale_block)
  assigned
}

# A prior whose scale was not given says by `open_scale` which distribution it has.
scale_prior <- function(prior, likelihood) {
  law <- prior$open_scale
  scale <- coefficient_scale(likelihood)
  if (is.null(law) || scale == 1) return(prior)
  of_sd <- law %in% c("half-t", "Huang-Wand")
  rescale_prior(prior, scale^(if (of_sd) 1 else 2))
}

# A half-t scale that was not given is that of what its coefficients add to the linear predictor:
# `size` is the root mean square of what they multiply.
in_units <- function(prior, size) {
  if (!is_open(prior) || !is.finite(size) || size <= 0) return(prior)
  open <- rescale_prior(prior, 1 / size)
  open$open_scale <- "half-t"
  open
}

rescale_prior <- function(prior, factor) {
  law <- prior$open_scale
  numbers <- grep("^(scale|variance)", names(prior$parameters))
  prior$parameters[numbers] <- prior$parameters[numbers] * factor
  before <- if (law %in% c("inverse-gamma", "half-t", "fixed")) "ridge, "
  prior$label <- paste0(before, law_label(law, prior$parameters))
  prior$open_scale <- NULL
  prior
}

# A distribution in words, from the core's numbers.
law_label <- function(law, parameters) {
  shown <- function(name) format(parameters[[name]], digits = 3L)
  switch(law,
    "inverse-gamma" = paste0("inverse-gamma(", parameters[["shape"]], ", ", parameters[["scale"]],
                             ") on the variance"),
    "relevance" = relevance_label(parameters),
    "half-t" = paste0("half-t(", parameters[["df"]], ", ", shown("scale"),
                      ") on the standard deviation"),
    "inverse-Wishart" = wishart_label(parameters),
    "Huang-Wand" = huang_wand_label(parameters),
    "fixed" = paste0("variance ", format(parameters[["variance"]])),
    "weak" = paste0("normal, standard deviation ", format(sqrt(parameters[["variance"]]))),
    "weak slope" = paste0("normal, standard deviation ", format(sqrt(parameters[["variance"]])),
                          " per standard deviation of the predictor")
  )
}
