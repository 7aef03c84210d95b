# The default priors of what is not penalised: of the intercept, and in models with random effects
# or smooth terms of the slopes. Normal, independent, so wide that they matter only if the classes
# can be separated. Then a flat prior of the intercept would have the posterior of the slopes'
# standard deviation s fall like s^-3 only, one power less than its half-t prior, since the evidence
# grows with the room that the intercept has: the slopes would have no variance. Ten units of the
# pseudo-likelihood's linear predictor for each standard deviation of a predictor are 2.5 under the
# normalised likelihood, and change its log odds by up to 10. The intercept, at the means of the
# predictors, has four times that: it holds the log odds of rare classes too, and makes up for the
# offset, whose mean widens it.
weak_slope_sd <- 10
weak_intercept_sd <- 40

# Its columns are scaled to standard deviation one, whatever `standardize` says: that is the unit of
# this prior.
prior_weak_slope <- function() new_weak(weak_slope_sd, "weak slope", TRUE)

prior_weak_intercept <- function(frame) {
  mean <- if (is_streamed(frame)) frame$cluster$offset_mean
          else if (!is.null(frame$offset)) sums_of_column(frame$offset)$mean
  away <- if (is.null(mean)) 0 else min(abs(mean), 1e100)  # its square is a number
  new_weak(weak_intercept_sd + away / normalised_scale, "weak", FALSE)
}

new_weak <- function(sd, law, penalised) {
  numbers <- c(variance = sd^2)
  prior <- new_prior("normal", numbers, law_label(law, numbers), penalised)
  prior$weak <- TRUE
  prior$open_scale <- law
  prior
}

is_weak <- function(prior) isTRUE(prior$weak)

# Is this the default of an inferred variance, a half-t without a scale of the user's own?
is_open <- function(prior) identical(prior$open_scale, "half-t")
