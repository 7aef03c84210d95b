#' Log-likelihood with the group effects integrated out
#'
#' `integrated_loglik()` returns the log-likelihood of the data of a fit at given parameters,
#' averaged over the normal distribution of the effects of a grouping factor. It is the quantity
#' that `lme4::glmer()` maximises.
#'
#' @details
#' With one grouping factor that has one or two effects per level, the value is
#' \deqn{\sum_g \log \int \prod_{i \in g} p(y_i \mid f_i)^{w_i} N(u; 0, \Sigma)\,du.}{
#'   sum over g of log integral prod p(y_i | f_i)^w_i N(u; 0, Sigma) du.}
#' Under the pseudo-likelihood with one effect per level, the integral has a closed form. Otherwise
#' it is computed by quadrature to at least eight digits. All computations are on the log scale. The
#' pseudo-likelihood is not normalised over the two classes: use the value only to compare
#' parameters for the same response.
#'
#' With several grouping factors, the factor with most levels (among those with one or two effects
#' per level) is integrated out. **The effects of the other factors are held at their posterior
#' means.** Without groups, the value is the log-likelihood of the rows.
#'
#' The function works for a fit with any engine, on the data of the fit. These are kept in the fit
#' (`keep_data = TRUE`), or its call is evaluated again.
#'
#' @param object A fit from [bsvm()].
#' @param fixef Population-level coefficients on the original scale of the predictors. Either a
#'   named vector with some of the names of `fixef(object)`, while the others stay at their
#'   posterior means, or all coefficients in order. `NULL` (default) uses all posterior means.
#' @param sd Standard deviations of the integrated effects, positive. For one effect per level, a
#'   number, optionally named by the factor (`c(clinic = 1.5)`). For two effects per level, both
#'   numbers in the order of the columns of `ranef()` (`c(1, 0.5)`), or some of them with names such
#'   as `c("clinic: (Intercept)" = 1, "clinic: x" = 0.5)`. Standard deviations that are not given,
#'   and all correlations, come from the posterior mean of the covariance. `NULL` (default) uses it
#'   for all.
#' @param covariance Alternative to `sd`: the covariance matrix of the effects of a level. Its rows
#'   and columns are in the order of the columns of `ranef()`, unless they are named. It can also be
#'   a list that contains this matrix, named by the factor, as `VarCorr()` returns it.
#' @param ... Must be empty.
#' @return One number.
#' @section Errors:
#' `bsvm_error_argument` for parameters that do not fit the model, or if `object` is not a fit;
#' `bsvm_error_unsupported` if no grouping factor has one or two effects per level.
#' `bsvm_error_data` if the data can't be found again.
#' @seealso [engine_gaussian()], [engine_map()]; [logLik.bsvm()] for the log-likelihood functions
#' that are not defined.
#' @examples
#' # how likely are the data if patients differ less, or more, than estimated?
#' fit <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail)
#' integrated_loglik(fit)
#' sds <- c(0.5, 1, 1.5, 2)
#' vapply(sds, function(s) integrated_loglik(fit, sd = s), 0)
#' @export
integrated_loglik <- function(object, ...) {
  need_arguments("object", what = "integrated_loglik()")
  UseMethod("integrated_loglik")
}

#' @rdname integrated_loglik
#' @export
integrated_loglik.bsvm <- function(object, fixef = NULL, sd = NULL, covariance = NULL, ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "integrated_loglik()", loglik_hints)
  refuse_modelled(object, "integrated_loglik()")
  refuse_factors(object, "integrated_loglik()")
  refuse_inferred(object, "integrated_loglik()")
  name <- integrated_name(object, sd, covariance)
  population <- stated_coefficients(object, fixef)
  stated <- if (!is.null(name)) stated_covariance(object, name, sd, covariance)
  rows <- rows_again(object, parent.frame())
  link <- check_links(links_without(object, rows, name, population))
  if (is.null(name)) {
    return(row_loglik(likelihood_at(object, columns = rows$scale_columns), rows, link))
  }
  parts <- factor_problem(object, rows, name, matrix(link))
  points <- matrix(c(1, free_of_covariance(stated), mean_numbers(object)))
  with_core_conditions(
    core_integrated(parts$problem, parts$model, points, 0L, object$control$threads)
  )$value[[1L]]
}

