# Kernels of Gaussian-process terms, learned when the frame is made. All terms of the model together
# are an additive Gaussian process of a thousand rows at most, whose free numbers (amplitudes, length
# scales and other numbers of kernels, parameters of the likelihood) go to where the Gaussian bound
# of the evidence and their priors are highest (src/core/learn/learner.hpp). Classes are learned from
# under the normalised hinge likelihood, whatever the fit has: the pseudo-likelihood rewards
# functions that are nothing but rough (kernels.md, section 4). Then a common factor of the length
# scales is chosen by the leave-one-out score. The fit takes the kernels as they are; amplitudes and
# everything else are inferred again.

most_learned <- 1000L     # rows a kernel is learned from
few_learned <- 400L       # of them, all but a common factor of the length scales and amplitudes
most_full <- 1000L        # rows of which all are inducing inputs by default
most_full_asked <- 4000L  # and if they are asked for
most_rank <- 500L         # inducing inputs by default, if these leave nothing over
usual_points <- 200L      # else
most_candidates <- 5000L  # rows that inducing inputs are chosen from
nothing_left <- 1e-8      # of the variance

is_gp <- function(basis) inherits(basis, "bsvm_basis_gp")

gp_bases <- function(object) Filter(is_gp, object$bases)

# As `prior`: the frame is wanted without its kernels.
not_learned <- structure(list(), class = "bsvm_not_learned")

# The frame with the columns of its Gaussian-process terms.
learn_kernels <- function(frame, prior, likelihood, verbose = FALSE) {
  if (length(gp_bases(frame)) == 0L || inherits(prior, "bsvm_not_learned")) return(frame)
  likelihood <- if (is.null(likelihood)) likelihood_hinge(normalized = TRUE)
                else as_likelihood(likelihood)
  check_kind(frame$response, likelihood)
  units <- response_units(frame$response, frame, likelihood)
  likelihood$unit <- if (units$unit != 1) units$unit
  frame <- with_gp_unit(frame, units$unit)
  rows <- learning_rows(frame)
  assigned <- scale_priors(assign_priors(frame, prior), likelihood)
  model_of <- function(rows) learning_model(frame, assigned, likelihood, units, rows)
  model <- model_of(rows)
  found <- NULL
  if (any_free(model)) {
    started <- proc.time()[["elapsed"]]
    few <- length(rows) > few_learned
    if (few) {
      some <- model_of(some_of(rows, few_learned))
      climbed <- with_core_conditions(core_learn(some$core, TRUE, FALSE, verbose))
      model <- with_learned(model, climbed$theta)
    }
    found <- with_core_conditions(core_learn(model$core, !few, TRUE, verbose))
    found$seconds <- proc.time()[["elapsed"]] - started
    model <- with_learned(model, found$theta)
  }
  bases <- judge_kernels(settle_gp(frame, model, rows, found), model$parts)
  tell_kernels(bases)
  bind_gp(frame, bases)
}

# Amplitudes have default priors in this unit.
with_gp_unit <- function(frame, unit) {
  gps <- vapply(frame$bases, is_gp, TRUE)
  frame$bases[gps] <- lapply(frame$bases[gps], function(basis) {
    basis$unit <- unit
    basis
  })
  frame
}

# ---- rows ---------------------------------------------------------------------------------------

# At most a thousand rows at equal steps through an order of the rows that has nothing to do with
# theirs; the same rows each time, and without a random number of R's.
learning_rows <- function(frame) {
  n <- frame$nobs
  if (n <= most_learned) return(seq_len(n))
  scrambled(n)[seq_len(most_learned)]
}

some_of <- function(rows, most) rows[scrambled(length(rows))[seq_len(min(most, length(rows)))]]

# 1..n in an order of multiples of an irrational number.
scrambled <- function(n) order((seq_len(n) * 0.6180339887498949) %% 1)

# ---- the additive model -------------------------------------------------------------------------

