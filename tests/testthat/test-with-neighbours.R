# Packages that know nothing of joist, on columns with tensors and on those with R vectors.

both_frames <- function(d) {
  x <- nv_tensor(if (d == "bool") c(1, 0, 0, 1, 1, 0) else c(3, 1, 2, 2, 1, 0), d)
  rest <- data.frame(n = c(5, 4, 3, 2, 1, 6), g = c("a", "b", "a", "b", "a", "b"))
  list(tensor = cbind(data.frame(x = x), rest), plain = cbind(data.frame(x = as.vector(x)), rest))
}
# Of the narrow dtypes some of each kind: they are all the same to other packages.
ordered_dtypes <- function() {
  c(wide(setdiff(dtypes(), c(complexes(), "bool"))), "i4", "ui2", "f4E2M1FN", "f8E4M3FN")
}

# Everything in R's own vectors: integers and doubles of the same values are the same.
in_r <- function(x) {
  if (is_tensor(x)) x <- as_array(x)
  if (is.data.frame(x)) x <- as.data.frame(lapply(x, in_r))
  if (is.atomic(x) && is.numeric(x)) x <- as.double(x)
  x
}

expect_same_results <- function(calls, frames, label) {
  for (name in names(calls)) {
    expect_equal(in_r(calls[[name]](frames$tensor)), in_r(calls[[name]](frames$plain)),
      label = paste(label, name), ignore_attr = c("sorted", "index", ".internal.selfref")
    )
  }
}

test_that("dplyr's verbs work on tensors", {
  skip_if_not_installed("dplyr")
  library(dplyr, warn.conflicts = FALSE)
  # From 1.2.0 on, if_else() and case_when() take no logical vector that has a class.
  plain <- if (packageVersion("dplyr") >= "1.2.0") as.logical else identity
  calls <- list(
    filter = function(df) filter(df, x > 1), filter_in = function(df) filter(df, x %in% c(1, 3)),
    filter_two = function(df) filter(df, x >= 1, x == max(x) | n < 3),
    mutate = function(df) mutate(df, y = x + n, z = x > 1), arrange = function(df) {
      arrange(df, x, n)
    },
    desc = function(df) arrange(df, desc(x)), pull = function(df) pull(df, x),
    if_else = function(df) {
      mutate(df, y = if_else(plain(x > 1), x, rev(x)), s = if_else(plain(x > 1), "a", "b"))
    },
    if_else_number = function(df) mutate(df, y = if_else(plain(x > 1), 1, 0)),
    case_when = function(df) {
      steps <- mutate(df, y = case_when(plain(x > 2) ~ "high", plain(x > 1) ~ "mid", TRUE ~ "low"))
      mutate(steps, z = case_when(
        plain(x > 2) ~ x, TRUE ~ rev(x)
      ))
    },
    across = function(df) summarise(df, across(where(is.numeric), ~ as.vector(max(.x)))),
    group = function(df) df |> group_by(g) |> summarise(s = sum(x), m = max(x), k = n()),
    group_by_tensor = function(df) df |> group_by(x) |> summarise(s = sum(n)),
    mutate_by = function(df) df |> group_by(g) |> mutate(r = x - min(x)) |> ungroup(),
    filter_by = function(df) df |> group_by(g) |> filter(x == max(x)) |> ungroup(),
    count = function(df) count(df, x), distinct = function(df) distinct(df, x),
    left = function(df) left_join(df, df[c(2, 4), c("x", "g")], by = "x"),
    inner = function(df) inner_join(df, df[2:3, ], by = "x"), semi = function(df) {
      semi_join(df, df[2:3, ], by = "x")
    },
    anti = function(df) anti_join(df, df[2:3, ], by = "x"), bind = function(df) bind_rows(df, df),
    two = function(df) inner_join(df, df[2:4, ], by = c("x", "g")), slice = function(df) {
      slice_max(df, x, n = 2, with_ties = FALSE)
    },
    top = function(df) slice_min(df, x), rank = function(df) mutate(df, r = min_rank(x)),
    between = function(df) suppressWarnings(filter(df, between(x, 1, 2))), lag = function(df) {
      mutate(df, y = lag(x, default = x[1]))
    },
    distinct_number = function(df) n_distinct(df$x), rows = function(df) {
      rows_update(df, mutate(df[1, c("x", "n")], n = 9), by = "x")[1:3, ]
    },
    transmute = function(df) transmute(df, y = cumsum(n), z = x * 2), relocate = function(df) {
      relocate(df, x, .after = g)
    },
    coalesce = function(df) coalesce(df$x, rev(df$x)), near = function(df) near(df$n, df$n),
    first = function(df) first(df$x), nth = function(df) nth(df$x, 2), ntile = function(df) {
      ntile(df$x, 2)
    }
  )
  for (d in wide(ordered_dtypes())) {
    frames <- both_frames(d)
    expect_same_results(calls, frames, d)
    expect_identical(type_of(filter(frames$tensor, x > 1)$x), d)
    expect_identical(type_of(calls$group(frames$tensor)$m), d)
    expect_identical(type_of(bind_rows(frames$tensor, frames$tensor)$x), d)
    skip_if_not_installed("tibble")
    expect_same_results(calls, lapply(frames, tibble::as_tibble), paste("tibble", d))
  }
  flags <- tibble::tibble(b = nv_tensor(c(TRUE, FALSE, TRUE)), n = 1:3)
  expect_identical(filter(flags, b)$n, c(1L, 3L))
  expect_identical(filter(flags, !b, n > 1)$n, 2L)
  expect_identical(in_r(summarise(group_by(flags, b), s = sum(n)))$s, c(2, 4))
})

