#' Classes of errors and warnings
#'
#' Every error of this package has its own class, so that a program can handle errors selectively
#' with [tryCatch()]. The class is `bsvm_error_<name>`, and each error also has the class
#' `bsvm_error`. Warnings have classes `bsvm_warning_<name>` and `bsvm_warning`.
#'
#' @section Errors:
#' * `response`: the response does not have two classes, or is not coded as a factor, logical, 0/1
#'   or -1/+1. A response of numbers does not vary, or the predictors fit it exactly;
#' * `missing`: missing values in the response, the predictors or a grouping factor;
#' * `predictors`: infinite or unusable predictors or covariates with varying slopes, or too few
#'   distinct values for a smooth term;
#' * `weights`, `offset`: unusable weights or offset;
#' * `formula`, `data`: a formula without a response, a variable that does not exist, no rows;
#' * `group`: an unusable grouping factor, or a covariate with a varying slope that does not vary;
#' * `prior`: invalid hyper-parameters, or a prior for something that is not in the model;
#' * `newdata`: new data that lack a variable, or have infinite values or levels that were not in
#'   the fit;
#' * `argument`: any other argument with an invalid value;
#' * `source`: rows that are read in chunks cannot be read, or chunks differ in their columns, types
#'   or levels (see [bsvm_source()]);
#' * `disk`: rows cannot be written to a folder, or have changed there since;
#' * `cluster`: workers of `cluster` do not answer, or differ from this R session (see
#'   [bsvm_cluster]);
#' * `unsupported`: a combination that is not available, with alternatives that are;
#' * `size`: more rows or cells than an integer can count or than fit in memory, or too many
#'   inducing points of a Gaussian-process term;
#' * `numerical`: the computation broke down;
#' * `checkpoint`: a checkpoint file that cannot be written, is damaged, or belongs to other data or
#'   another model;
#' * `interrupted`: stopped by the user before there was a result to keep. It has the class
#'   `interrupt` instead of `error`.
#'
#' @section Warnings:
#' * `checkpoint`: a checkpoint could not be written, but the fit has all its draws;
#' * `convergence`: the fit, or the search for the kernel of a Gaussian-process term, stopped before
#'   its tolerance was reached. With draws: the chains disagree or their effective sample size is
#'   too small;
#' * `interrupted`: the fit was stopped by the user and is kept in its current state, with the draws
#'   so far;
#' * `rank`: a coefficient is determined only by its flat prior (collinear columns, separated
#'   classes). With draws, also a variance that is determined only by its prior (separated classes).
#'   The posterior is then effectively improper;
#' * `approximation`: an approximate fit is far from the exact posterior (see
#'   [check_approximation()]);
#' * `exact`: the response is fitted exactly, so that the scale of its residuals goes to zero;
#' * `cluster`: workers of `cluster` were lost, and others took over their rows (see
#'   [bsvm_cluster]);
#' * `failure`: in a study by [holdout()] some fits, predictions or metrics failed;
#' * `constant`: a penalised column does not vary;
#' * `improper`: an inverse-Wishart distribution for missing predictors has too few degrees of
#'   freedom;
#' * `pseudo_missing`: a predictor has many missing values under the pseudo-likelihood, so that its
#'   coefficient is unreliable (see [missing_normal()]);
#' * `lengthscale`: the length scale of a Gaussian-process term is so short that each row has its
#'   own function value;
#' * `points`: the inducing points of a Gaussian-process term leave more than 10 % of its variance
#'   unexplained (see [gp()][gp]);
#' * `determinacy`: variables determine less than half of the linear predictor that is due to their
#'   factors, or less than 0.7 of it under the pseudo-likelihood (see [factors()][factors]);
#' * `new_levels`: predictions are `NA` for new levels of a factor (see [predict.bsvm()]);
#' * `predictors`: mgcv warns about the basis of a smooth term;
#' * `group`: a grouping factor with one level, or with as many effects as there are rows.
#'
#' @section Messages:
#' Messages have the classes `bsvm_message_<name>` and `bsvm_message`, so that [suppressMessages()]
#' with `classes =` can silence them individually:
#' * `likelihood`: the model was fitted with the pseudo-likelihood although no `likelihood` was
#'   given (once per session), or `update()` has changed the likelihood of a fit;
#' * `pseudo`: intervals under the pseudo-likelihood are too narrow (once per session);
#' * `engine`: the default engine is only an approximation here;
#' * `point_estimate`: the default engine for many sparse predictors gives a point estimate;
#' * `draws`: [loo()][loo.bsvm] draws for a fit that has no draws;
#' * `one_class`: [predict.bsvm()] predicts classes from a fit that assigns all its own rows to one
#'   class (once per session);
#' * `rare`: probabilities are requested under the pseudo-likelihood, and a class is rare (once per
#'   session);
#' * `nearly_linear`: the function of a Gaussian-process term is nearly linear, and the variable
#'   itself would suffice;
#' * `rough_functions`: a kernel is inferred in the fit under the pseudo-likelihood, which prefers
#'   rough functions (once per session);
#' * `no_response`: no row has a response, so the fit is a factor model of the variables alone;
#' * `many_levels`: a factor with 30 levels or more shares its variance with other predictors (once
#'   per session).
#'
#' @return This page documents classes; it has no function.
#' @examples
#' # how does a program recognise a response that bsvm() cannot fit?
#' tryCatch(
#'   bsvm(Species ~ Sepal.Length, data = iris),
#'   bsvm_error_response = function(e) conditionMessage(e)
#' )
#' @name bsvm_conditions
NULL

