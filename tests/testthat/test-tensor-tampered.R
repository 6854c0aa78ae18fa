# What makes a tensor is in attributes and, for tensors that earlier versions saved, in the fields
# of an S4 object. They may be anything: an error, or the tensor that they describe, never a crash.
with_field <- function(x, field, value) {
  attr(x, field) <- value
  x
}
saved <- readRDS(test_path("saved", "0.1.0.rds"))$tensors
# A tensor as earlier versions stored it, with separate fields.
old_tensor <- function(dtype, payload, shape) {
  x <- with_field(saved[[dtype]]$tensor, "payload", payload)
  with_field(x, "shape", shape)
}
tampered <- function(field, value) with_field(old_tensor("i32", 1:3, 3L), field, value)

test_that("tensors whose parts were changed are refused", {
  parts <- list(
    tampered("shape", rep(1L, 5000)), tampered("shape", -3L), tampered("shape", NA_integer_),
    tampered("shape", rep(65536L, 4)), tampered("shape", 4L), tampered("dtype", "f33"),
    tampered("dtype", character()), tampered("dtype", 7), tampered("dtype", "f64"),
    with_field(nv_tensor(1:3, "i32"), "dtype", "f33"), with_field(nv_tensor(1:3), "dtype", NULL),
    with_field(nv_aval("i32", 3), "dtype", "f33"), with_field(nv_aval("i32", 3), "dtype", NULL),
    tampered("ambiguous", logical()), tampered("payload", "a"), tampered("payload", 1:2),
    tampered("payload", NULL), tampered("dtype", NULL), tampered("shape", NULL),
    tampered("ambiguous", list(TRUE)), tampered("payload", list(1L, 2L, 3L)),
    tampered("payload", quote(x)), tampered("shape", list(3L)),
    structure(list(), class = "nv_tensor"), structure(list(1), class = "nv_tensor"),
    structure(c(1, 2, 3), class = "nv_tensor"), structure(function(x) x, class = "nv_tensor"),
    structure("a", class = "nv_tensor", dtype = "i32")
  )
  expect_identical(as_array(old_tensor("i32", 1:3, 3L)), 1:3)
  for (x in parts) {
    expect_error(nv_add(x, 1L), class = "joist_error")
    expect_error(nv_reduce_sum(x), class = "joist_error")
    expect_error(as_array(x), class = "joist_error")
    expect_error(jit(function(a) a)(x), class = "joist_error")
  }
  expect_error(common_dtype(tampered("dtype", "f33"), "f32"), class = "joist_dtype_error")
})

test_that("a result does not change with its operand", {
  x <- nv_tensor(matrix(1:6, 2))
  y <- x + x
  dim(y)[1:2] <- 3:2
  expect_identical(shape(x), 2:3)
  expect_identical(shape(y), 3:2)
  z <- x + x
  attr(x, "dim")[1:2] <- c(6L, 1L)
  expect_identical(shape(z), 2:3)
  expect_identical(shape(x), c(6L, 1L))
})

test_that("saved elements that were changed are read as others, or refused", {
  for (d in dtypes()) {
    for (n in c(0L, 3L)) {
      bytes <- serialize(sample_tensor(d, n), NULL, xdr = FALSE)
      # The list of payload and dtype: what stands for the class, and attributes that are not a
      # list, end R itself (see tests/fuzz/flips.R).
      from <- grepRaw(as.raw(c(19, 0, 0, 0, 2, 0, 0, 0)), bytes, fixed = TRUE)
      for (at in seq(from, grepRaw(charToRaw("class"), bytes, fixed = TRUE) - 16L)) {
        # 255 would be the type of a reference, whose number R does not check.
        for (byte in unique(c(0L, 127L, bitwXor(as.integer(bytes[at]), 4L)))) {
          damaged <- replace(bytes, at, as.raw(byte))
          # A length that is now 2^31 is an allocation that R refuses, or takes minutes with.
          size <- max(readBin(damaged[at - 3:0], "integer"), readBin(damaged[at + 0:3], "integer"))
          if (!is.na(size) && size > 1e6) next
          x <- tryCatch(suppressWarnings(unserialize(damaged)), error = identity)
          if (!inherits(x, "nv_tensor")) next
          tried <- try(suppressWarnings(list(shape(x), as_array(x), x == x, dim(x))), silent = TRUE)
          expect_true(inherits(tried, "try-error") || is.list(tried), label = paste(d, n, at))
        }
      }
    }
  }
  bytes <- serialize(nv_tensor(c(TRUE, FALSE, TRUE)), NULL, xdr = FALSE)
  payload <- grepRaw(as.raw(c(3, 0, 0, 0, 1, 0, 1)), bytes, fixed = TRUE) + 4L
  bytes[payload] <- as.raw(2)
  expect_error(unserialize(bytes), "damaged", class = "joist_value_error")
})

