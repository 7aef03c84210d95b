# Several responses: bsvm(cbind(a, b) ~ x, data, likelihood = likelihood_gaussian()). A fit, of
# class bsvm_responses, has a fit of class bsvm for each response, with draws from the joint
# posterior, so that everything about one response is what it is elsewhere; and what ties them
# together:
#   fits       list by response
#   residual   (q (q + 1) / 2, draws, chains) the lower triangles, by column, of the residual
#              covariance in the user's units; NULL where residuals are independent
#   loss       NULL, or list(kind, draws) of a second residual (R/responses-draws.R)
#   kernels    NULL, or list by term of draws (1, draws, chains): which kernel of a choice it was
#   groups     list by grouping factor and block of list(labels, draws): the covariance of the
#              effects, likewise, `labels` by response and then effect
#   weights    of the rows, or NULL
#   evidence   NULL, or of engine_gaussian() list(value, error, pareto_k)
#   y          (n, q) the responses, NA where missing
#   imputed    data frame: row, response, mean, sd of each missing response
#   call, formula, nobs, sampling
# The core (src/core/responses) has the mathematics.

#' Several responses
#'
#' `bsvm(cbind(a, b) ~ x, data, likelihood = likelihood_gaussian())` fits several numeric responses
#' together. All responses have the predictors of the formula, each with its own coefficients.
#' Residuals and group effects are correlated across responses.
#'
#' @section Model:
#' \deqn{y_i = B'x_i + \sum_g U_{g(i)}' z_i + e_i, \quad e_i \sim N(0, \Sigma)}{y_i = B'x_i +
#' sum_g U_g(i)' z_i + e_i, e_i ~ N(0, Sigma)}
#' with \eqn{y_i} the q responses of row i, \eqn{B} a column of coefficients for each response, and
#' \eqn{\Sigma}{Sigma} the residual covariance. This is the model of Chakraborty, Ghosh and Mallick
#' (2012, section 3) without the second residual variance, which is not identified. The formula may
#' have linear terms, smooth terms `s()`, Gaussian-process terms [gp()] and random-effects terms.
#'
#' * **Coefficients.** If there are at least three rows for each slope, slopes have by default the
#'   wide normal priors of models with random effects. Otherwise they have a ridge prior with a
#'   variance for each response. Each block of coefficients, such as the slopes or a `gp()` term,
#'   has its prior for each response: `prior = list(x = prior_ridge())` gives every response its own
#'   variance. Default scales of priors follow the median absolute deviation of each response. If
#'   responses are strongly correlated, inferred variances can shrink effects that all responses
#'   have in common: the residual covariance then absorbs these effects.
#' * **Kernels.** All responses share the kernel of a `gp()` term, each with its own amplitude. Each
#'   response is used alone to estimate a kernel, and the fit uses the kernel with the highest sum
#'   of the log evidences of the responses. The default prior of an amplitude is half-t(3, 2.5) for
#'   the standard deviation of the function over the rows, in units of the median absolute deviation
#'   of the response. With length scales far beyond the data the amplitude itself is larger. With
#'   [kernel_choice()], or `kernel_poly(degree = 1:5)`, the kernel is inferred.
#' * **Relevance vectors.** `prior = list(gp = prior_relevance())` makes a `gp()` term a sum of
#'   kernel functions at rows, each coefficient with its own variance, as in Chakraborty et al.
#'   (2012). See [prior_relevance()] and [relevance_vectors()].
#' * **Group effects.** `(1 | g)` and `(x | g)` have a joint covariance over all effects of all
#'   responses. `VarCorr()` shows it.
#' * **Residuals.** Standard deviations have half-t(2) priors with the median absolute deviation of
#'   each response as their scale, and each correlation is uniform on (-1, 1) (Huang and Wand 2013).
#'   `prior = list(residual = prior_half_t(df, scale))` or `residual = prior_inv_wishart(df, scale)`
#'   changes this. Scales are in units of the responses, so responses in different units need the
#'   matrix `scale` of [prior_inv_wishart()]. With `df` above 2 correlations are shrunk towards
#'   zero.
#'
#' `likelihood_gaussian(residual = "independent")`, and by default all other likelihoods for a
#' numeric response, fit each response separately, with the engine that `bsvm()` chooses for it. Use
#' [likelihood_eps_insensitive()] if some responses have outliers.
#'
#' `likelihood_eps_insensitive(residual = "correlated")` and `likelihood_laplace(residual =
#' "correlated")` use \eqn{y_i = z_i + d_i}. Here \eqn{z_i} is as above, and the independent
#' residuals \eqn{d_i} have the density of this likelihood (Chakraborty, Ghosh and Mallick 2012,
#' section 4). The share of the loss in the variance of each response is uniform on (0, 1). The
#' normal residual absorbs much of an outlier, so independent residuals are more robust.
#' `likelihood_gaussian(residual = "paper")` has normal \eqn{d_i} (section 3 of the same paper). In
#' the fits to single responses both residuals are one normal residual.
#'
#' @section Missing responses:
#' A row may have `NA` in some responses. They are drawn together with the parameters, so the other
#' responses of the row help to predict them. `fit$imputed` contains their means and standard
#' deviations. Rows without any response contribute nothing. Missing predictors are handled by
#' `na.action`. With independent residuals each response is fitted to the rows that have it.
#'
#' @section Engine:
#' The default is [engine_gibbs()] with 300 iterations of burn-in. Variances of larger blocks, such
#' as `gp()` and `s()` terms, are drawn with the coefficients integrated out, so that successive
#' draws are nearly independent. Each such block needs one eigendecomposition, whose cost grows with
#' the cubed number of its columns. An iteration then costs columns times responses squared. With
#' missing responses, or with several such blocks or factors, it costs rows times columns times
#' responses. Chains start near the best variances of each response alone. Priors with a variance
#' for each coefficient, such as [prior_lasso()] and [prior_relevance()], are slow with more than
#' 100 coefficients and several responses.
#'
#' [engine_gaussian()] is for normal residuals, complete responses, no grouping factors and at most
#' one block of many columns, such as a `gp()` term. All coefficients are integrated out of the
#' posterior. The modes of the variances and of the residual covariance are found from several
#' starts. Draws are proposed from t distributions around the modes, in 4 chains of 1000 draws. They
#' are draws from the exact posterior, and with up to about six responses they are close to
#' independent. A warning is given if they are not.
#'
#' The importance weights of the proposals give the log evidence, `elbo()`, with a standard error
#' and a Pareto k. It compares kernels and priors of slopes and functions. [engine_gaussian()] does
#' not support priors with a variance for each coefficient, [kernel_choice()], more than 60
#' variances and covariances, or more than 600 coefficients in addition to the block.
#'
#' `engine_gibbs(empirical = TRUE)` is empirical Bayes (section 8 of the same paper): variances of
#' coefficients are estimated, and all other parameters are drawn. With [prior_relevance()] and
#' `shape` and `scale` near zero it prunes coefficients. There are many local optima. Chains may
#' converge to different ones, and the draws of all chains together average over them.
#'
#' @section Value:
#' An object of class `bsvm_responses`: a list with
#' * `fits`: for each response a fit of class `bsvm`, with draws of the joint posterior. All methods
#'   for a fit to one response work for it, for example `plot(fit$fits$a, "gp")`. Rows without its
#'   response have weight zero in it.
#' * `residual`: draws of the residual covariance, an array of its lower triangle by column, draws
#'   and chains; `NULL` with independent residuals.
#' * `loss`: `NULL`, or the draws of a second residual: for each response its variance, or the
#'   scales and then the shares `nu` of the epsilon-insensitive density.
#' * `groups`: for each random-effects term the draws of the covariance of the effects.
#' * `kernels`: `NULL`, or for each term with [kernel_choice()] the number of the kernel in each
#'   draw. In draws with another kernel the variance of a kernel is zero.
#' * `imputed`: `NULL`, or a data frame with `row`, `response`, `mean` and `sd` of missing
#'   responses.
#' * `sampling`: `draws` per chain, `chains`, `burnin`, `thin`, `seed`, `seconds`, and `prepared`,
#'   the part of `seconds` before the first iteration, mostly for eigendecompositions.
#' * `evidence`: `NULL`, or for [engine_gaussian()] the log evidence in units of the responses
#'   (`value`), its standard error (`error`) and `pareto_k`. If `pareto_k` is above 0.7, the log
#'   evidence is not reliable.
#' * `y`, `call`, `formula`, `data`, `arguments`, `nobs`, `termination`.
#'
#' Methods, with n rows, q responses and S draws:
#' * `predict(object, newdata, interval = )`: a matrix (n x q). With `interval = "confidence"` or
#'   `"prediction"` an array (n x 4 x q) of `fit`, `sd`, `lower`, `upper`. `fitted()`,
#'   `residuals()`.
#' * `posterior_linpred()`, `posterior_epred()`, `posterior_predict()`: arrays (S x n x q).
#'   Predicted responses of a row are correlated.
#' * `log_lik()` (S x n): the density of all observed responses of a row; `loo()` by row. Not
#'   available with a latent response.
#' * `VarCorr()`: covariances, standard deviations and correlations of the effects and of the
#'   residuals. `residual__` refers to the residuals, or with a latent response to its normal
#'   residuals. `as.data.frame()` has the same columns as in lme4. `sigma()`, `bayes_R2()` (S x q).
#' * `coef()`, `fixef()` (coefficients x q), `ranef()`, `tidy()`, `summary()`, `update()`, `nobs()`,
#'   `formula()`, `as_draws()`, [plot()][plot.bsvm_responses].
#' * [holdout()] and [cross_validate()], with metrics of each response.
#'
#' @section Not supported:
#' The following are errors of class `bsvm_error_unsupported` if residuals are correlated:
#' * the arguments `offset`, `missing`, `cluster` and `class.weights`;
#' * weights of zero, and weights together with missing responses or with two residuals;
#' * `epsilon` or a prior of `scale` with a latent response;
#' * sparse predictors, priors that select variables, and `infer` in `gp()`;
#' * engines other than [engine_gibbs()] and [engine_gaussian()].
#'
#' A response that is constant, not numeric, or a linear combination of other responses is an error
#' of class `bsvm_error_response`.
#'
#' @references
#' Chakraborty, S., Ghosh, M. and Mallick, B. K. (2012). Bayesian nonlinear regression for large p
#' small n problems. *Journal of Multivariate Analysis*, 108, 28-40.
#'
#' Huang, A. and Wand, M. P. (2013). Simple marginally noninformative prior distributions for
#' covariance matrices. *Bayesian Analysis*, 8, 439-452.
#' @seealso [likelihood_gaussian()]; [plot.bsvm_responses()].
#' @examples
#' # do length and width of sepals vary together, given the size of petals?
#' fit <- bsvm(cbind(Sepal.Length, Sepal.Width) ~ Petal.Length + Petal.Width, data = iris,
#'             likelihood = likelihood_gaussian())
#' fit
#' VarCorr(fit)
#' predict(fit, iris[c(1, 51, 101), ], interval = "prediction")
#' @name responses
#' @aliases several_responses bsvm_responses
NULL

