#' Predictions of a fit
#'
#' `predict()` returns classes, linear predictors or class probabilities for two classes. For a
#' numeric response it returns fitted values, quantiles and intervals.
#'
#' @details
#' The linear predictor of a row is the posterior mean of `f`, including the offset and group
#' effects. The class is its sign; a linear predictor of exactly zero gives the second level, class
#' +1. If the fit predicts one class for all its own rows, which can happen with a rare class, a
#' message reports this once per session (class `bsvm_message_one_class`). Then use `threshold` or
#' `costs`, or fit with `class.weights`.
#'
#' **Intervals.** The standard deviation is the posterior standard deviation of `f` in the
#' approximation of the engine. `lower` and `upper` are quantiles of the draws of `f`
#' (`engine_gibbs()`) or of a mixture of normal distributions (`engine_gaussian()`). For other
#' engines they are the mean minus and plus normal quantiles times the standard deviation. They
#' describe the linear predictor, not a new response. Under the pseudo-likelihood they are too
#' narrow (see [summary.bsvm()]). A fit with [engine_map()] without integrated group effects has no
#' standard deviation, and `interval = TRUE` is an error of class `bsvm_error_unsupported`.
#'
#' **Group effects.** A new level of a grouping factor is an error unless `allow_new_levels = TRUE`.
#' With it, the effects of a new level have mean zero. Their variance, for the covariates of the row
#' and with all covariances, is added to the variance of the linear predictor. `re_formula` chooses
#' the group effects to include in mean and standard deviation. `NULL` includes all, and `NA` or
#' `~0` none. A formula such as `~ (1 | item)` includes the effects that it names, which must be in
#' the fit. Excluded grouping factors are not needed in `newdata`. The offset is evaluated in
#' `newdata`, or given as `offset`.
#'
#' **Rows of `newdata`.** `newdata` may have more columns than needed, needs no response and can
#' have any number of rows, including zero. A row with a missing value in a variable that is used
#' gets `NA`.
#'
#' If the fit models missing predictors ([missing_normal()]), they are averaged over their
#' distribution given the other predictors of the row. The linear predictor is evaluated at their
#' means, and their uncertainty is added to the standard deviation. Only a row with other missing
#' values (a factor, a group, a dummy) gets `NA`. Auxiliary variables are used if they are in
#' `newdata`. In rows of the fit, missing entries have the moments of [imputed()], which depend on
#' the class of the row, and count as independent.
#'
#' **A numeric response.** `type = "response"`, the default, and `"link"` return the posterior mean
#' of the linear predictor. `interval = TRUE` (or `"prediction"`) gives intervals of **new
#' responses**. These are quantiles of the density of the residuals, averaged over the posterior of
#' the linear predictor and of the parameters of the density. The average is over draws or the
#' components of a mixture. `interval = "confidence"` gives intervals of the linear predictor
#' itself. `type = "quantile"` gives quantiles of new responses for `probs`. Under
#' [likelihood_quantile()] the density of the response is only a working model, so only confidence
#' intervals are available.
#'
#' **Without `newdata`**, the linear predictors kept in the fit are used. `interval = TRUE`,
#' `re_formula` and probabilities that average over the uncertainty need the data too. Then the call
#' of the fit is evaluated again; if that fails, the error (class `bsvm_error_data`) recommends
#' `keep_data = TRUE`.
#'
#' @section Probabilities:
#' Under `likelihood_hinge(normalized = TRUE)` the model has probabilities: \eqn{p(+1 | f)}{p(+1|f)}
#' of [likelihood_hinge()], averaged over the posterior of `f` (`map = "likelihood"`). The average
#' is over the draws or over the components of the mixture of [engine_gaussian()]. If the
#' uncertainty is not available, \eqn{f} is at the mode. Use this likelihood if you need
#' probabilities.
#'
#' The pseudo-likelihood has no probabilities. It rewards a large \eqn{|f|}{|f|}, so the same
#' average is far too close to 0 and 1. Its default is `map = "logistic"`. With the mean \eqn{m} and
#' the standard deviation \eqn{s} of the linear predictor,
#' \deqn{p = \mathrm{logit}^{-1}\left\{\frac{a m}{\sqrt{1 + (\pi/8) (a s / 2)^2}}\right\}.}{p =
#' plogis(a m / sqrt(1 + (pi/8) (a s / 2)^2)).}
#' This is nearly the average of a logistic curve with slope \eqn{a} over a normal distribution
#' (MacKay 1992) with half the standard deviation.
#'
#' `a` is estimated in the fit by Platt scaling (Platt 2000) on approximate leave-one-out predictors
#' of up to 1000 training rows. They are the linear predictors less what each row gained from its
#' own class. To first order this gain is \eqn{s^2} times the expected slope of the loss; it is
#' limited to \eqn{s}. The variation of new groups and the uncertainty of missing predictors count
#' fully in \eqn{s}, not by half. In the estimation of `a`, rows with missing predictors are treated
#' like new rows.
#'
#' Fits without standard deviations use neither \eqn{s} nor the correction for the own class of a
#' row. These are fits with [engine_em()], with [engine_map()] without integrated group effects, and
#' draws with `keep_effects = FALSE`. Their probabilities are too close to 0 and 1 if there are many
#' coefficients. The same holds for [engine_vb()], whose standard deviations are too small. Check
#' probabilities on held-out rows with [calibration()]; [calibration_map()] estimates the slope from
#' such rows. `map = "probit"` is \eqn{\Phi\{m / \sqrt{1 + s^2}\}}{Phi(m / sqrt(1 + s^2))} (Henao,
#' Yuan and Carin 2014).
#'
#' **Rare classes.** If one class has a small share of the rows (3 to 12 % in the data sets tried),
#' probabilities under the pseudo-likelihood contain little information beyond this share. On
#' held-out rows their calibration slopes were 5 to 11, while 1 is calibrated. Below 15 %, a message
#' of class `bsvm_message_rare` reports this once per session. Use `likelihood_hinge(normalized =
#' TRUE)`, or see [calibration()].
#'
#' **Known groups.** The distribution of a group effect is not normal if all rows of the group are
#' of one class. If effects were integrated out ([engine_gaussian()], and [engine_map()] with one or
#' two effects per level), probabilities average over their actual distributions.
#'
#' **Agreement of probabilities and classes.** All maps are one half if the linear predictor is
#' zero, so `type = "prob"` and `type = "class"` agree. An average over draws or a mixture may be on
#' the other side of one half than the mean linear predictor, which decides the class. It is then
#' moved close to one half, on the side of the class. For a linear predictor of exactly zero, both
#' classes have probability one half, and the class is the second level.
#'
#' **Weights.** With `class.weights`, or `weights` that do not count rows, the probabilities refer
#' to the weighted population. Let \eqn{w_1}{w1} and \eqn{w_2}{w2} be the weights of the classes,
#' and \eqn{p} the probability of the second class in the weighted population. In the population
#' without weights its probability is
#' \deqn{\frac{p / w_2}{p / w_2 + (1 - p) / w_1}.}{(p / w2) / (p / w2 + (1 - p) / w1).}
#' @references
#' Henao, R., Yuan, X. and Carin, L. (2014). Bayesian nonlinear support vector machines and
#' discriminative factor modeling. *Advances in Neural Information Processing Systems*, 27.
#'
#' MacKay, D. J. C. (1992). The evidence framework applied to classification networks. *Neural
#' Computation*, 4, 720-736.
#'
#' Platt, J. C. (2000). Probabilities for SV machines. In *Advances in Large Margin Classifiers*,
#' 61-74. MIT Press.
#' @param object A fit from [bsvm()].
#' @param newdata A data frame with the variables of the formula (a matrix with the columns of `x`
#'   for a fit from `bsvm(x, y)`); the rows of the fit by default.
#' @param type For two classes: `"class"` (default), `"link"` for the linear predictor, or `"prob"`
#'   for the probabilities of both classes. For a numeric response: `"response"` (default), `"link"`
#'   or `"quantile"`.
#' @param interval For two classes: if `TRUE`, the linear predictor with its standard deviation and
#'   credible interval (`type = "link"`, the default then), or the probability of the second class
#'   with its credible interval (`type = "prob"`). For a numeric response: `"prediction"` (the same
#'   as `TRUE`) or `"confidence"`.
#' @param level Probability of the interval.
#' @param re_formula Which group effects to use: `NULL` (default) all, `NA` or `~0` none, or a
#'   one-sided formula with some of the random-effects terms of the fit.
#' @param allow_new_levels Accept levels of grouping factors that were not in the fit? Rows with a
#'   new level of another factor then get `NA`, with a warning of class `bsvm_warning_new_levels`.
#' @param group For a fit from `bsvm(x, y, group = )`: the levels of the rows of `newdata`.
#' @param offset For a fit with the argument `offset`: the offset of the rows of `newdata`, if it
#'   can't be evaluated in `newdata`.
#' @param na.action The treatment of rows with missing values: [stats::na.pass()] (default) gives
#'   `NA`, [stats::na.omit()] excludes them, [stats::na.fail()] is an error.
#' @param map For probabilities: `"likelihood"`, `"logistic"`, `"probit"`, or the value of
#'   [calibration_map()] for held-out rows. `NULL` (default) is `"likelihood"` under
#'   `likelihood_hinge(normalized = TRUE)`, otherwise `"logistic"`. See below.
#' @param threshold For `type = "class"`: rows are assigned to the second level if its probability
#'   is at least this. `NULL` (default) uses the sign of the linear predictor, which corresponds to
#'   one half.
#' @param costs For `type = "class"`, in place of `threshold`: two positive numbers named by the
#'   levels, the costs of misclassifying a row of each class. With costs `a` of the first level and
#'   `b` of the second, the threshold is `a / (a + b)`.
#' @param probs For `type = "quantile"`: probabilities between 0 and 1.
#' @param ... Must be empty. For a misspelt argument or an argument of another package (`re.form`,
#'   `allow.new.levels`, `se.fit`, ...) the error names the correct one if it is known.
#' @return One element (or row) per row of `newdata`, in its order. Elements are named by its row
#'   names unless these are automatic.
#' * `type = "class"`: a factor with the levels of the response. If the response was not a factor,
#'   these are `"0"`, `"1"`, or `"FALSE"`, `"TRUE"`, or `"-1"`, `"1"`.
#' * `type = "prob"`: a numeric matrix with two columns named by these levels; rows sum to one. With
#'   `interval = TRUE` a data frame with columns `fit`, `lower` and `upper` of the second level. The
#'   interval is that of the linear predictor on the scale of the probability. Effects of a grouping
#'   factor that [engine_gaussian()] integrates out are skewed, and so are the limits of rows of its
#'   levels, for two classes.
#' * `type = "quantile"`: a numeric matrix with one column for each of `probs`.
#' * `type = "link"` or `"response"`: a numeric vector; with `interval = TRUE` a data frame with
#'   columns `fit`, `sd`, `lower` and `upper`.
#' @examples
#' # how probable is an infection after six months, for a patient of the trial and for a new one?
#' fit <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail)
#' new <- data.frame(patientID = c("1", "new"), time = 6, treatment = "terbinafine")
#' predict(fit, new, type = "prob", interval = TRUE, allow_new_levels = TRUE)
#' predict(fit, new, type = "link", re_formula = NA)
#'
#' # to which class does each visit belong?
#' table(predicted = predict(fit), toenail$outcome)
#' # the same if a missed infection costs five times as much as a false alarm
#' costs <- c("none or mild" = 1, "moderate or severe" = 5)
#' table(predicted = predict(fit, costs = costs), toenail$outcome)
#'
#' # a response of numbers
#' line <- bsvm(dist ~ speed, data = cars, likelihood = likelihood_eps_insensitive())
#' predict(line, data.frame(speed = c(10, 20)), interval = "prediction")
#' @export
predict.bsvm <- function(object, newdata = NULL,
                         type = c("class", "link", "prob", "response", "quantile"),
                         interval = FALSE, level = 0.95, re_formula = NULL,
                         allow_new_levels = FALSE, group = NULL, offset = NULL,
                         na.action = stats::na.pass, map = NULL, threshold = NULL, costs = NULL,
                         probs = c(0.05, 0.25, 0.5, 0.75, 0.95), ...) {
  check_fit(object)
  check_predictive(object)
  check_dots(substitute(list(...)), "predict()", predict_hints)
  source <- as_source(newdata)
  if (!is.null(source)) return(predict_chunks(object, source, match.call(), parent.frame()))
  na.action <- prediction_action(na.action)
  kind <- interval_kind(object$response, interval)
  interval <- kind != "none"
  if (missing(type)) type <- default_type(object$response, interval)
  type <- check_prediction_type(object$response, type, interval)
  threshold <- class_threshold(object$response, threshold, costs, type)
  if (is.null(newdata)) need_rows(object, "predict() without `newdata`")
  probs <- if (type == "quantile") check_probs(probs)
  map <- prediction_map(map, object, type, threshold)
  hint_rare(object, map)
  level <- if (interval) check_level(level)
  if (interval) need_spread(object, "predict(interval = TRUE)")
  if (!is.null(probs)) need_spread(object, "predict(type = \"quantile\")")
  if (kind == "prediction" || !is.null(probs)) need_predictive(object$likelihood)
  rows <- if (!is.null(newdata) || !is.null(re_formula) || interval || !is.null(probs) ||
              (!is.null(map) && needs_spread(map, object))) {
    prediction_rows(object, newdata, re_formula, allow_new_levels, group, offset, parent.frame())
  }
  if (is.null(rows)) check_group_argument(object, group)
  inform_one_class(object, type, threshold)
  found <- predicted(object, rows, level, map)
  if (kind == "prediction") found <- predictive_moments(object, rows, found, level)
  if (!is.null(probs)) found$quantiles <- predictive_quantiles(object, rows, probs)
  if (is.null(newdata) && !is.null(rows)) {
    found <- lapply(found, stats::napredict, omit = object$na.action)
  }
  keep_complete(shape_prediction(object$response, found, type, threshold), na.action)
}