test_that("positions and index vectors that do not fit are refused in C, too", {
  x <- nv_tensor(1:6, "i16", shape = c(2, 3))
  ns <- asNamespace("joist")
  subset_of <- function(indices) .Call(ns$joist_r_subset, x, indices, TRUE, FALSE)
  for (indices in list(list(), list(1L, 1L, 1L), list(7L), list(3L, NULL), list("a"), NULL, 7L)) {
    expect_error(subset_of(indices), class = "joist_error")
    code <- function() .Call(ns$joist_r_assign, x, indices, 0L, TRUE, FALSE)
    expect_error(code(), class = "joist_error")
  }
  operation <- function(...) .Call(ns$joist_r_operation, ...)
  far <- nv_tensor(c(0, 6), "i64")
  for (bad in list(far, nv_tensor(c(0, -1), "i64"), nv_tensor(c(0, 1), "f64"))) {
    expect_error(operation("take", list(x, bad), NULL), class = "joist_error")
    expect_error(operation("put", list(x, bad, x[[1]]), NULL), class = "joist_error")
  }
  for (at in list(
    list(start = c(1, 1), stop = c(3, 1)), list(start = c(1, 1), stop = c(-1, 1)),
    list(start = c(2, 1), stop = c(0, 1), step = c(-1, 1)), list(start = c(0, 1), stop = c(1, 1)),
    list(start = c(1, 1), stop = c(1, 1), shape = 2), list(start = 1, stop = c(1, 4)),
    list(start = c(1, 1), stop = c(2, 1), step = c(0, 1)), list(start = c(2^40, 1), stop = c(1, 1))
  )) {
    expect_error(operation("slice", list(x), at), class = "joist_shape_error")
  }
  expect_error(
    operation("update", list(x, x[[1]]), list(start = c(3, 1), stop = c(3, 1))),
    class = "joist_shape_error"
  )
  # A mask with bytes other than 0 and 1 chooses by their lowest bit, and writes nowhere else.
  mask <- old_tensor("bool", as.raw(c(255, 2, 3, 4, 0, 1)), 6L)
  y <- nv_tensor(1:6, "i16")
  expect_identical(as_array(y[mask]), c(1L, 3L, 6L))
  expect_error(.Call(ns$joist_r_concatenate, list(), 1L, NULL), class = "joist_shape_error")
  expect_error(nv_concatenate(x, x, dim = 0L), class = "joist_shape_error")
  expect_error(nv_concatenate(x, x, dim = NA), class = "joist_shape_error")
})

test_that("a traced tensor of another dtype than its trace is refused, another shape is not", {
  forged <- function(field, value) {
    function(a) {
      b <- with_field(nv_add(a, a), field, value)
      nv_add(b, b)
    }
  }
  x <- nv_tensor(1:3, "f32")
  expect_error(jit(forged("dtype", "c128"))(x), class = "joist_value_error")
  expect_error(jit(forged("dtype", "f33"))(x), class = "joist_value_error")
  expect_error(jit(forged("dim", c(3L, 1000L)))(x), "dim")
  f <- forged("dim", c(3L, 1L))
  expect_identical(jit(f)(x), f(x))
})

