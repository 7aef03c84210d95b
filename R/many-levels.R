# Grouping factors with very many levels, as a source of rows may have. If the variable is a column
# that is nothing else in the formula, nobody needs a row for each level: the spill knows all values
# of the column, and of the levels that the frame has
#
#   levels   in words, as always. Of whole numbers they are as.character() of integers, a vector which
#            R fills when it is looked at
#   keys     of numbers, and only if there are more than `prototype_levels`: the numbers, sorted, in
#            which codes are looked up. The levels that integers name are at the same places

# Such columns: names that stand in bars alone.
lone_grouping <- function(parts, given) {
  variables <- unique(lapply(parts$bars, `[[`, "group"))
  named <- vapply(variables, is.name, TRUE)
  others <- c(list(parts$fixed, parts$scale), parts$bases, lapply(parts$bars, `[[`, "lhs"), given,
              parts$auxiliary, variables[!named])
  setdiff(vapply(variables[named], as.character, ""), unlist(lapply(others, all.vars)))
}

# By lone column, the levels that rows which take part have, so far. Logical columns are left to others.
new_levels_seen <- function(spill, parts) {
  known <- names(spill$columns)[!vapply(spill$columns, `[[`, "", "type") %in% "logical"]
  sapply(intersect(parts$lone, known), levels_seen_of, spill = spill, simplify = FALSE)
}

levels_seen_of <- function(name, spill) {
  seen <- new.env(parent = emptyenv())
  column <- spill$columns[[name]]
  seen$keys <- if (column$type != "factor") column$values
  seen$seen <- logical(if (column$type == "factor") length(column$levels) else length(seen$keys))
  seen$count <- 0
  seen
}

# The first rows of new levels, of the first `prototype_levels`.
note_levels <- function(seen, values) {
  codes <- if (is.factor(values)) as.integer(values) else core_find_sorted(seen$keys, values)
  new <- unique(codes[!is.na(codes)])
  new <- new[!seen$seen[new]]
  seen$seen[new] <- TRUE
  fresh <- match(utils::head(new, max(0, prototype_levels - seen$count)), codes)
  seen$count <- seen$count + length(new)
  fresh
}

# A frame of the prototype's rows with the levels of all rows.
with_all_levels <- function(frame, chosen, lone, spill) {
  if (length(lone) == 0L) return(frame)
  frame$groups <- lapply(frame$groups, function(group) {
    name <- if (is.name(group$variable)) as.character(group$variable) else ""
    column <- if (name %in% lone) spill$columns[[name]]
    if (is.null(column) || column$type == "logical") return(group)
    values <- chosen$prototype[[name]]
    used <- chosen$levels[[name]]
    own <- if (column$type == "factor") levels_of_factor(column, values, used)
           else levels_of_numbers(column, values, used)
    if (length(own$levels) > length(group$levels)) group[names(own)] <- own
    group
  })
  frame
}

# `used`: which levels occur, NULL if the column knows.
levels_of_factor <- function(column, values, used) {
  if (is.null(used) && !all(column$occurs)) used <- which(column$occurs)
  levels <- if (anyNA(column$levels)) factor_level_names(values) else column$levels
  codes <- as.integer(values)
  if (length(used) %in% c(0L, length(levels))) return(list(codes = codes, levels = levels))
  list(codes = match(codes, used), levels = levels[used])
}

levels_of_numbers <- function(column, values, used) {
  keys <- if (is.null(used)) column$values else column$values[used]
  codes <- core_find_sorted(keys, values)
  if (!is.null(column$class)) {
    keyed <- level_keys(decode_column(keys, column))
    return(list(codes = codes, levels = keyed$name(keyed$keys)))
  }
  whole <- whole_numbers(keys)
  if (!is.null(whole)) return(list(codes = codes, levels = as.character(whole), keys = whole))
  list(codes = codes, levels = number_names(keys), keys = keys)
}

# Numbers as integers, or NULL if they are not.
whole_numbers <- function(x) {
  if (is.integer(x)) return(x)
  if (length(x) == 0L || !core_all_integers(x)) return(NULL)
  as.integer(x)
}

# list(codes, values) of new values of a variable, or NULL if their names are to be matched: 0 for a
# level that is not there, and the levels in words.
known_codes <- function(group, values) {
  if (is.factor(values) && is.null(group$keys) && identical(levels(values), group$levels)) {
    return(list(codes = as.integer(values), values = group$levels[values]))
  }
  if (is.null(group$keys)) return(NULL)
  if (is.numeric(values) && !is.object(values) && is.null(dim(values))) {
    attributes(values) <- NULL
    whole <- whole_numbers(values)
    return(list(codes = core_find_sorted(group$keys, values),
                values = if (is.null(whole)) level_names(values) else as.character(whole)))
  }
  names <- level_names(check_group_values(values, text_of(group$variable)))
  list(codes = codes_of_names(names, group$keys), values = names)
}

# As match_levels() has them.
codes_of_names <- function(names, keys) {
  unique <- unique(names)
  numbers <- suppressWarnings(as.numeric(unique))
  codes <- core_find_sorted(keys, numbers)
  same <- plain_names(ifelse(is.na(unique), "", unique)) == number_names(numbers)
  codes[!is.na(unique) & (is.na(numbers) | !same)] <- 0L
  codes[match(names, unique)]
}
