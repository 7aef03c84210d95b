#' Leave-one-out cross-validation
#'
#' `loo()` estimates how well a fit predicts a row, or a whole group, that is held out. It uses
#' Pareto smoothed importance sampling of the draws of the fit (package loo). `waic()` is an older
#' approximation to the same quantity.
#'
#' @details
#' **Group effects are integrated out.** Given the draw of its own group effect, a row of a small
#' group is hardly held out, and importance sampling fails. With one grouping factor, for a draw of
#' the coefficients \eqn{b}{b} and the covariance \eqn{\Sigma}{Sigma} of the effects, let
#' \deqn{G_g = \int \prod_{i \in g} p(y_i \mid f_i)^{w_i} N(u; 0, \Sigma)\,du.}{
#'   G_g = integral prod p(y_i | f_i)^w_i N(u; 0, Sigma) du.}
#' Its logarithm is accurate to about 1e-6 with one effect per level and 1e-4 with two.
#'
#' * `by = "row"`: how well a row is predicted **if its level is known from other rows**. Its term
#'   is \eqn{\log p(y_i \mid y_{g,-i}, b, \Sigma)}{log p(y_i | y_(g,-i), b, Sigma)}, the log of
#'   \eqn{G_g}{G_g} divided by its value without the row.
#' * `by = "group"`: how well the rows of **a new level** are predicted jointly. There is one term
#'   per level, \eqn{\log G_g}{log G_g}.
#'
#' These are different questions, and their sums can't be compared. Both assume that the levels, or
#' the rows, are exchangeable.
#'
#' With several grouping factors, the factor with most levels (among those with one or two effects
#' per level) is integrated out. The effects of the other factors are conditioned on, like
#' coefficients. If no factor has one or two effects per level, `by = "row"` is **conditional on the
#' drawn effects**, so that Pareto k is high for small groups. In this case `by = "group"` is an
#' error. Without groups the term of a row is \eqn{\log p(y_i | f_i)}{log p(y_i | f_i)}.
#'
#' The weight of a row multiplies its log-likelihood, so a row of weight 2 is two rows that are held
#' out together. Rows of weight 0 have no term.
#'
#' **A fit with [engine_gaussian()]** has scores in closed form (`method = "closed"`), which need
#' time proportional to the number of rows. The computation uses the mean \eqn{m} and variance
#' \eqn{v} of the linear predictor of a row. It also uses the slope \eqn{g} and negative curvature
#' \eqn{w} of the expected log-likelihood of the row. Without the row, the mean and variance are
#' \eqn{m_c = m - v_c g}{m_c = m - v_c g} and \eqn{v_c = v / (1 - v w)}{v_c = v/(1 - v w)}, and the
#' components of the mixture are reweighted. This is exact for a normal likelihood with known
#' variances. If the row contributes more than 1 % of the precision of its linear predictor,
#' \eqn{m_c} and \eqn{v_c} are found by matching moments, as in the engine: with them the posterior
#' has the moments \eqn{m} and \eqn{v}.
#'
#' Compared with refits without each row, closed scores were within 0.05 per row, and 0.1 in the
#' sum, on `mtcars` for numeric responses. They were within 0.1 and 0.2 for a Gaussian process of 24
#' rows with a short length scale.
#'
#' Draws are used instead (`method = "draws"`) if the share \eqn{1 - v/v_c}{1 - v/v_c} of a row is
#' above 0.8, for two classes with group effects, and for `by = "group"`. Only closed scores are
#' available if the inducing points of a Gaussian-process term ([gp]) leave more than 1 % of the
#' variance of a function unexplained. In draws that variance is noise that does not depend on the
#' response.
#'
#' **For other fits without draws**, `loo()` first draws with [engine_slice()] under the same
#' likelihood and priors, until the effective sample size is 400. A message (class
#' `bsvm_message_draws`) reports it. For larger models, with more than a million rows times
#' coefficients, this is an error that shows the call of `update()` to run instead. `update(fit,
#' engine = engine_slice())` keeps the draws for other methods.
#'
#' **Many draws.** If group effects are integrated out, at most 4000 draws of the fit are used (1000
#' with two effects per level), equally spaced.
#'
#' The data of the fit are needed. They are kept in the fit (`keep_data = TRUE`), or its call is
#' evaluated again.
#'
#' @param x A fit from [bsvm()] under `likelihood_hinge(normalized = TRUE)` or a likelihood for a
#'   numeric response.
#' @param by The unit that is held out: `"row"` (default) or `"group"`.
#' @param cores Number of threads for the integrals and of processes for the package loo. At most
#'   the number of processors and the number of terms are used.
#' @param method `"auto"` (default), `"closed"` or `"draws"`; see Details.
#' @param save_psis Keep the importance weights, as for [loo::E_loo()]?
#' @param ... Must be empty.
#' @return An object as returned by [loo::loo()] and [loo::waic()]. In closed form it has no
#'   diagnostics, but the `share` of each row. It has one term per row of positive weight, in the
#'   order of the data, or one term per level, in the order of `ranef()`. In the latter case the
#'   rows of `pointwise` are named by the levels. Compare fits to the same response with
#'   [loo::loo_compare()].
#' @section Errors:
#' `bsvm_error_unsupported` under the pseudo-likelihood, which is not a distribution of the
#' response. The same class is used for a fit without draws that is too large to be drawn from, and
#' for `by = "group"` if no effects can be integrated out. `bsvm_error_data` if the data can't be
#' found again; `bsvm_error_argument` for other arguments.
#' @references
#' Merkle, E. C., Furr, D. and Rabe-Hesketh, S. (2019). Bayesian comparison of latent variable
#' models: conditional versus marginal likelihoods. *Psychometrika*, 84, 802-829.
#'
#' Vehtari, A., Gelman, A. and Gabry, J. (2017). Practical Bayesian model evaluation using
#' leave-one-out cross-validation and WAIC. *Statistics and Computing*, 27, 1413-1432.
#' @seealso [log_lik.bsvm()] for the terms given the drawn effects, [holdout()].
#' @examples
#' # does the treatment improve the prediction of an infection at the last visit?
#' fit <- bsvm(outcome ~ treatment, data = toenail, subset = visit == 7)
#' loo(fit)
#' loo_compare(list(treatment = loo(fit), none = loo(update(fit, . ~ 1))))
#' @name loo.bsvm
#' @export
loo.bsvm <- function(x, by = c("row", "group"), cores = 1, save_psis = FALSE,
                     method = c("auto", "closed", "draws"), ...) {
  check_fit(x, "x")
  check_dots(substitute(list(...)), "loo()", loo_hints)
  need_rows(x, "loo()")
  by <- check_loo(x, by, cores, "loo()")
  check_flag(save_psis, "save_psis")
  method <- pick_one(method, c("auto", "closed", "draws"), "method")
  closed <- if (method != "draws") closed_or_refused(x, by, method, parent.frame())
  if (!is.null(closed)) return(closed)
  check_explained(x, "loo(method = \"draws\")", " method = \"closed\" does, after engine_gaussian().")
  cores <- useful_cores(cores, x, by)
  x <- with_own_draws(x, "loo()", parent.frame())
  terms <- loo_terms(x, by, cores, parent.frame())
  out <- loo::loo(chain_array(terms, x), r_eff = relative_sizes(terms, x, cores), cores = cores,
                  save_psis = save_psis)
  named_terms(out, terms, x, by)
}

