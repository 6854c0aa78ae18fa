# Every way that puts a value of one dtype into another: the value is kept, or the user is told, as
# the policy in force says. Beside integers as text, which are exact.

local_promotion(NULL, on = c(overflow = "warn", loss = "warn"))

whole <- c("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")
real <- c("f16", "bf16", "f32", "f64")

# Whole numbers of a dtype near its ends, and one that has more digits than floats.
edges <- list(
  i8 = c("-128", "127"), i16 = c("-32768", "32767", "2049"),
  i32 = c("-2147483648", "2147483647", "16777217"),
  i64 = c("-9223372036854775808", "9223372036854775807", "9007199254740993"),
  ui8 = "255", ui16 = c("65535", "257"), ui32 = c("4294967295", "16777217"),
  ui64 = c("18446744073709551615", "9007199254740993")
)

# The elements as texts of whole numbers.
texts_of <- function(x) {
  if (is_integer_dtype(x)) as.character(x) else sprintf("%.0f", as.vector(nv_convert(x, "f64")))
}

# Functions of a tensor of ones and a tensor of one value; the value is the first element after.
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
  c = function(x, v) c(v, x),
  rbind = function(x, v) rbind(data.frame(a = v), data.frame(a = x))$a,
  ifelse = function(x, v) nv_ifelse(nv_tensor(c(TRUE, FALSE, FALSE)), v, x),
  einsum = function(x, v) nv_einsum("i,j->j", v, x),
  nv_if = function(x, v) nv_if(nv_scalar(TRUE), nv_reshape(v, integer()), x[[1]]),
  replace_na = function(x, v) {
    nv_replace_na(nv_mask(x, c(TRUE, FALSE, FALSE)), nv_reshape(v, integer()))
  },
  scatter_add = function(x, v) nv_scatter_add(x - x, nv_tensor(1L), v),
  pad = function(x, v) nv_pad(x, v, 1L, 0L),
  zarr = function(x, v) {
    folder <- withr::local_tempdir()
    z <- nv_zarr_create(folder, format(dtype(x)), 3L)
    z[1] <- v
    nv_compute(z)
  }
)

# Those that assign: what is beyond the range of the dtype is an error, as an R number is.
assigning <- c(
  "[<-", "[[<-", "mask", "frame", "cell", "replace", "within", "unsplit", "diag", "fill_like",
  "scatter_add", "pad", "zarr", "jit [<-", "jit mask", "jit position", "jit loop"
)

# Whether the whole number of a text is beyond the least or the greatest of a dtype.
is_beyond <- function(text, dtype) {
  below <- startsWith(text, "-")
  bounds <- dtype_info(dtype)
  bound <- if (below) bounds$min else bounds$max
  bound <- if (is_integer_dtype(dtype)) as.character(bound) else sprintf("%.0f", as.vector(bound))
  if (below && !startsWith(bound, "-")) {
    return(text != "-0")
  }
  sizes <- nchar(c(text, bound))
  sizes[1] > sizes[2] || (sizes[1] == sizes[2] && text > bound)
}

traced <- list(
  `jit [<-` = jit(function(x, v) {
    x[1] <- v
    x
  }),
  `jit mask` = jit(function(x, v) {
    x[x == x] <- nv_reshape(v, integer())
    x
  }),
  `jit position` = jit(function(x, v) {
    x[nv_convert(x[1] / x[1], "i32")] <- v
    x
  }),
  `jit if` = jit(function(x, v) nv_if(x[[1]] > 0, nv_reshape(v, integer()), x[[1]])),
  `jit loop` = jit(function(x, v) {
    for (i in nv_seq_len(2L)) x[i] <- nv_reshape(v, integer())
    x
  })
)

# What happened: "refused", or the first element and whether there was a warning.
outcome <- function(way, x, v, on) {
  told <- FALSE
  got <- tryCatch(
    withCallingHandlers(
      with_promotion(NULL, way(x, v), on = on),
      joist_warning = function(w) {
        told <<- told || inherits(w, c("joist_overflow_warning", "joist_loss_warning"))
        invokeRestart("muffleWarning")
      }
    ),
    joist_error = function(e) NULL
  )
  if (is.null(got)) {
    return("refused")
  }
  list(text = texts_of(got)[1], dtype = format(dtype(got)), told = told)
}

# Whether a value that has changed is what the policy asks for.
is_as_asked <- function(got, level, text) {
  bounds <- dtype_info(got$dtype)
  bound <- as.character(if (startsWith(text, "-")) bounds$min else bounds$max)
  exact <- level == "saturate" && got$dtype %in% whole
  switch(level,
    warn = got$told, error = FALSE, ok = !got$told,
    saturate = if (exact) got$text == bound && !got$told else got$told
  )
}

# What is wrong with putting the texts of `from` into `to`; NULL if nothing is.
wrong_with <- function(name, way, from, to, text) {
  x <- nv_tensor(c(1, 1, 1), to)
  v <- nv_tensor(text, if (startsWith(from, "u")) "ui64" else "i64")
  v <- nv_convert(v, from)
  levels <- list(
    warn = c(overflow = "warn", loss = "warn"), error = c(overflow = "error", loss = "error"),
    saturate = c(overflow = "saturate", loss = "warn"), ok = c(overflow = "ok", loss = "ok")
  )
  for (level in names(levels)) {
    got <- outcome(way, x, v, levels[[level]])
    assigns <- name %in% assigning && !(level == "saturate" && to %in% whole)
    if (assigns && is_beyond(text, to) && !identical(got, "refused")) {
      return(paste(name, from, to, text, level, "is", got$text, "but does not fit"))
    }
    if (identical(got, "refused") || got$text == text) {
      if (is.list(got) && got$told) {
        return(paste(name, from, to, text, level, "is kept, and told"))
      }
      next
    }
    if (!is_as_asked(got, level, text)) {
      return(paste(name, from, to, text, level, "is", got$text, if (got$told) "told"))
    }
  }
}

test_that("no way into another dtype changes a whole number in silence", {
  wrong <- character()
  for (from in whole) {
    for (to in setdiff(c(whole, real), from)) {
      for (text in edges[[from]]) {
        for (name in names(ways)) wrong <- c(wrong, wrong_with(name, ways[[name]], from, to, text))
      }
    }
  }
  expect_identical(wrong, character())
})

test_that("nor does one while jit() traces", {
  wrong <- character()
  pairs <- list(
    c("ui64", "i64"), c("ui32", "f16"), c("i64", "f32"), c("i64", "f64"), c("ui16", "f16"),
    c("i16", "bf16"), c("i32", "f32"), c("ui64", "f64")
  )
  for (pair in pairs) {
    for (text in edges[[pair[1]]]) {
      for (name in names(traced)) {
        wrong <- c(wrong, wrong_with(name, traced[[name]], pair[1], pair[2], text))
      }
    }
  }
  expect_identical(wrong, character())
})
