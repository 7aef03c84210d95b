# Factor terms as they are written in a formula, factors(expr, k = 10): which call is one, its
# arguments, its columns.

#' @export
basis_origin.bsvm_term_factors <- function(head) c(kind = "factors", package = "bsvm")

#' @export
basis_words.bsvm_basis_factors <- function(kind) {
  list(what = "A factor term", instead = NULL)
}

factors_arguments <- c("k", "classifier", "points", "noise", "feedback", "unlabelled", "standardize",
                       "label")

#' @export
basis_variables.bsvm_basis_factors <- function(kind, term) factors_call(term)$covariates

# list(covariates, and the arguments by name) of a call, unevaluated.
factors_call <- function(term) {
  given <- term_arguments(term)
  unknown <- setdiff(names(given), c("covariates", factors_arguments))
  if (length(unknown) > 0L) refuse_factors_argument(term, unknown[1L])
  constant <- vapply(given$covariates, function(own) length(all.vars(own)) == 0L, TRUE)
  if (length(given$covariates) == 0L || any(constant)) {
    abort("formula", "The factor term `", shortened(term), "` needs variables: a matrix column of ",
          "the data, or columns, as in factors(expr, k = 5) or factors(g1:g100, k = 5).")
  }
  refuse_operators(term, given$covariates)
  given
}

# A term of a thousand columns would be a page: its first variables, and `...`.
shortened <- function(term, most = 60L) {
  text <- deparse1(term)
  if (nchar(text) <= most) return(text)
  variables <- as.list(term)[-1L]
  variables <- unname(variables[!named_arguments(variables)])
  deparse1(as.call(c(term[[1L]], utils::head(variables, 2L), quote(...))))
}

# Words of neighbours, with ours.
factors_hints <- c(factors = "`k`", ncomp = "`k`", num_factors = "`k`", nfactors = "`k`", p = "`k`",
                   scale = "`standardize`", scale. = "`standardize`", unlabeled = "`unlabelled`",
                   kernel = "`classifier`", loadings = "`prior = list(loadings = )` of bsvm()",
                   prior = "`prior = list(factors = )` of bsvm()",
                   rotation = "factor_loadings(fit, rotation = )",
                   missing = "nothing: missing values of the variables are part of the model")

refuse_factors_argument <- function(term, name) {
  hint <- if (name %in% names(factors_hints)) paste0(" Use ", factors_hints[[name]], ".")
  abort("formula", "`", shortened(term), "`: factors() has no argument `", name,
        "`; its arguments are ", enumerate(setdiff(factors_arguments, "label")), ".", hint)
}

# The columns of the model frame that are in such terms: their missing values are integrated out.
factors_columns_of <- function(parts) {
  unique(unlist(lapply(factor_terms(parts), function(term) {
    vapply(factors_call(term)$covariates, text_of, "")
  })))
}

factor_terms <- function(parts) {
  Filter(function(term) inherits(basis_kind(term), "bsvm_basis_factors"), parts$bases)
}

# A term with ranges a:b of the data's columns, each written out.
without_ranges <- function(term, data) {
  arguments <- as.list(term)[-1L]
  ranges <- vapply(arguments, function(own) {
    is_call_to(own, ":") && all(vapply(as.list(own)[-1L], is.name, TRUE))
  }, TRUE) & !named_arguments(arguments)
  if (!any(ranges)) return(term)
  written <- lapply(seq_along(arguments), function(k) {
    if (!ranges[k]) return(arguments[k])
    ends <- vapply(as.list(arguments[[k]])[-1L], as.character, "")
    at <- match(ends, names(data))
    if (anyNA(at)) {
      abort("formula", "`", shortened(term), "`: ", deparse1(arguments[[k]]), " stands for ",
            "columns of `data`, which has no column ", enumerate(ends[is.na(at)]), ".")
    }
    lapply(names(data)[at[1L]:at[2L]], as.name)
  })
  written <- unlist(written, recursive = FALSE)
  if (is.null(arguments$label)) written$label <- factors_label(term)
  as.call(c(term[[1L]], written))
}

# The term without its arguments that are not variables: as prior, plots and columns name it.
factors_label <- function(term) {
  arguments <- as.list(term)[-1L]
  given <- arguments$label
  if (is.character(given) && length(given) == 1L && nzchar(given)) return(given)
  if (!is.null(given)) refuse_factors_argument(term, "label")
  shortened(as.call(c(quote(factors), unname(arguments[!named_arguments(arguments)]))))
}

# list(k, kernel (NULL: linear), points, noise, feedback, unlabelled, standardize, label), checked.
factors_settings <- function(term, env) {
  given <- factors_call(term)
  label <- factors_label(term)
  value <- function(name, default) {
    if (is.null(given[[name]])) return(default)
    tryCatch(eval(given[[name]], env), error = function(e) {
      abort("formula", "`", name, "` of `", label, "` can't be evaluated: ",
            sub("[.]$", "", conditionMessage(e)), ".")
    })
  }
  out <- list(k = value("k", NULL), kernel = score_kernel(value("classifier", "linear"), label),
              points = check_score_points(value("points", score_points)),
              noise = value("noise", "common"), feedback = value("feedback", TRUE),
              unlabelled = value("unlabelled", FALSE), standardize = value("standardize", TRUE))
  if (!is.null(out$k)) out$k <- check_count(out$k, "k")
  out$noise <- pick_one(out$noise, c("common", "each"), "noise")
  if (identical(out$feedback, "none")) out$feedback <- FALSE
  for (name in c("feedback", "unlabelled", "standardize")) check_flag(out[[name]], name)
  c(out, list(label = label))
}

# Inducing points in the space of scores.
score_points <- 100L

# Or none, Inf: the whole Gaussian process of the rows' scores.
check_score_points <- function(points) {
  if (identical(points, Inf)) Inf else check_count(points, "points")
}

is_exact <- function(basis) !is.null(basis$kernel) && is.infinite(basis$points)

# NULL of a linear classifier, else a kernel that is a product.
score_kernel <- function(classifier, label) {
  if (identical(classifier, "linear")) return(NULL)
  if (identical(classifier, "gp")) return(kernel_se())
  if (!inherits(classifier, "bsvm_kernel")) {
    abort("formula", "`classifier` of `", label, "` must be \"linear\", \"gp\" or a kernel, such ",
          "as kernel_se(); found ", describe(classifier), ".")
  }
  if (length(kernel_products(classifier)) > 1L) {
    abort("unsupported", "`classifier` of `", label, "` must be one kernel, or a product of ",
          "kernels; found a sum. Use the one that matters, such as kernel_se().")
  }
  classifier
}
