# Which shards a worker of a cluster adds, so that sums have the same bits for any number of workers.
#
# The core adds shards by one binary tree (core/rows/tree_sum.hpp): neighbours first, then pairs of
# neighbours, and so on. A unit is a subtree of it: 2^k shards from a multiple of 2^k on, the last one
# perhaps cut short. A worker adds its units, and add_units() adds their sums by the rest of the tree.

# list(first, last) of each unit and `worker`, from 1, for so many workers. A worker's units adjoin.
plan_units <- function(shards, workers) {
  grain <- 2^max(0, floor(log2(shards / workers / 4)))
  grains <- ceiling(shards / grain)
  ends <- pmin(round(grains * seq_len(workers) / workers) * grain, shards)
  starts <- c(0, ends[-workers])
  unlist(lapply(which(ends > starts), function(k) {
    lapply(subtrees(starts[k], ends[k], shards), function(unit) c(unit, list(worker = k)))
  }), recursive = FALSE)
}

# Of the shards from + 1, ..., to: the fewest units.
subtrees <- function(from, to, shards) {
  out <- list()
  while (from < to) {
    size <- 1
    larger <- function() {
      from %% (2 * size) == 0 && size < to - from && (from + 2 * size <= to || to == shards)
    }
    while (larger()) size <- 2 * size
    out[[length(out) + 1L]] <- list(first = from + 1, last = min(from + size, to))
    from <- from + size
  }
  out
}

unit_size <- function(unit) unit$last - unit$first + 1

# The two subtrees of a unit with several shards.
split_unit <- function(unit) {
  half <- 2^(ceiling(log2(unit_size(unit))) - 1)
  one <- two <- unit
  one$last <- unit$first + half - 1
  two$first <- unit$first + half
  list(one, two)
}

# Units that are given away, in parts so that there is one for each of so many workers.
divide_units <- function(units, workers) {
  while (length(units) < workers) {
    sizes <- vapply(units, unit_size, 0)
    if (max(sizes) < 2) break
    widest <- which.max(sizes)
    units <- c(units[-widest], split_unit(units[[widest]]))
  }
  units
}

# The sum of `values`, one for each unit in the order of their first shards. `plus` adds two of them.
add_units <- function(values, firsts, shards, plus = `+`) {
  add <- function(at, start, size) {
    if (length(at) == 1L) return(values[[at]])
    left <- firsts[at] < start + size / 2
    if (all(left)) return(add(at, start, size / 2))
    if (!any(left)) return(add(at, start + size / 2, size / 2))
    plus(add(at[left], start, size / 2), add(at[!left], start + size / 2, size / 2))
  }
  add(seq_along(values), 1, 2^ceiling(log2(shards)))
}
