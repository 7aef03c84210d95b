#' Inclusion probabilities
#'
#' For a fit with a prior that selects variables ([prior_spike_slab()] or [prior_laplace_zero()]),
#' `inclusion()` returns the posterior probability that each coefficient is not zero. It also
#' returns the mean, standard deviation and sign of the coefficient given that it is not zero.
#' `selected()` returns the names of the coefficients with a high probability.
#'
#' @details
#' With `engine_gibbs()`, the probability is the share of the draws in which the coefficient is not
#' zero. The mean, the standard deviation and the probability of a positive sign are computed from
#' these draws.
#'
#' With `engine_vb()`, all numbers come from the variational approximation. There a coefficient is
#' the product of an indicator and a normal variable, and the two are independent. **The
#' probabilities are nearly always close to 0 or 1, even if the posterior probabilities are not**
#' (Luts and Ormerod 2014, Section 4.4). The approximation chooses one of several similar models. It
#' can even be certain of predictors that are almost surely excluded. `check = TRUE` runs a short
#' Gibbs sampler for the same model and adds its probabilities.
#'
#' [coef.bsvm()], [predict.bsvm()] and the other methods average over the models. A coefficient
#' counts as zero in models that exclude it, so `coef()` is `probability * mean`.
#'
#' @param object A fit from [bsvm()].
#' @param check For a fit with [engine_vb()]: also run [engine_gibbs()] for the same model, with 2
#'   chains of 500 draws after 500 iterations of burn-in? This needs seconds for some thousand rows
#'   and some ten predictors. It uses the data kept in the fit; without them the call of the fit is
#'   evaluated again.
#' @param threshold The probability above which a coefficient is selected.
#' @param ... Must be empty.
#' @return `inclusion()`: a data frame of class `bsvm_inclusion`. It has one row per column of the
#'   design matrix that the prior may exclude, in the order of the design matrix. Its columns are
#' * `term`, the name;
#' * `probability`, the posterior probability of inclusion;
#' * `mean` and `sd` of the coefficient given inclusion, on the original scale of the predictors.
#'   They are `NA` if no draw includes the coefficient (`sd`: if fewer than two draws do);
#' * `p_positive`, the probability that the coefficient is positive given inclusion;
#' * with `check = TRUE`, `gibbs`, the probability from the Gibbs sampler.
#'
#' A subset of its rows (`head()`, `[`) still prints the expected size of the whole model. A subset
#' without some of its columns is a plain data frame.
#'
#' `selected()`: the names of the coefficients with a probability above `threshold`, the most
#' probable first. With 0.5 this is the median probability model (Barbieri and Berger 2004).
#' @section Errors:
#' `bsvm_error_unsupported` if no prior of the fit selects variables, or for `check = TRUE` if the
#' fit has draws. `bsvm_error_argument` if `object` is not a fit or `threshold` is not a
#' probability.
#' @references
#' Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for support
#' vector machine classification. *Computational Statistics & Data Analysis*, 73, 163-176
#' (Section 3.2).
#'
#' Polson, N. G. and Scott, S. L. (2011). Data augmentation for support vector machines. *Bayesian
#' Analysis*, 6, 1-23 (Section 4.2).
#'
#' Barbieri, M. M. and Berger, J. O. (2004). Optimal predictive model selection. *Annals of
#' Statistics*, 32, 870-897.
#' @seealso [plot_inclusion()].
#' @examples
#' # which measurements are needed to tell two species apart?
#' set.seed(1)
#' fit <- bsvm(Species ~ ., data = iris, subset = Species != "setosa", prior = prior_spike_slab())
#' inclusion(fit)
#' selected(fit)
#' @export
inclusion <- function(object, ..., check = FALSE) {
  check_dots(substitute(list(...)), "inclusion()", NULL)
  need_arguments("object", what = "inclusion()")
  check_flag(check, "check")
  columns <- selected_over(object)
  moments <- inclusion_moments(object$posterior, object, columns)
  unit <- 1 / object$design$scale[columns]
  out <- data.frame(term = object$design$columns[columns], probability = moments$probability,
                    mean = moments$mean * unit, sd = moments$sd * unit,
                    p_positive = moments$p_positive)
  drawn <- inherits(object$posterior, "bsvm_draws")
  if (check) out$gibbs <- gibbs_inclusion(object, parent.frame())
  structure(out, class = c("bsvm_inclusion", "data.frame"),
            note = if (!drawn) inclusion_note(out),
            size = c(expected = sum(out$probability), columns = nrow(out),
                     above = sum(out$probability > 0.5)))
}

