# Fits whose rows come from a source (R/source.R): `data` of bsvm() is a function, names of files, a
# query or a bsvm_source().
#
#   spill_source()    reads the source once, in order, and knows all levels (R/spill.R)
#   rows_of_levels()  a few rows that have all levels of what the formula makes of them, or
#                     rows_spread(), from which smooth terms are made and kernels are learned
#                     (R/take-part.R)
#   streamed_frame()  the frame that bsvm_frame() makes of these rows: columns, contrasts, levels,
#                     response. It refuses what cannot be streamed
#   write_shards()    designs of all rows, in files that the core reads in each pass (R/shards.R)
#   with_sample()     in place of the prototype's rows the frame has a thousand rows, evenly spread,
#                     for what asks for a few; `streamed` has what is known of all of them
#
# From there on it is a fit like others, whose `cluster` are the shards. It keeps the sample's rows of
# the source, for averages and pictures, in `fit$streamed`.
fit_source <- function(source, written, call, from, arguments) {
  refuse_streamed(written, arguments)
  for (name in c("rows_folder", "effects_folder")) check_writable(arguments$control[[name]], name)
  arguments <- with_source_rule(arguments, written)
  cluster <- check_source_cluster(arguments$cluster)
  if (is.null(cluster)) cluster <- source$cluster
  team <- if (!is.null(cluster)) open_team(cluster, arguments$control)
  if (!is.null(team)) on.exit(close_team(team))
  written <- passed_on(written, call, names_alone(source), from)
  parts <- parse_formula(arguments$formula, names_alone(source))
  refuse_streamed_terms(parts, arguments$likelihood)
  given <- as.list(written)[c("weights", "offset")]
  rows <- rows_once(source, arguments, parts, given, function() {
    prepare_rows(source, parts, given, arguments)
  })
  shards <- rows$shards
  on.exit(drop_shards(shards), add = TRUE)
  shards$team <- team
  shards["effects_folder"] <- list(arguments$control$effects_folder)
  frame <- with_sample(rows$frame, shards)
  spec <- bsvm_spec(frame, arguments$prior, arguments$likelihood, arguments$engine,
                    arguments$standardize)
  tell_plan(shards, spec$engine, arguments$control$verbose)
  free_memory(shards$n) # vectors of all levels, and pieces
  fit <- new_bsvm(frame, spec, bsvm_run(spec, arguments$control), call, arguments$control, NULL,
                  arguments$given)
  if (!is.null(team)) tell_lost(team)
  tell_group_files(fit, shards$effects_folder)
  without_rows(fit, shards, arguments$keep_data)
}

prepare_rows <- function(source, parts, given, arguments) {
  classes <- kind_for(arguments$likelihood) == "classes"
  rule <- arguments$missing
  parts$auxiliary <- rule_terms(rule)
  parts$lone <- lone_grouping(parts, given)
  spill <- spill_variables(source, parts, given, if (classes) all.vars(parts$formula[[2L]]),
                           arguments$control)
  on.exit(drop_spill(spill))
  check_spill(spill, parts, arguments$na.action, models_missing(rule))
  if (models_missing(rule)) check_spill_modelled(spill, parts, given, rule)
  refuse_data_dependent(spill$prototype, parts, given)
  choose <- row_chooser(parts, given, arguments$na.action, rule)
  every <- is.null(given$weights) && is.null(as_na_action(arguments$na.action))
  chosen <- if (length(parts$bases) > 0L) rows_spread(spill, parts, choose, classes)
            else rows_of_levels(spill, parts, choose, every, classes)
  if (is.null(given$weights)) tell_omitted(rule, seq_len(spill$rows - chosen$n), spill$rows)
  frame <- streamed_frame(chosen, parts, arguments, spill)
  free_memory(spill$rows)
  shards <- write_shards(spill, frame, choose, chosen$n, arguments$control)
  list(frame = frame, shards = shards)
}

# ---- what cannot be streamed --------------------------------------------------------------------

refuse_streamed <- function(written, arguments) {
  refuse <- function(...) abort("unsupported", "A source of rows does not support ", ...)
  if (!is.null(written$subset)) {
    refuse("`subset`. Choose the rows in the function or the query.")
  }
  if (!is.null(arguments$engine)) {
    engine <- as_component(arguments$engine, "engine")
    refuse_empirical(engine)
    check_engine_elsewhere(engine, TRUE)
    check_takes_missing(engine, as_missing(arguments$missing, FALSE))
  }
  action <- as_na_action(arguments$na.action)
  if (!is.null(action) && !identical(action, stats::na.omit)) {
    refuse("this `na.action`, since the fit keeps no rows. Use `na.action = na.omit`.")
  }
}

