# The additive model that kernels are learned from (src/core/learn/additive.hpp): terms, other columns
# and group effects of some rows, each with its free numbers.

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

# Is anything to learn? Amplitudes only where engine_vb() may ask for them (learned_amplitudes()).
any_free <- function(model) {
  any(vapply(Filter(function(part) !part$chosen, model$parts), function(part) {
    wanted <- if (part$summand$points > 0L) part$numbers else part$numbers[-1L]
    any(vapply(wanted, function(number) !is.null(number$prior), TRUE))
  }, TRUE))
}

model_theta <- function(model) vapply(model$core$numbers, `[[`, 0, "start")

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
    list(label = basis$label, part = k, chosen = is_choice(basis), factors = made$factors,
         numbers = c(list(amplitude = amplitude_number(prior, unit)), made$numbers),
         summand = list(kernel = made$factors, inputs = x, features = NULL,
                        multiplier = multiplier, points = points_in_mind(basis)))
  }, products, names(basis$blocks), seq_along(products))
}

# list(factors, numbers) of a product of kernels, for standardised inputs.
term_kernel <- function(product, basis, x, weights) {
  numbers <- lapply(product, function(kernel) {
    sizes <- parameter_sizes(kernel, ncol(x))
    Map(function(value, name, size) {
      kernel_numbers(value, name, size, kernel, basis)
    }, kernel$parameters, names(kernel$parameters), sizes)
  })
  list(factors = kernel_factors(product, x, weights),
       numbers = unlist(unname(unlist(numbers, recursive = FALSE)), recursive = FALSE))
}

# list(median, least) of the distances between distinct rows.
input_distances <- function(x) {
  x <- unique(x)
  if (nrow(x) > most_learned) x <- x[some_of_many(nrow(x), most_learned), , drop = FALSE]
  if (nrow(x) < 2L) return(list(median = 1, least = 1))
  d <- as.vector(stats::dist(x))
  d <- d[d > 0]
  if (length(d) == 0L) return(list(median = 1, least = 1)) # squares that underflow
  list(median = stats::median(d), least = min(d))
}

# How far from its median a kernel's number is looked for, in logarithms.
farthest <- 7

# The core's logarithms of one parameter, `size` of them. Length scales have the unit of the
# standardised inputs, but for those without any; periods are divided by what their variable was.
kernel_numbers <- function(value, name, size, kernel, basis) {
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
  median <- if (of_distance) basis$median / sqrt(2) else value$parameters[["median"]]
  numbers <- lapply(log(median / unit), function(centre) {
    # That of one variable of many may be far below distances in all.
    least <- if (!of_distance) centre - farthest
             else min(log(basis$least / 2), centre - if (size > 1L) farthest / 2 else 1)
    free_number(centre, "log_normal", c(median = exp(centre), sd = value$parameters[["sd"]]),
                least, centre + farthest, name == "lengthscale")
  })
  stats::setNames(numbers, rep(name, size))
}