# Probabilities of inclusion in a short run of the Gibbs sampler.
gibbs_inclusion <- function(object, env) {
  if (inherits(object$posterior, "bsvm_draws")) {
    abort("unsupported", "`check = TRUE` compares a fit by engine_vb() with draws, and this fit ",
          "has draws. summary() shows how well its chains have converged.")
  }
  # convergence is judged by how much the probabilities differ, not draw by draw
  drawn <- withCallingHandlers(
    refit_by(object, engine_gibbs(draws = 500, burnin = 500, chains = 2), env),
    bsvm_warning_convergence = function(w) invokeRestart("muffleWarning")
  )
  inclusion(drawn)$probability
}

#' @rdname inclusion
#' @export
selected <- function(object, threshold = 0.5) {
  need_arguments("object", what = "selected()")
  check_level(threshold, "threshold")
  found <- inclusion(object)
  found <- found[order(-found$probability), ]
  found$term[found$probability > threshold]
}

#' @rdname inclusion
#' @param x The value of `inclusion()`.
#' @param n Number of rows to print, the most probable first; all by default.
#' @param digits Significant digits.
#' @export
print.bsvm_inclusion <- function(x, n = Inf, digits = 3L, ...) {
  check_shown(n)
  check_digits(digits)
  shown <- utils::head(x[order(-x$probability), , drop = FALSE], n)
  size <- attr(x, "size")
  if (!is.null(size)) {
    cat("Expected model size ", format(size[["expected"]], digits = digits), " of ",
        size[["columns"]], "; ", size[["above"]], " with probability above 0.5",
        if (nrow(x) < size[["columns"]]) paste0("; ", nrow(x), " of them here"), "\n", sep = "")
  }
  print(format(as.data.frame(shown), digits = digits), row.names = FALSE)
  if (!is.null(attr(x, "note"))) say_wrapped(attr(x, "note"))
  invisible(x)
}

# How far probabilities by variational Bayes can be trusted.
inclusion_note <- function(x, far = 0.25) {
  if (is.null(x$gibbs)) {
    return(paste("By variational Bayes: probabilities are nearly always close to 0 or 1, even if",
                 "the posterior is undecided. inclusion(fit, check = TRUE) compares them with",
                 "draws."))
  }
  gap <- abs(x$probability - x$gibbs)
  worst <- which.max(gap)
  if (length(worst) == 0L || gap[worst] < far) {
    return(paste0("Probabilities by variational Bayes are within ", far, " of those by draws."))
  }
  paste0("Probabilities by variational Bayes differ from those by draws (`gibbs`) by up to ",
         format(gap[worst], digits = 2L), " (`", x$term[worst], "`), and by more than ", far,
         " for ", sum(gap >= far), " of ", nrow(x), ". Use engine_gibbs() for this model.")
}

# Rows keep what is known of all; without the columns that print() needs it is a plain data frame.
#' @export
`[.bsvm_inclusion` <- function(x, ...) {
  out <- NextMethod()
  if (!is.data.frame(out)) return(out)
  complete <- all(c("term", "probability") %in% names(out))
  if (!complete) return(structure(out, class = "data.frame", size = NULL, note = NULL))
  for (name in c("size", "note")) attr(out, name) <- attr(x, name)
  out
}

# Numbers of the columns that a prior of the fit selects among.
selected_over <- function(object) {
  check_fit(object)
  selected <- Filter(selects, object$blocks)
  if (length(selected) > 0L) return(sort(unlist(lapply(selected, `[[`, "columns"))))
  abort("unsupported", "No prior of this fit selects columns. prior_spike_slab() and ",
        "prior_laplace_zero() do.")
}

# list(probability, mean, sd, p_positive) by column, of standardised columns.
inclusion_moments <- function(posterior, fit, columns) UseMethod("inclusion_moments")

#' @export
inclusion_moments.bsvm_draws <- function(posterior, fit, columns) {
  at <- match(columns, core_layout(fit$design)$kept)
  found <- matrix(0, length(at), 4L)
  in_chunks(length(at), 2^22 / draw_count(posterior), function(some) {
    draws <- posterior$coefficients[at[some], , , drop = FALSE]
    found[some, ] <<- drawn_inclusion(draw_matrix(draws))
  })
  found[is.nan(found)] <- NA
  list(probability = found[, 1L], mean = found[, 2L], sd = found[, 3L], p_positive = found[, 4L])
}

# A row a coefficient: probability, mean, sd, P(positive). 0/0 where none or one draw has it.
drawn_inclusion <- function(draws) {
  included <- draws != 0
  count <- rowSums(included)
  mean <- rowSums(draws) / count
  square <- rowSums((draws - mean)^2 * included)
  cbind(count / ncol(draws), mean, ifelse(count > 1, sqrt(square / (count - 1)), NaN),
        rowSums(draws > 0) / count)
}

# Under q the indicator and the coefficient itself are independent.
#' @export
inclusion_moments.default <- function(posterior, fit, columns) {
  found <- posterior$inclusion
  at <- match(columns, found$columns)
  list(probability = found$probability[at], mean = found$mean[at], sd = found$sd[at],
       p_positive = stats::pnorm(found$mean[at] / found$sd[at]))
}
