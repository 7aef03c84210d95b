# Arguments of a smooth term, checked before mgcv is called: its arguments, its variables, and a
# basis no larger than they have distinct values.

# mgcv rounds, recycles or raises an odd k. -1, of t2() NA, is its default.
check_smooth_arguments <- function(given, term, kind) {
  if ("k" %in% names(term) && !is_size(given$k, kind)) {
    refuse_smooth_value(term, "k", "a whole number, the size of the basis", given$k)
  }
  if (kind == "t2" && any(given$k < 3, na.rm = TRUE)) {
    refuse_smooth_value(term, "k", "at least 3", given$k)
  }
  if ("bs" %in% names(term) && !is_basis(given$bs, kind)) {
    refuse_smooth_value(term, "bs", "a string, the name of a basis", given$bs)
  }
}

is_size <- function(k, kind) {
  if (kind == "t2" && length(k) > 0L && all(is.na(k))) return(TRUE)
  is.numeric(k) && (kind == "t2" || length(k) == 1L) && all(is.finite(k)) && all(k == round(k)) &&
    all(k >= 0 | (k == -1 & kind == "s"))
}

is_basis <- function(bs, kind) {
  is.character(bs) && !anyNA(bs) && (length(bs) == 1L || (kind == "t2" && length(bs) > 1L))
}

refuse_smooth_value <- function(term, name, what, found) {
  abort("formula", "`", deparse1(term), "`: `", name, "` must be ", what, "; found ",
        describe(found), ".")
}

refuse_tensor <- function(term, kind) {
  abort("unsupported", "`", deparse1(term), "`: the penalties of ", kind, "() overlap, so its ",
        "coefficients are no independent blocks. t2() is a tensor product whose penalties do not; ",
        "s(x, z) is an isotropic smooth of two variables.")
}

refuse_smooth_argument <- function(term, name, instead) {
  abort("unsupported", "`", deparse1(term), "`: the argument `", name, "` is not used here; ",
        instead, ".")
}

# Bases that take factors.
factor_bases <- c("re", "fs", "mrf", "sz")

check_covariates <- function(spec, data, term) {
  is_matrix <- vapply(data, function(v) !is.null(dim(v)), TRUE)
  if (any(is_matrix)) {
    abort("predictors", "`", deparse1(term), "`: the variables of a smooth term must be vectors; ",
          enumerate(names(data)[is_matrix]), " is a matrix.")
  }
  for (margin in smooth_margins(spec)) {
    if (class(margin)[1L] %in% paste0(factor_bases, ".smooth.spec")) next
    wrong <- margin$term[!vapply(data[margin$term], is.numeric, TRUE)]
    if (length(wrong) > 0L) {
      abort("predictors", "`", deparse1(term), "`: a smooth is of numbers; `", wrong[1L], "` is ",
            describe(data[[wrong[1L]]]), ". Effects of a factor's levels are `(1 | ", wrong[1L],
            ")`.")
    }
    for (name in margin$term) check_covariate(data[[name]], name, term)
  }
}

check_covariate <- function(v, name, term) {
  check_magnitudes(matrix(v), name)
  if (min(v) == max(v)) {
    abort("predictors", "`", deparse1(term), "`: `", name, "` does not vary among the rows of the ",
          "fit. Leave it out.")
  }
}

smooth_margins <- function(spec) if (is.null(spec$margin)) list(spec) else spec$margin

# mgcv's k where none is given; t2() gives it to its margins.
basis_dimension <- function(margin) {
  if (margin$bs.dim > 0) margin$bs.dim else c(10, 30, 110)[min(length(margin$term), 3L)]
}

# The smallest k mgcv builds; 1 for bases that are not known here.
smallest_dimension <- function(margin, data) {
  basis <- basis_name(margin)
  d <- length(numeric_terms(margin, data))
  m <- suppressWarnings(as.numeric(unlist(margin$p.order)))[1L]
  null <- if (basis %in% c("tp", "ts", "fs", "sz", "ds")) {
    mgcv::null.space.dimension(d, if (is.na(m)) 0 else m)
  }
  order <- if (is.na(m)) c(ps = 2, bs = 3, cp = 2)[basis] else m
  unname(switch(basis, tp = , ts = , fs = , sz = max(3, null + 1), cr = , cs = 3, cc = 4,
                ps = , bs = order + 2, cp = max(3, order + 1), gp = d + 2, ds = null + 2,
                ad = 8, sos = 3, 1))
}

basis_name <- function(margin) sub(".smooth.spec", "", class(margin)[1L], fixed = TRUE)

# mgcv takes a k that is too small for the smallest there is.
check_given_size <- function(margin, data, term) {
  smallest <- smallest_dimension(margin, data)
  k <- margin$bs.dim
  if (k < 0 || k >= smallest) return(invisible())
  if (distinct_values(margin, data) < smallest) refuse_few(margin, data, term)
  abort("formula", "`", deparse1(term), "`: `k`, the size of the basis, must be at least ",
        smallest, " for bs = \"", basis_name(margin), "\"; found ", k, ".")
}

# Values of the numbers; the factor of a basis such as "fs" has copies of them.
distinct_values <- function(margin, data) nrow(unique(data[numeric_terms(margin, data)]))

numeric_terms <- function(margin, data) {
  margin$term[vapply(data[margin$term], is.numeric, TRUE)]
}

explain_smooth <- function(e, spec, data, term) {
  for (margin in smooth_margins(spec)) {
    if (basis_name(margin) %in% c("re", "mrf")) next
    distinct <- distinct_values(margin, data)
    if (distinct < smallest_dimension(margin, data)) refuse_few(margin, data, term)
    if (distinct < basis_dimension(margin)) refuse_large(margin, data, term)
  }
  unknown <- Filter(Negate(has_basis), lapply(smooth_margins(spec), basis_name))
  abort("formula", "`", deparse1(term), "`: the smooth can't be built: ",
        if (length(unknown) > 0L) paste0("there is no basis bs = \"", unknown[[1L]], "\"")
        else mgcv_message(e), ".")
}

has_basis <- function(basis) {
  method <- utils::getS3method("smooth.construct", paste0(basis, ".smooth.spec"), optional = TRUE,
                               envir = asNamespace("mgcv"))
  !is.null(method)
}

# "`x` has 2 distinct values among the rows that the basis is made from"
count_values <- function(margin, data) {
  names <- numeric_terms(margin, data)
  paste0(enumerate(names), if (length(names) == 1L) " has " else " have ",
         distinct_values(margin, data), " distinct values among the rows that the basis is made from")
}

refuse_few <- function(margin, data, term) {
  abort("predictors", "`", deparse1(term), "`: ", count_values(margin, data), ", too few for a ",
        "smooth. Leave the smooth out, or use a linear term or a factor in its place.")
}

refuse_large <- function(margin, data, term) {
  abort("predictors", "`", deparse1(term), "`: ", count_values(margin, data), ", and the smooth ",
        "asks for k = ", basis_dimension(margin), if (margin$bs.dim <= 0) " (the default)",
        ". Give k of at most ", distinct_values(margin, data), ", or leave the smooth out.")
}
