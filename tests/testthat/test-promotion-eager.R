# The dtype and the flag of results are what the promotion tables say: for every rule set and
# every ordered pair of nodes, with data, without, and in jit().

nodes <- c(dtypes(), paste0(dtypes(), "?"))

aval_of <- function(node, shape = 3L) {
  nv_aval(sub("[?]", "", node), shape, ambiguous = endsWith(node, "?"))
}

outcome <- function(code) {
  tryCatch(type_of(code), joist_promotion_error = function(e) "-")
}

# Dtypes of bare R numbers; under array_api two of them have no common one.
defaults_under <- function(rules) {
  values <- list("i*" = 1L, "f*" = 1, "c*" = 1i)
  vapply(values, function(v) format(with_promotion(rules, result_dtype(v))$dtype), "")
}

# The table's cell with weak results (i*, f*, c*) as ambiguous tensors of the default dtype,
# and "-" for nodes that no tensor can have.
cells_as_types <- function(rules, lhs, rhs, operation = "common") {
  table <- as_living(rules, promotion_table(rules, lhs, rhs, operation))
  defaults <- defaults_under(rules)
  weak <- table %in% names(defaults)
  table[weak] <- paste0(defaults[table[weak]], "?")
  table[table == "b*"] <- "bool?"
  table[!sub("[?]", "", table) %in% dtypes()] <- "-"
  table
}

# For all pairs; a list of matrices by what computes them.
results_under <- function(rules, lhs, rhs) {
  ways <- list(
    common_dtype = function(a, b) {
      type <- common_dtype(
        sub("[?]", "", a), sub("[?]", "", b), endsWith(a, "?"), endsWith(b, "?")
      )
      paste0(format(type$dtype), if (type$ambiguous) "?")
    },
    nv_add = function(a, b) type_of(nv_add(avals[[a]], avals[[b]])),
    nv_mul = function(a, b) type_of(avals[[a]] * avals[[b]]),
    result_dtype = function(a, b) {
      type <- result_dtype(a, b)
      paste0(format(type$dtype), if (type$ambiguous) "?")
    },
    jit = function(a, b) type_of(compiled(avals[[a]], avals[[b]]))
  )
  avals <- stats::setNames(lapply(nodes, aval_of), nodes)
  compiled <- jit(nv_add)
  lapply(ways, function(way) {
    one <- function(a, b) {
      tryCatch(way(a, b), joist_promotion_error = function(e) "-")
    }
    with_promotion(rules, outer(lhs, rhs, Vectorize(one)))
  })
}

expect_same_cells <- function(got, want, lhs, rhs, label) {
  differ <- which(got != want, arr.ind = TRUE)
  if (nrow(differ) == 0L) {
    succeed()
  } else {
    shown <- utils::head(differ, 5)
    fail(paste0(label, ": ", nrow(differ), " cells differ: ", paste0(
      lhs[shown[, 1]], " x ", rhs[shown[, 2]], " want ", want[shown], " got ", got[shown],
      collapse = "; "
    )))
  }
}

# Other built-in rules leave dtypes of up to a byte undefined.
knows_small <- c(
  "anvil", "anvl", "jax", "jax_x32", "jax_strict", "jax_strict_x32", "numpy", "torch"
)

for (rules in promotion_rule_sets()$id) {
  test_that(paste("all pairs of dtypes promote as the table says under", rules), {
    if (!(rules %in% knows_small)) nodes <- c(documented_dtypes, paste0(documented_dtypes, "?"))
    results <- results_under(rules, nodes, nodes)
    for (way in names(results)) {
      operation <- switch(way, nv_add = , jit = "add", nv_mul = "multiply", "common")
      table <- cells_as_types(rules, nodes, nodes, operation)
      expect_same_cells(results[[way]], table, nodes, nodes, paste(rules, way))
    }
  })
}

