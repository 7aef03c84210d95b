# Means and standard deviations of the linear predictor at a fixed kernel and amplitude:
# engine_gaussian() against long draws of engine_slice(), on two data sets, under both likelihoods.

source(file.path(getOption("bsvm.bench"), "gp-data.R"), local = TRUE)

run <- function() {
  if (!installed(c("mlbench", "MASS", "posterior"))) {
    return(skipped("two data sets", "The packages mlbench, MASS and posterior are needed."))
  }
  cases <- expand.grid(name = names(at_kernel), likelihood = names(likelihoods),
                       stringsAsFactors = FALSE)
  do.call(rbind, Map(sd_rows, cases$name, cases$likelihood))
}

likelihoods <- list(pseudo = likelihood_hinge(), normalised = likelihood_hinge(normalized = TRUE))

# Length scales are about the medians of the priors.
at_kernel <- list(
  crabs5 = list(length_scale = 2, variance = 8, data = function() {
    data <- gp_sets$crabs()
    data[setdiff(names(data), c("sp", "index"))]
  }),
  ionosphere = list(length_scale = 4, variance = 8, data = function() gp_sets$ionosphere())
)

sd_rows <- function(name, likelihood) {
  case <- at_kernel[[name]]
  data <- case$data()
  formula <- eval(substitute(y ~ gp(., kernel = kernel_se(l)), list(l = case$length_scale)))
  fit <- function(engine) {
    set.seed(1)
    bsvm(formula, data, likelihood = likelihoods[[likelihood]], engine = engine,
         prior = list(gp = prior_ridge(variance = case$variance)),
         control = bsvm_control(verbose = FALSE))
  }
  gaussian <- as.data.frame(predict(fit(engine_gaussian()), data, type = "link", interval = TRUE))
  long <- fit(engine_slice(draws = 10000L, burnin = 2000L))
  f <- rstantools::posterior_linpred(long, newdata = data)
  exact <- list(mean = colMeans(f), sd = apply(f, 2L, stats::sd))
  effective <- apply(f, 2L, posterior::ess_bulk)
  ratio <- gaussian$sd / exact$sd
  shift <- abs(gaussian$fit - exact$mean) / exact$sd
  asked <- if (likelihood == "pseudo") c(0.90, 1.03) else c(0.95, 1.03)
  label <- function(what) paste0(name, ", ", likelihood, ": ", what)
  rbind(figure(label("least sd / exact"), min(ratio), "ratio", at_least = asked[1L]),
        figure(label("median sd / exact"), stats::median(ratio), "ratio"),
        figure(label("largest sd / exact"), max(ratio), "ratio", at_most = asked[2L]),
        figure(label("largest shift of a mean"), max(shift), "sd", at_most = 0.1),
        figure(label("median shift of a mean"), stats::median(shift), "sd"),
        figure(label("least effective draws"), min(effective), ""))
}
