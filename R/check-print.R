# What a check says in words.

#' @param x A check.
#' @param n How many quantities to print at most: those furthest off first where some are off.
#' @param digits Significant digits.
#' @rdname check_approximation
#' @export
print.bsvm_check <- function(x, n = 20L, digits = max(3L, getOption("digits") - 4L), ...) {
  check_shown(n)
  check_digits(digits)
  cat("Check of engine_", x$engine$name, "() against the exact posterior (", x$likelihood$label,
      ")\n", sep = "")
  say_wrapped(paste0("Pareto k ", format_k(x$pareto_k), " of ", x$draws, " draws, worth ",
                     format(x$ess, digits = 2L), " independent ones"), 2L)
  cat("\n")
  shown <- x$table[by_trust(x$table), , drop = FALSE]
  say_checked(utils::head(shown, n), is_close(x), digits)
  say_more(nrow(shown) - n, "quantities")
  cat("\n")
  say_wrapped(paste(check_sentences(x), collapse = " "))
  invisible(x)
}

# As they are, those not to trust first.
by_trust <- function(table) order(!table$trust %in% FALSE)

say_checked <- function(table, close, digits) {
  columns <- c("mean", "sd", if (close) c("mean_exact", "sd_exact", "shift", "sd_ratio"))
  if (nrow(table) == 0L) return(cat("no quantities\n"))
  shown <- as.matrix(table[columns])
  if (close) shown[, c("shift", "sd_ratio")] <- round(shown[, c("shift", "sd_ratio")], 2L)
  colnames(shown) <- c("mean", "sd", if (close) c("exact", "exact_sd", "shift", "ratio"))
  trust <- ifelse(is.na(table$trust), "?", ifelse(table$trust, "yes", "no"))
  formatted <- apply(shown, 2L, format, digits = digits)
  formatted <- matrix(formatted, nrow(shown), dimnames = dimnames(shown))
  print(cbind(formatted, trust), quote = FALSE, right = TRUE)
}

format_k <- function(k) formatC(k, digits = 2L, format = "f")

# Sentences: how close, what is off by how much or not to be trusted, who is exact.
check_sentences <- function(check) {
  engine <- paste0("engine_", check$engine$name, "()")
  if (!is_close(check)) {
    return(c(paste0("Over all unknowns together ", engine, " is far from the exact posterior: ",
                    "Pareto k is ", format_k(check$pareto_k), ", where below 0.7 is close."),
             tail_sentence(check), distrust_sentence(check$table), exact_sentence(check$exact)))
  }
  off <- off_phrases(check$table)
  start <- paste0(engine, " is close to the exact posterior: Pareto k is ",
                  format_k(check$pareto_k))
  if (length(off) == 0L) {
    return(paste0(start, ", and no mean is off by more than ", most_shift,
                  " standard deviations, no standard deviation by more than ",
                  round(100 * (most_ratio - 1)), " %, Monte Carlo error allowed for."))
  }
  c(paste0(start, ". Off are ", paste(off, collapse = "; "), ". The table has corrected values."))
}

# High k, and yet nearly all draws count the same.
tail_sentence <- function(check) {
  if (check$ess < 0.9 * check$draws) return(NULL)
  paste0("The difference is in the far tails: the weights are nearly equal, worth ",
         round(check$ess), " of ", check$draws, " draws.")
}

distrust_sentence <- function(table) {
  off <- which(table$trust %in% FALSE)
  off <- rownames(table)[off[order(-attr(table, "moved")[off])]]
  if (length(off) == 0L) {
    return("None of its means and standard deviations stands out, and none is vouched for.")
  }
  others <- if (length(off) < nrow(table)) "; nothing vouches for the others"
  paste0("Do not trust what it says of ", enumerate(off), others, ".")
}

exact_sentence <- function(exact) {
  if (is.null(exact)) return("No engine here draws from this posterior exactly.")
  paste0(exact$name, " has the exact answer",
         if (!is.na(exact$seconds)) paste0(", in about ", words_for_seconds(exact$seconds)), ".")
}

words_for_seconds <- function(seconds) {
  if (seconds < 1) return("a second")
  if (seconds < 120) return(paste(signif(seconds, 2L), "seconds"))
  if (seconds < 7200) return(paste(signif(seconds / 60, 2L), "minutes"))
  paste(signif(seconds / 3600, 2L), "hours")
}

# "`wt`: mean 0.31 sd too high, sd 1.2 times the exact one", those off most first.
off_phrases <- function(table, most = 8L) {
  off <- which(table$trust %in% FALSE)
  size <- pmax(abs(table$shift) / most_shift, abs(log(table$sd_ratio)) / log(most_ratio))
  off <- off[order(-size[off])]
  phrases <- vapply(utils::head(off, most), function(i) off_phrase(table[i, ]), "")
  c(phrases, if (length(off) > most) paste(length(off) - most, "more"))
}

off_phrase <- function(row) {
  mean <- if (abs(row$shift) > most_shift) {
    paste0("mean ", format(abs(row$shift), digits = 2L), " sd too ",
           if (row$shift > 0) "high" else "low")
  }
  sd <- if (abs(log(row$sd_ratio)) > log(most_ratio)) {
    paste0("sd ", format(row$sd_ratio, digits = 2L), " times the exact one")
  }
  paste0("`", rownames(row), "` (", paste(c(mean, sd), collapse = ", "), ")")
}

# ---- in summary() -------------------------------------------------------------------------------

# The check that goes into a summary, NULL for none.
check_of_summary <- function(fit, check, env) {
  if (identical(check, FALSE)) return(NULL)
  if (identical(check, TRUE)) return(check_approximate_fit(fit, 1000L, quote(list()), env))
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