#' @rdname loo.bsvm
#' @export
waic.bsvm <- function(x, by = c("row", "group"), cores = 1, ...) {
  check_fit(x, "x")
  check_dots(substitute(list(...)), "waic()", loo_hints)
  need_rows(x, "waic()")
  by <- check_loo(x, by, cores, "waic()")
  check_explained(x, "waic()", " loo(method = \"closed\") does, after engine_gaussian().")
  cores <- useful_cores(cores, x, by)
  x <- with_own_draws(x, "waic()", parent.frame())
  terms <- loo_terms(x, by, cores, parent.frame())
  named_terms(loo::waic(terms), terms, x, by)
}

closed_or_refused <- function(object, by, method, env) {
  if (has_closed_loo(object, by)) {
    anyway <- method == "closed" || !is_explained(object)
    return(closed_loo(object, rows_again(object, env), anyway))
  }
  if (method == "auto") return(NULL)
  abort("unsupported", "loo(method = \"closed\") requires a fit with engine_gaussian() and `by = ",
        "\"row\"`, and for classes a model without group effects. Use `method = \"auto\"`.")
}

loo_hints <- c(
  newdata = "It is that of the fit's own rows; log_lik() takes new ones.",
  r_eff = "It is made of the fit's chains.", threads = "Use `cores` instead.",
  moment_match = "It is not there; `by = \"group\"` or more draws may bring Pareto k down.",
  reloo = "It is not there; update() with `subset` fits without some rows.",
  group = "Use `by = \"group\"` to hold out whole groups.",
  integrate = "Group effects are always integrated out where that is possible."
)

