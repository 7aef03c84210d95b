# Gaussian-process terms in a summary.

# Names of the columns of numbers: the covariate, "x[2]" of a matrix, "f[b]" of a factor's level.
input_names <- function(basis) {
  of <- basis$inputs$of
  names <- basis$covariates[of]
  for (k in which(tabulate(of, length(basis$covariates)) > 1L)) {
    own <- which(of == k)
    levels <- basis$expression$xlevels[[basis$covariates[k]]]
    names[own] <- paste0(basis$covariates[k], "[", if (is.null(levels)) seq_along(own) else levels,
                         "]")
  }
  names
}

# Data frame with one row per number of a kernel: `term`, `kernel` (a summand, `block` its
# variance), `number` (length scale, period, shape), `variable` (or variables that share it), and
# `estimate` on the scale of the variable. `sd`, `lower` and `upper` are NA unless the fit infers
# the number (R/gp-infer.R). `medians` are length scales in median distances between rows.
# `inferred`: is there a prior?
kernel_table <- function(object, level = 0.95) {
  rows <- lapply(gp_bases(object), function(basis) {
    products <- kernel_products(basis$kernel)
    spread <- inferred_spread(object, basis, level)
    do.call(rbind, Map(part_rows, basis$parts, products, names(basis$blocks),
                       MoreArgs = list(basis = basis, spread = spread)))
  })
  do.call(rbind, c(list(empty_kernel_table), rows))
}

empty_kernel_table <- data.frame(term = character(0), block = character(0),
                                 kernel = character(0), number = character(0),
                                 variable = character(0), estimate = numeric(0),
                                 sd = numeric(0), lower = numeric(0), upper = numeric(0),
                                 medians = numeric(0), inferred = logical(0))

# Mean, standard deviation and limits of what is inferred of a term's kernel, a row each.
inferred_spread <- function(object, basis, level) {
  at <- which(vapply(all_blocks(object), function(block) identical(block$of, basis$label), TRUE))
  do.call(rbind, lapply(at, function(k) parameter_spread(object, k, level)))
}

# The same of the numbers of a part.
part_spread <- function(part, spread) {
  values <- cbind(exp(part$numbers$theta), NA_real_, NA_real_, NA_real_)
  for (k in which(rep_len(part$moved_by > 0L, nrow(values)))) {
    values[k, ] <- exp(part$from[k]) * unlist(spread[part$moved_by[k], ])
  }
  values
}

part_rows <- function(part, product, block, basis, spread) {
  d <- length(basis$inputs$scale)
  values <- part_spread(part, spread)
  first <- 0L
  rows <- list()
  for (kernel in product) {
    sizes <- parameter_sizes(kernel, d)
    for (name in names(sizes)) {
      at <- first + seq_len(sizes[[name]])
      rows[[length(rows) + 1L]] <- number_rows(name, values[at, , drop = FALSE],
                                               unname(part$numbers$free[at]), kernel, basis)
      first <- first + sizes[[name]]
    }
  }
  rows <- do.call(rbind, rows)
  if (is.null(rows)) return(NULL)
  cbind(term = basis$label, block = block, kernel = product_words(product), rows)
}

product_words <- function(product) paste(vapply(product, format, ""), collapse = " * ")

# The rows of one parameter of a kernel; `values`: estimate, standard deviation and limits, a row a
# number.
number_rows <- function(name, values, free, kernel, basis) {
  variables <- input_names(basis)
  scale <- basis$inputs$scale
  has_unit <- name == "period" || (name == "lengthscale" && !kernel$name %in% c("periodic", "poly"))
  if (name == "lengthscale" && has_unit && nrow(values) == 1L) {
    shared <- match(scale, unique(scale)) # variables of the same scale have one length scale
    variables <- vapply(split(basis$covariates[basis$inputs$of], shared), function(names) {
      paste(unique(names), collapse = ", ")
    }, "")
    scale <- unique(scale)
  } else if (nrow(values) == 1L) {
    variables <- if (length(variables) == 1L) variables else ""
    scale <- scale[1L]
  }
  words <- switch(name, lengthscale = if (has_unit) "length scale" else "relative length scale",
                  name)
  is_length <- name == "lengthscale" && has_unit
  medians <- if (is_length) values[, 1L] / basis$median else NA_real_
  values <- values[rep_len(seq_len(nrow(values)), length(variables)), , drop = FALSE] *
    if (has_unit) scale else 1
  data.frame(number = words, variable = unname(variables), estimate = values[, 1L],
             sd = values[, 2L], lower = values[, 3L], upper = values[, 4L], medians = medians,
             inferred = free, row.names = NULL)
}