#' @export
integrated_loglik.default <- function(object, ...) {
  abort("argument", "integrated_loglik() needs a fit from bsvm(); found ", describe(object), ".")
}

loglik_hints <- c(
  beta = "Coefficients are `fixef`.", coef = "Coefficients are `fixef`.",
  theta = "Standard deviations are `sd`.", newdata = "It is that of the fit's own data.",
  variance = "Standard deviations are `sd`.", log = "It is always in logarithms."
)

# The factor to integrate, NULL without groups.
integrated_name <- function(object, sd, covariance) {
  if (is.null(object$groups)) {
    if (is.null(sd) && is.null(covariance)) return(NULL)
    abort("argument", "`sd` and `covariance` are those of group effects, which this fit does not ",
          "have.")
  }
  at <- integrable_factor(object$groups)
  if (at > 0L && !integrates(object$likelihood, length(object$groups[[at]]$labels))) {
    abort("unsupported", "integrated_loglik() can't integrate the effects of `",
          names(object$groups)[at], "` out under this likelihood: ",
          "that requires likelihood_eps_insensitive() or its relatives.")
  }
  if (at > 0L) return(names(object$groups)[at])
  abort("unsupported", "Effects are integrated out one or two a level; ",
        enumerate(names(object$groups)), if (length(object$groups) > 1L) " have" else " has",
        " more. Fit a model with `(1 | g)` or `(x | g)`.")
}

stated_coefficients <- function(object, fixef) {
  population <- fixef.bsvm(object)
  if (is.null(fixef)) return(population)
  fixef <- named_by(fixef, names(population), "fixef")
  check_values(fixef, is.finite(fixef), "`fixef` must be finite")
  replace(population, match(names(fixef), names(population)), fixef)
}

check_links <- function(link) {
  if (all(is.finite(link))) return(link)
  abort("argument", "`fixef` must leave the linear predictors of all rows finite; found ",
        link[!is.finite(link)][1L], " in ", sum(!is.finite(link)), " of ", length(link), " rows.")
}

# Numbers, one for each of `known` in order, or some of them by name. `note` ends a refusal.
named_by <- function(x, known, argument, note = "") {
  plain <- length(names(x)) == 0L
  if (is.numeric(x) && plain && length(x) == length(known)) return(stats::setNames(x, known))
  if (!is.numeric(x) || plain) {
    abort("argument", "`", argument, "` must be ", numbers_of(known), "; found ", describe(x), ".",
          note)
  }
  check_names(names(x), known, argument, note)
  x
}

numbers_of <- function(known) {
  if (length(known) == 1L) {
    return(paste0("one number, that of ", enumerate(known), ", with this name or none"))
  }
  paste0(length(known), " numbers in the order of ", enumerate(known), ", or some of them by name")
}

check_names <- function(names, known, argument, note) {
  names[is.na(names)] <- ""
  twice <- unique(names[duplicated(names)])
  found <- if (!all(nzchar(names))) "a number without a name"
           else if (!all(names %in% known)) enumerate(setdiff(names, known))
           else if (length(twice) > 0L) paste(enumerate(twice), "more than once")
  if (is.null(found)) return(invisible())
  abort("argument", "`", argument, "` must be named by ", enumerate(known), ", each once at most; ",
        "found ", found, ".", note)
}

# `must`: what should hold of each of the named numbers, and does where `good` is TRUE.
check_values <- function(x, good, must) {
  if (all(good)) return(invisible())
  at <- which(!good)[1L]
  abort("argument", must, "; found ", format(x[[at]]), " for `", names(x)[at], "`.")
}