test_that("whole numbers beyond 2^53 are exact in vctrs and dplyr", {
  skip_if_not_installed("dplyr")
  text <- c("9007199254740993", "9007199254740995", "5", "9007199254740993")
  for (d in c("i64", "ui64")) {
    id <- nv_tensor(text, d)
    df <- tibble::tibble(id = id, v = 1:4)
    expect_silent({
      groups <- dplyr::summarise(dplyr::group_by(df, id), s = sum(v))
      joined <- dplyr::inner_join(df, df[2, ], by = "id")
      chosen <- dplyr::filter(df, id == id[1])
      sorted <- dplyr::arrange(df, id)
      twice <- dplyr::bind_rows(df, df)
    })
    expect_identical(as_array(groups$id, "character"), c("5", text[1:2]))
    expect_identical(groups$s, c(3L, 5L, 2L))
    expect_identical(joined$v.x, 2L)
    expect_identical(chosen$v, c(1L, 4L))
    expect_identical(sorted$v, c(3L, 1L, 4L, 2L))
    expect_identical(as_array(twice$id, "character"), c(text, text))
    expect_identical(dplyr::n_distinct(id), 3L)
    extremes <- if (d == "i64") {
      c("-9223372036854775808", "9223372036854775807", "-1")
    } else {
      c("0", "18446744073709551615", "9221120237041090560")
    }
    x <- nv_tensor(extremes, d)
    back <- vctrs::vec_slice(vctrs::vec_c(x, x), 4:6)
    expect_identical(as_array(back, "character"), extremes)
    expect_false(any(vctrs::vec_detect_missing(x)))
  }
})

test_that("names go with the vectors of vctrs", {
  skip_if_not_installed("vctrs")
  for (d in dtypes_with(0:1)) {
    x <- nv_tensor(c(a = 1, b = 0, c = 1), d)
    expect_identical(names(vctrs::vec_slice(x, 3:2)), c("c", "b"), label = d)
    expect_identical(names(vctrs::vec_c(x, x[1])), c("a", "b", "c", "a"), label = d)
    expect_identical(as.vector(vctrs::vec_slice(x, 2)), as.vector(x[2]), label = d)
    expect_identical(vctrs::vec_equal(x, unname(x)), rep(TRUE, 3), label = d)
    expect_identical(vctrs::vec_names(vctrs::vec_set_names(x, c("u", "v", "w"))), c("u", "v", "w"))
    expect_identical(tibble::tibble(x = x)$x[2], x[2], label = d)
  }
})

