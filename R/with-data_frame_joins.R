# Joins of data frames by keys of any dtype, which are compared by groups of both.

# The rows of x and of y that belong together, NA where there is none.
joined_rows <- function(keys_x, keys_y, how) {
  n <- length(keys_x[[1L]])
  ids <- as.vector(nv_group(Map(joined_keys, keys_x, keys_y))$ids)
  of_x <- ids[seq_len(n)]
  of_y <- ids[n + seq_len(length(ids) - n)]
  count <- max(0L, ids)
  sizes <- tabulate(of_y, count)
  times <- sizes[of_x]
  if (how == "semi" || how == "anti") {
    return(list(x = which(if (how == "semi") times > 0L else times == 0L)))
  }
  at <- seq_len(n)
  if (max(0L, sizes) < 2L) {
    first <- rep(NA_integer_, count)
    first[of_y] <- seq_along(of_y)
    rows <- list(x = at, y = first[of_x])
    if (how == "inner") rows <- lapply(rows, `[`, which(times > 0L))
  } else {
    lone <- times == 0L
    times[lone] <- as.integer(how != "inner")
    if (sum(as.double(times)) > .Machine$integer.max) {
      stop_joist("joist_value_error", "the merged data frame would have more than 2^31 - 1 rows")
    }
    before <- cumsum(sizes) - sizes
    from <- sequence(times, before[of_x] + 1L)
    from[rep.int(lone, times)] <- NA
    rows <- list(x = rep.int(at, times), y = as.vector(nv_argsort(nv_tensor(of_y, "i32")))[from])
  }
  if (how == "full") {
    rest <- which(tabulate(of_x, count)[of_y] == 0L)
    rows <- list(x = c(rows$x, rep(NA, length(rest))), y = c(rows$y, rest))
  }
  rows
}

# Keys in one vector of that order: of two types how many of y are not greater, for no type may hold
# both.
ordered_keys <- function(y, x) {
  if (!is_tensor(x) && !is_tensor(y) || is_tensor(x) && is_tensor(y) && dtype(x) == dtype(y)) {
    return(c(y, x))
  }
  present <- y[!as.vector(is.na(y))]
  sorted <- if (is_tensor(y)) nv_sort(present) else sort(present)
  unlist(lapply(list(y, x), function(key) {
    plain <- !is_tensor(y) && !is_tensor(key)
    at <- if (plain) findInterval(key, sorted) else as.vector(nv_searchsorted(sorted, key, "right"))
    replace(at, as.vector(is.na(key)), NA)
  }))
}

# For each row of x the last row of y whose last key is not greater and whose other keys are equal.
rolling_rows <- function(keys_x, keys_y) {
  last <- length(keys_x)
  n <- length(keys_x[[1L]])
  key <- ordered_keys(keys_y[[last]], keys_x[[last]]) # rows of y before equal ones of x
  group <- rep(1L, length(key))
  if (last > 1L) group <- as.vector(nv_group(Map(joined_keys, keys_y[-last], keys_x[-last]))$ids)
  at <- if (is_tensor(key)) as.vector(nv_argsort(key)) else order(key)
  at <- at[order(group[at])]
  held <- !as.vector(is.na(key))[at]
  from_y <- at <= length(key) - n
  number <- seq_along(at)
  found <- cummax(ifelse(from_y & held, number, 0L))
  starts <- c(TRUE, diff(group[at]) != 0L)[number]
  valid <- held & found >= cummax(ifelse(starts, number, 0L)) & found > 0L
  y <- integer(n)
  y[at[!from_y] - (length(key) - n)] <- ifelse(valid, at[pmax(found, 1L)], NA)[!from_y]
  list(x = seq_len(n), y = y)
}

# Keys of two classes as keys of one; text if one of them is text, or only one a factor.
comparable_keys <- function(x, y) {
  keys <- list(key_beside(x, y), key_beside(y, x))
  are <- function(what) vapply(keys, inherits, NA, what)
  tensor <- any(are("nv_tensor"))
  text <- vapply(keys, is.character, NA)
  if (sum(text) == 1L || sum(are("factor")) == 1L) {
    return(lapply(keys, as.character))
  }
  long <- which(are("integer64"))
  if (length(long) == 1L) keys <- keys_beside_long(keys, long)
  for (what in c("Date", "POSIXct", "difftime", if (!tensor) "integer64")) {
    if (sum(are(what)) == 1L) {
      stop_joist(
        "joist_value_error", "keys of the classes ", class(x)[1L], " and ", class(y)[1L],
        " cannot be compared"
      )
    }
  }
  keys
}

