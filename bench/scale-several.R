# A million rows in crossed factors of 100 000 and 200 levels from a function, then as a data frame.
# Prints one line of numbers: seconds and peak resident memory in MB of the first, seconds of the second,
# and the largest difference of group effects in standard deviations of these.
suppressMessages(library(bsvm))

n <- 1e6
size <- 1e5
chunk <- function(number) {
  set.seed(number)
  data <- as.data.frame(matrix(stats::rnorm(size * 10), size))
  data$person <- sample(100000L, size, TRUE)
  data$item <- sample(200L, size, TRUE)
  effects <- sin(1.7 * data$person) + cos(2.3 * data$item)
  data$y <- as.integer(data$V1 + effects + stats::rlogis(size) > 0)
  data
}

at <- 0
rows <- function(reset = FALSE) {
  if (reset) {
    at <<- 0
    return(NULL)
  }
  if (at == n / size) return(NULL)
  at <<- at + 1
  chunk(at)
}

fit <- function(data) {
  bsvm(y ~ . - person - item + (1 | person) + (1 | item), data, engine = engine_vb(),
       likelihood = "hinge", keep_data = FALSE, control = bsvm_control(verbose = FALSE))
}

there <- here <- NULL
streamed <- system.time(there <- fit(rows))[["elapsed"]]
line <- grep("VmHWM", readLines("/proc/self/status"), value = TRUE)
peak <- as.numeric(gsub("[^0-9]", "", line)) / 1024
data <- do.call(rbind, lapply(seq_len(n / size), chunk))
memory <- system.time(here <- fit(data))[["elapsed"]]
apart <- function(a, b) max(abs(a - b)) / stats::sd(b)
differences <- mapply(function(a, b) apart(unlist(a), unlist(b)), ranef(there), ranef(here))
cat("figures", streamed, peak, memory, max(differences), "\n")