# `by`, once all that is asked for is possible.
check_loo <- function(object, by, cores, what) {
  if (!is_law(object$likelihood)) refuse_measure(object, what)
  refuse_modelled(object, what)
  refuse_inferred(object, what)
  by <- pick_one(by, c("row", "group"), "by")
  check_count(cores, "cores")
  if (isTRUE(object$sampling$draws < 2L)) {
    abort("argument", what, " needs at least two draws in each chain, better hundreds; the fit ",
          "has ", object$sampling$draws, ". Use update(fit, engine = engine_slice(draws = 1000)).")
  }
  if (by == "group") need_integrable(object, paste0(what, " with `by = \"group\"`"))
  by
}

# More processes than processors, or than there are terms, only take memory: each is a fork.
useful_cores <- function(cores, object, by, processors = parallel::detectCores()) {
  terms <- if (by == "group") length(object$groups[[integrable_factor(object$groups)]]$levels)
           else object$nobs
  as.integer(min(cores, terms, processors, na.rm = TRUE))
}

# The fit itself if it has draws, else one by engine_slice().
with_own_draws <- function(object, what, env, most = 1e6) {
  if (inherits(object$posterior, "bsvm_draws")) return(thinned(object))
  if (!has_exact_draws(object)) {
    abort("unsupported", what, " needs draws, which this fit by ", call_of_engine(object),
          " does not have. ", with_draws(object), " To compare models, you can also use ",
          "holdout(list(first = fit, second = other), data = d), with `d` the data.")
  }
  cells <- object$nobs * (length(object$design$columns) + 1)
  if (cells > most) {
    abort("unsupported", what, " needs draws, which this fit by ", call_of_engine(object),
          " does not have; with ", object$nobs, " rows and ", length(object$design$columns),
          " coefficients they would take long. Use loo(update(fit, engine = engine_slice())).")
  }
  inform("draws", what, " draws from the posterior with engine_slice(), until 400 draws are ",
         "effective; update(fit, engine = engine_slice()) makes a fit that keeps its draws.")
  thinned(refit_by(object, engine_slice(), env))
}

# Draws of which effects are integrated out, one or two per level: enough for an estimate whose own
# error is that of the rows. Two take milliseconds for each draw.
most_integrals <- c(4000, 1000)

# The fit with no more draws than these, at equal distances.
thinned <- function(object) {
  at <- if (is.null(object$groups)) 0L else integrable_factor(object$groups)
  if (at == 0L) return(object)
  size <- dim(object$posterior$coefficients)
  each <- ceiling(most_integrals[length(object$groups[[at]]$labels)] / size[3L])
  if (size[2L] <= each) return(object)
  kept <- round(seq(1, size[2L], length.out = each))
  some <- function(draws) if (length(dim(draws)) == 3L) draws[, kept, , drop = FALSE] else draws
  for (name in c("coefficients", "effects")) {
    object$posterior[[name]] <- some(object$posterior[[name]])
  }
  object$posterior$variances <- lapply(object$posterior$variances, some)
  object
}

# The model of a fit by another engine, with the values its arguments had.
refit_by <- function(object, engine, env) {
  control <- replace(object$control, c("verbose", "start"), list(FALSE, NULL))
  values <- c(list(object, engine = engine, control = control),
              object[c("likelihood", "standardize")], own_arguments(object))
  do.call(update.bsvm, values, envir = env)
}

need_integrable <- function(object, what) {
  if (is.null(object$groups)) {
    abort("unsupported", what, " holds out the levels of a grouping factor, and the fit has ",
          "none. Use `by = \"row\"`.")
  }
  at <- integrable_factor(object$groups)
  if (at > 0L && integrates(object$likelihood, length(object$groups[[at]]$labels))) {
    return(invisible())
  }
  if (at > 0L) {
    abort("unsupported", what, " can't integrate the effects of `", names(object$groups)[at],
          "` out under this likelihood. Use `by = \"row\"`, which is conditional on the drawn ",
          "effects.")
  }
  abort("unsupported", what, " integrates group effects out, one or two a level; ",
        enumerate(names(object$groups)), if (length(object$groups) > 1L) " have" else " has",
        " more. Use `by = \"row\"`, which is conditional on the drawn effects.")
}

