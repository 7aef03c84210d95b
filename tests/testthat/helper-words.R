# Sentences of help pages, vignettes and messages, for test-words.R.

# What the package does not write, by name. Words of other meanings are in words-allowed.txt.
words_avoided <- c(
  law = "\\blaws?\\b", mend = "\\bmend", beside = "\\bbeside\\b", sweep = "\\bsweeps?\\b",
  settle = "\\bsettles?\\b", learnt = "\\blearnt\\b", out = "\\b(left|leaves?|leaving) out\\b",
  none = "has (not got|none)\\b", machine = "(?<!vector )\\bmachines?\\b",
  weighed = "\\bweigh(ed|s)?\\b", kink = "\\bkinks?\\b", unknowns = "\\bunknowns\\b",
  here = "\\bHere (it|that) is `", bars = "\\bbars\\b",
  multiplier = "(?<!Lagrange )\\bmultipliers?\\b", means = "means what it says",
  begins = "^(Of|Beside|Who)\\b")

# Text of a parsed help page without usage, examples and formulas; a paragraph and an item end in a
# full stop.
page_text <- function(rd) {
  skipped <- c("\\examples", "\\usage", "\\name", "\\alias", "\\keyword", "\\references", "\\seealso",
               "\\preformatted", "\\deqn", "\\title", "\\author", "\\concept", "COMMENT")
  ends <- c("\\description", "\\details", "\\value", "\\arguments", "\\note", "\\tabular", "\\cr",
            "\\tab")
  flat <- function(x) {
    tag <- attr(x, "Rd_tag")
    if (is.null(tag)) tag <- ""
    inner <- function(y) paste(unlist(lapply(y, flat)), collapse = "")
    if (tag %in% skipped) return("")
    if (tag == "\\eqn") return("x")
    if (tag == "\\item") {
      return(if (is.list(x) && length(x) == 2L) paste0(". ", inner(x[[2L]]), ". ") else ". ")
    }
    if (tag %in% c("\\code", "\\verb")) return("code") # a word
    if (tag == "\\href") return(inner(x[[2L]]))
    if (tag %in% c("\\section", "\\subsection")) return(paste0(". ", inner(x[[2L]]), ". "))
    if (is.character(x) && !is.list(x)) return(paste(x, collapse = ""))
    if (tag %in% ends) paste0(". ", inner(x), ". ") else inner(x)
  }
  gsub("\n[ \t]*\n", ". ", flat(rd))
}

# A vignette or README without code, tables, formulas and headings.
article_text <- function(file) {
  lines <- readLines(file, warn = FALSE)
  fences <- grepl("^```", lines)
  code <- cumsum(fences) %% 2L == 1L | fences
  head <- if (length(lines) > 0L && lines[1L] == "---") seq_len(which(lines == "---")[2L]) else 0L
  lines[code | seq_along(lines) %in% head | grepl("^\\s*([|#]|!\\[)", lines)] <- ""
  lines <- sub("^\\s*([*-]|[0-9]+[.])\\s+", ". ", lines)
  text <- gsub("\n[ \t]*\n", ". ", paste(lines, collapse = "\n"))
  text <- gsub("`[^`]*`", "code", text)
  gsub("\\$[^$]*\\$", "x", text)
}

sentences_of <- function(text) {
  text <- gsub("[[:space:]]+", " ", text)
  text <- gsub("\\b(e[.]g|i[.]e|et al|vs|cf|approx|Fig|Eq|Sec|No)[.]", "\\1_", text)
  text <- gsub("\\b([A-Z])[.] ", "\\1_ ", text)
  found <- trimws(unlist(strsplit(text, "(?<=[.!?:])\\s+|[.]\\s*[.]", perl = TRUE)))
  found[nchar(found) > 2L]
}

words_in <- function(sentences) lengths(regmatches(sentences, gregexpr("[[:alnum:]][^ ]*", sentences)))

# Sentences without what the place may say.
without_allowed <- function(place, sentences) {
  allowed <- readLines(test_path("words-allowed.txt"), warn = FALSE)
  of_place <- sub("^[^:]*: ", "", allowed[startsWith(allowed, paste0(place, ": "))])
  for (phrase in of_place) sentences <- gsub(phrase, "", sentences, fixed = TRUE)
  sentences
}

# Places and sentences with something that is avoided.
avoided <- function(place, sentences, patterns = words_avoided) {
  sentences <- without_allowed(place, sentences)
  bad <- Reduce(`|`, lapply(patterns, grepl, sentences, perl = TRUE))
  if (any(bad)) paste0(place, ": ", sentences[bad]) else character()
}

too_long <- function(place, sentences) {
  sentences <- without_allowed(place, sentences)
  semicolons <- lengths(regmatches(sentences, gregexpr(";", sentences)))
  bad <- words_in(sentences) > 30L | semicolons > 1L
  if (any(bad)) paste0(place, ": ", sentences[bad]) else character()
}

# Texts of at least three words in the functions of the package, by function.
texts_in <- function(f) {
  found <- character()
  walk <- function(e) {
    if (is.character(e)) found <<- c(found, e)
    else if (is.call(e) || is.pairlist(e) || is.expression(e)) {
      for (k in seq_along(e)) {
        part <- e[[k]]
        if (!missing(part)) walk(part)
      }
    }
  }
  walk(body(f))
  walk(formals(f))
  found[grepl("[a-z]+ [a-z]+ [a-z]+", found)]
}