check_probs <- function(probs) {
  good <- is.numeric(probs) && length(probs) > 0L && !anyNA(probs) && all(probs > 0 & probs < 1)
  if (good) return(as.double(probs))
  abort("argument", "`probs` must be numbers above 0 and below 1; found ", describe(probs), ".")
}

default_type <- function(response, interval) {
  if (interval) interval_type(response) else prediction_types(response)[1L]
}

# NULL where no probability is needed.
prediction_map <- function(map, object, type, threshold) {
  if (type == "prob" || !is.null(threshold)) return(as_map(map, object))
  if (!is.null(map)) {
    abort("argument", "`map` is used only with `type = \"prob\"`, or with a class by `threshold` ",
          "or `costs`; the class by itself is the sign of the linear predictor.")
  }
}

# list(mean, sd, limits) of links, or list(prob, limits); without `rows` from the links of the fit.
predicted <- function(object, rows, level, map) {
  link <- if (is.null(rows)) fitted.bsvm(object)
  if (is.null(map)) {
    return(if (is.null(rows)) list(mean = link) else linear_predictor(object, rows, level))
  }
  if (!is.null(level)) return(probability_interval(object, rows, level, map))
  if (!is.null(rows)) return(list(prob = row_probability(object, rows, map)))
  list(prob = named_probability(mapped_link(map, object, link), link))
}