refuse_streamed_terms <- function(parts, likelihood) {
  refuse <- function(...) abort("unsupported", "A source of rows does not support ", ...)
  if (is_call_to(parts$formula[[2L]], "cbind")) {
    if (kind_for(likelihood) == "numbers") {
      refuse("several responses. Fit each by itself, or use a data frame.")
    }
    refuse("counts of two classes. Give each row twice: with the first class and the successes as ",
           "`weights`, and with the other class and the failures.")
  }
  if (!is.null(likelihood_scale(likelihood))) {
    refuse("a scale that differs by row. Use a data frame.")
  }
  for (term in parts$bases) {
    if (!inherits(basis_kind(term), "bsvm_basis_gp")) next
    settings <- gp_settings(term, gp_call(term), formula_environment(parts$formula))
    if (settings$infer == "none") next
    refuse("kernels that are inferred with the fit (", enumerate(settings$label), "). Omit `infer`.")
  }
  needs_all <- Filter(function(term) !basis_of_some_rows(basis_kind(term)), parts$bases)
  if (length(needs_all) == 0L) return(invisible())
  refuse("the term `", deparse1(needs_all[[1L]]), "`. Use columns of the data or a smooth term such ",
         "as s(x) in its place, or fit a data frame with a part of the rows.")
}

refuse_streamed_frame <- function(frame) {
  if (!is_sparse(frame$x)) return(invisible())
  abort("unsupported", "A source of rows does not support factors with this many levels. Use ",
        "`(1 | f)` for one of them.")
}

# Are the rows of a frame in files, and those it has a sample of them?
is_streamed <- function(frame) inherits(frame$cluster, "bsvm_shards")

row_count <- function(frame) if (is_streamed(frame)) frame$cluster$n else frame$nobs

# Effects of groups can't be integrated out, which needs a level's rows again and again.
streamed_engine <- function(frame, likelihood, assigned) {
  able <- can_take("vb", frame, likelihood, assigned) &&
    !can_take("gaussian", frame, likelihood, assigned)
  engine <- if (able) engine_vb() else engine_gaussian(integrate = FALSE)
  engine$chosen <- "for rows that are read in parts"
  engine
}

# ---- the frame ----------------------------------------------------------------------------------

# A formula asks `data` for names, and which columns are factors.
names_alone <- function(source) {
  names <- source_names(source)
  stats::setNames(data.frame(rep(list(logical(0)), length(names))), names)
}

# `classes`: variables of a response of classes.
spill_variables <- function(source, parts, given, classes, control) {
  known <- source_names(source)
  used <- unique(c(variables_in(parts$frame), unlist(lapply(c(given, parts$auxiliary), all.vars))))
  lacking <- setdiff(used, c(known, "."))
  from <- formula_environment(parts$formula)
  lacking <- lacking[!vapply(lacking, exists, TRUE, envir = from)]
  lacking <- c(lacking, unlist(lapply(parts$auxiliary, lacks_columns, known)))
  if (length(lacking) > 0L) {
    abort("data", "The source does not have ", enumerate(lacking), ". It has ",
          enumerate(known, most = 20L), ".")
  }
  grouping <- unlist(lapply(parts$bars, function(bar) all.vars(bar$group)))
  spill_source(source, intersect(used, known), grouping = intersect(grouping, known),
               classes = intersect(classes, known), verbose = control$verbose,
               folder = rows_tempfile("bsvm-rows-", control),
               lone = intersect(parts$lone, known))
}

# A name that is not taken, in the folder for rows.
rows_tempfile <- function(pattern, control) tempfile(pattern, rows_folder(control))

rows_folder <- function(control) if (is.null(control$rows_folder)) tempdir() else control$rows_folder

# Variables of a one-sided formula that are neither columns nor single values.
lacks_columns <- function(formula, known) {
  Filter(function(name) length(get0(name, formula_environment(formula))) != 1L,
         setdiff(all.vars(formula), c(known, ".")))
}

