#' Threads
#'
#' `nv_set_threads()` sets the number of threads that joist may use, `nv_get_threads()` returns it.
#' The default is the number of cores, at most `OMP_THREAD_LIMIT` and `OMP_NUM_THREADS`, or the
#' environment variable `JOIST_NUM_THREADS`. Small tensors are computed by one thread, and results
#' do not depend on the number. Forked processes (`parallel::mclapply()`) use one.
#'
#' @section Workers: A tensor can be sent to another R process, which has to attach joist, as
#'   otherwise it lacks the methods for `+`, `[` and so on. Workers share the cores, so let each use
#'   one thread:
#'
#'   \preformatted{
#'   cluster <- parallel::makeCluster(2)
#'   parallel::clusterEvalQ(cluster, \{ library(joist); nv_set_threads(1) \})
#'   parallel::parLapply(cluster, list(x, y), function(tensor) sum(tensor * tensor))
#'
#'   future::plan(future::multisession, workers = 2)
#'   later <- future::future(sum(x * x), packages = "joist")
#'   future::value(later)
#'   }
#'
#'   With future.apply it is `future_lapply(parts, f, future.packages = "joist")`.
#' @section Busy machines: Where other programs want the same cores, threads have to wait for each
#'   other. joist measures that, and works with one thread for a while (up to some seconds) when
#'   the wait was long beside the work. The environment variable `OMP_WAIT_POLICY=passive`, set
#'   before R starts, helps other programs: OpenMP's threads then do not spin while they are idle.
#' @param threads A whole number of at least 1; more than the limit gives the limit.
#' @return `nv_get_threads()`: the number of threads. `nv_set_threads()`: the former number,
#'   invisibly.
#' @section Errors: `joist_value_error` when `threads` is not a positive whole number.
#' @examples
#' old <- nv_set_threads(1)
#' nv_get_threads()
#' nv_set_threads(old)
#' @export
nv_set_threads <- function(threads) {
  old <- nv_get_threads()
  # NULL asks for the number.
  .Call(joist_r_threads, if (is.null(threads)) NA else threads)
  invisible(old)
}

#' @rdname nv_set_threads
#' @export
nv_get_threads <- function() .Call(joist_r_threads, NULL)

#' Memory that is kept for reuse
#'
#' `nv_memory()` reports how much memory tensors use and how much is kept for reuse, and can set a
#' limit on the latter; `nv_trim_memory()` gives kept memory back to the system.
#'
#' The memory of tensors of 6 KiB and more comes from a pool. When R's garbage collector frees
#' a tensor its memory is kept, because mapping fresh pages costs more than the arithmetic of
#' an operation. What is kept is bounded, and given back to the system when memory runs short or
#' `nv_trim_memory()` is called. It also trims the pools of the GPUs that are in use.
#' Tables of the latest eight Fourier transforms, of up to 8 MiB each, are kept until then, too.
#'
#' R does not know how much memory tensors hold, so joist asks for a collection itself: when tensors
#' have grown by 64 to 256 MiB since the last one, a threshold that rises with the number of R
#' objects in the session, or by four times the size of a larger result.
#'
#' In R 4.6 and later, only vectors of an ALTREP class can use memory of the pool; R refers to it by
#' an external pointer. There, the memory of a large tensor that R has collected is given back when
#' joist asks for the next collection, or when `nv_memory()` or `nv_trim_memory()` is called, and a
#' function given to `reg.finalizer()` can read the tensors of its object until then. One that it
#' keeps for later without reading it is lost. R's own limit on memory, `mem.maxVSize()`, does not
#' count large tensors there; everything else is the same.
#'
#' Blocks are placed on huge pages where the system grants them (on Linux,
#' `/sys/kernel/mm/transparent_hugepage/enabled` is `always` or `madvise`). Without them
#' everything works; the first use of each block is slower.
#'
#' @param limit The maximum number of bytes to keep; `NULL` leaves the limit unchanged. The initial
#'   limit is an eighth of the physical memory.
#' @param device A device or its name, see [nv_device()].
#' @return `nv_memory()`: a named vector of bytes: `used` by tensors, `kept` for reuse, and the
#'   `limit` on what is kept; for a GPU `used`, `kept`, `available` to all processes, and the
#'   `total`. `nv_trim_memory()`: the number of bytes given back, invisibly.
#' @section Errors: `joist_value_error` when `limit` is not a number of bytes.
#' @examples
#' nv_memory()
#' nv_trim_memory()
#' @export
nv_memory <- function(limit = NULL, device = "cpu") {
  device <- format(nv_device(device))
  if (device != "cpu") {
    bytes <- .Call(joist_r_device_memory, device)
    return(stats::setNames(bytes, c("used", "kept", "available", "total")))
  }
  bytes <- .Call(joist_r_memory, limit)
  stats::setNames(bytes, c("used", "kept", "limit"))
}