is_responses <- function(object) inherits(object, "bsvm_responses")

response_names <- function(object) names(object$fits)

# The responses of a formula as a matrix, or NULL: what is on the left is a matrix of several
# columns of numbers, and the likelihood is one of numbers.
several_responses <- function(formula, data, likelihood) {
  if (is.null(likelihood) || !inherits(formula, "formula") || length(formula) != 3L) return(NULL)
  left <- formula[[2L]]
  y <- tryCatch(suppressWarnings(eval(left, data, formula_environment(formula))),
                error = function(e) NULL)
  if (NCOL(y) < 2L || !(is.matrix(y) || is.data.frame(y))) return(NULL)
  if (kind_for(likelihood) != "numbers") return(NULL)
  check_response_rows(y, left, data, formula)
  y <- unclass(as.matrix(y)) # columns of data frames are often made by I()
  if (is.numeric(y)) y[is.nan(y)] <- NA
  colnames(y) <- column_labels(y, left)
  check_responses(y)
  storage.mode(y) <- "double"
  rownames(y) <- if (is.data.frame(data)) row.names(data) else seq_len(nrow(y))
  y
}

check_response_rows <- function(y, left, data, formula) {
  sizes <- if (is_call_to(left, "cbind")) {
    vapply(as.list(left)[-1L], function(term) {
      NROW(suppressWarnings(eval(term, data, formula_environment(formula))))
    }, 0L)
  }
  n <- if (is.data.frame(data)) nrow(data) else nrow(y)
  bad <- setdiff(c(sizes, nrow(y)), c(1L, n))
  if (length(bad) == 0L && nrow(y) == n) return(invisible())
  abort("data", "The responses must have a value for each of the ", n, " rows; found ",
        if (length(bad) > 0L) bad[1L] else nrow(y), ". Use columns of `data`.")
}

