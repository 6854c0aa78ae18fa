# Every way that puts a value of one dtype into another, beside what dtypes hold by their
# definitions (helper-dtypes.R): the value is kept, the user is told, or it is an error.

# ---- values ----

# R's own numbers, which are put into dtypes as well.
r_sources <- c("integer", "double", "integer64")

# Texts of numbers that a source has: whole ones near its ends and beyond the digits of floats,
# fractions, and what is not finite. Texts of doubles are exact, as %a writes them.
texts_in <- function(from) {
  if (from == "integer") return(c("-2147483647", "16777217", "257", "-1"))
  if (from == "integer64") return(c("-9223372036854775807", "9007199254740993", "300"))
  if (from == "double") return(exact_text(c(0.1, 2^53 + 2, -129, 1e300, 1e-300, Inf, 70000)))
  switch(kind_of(from),
    bool = c("0", "1"),
    int = , uint = {
      middle <- c("-1", "0", "2", "129", "257", "2049", "16777217", "9007199254740993")
      within <- !vapply(middle, is_outside, logical(1L), from)
      unique(c(int_min(from), int_max(from), middle[within]))
    },
    float = {
      tops <- c(1, -1) * float_max(from)
      values <- c(tops, float_min_subnormal(from), 1.5, -0.75, 3, 0.1, 2049, Inf, -Inf, NaN)
      unique(exact_text(round_to(values, from)))
    },
    complex = {
      part <- switch(from, c32 = "f16", bc32 = "bf16", "f32")
      exact_text(c(round_to(c(0.1, 2049), part), float_max(part)))
    }
  )
}

exact_text <- function(x) ifelse(x == floor(x) & is.finite(x), sprintf("%.0f", x), sprintf("%a", x))

value_of <- function(text, from) {
  if (from == "integer") return(as.integer(text))
  if (from == "double") return(as.numeric(text))
  if (from == "integer64") return(bit64::as.integer64(text))
  if (kind_of(from) %in% c("int", "uint")) return(int_tensor(text, from))
  number <- as.numeric(text)
  nv_tensor(if (from == "bool") number == 1 else number, from)
}

# The first element as such a text; complex ones have both parts.
first_text <- function(x) {
  if (inherits(x, "integer64")) return(as.character(x[1]))
  if (is.complex(x) && !is_tensor(x)) x <- nv_tensor(x, "c128")
  if (!is_tensor(x)) return(exact_text(as.numeric(x[1])))
  x <- nv_flatten(x)[1]
  if (is_complex_dtype(x)) {
    parts <- c(as.vector(nv_convert(nv_real(x), "f64")), as.vector(nv_convert(nv_imag(x), "f64")))
    return(if (identical(parts[2], 0)) exact_text(parts[1]) else paste(parts, collapse = "+i"))
  }
  if (is_integer_dtype(x)) return(as.vector(x, "character"))
  exact_text(as.numeric(as.vector(x)))
}

# Whether the whole number of a text is outside of an integer dtype.
is_outside <- function(text, dtype) {
  negative <- startsWith(text, "-")
  bound <- if (negative) int_min(dtype) else int_max(dtype)
  if (negative && !startsWith(bound, "-")) return(text != "-0")
  sizes <- nchar(c(text, bound))
  sizes[1] > sizes[2] || (sizes[1] == sizes[2] && text > bound)
}

# ---- ways ----

scalar <- function(v) if (is_tensor(v)) nv_reshape(v, integer()) else v

# Of a data.table, with `d` and `v`, where data.table takes the code for its own.
in_table <- function(d, code, v) {
  eval(code, list2env(list(d = d, v = v), parent = globalenv()))
}

