# Tensors as R vectors, used by C code that knows nothing of them: view.c.

skip_on_cran()

compile_view <- function(envir = parent.frame()) {
  skip_if(Sys.which("make") == "", "no make, so C code cannot be compiled")
  folder <- withr::local_tempdir(.local_envir = envir)
  file.copy(test_path("view.c"), folder)
  withr::local_dir(folder)
  r <- file.path(R.home("bin"), "R")
  log <- suppressWarnings(system2(r, c("CMD", "SHLIB", "view.c"), stdout = TRUE, stderr = TRUE))
  built <- file.path(folder, paste0("view", .Platform$dynlib.ext))
  if (!file.exists(built)) stop("view.c does not compile:\n", paste(log, collapse = "\n"))
  dll <- dyn.load(built)
  withr::defer(dyn.unload(built), envir = envir)
  names <- c(
    "by_pointer", "by_read_only", "by_pointer_or_null", "by_element", "by_region", "poke", "hold",
    "hold_read_only", "held", "poke_held", "deep", "shallow", "is_altrep", "by_hand", "write_after"
  )
  sapply(names, function(name) getNativeSymbolInfo(name, dll), simplify = FALSE)
}

c_code <- compile_view(teardown_env())
call_c <- function(name, ...) .Call(c_code[[name]], ...)
region <- function(x, start, n) .Call(c_code$by_region, x, as.double(start), as.double(n))

# The values of sample_tensor() as R shows them, known without joist.
shown_values <- function(d, n) {
  values <- sample_values(d, n)
  if (d %in% c("bool", complexes())) return(values)
  if (d %in% c("i64", "ui32", "ui64") || kind_of(d) == "float") values else as.integer(values)
}

# Other values of the dtype, as R shows them, all different from the sample's.
other_values <- function(d, n) {
  values <- shown_values(d, n)
  if (is_narrow(d)) {
    few <- unique(shown_values(d, length(few_values(d))))
    return(rep_len(few[c(2:length(few), 1)], n))
  }
  switch(typeof(values),
    logical = !values, integer = as.integer((values + 1) %% 100),
    double = abs(values) / 2 + if (kind_of(d) == "float") 0.5 else values %% 2 / 2 + 1,
    complex = values * 2 - 1i
  )
}

# 100 elements get R's wrappers, 6 do not.
sizes <- c(6L, 100L)

every <- function(f) {
  for (d in dtypes()) for (n in if (is_narrow(d)) 100L else sizes) f(d, n, paste(d, n))
}

test_that("C code reads the values of every dtype in every way", {
  every(function(d, n, label) {
    want <- shown_values(d, n)
    readers <- list(
      by_element = function(x) call_c("by_element", x),
      by_region = function(x) region(x, 0, n),
      by_read_only = function(x) call_c("by_read_only", x),
      by_pointer = function(x) call_c("by_pointer", x),
      rep = function(x) rep.int(unclass(x), 1L), subset = function(x) .subset(x, seq_len(n))
    )
    for (name in names(readers)) {
      x <- sample_tensor(d, n)
      expect_values(as.vector(readers[[name]](x)), want, paste(label, name))
      # Once more, when another way has converted them.
      call_c("by_read_only", x)
      expect_values(as.vector(readers[[name]](x)), want, paste(label, name, "again"))
      expect_values(as.vector(as_array(x)), want, paste(label, name, "after"))
      expect_values(call_c("by_pointer_or_null", x), want, paste(label, name, "or NULL"))
    }
  })
})

test_that("regions are cut at the ends and never written beyond", {
  every(function(d, n, label) {
    want <- shown_values(d, n)
    for (converted in c(FALSE, TRUE)) {
      x <- sample_tensor(d, n)
      if (converted) call_c("by_read_only", x)
      for (request in list(c(0, 1), c(2, 3), c(n - 2, 10), c(n - 1, 2^40), c(1, n))) {
        at <- request[1] + seq_len(min(request[2], n - request[1]))
        expect_values(region(x, request[1], request[2]), want[at], label)
      }
      # R itself answers where there is a pointer, and checks nothing.
      if (!is.null(call_c("by_pointer_or_null", x))) next
      for (request in list(c(n, 1), c(n + 5, 3), c(-1, 2), c(-2^40, 5), c(0, 0), c(2^52, 2^52))) {
        expect_length(region(x, request[1], request[2]), 0L)
      }
    }
    expect_length(region(sample_tensor(d, n)[integer()], 0, 1), 0L)
  })
})