test_that("many groups take about as long as those of integer64", {
  skip_if_not_installed("dplyr")
  skip_if_not_installed("bit64")
  n <- 4000
  g <- rep(seq_len(n / 2), each = 2)
  v <- rep_len(1:7, n)
  seconds <- function(column) {
    df <- dplyr::group_by(tibble::tibble(g = g, v = column), g)
    min(replicate(2, system.time(dplyr::summarise(df, s = sum(v)))[["user.self"]]))
  }
  limit <- seconds(bit64::as.integer64(v))
  expect_lte(seconds(nv_tensor(v, "f32")), 3 * limit)
})

# data.table's syntax is that of code outside of packages.
at_top <- function(f) {
  environment(f) <- globalenv()
  f
}

test_that("a data.table holds tensors with their rows", {
  skip_if_not_installed("data.table")
  library(data.table, warn.conflicts = FALSE)
  for (d in dtypes()) {
    x <- sample_tensor(d, 4)
    made <- list(
      data.table(x = x, v = 1:4), as.data.table(data.frame(x = x, v = 1:4)),
      setDT(data.frame(x = x, v = 1:4)),
      at_top(function(x) data.table(v = 1:4)[, x := x][, .(x, v)])(x)
    )
    for (table in made) {
      expect_identical(dim(table), c(4L, 2L), label = d)
      expect_identical(at_top(function(dt) dt[, .N])(table), 4L, label = d)
      expect_identical(type_of(table$x), d)
      expect_identical(as.vector(table$x), as.vector(x), label = d)
      rows <- at_top(function(dt) dt[2:3])(table)
      expect_identical(as.vector(rows$x), as.vector(x)[2:3], label = d)
      expect_identical(type_of(rows$x), d)
      expect_length(grep("^[1-4]:", utils::capture.output(print(table))), 4L)
    }
  }
})

data_table_calls <- list(
  rows = function(dt) dt[1:2], condition = function(dt) dt[x > 1],
  order = function(dt) dt[order(-x, n)],
  column = function(dt) dt[, x], columns = function(dt) dt[, .(x, n)], by = function(dt) {
    dt[, .(s = as.vector(sum(x)), k = .N), by = g]
  },
  by_tensor = function(dt) dt[, .(s = sum(n)), by = x],
  keyby = function(dt) dt[, .(s = sum(n)), keyby = x],
  sum = function(dt) dt[, sum(x)], max = function(dt) dt[, max(x), by = g], in_set = function(dt) {
    dt[x %in% c(1, 3)]
  },
  between = function(dt) dt[x %between% c(1, 2)], assign = function(dt) dt[, y := n * 2][],
  assign_rows = function(dt) dt[x > 1, n := 0][], replace = function(dt) dt[2, x := 3][],
  assign_group = function(dt) dt[, m := sum(n), by = x][], set = function(dt) {
    set(dt, 1L, "n", 7)
  },
  setorder = function(dt) setorder(dt, x, n), setkey = function(dt) setkey(dt, x),
  keyed = function(dt) setkey(dt, x)[J(2)],
  join = function(dt) dt[dt[2:3], on = "x", allow.cartesian = TRUE],
  merge = function(dt) merge(dt, dt[2:4], by = "x", allow.cartesian = TRUE),
  merge_two = function(dt) merge(dt, dt[2:4], by = c("x", "g")),
  bind = function(dt) rbindlist(list(dt, dt)), rbind = function(dt) rbind(dt, dt[1]),
  unique = function(dt) unique(dt, by = "x"), duplicated = function(dt) duplicated(dt, by = "x"),
  n_unique = function(dt) dt[, uniqueN(x)], dcast = function(dt) {
    dcast(dt, g ~ x, value.var = "n", fun.aggregate = sum)
  },
  melt = function(dt) melt(dt, "g", "x"),
  sd = function(dt) dt[, lapply(.SD, mean), .SDcols = c("n", "x")],
  head = function(dt) head(dt, 2), split = function(dt) split(dt, by = "g")[[2]],
  fwrite = function(dt) {
    file <- tempfile()
    on.exit(unlink(file))
    fwrite(dt, file)
    fread(file)
  },
  frank = function(dt) frank(dt$x), shift = function(dt) shift(dt$n), tail = function(dt) dt[.N]
)