# Functions of a tensor of three ones and a value, which is the first element of the result.
ways <- list(
  `[<-` = function(x, v) {
    x[1] <- v
    x
  },
  `[[<-` = function(x, v) {
    x[[1]] <- v
    x
  },
  mask = function(x, v) {
    x[nv_tensor(c(TRUE, FALSE, FALSE))] <- v
    x
  },
  matrix = function(x, v) {
    m <- nv_reshape(x, c(3, 1))
    m[1, 1] <- v
    m
  },
  frame = function(x, v) {
    d <- data.frame(a = x)
    d$a[1] <- v
    d$a
  },
  cell = function(x, v) {
    d <- data.frame(a = x)
    d[1, "a"] <- v
    d$a
  },
  replace = function(x, v) replace(x, 1, v),
  within = function(x, v) within(data.frame(a = x), a[1] <- v)$a,
  unsplit = function(x, v) rev(unsplit(list(x[1:2], v), c(1, 1, 2))),
  diag = function(x, v) {
    m <- nv_reshape(rep(x, 3), c(3, 3))
    diag(m) <- v
    nv_flatten(m)
  },
  fill_like = function(x, v) nv_fill_like(x, v),
  append = function(x, v) {
    x[4] <- v
    rev(x)
  },
  scatter_add = function(x, v) nv_scatter_add(x - x, nv_tensor(1L), v),
  pad = function(x, v) nv_pad(x, v, 1L, 0L),
  zarr = function(x, v) {
    folder <- withr::local_tempdir()
    z <- nv_zarr_create(folder, format(dtype(x)), 3L)
    z[1] <- v
    nv_compute(z)
  },
  c = function(x, v) c(nv_reshape(x[1], 1L), x, v)[5:1],
  concatenate = function(x, v) nv_concatenate(v, x),
  append_after = function(x, v) rev(append(x, v)),
  do_call = function(x, v) rev(do.call(c, list(x, v))),
  stack = function(x, v) nv_stack(nv_reshape(v, 1L), x[1])[1, 1],
  cbind = function(x, v) cbind(x[1], v)[1, 2],
  rbind_rows = function(x, v) rbind(x[1], v)[2, 1],
  rbind = function(x, v) rbind(data.frame(a = v), data.frame(a = x))$a,
  rbind_after = function(x, v) rev(rbind(data.frame(a = x), data.frame(a = v))$a),
  ifelse = function(x, v) nv_ifelse(nv_tensor(c(TRUE, FALSE, FALSE)), v, x),
  base_ifelse = function(x, v) ifelse(nv_tensor(c(TRUE, FALSE, FALSE)), v, x),
  coalesce = function(x, v) nv_coalesce(nv_mask(x, c(TRUE, FALSE, FALSE)), v),
  replace_na = function(x, v) {
    nv_replace_na(nv_mask(x, c(TRUE, FALSE, FALSE)), scalar(v))
  },
  einsum = function(x, v) nv_einsum("i,j->j", v, x),
  outer = function(x, v) nv_outer(v, x),
  times = function(x, v) v * x,
  matmul = function(x, v) nv_reshape(v, c(1L, 1L)) %*% nv_reshape(x, c(1L, 3L)),
  nv_if = function(x, v) nv_if(nv_scalar(TRUE), scalar(v), x[[1]]),
  vec_c = function(x, v) vctrs::vec_c(v, x),
  vec_assign = function(x, v) vctrs::vec_assign(x, 1L, v),
  tibble = function(x, v) {
    d <- tibble::tibble(a = x)
    d[1, "a"] <- tibble::tibble(a = v)
    d$a
  },
  bind_rows = function(x, v) dplyr::bind_rows(tibble::tibble(a = v), tibble::tibble(a = x))$a,
  if_else = function(x, v) dplyr::if_else(c(TRUE, FALSE, FALSE), v, x),
  case_when = function(x, v) dplyr::case_when(c(TRUE, FALSE, FALSE) ~ v, TRUE ~ x),
  rows_update = function(x, v) {
    rows <- tibble::tibble(k = 1:3, a = x)
    dplyr::rows_update(rows, tibble::tibble(k = 1L, a = v), by = "k")$a
  },
  tibble_cell = function(x, v) {
    d <- tibble::tibble(a = x)
    d[[1, "a"]] <- v
    d$a
  },
  full_join = function(x, v) {
    rev(dplyr::full_join(tibble::tibble(a = x), tibble::tibble(a = v), by = "a")$a)
  },
  left_join = function(x, v) {
    found <- dplyr::left_join(tibble::tibble(a = v), tibble::tibble(a = x, b = 1:3), by = "a")
    rep(found$a, length.out = 3)
  },
  right_join = function(x, v) {
    rev(dplyr::right_join(tibble::tibble(a = x), tibble::tibble(a = v), by = "a")$a)
  },
  merge = function(x, v) {
    rev(merge(data.frame(a = x), data.frame(a = v), all.y = TRUE, sort = FALSE)$a)
  },
  union = function(x, v) dplyr::union(tibble::tibble(a = v), tibble::tibble(a = x))$a,
  union_all = function(x, v) dplyr::union_all(tibble::tibble(a = v), tibble::tibble(a = x))$a,
  dplyr_coalesce = function(x, v) {
    dplyr::coalesce(nv_mask(x, c(TRUE, FALSE, FALSE)), v)
  },
  rows_patch = function(x, v) {
    rows <- tibble::tibble(k = 1:3, a = nv_mask(x, c(TRUE, FALSE, FALSE)))
    dplyr::rows_patch(rows, tibble::tibble(k = 1L, a = v), by = "k")$a
  },
  rows_insert = function(x, v) {
    rows <- tibble::tibble(k = 1:3, a = x)
    rev(dplyr::rows_insert(rows, tibble::tibble(k = 4L, a = v), by = "k")$a)
  },
  rows_upsert = function(x, v) {
    rows <- tibble::tibble(k = 1:3, a = x)
    dplyr::rows_upsert(rows, tibble::tibble(k = 1L, a = v), by = "k")$a
  },
  vec_cast = function(x, v) vctrs::vec_cast(v, x),
  vec_rbind = function(x, v) vctrs::vec_rbind(data.frame(a = v), data.frame(a = x))$a,
  rbindlist = function(x, v) {
    data.table::rbindlist(list(data.table::data.table(a = v), data.table::data.table(a = x)))$a
  },
  dt_set = function(x, v) data.table::set(data.table::data.table(a = x), 1L, "a", v)$a,
  dt_assign = function(x, v) in_table(data.table::data.table(a = x), quote(d[1L, a := v]), v)$a,
  dt_replace = function(x, v) {
    d <- data.table::data.table(a = x)
    d[1L, "a"] <- v
    d$a
  },
  dt_join = function(x, v) {
    d <- data.table::data.table(a = x, b = 1:3)
    rep(in_table(d, quote(d[data.table::data.table(a = v), on = "a"]), v)$a, length.out = 3)
  },
  dt_merge = function(x, v) {
    d <- data.table::data.table(a = x)
    rev(merge(d, data.table::data.table(a = v), by = "a", all = TRUE, sort = FALSE)$a)
  },
  dt_fifelse = function(x, v) data.table::fifelse(c(TRUE, FALSE, FALSE), v, x),
  dt_fcoalesce = function(x, v) data.table::fcoalesce(nv_mask(x, c(TRUE, FALSE, FALSE)), v),
  scatter_mul = function(x, v) nv_scatter_mul(x, nv_tensor(1L), v),
  zarr_fill = function(x, v) {
    z <- nv_zarr_create(withr::local_tempdir(), format(dtype(x)), 3L, fill = v)
    nv_compute(z)
  },
  chunked = function(x, v) {
    z <- nv_zarr_create(withr::local_tempdir(), format(dtype(x)), 3L, chunks = 2L)
    z[] <- x
    nv_compute(c(v, z))
  },
  safetensors = function(x, v) {
    path <- withr::local_tempfile()
    nv_write_safetensors(list(a = c(v, x)), path)
    nv_read_safetensors(path)$a
  },
  set_diag = function(x, v) nv_flatten(`diag<-`(nv_reshape(x[1], c(1, 1)), v)),
  lapply = function(x, v) do.call(c, lapply(list(v, x), identity)),
  reduce = function(x, v) Reduce(c, list(v, x)),
  switch = function(x, v) nv_switch(nv_scalar(1L), scalar(v), x[[1]]),
  tensor = function(x, v) if (!is_tensor(v)) nv_tensor(v, dtype(x)), # of tensors, as asked
  npy = function(x, v) nv_read_npy(nv_write_npy(c(v, x))),
  numeric = function(x, v) as.numeric(c(v, x)),
  vector = function(x, v) as.vector(c(v, x)),
  to_r = function(x, v) to_r(c(v, x)),
  integer = function(x, v) as.integer(c(v, x)),
  integer64 = function(x, v) bit64::as.integer64(c(v, x))
)

