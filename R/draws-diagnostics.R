# How well chains agree and what their draws are worth: Rhat, bulk and tail effective sample size,
# and the Monte Carlo error of the mean, as the package posterior has them (Vehtari et al. 2021).

rhat_limit <- 1.01
ess_limit <- 400

has_posterior <- function() requireNamespace("posterior", quietly = TRUE)

need_posterior <- function(what) {
  if (!has_posterior()) {
    abort("unsupported", what, " needs the package posterior, which is not installed. Install it ",
          "with install.packages(\"posterior\").")
  }
}

need_draws <- function(object, what) {
  if (inherits(object$posterior, "bsvm_draws")) return(invisible())
  abort("unsupported", what, " needs draws, and a fit by ", call_of_engine(object), " has none. ",
        with_draws(object))
}

call_of_engine <- function(object) engine_call(object$engine)

# A row a variable of an array (variable, draws, chains); NA where there are too few draws or these
# do not vary.
diagnose <- function(draws) {
  size <- dim(draws)
  table <- core_diagnose(draws, size[1L], size[2L], size[3L])
  dimnames(table) <- list(dimnames(draws)[[1L]], c("Rhat", "Bulk_ESS", "Tail_ESS", "MCSE"))
  table
}

# Diagnostics of the population-level coefficients. If there are very many, only some are computed,
# evenly spread, and the others are NA.
diagnose_coefficients <- function(fit, most = 500) {
  names <- fit$design$columns
  at <- spread_over(length(names), most)
  some <- diagnose(population_draws(fit, at))
  table <- matrix(NA_real_, length(names), ncol(some), dimnames = list(names, colnames(some)))
  table[at, ] <- some
  table
}

spread_over <- function(n, most) unique(round(seq(1, n, length.out = min(most, n))))

# Warns where a limit is missed, naming the worst. What does not vary has no Rhat, which is fine.
warn_diagnosis <- function(table, advice = "Raise the engine's `draws` and `burnin`.") {
  ess <- pmin(table[, "Bulk_ESS"], table[, "Tail_ESS"])
  high <- which(table[, "Rhat"] > rhat_limit)
  low <- which(ess < ess_limit)
  if (length(high) + length(low) == 0L) return(invisible())
  worst_rhat <- high[which.max(table[high, "Rhat"])]
  worst_ess <- low[which.min(ess[low])]
  warn("convergence",
       if (length(high) > 0L) {
         rhat <- ceiling(1000 * table[worst_rhat, "Rhat"]) / 1000 # not "1.010, above 1.01"
         paste0("Chains disagree: Rhat is ", sprintf("%.3f", rhat), " for `",
                rownames(table)[worst_rhat], "`, above ", rhat_limit, ". ")
       },
       if (length(low) > 0L) {
         paste0("Few effective draws: ", floor(ess[worst_ess]), " for `",
                rownames(table)[worst_ess], "`, below ", ess_limit, ". ")
       },
       advice)
}

# At the end of a run: a look at the variances and at most 50 coefficients.
warn_chains <- function(result, spec) {
  if (result$termination == "interrupted") return(warn_cut_short(result$sampling))
  blocks <- c(spec$blocks, spec$group_blocks)
  variances <- variance_draws(blocks, result$posterior$variances)
  owner <- rep(seq_along(blocks), vapply(result$posterior$variances, NROW, 0L))
  warn_unbounded(variances, blocks[owner], spec$likelihood, spec$design$unit)
  coefficients <- some_coefficients(result$posterior, spec$design)
  table <- diagnose(bind_variables(coefficients, variances))
  if (nrow(table) > 0L && all(is.na(table[, "Rhat"]))) return(warn_unchecked())
  warn_diagnosis(table)
}

warn_unchecked <- function() {
  warn("convergence", "The chains can't be checked: there are too few draws, or they are not ",
       "finite. Raise the engine's `draws`.")
}

# Where a plane separates the classes, the pseudo-likelihood does not fall as the variance grows,
# and the tail of inverse-gamma(0.01, 0.01) has no end to speak of.
# `owners`: the block of each; `unit`: of the response.
warn_unbounded <- function(variances, owners, likelihood = likelihood_hinge(), unit = 1) {
  largest <- apply(variances, 1L, max)
  names <- dimnames(variances)[[1L]]
  is_root <- function(block) is_parameter(block) || !is.null(block$factor)
  power <- vapply(owners, function(block) unit_power(block) * (2 - is_root(block)), 0)
  roots <- grepl("^(nu|s)_", names) | vapply(owners, is_root, TRUE)
  bounded <- vapply(owners, is_coefficient, TRUE) # by its prior; its unit is that of a predictor
  far <- which(!bounded & largest / unit^power > ifelse(roots, 1e5, 1e10))
  if (length(far) > 0L) {
    words <- open_words(likelihood)
    warn("rank", "The data do not bound ", enumerate(names[far]), ": the largest draw is ",
         format(max(largest[far]), digits = 2L), ". ", words$perhaps, ", and then ",
         words$all_unreliable, ". ", bound_it(owners[far]))
  }
}

# Advice if the variances of these blocks are not bounded.
bound_it <- function(blocks) {
  if (all(vapply(blocks, is_parameter, TRUE))) {
    return("Give it a prior with a lighter tail, or a number if the likelihood accepts one.")
  }
  bounded <- c("normal", "half_t", "huang_wand")
  if (!all(vapply(blocks, function(block) block$prior$name %in% bounded, TRUE))) {
    return(paste("Use prior_ridge(), whose half-t standard deviation is bounded, or give the",
                 "variance (or `nu`) a number."))
  }
  if (any(vapply(blocks, function(block) block$prior$name == "huang_wand", TRUE))) {
    return(paste("Give the variances numbers: `(x || g)` in place of `(x | g)`, with",
                 "prior = list(g = prior_ridge(variance = 1))."))
  }
  "Give the variance a number, as in prior_ridge(variance = 1)."
}

warn_cut_short <- function(sampling) {
  warn("interrupted", "The run was interrupted: ", chains_text(sampling),
       " are kept. The chains have not been checked; see summary().")
}

# Messages that were given already and come once per session.
session <- new.env(parent = emptyenv())

# Not on the user's scale, which matters to no diagnostic but the intercept's, there centred.
some_coefficients <- function(posterior, design) {
  names <- design$columns[core_layout(design)$kept]
  at <- spread_over(length(names), 50)
  draws <- posterior$coefficients[at, , , drop = FALSE]
  dimnames(draws) <- list(names[at], NULL, NULL)
  draws
}

# Arrays (variable, draws, chains), one below the other.
bind_variables <- function(...) {
  parts <- Filter(function(part) length(part) > 0L, list(...))
  if (length(parts) == 0L) return(array(0, c(0L, 1L, 1L)))
  rows <- do.call(rbind, lapply(parts, draw_matrix))
  array(rows, c(nrow(rows), dim(parts[[1L]])[-1L]), dimnames = list(rownames(rows), NULL, NULL))
}
