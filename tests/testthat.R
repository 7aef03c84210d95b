library(testthat)
library(bsvm)

test_check("bsvm")
