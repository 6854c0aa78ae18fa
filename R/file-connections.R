# Where bytes come from and go to: raw vectors, files, connections.

is_file_name <- function(con) is.character(con) && length(con) == 1L && !is.na(con)

stop_no_bytes <- function() {
  stop_joist("joist_value_error", "`con` must be a raw vector, a connection or the name of a file")
}

check_path <- function(path) {
  if (!is_file_name(path) || !nzchar(path)) {
    stop_joist("joist_value_error", "`path` must be the name of a file")
  }
}

# Still that of the file when R's working directory is another one.
found_path <- function(path) normalizePath(path, mustWork = FALSE)

check_no_map <- function(mmap) {
  if (mmap) stop_joist("joist_value_error", "only a file can be mapped: `mmap` must be FALSE")
}

# The bytes of a raw vector or a connection; of the latter those of a tensor like `aval`, if given.
all_bytes <- function(con, aval = NULL) {
  if (is.raw(con) && !is.object(con)) {
    con
  } else if (inherits(con, "connection")) {
    bytes_of_connection(con, aval)
  } else {
    stop_no_bytes()
  }
}

# Gives the bytes that `make` makes, or writes them to a connection.
send_bytes <- function(con, make) {
  if (is.raw(con) && !is.object(con)) {
    return(make())
  }
  if (!inherits(con, "connection")) stop_no_bytes()
  bytes <- make()
  if (open_connection(con, "wb")) on.exit(close(con))
  write_bytes(con, bytes)
}

# What base R says of a connection, as a condition of joist's. A time limit may end inside of it.
connecting <- function(code) {
  tryCatch(code, error = function(e) {
    if (is_time_limit(e)) stop(e)
    stop_joist("joist_value_error", "the connection fails: ", conditionMessage(e))
  })
}

is_time_limit <- function(e) {
  limits <- paste("reached", c("elapsed", "session elapsed", "CPU", "session CPU"), "time limit")
  conditionMessage(e) %in% c(limits, gettext(limits, domain = "R"))
}

is_open <- function(con) inherits(con, "connection") && connecting(isOpen(con))

# Whether it had to be opened.
open_connection <- function(con, mode) {
  connecting({
    closed <- !isOpen(con)
    if (closed) open_quietly(con, mode)
  })
  if (summary(con)$text != "binary") {
    stop_joist("joist_value_error", "the connection is open as text: open it with \"", mode, "\"")
  }
  closed
}

# An error that says why: R says that in a warning before.
open_quietly <- function(con, mode) {
  why <- NULL
  withCallingHandlers(
    tryCatch(open(con, mode), error = function(e) {
      stop(if (is.null(why)) conditionMessage(e) else why, call. = FALSE)
    }),
    warning = function(w) {
      why <<- conditionMessage(w)
      invokeRestart("muffleWarning")
    }
  )
}

# `x` for a format without missing values: with the value `na` in their place, if it is not NULL;
# otherwise they are an error. `name` is that of the tensor in the error.
filled_missing <- function(x, na, format, name = "`x`",
                           instead = "pass `na =`, the value to write instead") {
  check_na_value(na)
  missing <- if (is_tensor(x) && !is_chunked(x) && has_elements(x)) .Call(joist_r_mask_of, x)
  if (is.null(missing)) {
    return(x)
  }
  if (is.null(na)) {
    at <- which(as_array(missing))
    stop_joist(
      "joist_value_error", name, " has ", count_of(length(at), "missing value"),
      if (length(at) > 1L) ", the first", " at position ", number_text(at[1L]), ", and ", format,
      " have no missing values; ", instead
    )
  }
  value <- if (is_tensor(na)) na else nv_tensor(exact_code(na, dtype(x), "na"), dtype(x))
  if (dtype(value) != dtype(x)) {
    stop_joist(
      "joist_dtype_error", "`na` is a tensor of ", format(dtype(value)), " and ", name, " one of ",
      format(dtype(x)), "; nv_convert() one of them first"
    )
  }
  value <- nv_to(nv_reshape(value, integer()), device(x))
  nv_ifelse(missing, value, .Call(joist_r_with_mask, x, NULL))
}

