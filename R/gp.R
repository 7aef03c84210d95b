# Gaussian-process terms, gp(x1, x2): f(x) = s g(x), g a Gaussian process of unit variance with the
# kernel k. Given its values at inducing inputs v it is a sum of features with independent normal
# coefficients, so that a term is a block of columns under a normal prior with variance s^2:
#
#   a(x) = L^{-1} k(v, x),   L L' = k(v, v);
#
# with all distinct rows as inducing inputs that is the whole process. What the kernel is (length
# scales, inducing inputs) R/gp-learn.R finds when the frame is made; until then a term has a column
# of zeros for each of its kernels. A basis has, besides what every basis has,
#   expression  what rebuilds the variables: list(terms, xlevels)
#   covariates  their names; `by`, the text of the multiplier or NULL, and `level`, of a
#               factor `by`
#   by_size     what a `by` of numbers is divided by
#   inputs      list(center, scale, of): of the columns that the covariates have as numbers, the
#               last says which covariate each belongs to
#   ranges      of each covariate that is one number: c(min, max); NULL if there are others
#   kernel, points, standardize, infer   as given
#   parts       for each summand of the kernel list(factors, numbers, points, left_over): what the
#               core makes the kernel from, what is known of its numbers (R/gp-learn.R), the
#               inducing inputs (m x d, standardised), and the mean share of variance they leave over
#   unit        of the amplitude: 1, or the spread of a response of numbers
#   median, least   distances of the rows that kernels are learned from
#   learned     how the kernel was found
#   column_names   of a single matrix, or NULL
#   relevance   is it a sum of kernel functions at rows instead (R/relevance-vectors.R)?

