# Compiled code beside the interpreter. More random programs: tests/native/random_programs.R.

# Evaluates code in a new R session with environment variables, and returns what it prints. The
# shell commands in `before` run first, in a separate mount namespace.
in_session_with <- function(code, ..., before = NULL) {
  script <- tempfile(fileext = ".R")
  on.exit(unlink(script))
  writeLines(c("suppressMessages(library(joist))", deparse(substitute(code))), script)
  withr::with_envvar(c(..., R_LIBS = paste(.libPaths(), collapse = ":")), {
    rscript <- file.path(R.home("bin"), "Rscript")
    if (is.null(before)) {
      return(system2(rscript, c("--vanilla", script), stdout = TRUE, stderr = TRUE))
    }
    commands <- paste(before, "&&", shQuote(rscript), "--vanilla", shQuote(script))
    system2("unshare", c("-m", "sh", "-c", shQuote(commands)), stdout = TRUE, stderr = TRUE)
  })
}

test_that("random programs have the same bits, masks and errors when they are compiled", {
  skip_if_not(can_compile())
  before <- joist_info()$native
  withr::with_seed(11, {
    for (k in 1:12) {
      f <- native_program()
      arguments <- native_arguments()
      outcomes <- lapply(c("never", "wait"), function(native) {
        native_outcome(jit(f, native = native), arguments)
      })
      expect_identical(outcomes[[2L]], outcomes[[1L]])
      f <- native_wide_program()
      arguments <- native_wide_arguments()
      outcomes <- lapply(list(f, jit(f, native = "never"), jit(f, native = "wait")), function(f) {
        native_outcome(f, arguments)
      })
      expect_length(unique(outcomes), 1L)
    }
  })
  after <- joist_info()$native
  expect_gt(after$compiled, before$compiled)
  expect_identical(after$failed, before$failed)
})

test_that("what is compiled is decided by the iterations of all loops, and of loops within them", {
  skip_if_not(can_compile())
  started_by <- function(code) {
    figures <- function() sum(unlist(joist_info()$native[c("compiled", "compiling", "failed")]))
    before <- figures()
    force(code)
    figures() - before
  }
  x <- nv_scalar(0.31, "f64")
  inner <- jit(function(x) {
    nv_for(200L, x, function(i, x) nv_for(400L, x, function(j, x) 3.5731 * x * (1 - x)))
  }, native = "auto")
  # A run of some milliseconds ends before a compiler is started, a long one does not.
  expect_identical(started_by(inner(x)), 0)
  expect_identical(started_by(inner(x)), 1)
  # At most two are compiled at once.
  run_until_compiled <- function(f) {
    until <- Sys.time() + 120
    while (joist_info()$native$compiling > 0 && Sys.time() < until) f(x)
    expect_identical(joist_info()$native$compiling, 0)
  }
  run_until_compiled(inner)
  # A short loop is compiled where a long one is, but not alone.
  short <- function(x) nv_for(6000L, x, function(i, x) 3.5732 * x * (1 - x))
  alone <- jit(short, native = "auto")
  beside <- jit(function(x) {
    long <- nv_for(90000L, x, function(i, x) 3.5733 * x * (1 - x))
    list(long, short(x))
  }, native = "auto")
  expect_identical(started_by({
    alone(x)
    alone(x)
  }), 0)
  expect_identical(started_by(beside(x)), 0)
  expect_identical(started_by(beside(x)), 2)
  run_until_compiled(beside)
  many <- function(x) nv_for(2000000L, x, function(i, x) 3.5734 * (x - x * x))
  long <- jit(many, native = "auto")
  expect_identical(started_by(long(x)), 1)
})

