#' Kernels of Gaussian-process terms
#'
#' These functions define the covariance function of a smooth function of one or several predictors.
#' Kernels can be added and multiplied.
#'
#' @details
#' A kernel \eqn{k(x, v)} is the prior correlation of a function at two inputs. Kernels have **unit
#' variance**: the amplitude belongs to the term, whose prior is a [prior_ridge()]. With length
#' scales \eqn{l_d} and
#' \eqn{r^2 = \sum_d (x_d - v_d)^2 / l_d^2}{r^2 = sum_d (x_d - v_d)^2 / l_d^2},
#' the kernels are:
#'
#' * `kernel_se()`, the squared exponential (also called Gaussian or radial basis function kernel):
#'   \eqn{\exp(-r^2/2)}{exp(-r^2/2)}. Functions are very smooth.
#' * `kernel_matern()`: rougher functions. `nu` is 0.5 for \eqn{\exp(-r)}{exp(-r)}, 1.5 for
#'   \eqn{(1 + s) \exp(-s)}{(1 + s) exp(-s)} with \eqn{s = \sqrt 3 r}{s = sqrt(3) r}, and 2.5
#'   for \eqn{(1 + s + s^2/3) \exp(-s)}{(1 + s + s^2/3) exp(-s)} with
#'   \eqn{s = \sqrt 5 r}{s = sqrt(5) r}.
#' * `kernel_rational()`, the rational quadratic: \eqn{(1 + r^2/(2a))^{-a}}{(1 + r^2/(2a))^(-a)}
#'   with `shape` \eqn{a}. It is a mixture of squared exponentials of different length scales.
#' * `kernel_periodic()`: \eqn{\exp\{-2 \sum_d \sin^2(\pi (x_d - v_d)/p_d) / l_d^2\}}{exp(-2 sum_d
#'   sin(pi (x_d - v_d)/p_d)^2 / l_d^2)} with periods \eqn{p_d}. Functions repeat exactly. Multiply
#'   by `kernel_se()` for functions whose pattern changes slowly.
#' * `kernel_linear()` and `kernel_poly()`: proportional to \eqn{(o s + \sum_d x_d v_d)^q}{(o s +
#'   sum_d x_d v_d)^q} with degree \eqn{q} (1 for `kernel_linear()`) and `offset` \eqn{o}, where
#'   \eqn{s} is the mean of \eqn{\sum_d x_d^2}{sum_d x_d^2} over the rows of the fit. The mean
#'   variance over these rows is 1. With `ard`, each variable is divided by its own length scale.
#'
#' **Length scales** are in units of the standardised inputs. A length scale that is not given is
#' inferred with a log-normal prior. The median of this prior is the median distance between rows
#' divided by \eqn{\sqrt 2}{sqrt(2)}. It is 1 for `kernel_periodic()`, whose length scale has no
#' unit, and for the relative scales of `kernel_linear()` and `kernel_poly()` with `ard`. By default
#' all variables have the same length scale. With `ard = TRUE` (automatic relevance determination)
#' each variable has its own: a long length scale means that the variable matters little.
#'
#' **Sums and products:** `k1 + k2` and `k1 * k2` are kernels. Products are distributed over sums.
#' Each summand of the result is a product of kernels and has its own variance. Numeric factors are
#' therefore not needed, and `2 * kernel_se()` is an error.
#'
#' **Other software.** With `lengthscale` \eqn{l} and amplitude variance \eqn{v}:
#'
#' * kernlab's `rbfdot(sigma)` and the `gamma` of e1071 and LIBSVM are \eqn{1/(2 l^2)}, and the cost
#'   of an SVM is \eqn{2 v};
#' * kernlab's `laplacedot(sigma)` is `kernel_matern(nu = 0.5)` with
#'   \eqn{l = 1/\sigma}{l = 1/sigma};
#' * kernlab's `polydot(degree, scale, offset)`, and `gamma` and `coef0` of e1071, are
#'   `kernel_poly(degree, offset / (scale * s))` with \eqn{s} as above: the number of variables if
#'   inputs are standardised. Amplitudes differ;
#' * brms' `gp()`: `sdgp` is \eqn{\sqrt v}{sqrt(v)}, `lscale` is \eqn{l} after division by the
#'   largest distance, and `iso = FALSE` is `ard = TRUE`;
#' * mgcv's `s(bs = "gp", m = c(3, r))` and `m = c(4, r)` are `kernel_matern()` with `nu` 1.5 and
#'   2.5, and \eqn{l = \sqrt 3 r}{l = sqrt(3) r} and \eqn{\sqrt 5 r}{sqrt(5) r};
#' * GPflow and GPyTorch: `variance` or `outputscale` is \eqn{v}, `lengthscale` is \eqn{l};
#' * \eqn{\exp(-|x - v|^2/\theta^2)}{exp(-|x - v|^2/theta^2)} has \eqn{l = \theta/\sqrt 2}{l =
#'   theta/sqrt(2)}.
#'
#' @param lengthscale `NULL` (default) or [prior_lognormal()]: inferred. A positive number is fixed;
#'   with `ard = TRUE` also one number for each variable.
#' @param ard Does each variable have its own length scale? `TRUE` or `FALSE` (default).
#' @param nu Smoothness: 0.5, 1.5 or 2.5.
#' @param shape A positive number, or [prior_lognormal()] with a median.
#' @param period A positive number, one number for each variable, or [prior_lognormal()] with a
#'   median. It is in the original unit of the variable, such as 12 for months.
#' @param offset A number of at least 0.
#' @param degree A whole number from 1 to 100. Several degrees define a choice, see
#'   [kernel_choice()].
#' @param ... Not used. Argument names of other packages are an error that names the argument to
#'   use.
#' @return An object of class `bsvm_kernel`; `prior_lognormal()` returns one of class
#'   `bsvm_hyperprior`.
#' @section Errors:
#' `bsvm_error_argument` for numbers out of range, and for sums and products with anything but a
#' kernel; `bsvm_error_prior` for invalid parameters of a prior.
#' @references
#' Rasmussen, C. E. and Williams, C. K. I. (2006). *Gaussian Processes for Machine Learning*. MIT
#' Press (Chapter 4).
#' @examples
#' # how many passengers will fly next month, given a trend and a pattern that repeats yearly?
#' air <- data.frame(month = seq_along(AirPassengers), passengers = c(AirPassengers))
#' kernel <- kernel_linear() + kernel_se() * kernel_periodic(period = 12)
#' fit <- bsvm(log(passengers) ~ gp(month, kernel = kernel), data = air,
#'             likelihood = likelihood_gaussian())
#' new <- predict(fit, data.frame(month = 145), interval = "prediction")
#' exp(new[c("fit", "lower", "upper")])
#'
#' # other kernels
#' kernel_se(lengthscale = 2)
#' kernel_matern(nu = 2.5, lengthscale = prior_lognormal(median = 1, sd = 0.5), ard = TRUE)
#' kernel_rational(shape = 2)
#' kernel_poly(degree = 2, offset = 1)
#' @export
kernel_se <- function(lengthscale = NULL, ard = FALSE, ...) {
  check_dots(substitute(list(...)), "kernel_se()", kernel_hints(
    gamma = "That of e1071 is `lengthscale = 1 / sqrt(2 * gamma)`.",
    sigma = "kernlab's rbfdot(sigma) is `lengthscale = 1 / sqrt(2 * sigma)`.",
    theta = "For exp(-|x - v|^2 / theta^2) write `lengthscale = theta / sqrt(2)`."))
  ard <- check_flag(ard, "ard")
  new_kernel("kernel_se", "se", ard, list(lengthscale = kernel_scales(lengthscale, ard)),
             shown = c(lengthscale = kernel_code(lengthscale)))
}

