# Where the rows of a fit are. `cluster` of bsvm() is NULL, for rows in this R session, or an object
# with a method of row_source() in a file of its own; no other code knows its class. Engines that can
# fit rows elsewhere have the trait `elsewhere`.
#
# The method sends `problem` and `model` of a spec once to where the rows are to be, and returns
# new_row_source(ask, close):
#
#   ask      a function of one question, a list with `what` and other fields. It returns what
#            answer_rows() returns there: list(number, answer), with the number of the question.
#            An error on the way is an error of `ask`. If an interrupt keeps an answer from being
#            read, that answer must not be returned for a later question: this is an error.
#   close    a function without arguments that releases the rows. It is called once, after errors
#            too.
#
# Questions also have `source`, the number of the row source they are for, and `use`, what the source
# asks of the likelihood (core/base/use.hpp). The last column says how the answers of several places
# combine, if each has other rows. A level of a grouping factor may go on in the next place if it has
# very many rows (core/rows/large_levels.hpp):
#
#   what      other fields         answer                                      several places
#   units     (none, no source)    list(units, group_units): powers of two     must agree
#   open      threads, no source   the number of a new source                  must agree
#   sums      state, tell          numbers: a RowSums (core/model/row_sums)    core_add_sums()
#   settle    state, how, change   numbers: sum over levels of E u u'          are added
#   keep      (none)               NULL
#   back      state                NULL
#   groups    (none)               list(first, mean, precision, regression):   columns are bound,
#                                  a column for each level here, from `first`  one for each level;
#                                  or a file of them                           files joined
#   effects   (none)               list(first, effects, expected): what was    columns are bound
#                                  drawn, a column for each level
#   restore   effects, of all      NULL
#
# With several grouping factors "groups" and "effects" are answered in another form
# (src/r_held_rows.cpp), zeros for levels that are not here, and added.
#
# tell(done, all) says how many files of all are done; it is called here alone, when a pass takes long,
# and only until the question is answered.
# `state` is the vector of the State. Its size, and the size of the sums, does not grow with rows or
# with levels of a usual number of rows. So far the frame is in this session, too: methods of the fit
# read the rows there.
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
        describe(cluster), ".",
        if (inherits(cluster, "cluster")) " A cluster needs `data = bsvm_source()`.")
}

# Calls fit(problem, rows) with what the core's functions take. Ctrl-C that R sees while the core makes
# a question, or takes an answer, would end the call of the core without a fit: it is let in where the
# core looks for it (src/r_host.h), and in answer_or_condition(). Handlers of errors run outside.
with_rows <- function(spec, fit) {
  if (is.null(spec$cluster)) return(fit(spec$problem, NULL))
  with_rows_of(spec$cluster, spec, function(problem, rows) {
    force(problem)
    force(rows)
    found <- suspendInterrupts(tryCatch(list(fit(problem, rows)), error = identity,
                                        interrupt = identity))
    if (inherits(found, "condition")) stop(found)
    found[[1L]]
  })
}

# A method for rows that are reached in another way than by questions.
with_rows_of <- function(cluster, spec, fit) UseMethod("with_rows_of")

#' @export
with_rows_of.default <- function(cluster, spec, fit) {
  source <- tryCatch(row_source(spec$cluster, spec$problem, spec$model),
                     error = function(e) stop(as_cluster_error(e)))
  on.exit(tryCatch(source$close(), error = function(e) NULL))
  fit(problem_elsewhere(spec$problem, source), core_ask_rows(source$ask))
}

# The core's description of rows that are elsewhere.
problem_elsewhere <- function(problem, source) {
  units <- source$ask(list(what = "units"))
  if (inherits(units, "interrupt")) {
    resignal_interrupted(simpleCondition("Interrupted before there was a result."))
  }
  if (inherits(units, "error")) with_core_conditions(stop(units))
  # `rows` are for the fingerprint of a checkpoint alone
  c(units, list(n = length(problem$y), n_groups = problem$n_groups, leaving = problem$leaving,
                large = problem$large, rows = problem))
}

# Conditions are values to the core, which signals them when its own work is undone. Questions are
# numbered, and so are the answers of answer_rows(): one that was late is not taken for another.
answer_or_condition <- function(ask) {
  function(question) {
    session$questions <- question$number <- max(session$questions, 0) + 1
    tryCatch(allowInterrupts({
      pointer <- question$tell
      if (!is.null(pointer)) question$tell <- function(done, all) core_tell(pointer, done, all)
      found <- ask(question)
      if (!identical(found$number, question$number)) stop("an answer to another question came")
      if (inherits(found$answer, "error")) stop(found$answer)
      found$answer
    }), error = as_cluster_error, interrupt = identity)
  }
}

# Errors of the core or of time limits are what they are in one process.
as_cluster_error <- function(e) {
  own <- c("bsvm_error", "bsvm_core_invalid", "bsvm_core_numerical", "bsvm_core_memory")
  if (inherits(e, own) || is_time_limit(e)) return(e)
  new_condition("error", "cluster", paste0(
    "The process that holds the rows gave no answer: ", sub("[.]$", "", conditionMessage(e)),
    ". There is no fit. Start the process again, or leave `cluster` out."
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
