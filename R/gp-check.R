# Problems of a kernel as it was learned (kernels.md, section 7): messages and warnings, and
# the facts behind them, which the summary of a fit shows again. A part of a basis gets
#   judged  list(distance, nearest, shortest, amplitude, gain): the median distance between rows in length
#           scales; the mean prior correlation of a row and the row nearest to it; are all inferred
#           length scales as short as they can be; the standard deviation that learning found for
#           the function, in units of the response, NA if it was given
#         chosen  is the kernel one of several that are given?
#         gain  by how much the log evidence is lower without the function, NA if nothing was learned
# and a basis the field `average`, the means of its columns over the rows; if these columns move
# (R/gp-infer.R) `reference` too, some of the rows, over which the mean is taken anew.

most_judged <- 200L       # rows whose nearest row is looked for
linear_distance <- 0.1    # below this median distance a function is nearly linear
least_correlation <- 0.5  # with the nearest row
most_left_over <- 0.1     # share of variance
no_effect <- 0.1          # standard deviation of the linear predictor
no_gain <- 2              # of the log evidence

judge_kernels <- function(bases, model, found) {
  gains <- evidence_gains(model, found)
  lapply(bases, function(basis) {
    own <- which(vapply(model$parts, `[[`, "", "label") == basis$label)
    x <- judged_rows(basis)
    basis$parts <- Map(function(part, learned, gain) {
      c(part, list(judged = list(distance = scaled_distance(part, x),
                                 nearest = nearest_correlation(part, x),
                                 shortest = is_shortest(learned), chosen = is_choice(basis),
                                 amplitude = learned_amplitude(learned), gain = gain)))
    }, basis$parts, model$parts[own], gains[own])
    basis["average"] <- list(average_columns(basis))
    if (!is_learned(basis)) return(basis)
    basis$reference <- x[utils::head(scrambled(nrow(x)), most_judged), , drop = FALSE]
    basis
  })
}

# The means of its columns over the rows that the function is for, NULL if it is multiplied by
# numbers. What is constant in the function is the intercept's, too, so pictures show the rest.
average_columns <- function(basis) {
  if (is.null(basis$multiplier)) return(basis$sums / nrow(basis$rows))
  if (!is.null(basis$level)) basis$sums / max(1, sum(basis$multiplier))
}

# At most five thousand of the rows that the function is for.
judged_rows <- function(basis) {
  x <- basis$rows
  if (!is.null(basis$multiplier)) x <- x[basis$multiplier != 0, , drop = FALSE]
  if (nrow(x) <= most_candidates) return(x)
  x[some_of_many(nrow(x), most_candidates), , drop = FALSE]
}

is_shortest <- function(part) {
  lengths <- Filter(function(number) number$length, part$numbers[-1L])
  length(lengths) > 0L && all(vapply(lengths, function(number) {
    number$start <= number$low + 1e-3
  }, TRUE))
}

learned_amplitude <- function(part) {
  number <- part$numbers[[1L]]
  if (is.null(number$prior)) NA_real_ else exp(number$start)
}

# By how much the bound is higher with each part than without it, NA where nothing was learned: priors
# keep amplitudes off zero, and under noise they are anywhere from there to three.
evidence_gains <- function(model, found) {
  out <- rep(NA_real_, length(model$parts))
  asked <- which(!is.na(vapply(model$parts, learned_amplitude, 0)))
  if (is.null(found) || length(asked) == 0L) return(out)
  first <- vapply(model$parts[asked], `[[`, 0L, "first")
  without <- tryCatch(
    with_core_conditions(core_learn_without(model$core, found$theta, first, log(least_sd),
                                            found$matched)),
    bsvm_error_numerical = function(e) NA_real_
  )
  out[asked] <- found$bound - without
  out
}

# The median distance between rows in length scales, of kernels that are a straight line where it is
# small; else NA.
scaled_distance <- function(part, x) {
  if (length(part$factors) != 1L || !is_smooth_kernel(part$factors[[1L]])) return(NA_real_)
  scales <- exp(part$numbers$theta[part$numbers$names == "lengthscale"])
  x <- x[utils::head(scrambled(nrow(x)), most_judged), , drop = FALSE]
  least <- min(scales) # squares of distances in very long length scales underflow
  input_distances(x / rep(rep_len(scales / least, ncol(x)), each = nrow(x)))$median / least
}

is_smooth_kernel <- function(factor) {
  switch(factor$name, se = , rational = TRUE, matern = factor$parameters[["nu"]] > 1, FALSE)
}

