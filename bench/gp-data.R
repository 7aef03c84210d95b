# The data sets of 001, Table 1 and 2: a response `y` of two classes and predictors as numbers. Digits
# are not in a package that the others need: the environment variable BSVM_USPS has the path of
# usps.csv.gz (columns set, digit, p1 to p256).

gp_sets <- list(
  ionosphere = function() {
    own <- mlbench_data("Ionosphere")
    data.frame(y = own$Class, own[setdiff(names(own), c("V1", "V2", "Class"))])
  },
  sonar = function() {
    own <- mlbench_data("Sonar")
    data.frame(y = own$Class, own[names(own) != "Class"])
  },
  wisconsin = function() {
    own <- stats::na.omit(mlbench_data("BreastCancer"))
    own[2:10] <- lapply(own[2:10], function(v) as.numeric(as.character(v)))
    data.frame(y = own$Class, own[2:10])
  },
  # the paper has 200 x 7 and does not name the label: sex, as its errors suggest
  crabs = function() {
    own <- MASS::crabs
    data.frame(y = own$sex, sp = as.numeric(own$sp), own[c("index", "FL", "RW", "CL", "CW", "BD")])
  },
  pima = function() {
    own <- mlbench_data("PimaIndiansDiabetes")
    data.frame(y = own$diabetes, own[names(own) != "diabetes"])
  }
)

mlbench_data <- function(name) {
  here <- new.env()
  utils::data(list = name, package = "mlbench", envir = here)
  here[[name]]
}

usps_missing <- function() {
  file <- Sys.getenv("BSVM_USPS")
  if (!nzchar(file)) return("The environment variable BSVM_USPS must have the path of usps.csv.gz.")
  if (!file.exists(file)) return(paste0("BSVM_USPS names no file: ", file, "."))
  ""
}

# list(set, digit, x): x has a row of 256 pixels in [-1, 1] for each image.
usps_images <- function() {
  raw <- utils::read.csv(Sys.getenv("BSVM_USPS"))
  list(set = raw$set, digit = raw$digit, x = unname(as.matrix(raw[-(1:2)])))
}

# Pixels are one matrix column, so that they have one scale.
usps_3v5 <- function(images) {
  own <- images$digit %in% c(3, 5)
  data <- data.frame(y = factor(images$digit[own]))
  data$x <- images$x[own, ]
  data
}

usps_4 <- function(images, set) {
  own <- images$set == set
  data <- data.frame(y = factor(images$digit[own] == 4, labels = c("rest", "four")))
  data$x <- images$x[own, ]
  data
}

# How often folds, splits or orders are drawn: BSVM_REPEATS in place of the default.
repeats <- function(default) {
  asked <- Sys.getenv("BSVM_REPEATS")
  if (nzchar(asked)) as.integer(asked) else default
}
