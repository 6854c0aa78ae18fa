# Checks the spelling and links of all pages, and the spelling of comments, without a network. Run
# in the root of the tree; prints what it finds and ends with status 1 if it finds anything. Words
# that are not in hunspell's British dictionary are in tools/words.txt, one to a line.

markdown_pages <- c(
  list.files(c(".", "bench", "tests"), "[.]R?md$", full.names = TRUE),
  list.files("vignettes", "[.]Rmd$", full.names = TRUE)
)
manual_pages <- list.files("man", "[.]Rd$", full.names = TRUE)
cheat_sheet <- "inst/cheatsheet/joist.html"
site <- "pkgdown/_pkgdown.yml"
sources <- list.files(
  c("R", "src", "tests", "tools", "bench", "inst/include", "vignettes"), recursive = TRUE,
  "[.]([RchS]|inc|def|cuh?|cpp|py|sh|js)$", full.names = TRUE
)
sources <- sources[!grepl("/build/", sources, fixed = TRUE)]

lines_of <- function(file) readLines(file, encoding = "UTF-8", warn = FALSE)

problems <- 0L
problem <- function(file, ...) {
  problems <<- problems + 1L
  cat(paste0(file, ": ", ...), sep = "\n")
}

# ---- spelling ----

# The lines of a markdown page, with blank ones for code and the header.
prose <- function(file) {
  lines <- lines_of(file)
  fence <- grepl("^\\s*```", lines)
  lines[fence | cumsum(fence) %% 2L == 1L] <- ""
  if (lines[1L] == "---") lines[seq_len(which(lines == "---")[2L])] <- ""
  lines
}

without_code <- function(lines) {
  lines <- gsub("`[^`]*`", " ", lines)
  lines <- gsub("\\]\\([^)]*\\)", " ", lines)
  gsub("https?://[^ )]+|<[^>]*>|&[a-z]+;", " ", lines)
}

html_prose <- function(file) {
  text <- paste(lines_of(file), collapse = "\n")
  text <- gsub("(?s)<(style|script|code|svg)\\b.*?</\\1>", " ", text, perl = TRUE)
  gsub("<[^>]*>|&[a-z]+;|&#[0-9]+;", " ", text)
}

description <- function() {
  gsub("'[^']*'|<[^>]*>", " ", read.dcf("DESCRIPTION", c("Title", "Description")))
}

# The comments of a file, without what looks like code. Those of roxygen2 are read in the manual.
comments <- function(file) {
  lines <- lines_of(file)
  if (grepl("[.](R|py|sh)$", file)) {
    lines <- ifelse(grepl("^\\s*#([^'!]|$)", lines), sub("^\\s*#", "", lines), "")
  } else {
    begins <- grepl("^\\s*(/\\*|//)", lines)
    block <- cumsum(grepl("^\\s*/\\*", lines)) > cumsum(c(0L, head(grepl("\\*/", lines), -1L)))
    after <- regmatches(lines, regexpr("//.*|/\\*.*", lines))
    lines[!begins & !block] <- ""
    lines <- c(lines, after)
  }
  code <- "[[:alnum:]_]*[_(.:/\\\\][[:alnum:]_(.:/\\\\]+|\"[^\"]*\""
  gsub(code, " ", gsub("`[^`]*`|https?://[^ ]+", " ", lines))
}

# The texts of errors.
messages <- function() {
  lines <- lines_of("src/r/base/error_texts.def")
  texts <- unlist(regmatches(lines, gregexpr("\"([^\"\\\\]|\\\\.)*\"", lines)))
  gsub("joist_[a-z_]+|\\{[^}]*\\}|%[a-z]+|\\\\n|`[^`]*`", " ", texts)
}

texts <- c(
  lapply(stats::setNames(nm = markdown_pages), function(file) without_code(prose(file))),
  lapply(stats::setNames(nm = manual_pages), tools::RdTextFilter),
  lapply(stats::setNames(nm = sources), comments),
  list(DESCRIPTION = description(), "src/r/base/error_texts.def" = messages()),
  lapply(stats::setNames(nm = cheat_sheet), html_prose)
)

