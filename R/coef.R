#' Coefficients and group effects of a fit
#'
#' These methods return posterior means of coefficients and group effects, on the original scale of
#' the predictors: the internal standardisation is undone.
#'
#' @details With draws by `engine_gibbs()` the means are Rao-Blackwellised. They average, over the
#'   draws, the conditional expectations of coefficients and group effects given the latent scales
#'   and variances. These have less Monte Carlo error than averages of the drawn coefficients. The
#'   standard deviations of `ranef()` are those of the draws.
#'
#' With `engine_gaussian()` means and standard deviations are those of a mixture over values of the
#' variances. Group effects that are integrated out have skewed posteriors. `ranef()` with `level`
#' then returns quantiles of these posteriors given the mean of the coefficients, rescaled to the
#' posterior standard deviation. These quantiles require the data of the fit, which are kept in it
#' or found again from its call. In other cases limits are quantiles of the draws, of the mixture or
#' of a normal distribution.
#'
#' With `engine_vb()`, `ranef()` gives the moments of a Gaussian distribution. Let \eqn{A_g} be the
#' precision of the effects of group \eqn{g} given the population-level coefficients, and \eqn{B_g}
#' their regression on these coefficients. Let \eqn{S} be the posterior covariance of the
#' population-level coefficients. The covariance of the effects is \eqn{A_g^{-1} + B_g S B_g'}: the
#' uncertainty of the group itself plus the share that comes from the population-level coefficients.
#' With several grouping factors, the effects of the other factors are treated like population-level
#' coefficients here. The standard deviations are too small (see [summary.bsvm()]).
#'
#' @param object A fit from [bsvm()].
#' @param sd Should `ranef()` also return the standard deviations? `TRUE` by default if the
#'   posterior has them (see [engine_map()]).
#' @param level `NULL` (default), or the probability of credible intervals of the group effects.
#' @param ... Not used.
#' @return
#' * `coef()`: a named numeric vector of all coefficients. Population-level coefficients come first,
#'   named by their columns. Coefficients of a Gaussian-process term are named `gp(x).1` and so on,
#'   one for each inducing point; single ones have no interpretation (see `plot(fit, "gp")`). The
#'   group effects follow, factor by factor and level by level, named as
#'   `r_patientID[12,Intercept]`.
#' * `fixef()`: the population-level part of `coef()`.
#' * `ranef()`: a list of data frames, one for each grouping factor, of class `bsvm_ranef`. Rows are
#'   levels and columns are effects. With `sd`, each data frame has an attribute `"sd"`, a data
#'   frame of the same shape. With `level`, it has attributes `"lower"` and `"upper"` of the same
#'   kind. `as.data.frame()` gives the long form with the columns of lme4: `grpvar`, `term`, `grp`,
#'   `condval`, with `sd` also `condsd`, and with `level` also `lower` and `upper`.
#'
#' `ranef()` for a fit without a grouping factor is an error of class `bsvm_error_unsupported`. If
#' `level` requires data that cannot be found again, the error has class `bsvm_error_data`.
#' @references Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for
#'   support vector machine classification. *Computational Statistics & Data Analysis*, 73,
#'   163-176 (Section 3.1).
#' @seealso [VarCorr.bsvm()], [confint.bsvm()], [tidy.bsvm()].
#' @examples
#' # how fast does the infection recede, and for which patients is it worst?
#' fit <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail)
#' fixef(fit)
#' head(coef(fit))
#' effects <- as.data.frame(ranef(fit, level = 0.9))
#' head(effects[order(-effects$condval), ])
#' @export
coef.bsvm <- function(object, ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "coef()", NULL)
  c(fixef.bsvm(object), group_coefficients(object))
}

#' @rdname coef.bsvm
#' @export
fixef.bsvm <- function(object, ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "fixef()", NULL)
  posterior_coefficients(object)$mean
}

