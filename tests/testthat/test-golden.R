# Stored values, made by fixtures/make-golden.R from the plain-R twin alone.

goldens <- readRDS(test_path("fixtures", "golden.rds"))

run_golden <- function(call) {
  call$engine <- "vb"
  call$likelihood <- "hinge"
  call$control <- quote(tight())
  eval(call)
}

inferred_means <- function(fit) {
  blocks <- Filter(function(block) block$prior$name %in% c("ridge", "half_t"),
                   c(fit$blocks, fit$group_blocks))
  vapply(blocks, function(block) block$hyper[["inverse_mean"]], 0)
}

for (name in names(goldens)) {
  test_that(sprintf("golden %s: %s", name, deparse1(goldens[[name]]$call)), {
    golden <- goldens[[name]]
    if (any(grepl("[~+] s\\(", deparse1(golden$call)))) skip_if_not_installed("mgcv")
    fit <- run_golden(golden$call)
    tolerance <- tolerances[["golden"]]
    expect_named(fixef(fit), names(golden$coefficients))
    expect_close(fixef(fit), golden$coefficients, tolerance, scale = golden$sd)
    expect_close(sqrt(diag(vcov(fit))), golden$sd, tolerance, scale = golden$sd)
    expect_close(elbo(fit), golden$bound, 1e-10, scale = abs(golden$bound))
    expect_close(inferred_means(fit), golden$inverse_means, tolerance,
                 scale = golden$inverse_means)
  })
}