#' Gaussian-process terms of a formula
#'
#' `gp(x1, x2)` in the formula of [bsvm()] is a smooth function of one or several variables with a
#' Gaussian-process prior. It gives a support vector machine with a kernel that is learned from the
#' data. `gp()` is only recognised in formulas of [bsvm()]; there is no function to call.
#'
#' @section Usage:
#' ```
#' y ~ gp(x1, x2, ..., kernel = kernel_se(), points = NULL, by = , standardize = TRUE,
#'          infer = "none")
#' ```
#' Any number of such terms can be combined with linear terms, smooth terms `s(x)` and
#' random-effects terms `(1 | g)`, in classification and in regression.
#'
#' @section Arguments:
#' * `x1, x2, ...`: the variables, or expressions such as `log(x)`: numbers, logical values,
#'   matrices of numbers (a spectrum, for example), and factors. `gp(.)` uses all columns of the
#'   data except the response, the grouping factors and the variables of other terms with a
#'   function.
#' * `kernel`: from [kernel_se()], [kernel_matern()], [kernel_rational()], [kernel_periodic()],
#'   [kernel_linear()], [kernel_poly()], or sums and products of these; for several responses also
#'   [kernel_choice()]. Default: the squared exponential with one length scale, which is learned.
#'   `kernel_se(ard = TRUE)` has a length scale for each variable, so that irrelevant variables drop
#'   out.
#' * `points`: the inducing points. `NULL` (default) uses as many distinct rows as are needed to
#'   explain the function in all rows; with more than 1000 rows at most 500 (see "Inducing points").
#'   Other values are:
#'   * a whole number;
#'   * `Inf` for every row (up to 4000);
#'   * a data frame with the variables as columns, in any order and in their own units;
#'   * a matrix of numbers, one column for each variable in the order of the term (for a factor one
#'     column of zeros and ones for each level);
#'   * [points_learned()], inducing points that are learned.
#' * `by`: a variable. For a factor there is one function for each level, with its own learned
#'   kernel (length scales) and amplitude; include the factor itself in the formula, too. For
#'   numbers the function is multiplied by the numbers, divided by their root mean square over the
#'   rows of the fit.
#' * `standardize`: divide the variables by their standard deviation, and a `by` of numbers by its
#'   root mean square? `TRUE` by default.
#' * `infer`: which parameters of the kernel remain uncertain in the fit. `"none"` (default): none,
#'   they are fixed at the learned values. `"factor"`: a common factor of all length scales of the
#'   term, relative to the learned ones. `"all"`: each parameter of the kernel that has a prior. See
#'   *How kernels are learned*.
#'
#' @section Model:
#' The function is \eqn{f(x) = s\, g(x)}{f(x) = s g(x)}. Here \eqn{g} is a Gaussian process of unit
#' variance whose correlation is the kernel, and \eqn{s} is the amplitude. If the kernel is a sum,
#' each summand has its own amplitude. The function is not centred. Its constant part cannot be
#' distinguished from the intercept, so that [plot()][plot.bsvm] subtracts its mean over the rows.
#' The model without an intercept is `y ~ 0 + gp(x)`.
#'
#' The **amplitude** has the prior \eqn{s \sim}{s ~} half-t(3, 2.5) on the scale of the linear
#' predictor. For a response of numbers, this prior is multiplied by the median absolute deviation
#' of the response. `prior = list(gp = prior_ridge(variance = 4))` sets the prior of all such terms.
#' The name `"gp(x1, x2)"` sets that of one term as it is written, and `"gp(x)1"` that of the first
#' summand of a kernel (see [prior_for()]). With [prior_relevance()] the term is a relevance vector
#' machine instead. LIBSVM's cost is twice the variance \eqn{s^2}.
#'
#' With `by` of numbers the amplitude is the standard deviation of the function for a `by` of root
#' mean square one, also in [VarCorr()][VarCorr.bsvm]. Predictions therefore do not depend on the
#' unit of `by`. [plot()][plot.bsvm] shows the function at `by = 1`.
#'
#' **Standardisation.** Each variable is centred and divided by its standard deviation. The columns
#' of a matrix have one scale together, so that distances between spectra stay in proportion. So do
#' coordinates of a map, which are recognised by their names: `lon`, `lat`, `longitude`, `latitude`,
#' `easting` and `northing`. A factor becomes a column of zeros and ones for each level. Length
#' scales given to a kernel are in units of the standardised variables. [summary()][summary.bsvm]
#' shows them in units of the variables as well.
#'
#' @section How kernels are learned:
#' Length scales and other parameters of the kernels without a given value have log-normal priors
#' ([prior_lognormal()]). They are point estimates, found before the model is fitted:
#' 1. The evidence, approximated by the lower bound of a Gaussian approximation, is multiplied by
#'    the priors. The product is maximised over all parameters of the kernels, the amplitudes, and
#'    the variances of other terms. The first search uses 200 rows and two starts: the medians of
#'    the priors, and a quarter of these length scales. A second search uses all rows, or 400 of
#'    them. The rows are the same in every run. For a response of two classes both searches use the
#'    normalised likelihood ([likelihood_hinge()]), whichever likelihood the fit has. Under the
#'    pseudo-likelihood the evidence prefers functions that change from row to row.
#' 2. The evidence prefers functions that are too smooth. A common factor of all length scales is
#'    therefore chosen by the leave-one-out log score of up to 1000 rows. The score is computed for
#'    the given number of inducing points, with the approximation of the fit. `summary(details =
#'    TRUE)` shows both criteria.
#' 3. In the fit the kernels are known; amplitudes and all other parameters are inferred again. Its
#'    intervals do not include the uncertainty about length scales.
#'
#' [engine_ecm()] learns kernels by itself, as in its paper.
#'
#' With `infer`, step 3 differs: the fit starts at the learned values, and length scales have
#' posteriors, over which predictions and intervals average. `"all"` uses the parameters' own
#' priors. `"factor"` has one parameter, the common factor. Its prior density is that of these
#' priors along the line of length scales proportional to the learned ones. For one length scale
#' both are the same. [engine_gaussian()] averages over a grid; [engine_slice()] and, for numbers,
#' [engine_gibbs()] draw.
#'
#' `summary(details = TRUE)` shows the inferred parameters twice. Among the inferred parameters they
#' are as given to a kernel, with length scales in units of the standardised variables. Among the parameters of
#' the kernels they are in units of the variables, with standard deviations and limits. Inducing
#' points are not changed, and must explain the function (at most 1 % of the variance unexplained).
#' With few of them, the posterior of a length scale is that of a function of these features. Under
#' the hinge pseudo-likelihood the posterior prefers functions that change from row to row; a
#' message of class `bsvm_message_rough_functions` reports this once.
#'
#' The cost of `infer = "all"` grows steeply with the number of inferred length scales: with
#' `kernel_se(ard = TRUE)` and 60 variables a fit takes minutes. Use `infer = "factor"` with many
#' variables. The posterior of a kernel may have several modes, of which [engine_gaussian()]
#' explores one, the mode near the learned values.
#'
#' Problems with the result are reported by
#' * a message of class `bsvm_message_nearly_linear` if the length scale is more than 10 median
#'   distances between rows;
#' * a warning of class `bsvm_warning_lengthscale` if the length scale is so short that each row has
#'   its own function value;
#' * a warning of class `bsvm_warning_points` if inducing points leave more than 10 % of the
#'   variance unexplained;
#' * a warning of class `bsvm_warning_convergence`.
#'
#' `summary()` reports that a term has hardly any effect if the log evidence with the term is less
#' than 2 above the log evidence without it.
#'
#' @section Inducing points:
#' With M inducing points the function is a sum of M features with normal coefficients; an iteration
#' over n rows costs \eqn{n M^2}. If every distinct row is an inducing point, the sum is the whole
#' Gaussian process. With fewer points, `summary()` shows the share of variance that they do not
#' explain. The points are the rows that explain the most, chosen greedily, or means of rows around
#' these if they explain more. They do not depend on the random seed.
#'
#' With very few points the fit depends on the order of the rows, since the choice begins with the
#' first row. In an example with 3 or 10 points for 200 rows, probabilities changed by up to 0.05.
#' With more than 1000 rows the order also determines the rows from which the kernel is learned.
#' [points_learned()] moves few points to where the evidence is highest.
#'
#' **Unexplained variance.** If points leave variance unexplained, the default engine is
#' [engine_gaussian()], which includes this variance in each row. [engine_slice()] and
#' [engine_gibbs()] sample the coefficients without it, so that amplitudes are estimated too large.
#' Predictions and draws for rows, such as those of [posterior_linpred()][posterior_linpred.bsvm],
#' include it for all engines. In draws it is noise that is independent from row to row and does not
#' depend on the response. [check_approximation()], [waic()][loo.bsvm] and `loo(method = "draws")`
#' are therefore errors if it is more than 1 %.
#'
#' With more than 1000 rows and `points = NULL` there are up to 500 points if they explain
#' everything. Otherwise there are 200, or up to 500 under two conditions. First, 200 points leave
#' more than 1 % of the variance unexplained under the kernel that the evidence prefers. Second, the
#' rows times the squared number of points (of all terms) are at most 5e8: up to 2000 rows allow 500
#' points, 12,500 rows and more allow 200. More points predict better if `summary()` reports a large
#' share of unexplained variance.
#'
#' **Memory.** A fit stores the features of its rows if they are at most 1e7 numbers (rows times
#' points, 80 MB). More features are computed each time [engine_gaussian()] or [engine_vb()] reads
#' the rows, which takes about 50 % more time. A fit to a million rows of ten variables with 200
#' points then needs 300 MB more than the data. `options(bsvm.kept_cells = 1e9)` stores more; the
#' result is the same. Features are always stored by other engines, and with group effects, terms
#' with `infer`, sparse predictors, `missing` or `cluster`. More rows than fit in memory are read from a
#' source ([bsvm_source()]).
#'
#' @section Not supported:
#' The following are errors, whose messages suggest code to use instead:
#' * missing and infinite values of the variables (`na.action = na.omit` excludes such rows), and
#'   terms in which no variable varies;
#' * `gp()` crossed with another term or inside a function;
#' * `by` that is neither numbers nor a factor, or is zero in all rows;
#' * `points = Inf` for more than 4000 rows;
#' * `infer` if the kernel has no parameter with a prior, or if inducing points leave more than 1 %
#'   of the variance unexplained;
#' * `infer` with more than one grouping factor (with one, [engine_gaussian()], [engine_gibbs()] and
#'   [engine_vb()] are available), with priors that select variables, or with missing or sparse
#'   predictors.
#'
#' @section Names in other packages:
#' | here | elsewhere |
#' |---|---|
#' | `gp(x1, x2)` | brms `gp(x1, x2)`; mgcv `s(x1, x2, bs = "gp")`; kernlab `ksvm(y ~ x1 + x2)`, `gausspr()` |
#' | `kernel` | brms `cov`, mgcv `m`, kernlab and e1071 `kernel` |
#' | `points` | brms and mgcv `k`, inducing points of GPflow, pseudo-inputs of FITC |
#' | `kernel_se(ard = TRUE)` | brms `iso = FALSE`, relevance determination (ARD) |
#' | length scale \eqn{l} | kernlab `sigma` and e1071 `gamma` are \eqn{1/(2 l^2)}; brms `lscale` |
#' | variance \eqn{s^2} | half of LIBSVM's `cost`; brms `sdgp` is \eqn{s} |
#' | `by` | brms and mgcv `by`; brms `gr` |
#' | `standardize` | brms and kernlab `scale`, `scaled` |
#'
#' [kernel_se()] has the formulas.
#'
#' @references
#' Henao, R., Yuan, X. and Carin, L. (2014). Bayesian nonlinear support vector machines and
#' discriminative factor modeling. *Advances in Neural Information Processing Systems*, 27.
#'
#' Hensman, J., Matthews, A. and Ghahramani, Z. (2015). Scalable variational Gaussian process
#' classification. *Proceedings of AISTATS*, 38, 351-360.
#'
#' Rasmussen, C. E. and Williams, C. K. I. (2006). *Gaussian Processes for Machine Learning*. MIT
#' Press.
#'
#' Titsias, M. (2009). Variational learning of inducing variables in sparse Gaussian processes.
#' *Proceedings of AISTATS*, 5, 567-574.
#' @seealso [kernel_se()] for kernels; [points_learned()]; [summary.bsvm()], `plot(fit, "gp")` of
#'   [plot.bsvm()] and [VarCorr.bsvm()] for results.
#' @examples
#' # is the boundary between two species of iris a straight line?
#' d <- subset(iris, Species != "setosa")
#' fit <- bsvm(Species ~ gp(Sepal.Length, Petal.Width), data = d)
#' summary(fit)$gp$numbers
#' head(predict(fit, d, type = "prob"))
#' VarCorr(fit)
#'
#' # a linear term, and a kernel of another kind with a given amplitude
#' bsvm(Species ~ Sepal.Width + gp(Petal.Width, kernel = kernel_matern(2.5)), data = d,
#'      prior = list(gp = prior_ridge(variance = 4)))
#'
#' # regression
#' cars <- bsvm(mpg ~ gp(wt, hp), data = mtcars, likelihood = likelihood_gaussian())
#' head(predict(cars, interval = "prediction"))
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(fit, "gp")
#' @name gp
NULL

