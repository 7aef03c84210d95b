# The default priors of what is not penalised in models with random effects or smooth terms: normal,
# independent, so wide that they matter only if the classes can be separated. Ten units of the
# pseudo-likelihood's linear predictor for each standard deviation of a predictor are 2.5 under the
# normalised likelihood, and change its log odds by up to 10. The intercept, at the means of the
# predictors, has four times that: it holds the log odds of rare classes too.
weak_slope_sd <- 10
weak_intercept_sd <- 40

# Its columns are scaled to standard deviation one, whatever `standardize` says: that is the unit of
# this prior.
prior_weak_slope <- function() new_weak(weak_slope_sd, "weak slope", TRUE)

prior_weak_intercept <- function() new_weak(weak_intercept_sd, "weak", FALSE)

new_weak <- function(sd, law, penalised) {
  numbers <- c(variance = sd^2)
  prior <- new_prior("normal", numbers, law_label(law, numbers), penalised)
  prior$weak <- TRUE
  prior$open_scale <- law
  prior
}

is_weak <- function(prior) isTRUE(prior$weak)
