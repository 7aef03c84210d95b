# Three million rows in five levels from a function, then as a data frame. Prints one line of numbers:
# seconds and peak resident memory in MB of the first, seconds of the second, and are the bits the same?
suppressMessages(library(bsvm))

n <- 3e6
size <- 1e5
chunk <- function(number) {
  set.seed(number)
  data <- as.data.frame(matrix(stats::rnorm(size * 20), size))
  data$g <- sample(5L, size, TRUE)
  data$y <- as.integer(data$V1 - data$V2 + data$g / 5 + stats::rlogis(size) > 0)
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
  bsvm(y ~ . - g + (1 | g), data, engine = engine_vb(), likelihood = "hinge", keep_data = FALSE,
       control = bsvm_control(threads = 2L, verbose = FALSE))
}

there <- here <- NULL
streamed <- system.time(there <- fit(rows))[["elapsed"]]
line <- grep("VmHWM", readLines("/proc/self/status"), value = TRUE)
peak <- as.numeric(gsub("[^0-9]", "", line)) / 1024
data <- do.call(rbind, lapply(seq_len(n / size), chunk))
memory <- system.time(here <- fit(data))[["elapsed"]]
cat("figures", streamed, peak, memory, as.numeric(identical(there$posterior, here$posterior)), "\n")
