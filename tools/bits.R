# Does a refactoring change a bit? Some 500 models are fitted, and what the fits say is kept.
#
#   Rscript tools/bits.R store FILE            with the old build
#   Rscript tools/bits.R compare FILE          with the new one
#   Rscript tools/bits.R compare FILE WORDS    only cases whose name matches a regular expression
#
# Run it at the root of the sources. The package is the one that library(bsvm) finds, so R_LIBS
# chooses the build. The same machine, compiler and flags are meant: others round differently. The
# last line of a comparison is "512 cases, 0 differ"; the exit status is 1 if any do.
# What is kept are plain numbers and the words of warnings, messages and refusals; no calls, no
# times. The cases are in bits-cases.R; they need the packages that the tests need.

suppressPackageStartupMessages({
  library(bsvm)
  source("tools/bits-cases.R")
})

# ---- what is asked of a fit ---------------------------------------------------------------------

predicted <- function(...) {
  function(fit, new) do.call(stats::predict, c(list(fit), new, list(...)))
}

# Each a function of the fit and the arguments of predict(); beside these is fields_of().
asked <- list(
  coef = function(fit, new) coef(fit), fixef = function(fit, new) fixef(fit),
  vcov = function(fit, new) vcov(fit), confint = function(fit, new) confint(fit),
  VarCorr = function(fit, new) as.data.frame(VarCorr(fit)),
  ranef = function(fit, new) as.data.frame(ranef(fit)),
  fitted = function(fit, new) fitted(fit), link = predicted(type = "link"),
  interval = predicted(type = "link", interval = TRUE), prob = predicted(type = "prob"),
  draws = function(fit, new) posterior::as_draws_array(fit),
  imputed = function(fit, new) imputed(fit),
  imputed_draws = function(fit, new) imputed(fit, draws = TRUE),
  inclusion = function(fit, new) inclusion(fit), path = function(fit, new) regularization_path(fit),
  support_vectors = function(fit, new) support_vectors(fit)
)

# What a case asks for whose name says "with check" and the like.
asked_more <- list(
  check = function(fit, new) {
    check_approximation(fit, draws = 200)[c("pareto_k", "ess", "table", "values", "weights")]
  },
  response = function(fit, new) vcov(fit, method = "linear_response"),
  loo = function(fit, new) {
    list(log_lik(fit), loo(fit)[c("pointwise", "diagnostics")], waic(fit)$pointwise,
         do.call(posterior_epred, c(list(fit), new)))
  },
  limits = function(fit, new) as.data.frame(ranef(fit, level = 0.9)),
  integrated = function(fit, new) integrated_loglik(fit)
)

fields_of <- function(fit) {
  fields <- fit[c("elbo", "start_bounds", "trace", "passes", "gradient", "termination",
                  "odds_slope")]
  c(fields, list(seed = fit$sampling$seed, draws_of_chain = fit$sampling$draws,
                 engine = fit$engine$name, likelihood = fit$likelihood$name,
                 hyper = lapply(c(fit$blocks, fit$group_blocks), `[[`, "hyper")))
}

# ---- what is kept -------------------------------------------------------------------------------

# Vectors and lists of them, without attributes; the rest (calls, functions) is NULL.
plain <- function(x) {
  if (is.factor(x)) return(as.character(x))
  if (is.list(x)) return(lapply(x, plain))
  if (is.atomic(x)) as.vector(x)
}

# Class and text, without the folder of this session and without times.
words_of <- function(condition) {
  text <- gsub(tempdir(), "<folder>", conditionMessage(condition), fixed = TRUE)
  time <- ", in about (a second|[0-9.]+ (seconds|minutes|hours))"
  paste0(class(condition)[1L], ": ", sub(time, "", text))
}

answer <- function(code) tryCatch(plain(code), error = words_of)

answers <- function(fit, case) {
  if (!inherits(fit, "bsvm")) return(list(value = plain(fit)))
  asked <- c(asked, asked_more[intersect(case$more, names(asked_more))])
  c(plain(fields_of(fit)), lapply(asked, function(ask) answer(ask(fit, case$new))))
}

