#' Predict classes and links
#'
#' @details
#' The link of a row is the posterior mean of `f`, offset and group effects included; the class is
#' its sign, and a link of exactly zero goes to the second level, class +1. The standard deviation
#' is that of `f` under the posterior the engine found. `lower` and `upper` are quantiles of the
#' draws of `f` (`engine_gibbs()`), of a mixture of normal laws (`engine_gaussian()`), or mean minus
#' and plus normal quantiles times the standard deviation. They speak of the linear predictor, not
#' of the next response, and under the pseudo-likelihood are too narrow (see [summary.bsvm()]). A
#' fit by [engine_map()] without integrated group effects has no standard deviation, and `interval =
#' TRUE` is an error of class `bsvm_error_unsupported`.
#'
#' A level of a grouping factor that was not in the fit is an error unless
#' `allow_new_levels = TRUE`; then its effects have mean zero, and their variance (of the
#' multipliers of the row, with all covariances) is added to that of the link. `re_formula` chooses
#' which group effects take part, in mean and standard deviation: `NULL` all, `NA` or `~0` none, a
#' formula such as `~ (1 | item)` those it names, which must be among the fit's. Grouping factors
#' that are left out are not needed in `newdata`. An offset is that of the rows of `newdata`:
#' evaluated there, or given as `offset`.
#'
#' `newdata` may have more columns than needed, needs no response and can have any number of rows,
#' none included. A row with a missing value in a variable that is used gets `NA`. Where the fit
#' models missing predictors ([missing_normal()]), these are averaged over their law given the
#' others of the row: the link is at their means, what is not known adds to the standard deviation,
#' and only a row that lacks something else (a factor, a group, a dummy) gets `NA`. Auxiliary
#' variables are used where `newdata` has them. In rows of the fit missing entries are as
#' [imputed()] has them, which has seen the class of the row, and count as independent.
#'
#' Without `newdata` the links kept in the fit serve. What they do not contain (`interval = TRUE`,
#' `re_formula`) needs the data: the call of the fit is evaluated again, and if that fails the error
#' (class `bsvm_error_data`) names `keep_data = TRUE`.
#'
#' @param object A fit from [bsvm()].
#' @param newdata A data frame with the variables of the formula (a matrix with the columns of `x`
#'   for a fit from `bsvm(x, y)`); the rows of the fit by default.
#' @param type `"class"` (default) or `"link"`. `"prob"` is an error of class
#'   `bsvm_error_unsupported`: the pseudo-likelihood has no probabilities, and those under
#'   `likelihood_hinge(normalized = TRUE)` come in a later version ([likelihood_hinge()] says what
#'   there is now).
#' @param interval If `TRUE`, the link with its standard deviation and credible interval
#'   (`type = "link"`, which it implies).
#' @param level Probability of the interval.
#' @param re_formula Which group effects to use: `NULL` (default) all, `NA` or `~0` none, or a
#'   one-sided formula of some of the fit's terms with bars.
#' @param allow_new_levels Accept levels of grouping factors that were not in the fit?
#' @param group For a fit from `bsvm(x, y, group = )`: the levels of the rows of `newdata`.
#' @param offset For a fit with the argument `offset`: that of the rows of `newdata`, where it can't
#'   be evaluated in `newdata`.
#' @param na.action What to do with rows that have missing values: [stats::na.pass()] (default)
#'   gives `NA`, [stats::na.omit()] leaves them out, [stats::na.fail()] is an error.
#' @param ... Must be empty; a misspelt or foreign argument is an error that names the right one
#'   where it is known (`re.form`, `allow.new.levels`, `se.fit`, ...).
#' @return One element (or row) a row of `newdata`, in its order, named by its row names unless they
#'   are automatic.
#' * `type = "class"`: a factor with the levels of the response (`"0"`, `"1"`, or `"FALSE"`,
#'   `"TRUE"`, or `"-1"`, `"1"` where it was not a factor).
#' * `type = "link"`: a numeric vector; with `interval = TRUE` a data frame with columns `fit`,
#'   `sd`, `lower` and `upper`.
#' @examples
#' set.seed(1)
#' d <- data.frame(x = rnorm(200), clinic = gl(20, 10))
#' d$sick <- d$x + rnorm(20)[d$clinic] + rnorm(200) > 0
#' fit <- bsvm(sick ~ x + (1 | clinic), data = d, engine = "vb")
#' table(predicted = predict(fit), d$sick)
#' new <- data.frame(x = c(-1, 0, 1), clinic = c("1", "2", "a new one"))
#' predict(fit, new, allow_new_levels = TRUE)
#' predict(fit, new, interval = TRUE, allow_new_levels = TRUE)
#' predict(fit, new, type = "link", re_formula = NA)
#' @export
predict.bsvm <- function(object, newdata = NULL, type = c("class", "link", "prob"),
                         interval = FALSE, level = 0.95, re_formula = NULL,
                         allow_new_levels = FALSE, group = NULL, offset = NULL,
                         na.action = stats::na.pass, ...) {
  check_dots(substitute(list(...)), "predict()", predict_hints)
  na.action <- prediction_action(na.action)
  type <- prediction_type(if (missing(type) && isTRUE(interval)) "link" else type, interval,
                          object$likelihood)
  level <- if (interval) check_level(level)
  if (is.null(newdata) && is.null(re_formula) && !interval) {
    check_group_argument(object, group)
    link <- list(mean = fitted.bsvm(object))
  } else {
    if (interval) need_spread(object, "predict(interval = TRUE)")
    rows <- prediction_rows(object, newdata, re_formula, allow_new_levels, group, offset,
                            parent.frame())
    link <- linear_predictor(object, rows, level)
    if (is.null(newdata)) link <- lapply(link, stats::napredict, omit = object$na.action)
  }
  shape_prediction(object, link, type, na.action)
}

