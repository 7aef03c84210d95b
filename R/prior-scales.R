# Scales of single coefficients, `sigma` of prior_bridge() and prior_spike_slab().

# A number or several.
check_all_positive <- function(x, name) {
  if (length(x) == 1L) return(check_positive(x, name, "prior"))
  if (!is.numeric(x) || is.object(x) || !is.null(dim(x)) || length(x) == 0L) {
    abort("prior", "`", name, "` must be positive numbers; found ", describe(x), ".")
  }
  bad <- which(!(is.finite(x) & x > 0))
  if (length(bad) > 0L) {
    abort("prior", "`", name, "` must be positive, finite numbers; number ", bad[1L], " is ",
          format(x[bad[1L]]), ".")
  }
}

# A block whose prior has scales of single coefficients, now that their number is known.
fill_scales <- function(block) {
  sigma <- block$prior$sigma
  if (is.null(sigma)) return(block)
  m <- length(block$columns)
  if (!length(sigma) %in% c(1L, m)) {
    abort("prior", "`sigma` must be one number or one for each of the ", m, " columns of ",
          enumerate(block$label), "; found ", length(sigma), ".")
  }
  block$prior$parameters <- c(block$prior$parameters,
                              stats::setNames(rep_len(sigma, m), paste0("sigma_", seq_len(m))))
  block
}
