# The cheat sheet: all its code runs, from top to bottom.

cheatsheet_code <- function() {
  file <- system.file("cheatsheet", "joist.html", package = "joist")
  html <- paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
  cell <- "(?s)<tr><td[^>]*><code>.*?</code></td>"
  cells <- regmatches(html, gregexpr(cell, html, perl = TRUE))[[1]]
  code <- gsub("</?(tr|td|code)[^>]*>", "", cells)
  for (entity in list(c("&lt;", "<"), c("&gt;", ">"), c("&amp;", "&"))) {
    code <- gsub(entity[1], entity[2], code, fixed = TRUE)
  }
  code
}

test_that("the cheat sheet's code runs", {
  code <- cheatsheet_code()
  expect_gt(length(code), 50L)
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  on.exit({
    grDevices::dev.off()
    unlink(file)
  })
  threads <- joist_info()$threads
  old <- options(joist.promotion = NULL)
  scope <- new.env(parent = globalenv())
  for (line in code) {
    expect_error(utils::capture.output(eval(str2expression(line), scope)), NA, label = line)
  }
  options(old)
  nv_set_threads(threads)
})

test_that("the cheat sheet is one page", {
  file <- system.file("cheatsheet", "joist.pdf", package = "joist")
  bytes <- readBin(file, "raw", file.size(file))
  text <- rawToChar(bytes[bytes != as.raw(0)])
  pages <- gregexpr("/Type /Page[^s]", text, useBytes = TRUE)[[1]]
  expect_length(pages[pages > 0], 1L)
})
