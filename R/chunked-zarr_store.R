#' Make a store for Zarr arrays
#'
#' A store keeps bytes under keys. It has six functions, which read, write, list, delete and look
#' for them, and read parts. [nv_zarr()] and [nv_zarr_create()] make a store of the path of a
#' folder, or of an
#' address that begins with `http://` or `https://`, which can only be read, or with `s3://`;
#' `nv_zarr_store()` makes one of your own functions, for any other place that keeps bytes.
#'
#' A request that gets no answer, or that a server is too busy for, is made up to three times more,
#' after 0.1, 0.4 and 1.6 seconds. Chunks are asked for up to eight at a time where the package
#' 'curl' is installed, else one by one. Addresses `s3://bucket/folder` need the package 'digest',
#' for writing 'curl', too, and take what other programs take from the environment:
#' `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION` and, for servers
#' other than those of AWS, `AWS_ENDPOINT_URL`. Without keys, requests are not signed, as for public
#' buckets.
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
#' @param range A function of a key, a position and a number of bytes, which gives so many bytes
#'   from
#'   the position on, counted from 0, or, if it is negative, from the end; fewer, if there are not
#'   so
#'   many; `NULL` where there are none. With the default, all bytes are read.
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
                          exists = function(key) !is.null(get(key)), label = "store",
                          range = function(key, from, size) range_of(get(key), from, size)) {
  functions <- base::list(
    get = get, put = put, list = list, delete = delete, exists = exists, range = range
  )
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
  if (startsWith(path, "s3://")) {
    return(s3_store(path))
  }
  if (is_web(path)) web_store(path) else folder_store(path)
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
    range = function(key, from, size) file_bytes(at(key), from, size),
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
file_bytes <- function(path, from = 0, size = Inf) {
  if (!dir.exists(path)) .Call(joist_r_file_bytes, path, from, size)
}

# A part of bytes, from a position on, or from the end if it is negative.
range_of <- function(bytes, from, size) {
  if (is.null(bytes)) {
    return(NULL)
  }
  if (from < 0) from <- max(0, length(bytes) + from)
  part_of_bytes(bytes, from, max(0, min(size, length(bytes) - from)))
}

# A sequence of whole numbers takes R a tenth of the time of sums with one.
part_of_bytes <- function(bytes, from, size) {
  if (size == length(bytes)) bytes else if (size == 0) raw() else bytes[(from + 1):(from + size)]
}

is_web <- function(path) grepl("^https?://", path)

web_store <- function(address) {
  address <- sub("/+$", "", address)
  at <- function(key) paste0(address, "/", key)
  ahead <- asked_ahead(function(key, range) list(address = at(key), headers = range))
  store <- nv_zarr_store(
    get = function(key) ahead$answer(key, web_bytes(at(key))),
    range = function(key, from, size) {
      alone <- function() web_bytes(at(key), function() range_header(from, size))
      ahead$answer(key, ranged(alone(), from, size), from, size)
    },
    label = address
  )
  store$ahead <- ahead$ask
  store$id <- address
  store
}

# Several requests at once, by the package curl where it is there: ask() makes them, and answer()
# gives what came, once, or else asks by itself. So what fails is asked for again, and has its error
# there. `request` gives the address and the headers of one.
asked_ahead <- function(request) {
  answers <- new.env(parent = emptyenv())
  knows_ranges <- TRUE
  named <- function(key, from, size) paste(c(key, from, size), collapse = " ")
  ask_for <- function(pool, key, from, size) {
    asked <- request(key, if (!is.null(from)) range_header(from, size))
    handle <- curl::new_handle(
      url = asked$address, path_as_is = TRUE, low_speed_limit = 1,
      low_speed_time = as.integer(getOption("timeout"))
    )
    curl::handle_setheaders(handle, .list = as.list(asked$headers))
    done <- function(got) {
      if (got$status_code == if (is.null(from)) 200L else 206L) {
        assign(named(key, from, size), got$content, envir = answers)
      } else if (got$status_code == 200L) {
        knows_ranges <<- FALSE
      }
    }
    curl::multi_add(handle, done, fail = function(e) NULL, pool = pool)
  }
  list(
    ask = function(keys, from = NULL, size = NULL) {
      rm(list = ls(answers), envir = answers)
      useful <- length(keys) > 1L && (is.null(from) || knows_ranges)
      if (!useful || !requireNamespace("curl", quietly = TRUE)) {
        return(invisible(NULL))
      }
      # The connections of the process stay open, but for those of requests that were interrupted.
      process <- Sys.getpid()
      if (!identical(counted$connected, process)) counted$pool <- curl::new_pool(host_con = 8L)
      counted$connected <- NULL
      for (k in seq_along(keys)) ask_for(counted$pool, keys[k], from[k], size[k])
      curl::multi_run(pool = counted$pool)
      counted$connected <- process
    },
    answer = function(key, other, from = NULL, size = NULL) {
      name <- named(key, from, size)
      got <- answers[[name]]
      if (is.null(got)) {
        return(other)
      }
      rm(list = name, envir = answers)
      got
    }
  )
}

range_header <- function(from, size) {
  wanted <- number_text(from)
  if (from >= 0) wanted <- paste0(wanted, "-", number_text(from + size - 1))
  c(Range = paste0("bytes=", wanted))
}

# A server that knows no ranges sends everything.
ranged <- function(bytes, from, size) {
  if (length(bytes) > size) range_of(bytes, from, size) else bytes
}

# Seconds before each further request after one that failed.
web_waits <- c(0.1, 0.4, 1.6)

# NULL if the server says that the file does not exist. Asks again where there was no answer, or one
# that says that the server is busy or broken. Only GET is base R's.
web_bytes <- function(address, headers = function() NULL, method = "GET", body = raw(),
                      place = sub("[?].*", "", address)) {
  for (wait in c(web_waits, NA)) {
    got <- if (method == "GET") {
      web_answer(address, headers())
    } else {
      web_sent(address, headers(), method, body)
    }
    if (is.raw(got)) {
      return(got)
    }
    status <- regmatches(got, regexpr("\\b[1-5][0-9]{2}\\b(?= |')", got, perl = TRUE))
    status <- c(attr(got, "status"), as.integer(status))[1L]
    if (isTRUE(status %in% c(404L, 410L)) && method != "PUT") {
      return(NULL)
    }
    if (isTRUE(status == 416L)) {
      return(raw()) # a range behind the end
    }
    if (is.na(wait) || !status %in% c(NA, 0L, 408L, 425L, 429L, 500L, 502:504)) break
    Sys.sleep(wait)
  }
  does <- switch(method, GET = "read", PUT = "write", DELETE = "delete")
  denied <- if (isTRUE(status %in% c(401L, 403L))) "permission denied: "
  stop_joist("joist_value_error", "cannot ", does, " ", place, ": ", denied, got)
}

# The same by the package curl. In S3, the answer has the `Code` of an error.
web_sent <- function(address, headers, method, body) {
  need_package("curl")
  handle <- curl::new_handle(
    customrequest = method, path_as_is = TRUE, low_speed_limit = 1,
    low_speed_time = as.integer(getOption("timeout"))
  )
  if (length(body) > 0L) curl::handle_setopt(handle, postfields = body)
  headers <- c(headers, Expect = "", `Content-Type` = "application/octet-stream")
  curl::handle_setheaders(handle, .list = as.list(headers))
  tryCatch(
    {
      got <- curl::curl_fetch_memory(address, handle)
      if (got$status_code < 300L) {
        return(got$content)
      }
      code <- sub(".*<Code>([^<]*)</Code>.*", "\\1", rawToChar(got$content[got$content != 0L]))
      if (!grepl("^[A-Za-z]+$", code)) code <- NULL
      structure(toString(c(paste("HTTP status", got$status_code), code)), status = got$status_code)
    },
    error = function(e) structure(conditionMessage(e), status = 0L)
  )
}

# The bytes, or as text what R says in a warning before it stops.
web_answer <- function(address, headers) {
  said <- character()
  got <- withCallingHandlers(
    tryCatch(
      {
        con <- url(address, headers = headers)
        on.exit(close(con)) # url(address, "rb") does not where it fails
        open(con, "rb")
        read_bytes(con, Inf)
      },
      error = function(e) c(said, conditionMessage(e))[1L]
    ),
    warning = function(w) {
      said <<- c(said, conditionMessage(w))
      tryInvokeRestart("muffleWarning")
    }
  )
  if (length(said) > 0L) said[1L] else got
}
