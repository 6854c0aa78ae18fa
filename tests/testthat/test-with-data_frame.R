# Tensors as columns of data frames, beside the same data frame of R vectors.

expect_same_frame <- function(got, want, d, label) {
  label <- paste(label, d)
  expect_identical(names(got), names(want), label = label)
  expect_identical(row.names(got), row.names(want), label = label)
  for (column in names(want)) {
    values <- got[[column]]
    if (is_tensor(values)) {
      expect_identical(type_of(values), d, label = label)
      expect_identical(shape(values), nrow(want), label = label)
      values <- as.vector(values)
    }
    expect_identical(values, want[[column]], label = paste(label, column))
  }
}

frames_of <- function(d, n = 6) {
  x <- sample_tensor(d, n)
  other <- data.frame(y = seq_len(n), s = letters[seq_len(n)])
  list(tensor = cbind(data.frame(x = x), other), plain = cbind(data.frame(x = as.vector(x)), other))
}

test_that("aggregate() groups a tensor by a tensor", {
  v <- c(1.5, 2, -3, 4)
  g <- c(2L, 1L, 2L, 1L)
  want <- stats::aggregate(data.frame(x = v), list(g = g), sum)
  for (group in list(g, nv_tensor(g, "i8"))) {
    got <- aggregate(nv_tensor(v, "f64"), list(g = group), function(x) as.vector(sum(x)))
    expect_equal(got, want)
  }
  m <- nv_tensor(matrix(v, 2), "f64")
  expect_equal(aggregate(m, list(nv_tensor(1:2)), function(x) as.vector(max(x)))$V2, c(-3, 4))
})

test_that("a data frame with a tensor is handled as one with an R vector", {
  calls <- list(
    rows = function(df) df[2:3, ], row = function(df) df[5, ], none = function(df) df[0, ],
    null = function(df) df[NULL, ], negative = function(df) df[-(1:2), ],
    condition = function(df) df[df$y > 2, ], columns = function(df) df[, c("s", "x")],
    name = function(df) df["3", ], repeated = function(df) df[c(1, 1, 6), ],
    head = head, tail = function(df) tail(df, 2), rbind = function(df) rbind(df, df, df),
    rbind_none = function(df) rbind(df[0, ], df), rbind_order = function(df) rbind(df, df[3:1]),
    rbind_list = function(df) rbind(df, list(TRUE, 9L, "z")),
    rbind_named = function(df) rbind(df, list(y = 9L, s = "z", x = TRUE)),
    rbind_row = function(df) rbind(df[1, ], df[2, ]),
    do.call = function(df) do.call(rbind, split(df, df$y)),
    cbind = function(df) cbind(df, z = df$y), merge = function(df) {
      merge(df, data.frame(y = c(2L, 4L, 9L), w = c("a", "b", "c")), by = "y")
    },
    merge_left = function(df) merge(df, data.frame(y = c(2L, 4L), w = 1:2), all.x = TRUE),
    merge_two = function(df) merge(df, df, by = "y"), merge_none = function(df) merge(df[1], df[2]),
    merge_by = function(df) nv_merge(df[1:3, ], df[1:3, -2], by = "x"),
    unique = unique, unique_twice = function(df) unique(rbind(df, df)),
    subset = function(df) subset(df, y > 2, select = c(x, s)),
    transform = function(df) transform(df, z = x, x = NULL), within = function(df) {
      within(df, z <- x)
    },
    with = function(df) data.frame(w = with(df, x)), split = function(df) split(df, c(1, 2))[[2]],
    list2DF = function(df) list2DF(as.list(df)), as.data.frame = as.data.frame,
    assign = function(df) {
      df$z <- df$x
      df[["w"]] <- df$x
      df["v"] <- df$x
      df[, "u"] <- df$x
      df[2, "x"] <- TRUE
      df$x[3] <- FALSE
      df[4:5, "x"] <- df$x[1:2]
      df[c("u", "v")] <- list(df$x, df$x)
      df$y <- NULL
      df
    },
    recycle = function(df) {
      df$z <- df$x[1:2]
      df["w"] <- df$x[1:3]
      df
    },
    rename = function(df) {
      names(df)[1] <- "z"
      row.names(df) <- letters[1:6]
      df["c", ]
    },
    expand.grid = function(df) expand.grid(x = df$x, y = 1:2),
    reshape = function(df) {
      wide <- data.frame(id = 1:6, x1 = df$x, x2 = rev(df$x))
      stats::reshape(wide, direction = "long", varying = 2:3, v.names = "x", idvar = "id")
    },
    bind_into = function(df) data.frame(df, z = df$x, check.names = FALSE)
  )
  for (d in dtypes()) {
    frames <- frames_of(d)
    # The last values that a call assigns are 0 and 1.
    taken <- names(calls)
    if (!all(holds(0:1, d))) next
    if (is_narrow(d) && !d %in% c("int1", "i4", "f8E4M3FN", "f8E8M0FNU")) taken <- taken[c(FALSE,
      TRUE)]
    for (name in taken) {
      f <- calls[[name]]
      # Keys that are not exact text, and R's NA beside typed columns, are another matter.
      if (name == "merge_by" && kind_of(d) == "complex") next
      expect_same_frame(f(frames$tensor), f(frames$plain), d, name)
    }
    expect_identical(dim(frames$tensor), c(6L, 3L))
    expect_identical(length(frames$tensor$x), 6L)
    expect_identical(duplicated(frames$tensor), duplicated(frames$plain))
    expect_identical(is.na(frames$tensor), is.na(frames$plain))
    expect_identical(as.matrix(frames$tensor[1:2]), as.matrix(frames$plain[1:2]))
    if (kind_of(d) != "complex") {
      expect_equal(data.matrix(frames$tensor[1:2]), data.matrix(frames$plain[1:2]))
    }
    expect_identical(t(frames$tensor["x"]), t(frames$plain["x"]))
    vectors <- frames$tensor
    vectors[] <- lapply(vectors, as.vector)
    expect_identical(vectors, frames$plain)
    expect_identical(vapply(frames$tensor, length, 1L), vapply(frames$plain, length, 1L))
    expect_identical(unserialize(serialize(frames$tensor, NULL)), frames$tensor)
  }
})