test_that("published tables are what additions give", {
  published <- c(
    anvil = "anvil_known.csv", anvl = "anvl_2026_known.csv", jax = "jep9407_jax_numpy.csv",
    jax_lax = "jep9407_jax_lax.csv", numpy = "jep9407_numpy.csv",
    numpy_legacy = "jep9407_numpy.csv", dask_legacy = "jep9407_numpy.csv",
    cupy = "jep9407_numpy.csv",
    torch = "jep9407_pytorch.csv", tensorflow = "jep9407_tensorflow.csv",
    array_api = "array_api_issue.csv"
  )
  for (k in seq_along(published)) {
    rules <- names(published)[k]
    file <- system.file("extdata", published[[k]], package = "joist", mustWork = TRUE)
    cells <- as.matrix(utils::read.csv(file,
      row.names = 1, check.names = FALSE, colClasses = "character", na.strings = character()
    ))
    cells[cells == "i1"] <- "bool"
    dimnames(cells) <- lapply(dimnames(cells), function(x) sub("^i1$", "bool", x))
    cells <- as_living(rules, cells)
    known <- intersect(rownames(cells), documented_dtypes)
    literals <- list("i*" = 1L, "f*" = 1.5, "c*" = 1i)
    operand <- function(name) {
      if (name %in% documented_dtypes) nv_tensor(c(1, 1), name) else literals[[name]]
    }
    defaults <- defaults_under(rules)
    pairs <- expand.grid(a = rownames(cells), b = colnames(cells), stringsAsFactors = FALSE)
    pairs <- pairs[pairs$a %in% known | pairs$b %in% known, ]
    want <- cells[cbind(pairs$a, pairs$b)]
    # Weak results show the default, as a guess.
    weak <- want %in% names(defaults)
    want[weak] <- paste0(defaults[want[weak]], "?")
    got <- with_promotion(rules, mapply(
      function(a, b) outcome(nv_add(operand(a), operand(b))), pairs$a, pairs$b
    ))
    wrong <- got != want
    expect_identical(
      sprintf("%s: %s + %s want %s got %s", rules, pairs$a, pairs$b, want, got)[wrong], character()
    )
  }
})

test_that("data of rank 0 and 1 promotes like no data, eager and in jit", {
  for (rules in c("anvil", "jax", "numpy", "anvl")) {
    nodes <- c(documented_dtypes, paste0(documented_dtypes, "?"))
    table <- cells_as_types(rules, nodes, nodes)
    for (shape in list(integer(), 2L)) {
      tensors <- lapply(nodes, function(node) {
        nv_tensor(rep(1, prod(shape)), sub("[?]", "", node), shape, endsWith(node, "?"))
      })
      compiled <- jit(nv_mul)
      eager <- traced <- table
      with_promotion(rules, for (i in seq_along(nodes)) {
        for (j in seq_along(nodes)) {
          eager[i, j] <- outcome(nv_mul(tensors[[i]], tensors[[j]]))
          traced[i, j] <- outcome(compiled(tensors[[i]], tensors[[j]]))
        }
      })
      label <- paste(rules, "rank", length(shape))
      expect_same_cells(eager, table, nodes, nodes, label)
      expect_same_cells(traced, table, nodes, nodes, paste(label, "jit"))
    }
  }
})

test_that("R values are ambiguous dtypes of the rule set", {
  values <- list(1L, 1.5, 1i)
  for (rules in c("anvil", "anvl", "jax", "jax_x32", "numpy", "tensorflow")) {
    defaults <- unname(defaults_under(rules))
    for (k in seq_along(values)) {
      node <- paste0(defaults[k], "?")
      want <- cells_as_types(rules, dtypes(), node)
      back <- cells_as_types(rules, node, dtypes())
      got <- vapply(dtypes(), function(d) {
        with_promotion(rules, outcome(nv_add(aval_of(d), values[[k]])))
      }, "")
      turned <- vapply(dtypes(), function(d) {
        with_promotion(rules, outcome(nv_add(values[[k]], aval_of(d))))
      }, "")
      expect_same_cells(cbind(got), want, dtypes(), node, rules)
      expect_same_cells(rbind(turned), back, node, dtypes(), rules)
    }
    # TRUE is a known bool.
    got <- vapply(dtypes(), function(d) {
      with_promotion(rules, outcome(nv_add(aval_of(d), TRUE)))
    }, "")
    expect_same_cells(cbind(got), cells_as_types(rules, dtypes(), "bool"), dtypes(), "bool", rules)
  }
})

