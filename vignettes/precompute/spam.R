# Results of the vignette `spam`: variable selection by Laplace-zero and spike-and-slab priors,
# ECME, and a lasso's path. Some ten minutes on two cores.

source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))),
                 "stored.R"))
library(bsvm)

data(spam, package = "kernlab")
two <- bsvm_control(threads = 2L)
chains <- function(draws, burnin) {
  engine_gibbs(draws = draws, burnin = burnin, thin = 10L, chains = 2L)
}

fit <- function(prior, engine) {
  message(format(Sys.time(), "%H:%M "), prior$label)
  set.seed(1L)
  timed(bsvm(type ~ ., spam, likelihood = "hinge", prior = prior, engine = engine, control = two))
}

summary_of <- function(found) {
  list(inclusion = inclusion(found$value), seconds = found$seconds,
       diagnostics = glance(found$value)[c("max_rhat", "min_ess")])
}

vb <- fit(prior_laplace_zero(rho = 0.01), engine_vb())
gibbs <- fit(prior_laplace_zero(rho = 0.01), chains(10000L, 5000L))
sparse <- fit(prior_spike_slab(pi = 0.01, nu = 100), chains(10000L, 5000L))
free <- fit(prior_spike_slab(pi = 0.5, nu = 100), chains(10000L, 5000L))
ecme <- fit(prior_lasso(), engine_ecme())
path <- fit(prior_lasso(nu = 10^seq(-2.5, 0.5, length.out = 31L)), engine_em())

# A chain's path, every twentieth draw.
followed <- c("george", "cs", "free", "hp")
draws <- posterior::as_draws_array(free$value)
kept <- seq(1L, dim(draws)[1L], by = 20L)
paths <- do.call(rbind, lapply(followed, function(term) {
  data.frame(term = term, draw = kept, value = as.vector(draws[kept, 1L, term]))
}))

store("spam", list(
  vb = summary_of(vb), gibbs = summary_of(gibbs), sparse = summary_of(sparse),
  free = summary_of(free), paths = paths,
  ecme = list(coefficients = fixef(ecme$value), seconds = ecme$seconds,
              nu = summary(ecme$value)$scales$nu),
  path = list(coefficients = regularization_path(path$value), seconds = path$seconds)
))