# list(core, parts): what the core learns from, and for each kernel of a term list(label, part,
# factors, numbers, first), `first` the place of its amplitude in theta.
learning_model <- function(frame, assigned, likelihood, units, rows) {
  gps <- gp_bases(frame)
  own <- unlist(lapply(gps, function(basis) names(basis$blocks)))
  blocks <- Filter(function(block) !block$label %in% own, assigned$blocks)
  others <- c(column_summands(frame, blocks, units$unit, rows),
              group_summands(frame, assigned$group_blocks, units$unit, rows))
  fixed <- fixed_columns(frame, blocks, units$unit, rows)
  parts <- unlist(unname(lapply(gps, gp_parts, rows = rows, weights = frame$weights[rows],
                                blocks = assigned$blocks,
                                unit = units$unit)), recursive = FALSE)
  first <- 1L
  for (k in seq_along(parts)) {
    parts[[k]]$first <- first
    first <- first + length(parts[[k]]$numbers)
  }
  numbers <- c(unlist(lapply(parts, `[[`, "numbers"), recursive = FALSE),
               lapply(others, `[[`, "number"), likelihood_numbers(likelihood, units$unit))
  learned_as <- learned_likelihood(likelihood, units$unit)
  response <- if (units$unit == 1 && units$shift == 0) frame$y
              else (frame$y - units$shift) / units$unit
  core <- list(y = as.double(response[rows]), weight = as.double_or_null(frame$weights[rows]),
               offset = if (!is.null(frame$offset)) frame$offset[rows] / units$unit,
               fixed = fixed$x, variance = fixed$variance,
               summands = c(lapply(parts, `[[`, "summand"), lapply(others, `[[`, "summand")),
               numbers = unname(numbers), likelihood = learned_as)
  list(core = core, parts = parts)
}

as.double_or_null <- function(x) if (length(x) > 0L) as.double(x)

# Is anything to learn? Amplitudes only where engine_vb() may ask for them (known_amplitudes()).
any_free <- function(model) {
  any(vapply(model$parts, function(part) {
    wanted <- if (part$summand$points > 0L) part$numbers else part$numbers[-1L]
    any(vapply(wanted, function(number) !is.null(number$prior), TRUE))
  }, TRUE))
}

with_learned <- function(model, theta) {
  for (k in seq_along(model$parts)) {
    part <- model$parts[[k]]
    at <- part$first + seq_along(part$numbers) - 1L
    for (j in seq_along(at)) model$parts[[k]]$numbers[[j]]$start <- theta[at[j]]
  }
  for (j in seq_along(theta)) model$core$numbers[[j]]$start <- theta[j]
  model
}

# A free number: its start, the core's prior of it or NULL, and where it is looked for.
free_number <- function(start, prior = NULL, parameters = NULL, low = -50, high = 50,
                        length = FALSE) {
  list(start = start, prior = prior, parameters = parameters, low = low, high = high,
       length = length)
}

# The core's numbers of a prior of coefficients.
prior_numbers <- function(prior, unit) {
  known <- !is.null(prior_powers[[prior$name]])
  prior_in_units(list(prior = prior$name, parameters = prior$parameters, has_unit = known), unit)
}

# Amplitudes: a prior of a variance, or its logarithm.
least_sd <- 1e-4
amplitude_number <- function(prior, unit) {
  numbers <- prior_numbers(prior, unit)
  switch(prior$name,
    normal = free_number(0.5 * log(numbers[["variance"]])),
    half_t = free_number(log(numbers[["scale"]]) - 1, "half_t", numbers, log(least_sd), 12),
    ridge = free_number(0, "ridge", numbers, log(least_sd), 12),
    free_number(0, "half_t", c(df = 3, scale = 1), log(least_sd), 12)
  )
}

# Columns with known prior variances.
fixed_columns <- function(frame, blocks, unit, rows) {
  known <- Filter(function(block) is_known_normal(block), blocks)
  columns <- unlist(lapply(known, `[[`, "columns"))
  variance <- unlist(lapply(known, function(block) {
    rep(prior_numbers(block$prior, unit)[["variance"]], length(block$columns))
  }))
  list(x = learning_columns(frame, columns, rows),
       variance = if (length(columns) > 0L) as.double(variance) else numeric(0))
}

is_known_normal <- function(block) !is_parameter(block) && block$prior$name == "normal"

# As the fit standardises them: not the intercept, and not the columns of smooth terms.
learning_columns <- function(frame, columns, rows) {
  if (length(columns) == 0L) return(matrix(0, length(rows), 0L))
  x <- frame_columns(frame, columns, rows)
  scaled <- !columns %in% c(frame$intercept, columns_of(frame$bases))
  weights <- if (is.null(frame$weights)) rep(1, length(rows)) else frame$weights[rows]
  for (j in which(scaled)) {
    off <- x[, j] - sum(weights * x[, j]) / sum(weights)
    sd <- sqrt(sum(weights * off^2) / max(sum(weights) - 1, 1))
    x[, j] <- off / if (isTRUE(sd > 0)) sd else 1
  }
  x[is.na(x)] <- 0 # modelled missing values
  x
}