test_that("wide groups have the same bits when they are compiled", {
  skip_if_not(can_compile())
  f <- function(x, y) {
    z <- (x[2:2000] - x[1:1999]) * y + sin(y)^2
    list(z, sum(z * 2 + 1), max(z^0.5, na.rm = TRUE))
  }
  for (dtype in c("f32", "f64", "f16", "i32")) {
    x <- nv_convert(nv_tensor(cos(1:2000) * 50), dtype)
    y <- nv_convert(nv_tensor(1:1999 / 7), dtype)
    known <- native_outcome(jit(f, native = "never"), list(x, y))
    expect_identical(native_outcome(jit(f, native = "wait"), list(x, y)), known)
  }
})

test_that("large groups and moves of compiled loops, which threads share, have the same bits", {
  skip_if_not(can_compile())
  n <- 1024L
  x <- nv_tensor(matrix(sin(seq_len(n^2 / 2)), n), "f64")
  at <- nv_tensor(rev(seq_len(n / 2)))
  f <- function(x, at) {
    nv_for(3L, x, function(i, x) {
      wide <- tanh(nv_concatenate(x * i, -x, dim = 2L) + 0.5) * 2
      back <- nv_gather(t(wide), at, dim = 1L)
      t(back) + wide[, seq_len(n / 2)] / 3 + mean(wide)
    })
  }
  results <- lapply(c("never", "wait"), function(native) jit(f, native = native)(x, at))
  expect_identical(as_array(results[[2L]]), as_array(results[[1L]]))
  y <- as_array(x)
  for (i in 1:3) {
    wide <- tanh(cbind(y * i, -y) + 0.5) * 2
    y <- t(t(wide)[rev(seq_len(n / 2)), ]) + wide[, seq_len(n / 2)] / 3 + mean(wide)
  }
  expect_equal(as_array(results[[2L]]), y, tolerance = 1e-13)
})

test_that("sums in one pass are apart, also where they use the same memory one after the other", {
  skip_if_not(can_compile())
  f <- function(x, w) {
    list(nv_reduce_sum(x * x, 2L), nv_reduce_sum(x * w, 2L), nv_reduce_sum(w * w, 2L))
  }
  x <- matrix(sin(1:6400), 64)
  w <- matrix(cos(1:6400), 64)
  made <- jit(f, native = "wait")(nv_tensor(x, "f64"), nv_tensor(w, "f64"))
  expect_equal(as_array(made[[1L]]), rowSums(x * x))
  expect_equal(as_array(made[[2L]]), rowSums(x * w))
  expect_equal(as_array(made[[3L]]), rowSums(w * w))
})

test_that("a loop of R and a compiled one give the same numbers", {
  skip_if_not(can_compile())
  orbit <- function(x, n) {
    for (k in seq_len(n)) x <- 3.7 * x * (1 - x)
    x
  }
  f <- jit(function(x) nv_for(20000L, x, \(i, x) 3.7 * x * (1 - x)), native = "wait")
  expect_identical(as_array(f(nv_scalar(0.3, "f64"))), orbit(0.3, 20000L))
  # in place, at a position that is computed
  squares <- jit(\(x) nv_for(100L, x, \(i, x) nv_scatter_add(x, i, i * i)), native = "wait")
  expect_identical(as_array(squares(nv_fill(0, 100L, "f64"))), as.double((1:100)^2))
})

test_that("a background compilation takes over within the loop", {
  skip_if_not(can_compile())
  f <- jit(\(x, n) nv_for(n, x, \(i, x) nv_min(x * 1.0000001 + 0.5, 1e6)))
  slow <- jit(\(x, n) nv_for(n, x, \(i, x) nv_min(x * 1.0000001 + 0.5, 1e6)), native = "never")
  x <- nv_scalar(0, "f64")
  before <- joist_info()$native$compiled
  expect_identical(as_array(f(x, 3e6L)), as_array(slow(x, 3e6L)))
  for (k in 1:200) {
    f(x, 20000L)
    if (joist_info()$native$compiled > before) break
    Sys.sleep(0.05)
  }
  expect_gt(joist_info()$native$compiled, before)
})