test_that("entry points refuse what they do not know", {
  ns <- asNamespace("joist")
  call <- function(entry, ...) .Call(ns[[entry]], ...)
  x <- nv_tensor(1:6, "f32", shape = c(2, 3))
  for (name in list(character(), NULL, 1, NA_character_, c("add", "sub"), "no such")) {
    expect_error(call("joist_r_op1", name, x), class = "joist_error")
    expect_error(call("joist_r_operator1", name, x), class = "joist_error")
    expect_error(call("joist_r_operation", name, list(x), NULL), class = "joist_error")
  }
  # Operations of another number of operands, or of another family.
  for (name in c("add", "clamp", "convert", "ifelse")) {
    expect_error(call("joist_r_op1", name, x), class = "joist_error")
  }
  expect_error(call("joist_r_summary", "add", x), class = "joist_error")
  for (operands in list(NULL, 1, list(), list(x, x), list("a"), list(NULL))) {
    expect_error(call("joist_r_operation", "sort", operands, list(dim = 1)), class = "joist_error")
  }
  # Attributes that the operation does not have, and those of a wrong type.
  for (attributes in list(
    list(dims = 1), list(decreasing = 1), list(decreasing = NA), list(dim = "a"), list(dim = 3),
    list(nothing = 1), 1, list(dim = 1, shape = 2)
  )) {
    expect_error(call("joist_r_operation", "sort", list(x), attributes), class = "joist_error")
  }
})

test_that("no attribute of any operation is believed", {
  table <- as.data.frame(.Call(asNamespace("joist")$joist_r_op_names))
  x <- nv_tensor(1:6, "f32", shape = c(2, 3))
  values <- list(
    2147483647, -2147483647, rep(2147483647, 32), rep(-2147483647, 32), 0:31, rep(1, 33), 1.5,
    integer(), 0L, TRUE, NA, "f32", NaN, Inf, NULL
  )
  for (row in seq_len(nrow(table))) {
    names <- strsplit(table$attributes[row], " ")[[1]]
    for (n in 0:3) {
      for (value in values) {
        attributes <- stats::setNames(rep(list(value), length(names)), names)
        tried <- try(
          .Call(
            asNamespace("joist")$joist_r_operation, table$name[row], rep(list(x), n), attributes
          ),
          silent = TRUE
        )
        fits <- inherits(tried, "try-error") || is_tensor(tried) || is.list(tried)
        expect_true(fits, label = table$name[row])
      }
    }
  }
})

test_that("entry points refuse what does not fit", {
  ns <- asNamespace("joist")
  call <- function(entry, ...) .Call(ns[[entry]], ...)
  x <- nv_tensor(1:6, "f32", shape = c(2, 3))
  for (dim in list(7L, 0L, -4L, NA, 1.5, 1:2, "a")) {
    expect_error(call("joist_r_operation", "cumsum", list(x), list(dim = dim)),
      class = "joist_shape_error"
    )
  }
  bins <- nv_tensor(c(1L, 2L))
  for (dtype in setdiff(dtypes(), "i64")) {
    expect_error(
      call("joist_r_operation", "tabulate", list(bins), list(shape = 1e5, dtype = dtype)),
      class = "joist_dtype_error"
    )
  }
  for (permutation in list(c(2, 2), 1, c(1, 2, 3), c(0, 1), c(1, NA), "a")) {
    expect_error(
      call("joist_r_operation", "transpose", list(x), list(permutation = permutation)),
      class = "joist_shape_error"
    )
  }
  expect_error(call("joist_r_operation", "pad", list(x, 0), list(low = 1.5)),
    class = "joist_shape_error"
  )
  expect_error(call("joist_r_concatenate", list(x, x), 1L, list(3L)), class = "joist_shape_error")
  expect_error(call("joist_r_as_array", x, NULL, FALSE, -1), class = "joist_value_error")
  expect_error(call("joist_r_format", x, 7L, NA), class = "joist_value_error")
  expect_error(call("joist_r_empty_indices", NULL, 1L), class = "joist_value_error")
  expect_error(call("joist_r_empty_indices", quote(f(x)), NA), class = "joist_value_error")
})

