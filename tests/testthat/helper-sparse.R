# Tests of sparse predictors have small matrices, which the package would make dense: they stay
# sparse unless a test asks for what users get.
options(bsvm.dense_cells = 0)

# Runs `code` with what users get.
as_users_have <- function(code) {
  old <- options(bsvm.dense_cells = NULL)
  on.exit(options(old))
  code
}