test_that("errors name the element, and interrupts and time limits work", {
  skip_if_not(can_compile())
  divide <- function(x, y) nv_for(3L, x, \(i, x) x %/% y)
  x <- nv_tensor(1:4)
  y <- nv_tensor(c(1L, 2L, 0L, 1L))
  messages <- vapply(c("never", "wait"), function(native) {
    tryCatch(jit(divide, native = native)(x, y), error = conditionMessage)
  }, "")
  expect_match(messages[[1L]], "3")
  expect_identical(messages[[2L]], messages[[1L]])
  forever <- jit(\(x) nv_while(x, \(x) x < 2, \(x) x * 0.5 + 0.5), native = "wait")
  started <- proc.time()[["elapsed"]]
  expect_error(
    {
      setTimeLimit(elapsed = 0.5, transient = TRUE)
      on.exit(setTimeLimit())
      forever(nv_scalar(0, "f64"))
    },
    "time limit"
  )
  expect_lt(proc.time()[["elapsed"]] - started, 20)
})

test_that("program() shows the C source", {
  f <- jit(\(x) nv_for(10L, x, \(i, x) x * 2))
  f(nv_scalar(1, "f32"))
  source <- program(f, what = "c")
  expect_s3_class(source, "joist_source")
  expect_match(source, "op_MUL_F32", fixed = TRUE)
  expect_output(print(source), "joist_generated", fixed = TRUE)
  expect_output(print(program(jit(\(x) x + 1), nv_scalar(1), what = "c")), "nothing")
  expect_error(program(f, what = "assembler"), class = "joist_value_error")
  expect_error(jit(\(x) x, native = "always"), class = "joist_value_error")
})

test_that("without a compiler or a folder the interpreter goes on and joist_info() says why", {
  skip_if_not(can_compile())
  skip_if_not_installed("withr")
  run <- function(...) {
    in_session_with({
      compiler <- Sys.getenv("TEST_COMPILER")
      if (nzchar(compiler)) {
        script <- paste0("exec >\"$2.log\" 2>&1; ", compiler)
        .Call(joist:::joist_r_native_setup, script, Sys.getenv("TEST_FOLDER", tempdir()), NULL,
          "wait")
      }
      f <- jit(\(x) nv_for(1000L, x, \(i, x) x * 0.5 + 1))
      cat(as_array(f(nv_scalar(3, "f64"))), "\n")
      cat(joist_info()$native$why, "\n")
      cat(length(list.files(tempdir(), "part$", recursive = TRUE)), "\n")
    }, ...)
  }
  expect_identical(trimws(run(JOIST_NATIVE = "wait")), c("2", "", "0"))
  expect_identical(trimws(run(TEST_COMPILER = "echo no such thing; exit 1"))[1:2],
    c("2", "the compiler failed: no such thing"))
  expect_match(run(TEST_COMPILER = "true")[2L], "cannot be loaded")
  expect_match(run(TEST_COMPILER = "echo x >\"$2\"")[2L], "cannot be loaded")
  expect_match(run(TEST_COMPILER = "true", TEST_FOLDER = "/nowhere")[2L], "cannot be written")
  expect_match(run(TEST_COMPILER = "kill -9 $$")[2L], "the compiler failed")
  full <- "head -c 100 /dev/zero >/dev/full"
  if (file.exists("/dev/full")) expect_match(run(TEST_COMPILER = full)[2L], "the compiler failed")
})

test_that("while R CMD check runs, the compiler runs only if asked for", {
  skip_if_not_installed("withr")
  policy <- function(...) trimws(in_session_with(cat(joist_info()$native$policy, "\n"), ...))
  expect_identical(policy(`_R_CHECK_PACKAGE_NAME_` = "other"), "never")
  expect_identical(policy(`_R_CHECK_PACKAGE_NAME_` = "other", JOIST_NATIVE = "wait"), "wait")
})