streamed_frame <- function(chosen, parts, arguments, spill) {
  columns <- model_columns(parts, chosen$prototype, list(), list())
  if (!models_missing(arguments$missing)) {
    refuse_not_finite(names(columns)[!vapply(columns, all_finite, TRUE)])
  }
  if (kind_for(arguments$likelihood) == "classes") refuse_class_alone(columns[[1L]], chosen$n)
  own <- c("contrasts", "drop.unused.levels", "class.weights", "likelihood", "control",
           if (models_missing(arguments$missing)) "missing")
  given <- Filter(Negate(is.null), c(chosen[c("weights", "offset")], arguments[own]))
  frame <- withCallingHandlers(
    do.call(bsvm_frame.formula, c(list(parts$formula, chosen$prototype, prior = not_learned), given)),
    bsvm_warning_group = function(w) tryInvokeRestart("muffleWarning") # of a part of the rows
  )
  refuse_streamed_frame(frame)
  frame <- with_all_levels(frame, chosen, parts$lone, spill)
  refuse_choice(frame)
  if (length(gp_bases(frame)) > 0L) frame <- some_frame_rows(frame, chosen$spread)
  frame <- learn_kernels(frame, arguments$prior, arguments$likelihood,
                         progress_pace(arguments$control$verbose), arguments$engine, chosen$n)
  for (group in frame$groups) {
    warn_levels(group["levels"], length(group$labels), group$name, chosen$n)
  }
  frame
}

# The prototype has all values of the response.
refuse_class_alone <- function(y, n) {
  if (!is.null(dim(y)) || length(unique(y)) > 1L) return(invisible())
  abort("response", "The response must have rows in both classes; all ", in_full(n), " rows of the ",
        "source that take part in the fit are of class '", format(y[1L]), "'.")
}

# `modelled`: may values be missing?
check_spill <- function(spill, parts, na.action, modelled) {
  missing <- vapply(spill$columns, `[[`, 0, "missing")
  infinite <- vapply(spill$columns, `[[`, 0, "infinite")
  count <- function(numbers) {
    bad <- numbers[numbers > 0]
    enumerate(paste0(names(bad), " (", format(bad, scientific = FALSE, trim = TRUE), ")"), "")
  }
  if (any(infinite > 0)) {
    abort("missing", "The source has infinite values: ", count(infinite), ". Replace them, or ",
          "leave these rows out in the function or query.")
  }
  if (any(missing == spill$rows)) {
    abort("missing", "All values are missing: ", count(missing[missing == spill$rows]), ".")
  }
  if (any(missing > 0) && !modelled && is.null(as_na_action(na.action))) {
    abort("missing", "The source has missing values: ", count(missing), " of ", spill$rows,
          " rows. `na.action = na.omit` excludes these rows",
          if (length(gp_columns_of(parts)) == 0L) {
            ", `missing = missing_normal()` models missing predictors"
          }, ".")
  }
}

# ---- the fit ------------------------------------------------------------------------------------

with_sample <- function(frame, shards) {
  own <- shards$sample
  frame[c("x", "y")] <- own[c("x", "y")]
  frame["weights"] <- list(own$weight)
  frame[c("offset", "left_over")] <- own[c("offset", "left_over")]
  if (!is.null(frame$unknowns)) frame$unknowns["auxiliary"] <- own["beside"]
  frame$nobs <- length(own$y)
  frame$groups <- sampled_groups(frame$groups, own, shards$z_sums)
  frame["rows"] <- frame["row_names"] <- list(NULL)
  frame$cluster <- shards
  frame
}

# With the sample's rows, and sums of multipliers over all rows.
sampled_groups <- function(groups, own, z_sums) {
  codes <- if (is.null(own$codes)) cbind(own$group) else own$codes
  at <- multiplier_columns(groups)
  for (k in seq_along(groups)) {
    some <- length(at[[k]]) > 0L
    groups[[k]][c("codes", "z", "z_sums")] <- list(
      codes[, k], if (some) own$z[, at[[k]], drop = FALSE], if (some) columns_of_sums(z_sums, at[[k]])
    )
  }
  groups
}

without_rows <- function(fit, shards, keep_data) {
  fit$y <- fit$link <- numeric(0)
  fit["weights"] <- fit["offset"] <- list(NULL)
  fit$nobs <- if (shards$n <= .Machine$integer.max) as.integer(shards$n) else shards$n
  fit$streamed <- shards[c("n", "n_positive", "shards", "bytes")]
  if (keep_data) fit$streamed[c("rows", "weight")] <- list(shards$rows, shards$sample$weight)
  fit
}

