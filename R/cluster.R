#' Fits on several machines
#'
#' With `data = bsvm_source()`, the argument `cluster` of [bsvm()] distributes the rows over the
#' processes of a cluster of package parallel, on one machine or several. The result is the same, to
#' the last bit, for any number of workers and without a cluster.
#'
#' @details
#' `cluster` is a cluster made by [parallel::makeCluster()], or a function that makes one, such as
#' `function() parallel::makeCluster(2)`. bsvm() closes a cluster that it made itself, and leaves
#' others open for the next fit.
#'
#' **What happens.** This session reads the source and writes the rows of the design matrix to files.
#' Each worker reads some of these files in each iteration, and returns sums whose size does not
#' depend on the number of rows. So the folder of the files must be visible to all workers. It is
#' within [tempdir()]. On several machines, set the environment variable `TMPDIR` to a folder that
#' all machines share before R is started.
#'
#' **Before the fit,** each worker is compared with this session: version of bsvm and of R, BLAS
#' library, processor, and whether the worker can read and write the folder. A worker that differs
#' is an error of class `bsvm_error_cluster` with its name and the difference, since it would compute
#' other bits. A worker that does not answer is left out with a warning of class
#' `bsvm_warning_cluster`.
#'
#' **During the fit,** a worker is given up if its process ends, if it does not answer in time, or if
#' it sends an answer that does not match the question. The other workers take over its rows, from
#' the same files, and the iteration continues. What is known of the levels of a grouping factor is
#' also in these files. The result is the same as without the loss, and a warning of class
#' `bsvm_warning_cluster` says which workers were lost. Workers may be lost in three iterations; a
#' fourth loss, or the loss of all workers, is an error of class `bsvm_error_cluster`. If `cluster` is
#' a function, it is called once more when all workers are lost.
#'
#' `bsvm_control(timeout = )` is the number of seconds after which a worker is given up. By default
#' it is 60 seconds plus the time that a slow disk takes to read the rows (5 MB per second), and
#' after the first iteration 60 seconds plus ten times the longest iteration.
#'
#' **After Ctrl-C** workers stop, and the cluster can be used for the next fit.
#'
#' **Kinds of clusters.** All this holds for clusters over sockets, which are the default of
#' `makeCluster()`, and for forks. Other clusters, such as MPI or mirai, are called as a whole: the
#' answers are checked in the same way, but the first wrong or missing answer ends the fit (or calls
#' the function `cluster` once more), and a worker that hangs is waited for. After Ctrl-C, or a lost
#' worker, make such a cluster again.
#'
#' Processes divide the rows; `bsvm_control(threads = )` is the number of threads in each. A process
#' for each machine, with threads within, needs the fewest messages. Set the number of threads of the
#' BLAS library on the workers to 1, for example by the environment variable
#' `OPENBLAS_NUM_THREADS`.
#' @seealso [bsvm_source()], [bsvm_control()].
#' @examples
#' # two processes on this machine give the same coefficients as one
#' at <- 0
#' rows <- function(reset = FALSE) {
#'   at <<- if (reset) 0 else at + 1
#'   if (at %in% 1:2) split(cath, seq_len(nrow(cath)) > 200)[[at]]
#' }
#' cluster <- parallel::makeCluster(2)
#' fit <- bsvm(disease ~ sex + age, data = bsvm_source(rows), cluster = cluster)
#' parallel::stopCluster(cluster)
#' one <- bsvm(disease ~ sex + age, data = bsvm_source(rows))
#' identical(coef(fit), coef(one))
#' @name bsvm_cluster
NULL
