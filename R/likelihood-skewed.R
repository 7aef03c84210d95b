# likelihood_hinge() with `gamma` or `gamma0` of its own, a pseudo-likelihood of classes. With
# u = 1 - y f and c = sqrt(1 + 2 gamma0 / gamma)
#
#   log L = -gamma (c |u| + u) + log(gamma0 / c) = -a max(0, u) - b max(0, -u) + log(1/(1/a + 1/b)),
#
# a = gamma (c + 1), b = gamma (c - 1); without the constant where gamma0, and so b, is zero.

#' @param shape,rate Shape and rate of the gamma distribution of `gamma` or `gamma0`, positive
#'   numbers; its mean is `shape / rate`.
#' @rdname likelihood_hinge
#' @export
prior_gamma <- function(shape = 1, rate = 1) {
  numbers <- c(shape = check_positive(shape, "shape", "prior"),
               rate = check_positive(rate, "rate", "prior"))
  new_hyperprior("gamma", numbers,
                 paste0("gamma(", format(numbers[["shape"]]), ", ", format(numbers[["rate"]]), ")"))
}

# list(given, priors) of the two, NULL for the hinge itself.
skew_numbers <- function(gamma, gamma0) {
  priors <- Filter(Negate(is.null), list(gamma = prior_of_skew(gamma, "gamma"),
                                         gamma0 = prior_of_skew(gamma0, "gamma0")))
  given <- c(gamma = if (is.null(priors[["gamma"]])) check_skew(gamma, "gamma"),
             gamma0 = if (is.null(priors[["gamma0"]])) check_skew(gamma0, "gamma0"))
  if (identical(given, c(gamma = 1, gamma0 = 0))) return(NULL)
  if (!is.null(priors[["gamma"]]) && identical(given, c(gamma0 = 0))) refuse_open_gamma()
  list(given = if (is.null(given)) numeric(0) else given, priors = priors)
}

prior_of_skew <- function(x, name) {
  if (!inherits(x, "bsvm_hyperprior")) return(NULL)
  if (identical(x$name, "gamma")) return(check_component(x, "hyperprior"))
  abort("argument", "The prior of `", name, "` must be made by prior_gamma(); found ", x$label, ".")
}

check_skew <- function(x, name) {
  least <- if (name == "gamma") 1e-12 else 0
  good <- is.numeric(x) && !is.object(x) && length(x) == 1L && is.finite(x) && x >= least &&
    x <= 1e12
  if (!good) {
    abort("argument", "`", name, "` must be a number from ", least, " to 1e12, or prior_gamma(); ",
          "found ", describe(x), ".")
  }
  as.double(unname(x))
}

refuse_open_gamma <- function() {
  abort("argument", "`gamma` can be inferred only where `gamma0` is above 0. With `gamma0 = 0` ",
        "the pseudo-likelihood falls as `gamma` grows and never rises, so that `gamma` would go ",
        "towards 0 with every row. Give `gamma` a number, or `gamma0` one, as in gamma0 = 0.1.")
}

refuse_normalised_skew <- function() {
  abort("argument", "`gamma` and `gamma0` are for the pseudo-likelihood: normalised over the two ",
        "classes, a skewed hinge is another model, which is not there (yet). Use ",
        "likelihood_hinge(normalized = TRUE), or omit `normalized`.")
}

skewed_hinge <- function(numbers) {
  skewed <- !identical(numbers$given["gamma0"], c(gamma0 = 0))
  likelihood <- new_likelihood(
    "skewed_hinge", numbers$given,
    if (skewed) "skewed hinge pseudo-likelihood" else "hinge pseudo-likelihood", FALSE,
    class = c("skewed_hinge", "pseudo_hinge", "hinge"),
    priors = if (length(numbers$priors) > 0L) numbers$priors
  )
  with_given_values(likelihood)
}

# ---- the row at its numbers ---------------------------------------------------------------------

