# A map: a Gaussian process of two coordinates and random intercepts of regions, 10 000 rows, whose
# surface changes over half of the side or over a tenth, beside mgcv::bam(); and without the intercepts
# beside gpboost, where it is installed, which has its approximations for the process alone.

source(file.path(getOption("bsvm.bench"), "gp-simulated.R"), local = TRUE)

run <- function(n = 1e4) {
  if (!installed("mgcv")) return(skipped("a map", "The package mgcv is needed."))
  if (installed("gpboost")) map_models <- c(map_models, without_regions)
  rbind(map_rows("long range", n, 0.5, map_models), map_rows("short range", n, 0.1, map_models),
        if (!installed("gpboost")) skipped("gpboost", "The package gpboost is not installed."))
}

quiet <- bsvm_control(verbose = FALSE)

map_models <- list(
  bsvm = function(data) {
    fit <- bsvm(y ~ gp(lon, lat) + (1 | region), data, control = quiet)
    function(new) predict(fit, new, type = "prob")[, "yes"]
  },
  "bsvm, 500 points" = function(data) {
    fit <- bsvm(y ~ gp(lon, lat, points = 500) + (1 | region), data, control = quiet)
    function(new) predict(fit, new, type = "prob")[, "yes"]
  },
  bam = function(data) {
    s <- mgcv::s
    fit <- mgcv::bam(y ~ s(lon, lat, bs = "gp") + s(region, bs = "re"), stats::binomial(), data,
                     discrete = TRUE)
    function(new) as.vector(stats::predict(fit, new, type = "response"))
  },
  "bam, k = 200" = function(data) {
    s <- mgcv::s
    fit <- mgcv::bam(y ~ s(lon, lat, bs = "gp", k = 200) + s(region, bs = "re"), stats::binomial(),
                     data, discrete = TRUE)
    function(new) as.vector(stats::predict(fit, new, type = "response"))
  }
)

places <- function(data) as.matrix(data[c("lon", "lat")])

gpboost_map <- function(approximation) {
  function(data) {
    fit <- gpboost::fitGPModel(gp_coords = places(data), cov_function = "gaussian",
                               gp_approx = approximation, num_ind_points = 200L,
                               likelihood = "bernoulli_logit", y = as.numeric(data$y == "yes"),
                               X = matrix(1, nrow(data), 1L))
    function(new) {
      stats::predict(fit, gp_coords_pred = places(new), X_pred = matrix(1, nrow(new), 1L),
                     predict_response = TRUE)$mu
    }
  }
}

without_regions <- list(
  "bsvm without regions" = function(data) {
    fit <- bsvm(y ~ gp(lon, lat), data, control = quiet)
    function(new) predict(fit, new, type = "prob")[, "yes"]
  },
  "gpboost (FITC) without regions" = gpboost_map("fitc"),
  "gpboost (Vecchia) without regions" = gpboost_map("vecchia")
)

map_rows <- function(label, n, length_scale, map_models) {
  set.seed(1)
  all <- simulated_map(2L * n, length_scale)
  train <- all[seq_len(n), ]
  test <- all[-seq_len(n), ]
  yes <- test$y == "yes"
  score <- function(p) mean(log(ifelse(yes, p, 1 - p)))
  rows <- lapply(names(map_models), function(model) {
    predicted <- NULL
    taken <- seconds(function() {
      predicted <<- suppressWarnings(suppressMessages(map_models[[model]](train)))
    })
    p <- predicted(test)
    name <- function(what) paste0(label, ", ", model, ": ", what)
    rbind(figure(name("fit"), taken, "s"), figure(name("log score"), score(p), ""),
          figure(name("error"), 100 * mean((p > 0.5) != yes), "%"))
  })
  rbind(do.call(rbind, rows),
        figure(paste0(label, ", the truth: log score"), score(stats::plogis(test$f)), ""))
}
