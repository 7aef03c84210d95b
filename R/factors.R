# Factor terms, factors(expr, k = 10): the response depends on many variables x through few factors w
# (001, section 5; src/core/factors/model.hpp has the model),
#
#   x = mu + A w + e,   w ~ N(0, I),   f = offset + t'alpha + beta'w.
#
# Given a draw of everything, f is normal about a linear function of a row's variables: a basis of kind
# "factors" has the variables as columns, and their coefficients are those that the draw implies,
# Psi A S beta. What varies about this is noise of each row (R/factors-predict.R). `rows$made` has the
# variables as given, NA where they are missing. With a `kernel` f is a function of the scores, which is
# in no column: a single one stands for it, with coefficients of zero.
# In addition to what every basis has:
#   expression   what rebuilds the variables: list(terms, xlevels)
#   covariates   their names in the model frame
#   names        of the columns of x
#   center, scale   of these, in units of which loadings are
#   k, kernel, points, noise, feedback, unlabelled, standardize   as given; `chosen`: how k was
#                chosen, or NULL
#   alone        TRUE: no row has a response (R/factors-alone.R)
#   drawn        TRUE: it has draws of its own, and R does not make its columns

is_factors <- function(basis) inherits(basis, "bsvm_basis_factors")

is_linear_factors <- function(basis) is_factors(basis) && is.null(basis$kernel)

has_factors <- function(object) any(vapply(object$bases, is_factors, TRUE))

factors_of <- function(object) Find(is_factors, object$bases)

