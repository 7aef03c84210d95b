# Text files: types that hold in all rows and files, or an error that names the row.

text_files <- function(..., ext = ".csv") {
  vapply(list(...), function(lines) {
    file <- tempfile(fileext = ext)
    writeLines(enc2utf8(lines), file, useBytes = TRUE)
    file
  }, "")
}

by_two <- function(..., lines) bsvm_source(text_files(lines), chunk_size = 2, ...)

test_that("whole numbers become decimal ones, missing values anything", {
  source <- by_two(lines = c("a,b,c,d", "1,NA,,x", "2,,T,1", "3.5,q,F,", "1e3,,NA,z"))
  found <- through_disk(source, c("a", "c", "d"))
  expect_identical(found, data.frame(a = c(1, 2, 3.5, 1000), c = c(NA, TRUE, FALSE, NA),
                                     d = factor(c("x", "1", "", "z"))))
  # In text, an empty field is text, so it must be known before.
  expect_refusal(through_disk(source, "b"), "source", c("`b`", "empty fields", "colClasses = c(b"))
  given <- by_two(colClasses = c(b = "character"), lines = c("b,x", "NA,1", ",1", "q,1"))
  expect_identical(through_disk(given, "b")$b, factor(c(NA, "", "q")))
  late <- by_two(lines = c("b,x", "NA,1", "NA,1", "q,1"))
  expect_identical(through_disk(late, "b")$b, factor(c(NA, NA, "q")))
})

test_that("a type that changes is refused with file, row and column", {
  sex <- c("sex,y", "F,1", "F,0", "T,0", "F,1", "M,1")
  expect_refusal(read_all(by_two(lines = sex), c("sex", "y")), "source",
                 c("`sex` has \"M\" in row 5", ".csv\"", "line 6", "TRUE or FALSE",
                   "colClasses = c(sex = \"character\")"))
  found <- through_disk(by_two(lines = sex, colClasses = c(sex = "character")), "sex")
  expect_identical(levels(found$sex), c("F", "M", "T"))
  number <- c("a", "1", "2.5", "3", " x1 ")
  expect_refusal(read_all(by_two(lines = number), "a"), "source", c("\" x1 \" in row 4", "numbers"))
  flag <- by_two(lines = c("a", "1", "2", "TRUE"))
  expect_refusal(read_all(flag, "a"), "source", "\"TRUE\" in row 3")
  files <- text_files(c("a,b", "1,1"), c("b,a", "1,u"))
  expect_refusal(read_all(bsvm_source(files), "a"), "source",
                 c("\"u\" in row 1", basename(files[2])))
  expect_identical(through_disk(bsvm_source(files), "b")$b, c(1L, 1L))
})

test_that("`colClasses` is a promise", {
  lines <- c("n,i,l,d,p,z", "1,1,T,2020-02-29,2020-01-01 10:00,7", ",,,,,", "x,1.5,9,1999-9,noon,8")
  classes <- c(n = "double", i = "integer", l = "logical", d = "Date", p = "POSIXct", z = "factor")
  source <- by_two(lines = lines, colClasses = classes)
  for (name in names(classes)[1:5]) {
    field <- strsplit(lines[4], ",")[[1]][match(name, names(classes))]
    expect_refusal(read_all(source, name), "source",
                   c(paste0("`", name, "` has \"", field, "\" in row 3"), "colClasses"))
  }
  found <- through_disk(by_two(lines = lines[1:3], colClasses = classes))
  expect_identical(found, data.frame(n = c(1, NA), i = c(1L, NA), l = c(TRUE, NA),
                                     d = as.Date(c("2020-02-29", NA)),
                                     p = as.POSIXct(c("2020-01-01 10:00", NA), tz = "UTC"),
                                     z = factor(c("7", ""))))
})

test_that("rows that are no rows are refused", {
  for (lines in list(c("a,b", "1,2", "3"), c("a,b", "1,2", "3,4,5"), c("a,b", "1,2", "3,\"4"),
                     c("a,b", "1,2", "3,4", "5,6", "7"))) {
    expect_refusal(read_all(by_two(lines = lines), "a"), "source",
                   c("can't be read after row", ".csv"))
  }
  expect_refusal(read_all(by_two(lines = character()), "a"), "source", "no header line")
  expect_refusal(read_all(by_two(lines = c("a,b", "1,2")), "z"), "source", c("`z`", "`a`"))
  expect_refusal(spill_source(by_two(lines = "a,b"), "a"), "data", "no rows")
})

test_that("marks, quotes, separators and encodings are as in read.csv()", {
  lines <- c("\"a b\";c;c", "1,5;\"two\nlines; \"\"x\"\"\";3", "", "2,5;\u00e9;4")
  file <- text_files(lines)
  source <- bsvm_source(file, sep = ";", dec = ",", chunk_size = 1)
  expect_identical(source_names(source), c("a.b", "c", "c.1"))
  expect_identical(through_disk(source),
                   data.frame(a.b = c(1.5, 2.5), c = factor(c("two\nlines; \"x\"", "\u00e9")),
                              c.1 = 3:4))
  as_is <- bsvm_source(file, sep = ";", dec = ",", check.names = FALSE)
  expect_identical(source_names(as_is), c("a b", "c", "c"))
  expect_refusal(read_all(as_is, "c"), "source", "several columns `c`")
  marked <- text_files(c("\ufeff\"a\",b", "1,2"))
  expect_identical(through_disk(bsvm_source(marked)), data.frame(a = 1L, b = 2L))
  latin <- tempfile(fileext = ".csv")
  writeBin(c(charToRaw("a\n"), as.raw(c(0xe9, 0x0a))), latin)
  expect_refusal(spill_source(bsvm_source(latin), "a"), "source", c("not UTF-8", "fileEncoding"))
  expect_identical(through_disk(bsvm_source(latin, fileEncoding = "latin1"))$a, factor("\u00e9"))
  expect_identical(through_disk(bsvm_source(text_files(c("a", "-9", "3")), na.strings = "-9"))$a,
                   c(NA, 3L))
})

test_that("lines may end as on Windows, and formats may be mixed", {
  file <- tempfile(fileext = ".csv")
  writeBin(charToRaw("a,b\r\n1,u\r\n2,v\r\n"), file)
  expect_identical(through_disk(bsvm_source(file, chunk_size = 1)),
                   data.frame(a = 1:2, b = factor(c("u", "v"))))
  other <- tempfile(fileext = ".rds")
  saveRDS(data.frame(b = "a", z = 0, a = 2.5), other)
  expect_identical(through_disk(bsvm_source(c(file, other))),
                   data.frame(a = c(1, 2, 2.5), b = factor(c("u", "v", "a"))))
  saveRDS(data.frame(b = factor("a"), a = 2.5), other)
  expect_refusal(read_all(bsvm_source(c(file, other)), "b"), "source",
                 c("`b` is a factor in rows 1 to 1 of", basename(other), "as.character()"))
  saveRDS(1:3, other)
  expect_refusal(read_all(bsvm_source(other), "b"), "source", "must have a data frame")
  writeLines("none", other)
  expect_refusal(source_names(bsvm_source(other)), "source", c("can't be read", basename(other)))
})