# What is said once a session depends on which cases came before.
keep_words <- function(code, keep) {
  withCallingHandlers(code, warning = function(w) {
    keep("warnings", words_of(w))
    invokeRestart("muffleWarning")
  }, message = function(m) {
    if (!grepl("once a session", conditionMessage(m))) keep("messages", words_of(m))
    invokeRestart("muffleMessage")
  })
}

record <- function(case) {
  said <- list()
  seeded(1, NULL)
  found <- keep_words(
    tryCatch(answers(case$fit(), case), error = function(e) list(refused = words_of(e))),
    function(kind, words) said[[kind]] <<- c(said[[kind]], words)
  )
  c(found, said)
}

record_all <- function(cases) {
  started <- proc.time()[["elapsed"]]
  message(length(cases), " cases by the package in ", dirname(system.file(package = "bsvm")))
  found <- lapply(cases, record)
  message(round(proc.time()[["elapsed"]] - started), " seconds")
  found
}

# ---- comparison ---------------------------------------------------------------------------------

# Not even zeros of another sign are the same.
same <- function(a, b) identical(a, b, num.eq = FALSE)

numbers_in <- function(x) {
  as.double(unlist(rapply(list(x), as.double, c("numeric", "integer", "logical"), how = "unlist")))
}

texts_in <- function(x) as.character(unlist(rapply(list(x), identity, "character", how = "unlist")))

# How component `a` of the store differs from `b` as it is now, in words.
difference <- function(a, b) {
  if (!same(texts_in(a), texts_in(b))) return(differing_texts(texts_in(a), texts_in(b)))
  a <- numbers_in(a)
  b <- numbers_in(b)
  if (length(a) != length(b)) return(paste(length(b), "numbers, before", length(a)))
  if (!identical(is.finite(a), is.finite(b))) {
    return(paste(sum(is.finite(a) != is.finite(b)), "numbers are finite before or now, not both"))
  }
  differing_numbers(a, b)
}

# The first that differ.
differing_texts <- function(a, b) {
  length(a) <- length(b) <- max(length(a), length(b))
  at <- which(!mapply(identical, a, b))[1L]
  paste0('"', b[at], '", before "', a[at], '"')
}

differing_numbers <- function(a, b) {
  at <- is.finite(a) & a != b
  if (!any(at)) return("signs of zeros, numbers that are not finite, or the order of parts")
  gap <- abs(a - b)[at]
  sprintf("%d of %d numbers, by up to %.3g (absolute) and %.3g (relative)", sum(at), length(a),
          max(gap), max(gap / pmax(abs(a), abs(b))[at]))
}

# Lines for the components that differ; `old` and `new` are NULL where there is no such case.
differences <- function(old, new) {
  if (is.null(old)) return("is not in the file")
  if (is.null(new)) return("is in the file only")
  parts <- union(names(old), names(new))
  parts <- parts[!vapply(parts, function(part) same(old[[part]], new[[part]]), NA)]
  vapply(parts, function(part) paste0(part, ": ", difference(old[[part]], new[[part]])), "")
}

report <- function(old, new) {
  names <- union(names(old), names(new))
  lines <- lapply(names, function(name) differences(old[[name]], new[[name]]))
  differ <- lengths(lines) > 0L
  for (k in which(differ)) cat(names[k], "\n", paste0("  ", lines[[k]], "\n"), sep = "")
  cat(length(names), " cases, ", sum(differ), " differ\n", sep = "")
  !any(differ)
}

# ---- by hand ------------------------------------------------------------------------------------

matching <- function(cases, words) {
  if (length(words) == 0L) cases else cases[grepl(words, names(cases))]
}

main <- function(arguments) {
  if (length(arguments) < 2L || !arguments[1L] %in% c("store", "compare")) {
    stop("Usage: Rscript tools/bits.R store|compare FILE [WORDS]", call. = FALSE)
  }
  file <- arguments[2L]
  old <- if (arguments[1L] == "compare") readRDS(file) # a file that is not there fails at once
  words <- arguments[-(1:2)]
  cases <- matching(bits_cases(), words)
  if (length(cases) == 0L) stop("No case has a name that matches ", words, ".", call. = FALSE)
  new <- record_all(cases)
  if (arguments[1L] == "store") return(saveRDS(new, file))
  if (!report(matching(old, words), new)) quit(status = 1L)
}

main(commandArgs(trailingOnly = TRUE))