test_that("PyTorch's categories come before ranks", {
  add <- function(x, y) with_promotion("torch", outcome(nv_add(x, y)))
  dimmed <- function(d) aval_of(d, 3L)
  zero <- function(d) aval_of(d, integer())
  # https://pytorch.org/docs/stable/tensor_attributes.html#type-promotion
  expect_identical(add(dimmed("i8"), zero("i64")), "i8")
  expect_identical(add(dimmed("f32"), zero("f64")), "f32")
  expect_identical(add(dimmed("i8"), zero("f64")), "f64")
  expect_identical(add(dimmed("i64"), 1.5), "f32")
  expect_identical(add(dimmed("bool"), 1L), "i64")
  expect_identical(add(zero("i8"), 1L), "i8")
  expect_identical(add(zero("ui16"), TRUE), "ui16") # two tensors have no common dtype
  expect_identical(add(zero("ui16"), zero("bool")), "-")
  expect_identical(add(zero("i8"), zero("i64")), "i64")
  expect_identical(add(dimmed("f64"), zero("c64")), "c128")
  expect_identical(add(dimmed("f32"), zero("i64")), "f32")
  expect_identical(add(dimmed("ui8"), dimmed("i8")), "i16")
  expect_identical(add(dimmed("f16"), dimmed("bf16")), "f32")
})

test_that("NumPy 1 looks at values, as np.result_type() does", {
  type <- function(x, y, rules = "numpy_legacy") with_promotion(rules, outcome(nv_add(x, y)))
  i8 <- nv_tensor(c(1, 1), "i8")
  ui8 <- nv_tensor(c(1, 1), "ui8")
  f32 <- nv_tensor(c(1, 1), "f32")
  expect_identical(type(i8, 100L), "i8")
  expect_identical(type(i8, 200L), "i16")
  expect_identical(type(ui8, -1L), "i16")
  expect_identical(type(ui8, 300L), "ui16")
  expect_identical(type(f32, 1e300), "f64")
  expect_identical(type(f32, 1e30), "f32")
  expect_identical(type(i8, nv_scalar(5, "i64")), "i8")
  expect_identical(type(i8, nv_scalar(5, "i64"), "cupy"), "i64")
  expect_identical(type(i8, nv_scalar(1000, "i64"), "dask_legacy"), "i16")
  expect_identical(as_array(with_promotion("numpy_legacy", ui8 + 300L)), c(301L, 301L))
})

test_that("operations other than joins follow their class", {
  for (d in documented_dtypes) {
    x <- sample_tensor(d)
    y <- sample_tensor(d, ambiguous = TRUE)
    whole <- kind_of(d) %in% c("bool", "int", "uint")
    inexact <- if (whole) "f32?" else d
    expect_identical(type_of(nv_div(x, x)), inexact)
    expect_identical(type_of(nv_sin(x)), inexact)
    expect_identical(type_of(nv_sin(y)), if (whole) "f32?" else paste0(d, "?"))
    expect_identical(type_of(nv_eq(x, y)), "bool")
    expect_identical(type_of(nv_eq(y, y)), "bool")
    expect_identical(type_of(nv_and(y, y)), "bool")
    expect_identical(type_of(nv_not(y)), "bool")
    expect_identical(type_of(nv_is_nan(y)), "bool")
    real <- if (kind_of(d) == "complex") part_of(d) else d
    expect_identical(type_of(nv_real(x)), real)
    expect_identical(
      type_of(nv_abs(y)), if (d == "bool") type_of(nv_conj(y)) else paste0(real, "?")
    )
    expect_identical(type_of(nv_ifelse(y, x, x)), d)
    expect_identical(type_of(nv_conj(x)), d)
  }
  expect_identical(type_of(nv_ifelse(TRUE, nv_tensor(1, "i8"), 1.5)), "f32?")
  expect_identical(type_of(nv_ifelse(nv_tensor(1, "f64"), nv_tensor(1, "i8"), 2L)), "i8")
  expect_identical(type_of(nv_clamp(0L, nv_tensor(1, "i8"), nv_tensor(1, "i16"))), "i16")
})
