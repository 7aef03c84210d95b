# Spam by Gibbs sampling: 4601 rows, 57 standardised predictors, one inferred ridge penalty,
# 5000 + 5000 draws of one chain. A sweep beside one dsyrk and dpotrf by OpenBLAS and n
# inverse-Gaussian draws; effective draws a second with and without the mixing moves.

for (part in c("gibbs.R", "spam-data.R"))
  source(file.path(getOption("bsvm.bench"), part), local = TRUE)

run <- function() {
  if (!installed(c("kernlab", "posterior")))
    return(skipped("spam-gibbs", "The packages kernlab and posterior are needed."))
  data <- spam_data()
  rbind(sweep_figures(data), mixing_figures(data))
}

fit_spam <- function(data, ...) {
  fit_gibbs(type ~ ., data, papers_prior(), standardize = FALSE, ...)
}

sweep_figures <- function(data) {
  reasons <- c(sweep_limit_missing(), blas_missing())
  if (any(nzchar(reasons))) return(skipped("a sweep / its bound", paste(reasons, collapse = " ")))
  bound <- spam_bound(data)
  figures_of <- function(mixing) sweep_rows(mixing, spam_sweeps(data, mixing, bound))
  rbind(figures_of(TRUE), figures_of(FALSE))
}

spam_sweeps <- function(data, mixing, bound) {
  engine <- engine_gibbs(draws = 500L, burnin = 500L, chains = 1L, mixing = mixing)
  spec <- bsvm_spec(bsvm_frame(type ~ ., data), papers_prior(), "hinge", engine,
                    standardize = FALSE)
  sweep_and_bound(spec, bound)
}

# The rows' links are those of the posterior.
spam_bound <- function(data) {
  link <- fitted(fit_spam(data, draws = 200L))
  y <- ifelse(data$type == levels(data$type)[2L], 1, -1)
  n <- nrow(data)
  function() {
    blas <- blas_limit(n, ncol(data))
    draws <- sweep_limit(y, link, rep(0, n), matrix(0, n, 0L), repeats = 501L)[["draws"]]
    c(draws = draws, syrk = syrk_seconds(blas), potrf = blas$dpotrf)
  }
}

sweep_rows <- function(mixing, seen) {
  name <- function(what) sprintf("mixing = %s: %s", mixing, what)
  bound <- sum(seen[c("draws", "syrk", "potrf")])
  rbind(figure(name("a sweep"), 1e3 * seen[["sweep"]], "ms"),
        figure(name("OpenBLAS dsyrk"), 1e3 * seen[["syrk"]], "ms"),
        figure(name("OpenBLAS dpotrf"), 1e3 * seen[["potrf"]], "ms"),
        figure(name("n inverse-Gaussian draws"), 1e3 * seen[["draws"]], "ms"),
        figure(name("a sweep / (dsyrk + dpotrf + draws)"), seen[["sweep"]] / bound, "ratio",
               at_most = 2))
}

mixing_figures <- function(data) {
  chains <- function(mixing) {
    run_chains(function() fit_spam(data, mixing = mixing), ".", times = 3L)
  }
  mixed <- chains(TRUE)
  plain <- chains(FALSE)
  rbind(chain_figures("mixing = TRUE", mixed), chain_figures("mixing = FALSE", plain),
        figure("mixing = TRUE / FALSE, a second", rate_of(mixed) / rate_of(plain), "ratio"))
}