test_that("data frames are ordered and computed with", {
  for (d in setdiff(dtypes(), c(complexes(), "bool"))) {
    frames <- frames_of(d)
    by_x <- function(df) df[order(df$x, df$y), ]
    expect_same_frame(by_x(frames$tensor), by_x(frames$plain), d, "order")
    expect_identical(lapply(split(frames$tensor, frames$tensor$x), function(df) df$y),
      lapply(split(frames$plain, frames$plain$x), function(df) df$y)
    )
    expect_identical(apply(frames$tensor[1:2], 1, sum), apply(frames$plain[1:2], 1, sum))
    expect_identical(colMeans(frames$tensor[1:2]), colMeans(frames$plain[1:2]))
    x <- frames$tensor$x
    sums <- stats::aggregate(frames$tensor["x"], list(g = c(1, 1, 2, 2, 2, 2)), sum)$x
    expect_identical(sums, c(sum(x[1:2]), sum(x[3:6])))
    maxima <- stats::aggregate(frames$tensor["x"], list(g = c(1, 1, 2, 2, 2, 2)), max)$x
    expect_identical(maxima, c(max(x[1:2]), max(x[3:6])))
    expect_identical(transform(frames$tensor, x = x + x)$x, x + x)
  }
})

test_that("data frames with tensors are shown", {
  for (d in dtypes()) {
    frames <- frames_of(d)
    tensor <- utils::capture.output(print(frames$tensor))
    plain <- utils::capture.output(print(frames$plain))
    if (kind_of(d) %in% c("bool", "int", "uint")) expect_identical(tensor, plain)
    expect_length(tensor, length(plain))
    expect_output(str(frames$tensor), paste0("[ CPU", d, "{6} ]"), fixed = TRUE)
    if (kind_of(d) != "complex") {
      shown <- function(df) gsub("FALSE|TRUE|Mode", "", utils::capture.output(print(summary(df))))
      expect_identical(shown(frames$tensor), shown(frames$plain), label = d)
    }
  }
  file <- tempfile()
  for (d in c("f64", "f32", "f16", "c64")) { # the decimal mark is that of R's own numbers
    v <- if (d == "c64") c(0.5 + 1.5i, 2 - 0.25i) else c(0.5, 2.25)
    text <- function(x) utils::capture.output(utils::write.csv2(data.frame(x, y = v)))
    expect_identical(gsub("[ +]", "", text(nv_tensor(v, d))), gsub("[ +]", "", text(v)))
  }
  long <- nv_tensor("9007199254740993", "i64")
  expect_output(utils::write.table(long, col.names = FALSE), "9007199254740993")
  utils::write.csv(data.frame(x = nv_tensor(c(0.5, 2), "f16"), y = 1:2), file, row.names = FALSE)
  expect_identical(utils::read.csv(file), data.frame(x = c(0.5, 2), y = 1:2))
})

