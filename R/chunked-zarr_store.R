#' Make a store for Zarr arrays
#'
#' A store keeps bytes under keys. It has five functions, which read, write, list, delete and look
#' for them. [nv_zarr()] and [nv_zarr_create()] make a store of the path of a folder, or of an
#' address that begins with `http://` or `https://`, which can only be read; `nv_zarr_store()` makes
#' one of your own functions, for any other place that keeps bytes.
#'
#' Keys are like `"zarr.json"` or `"c/0/1"`: names with slashes between them. What is written under
#' a key must be there as a whole or not at all. Functions that go to the processes of a `plan()` of
#' the package \pkg{future} must work there, too.
#'
#' @param get A function of a key that gives the bytes as a raw vector, `NULL` where there are none.
#' @param put A function of a key and a raw vector, which keeps it. `NULL` for a store that can only
#'   be read.
#' @param list A function of a prefix, `""` or one that ends in a slash, that gives the names behind
#'   it up to the next slash. `NULL` for a store that cannot list its keys.
#' @param delete A function of a key. `NULL` for a store that can only be read.
#' @param exists A function of a key that gives `TRUE` or `FALSE`.
#' @param label The name of the store in messages.
#' @return A store, for the `path` of [nv_zarr()] and [nv_zarr_create()].
#' @section Errors: `joist_value_error` for an argument that is not a function.
#' @examples
#' kept <- new.env()
#' memory <- nv_zarr_store(
#'   get = function(key) kept[[key]],
#'   put = function(key, bytes) assign(key, bytes, envir = kept),
#'   list = function(prefix) {
#'     keys <- ls(kept)
#'     unique(sub("/.*", "", substring(keys[startsWith(keys, prefix)], nchar(prefix) + 1)))
#'   },
#'   delete = function(key) rm(list = key, envir = kept),
#'   exists = function(key) exists(key, kept, inherits = FALSE),
#'   label = "memory"
#' )
#' x <- nv_zarr_create(memory, "i16", c(4, 3), chunks = c(2, 3))
#' x[1, ] <- 1:3
#' ls(kept)
#' @export
nv_zarr_store <- function(get, put = NULL, list = NULL, delete = NULL,
                          exists = function(key) !is.null(get(key)), label = "store") {
  functions <- base::list(get = get, put = put, list = list, delete = delete, exists = exists)
  for (what in names(functions)) {
    given <- functions[[what]]
    optional <- is.null(given) && what %in% c("put", "list", "delete")
    if (!optional && !is.function(given)) {
      stop_joist("joist_value_error", "`", what, "` must be a function")
    }
  }
  if (!is_file_name(label)) stop_joist("joist_value_error", "`label` must be text")
  # Two stores with the same label are still two.
  structure(c(functions, base::list(name = label, id = unique_name())), class = "nv_zarr_store")
}

#' @export
print.nv_zarr_store <- function(x, ...) {
  cat("<Zarr store ", x$name, if (is.null(x$put)) ", read only", ">\n", sep = "")
  invisible(x)
}

# The store that a path means.
zarr_store <- function(path) {
  if (inherits(path, "nv_zarr_store")) {
    return(path)
  }
  check_path(path)
  if (grepl("^https?://", path)) web_store(path) else folder_store(path)
}

folder_store <- function(path) {
  path <- whole_path(path.expand(path))
  at <- function(key) file.path(path, key)
  store <- nv_zarr_store(
    get = function(key) file_bytes(at(key)),
    put = function(key, bytes) {
      folder <- dirname(at(key))
      if (!dir.exists(folder)) dir.create(folder, showWarnings = FALSE, recursive = TRUE)
      .Call(joist_r_write_bin, bytes, at(key), FALSE)
    },
    list = function(prefix) list.files(at(prefix), all.files = TRUE, no.. = TRUE),
    delete = function(key) remove_file(at(key)),
    exists = function(key) file.exists(at(key)),
    label = path
  )
  store$folder <- path # chunks are read and written without R, see chunked-zarr_chunks.R
  store$id <- path
  store
}

# That of a folder that is not there yet, too.
whole_path <- function(path) {
  if (file.exists(path) || dirname(path) == path) {
    return(normalizePath(path))
  }
  file.path(whole_path(dirname(path)), basename(path))
}

# Or an empty folder.
remove_file <- function(path) {
  empty <- length(list.files(path, all.files = TRUE, no.. = TRUE)) == 0L
  unlink(path, recursive = dir.exists(path) && empty)
}

# NULL for a file that is not there.
file_bytes <- function(path) {
  size <- file.size(path)
  if (is.na(size) || dir.exists(path)) {
    return(NULL)
  }
  con <- file(path, "rb", raw = TRUE)
  on.exit(close(con))
  read_bytes(con, size)
}

web_store <- function(address) {
  address <- sub("/+$", "", address)
  get <- function(key) web_bytes(paste0(address, "/", key))
  store <- nv_zarr_store(get = get, label = address)
  store$id <- address
  store
}

# NULL if the server says that the file does not exist. R reports the cause in a warning, and then
# stops.
web_bytes <- function(address) {
  said <- character()
  con <- withCallingHandlers(
    tryCatch(url(address, "rb"), error = function(e) NULL),
    warning = function(w) {
      said <<- c(said, conditionMessage(w))
      tryInvokeRestart("muffleWarning")
    }
  )
  if (is.null(con)) {
    if (any(grepl("\\b404\\b", said))) {
      return(NULL)
    }
    stop_joist("joist_value_error", "cannot read ", address, ": ", c(said, "no answer")[1L])
  }
  on.exit(close(con))
  read_bytes(con, Inf)
}
