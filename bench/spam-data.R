# kernlab::spam with every predictor standardised: 4601 x 57, and the class.

spam_data <- function() {
  here <- new.env()
  utils::data("spam", package = "kernlab", envir = here)
  type <- match("type", names(here$spam))
  data.frame(scale(here$spam[-type]), type = here$spam$type)
}