test_that("tensors become data frames as vectors and matrices do", {
  x <- nv_tensor(1:4, "i16")
  expect_identical(names(data.frame(x)), "x")
  expect_identical(names(as.data.frame(x)), "x")
  expect_identical(dim(data.frame(a = nv_scalar(2))), c(1L, 1L))
  m <- nv_tensor(matrix(1:6, 2), "i8")
  for (f in list(
    function(m) data.frame(m), function(m) data.frame(a = m), function(m) as.data.frame(m),
    function(m) cbind(data.frame(z = 1:2), m), function(m) as.data.frame(m, c("a", "b")),
    function(m) data.frame(m, row.names = c("a", "b"))
  )) {
    want <- f(matrix(1:6, 2))
    expect_same_frame(f(m), want, "i8", deparse1(body(f)))
  }
  none <- data.frame(x = nv_tensor(numeric(), "f16"))
  expect_identical(dim(none), 0:1)
  expect_identical(type_of(none$x), "f16")
  expect_refusal(as.data.frame(nv_tensor(array(1:8, c(2, 2, 2)))), "joist_shape_error", "reshape")
  expect_refusal(data.frame(x = nv_aval("f32", 3)), "joist_value_error", "data")
  expect_error(data.frame(x = x, y = 1:3), "differing number of rows")
})

test_that("rbind() joins dtypes, and what has no meaning is refused", {
  df <- data.frame(x = nv_tensor(1:3, "i8"), y = 1:3)
  longer <- rbind(df, data.frame(x = nv_tensor(2.5, "f16"), y = 4L))
  expect_identical(longer$x, c(df$x, nv_tensor(2.5, "f16")))
  expect_identical(type_of(rbind(df, list(4L, 4L))$x), "i8")
  expect_refusal(rbind(df, list(300L, 4L)), "joist_value_error", "300")
  # The first data frame decides what the columns are.
  plain <- data.frame(x = 1:2, y = 1:2)
  expect_identical(rbind(plain, df), rbind(plain, data.frame(x = 1:3, y = 1:3)))
  for (n in c(1, 2, 5)) {
    rows <- suppressWarnings(rbind(df, nv_tensor(seq_len(n))))
    expect_identical(to_r(rows), suppressWarnings(rbind(to_r(df), seq_len(n))))
  }
  expect_identical(df[df$x > 1, ], df[2:3, ])
  expect_identical(df["x"][df$x > 1, ], df$x[2:3])
  expect_refusal(df[5, "x"], "joist_shape_error", "5")
  expect_identical(as.vector(df[NA, ]$x), rep(NA_integer_, 3))
  expect_error(df["x"] <- nv_tensor(1:4), "4 rows, data has 3")
  expect_error(df[c("x", "y")] <- nv_tensor(1:4))
  expect_refusal(df[2, "x"] <- nv_scalar(1.5, "f32"), "joist_promotion_error", c("f32", "i8"))
  expect_identical(as.vector(merge(data.frame(y = c(2L, 9L)), df, all.x = TRUE)$x), c(2L, NA))
  expect_identical(df, data.frame(x = nv_tensor(1:3, "i8"), y = 1:3))
  double <- data.frame(x = nv_tensor(c(1, 2), "f64"), y = 1:2)
  joined <- merge(data.frame(y = c(2L, 9L)), double, all.x = TRUE)
  expect_identical(as.vector(joined$x), c(2, NA))
  # An R vector stays one.
  double[2:1, "y"] <- nv_tensor(c(9L, 8L), "i8")
  expect_identical(double$y, c(8L, 9L))
  # As in R, values assigned just past the end lengthen a vector. Gaps are errors.
  x <- nv_tensor(1:3, "i8")
  x[4L] <- 5L
  expect_identical(x, nv_tensor(c(1:3, 5L), "i8"))
  x[5:6] <- nv_tensor(c(0.5, 2), "f32")
  expect_identical(x, nv_tensor(c(1, 2, 3, 5, 0.5, 2), "f32"))
  x[7:8] <- 9
  expect_identical(as_array(x[6:8]), c(2, 9, 9))
  for (bad in list(10L, c(9L, 11L), c(10L, 9L), 8:9)) {
    expect_refusal(x[bad] <- seq_along(bad), "joist_shape_error", as.character(bad[bad > 8][1]))
  }
  expect_error(x[9:11] <- 1:2, class = "joist_error")
  m <- nv_tensor(matrix(1:4, 2))
  expect_refusal(m[5] <- 1L, "joist_shape_error", "5")
})