test_that("what C code writes is what joist reads, in every dtype", {
  every(function(d, n, label) {
    new <- other_values(d, n)
    want <- shown_values(d, n)
    at <- c(1, 3, n)
    want[at] <- new[at]
    x <- sample_tensor(d, n)
    call_c("poke", x, at, new[at])
    expect_values(call_c("by_element", x), want, paste(label, "element"))
    expect_values(region(x, 0, n), want, paste(label, "region"))
    expect_values(as.vector(as_array(x)), want, label)
    expect_identical(format(dtype(x)), d)
    expect_identical(as.vector(x == nv_tensor(want, d)), rep(TRUE, n))
    expect_values(as.vector(as_array(nv_reverse(x))), rev(want), paste(label, "reversed"))
    expect_values(as.vector(as_array(x[at])), want[at], paste(label, "subset"))
    expect_values(as.vector(as_array(c(x, x))), c(want, want), paste(label, "joined"))
    expect_values(
      as.vector(as_array(jit(function(x) nv_reverse(x))(x))), rev(want), paste(label, "jit")
    )
    # Once more: a pointer taken again is to the same values.
    call_c("poke", x, 2, new[2])
    want[2] <- new[2]
    expect_values(as.vector(as_array(x)), want, paste(label, "again"))
    # An assignment after that.
    x[4] <- nv_tensor(new[4], d)
    want[4] <- new[4]
    expect_values(as.vector(as_array(x)), want, paste(label, "assigned"))
    expect_values(call_c("by_element", x), want, paste(label, "assigned, element"))
  })
})

test_that("values that were not written keep all their bits", {
  nan <- nv_read_bin(as.raw(c(0x01, 0x00, 0xa0, 0x7f, 0x23, 0x01, 0xc0, 0xff)), "f32")
  bytes <- nv_write_bin(nan)
  call_c("poke", nan, numeric(), numeric())
  expect_identical(nv_write_bin(nan), bytes)
  for (d in c("i64", "ui64")) {
    text <- c("9007199254740993", "5", "9223372036854775807")
    x <- nv_tensor(text, d)
    call_c("poke", x, 2, 7)
    expect_identical(suppressWarnings(as_array(x, as = "character")), replace(text, 2, "7"))
    expect_identical(
      suppressWarnings(as_array(unserialize(serialize(x, NULL)), as = "character")),
      replace(text, 2, "7")
    )
    expect_identical(
      suppressWarnings(as_array(call_c("deep", x), as = "character")), replace(text, 2, "7")
    )
  }
  zeros <- nv_tensor(c(-0, 0), "f16")
  call_c("poke", zeros, 2, -0)
  expect_identical(1 / as_array(zeros), c(-Inf, -Inf))
})

test_that("doubles that an integer dtype cannot hold are R's own numbers", {
  numbers <- list(i64 = 0.5, i64 = 2^63, ui32 = -1, ui32 = 2^32, ui64 = -1, ui64 = 2^64)
  for (k in seq_along(numbers)) {
    d <- names(numbers)[k]
    for (n in sizes) {
      x <- sample_tensor(d, n)
      call_c("poke", x, 5, numbers[[k]])
      want <- replace(shown_values(d, n), 5, numbers[[k]])
      expect_identical(type_of(x), "f64?", label = d)
      expect_identical(as_array(x), want, label = d)
      expect_identical(as_array(x - 0.25), want - 0.25, label = d)
      expect_identical(as_array(unserialize(serialize(x, NULL))), want, label = d)
      call_c("poke", x, 5, shown_values(d, 5L)[5])
      expect_identical(type_of(x), d)
      expect_values(as.vector(as_array(x)), shown_values(d, n), paste(d, "repaired"))
    }
  }
})

test_that("NA that is written is missing, and a value that is written is not", {
  for (d in dtypes()) {
    for (n in sizes) {
      x <- sample_tensor(d, n)
      shown <- shown_values(d, n)
      na <- shown[NA_integer_] # as.complex(NA) has an imaginary part from R 4.4 on
      call_c("poke", x, 5, na)
      want <- replace(shown, 5, na)
      copies <- list(
        x, call_c("deep", x), unserialize(serialize(x, NULL)), jit(function(x) x)(x), x[seq_len(n)]
      )
      for (copy in copies) {
        expect_identical(type_of(copy), d)
        expect_identical(which(is.na(as.vector(copy)) & !is.nan(as.vector(copy))), 5L, label = d)
        expect_values(as.vector(as_array(copy)), want, d)
      }
      call_c("poke", x, 5, shown[5])
      expect_null(.Call(joist:::joist_r_mask_of, x))
      expect_values(as.vector(as_array(x)), shown, d)
      # The same of a tensor that has missing values by then.
      y <- nv_mask(sample_tensor(d, n), seq_len(n) == 2L)
      call_c("poke", y, 2, shown[2])
      call_c("poke", y, 3, na)
      expect_values(as.vector(as_array(y)), replace(shown, 3, na), d)
    }
  }
})