test_that("data.table computes with tensors as with R vectors", {
  skip_if_not_installed("data.table")
  library(data.table, warn.conflicts = FALSE)
  calls <- lapply(data_table_calls, at_top)
  for (d in wide(ordered_dtypes())) {
    frames <- both_frames(d)
    for (name in names(calls)) {
      one <- calls[name]
      expect_same_results(one, lapply(frames, function(df) as.data.table(df)), d)
    }
    expect_identical(type_of(calls$condition(as.data.table(frames$tensor))$x), d)
  }
  # data.table reads a tensor as R does: numbers that R cannot represent are NA.
  expect_warning(
    {
      far <- data.table(id = nv_tensor(c("9007199254740993", "5"), "i64"), v = 1:2)
      nv_tensor(1)
    },
    class = "joist_view_warning"
  )
  expect_identical(is.na(unclass(far$id)), c(TRUE, FALSE), ignore_attr = TRUE)
})

test_that("ggplot2 draws tensors without a message", {
  skip_if_not_installed("ggplot2")
  library(ggplot2)
  layer <- function(df, ...) {
    out <- ggplot_build(ggplot(df, ...$aes) + ...$geom)$data[[1]]
    as.data.frame(lapply(out, function(column) if (is_tensor(column)) as_array(column) else column))
  }
  plots <- list(
    point = list(aes = aes(x, n), geom = geom_point()),
    line = list(aes = aes(x, n), geom = geom_line()),
    colour = list(aes = aes(n, x, colour = x), geom = geom_point()),
    size = list(aes = aes(n, x, size = x), geom = geom_point()),
    histogram = list(aes = aes(x), geom = geom_histogram(bins = 3)),
    box = list(aes = aes(g, x), geom = geom_boxplot()),
    col = list(aes = aes(g, x), geom = geom_col()),
    smooth = list(aes = aes(x, n), geom = geom_smooth(method = "lm", formula = y ~ x)),
    tile = list(aes = aes(x, n, fill = x), geom = geom_tile()), density = list(
      aes = aes(x), geom = geom_density()
    ),
    expression = list(aes = aes(x * 2, n), geom = geom_point())
  )
  for (d in c("f32", "f64", "ui8", "i64", "f16")) {
    frames <- both_frames(d)
    for (name in names(plots)) {
      plot <- plots[[name]]
      expect_silent(got <- ggplot_build(ggplot(frames$tensor, plot$aes) + plot$geom)$data[[1]])
      want <- ggplot_build(ggplot(frames$plain, plot$aes) + plot$geom)$data[[1]]
      expect_equal(lapply(got, in_r), lapply(want, in_r), label = paste(d, name), tolerance = 1e-4)
    }
    expect_silent(ggplotGrob(ggplot(frames$tensor, aes(x, n)) + geom_point() + facet_wrap(~x)))
    grDevices::pdf(NULL)
    expect_silent(print(ggplot(frames$tensor, aes(x, n, colour = x)) + geom_point()))
    grDevices::dev.off()
  }
  flags <- data.frame(b = nv_tensor(c(TRUE, FALSE, TRUE)), n = 1:3)
  expect_silent(
    got <- ggplot_build(ggplot(flags, aes(b, n, fill = b)) + geom_col())$data[[1]]
  )
  want <- ggplot_build(ggplot(to_r(flags), aes(b, n, fill = b)) + geom_col())$data[[1]]
  expect_equal(lapply(got, in_r), lapply(want, in_r))
})