# Words that neither the dictionary nor `known` has, which may begin with a capital in a text.
unknown_words <- function(texts, known) {
  file <- tempfile()
  on.exit(unlink(file))
  text <- enc2utf8(unlist(texts, use.names = FALSE))
  # Neither words with digits nor possessives are looked up.
  text <- gsub("[[:alnum:]]*[0-9][[:alnum:]]*|'s\\b", " ", text, perl = TRUE)
  writeLines(text, file, useBytes = TRUE)
  found <- unique(system2("hunspell", c("-l", "-d", "en_GB", "-i", "utf-8", file), TRUE))
  small <- paste0(tolower(substring(found, 1L, 1L)), substring(found, 2L))
  list(unknown = found[!found %in% known & !small %in% known],
       unused = setdiff(known, c(found, small)))
}

if (nzchar(Sys.which("hunspell"))) {
  words <- unknown_words(texts, lines_of("tools/words.txt"))
  for (word in words$unknown) {
    has <- vapply(texts, function(text) any(grepl(word, text, fixed = TRUE)), TRUE)
    problem(paste(names(texts)[has], collapse = ", "), "spelling of ", word)
  }
  if (length(words$unused) > 0L) problem("tools/words.txt", "no page has ", words$unused)
} else {
  cat("note: spelling not checked: no hunspell\n")
}

# ---- links of the manual ----

tagged <- function(part, tag) {
  inside <- if (is.list(part)) unlist(lapply(part, tagged, tag), recursive = FALSE)
  c(if (identical(attr(part, "Rd_tag"), tag)) list(part), inside)
}
flat <- function(part) trimws(gsub("[[:space:]]+", " ", paste(unlist(part), collapse = "")))

manual <- lapply(stats::setNames(nm = manual_pages), tools::parse_Rd)
aliases <- unlist(lapply(manual, function(page) vapply(tagged(page, "\\alias"), flat, "")))
aliases_of <- function(package) names(readRDS(system.file("help/aliases.rds", package = package)))
base_packages <- rownames(utils::installed.packages(priority = "base"))
topics <- c(aliases, unlist(lapply(base_packages, aliases_of)))
for (file in manual_pages) {
  for (link in tagged(manual[[file]], "\\link")) {
    option <- flat(attr(link, "Rd_option"))
    target <- if (startsWith(option, "=")) substring(option, 2L) else flat(link)
    package <- if (startsWith(option, "=")) "" else sub(":.*", "", option)
    # A link to another package is a link to one of its pages or names.
    if (!nzchar(package) && !target %in% topics) problem(file, "no page for the link ", target)
    if (package %in% base_packages) {
      target <- if (grepl(":", option, fixed = TRUE)) sub(".*:", "", option) else target
      if (!target %in% aliases_of(package)) problem(file, package, " has no page ", target)
    }
  }
}

# ---- links of the other pages ----

# The name that a heading of a page is linked by.
anchors <- function(lines) {
  heading <- sub("^#+ +", "", grep("^#+ ", lines, value = TRUE))
  given <- matches("(?<=[{]#)[^}]+", heading)
  heading <- gsub("[^[:alnum:] _.-]", "", tolower(heading))
  c(given, gsub(" ", "-", sub("^[^[:alpha:]]+", "", trimws(heading))))
}

matches <- function(pattern, text) unlist(regmatches(text, gregexpr(pattern, text, perl = TRUE)))

articles <- c(
  sub("[.]Rmd$", "", basename(list.files("vignettes", "[.]Rmd$"))),
  sub("[.]Rmd$", "", basename(list.files("bench", "[.]Rmd$")))
)

