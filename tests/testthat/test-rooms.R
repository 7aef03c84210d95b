# The core's folders build on one another without a circle, so that a room can be read, tested and
# moved without what builds on it.

core_folder <- function() {
  folder <- test_path("..", "..", "src", "core")
  skip_if_not(dir.exists(folder), "the source tree is not at hand")
  folder
}

# One row an include that leaves its room: from, to, file.
includes_of <- function(folder) {
  files <- list.files(folder, "[.][ch]pp$", recursive = TRUE)
  found <- lapply(files, function(file) {
    lines <- readLines(file.path(folder, file))
    taken <- sub("^#include \"(.+)\"$", "\\1", grep("^#include \"", lines, value = TRUE))
    own <- file.exists(file.path(folder, dirname(file), taken))
    data.frame(file = rep(file, length(taken)), from = rep(room_of(file), length(taken)),
               to = ifelse(own, room_of(file), room_of(taken)), include = taken)
  })
  do.call(rbind, found)
}

room_of <- function(path) sub("/.*", "", path)

# Rooms that nothing is left to build on, taken away until no more can be.
rest_of <- function(edges) {
  repeat {
    ends <- setdiff(unique(edges$to), edges$from)
    left <- edges[!edges$to %in% ends, ]
    if (nrow(left) == nrow(edges)) return(edges)
    edges <- left
  }
}

test_that("no room of the core builds on itself through others", {
  folder <- core_folder()
  edges <- includes_of(folder)
  expect_gt(nrow(edges), 300)
  expect_true(all(dir.exists(file.path(folder, edges$to))))
  circle <- rest_of(edges[edges$from != edges$to, ])
  expect(nrow(circle) == 0L, paste(circle$file, circle$include, sep = " -> ", collapse = "\n"))
})

test_that("the search finds a circle", {
  edges <- data.frame(from = c("a", "b", "c", "c"), to = c("b", "c", "a", "d"))
  expect_identical(nrow(rest_of(edges)), 3L)
  expect_identical(nrow(rest_of(edges[-3L, ])), 0L)
})

# The units of a package build: each room has its object.
test_that("every room is compiled", {
  makevars <- paste(readLines(file.path(dirname(core_folder()), "Makevars")), collapse = " ")
  rooms <- basename(list.dirs(core_folder(), recursive = FALSE))
  listed <- sub(".*ROOMS = (.*?) *OBJECTS.*", "\\1", gsub("\\\\", " ", makevars))
  expect_setequal(strsplit(listed, " +")[[1L]], rooms)
  for (room in c(rooms, "glue")) expect_match(makevars, paste0("unit_", room, ".o"), fixed = TRUE)
})

test_that("no function of R is made in two files, the last of which would hide the other", {
  folder <- file.path(core_folder(), "..", "..", "R")
  made <- unlist(lapply(list.files(folder, "[.]R$", full.names = TRUE), function(file) {
    calls <- Filter(function(call) is.call(call) && identical(call[[1L]], quote(`<-`)), parse(file))
    names <- Filter(is.name, lapply(calls, `[[`, 2L))
    unique(vapply(names, as.character, ""))
  }))
  expect_gt(length(made), 1000)
  expect_identical(made[duplicated(made)], character(0))
})
