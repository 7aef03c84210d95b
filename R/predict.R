#' Predict classes, links and probabilities
#'
#' @details The link of a row is the posterior mean of `f`, offset and group effects included; the
#' class is its sign, and a link of exactly zero goes to the second level, class +1. If the fit puts
#' all its own rows into one class, as with a rare class, a message says so once a session (class
#' `bsvm_message_one_class`): use `threshold` or `costs`, or fit with `class.weights`. The standard
#' deviation is that of `f` under the posterior the engine found. `lower` and `upper` are quantiles
#' of the draws of `f` (`engine_gibbs()`), of a mixture of normal distributions
#' (`engine_gaussian()`), or mean minus and plus normal quantiles times the standard deviation. They
#' speak of the linear predictor, not of the next response, and under the pseudo-likelihood are too
#' narrow (see [summary.bsvm()]). A fit by [engine_map()] without integrated group effects has no
#' standard deviation, and `interval = TRUE` is an error of class `bsvm_error_unsupported`.
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
#' **A response of numbers.** `type = "response"`, the default, is the posterior mean of the linear
#' predictor, as `"link"` is. `interval = TRUE` (or `"prediction"`) gives intervals of **new
#' responses**: quantiles of the residuals' density averaged over the posterior of the linear
#' predictor and of the density's inferred numbers, over draws or parts of a mixture; each part's
#' distribution function is closed. `interval = "confidence"` gives intervals of the linear
#' predictor itself. `type = "quantile"` gives quantiles of new responses for `probs`. Under
#' [likelihood_quantile()] the density of a response is a device, and there are confidence intervals
#' only.
#'
#' Without `newdata` the links kept in the fit serve. What they do not contain (`interval = TRUE`,
#' `re_formula`, the spread that probabilities are averaged over) needs the data: the call of the
#' fit is evaluated again, and if that fails the error (class `bsvm_error_data`) names
#' `keep_data = TRUE`.
#'
#' @section Probabilities:
#' Under `likelihood_hinge(normalized = TRUE)` the model has probabilities: \eqn{p(+1 | f)}{p(+1|f)}
#' of [likelihood_hinge()], averaged over the posterior of `f` (`map = "likelihood"`): over the
#' draws, over each part of [engine_gaussian()]'s mixture, or at the mode where the spread is
#' not known. This is what to take where probabilities matter.
#'
#' The pseudo-likelihood has none, and the same average is far too sure: it rewards a large
#' \eqn{|f|}{|f|}. Its default is `map = "logistic"`, with the mean \eqn{m} and the standard
#' deviation \eqn{s} of the link
#' \deqn{p = \mathrm{logit}^{-1}\left\{\frac{a m}{\sqrt{1 + (\pi/8) (a s / 2)^2}}\right\},}{p =
#' plogis(a m / sqrt(1 + (pi/8) (a s / 2)^2)),}
#' nearly the average of a logistic curve of slope \eqn{a} over a normal law (MacKay 1992) with half
#' the standard deviation. `a` is learned when the model is fitted, by maximum likelihood with the
#' targets of Platt (2000), from the links of its own rows (a thousand at most) less what each
#' gained from its own class: to first order \eqn{s^2} times the expected slope of the loss, at most
#' \eqn{s}. What varies between groups that are new, and what missing predictors leave open, counts
#' whole in \eqn{s}, not by half; rows with missing predictors come in as new ones would. Fits
#' without standard deviations ([engine_em()], [engine_map()] without integrated group effects,
#' draws with `keep_effects = FALSE`) do without all this, and are too sure where coefficients are
#' many; so are those by [engine_vb()], whose standard deviations are too small. Rows left out of
#' the fit tell, see [calibration()], and [calibration_map()] learns the slope from them. `map =
#' "probit"` is \eqn{\Phi\{m / \sqrt{1 + s^2}\}}{Phi(m / sqrt(1 + s^2))} (Henao, Yuan and Carin
#' 2014).
#'
#' **Rare classes.** If one class has a small share of the rows (3 to 12 % in the data sets tried),
#' the pseudo-likelihood's probabilities are worth little more than this share: on held-out rows
#' their calibration slopes were 5 to 11, where 1 is right. A message of class `bsvm_message_rare`
#' says so once a session, below 15 %. Use `likelihood_hinge(normalized = TRUE)`, or see
#' [calibration()].
#'
#' **Known groups.** The distribution of a group's effect is not normal if its rows are of one
#' class. If effects were integrated out ([engine_gaussian()], and [engine_map()] with one or two
#' effects per level), probabilities average over their own distributions.
#'
#' All maps are one half where the link is zero, so `type = "prob"` and `type = "class"` agree. An
#' average over draws or a mixture may lie on the other side of one half than the mean link, which
#' decides the class; it is then put beside one half, on the class's side. A link of exactly zero
#' has one half for both classes, and is of the second.
#'
#' With `class.weights`, or `weights` that do not count rows, the probabilities are those of the
#' weighted population. Where the classes had weights \eqn{w_1}{w1} and \eqn{w_2}{w2}, that of the
#' second class in the population as it is follows from the weighted one, \eqn{p}, as
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
#' @param type `"class"` (default), `"link"`, or `"prob"` for the probabilities of both classes; of
#'   a response of numbers `"response"` (default), `"link"` or `"quantile"`.
#' @param interval If `TRUE`, the link with its standard deviation and credible interval
#'   (`type = "link"`, which it implies). Of a response of numbers `"prediction"`, which `TRUE`
#'   means, or `"confidence"`.
#' @param level Probability of the interval.
#' @param re_formula Which group effects to use: `NULL` (default) all, `NA` or `~0` none, or a
#'   one-sided formula of some of the fit's terms with bars.
#' @param allow_new_levels Accept levels of grouping factors that were not in the fit?
#' @param group For a fit from `bsvm(x, y, group = )`: the levels of the rows of `newdata`.
#' @param offset For a fit with the argument `offset`: that of the rows of `newdata`, where it can't
#'   be evaluated in `newdata`.
#' @param na.action What to do with rows that have missing values: [stats::na.pass()] (default)
#'   gives `NA`, [stats::na.omit()] leaves them out, [stats::na.fail()] is an error.
#' @param map For probabilities: `"likelihood"`, `"logistic"`, `"probit"`, or what
#'   [calibration_map()] learned from held-out rows. `NULL` (default) is `"likelihood"` under
#'   `likelihood_hinge(normalized = TRUE)`, else `"logistic"`. See below.
#' @param threshold For `type = "class"`: rows whose probability of the second level is at least
#'   this get it. `NULL` (default): the sign of the link, which is one half.
#' @param costs For `type = "class"`, in place of `threshold`: what it costs to take a row of each
#'   class for the other one, two positive numbers named by the levels. With costs `a` of the first
#'   level and `b` of the second the threshold is `a / (a + b)`.
#' @param probs For `type = "quantile"`: probabilities between 0 and 1.
#' @param ... Must be empty; a misspelt or foreign argument is an error that names the right one
#'   where it is known (`re.form`, `allow.new.levels`, `se.fit`, ...).
#' @return One element (or row) a row of `newdata`, in its order, named by its row names unless they
#'   are automatic.
#' * `type = "class"`: a factor with the levels of the response (`"0"`, `"1"`, or `"FALSE"`,
#'   `"TRUE"`, or `"-1"`, `"1"` where it was not a factor).
#' * `type = "prob"`: a numeric matrix with two columns named by these levels; rows sum to one.
#' * `type = "quantile"`: a numeric matrix with a column for each of `probs`.
#' * `type = "link"` or `"response"`: a numeric vector; with `interval = TRUE` a data frame with
#'   columns `fit`, `sd`, `lower` and `upper`.
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
#' predict(fit, new, type = "prob", allow_new_levels = TRUE)
#' line <- bsvm(dist ~ speed, data = cars, likelihood = likelihood_eps_insensitive())
#' predict(line, data.frame(speed = c(10, 20)), interval = "prediction")
#' # where to miss a sick patient costs five times as much
#' predict(fit, new, costs = c("FALSE" = 1, "TRUE" = 5), allow_new_levels = TRUE)
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
  na.action <- prediction_action(na.action)
  kind <- interval_kind(object$response, interval)
  interval <- kind != "none"
  if (missing(type)) type <- default_type(object$response, interval)
  type <- check_prediction_type(object$response, type, interval)
  threshold <- class_threshold(object$response, threshold, costs, type)
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

predict_hints <- stats::setNames(paste0("Here that is `", known_elsewhere, "`."),
                                 names(known_elsewhere))
