#' The computation stage of a fit
#'
#' `bsvm_run()` runs the engine on a specification. It is the third of the four stages of [bsvm()],
#' for users who want to run the stages one by one.
#'
#' @param spec The value of [bsvm_spec()].
#' @param control The value of [bsvm_control()].
#' @return A list, on the scale of the standardised columns:
#' * `posterior`, of one of the classes below.
#' * `hyper`, `group_hyper`: the estimates for the variance of each block.
#' * `termination`: `"converged"`, `"pass_limit"`, `"stalled"` or `"interrupted"`; for draws
#'   `"completed"` or `"interrupted"`.
#' * With [engine_vb()], [engine_gaussian()] and [engine_map()]: `bound`, `trace` (one row per
#'   iteration), `passes` and `gradient`. For the last two engines `bound` is an estimate of the log
#'   evidence, and there is also `unbounded`: for each block, is its variance, or parameter, not
#'   bounded from above?
#' * With [engine_ecm()]: `trace` (one row per step, with the objective as `bound` and the relative
#'   duality gap as `gradient`), `passes` and `gradient`.
#' * With [engine_em()] and [engine_ecme()]: `trace` (one row per iteration: `objective`, `gap`) and
#'   `passes`.
#' * With [engine_vb()] and a prior that selects variables: `start_bounds`, the final bound of each
#'   start.
#' * With [engine_gibbs()] and [engine_slice()]: `sampling`, with `draws` (per chain), `burnin`,
#'   `thin`, `chains`, `mixing`, `seed`, `seconds` and `resumed`.
#' * With a model of missing predictors: `imputed` (`row`, `variable`, `mean`, `sd` of every missing
#'   entry) and `law` (`mean`, `covariance` of the variables), both in original units. With draws of
#'   the entries also `unknowns`.
#'
#' Classes of `posterior`:
#' * `bsvm_moments`: `mean` and `covariance` of the population-level coefficients; `group_mean`,
#'   `group_precision` and `group_regression` of the group effects given the coefficients. With a
#'   prior that selects variables it also has `inclusion` (`columns` of the design matrix,
#'   `probability` of inclusion, `mean` and `sd` given inclusion). In this case `scatter` is the
#'   part of the variances that group effects do not follow.
#' * `bsvm_sparse_moments`, for several grouping factors or sparse predictors: `mean`, `covariance`,
#'   `effects`, `effects_sd`, `factor`.
#' * `bsvm_draws`: `coefficients`, `variances`, `effects`, `mean`, `covariance`, `effects_mean`,
#'   `effects_sd`.
#' * `bsvm_mixture`, for [engine_gaussian()], [engine_map()] and, with one component,
#'   [engine_ecm()]: `mean`, `covariance` and `components`, each of one of the first two classes or
#'   `bsvm_integrated`. The components have `weights`, `log_density`, `matched` (whether moments
#'   were matched) and `theta`, log standard deviations; `free` names these. `integrated` is the
#'   number of the factor whose effects are integrated out, 0 for none.
#' * `bsvm_point`, for [engine_em()] and [engine_ecme()]: `mean`, `effects`, `multipliers` of the
#'   rows, `objective`, `dual`, `gap`, `certified`, `optima` and `path`. `certified` is `TRUE` if
#'   the gap bounds the distance to the optimum. `optima` contains the result of each start.
#' @section Errors:
#' `bsvm_error_numerical` if the computation breaks down; `bsvm_error_checkpoint` for an invalid
#' checkpoint.
#' @section Warnings:
#' `bsvm_warning_convergence`, `bsvm_warning_interrupted`, `bsvm_warning_rank` and
#' `bsvm_warning_checkpoint` (a checkpoint could not be written); see [bsvm_conditions].
#' @seealso [new_bsvm()], the last stage.
#' @examples
#' # has the engine converged, and after how many iterations?
#' spec <- bsvm_spec(bsvm_frame(disease ~ sex + age, data = cath))
#' result <- bsvm_run(spec)
#' result$termination
#' result$passes
#' @export
bsvm_run <- function(spec, control = bsvm_control()) {
  need_arguments("spec", what = "bsvm_run()")
  if (!inherits(spec, "bsvm_spec")) {
    abort("argument", "`spec` must be made by bsvm_spec(); found ", describe(spec), ".")
  }
  check_spec(spec)
  check_control(control)
  free_memory(length(spec$problem$x) + sum(lengths(lapply(spec$problem$features, `[[`, "x"))))
  run <- if (!is.null(spec$problem$factors)) run_factors
         else if (is_sampler(spec$engine)) run_sampler
         else if (is_approximation(spec$engine)) run_approximation
         else if (is_estimator(spec$engine)) run_estimator
         else run_optimiser
  result <- run(spec, control)
  warn_rank(result, spec)
  warn_pseudo_missing(spec)
  result
}