#' @rdname kernel_se
#' @export
kernel_matern <- function(nu = 1.5, lengthscale = NULL, ard = FALSE, ...) {
  check_dots(substitute(list(...)), "kernel_matern()", kernel_hints(
    sigma = "kernlab's laplacedot(sigma) is `nu = 0.5, lengthscale = 1 / sigma`."))
  if (!is.numeric(nu) || is.object(nu) || length(nu) != 1L || !nu %in% c(0.5, 1.5, 2.5)) {
    abort("argument", "`nu` must be 0.5, 1.5 or 2.5; found ", describe(nu), ".")
  }
  ard <- check_flag(ard, "ard")
  new_kernel("kernel_matern", "matern", ard, list(lengthscale = kernel_scales(lengthscale, ard)),
             c(nu = as.double(nu)),
             c(nu = if (nu != 1.5) format(nu), lengthscale = kernel_code(lengthscale)))
}

#' @rdname kernel_se
#' @export
kernel_rational <- function(shape = prior_lognormal(1, 1), lengthscale = NULL, ard = FALSE, ...) {
  check_dots(substitute(list(...)), "kernel_rational()", kernel_hints(
    alpha = "Use `shape` instead.", a = "Use `shape` instead."))
  ard <- check_flag(ard, "ard")
  inferred <- if (missing(shape)) NULL else kernel_code(shape)
  new_kernel("kernel_rational", "rational", ard,
             list(lengthscale = kernel_scales(lengthscale, ard),
                  shape = kernel_number(shape, "shape")),
             shown = c(shape = inferred, lengthscale = kernel_code(lengthscale)))
}

