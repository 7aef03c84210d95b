# Where the rows of a fit are. `cluster` of bsvm() is NULL, for rows in this R session, or an object
# with a method of row_source(), in a file of its own: nothing else knows its class. Engines that fit
# rows elsewhere have the trait `elsewhere`.
#
# The method sends `problem` and `model` of a spec to where the rows are to be, once, and returns
# new_row_source(ask, close):
#
#   ask      a function of one question, a list with `what` and other fields, that returns what
#            answer_rows() says of it there: list(number, answer), `number` that of the question.
#            Errors on the way are errors of `ask`. An answer that an interrupt kept from being read
#            must not be returned for a later question; an answer of another number is an error.
#   close    a function without arguments that lets go of the rows; called once, even after errors.
#
# Questions have `source`, the number of the row source they are for, and `use`, what it asks of the
# likelihood (src/core/base/use.hpp). Answers of sources with disjoint rows, whole levels of a grouping
# factor each, can be combined as the last column says:
#
#   what      other fields         answer                                      several sources
#   units     (none, no source)    list(units, group_units): powers of two     must agree
#   open      threads, no source   the number of a new source                  must agree
#   sums      state                numbers: a RowSums (core/model/row_sums)    add
#   settle    state, how, change   numbers: sum over levels of E u u'          add
#   keep      (none)               NULL
#   back      state                NULL
#   groups    (none)               list(mean, precision, regression), a column  bind columns
#                                  for each level
#
# `state` is the State's vector. Its size, and that of the sums, does not grow with rows or levels.
row_source <- function(cluster, problem, model) UseMethod("row_source")

new_row_source <- function(ask, close = function() NULL) {
  list(ask = answer_or_condition(ask), close = close)
}

# NULL, or an object with a method of row_source().
check_cluster <- function(cluster) {
  known <- vapply(class(cluster), function(class) {
    !is.null(utils::getS3method("row_source", class, TRUE, environment(row_source)))
  }, TRUE)
  if (is.null(cluster) || any(known)) return(cluster)
  abort("argument", "`cluster` must be NULL, for rows in this R session; found ",
        describe(cluster), ".")
}

# Calls fit(problem, rows) with what the core's functions take.
with_rows <- function(spec, fit) {
  if (is.null(spec$cluster)) return(fit(spec$problem, NULL))
  source <- tryCatch(row_source(spec$cluster, spec$problem, spec$model),
                     error = function(e) stop(as_cluster_error(e)))
  on.exit(tryCatch(source$close(), error = function(e) NULL))
  units <- source$ask(list(what = "units"))
  if (inherits(units, "condition")) stop(units)
  fit(problem_elsewhere(spec$problem, units), core_ask_rows(source$ask))
}

# What the core is told of rows that are elsewhere.
problem_elsewhere <- function(problem, units) {
  c(units, list(n = length(problem$y), n_groups = problem$n_groups))
}

# Conditions are values to the core, which signals them when its own work is undone. Questions are
# numbered, and so are the answers of answer_rows(): one that was late is not taken for another.
answer_or_condition <- function(ask) {
  function(question) {
    session$questions <- question$number <- max(session$questions, 0) + 1
    tryCatch({
      found <- ask(question)
      if (!identical(found$number, question$number)) stop("an answer to another question came")
      found$answer
    }, error = as_cluster_error, interrupt = identity)
  }
}

# Errors of the core or of time limits are what they are in one process.
as_cluster_error <- function(e) {
  own <- c("bsvm_error", "bsvm_core_invalid", "bsvm_core_numerical", "bsvm_core_memory")
  if (inherits(e, own) || is_time_limit(e)) return(e)
  new_condition("error", "cluster", paste0(
    "The process that holds the rows gave no answer: ", sub("[.]$", "", conditionMessage(e)),
    ". There is no fit."
  ))
}

# ---- where the rows are -------------------------------------------------------------------------

# The problems that this process holds for others, by name.
held <- new.env(parent = emptyenv())

hold_rows <- function(name, problem, model) {
  assign(name, core_hold_rows(problem, model), envir = held)
  invisible()
}

# An error of the core is an answer, too.
answer_rows <- function(name, question) {
  answer <- tryCatch(core_ask_held_rows(get(name, envir = held), question),
                     bsvm_core_invalid = identity, bsvm_core_numerical = identity,
                     bsvm_core_memory = identity)
  list(number = question$number, answer = answer)
}

drop_rows <- function(name) {
  if (exists(name, envir = held, inherits = FALSE)) rm(list = name, envir = held)
  invisible()
}
