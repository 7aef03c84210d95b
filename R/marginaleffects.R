# Methods for the packages marginaleffects and ggeffects, which ask for predictions with draws.

#' @method get_predict bsvm
#' @rawNamespace S3method(marginaleffects::get_predict,bsvm)
get_predict.bsvm <- function(model, newdata, type = "response", ndraws = NULL, groups = "known",
                             re_formula = NULL, ...) {
  check_fit(model, "model")
  if (is.null(type)) type <- "response"
  type <- pick_one(type, c("response", "link"), "type")
  groups <- if (is.null(re_formula)) pick_groups(groups) else "none"
  draws <- estimand_draws(model, as.data.frame(newdata), groups, "marginaleffects", ndraws, type)
  rows <- if (is.null(newdata$rowid)) seq_len(ncol(draws)) else newdata$rowid
  structure(data.frame(rowid = rows, estimate = colMeans(draws)), posterior_draws = t(draws))
}

#' @method get_vcov bsvm
#' @rawNamespace S3method(marginaleffects::get_vcov,bsvm)
get_vcov.bsvm <- function(model, ...) NULL

#' @method get_coef bsvm
#' @rawNamespace S3method(marginaleffects::get_coef,bsvm)
get_coef.bsvm <- function(model, ...) fixef.bsvm(model)

# marginaleffects supports the classes that this option names.
register_marginaleffects <- function() {
  classes <- getOption("marginaleffects_model_classes")
  options(marginaleffects_model_classes = union(classes, "bsvm"))
}
