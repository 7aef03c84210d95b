# Missing predictors of a fit: fit$missing, NULL if none are modelled, is list(rule, law, imputed,
# draws). `law` is design_law()'s with mean (k x d) and covariance (d x d) of the variables, which
# are (column - center) / scale. `imputed` is list(row, variable, mean, sd) on the columns' own
# scale; rows are those of the fit, including those of weight zero. `draws` is entries x draws x
# chains, or NULL.

fit_missing <- function(frame, spec, result) {
  if (is.null(spec$law)) return(NULL)
  law <- fit_law(spec$missing, spec$law, result$law)
  found <- result$imputed
  on_scale <- function(x, shift = 0) x * law$scale[found$variable] + shift
  center <- law$center[found$variable]
  rows <- setdiff(seq_len(frame$nobs + length(frame$absent$at)), frame$absent$at)
  list(rule = spec$missing, law = law,
       imputed = list(row = rows[found$row], variable = found$variable,
                      mean = on_scale(found$mean, center), sd = on_scale(found$sd)),
       draws = if (!is.null(result$unknowns)) on_scale(result$unknowns, center))
}

#' @export
fit_law.bsvm_missing_normal <- function(rule, law, found) {
  law <- c(law, found[c("mean", "covariance")])
  law$probit <- named_probit(found$probit, law, law$mechanism)
  law
}

# Of a fit or a spec: rule_table(); NULL where nothing is unknown.
missing_table <- function(object) {
  law <- if (inherits(object, "bsvm_spec")) object$law else object$missing$law
  if (is.null(law)) return(NULL)
  rule_table(if (inherits(object, "bsvm_spec")) object$missing else object$missing$rule, law)
}

#' @export
rule_table.bsvm_missing_normal <- function(rule, law) {
  absent <- law$missing > 0
  table <- data.frame(column = law$variables, missing = unname(law$missing),
                      share = unname(law$missing) / law$rows, predictor = law$column > 0L)
  structure(table[absent, ], rule = rule$name)
}

modelled_text <- function(table) {
  words <- attr(table, "words")
  if (!is.null(words)) return(paste0("; ", words))
  if (NROW(table) == 0L) return(NULL)
  paste0("; ", sum(table$missing), " missing value", if (sum(table$missing) > 1L) "s", " of ",
         nrow(table), " variable", if (nrow(table) > 1L) "s", " modelled")
}

say_missing <- function(table, digits) {
  if (NROW(table) == 0L) return(invisible())
  cat("\nMissing values, modelled:\n")
  say_wrapped(paste0(table$column, ifelse(table$predictor, "", " (auxiliary)"), ": ",
                     table$missing, " (", format_share(table$share), ")"), 2L)
}

format_share <- function(share) paste(trimws(format(100 * share, digits = 2L)), "%")

# Under the pseudo-likelihood every row rewards a large |f|, which an unknown predictor can give.
missing_note <- function(x) {
  if (is_law(x$likelihood)) return(NULL)
  columns <- x$missing$column[x$missing$predictor]
  if (length(columns) == 0L) return(NULL)
  paste0("Under the pseudo-likelihood rows in which a predictor is unknown pull its coefficient ",
         "away from zero, so effects of ", enumerate(columns), " are not to be trusted. ",
         for_effects(attr(x$missing, "rule")))
}

# Only missing_normal() has other likelihoods to offer.
for_effects <- function(rule) {
  other <- if (rule == "selection") "compare with `missing = missing_normal()`, "
  paste0("To estimate effects, ", other, if (is.null(other)) "use ", "`likelihood = ",
         "likelihood_hinge(normalized = TRUE)`", if (is.null(other)) " and " else ", ",
         "`engine = engine_gaussian()`",
         if (!is.null(other)) ": missing_selection() has no other likelihood", ".")
}

much_missing <- 0.2

warn_pseudo_missing <- function(spec) {
  if (is_law(spec$likelihood)) return(invisible())
  table <- missing_table(spec)
  table <- table[table$predictor & table$share > much_missing, ]
  if (NROW(table) == 0L) return(invisible())
  columns <- paste0(table$column, " (", format_share(table$share), ")")
  warn("pseudo_missing", "Many values are missing: ", enumerate(columns, ""), ". Under the ",
       "pseudo-likelihood a predictor without any effect then gets a large coefficient. ",
       for_effects(spec$missing$name))
}