run_optimiser <- function(spec, control) {
  options <- c(run_options(spec, control), start_options(spec))
  result <- with_rows(spec, function(problem, rows) {
    with_core_conditions(core_fit(problem, spec$model, options, rows))
  })
  warn_termination(result, control)
  for (bound in c("bound", "start_bounds")) {
    result[[bound]] <- bound_in_units(result[[bound]], spec)
  }
  c(list(posterior = posterior_in_units(moments_posterior(result, spec$design), spec)),
    with_points(spec, split_hyper(spec, c(result$hyper, result$group_hyper))),
    result[intersect(c("bound", "trace", "passes", "gradient", "termination", "start_bounds",
                       "imputed", "law"), names(result))])
}

with_points <- function(spec, hyper) {
  in_units <- function(hyper, block) hyper_in_units(hyper, block, spec$design$unit)
  hyper$group_hyper <- Map(in_units, hyper$group_hyper, spec$group_blocks)
  hyper$hyper <- Map(point_numbers, spec$blocks, Map(in_units, hyper$hyper, spec$blocks))
  hyper
}

# Where a prior selects there are several optima; one start needs no random numbers.
start_options <- function(spec) {
  starts <- spec$engine$settings$starts
  if (is.null(starts) || !selects_any(spec$blocks)) return(list(starts = 1L))
  if (starts < 2L) return(list(starts = starts))
  list(starts = starts, seed = floor(stats::runif(1L) * 2^31))
}

run_options <- function(spec, control) {
  c(control[c("tol", "max_passes", "threads")],
    list(verbose = progress_pace(control$verbose),
         start = internal_start(control$start, spec$design)))
}

run_approximation <- function(spec, control) {
  result <- with_rows(spec, function(problem, rows) {
    with_core_conditions(core_approximate(problem, spec$model, run_options(spec, control), rows))
  })
  check_computed(result)
  warn_termination(result, control, word_for_objective(result, spec),
                   if (trait(spec$engine, "duality_gap")) "relative duality gap"
                   else "gradient's size")
  bounds <- !is_mode(spec$engine) && !is.null(trait(spec$engine, "bound"))
  result["bound"] <- list(if (bounds) bound_in_units(result$bound, spec)) # or none
  posterior <- posterior_in_units(mixture_posterior(result, spec), spec)
  blocks <- all_blocks(spec)
  hyper <- Map(function(block, j) mixture_hyper(posterior, block, j), blocks, seq_along(blocks))
  population <- seq_along(blocks) <= length(spec$blocks)
  c(list(posterior = posterior, hyper = hyper[population], group_hyper = hyper[!population]),
    result[intersect(c("bound", "trace", "passes", "gradient", "termination", "imputed", "law"),
                     names(result))],
    list(unbounded = unbounded_blocks(result, posterior, spec)))
}

# Which blocks' variances may as well be infinite: the core could not follow them up to where they
# end, or all rows are far on their side, where only the size of the coefficients is left to infer.
far_margin <- 30

unbounded_blocks <- function(result, posterior, spec) {
  free <- free_by_block(result$free, spec)
  open <- vapply(free, function(rows) any(result$unbounded[rows]), TRUE)
  dense <- seq_along(spec$model$blocks)
  if (least_margin(posterior, spec, dense) > far_margin) {
    open <- open | (lengths(free) > 0L & !vapply(all_blocks(spec), is_parameter, TRUE))
  }
  open
}

# A variance without bounds takes the coefficients beyond numbers.
check_computed <- function(result) {
  finite <- vapply(result$components, function(part) {
    is.finite(part$weight) && all(is.finite(part$mean)) && all(is.finite(part$covariance))
  }, TRUE)
  if (length(finite) > 0L && all(finite)) return(invisible())
  abort("numerical", "The posterior could not be computed: a mean or variance is beyond what ",
        "numbers hold. Check the scale of predictors, offset, weights and priors.")
}

moments_posterior <- function(result, design) {
  sparse <- !is.null(result$factor)
  fields <- if (sparse) c("effects", "effects_sd", "factor")
            else if (!is.null(result$group_file)) "group_file"
            else c("group_mean", "group_precision", "group_regression")
  if (!is.null(result$inclusion)) {
    fields <- c(fields, "scatter", "inclusion")
    result$inclusion$columns <- core_layout(design)$kept[result$inclusion$columns]
  }
  if (is.list(result$covariance)) class(result$covariance) <- "bsvm_low_rank"
  structure(result[c("mean", "covariance", fields)],
            class = if (sparse) "bsvm_sparse_moments" else "bsvm_moments")
}