test_that("invalid caches and traces of jit() are refused", {
  ns <- asNamespace("joist")
  call <- function(entry, ...) .Call(ns[[entry]], ...)
  x <- nv_tensor(1:3, "f32")
  begun <- call("joist_r_trace_begin", list(x), TRUE, NULL)
  for (state in list(NULL, 1L, x, begun[[1]], begun[[2]])) {
    expect_error(call("joist_r_jit_programs", state), class = "joist_value_error")
    expect_error(call("joist_r_jit_call", state, list(x), TRUE, NULL, NULL, NULL),
      class = "joist_value_error"
    )
  }
  state <- call("joist_r_jit_state", 4L, NULL)
  for (dynamic in list(logical(), c(TRUE, TRUE), 1L)) { # NULL: no argument is static
    expect_error(call("joist_r_jit_call", state, list(x), dynamic, NULL, NULL, NULL),
      class = "joist_value_error"
    )
    expect_error(call("joist_r_trace_begin", list(x), dynamic, NULL), class = "joist_value_error")
  }
  # A program is kept for arguments that it can read, once it has ended.
  expect_error(call("joist_r_jit_run", state, begun[[1]], list(x), TRUE, NULL, NULL, NULL),
    class = "joist_value_error"
  )
  ended <- call("joist_r_trace_end", begun[[1]], begun[[2]][[1]], NULL)
  expect_error(call("joist_r_trace_end", begun[[1]], begun[[2]][[1]], NULL),
    class = "joist_value_error"
  )
  for (arguments in list(list(), list(x, x), list(x[1:2]), list(1), list(nv_convert(x, "f64")))) {
    expect_error(
      call(
        "joist_r_jit_run", state, ended, arguments, rep(TRUE, length(arguments)), NULL, NULL, NULL
      ),
      class = "joist_value_error"
    )
  }
})

test_that("an invalid policy for implicit promotion is refused", {
  ns <- asNamespace("joist")
  state <- .Call(ns$joist_r_jit_state, 4L, NULL)
  places <- new.env()
  bad <- list(
    1L, list(), list(c(0L, 1L)), list(c(0, 1), places), list(0L, places), list(c(0L, 1L), NULL)
  )
  for (policy in bad) {
    expect_error(.Call(ns$joist_r_set_promotion, NULL, policy, FALSE), class = "joist_value_error")
    expect_error(.Call(ns$joist_r_jit_call, state, list(1), TRUE, NULL, policy, NULL),
      class = "joist_value_error"
    )
  }
  expect_silent(nv_scalar(1, "f32") + nv_scalar(1, "f64"))
})

test_that("chunks that are not one for each path, or not alike, are refused", {
  entry <- asNamespace("joist")$joist_r_write_chunks
  folder <- withr::local_tempdir()
  paths <- file.path(folder, c("a", "b"))
  write <- function(chunks) .Call(entry, chunks, paths, character(), FALSE, FALSE)
  x <- nv_tensor(1:3, "i16")
  for (chunks in list(list(), list(x), list(x, x, x), NULL, x)) {
    expect_error(write(chunks), class = "joist_value_error")
  }
  for (other in list(x[1:2], nv_convert(x, "i8"), nv_reshape(x, c(3, 1)))) {
    expect_error(write(list(x, other)), class = "joist_shape_error")
  }
  expect_identical(list.files(folder), character())
  write(list(x, x + 1L))
  expect_identical(readBin(paths[2L], "integer", 4L, 2L, endian = "little"), 2:4)
})

test_that("lists that are deeper than the stack are refused", {
  skip_on_os("windows") # where R does not know how large its stack is
  out <- run_in_fresh_r(c(
    "x <- joist::nv_tensor(1:3); f <- joist::jit(function(a) a)",
    "for (k in 1:2e6) x <- list(x)", "r <- tryCatch(f(x), error = function(e) \"refused\")",
    "cat(r)"
  ))
  expect_identical(out[length(out)], "refused")
})

test_that("rule sets whose text was changed are refused", {
  changed <- function(from, to) {
    structure(sub(from, to, unclass(promotion_rules("anvil")), fixed = TRUE), class = "joist_rules")
  }
  refused <- function(rules) {
    expect_error(common_dtype("f32", "i32", rules = rules), class = "joist_promotion_error")
  }
  refused(structure("", class = "joist_rules"))
  refused(changed("# literals: bool", "# literals: f32"))
  refused(changed("edge,bool?,", "edge,,"))
  refused(changed("edge", "ledge"))
  refused(changed("# id: anvil", paste0("# id: ", strrep("a", 24))))
  refused(structure(NA_character_, class = "joist_rules"))
  refused(structure(raw(130000), class = "joist_rules"))
})

