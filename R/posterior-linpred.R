#' Draws of the linear predictor
#'
#' `posterior_linpred()` gives draws of the link `f` of each row, `posterior_epred()` those of the
#' expected response: of classes a probability, of numbers the mean, or the quantile that was
#' fitted.
#'
#' @details
#' An offset is added; group effects come in as in [predict.bsvm()]. A level that was not in the fit
#' (`allow_new_levels = TRUE`) gets effects drawn from their normal law given the draw of its
#' covariance. They depend on the seed of the fit and the level's name alone: rows of the
#' same new level share them, and a second call gives the same.
#'
#' Where the fit models missing predictors ([missing_normal()]), draws of a new row that lacks some
#' have the noise of what is not known, drawn by R's random numbers; those of a row of the fit have
#' the draws of its missing entries, or such noise where these were not kept.
#'
#' **What `posterior_epred()` means.** The pseudo-likelihood is not normalised over the two
#' classes, so the model has no probabilities. The map is the one Polson and Scott (2011, Section 2)
#' get by dividing by the sum over both classes,
#' \deqn{\frac{\exp\{-2 (1 - f)_+\}}{\exp\{-2 (1 - f)_+\} + \exp\{-2 (1 + f)_+\}},}{
#'   exp(-2 (1 - f)+) / (exp(-2 (1 - f)+) + exp(-2 (1 + f)+)),}
#' draw by draw. It is a map from links to numbers between 0 and 1, with 1/2 at `f = 0`, and not the
#' model's probability of class +1: that the share of +1 among rows with such a value
#' is near it has to be checked on rows left out of the fit, not assumed ([calibration()]). It is
#' far too sure; `predict(type = "prob")` has better ones.
#'
#' Under `likelihood_hinge(normalized = TRUE)` the same map **is** the probability of class +1
#' given `f`: each draw has a row's probability given that draw of the coefficients and group
#' effects, and their average over the draws, `colMeans()`, is its posterior predictive probability.
#' Draws under it are those of `engine_slice()`; [posterior_predict()][posterior_predict.bsvm] draws
#' classes with these probabilities.
#'
#' @param object A fit from [bsvm()] with draws, as `engine_gibbs()` makes them.
#' @param transform Must be `FALSE`; `posterior_epred()` is the transformed version.
#' @param newdata,re_formula,allow_new_levels,group,offset As in [predict.bsvm()].
#' @param draw_ids Which draws: numbers from 1 to chains times draws, counted chain by chain; all by
#'   default.
#' @param ... Must be empty.
#' @return A matrix with a row a draw (chain by chain) and a column a row of `newdata`, or of the
#'   rows used in the fit: rows left out for a missing value have no column, under
#'   `na.action = na.exclude` neither. A row of `newdata` with a missing variable has a column of
#'   `NA`. A fit without draws, or one
#'   that did not keep those of the group effects it needs, is an error of class
#'   `bsvm_error_unsupported`.
#' @references Polson, N. G. and Scott, S. L. (2011). Data augmentation for support vector machines.
#'   *Bayesian Analysis*, 6, 1-23.
#' @seealso [predict.bsvm()] for means, intervals and classes; [as_draws.bsvm()].
#' @examples
#' set.seed(1)
#' fit <- bsvm(am ~ mpg + wt, data = mtcars, engine = engine_gibbs(draws = 500, burnin = 200))
#' link <- posterior_linpred(fit, newdata = data.frame(mpg = c(15, 25), wt = c(4, 2)))
#' dim(link)
#' mean(link[, 2] > link[, 1])
#' colMeans(posterior_epred(fit, newdata = data.frame(mpg = c(15, 25), wt = c(4, 2))))
#' @name posterior_linpred.bsvm
#' @export
posterior_linpred.bsvm <- function(object, transform = FALSE, newdata = NULL, re_formula = NULL,
                                   allow_new_levels = FALSE, draw_ids = NULL, group = NULL,
                                   offset = NULL, ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "posterior_linpred()", linpred_hints)
  need_draws(object, "posterior_linpred()")
  if (!identical(transform, FALSE)) {
    abort("argument", "`transform` must be FALSE; posterior_epred() gives transformed draws.")
  }
  link_draws(object, newdata, re_formula, allow_new_levels, draw_ids, group, offset,
             parent.frame())
}

#' @rdname posterior_linpred.bsvm
#' @export
posterior_epred.bsvm <- function(object, newdata = NULL, re_formula = NULL,
                                 allow_new_levels = FALSE, draw_ids = NULL, group = NULL,
                                 offset = NULL, ...) {
  check_fit(object)
  check_dots(substitute(list(...)), "posterior_epred()", linpred_hints)
  need_draws(object, "posterior_epred(), a map of posterior_linpred(),")
  f <- link_draws(object, newdata, re_formula, allow_new_levels, draw_ids, group, offset,
                  parent.frame())
  expected_response(drawn_likelihood(object, draw_ids, newdata), f)
}

# S x k draws of the link.
link_draws <- function(object, newdata, re_formula, allow_new_levels, draw_ids, group, offset,
                       env) {
  draw_ids <- check_draw_ids(draw_ids, draw_count(object$posterior))
  rows <- prediction_rows(object, newdata, re_formula, allow_new_levels, group, offset, env)
  draws <- matrix(NA_real_, length(draw_ids), nrow(rows$x), dimnames = list(NULL, rows$names))
  in_row_chunks(object$posterior, rows, function(at, part) {
    link <- linear_draws(object, part)
    if (has_unknown(part)) link <- link + unknown_draws(object, part)
    link <- link[, draw_ids, drop = FALSE]
    if (!is.null(rows$offset)) link <- link + rows$offset[at]
    draws[, at] <<- t(link)
  })
  draws[, rows_without_level(rows)] <- NA
  draws
}

check_draw_ids <- function(draw_ids, total) {
  if (is.null(draw_ids)) return(seq_len(total))
  good <- is.numeric(draw_ids) && length(draw_ids) > 0L && all(draw_ids %in% seq_len(total))
  if (!good) {
    abort("argument", "`draw_ids` must be numbers of draws, from 1 to ", total, "; found ",
          describe(draw_ids), ".")
  }
  as.integer(draw_ids)
}

linpred_hints <- c(
  re.form = "Here that is `re_formula`.", re_form = "Here that is `re_formula`.",
  allow.new.levels = "Here that is `allow_new_levels`.", newx = "Here that is `newdata`.",
  draws = "Here that is `draw_ids`, the numbers of the draws.",
  ndraws = "Here that is `draw_ids`, the numbers of the draws.",
  nsamples = "Here that is `draw_ids`, the numbers of the draws.",
  seed = "The draws are those of the fit; set.seed() is for the noise of missing predictors."
)