# S x (rows or levels): what each adds to the log-likelihood, given the other rows of its level or
# by itself.
loo_terms <- function(object, by, threads, env) {
  rows <- rows_again(object, env)
  at <- if (is.null(object$groups)) 0L else integrable_factor(object$groups)
  if (at == 0L || !integrates(object$likelihood, length(object$groups[[at]]$labels))) {
    return(row_terms(object, rows))
  }
  integrated_terms(object, rows, names(object$groups)[at], by == "row", as.integer(threads))
}

row_terms <- function(object, rows) {
  if (has_factors(object)) {
    likelihood <- likelihood_at(object, seq_len(draw_count(object$posterior)))
    return(factor_log_lik(object, rows, NULL, rows, likelihood))
  }
  f <- t(drawn_links(object, rows))
  each <- function(x) rep(x, each = nrow(f))
  f[] <- log_density(likelihood_at(object, seq_len(nrow(f)), rows$scale_columns), each(rows$y), f)
  if (is.null(rows$weight)) f else each(rows$weight) * f
}

# Links of the rows at all draws, n x S, offset included.
drawn_links <- function(object, rows) {
  links <- matrix(0, length(rows$y), draw_count(object$posterior))
  in_row_chunks(object$posterior, rows, function(at, part) {
    links[at, ] <<- linear_draws(object, part)
  })
  if (is.null(rows$offset)) links else links + rows$offset
}

# The effects of factor `name` integrated out, a few draws at a time: each is a column of the
# problem that the core is given.
integrated_terms <- function(object, rows, name, by_row, threads) {
  others <- rows
  others$groups <- rows$groups[setdiff(names(rows$groups), name)]
  links <- drawn_links(object, others)
  free <- free_of_roots(covariance_roots(object, name))
  numbers <- free_numbers(object)
  size <- if (by_row) nrow(links) else length(object$groups[[name]]$levels)
  terms <- matrix(0, ncol(links), size)
  tell <- progress_teller(ncol(links), object$control$verbose, "draws")
  on.exit(tell(NULL))
  in_chunks(ncol(links), 16, function(at) {
    parts <- factor_problem(object, rows, name, links[, at, drop = FALSE])
    points <- rbind(diag(length(at)), free[, at, drop = FALSE], numbers[, at, drop = FALSE])
    terms[at, ] <<- t(with_core_conditions(
      core_integrated_terms(parts$problem, parts$model, points, by_row, threads)
    ))
    tell(max(at))
  })
  terms
}

# free_of_root() of all draws of a root (q x q x S): a column a draw. A draw that is zero to
# rounding has a logarithm all the same.
free_of_roots <- function(roots) {
  rows <- lapply(seq_len(dim(roots)[1L]), function(i) vapply(seq_len(i), function(j) {
    if (i == j) log(pmax(roots[i, i, ], 1e-100)) else roots[i, j, ]
  }, numeric(dim(roots)[3L])))
  matrix(unlist(rows), ncol = dim(roots)[3L], byrow = TRUE)
}

# draws x chains x terms, as loo has it.
chain_array <- function(terms, object) {
  array(terms, c(dim(object$posterior$coefficients)[-1L], ncol(terms)))
}

# Relative to the largest, lest the likelihood of a large group is zero.
relative_sizes <- function(terms, object, cores) {
  relative <- exp(terms - rep(apply(terms, 2L, max), each = nrow(terms)))
  loo::relative_eff(chain_array(relative, object), cores = cores)
}

# `yhash` is what loo::loo_compare() knows the response by.
named_terms <- function(out, terms, object, by) {
  if (by == "group") {
    name <- names(object$groups)[integrable_factor(object$groups)]
    rownames(out$pointwise) <- object$groups[[name]]$levels
  }
  attr(out, "yhash") <- response_hash(object, by)
  out
}

response_hash <- function(object, by) {
  used <- rep_len(used_rows(object), length(object$y))
  paste(by, hash_text(paste(object$y[used], collapse = "")))
}