run_sampler <- function(spec, control) {
  check_no_start(control)
  check_keep_effects(spec)
  check_draws_memory(spec)
  options <- sampler_options(spec$engine, control)
  options$keep_unknowns <- isTRUE(spec$missing$settings$keep_draws)
  if (options$most > 0L) options$most <- min(options$most, most_kept(spec))
  started <- proc.time()[["elapsed"]]
  result <- tryCatch(with_rows(spec, function(problem, rows) {
    with_core_conditions(core_sample(problem, spec$model, options, rows))
  }), bsvm_error_cluster = function(e) stop(naming_checkpoint(e, options$checkpoint)))
  result$seconds <- proc.time()[["elapsed"]] - started
  warn_checkpoint(result$checkpoint_failed, options$checkpoint)
  result$variances <- unlist(unname(split_hyper(spec, result$variances)), recursive = FALSE)
  posterior <- posterior_in_units(draws_posterior(result), spec)
  population <- seq_along(posterior$variances) <= length(spec$blocks)
  variances <- list(hyper = posterior$variances[population],
                    group_hyper = posterior$variances[!population])
  out <- list(posterior = posterior,
              hyper = Map(draws_hyper, spec$blocks, variances$hyper),
              group_hyper = Map(draws_hyper, spec$group_blocks, variances$group_hyper),
              termination = result$termination, sampling = sampling_facts(result, options))
  out <- c(out, result[intersect(c("imputed", "law", "unknowns"), names(result))])
  warn_chains(out, spec)
  out
}

# The error of a run whose workers were lost.
naming_checkpoint <- function(error, file) {
  if (nzchar(file) && file.exists(file)) {
    error$message <- paste0(conditionMessage(error), " The draws so far are in '", file, "'; ",
                            "`resume = TRUE` goes on from them.")
  }
  error
}

check_no_start <- function(control) {
  if (!is.null(control$start)) {
    abort("argument", "`start` in bsvm_control() is for engine_vb(), engine_gaussian(), ",
          "engine_map(), engine_em() and engine_ecme(); chains can't be given one.")
  }
}

# Coefficients of sparse predictors are among the core's effects: without their draws there is no
# interval of any of them.
check_keep_effects <- function(spec) {
  if (!spec$engine$settings$keep_effects && length(spec$design$sparse) > 0L) {
    abort("argument", "`keep_effects = FALSE` is for group effects: the ",
          "coefficients of sparse predictors are kept as those are, and their intervals need the ",
          "draws. Leave it out, thin the draws, or give the predictors as a dense matrix.")
  }
}

# The core writes on after a failure, and says at the end why the last one was; draws are not lost.
warn_checkpoint <- function(reason, file) {
  if (is.null(reason) || !nzchar(reason)) return(invisible())
  warn("checkpoint", "The checkpoint '", file, "' could not be written (", sub("[.]$", "", reason),
       "). The fit has all its draws; the file may be absent or older.")
}

# The seed is a whole number, so that the core knows it to the bit.
sampler_options <- function(engine, control) {
  check_file(engine$settings)
  c(engine$settings, control["threads"],
    list(verbose = progress_pace(control$verbose),
         mixing = isTRUE(engine$parameters["mixing"] > 0), seed = floor(stats::runif(1L) * 2^31)))
}

check_file <- function(settings) {
  file <- settings$checkpoint
  if (!nzchar(file)) return(invisible())
  if (dir.exists(file)) {
    abort("argument", "`checkpoint` must be the name of a file; '", file, "' is a folder. Give a ",
          "file in it, as file.path(\"", file, "\", \"fit.checkpoint\").")
  }
  if (!dir.exists(dirname(file))) {
    abort("argument", "`checkpoint` is in a folder that does not exist: ", dirname(file), ".")
  }
  if (file.exists(file) && !settings$resume) {
    abort("checkpoint", "The file '", file, "' exists already. `resume = TRUE` goes on from it; ",
          "else remove it, or give `checkpoint` another name.")
  }
}

draws_posterior <- function(result) {
  kept <- c("coefficients", "variances", "effects", "mean", "effects_mean", "effects_sd")
  posterior <- stats::setNames(lapply(kept, function(name) result[[name]]), kept)
  posterior$covariance <- kept_covariance(result$coefficients)
  if (draw_count(posterior) < 2L) posterior$effects_sd[] <- NA_real_
  structure(posterior, class = "bsvm_draws")
}

sampling_facts <- function(result, options) {
  seed <- if (is.null(result$seed)) options$seed else result$seed
  c(list(draws = dim(result$coefficients)[2L]), options[c("burnin", "thin", "chains", "mixing")],
    list(seed = seed), result[c("seconds", "resumed")], list(adaptive = options$most > 0L))
}

