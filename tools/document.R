# Writes what is generated: man/, NAMESPACE, R/RcppExports.R, src/RcppExports.cpp.
# roxygen comes first, since Rcpp reads from NAMESPACE whether to register the routines.
suppressPackageStartupMessages(roxygen2::roxygenise(load_code = "source"))
Rcpp::compileAttributes()