# A row a summand of a term's kernel: `term`, `block`, `kernel`, `points`, `learned`, `left_over`,
# `relevance` (has each point a variance of its own?), `rows` (are the points rows?).
points_table <- function(object) {
  rows <- lapply(gp_bases(object), function(basis) {
    data.frame(term = basis$label, block = names(basis$blocks),
               kernel = vapply(kernel_products(basis$kernel), product_words, ""),
               points = vapply(basis$parts, function(part) nrow(part$points), 0L),
               learned = !is.null(basis$moved), left_over = vapply(basis$parts, left_over, 0),
               relevance = has_relevance(basis),
               rows = vapply(basis$parts, function(part) !is.null(rownames(part$points)), TRUE))
  })
  do.call(rbind, rows)
}

# How the kernels were found: list(rows, seconds, evaluations, converged, scores), `scores` a matrix
# of the bound's own choice and the one taken: common factor of the length scales, evidence bound
# with the priors, leave-one-out log score; NULL if nothing was learned.
learning_facts <- function(object) {
  learned <- gp_bases(object)[[1L]]$learned
  if (is.null(learned)) return(NULL)
  if (!is.null(learned$rounds)) return(ecm_facts(learned))
  looked <- learned$factors
  at <- function(log_factor) which.min(abs(looked[, 1L] - log_factor))
  scores <- looked[c(at(0), at(learned$log_factor)), , drop = FALSE]
  dimnames(scores) <- list(c("best by evidence", "used"),
                           c("Factor", "Log evidence", "Leave-one-out score"))
  scores[, 1L] <- exp(scores[, 1L])
  c(learned[c("rows", "seconds", "evaluations", "converged")], list(scores = scores))
}

# Inducing points that were learned: list(before, after, evaluations, seconds), the evidence bound with
# the priors over the rows that kernels are learned from, before and after; NULL if none were.
moved_facts <- function(object) {
  moved <- lapply(gp_bases(object), `[[`, "moved")
  Find(Negate(is.null), moved)
}

gp_facts <- function(object, level) {
  if (length(gp_bases(object)) == 0L) return(NULL)
  cautions <- unlist(lapply(gp_bases(object), basis_cautions))
  list(numbers = kernel_table(object, level), points = points_table(object),
       learning = learning_facts(object), moved = moved_facts(object), cautions = cautions)
}

basis_cautions <- function(basis) {
  unlist(lapply(basis$parts, function(part) {
    label <- paste0("`", basis$label, "`")
    x <- paste(basis$covariates, collapse = ", ")
    c(if (has_no_effect(part)) {
        paste0("The data show hardly any effect of ", x, " in ", label, ": ", no_effect_words(part))
      },
      if (is_nearly_linear(part)) paste0(label, " is nearly linear. ", linear_advice(basis)),
      if (is_by_row(part)) {
        paste0("In ", label, " each row has almost a function value of its own (mean prior ",
               "correlation with the nearest row ", format(part$judged$nearest, digits = 2L),
               ").")
      },
      if (left_over(part) > most_left_over) {
        paste0("Use more points for ", label, ", as in points = ", more_inducing(nrow(part$points)),
               ".")
      })
  }))
}