# As tensors, for R would order and compare the bits of integer64 vectors as doubles.
without_long <- function(keys) {
  lapply(keys, function(key) if (inherits(key, "integer64")) nv_tensor(key, "i64") else key)
}

# A key for another: dates beside date-times as these, and NA as missing values of its class.
key_beside <- function(key, other) {
  if (inherits(key, "Date") && inherits(other, "POSIXct")) {
    return(structure(
      86400 * as.numeric(key), class = class(other), tzone = attr(other, "tzone")
    ))
  }
  unknown <- is.logical(key) && !is.object(key) && all(is.na(key))
  if (unknown) other[rep(NA_integer_, length(key))] else key
}

# One integer64 and R numbers: both integer64 if these are whole, else both doubles.
keys_beside_long <- function(keys, long) {
  number <- keys[[3L - long]]
  if (!is.object(number) && (is.numeric(number) || is.logical(number))) {
    whole <- all(is.na(number) | number == trunc(number) & abs(number) < 2^63)
    at <- if (whole) 3L - long else long
    keys[[at]] <- as_array(nv_tensor(keys[[at]], "i64"), if (whole) "integer64")
  }
  keys
}

# The keys of rows of x, then of y, as one key. Of two types, each is numbered by its match.
joined_keys <- function(x, y) {
  tensors <- c(inherits(x, "nv_tensor"), inherits(y, "nv_tensor"))
  if (all(tensors)) {
    if (identical(dtype(x), dtype(y))) {
      return(nv_concatenate(x, y))
    }
  } else if (!any(tensors)) {
    if (is.factor(x)) x <- as.character(x)
    if (is.factor(y)) y <- as.character(y)
    if (is.character(x) == is.character(y)) {
      return(c(x, y))
    }
  }
  known <- unique(x)
  found <- match(y, known)
  others <- is.na(found)
  rest <- unique(y[others])
  found[others] <- length(known) + match(y[others], rest)
  c(match(x, known), found)
}

# nv_merge() with `how`: rows in the order of x, and then those of y alone.
join_frames <- function(x, y, how, as, by = intersect(names(x), names(y)), by.x = by, # nolint
                        by.y = by, suffixes = c(".x", ".y")) { # nolint
  check_choice(how, "how", c("inner", "left", "full", "semi", "anti", "rolling"))
  check_choice(as, "as", c("data frame", "rows"))
  if (!are_columns(by.x, x) || !are_columns(by.y, y) || length(by.x) != length(by.y)) {
    stop_joist("joist_value_error", "`by` must name the columns of both data frames to merge by")
  }
  for (column in c(unclass(x)[by.x], unclass(y)[by.y])) {
    if (is_tensor(column)) check_elements(column, "nv_merge()")
  }
  pairs <- Map(comparable_keys, unclass(x)[by.x], unclass(y)[by.y])
  keys <- list(lapply(pairs, `[[`, 1L), unname(lapply(pairs, `[[`, 2L)))
  find <- if (how == "rolling") rolling_rows else function(x, y) joined_rows(x, y, how)
  rows <- find(without_long(keys[[1L]]), without_long(keys[[2L]]))
  if (as == "rows") {
    return(rows)
  }
  taken <- lapply(unclass(x), take_rows, rows$x)
  if (!is.null(rows$y)) {
    if (how == "full") {
      at <- ifelse(is.na(rows$x), nrow(x) + rows$y, rows$x)
      taken[by.x] <- Map(function(of_x, of_y) c(of_x, of_y)[at], keys[[1L]], keys[[2L]])
    }
    beside <- lapply(unclass(y)[setdiff(names(y), by.y)], take_rows, rows$y)
    both <- intersect(names(taken), names(beside))
    marked <- function(names, both, end) ifelse(names %in% both, paste0(names, end), names)
    names(taken) <- marked(names(taken), setdiff(both, by.x), suffixes[1L])
    names(beside) <- marked(names(beside), both, suffixes[2L])
    taken <- c(taken, beside)
    twice <- unique(names(taken)[duplicated(names(taken))])
    if (length(twice) > 0L) {
      warning("names of several columns of the result: ", toString(dQuote(twice, FALSE)))
    }
  }
  framed(taken, length(rows$x))
}

take_rows <- function(column, at) {
  if (is.data.frame(column)) {
    return(framed(lapply(unclass(column), take_rows, at), length(at)))
  }
  if (length(dim(column)) < 2L) {
    return(column[at])
  }
  do.call(`[`, c(list(column, at), rep(TRUE, length(dim(column)) - 1L), drop = FALSE))
}

framed <- function(columns, n) {
  structure(columns, row.names = .set_row_names(n), class = "data.frame")
}

are_columns <- function(names, frame) {
  is.character(names) && length(names) > 0L && all(names %in% base::names(frame))
}
