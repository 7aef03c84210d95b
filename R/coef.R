#' Coefficients and group effects of a fit
#'
#' Posterior means, on the scale of the predictors as given (the standardisation done inside is
#' undone).
#'
#' @details
#' `ranef()` gives the posterior mean of each group effect and its posterior standard deviation.
#' With \eqn{A_g} the precision of the effects of group \eqn{g} given the population-level
#' coefficients, \eqn{B_g} their regression on those, and \eqn{S} the posterior covariance of the
#' population-level coefficients, the covariance is \eqn{A_g^{-1} + B_g S B_g'}: the groups'
#' own uncertainty and the share that comes from the population-level coefficients. Where
#' the posterior is a variational one, so are these numbers, and they are too small
#' (see [summary.bsvm()]).
#'
#' @param object A fit from [bsvm()].
#' @param sd Should `ranef()` compute the standard deviations too? `TRUE` by default.
#' @param ... Not used.
#' @return
#' * `coef()`: a named numeric vector of all coefficients: those of the population first, named
#'   by their columns, then the group effects, level by level, named as `patientID[12].(Intercept)`.
#' * `fixef()`: the population-level part of it.
#' * `ranef()`: a list by grouping factor of data frames (one row a level, one column an effect),
#'   of class `bsvm_ranef`. Each data frame has an attribute `"sd"`, a data frame of the same
#'   shape. `as.data.frame()` gives the long form with the columns of lme4: `grpvar`, `term`,
#'   `grp`, `condval` and `condsd`.
#'
#' `ranef()` of a fit without a grouping factor is an error of class `bsvm_error_unsupported`.
#' @references Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for
#'   support vector machine classification. *Computational Statistics & Data Analysis*, 73,
#'   163-176 (Section 3.1).
#' @seealso [VarCorr.bsvm()], [confint.bsvm()], [tidy.bsvm()].
#' @examples
#' set.seed(1)
#' d <- data.frame(x = rnorm(200), clinic = gl(20, 10))
#' d$sick <- d$x + rnorm(20)[d$clinic] + rnorm(200) > 0
#' fit <- bsvm(sick ~ x + (1 | clinic), data = d, engine = "vb")
#' fixef(fit)
#' head(coef(fit))
#' head(ranef(fit)$clinic)
#' head(as.data.frame(ranef(fit)))
#' @export
coef.bsvm <- function(object, ...) {
  c(fixef.bsvm(object), group_coefficients(object))
}

#' @rdname coef.bsvm
#' @export
fixef.bsvm <- function(object, ...) {
  posterior_coefficients(object)$mean
}

#' @rdname coef.bsvm
#' @export
ranef.bsvm <- function(object, sd = TRUE, ...) {
  need_groups(object, "ranef()")
  check_flag(sd, "sd")
  group <- object$group
  effects <- effect_frame(object$posterior$group_mean, group)
  if (sd) attr(effects, "sd") <- effect_frame(group_sd(object), group)
  structure(stats::setNames(list(effects), group$name), class = "bsvm_ranef")
}

#' @param x The value of `ranef()`.
#' @param row.names,optional Not used; arguments of the generic.
#' @rdname coef.bsvm
#' @export
as.data.frame.bsvm_ranef <- function(x, row.names = NULL, optional = FALSE, ...) {
  long <- lapply(names(x), function(name) long_effects(x[[name]], name))
  do.call(rbind, long)
}

#' @param n How many levels of each factor to print.
#' @param digits Significant digits.
#' @rdname coef.bsvm
#' @export
print.bsvm_ranef <- function(x, n = 20L, digits = max(3L, getOption("digits") - 3L), ...) {
  for (name in names(x)) {
    cat("Effects of ", name, ", posterior mean",
        if (!is.null(attr(x[[name]], "sd"))) " and standard deviation", ":\n", sep = "")
    print(printable_effects(x[[name]], n), digits = digits)
    say_more(nrow(x[[name]]) - n, "levels")
  }
  invisible(x)
}

# The name of each group effect, in the order of as.vector(group_mean): all effects of a level
# side by side.
group_coefficients <- function(object) {
  group <- object$group
  if (is.null(group)) return(NULL)
  level <- rep(group$levels, each = length(group$labels))
  stats::setNames(as.vector(object$posterior$group_mean),
                  paste0(group$name, "[", level, "].", group$labels))
}

need_groups <- function(object, what) {
  if (is.null(object$group)) {
    abort("unsupported", what, " needs a grouping factor, and this fit has none. ",
          "Add a term such as `(1 | group)` to the formula.")
  }
}

# q x m matrix -> data frame with a row a level.
effect_frame <- function(values, group) {
  frame <- as.data.frame(t(values))
  dimnames(frame) <- list(group$levels, group$labels)
  frame
}

long_effects <- function(effects, name) {
  sd <- attr(effects, "sd")
  term <- rep(names(effects), each = nrow(effects))
  long <- data.frame(
    grpvar = rep(name, length(term)),
    term = factor(term, levels = names(effects)),
    grp = factor(rep(row.names(effects), length(effects)), levels = row.names(effects)),
    condval = unlist(effects, use.names = FALSE)
  )
  if (!is.null(sd)) long$condsd <- unlist(sd, use.names = FALSE)
  long
}

printable_effects <- function(effects, n) {
  shown <- utils::head(effects, n)
  sd <- attr(effects, "sd")
  if (is.null(sd)) return(shown)
  sd <- utils::head(sd, n)
  names(sd) <- paste("sd", names(sd))
  cbind(shown, sd)
}

# Standard deviations of the group effects, q x m: A_g^{-1} + B_g S B_g' (diagonals only).
group_sd <- function(object) {
  posterior <- object$posterior
  own <- group_inverse(posterior$group_precision)
  variance <- posterior$group_mean
  for (k in seq_len(nrow(variance))) {
    variance[k, ] <- own[k, k, ] +
      quadratic_forms(posterior$group_regression, k, posterior$covariance)
  }
  sqrt(variance)
}

# For multiplier k of every group: b' S b with b the k-th row of B_g; length m.
quadratic_forms <- function(regression, k, covariance) {
  rows <- matrix(regression[k, , ], dim(regression)[2L], dim(regression)[3L])
  colSums(rows * (covariance %*% rows))
}

sweep_pivot <- function(a, k) {
  others <- setdiff(seq_len(dim(a)[1]), k)
  pivot <- a[k, k, ]
  for (i in others) for (j in others) a[i, j, ] <- a[i, j, ] - a[i, k, ] * a[k, j, ] / pivot
  for (i in others) {
    a[i, k, ] <- a[i, k, ] / pivot
    a[k, i, ] <- a[k, i, ] / pivot
  }
  a[k, k, ] <- -1 / pivot
  a
}
