# The cardiac catheterisation data of 000, section 4.5: 3504 patients, 1246 of whom lack a
# cholesterol value. The package ships no copy: the environment variable BSVM_ACATH has the path of
# acath.csv (columns sex, age, cad.dur, choleste, sigdz), which is Harrell's; see the vignette.

cardiac_missing <- function() {
  file <- Sys.getenv("BSVM_ACATH")
  if (!nzchar(file)) return("The environment variable BSVM_ACATH must have the path of acath.csv.")
  if (!file.exists(file)) return(paste0("BSVM_ACATH names no file: ", file, "."))
  ""
}

# Durations of zero need an offset, which the paper does not give.
cardiac_data <- function() {
  raw <- utils::read.csv(Sys.getenv("BSVM_ACATH"))
  data <- with(raw, data.frame(disease = sigdz, sex, age, duration = log1p(cad.dur),
                               cholesterol = choleste))
  data[-1L] <- lapply(data[-1L], function(v) as.vector(scale(v)))
  data
}

cardiac_formula <- disease ~ sex + age + duration + cholesterol
