# A map: a Gaussian process of two coordinates and random intercepts of regions, 10 000 rows, whose
# surface changes over half of the side or over a tenth, beside mgcv::bam() (and gpboost, where it is
# installed).

source(file.path(getOption("bsvm.bench"), "gp-simulated.R"), local = TRUE)

run <- function(n = 1e4) {
  if (!installed("mgcv")) return(skipped("a map", "The package mgcv is needed."))
  rbind(map_rows("long range", n, 0.5), map_rows("short range", n, 0.1),
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

map_rows <- function(label, n, length_scale) {
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