test_that("a folder that may not hold programs leaves the interpreter", {
  skip_if_not(can_compile())
  skip_if_not_installed("withr")
  folder <- withr::local_tempdir()
  mount <- paste("mount -t tmpfs -o noexec tmpfs", shQuote(folder))
  try <- c("-m", "sh", "-c", shQuote(mount))
  mounted <- nzchar(Sys.which("unshare")) &&
    suppressWarnings(system2("unshare", try, stdout = FALSE, stderr = FALSE)) == 0L
  skip_if_not(mounted, "no file system can be mounted here")
  run <- function(...) {
    in_session_with({
      f <- jit(\(x) nv_for(1000L, x, \(i, x) x * 0.5 + 1), native = "wait")
      g <- jit(\(x) nv_for(1000L, x, \(i, x) x * 0.25 + 3), native = "wait")
      for (k in 1:3) values <- c(as_array(f(nv_scalar(3, "f64"))), as_array(g(nv_scalar(3, "f64"))))
      cat(values, "\n")
      found <- joist_info()$native
      cat(found$compiled, found$compiling, found$failed, "\n")
      cat(found$why, "\n")
    }, ..., before = mount)
  }
  for (variable in c("TMPDIR", "JOIST_NATIVE_CACHE")) {
    out <- do.call(run, stats::setNames(list(folder), variable))
    expect_identical(trimws(out[1:2]), c("2 4", "0 0 1"))
    expect_match(out[3L], "cannot be loaded.*JOIST_NATIVE_CACHE")
    expect_length(out, 3L)
  }
})

test_that("forks and ended sessions leave nothing behind", {
  skip_if_not(can_compile())
  skip_on_os("windows")
  f <- jit(\(x) nv_for(1000L, x, \(i, x) x * 0.25 + 3), native = "wait")
  x <- nv_scalar(1, "f64")
  known <- as_array(f(x))
  g <- jit(\(x) nv_for(1000L, x, \(i, x) x * 0.125 + 3), native = "wait")
  in_forks <- parallel::mclapply(1:4, function(k) c(as_array(f(x)), as_array(g(x))), mc.cores = 2L)
  for (values in in_forks) expect_identical(values, c(known, as_array(g(x))))
  # A session that ends while its compiler hangs takes it along.
  mark <- tempfile()
  out <- in_session_with({
    script <- paste0("echo $$ >", Sys.getenv("MARK"), "; sleep 300")
    .Call(joist:::joist_r_native_setup, script, tempdir(), NULL, "auto")
    f <- jit(\(x) nv_for(200000L, x, \(i, x) x * 0.5 + 1))
    for (k in 1:20) f(nv_scalar(3, "f64"))
    cat(joist_info()$native$compiling, "\n")
  }, MARK = mark)
  expect_identical(trimws(out), "1")
  skip_if_not(file.exists(mark))
  expect_false(tools::pskill(as.integer(readLines(mark)), 0L))
})

test_that("a folder that the user names keeps compiled code", {
  skip_if_not(can_compile())
  folder <- tempfile()
  on.exit(unlink(folder, recursive = TRUE))
  run <- function() {
    in_session_with({
      f <- jit(\(x) nv_for(1000L, x, \(i, x) x * 0.5 + 1), native = "wait")
      cat(as_array(f(nv_scalar(3, "f64"))), joist_info()$native$compiled, "\n")
    }, JOIST_NATIVE_CACHE = folder)
  }
  expect_identical(trimws(run()), "2 1")
  objects <- list.files(folder, "[.]so$", full.names = TRUE)
  expect_length(objects, 1L)
  made <- file.mtime(objects)
  expect_identical(trimws(run()), "2 1")
  expect_identical(file.mtime(objects), made)
  # A damaged object is made again.
  writeLines("damaged", objects)
  expect_identical(trimws(run()), "2 1")
  expect_gt(file.size(objects), 100)
  # An installation with other headers makes its own.
  library <- tempfile()
  dir.create(library)
  on.exit(unlink(library, recursive = TRUE), add = TRUE)
  file.copy(system.file(package = "joist"), library, recursive = TRUE)
  header <- file.path(library, "joist", "native", "core", "kernels", "math_f64.h")
  in_copy <- function() withr::with_libpaths(library, run(), action = "prefix")
  expect_identical(trimws(in_copy()), "2 1")
  expect_length(list.files(folder, "[.]so$"), 2L)
  cat("\n/* another */\n", file = header, append = TRUE)
  expect_identical(trimws(in_copy()), "2 1")
  expect_length(list.files(folder, "[.]so$"), 3L)
  expect_identical(trimws(in_copy()), "2 1")
  expect_length(list.files(folder, "[.]so$"), 3L)
})