test_that("entries of C refuse what no function of joist gives them", {
  refused <- function(entry, ..., class = "joist_value_error") {
    expect_error(.Call(getFromNamespace(entry, "joist"), ...), class = class, label = entry)
  }
  misshapen <- function(...) refused(..., class = "joist_shape_error")
  x <- nv_tensor(matrix(1:6, 2))
  refused("joist_r_with_shape", 1:4, c(2L, 2L))
  refused("joist_r_to_dlpack", 1:4, TRUE)
  for (codec in .Call(getFromNamespace("joist_r_codecs", "joist"))) {
    for (size in c(0, -1, NaN, 1e300)) refused("joist_r_pack", codec, raw(100), size)
    for (most in c(-1, NaN, 1e300)) refused("joist_r_unpack", codec, raw(100), most)
    refused("joist_r_unpack", codec, "a", 10)
  }
  part <- nv_tensor(matrix(1L, 1, 1))
  for (start in c(NA, 0L, -1L, 4L, .Machine$integer.max)) {
    misshapen("joist_r_place", x, c(start, 1L), part, FALSE)
  }
  # Operations and their attributes.
  refused("joist_r_operation", "sort", x, NULL)
  refused("joist_r_operation", "while", list(x), NULL)
  refused("joist_r_operation", "reshape", list(x), list(dims = 1))
  misshapen("joist_r_operation", "sort", list(x), list(dim = 1.5))
  misshapen("joist_r_operation", "transpose", list(x), list(permutation = "a"))
  misshapen("joist_r_operation", "transpose", list(x), list(permutation = c(1.5, 2)))
  # Indices.
  refused("joist_r_empty_indices", 1, 2L)
  refused("joist_r_empty_indices", quote(x[1]), -1L)
  misshapen("joist_r_subset", x, list(1L, 1L, 1L), FALSE, FALSE)
  misshapen("joist_r_subset", x, 100L, FALSE, FALSE)
  misshapen("joist_r_subset", x, NULL, FALSE, FALSE)
  misshapen("joist_r_concatenate", list(x, x), 1.5, NULL)
  misshapen("joist_r_concatenate", list(x, x), 1, list(1L))
  # Functions that are traced, and recorded.
  refused("joist_r_trace_begin", list(x), "a", NULL)
  refused("joist_r_set_promotion", NULL, list(1, 2), FALSE)
  refused("joist_r_set_promotion", NULL, NULL, 1L)
  refused("joist_r_push_trace", list(1, 2), TRUE, NULL)
  call_entry <- function(entry, ...) .Call(getFromNamespace(entry, "joist"), ...)
  begun <- call_entry("joist_r_trace_begin", list(nv_aval("f32", c(2, 3))), NULL, NULL)
  for (mark in c(NA, 0L, 1L, -1L)) {
    expect_null(call_entry("joist_r_trace_rule", begun[[1L]], mark))
  }
  # Blocks.
  traced <- begun[[2L]]
  lazy <- nv_chunked(nv_tensor(matrix(1, 2, 3)), c(1L, 3L)) + 1
  program <- attr(lazy, "program")
  for (text in list(x, NULL, c(program, program), "no program", substr(program, 1L, 9L))) {
    refused("joist_r_block_plan", text, FALSE, 2)
  }
  for (parts in list(list(), logical(), 0L)) refused("joist_r_block_plan", program, parts, 2)
  for (rank in list(NA, -1, 99)) refused("joist_r_block_plan", program, FALSE, rank)
  plan <- call_entry("joist_r_block_plan", program, FALSE, 2)[[1L]]
  for (other in list(begun[[1L]], NULL, 1, unserialize(serialize(plan, NULL)))) {
    refused("joist_r_block_append", other, c(2L, 3L), FALSE, traced)
  }
  refused("joist_r_block_append", plan, c(2L, 3L), FALSE, list())
  refused("joist_r_block_append", plan, c(2L, 3L), FALSE, list(x))
  refused("joist_r_block_append", plan, c(2L, 3L), NA, traced)
  for (damage in list(NULL, list(), list(1), list(x))) {
    damaged <- lazy
    attr(damaged, "leaves") <- damage
    refused("joist_r_block_round", damaged, NULL)
  }
  refused("joist_r_to_arrow", x, NULL, list(NULL, NULL))
  refused("joist_r_to_arrow", x, NULL, list())
})

test_that("attributes that damaged bytes leave without an end do not cause an endless loop", {
  skip_if(getRversion() >= "4.6.0") # R walks them itself there
  bytes <- serialize(nv_tensor(1:3, "i8"), NULL)
  bytes[length(bytes)] <- as.raw(0xfc) # the end of a list becomes the value of an unset variable
  # R's own names() and dim() would go on for ever.
  x <- unserialize(bytes)
  expect_identical(nv_write_bin(x), as.raw(1:3))
  expect_identical(shape(x), 3L)
})