#' @rdname coef.bsvm
#' @export
ranef.bsvm <- function(object, sd = !is_point(object), level = NULL, ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "ranef()", ranef_hints)
  need_groups(object, "ranef()")
  if (check_flag(sd, "sd")) need_spread(object, "ranef(sd = TRUE)")
  effects <- effect_frames(effect_means(object$posterior, object$groups), object)
  if (sd || !is.null(level)) {
    sds <- effect_frames(effect_sds(object$posterior, object$groups), object)
    effects <- with_attribute(effects, "sd", sds)
  }
  effects <- structure(effects, class = "bsvm_ranef")
  if (is.null(level)) return(effects)
  need_spread(object, "ranef(level = )")
  effects <- add_limits(effects, object, check_level(level), parent.frame())
  if (!sd) for (name in names(effects)) attr(effects[[name]], "sd") <- NULL
  effects
}

ranef_hints <- c(condVar = "Use `sd` instead.", conf.level = "Use `level` instead.")

effect_frames <- function(values, object) Map(effect_frame, values, object$groups)

with_attribute <- function(effects, name, values) {
  Map(function(own, value) {
    attr(own, name) <- value
    own
  }, effects, values)
}

# Each factor's data frame with limits of its effects: exact ones of those integrated out.
add_limits <- function(effects, object, level, env) {
  long <- as.data.frame.bsvm_ranef(effects)
  limits <- effect_limits(object$posterior, object, long, level)
  exact <- integrated_limits(object, level, env)
  limits[long$grpvar %in% exact$name, ] <- exact$limits
  sides <- c("lower", "upper")
  for (name in names(effects)) for (side in sides) {
    own <- effects[[name]]
    own[] <- as.data.frame(matrix(limits[long$grpvar == name, side], nrow(own)))
    attributes(own)[c("sd", sides)] <- NULL
    attr(effects[[name]], side) <- own
  }
  effects
}

#' @param x The value of `ranef()`.
#' @param row.names,optional Not used; arguments of the generic.
#' @rdname coef.bsvm
#' @export
as.data.frame.bsvm_ranef <- function(x, row.names = NULL, optional = FALSE, ...) {
  long <- lapply(names(x), function(name) long_effects(x[[name]], name))
  do.call(rbind, long)
}

#' @param n The maximum number of levels to print per factor; `Inf` for all.
#' @param digits Significant digits.
#' @rdname coef.bsvm
#' @export
print.bsvm_ranef <- function(x, n = 20L, digits = max(3L, getOption("digits") - 3L), ...) {
  check_shown(n)
  check_digits(digits)
  for (name in names(x)) {
    cat("Effects of ", name, ", posterior mean",
        if (!is.null(attr(x[[name]], "sd"))) " and standard deviation", ":\n", sep = "")
    print(printable_effects(x[[name]], n), digits = digits)
    say_more(nrow(x[[name]]) - n, "levels")
  }
  invisible(x)
}

# All group effects, named, in the order in which fits hold them: by factor, level, effect.
group_coefficients <- function(object) {
  if (is.null(object$groups)) return(NULL)
  means <- effect_means(object$posterior, object$groups)
  stats::setNames(unlist(means, use.names = FALSE), effect_names(object$groups))
}

# As brms has them, so that tidybayes can take them apart: r_<factor>[<level>,<effect>].
effect_names <- function(groups) {
  unlist(lapply(groups, function(group) {
    effect_name(group$name, rep(group$levels, each = length(group$labels)), group$labels)
  }), use.names = FALSE)
}

effect_name <- function(factor, level, label) {
  paste0("r_", factor, "[", gsub("[[:space:],]+", ".", level), ",", plain_label(label), "]")
}

plain_label <- function(label) sub("^[(]Intercept[)]$", "Intercept", label)

need_groups <- function(object, what) {
  if (is.null(object$groups)) {
    abort("unsupported", what, " needs a grouping factor, which this fit does not have. ",
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
  for (side in c("lower", "upper")) long[[side]] <- unlist(attr(effects, side), use.names = FALSE)
  long
}

printable_effects <- function(effects, n) {
  shown <- utils::head(effects, n)
  for (part in c("sd", "lower", "upper")) {
    own <- attr(effects, part)
    if (is.null(own)) next
    own <- utils::head(own, n)
    names(own) <- paste(part, names(own))
    shown <- cbind(shown, own)
  }
  shown
}
