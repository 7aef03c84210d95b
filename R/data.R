#' Toenail infection trial
#'
#' A randomised trial of two oral treatments of toenail infection (De Backer and others 1998): 294
#' patients with up to seven visits each.
#'
#' @format A data frame with 1908 rows, one per visit:
#' * `patientID`: factor with 294 levels;
#' * `outcome`: the infection, `"none or mild"` (1500 rows) or `"moderate or severe"` (408);
#' * `treatment`: `"itraconazole"` (146 patients) or `"terbinafine"` (148);
#' * `time`: months since the start, as they were;
#' * `visit`: number of the visit, 1 to 7. Visits were planned at weeks 0, 4, 8, 12, 24, 36 and 48.
#' @source The object `toenail` of the package mice, version 3.15.0 (licence GPL, version 2 or
#'   later), with the names of the package HSAUR3.
#' @references De Backer, M., De Vroey, C., Lesaffre, E., Scheys, I. and De Keyser, P. (1998). Twelve
#'   weeks of continuous oral therapy for toenail onychomycosis caused by dermatophytes: a
#'   double-blind comparative trial of terbinafine 250 mg/day versus itraconazole 200 mg/day.
#'   *Journal of the American Academy of Dermatology*, 38, S57-S63.
#' @examples
#' # does the infection recede faster under terbinafine?
#' fit <- bsvm(outcome ~ time * treatment + (1 | patientID), data = toenail)
#' hypothesis(fit, "`time:treatmentterbinafine` < 0")
#' @docType data
#' @keywords datasets
#' @name toenail
#' @usage toenail
NULL

#' Cardiac catheterisation
#'
#' Patients with chest pain who were referred for cardiac catheterisation at Duke University. The
#' response is significant coronary disease. More than a third of the cholesterol values are
#' missing.
#'
#' @format A data frame with 3504 rows, one per patient:
#' * `disease`: significant coronary disease, `"no"` (1170) or `"yes"` (2334);
#' * `sex`: `"male"` (2405) or `"female"` (1099);
#' * `age`: in years;
#' * `duration`: of symptoms, in days;
#' * `cholesterol`: in mg per 100 ml, missing in 1246 rows.
#' @source Data obtained from http://hbiostat.org/data courtesy of the Vanderbilt University
#'   Department of Biostatistics. The R package medicaldata distributes them under the MIT licence.
#' @references Luts, J. and Ormerod, J. T. (2014). Mean field variational Bayesian inference for
#'   support vector machine classification. *Computational Statistics & Data Analysis*, 73, 163-176
#'   (Section 4.5).
#' @examples
#' # is cholesterol related to disease, given sex and age?
#' fit <- bsvm(disease ~ sex + age + cholesterol, data = cath, missing = missing_normal())
#' summary(fit)
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(fit, "effects", pars = "cholesterol")
#' @docType data
#' @keywords datasets
#' @name cath
#' @usage cath
NULL
