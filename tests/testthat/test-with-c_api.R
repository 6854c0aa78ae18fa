# The C interface in inst/include/joist.h, as a package that includes it would compile it.

# The lines of the example in the header.
example_lines <- function() {
  header <- readLines(system.file("include", "joist.h", package = "joist"))
  comment <- header[seq_len(grep("^ \\* Every function must be called", header))]
  code <- grepl("^ \\*(     .*)?$", comment)
  lines <- sub("^ \\*(     )?", "", comment[code])
  lines[seq(match("#include <string.h>", lines), max(which(lines == "}")))]
}

compiled_example <- function() {
  folder <- tempfile()
  dir.create(folder)
  source <- file.path(folder, "example.c")
  writeLines(example_lines(), source)
  include <- system.file("include", package = "joist")
  old <- setwd(folder)
  on.exit(setwd(old))
  said <- withr::with_envvar(
    c(PKG_CPPFLAGS = paste0("-I", shQuote(include)), PKG_CFLAGS = "-Wall -Wextra -Werror"),
    suppressWarnings(system2(
      file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "example.c"),
      stdout = TRUE, stderr = TRUE
    ))
  )
  library <- file.path(folder, paste0("example", .Platform$dynlib.ext))
  if (!file.exists(library)) stop(paste(said, collapse = "\n"))
  library
}

test_that("the example in joist.h compiles, and is right for every dtype", {
  skip_on_cran()
  library <- dyn.load(compiled_example())
  on.exit(dyn.unload(library[["path"]]))
  reversed <- getNativeSymbolInfo("reversed", library)
  for (d in dtypes()) {
    x <- sample_tensor(d)
    expect_identical(.Call(reversed, x), rev(x), info = d)
    m <- nv_reshape(x, c(2, 3))
    expect_identical(.Call(reversed, m), nv_reshape(rev(x), c(2, 3)), info = d)
    expect_identical(.Call(reversed, nv_flatten(x)[0]), nv_flatten(x)[0], info = d)
  }
  guess <- nv_tensor(1:3, ambiguous = TRUE)
  expect_identical(.Call(reversed, guess), rev(guess))
  expect_error(.Call(reversed, nv_aval("f32", 3)), class = "joist_value_error")
  expect_error(.Call(reversed, 1:3), class = "joist_value_error")
})