# Those that assign: what is beyond the range of the dtype is an error, as an R number is.
assigning <- c(
  "[<-", "[[<-", "mask", "matrix", "frame", "cell", "replace", "within", "unsplit", "diag",
  "fill_like", "append", "scatter_add", "pad", "zarr", "jit [<-", "jit mask", "jit position",
  "jit loop"
)

traced_ways <- list(
  `jit [<-` = jit(function(x, v) {
    x[1] <- v
    x
  }),
  `jit mask` = jit(function(x, v) {
    x[x == x] <- scalar(v)
    x
  }),
  `jit position` = jit(function(x, v) {
    x[nv_convert(x[1] / x[1], "i32")] <- v
    x
  }),
  `jit loop` = jit(function(x, v) {
    for (i in nv_seq_len(2L)) x[i] <- scalar(v)
    x
  }),
  `jit if` = jit(function(x, v) nv_if(x[[1]] == x[[1]], scalar(v), x[[1]])),
  `jit R if` = jit(function(x, v) if (x[[1]] == x[[1]]) scalar(v) else x[[1]]),
  `jit else` = jit(function(x, v) if (x[[1]] != x[[1]]) x[[1]] else scalar(v)),
  `jit c` = jit(function(x, v) c(v, x)),
  `jit ifelse` = jit(function(x, v) nv_ifelse(nv_tensor(c(TRUE, FALSE, FALSE)), v, x)),
  `jit while` = jit(function(x, v) {
    k <- nv_scalar(0L)
    while (k < 1L) {
      x[1] <- scalar(v)
      k <- k + 1L
    }
    x
  }),
  `jit fill` = jit(function(x, v) nv_fill_like(x, scalar(v))),
  `jit concatenate` = jit(function(x, v) nv_concatenate(v, x)),
  `jit switch` = jit(function(x, v) nv_switch(nv_scalar(1L), scalar(v), x[[1]])),
  `jit times` = jit(function(x, v) x * v)
)