with_core_conditions <- function(call) {
  tryCatch(
    call,
    bsvm_core_invalid = resignal_invalid,
    bsvm_core_numerical = resignal_numerical,
    bsvm_core_memory = resignal_memory,
    bsvm_core_interrupted = resignal_interrupted
  )
}

# Memory is promised freely and missed late: draws are counted before the first sweep. They
# stand in the core and then in R.
check_draws_memory <- function(spec, responses = 1L) {
  settings <- spec$engine$settings
  numbers <- responses * numbers_drawn(spec)
  check_memory(2 * 8 * settings$draws * settings$chains * numbers,
               paste0(settings$draws, " draws of ", settings$chains, " chains, ", numbers,
                      " numbers each, take"),
               paste0("Keep fewer: `thin`, `keep_effects = FALSE`",
                      if (models_missing(spec$missing)) ", missing_normal(keep_draws = FALSE)",
                      "."))
}

numbers_drawn <- function(spec) {
  numbers <- length(spec$problem$center) + length(spec$model$group_blocks)
  if (spec$engine$settings$keep_effects) {
    numbers <- numbers + group_coefficient_count(spec$problem)
  }
  if (isTRUE(spec$missing$settings$keep_draws)) numbers <- numbers + sum(spec$law$missing)
  numbers
}

# Draws of each chain that fit into a quarter of a gigabyte, or the option if that is less: where
# the number of draws is ours to choose it must not take more.
most_kept <- function(spec) {
  limit <- min(2^28, max_memory() / 2)
  fit <- floor(limit / (8 * spec$engine$settings$chains * numbers_drawn(spec)))
  max(spec$engine$settings$draws, fit)
}

group_coefficient_count <- function(problem) {
  if (!is.null(problem$sparse)) return(sum(problem$sparse$levels * problem$sparse$effects))
  problem$n_groups * max(1L, NCOL(problem$z))
}

# What is left of a large model frame goes before the core asks for memory: R alone would wait.
free_memory <- function(cells) {
  if (cells > 2e6) gc(verbose = FALSE)
}

# The core's names of its arguments, and what they are to the user: class, words.
core_words <- list(
  x = c("predictors", "the predictors"), y = c("response", "the response"),
  weight = c("weights", "`weights`"), offset = c("offset", "the offset"),
  group = c("group", "the grouping factor"), z = c("group", "the group's effects"),
  prior = c("prior", "`prior`"), parameters = c("prior", "`prior`"),
  likelihood = c("unsupported", "`likelihood`"), engine = c("unsupported", "`engine`"),
  missing = c("missing", "`missing`"), sparse = c("group", "the grouping factors"),
  cluster = c("unsupported", "`cluster`"), shards = c("disk", "the rows on disk")
)

resignal_invalid <- function(e) {
  if (identical(e$argument, "checkpoint")) abort("checkpoint", conditionMessage(e))
  words <- core_words[[c(e$argument, "none")[1L]]]
  if (is.null(words)) words <- c("argument", "the model")
  abort(words[1L], "There is a problem with ", words[2L], ": ", conditionMessage(e))
}

resignal_numerical <- function(e) {
  abort("numerical", "The computation broke down: ", conditionMessage(e), " Predictors on very ",
        "different scales are a common cause: standardise them, or rescale those with flat priors.")
}

resignal_memory <- function(e) {
  abort("size", conditionMessage(e), " Fit fewer rows or columns; of draws, keep fewer (`thin`, ",
        "`keep_effects = FALSE`).")
}

# Before the first pass or draw there is no fit to keep: an interrupt as if nothing had caught it.
resignal_interrupted <- function(e) {
  stop(structure(class = c("bsvm_error_interrupted", "bsvm_error", "interrupt", "condition"),
                 list(message = conditionMessage(e), call = NULL)))
}

# A user-scale start on the core's scale; NULL stays NULL.
internal_start <- function(start, design) {
  if (is.null(start)) return(NULL)
  p <- length(design$columns)
  if (length(start) != p) {
    abort("argument", "`start` must have one coefficient for each of the ", p, " columns; found ",
          length(start), ".")
  }
  start <- as.vector(start)
  internal <- start * design$scale
  if (design$intercept > 0L) {
    internal[design$intercept] <- start[design$intercept] + sum(start * design$center) -
      design$shift
  }
  internal <- internal / design$unit
  turned <- lapply(design$rotation, function(r) drop(crossprod(r$basis, internal[r$columns])))
  c(internal[core_layout(design)$kept], unlist(turned))
}