# Names of the columns; without any, cbind(log(a), b) has its arguments.
column_labels <- function(y, left) {
  own <- colnames(y)
  if (is.null(own)) own <- rep("", ncol(y))
  written <- if (is_call_to(left, "cbind")) vapply(as.list(left)[-1L], text_of, "")
  if (length(written) == ncol(y)) own <- ifelse(own == "", written, own)
  own <- ifelse(own == "", paste0(text_of(left), seq_len(ncol(y))), own)
  make.unique(own, "_")
}

most_responses <- 200L # and effects of a level over all responses

check_responses <- function(y) {
  if (ncol(y) > most_responses) {
    abort("size", "At most ", most_responses, " responses can be fitted together; found ", ncol(y),
          ". Fit some of them, or their principal components.")
  }
  if (!is.numeric(y) && !is.logical(y)) {
    abort("response", "Several responses must be a matrix of numbers; found ", describe(y), ".")
  }
  for (j in seq_len(ncol(y))) {
    own <- y[!is.na(y[, j]), j]
    if (length(own) < 2L) {
      abort("response", "The response `", colnames(y)[j], "` must have at least two values; found ",
            length(own), ". Remove it.")
    }
    numbers_of_response(own, colnames(y)[j])
    if (max(own) == min(own)) {
      abort("response", "The response `", colnames(y)[j], "` must vary; all its values are ",
            format(own[1L]), ". Remove it.")
    }
  }
  copies <- which(duplicated(t(y)))
  if (length(copies) > 0L) {
    abort("response", "The response `", colnames(y)[copies[1L]], "` is a copy of another one: ",
          "the residual covariance would be singular. Remove it.")
  }
}

