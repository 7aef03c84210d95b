# A check in words.

#' @param x An object from `check_approximation()`.
#' @param n The maximum number of quantities to print. If some quantities are off, the worst come
#'   first.
#' @param digits Significant digits.
#' @rdname check_approximation
#' @export
print.bsvm_check <- function(x, n = 20L, digits = max(3L, getOption("digits") - 4L), ...) {
  check_shown(n)
  check_digits(digits)
  cat("Check of ", engine_call(x$engine), " against the exact posterior (", x$likelihood$label,
      ")\n", sep = "")
  say_wrapped(source_sentence(x), 2L)
  cat("\n")
  shown <- x$table[by_trust(x$table), , drop = FALSE]
  say_checked(utils::head(shown, n), x$usable, digits)
  say_more(nrow(shown) - n, "quantities")
  cat("\n")
  say_wrapped(paste(check_sentences(x), collapse = " "))
  invisible(x)
}

# As they are, those not to trust first.
by_trust <- function(table) order(!table$trust %in% FALSE)

say_checked <- function(table, usable, digits) {
  columns <- c("mean", "sd", if (usable) c("mean_corrected", "sd_corrected", "shift", "sd_ratio"))
  if (nrow(table) == 0L) return(cat("no quantities\n"))
  shown <- as.matrix(table[columns])
  if (usable) shown[, c("shift", "sd_ratio")] <- round(shown[, c("shift", "sd_ratio")], 2L)
  colnames(shown) <- c("mean", "sd", if (usable) c("corrected", "sd", "shift", "ratio"))
  trust <- ifelse(is.na(table$trust), "?", ifelse(table$trust, "yes", "no"))
  formatted <- apply(shown, 2L, format, digits = digits)
  formatted <- matrix(formatted, nrow(shown), dimnames = dimnames(shown))
  print(cbind(formatted, trust), quote = FALSE, right = TRUE)
}

format_k <- function(k) formatC(k, digits = 2L, format = "f")

# Where corrected values come from.
source_sentence <- function(check) {
  draws <- paste0(check$draws, " draws, effective sample size ", floor(check$ess))
  if (check$method == "importance") {
    return(paste0("Pareto k ", format_k(check$pareto_k), " (", draws, ")"))
  }
  paste0("Corrected by chains of ", check$exact$name, " (", draws, ")",
         if (!is.na(check$pareto_k)) paste0("; Pareto k ", format_k(check$pareto_k),
                                            ": importance weights were not used"))
}

# Sentences: how close, which quantities are off by how much, and what to do.
check_sentences <- function(check) {
  engine <- engine_call(check$engine)
  trust <- check$table$trust
  if (!check$usable) return(c(unusable_sentence(check), unconfirmed, exact_sentence(check)))
  off <- off_phrases(check$table)
  if (length(off) > 0L) {
    return(c(paste0(engine, " is off for ", sum(trust %in% FALSE), " of ", length(trust),
                    if (length(trust) == 1L) " quantity: " else " quantities: ",
                    paste(off, collapse = "; "), "."),
             "The table has corrected values.", exact_sentence(check)))
  }
  if (!anyNA(trust)) {
    return(paste0(engine, " is close to the exact posterior: every mean is within ", most_shift,
                  " standard deviations and every standard deviation within ",
                  round(100 * (most_ratio - 1)), " % of the corrected value."))
  }
  c(paste0("No estimate is clearly wrong, but ", sum(is.na(trust)), " of ", length(trust),
           " cannot be confirmed."), unconfirmed_sentences(check$table))
}

unconfirmed_sentences <- function(table) {
  names <- rownames(table)
  heavy <- is.na(table$sd_corrected)
  near <- is.na(table$trust) & !heavy
  c(if (any(heavy)) {
      paste0("The posterior of ", enumerate(names[heavy]), " has so heavy a tail that its ",
             "standard deviation cannot be estimated.")
    },
    if (any(near)) {
      paste0("For ", enumerate(names[near]), " the difference from the corrected value is too ",
             "near the limits (", limits_text(), ") for its Monte Carlo error.")
    })
}

limits_text <- function() {
  paste0(most_shift, " standard deviations, ", round(100 * (most_ratio - 1)), " %")
}

unconfirmed <- "No estimate is clearly wrong, but none can be confirmed."

unusable_sentence <- function(check) {
  if (check$method == "chains") {
    return(paste0("Chains of ", check$exact$name, " did not converge in ", check$draws, " draws."))
  }
  paste0("Importance weights cannot be used: Pareto k is ", format_k(check$pareto_k),
         ", above ", highest_k, ", or the effective sample size is below ", least_ess, ".")
}

exact_sentence <- function(check) {
  exact <- check$exact
  if (is.null(exact)) return("No engine draws from this posterior exactly.")
  paste0("update(fit, engine = ", exact$name, ") draws from the exact posterior",
         if (!is.na(exact$seconds)) paste0(", in about ", words_for_seconds(exact$seconds)), ".")
}

words_for_seconds <- function(seconds) {
  if (seconds < 1.5) return("a second")
  if (seconds < 120) return(paste(signif(seconds, 2L), "seconds"))
  if (seconds < 7200) return(paste(signif(seconds / 60, 2L), "minutes"))
  paste(signif(seconds / 3600, 2L), "hours")
}

# "the mean of `wt` is 0.31 standard deviations too high and its standard deviation 0.69 of the
# corrected value", the largest differences first.
off_phrases <- function(table, most = 8L) {
  off <- which(table$trust %in% FALSE)
  size <- pmax(abs(table$shift) / most_shift, abs(log(table$sd_ratio)) / log(most_ratio),
               na.rm = TRUE)
  off <- off[order(-size[off])]
  phrases <- vapply(utils::head(off, most), function(i) off_phrase(table[i, ]), "")
  c(phrases, if (length(off) > most) paste(length(off) - most, "more"))
}

off_phrase <- function(row) {
  name <- paste0("`", rownames(row), "`")
  ratio <- paste(format(row$sd_ratio, digits = 2L), "of the corrected value")
  high <- abs(row$shift) > most_shift
  wrong <- isTRUE(abs(log(row$sd_ratio)) > log(most_ratio))
  mean <- paste0("the mean of ", name, " is ", format(abs(row$shift), digits = 3L),
                 " standard deviations too ", if (row$shift > 0) "high" else "low")
  if (high && wrong) return(paste0(mean, " and its standard deviation ", ratio))
  if (high) mean else paste0("the standard deviation of ", name, " is ", ratio)
}

# ---- in summary() -------------------------------------------------------------------------------

# The check that goes into a summary, NULL for none.
check_of_summary <- function(fit, check, env) {
  if (identical(check, FALSE)) return(NULL)
  if (identical(check, TRUE)) return(check_approximate_fit(fit, NULL, quote(list()), env))
  if (!inherits(check, "bsvm_check")) {
    abort("argument", "`check` must be TRUE, FALSE or made by check_approximation(); found ",
          describe(check), ".")
  }
  if (!identical(check$centre, fit$posterior$mean)) {
    abort("argument", "`check` must be the check of this fit; found that of another.")
  }
  check
}

check_note <- function(x) {
  if (!is.null(x$check)) paste(check_sentences(x$check), collapse = " ")
}