frame_columns <- function(frame, columns, rows) {
  own <- columns > frame$implicit
  out <- matrix(1, length(rows), length(columns))
  out[, own] <- as.matrix(frame$x[rows, columns[own] - frame$implicit, drop = FALSE])
  out
}

# Columns whose variance is inferred: one summand for each block.
column_summands <- function(frame, blocks, unit, rows) {
  lapply(Filter(function(block) !is_parameter(block) && !is_known_normal(block), blocks),
         function(block) {
           list(number = amplitude_number(block$prior, unit),
                summand = feature_summand(learning_columns(frame, block$columns, rows)))
         })
}

feature_summand <- function(features) {
  list(kernel = NULL, features = features, multiplier = NULL)
}

# Effects of grouping factors, each independent of the others here.
group_summands <- function(frame, blocks, unit, rows) {
  starts <- vapply(effect_numbers(frame$groups), `[`, 0L, 1L)
  unlist(lapply(blocks, function(block) {
    group <- frame$groups[[block$factor]]
    codes <- group$codes[rows]
    present <- match(codes, unique(codes))
    own <- block$columns - starts[[block$factor]] + 1L
    lapply(own, function(effect) {
      z <- if (is.null(group$z)) rep(1, length(rows)) else group$z[rows, effect]
      features <- matrix(0, length(rows), max(present))
      features[cbind(seq_along(rows), present)] <- z
      list(number = amplitude_number(block$prior, unit), summand = feature_summand(features))
    })
  }), recursive = FALSE)
}

# Under what is learned: for classes the density of the response.
learned_likelihood <- function(likelihood, unit) {
  if (!is_residual(likelihood)) return(list(name = "hinge_normalized", parameters = numeric(0)))
  list(name = likelihood$name, parameters = numbers_in_units(likelihood, unit))
}

likelihood_numbers <- function(likelihood, unit) {
  if (!is_residual(likelihood)) return(list())
  lapply(parameter_blocks(likelihood), function(block) {
    numbers <- prior_in_units(list(prior = block$prior$name, parameters = block$prior$parameters,
                                   has_unit = block$has_unit), unit)
    start <- switch(block$prior$name, half_t = log(numbers[["scale"]]),
                    ridge = 0.5 * log(numbers[["scale"]] / numbers[["shape"]]), 0)
    free_number(start, block$prior$name, numbers, -20, 20)
  })
}

# ---- kernels ------------------------------------------------------------------------------------

# For each summand of a term's kernel list(label, part, factors, numbers, summand).
gp_parts <- function(basis, rows, weights, blocks, unit) {
  products <- kernel_products(basis$kernel)
  x <- basis$rows[rows, , drop = FALSE]
  multiplier <- basis$multiplier[rows]
  Map(function(product, label, k) {
    prior <- Find(function(block) identical(block$label, label), blocks)$prior
    made <- term_kernel(product, basis, x, weights)
    list(label = basis$label, part = k, factors = made$factors,
         numbers = c(list(amplitude = amplitude_number(prior, unit)), made$numbers),
         summand = list(kernel = made$factors, inputs = x, features = NULL,
                        multiplier = multiplier, points = points_in_mind(basis)))
  }, products, names(basis$blocks), seq_along(products))
}

# list(factors, numbers) of a product of kernels, for standardised inputs.
term_kernel <- function(product, basis, x, weights) {
  distances <- input_distances(x)
  numbers <- lapply(product, function(kernel) {
    sizes <- parameter_sizes(kernel, ncol(x))
    Map(function(value, name, size) {
      kernel_numbers(value, name, size, kernel, basis, distances)
    }, kernel$parameters, names(kernel$parameters), sizes)
  })
  list(factors = kernel_factors(product, x, weights),
       numbers = unlist(unname(unlist(numbers, recursive = FALSE)), recursive = FALSE))
}

# list(median, least) of the distances between distinct rows.
input_distances <- function(x) {
  x <- unique(x)
  if (nrow(x) < 2L) return(list(median = 1, least = 1))
  d <- as.vector(stats::dist(x))
  d <- d[d > 0]
  list(median = stats::median(d), least = min(d))
}

# How far from its median a kernel's number is looked for, in logarithms.
farthest <- 7