refuse_quantiles_of_several <- function(formula, data, likelihoods) {
  if (is.null(several_responses(formula, data, unclass(likelihoods)[[1L]]))) return(invisible())
  abort("unsupported", "Several quantiles of several responses are not supported. Use one `tau`, ",
        "or one response.")
}

# The call of bsvm() for several responses.
fit_responses <- function(y, call, data, arguments, env) {
  likelihood <- as_likelihood(arguments$likelihood)
  residual <- if (is.null(likelihood$residual)) "independent" else likelihood$residual
  refuse_for_responses(call, residual)
  arguments["data"] <- list(data <- frame_of(data, arguments$formula, nrow(y)))
  if (residual == "independent") return(fit_independent(y, call, data, arguments, env))
  fit_correlated(y, call, data, arguments, env)
}

# A data frame, of variables that lie elsewhere too.
frame_of <- function(data, formula, n) {
  if (is.data.frame(data)) return(data)
  raw_rows(all.vars(formula[[3L]]), formula_environment(formula), data, NULL, n)
}

refuse_for_responses <- function(call, residual) {
  given <- intersect(c("class.weights", "cluster", "missing", "offset"), names(call))
  given <- Filter(function(name) !is.null(call[[name]]), given)
  if (length(given) == 0L) return(invisible())
  abort("unsupported", "`", given[1L], "` is not supported with several responses. Fit the ",
        "responses separately, or omit it.")
}

# The data without the columns of the responses, so that `.` on the right does not mean them.
without_responses <- function(data, formula) {
  used <- all.vars(formula[[2L]])
  if (any(used %in% all.vars(formula[[3L]]))) {
    abort("formula", "`", intersect(used, all.vars(formula[[3L]]))[1L], "` is a response, and ",
          "among the predictors too. Remove it from the right-hand side.")
  }
  if (is.data.frame(data)) data[setdiff(names(data), used)] else data
}

# ---- independent residuals ----------------------------------------------------------------------

