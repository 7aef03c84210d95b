# Gaussian-process terms as they are written in a formula: which call is one, its arguments, gp(.).

#' @export
basis_origin.bsvm_term_gp <- function(head) c(kind = "gp", package = "bsvm")

#' @export
basis_words.bsvm_basis_gp <- function(kind) {
  list(what = "A Gaussian-process term",
       instead = " A function for each level of `f` is gp(x, by = f).")
}

# Kernels are learned from some of the rows anyway.
#' @export
basis_of_some_rows.bsvm_basis_gp <- function(kind) TRUE

# Names of its arguments that are not covariates. `label` is what a term has that was gp(.).
gp_arguments <- c("kernel", "points", "by", "standardize", "infer", "label")

#' @export
basis_variables.bsvm_basis_gp <- function(kind, term) {
  given <- gp_call(term)
  if (!is.null(given$by) && !is.language(given$by)) {
    abort("formula", "`", deparse1(term), "`: `by` must be a variable.")
  }
  c(given$covariates, if (!is.null(given$by)) list(given$by))
}

# The columns of the model frame that are in such terms.
gp_columns_of <- function(parts) {
  unique(unlist(lapply(parts$bases, function(term) {
    kind <- basis_kind(term)
    if (inherits(kind, "bsvm_basis_gp")) vapply(basis_variables(kind, term), text_of, "")
  })))
}

#' @export
basis_effects.bsvm_basis_gp <- function(kind, term, data) {
  unique(unlist(lapply(gp_call(term)$covariates, variables_in)))
}

# list(covariates, kernel, points, by, standardize, infer, label) of a call, unevaluated.
gp_call <- function(term) {
  given <- term_arguments(term)
  unknown <- setdiff(names(given), c("covariates", gp_arguments))
  if (length(unknown) > 0L) refuse_gp_argument(term, unknown[1L])
  covariates <- given$covariates
  if (length(covariates) == 0L) {
    abort("formula", "The Gaussian-process term `", deparse1(term), "` has no variable.")
  }
  constant <- vapply(covariates, function(covariate) length(all.vars(covariate)) == 0L, TRUE)
  if (any(constant)) {
    abort("formula", "The Gaussian-process term `", deparse1(term), "` needs variables; found ",
          enumerate(vapply(covariates[constant], deparse1, "")),
          ", which has no variable. Write a variable of the data, as in gp(x).")
  }
  refuse_operators(term, covariates)
  given
}

# Variables are the terms of a formula, where `a + b` is two of them and `a^2` is `a`.
refuse_operators <- function(term, covariates) {
  wrong <- Filter(function(own) is_call_to(own, c("+", "-", "*", "/", "^", ":", "%in%")), covariates)
  if (length(wrong) == 0L) return(invisible())
  text <- deparse1(wrong[[1L]])
  head <- paste0(deparse1(term[[1L]]), "(")
  apart <- all.vars(wrong[[1L]])
  ways <- c(if (length(apart) > 1L) paste0(head, paste(apart, collapse = ", "),
                                           ") for several variables"),
            if (!is_call_to(wrong[[1L]], c(":", "%in%"))) paste0(head, "I(", text,
                                                                 ")) for one that is computed"))
  abort("formula", "The variables of `", shortened(term), "` are separated by commas; found `", text,
        "`. Use ", paste(ways, collapse = ", or "), ".")
}

# Words of neighbours, with ours.
gp_hints <- c(k = "points", cov = "kernel", cov_fun = "kernel", m = "kernel", theta = "kernel",
              scale = "standardize", iso = "kernel = kernel_se(ard = TRUE)",
              lengthscale = "kernel = kernel_se(lengthscale = )",
              ard = "kernel = kernel_se(ard = TRUE)", variance = "prior = list(gp = prior_ridge())",
              inducing = "points", gr = "by")

refuse_gp_argument <- function(term, name) {
  hint <- if (name %in% names(gp_hints)) paste0(" Use `", gp_hints[[name]], "` instead.")
  abort("formula", "`", deparse1(term), "`: gp() has no argument `", name, "`; its arguments are ",
        enumerate(setdiff(gp_arguments, "label")), ".", hint)
}

# gp(.) and factors(.) are of the other columns of the data, without grouping factors and what is in
# other terms with a basis; factors(.) without any variable that stands elsewhere. Of factors() a:b is
# the columns from a to b.
write_out_columns <- function(formula, data) {
  if (!any(c("gp", "factors") %in% all.names(formula[[3L]]))) return(formula)
  added <- lapply(added_terms(formula[[3L]]), function(a) {
    if (inherits(basis_kind(a$term), "bsvm_basis_factors")) a$term <- without_ranges(a$term, data)
    a
  })
  dotted <- vapply(added, function(a) has_dot(a$term), TRUE)
  if (any(dotted)) {
    if (length(names(data)) == 0L) {
      abort("formula", "`.` in the formula needs `data`, a data frame with named columns.")
    }
    taken <- unlist(lapply(added[!dotted], function(a) {
      if (is_bar(a$term)) all.vars(a$term[[3L]])
      else if (is_basis_term(a$term)) basis_effects(basis_kind(a$term), a$term, data)
    }))
    others <- setdiff(names(data), c(all.vars(formula[[2L]]), taken))
    elsewhere <- unlist(lapply(added[!dotted], function(a) all.vars(a$term)))
    for (k in which(dotted)) {
      of_factors <- inherits(basis_kind(added[[k]]$term), "bsvm_basis_factors")
      own <- if (of_factors) setdiff(others, elsewhere) else others
      added[[k]]$term <- without_dot(added[[k]]$term, own)
    }
  }
  formula[[3L]] <- join_terms(lapply(added, in_brackets))
  formula
}

has_dot <- function(term) {
  inherits(basis_kind(term), c("bsvm_basis_gp", "bsvm_basis_factors")) &&
    any(vapply(as.list(term)[-1L], identical, TRUE, quote(.)))
}

without_dot <- function(term, names) {
  arguments <- as.list(term)[-1L]
  dot <- vapply(arguments, identical, TRUE, quote(.))
  written <- c(lapply(setdiff(names, variables_in(as.call(c(quote(c), arguments[!dot])))), as.name),
               arguments[!dot])
  if (is.null(arguments$label)) {
    of_factors <- inherits(basis_kind(term), "bsvm_basis_factors")
    written$label <- if (of_factors) factors_label(term) else deparse1(term)
  }
  as.call(c(term[[1L]], written))
}

# As users wrote it, `.` and ranges included: for print.
shown_formula <- function(formula) {
  shown <- function(term) {
    if (!is.call(term)) return(term)
    label <- if (is_call_to(term, c("gp", "factors"))) as.list(term)$label
    if (is.character(label)) {
      return(tryCatch(str2lang(label), error = function(e) as.name(label)))
    }
    as.call(lapply(as.list(term), shown))
  }
  formula[[length(formula)]] <- shown(formula[[length(formula)]])
  formula
}
