# One assertion a function. Each returns its argument, so that it can stand in an expression.

check_positive <- function(x, name, class = "argument") {
  x <- check_number(x, name, class)
  if (x <= 0) abort(class, "`", name, "` must be above 0; found ", describe(x), ".")
  x
}

check_number <- function(x, name, class = "argument") {
  if (!is.numeric(x) || length(x) != 1L || !is.finite(x)) {
    abort(class, "`", name, "` must be one finite number; found ", describe(x), ".")
  }
  unname(x)
}

check_count <- function(x, name, class = "argument", least = 1L) {
  check_number(x, name, class)
  if (x < least || x > .Machine$integer.max || x != round(x)) {
    abort(class, "`", name, "` must be a whole number of at least ", least, "; found ",
          describe(x), ".")
  }
  as.integer(x)
}

check_flag <- function(x, name, class = "argument") {
  if (!is.logical(x) || length(x) != 1L || is.na(x)) {
    abort(class, "`", name, "` must be TRUE or FALSE; found ", describe(x), ".")
  }
  x
}

check_size <- function(rows, columns = 1) {
  limit <- .Machine$integer.max
  if (rows > limit || as.numeric(rows) * columns > limit) {
    abort("size", "The design has ", format(rows), " rows and ", format(columns),
          " columns; rows, and rows times columns, must not exceed ", limit,
          ". Fit a sample of the rows or fewer columns.")
  }
}

# Arguments of bsvm_control(), not of an engine or of bsvm().
control_hints <- c(
  tol = "Use `control = bsvm_control(tol = )` instead.",
  max_passes = "Use `control = bsvm_control(max_passes = )` instead.",
  threads = "Use `control = bsvm_control(threads = )` instead.",
  verbose = "Use `control = bsvm_control(verbose = )` instead.",
  start = "Use `control = bsvm_control(start = )` instead."
)

# Arguments of other packages that users may try, and their replacements here.
fit_hints <- c(
  control_hints,
  re.form = "Use `re_formula` instead, an argument of predict().",
  allow.new.levels = "Use `allow_new_levels` instead, an argument of predict().",
  kernel = "Use it in a term of the formula, as in y ~ gp(x1, x2, kernel = kernel_se()).",
  cost = paste("The penalty is inferred by default; LIBSVM's is",
               "`prior = prior_ridge(variance = cost / 2)` with `likelihood = \"hinge\"`."),
  family = "The likelihood is set by `likelihood`, and is that of the support vector machine.",
  scale = paste("Use `standardize`, TRUE or FALSE; the scale of residuals is an argument of",
                "their likelihood, as in `likelihood_eps_insensitive(scale = ~ x)`."),
  dispformula = paste("The scale of residuals is an argument of their likelihood, as in",
                      "`likelihood_eps_insensitive(scale = ~ x)`."),
  sigma = paste("The scale of residuals is an argument of their likelihood, as in",
                "`likelihood_eps_insensitive(scale = ~ x)`."),
  standardise = "Use `standardize`, TRUE or FALSE.",
  priors = "Use `prior`, a prior or a list of priors.",
  normalized = "Use `likelihood = \"normalized\"`, which is also the default.",
  normalised = "Use `likelihood = \"normalized\"`, which is also the default.",
  iter = "Use `engine = engine_slice(draws = , burnin = )` instead.",
  warmup = "Use `engine = engine_slice(burnin = )` instead.",
  burnin = "Use `engine = engine_slice(burnin = )` instead.",
  draws = "Use `engine = engine_slice(draws = )` instead.",
  thin = "Use `engine = engine_slice(thin = )` instead.",
  chains = "Use `engine = engine_slice(chains = )` instead.",
  cores = "Use `control = bsvm_control(threads = )` instead.",
  seed = "Draws follow R's random numbers: call set.seed() before."
)

# `dots` is substitute(list(...)) of the caller: nothing in it is evaluated. `what` is the function,
# `hints` what to say about some names.
check_dots <- function(dots, what = "bsvm()", hints = fit_hints) {
  if (length(dots) == 1L) return(invisible())
  names <- names(dots)[-1L]
  if (is.null(names) || !all(nzchar(names))) {
    abort("argument", what, " can't use an unnamed argument: ",
          deparse(as.list(dots)[-1L][[which(!nzchar(c(names, "")))[1L]]], nlines = 1L),
          ". Name it; the help page has the names.")
  }
  hint <- unique(hints[names[names %in% names(hints)]])
  if (length(hint) == 0L) hint <- "See its help page for the arguments it has."
  abort("argument", what, " has no argument ", enumerate(names), ". ", paste(hint, collapse = " "))
}
