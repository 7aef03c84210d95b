# Counts of two classes, cbind(successes, failures): each row of the data becomes a row for each of
# the two classes, weighted with its count, which is the same likelihood.

# The two columns of counts, NULL if the response is something else.
count_response <- function(formula, data, likelihood) {
  left <- if (inherits(formula, "formula") && length(formula) == 3L) formula[[2L]]
  if (!is_call_to(left, "cbind") || length(left) != 3L || kind_for(likelihood) != "classes") {
    return(NULL)
  }
  counts <- tryCatch(eval(left, data, formula_environment(formula)), error = function(e) NULL)
  if (!is.numeric(counts)) return(NULL)
  if (!is.data.frame(data)) {
    abort("data", "`data` must be a data frame for a response of counts; found ", describe(data), ".")
  }
  good <- nrow(counts) == nrow(data) && !anyNA(counts) && all(counts >= 0 & counts == round(counts))
  if (!good) {
    abort("response", "The response cbind(successes, failures) must have two counts for each of the ",
          nrow(data), " rows: whole numbers of at least 0, none missing. Found ",
          describe(counts), " with ", describe_counts(counts, nrow(data)), ". For several responses of numbers use ",
          "`likelihood = likelihood_gaussian()`.")
  }
  counts
}

describe_counts <- function(counts, n) {
  if (nrow(counts) != n) return(paste(nrow(counts), "rows"))
  if (anyNA(counts)) return(paste(sum(is.na(counts)), "missing values"))
  wrong <- counts[counts < 0 | counts != round(counts)]
  paste0(format(wrong[1L], digits = 4L),
         if (length(wrong) > 1L) paste(" and", length(wrong) - 1L, "others"))
}

# The call of the fit to the rows of both classes.
call_for_counts <- function(call, counts, formula, data, env) {
  if (any(c("weights", "class.weights") %in% names(call))) {
    abort("weights", "A response of counts has its own weights; omit `weights` and `class.weights`.")
  }
  kept <- if (is.null(call$subset)) rep(TRUE, nrow(data))
          else eval(call$subset, data, env)
  kept <- if (is.logical(kept)) which(kept) else kept
  rows <- rep(kept, each = 2L)
  class <- rep(1:2, length(kept))
  count <- counts[cbind(rows, 3L - class)]
  data <- data[rows, , drop = FALSE]
  row.names(data) <- NULL
  if ("." %in% all.names(formula[[3L]])) formula <- parse_formula(formula, data)$formula
  response <- free_name("outcome", names(data))
  weight <- free_name("count", c(names(data), response))
  data[[response]] <- factor(c("failure", "success")[class], c("failure", "success"))
  data[[weight]] <- count
  formula[[2L]] <- as.name(response)
  call[[1L]] <- bsvm # wherever the package is
  call$subset <- NULL
  call$formula <- formula
  call$data <- data[count > 0, , drop = FALSE]
  call$weights <- as.name(weight)
  call
}

free_name <- function(name, taken) {
  while (name %in% taken) name <- paste0(".", name)
  name
}
