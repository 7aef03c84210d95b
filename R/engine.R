# An engine: the core's name for it and its numbers. Every constructor ends here.
new_engine <- function(name, parameters, label) {
  structure(list(name = name, parameters = parameters, label = label), class = "bsvm_engine")
}

#' @rdname print.bsvm_component
#' @export
print.bsvm_engine <- function(x, ...) {
  cat("Engine: ", x$label, "\n", sep = "")
  invisible(x)
}

# An object of class bsvm_<kind>, or a string that names an exported constructor <kind>_<string>().
as_component <- function(x, kind) {
  if (inherits(x, paste0("bsvm_", kind))) return(check_component(x, kind))
  namespace <- environment(as_component)
  known <- known_components(kind, getNamespaceExports(namespace))
  if (is.character(x) && length(x) == 1L && x %in% known) {
    return(get(paste0(kind, "_", x), envir = namespace)())
  }
  abort("argument", "`", kind, "` must be made by ",
        if (length(known) > 1L) "one of ", enumerate(paste0(kind, "_", known, "()"), ""),
        ", or be ",
        if (length(known) > 1L) "one of the strings " else "the string ", enumerate(known, "\""),
        "; found ", describe(x), ".")
}

known_components <- function(kind, exports) {
  prefix <- paste0("^", kind, "_")
  sort(sub(prefix, "", grep(prefix, exports, value = TRUE)))
}