test_that("rows of tensors are compared", {
  for (d in setdiff(dtypes(), "bool")) {
    x <- sample_tensor(d, 60)
    df <- data.frame(x = x, y = rev(x))
    plain <- data.frame(x = as.vector(x), y = rev(as.vector(x)))
    expect_identical(duplicated(df), duplicated(plain), label = d)
    expect_identical(duplicated(df, fromLast = TRUE), duplicated(plain, fromLast = TRUE), label = d)
    expect_identical(anyDuplicated(df), anyDuplicated(plain), label = d)
    expect_same_frame(unique(df), unique(plain), d, "unique")
  }
  far <- nv_scalar(2^53, "i64") + nv_tensor(c(1, 2, 1), "i64")
  # Of several columns base R compares what it sees.
  expect_warning(
    {
      twice <- duplicated(data.frame(a = far, b = far))
      sum(far)
    },
    class = "joist_view_warning"
  )
  expect_identical(twice, c(FALSE, FALSE, TRUE))
  # Of one column in linear time.
  expect_false(any(duplicated(data.frame(x = nv_tensor(seq_len(1e5), "i32")))))
  expect_identical(mapply(function(a, b) format(dtype(a)), x[1:2], x[2:3]), rep(d, 2))
})

test_that("merge() compares tensors by value", {
  for (d in dtypes()) {
    for (n in c(0, 1, 4)) {
      x <- sample_tensor(d, 6)
      values <- as.vector(x)
      left <- list(tensor = data.frame(k = x, a = 1:6), plain = data.frame(k = values, a = 1:6))
      right <- list(
        tensor = data.frame(q = x[seq_len(n)], b = seq_len(n)),
        plain = data.frame(q = values[seq_len(n)], b = seq_len(n))
      )
      for (sort in if (kind_of(d) == "complex") FALSE else c(TRUE, FALSE)) {
        for (all in list(c(FALSE, FALSE), c(TRUE, FALSE), c(FALSE, TRUE))) {
          join <- function(a, b) {
            merge(a, b, by.x = "k", by.y = 1, sort = sort, all.x = all[1], all.y = all[2])
          }
          want <- join(left$plain, right$plain)
          label <- paste(n, sort, all[1], all[2])
          expect_same_frame(join(left$tensor, right$tensor), want, d, label)
          expect_same_frame(join(left$tensor, right$plain), want, d, label)
          got <- join(left$plain, right$tensor)
          expect_identical(as.vector(got$k), want$k, label = paste(d, label))
        }
      }
    }
  }
  a <- data.frame(k = nv_tensor(c(1L, 2L), "i8"), x = 1:2)
  b <- data.frame(k = nv_tensor(c(2, 2.5), "f16"), y = 3:4)
  expect_identical(type_of(merge(a, b)$k), "i8")
  both <- merge(a, b, all = TRUE)
  expect_identical(type_of(both$k), "f16")
  expect_identical(as.vector(both$k), c(1, 2, 2.5))
  expect_identical(both[c("x", "y")], data.frame(x = c(1:2, NA), y = c(NA, 3:4)))
  expect_identical(nrow(merge(a, b, incomparables = 2)), 0L)
  expect_identical(merge(a, a, by = "k")$x.y, 1:2)
  expect_identical(merge(a, a)$x, 1:2)
  expect_identical(nrow(merge(a, b, by = NULL)), 4L)
  expect_identical(nv_merge(a, a), merge(a, a))
  expect_identical(nv_merge(mtcars[1:3], mtcars[2:5]), base::merge(mtcars[1:3], mtcars[2:5]))
  expect_refusal(nv_merge(1:2, 3:4), "joist_value_error", "data frames")
})