# The file that a link within the tree leads to; of a vignette's page, its source.
linked_file <- function(from, path) {
  if (!nzchar(path)) return(from)
  of_vignette <- dirname(from) %in% c("vignettes", "bench")
  file.path(dirname(from), if (of_vignette) sub("[.]html$", ".Rmd", path) else path)
}
for (file in markdown_pages) {
  links <- matches("(?<=\\]\\()[^)]+", prose(file))
  for (link in grep("^[a-z]+:", links, value = TRUE, invert = TRUE)) {
    target <- linked_file(file, sub("#.*", "", link))
    if (!file.exists(target)) {
      problem(file, "nothing at the link ", link)
    } else if (grepl("#", link) && !sub(".*#", "", link) %in% anchors(prose(target))) {
      problem(file, "no heading for the link ", link)
    }
  }
}

# Vignettes, functions and pages of the manual that are named.
all_pages <- c(markdown_pages, manual_pages, cheat_sheet, list.files("R", full.names = TRUE))
exports <- sub("^export\\((.*)\\)$", "\\1", grep("^export\\(", lines_of("NAMESPACE"), value = TRUE))
for (file in all_pages) {
  lines <- lines_of(file)
  named <- matches("(?<=vignette\\(\")[^\"]+", lines)
  if (length(gone <- setdiff(named, articles))) problem(file, "no vignette ", gone)
  named <- matches("(?<=`\\?)[[:alnum:]_.]+(?=`)", lines)
  if (length(gone <- setdiff(named, topics))) problem(file, "no page ?", gone)
  if (grepl("NEWS", file, fixed = TRUE)) next
  named <- matches("(?<=[`{])nv_[a-z0-9_]+(?=\\()", lines)
  if (length(gone <- setdiff(named, exports))) problem(file, "no function ", gone)
}

# Files that the pages about the source name, by the end of their paths.
top <- setdiff(list.files(all.files = TRUE, no.. = TRUE), c(".git", "local"))
inside <- list.files(top[dir.exists(top)], recursive = TRUE, all.files = TRUE, full.names = TRUE)
files <- c(top, inside)
for (file in c("./ARCHITECTURE.md", "./CONTRIBUTING.md", "tests/README.md")) {
  named <- matches("(?<=`)[[:alnum:]_./-]+[.](c|h|R|def|md|Rmd|csv|html|pdf|mk)(?=`)", prose(file))
  for (path in unique(named)) {
    if (!any(endsWith(paste0("/", files), paste0("/", path)))) problem(file, "no file ", path)
  }
}

# Addresses, as far as that goes without asking: written in full, and not unencrypted.
for (file in c(all_pages, "DESCRIPTION", site)) {
  addresses <- matches("https?://[^][:space:]\"'`<>)}]+", lines_of(file))
  local <- grepl("^http://(127[.]0[.]0[.]1|localhost|www[.]w3[.]org/)", addresses)
  bad <- grepl("^http://", addresses) & !local
  bad <- bad | !grepl("^https?://[[:alnum:].-]+(:[0-9%d]+)?(/[^[:space:]]*)?$", addresses)
  for (address in addresses[bad]) problem(file, "address ", address)
}

# ---- the site ----

places <- trimws(lines_of(site))
for (article in sub("[.]Rmd$", "", list.files("vignettes", "[.]Rmd$"))) {
  if (!any(grepl(paste0("[[ ]", article, "[],]"), places))) problem(site, "lacks ", article)
}
for (page in setdiff(sub("[.]Rd$", "", basename(manual_pages)), "joist-package")) {
  if (!any(grepl(paste0("(- |[[ ])", page, "(,|]|$)"), places))) problem(site, "lacks ", page)
}
listed <- unlist(strsplit(gsub("[][]|contents:|^- ", " ", grep("nv_|^- |^contents: [[]", places,
  value = TRUE)), "[, ]+"))
gone <- setdiff(grep("^nv_", listed, value = TRUE), aliases)
if (length(gone)) problem(site, "no page ", gone)

cat(problems, "problems on pages\n")
quit("no", status = if (problems > 0L) 1L else 0L)
