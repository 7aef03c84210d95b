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
    model <- with_enough_points(model, gp_bases(frame))
    found <- with_core_conditions(core_learn(model$core, !few, TRUE, verbose))
    found$seconds <- proc.time()[["elapsed"]] - started
    model <- with_learned(model, found$theta)
  } else {
    model <- with_enough_points(model, gp_bases(frame))
  }
  bases <- judge_kernels(settle_gp(gp_bases(frame), model, rows, found, verbose), model, found)
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

# ---- columns ------------------------------------------------------------------------------------

# The bases with the kernels as learned, their inducing inputs and columns.
settle_gp <- function(bases, model, rows, found, verbose) {
  chosen <- lapply(model$parts, function(part) {
    gp_points(basis_of(bases, part), part$factors, part_theta(part), part$summand$points)
  })
  moved <- learn_points(bases, model, chosen, verbose)
  model <- moved$model
  lapply(bases, function(basis) {
    own <- which(vapply(model$parts, `[[`, "", "label") == basis$label)
    basis$parts <- Map(function(part, points) {
      list(factors = part$factors, numbers = list(
        theta = part_theta(part), names = names(part$numbers)[-1L],
        free = vapply(part$numbers[-1L], function(number) !is.null(number$prior), TRUE),
        log_sd = part$numbers[[1L]]$start), points = points)
    }, model$parts[own], moved$points[own])
    basis["moved"] <- list(if (are_learned(basis$points)) moved$facts)
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

part_theta <- function(part) as.double(vapply(part$numbers[-1L], `[[`, 0, "start"))

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