#' @rdname nv_memory
#' @export
nv_trim_memory <- function() {
  gc()
  invisible(.Call(joist_r_trim_memory))
}

#' What this build of joist can do
#'
#' `joist_info()` lists the version, the features that this build of joist has, and the current
#' settings.
#'
#' @return A list of class `joist_info`: `version`, `openmp` (built with OpenMP or not),
#'   `threads` in use and `thread_limit`, `instruction_set` (the kernels chosen for this
#'   processor), `nvcc` (found when joist was built), `cuda` (the CUDA device was built),
#'   `blas` (what multiplies matrices of `f32`, `f64`, `c64` and `c128`: the name of the
#'   optimized BLAS that R is linked with, or `"joist"` for our own kernels), `lapack` (the version
#'   of R's LAPACK, which decomposes matrices; it answers an interrupt only when it has finished
#'   one), `native` (machine code for programs, see [jit()]: the `policy`, how many pieces were
#'   `compiled`, are `compiling` and have `failed`, and `why` the latest did, or why none can be
#'   compiled), `driver` (a CUDA driver is present), `on_cpu` (operations that a GPU leaves to the
#'   CPU, which computes them on copies; empty without CUDA), `promotion` (id of the current rules)
#'   and `gpus` (for each GPU that this process uses already, its memory as [nv_memory()] gives
#'   it).
#' @examples
#' joist_info()
#' @export
joist_info <- function() {
  build <- .Call(joist_r_build)
  # A build without CUDA loads no driver; the kernel's module shows.
  if (!build$cuda) build$driver <- file.exists("/proc/driver/nvidia/version")
  info <- c(
    list(version = as.character(utils::packageVersion("joist"))), build,
    list(
      blas = .Call(joist_r_blas, NULL),
      lapack = La_version(),
      native = native_figures(),
      promotion = .Call(joist_r_rules_info, NULL)$id,
      gpus = lapply(gpus_in_use(), function(gpu) nv_memory(device = gpu))
    )
  )
  structure(info, class = "joist_info")
}

native_figures <- function() {
  figures <- .Call(joist_r_native_figures)
  if (startsWith(figures$why, "the compiled code cannot be loaded")) {
    figures$why <- paste0(
      figures$why, "; JOIST_NATIVE_CACHE can name a folder that may hold programs"
    )
  }
  figures
}

gpus_in_use <- function() {
  gpus <- setdiff(.Call(joist_r_devices_in_use), "cpu")
  stats::setNames(as.list(gpus), gpus)
}

format_gpu <- function(bytes) {
  gib <- format(round(bytes / 2^30, 1), nsmall = 1, trim = TRUE)
  paste0(
    "memory ", gib[["used"]], " GiB used, ", gib[["kept"]], " kept, ", gib[["available"]],
    " available of ", gib[["total"]]
  )
}

format_native <- function(native) {
  paste0(
    native$policy, ", ", native$compiled, " compiled, ", native$failed, " failed",
    if (nzchar(native$why)) paste0(" (", native$why, ")")
  )
}

#' @export
print.joist_info <- function(x, ...) {
  yes <- function(flag) if (flag) "yes" else "no"
  lines <- c(
    version = x$version,
    threads = paste0(x$threads, " of ", x$thread_limit, " (OpenMP: ", yes(x$openmp), ")"),
    instructions = x$instruction_set,
    BLAS = x$blas,
    LAPACK = paste(x$lapack, "(interrupts wait until a matrix is finished)"),
    promotion = x$promotion,
    "machine code" = if (!is.null(x$native)) format_native(x$native),
    CUDA = paste0(
      if (x$cuda) "built" else "not built", ", compiler ", if (x$nvcc) "found" else "not found",
      " at build time, driver ", if (x$driver) "present" else "absent"
    ),
    vapply(x$gpus, format_gpu, "")
  )
  cat("joist\n", paste0("  ", format(names(lines)), "  ", lines, "\n"), sep = "")
  invisible(x)
}
