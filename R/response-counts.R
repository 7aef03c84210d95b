# Counts of two classes, cbind(successes, failures): each row of the data becomes a row for each of
# the two classes, weighted with its count, which is the same likelihood. The fit has `counts`:
#   formula   as it was called, `.` written out
#   rows      numbers of the data's rows, for each row that the fit keeps; `used`, without those that
#             `na.action` excludes
#   names     of the two columns
#   trials    how many in all

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

# `call` is the call as it was written, `matched` the one to evaluate.
fit_counts <- function(matched, call, counts, formula, data, env) {
  expanded <- call_for_counts(matched, counts, formula, data)
  fit <- eval(expanded$call, env)
  fit$call <- clean_call(call)
  written <- fit$formula
  written[[2L]] <- formula[[2L]]
  rows <- expanded$rows
  used <- if (is.null(fit$na.action)) rows else rows[-fit$na.action]
  fit$counts <- list(formula = written, rows = rows, used = used, names = colnames(counts),
                     trials = sum(fit$weights))
  fit
}

# The call of the fit to the rows of both classes, and the rows of the data that they are of.
call_for_counts <- function(call, counts, formula, data) {
  if (any(c("weights", "class.weights") %in% names(call))) {
    abort("weights", "A response of counts has its own weights; omit `weights` and `class.weights`.")
  }
  subset <- evaluate(call$subset, data, formula, "subset")
  kept <- row_numbers(subset, nrow(data), row.names(data))
  offset <- check_offset(evaluate(call$offset, data, formula, "offset"), nrow(data))
  if (!is.null(offset)) data[[given_column[["offset"]]]] <- offset
  rows <- rep(kept, each = 2L)
  class <- rep(1:2, length(kept))
  count <- counts[cbind(rows, 3L - class)]
  original <- data
  data <- data[rows, , drop = FALSE]
  row.names(data) <- NULL
  response <- free_name("outcome", names(data))
  weight <- free_name("count", c(names(data), response))
  data[[response]] <- factor(c("failure", "success")[class], c("failure", "success"))
  data[[weight]] <- count
  call[[1L]] <- bsvm # wherever the package is
  call$subset <- NULL
  call$formula <- with_response(formula, response, original)
  call$data <- data[count > 0, , drop = FALSE]
  call$weights <- as.name(weight)
  if (!is.null(offset)) call$offset <- as.name(given_column[["offset"]])
  list(call = call, rows = rep(seq_along(kept), each = 2L)[count > 0])
}

# The fit as it was called: a row of data for each row of counts.
as_called <- function(fit) {
  if (is.null(fit$counts)) return(fit)
  fit$formula <- fit$counts$formula
  own <- all.vars(fit$terms[[2L]])
  if (!is.null(fit$data)) {
    fit$data <- fit$data[!duplicated(fit$counts$rows), setdiff(names(fit$data), own), drop = FALSE]
  }
  fit
}

# n x 2, a row for each row of the fit's counts, and the first of its rows that each has.
fit_counts_table <- function(fit) {
  first <- which(!duplicated(fit$counts$used))
  row <- factor(fit$counts$used, fit$counts$used[first])
  counted <- vapply(c(1, -1), function(class) {
    as.vector(tapply(fit$weights * (fit$y == class), row, sum))
  }, numeric(length(first)))
  list(counts = structure(counted, dimnames = list(NULL, fit$counts$names)), first = first)
}

# The counts that new rows have, as the formula of the fit has them.
new_counts <- function(fit, newdata) {
  side <- fit$counts$formula[[2L]]
  need_variables(all.vars(side), fit$terms, newdata)
  counts <- count_response(fit$counts$formula, newdata, fit$likelihood)
  if (is.null(counts)) {
    abort("newdata", "`newdata` must have the counts `", deparse1(side), "`.")
  }
  counts
}

# New rows one by one, for what judges classes: the response of the fit is in its own column.
trial_rows <- function(fit, newdata) {
  if (is.null(fit$counts) || is.null(newdata)) return(newdata)
  one_by_one(newdata, new_counts(fit, check_newdata(newdata)), all.vars(fit$terms[[2L]]))$data
}

one_by_one <- function(data, counts, response) {
  rows <- rep(seq_len(nrow(data)), rowSums(counts))
  classes <- rep(rep(2:1, nrow(data)), as.vector(t(counts)))
  data <- data[rows, , drop = FALSE]
  row.names(data) <- NULL
  data[[response]] <- factor(c("failure", "success")[classes], c("failure", "success"))
  list(data = data, rows = rows)
}

# simulate() gives counts as glm() does; `f` are the draws of the linear predictors.
simulated_counts <- function(fit, f, seed) {
  table <- fit_counts_table(fit)
  trials <- rowSums(table$counts)
  prob <- expected_response(fit$likelihood, f[, table$first, drop = FALSE])
  drawn <- with_given_seed(seed, lapply(seq_len(nrow(prob)), function(s) {
    successes <- stats::rbinom(length(trials), trials, prob[s, ])
    structure(cbind(successes, trials - successes), dimnames = dimnames(table$counts))
  }))
  structure(drawn, names = paste0("sim_", seq_along(drawn)), row.names = seq_along(trials),
            class = "data.frame")
}

# A study of counts is one of trials; those of a row stay together. NULL if no model has counts.
trials_of_study <- function(models, data, env) {
  formulas <- lapply(models, function(model) {
    if (inherits(model, "formula")) model else if (inherits(model, "bsvm")) model$counts$formula
  })
  counts <- lapply(formulas, function(formula) {
    if (!is.null(formula)) count_response(formula, data, NULL)
  })
  has <- !vapply(counts, is.null, TRUE)
  if (!any(has)) return(NULL)
  same <- vapply(counts[has], function(own) identical(unname(own), unname(counts[has][[1L]])), TRUE)
  if (!all(same)) {
    abort("argument", "All models must have the same response; the counts of ",
          enumerate(names(counts[has])[!same]), " differ from those of the first.")
  }
  response <- free_name("outcome", names(data))
  rows <- one_by_one(data, counts[has][[1L]], response)
  models[has] <- lapply(models[has], function(model) {
    if (inherits(model, "formula")) return(with_response(model, response, data))
    model$formula <- with_response(model$formula, response, data)
    model
  })
  list(models = models, data = rows$data, rows = rows$rows)
}

# The formula for another response; a `.` has no counts.
with_response <- function(formula, response, data) {
  if ("." %in% all.names(formula[[3L]])) formula <- parse_formula(formula, data)$formula
  formula[[2L]] <- as.name(response)
  formula
}

free_name <- function(name, taken) {
  while (name %in% taken) name <- paste0(".", name)
  name
}
