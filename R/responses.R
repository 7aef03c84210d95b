# Several responses: bsvm(cbind(a, b) ~ x, data, likelihood = likelihood_gaussian()). A fit, of class
# bsvm_responses, has a fit of class bsvm for each response, with draws from the joint posterior, so
# that everything about one response is what it is elsewhere; and what ties them together:
#   fits       list by response
#   residual   (q (q + 1) / 2, draws, chains) the lower triangles, by column, of the residual
#              covariance in the user's units; NULL where residuals are independent
#   groups     list by grouping factor and block of list(labels, draws): the covariance of the
#              effects, likewise, `labels` by response and then effect
#   y          (n, q) the responses, NA where missing
#   imputed    data frame: row, response, mean, sd of each missing response
#   call, formula, nobs, sampling
# The core (src/core/responses) has the mathematics.

is_responses <- function(object) inherits(object, "bsvm_responses")

response_names <- function(object) names(object$fits)

# The responses of a formula as a matrix, or NULL: what is on the left is a matrix of several columns
# of numbers, and the likelihood is one of numbers.
several_responses <- function(formula, data, likelihood) {
  if (is.null(likelihood) || !inherits(formula, "formula") || length(formula) != 3L) return(NULL)
  left <- formula[[2L]]
  y <- tryCatch(eval(left, data, formula_environment(formula)), error = function(e) NULL)
  if (NCOL(y) < 2L || !(is.matrix(y) || is.data.frame(y))) return(NULL)
  if (kind_for(likelihood) != "numbers") return(NULL)
  y <- as.matrix(y)
  colnames(y) <- column_labels(y, left)
  check_responses(y)
  storage.mode(y) <- "double"
  y
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

check_responses <- function(y) {
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
  }
  copies <- which(duplicated(t(y)))
  if (length(copies) > 0L) {
    abort("response", "The response `", colnames(y)[copies[1L]], "` is a copy of another one: ",
          "the residual covariance would be singular. Remove it.")
  }
}

# The call of bsvm() for several responses.
fit_responses <- function(y, call, data, arguments, env) {
  likelihood <- as_likelihood(arguments$likelihood)
  residual <- if (is.null(likelihood$residual)) "independent" else likelihood$residual
  refuse_for_responses(call, residual)
  if (residual == "independent") return(fit_independent(y, call, data, arguments, env))
  fit_correlated(y, call, data, arguments, env)
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
    abort("formula", "`", intersect(used, all.vars(formula[[3L]]))[1L], "` is a response, and among ",
          "the predictors too. Remove it from the right-hand side.")
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
    one$data <- with_column(rest, colnames(y)[j], y[, j], there, env, formula)
    if (!is.null(given$weights)) one$weights <- given$weights[there]
    if (!is.null(given$subset)) {
      one$subset <- match(intersect(row_numbers(given$subset, nrow(y), row.names(data)), there), there)
    }
    one$likelihood$residual <- NULL
    do.call(bsvm.formula, Filter(Negate(is.null), one), envir = env, quote = TRUE)
  })
  new_responses(stats::setNames(fits, colnames(y)), y, call, formula)
}

refuse_residual_prior <- function() {
  abort("prior", "`prior` refers to `residual`, and with independent residuals there is no residual ",
        "covariance. Use the likelihood's `scale`.")
}

with_column <- function(data, name, values, rows, env, formula) {
  if (!is.data.frame(data)) {
    abort("data", "Several responses need `data` to be a data frame; found ", describe(data), ".")
  }
  data <- data[rows, , drop = FALSE]
  data[[name]] <- values[rows]
  data
}

# ---- the object ---------------------------------------------------------------------------------

new_responses <- function(fits, y, call, formula, residual = NULL, groups = NULL, imputed = NULL,
                          sampling = NULL, termination = "completed") {
  structure(class = "bsvm_responses", list(
    fits = fits, residual = residual, groups = groups, y = y, imputed = imputed,
    call = clean_call(call), formula = formula, nobs = sum(rowSums(!is.na(y)) > 0L),
    sampling = sampling, termination = termination))
}