prediction_type <- function(type, interval, likelihood) {
  check_flag(interval, "interval")
  type <- pick_one(type, c("class", "link", "prob"), "type")
  if (type == "prob") refuse_probabilities(likelihood)
  if (interval && type != "link") {
    abort("argument", "`interval = TRUE` goes with `type = \"link\"`; found `type = \"", type,
          "\"`. A class has no interval.")
  }
  type
}

refuse_probabilities <- function(likelihood) {
  if (is_normalised(likelihood)) {
    abort("unsupported", "`type = \"prob\"` is not available yet: probabilities, averaged over ",
          "the posterior, come in a later version. Use `type = \"class\"`, or `type = \"link\"`, ",
          "which has intervals; ?likelihood_hinge has the probability of a class given the link.")
  }
  abort("unsupported", "`type = \"prob\"` is not available: the hinge pseudo-likelihood is not ",
        "normalised over the two classes, so it gives no probabilities; those under ",
        "likelihood_hinge(normalized = TRUE) come in a later version. Use `type = \"class\"` or ",
        "`type = \"link\"`, or with draws posterior_linpred() and posterior_epred(), a map of ",
        "these to the unit interval.")
}

check_group_argument <- function(object, group) {
  if (is.null(group) || (is.null(object$formula) && !is.null(object$groups))) return(invisible())
  abort("argument", "`group` is for fits from bsvm(x, y, group = ); this fit ",
        if (is.null(object$groups)) "has no groups." else "finds its groups in `newdata`.")
}

# The rows to predict, as new_design() gives them, with their `names`: of newdata, or the fit's own,
# found again from `env`. Effects that `re_formula` leaves out have no part in them.
prediction_rows <- function(object, newdata, re_formula, allow_new_levels, group, offset, env) {
  check_flag(allow_new_levels, "allow_new_levels")
  check_group_argument(object, group)
  check_one_sided(re_formula)
  chosen <- chosen_effects(object$groups, re_formula)
  factors <- if (is.list(chosen)) names(chosen) else chosen
  rows <- if (is.null(newdata)) {
    training_design(object, training_data(object, env), factors)
  } else {
    new_design(object, newdata, factors, allow_new_levels, group, offset)
  }
  if (is.list(chosen)) rows$groups <- only_effects(rows$groups, chosen, object$groups)
  rows$names <- if (is.null(newdata)) names(object$link) else row_labels(newdata)
  rows
}

