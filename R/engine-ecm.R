#' ECM for support vector machines with a kernel
#'
#' `engine_ecm()` fits Gaussian-process terms by the algorithm of Henao, Yuan and Carin (2014), with
#' its formulas corrected. It uses ECM for the function, ML-II for the kernel, and FITC with learned
#' pseudo-inputs for many rows. It is for comparison with the other engines.
#'
#' @details
#' The model has Gaussian-process terms, [gp()][gp], an intercept, and linear terms whose priors
#' have given variances. The likelihood is the hinge pseudo-likelihood, also with `gamma` and
#' `gamma0` ([likelihood_hinge()]). With \eqn{u_i = 1 - y_i f_i} and \eqn{c = \sqrt{1 +
#' 2\gamma_0/\gamma}}{c = sqrt(1 + 2 gamma0/gamma)} each row has a latent scale
#' \eqn{\lambda_i}{lambda_i}. One round is:
#' 1. **ECM**, `iterations` times: \eqn{\tau_i = |u_i|/c}{tau_i = |u_i|/c}, then the function at the
#'    rows \eqn{f = K (K + \gamma^{-1} T)^{-1} y (1 + \tau)}{f = K (K + T/gamma)^{-1} y (1 + tau)},
#'    then the update of `gamma` if it is inferred.
#' 2. **ML-II**, `iterations` ascent steps (L-BFGS). They maximise the log evidence given the latent
#'    scales, \eqn{\log N(y (1 + \tau); 0, K + \gamma^{-1} T)}{log N(y (1 + tau); 0, K + T/gamma)},
#'    over the parameters of the kernels, the amplitudes and the pseudo-inputs.
#'
#' After the rounds, ECM continues with the final kernel and extrapolated steps. It has converged
#' when the duality gap and the last change of the objective, both relative to the objective, are at
#' most `tol` of [bsvm_control()] (1e-8 if `tol` is less). If `max_passes` updates are not enough, a
#' gap of 1e-6 is accepted. The mode is that of the SVM with this kernel.
#'
#' The posterior is normal, given the latent scales at the mode. Rows on their margin have scales of
#' zero, as if the function were known there. Standard deviations are therefore 0 to 0.6 times the
#' exact ones (in an example of 120 rows, median 0.36; with [engine_gaussian()] 0.96).
#'
#' **No single objective.** ECM maximises over the function. ML-II averages over it, at latent
#' scales that do not include its variance. The rounds therefore do not maximise one objective, and
#' the kernel may still change after many of them. `summary(details = TRUE)` shows the last change.
#' Priors of length scales and amplitudes give the starting values, and are not part of ML-II. A
#' prior that is one number, as in `kernel_se(lengthscale = 1)` or `prior_ridge(variance = 4)`,
#' fixes the parameter.
#'
#' **Pseudo-inputs.** With fewer inducing points than rows (`gp(x, points = 100)`) the covariance is
#' that of FITC: exact on its diagonal, and approximated by the points elsewhere. The points start
#' at rows, or at the given `points`, and are optimised with the kernel; `learn_points = FALSE`
#' keeps them fixed.
#'
#' **Corrections to the paper.**
#' * The update of f needs the same \eqn{\tau}{tau} in both places.
#' * The update of `gamma` needs \eqn{E \lambda_i = |u_i|/c + 1/(\gamma c^2)}{E lambda_i = |u_i|/c +
#'   1/(gamma c^2)}.
#' * The covariance of FITC needs the whole diagonal.
#' * The probit map, `predict(map = "probit")`, divides by \eqn{\sqrt{1 + s^2}}{sqrt(1 + s^2)}.
#'
#' **`gamma`** is a temperature: a prior variance \eqn{s^2} with \eqn{\gamma = 1}{gamma = 1} has the
#' same mode as variance 1 with \eqn{\gamma = s^2}{gamma = s^2}. Infer only one of them. The model
#' of the paper has `likelihood_hinge(gamma = prior_gamma(), gamma0 = 0.1)` and `prior = list(gp =
#' prior_ridge(variance = 1))`, and `y ~ 0 + gp(x)` without an intercept.
#'
#' @param rounds The number of rounds; a whole number, 10 by default. With 0 the starting values are
#'   kept.
#' @param iterations The number of updates, and of ascent steps, per round; a whole number.
#' @param learn_points Should pseudo-inputs be optimised? `TRUE` by default.
#' @param ... Must be empty.
#' @return An object of class `bsvm_engine`. The fit's `posterior` is a mixture of one component
#'   (see [bsvm_run()]), so that methods work as for [engine_gaussian()], except [elbo()].
#' @section Errors:
#' `bsvm_error_argument` for invalid arguments. The fit gives `bsvm_error_unsupported` for other
#' likelihoods, and for a prior of `gamma` under which its mode is zero. It does the same for other
#' models, such as those with random effects, smooth terms, missing predictors, or linear terms with
#' an inferred variance.
#' @section Warnings:
#' The fit gives `bsvm_warning_convergence` if the gap has not reached `tol` and is above 1e-6 after
#' `max_passes` updates.
#' @references
#' Henao, R., Yuan, X. and Carin, L. (2014). Bayesian nonlinear support vector machines and
#' discriminative factor modeling. *Advances in Neural Information Processing Systems*, 27 (Sections
#' 2 and 3).
#'
#' Snelson, E. and Ghahramani, Z. (2006). Sparse Gaussian processes using pseudo-inputs. *Advances
#' in Neural Information Processing Systems*, 18, 1257-1264.
#'
#' Varadhan, R. and Roland, C. (2008). Simple and globally convergent methods for accelerating the
#' convergence of any EM algorithm. *Scandinavian Journal of Statistics*, 35, 335-353.
#' @seealso [gp()][gp]; [engine_gaussian()], the recommended engine; [engine_em()], the mode with a
#'   certificate for all linear models.
#' @examples
#' # how well do two measurements tell two species of iris apart?
#' d <- subset(iris, Species != "setosa")
#' fit <- bsvm(Species ~ gp(Sepal.Length, Petal.Width), data = d, engine = engine_ecm(rounds = 3))
#' fit
#' summary(fit)$gp$numbers
#' head(predict(fit, d, type = "prob", map = "probit"))
#' @export
engine_ecm <- function(rounds = 10L, iterations = 20L, learn_points = TRUE, ...) {
  check_dots(substitute(list(...)), "engine_ecm()", ecm_hints)
  check_flag(learn_points, "learn_points")
  engine <- new_engine("ecm", numeric(0), "ECM, kernels by ML-II")
  engine$settings <- list(rounds = check_count(rounds, "rounds", least = 0L),
                          iterations = check_count(iterations, "iterations"),
                          learn_points = learn_points)
  engine
}

ecm_hints <- c(
  control_hints,
  points = "The number of pseudo-inputs is `points` of gp().",
  gamma = "Use `likelihood = likelihood_hinge(gamma = )` instead."
)

#' @export
traits_of.bsvm_engine_ecm <- function(engine) {
  new_traits(
    sparse = FALSE, learned = "none", gp_alone = TRUE, learns_kernels = TRUE, duality_gap = TRUE,
    word = "ECM, kernels by ML-II", bound = NULL,
    linear_response = "engine_ecm() has a covariance given the latent scales."
  )
}

#' @export
engine_note.bsvm_engine_ecm <- function(engine, x) {
  paste("Standard deviations are those given the latent scales at the mode: they are far too",
        "small. engine_gaussian() averages over the scales.")
}