#' Factor terms of a formula
#'
#' With `factors(expr, k = 10)` in the formula of [bsvm()] the response depends on many variables,
#' such as the expression of genes, through a few factors. The factors explain how the variables
#' vary together. The factor model of the variables and the classifier (or regression) on its scores
#' are fitted as one model. `factors()` is read by [bsvm()] only; there is no function to call.
#'
#' @section Usage:
#' ```
#' y ~ x + factors(expr, k = NULL, classifier = "linear", points = 100, noise = "common",
#'                 feedback = TRUE, unlabelled = FALSE, standardize = TRUE)
#' ```
#' One such term can stand next to linear terms and smooth terms `s(x)`, in classification and in
#' regression.
#'
#' @section Arguments:
#' * The variables, without a name: a matrix column of the data, a matrix of numbers with as many
#'   rows, single columns, or ranges `g1:g1000` of the data's columns. `.` stands for all columns
#'   that are nowhere else in the formula. Use a matrix column for thousands of variables: a formula
#'   of 2000 columns takes two seconds to read. Missing values are allowed; they are part of the
#'   model.
#' * `k`: the number of factors, less than rows and variables. With `NULL` (default), it is chosen
#'   from the variables alone, up to 30, by probabilistic principal components. It is the smallest
#'   number whose density of held-out rows (every fifth one, missing values at the mean) is within a
#'   standard error of the best.
#' * `classifier`: `"linear"` (default), the response is linear in the factors; or a kernel, such as
#'   `kernel_se()`, for which `"gp"` stands: it depends on a smooth function of them with a
#'   Gaussian-process prior, the nonlinear factor model. Numbers of the kernel have their own priors
#'   and are inferred; length scales are in units of the scores, whose variance is one.
#' * `points`: with a kernel, the number of inducing points among the scores, 100 by default. They
#'   are chosen once, by what they explain of the scores' prior. `Inf` is the full Gaussian process
#'   of the rows' scores, the model of the paper. It requires [engine_gibbs()] and a likelihood with
#'   latent scales, which the normalised hinge does not have: classes then have the
#'   pseudo-likelihood. It supports up to 2000 rows with a response, and the time is proportional to
#'   the cube of their number. Draws of length scales are strongly correlated, so that a fit can take
#'   minutes; `engine_gibbs(draws = )` limits their number.
#' * `noise`: `"common"` (default), one variance for what factors leave unexplained of all variables
#'   (probabilistic principal components), or `"each"`, one for each variable (factor analysis).
#' * `feedback`: `TRUE` (default) is the joint model, in which the response informs the factors.
#'   `FALSE` (or `"none"`): factors are those of the variables alone, and the response depends on mean
#'   scores, for each draw of the factors (a cut; Plummer 2015). This is the two-step analysis with
#'   its uncertainty.
#' * `unlabelled`: `TRUE` lets rows whose response is missing inform the factors. By default such
#'   rows are an error, as elsewhere. If no row has a response, the fit is a factor model of the
#'   variables alone, with a message: see [bsvm_factor_model].
#' * `standardize`: divide each variable by its standard deviation? If `FALSE`, all are divided by
#'   one number, so that variables with more variance count more.
#'
#' @section Model:
#' With \eqn{x} the standardised variables of a row, \eqn{w} its K scores and \eqn{f} its linear
#' predictor,
#' \deqn{x = \mu + A w + e, \quad e \sim N(0, \psi^{-1}), \quad w \sim N(0, I), \quad
#'   f = \beta_0 + t'\alpha + \beta'w.}{x = mu + A w + e, e ~ N(0, 1/psi), w ~ N(0, I),
#'   f = beta_0 + t'alpha + beta'w.}
#' This is the discriminative factor model of Henao, Yuan and Carin (2014), Section 5, with the mean
#' and the intercept that it lacks there. The priors:
#' * of the coefficients \eqn{\beta}{beta} of the factors, `prior = list(factors = )` of [bsvm()]:
#'   one variance for all of them, [prior_ridge()], by default. With `prior_lasso()` they are those
#'   of the paper.
#' * of the loadings \eqn{A}, `prior = list(loadings = )`: [prior_lasso()], local shrinkage, as in
#'   the paper, where an inferred `nu` has its gamma distribution on \eqn{1 / (2 \nu^2)}{1 / (2
#'   nu^2)}, the rate of the variances; or [prior_ridge()], a variance for each factor. By default
#'   local shrinkage, and one variance a factor where variables outnumber rows: the cost of a fit
#'   then does not depend on the number of variables (with common noise and without missing values).
#' * \eqn{\mu_i \sim N(0, 1)}{mu_i ~ N(0, 1)} and \eqn{\psi \sim}{psi ~} gamma(1, 1).
#'
#' Weights are powers of the response's likelihood: the variables of a row count once. In regression
#' they can't sum to more than the number of rows.
#'
#' Since scores given the variables are normal, the linear predictor of a new row is normal about a
#' linear function of the variables: [coef()][coef.bsvm], [confint()][confint.bsvm] and
#' [summary()][summary.bsvm] have the coefficients of the variables that the factors imply (for a
#' ranking: `plot(fit, "coefficients")`). With a kernel there are none, and a single coefficient of
#' zero stands for the function of the scores. The variance that the variables do not explain,
#' \eqn{\beta'S\beta}{beta'S beta}, is part of all predictions. `fitted()`, probabilities and
#' pictures of the rows of the fit use their variables and not their response, as for new rows.
#'
#' [loo()][loo.bsvm] holds out the response of a row and keeps its variables, as for an unlabelled
#' row. With `points = Inf` and a numeric response it is slightly too good, because the function in
#' a draw has seen the row: by 0.06 and 0.015 nats a row (standard errors 0.03) in two simulations.
#'
#' @section What to expect:
#' The joint model is hardly ever more accurate than two steps, principal
#' components and then a classifier: with many variables the response can move a row's scores only a
#' little. What it gives is one model with missing and unlabelled entries, intervals that include
#' the uncertainty about the factors, and loadings with standard deviations.
#'
#' Under the **pseudo-likelihood** (`likelihood = "hinge"`, the paper's) the joint model can cheat:
#' factors that the variables hardly determine follow the response row by row, so that any classes
#' are separated, also at random, while new rows are predicted by chance. **Determinacy** shows
#' this: the share of the variance of the linear predictor due to factors that the variables
#' determine. It is in `print()` and `summary()`. Below one half, and below 0.7 under the
#' pseudo-likelihood or with weights above one, there is a warning of class
#' `bsvm_warning_determinacy`. The default, the normalised likelihood, does not reward this, but
#' with weights above one it does: in their place repeat rows.
#'
#' @section Engines:
#' * [engine_gibbs()], the default, also of the normalised likelihood: scores are drawn exactly
#'   (with a kernel by elliptical slices), coefficients with the scores integrated out. Factors
#'   rotate from draw to draw: only what does not depend on the rotation is checked for convergence.
#'   Fewer draws are kept if there are so many variables that draws of their coefficients would need
#'   more than half a gigabyte.
#' * [engine_vb()], seconds even for a thousand variables: standard deviations are too small, under
#'   the pseudo-likelihood by a third or more; numbers of a kernel and the variance of a function
#'   are points. The fit is the best of three starts; with a kernel there is one. It has a thousand
#'   independent draws from the approximation (400 with a kernel), which all methods for draws use.
#'
#' @section What is refused:
#' The same model can't have random effects, `gp()`, sparse predictors, modelled missing predictors,
#' `cluster`, or a second such term. The formula must have an intercept. Variables must be numbers
#' without infinite values, with at least one value each. Constant variables are a warning.
#' @references
#' Henao, R., Yuan, X. and Carin, L. (2014). Bayesian nonlinear support vector machines and
#' discriminative factor modeling. *Advances in Neural Information Processing Systems*, 27.
#'
#' Plummer, M. (2015). Cuts in Bayesian graphical models. *Statistics and Computing*, 25, 37-43.
#'
#' Tipping, M. E. and Bishop, C. M. (1999). Probabilistic principal component analysis. *Journal of
#' the Royal Statistical Society B*, 61, 611-622.
#' @seealso [factor_loadings()], [factor_scores()] and [factor_table()]; `plot(fit, "loadings")`,
#'   `"scores"` and `"determinacy"` of [plot.bsvm()].
#' @examples
#' # on which opinions about a judge does the advice of lawyers to retain the judge rest?
#' set.seed(1)
#' d <- USJudgeRatings["RTEN"]
#' d$x <- as.matrix(USJudgeRatings[1:11])
#' fit <- bsvm(RTEN ~ factors(x, k = 2), data = d, likelihood = likelihood_gaussian())
#' summary(fit)
#' head(coef(fit))
#' # a judge with three ratings only
#' new <- d[1, ]
#' new$x[, 4:11] <- NA
#' predict(fit, new, interval = TRUE)
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(fit, "scores")
#' @name factors
NULL