test_that("workers use the code that their session has compiled, or is compiling", {
  skip_if_not(can_compile())
  file <- tempfile()
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(c(file, folder), recursive = TRUE))
  worker <- function(shared, native = "auto") {
    saveRDS(shared, file)
    in_session_with({
      joist:::native_share(readRDS(Sys.getenv("SHARED")))
      f <- jit(\(x) nv_for(200000L, x, \(i, x) x * 0.5 + 1), native = Sys.getenv("AS"))
      for (k in 1:20) value <- f(nv_scalar(3, "f64"))
      found <- joist_info()$native
      cat(as_array(value), found$compiled, found$compiling, "\n")
    }, SHARED = file, AS = native)
  }
  shared <- joist:::native_shared()
  shared$folder <- folder
  files <- function(ending) list.files(folder, ending, full.names = TRUE)
  expect_identical(trimws(worker(shared, "wait")), "2 1 0")
  object <- files("[.]so$")
  made <- file.mtime(object)
  expect_identical(trimws(worker(shared)), "2 1 0")
  expect_identical(file.mtime(object), made)
  # A source alone is one that is being compiled.
  unlink(object)
  expect_identical(trimws(worker(shared)), "2 0 0")
  expect_length(files("[.]so$"), 0L)
  expect_identical(trimws(worker(shared, "wait")), "2 1 0")
  # Of an installation with other headers nothing is taken.
  unlink(files(""))
  shared$headers <- "others"
  expect_identical(trimws(worker(shared, "wait")), "2 1 0")
  expect_length(files(""), 0L)
})

test_that("compiled code reports errors of groups that write over their operands", {
  skip_if_not(can_compile())
  x <- nv_tensor(c(4L, 2L, 0L, 3L))
  m <- nv_tensor(matrix(c(5L, 9L, 1L, 0L, 7L, 2L), 2))
  bodies <- list(
    function(i, x) nv_tensor(6L) %/% nv_sort(x),
    function(i, x) nv_tensor(1L) %/% nv_sort(x, decreasing = TRUE),
    function(i, x) nv_sort(x, dim = 1L) %% x[1, , drop = FALSE]
  )
  for (k in seq_along(bodies)) {
    start <- if (k == 3) m else x
    outcomes <- lapply(c("never", "wait"), function(native) {
      f <- jit(function(x) nv_for(3, x, bodies[[k]]), native = native)
      tryCatch(f(start), joist_value_error = conditionMessage)
    })
    expect_identical(outcomes[[2L]], outcomes[[1L]])
    expect_match(outcomes[[1L]], "by zero")
  }
})

test_that("code that the compiler made no vector code of is left aside, in later sessions, too", {
  skip_if_not(can_compile())
  skip_if_not(grepl("-fopt-info-vec", readLines(system.file("native/compiler", package = "joist"))))
  folder <- tempfile()
  on.exit(unlink(folder, recursive = TRUE))
  run <- function() {
    in_session_with({
      f <- jit(\(z) exp(z) * z + exp(-z) * 2, native = "wait")
      invisible(f(nv_tensor(complex(real = 1:1000 / 500, imaginary = 1), "c128")))
      cat(joist_info()$native$compiled, joist_info()$native$failed, "\n")
    }, JOIST_NATIVE_CACHE = folder)
  }
  expect_identical(trimws(run()), "0 0")
  expect_length(list.files(folder, "[.]so$"), 1L)
  expect_identical(trimws(run()), "0 0")
})