test_that("jsonlite writes tensors", {
  skip_if_not_installed("jsonlite")
  json <- function(x, ...) unclass(jsonlite::toJSON(x, digits = NA, ...))
  for (d in c("bool", ordered_dtypes())) {
    frames <- both_frames(d)
    expect_identical(json(frames$tensor), json(frames$plain), label = d)
    columns <- lapply(frames, json, dataframe = "columns")
    expect_identical(columns$tensor, columns$plain, label = d)
    expect_identical(json(frames$tensor, pretty = TRUE), json(frames$plain, pretty = TRUE))
    m <- nv_tensor(matrix(c(1, 0, 1, 1), 2), d)
    expect_identical(json(m), json(as_array(m)), label = d)
    one <- list(a = nv_scalar(1, d), b = frames$tensor$x)
    expect_identical(json(one, auto_unbox = TRUE), json(lapply(one, as_array), auto_unbox = TRUE))
  }
  far <- nv_tensor(c("9007199254740993", "-5"), "i64")
  expect_identical(json(far), "[9007199254740993,-5]")
  expect_identical(json(list(a = far[1], b = 1), auto_unbox = TRUE), '{"a":9007199254740993,"b":1}')
  expect_identical(json(data.frame(id = far)), '[{"id":9007199254740993},{"id":-5}]')
  largest <- nv_tensor("18446744073709551615", "ui64")
  expect_identical(json(largest), "[18446744073709551615]")
  expect_error(json(nv_unsqueeze(far, 1)), "rank 1", class = "joist_value_error")
  near <- nv_tensor(c(2, NA), "i64")
  missing <- nv_tensor(c("9007199254740993", NA), "i64")
  expect_identical(json(near), json(c(2L, NA)))
  expect_identical(json(missing), sub("2", "9007199254740993", json(c(2, NA))))
  for (na in c("string", "null")) {
    expect_identical(json(near, na = na), json(c(2L, NA), na = na))
    expect_identical(json(missing, na = na), sub("2", "9007199254740993", json(c(2, NA), na = na)))
  }
  expect_identical(json(data.frame(id = missing)), '[{"id":9007199254740993},{}]')
})

# Those of packages that are not suggested are in tests/neighbours.
test_that("labels of scales take tensors", {
  skip_if_not_installed("scales")
  x <- nv_tensor(c(a = 1.5, b = 3, c = 1234), "f32")
  expect_identical(scales::comma(x), scales::comma(as_array(x)))
  whole <- nv_tensor(c(1, 2), "i64")
  expect_identical(scales::percent(whole), scales::percent(c(1, 2)))
})

test_that("knitr makes tables of tensors", {
  skip_if_not_installed("knitr")
  for (d in ordered_dtypes()) {
    frames <- both_frames(d)
    if (kind_of(d) == "float") {
      for (kind in names(frames)) frames[[kind]]$x[2] <- 1.5
    }
    expect_identical(knitr::kable(frames$tensor), knitr::kable(frames$plain), label = d)
  }
  # `digits` is for what knitr itself takes for numbers.
  df <- data.frame(x = nv_tensor(c(1.23456, 2), "f64"), y = 1:2)
  few <- list(digits = 3)
  expect_identical(knitr::kable(df, format.args = few), knitr::kable(to_r(df), format.args = few))
  expect_identical(knitr::kable(to_r(df), digits = 2)[3], "| 1.23|  1|")
})

test_that("dput() and deparse() write what reads as the same tensor", {
  again <- function(x) eval(parse(text = utils::capture.output(dput(x, control = "all"))))
  for (d in dtypes()) {
    two <- sample_values(d, 2)
    for (x in list(
      sample_tensor(d, 6), nv_reshape(sample_tensor(d, 6), c(2, 3)), nv_scalar(two[1], d),
      sample_tensor(d, 0),
      nv_tensor(c(a = two[1], b = two[2]), d), nv_tensor(two[1], d, ambiguous = TRUE)
    )) {
      expect_identical(again(x), x, label = d)
      expect_identical(dtype(again(x) == x), as_dtype("bool"))
      expect_identical(shape(again(x)), shape(x))
      expect_identical(ambiguous(again(x)), ambiguous(x))
      expect_identical(as_array(again(x)), as_array(x))
    }
    df <- data.frame(x = sample_tensor(d, 4), y = 1:4)
    expect_identical(again(df), df, label = d)
  }
  # R writes 15 digits, which are not all of these.
  long <- list(bf16 = 3.3895313892515355e38, bf16 = 2^-133, f8E8M0FNU = 2^127, f8E8M0FNU = 2^-126)
  for (k in seq_along(long)) {
    x <- nv_tensor(c(long[[k]], 1, NA), names(long)[k])
    read <- eval(parse(text = deparse(x)))
    expect_identical(type_of(read), type_of(x))
    expect_identical(as_array(read), as_array(x))
  }
  far <- structure(c(3.3895313892515355e38 * (1 - 1e-13), 1), class = "nv_tensor", dtype = "bf16")
  expect_identical(type_of(far), type_of(nv_tensor(1, "f64", ambiguous = TRUE)))
})