test_that("nv_merge() by a column of whole numbers gives the rows of merge(), sorted", {
  set.seed(11)
  numbers <- c("2", "-7", "9007199254740993", "9007199254740992", "-9223372036854775808", "5")
  # Rows have numbers in both data frames, by which any order of them is undone.
  in_order <- function(df) {
    df <- df[order(df$row, df$id), ]
    row.names(df) <- NULL
    df$dtype <- rep(format(dtype(df[["k"]])), nrow(df))
    df[["k"]] <- as_array(df[["k"]], "character") # R's numbers cannot hold all of i64
    df
  }
  for (d in c("i8", "ui8", "i16", "i32", "ui32", "i64", "ui64")) {
    for (turn in 1:6) {
      few <- if (d == "i64") numbers else 0:c(2, 40, 1, 9, 90, 5)[turn]
      at <- function(n) nv_tensor(few[sample(length(few), n, TRUE)], d)
      n <- c(1, 30, 40, 7, 20, 100)[turn]
      a <- data.frame(row = seq_len(n), v = rnorm(n))
      a$k <- at(n)
      b <- data.frame(id = seq_len(2 * n), v = rep(c("p", "q"), n))
      b$k <- at(2 * n)
      b$u <- nv_tensor(seq_len(2 * n) / 8, "f32")
      got <- nv_merge(a, b, by = "k")
      expect_identical(in_order(got), in_order(merge(a, b, by = "k")), label = paste(d, turn))
      expect_identical(order(got$k, got$row, got$id), seq_len(nrow(got)))
      ends <- c("", ".b")
      expect_identical(
        in_order(nv_merge(a, b, by = "k", suffixes = ends)),
        in_order(merge(a, b, by = "k", suffixes = ends))
      )
      names(b)[3] <- "key"
      expect_identical(
        in_order(nv_merge(a, b, by.x = "k", by.y = "key")),
        in_order(merge(a, b, by.x = "k", by.y = "key"))
      )
      # Merged by text, which knows no dtype.
      texts <- merge(
        data.frame(k = as_array(a$k, "character"), row = a$row),
        data.frame(k = as_array(b$key, "character"), id = b$id)
      )
      texts <- texts[order(texts$row, texts$id), ]
      expect_identical(as.list(in_order(got)[c("k", "row", "id")]), as.list(texts))
    }
  }
  a <- data.frame(k = nv_tensor(c(3, 1, 2), "i64"), x = 1:3)
  b <- data.frame(k = nv_tensor(c(2, 4, 3), "i64"), y = 1:3)
  expect_identical(nv_merge(a, b), merge(a, b))
  for (other in list(list(all = TRUE), list(all.x = TRUE), list(sort = FALSE), list(by = NULL))) {
    expect_identical(do.call(nv_merge, c(list(a, b), other)), do.call(merge, c(list(a, b), other)))
  }
  none <- nv_merge(a[1], data.frame(k = nv_tensor(7:8, "i64")))
  expect_identical(dim(none), c(0L, 1L))
  gap <- data.frame(k = nv_tensor(c(1, NA, 2), "i64"), x = 1:3)
  expect_identical(nv_merge(gap, gap, by = "k"), merge(gap, gap, by = "k"))
})

test_that("merge() does not take different whole numbers for the same", {
  ids <- c(16777217, 2^40 + 1)
  near <- c(16777216, 2^40, 2^40 + 1)
  for (d in c("i64", "ui64")) {
    left <- data.frame(id = nv_tensor(ids, d), a = 1:2)
    right <- data.frame(id = near, b = 1:3)
    plain <- merge(data.frame(id = ids, a = 1:2), right)
    both <- merge(left, right)
    expect_identical(type_of(both$id), d)
    expect_identical(lapply(both, as.vector), as.list(plain))
    expect_identical(lapply(merge(right, left), as.vector), as.list(plain[c(1, 3, 2)]))
    single <- data.frame(id = nv_tensor(16777216, "f32"), c = 1)
    expect_identical(nrow(merge(left, single)), 0L)
    # Two keys, of one dtype and of several.
    keyed <- function(id) data.frame(id = id, k = nv_tensor(rep(1, length(id)), "ui8"))
    several <- merge(cbind(keyed(left$id), a = 1:2), cbind(keyed(nv_tensor(near, d)), b = 1:3))
    expect_identical(as.vector(several$id), 2^40 + 1)
    expect_identical(type_of(several$id), d)
    # No dtype of both has all of the values: an error, or no row.
    fractions <- keyed(nv_tensor(16777216, "f32"))
    expect_refusal(
      merge(keyed(left$id), fractions), "joist_value_error", c("16777217", "f32", "nv_convert")
    )
    expect_refusal(rbind(fractions, keyed(left$id)), "joist_value_error", c("16777217", "f32"))
  }
  # Beyond 2^53 doubles would be equal.
  far <- nv_tensor(c("9007199254740993", "9007199254740995", "9007199254740992"), "i64")
  frame <- data.frame(id = far, a = 1:3)
  other <- data.frame(id = far[c(2, 3)], b = 1:2)
  joined <- merge(frame, other)
  expect_identical(as_array(joined$id, "character"), c("9007199254740992", "9007199254740995"))
  expect_identical(joined$a, 3:2)
  two <- merge(cbind(frame, k = 1), cbind(other, k = 1), by = c("id", "k"))
  expect_setequal(as_array(two$id, "character"), c("9007199254740992", "9007199254740995"))
  expect_identical(frame[frame$id == far[2], "a"], 2L)
  expect_identical(duplicated(c(far, far)), rep(c(FALSE, TRUE), each = 3))
  expect_identical(levels(factor(far)), sort(as_array(far, "character")))
})

