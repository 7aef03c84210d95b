#' Optimised inducing points
#'
#' `gp(x1, x2, points = points_learned(100))` optimises the positions of the inducing points of a
#' Gaussian-process term. The points need not be rows: they start at the points that would be chosen
#' otherwise and move to positions with the highest evidence.
#'
#' @details
#' A Gaussian-process term with M inducing points costs \eqn{n M^2} for n rows. It loses the details
#' of the function that the points do not explain ([gp]). With `points_learned()`, the coordinates
#' of the points and the amplitudes maximise the lower bound of the evidence. The maximisation uses
#' the gradient (limited-memory BFGS). The kernels are fixed at their estimates, and only the rows
#' that they were estimated from are used (at most 1000). The bound is never above the bound with
#' all rows as inducing points, and does not gain from two points at the same position. The result
#' does not depend on the random seed.
#'
#' Optimised points are worth their time if they are few for the function. With more points, which
#' cost less time than the optimisation, the default choice is as good. [summary()][summary.bsvm]
#' shows how much the bound has risen, and the share of variance that the points do not explain.
#' This share may rise too, because the bound depends on what the response needs.
#'
#' @param points The number of points, or a matrix or data frame of starting points, in the units of
#'   the variables (see the argument `points` of [gp]).
#' @return An object of class `bsvm_points`, for the argument `points` of [gp].
#' @section Errors:
#' `bsvm_error_argument` for anything but a whole number of at least 1, a matrix or a data frame.
#' @references
#' Titsias, M. (2009). Variational learning of inducing variables in sparse Gaussian processes.
#' *Proceedings of AISTATS*, 5, 567-574.
#' @examples
#' # do five inducing points suffice for the boundary between two species?
#' d <- subset(iris, Species != "setosa")
#' fit <- bsvm(Species ~ gp(Sepal.Length, Petal.Width, points = points_learned(5)), data = d)
#' summary(fit)$gp$moved
#' full <- update(fit, . ~ gp(Sepal.Length, Petal.Width))
#' table(five = predict(fit), full = predict(full))
#' @export
points_learned <- function(points = 100) {
  if (!is.matrix(points) && !is.data.frame(points)) points <- check_count(points, "points")
  structure(list(points = points), class = "bsvm_points")
}

are_learned <- function(points) inherits(points, "bsvm_points")

# `points` of a term, as if they were not to be learned.
points_given <- function(points) if (are_learned(points)) points$points else points

#' @rdname print.bsvm_component
#' @export
print.bsvm_points <- function(x, ...) {
  many <- if (is.numeric(x$points) && length(x$points) == 1L) x$points else nrow(x$points)
  cat("Inducing points: ", many, ", learned\n", sep = "")
  invisible(x)
}

# list(model, points, facts): inducing inputs where the bound is highest, of those parts of the model
# whose points are to be learned and do not explain all there is; the model with the amplitudes
# there; facts is list(before, after, evaluations, seconds), or NULL.
learn_points <- function(bases, model, points, verbose = FALSE) {
  moving <- vapply(seq_along(points), function(k) {
    basis <- basis_of(bases, model$parts[[k]])
    are_learned(basis$points) && explains_less(basis, model$parts[[k]], points[[k]])
  }, TRUE)
  if (!any(moving)) return(list(model = model, points = points, facts = NULL))
  core <- model$core
  for (k in seq_along(points)) {
    few <- nrow(points[[k]]) < length(core$y)
    if (moving[k] || few) core$summands[[k]]$inducing <- points[[k]]
  }
  started <- proc.time()[["elapsed"]]
  moving <- c(moving, logical(length(core$summands) - length(moving)))
  found <- with_core_conditions(core_learn_points(core, moving, verbose))
  points[which(moving)] <- found$points[moving]
  list(model = with_learned(model, found$theta), points = points,
       facts = c(found[c("before", "after", "evaluations")],
                 seconds = proc.time()[["elapsed"]] - started))
}

basis_of <- function(bases, part) Find(function(basis) basis$label == part$label, bases)

explains_less <- function(basis, part, points) {
  left <- core_features_of(part$factors, judged_rows(basis), points, part_theta(part))$left_over
  mean(left) >= least_left
}