# ---- the term -----------------------------------------------------------------------------------

#' @export
make_bases.bsvm_basis_factors <- function(kind, term, columns, frame_terms, env) {
  given <- factors_settings(term, env)
  covariates <- vapply(factors_call(term)$covariates, text_of, "")
  x <- factor_variables(columns[covariates], given$label)
  others <- attr(columns, "unlabelled")[[given$label]]
  scaling <- variable_scaling(rbind(x, others), given$standardize, given$label)
  chosen <- if (is.null(given$k)) choose_factors(standard_variables(rbind(x, others), scaling))
  k <- if (is.null(given$k)) chosen$k else given$k
  check_factor_count(k, rbind(x, others), given$label)
  given$k <- k
  given$alone <- isTRUE(attr(columns, "alone"))
  if (given$alone) given["kernel"] <- list(NULL)
  list(structure(
    c(given, list(expression = smooth_expression(term, columns, frame_terms),
                  covariates = covariates, names = colnames(x), chosen = chosen, drawn = TRUE,
                  unlabelled_rows = NROW(others),
                  variables = structure(unname(x), unlabelled = others),
                  penalty = rep(1L, if (is.null(given$kernel)) ncol(x) else 1L)), scaling),
    class = class(kind)))
}

# The columns as one matrix of doubles with names; NA where missing.
factor_variables <- function(columns, label) {
  parts <- Map(function(column, name) {
    if (!is.numeric(column) && !is.logical(column)) {
      abort("predictors", "The variables of `", label, "` must be numbers; found `", name, "`, ",
            describe(column), ". Exclude it, or add it to the formula as a predictor.")
    }
    if (has_infinite(as.double(column))) {
      abort("predictors", "`", label, "` has infinite values of `", name, "`. Replace them, by NA ",
            "if they are not known.")
    }
    names <- if (is.matrix(column)) colnames(column) else name
    if (is.null(names)) names <- rep("", ncol(column))
    names <- ifelse(is.na(names) | names == "", paste0(name, seq_along(names)), names)
    matrix(as.double(column), NROW(column), NCOL(column), dimnames = list(NULL, names))
  }, columns, names(columns))
  x <- do.call(cbind, unname(parts))
  x[is.nan(x)] <- NA
  colnames(x) <- make.unique(colnames(x), "_")
  x
}

variable_scaling <- function(x, standardize, label) {
  center <- colMeans(x, na.rm = TRUE)
  sd <- sqrt(colSums((x - rep(center, each = nrow(x)))^2, na.rm = TRUE) /
               pmax(1, colSums(!is.na(x)) - 1))
  refuse <- function(bad, what) {
    abort("predictors", if (sum(bad) == 1L) "The variable " else "The variables ",
          enumerate(colnames(x)[bad]), " of `", label, "` ", what, ". Remove ",
          if (sum(bad) == 1L) "it." else "them.")
  }
  absent <- is.nan(center)
  if (any(absent)) refuse(absent, if (sum(absent) == 1L) "has no value" else "have no values")
  if (max(abs(x), na.rm = TRUE) > 1e150) {
    abort("predictors", "`", label, "` has values of size ", format(max(abs(x), na.rm = TRUE)),
          ". Look for wrong values, or for codes of missing values, which must be NA.")
  }
  constant <- sd <= 1e-12 * abs(center) | sd == 0
  if (all(constant)) refuse(constant, "do not vary")
  if (any(constant)) {
    warn("constant", if (sum(constant) == 1L) "The variable " else "The variables ",
         enumerate(colnames(x)[constant]), " of `", label, "` ",
         if (sum(constant) == 1L) "does not vary and tells" else "do not vary and tell",
         " nothing of the factors.")
  }
  # Else one number for all, so that they stay in proportion and the model has no units.
  list(center = unname(center),
       scale = unname(if (standardize) ifelse(constant, 1, sd) else rep(sqrt(mean(sd^2)), ncol(x))))
}