# ---- what happened ----

levels_of <- list(
  warn = c(overflow = "warn", loss = "warn", literal = "warn"),
  error = c(overflow = "error", loss = "error", literal = "error"),
  saturate = c(overflow = "saturate", loss = "warn", literal = "warn"),
  ok = c(overflow = "ok", loss = "ok", literal = "ok")
)

# The first element of the result as text, its dtype, and whether there was a warning; NULL if it
# or its element is refused.
outcome <- function(way, x, v, on) {
  told <- FALSE
  rm(list = ls(warned_places, all.names = TRUE), envir = warned_places)
  got <- tryCatch(
    withCallingHandlers(
      with_promotion(NULL, with_text(way(x, v)), on = on),
      warning = function(w) {
        told <<- TRUE
        invokeRestart("muffleWarning")
      }
    ),
    error = function(e) NULL
  )
  if (is.null(got)) return(NULL)
  c(got, told = told)
}

with_text <- function(x) {
  list(
    text = plain(first_text(x)), dtype = if (is_tensor(x)) format(dtype(x)) else class(x)[1]
  )
}

# Zeros of either sign are the same; a text for a missing element.
plain <- function(text) if (is.na(text)) "NA" else sub("^-0$", "0", text)

multiplying <- c("times", "jit times", "outer", "einsum", "matmul", "scatter_add", "scatter_mul")
exporting <- c("numeric", "vector", "to_r", "npy", "integer", "integer64")
complex_dtypes <- complexes()
# By compiled code on what R sees: NaN and what R lacks is NA, as the least i32, floats are R's, and
# bit64's own integers are data.table's matter.
is_viewed <- function(name) startsWith(name, "dt_") || name == "rbindlist"

