# Unknown entries of the design, such as missing predictors or true values behind measured ones. A
# rule says what is unknown and how it is modelled; the core's latent of the same name does it. A
# rule is an object of class c("bsvm_missing_<name>", "bsvm_missing"), made by new_missing(). It
# comes from the argument `missing` (R/missing-rule.R) or from a term with a basis (basis_rule() of
# R/basis.R), one for a model. A new rule is a file with its constructor and those methods of the
# generics below that differ from the defaults. R/missing-frame.R and R/missing-fit.R have those of
# missing predictors.
#
#   frame$unknowns  NULL where nothing is unknown, else list(rule, and what frame_unknowns() adds)
#   spec$law        what R knows of the unknown entries, by variable: `variables` (names), `column`
#                   (of the design; 0: none), `center` and `scale` (a value on the column's own
#                   scale is center + scale times the core's), `missing` (how many are unknown), and
#                   what the rule adds
#   fit$missing     list(rule, law, imputed, draws), as R/missing-fit.R has it
#
# `rule` may be NULL, for a model without one.

# ---- what it is ---------------------------------------------------------------------------------

# Do missing values of predictors stay in the frame, to be modelled?
models_missing <- function(rule) UseMethod("models_missing")

#' @export
models_missing.default <- function(rule) FALSE

# What `na.action` it is, where they do not.
rule_action <- function(rule, na.action) UseMethod("rule_action")

#' @export
rule_action.default <- function(rule, na.action) na.action

#' @export
rule_action.bsvm_missing <- function(rule, na.action) stats::na.fail

# The ways in which the core's latent can look at rows (Use, in base/use.hpp): of "augmented",
# "expected", "drawn" and "marginal". The trait `latent` of an engine has those that it needs.
latent_uses <- function(rule) UseMethod("latent_uses")

#' @export
latent_uses.bsvm_missing <- function(rule) character(0)

takes_latent <- function(engine, rule) {
  needed <- trait(engine, "latent")
  length(needed) > 0L && all(needed %in% latent_uses(rule))
}

# As the user writes it.
rule_name <- function(rule) UseMethod("rule_name")

#' @export
rule_name.bsvm_missing <- function(rule) paste0("missing_", rule$name, "()")

# ---- in the frame -------------------------------------------------------------------------------

# The rule of a model: `rule` if it models missing values, else that of a term.
model_rule <- function(rule, bases) {
  rules <- Filter(Negate(is.null), lapply(bases, basis_rule))
  if (models_missing(rule)) rules <- c(list(rule), rules)
  if (length(rules) > 1L) {
    abort("unsupported", "A model can have one rule for what is unknown in its design; found ",
          enumerate(vapply(rules, rule_name, ""), ""), ".")
  }
  if (length(rules) == 1L) rules[[1L]]
}

# frame$unknowns. `rows`: those of the frame among the n of `data`, NULL for all.
frame_unknowns <- function(rule, data, rows, n) UseMethod("frame_unknowns")

#' @export
frame_unknowns.default <- function(rule, data, rows, n) NULL

#' @export
frame_unknowns.bsvm_missing <- function(rule, data, rows, n) list(rule = rule)

# Refuses columns of which nothing is known, before they are standardised.
check_unknown_columns <- function(rule, frame) UseMethod("check_unknown_columns")

#' @export
check_unknown_columns.default <- function(rule, frame) invisible()

# ---- for the core -------------------------------------------------------------------------------

# list(core, law): list(name, parameters, arrays) for the core's latent, `arrays` double vectors and
# matrices by name, in units of its design; and spec$law. NULL where nothing is unknown after all.
# `design` is spec$design, whose columns are the core's.
core_unknowns <- function(rule, frame, design) UseMethod("core_unknowns")

#' @export
core_unknowns.default <- function(rule, frame, design) NULL

# ---- of a fit -----------------------------------------------------------------------------------

# fit$missing$law: spec$law with what the core reports of the global part, by name.
fit_law <- function(rule, law, found) UseMethod("fit_law")

#' @export
fit_law.bsvm_missing <- function(rule, law, found) c(law, found)

# Rows as new_design() gives them, completed by what the rule says of their unknown entries without
# their response, with rows$unknown: a list of list(at, columns, covariance), which rows, which
# columns of the design, and what is left to be known, on the columns' own scale. Rows `known` are
# left as they are. `auxiliary` as from new_auxiliary().
complete_rows <- function(rule, fit, rows, auxiliary = NULL, known = integer(0)) {
  UseMethod("complete_rows")
}

#' @export
complete_rows.default <- function(rule, fit, rows, auxiliary = NULL, known = integer(0)) rows

# ---- words --------------------------------------------------------------------------------------

# A row a variable with unknown values, for print() and summary(): column, missing (how many),
# share, predictor (is it one?). The attribute `words` goes into the head of print().
rule_table <- function(rule, law) UseMethod("rule_table")

#' @export
rule_table.bsvm_missing <- function(rule, law) structure(data.frame(), words = rule$label)