test_that("what does not fit the dtype is an error at joist's next read", {
  too_much <- list(
    i8 = 128L, i16 = -32769L, ui8 = 300L, ui16 = -1L, f16 = 1e6, f32 = 1e300, bf16 = 1e300,
    c64 = 1e300 + 0i, ui32 = NaN
  )
  for (k in seq_along(too_much)) {
    d <- names(too_much)[k]
    for (n in sizes) {
      x <- sample_tensor(d, n)
      bad <- as(too_much[[k]], typeof(shown_values(d, 1L)))
      call_c("poke", x, 5, bad)
      # Numbers that no element of an integer dtype, or of a float of fewer than 32 bits, can be are
      # R's own, as C code of R and of packages computes them.
      narrow <- dtype_info(d)$bits < 32L
      if ((d %in% c("i64", "ui32", "ui64") || narrow) && !is.na(bad)) {
        want <- replace(shown_values(d, n), 5, bad)
        copies <- list(x, call_c("deep", x), unserialize(serialize(x, NULL)), jit(function(x) x)(x))
        for (copy in copies) {
          own <- if (is.integer(bad)) "i32?" else "f64?"
          expect_identical(type_of(copy), own, label = d)
          expect_values(as.vector(as_array(copy)), want, d)
        }
        expect_values(as.vector(as_array(nv_reverse(x))), rev(want), d)
        call_c("poke", x, 5, shown_values(d, 5L)[5])
        expect_identical(type_of(x), d)
        next
      }
      reads <- list(
        function() as_array(x), function() nv_reverse(x), function() x[1], function() x == x,
        function() jit(nv_reverse)(x), function() nv_write_bin(x), function() as_array(c(x, x)),
        function() as_array(call_c("deep", x)), function() as_array(unserialize(serialize(x, NULL)))
      )
      for (read in reads) expect_refusal(read(), "joist_value_error", d)
      # R shows what was written.
      expect_identical(call_c("by_element", x)[5], bad)
      call_c("poke", x, 5, shown_values(d, 5L)[5])
      expect_values(as.vector(as_array(x)), shown_values(d, n), paste(d, "repaired"))
    }
  }
  error <- expect_refusal({
    x <- nv_tensor(1:9 / 2, "f32")
    call_c("poke", x, 7, 1e300)
    x + x
  }, "joist_value_error", c("1e+300", "f32", "7"))
})