# What the other elements, or the arithmetic of a way, change whatever the value is, and what is
# documented: bit64 has methods of its own, R truncates, a fraction of R's is rounded, `literal`
# tells of R numbers where operands meet.
is_apart <- function(name, from, to, text) {
  fraction <- grepl("p", text, fixed = TRUE)
  has_ones <- !any(c(from, to) %in% c("int1", "f8E8M0FNU", complex_dtypes))
  own_methods <- from %in% r_sources && name %in% exporting
  bit64_methods <- from == "integer64" && name %in% c("c", "times", "jit times")
  truncated <- fraction || text == "NaN" || from %in% complex_dtypes
  any(
    own_methods, bit64_methods, name %in% multiplying && !has_ones,
    name %in% c("integer", "integer64") && truncated,
    is_viewed(name) && (text %in% c("NaN", int_min("i32")) || from == "integer64"),
    (from == "double" || is_viewed(name)) && fraction,
    (from %in% c("integer", "double") || is_viewed(name)) && kind_of(to) %in% c("float", "complex")
  )
}

# Whether a value that has changed is what a policy asks for; NULL if it is.
wrong_change <- function(got, text, level, dtypes) {
  whole <- Filter(function(dtype) kind_of(dtype) %in% c("int", "uint"), dtypes)
  bound <- if (startsWith(text, "-")) int_min else int_max
  nearest <- got$text %in% vapply(whole, bound, "")
  switch(level,
    warn = if (!got$told) "is silent",
    error = "is not refused",
    ok = if (got$told) "is told",
    saturate = if (!got$told && !nearest) "is silent"
  )
}

# R's view of a tensor and to_r() warn whatever the policy is; c() before to_r() follows it.
level_asked <- function(name, level) {
  of_to_r <- c(error = "warn", ok = "any", warn = "warn", saturate = "saturate")
  if (name == "to_r") of_to_r[[level]] else if (is_viewed(name)) "warn" else level
}

# What is wrong with a way; NULL if nothing is.
wrong_with <- function(name, from, to, text, level) {
  if (is_apart(name, from, to, text)) {
    return(NULL)
  }
  ones <- if (to == "int1") -1 else 1 # it lacks 1
  x <- nv_tensor(rep(ones, 3), to)
  got <- outcome(c(ways, traced_ways)[[name]], x, value_of(text, from), levels_of[[level]])
  if (is.null(got)) {
    return(NULL)
  }
  text <- plain(text)
  others <- any(c("int1", "f8E8M0FNU") %in% c(from, to)) # ones may change
  saturates <- level == "saturate" && kind_of(to) %in% c("int", "uint")
  viewed <- is_viewed(name)
  wrong <- if (got$text == text) {
    if (got$told && !others && !viewed) "is told, but kept"
  } else if (name %in% assigning && !saturates && is_outside_any(text, to)) {
    "does not fit, and is assigned"
  } else {
    # What exports a tensor may have been given the nearest value of its dtype.
    dtypes <- if (name %in% exporting) c(from, to, "i64") else got$dtype
    wrong_change(got, text, level_asked(name, level), setdiff(dtypes, r_sources))
  }
  if (!is.null(wrong)) paste(name, from, to, level, text, "->", got$dtype, got$text, wrong)
}

# Whether a whole number is outside of a dtype.
is_outside_any <- function(text, dtype) {
  if (!grepl("^-?[0-9]+$", text)) return(FALSE)
  switch(kind_of(dtype),
    int = , uint = is_outside(text, dtype), float = abs(as.numeric(text)) > float_max(dtype),
    FALSE
  )
}

# All that can be asked, in an order by chance.
questions <- function(n, seed = 1) {
  withr::local_seed(seed)
  from <- sample(c(dtypes(), r_sources), n, TRUE)
  data.frame(
    name = sample(rep_len(names(c(ways, traced_ways)), n)), from = from,
    to = sample(rep_len(dtypes(), n)), level = sample(rep_len(names(levels_of), n)),
    text = vapply(from, function(from) sample(texts_in(from), 1L), "")
  )
}

wrong_among <- function(asked) {
  unlist(do.call(Map, c(list(wrong_with), unname(as.list(
    asked[c("name", "from", "to", "text", "level")]
  )))))
}