#' @rdname kernel_se
#' @export
kernel_periodic <- function(period, lengthscale = NULL, ard = FALSE, ...) {
  check_dots(substitute(list(...)), "kernel_periodic()", kernel_hints(
    frequency = "Use `period = 1 / frequency` instead."))
  if (missing(period)) {
    abort("argument", "`period` must be given, in the variable's own unit: such as ",
          "kernel_periodic(period = 12) for months, or ",
          "period = prior_lognormal(median = 12, sd = 0.1).")
  }
  ard <- check_flag(ard, "ard")
  new_kernel("kernel_periodic", "periodic", ard,
             list(lengthscale = kernel_scales(lengthscale, ard, median = 1),
                  period = kernel_number(period, "period", many = TRUE)),
             shown = c(period = kernel_code(period), lengthscale = kernel_code(lengthscale)))
}

#' @rdname kernel_se
#' @export
kernel_linear <- function(offset = 0, ard = FALSE, ...) {
  check_dots(substitute(list(...)), "kernel_linear()", poly_hints())
  new_poly("kernel_linear", 1, offset, ard, c(offset = if (!isTRUE(offset == 0)) offset))
}

#' @rdname kernel_se
#' @export
kernel_poly <- function(degree = 2, offset = 1, ard = FALSE, ...) {
  check_dots(substitute(list(...)), "kernel_poly()", poly_hints())
  if (is.numeric(degree) && length(degree) > 1L) {
    if (anyDuplicated(degree)) {
      abort("argument", "`degree` must not have a number twice; found ",
            degree[duplicated(degree)][1L], " twice.")
    }
    return(do.call(kernel_choice, lapply(degree, kernel_poly, offset = offset, ard = ard)))
  }
  degree <- check_count(degree, "degree")
  if (degree > 100L) abort("argument", "`degree` must be at most 100; found ", degree, ".")
  new_poly("kernel_poly", degree, offset, ard,
           c(degree = if (degree != 2L) degree, offset = if (!isTRUE(offset == 1)) offset))
}

# One length scale of all variables would be the amplitude: there are none, or one for each.
new_poly <- function(class, degree, offset, ard, shown) {
  if (check_number(offset, "offset") < 0) {
    abort("argument", "`offset` must be at least 0; found ", describe(offset), ".")
  }
  ard <- check_flag(ard, "ard")
  new_kernel(unique(c(class, "kernel_poly")), "poly", ard,
             if (ard) list(lengthscale = prior_lognormal(1)) else list(),
             c(degree = as.double(degree), offset = as.double(offset)),
             vapply(shown, format, ""))
}