test_that("a few elements are read as they are now, after all were compared once", {
  every(function(d, n, label) {
    x <- sample_tensor(d, n)
    pointer <- call_c("hold", x)
    want <- shown_values(d, n)
    expect_values(as.vector(as_array(x[[1]])), want[1], label)
    # Written by the pointer that was kept, which joist cannot know of.
    other <- other_values(d, n)[5:6]
    call_c("poke_held", pointer, c(2, n), other)
    want[c(2, n)] <- other
    for (k in c(1L, 2L, n)) {
      expect_identical(type_of(x[[k]]), d, label = label)
      expect_values(as.vector(as_array(x[[k]])), want[k], paste(label, k))
      expect_values(as.vector(as_array(x[k])), want[k], paste(label, k))
    }
    if (n > 10) expect_values(as.vector(as_array(x[c(n, 3, 2)])), want[c(n, 3, 2)], label)
    call_c("poke_held", pointer, 2, as(NA, typeof(want)))
    expect_true(is.na(x[[2]]), label = label)
    expect_identical(as.vector(is.na(x[1:2])), c(FALSE, TRUE), label = label)
    expect_false(is.na(x[[1]]), label = label)
    want[2] <- NA
    if (!is.complex(want)) expect_values(as.vector(as_array(x)), want, label)
  })
  # What does not fit is a number of R, where it is and for the whole.
  x <- sample_tensor("ui8", 100L)
  pointer <- call_c("hold", x)
  expect_values(as.vector(as_array(x[[3]])), shown_values("ui8", 3L)[3], "before")
  call_c("poke_held", pointer, 5, 300L)
  expect_values(as.vector(as_array(x[[3]])), shown_values("ui8", 3L)[3], "elsewhere")
  expect_identical(as.vector(x[[5]]), 300L)
  expect_identical(as.vector(x[4:5]), c(shown_values("ui8", 5L)[4], 300L))
  expect_identical(as.vector(x + x)[5], 600L)
  expect_identical(type_of(x + x), "i32?")
  # Values that R cannot represent stay as they were.
  large <- nv_tensor(c("9007199254740993", rep("1", 99)), "i64")
  suppressWarnings(pointer <- call_c("hold", large))
  suppressWarnings(large[[2]])
  call_c("poke_held", pointer, 3, 7)
  expect_identical(as_array(large[1:3], "character"), as_array(nv_tensor(
    c("9007199254740993", "1", "7"), "i64"
  ), "character"))
  # Half a whole number is R's own.
  x <- nv_tensor(1:100, "i64")
  pointer <- call_c("hold", x)
  x[[2]]
  call_c("poke_held", pointer, 4, 0.5)
  expect_identical(type_of(x[[4]]), "f64?")
  # Seconds of 2026 that f32 rounds are R's, what dput() writes of f32 is not.
  for (number in c(16777217, 1767225601.5)) {
    copied <- structure(c(number, 0.1), class = "nv_tensor", dtype = "f32")
    expect_identical(type_of(copied), "f64?")
    expect_identical(as.vector(as_array(copied)), c(number, 0.1))
  }
  single <- nv_tensor(c(0.1, 16777218, 2^24 * 1.1, 2^52 * 1.1, 1e30), "f32")
  expect_identical(eval(parse(text = capture.output(dput(single)))), single)
  # A matrix, with names.
  m <- nv_tensor(matrix(1:200, 20, dimnames = list(NULL, letters[1:10])), "i16")
  pointer <- call_c("hold", m)
  m[[1]]
  call_c("poke_held", pointer, 21, -5L)
  expect_identical(as_array(m[1, ]), c(a = 1L, b = -5L, setNames(1L + 20L * 2:9, letters[3:10])))
  expect_identical(as_array(m[1:2, "b"]), c(-5L, 22L))
})

test_that("copies have values of their own", {
  copies <- list(
    assign = function(x) x, deep = function(x) call_c("deep", x),
    shallow = function(x) call_c("shallow", x), by_hand = function(x) call_c("by_hand", x),
    attribute = function(x) {
      attr(x, "note") <- "a"
      x
    },
    structure = function(x) structure(x, note = "a"),
    names = function(x) {
      names(x) <- paste0("e", seq_along(x))
      x
    },
    twice = function(x) {
      attr(x, "note") <- "a"
      y <- x
      attr(y, "note") <- "b"
      y
    },
    reshape = function(x) nv_reshape(x, shape(x)),
    dims = function(x) {
      dim(x) <- c(2L, length(x) / 2L)
      x
    },
    serialize = function(x) unserialize(serialize(x, NULL)),
    nv_tensor = function(x) nv_tensor(as_array(x), dtype(x)),
    constant = function(x) jit(function() nv_reverse(x)),
    array = function(x) as_array(x), vector = function(x) as.vector(x),
    bytes = function(x) nv_write_bin(x)
  )
  value_of <- function(copy, d) {
    if (is.function(copy)) copy <- nv_reverse(copy())
    if (is.raw(copy)) copy <- nv_read_bin(copy, d)
    as.vector(if (is_tensor(copy)) as_array(copy) else copy)
  }
  every(function(d, n, label) {
    old <- shown_values(d, n)
    new <- other_values(d, n)
    changed <- replace(old, c(1, 5), new[c(1, 5)])
    for (name in names(copies)) {
      for (before in c("nothing", "read", "written")) {
        x <- sample_tensor(d, n)
        if (before == "read") call_c("by_read_only", x)
        if (before == "written") call_c("by_pointer", x)
        if (name == "assign") {
          # Without a copy, C code writes to all names of an object; R's own C code copies first.
          copy <- call_c("deep", x)
        } else {
          copy <- copies[[name]](x)
        }
        if (is.function(copy)) copy()
        what <- paste(label, name, before)
        expect_values(value_of(copy, d), old, what)
        call_c("poke", x, c(1, 5), new[c(1, 5)])
        # R's wrapper refers to `x` itself, be it a tensor or any other vector: C code that writes
        # to it although it is shared breaks R's rules.
        if (!(n >= 64L && name %in% c("attribute", "structure", "names", "twice"))) {
          expect_values(value_of(copy, d), old, paste(what, "of a changed one"))
        }
        expect_values(as.vector(as_array(x)), changed, paste(what, "changed"))
        if (is.function(copy) || is.raw(copy)) next
        # And the other way.
        x <- sample_tensor(d, n)
        copy <- if (name == "assign") call_c("shallow", x) else copies[[name]](x)
        if (!is_tensor(copy)) next
        call_c("poke", copy, c(1, 5), new[c(1, 5)])
        expect_values(value_of(copy, d), changed, paste(what, "changed copy"))
        expect_values(as.vector(as_array(x)), old, paste(what, "of a changed copy"))
      }
    }
  })
})