# In units in which the model has them.
standard_variables <- function(x, scaling) {
  (x - rep(scaling$center, each = nrow(x))) / rep(scaling$scale, each = nrow(x))
}

check_factor_count <- function(k, x, label) {
  most <- min(nrow(x) - 1L, ncol(x) - 1L)
  if (k <= most) return(invisible())
  abort("formula", "`k` of `", label, "` must be below the number of rows (", nrow(x),
        ") and of variables (", ncol(x), "); found ", k, ".",
        if (most > 0L) paste0(" Use k = ", min(most, 10L), ", or no `k`.")
        else " Use the variables as predictors.")
}

#' @export
new_variables.bsvm_basis_factors <- function(basis, terms, newdata, unknown) {
  expression <- basis$expression
  environment(expression$terms) <- environment(terms)
  columns <- new_columns(expression$terms, newdata, unknown)
  check_classes(expression$terms, columns)
  x <- factor_variables(columns[basis$covariates], basis$label)
  if (ncol(x) != length(basis$names)) {
    abort("newdata", "`newdata` must have the ", length(basis$names), " variables of `",
          basis$label, "`; found ", ncol(x), ".")
  }
  at <- match(basis$names, colnames(x))
  if (!anyNA(at)) x <- x[, at, drop = FALSE] # in any order
  unname(x)
}

#' @export
basis_prior_names.bsvm_basis_factors <- function(basis) c(basis$label, "factors")

#' @export
basis_at.bsvm_basis_factors <- function(basis, variables, values) {
  if (is.null(basis$kernel)) variables else matrix(0, nrow(variables), 1L)
}

# A function has the prior of gp().
#' @export
basis_prior.bsvm_basis_factors <- function(basis) {
  if (is.null(basis$kernel)) prior_ridge() else basis_prior.bsvm_basis_gp(basis)
}

# No grid of variables says much of a factor.
#' @export
basis_ranges.bsvm_basis_factors <- function(basis) NULL

# ---- in the frame -------------------------------------------------------------------------------

# What `settle` makes of the model frame's other columns; missing values of factor terms' variables
# stay. Rows without a response go into attribute "unlabelled", a list by label of matrices, if the
# term has them.
settle_factors <- function(columns, parts, settle) {
  terms <- factor_terms(parts)
  if (length(terms) == 0L) return(settle(columns))
  if (length(terms) > 1L) {
    abort("unsupported", "One factors() term is supported; found ", length(terms), ". Use ",
          "factors(a, b, k = ) for the columns of both.")
  }
  if (length(gp_columns_of(parts)) > 0L) {
    abort("unsupported", "factors() can't be combined with gp(). Use a smooth term s(x) instead.")
  }
  own <- factors_columns_of(parts)
  settings <- factors_settings(terms[[1L]], formula_environment(parts$formula))
  absent <- incomplete_rows(columns[[1L]])
  without <- which(absent & settings$unlabelled)
  alone <- length(without) == nrow(columns)
  if (alone) {
    if (nrow(columns) < 2L) {
      abort("predictors", "`", settings$label, "` needs two rows; found one, without a response.")
    }
    columns[[1L]] <- rep_len(0:1, nrow(columns)) # in its place, and not looked at
    without <- integer()
  }
  rest <- columns
  rest[own] <- list(0)
  if (length(without) > 0L) rest <- rest[-without, , drop = FALSE]
  settled <- tryCatch(settle(rest), bsvm_error_missing = function(e) {
    if (any(absent) && !settings$unlabelled) tell_unlabelled(absent, settings$label)
    stop(e)
  })
  omitted <- attr(settled, "na.action")
  at <- setdiff(seq_len(nrow(columns)), without)
  kept <- if (is.null(omitted)) at else at[-omitted]
  settled[own] <- columns[kept, own, drop = FALSE]
  left <- setdiff(seq_len(nrow(columns)), kept)
  if (length(left) > 0L) {
    class <- if (is.null(omitted)) "omit" else class(omitted)
    attr(settled, "na.action") <- structure(left, names = row.names(columns)[left], class = class)
  }
  if (length(without) > 0L) {
    x <- factor_variables(columns[without, own, drop = FALSE], settings$label)
    attr(settled, "unlabelled") <- stats::setNames(list(x), settings$label)
  }
  attr(settled, "alone") <- alone
  settled
}

tell_unlabelled <- function(absent, label) {
  abort("missing", "Missing values of the response in ", sum(absent), " of ", length(absent),
        " rows. `unlabelled = TRUE` in `", label, "` lets these rows inform the factors; ",
        "`missing_omit()`, or `na.action = na.omit` (`na.exclude`), excludes them.")
}