# A fit for each response, to the rows that have it.
fit_independent <- function(y, call, data, arguments, env) {
  formula <- arguments$formula
  rest <- without_responses(data, formula)
  given <- list(
    weights = if ("weights" %in% names(call)) evaluate(call$weights, data, formula, "weights"),
    subset = if ("subset" %in% names(call)) evaluate(call$subset, data, formula, "subset"))
  prior <- arguments$prior
  if (!is.null(prior$residual)) refuse_residual_prior()
  fits <- lapply(seq_len(ncol(y)), function(j) {
    there <- which(!is.na(y[, j]))
    own <- formula
    own[[2L]] <- as.name(colnames(y)[j])
    one <- arguments
    one$formula <- own
    one$data <- with_column(rest, colnames(y)[j], y[, j], there)
    if (!is.null(given$weights)) one$weights <- given$weights[there]
    if (!is.null(given$subset)) {
      chosen <- row_numbers(given$subset, nrow(y), row.names(data))
      one$subset <- match(intersect(chosen, there), there)
    }
    one$likelihood$residual <- NULL
    do.call(bsvm.formula, Filter(Negate(is.null), one), envir = env, quote = TRUE)
  })
  used <- rownames(y) %in% unlist(lapply(fits, function(fit) names(fit$link)))
  new_responses(stats::setNames(fits, colnames(y)), y[used, , drop = FALSE], call, formula,
                arguments = arguments)
}

refuse_residual_prior <- function() {
  abort("prior", "`prior` refers to `residual`, and with independent residuals there is no ",
        "residual covariance. Use the likelihood's `scale`.")
}

with_column <- function(data, name, values, rows) {
  data <- data[rows, , drop = FALSE]
  data[[name]] <- values[rows]
  data
}

# ---- the object ---------------------------------------------------------------------------------

new_responses <- function(fits, y, call, formula, residual = NULL, groups = NULL, imputed = NULL,
                          sampling = NULL, termination = "completed", arguments = NULL, loss = NULL,
                          weights = NULL, kernels = NULL, evidence = NULL) {
  structure(class = "bsvm_responses", list(
    fits = fits, residual = residual, loss = loss, kernels = kernels, groups = groups, y = y,
    imputed = imputed, evidence = evidence,
    weights = weights, call = clean_call(call), formula = formula,
    nobs = sum(rowSums(!is.na(y)) > 0L),
    sampling = sampling, termination = termination,
    data = if (isTRUE(arguments$keep_data)) arguments$data,
    arguments = arguments[setdiff(names(arguments), c("formula", "data"))]))
}

# A function of a level's key: the effects of one response of a level that is new, q x S. Those of
# all responses are drawn from their joint covariance: each response's are the same ones each time.
joint_effects <- function(fit, name) {
  joint <- fit$joint
  blocks <- Filter(function(group) group$factor == name, joint$groups)
  roots <- lapply(blocks, function(group) {
    apply(draw_matrix(group$draws), 2L, function(triangle) t(chol(full_matrix(triangle))))
  })
  total <- draw_count(fit$posterior)
  function(key) {
    out <- matrix(0, length(fit$groups[[name]]$labels), total)
    for (k in seq_along(blocks)) {
      d <- length(blocks[[k]]$columns)
      all <- length(blocks[[k]]$labels)
      noise <- with_stream(list(sampling = list(seed = joint$seed)), paste(key, k),
                           matrix(stats::rnorm(all * total), all))
      effects <- apply_roots(array(roots[[k]], c(all, all, total)), noise)
      out[blocks[[k]]$columns, ] <- effects[(joint$response - 1L) * d + seq_len(d), ]
    }
    out
  }
}

# The data of the fit and the values of its arguments are those it had, unless others are given.
#' @export
update.bsvm_responses <- function(object, formula., ..., evaluate = TRUE) {
  call <- object$call
  call[[1L]] <- quote(bsvm)
  changed <- match.call(expand.dots = FALSE)[["..."]]
  for (name in names(changed)) call[[name]] <- changed[[name]]
  call$formula <- NULL
  formula <- if (missing(formula.)) object$formula else stats::update(object$formula, formula.)
  call <- as.call(c(list(call[[1L]], formula), as.list(call)[-1L]))
  if (!check_flag(evaluate, "evaluate")) return(call)
  kept <- c(if (!is.null(object$data)) list(data = object$data), object$arguments)
  kept <- kept[intersect(setdiff(names(kept), names(changed)), names(call))]
  eval_with(call, kept, parent.frame())
}