nearest_correlation <- function(part, x) {
  if (nrow(x) < 2L) return(1)
  some <- utils::head(scrambled(nrow(x)), most_judged)
  theta <- part$numbers$theta
  k <- core_kernel(part$factors, x[some, , drop = FALSE], x, theta)
  sd <- sqrt(core_kernel_diagonal(part$factors, x, theta))
  k <- k / outer(sd[some], sd)
  k[cbind(seq_along(some), some)] <- -Inf
  mean(apply(k, 1L, max))
}

# ---- what is said -------------------------------------------------------------------------------

# Functions that the response does not ask for leave a kernel's other numbers to their priors.
has_no_effect <- function(part) {
  isTRUE(part$judged$amplitude < no_effect) || isTRUE(part$judged$gain < no_gain)
}

is_nearly_linear <- function(part) {
  !part$judged$chosen && !has_no_effect(part) && isTRUE(part$judged$distance < linear_distance)
}

is_by_row <- function(part) {
  !part$judged$chosen && "lengthscale" %in% part$numbers$names && !has_no_effect(part) && (part$judged$shortest || part$judged$nearest < least_correlation)
}

left_over <- function(part) if (is.null(part$left_over)) 0 else mean(part$left_over)

# The labels of bases some part of which is `so`.
labels_with <- function(bases, so) {
  basis_labels(Filter(function(basis) any(vapply(basis$parts, so, TRUE)), bases))
}

tell_kernels <- function(bases) {
  tell_not_converged(bases)
  tell_linear(bases)
  tell_by_row(bases)
  tell_left_over(bases)
}

tell_not_converged <- function(bases) {
  learned <- bases[[1L]]$learned
  if (is.null(learned) || learned$converged) return(invisible())
  warn("convergence", "Learning the kernels of ", enumerate(basis_labels(bases)), " did not ",
       "converge in ", learned$evaluations, " evaluations: length scales and evidence are those ",
       "reached so far. Give length scales a narrower prior, as in kernel_se(lengthscale = ",
       "prior_lognormal(sd = 0.5)), or fix them.")
}

tell_linear <- function(bases) {
  labels <- labels_with(bases, is_nearly_linear)
  if (length(labels) == 0L) return(invisible())
  one <- length(labels) == 1L
  inform("nearly_linear", enumerate(labels), if (one) " is" else " are", " nearly linear: the ",
         "length scale is more than ", 1 / linear_distance, " times the median distance between ",
         "rows. ", linear_advice(Find(function(basis) basis$label == labels[1L], bases)))
}

most_named <- 6L # variables

linear_advice <- function(basis) {
  covariates <- basis$covariates
  if (length(covariates) > most_named) {
    return(paste0("Use its ", length(covariates), " variables as linear terms",
                  if (!is.null(basis$by)) paste0(", each multiplied by ", basis$by, ","),
                  " instead of, or together with, ", written_label(basis), "."))
  }
  x <- paste(covariates, collapse = " + ")
  if (!is.null(basis$by)) x <- paste0(if (length(covariates) > 1L) paste0("(", x, ")") else x,
                                      ":", basis$by)
  paste0("Use ", x, " instead of, or together with, ", written_label(basis), ".")
}

tell_by_row <- function(bases) {
  labels <- labels_with(bases, is_by_row)
  if (length(labels) == 0L) return(invisible())
  basis <- Find(function(basis) basis$label == labels[1L], bases)
  one <- length(labels) == 1L
  warn("lengthscale", "The length scale of ", enumerate(labels), " is so short that each row has ",
       "almost a function value of its own (mean prior correlation with the nearest row ",
       format(nearest_of(basis), digits = 2L), "). Predictions for new rows are then close to ",
       "those without the term", if (!one) "s", ". Leave ", if (one) "it" else "them", " out, or ",
       "give the length scale a narrower prior, as in kernel_se(lengthscale = ",
       "prior_lognormal(median = ", format(basis$median, digits = 2L), ", sd = 0.5)).")
}

nearest_of <- function(basis) min(vapply(basis$parts, function(part) part$judged$nearest, 0))

tell_left_over <- function(bases) {
  labels <- labels_with(bases, function(part) left_over(part) > most_left_over)
  if (length(labels) == 0L) return(invisible())
  basis <- Find(function(basis) basis$label == labels[1L], bases)
  shares <- vapply(basis$parts, left_over, 0)
  m <- nrow(basis$parts[[which.max(shares)]]$points)
  warn("points", "The ", m, " inducing points of ", enumerate(labels), " do not explain ",
       format(100 * max(shares), digits = 2L), " % of the variance of the function (mean over ",
       "rows), so that details of it are lost. Use more: points = ", more_inducing(m), ".")
}

more_inducing <- function(m) 100L * ceiling(2.5 * m / 100)
