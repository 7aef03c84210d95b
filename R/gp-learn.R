# Kernels of Gaussian-process terms, learned when the frame is made. All terms of the model together
# are an additive Gaussian process of a thousand rows at most. Its free numbers are amplitudes,
# length scales and other numbers of kernels, and parameters of the likelihood. They go to where the
# Gaussian bound of the evidence and their priors are highest (src/core/learn/learner.hpp). Classes
# are learned from under the normalised hinge likelihood, whatever the fit has: the
# pseudo-likelihood rewards functions that are nothing but rough (kernels.md, section 4). Then a
# common factor of the length scales is chosen by the leave-one-out score. The fit takes the kernels
# as they are; amplitudes and everything else are inferred again.

most_learned <- 1000L     # rows a kernel is learned from
few_learned <- 400L       # of them, all but a common factor of the length scales and amplitudes
fewest_learned <- 200L    # where from, of the two starts

is_gp <- function(basis) inherits(basis, "bsvm_basis_gp")

gp_bases <- function(object) Filter(is_gp, object$bases)

# As `prior`: the frame is wanted without its kernels.
not_learned <- structure(list(), class = "bsvm_not_learned")

# The frame with the columns of its Gaussian-process terms. `streamed`: how many rows a source has, of
# which the frame has some.
learn_kernels <- function(frame, prior, likelihood, verbose = FALSE, engine = NULL,
                          streamed = NULL) {
  if (length(gp_bases(frame)) == 0L || inherits(prior, "bsvm_not_learned")) return(frame)
  if (learns_by_ecm(engine)) {
    return(learn_by_ecm(frame, prior, likelihood, as_component(engine, "engine"), verbose))
  }
  likelihood <- if (is.null(likelihood)) likelihood_hinge(normalized = TRUE)
                else as_likelihood(likelihood)
  check_kind(frame$response, likelihood)
  units <- response_units(frame$response, frame, likelihood)
  likelihood$unit <- if (units$unit != 1) units$unit
  rows <- learning_rows(frame)
  frame <- with_distances(with_gp_unit(frame, units$unit), rows)
  assigned <- scale_priors(assign_priors(frame, prior), likelihood)
  frame <- with_relevance(frame, assigned$blocks)
  refuse_infer_of_others(frame)
  model_of <- function(rows) learning_model(frame, assigned, likelihood, units, rows)
  n <- if (is.null(streamed)) frame$nobs else streamed
  model <- model_of(rows)
  found <- NULL
  if (any_free(model)) {
    started <- proc.time()[["elapsed"]]
    starts <- 2L
    for (most in c(fewest_learned, few_learned)) if (length(rows) > most) {
      some <- with_learned(model_of(some_of(rows, most)), model_theta(model))
      climbed <- with_core_conditions(core_learn(some$core, starts, FALSE, verbose))
      model <- with_learned(model, climbed$theta)
      starts <- if (most == few_learned) 0L else 1L
    }
    model <- with_enough_points(model, gp_bases(frame), n)
    found <- with_core_conditions(core_learn(model$core, starts, TRUE, verbose))
    found$seconds <- proc.time()[["elapsed"]] - started
    model <- with_learned(model, found$theta)
  } else {
    model <- with_enough_points(model, gp_bases(frame), n)
  }
  bases <- settle_gp(gp_bases(frame), model, rows, found, verbose)
  makes <- is.null(streamed) && makes_columns(frame, bases, engine)
  bases <- judge_kernels(with_gp_columns(bases, frame, makes), model, found)
  tell_kernels(bases)
  bind_gp(frame, bases)
}

# Amplitudes have default priors in this unit.
with_gp_unit <- function(frame, unit) {
  change_gp(frame, function(basis) {
    basis$unit <- unit
    basis
  })
}

# Terms with the `median` and `least` distance of rows that kernels are learned from: all stages of
# learning have the same priors.
with_distances <- function(frame, rows) {
  change_gp(frame, function(basis) {
    basis[c("median", "least")] <- input_distances(basis$rows[rows, , drop = FALSE])
    basis
  })
}

change_gp <- function(frame, change) {
  gps <- vapply(frame$bases, is_gp, TRUE)
  frame$bases[gps] <- lapply(frame$bases[gps], change)
  frame
}

# ---- rows ---------------------------------------------------------------------------------------

