# The C interface of inst/include/joist.h, used as another package would.

skip_on_cran()

source_text <- '
#include <string.h>

#include <joist.h>

SEXP describe(SEXP x) {
  struct joist_array a;
  joist_read_array(x, &a);
  const char *names[] = {"dtype", "ambiguous", "extents", "count", "size", "bytes", ""};
  SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(result, 0, Rf_mkString(a.dtype));
  SET_VECTOR_ELT(result, 1, Rf_ScalarLogical(a.ambiguous));
  SET_VECTOR_ELT(result, 2, Rf_allocVector(INTSXP, a.rank));
  for (int d = 0; d < a.rank; d++) INTEGER(VECTOR_ELT(result, 2))[d] = (int)a.extent[d];
  SET_VECTOR_ELT(result, 3, Rf_ScalarReal((double)a.count));
  SET_VECTOR_ELT(result, 4, Rf_ScalarReal((double)a.size));
  SET_VECTOR_ELT(result, 5, Rf_allocVector(RAWSXP, (R_xlen_t)(a.count * a.size)));
  if (a.count > 0) memcpy(RAW(VECTOR_ELT(result, 5)), a.data, a.count * a.size);
  UNPROTECT(1);
  return result;
}

SEXP make(SEXP dtype, SEXP ambiguous, SEXP extents, SEXP bytes) {
  struct joist_array a;
  memset(&a, 0, sizeof a);
  a.dtype = CHAR(STRING_ELT(dtype, 0));
  a.ambiguous = LOGICAL(ambiguous)[0];
  a.rank = Rf_length(extents);
  for (int d = 0; d < a.rank && d < JOIST_ARRAY_RANK; d++)
    a.extent[d] = (uint32_t)REAL(extents)[d];
  SEXP result = PROTECT(joist_make_array(&a));
  if (a.count * a.size != (size_t)XLENGTH(bytes)) Rf_error("bytes");
  if (a.count > 0) memcpy(a.data, RAW(bytes), a.count * a.size);
  UNPROTECT(1);
  return result;
}

SEXP is_array(SEXP x) { return Rf_ScalarLogical(joist_is_array(x)); }

SEXP common(SEXP x, SEXP y) {
  int ambiguous;
  const char *dtype = joist_common(x, y, &ambiguous);
  SEXP result = PROTECT(Rf_allocVector(STRSXP, 2));
  SET_STRING_ELT(result, 0, Rf_mkChar(dtype));
  SET_STRING_ELT(result, 1, Rf_mkChar(ambiguous ? "?" : ""));
  UNPROTECT(1);
  return result;
}

SEXP version(void) { return Rf_ScalarLogical(joist_interface() >= JOIST_INTERFACE); }
'

compile <- function() {
  folder <- withr::local_tempdir(.local_envir = parent.frame())
  writeLines(source_text, file.path(folder, "user.c"))
  include <- system.file("include", package = "joist", mustWork = TRUE)
  flags <- c(
    paste0("PKG_CPPFLAGS = -I\"", include, "\""),
    "PKG_CFLAGS = -Wall -Wextra -Wpedantic -Werror"
  )
  writeLines(flags, file.path(folder, "Makevars"))
  withr::local_dir(folder)
  r <- file.path(R.home("bin"), "R")
  log <- suppressWarnings(system2(r, c("CMD", "SHLIB", "user.c"), stdout = TRUE, stderr = TRUE))
  built <- paste0("user", .Platform$dynlib.ext)
  if (!file.exists(built)) stop("the user of the interface does not compile:\n", toString(log))
  dyn.load(file.path(folder, built))
}

test_that("another package's C code reads and makes tensors", {
  skip_if(Sys.which("make") == "", "no make")
  user <- compile()
  on.exit(dyn.unload(user[["path"]]))
  expect_true(.Call(user$version))
  for (d in dtypes()) {
    x <- sample_tensor(d, 6, shape = c(2, 3))
    seen <- .Call(user$describe, x)
    expect_identical(seen$dtype, d)
    expect_false(seen$ambiguous)
    expect_identical(seen$extents, 2:3)
    expect_identical(seen$count, 6)
    expect_identical(length(seen$bytes), as.integer(6 * seen$size))
    again <- .Call(user$make, d, FALSE, c(2, 3), seen$bytes)
    expect_identical(again, x)
    expect_identical(as_array(again + again), as_array(x + x))
  }
  # Elements as C lays them out, by R's own readBin() and writeBin().
  bytes <- .Call(user$describe, nv_tensor(c(1.5, -2, 3e8), "f32"))$bytes
  expect_identical(readBin(bytes, "numeric", 3, size = 4), c(1.5, -2, 3e8))
  bytes <- .Call(user$describe, nv_tensor(c(1, -2, 300), "i16"))$bytes
  expect_identical(readBin(bytes, "integer", 3, size = 2), c(1L, -2L, 300L))
  made <- .Call(user$make, "f64", TRUE, numeric(), writeBin(0.1, raw()))
  expect_identical(as_array(made), 0.1)
  expect_identical(shape(made), integer())
  expect_true(ambiguous(made))
  expect_identical(shape(.Call(user$make, "i8", FALSE, c(2, 0), raw())), c(2L, 0L))
})

test_that("what the C interface cannot take is a condition of joist's", {
  skip_if(Sys.which("make") == "", "no make")
  user <- compile()
  on.exit(dyn.unload(user[["path"]]))
  x <- nv_tensor(1:3, "i32")
  expect_true(.Call(user$is_array, x))
  for (other in list(1, NULL, "f32", list(x), nv_aval("f32", 3))) {
    expect_false(.Call(user$is_array, other))
    expect_error(.Call(user$describe, other), class = "joist_error")
  }
  traced <- NULL
  jit(function(y) {
    traced <<- .Call(user$is_array, y)
    y
  })(x)
  expect_false(traced)
  expect_error(.Call(user$make, "f31", FALSE, 1, raw()), class = "joist_dtype_error")
  expect_error(.Call(user$make, "i8", FALSE, rep(1, 33), raw(1)), class = "joist_shape_error")
  expect_error(.Call(user$make, "i8", FALSE, 2^31, raw()), class = "joist_shape_error")
  expect_error(.Call(user$make, "i8", FALSE, rep(2e9, 9), raw()), class = "joist_shape_error")
})

test_that("the C interface promotes under the rules in force", {
  skip_if(Sys.which("make") == "", "no make")
  user <- compile()
  on.exit(dyn.unload(user[["path"]]))
  x <- nv_tensor(1:3, "i32")
  expect_identical(.Call(user$common, x, nv_tensor(1, "f32")), c("f32", ""))
  expect_identical(.Call(user$common, x, 1L), c("i32", ""))
  expect_identical(.Call(user$common, 1, 2), c("f32", "?"))
  y <- nv_tensor(1, "f32")
  expect_identical(with_promotion("numpy", .Call(user$common, x, y)), c("f64", ""))
})