test_that("a data frame is lengthened by a row", {
  for (d in dtypes()) {
    frames <- frames_of(d)
    append <- function(df) {
      df[nrow(df) + 1, ] <- df[2, ]
      df[nrow(df) + 1:2, ] <- df[3:4, ]
      df
    }
    expect_same_frame(append(frames$tensor), append(frames$plain), d, "append")
  }
  df <- data.frame(x = nv_tensor(1:2, "i8"), y = 1:2)
  expect_refusal(df[3, ] <- data.frame(x = 300L, y = 1L), "joist_value_error", "300")
  expect_identical(rbind(df, df[1, ])$x, nv_tensor(c(1L, 2L, 1L), "i8"))
})

test_that("an integer that base R loses is put back, or an error where a tensor is made of it", {
  far <- "9007199254740993"
  lost <- function(code) {
    suppressWarnings(expect_refusal(code, "joist_value_error", "position 1 is lost"))
  }
  # Base R copies the column as doubles to add a row, with its attributes, which have the integers.
  df <- data.frame(id = nv_tensor(c(far, "17"), "i64"), v = 1:2)
  withr::local_options(warn = -1)
  df[3L, ] <- df[2L, ]
  expect_identical(as.character(df$id), c(far, "17", "17"))
  df[nrow(df) + 1L, "v"] <- 9L
  expect_identical(as.character(df$id), c(far, "17", "17", NA))
  expect_identical(df$id[1] + 1L, nv_tensor("9007199254740994", "i64"))
  written <- tempfile()
  utils::write.csv(df, written)
  expect_match(readLines(written)[2], far)
  m <- cbind(id = df$id, other = 1L)
  expect_refusal(utils::write.csv(m, written), "joist_value_error", "as.data.frame(x)")
  utils::write.csv(as.data.frame(m), written)
  expect_match(readLines(written)[2], far)
  columns <- data.frame(v = 1:4)
  columns$m <- m
  expect_refusal(utils::write.csv(columns, written), "joist_value_error", "as.data.frame(x)")
  columns$text <- letters[1:4] # beside which base R writes them as text
  utils::write.csv(columns, written)
  expect_match(readLines(written)[2], far)
  near <- data.frame(id = nv_tensor(c("5", "17"), "i64"), v = 1:2)
  near[3L, "v"] <- 9L
  expect_identical(as.vector(near$id), c(5, 17, NA))
  # So do functions that collect elements.
  ids <- nv_tensor(c(far, far, "3"), "i64")
  collected <- list(
    function() unlist(list(ids)), function() sapply(split(ids, c("a", "b", "c")), max),
    function() rapply(list(ids), identity, how = "unlist")
  )
  for (collect in collected) {
    values <- suppressWarnings(collect())
    expect_true(is.na(values[[1]]))
    lost(nv_tensor(as.vector(unlist(values)), "i64"))
    lost(ids + as.vector(unlist(values)) * 2)
  }
  # NA that a user gives is missing.
  expect_identical(is.na(nv_tensor(c(NA, 1), "i64")), c(TRUE, FALSE))
  expect_true(is.na(as.vector(nv_tensor(NA, "i64"))))
})

test_that("merge() finds integer64 keys", {
  skip_if_not_installed("bit64")
  keys <- c("17", "9007199254740993", "-5", "9007199254740992")
  x <- data.frame(id = nv_tensor(keys, "i64"), x = 1:4)
  y <- data.frame(y = 1:3)
  y$id <- bit64::as.integer64(rev(keys)[1:3])
  for (both in list(merge(x, y), merge(y, x), nv_merge(x, y))) {
    expect_identical(nrow(both), 3L)
    expect_identical(both$x[order(both$y)], 4:2)
  }
  all <- merge(x, y, all = TRUE)
  expect_identical(sum(is.na(all$y)), 1L)
  expect_identical(base::match(y$id, x$id), 4:2)
  expect_identical(base::match(x$id, y$id), c(NA, 3L, 2L, 1L))
  expect_identical(base::match(x$id, 17), c(1L, NA, NA, NA))
})

