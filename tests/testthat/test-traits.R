# What engines say of themselves: every engine of the package, against the core's registry, the rules
# that refuse models, and the table in DEVELOPING.md.

engines <- lapply(stats::setNames(nm = bsvm:::known_engines()), bsvm:::as_component, "engine")
registry <- bsvm:::core_registry()

test_that("every engine of the core has a constructor, and is of one kind", {
  expect_setequal(names(engines), bsvm:::registered_engines())
  expect_setequal(names(engines), table_engines)
  kinds <- registry[c("engines", "samplers", "approximators", "estimators")]
  for (name in names(engines)) {
    expect_identical(engines[[name]]$name, name)
    expect_identical(sum(vapply(kinds, function(own) name %in% own, TRUE)), 1L)
  }
})

for (name in names(engines)) {
  engine <- engines[[name]]

  test_that(sprintf("engine_%s() has every trait and generic", name), {
    expect_identical(class(engine), c(paste0("bsvm_engine_", name), "bsvm_engine"))
    for (generic in generics_of("bsvm_engine")) {
      expect(has_method(generic, engine), paste(generic, "has no method"))
    }
    traits <- bsvm:::traits_of(engine)
    expect_named(traits, names(formals(bsvm:::new_traits)))
    flags <- names(Filter(is.logical, as.list(formals(bsvm:::new_traits))))
    for (flag in flags) expect_true(traits[[flag]] %in% c(TRUE, FALSE))
    expect_true(all(traits$latent %in% c("augmented", "expected", "drawn", "marginal")))
    expect_true(traits$nu %in% c("any", "given", "inferred"))
    expect_true(traits$learned %in% c("grouped", "alone", "none"))
    if (bsvm:::is_estimator(engine)) expect_true(traits$mode)
    if (bsvm:::is_sampler(engine)) expect_false(traits$mode)
    expect_type(bsvm:::word_for_engine(engine), "character")
  })

  test_that(sprintf("models that engine_%s() can't take are refused by its traits", name), {
    refuses <- function(code) {
      tryCatch({
        code
        FALSE
      }, bsvm_error_unsupported = function(e) {
        grepl(paste0("engine_", name, "()"), conditionMessage(e), fixed = TRUE)
      })
    }
    traits <- bsvm:::traits_of(engine)
    expect_identical(refuses(bsvm:::check_sparse(engine, TRUE)), !traits$sparse)
    d <- grouped_data(60, 6)
    d$x1[3] <- NA
    assigned <- list(blocks = list(), group_blocks = list())
    for (rule in c("normal", "selection")) {
      missing <- get(paste0("missing_", rule))()
      alone <- bsvm_frame(y ~ x1, d, missing = missing)
      grouped <- bsvm_frame(y ~ x1 + (1 | g), d, missing = missing)
      check <- function(frame) {
        refuses(bsvm:::check_unknowns(engine, frame, likelihood_hinge(), assigned))
      }
      expect_identical(check(alone), !rule %in% rules_taken(engine))
      expect_identical(check(grouped), !rule %in% rules_taken(engine) || !traits$latent_groups)
    }
    groups <- bsvm_frame(y ~ x2 + (1 | g), d)$groups
    term <- bsvm:::integrated_term(groups, likelihood_hinge(), engine, FALSE, 2)
    expect_identical(term >= 0L, traits$integrates && !isFALSE(engine$settings$integrate))
    expect_identical(refuses(bsvm:::check_mode(engine, -1L, groups, FALSE)), traits$needs_integrated)
  })
}

test_that("an engine without traits of its own has the defaults", {
  other <- bsvm:::new_engine("other", numeric(0), "another")
  expect_identical(bsvm:::traits_of(other), bsvm:::new_traits())
  expect_identical(bsvm:::word_for_engine(other), "OTHER engine")
  expect_null(bsvm:::engine_note(other, list()))
})

test_that("the table in DEVELOPING.md is what engines say", {
  file <- test_path("..", "..", "DEVELOPING.md")
  skip_if_not(file.exists(file), "the source tree is not at hand")
  lines <- readLines(file)
  table <- trait_table()
  start <- match(table[1L], lines)
  written <- if (!is.na(start)) lines[start + seq_along(table) - 1L]
  expect(identical(written, table),
         paste(c("DEVELOPING.md must have this table:", table), collapse = "\n"))
})
