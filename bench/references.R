# Stored figures of other programs, and how this machine compares with the one they come from.

reference_file <- function() results_file("reference.csv")

stored_references <- function() {
  if (!file.exists(reference_file())) return(NULL)
  utils::read.csv(reference_file())
}

# A program's earlier rows are replaced.
store_reference <- function(program, seen) {
  versions <- paste0(R.version.string, ", ", packages(c("lme4", "rstanarm", "rstan", "posterior")))
  rows <- data.frame(program, quantity = names(seen), seen = unname(seen),
                     date = format(Sys.Date()), processor = processor(), versions)
  kept <- stored_references()
  utils::write.csv(rbind(kept[kept$program != program, ], rows), reference_file(),
                   row.names = FALSE)
  print(rows[c("program", "quantity", "seen")], row.names = FALSE)
}

# Named numbers; empty when there is nothing stored.
read_reference <- function(program) {
  rows <- stored_references()
  rows <- rows[rows$program == program, ]
  stats::setNames(rows$seen, rows$quantity)
}

# One fit that every machine can repeat, to tell a slower machine from a slower program.
speed_of_machine <- function(times = 5L) {
  fit <- function() {
    lme4::glmer(outcome ~ treatment * time + (1 | patientID), HSAUR3::toenail,
                family = stats::binomial())
  }
  fit()
  c(seconds_of_glmer_on_toenail = stats::median(replicate(times, seconds(fit))))
}

# Smallest bulk effective sample size of the variables whose names match, over all chains.
smallest_size <- function(draws, names) {
  kept <- grep(names, posterior::variables(draws), value = TRUE, perl = TRUE)
  stopifnot(length(kept) > 0L)
  size_of <- function(v) posterior::ess_bulk(posterior::extract_variable_matrix(draws, v))
  min(vapply(kept, size_of, 0))
}

# Above one: this machine is slower now than the one the program's figures come from was.
machine_figure <- function(program) {
  ratio <- speed_of_machine() / read_reference(program)[["seconds_of_glmer_on_toenail"]]
  figure(paste0("seconds of glmer on toenail, now / when ", program, " was stored"), ratio,
         "ratio")
}