# ---- the term -----------------------------------------------------------------------------------

#' @export
make_bases.bsvm_basis_gp <- function(kind, term, columns, frame_terms, env) {
  given <- gp_call(term)
  settings <- gp_settings(term, given, env)
  expression <- smooth_expression(term, columns, frame_terms)
  variables <- vapply(given$covariates, text_of, "")
  by <- if (!is.null(given$by)) text_of(given$by)
  raw <- gp_numbers(columns[variables], expression$xlevels)
  check_gp_numbers(raw$x, settings$label, variables)
  if (!is.null(by)) check_gp_by(columns[[by]], settings$label, by)
  inputs <- gp_scaling(raw, columns[["(weights)"]], settings$standardize, variables)
  ranges <- if (all(vapply(columns[variables], is_one_number, TRUE))) lapply(columns[variables], range)
  basis <- list(label = settings$label, expression = expression, covariates = variables, by = by,
                by_size = gp_by_size(by, columns, settings), level = NULL, inputs = inputs,
                ranges = ranges, kernel = settings$kernel, points = settings$points,
                standardize = settings$standardize, infer = settings$infer,
                column_names = if (length(variables) == 1L) colnames(columns[[variables]]))
  parts <- length(kernel_products(settings$kernel))
  if (are_inputs(points_given(basis$points))) given_points(basis, points_given(basis$points))
  lapply(gp_levels(by, columns), function(level) {
    basis["level"] <- list(level)
    if (!is.null(level)) basis$label <- paste0(basis$label, ":", by, level)
    structure(c(basis, list(rows = gp_inputs(raw$x, inputs), multiplier = gp_multiplier(basis, columns),
                            matrix = matrix(0, nrow(raw$x), parts), penalty = seq_len(parts))),
              class = class(kind))
  })
}