test_that("summary() of a tensor is that of its values", {
  for (d in dtypes_with(0:3, setdiff(dtypes(), complexes()))) {
    x <- nv_tensor(c(1, 0, 1, 1), d)
    got <- summary(x)
    want <- summary(as.vector(x))
    expect_identical(names(got), names(want), label = d)
    expect_equal(unclass(got)[seq_along(got)], unclass(want)[seq_along(want)], label = d)
    shown <- utils::capture.output(print(got))
    expect_identical(shown[-length(shown)], utils::capture.output(print(want)), label = d)
    expect_identical(shown[length(shown)], paste0("[ CPU", d, "{4} ]"))
    frames <- both_frames(d)
    expect_identical(unclass(summary(frames$tensor)), unclass(summary(frames$plain)), label = d)
  }
  expect_output(print(summary(nv_tensor(1i))), "CPUc64{1}", fixed = TRUE)
  expect_output(print(summary(nv_aval("f32", 3))), "AVALf32{3}", fixed = TRUE)
  far <- nv_tensor(c("9007199254740993", "1"), "i64")
  expect_output(print(summary(far)), "9.007e+15", fixed = TRUE)
})

test_that("View(), str() and the panes of editors show values", {
  for (d in dtypes_with(0:1)) {
    x <- nv_tensor(c(1, 0, 1), d)
    # What View() does before it opens a window.
    columns <- as.list(format.data.frame(as.data.frame(x)))
    expect_true(all(vapply(columns, is.character, NA)), label = d)
    expect_length(columns[[1]], 3)
    expect_output(str(x), paste0("[ CPU", d, "{3} ]"), fixed = TRUE)
    expect_output(str(list(a = x)), paste0("$ a: [ CPU", d, "{3} ]"), fixed = TRUE)
  }
  methods <- positron_methods
  x <- nv_tensor(c(1.5, 2, 3), "f32")
  expect_identical(methods$display_value(x, width = 80), "1.5 2 3")
  expect_identical(methods$display_value(nv_tensor(1:100), width = 6), "1 2 3 ...")
  expect_identical(methods$display_type(x), "f32{3}")
  expect_identical(methods$display_type(x, include_length = FALSE), "f32")
  expect_identical(methods$kind(x), "number")
  expect_identical(methods$kind(x > 1), "boolean")
  expect_false(methods$has_children(x))
  expect_identical(methods$display_value(nv_aval("f32", 3)), "[ AVALf32{3} ]")
})

test_that("the kernel of Positron is told of the methods, and may refuse them", {
  withr_like <- function(f) {
    assign(".ark.register_method", f, envir = globalenv())
    on.exit(rm(".ark.register_method", envir = globalenv()))
    join_positron()
  }
  told <- character()
  withr_like(function(generic, class, method) {
    told <<- c(told, paste(generic, class, is.function(method)))
  })
  expect_identical(told, paste0("ark_positron_variable_", c(
    "display_value", "display_type", "kind", "has_children"
  ), " nv_tensor TRUE"))
  expect_silent(withr_like(function(...) stop("Only allowed packages can register methods.")))
  expect_silent(join_positron())
})

