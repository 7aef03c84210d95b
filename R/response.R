# A response: what the user's values are to the core, and what is said and shown of them. Frame and
# fit have it as `response`. A kind of response is a class bsvm_response_<kind>; a new kind is a
# file R/response-<kind>.R with the methods of the generics below, and a likelihood whose
# response_kind() names it.
#
# `y` is the response as the core has it, a number for each row; `values` are the user's.
new_response <- function(kind, ...) {
  structure(list(...), class = c(paste0("bsvm_response_", kind), "bsvm_response"))
}

# The kind that `likelihood`, an argument of bsvm(), is for.
kind_for <- function(likelihood) {
  if (is.null(likelihood)) "classes" else response_kind(as_likelihood(likelihood))
}

is_kind <- function(response, kind) inherits(response, paste0("bsvm_response_", kind))

check_kind <- function(response, likelihood) {
  if (is_kind(response, response_kind(likelihood))) return(invisible())
  abort("argument", "`likelihood` must be for the response of `frame`, which is ",
        describe_kind(response), "; found the ", likelihood$label, ". Give bsvm_frame() the ",
        "likelihood, too.")
}

# ---- from the user's values to numbers ----------------------------------------------------------

# list(y, response) of the values of a fit, none of them missing; `name` is what the user calls
# them.
code_response <- function(values, drop_unused = TRUE, name = "y", kind = "classes") {
  code_values(new_response(kind), values, drop_unused, name)
}

# `response` has nothing but its class.
code_values <- function(response, values, drop_unused, name) UseMethod("code_values")

# Rows that took no part in coding: NA where a value is none of this response.
recode_values <- function(response, values) UseMethod("recode_values")

# The same of new rows, where such a value is an error.
code_new_values <- function(response, values) UseMethod("code_new_values")

# Are values coded alike under both?
same_coding <- function(response, other) UseMethod("same_coding")

# A fit's response may have been changed since.
check_whole_response <- function(response) UseMethod("check_whole_response")

# The response with the weights of its classes, as given; and the factor of each row's weight.
with_class_weights <- function(response, class.weights) UseMethod("with_class_weights")

#' @export
with_class_weights.bsvm_response <- function(response, class.weights) {
  abort("weights", "`class.weights` is for a response of classes; here it is ",
        describe_kind(response), ". Use `weights`.")
}

class_factors <- function(response, y) UseMethod("class_factors")

# ---- in words -----------------------------------------------------------------------------------

# "two classes"
describe_kind <- function(response) UseMethod("describe_kind")

# A line for print(), and what a frame says of its rows; NULL for nothing.
describe_response <- function(response) UseMethod("describe_response")

#' @export
describe_response.bsvm_response <- function(response) NULL

describe_rows <- function(response, y) UseMethod("describe_rows")

#' @export
describe_rows.bsvm_response <- function(response, y) NULL

# What print() says below a fit, and predict() once a session with such a type of prediction; NULL
# for nothing.
prediction_hint <- function(response, fit, type = NULL, threshold = NULL) {
  UseMethod("prediction_hint")
}

#' @export
prediction_hint.bsvm_response <- function(response, fit, type = NULL, threshold = NULL) NULL

# What summary() has of the response: a named list.
summarise_response <- function(response, y) UseMethod("summarise_response")

#' @export
summarise_response.bsvm_response <- function(response, y) list()

# What is for classes only; `instead`: a sentence that says what to use for other responses.
need_classes <- function(response, what, instead) {
  if (is_kind(response, "classes")) return(invisible())
  abort("unsupported", what, " is for a response of classes; here it is ",
        describe_kind(response), ". ", instead)
}

# ---- predictions --------------------------------------------------------------------------------

# Choices of `type` of predict(), its default first, and the default with an interval.
prediction_types <- function(response) UseMethod("prediction_types")

interval_type <- function(response) UseMethod("interval_type")

# What `interval` of predict() stands for: "none", "confidence" (of the link) or "prediction" (of new
# responses).
interval_kind <- function(response, interval) UseMethod("interval_kind")

#' @export
interval_kind.bsvm_response <- function(response, interval) {
  if (check_flag(interval, "interval")) "confidence" else "none"
}

# `type`, once `interval` goes with it.
check_prediction_type <- function(response, type, interval) UseMethod("check_prediction_type")

# The probability from which on predict() has class +1, NULL for the sign of the link.
class_threshold <- function(response, threshold, costs, type) UseMethod("class_threshold")

#' @export
class_threshold.bsvm_response <- function(response, threshold, costs, type) {
  if (is.null(threshold) && is.null(costs)) return(NULL)
  abort("argument", "`threshold` and `costs` are for a response of classes; here it is ",
        describe_kind(response), ".")
}

# The return value of predict(). `found`: list(mean, sd, limits) of links, or list(prob).
shape_prediction <- function(response, found, type, threshold) UseMethod("shape_prediction")

# The links, or a data frame of them with what is known of their spread.
shape_links <- function(found) {
  if (is.null(found$sd)) return(found$mean)
  data.frame(fit = found$mean, sd = found$sd, found$limits,
             row.names = unless_twice(names(found$mean)))
}

# A matrix may have a row name twice, a data frame may not.
unless_twice <- function(names) if (!anyDuplicated(names)) names

# The columns that augment() adds for linear predictors, and for probabilities.
augmented_columns <- function(response, link) UseMethod("augmented_columns")

#' @export
augmented_columns.bsvm_response <- function(response, link) data.frame(.fitted = link)

# Draws of the response, as posterior_predict() returns them.
shape_draws <- function(response, draws) UseMethod("shape_draws")

#' @export
shape_draws.bsvm_response <- function(response, draws) draws

# A row of these, as simulate() returns it.
simulated_values <- function(response, drawn) UseMethod("simulated_values")

#' @export
simulated_values.bsvm_response <- function(response, drawn) drawn

# pp_check(): the types there are, the response on the scale of draw_response(), and a picture; `f`
# is an S x n matrix of links.
check_types <- function(response) UseMethod("check_types")

drawn_scale <- function(response, y) UseMethod("drawn_scale")

draw_check <- function(response, type, likelihood, f, y, group, ...) UseMethod("draw_check")

# ---- studies ------------------------------------------------------------------------------------
# holdout() and cross_validate(). `truth` is the response as metrics have it.

as_truth <- function(response, y) UseMethod("as_truth")

# Metrics by name, functions of `seen` (R/metrics.R).
default_metrics <- function(response) UseMethod("default_metrics")

#' @export
default_metrics.bsvm_response <- function(response) {
  c(names(known_metrics_of(response))[1L], "seconds")
}

known_metrics_of <- function(response) UseMethod("known_metrics_of")

# Do all of these do without probabilities?
do_without_prob <- function(response, metrics) UseMethod("do_without_prob")

#' @export
do_without_prob.bsvm_response <- function(response, metrics) TRUE

# Why a metric that is NA has no value.
why_no_value <- function(response, metric, seen) UseMethod("why_no_value")

#' @export
why_no_value.bsvm_response <- function(response, metric, seen) "the metric is NA"

# A model's predictions for n rows, as metrics accept them.
read_prediction <- function(said, response, n) UseMethod("read_prediction", response)

# What a fit, or the model of another package with its predict(), says of new rows, for
# read_prediction(). `prob`: are probabilities wanted?
ask_fit <- function(response, fitted, newdata, prob) UseMethod("ask_fit")

ask_foreign <- function(response, predict, fitted, newdata, prob) UseMethod("ask_foreign")

# A data frame of predictions that are kept.
prediction_frame <- function(response, seen, rows) UseMethod("prediction_frame")
