# What every likelihood must do: loops over those the core has. A new one is picked up here, and
# fails until it has an example.

likelihood_examples <- list(hinge = likelihood_hinge(),
                            hinge_normalized = likelihood_hinge(normalized = TRUE),
                            skewed_hinge = likelihood_hinge(gamma = 0.7, gamma0 = 0.3),
                            eps_insensitive = likelihood_eps_insensitive(epsilon = 0.5, scale = 0.7),
                            asymmetric_laplace = likelihood_quantile(0.8, scale = 0.7),
                            normal = likelihood_gaussian(scale = 0.7))
engines <- lapply(bsvm:::known_components("engine", getNamespaceExports("bsvm")),
                  bsvm:::as_component, "engine")
f <- c(-3, -1, -0.4, 0, 0.7, 1, 2.5)

test_that("each likelihood of the core has a constructor in R", {
  expect_setequal(names(likelihood_examples), bsvm:::core_registry()$likelihoods)
  for (name in names(likelihood_examples)) {
    expect_identical(likelihood_examples[[name]]$name, name)
    expect_output(print(likelihood_examples[[name]]), "Likelihood: ", fixed = TRUE)
  }
})

for (name in names(likelihood_examples)) {
  likelihood <- likelihood_examples[[name]]

  test_that(sprintf("%s has every generic", name), {
    all <- generics_of("bsvm_likelihood")
    # methods of residuals' densities: R/likelihood-residual.R, R/two-hinges.R
    residual <- c(grep("^residual_", all, value = TRUE), "own_values")
    all <- setdiff(all, "residual_hinges") # of two hinges
    for (generic in if (bsvm:::is_residual(likelihood)) all else setdiff(all, residual)) {
      expect(has_method(generic, likelihood), paste(generic, "has no method"))
    }
    expect_true(bsvm:::response_kind(likelihood) %in%
                  sub(".*_", "", class(bsvm:::new_response(bsvm:::response_kind(likelihood)))[1L]))
  })

  test_that(sprintf("%s: density, expectation and average agree", name), {
    if (bsvm:::response_kind(likelihood) != "classes") return(succeed())
    both <- rbind(bsvm:::log_density(likelihood, -1, f), bsvm:::log_density(likelihood, 1, f))
    total <- colSums(exp(both))
    if (bsvm:::is_law(likelihood)) expect_close(total, rep(1, length(f)), 1e-14)
    else expect_gt(max(abs(total - 1)), 0.1)
    p <- bsvm:::expected_response(likelihood, f)
    expect_close(p, exp(both[2L, ]) / total, 1e-14)
    sd <- c(0, 0.1, 1, 2, 0.5, 0.01, 3)
    nodes <- stats::qnorm((seq_len(20001) - 0.5) / 20001)
    average <- vapply(seq_along(f), function(i) {
      mean(bsvm:::expected_response(likelihood, f[i] + sd[i] * nodes))
    }, 0)
    expect_close(bsvm:::averaged_response(likelihood, f, sd), average, 1e-4)
    matrix_of <- rbind(f, 2 * f)
    expect_identical(dim(bsvm:::log_density(likelihood, c(-1, 1), matrix_of)), dim(matrix_of))
  })

  test_that(sprintf("%s: draws have the expected mean", name), {
    if (bsvm:::response_kind(likelihood) != "classes") return(succeed())
    draws <- with_seed(1, bsvm:::draw_response(likelihood, matrix(f, 20000, length(f), TRUE)))
    expect_identical(dim(draws), c(20000L, length(f)))
    p <- bsvm:::expected_response(likelihood, f)
    expect_lt(max(abs(colMeans(draws) - p) / sqrt(p * (1 - p) / 20000)), 4)
  })

  test_that(sprintf("%s: support vectors are where the log density has a slope", name), {
    y <- rep(c(-1, 1), length.out = length(f))
    h <- 1e-6
    density <- function(at) bsvm:::log_density(likelihood_examples$hinge, y, at)
    if (name == "hinge") {
      expect_identical(bsvm:::is_support(likelihood, y, f),
                       pmax(abs(density(f + h) - density(f)), abs(density(f) - density(f - h))) > 0 &
                         y * f != 1)
    }
    if (bsvm:::is_residual(likelihood)) {
      y <- y + 0.01 # on no kink
      at <- function(f) bsvm:::log_density(likelihood, y, f)
      slope <- (at(f + h) - at(f - h)) / (2 * h)
      expect_close(bsvm:::residual_score(likelihood, y - f), slope, 1e-5)
      expect_identical(bsvm:::is_support(likelihood, y, f), abs(slope) > 1e-5)
    } else if (name == "skewed_hinge") {
      expect_true(all(bsvm:::is_support(likelihood, y, f)))
    } else {
      expect_identical(bsvm:::is_support(likelihood, y, f),
                       bsvm:::row_residuals(likelihood, y, f) > 0)
    }
  })

  test_that(sprintf("%s: facts of the core, scales and notes are as they are used", name), {
    expect_true(bsvm:::is_concave(likelihood) %in% c(TRUE, FALSE))
    middle <- bsvm:::log_density(likelihood, 1, f)
    slopes <- diff(middle) / diff(f)
    if (bsvm:::is_concave(likelihood)) expect_true(all(diff(slopes) <= 1e-12))
    for (engine in engines) {
      takes <- bsvm:::takes_likelihood(engine, likelihood)
      if (takes) expect_no_error(bsvm:::check_combination(likelihood, engine))
      else expect_refusal(bsvm:::check_combination(likelihood, engine), "unsupported", engine$name)
    }
    expect_gt(bsvm:::coefficient_scale(likelihood), 0)
    expect_length(bsvm:::integral_costs(likelihood), 3L)
    expect_length(bsvm:::libsvm_cost(likelihood, c(1, 2)), 2L)
    expect_true(bsvm:::is_law(bsvm:::law_of(likelihood)))
    words <- bsvm:::open_words(likelihood)
    expect_named(words, names(bsvm:::open_words(structure(list(), class = "bsvm_likelihood"))))
    expect_true(all(vapply(words, is.character, TRUE)))
    fit <- list(likelihood = likelihood, blocks = list(), group_blocks = list())
    for (about in c("intervals", "variances", "caption", "no_measure", "no_draws")) {
      note <- bsvm:::note_of(likelihood, about, fit)
      device <- name == "asymmetric_laplace" && about == "intervals"
      expect_identical(is.null(note), bsvm:::is_law(likelihood) && !device)
      if (!is.null(note)) expect_type(note, "character")
    }
  })
}
