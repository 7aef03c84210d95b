# Functions that a fit keeps with its formula, without the environment they were made in, which may
# hold anything: a function comes with what it names there.

# A function that does the same. In three cases it stays as it is: it may look for names that are
# not written in it; something that it names has an environment of its own; or it has a class, whose
# methods may look into its environment.
light_function <- function(f) {
  home <- enclosing_home(environment(f))
  if (is.null(home) || identical(home, environment(f)) || is.object(f)) return(f)
  found <- tryCatch(named_values(f, home), error = function(e) NULL)
  if (is.null(found)) return(f)
  own <- if (length(found) > 0L) list2env(found, parent = home) else home
  for (name in names(found)) {
    if (has_environment(found[[name]], f)) environment(own[[name]]) <- own
  }
  environment(f) <- own
  f
}

# The first of the environments that are not a function's: the global one, or a package's. NULL of
# primitives, which have none.
enclosing_home <- function(env) {
  while (!is.null(env) && !is_home(env)) env <- parent.env(env)
  env
}

is_home <- function(env) {
  identical(env, globalenv()) || identical(env, emptyenv()) || identical(env, baseenv()) ||
    isNamespace(env) || grepl("^(package|imports):", environmentName(env))
}

# What the function names between its environment and `home`, and what the functions among that
# name; NULL if that may not be all.
named_values <- function(f, home) {
  found <- list()
  left <- function_words(f)
  while (length(left) > 0L) {
    if (any(left %in% looks_up)) return(NULL)
    new <- values_between(setdiff(left, names(found)), environment(f), home)
    functions <- Filter(is.function, new)
    of_other <- Filter(function(g) !is.null(environment(g)) && !has_environment(g, f), functions)
    if (any(vapply(of_other, function(g) !is_home(environment(g)), TRUE))) return(NULL)
    if (any(vapply(new, is_tied, TRUE))) return(NULL)
    found <- c(found, new)
    left <- c(unlist(lapply(Filter(function(g) has_environment(g, f), functions), function_words)),
              texts_in(new))
  }
  found
}

# Texts may be names of functions, for do.call() and sapply().
texts_in <- function(values) {
  values <- Filter(Negate(is.function), values)
  as.character(rapply(values, as.character, classes = "character", how = "unlist"))
}

has_environment <- function(g, f) is.function(g) && identical(environment(g), environment(f))

# Of what is no function: does it have an environment?
is_tied <- function(x) is.environment(x) || (!is.function(x) && !is.null(environment(x)))

# Functions that find, or change, what is not written down.
looks_up <- c("get", "get0", "mget", "dynGet", "exists", "eval", "evalq", "assign", "<<-",
              "delayedAssign", "makeActiveBinding", "environment", "environment<-", "parent.frame",
              "parent.env", "as.environment", "sys.function", "sys.frame", "sys.frames", "rm",
              "attach", "source", "ls")

values_between <- function(names, env, home) {
  found <- list()
  while (!identical(env, home)) {
    here <- setdiff(intersect(names, ls(env, all.names = TRUE)), names(found))
    found[here] <- mget(here, envir = env)
    env <- parent.env(env)
  }
  found
}

# All names in a function's code but its arguments, and its texts, which may be names of functions.
# An argument that has the name of a function may stand where the function is called.
function_words <- function(f) {
  words <- unlist(lapply(c(list(body(f)), as.list(formals(f))), code_words))
  callable <- vapply(names(formals(f)), exists, TRUE, envir = environment(f), mode = "function")
  setdiff(words, c(names(callable)[!callable], ""))
}

code_words <- function(code) {
  if (is.name(code)) return(as.character(code))
  if (is.character(code)) return(code)
  if (is.call(code) || is.pairlist(code)) return(unlist(lapply(as.list(code), code_words)))
}