# The frame, whose kernels are not learned yet, with some of its rows.
some_frame_rows <- function(frame, at) {
  part <- function(x) if (is.matrix(x)) x[at, , drop = FALSE] else x[at]
  for (name in c("x", "y", "weights", "offset")) {
    if (!is.null(frame[[name]])) frame[[name]] <- part(frame[[name]])
  }
  for (k in seq_along(frame$groups)) {
    frame$groups[[k]]$codes <- part(frame$groups[[k]]$codes)
    if (!is.null(frame$groups[[k]]$z)) frame$groups[[k]]$z <- part(frame$groups[[k]]$z)
  }
  frame$nobs <- length(frame$y)
  change_gp(frame, function(basis) {
    basis$rows <- part(basis$rows)
    if (!is.null(basis$multiplier)) basis$multiplier <- part(basis$multiplier)
    basis
  })
}

# At most a thousand rows at equal steps through an order of the rows that has nothing to do with
# theirs; the same rows each time, and without a random number of R's.
learning_rows <- function(frame) some_of_many(frame$nobs, most_learned)

some_of_many <- function(n, most) if (n <= most) seq_len(n) else scrambled(n)[seq_len(most)]

some_of <- function(rows, most) rows[scrambled(length(rows))[seq_len(min(most, length(rows)))]]

# 1..n in an order of multiples of an irrational number.
scrambled <- function(n) order((seq_len(n) * 0.6180339887498949) %% 1)

# ---- columns ------------------------------------------------------------------------------------

# The bases with the kernels as learned, their inducing inputs and columns.
settle_gp <- function(bases, model, rows, found, verbose) {
  chosen <- lapply(model$parts, function(part) {
    if (!is.null(part$points)) return(part$points)
    gp_points(basis_of(bases, part), part$part, part$factors, part_theta(part),
              part$summand$points)
  })
  moved <- if (is.null(found$rounds)) learn_points(bases, model, chosen, verbose)
           else list(model = model, points = chosen)
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
    basis$learned <- if (!is.null(found)) {
      kept <- c("bound", "log_factor", "converged", "evaluations", "seconds", "rounds")
      c(found[intersect(kept, names(found))], list(rows = length(rows), factors = found$factors))
    }
    basis$penalty <- rep(seq_along(basis$parts),
                         vapply(basis$parts, function(part) nrow(part$points), 0L))
    basis$inferable <- model$parts[own]
    basis
  })
}

# The most cells of columns for the rows of the fit that are kept; more are made when needed.
most_kept_cells <- function() {
  cells <- getOption("bsvm.kept_cells", 1e7)
  if (is.numeric(cells) && length(cells) == 1L && isTRUE(cells >= 0)) return(cells)
  abort("argument", "The option bsvm.kept_cells must be one number from 0; found ", describe(cells),
        ". Use options(bsvm.kept_cells = 1e8), or Inf to keep all.")
}

# Group effects are integrated out of columns that stand in the frame, and draws of kernels go with
# such, too; engines by name that look at all rows at once would keep the columns anyway.
makes_columns <- function(frame, bases, engine) {
  if (is_sparse(frame$x) || !is.null(frame$unknowns) || !is.null(frame$cluster)) return(FALSE)
  if (length(frame$groups) > 0L || any(vapply(bases, function(b) b$infer != "none", TRUE))) return(FALSE)
  if (any(vapply(bases, has_relevance, TRUE))) return(FALSE)
  name <- if (!is.null(engine)) as_component(engine, "engine")$name
  if (!is.null(name) && !name %in% c("gaussian", "vb")) return(FALSE)
  as.double(frame$nobs) * sum(lengths(lapply(bases, `[[`, "penalty"))) > most_kept_cells()
}

# Bases whose kernels are settled, with their columns for the rows of the fit, or with what is asked of
# these: `left` (n x parts), the shares of variance that are left over, the columns' `sums` and their
# weighted `means`.
with_gp_columns <- function(bases, frame, makes) {
  weights <- if (is.null(frame$weights)) rep(1, frame$nobs) else frame$weights
  lapply(bases, function(basis) {
    n <- nrow(basis$rows)
    m <- length(basis$penalty)
    basis$made <- makes
    if (basis$infer == "none" && !basis$made) {
      basis$matrix <- gp_columns(basis, basis$rows, basis$multiplier)
      basis$left <- attr(basis$matrix, "left_over")
      basis$sums <- colSums(basis$matrix)
    } else {
      basis$matrix <- NULL
      basis$left <- matrix(0, n, length(basis$parts), dimnames = list(NULL, names(basis$blocks)))
      basis$sums <- basis$means <- numeric(m)
      in_chunks(n, 2^20 / m, function(at) {
        columns <- gp_columns(basis, basis$rows[at, , drop = FALSE], basis$multiplier[at])
        basis$left[at, ] <<- attr(columns, "left_over")
        basis$sums <<- basis$sums + colSums(columns)
        basis$means <<- basis$means + drop(weights[at] %*% columns) / sum(weights)
      })
    }
    shares <- if (is.null(basis$left)) numeric(length(basis$parts))
              else shares_left(basis$left, basis$multiplier)
    for (k in seq_along(shares)) basis$parts[[k]]$left_over <- shares[[k]]
    with_inferred(basis, basis$inferable)
  })
}