check_group_argument <- function(object, group) {
  if (is.null(group) || (is.null(object$formula) && !is.null(object$groups))) return(invisible())
  abort("argument", "`group` is for fits from bsvm(x, y, group = ); this fit ",
        if (is.null(object$groups)) "has no groups." else "finds its groups in `newdata`.")
}

# The rows to predict, as new_design() gives them, with their `names`: of newdata, or the fit's own,
# found again from `env`. They have no part of effects that `re_formula` excludes.
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

# list(mean, sd, limits) of the rows' links; no limits where `level` is NULL. A row whose level is
# missing has no code; posterior_linear() would take it for one without group.
linear_predictor <- function(object, rows, level, sd = !is.null(level)) {
  link <- posterior_linear(object, rows, sd)
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

prediction_action <- function(na.action) {
  if (is.null(na.action)) return(NULL)
  named <- is.character(na.action) && length(na.action) == 1L
  action <- if (is.function(na.action)) na.action
            else if (named) get0(na.action, mode = "function")
  if (is.null(action)) {
    abort("argument", "`na.action` must be a function such as na.omit, or its name; found ",
          describe(na.action), ".")
  }
  if (!keeps_complete(action)) {
    abort("argument", "`na.action` must be a function that decides about rows with missing values ",
          "and returns complete ones as they are, such as na.pass, na.omit or na.fail; found ",
          if (named) paste0("\"", na.action, "\"") else "another function", ".")
  }
  action
}

# Does the function give back what has nothing missing, as a data frame or a vector?
keeps_complete <- function(action) {
  values <- c(3, 1, 2)
  same <- function(x, part) {
    back <- tryCatch(suppressWarnings(action(x)), error = function(e) NULL)
    identical(tryCatch(as.vector(part(back)), error = function(e) NULL), values)
  }
  same(values, identity) || same(data.frame(fit = values), function(back) back$fit)
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
  se.fit = "interval = TRUE", se = "interval = TRUE", probability = "type = \"prob\"",
  decision.values = "type = \"link\"", newx = "newdata", data = "newdata", conf.level = "level"
)

predict_hints <- stats::setNames(paste0("Use `", known_elsewhere, "` instead."),
                                 names(known_elsewhere))
