# Methods of internal generics, for tests that loop over classes or add one.

# Names of the internal generics that have a method for a class of this prefix.
generics_of <- function(prefix) {
  table <- ls(asNamespace("bsvm")[[".__S3MethodsTable__."]], all.names = TRUE)
  unique(sub(paste0("[.]", prefix, ".*"), "", grep(paste0("[.]", prefix), table, value = TRUE)))
}

has_method <- function(generic, object) {
  any(vapply(class(object), function(class) {
    !is.null(utils::getS3method(generic, class, optional = TRUE, envir = asNamespace("bsvm")))
  }, TRUE))
}

# Runs `code` with methods of the package's generics for a class, which are gone afterwards.
with_methods <- function(class, methods, code) {
  table <- asNamespace("bsvm")[[".__S3MethodsTable__."]]
  on.exit(rm(list = paste0(names(methods), ".", class), envir = table))
  for (generic in names(methods)) {
    registerS3method(generic, class, methods[[generic]], envir = asNamespace("bsvm"))
  }
  code
}
