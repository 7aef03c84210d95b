# Gaussian-process terms whose kernels stay uncertain in the fit, gp(x, infer = "factor" or "all").
# Their columns depend on numbers that are inferred (R/basis-made.R, src/core/process/gp.cpp): a
# common factor of all length scales, or each number of the kernels that has a prior. These start
# from what was learned (R/gp-learn.R), and the inducing inputs stay. Such a basis has
#   inferred  list by name of priors
# and its parts `moved_by`, for each of their numbers the place in that list, 0 for none, and `from`,
# the logarithms that those of the free numbers are added to.

infer_choices <- c("none", "factor", "all")

# Inducing inputs are chosen, if all rows may be, for length scales this much shorter than learned.
shorter_for_points <- 3
most_left_inferred <- 0.01 # of the variance, mean over rows, if numbers are inferred

#' @export
basis_parameters.bsvm_basis_gp <- function(basis) basis$inferred

# With what is inferred, once its parts are known; `parts` has the free numbers as they were learned
# from.
with_inferred <- function(basis, parts) {
  if (basis$infer == "none") return(basis)
  check_left_inferred(basis)
  free <- Map(function(part, names) {
    open <- vapply(part$numbers[-1L], function(number) !is.null(number$prior), TRUE)
    if (basis$infer == "factor") open & names$scale else open
  }, parts, kernel_number_names(basis))
  if (!any(unlist(free))) refuse_nothing_inferred(basis)
  if (basis$infer == "factor") with_factor(basis, parts, free) else with_all(basis, parts, free)
}

refuse_nothing_inferred <- function(basis) {
  what <- if (basis$infer == "factor") "length scale" else "number"
  abort("formula", "`", basis$label, "`: infer = \"", basis$infer, "\" infers the ",
        if (basis$infer == "factor") "common factor of the length scales" else "numbers",
        " of the kernel that have a prior, and ", format(basis$kernel), " has no such ", what,
        ". Omit `infer`, or leave a length scale open, as in kernel_se().")
}

# What inducing points leave over is not known to the fit, and changes with the numbers.
check_left_inferred <- function(basis) {
  shares <- vapply(basis$parts, left_over, 0)
  if (max(shares) <= most_left_inferred) return(invisible())
  m <- nrow(basis$parts[[which.max(shares)]]$points)
  abort("unsupported", "`", basis$label, "`: infer = \"", basis$infer, "\" needs inducing points ",
        "that explain the function, and ", m, " leave over ",
        format(100 * max(shares), digits = 2L), " % of its variance (mean over rows). Use more: ",
        "points = ", more_inducing(m), ", or omit `infer`.")
}

# The density along the line on which all length scales have a common factor is a normal one in its
# logarithm, as each is.
with_factor <- function(basis, parts, free) {
  numbers <- unlist(unname(Map(function(part, own) part$numbers[-1L][own], parts, free)),
                    recursive = FALSE)
  precision <- vapply(numbers, function(number) number$parameters[["sd"]]^-2, 0)
  centre <- vapply(numbers, function(number) {
    log(number$parameters[["median"]]) - number$start
  }, 0)
  prior <- kernel_prior(exp(sum(precision * centre) / sum(precision)), sum(precision)^-0.5, 1)
  basis$inferred <- list(factor = prior)
  basis$parts <- Map(function(part, own) {
    part$moved_by <- as.integer(own)
    part$from <- part$numbers$theta
    part
  }, basis$parts, free)
  basis
}

with_all <- function(basis, parts, free) {
  names <- kernel_number_names(basis)
  first <- 0L
  for (k in seq_along(basis$parts)) {
    own <- free[[k]]
    moved_by <- replace(integer(length(own)), own, first + seq_len(sum(own)))
    first <- first + sum(own)
    units <- names[[k]]$unit
    basis$parts[[k]]$moved_by <- moved_by
    basis$parts[[k]]$from <- ifelse(own, -log(units), basis$parts[[k]]$numbers$theta)
    priors <- Map(function(number, unit) {
      kernel_prior(number$parameters[["median"]] * unit, number$parameters[["sd"]],
                   exp(number$start) * unit)
    }, parts[[k]]$numbers[-1L][own], units[own])
    basis$inferred <- c(basis$inferred, stats::setNames(priors, names[[k]]$name[own]))
  }
  names(basis$inferred) <- make.unique(names(basis$inferred), " ")
  basis
}

kernel_prior <- function(median, sd, start) {
  numbers <- c(median = median, sd = sd)
  new_hyperprior("log_normal", c(numbers, start = start), lognormal_label(signif(numbers, 4L)))
}

# For each part list(name, unit, scale) of its numbers: "lengthscale", "lengthscale of x2", with the
# kernel if there are several; in units as kernels are given them, that is periods in those of their
# variables; and is it a length scale that a common factor changes? (Not a polynomial's.)
kernel_number_names <- function(basis) {
  products <- kernel_products(basis$kernel)
  several <- length(unlist(products, recursive = FALSE)) > 1L
  d <- length(basis$inputs$scale)
  lapply(products, function(product) {
    each <- unlist(lapply(product, function(kernel) {
      sizes <- parameter_sizes(kernel, d)
      Map(function(name, size) {
        of <- if (size > 1L) paste(" of", input_names(basis)) else ""
        list(name = paste0(name, of, if (several) paste0(" (", kernel$name, ")")),
             unit = if (name == "period") basis$inputs$scale else rep(1, size),
             scale = rep(name == "lengthscale" && kernel$name != "poly", size))
      }, names(sizes), sizes)
    }), recursive = FALSE)
    lapply(c(name = "name", unit = "unit", scale = "scale"), function(what) {
      unlist(lapply(each, `[[`, what), use.names = FALSE)
    })
  })
}