test_that("base R computes with data frames of tensors", {
  calls <- list(
    equal = function(df) df == 2L, both = function(df) df == df, not = function(df) !df,
    less = function(df) df < 3, as.matrix = as.matrix, t = t, rowSums = rowSums,
    colMeans = colMeans, apply = function(df) apply(df, 1, sum),
    sapply = function(df) sapply(df, sum),
    apply_columns = function(df) apply(df, 2, range), complete = complete.cases,
    outer = function(df) sapply(df, function(v) as.vector(v)[1]), max.col = function(df) {
      max.col(df, "first")
    },
    crossprod = function(df) crossprod(as.matrix(df)), sweep = function(df) sweep(df, 2, 1),
    scale = function(df) unclass(scale(df)), vapply = function(df) vapply(df, mean, 1),
    is.na = is.na, range = range, sum = sum, data.matrix = data.matrix, is.numeric = function(df) {
      vapply(df, is.numeric, NA)
    }
  )
  # Narrow dtypes have a common dtype with 2L or with 3, but not with both.
  for (d in wide(setdiff(dtypes(), c(complexes(), "bool")))) {
    values <- list(u = c(3, 1, 2, 2), v = c(1, 2, 5, 2))
    plain <- as.data.frame(lapply(values, function(v) as_array(nv_tensor(v, d))))
    tensor <- as.data.frame(lapply(values, nv_tensor, d))
    for (name in names(calls)) {
      got <- calls[[name]](tensor)
      want <- calls[[name]](plain)
      if (is_tensor(got)) got <- as_array(got)
      if (is.data.frame(got)) got <- to_r(got)
      expect_equal(got, want, label = paste(d, name))
    }
  }
})

test_that("rows are chosen, grouped and summed by tensors", {
  sum_of <- function(x) as.numeric(sum(x))
  calls <- list(
    rows = function(df) df[df$x > 2, ], subset = function(df) subset(df, x > 2, c(x, g)),
    which = function(df) df[which(df$x == max(df$x)), ], order = function(df) df[order(-df$x), ],
    aggregate = function(df) aggregate(n ~ g, df, sum_of),
    aggregate_by = function(df) aggregate(df["n"], list(k = df$x), sum_of),
    aggregate_of = function(df) aggregate(x ~ g, df, sum_of),
    split = function(df) split(df, df$x)[[2]], by = function(df) do.call(rbind, split(df, df$x)),
    unsplit = function(df) unsplit(split(df, df$x), df$x),
    head = function(df) head(df[df$x < 3, ], 1),
    within = function(df) within(df, z <- ifelse(n > 2, 1, 0)),
    assign = function(df) {
      df[df$x > 1, "n"] <- 0
      df$n[df$x == 1] <- 9
      df[c("u", "v")] <- df$x
      df
    },
    merge = function(df) merge(df, df[2:3, ], by = c("x", "g")), rev = function(df) rev(df),
    na.omit = na.omit, distinct = function(df) df[!duplicated(df$x), ],
    transform = function(df) transform(df, n = n * 2), stack = function(df) df[["x"]][2:3]
  )
  tables <- list(
    tapply = function(df) tapply(df$n, df$x, sum), tapply_of = function(df) {
      tapply(df$x, df$g, sum_of)
    },
    table = function(df) table(df$x, df$g), xtabs = function(df) xtabs(n ~ x, df),
    cut = function(df) cut(df$x, c(0, 1, 2, 9)),
    rowsum = function(df) rowsum(df$n, as.vector(df$x)),
    ave = function(df) as.vector(ave(df$n, df$x)), interaction = function(df) {
      interaction(df$x, df$g)
    },
    factor = function(df) factor(df$x),
    findInterval = function(df) as.vector(findInterval(df$x, 2)),
    match = function(df) match(2, df$x), by = function(df) c(by(df, df$g, function(p) sum_of(p$x)))
  )
  for (d in c(wide(setdiff(dtypes(), c(complexes(), "bool"))), "f4E2M1FN", "f8E4M3FN")) {
    x <- nv_tensor(c(3, 1, 2, 2, 1), d)
    rest <- list(n = c(5, 4, 3, 2, 1), g = c("a", "b", "a", "b", "a"))
    tensor <- data.frame(x = x, rest)
    plain <- data.frame(x = as.vector(x), rest)
    for (name in names(calls)) {
      got <- calls[[name]](tensor)
      if (is_tensor(got)) {
        expect_identical(as.vector(got), calls[[name]](plain), label = paste(d, name))
      } else {
        expect_same_frame(got, calls[[name]](plain), d, name)
      }
    }
    for (name in names(tables)) {
      got <- tables[[name]](tensor)
      if (is_tensor(got)) got <- as_array(got)
      expect_equal(unclass(got), unclass(tables[[name]](plain)), label = paste(d, name),
        ignore_attr = "call"
      )
    }
  }
})