# `parameters`: a number, numbers or a prior each, in the order in which the core has their
# logarithms; of those that differ by variable there is one value for all, or one for each.
# `settings`: numbers that the core has by name. `shown`: arguments as code.
new_kernel <- function(class, name, ard, parameters, settings = numeric(0), shown = NULL) {
  shown <- c(shown, ard = if (ard) "TRUE")
  arguments <- if (length(shown) > 0L) paste(names(shown), "=", shown, collapse = ", ")
  structure(list(name = name, ard = ard, parameters = parameters, settings = settings,
                 label = paste0(class[1L], "(", arguments, ")")),
            class = c(class, "bsvm_kernel"))
}

# ---- arguments ----------------------------------------------------------------------------------

kernel_scales <- function(x, ard, median = NULL) {
  if (is.null(x)) return(prior_lognormal(median))
  x <- kernel_number(x, "lengthscale", many = TRUE, open = is.null(median))
  if (length(x) > 1L && is.numeric(x) && !ard) {
    abort("argument", "`lengthscale` has ", length(x), " numbers; set ard = TRUE for one length ",
          "scale for each variable.")
  }
  x
}

# A positive number, or with `many` several; or a log-normal prior, which with `open` may leave its
# median to the data.
kernel_number <- function(x, name, many = FALSE, open = FALSE) {
  if (is_lognormal(x)) {
    if (!open && !has_median(x)) {
      abort("argument", "The prior of `", name, "` needs a median, as in prior_lognormal(median = ",
            "1).")
    }
    return(check_component(x, "hyperprior"))
  }
  good <- is.numeric(x) && !is.object(x) && length(x) >= 1L && (many || length(x) == 1L) &&
    all(is.finite(x)) && all(x > 0)
  if (!good) {
    abort("argument", "`", name, "` must be a positive number",
          if (many) ", or one for each variable,", " or prior_lognormal(); found ",
          if (inherits(x, "bsvm_hyperprior")) x$label else describe(x), ".")
  }
  as.double(x)
}

# An argument as code; NULL of NULL.
kernel_code <- function(x) {
  if (is.null(x)) return(NULL)
  if (is_lognormal(x)) return(lognormal_code(x))
  if (!is.numeric(x)) return(NULL)  # refused
  shown <- paste(vapply(x, format, ""), collapse = ", ")
  if (length(x) == 1L) shown else paste0("c(", shown, ")")
}

# Arguments of other packages that users may try with any kernel, and with this one.
kernel_hints <- function(...) {
  scale <- paste("Use `lengthscale` instead, in units of the standardised inputs: see the table of",
                 "?kernel_se.")
  amplitude <- paste("Kernels have unit variance; the amplitude is the prior of the term,",
                     "prior_ridge(variance = ).")
  own <- c(...)
  hints <- c(own, sigma = scale, gamma = scale, theta = scale, rho = scale, range = scale,
             scale = scale, lscale = scale, length_scale = scale, lengthscales = scale,
             phi = scale,
             variance = amplitude, outputscale = amplitude, sdgp = amplitude, sigma2 = amplitude,
             amplitude = amplitude, cost = amplitude,
             iso = "Use `ard = TRUE` instead of `iso = FALSE`.", ARD = "Use `ard` instead.")
  hints[!duplicated(names(hints))]
}

poly_hints <- function() {
  offset <- paste("Only the offset relative to the scale can be given: `offset` is kernlab's",
                  "offset / (scale * s), e1071's coef0 / (gamma * s), with s the number of",
                  "standardised variables.")
  kernel_hints(scale = offset, gamma = offset, coef0 = offset,
               lengthscale = paste("Without `ard` it would be the amplitude; with `ard = TRUE`",
                                   "length scales are inferred."))
}