test_that("base graphics draw tensors", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (d in wide(ordered_dtypes())) {
    x <- nv_tensor(c(1, 3, 2, 0), d)
    v <- as.vector(x)
    m <- nv_tensor(matrix(c(1, 3, 2, 0), 2), d)
    expect_silent({
      plot(x)
      plot(x, v)
      plot(v, x)
      lines(x)
      points(x, x)
      image(m)
      contour(m)
      persp(m)
      pairs(nv_tensor(matrix(c(1, 3, 2, 5, 4, 1), 3), d))
      matplot(m)
      pie(x)
      stripchart(x)
      abline(h = x)
      text(x, x, "a")
      polygon(x, rev(x))
      segments(x, x, x, x)
    })
    expect_equal(as.vector(barplot(x)), as.vector(barplot(v)), label = d)
    expect_equal(boxplot(x)$stats, boxplot(v)$stats, label = d)
    expect_identical(hist(x)$counts, hist(v)$counts, label = d)
    expect_equal(density(x)$y, density(v)$y, label = d)
  }
})

test_that("what data.table writes into R vectors of a tensor does not change the tensor", {
  skip_if_not_installed("data.table")
  ways <- list(to_r, as.vector, as_array, function(x) to_r(list(x = x))$x)
  for (d in c("f64", "i32", "c128")) for (n in c(3, 1000)) for (way in ways) {
    x <- nv_tensor(seq_len(n), d)
    before <- as_array(x, "character")
    r <- data.table::setDT(list(v = way(x)))
    data.table::set(r, 1L, "v", methods::as(99, typeof(r$v)))
    expect_identical(as_array(x, "character"), before, label = paste(d, n))
    expect_equal(r$v[1:2], c(99, 2) + if (d == "c128") 0i else 0, label = paste(d, n))
    # Nor what joist writes into the tensor the vector.
    kept <- way(x)
    x[2] <- x[3]
    expect_equal(kept[2], 2 + if (d == "c128") 0i else 0, label = paste(d, n))
  }
})

test_that("calls that the page of packages lists take R's numbers, and tensors otherwise", {
  rows <- read.csv(system.file("extdata", "packages.csv", package = "joist", mustWork = TRUE))
  x <- nv_tensor(c(3, 1, 2, 2, 1, 4), "f32")
  outcome <- function(call, x) {
    frame <- list2env(list(x = x, g = c("a", "b", "a", "b", "a", "b")), parent = globalenv())
    suppressWarnings(suppressMessages(tryCatch(in_r(eval(str2lang(call), frame)),
      error = identity
    )))
  }
  for (k in seq_len(nrow(rows))) {
    if (!suppressWarnings(requireNamespace(rows$package[k], quietly = TRUE))) next
    want <- outcome(rows$call[k], to_r(x))
    expect_false(inherits(want, "error"), label = rows$call[k])
    got <- outcome(rows$call[k], x)
    expect_identical(inherits(got, "error"), startsWith(rows$happens[k], "error"),
      label = rows$call[k]
    )
    expect_false(isTRUE(all.equal(got, want, check.attributes = FALSE)), label = rows$call[k])
  }
})

test_that("generics of other packages whose methods are for numbers take tensors", {
  x <- nv_tensor(c(3, 1, 2), "f32")
  generic <- function(package, name) {
    if (requireNamespace(package, quietly = TRUE)) getExportedValue(package, name)
  }
  recode <- generic("dplyr", "recode")
  if (!is.null(recode)) {
    expect_identical(recode(x, `1` = 10), c(3, 10, 2))
    expect_identical(recode(x, !!!list(`1` = 10)), c(3, 10, 2))
  }
  as_factor <- generic("forcats", "as_factor")
  if (!is.null(as_factor)) expect_identical(levels(as_factor(x)), c("1", "2", "3"))
  set_units <- generic("units", "set_units")
  if (!is.null(set_units)) {
    expect_identical(set_units(x, "m"), set_units(c(3, 1, 2), "m"))
    y <- x
    units(y) <- "m"
    expect_identical(y, set_units(c(3, 1, 2), "m"))
  }
  # Of packages for which no generics are named, all that have a method for numbers.
  dotplot <- generic("lattice", "dotplot")
  if (!is.null(dotplot)) expect_identical(dotplot(x)$x.limits, dotplot(c(3, 1, 2))$x.limits)
  wday <- generic("lubridate", "wday")
  if (!is.null(wday)) expect_identical(wday(x), c(3, 1, 2))
  center <- generic("datawizard", "center")
  if (!is.null(center)) expect_identical(as.vector(center(x)), c(1, -1, 0))
})