# q x q covariance of the effects of factor `name`.
stated_covariance <- function(object, name, sd, covariance) {
  if (!is.null(sd) && !is.null(covariance)) {
    abort("argument", "`sd` and `covariance` have the same meaning: give one of them.")
  }
  if (!is.null(covariance)) return(given_covariance(object, name, covariance))
  own <- posterior_covariance(object, name)
  if (is.null(sd)) return(check_definite(own, name, "The posterior mean of the covariance"))
  given <- stated_sds(object, name, sd)
  root <- ifelse(is.na(given), sqrt(diag(own)), given)
  check_definite(stats::cov2cor(own) * outer(root, root), name, "The covariance")
}

# Where the mean of a variance is infinite, the value that stands for it in the fit.
posterior_covariance <- function(object, name) {
  covariance <- effect_covariances(object)[[name]]
  if (all(is.finite(covariance))) return(covariance)
  fill_by_factor(object, function(block, k) diag(plug_in_variances(block), length(block$columns)))[[
    name]]
}

# A number for each effect of the factor, NA for none.
stated_sds <- function(object, name, sd) {
  effects <- paste0(name, ": ", object$groups[[name]]$labels)
  by_factor <- length(effects) == 1L & names(sd) %in% name
  if (any(by_factor)) names(sd)[by_factor] <- effects
  sd <- named_by(sd, effects, "sd", held_note(object, name))
  good <- sd > 0 & sd^2 > 0 & is.finite(sd^2)
  check_values(sd, good & !is.na(good), "`sd` and its square must be positive and finite")
  unname(sd[match(effects, names(sd))])
}

held_note <- function(object, name) {
  held <- setdiff(names(object$groups), name)
  if (length(held) == 0L) return("")
  paste0(" Only the effects of `", name, "` are integrated out; those of ", enumerate(held),
         " are held at their posterior means.")
}

given_covariance <- function(object, name, covariance) {
  labels <- object$groups[[name]]$labels
  q <- length(labels)
  refuse <- function(...) {
    abort("argument", "`covariance` must be the ", if (q > 1L) "symmetric ", q, " x ", q,
          " matrix of the effects of `", name, "`, or a list by factor with it; found ", ..., ".",
          held_note(object, name))
  }
  covariance <- one_covariance(covariance, name, names(object$groups), refuse)
  if (q == 1L && is.atomic(covariance) && length(covariance) == 1L) dim(covariance) <- c(1L, 1L)
  if (!is.numeric(covariance) || !identical(dim(covariance), c(q, q))) refuse(describe(covariance))
  if (!all(is.finite(covariance))) refuse(covariance[!is.finite(covariance)][1L], " in it")
  covariance <- in_order(covariance, labels)
  if (!isSymmetric(covariance)) {
    refuse(paste(format(covariance[2:3], digits = 15L, trim = TRUE), collapse = " and "),
           " on the two sides of its diagonal")
  }
  check_definite(covariance, name, "`covariance`")
}

# The matrix of factor `name`, from a list by factor.
one_covariance <- function(covariance, name, factors, refuse) {
  if (!is.list(covariance) || is.data.frame(covariance)) return(covariance)
  given <- names(covariance)
  if (is.null(given)) refuse("a list without names")
  if (!name %in% given || !all(given %in% factors) || anyDuplicated(given)) {
    refuse("a list named ", enumerate(given))
  }
  covariance[[name]]
}

# Rows and columns in the order of the effects, where they are named by them; without names.
in_order <- function(covariance, labels) {
  names <- dimnames(covariance)
  named <- setequal(names[[1L]], labels) && identical(names[[1L]], names[[2L]])
  if (named) covariance <- covariance[labels, labels, drop = FALSE]
  matrix(as.vector(covariance), nrow(covariance))
}

check_definite <- function(covariance, name, what) {
  if (!is_positive_definite(covariance)) {
    abort("argument", what, " of the effects of `", name, "` must be positive definite; found ",
          paste(format(covariance, digits = 3L, trim = TRUE), collapse = ", "), ".")
  }
  covariance
}

# The sum over rows, weights included.
row_loglik <- function(likelihood, rows, link) {
  value <- log_density(likelihood, rows$y, link)
  sum(if (is.null(rows$weight)) value else rows$weight * value)
}