is_one_number <- function(column) is.numeric(column) && is.null(dim(column))

# list(kernel, points, standardize, infer, label), evaluated where the formula was made.
gp_settings <- function(term, given, env) {
  value <- function(name, default) {
    if (is.null(given[[name]])) return(default)
    tryCatch(eval(given[[name]], env), bsvm_error = stop, error = function(e) {
      abort("formula", "`", name, "` of `", deparse1(term), "` can't be evaluated: ",
            conditionMessage(e), ".")
    })
  }
  label <- value("label", deparse1(term))
  kernel <- value("kernel", kernel_se())
  if (!inherits(kernel, "bsvm_kernel")) {
    abort("formula", "`kernel` of `", label, "` must be made by kernel_se(), kernel_matern() or ",
          "another such function; found ", describe(kernel), ".")
  }
  standardize <- value("standardize", TRUE)
  check_flag(standardize, "standardize")
  infer <- value("infer", "none")
  if (!is_one_string(infer) || !infer %in% infer_choices) {
    abort("formula", "`infer` of `", label, "` must be \"none\" (kernel estimated before), ",
          "\"factor\" (a common factor of length scales) or \"all\" (all parameters with a ",
          "prior); found ", describe(infer), ".")
  }
  list(kernel = kernel, points = value("points", NULL), standardize = standardize, infer = infer,
       label = label)
}

