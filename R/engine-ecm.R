#' ECM for support vector machines with a kernel
#'
#' The algorithm of Henao, Yuan and Carin (2014) for Gaussian-process terms, with its formulas
#' corrected: ECM for the function, ML-II for the kernel, and FITC with learned pseudo-inputs for
#' many rows. It is for comparison with the other engines.
#'
#' @details
#' The model has Gaussian-process terms, [gp()][gp], an intercept and linear terms whose priors have
#' given variances, and the hinge pseudo-likelihood, also with `gamma` and `gamma0`
#' ([likelihood_hinge()]). With \eqn{u_i = 1 - y_i f_i} and \eqn{c = \sqrt{1 + 2\gamma_0/\gamma}}{c
#' = sqrt(1 + 2 gamma0/gamma)} each row has a latent scale \eqn{\lambda_i}{lambda_i}, and a round
#' is:
#' 1. **ECM**, `iterations` times: \eqn{\tau_i = |u_i|/c}{tau_i = |u_i|/c}, the function at the rows
#'    \eqn{f = K (K + \gamma^{-1} T)^{-1} y (1 + \tau)}{f = K (K + T/gamma)^{-1} y (1 + tau)}, and
#'    with an inferred `gamma` its update.
#' 2. **ML-II**, `iterations` steps uphill (L-BFGS): the log evidence given the latent scales,
#'    \eqn{\log N(y (1 + \tau); 0, K + \gamma^{-1} T)}{log N(y (1 + tau); 0, K + T/gamma)}, in the
#'    numbers of the kernels, the amplitudes and the pseudo-inputs.
#'
#' After the rounds ECM continues at the kernel that was found, with extrapolated steps. It ends where
#' the duality gap and the last change of the objective, both relative to the objective, are at most
#' `tol` of [bsvm_control()] (1e-8 if `tol` is less). If `max_passes` updates are over before, a gap
#' of 1e-6 is enough. The mode is that of the SVM with this kernel.
#' The posterior is normal, given the latent scales at the mode. Rows on their margin have scales of
#' zero, as if the function were known there: standard deviations are 0 to 0.6 times the exact ones
#' (in an example of 120 rows, median 0.36; by [engine_gaussian()] 0.96).
#'
#' **No objective.** ECM maximises over the function, ML-II averages over it, at latent scales that
#' do not know its variance. So the rounds are not an ascent of one objective, and the kernel may
#' still change after many. `summary()` shows by how much it changed in the last round. Priors of
#' length scales and amplitudes give the starting values, and are not part of ML-II; a prior that is
#' one number, as in `kernel_se(lengthscale = 1)` or `prior_ridge(variance = 4)`, fixes the number.
#'
#' **Pseudo-inputs.** With fewer inducing points than rows (`gp(x, points = 100)`) the covariance is
#' that of FITC: exact on its diagonal, by the points elsewhere. The points start at rows, or where
#' `points` says, and move uphill with the kernel; `learn_points = FALSE` keeps them.
#'
#' **Corrected** are: the f-update, which needs the same \eqn{\tau}{tau} in both places; the update
#' of `gamma`, which needs \eqn{E \lambda_i = |u_i|/c + 1/(\gamma c^2)}{E lambda_i = |u_i|/c +
#' 1/(gamma c^2)}; FITC, whose covariance needs the whole diagonal; and the probit map, `predict(map
#' = "probit")`, which divides by \eqn{\sqrt{1 + s^2}}{sqrt(1 + s^2)}.
#'
#' **`gamma`** is a temperature: variance \eqn{s^2} with \eqn{\gamma = 1}{gamma = 1} has the mode of
#' variance 1 with \eqn{\gamma = s^2}{gamma = s^2}. Infer one of them. The paper's model has
#' `likelihood_hinge(gamma = prior_gamma(), gamma0 = 0.1)` and `prior = list(gp =
#' prior_ridge(variance = 1))`, and `y ~ 0 + gp(x)` without an intercept.
#'
#' @param rounds How many rounds; a whole number, 10 by default, 0 to keep the starting values.
#' @param iterations How many updates, and how many steps, a round has; a whole number.
#' @param learn_points Should pseudo-inputs move? `TRUE` by default.
#' @param ... Must be empty.
#' @return An object of class `bsvm_engine`. The fit's `posterior` is a mixture of one component
#'   (see [bsvm_run()]), so that methods work as for [engine_gaussian()], without [elbo()].
#' @section Errors: `bsvm_error_argument` for arguments that are not what they must be; of the fit,
#'   `bsvm_error_unsupported` for other likelihoods and models, such as those with random effects,
#'   smooth terms, missing predictors, or linear terms with an inferred variance, and for a prior of
#'   `gamma` under which the mode of `gamma` is zero.
#' @section Warnings: Of the fit, `bsvm_warning_convergence` if the gap is above 1e-6 after
#'   `max_passes` updates, and has not come down to `tol`.
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
#' @seealso [gp()][gp]; [engine_gaussian()], the engine to use; [engine_em()], the mode with a
#'   certificate for all linear models.
#' @examples
#' d <- subset(iris, Species != "setosa")
#' fit <- bsvm(Species ~ gp(Sepal.Length, Petal.Width), data = d, likelihood = "hinge",
#'             engine = engine_ecm(rounds = 3))
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