# The design with imputed means where values are missing: of the fit's own rows, or of those `used`.
fill_imputed <- function(x, missing, implicit = FALSE, used = NULL) {
  if (is.null(missing)) return(x)
  column <- missing$law$column[missing$imputed$variable]
  dense <- column > 0L
  row <- missing$imputed$row[dense]
  if (!is.null(used)) row <- match(row, used)
  x[cbind(row, column[dense] - implicit)] <- missing$imputed$mean[dense]
  x
}

# For the fit's own rows: list(row, column, mean, sd, entry), entries of the design.
imputed_entries <- function(object) {
  if (is.null(object$missing)) return(NULL)
  found <- object$missing$imputed
  column <- object$missing$law$column[found$variable]
  entry <- which(column > 0L)
  list(row = found$row[entry], column = column[entry], mean = found$mean[entry],
       sd = found$sd[entry], entry = entry)
}

# Rows completed by what the imputation model says of their missing entries given those that are
# there, pattern by pattern. Nothing is said of a row that lacks what is not modelled. Rows of the
# fit are complete already.
#' @export
complete_rows.bsvm_missing_normal <- function(rule, fit, rows, auxiliary = NULL,
                                              known = integer(0)) {
  law <- fit$missing$law
  if (!anyNA(rows$x)) return(rows)
  dense <- law$column > 0L
  x <- matrix(NA_real_, nrow(rows$x), length(law$column))
  x[, dense] <- as.matrix(rows$x[, law$column[dense], drop = FALSE])
  if (!is.null(auxiliary)) x[, !dense] <- auxiliary[, law$variables[!dense]]
  x <- sweep(sweep(x, 2L, law$center), 2L, law$scale, "/")
  given <- given_columns(law, rows$x, auxiliary)
  mean <- given %*% law$mean
  absent <- is.na(x)
  able <- which(rowSums(absent[, dense, drop = FALSE]) > 0 & !is.na(mean[, 1L]))
  words <- lapply(seq_len(ncol(absent)), function(j) as.integer(absent[able, j]))
  patterns <- split(able, do.call(paste0, words))
  precision <- inverse_covariance(law$covariance)
  rows$unknown <- lapply(unname(patterns), function(at) {
    lost <- which(absent[at[1L], ])
    covariance <- inverse_covariance(precision[lost, lost, drop = FALSE])
    away <- x[at, -lost, drop = FALSE] - mean[at, -lost, drop = FALSE]
    expected <- mean[at, lost, drop = FALSE] -
      away %*% (precision[-lost, lost, drop = FALSE] %*% covariance)
    used <- which(law$column[lost] > 0L)
    columns <- law$column[lost[used]]
    scale <- law$scale[lost[used]]
    rows$x[cbind(rep(at, length(used)), rep(columns, each = length(at)))] <<-
      as.vector(expected[, used]) * rep(scale, each = length(at)) +
      rep(law$center[lost[used]], each = length(at))
    list(at = at, columns = columns,
         covariance = covariance[used, used, drop = FALSE] * outer(scale, scale))
  })
  rows
}

inverse_covariance <- function(x) {
  tryCatch(chol2inv(chol(x)), error = function(e) {
    abort("numerical", "The covariance of the imputation model is not positive definite to ",
          "working accuracy, so missing predictors of new rows can't be integrated out. Fit ",
          "without variables that repeat others.")
  })
}

# The variables are regressed on these; an auxiliary dummy that is not there leaves a row unknown.
given_columns <- function(law, x, auxiliary) {
  columns <- lapply(seq_along(law$given), function(k) {
    at <- law$given_column[k]
    if (at == 0L) return(rep(1, nrow(x)))
    if (at > 0L) return(x[, at])
    if (is.null(auxiliary)) rep(NA_real_, nrow(x)) else auxiliary[, law$given[k]]
  })
  do.call(cbind, columns)
}

has_unknown <- function(rows) length(rows$unknown) > 0L || length(rows$imputed$row) > 0L