# The coefficients of a function are normal, with the square of its amplitude as their variance.
# Those of a relevance vector machine have variances of their own.
check_gp_prior <- function(prior, label) {
  if (prior_traits(prior)[["exchangeable"]] || is_relevance(prior)) return(invisible())
  abort("prior", "The prior of `", label, "` must be one of its amplitude, as prior_ridge() is, or ",
        "prior_relevance(); found ", prior$label, ". To select variables, use kernel_se(ard = TRUE).")
}

# Engines start from the amplitudes that were learned. engine_vb() keeps them where rows have a share
# of them: its update of a variance is for coefficients alone. engine_ecm() has no other.
learned_amplitudes <- function(assigned, frame, likelihood, engine) {
  log_sds <- learned_log_sds(frame, likelihood)
  if (length(log_sds) == 0L) return(assigned)
  updated <- !is_sampler(engine) && !is_approximation(engine) && !is_estimator(engine)
  itself <- trait(engine, "learns_kernels")
  known <- if (itself) names(log_sds) else if (updated) colnames(frame$left_over)
  assigned$blocks <- lapply(assigned$blocks, function(block) {
    own <- log_sds[block$label]
    if (is.na(own) || block$prior$name == "normal") return(block)
    if (block$label %in% known) {
      unit <- gp_bases(frame)[[1L]]$unit
      block$prior <- prior_ridge(variance = (unit * exp(own[[1L]]))^2)
      if (itself) {
        block$prior[c("label", "learned")] <- list("variance learned with the kernel", TRUE)
      }
    } else if (block$prior$name %in% c("half_t", "ridge")) {
      block$start <- own[[1L]]
    }
    block
  })
  assigned
}

# log s by label in the core's units, for classes those of the likelihood, in which engine_ecm()
# learns (basis$learned$rounds).
learned_log_sds <- function(frame, likelihood) {
  of_hinge <- coefficient_scale(likelihood_hinge(normalized = TRUE))
  unlist(lapply(gp_bases(frame), function(basis) {
    own <- vapply(basis$parts, function(part) part$numbers$log_sd, 0)
    known <- is_residual(likelihood) || !is.null(basis$learned$rounds)
    by <- if (known) 1 else coefficient_scale(likelihood) / of_hinge
    stats::setNames(own + log(by), names(basis$blocks))
  }))
}

part_theta <- function(part) as.double(vapply(part$numbers[-1L], `[[`, 0, "start"))

# The frame with these bases in place of those it has. Those with columns in the frame come before
# those that are made, of this kind or another (R/basis-made.R).
bind_gp <- function(frame, bases) {
  others <- Filter(Negate(is_gp), frame$bases)
  made <- vapply(others, is_made, TRUE)
  replaced <- c(others[made], bases)
  kept <- setdiff(seq_along(frame$columns), columns_of(c(others[made], gp_bases(frame))))
  labels <- setdiff(frame$term_labels, basis_labels(replaced))
  frame["made"] <- list(c(frame$made, gp_variables_of(Filter(is_made, bases))))
  replaced[seq_len(sum(made))] <- lapply(others[made], with_penalty)
  bases <- place_bases(replaced[order(vapply(replaced, is_made, TRUE))], length(kept))
  x <- frame$x[, kept[kept > frame$implicit] - frame$implicit, drop = FALSE]
  frame$x <- bind_columns(x, bases, lapply(bases, `[[`, "matrix"))
  frame$columns <- c(frame$columns[kept], unlist(lapply(bases, basis_columns)))
  frame$assign <- c(frame$assign[kept], rep(length(labels) + seq_along(bases), basis_sizes(bases)))
  frame$term_labels <- c(labels, basis_labels(bases))
  frame["left_over"] <- list(frame_left_over(Filter(Negate(is_learned), bases)))
  frame$bases <- c(others[!made], lapply(bases, function(basis) {
    basis[c("rows", "multiplier", "matrix", "left", "sums", "inferable")] <- NULL
    basis
  }))
  frame
}

# A basis of the frame as make_bases() gives it, to be placed anew.
with_penalty <- function(basis) {
  columns <- sort(c(basis$unpenalised, basis$columns))
  penalty <- integer(length(columns))
  for (k in seq_along(basis$blocks)) penalty[match(basis$blocks[[k]], columns)] <- k
  basis$penalty <- penalty
  basis
}
