#' Fits on several computers
#'
#' With `data = bsvm_source()`, the argument `cluster` of [bsvm()] distributes the rows over the
#' processes of a cluster of package parallel, on one computer or several. The result is the same, to
#' the last bit, for any number of workers and without a cluster.
#'
#' @details
#' `cluster` is a cluster made by [parallel::makeCluster()], or a function that makes one, such as
#' `function() parallel::makeCluster(2)`. bsvm() closes a cluster that it made itself, and leaves
#' others open for the next fit.
#'
#' **What happens.** This session reads the source and writes the rows of the design matrix to files.
#' Each worker reads some of these files in each iteration, and returns sums whose size does not
#' depend on the number of rows. Questions to workers and their answers are files, too. So all workers
#' must see the folder, which is within [tempdir()]. On several computers, use
#' `control = bsvm_control(rows_folder = "path")` with a folder that all computers share.
#'
#' **Before the fit,** each worker is compared with this session: version of bsvm and of R, BLAS
#' library, processor, and whether the worker can read and write the folder. A worker that differs
#' would compute other bits, and is an error of class `bsvm_error_cluster` that names the difference.
#' If a worker does not answer, the fit uses the others, with a warning of class
#' `bsvm_warning_cluster`.
#'
#' **During the fit,** a worker is lost if its process ends, if it does not answer in time, or if its
#' answer does not match the question. The other workers take over its rows, from the same files, and
#' the iteration continues. What is known of the levels of a grouping factor is also in files. The
#' result is the same as without the loss, and a warning of class `bsvm_warning_cluster` names the
#' workers that were lost. A fit survives three such events in an hour, however many workers are lost
#' in one of them. A fourth one, or the loss of all workers, is an error of class `bsvm_error_cluster`.
#' If `cluster` is a function, it is called once more when all workers are lost. Draws of
#' [engine_gibbs()] with a `checkpoint` are written to it before such an error, and can continue there.
#'
#' `bsvm_control(timeout = )` is the number of seconds that a worker has for an answer. By default it
#' depends on the rows: 60 seconds, and the time to read the files at 5 MB per second. After the first
#' iteration it is 60 seconds, and ten times the longest iteration.
#'
#' **After Ctrl-C** workers stop, and the cluster can be used for the next fit.
#'
#' **Kinds of clusters.** All this holds for clusters over sockets, which are the default of
#' `makeCluster()`, and for forks. Other clusters, such as MPI or mirai, are called as a whole. Their
#' answers are checked in the same way, but the first wrong or missing answer is the loss of all
#' workers. There is no limit of time: if a worker hangs, the fit hangs. After Ctrl-C, or a lost
#' worker, make such a cluster again.
#'
#' Processes divide the rows; `bsvm_control(threads = )` is the number of threads in each. A process
#' for each computer, with threads within, needs the fewest messages. Set the number of threads of the
#' BLAS library on the workers to 1, for example by the environment variable
#' `OPENBLAS_NUM_THREADS`.
#' @seealso [bsvm_source()], [distribute()], [bsvm_control()].
#' @examples
#' # two processes on this computer give the same coefficients as one
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