no_effect_words <- function(part) {
  gain <- part$judged$gain
  if (!isTRUE(gain < no_gain)) {
    return(paste0("the standard deviation of the function was learned as ",
                  format(part$judged$amplitude, digits = 2L), "."))
  }
  paste0("without the function the log evidence is ",
         if (gain <= 0) "no lower." else paste0("only ", format(gain, digits = 2L), " lower."))
}

# ---- printed ------------------------------------------------------------------------------------

# Without `details` how they were learned is not said.
say_gp <- function(facts, nobs, n, digits, details = TRUE) {
  if (is.null(facts)) return(invisible())
  cat("\nGaussian-process terms:\n")
  for (k in seq_len(nrow(facts$points))) {
    part <- facts$points[k, ]
    if (k == 1L || part$term != facts$points$term[k - 1L]) say_wrapped(paste0(part$term, ":"), 2L)
    say_wrapped(paste0(part$kernel, ", ", points_words(part, nobs)), 4L)
    own <- facts$numbers[facts$numbers$block == part$block, ]
    say_kernel_numbers(utils::head(own, n), digits)
    say_more(nrow(own) - n, "numbers of this kernel")
  }
  if (any(!is.na(facts$numbers$medians))) {
    say_wrapped(paste("Length scales in units of the variables, and in median distances between",
                      "rows."), 2L)
  }
  if (details) say_learning(facts$learning, digits)
  if (details && !is.null(facts$moved)) {
    say_wrapped(paste0("Inducing points were learned in ", format(facts$moved$seconds, digits = 2L),
                       " s: the evidence bound rose from ",
                       formatC(facts$moved$before, digits = 2L, format = "f"), " to ",
                       formatC(facts$moved$after, digits = 2L, format = "f"), "."), 2L)
  }
  for (text in facts$cautions) say_wrapped(text, 2L)
}

points_words <- function(part, nobs) {
  if (part$relevance) {
    return(paste0("at ", part$points, if (part$rows) paste0(" of ", nobs, " rows") else " points",
                  ", see relevance_vectors()"))
  }
  paste0(part$points, if (part$learned) " learned", " inducing points for ", nobs, " rows",
         if (part$left_over < 1e-6) ", exact"
         else paste0(", which leave over ", format(100 * part$left_over, digits = 2L),
                     " % of the variance"))
}

say_kernel_numbers <- function(own, digits) {
  if (nrow(own) == 0L) return(invisible())
  names <- paste0("      ", own$number, ifelse(own$variable == "", "", " of "), own$variable,
                  ifelse(own$inferred, "", " (fixed)"))
  numbers <- own[c("estimate", "sd", "lower", "upper", "medians")]
  shown <- vapply(numbers, function(x) ifelse(is.na(x), "", format(x, digits = digits)),
                  character(nrow(own)))
  shown <- matrix(shown, nrow(own), dimnames = list(format(names), c("Estimate", "SD", "lower",
                                                                     "upper", "Medians")))
  print(shown[, !vapply(numbers, function(x) all(is.na(x)), TRUE), drop = FALSE], quote = FALSE,
        right = TRUE)
}

say_learning <- function(learning, digits) {
  if (is.null(learning)) return(invisible())
  if (!is.null(learning$rounds)) return(say_ecm(learning))
  say_wrapped(paste0("Kernels were learned from ", learning$rows, " rows in ",
                     format(learning$seconds, digits = 2L), " s",
                     if (!learning$converged) ", not converged",
                     ": by the evidence, then a common factor of all length scales by the ",
                     "leave-one-out score."), 2L)
  scores <- learning$scores
  if (isTRUE(all.equal(scores[1L, 1L], 1)) && isTRUE(all.equal(scores[2L, 1L], 1))) {
    scores <- scores[2L, , drop = FALSE]
    rownames(scores) <- "best by both, used"
  }
  shown <- cbind(format(scores[, 1L], digits = digits),
                 formatC(scores[, -1L, drop = FALSE], digits = 2L, format = "f"))
  dimnames(shown) <- list(format(paste0("    ", rownames(scores))), colnames(scores))
  print(shown, quote = FALSE, right = TRUE)
}
