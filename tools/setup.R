# Installs what is needed and missing: Rscript tools/setup.R <role>
#
# tools/packages.csv lists the R packages (and some files) with the roles that need them. The role
# "package" is always included, and so is all that DESCRIPTION imports or links to.
# Root on Debian gets Debian's built packages where they are new enough (seconds); everything else
# comes from CRAN into the user's library. What is there already is never touched.

options(timeout = 600, Ncpus = max(1L, parallel::detectCores(), na.rm = TRUE))

say <- function(...) cat("setup: ", ..., "\n", sep = "")

# Without these the package does not install; those of R itself are always there.
imported <- function() {
  fields <- read.dcf("DESCRIPTION", c("Imports", "LinkingTo"))
  packages <- trimws(sub("[(].*", "", unlist(strsplit(fields, ","))))
  of_r <- rownames(installed.packages(.Library, priority = "base"))
  setdiff(packages, of_r)
}

read_needs <- function(roles) {
  needs <- read.csv("tools/packages.csv", colClasses = "character")
  unlisted <- setdiff(imported(), needs$package)
  if (length(unlisted) > 0) {
    stop("tools/packages.csv lacks imported packages: ", paste(unlisted, collapse = ", "), ".",
         call. = FALSE)
  }
  wanted <- vapply(strsplit(needs$roles, " "), function(r) any(r %in% roles), NA)
  needs[wanted | needs$package %in% imported(), ]
}

is_there <- function(package, minimum) {
  if (startsWith(package, "/")) return(file.exists(package))
  nzchar(system.file(package = package)) && packageVersion(package) >= minimum
}

missing_of <- function(needs) {
  needs[!mapply(is_there, needs$package, needs$minimum, USE.NAMES = FALSE), ]
}

# R leaves the user's library out of .libPaths() until its folder exists.
create_user_library <- function() {
  path <- strsplit(Sys.getenv("R_LIBS_USER"), .Platform$path.sep)[[1]][1]
  if (is.na(path) || dir.exists(path)) return(invisible())
  dir.create(path, recursive = TRUE)
  .libPaths(c(path, .libPaths()))
}

is_root <- function() identical(unname(Sys.info()["effective_user"]), "root")
# Debian's packages are of use to Debian's own R only.
has_debian_r <- function() nzchar(Sys.which("apt-get")) && startsWith(R.home(), "/usr/lib/R")

# What comes with a service does not start it.
apt_get <- function(...) {
  system2("apt-get", c("-qq", ...), env = c("DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1"),
          stdin = "/dev/null", stdout = FALSE)
}

# Candidate versions, "0" where Debian has none.
debian_versions <- function(names) {
  policy <- system2("apt-cache", c("policy", names), stdout = TRUE, stderr = FALSE)
  line <- function(name) grep("^  Candidate:", policy[-seq_len(match(paste0(name, ":"), policy))],
                              value = TRUE)[1]
  known <- paste0(names, ":") %in% policy
  version <- rep("0", length(names))
  version[known] <- sub("^.*: ([0-9]+:)?", "", vapply(names[known], line, ""))
  version <- sub("[+~].*$", "", sub("-[^-]*$", "", version))
  ifelse(grepl("^[0-9]", version), version, "0")
}

debian_has <- function(needs) {
  minimum <- ifelse(nzchar(needs$minimum), needs$minimum, "0.0.1")
  nzchar(needs$debian) &
    numeric_version(debian_versions(needs$debian)) >= numeric_version(minimum)
}

install_from_debian <- function(needs) {
  named <- needs[nzchar(needs$debian), ]
  if (nrow(named) == 0) return(invisible())
  if (!all(debian_has(named))) {
    say("apt-get update")
    apt_get("update")
  }
  names <- named$debian[debian_has(named)]
  if (length(names) == 0) return(invisible())
  say("from Debian: ", paste(names, collapse = " "))
  apt_get("install", "--yes", "--no-install-recommends", names)
}

install_from_cran <- function(packages) {
  if (identical(getOption("repos")[["CRAN"]], "@CRAN@")) chooseCRANmirror(ind = 1)
  say("from CRAN into ", .libPaths()[1], ": ", paste(packages, collapse = " "))
  install.packages(packages, lib = .libPaths()[1], quiet = TRUE, Ncpus = parallel::detectCores())
}

set_up <- function(roles) {
  create_user_library()
  needs <- read_needs(roles)
  missing <- missing_of(needs)
  if (nrow(missing) > 0 && has_debian_r()) {
    if (is_root()) {
      install_from_debian(missing)
    } else {
      say("not root; as root this is quicker: apt-get install ",
          paste(missing$debian[nzchar(missing$debian)], collapse = " "))
    }
    missing <- missing_of(needs)
  }
  from_cran <- setdiff(missing$package, grep("^/", missing$package, value = TRUE))
  if (length(from_cran) > 0) install_from_cran(from_cran)
  missing <- missing_of(needs)
  if (nrow(missing) > 0) {
    stop("Still missing: ", paste(missing$package, collapse = ", "), ".", call. = FALSE)
  }
  say("everything needed for ", paste(roles, collapse = ", "), " is there.")
}

set_up(unique(c("package", commandArgs(trailingOnly = TRUE))))