# The unknown entries of some of the rows.
unknown_at <- function(rows, at) {
  place <- match(unlist(lapply(rows$unknown, `[[`, "at")), at)
  pattern <- rep(seq_along(rows$unknown), vapply(rows$unknown, function(part) length(part$at), 0L))
  places <- split(place[!is.na(place)], pattern[!is.na(place)])
  unknown <- Map(function(part, own) {
    part$at <- own
    part
  }, rows$unknown[as.integer(names(places))], unname(places))
  imputed <- rows$imputed
  if (!is.null(imputed)) {
    kept <- imputed$row %in% at
    imputed <- lapply(imputed, `[`, kept)
    imputed$row <- match(imputed$row, at)
  }
  c(if (length(unknown) > 0L) list(unknown = unknown),
    if (length(imputed$row) > 0L) list(imputed = imputed))
}

# Variance of the rows' linear predictors from entries that are not known: E b_M' C b_M. Entries of
# the fit's own rows count as independent.
unknown_variance <- function(fit, rows) {
  out <- numeric(nrow(rows$x))
  moments <- posterior_coefficients(fit)
  covariance <- moments$covariance()
  if (anyNA(covariance)) covariance[] <- 0
  second <- tcrossprod(moments$mean) + covariance
  for (part in rows$unknown) {
    out[part$at] <- sum(part$covariance * second[part$columns, part$columns])
  }
  own <- rows$imputed
  if (is.null(own)) return(out)
  shares <- own$sd^2 * diag(second)[own$column]
  out + tabulate_sums(shares, own$row, length(out))
}

tabulate_sums <- function(values, at, n) {
  out <- numeric(n)
  sums <- rowsum(values, at)
  out[as.integer(rownames(sums))] <- sums
  out
}

# k x S: what these entries add to draws of the linear predictors at their means. New rows draw
# them; the fit's own have their draws, and where these were not kept noise about the means.
unknown_draws <- function(fit, rows) {
  columns <- unlist(c(lapply(rows$unknown, `[[`, "columns"), list(rows$imputed$column)))
  columns <- sort(unique(columns))
  b <- coefficient_draws(fit, columns)
  out <- matrix(0, nrow(rows$x), ncol(b))
  for (part in rows$unknown) {
    own <- b[match(part$columns, columns), , drop = FALSE]
    sd <- sqrt(colSums(own * (part$covariance %*% own)))
    noise <- matrix(stats::rnorm(length(part$at) * ncol(b)), length(part$at))
    out[part$at, ] <- noise * rep(sd, each = length(part$at))
  }
  own <- rows$imputed
  if (is.null(own)) return(out)
  away <- if (is.null(fit$missing$draws)) stats::rnorm(length(own$row) * ncol(b)) * own$sd
          else draw_matrix(fit$missing$draws[own$entry, , , drop = FALSE]) - own$mean
  sums <- rowsum(b[match(own$column, columns), , drop = FALSE] * away, own$row)
  at <- as.integer(rownames(sums))
  out[at, ] <- out[at, ] + sums
  out
}

# Auxiliary variables of new rows, made as in the fit; NULL where they are not to be had. What is
# not there, is infinite or has a level the fit has not seen is unknown.
new_auxiliary <- function(fit, newdata) {
  recipe <- fit$missing$law$recipe
  if (is.null(recipe) || !is.data.frame(newdata)) return(NULL)
  if (!all(variables_in(attr(recipe$terms, "variables")) %in% names(newdata))) return(NULL)
  x <- auxiliary_of(recipe, newdata, "missing")
  x[is.infinite(x)] <- NA
  x
}

auxiliary_of <- function(recipe, rows, unknown) {
  columns <- match_factors(new_columns(recipe$terms, rows, unknown), recipe$xlevels, unknown)
  check_classes(recipe$terms, columns)
  without_intercept(build_design(recipe$terms, columns, recipe$contrasts)$x, recipe$terms)
}

# Methods that would need the likelihood with what is unknown integrated out.
refuse_modelled <- function(object, what) {
  if (is.null(object$missing)) return(invisible())
  rule <- object$missing$rule
  if (!models_missing(rule)) {
    abort("unsupported", what, " does not support a fit with ", rule_name(rule), " (yet).")
  }
  abort("unsupported", what, " does not support a fit with a model of missing predictors (yet). ",
        "`missing = missing_omit()` fits the complete rows.")
}