# ---- in the core --------------------------------------------------------------------------------

#' @export
basis_feature.bsvm_basis_gp <- function(basis) {
  multiplied <- as.numeric(!is.null(basis$by))
  moved_by <- function(part) {
    if (is.null(part$moved_by)) 0 * part$numbers$theta else as.double(part$moved_by)
  }
  list(name = "gp",
       parameters = c(free = length(basis$inferred), multiplied = multiplied),
       parts = lapply(basis$parts, function(part) {
         list(name = "kernel", parameters = numeric(0), parts = part$factors,
              arrays = list(points = part$points, start = as.double(gp_start(part)),
                            moved_by = moved_by(part)))
       }))
}

# ---- of rows --------------------------------------------------------------------------------------

# (n x d) standardised inputs, and one more column of what the function is multiplied by.
gp_variables <- function(rows, multiplier) {
  if (is.null(multiplier)) rows else unname(cbind(rows, multiplier))
}

# list by label of those of the rows of the fit, or NULL.
gp_variables_of <- function(bases) {
  if (length(bases) == 0L) return(NULL)
  stats::setNames(lapply(bases, function(basis) gp_variables(basis$rows, basis$multiplier)),
                  basis_labels(bases))
}

# Rows with a missing or infinite value are NA.
#' @export
new_variables.bsvm_basis_gp <- function(basis, terms, newdata, unknown) {
  columns <- gp_new_columns(basis, terms, newdata, unknown)
  raw <- gp_numbers(columns[basis$covariates], basis$expression$xlevels)$x
  out <- gp_variables(gp_inputs(raw, basis$inputs), gp_multiplier(basis, columns))
  out[rowSums(!is.finite(out)) > 0, ] <- NA_real_
  out
}

# With the attribute `left_over`, as gp_columns().
#' @export
basis_at.bsvm_basis_gp <- function(basis, variables, values) {
  known <- !is.na(variables[, 1L])
  d <- length(basis$inputs$scale)
  m <- sum(vapply(basis$parts, function(part) nrow(part$points), 0L))
  multiplier <- if (!is.null(basis$by)) variables[known, d + 1L]
  columns <- gp_columns(basis, variables[known, seq_len(d), drop = FALSE], multiplier, values)
  out <- matrix(NA_real_, nrow(variables), m)
  left <- matrix(NA_real_, nrow(variables), length(basis$parts),
                 dimnames = list(NULL, names(basis$blocks)))
  out[known, ] <- columns
  over <- attr(columns, "left_over")
  left[known, ] <- if (is_learned(basis)) some_left(over) else over
  structure(out, left_over = left)
}

# What rounding makes of nothing left over is nothing, in the rows of the fit.
some_left <- function(share) share * (share >= least_left)

# The numbers to which the free numbers are added.
gp_start <- function(part) if (is.null(part$from)) part$numbers$theta else part$from

# The logarithms of a part's numbers at values of what is inferred; those learned without.
gp_theta <- function(part, values = NULL) {
  if (is.null(values)) return(part$numbers$theta)
  moved <- part$moved_by > 0L
  theta <- part$from
  theta[moved] <- theta[moved] + log(unlist(values))[part$moved_by[moved]]
  theta
}

# What is left over is independent from row to row, and in no average of rows.
#' @export
basis_draws.bsvm_basis_gp <- function(basis, fit, variables, values, rows = TRUE) {
  known <- which(!is.na(variables[, 1L]))
  d <- length(basis$inputs$scale)
  x <- variables[known, seq_len(d), drop = FALSE]
  values <- log(do.call(rbind, values))
  out <- matrix(NA_real_, nrow(variables), ncol(values))
  out[known, ] <- 0
  for (k in seq_along(basis$parts)) {
    part <- basis$parts[[k]]
    theta <- part$from + rbind(0, values)[part$moved_by + 1L, , drop = FALSE]
    label <- names(basis$blocks)[k]
    drawn <- with_core_conditions(core_process_draws(
      part$factors, x, part$points, theta, coefficient_draws(fit, basis$blocks[[k]]), rows
    ))
    out[known, ] <- out[known, ] + drawn$mean
    if (!rows) next
    block <- match(label, vapply(fit$blocks, `[[`, "", "label"))
    variance <- some_left(drawn$left_over) * rep(block_variances(fit, block), each = length(known))
    out[known, ] <- out[known, ] + sqrt(variance) * left_over_noise(fit, variance, label)
  }
  if (is.null(basis$by)) out else out * variables[, d + 1L]
}

# ---- what is said -------------------------------------------------------------------------------

# Rows beyond their margin cost the pseudo-likelihood nothing, so that its posterior of length scales
# prefers functions that are rough, whatever the data (kernels.md, section 4).
tell_rough <- function(frame, likelihood) {
  bases <- Filter(is_learned, gp_bases(frame))
  if (length(bases) == 0L || is_law(likelihood)) return(invisible())
  inform("rough_functions", "Under the hinge pseudo-likelihood the posterior of the kernel of ",
         enumerate(basis_labels(bases)), " prefers short length scales and large amplitudes. Use ",
         "this posterior for comparison only. Use likelihood_hinge(normalized = TRUE), the default ",
         "of engine_gaussian() and engine_slice(), or infer = \"none\".", once = "rough_functions")
}