test_that("nv_na_omit() leaves out rows with NaN, as base R those of an R vector", {
  for (d in dtypes_with(c(1, NaN, 3, 4), setdiff(dtypes(), c("bool", ints())))) {
    values <- c(1, NaN, 3, 4)
    others <- data.frame(y = c(1L, 2L, NA, 4L), s = letters[1:4], row.names = LETTERS[1:4])
    x <- nv_tensor(values, d)
    df <- cbind(data.frame(x = x), others)
    plain <- cbind(data.frame(x = as.vector(x)), others)
    row.names(df) <- row.names(plain) <- LETTERS[1:4]
    got <- nv_na_omit(df)
    want <- stats::na.omit(plain)
    expect_identical(attr(got, "na.action"), attr(want, "na.action"), info = d)
    expect_same_frame(got, want, d, "na.omit")
    expect_identical(nv_na_omit(df[4, ]), df[4, ])
    expect_identical(as.vector(nv_na_omit(x)), as.vector(x)[-2])
    expect_identical(type_of(na.omit(x)), d)
    expect_identical(attr(na.omit(x), "na.action"), attr(stats::na.omit(as.vector(x)), "na.action"))
  }
  expect_identical(na.omit(nv_tensor(1:3)), nv_tensor(1:3))
  double <- data.frame(x = nv_tensor(c(NA, 1), "f64"), k = 1:2)
  expect_identical(row.names(nv_na_omit(double)), "2")
  expect_identical(nv_na_omit(c(1, NA)), stats::na.omit(c(1, NA)))
  expect_identical(nv_na_omit(airquality), stats::na.omit(airquality))
  skip_if_not_installed("tibble")
  tb <- tibble::tibble(x = nv_tensor(c(NaN, 1), "f16"), k = 1:2)
  expect_identical(nv_na_omit(tb)$x, nv_tensor(1, "f16"))
  expect_s3_class(nv_na_omit(tb), "tbl_df")
})

test_that("what compiled code computes and gives a tensor's attributes to is R's own number", {
  copied <- function(values, d) {
    attributes(values) <- attributes(sample_tensor(d, length(values)))
    values
  }
  for (d in c("bool", "i4", "i8", "i16", "ui2", "ui8", "ui16", "f16", "f8E4M3FN")) {
    values <- c(7L, NA, 100000L)
    x <- copied(values, d)
    expect_identical(type_of(x), "i32?", label = d)
    expect_identical(as.vector(x), values, label = d)
    expect_identical(as.vector(x + 1L), values + 1L, label = d)
    expect_output(print(x), "100000", label = d)
  }
  # Integers of a bool are counts, even if all of them are 0 or 1.
  expect_identical(type_of(copied(c(1L, 0L), "bool")), "i32?")
  for (d in c("i8", "ui8", "i32", "f16", "f32", "i64", "ui64")) {
    expect_identical(type_of(copied(c(1L, 0L, NA), d)), d)
  }
  skip_if_not_installed("data.table")
  table <- data.table::data.table(
    g = c(1, 1, 2), ok = nv_tensor(c(TRUE, TRUE, TRUE)), u = nv_tensor(c(200L, 100L, 4L), "ui8")
  )
  sums <- function(x) x[, list(ok = sum(ok), u = sum(u)), by = g]
  environment(sums) <- globalenv() # whose code data.table takes for its own
  totals <- sums(table)
  expect_identical(as.vector(totals$ok), 2:1)
  expect_identical(as.vector(totals$u), c(300L, 4L))
})

test_that("na.omit() of a chunked tensor that may have NaN is an error", {
  x <- nv_chunked(nv_tensor(c(NaN, 1, 2), "f32"), 2)
  expect_error(na.omit(x), "call nv_compute\\(\\) first", class = "joist_value_error")
})
