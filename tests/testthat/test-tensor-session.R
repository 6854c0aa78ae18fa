# Threads, devices and the facts that a build reports.

test_that("workers that attach joist compute with the tensors they get", {
  skip_on_cran()
  cluster <- parallel::makePSOCKcluster(1L)
  withr::defer(parallel::stopCluster(cluster))
  x <- nv_tensor(c(1, 2, 3), "f64")
  parallel::clusterEvalQ(cluster, {
    library(joist)
    nv_set_threads(1)
  })
  got <- parallel::parLapply(cluster, list(x, x[2:3]), function(tensor) sum(tensor * tensor))
  expect_identical(lapply(got, as.vector), list(14, 13))
})

test_that("joist_info() says what this build can do", {
  info <- joist_info()
  expect_s3_class(info, "joist_info")
  expect_identical(info$version, as.character(utils::packageVersion("joist")))
  for (flag in c("openmp", "nvcc", "cuda", "driver")) {
    expect_true(isTRUE(info[[flag]]) || isFALSE(info[[flag]]), label = flag)
  }
  expect_identical(info$threads, nv_get_threads())
  expect_gte(info$thread_limit, info$threads)
  expect_match(info$instruction_set, "^[a-z0-9]+$")
  expect_true(nzchar(info$blas))
  expect_identical(info$lapack, La_version())
  # With CUDA, lists the operations without a kernel for the GPU; without CUDA, it is empty.
  expect_identical("chol" %in% info$on_cpu, info$cuda)
  expect_false(any(c("add", "concatenate", "reduce_sum") %in% info$on_cpu))
  expect_identical(info$promotion, "anvil")
  expect_identical(with_promotion("jax", joist_info()$promotion), "jax")
  expect_output(print(info), info$version, fixed = TRUE)
  expect_output(print(info), info$instruction_set, fixed = TRUE)
  # Only GPUs that this process uses already are listed.
  expect_type(info$gpus, "list")
  expect_false("cpu" %in% names(info$gpus))
  info$gpus <- list("cuda:3" = c(used = 2^30, kept = 2^29, available = 2^31, total = 2^33))
  expect_output(print(info), "cuda:3 .* 1.0 GiB used, 0.5 kept, 2.0 available of 8.0")
})

test_that("the first tensor of a session is whole, whenever garbage is collected", {
  skip_on_cran()
  first <- in_fresh_r(function() {
    suppressPackageStartupMessages(library("joist", character.only = TRUE))
    gctorture(TRUE)
    x <- nv_tensor(c(1.5, 2))
    gctorture(FALSE)
    list(value = as.vector(x), class = class(x))
  })
  expect_identical(first$value, c(1.5, 2))
  expect_identical(first$class, "nv_tensor")
})

test_that("threads are set, read and limited", {
  old <- nv_get_threads()
  on.exit(nv_set_threads(old))
  limit <- joist_info()$thread_limit
  expect_type(old, "integer")
  expect_gte(old, 1L)
  expect_lte(old, limit)
  returned <- withVisible(nv_set_threads(1))
  expect_identical(returned, list(value = old, visible = FALSE))
  expect_identical(nv_get_threads(), 1L)
  expect_identical(nv_set_threads(1e6), 1L)
  expect_identical(nv_get_threads(), limit)
  for (bad in list(0, -1, 1.5, NA, NA_integer_, "two", NULL, c(1, 2), Inf)) {
    expect_error(nv_set_threads(bad), class = "joist_value_error")
    expect_identical(nv_get_threads(), limit)
  }
})

test_that("the number of threads can be set from outside", {
  skip_on_cran()
  code <- sprintf(
    "library(joist, lib.loc = '%s'); cat(nv_get_threads())", dirname(system.file(package = "joist"))
  )
  threads_with <- function(...) {
    rscript <- file.path(R.home("bin"), "Rscript")
    system2(rscript, c("--vanilla", "-e", shQuote(code)), stdout = TRUE, env = c(...))
  }
  expect_identical(threads_with("JOIST_NUM_THREADS=1"), "1")
  expect_identical(threads_with("OMP_THREAD_LIMIT=1"), "1")
  expect_identical(threads_with("OMP_NUM_THREADS=1"), "1")
  expect_match(threads_with("JOIST_NUM_THREADS=nonsense"), "^[0-9]+$")
})

test_that("tensors outlive the library, and it can be loaded again", {
  skip_on_cran()
  skip_on_os("windows")
  code <- sprintf(
    "loadNamespace('joist', lib.loc = '%s')
    x <- joist::nv_fill(1, 1e5)
    y <- joist::as_array(joist::nv_fill(2, 1e5, 'f64'))
    f <- joist::jit(function(a) a + 1)
    f(x)
    path <- dirname(dirname(getNamespaceInfo('joist', 'DLLs')[[1]][['path']]))
    for (k in 1:2) {
      unloadNamespace('joist')
      library.dynam.unload('joist', path)
      loadNamespace('joist', lib.loc = dirname(path))
    }
    rm(x, f)
    gc()
    stopifnot(sum(y) == 2e5)
    rm(y)
    gc()
    cat(joist::as_array(joist::nv_fill(1, 1)), 'done')",
    dirname(system.file(package = "joist"))
  )
  out <- run_in_fresh_r(code)
  expect_match(out[length(out)], "1 done", fixed = TRUE)
})

test_that("the cpu is always there", {
  cpu <- nv_device()
  expect_identical(as.character(cpu), "cpu")
  expect_s3_class(cpu, "joist_device")
  expect_identical(format(cpu), "cpu")
  expect_identical(nv_device("cpu"), cpu)
  expect_identical(nv_device(cpu), cpu)
  expect_output(print(cpu), "<device cpu>", fixed = TRUE)
  expect_identical(device(nv_scalar(1)), cpu)
  expect_identical(device(nv_scalar(1) + 1), cpu)
  expect_identical(nv_tensor(1:3, device = cpu), nv_tensor(1:3))
  expect_identical(as_array(jit(function(x) x + 1L, device = "cpu")(1L)), 2L)
  if (!joist_info()$cuda || !joist_info()$driver) {
    error <- expect_error(nv_device("cuda:0"), "cuda:0", class = "joist_device_error")
    expect_s3_class(error, "joist_error")
  }
})

test_that("the random numbers, options and locale of the session are left alone", {
  set.seed(1)
  before <- list(.Random.seed, options(), Sys.getlocale())
  x <- nv_tensor(rep(1, 1e5), "f32")
  as_array(jit(function(x) sum(x * 2))(x))
  utils::capture.output(print(x))
  expect_identical(list(.Random.seed, options(), Sys.getlocale()), before)
})