# Collections take long, so one serves tensors of all dtypes and sizes: environments in which `code`
# was evaluated, for each.
all_cases <- function(code) {
  code <- substitute(code)
  frame <- parent.frame()
  cases <- list()
  every(function(d, n, label) {
    case <- list2env(list(d = d, n = n, label = label), parent = frame)
    eval(code, case)
    cases[[label]] <<- case
  })
  cases
}

test_that("pointers stay valid over collections and joist's operations", {
  cases <- all_cases({
    x <- sample_tensor(d, n)
    pointer <- call_c("hold", x)
    old <- want <- shown_values(d, n)
    new <- other_values(d, n)
  })
  # NULL is a collection.
  steps <- expression(
    NULL, nv_reverse(x), as_array(x), x == x, call_c("deep", x), serialize(x, NULL),
    jit(nv_reverse)(x), call_c("by_pointer", x), nv_reshape(x, c(2L, n / 2L)), NULL
  )
  for (k in seq_along(steps)) {
    for (case in cases) {
      with(case, {
        at <- (k - 1) %% n + 1
        call_c("poke_held", pointer, at, new[at])
        want[at] <- new[at]
      })
    }
    if (is.null(steps[[k]])) gc()
    for (case in cases) {
      eval(steps[[k]], case)
      with(case, {
        expect_values(call_c("held", pointer), want, paste(label, "pointer", k))
        expect_values(as.vector(as_array(x)), want, paste(label, "tensor", k))
        call_c("poke_held", pointer, at, old[at])
        want[at] <- old[at]
        expect_values(as.vector(as_array(x)), want, paste(label, "back", k))
      })
    }
  }
})

test_that("pointers to read through stay valid while the tensor is assigned to", {
  cases <- all_cases({
    x <- sample_tensor(d, n)
    pointer <- call_c("hold_read_only", x)
    new <- other_values(d, n)
  })
  for (k in 1:4) {
    for (case in cases) with(case, x[k] <- nv_tensor(new[k], d))
    invisible(gc())
    for (case in cases) {
      with(case, {
        expect_length(call_c("held", pointer), n)
        expect_values(call_c("by_read_only", x)[1:4], replace(shown_values(d, 4L), 1:k, new[1:k]))
      })
    }
  }
})

test_that("code that calls back writes to what it was given", {
  every(function(d, n, label) {
    new <- other_values(d, n)
    x <- sample_tensor(d, n)
    y <- NULL
    frame <- environment()
    call_c("write_after", x, quote({
      y <- nv_reverse(x)
      gc(full = FALSE)
    }), 1, new[1], frame)
    want <- shown_values(d, n)
    expect_values(as.vector(as_array(y)), rev(want), paste(label, "before"))
    expect_values(as.vector(as_array(x)), replace(want, 1, new[1]), paste(label, "after"))
  })
})

test_that("R's wrappers around tensors, and wrappers around these, are tensors", {
  every(function(d, n, label) {
    x <- sample_tensor(d, n)
    y <- x
    for (k in 1:5) {
      z <- y
      attr(z, "note") <- k
      y <- z
    }
    want <- shown_values(d, n)
    expect_true(call_c("is_altrep", y), label = label)
    expect_values(as.vector(as_array(y)), want, label)
    expect_identical(format(dtype(y)), d)
    expect_values(as.vector(as_array(nv_reverse(y))), rev(want), label)
    new <- other_values(d, n)
    call_c("poke", y, 2, new[2])
    expect_values(as.vector(as_array(y)), replace(want, 2, new[2]), paste(label, "written"))
    expect_values(as.vector(as_array(x)), want, paste(label, "inner"))
    again <- unserialize(serialize(y, NULL))
    expect_values(as.vector(as_array(again)), replace(want, 2, new[2]), paste(label, "saved"))
    z <- y
    z[3] <- nv_tensor(new[3], d)
    expect_values(as.vector(as_array(z)), replace(want, 2:3, new[2:3]), paste(label, "assigned"))
    expect_values(as.vector(as_array(y)), replace(want, 2, new[2]), paste(label, "kept"))
  })
})