# For what averages over rows of the fit: those of the source that it keeps.
sampled_rows <- function(object, what) {
  if (!is.null(object$streamed$rows)) return(object$streamed$rows)
  abort("unsupported", what, " needs rows to average over, and with `keep_data = FALSE` the fit keeps ",
        "none. Fit with `keep_data = TRUE`, which keeps at most ", most_sampled, " rows of a source.")
}

# A line before the first pass, if it is about much: how long the first file takes to read says how long
# all of them take at least.
least_told <- 2^30
kept_bytes <- 2^27 # of an engine that keeps rows between readings, at most (core/point/estimator.hpp)

tell_plan <- function(shards, engine, verbose) {
  if (isFALSE(verbose) || is.null(verbose) && shards$bytes < least_told) return(invisible())
  taken <- system.time(core_shard_shape(shards$paths[1L]))[["elapsed"]]
  moved <- shards$columns + length(shards$several$shared) # coefficients to all files
  bytes <- 3 * max(file.size(shards$paths)) + 64 * moved^2 +
    if (is_estimator(engine)) kept_bytes else 0
  cat("bsvm: ", in_full(shards$n), " rows of ", shards$columns, " columns in ", shards$shards,
      if (shards$shards > 1L) " files (" else " file (", signif(shards$bytes / 2^30, 3L),
      " GiB), read ", if (is_sampler(engine)) "at least " else "about ",
      in_full(trait(engine, "passes")), " times, at least ", signif(taken * shards$shards, 2L),
      " s each; about ", ceiling(bytes / 2^20), " MiB of memory",
      if (!is.null(shards$team)) " a worker", "\n", sep = "", file = stderr())
}

# For methods that look at the rows of the fit.
need_rows <- function(object, what) {
  if (is.null(object$streamed)) return(invisible())
  abort("unsupported", what, " needs the rows of the fit, which were read from a source and are not ",
        "kept. If the function has an argument `newdata`, give rows there.")
}

# Predictions of the rows of a source, chunk by chunk.
predict_chunks <- function(object, source, call, env) {
  reader <- open_source(source, variables_to_predict(object, source))
  on.exit(reader$close())
  call[[1L]] <- predict.bsvm
  parts <- list()
  while (!is.null(rows <- reader$read())) {
    parts[[length(parts) + 1L]] <- eval_with(call, list(object = object, newdata = rows), env)
  }
  if (length(parts) == 0L) abort("newdata", "`newdata` has no rows: the source returned none.")
  if (is.null(dim(parts[[1L]]))) return(unname(do.call(c, parts)))
  whole <- do.call(rbind, parts)
  rownames(whole) <- NULL
  whole
}

# f(rows) for each `size` rows of a data frame or a source, which have what predictions need: the
# blocks are the same, whatever the chunks of the source.
each_block <- function(object, newdata, size, f) {
  if (!inherits(newdata, "bsvm_source")) {
    return(in_chunks(nrow(newdata), size, function(at) f(newdata[at, , drop = FALSE])))
  }
  columns <- variables_to_predict(object, newdata)
  if (length(columns) == 0L) columns <- source_names(newdata)[1L] # which counts rows
  reader <- open_source(newdata, columns)
  on.exit(reader$close())
  next_block <- recut(reader$read, size)
  while (!is.null(block <- next_block())) {
    f(frame_of_columns(block, columns, length(block[[1L]])))
  }
}

# Of the columns of a source.
variables_to_predict <- function(object, source) {
  groups <- unlist(lapply(object$groups, function(group) all.vars(group$variable)))
  terms <- stats::delete.response(object$terms)
  wanted <- c(variables_in(attr(terms, "variables")), groups, all.vars(object$call$offset),
              unlist(lapply(object$bases, function(basis) all.vars(basis$expression$terms))),
              all.vars(object$scale_model$terms), all.vars(object$missing$law$recipe$terms),
              unlist(lapply(object$groups, function(group) {
                unlist(lapply(group$expressions, function(own) all.vars(own$terms)))
              })))
  there <- intersect(unique(wanted), source_names(source))
  if (length(there) == 0L && length(wanted) > 0L) {
    abort("newdata", "`newdata` lacks all variables of the fit: ", enumerate(unique(wanted)), ".")
  }
  there
}