check_na_value <- function(na) {
  number <- is_tensor(na) || inherits(na, c("integer64", "float32")) || is_whole_text(na) ||
    (is.numeric(na) || is.logical(na) || is.complex(na) || is.raw(na)) && !is.object(na)
  if (!is.null(na) && (!number || length(na) != 1L || is_missing(na))) {
    stop_joist("joist_value_error", "`na` must be one number that is not missing, or NULL")
  }
}

# Digits of a number that only i64 or ui64 can hold.
is_whole_text <- function(x) {
  is.character(x) && !is.object(x) && length(x) == 1L &&
    grepl("^[-+]?([0-9]+|0[xX][0-9a-fA-F]+)$", x)
}

# Of one value: NaN is not missing.
is_missing <- function(x) {
  if (is_tensor(x)) !is.null(.Call(joist_r_mask_of, x)) else is.na(x) && !is.nan(x)
}

# Of whole numbers; format() takes ten times as long.
number_text <- function(x) sprintf("%.0f", x)

# Bytes: R reads and writes fewer than 2^31, and is not interrupted on the way. Between two pieces
# Sys.sleep(0) looks for interrupts, and each fifth time for time limits.
at_a_time <- 2^24

# Returns fewer bytes only at the end of the connection.
read_bytes <- function(con, bytes, most = at_a_time) {
  parts <- list()
  repeat {
    wanted <- min(bytes, most)
    part <- connecting(readBin(con, "raw", wanted))
    parts[[length(parts) + 1L]] <- part
    bytes <- bytes - length(part)
    if (length(part) < wanted || bytes == 0) {
      return(if (length(parts) == 1L) part else do.call(c, parts))
    }
    Sys.sleep(0)
  }
}

write_bytes <- function(con, bytes, most = at_a_time) {
  start <- 0
  while (start < length(bytes)) {
    end <- min(length(bytes), start + most)
    whole <- start == 0 && end == length(bytes)
    connecting(writeBin(if (whole) bytes else bytes[(start + 1):end], con))
    start <- end
    if (!whole) Sys.sleep(0)
  }
  invisible(NULL)
}

# ---- what a file is, where it is not what was asked for ----

# What files of other formats begin with, and what reads them.
file_formats <- list(
  HDF5 = list(c(0x89, 0x48, 0x44, 0x46), "as_tensor() of an array read by rhdf5 or hdf5r"),
  GGUF = list(c(0x47, 0x47, 0x55, 0x46), "nv_read_gguf()"),
  Parquet = list(c(0x50, 0x41, 0x52, 0x31), "arrow::read_parquet()"),
  Arrow = list(c(0x41, 0x52, 0x52, 0x4f, 0x57, 0x31), "arrow::read_feather()"),
  npy = list(c(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59), "nv_read_npy()"),
  `npz or zip` = list(c(0x50, 0x4b, 3, 4), "nv_read_npz(), if it holds npy files"),
  gzip = list(c(0x1f, 0x8b), "gzfile() or readRDS()")
)

# An error that names the format of a file or raw vector, if that is another one.
check_format <- function(wanted, source) {
  first <- if (is.raw(source)) utils::head(source, 8L) else first_bytes(source)
  found <- Filter(function(format) {
    identical(first[seq_along(format[[1L]])], as.raw(format[[1L]]))
  }, file_formats)
  if (length(found) > 0L && names(found)[1L] != wanted) {
    stop_joist(
      "joist_value_error", "this is a file of the format ", names(found)[1L], ", not ", wanted,
      "; it is read by ", found[[1L]][[2L]]
    )
  }
}

first_bytes <- function(path) {
  tryCatch(readBin(path, "raw", 8L), error = function(e) raw(), warning = function(w) raw())
}

# Says in errors what `expr` was about.
in_context <- function(what, expr) {
  tryCatch(expr, joist_error = function(e) {
    e$message <- paste0(what, ": ", e$message)
    stop(e)
  })
}
