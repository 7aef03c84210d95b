# Which rows are tested in which split. A unit goes to one side as a whole: a row or a group of
# rows.
#   of        integer(n): the unit of each row
#   stratum   integer(units): the class of most of its rows, or 1 for all, as where the response is
#             no class
#   movable   units with a row that may be tested; the others are in every training set
#   testable  logical(n)
# A split is list(train, test) of row numbers. Rows that may not be tested are trained on, but not
# together with tested rows of their group.

split_units <- function(truth, group = NULL, testable = TRUE, stratify = TRUE) {
  n <- NROW(truth)
  of <- if (is.null(group)) seq_len(n) else level_units(group)
  if (max(of) < 2L) {
    abort("group", "`group` must have two levels or more, so that one can be tested while others ",
          "are trained on; found one for all ", n, " rows.")
  }
  testable <- rep_len(testable, n)
  stratum <- if (stratify && is.logical(truth)) {
    share <- rowsum(as.numeric(truth), of) / tabulate(of)
    1L + (share[, 1L] >= 0.5)
  } else {
    rep(1L, max(of))
  }
  list(of = of, stratum = stratum,
       movable = sort(unique(of[testable])), testable = testable, truth = truth)
}

level_units <- function(group) {
  names <- level_names(group)
  match(names, unique(names))
}

split_at <- function(units, tested) {
  out <- units$of %in% tested
  list(train = which(!out), test = which(out & units$testable))
}

# `times` random splits; each stratum gives the same share of its units.
random_splits <- function(units, times, prop, levels) {
  strata <- split(units$movable, units$stratum[units$movable])
  counts <- vapply(strata, function(own) tested_count(length(own), prop), 1L)
  if (sum(counts) == 0L) {
    abort("argument", "There must be rows to test in addition to those to train on; of ",
          length(units$movable), " that may be tested `prop = ", format(prop), "` leaves none.")
  }
  draw <- function() {
    list(split_at(units, unlist(Map(function(own, k) shuffled(own)[seq_len(k)], strata, counts))))
  }
  draw_usable(draw, units$truth, times, levels)
}

# One at least is tested, and one trained on.
tested_count <- function(n, prop) {
  as.integer(min(max(n - round(prop * n), 1), n - 1))
}

# `times` partitions into folds of (nearly) equal size, within each stratum too.
fold_splits <- function(units, folds, times, levels) {
  if (folds > length(units$movable)) {
    abort("argument", "`folds` must be at most the number of rows, or groups, that may be tested ",
          "(", length(units$movable), "); found ", folds, ".")
  }
  draw <- function() {
    mixed <- shuffled(units$movable)
    mixed <- mixed[order(units$stratum[mixed])]
    lapply(split(mixed, rep_len(seq_len(folds), length(mixed))), split_at, units = units)
  }
  unname(draw_usable(draw, units$truth, times, levels))
}

shuffled <- function(x) x[sample.int(length(x))]

# Draws list(split, ...) `times` times, again where a class is absent from a training set.
draw_usable <- function(draw, truth, times, levels, most = 100L) {
  unlist(lapply(seq_len(times), function(i) {
    for (trial in seq_len(most)) {
      drawn <- draw()
      absent <- absent_classes(drawn, truth)
      if (length(absent) == 0L) return(drawn)
    }
    refuse_absent(level_of(levels, absent[1L]), most)
  }), recursive = FALSE)
}

# Those of the classes FALSE and TRUE that are absent from some training set.
absent_classes <- function(splits, truth) {
  if (!is.logical(truth)) return(logical(0))
  lacks <- function(class) !all(vapply(splits, function(s) class %in% truth[s$train], TRUE))
  Filter(lacks, c(FALSE, TRUE))
}

refuse_absent <- function(class, most) {
  abort("response", "Both classes must be among the rows to train on; class '", class,
        "' was absent in each of ", most, " draws of the splits. It has too few rows, or too few ",
        "groups, for `prop` or `folds`.")
}

# An argument with an element a row, evaluated in the data: a vector, the name of a column, or a
# one-sided formula. What came through another function's `...` has its value where it was written,
# which `call`, the frame that has it as an argument, knows.
row_argument <- function(name, data, call, env) {
  expression <- eval(as.call(list(quote(substitute), as.name(name))), call)
  value <- tryCatch(eval(expression, data, env), error = function(e) {
    tryCatch(get(name, call), error = function(other) refuse_row_value(name, e))
  })
  row_values(value, data, name)
}

row_values <- function(value, data, name) {
  if (is.character(value) && length(value) == 1L && nrow(data) != 1L) {
    value <- value_in(as.name(value), data, emptyenv(), name)
  }
  if (inherits(value, "formula")) {
    if (length(value) != 2L) refuse_rows(name, value, data)
    value <- value_in(value[[2L]], data, formula_environment(value), name)
  }
  if (is.null(value)) return(NULL)
  if (!is.atomic(value) || length(value) != nrow(data)) refuse_rows(name, value, data)
  value
}

value_in <- function(expression, data, env, name) {
  tryCatch(eval(expression, data, env), error = function(e) refuse_row_value(name, e))
}

refuse_row_value <- function(name, e) {
  abort("argument", "`", name, "` can't be evaluated in `data`: ", conditionMessage(e), ".")
}

refuse_rows <- function(name, value, data) {
  abort("argument", "`", name, "` must have one element a row (", nrow(data), "), as a vector, ",
        "the name of a column or a one-sided formula; found ", describe(value), ".")
}

check_split_group <- function(group) {
  if (anyNA(group)) {
    abort("missing", "`group` must have no missing values; found ", sum(is.na(group)), ".")
  }
  group
}

check_testable <- function(test) {
  if (is.null(test)) return(TRUE)
  if (!is.logical(test) || anyNA(test) || !any(test)) {
    abort("argument", "`test` must be TRUE for at least one row that may be tested and FALSE for ",
          "others; found ",
          if (is.logical(test)) "none that is TRUE, or NA" else describe(test), ".")
  }
  test
}