test_that("tensors are saved whole, and dput() makes them again", {
  every(function(d, n, label) {
    one <- nv_scalar(sample_values(d, 1L), d)
    x <- sample_tensor(d, n)
    named <- x
    names(named) <- paste0("e", seq_len(n))
    matrix <- nv_tensor(matrix(sample_values(d, n), 2L), d)
    dimnames(matrix) <- list(c("a", "b"), NULL)
    guessed <- nv_tensor(sample_values(d, n), d, ambiguous = d != "bool")
    for (object in list(one, x, named, matrix, guessed, x[integer()])) {
      for (converted in c(FALSE, TRUE)) {
        if (converted) call_c("by_pointer", object)
        for (version in 2:3) {
          for (ascii in c(FALSE, TRUE)) {
            again <- unserialize(serialize(object, NULL, ascii = ascii, version = version))
            expect_identical(again, object, label = label)
            expect_identical(type_of(again), type_of(object), label = label)
            expect_identical(shape(again), shape(object), label = label)
            expect_identical(names(again), names(object), label = label)
            expect_identical(nv_write_bin(again), nv_write_bin(object), label = label)
          }
        }
        text <- paste(utils::capture.output(dput(object, control = c("all", "hexNumeric"))),
          collapse = "\n"
        )
        made <- eval(parse(text = text))
        expect_identical(made, object, label = text)
        expect_identical(type_of(made), type_of(object), label = text)
        expect_identical(shape(made), shape(object), label = text)
        expect_identical(nv_write_bin(made), nv_write_bin(object), label = text)
      }
    }
  })
})

# An error that jumped out of DATAPTR() would leave R's garbage collector disabled.
expect_collects <- function() {
  collected <- FALSE
  local(reg.finalizer(new.env(), function(e) collected <<- TRUE))
  gc(full = FALSE)
  expect_true(collected)
}

# The warnings of a call, and its value.
warned <- function(code) {
  warnings <- list()
  value <- withCallingHandlers(code, warning = function(w) {
    warnings <<- c(warnings, list(w))
    tryInvokeRestart("muffleWarning")
  })
  list(value = value, warnings = warnings)
}

test_that("values that R's types cannot represent are NA, and joist warns about them", {
  big <- list(
    i64 = c("9007199254740993", "-9223372036854775807"), ui64 = c("18446744073709551615"),
    i32 = "-2147483648"
  )
  for (d in names(big)) {
    x <- int_tensor(c("1", "2", "3", big[[d]]), d)
    lost <- length(big[[d]])
    want <- c(1:3, rep(NA, lost))
    if (d != "i32") want <- as.double(want)
    for (read in c("by_read_only", "by_element", "by_pointer")) {
      y <- nv_reverse(nv_reverse(x))
      expect_identical(call_c(read, y), want)
      got <- warned(as_array(y, as = "character"))
      expect_identical(c(got$value), c("1", "2", "3", big[[d]]))
      expect_length(got$warnings, 1L)
      warning <- got$warnings[[1]]
      expect_s3_class(warning, c(
        "joist_view_warning", "joist_warning", "warning", "condition"
      ), exact = TRUE)
      for (part in c(paste(lost, "value"), d, "NA", "as_array(x", "character")) {
        expect_match(conditionMessage(warning), part, fixed = TRUE)
      }
      expect_null(conditionCall(warning)) # the reader's is not known
      # Once for each call that reads.
      expect_length(warned(as_array(y, as = "character"))$warnings, 0L)
      for (call in expression(max(want[1], y), unlist(list(y)), for (e in y) e, call_c(read, y))) {
        eval(call)
        expect_length(warned(as_array(y, as = "character"))$warnings, 1L)
      }
    }
    # A handler that jumps leaves joist and R's collector as they were.
    y <- nv_reverse(nv_reverse(x))
    call_c("by_read_only", y)
    expect_identical(tryCatch(nv_reverse(y), joist_view_warning = function(w) "jumped"), "jumped")
    expect_identical(c(as_array(y, as = "character")), c("1", "2", "3", big[[d]]))
    expect_collects()
  }
  if (requireNamespace("bit64", quietly = TRUE)) {
    expect_error(as_array(nv_tensor(big$i64[1], "i64")), class = "joist_value_error")
  }
})