# list(a, b) as above, for `values` a list with gamma and gamma0, each a number or one a draw.
skew_slopes <- function(values) {
  gamma <- values[["gamma"]]
  gamma0 <- values[["gamma0"]]
  steep <- gamma + sqrt(gamma * (gamma + 2 * gamma0))
  list(a = steep, b = 2 * gamma * (gamma0 / steep))
}

# Those of any pseudo-likelihood of classes.
margin_slopes <- function(likelihood) {
  if (is.null(likelihood$values)) list(a = 2, b = 0) else skew_slopes(likelihood$values)
}

#' @export
log_density.bsvm_likelihood_skewed_hinge <- function(likelihood, y, f) {
  slopes <- skew_slopes(likelihood$values)
  u <- 1 - y * f
  constant <- ifelse(slopes$b > 0, -log(1 / slopes$a + 1 / slopes$b), 0)
  constant - slopes$a * pmax(u, 0) - slopes$b * pmax(-u, 0)
}

# The logistic function of the difference of the two classes' log pseudo-likelihoods, whose slope is
# a + b, 2 gamma c, and 2 gamma more within the margin, 2 gamma beyond.
#' @export
expected_response.bsvm_likelihood_skewed_hinge <- function(likelihood, f) {
  slopes <- skew_slopes(likelihood$values)
  even <- (slopes$a + slopes$b) / 2
  f[] <- stats::plogis(even * (abs(1 + f) - abs(1 - f)) + 2 * likelihood$values[["gamma"]] * f)
  f
}

# By panels between where the map bends and where it changes.
#' @export
averaged_response.bsvm_likelihood_skewed_hinge <- function(likelihood, mean, sd) {
  out <- expected_response(likelihood, mean)
  wide <- which(sd > 1e-7 * (1 + abs(mean)))
  in_chunks(length(wide), 2^12, function(k) {
    at <- wide[k]
    rule <- panel_rule(likelihood, rep(1, length(at)), mean[at], sd[at])
    out[at] <<- rowSums(expected_response(likelihood, rule$f) * rule$weight) / rowSums(rule$weight)
  })
  out
}

#' @export
density_bends.bsvm_likelihood_skewed_hinge <- function(likelihood, y) {
  within <- c(2, 8, 30) * response_width(likelihood)
  beyond <- 1 + c(2, 8, 30) / (2 * likelihood$values[["gamma"]])
  places <- c(1, within, beyond)
  matrix(c(-places, places), length(y), 2L * length(places), byrow = TRUE)
}

#' @export
response_width.bsvm_likelihood_skewed_hinge <- function(likelihood) {
  1 / (2 * skew_slopes(likelihood$values)$a)
}

# With gamma0 above zero the loss pulls on both sides of the margin.
#' @export
is_support.bsvm_likelihood_skewed_hinge <- function(likelihood, y, f) {
  y * f < 1 | skew_slopes(likelihood$values)$b > 0
}

#' @export
own_values.bsvm_likelihood_skewed_hinge <- function(likelihood, values) {
  values[c("gamma", "gamma0")]
}

# LIBSVM's loss has no slope beyond the margin.
#' @export
libsvm_cost.bsvm_likelihood_skewed_hinge <- function(likelihood, variance) {
  gamma <- likelihood$parameters["gamma"]
  if (is.na(gamma) || !identical(likelihood$parameters["gamma0"], c(gamma0 = 0))) {
    return(rep(NA_real_, length(variance)))
  }
  2 * unname(gamma) * variance
}

#' @export
integral_costs.bsvm_likelihood_skewed_hinge <- function(likelihood) c(1, 30, 2000)

#' @export
integrates.bsvm_likelihood_skewed_hinge <- function(likelihood, effects) TRUE

# How far intervals reach goes with gamma.
#' @export
note_of.bsvm_likelihood_skewed_hinge <- function(likelihood, about, fit = NULL) {
  if (about != "intervals") return(NextMethod())
  paste(c(paste("Intervals of a pseudo-posterior are not calibrated: their width depends on",
                "`gamma`, which is not a property of the data."), calibrated_advice(fit)),
        collapse = " ")
}