# The core's logarithms of one parameter, `size` of them. Length scales have the unit of the
# standardised inputs, but for those without any; periods are divided by what their variable was.
kernel_numbers <- function(value, name, size, kernel, basis, distances) {
  unit <- if (name == "period") basis$inputs$scale else rep(1, size)
  if (is.numeric(value) && !length(value) %in% c(1L, size)) {
    abort("formula", "`", basis$label, "`: `", name, "` must be one number",
          if (size > 1L) paste0(", or ", size, " (one for each variable)"), "; found ",
          length(value), ".")
  }
  if (is.numeric(value)) {
    numbers <- lapply(log(rep_len(value, size) / unit), free_number)
    return(stats::setNames(numbers, rep(name, size)))
  }
  of_distance <- name == "lengthscale" && !has_median(value)
  median <- if (of_distance) distances$median / sqrt(2) else value$parameters[["median"]]
  numbers <- lapply(log(median / unit), function(centre) {
    # That of one variable of many may be far below distances in all.
    least <- if (!of_distance) centre - farthest
             else min(log(distances$least / 2), centre - if (size > 1L) farthest / 2 else 1)
    free_number(centre, "log_normal", c(median = exp(centre), sd = value$parameters[["sd"]]),
                least, centre + farthest, name == "lengthscale")
  })
  stats::setNames(numbers, rep(name, size))
}

# ---- columns ------------------------------------------------------------------------------------

# The bases with the kernels as learned, their inducing inputs and columns.
settle_gp <- function(frame, model, rows, found) {
  lapply(gp_bases(frame), function(basis) {
    own <- Filter(function(part) part$label == basis$label, model$parts)
    basis$parts <- lapply(own, function(part) {
      theta <- vapply(part$numbers[-1L], `[[`, 0, "start")
      points <- gp_points(basis, part$factors, theta)
      list(factors = part$factors, numbers = list(
        theta = as.double(theta), names = names(part$numbers)[-1L],
        free = vapply(part$numbers[-1L], function(number) !is.null(number$prior), TRUE),
        log_sd = part$numbers[[1L]]$start), points = points)
    })
    basis$median <- input_distances(basis$rows[rows, , drop = FALSE])$median
    basis$learned <- if (!is.null(found)) {
      c(found[c("bound", "log_factor", "converged", "evaluations", "seconds")],
        list(rows = length(rows), factors = found$factors))
    }
    basis$matrix <- gp_columns(basis, basis$rows, basis$multiplier)
    shares <- colMeans(attr(basis$matrix, "left_over"))
    for (k in seq_along(shares)) basis$parts[[k]]$left_over <- shares[[k]]
    basis$penalty <- rep(seq_along(basis$parts),
                         vapply(basis$parts, function(part) nrow(part$points), 0L))
    basis
  })
}

# Inducing inputs (m x d), standardised.
gp_points <- function(basis, factors, theta) {
  given <- basis$points
  if (is.matrix(given) || is.data.frame(given)) return(given_points(basis, given))
  n <- nrow(basis$rows)
  candidates <- basis$rows
  if (n > most_candidates && !identical(given, Inf)) {
    candidates <- candidates[scrambled(n)[seq_len(most_candidates)], , drop = FALSE]
  }
  most <- points_wanted(given, n, basis$label)
  chosen <- with_core_conditions(core_points(factors, candidates, theta, most, nothing_left))$points
  if (is.null(given) && n > most_full && length(chosen) == most) {
    chosen <- chosen[seq_len(min(usual_points, length(chosen)))]
  }
  moved_points(factors, theta, candidates, candidates[chosen, , drop = FALSE])
}

# Means of the rows around each point (k-means), if these leave less over on average: with few points
# they do, since the greedy choice looks at the row that is worst off.
most_averaged <- 2000L
moved_points <- function(factors, theta, rows, points) {
  left <- function(points) mean(core_features_of(factors, rows, points, theta)$left_over)
  before <- if (nrow(points) < nrow(rows)) left(points) else 0
  if (before < least_left || nrow(points) == 1L) return(points)
  if (nrow(rows) > most_averaged) {
    rows <- rows[scrambled(nrow(rows))[seq_len(most_averaged)], , drop = FALSE]
    before <- left(points)
  }
  moved <- unname(suppressWarnings(
    stats::kmeans(rows, points, iter.max = 10L, algorithm = "Lloyd")$centers
  ))
  empty <- rowSums(!is.finite(moved)) > 0 # of points that no row was nearest to
  moved[empty, ] <- points[empty, ]
  if (left(moved) < before) moved else points
}