test_that("a file that was truncated shows NA to R and is an error to joist", {
  skip_on_os("windows")
  for (d in c("f64", "i32", "c128", "f32", "i64", "ui8")) {
    file <- withr::local_tempfile()
    nv_write_npy(nv_tensor(rep(1, 1e5), d), file)
    read <- function() nv_read_npy(file, mmap = TRUE)
    tensors <- list(read(), read(), read(), read())
    plain <- as_array(read())
    con <- file(file, "r+b")
    seek(con, 1000, rw = "write")
    truncate(con)
    close(con)
    ways <- c("by_pointer", "by_read_only", "by_element", "by_region")
    for (k in seq_along(ways)) {
      x <- tensors[[k]]
      got <- if (ways[k] == "by_region") region(x, 99999, 5) else call_c(ways[k], x)
      expect_true(all(is.na(got)), label = paste(d, ways[k]))
      got <- warned(expect_refusal(nv_reverse(x), "joist_value_error", c(basename(file), "short")))
      expect_s3_class(got$warnings[[1]], "joist_view_warning")
      expect_match(conditionMessage(got$warnings[[1]]), "shorter")
      expect_refusal(as_array(x), "joist_value_error", "shorter")
      expect_refusal(serialize(x, NULL), "joist_value_error", "shorter")
    }
    expect_true(all(as.numeric(plain) == 1), label = d) # a copy
    expect_collects()
  }
})

test_that("plain vectors with a tensor's attributes are that tensor", {
  every(function(d, n, label) {
    x <- sample_tensor(d, n)
    plain <- structure(shown_values(d, n), class = "nv_tensor", dtype = d)
    if (n < 64L) expect_false(call_c("is_altrep", plain))
    expect_values(as.vector(as_array(plain)), shown_values(d, n), label)
    expect_identical(nv_write_bin(plain), nv_write_bin(x), label = label)
    expect_identical(nv_reverse(plain), nv_reverse(x), label = label)
    new <- other_values(d, n)
    result <- nv_reshape(plain, n)
    call_c("poke", plain, 1, new[1])
    expect_values(as.vector(as_array(result)), shown_values(d, n), paste(label, "result"))
    expect_values(as.vector(as_array(plain))[1], new[1], paste(label, "plain"))
  })
})

test_that("the same with a collection at every few allocations", {
  on.exit(gctorture2(0L))
  for (d in c(wide(dtypes()), "i4", "f8E8M0FNU")) {
    n <- 100L
    old <- shown_values(d, n)
    new <- other_values(d, n)
    x <- sample_tensor(d, n)
    gctorture2(7L)
    y <- x
    attr(y, "note") <- 1
    pointer <- call_c("hold", y)
    call_c("poke_held", pointer, 1, new[1])
    made <- list(
      as_array(nv_reverse(y)), as_array(call_c("deep", y)), call_c("by_element", y),
      as_array(unserialize(serialize(y, NULL))), call_c("held", pointer), as_array(x)
    )
    gctorture2(0L)
    want <- replace(old, 1, new[1])
    expect_values(as.vector(made[[1]]), rev(want), d)
    for (k in 2:5) expect_values(as.vector(made[[k]]), want, paste(d, k))
    expect_values(as.vector(made[[6]]), old, d)
  }
})

test_that("integers that R cannot see are in the dtype attribute, for what compares and saves", {
  withr::local_options(warn = -1)
  far <- c("9007199254740993", "5", "-9007199254740995")
  other <- c("9007199254740995", "5", "-9007199254740993")
  for (d in c("i64", "ui64")) {
    far <- sub("-", "", far, fixed = TRUE)
    x <- nv_tensor(far, d)
    y <- nv_tensor(sub("-", "", other, fixed = TRUE), d)
    expect_false(base::identical(x, y))
    expect_true(base::identical(x, nv_tensor(far, d)))
    expect_false(base::identical(data.frame(x = x), data.frame(x = y)))
    expect_length(unique(list(x, y, nv_tensor(far, d))), 2L)
    expect_false(identical(serialize(x, NULL, version = 2L), serialize(y, NULL, version = 2L)))
    expect_match(paste(deparse(x), collapse = ""), far[1], fixed = TRUE)
    for (version in 2:3) {
      read <- unserialize(serialize(list(x, y), NULL, version = version))
      expect_identical(as.character(read[[1]]), far)
      expect_true(base::identical(read[[1]], x))
      expect_false(base::identical(read[[2]], x))
    }
  }
  x <- nv_tensor(far, "i64")
  skip_if_not_installed("digest")
  expect_false(digest::digest(x) == digest::digest(y))
  expect_true(digest::digest(x) == digest::digest(nv_tensor(far, "i64")))
})

