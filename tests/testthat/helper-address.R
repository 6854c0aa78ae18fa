# Compiles address.c, once in a process; returns the path of the library. Skips the test if C code
# cannot be compiled.
address_library <- local({
  built <- NULL
  function() {
    testthat::skip_if(Sys.which("make") == "", "no make, so C code cannot be compiled")
    if (is.null(built)) {
      folder <- tempfile("address")
      dir.create(folder)
      file.copy(testthat::test_path("address.c"), folder)
      withr::local_dir(folder)
      r <- file.path(R.home("bin"), "R")
      log <- suppressWarnings(
        system2(r, c("CMD", "SHLIB", "address.c"), stdout = TRUE, stderr = TRUE)
      )
      made <- file.path(folder, paste0("address", .Platform$dynlib.ext))
      if (!file.exists(made)) {
        stop("address.c does not compile:\n", paste(log, collapse = "\n"))
      }
      built <<- made
    }
    built
  }
})

call_address <- function(name, ...) {
  .Call(getNativeSymbolInfo(name, dyn.load(address_library())), ...)
}

# Where the elements of a tensor are, or those that a pointer of nv_to_dlpack() lends, as text.
address_of <- function(x) call_address("address_of", if (is_tensor(x)) nv_to_dlpack(x) else x)
