# Time and memory of a Gaussian-process term with 200 inducing points against rows: simulated data of
# ten predictors, the kernel learned.

for (part in c("gp-simulated.R", "memory.R"))
  source(file.path(getOption("bsvm.bench"), part), local = TRUE)

sizes <- c(1e4, 1e5, 1e6)

run <- function() {
  set.seed(1)
  test <- simulated_rows(1e4)
  seen <- lapply(sizes, size_rows, test = test)
  taken <- vapply(seen, `[[`, 0, "seconds")
  rbind(do.call(rbind, lapply(seen, `[[`, "rows")),
        figure("exponent of time in n", log(taken[3L] / taken[2L]) / log(sizes[3L] / sizes[2L]), "",
               at_most = 1.1))
}

size_rows <- function(n, test) {
  set.seed(2)
  data <- simulated_rows(n)
  fit <- NULL
  taken <- seconds(function() fit <<- fit_simulated(data))
  p <- predict(fit, test, type = "prob")[, "yes"]
  yes <- test$y == "yes"
  label <- paste0(format(n, big.mark = " ", scientific = FALSE), " rows")
  name <- function(what) paste0(label, ": ", what)
  memory <- measure_memory("gp-rows-memory.R", character(), data)
  list(seconds = taken,
       rows = rbind(figure(name("a fit"), taken, "s",
                           at_most = if (n == 1e5) 20 else if (n == 1e6) 240),
                    figure(name("of it, finding the kernel"), summary(fit)$gp$learning$seconds, "s"),
                    figure(name("error"), 100 * mean((p > 0.5) != yes), "%"),
                    figure(name("log score"), mean(log(ifelse(yes, p, 1 - p))), ""),
                    figure(name("left over by the points"), mean(summary(fit)$gp$points$left_over),
                           "of the variance"),
                    memory_rows(memory, label, 3)))
}