test_that("the smallest i32 is told from NA by what compares and saves", {
  withr::local_options(warn = -1)
  x <- nv_tensor(c(-2147483648, 5, NA, -2147483648), "i32")
  y <- nv_tensor(c(-2147483648, 5, NA, NA), "i32")
  expect_false(base::identical(x, y))
  expect_length(unique(list(x, y, x + 0L)), 2L)
  expect_identical(attr(x, "dtype"), c("i32", "1 4"))
  text <- c("-2147483648", "5", NA, "-2147483648")
  for (version in 2:3) {
    read <- unserialize(serialize(x, NULL, version = version))
    expect_identical(as.character(read), text)
    expect_true(base::identical(read, x))
  }
  expect_identical(as.character(eval(parse(text = deparse(x)))), text)
  moved <- structure(c(NA, 5L, NA, 1L), class = "nv_tensor", dtype = c("i32", "1 4"))
  for (dtype in list(c("i32", "1 4"), c("i32", "5"), c("i32", "0"), c("i32", "x"))) {
    attr(moved, "dtype") <- dtype
    expect_error(as.character(moved), "not all of these elements", class = "joist_value_error")
  }
  # NA that others write through a pointer, and what is assigned afterwards
  z <- nv_tensor(1:4, "i32")
  call_c("poke", z, 1, NA_integer_)
  expect_identical(attr(z, "dtype"), "i32")
  expect_identical(as.character(z), c(NA, "2", "3", "4"))
  z[2] <- x[1]
  expect_identical(attr(z, "dtype"), c("i32", "2"))
  z[2] <- 2L
  expect_identical(attr(z, "dtype"), "i32")
})

test_that("that attribute follows the elements", {
  withr::local_options(warn = -1)
  big <- nv_tensor("9007199254740993", "i64")
  x <- nv_tensor(rep("1", 300), "i64")
  expect_true(base::identical(x, structure(rep(1, 300), class = "nv_tensor", dtype = "i64")))
  mark <- function(x) attr(x, "dtype")
  expect_identical(mark(x), "i64")
  y <- x
  y[7] <- big
  y[9] <- big + 2L
  expect_identical(mark(y), c("i64", "9007199254740993 9007199254740995"))
  expect_identical(mark(x), "i64")
  y[7] <- 1L
  expect_identical(mark(y), c("i64", "9007199254740995"))
  z <- nv_mask(y, replace(rep(FALSE, 300), 9, TRUE))
  expect_identical(mark(z), "i64")
  z[9] <- big
  expect_identical(mark(z), c("i64", "9007199254740993"))
  is.na(z) <- 9
  expect_identical(mark(z), "i64")
  all_big <- mark(x * 0L + big * 1L + 0L)
  expect_identical(all_big[2], paste(rep("9007199254740993", 128), collapse = " "))
  expect_length(mark(x * 0L + big * 1L), 4L)
  expect_identical(mark(structure(y, names = paste0("n", 1:300))), mark(y))
  expect_identical(mark(big - big), "i64")
})

test_that("integers are put back only where they were", {
  withr::local_options(warn = -1)
  x <- nv_tensor(c("9007199254740993", "9007199254740995", NA), "i64")
  plain <- function(k) {
    values <- suppressWarnings(unclass(x)[seq_along(x)])
    structure(values[k], class = "nv_tensor", dtype = attr(x, "dtype"))
  }
  expect_identical(as.character(plain(1:3)), as.character(x))
  expect_identical(as.character(plain(c(3, 1, 2))), c(NA, "9007199254740993", "9007199254740995"))
  for (k in list(c(2, 1, 3), 1, 2, c(1, 1), c(1, 2, 1))) {
    expect_error(as.character(plain(k)), "is lost", class = "joist_value_error")
  }
  text <- suppressWarnings(eval(parse(text = deparse(x))))
  expect_error(as.character(text), "lost their places", class = "joist_value_error")
})

test_that("what base R computes of such an integer is not taken for it", {
  x <- nv_tensor(c("9007199254740993", "2"), "i64")
  suppressWarnings({
    computed <- unclass(x) + 1
    class(computed) <- class(x)
    expect_error(as.character(computed), "position 1 is lost", class = "joist_value_error")
    copied <- unclass(x)[2:1]
    attributes(copied) <- attributes(x)
    expect_identical(as.character(copied), c("2", "9007199254740993"))
  })
})