# How many inducing inputs a term of so many rows will have, 0 for one in each row.
points_in_mind <- function(basis) {
  given <- basis$points
  n <- nrow(basis$rows)
  if (is.matrix(given) || is.data.frame(given)) return(nrow(given))
  wanted <- points_wanted(given, n, basis$label)
  if (is.null(given) && n > most_full) wanted <- usual_points
  if (wanted >= n) 0L else as.integer(wanted)
}

points_wanted <- function(given, n, label) {
  if (is.null(given)) return(if (n <= most_full) n else min(n, most_rank))
  good <- is.numeric(given) && length(given) == 1L && !is.na(given) && given >= 1 &&
    (is.infinite(given) || given == round(given))
  if (!good) {
    abort("formula", "`points` of `", label, "` must be a whole number, Inf (every row), a matrix ",
          "or a data frame of inputs; found ", describe(given), ".")
  }
  if (is.infinite(given) && n > most_full_asked) {
    abort("size", "`points = Inf` of `", label, "` is for at most ", most_full_asked,
          " rows; found ", n, ". A covariance of all rows would take ",
          format(8 * n^2 / 2^30, digits = 2L), " GiB, and its factorisation hours. Write points = ",
          usual_points, ", or more.")
  }
  wanted <- min(given, n)
  check_memory(3 * 8 * wanted * n, paste0(wanted, " inducing points of ", n, " rows take"),
               paste0("Write points = ", usual_points, "."))
  as.integer(wanted)
}

given_points <- function(basis, given) {
  x <- as.matrix(given)
  if (!is.numeric(x) || ncol(x) != length(basis$inputs$center) || any(!is.finite(x))) {
    wanted <- length(basis$inputs$center)
    abort("formula", "`points` of `", basis$label, "` must have ", wanted,
          if (wanted == 1L) " column" else " columns, one for each variable,",
          " of finite numbers; found ", describe(given), ".")
  }
  unname(unique(gp_inputs(x, basis$inputs)))
}

# The shares of blocks' variances (n x blocks, named) that inducing inputs leave over in the rows of
# the fit; NULL for none.
least_left <- 1e-6
frame_left_over <- function(bases) {
  left <- do.call(cbind, lapply(bases, function(basis) attr(basis$matrix, "left_over")))
  some <- colMeans(left) >= least_left
  if (any(some)) left[, some, drop = FALSE]
}

# The frame with these bases in place of those it has, which come last.
bind_gp <- function(frame, bases) {
  old <- columns_of(gp_bases(frame))
  kept <- setdiff(seq_along(frame$columns), old)
  others <- Filter(Negate(is_gp), frame$bases)
  bases <- place_bases(bases, length(kept))
  matrices <- lapply(bases, `[[`, "matrix")
  first <- length(frame$term_labels) - length(bases)
  x <- frame$x[, kept[kept > frame$implicit] - frame$implicit, drop = FALSE]
  frame$x <- bind_columns(x, bases, matrices)
  if (!frame$implicit) frame$columns <- colnames(frame$x)
  frame$assign <- c(frame$assign[kept],
                    rep(first + seq_along(bases), vapply(matrices, ncol, 0L)))
  frame["left_over"] <- list(frame_left_over(bases))
  frame$bases <- c(others, lapply(bases, function(basis) {
    basis[c("rows", "multiplier", "matrix")] <- NULL
    basis
  }))
  frame
}

# The update of a variance in engine_vb() is for coefficients alone: where rows have a share of it the
# amplitude is the one that was learned, for classes in units of the pseudo-likelihood.
known_amplitudes <- function(assigned, frame, likelihood, engine) {
  updated <- !is_sampler(engine) && !is_approximation(engine) && !is_estimator(engine)
  if (is.null(frame$left_over) || !updated) return(assigned)
  known <- unlist(lapply(gp_bases(frame), function(basis) {
    sds <- vapply(basis$parts, function(part) basis$unit * exp(part$numbers$log_sd), 0)
    if (!is_residual(likelihood)) {
      sds <- sds * coefficient_scale(likelihood) /
        coefficient_scale(likelihood_hinge(normalized = TRUE))
    }
    stats::setNames(sds^2, names(basis$blocks))
  }))
  assigned$blocks <- lapply(assigned$blocks, function(block) {
    if (block$label %in% colnames(frame$left_over) && block$prior$name != "normal") {
      block$prior <- prior_ridge(variance = known[[block$label]])
    }
    block
  })
  assigned
}