# Signals an error of class bsvm_error_<class>; the message is paste0(...).
abort <- function(class, ..., call. = NULL) {
  stop(new_condition("error", class, paste0(...), call.))
}

# In a handler that would give errors of others a class: the package's own and time limits keep theirs.
pass_on <- function(e) if (inherits(e, "bsvm_error") || is_time_limit(e)) stop(e)

# R's error has no class of its own, and the language of the session.
is_time_limit <- function(e) {
  said <- c("reached elapsed time limit", "reached CPU time limit",
            "reached session elapsed time limit", "reached session CPU time limit")
  conditionMessage(e) %in% c(said, gettext(said, domain = "R"))
}

warn <- function(class, ..., call. = NULL) {
  warning(new_condition("warning", class, paste0(...), call.))
}

# A message of class bsvm_message_<class>. With `once`, a name, it is shown once a session.
inform <- function(class, ..., once = NULL) {
  if (!is.null(once)) {
    if (isTRUE(session[[once]])) return(invisible())
    session[[once]] <- TRUE
  }
  text <- paste0(..., if (!is.null(once)) " (Shown once a session.)", "\n")
  message(new_condition("message", class, text))
}

new_condition <- function(kind, class, message, call = NULL) {
  structure(
    class = c(paste0("bsvm_", kind, c(paste0("_", class), "")), kind, "condition"),
    list(message = message, call = call)
  )
}

# A count with all its digits.
in_full <- function(x) format(x, scientific = FALSE)

# "`a`, `b` and 3 more": names of things, for messages; `last` is before the last of all.
enumerate <- function(x, quote = "`", most = 8L, last = "and") {
  shown <- paste0(quote, utils::head(x, most), quote)
  rest <- length(x) - length(shown)
  if (rest > 0L) return(paste0(paste(shown, collapse = ", "), " and ", rest, " more"))
  if (length(shown) < 2L) return(paste(shown, collapse = ""))
  paste(paste(shown[-length(shown)], collapse = ", "), last, shown[length(shown)])
}

# "a character vector of length 3": what was found, for messages.
describe <- function(x) {
  if (is.null(x)) return("NULL")
  if (is.function(x)) return("a function")
  if (is.data.frame(x)) return("a data frame")
  if (is.matrix(x)) return(paste0("a ", nrow(x), " x ", ncol(x), " ", typeof(x), " matrix"))
  if (is.object(x)) return(paste0("an object of class \"", class(x)[1L], "\""))
  if (is.atomic(x) && length(x) == 1L) return(deparse(x))
  kind <- if (is.numeric(x)) "numeric" else typeof(x)
  paste0(if (grepl("^[aeiou]", kind)) "an " else "a ", kind,
         if (is.atomic(x)) " vector", " of length ", length(x))
}
