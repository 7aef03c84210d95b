# Names of levels. A value has the same name whatever its type and whatever options are set, and
# different values have different names. as.character() promises neither: it keeps 15 digits and
# whole seconds, and writes 100000 as "1e+05" or "100000".

# character(n), NA where a value is missing.
level_names <- function(values) {
  if (is.factor(values)) return(factor_level_names(values)[values])
  if (is.character(values)) return(as.vector(values))
  keyed <- level_keys(values)
  unique <- unique(keyed$keys)
  names <- keyed$name(unique)
  names[is.na(unique)] <- NA
  names[match(keyed$keys, unique)]
}

# A level that stands for missing values, as addNA() makes it, is printed as <NA>, and named so.
factor_level_names <- function(values) {
  levels <- levels(values)
  levels[is.na(levels)] <- "<NA>"
  levels
}

# list(keys, name): a vector without class, by which values are told apart and sorted, and the
# function that names keys. Work is done on keys: match() and sort() of classed values go through
# their names in some versions of R.
level_keys <- function(values) {
  if (inherits(values, "POSIXt")) return(list(keys = bare_double(values), name = time_names))
  if (inherits(values, "Date")) return(list(keys = bare_double(values), name = date_names))
  if (identical(class(values), "difftime")) {
    units <- attr(values, "units")
    return(list(keys = bare_double(values), name = function(x) paste(number_names(x), units)))
  }
  if (is.object(values) && !inherits(values, "AsIs") || is.raw(values)) return(text_keys(values))
  attributes(values) <- NULL
  list(keys = values, name = switch(typeof(values), integer = , double = number_names,
                                    complex = complex_names, as.character))
}

bare_double <- function(values) {
  if (inherits(values, "POSIXlt")) values <- as.POSIXct(values)
  attributes(values) <- NULL
  as.double(values)
}

# Classes of other packages say themselves what their values are called, and how they are sorted.
text_keys <- function(values) {
  if (inherits(values, "integer64")) need_package("bit64", "A grouping factor of class integer64")
  text <- as.character(values)
  text[is.na(values)] <- NA
  first <- which(!duplicated(text) & !is.na(text))
  order <- tryCatch(order(as.double(values[first]), text[first]),
                    error = function(e) order(text[first]),
                    warning = function(w) order(text[first]))
  known <- text[first][order]
  list(keys = match(text, known), name = function(keys) known[keys])
}

need_package <- function(package, what) {
  if (!requireNamespace(package, quietly = TRUE)) {
    abort("unsupported", what, " needs the package ", package, ", which is not installed: ",
          "install.packages(\"", package, "\").")
  }
}

# The shortest decimals that give the number back. Whole numbers have all their digits, so that
# integers and doubles agree; beyond 1e22 nobody counts any more.
number_names <- function(x) {
  if (is.integer(x)) return(sprintf("%d", x))
  x <- x + 0 # -0 is 0
  names <- sprintf("%.15g", x)
  for (digits in c("%.16g", "%.17g")) {
    short <- which(is.finite(x) & suppressWarnings(as.numeric(names)) != x)
    names[short] <- sprintf(digits, x[short])
  }
  whole <- which(x == round(x) & abs(x) < 1e22)
  names[whole] <- sprintf("%.0f", x[whole])
  names
}

complex_names <- function(x) {
  sign <- ifelse(Im(x) < 0, "-", "+")
  paste0(number_names(Re(x)), sign, number_names(abs(Im(x))), "i")
}

# In universal time: what clocks show is twice the same in autumn, and depends on where the
# computer stands.
time_names <- function(x) {
  whole <- floor(x)
  second <- format(structure(whole, class = c("POSIXct", "POSIXt"), tzone = "UTC"),
                   "%Y-%m-%d %H:%M:%S")
  paste0(second, decimals_of(x, whole), " UTC")
}

date_names <- function(x) {
  whole <- floor(x)
  paste0(format(structure(whole, class = "Date"), "%Y-%m-%d"), decimals_of(x, whole))
}

# ".25" of 3.25, "" of whole numbers. Before the epoch it is the exact part above the floor.
decimals_of <- function(x, whole) {
  decimals <- character(length(x))
  after <- which(x != whole & x > 1e-3)
  decimals[after] <- sub("^[^.]*", "", number_names(x[after]))
  before <- which(x != whole & x <= 1e-3)
  decimals[before] <- gsub("^0|0+$", "", sprintf("%.52f", (x - whole)[before]))
  decimals
}

# ---- new data -----------------------------------------------------------------------------

# Codes of names among `levels`: NA stays NA, a level that is not there is 0. A name that R gave to
# a number, as factor() does, stands for the number however it is written.
match_levels <- function(names, levels) {
  codes <- match(names, levels, nomatch = 0L)
  codes[is.na(names)] <- NA
  other <- which(codes == 0L)
  if (length(other) > 0L) {
    unseen <- unique(names[other])
    found <- match(plain_names(unseen), plain_names(levels), nomatch = 0L)
    codes[other] <- found[match(names[other], unseen)]
  }
  codes
}

# Names in which each part between colons that is a number R wrote is written as number_names()
# does. Text such as "007", "1.50" or an id of more than 15 digits is not R's, and stays.
plain_names <- function(names) {
  parts <- strsplit(paste0(names, ":"), ":", fixed = TRUE)
  tokens <- unlist(parts)
  numeric <- grepl("^-?(0|[1-9][0-9]*)([.][0-9]*[1-9])?(e[+-][0-9]{2,3})?$", tokens)
  digits <- gsub("^0+|0+$", "", gsub("e.*|[-.]", "", tokens[numeric]))
  numeric[numeric] <- nchar(digits) <= 15L
  tokens[numeric] <- number_names(as.numeric(tokens[numeric]))
  if (length(tokens) == length(names)) return(tokens)
  vapply(split(tokens, rep(factor(seq_along(parts)), lengths(parts))), paste, "", collapse = ":",
         USE.NAMES = FALSE)
}