check_one_sided <- function(re_formula) {
  if (inherits(re_formula, "formula") && length(re_formula) > 2L) {
    abort("argument", "`re_formula` must have nothing left of the `~`; found ",
          deparse1(re_formula), ".")
  }
}

# Multipliers of effects that were not chosen are zero.
only_effects <- function(rows, chosen, groups) {
  for (name in names(rows)) {
    z <- multipliers_of(rows[[name]], length(groups[[name]]$labels))
    left_out <- setdiff(seq_len(ncol(z)), chosen[[name]])
    if (length(left_out) > 0L) {
      z[, left_out] <- 0
      rows[[name]]$z <- z
    }
  }
  rows
}

# list(mean, sd, limits) of the rows' links; only the mean where `level` is NULL. A row whose level
# is missing has no code; posterior_linear() would take it for one without group.
linear_predictor <- function(object, rows, level) {
  link <- posterior_linear(object, rows, sd = !is.null(level))
  if (!is.null(level)) {
    link$limits <- linear_limits(object$posterior, object, rows, link, level)
  }
  if (!is.null(rows$offset)) link <- shift_link(link, rows$offset)
  link <- blank_link(link, rows_without_level(rows) | is.na(link$mean))
  names(link$mean) <- rows$names
  link
}

blank_link <- function(link, absent) {
  if (!any(absent)) return(link)
  link$mean[absent] <- NA
  if (!is.null(link$sd)) link$sd[absent] <- NA
  if (!is.null(link$limits)) link$limits[absent, ] <- NA
  link
}

shift_link <- function(link, offset) {
  link$mean <- link$mean + offset
  if (!is.null(link$limits)) link$limits <- link$limits + offset
  link
}

rows_without_level <- function(rows) {
  missing <- rep(FALSE, nrow(rows$x))
  for (group in rows$groups) missing <- missing | is.na(group$codes)
  missing
}

# Names of rows, where they are more than numbers counted from one.
row_labels <- function(newdata) {
  if (is.data.frame(newdata) && .row_names_info(newdata) < 0L) NULL else rownames(newdata)
}

shape_prediction <- function(object, link, type, na.action) {
  if (type == "class") {
    return(keep_complete(link_class(link$mean, object$response$levels), na.action))
  }
  if (is.null(link$sd)) return(keep_complete(link$mean, na.action))
  frame <- data.frame(fit = link$mean, sd = link$sd, link$limits,
                      row.names = unless_twice(names(link$mean)))
  keep_complete(frame, na.action)
}

# A matrix may have a row name twice, a data frame may not.
unless_twice <- function(names) if (!anyDuplicated(names)) names

link_class <- function(link, levels) {
  class <- factor(levels[1L + (link >= 0)], levels = levels)
  names(class) <- names(link)
  class
}

prediction_action <- function(na.action) {
  if (is.null(na.action) || is.function(na.action)) return(na.action)
  named <- is.character(na.action) && length(na.action) == 1L
  action <- if (named) get0(na.action, mode = "function")
  if (is.null(action)) {
    abort("argument", "`na.action` must be a function such as na.omit, or its name; found ",
          describe(na.action), ".")
  }
  action
}

keep_complete <- function(prediction, na.action) {
  if (is.null(na.action) || !anyNA(prediction)) return(prediction)
  tryCatch(na.action(prediction), error = function(e) {
    abort("missing", "`newdata` must have no missing values with `na.action = na.fail`; found ",
          sum(!stats::complete.cases(prediction)), " incomplete row(s). ",
          "Use `na.action = na.pass` to get `NA` for them.")
  })
}

# Names that users of neighbouring packages reach for.
known_elsewhere <- c(
  re.form = "re_formula", re_form = "re_formula", allow.new.levels = "allow_new_levels",
  se.fit = "interval = TRUE", se = "interval = TRUE", probability = "type",
  decision.values = "type = \"link\"", newx = "newdata", data = "newdata", conf.level = "level"
)

predict_hints <- stats::setNames(paste0("Here that is `", known_elsewhere, "`."),
                                 names(known_elsewhere))
