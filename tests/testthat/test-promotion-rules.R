# Promotion through R, against the published tables and lattices.

extdata <- function(file) system.file("extdata", file, package = "joist", mustWork = TRUE)

read_table <- function(file) {
  cells <- utils::read.csv(extdata(file),
    row.names = 1, check.names = FALSE, colClasses = "character", na.strings = character()
  )
  cells <- as.matrix(cells)
  cells[cells == "i1"] <- "bool" # anvil's own spelling
  dimnames(cells) <- lapply(dimnames(cells), function(names) sub("^i1$", "bool", names))
  cells
}

read_edges <- function(file) {
  utils::read.csv(extdata(file), colClasses = "character")
}

# The cells that differ, as "i8 x ui8: want i16, got i32".
differing_cells <- function(want, got) {
  at <- which(is.na(got) | want != got, arr.ind = TRUE)
  sprintf(
    "%s x %s: want %s, got %s", rownames(want)[at[, 1]], colnames(want)[at[, 2]], want[at], got[at]
  )
}

expect_cells <- function(want, got) {
  expect_identical(dimnames(got), dimnames(want))
  expect_identical(differing_cells(want, got), character())
}

type_name <- function(type) paste0(format(type$dtype), if (type$ambiguous) "?")

# Common types, cell by cell; "-" where there is an error of the right class.
common_cells <- function(lhs, rhs, rules, ambiguous = c(FALSE, FALSE)) {
  one <- function(a, b) {
    tryCatch(
      type_name(common_dtype(a, b, ambiguous[1], ambiguous[2], rules = rules)),
      joist_promotion_error = function(e) "-"
    )
  }
  cells <- outer(lhs, rhs, Vectorize(one))
  dimnames(cells) <- list(lhs, rhs)
  cells
}

tables <- c(
  anvil = "anvil_known.csv", anvl = "anvl_2026_known.csv", jax = "jax_docs.csv",
  jax = "jep9407_jax_numpy.csv", jax_lax = "jep9407_jax_lax.csv", numpy = "jep9407_numpy.csv",
  numpy_legacy = "jep9407_numpy.csv", cupy = "jep9407_numpy.csv",
  dask_legacy = "jep9407_numpy.csv",
  torch = "jep9407_pytorch.csv", tensorflow = "jep9407_tensorflow.csv",
  array_api = "array_api_issue.csv"
)

lattices <- c(
  anvil = "lattice_anvil.csv", jax = "lattice_jax.csv",
  option0 = "lattice_jep9407_option0.csv", option1 = "lattice_jep9407_option1.csv",
  option2 = "lattice_jep9407_option2.csv", option3 = "lattice_jep9407_option3.csv",
  option3_bf16 = "lattice_jep9407_option3_bf16.csv", python = "lattice_python.csv"
)

# Joins from the definition: the upper bound below every upper bound.
brute_force_joins <- function(edges) {
  nodes <- unique(c(rbind(edges$from, edges$to)))
  below <- diag(length(nodes)) > 0
  dimnames(below) <- list(nodes, nodes)
  below[cbind(edges$from, edges$to)] <- TRUE
  repeat {
    longer <- (below %*% below) > 0
    if (identical(longer, below)) break
    below <- longer
  }
  join <- function(a, b) {
    bounds <- nodes[below[a, ] & below[b, ]]
    least <- Filter(function(u) all(below[u, bounds]), bounds)
    if (length(least) == 1L) least else "-"
  }
  cells <- outer(nodes, nodes, Vectorize(join))
  dimnames(cells) <- list(nodes, nodes)
  cells
}

test_that("every published table is reproduced cell by cell", {
  for (i in seq_along(tables)) {
    expect_cells(read_table(tables[[i]]), promotion_table(names(tables)[i]))
  }
})

# JAX 0.10.2, NumPy 2.4.6 with ml_dtypes 0.6.0, PyTorch 2.15.0.
living <- c(
  jax = "jax_x64", jax_x32 = "jax_x32", jax_strict = "jax_strict", jax_strict_x32 = "jax_strict",
  numpy = "numpy_ml_dtypes", torch = "torch"
)

test_that("tables show what dtypes of up to a byte have in common in the living library", {
  for (i in seq_along(living)) {
    want <- living_table(living[[i]])
    got <- unclass(promotion_table(names(living)[i], rownames(want), colnames(want)))
    # Of other dtypes, tables of numpy and torch print what was published.
    small <- !(rownames(want) %in% c(documented_dtypes, "i*", "f*", "c*"))
    asked <- outer(small, small, `|`) | startsWith(names(living)[i], "jax")
    expect_gt(sum(asked), 500)
    want[!asked] <- got[!asked]
    expect_cells(want, got)
  }
})

test_that("common_dtype() of dtypes of up to a byte is that of the living library", {
  for (i in seq_along(living)) {
    rules <- names(living)[i]
    cells <- living_table(living[[i]])
    known <- grep("[*]", rownames(cells), value = TRUE, invert = TRUE)
    cells <- cells[known, known]
    wide <- !endsWith(rules, "x32")
    for (weak in list(c("i*", "i64?", "i32?"), c("f*", "f64?", "f32?"))) {
      cells[cells == weak[1]] <- weak[if (wide) 2 else 3]
    }
    expect_cells(cells, common_cells(known, known, rules))
  }
})

test_that("an undefined promotion of a small dtype names the cast", {
  for (rules in c("anvil", "anvl", "jax", "numpy", "torch", "tensorflow")) {
    error <- expect_error(
      common_dtype("f8E4M3FN", "f8E5M2", rules = rules), class = "joist_promotion_error"
    )
    for (part in c("f8E4M3FN", "f8E5M2", rules, "nv_convert()")) {
      expect_match(conditionMessage(error), part, fixed = TRUE)
    }
  }
})

test_that("anvil's dtypes of up to a byte meet bool, themselves and guesses of their category", {
  type <- function(...) type_name(common_dtype(..., rules = "anvil"))
  expect_identical(type("f8E4M3FN", "f32", FALSE, TRUE), "f8E4M3FN")
  expect_identical(type("i32", "ui4", TRUE, FALSE), "ui4")
  expect_identical(type("i4", "bool"), "i4")
  expect_identical(type("i4", "bool", TRUE, FALSE), "i4?")
  expect_identical(type("i4", "i4", TRUE, TRUE), "i4?")
  expect_identical(type("i4", "i4", TRUE, FALSE), "i4")
  refused <- list(
    list("f8E4M3FN", "f32"), list("i4", "i8"), list("i4", "f32", FALSE, TRUE),
    list("f4E2M1FN", "i32", FALSE, TRUE), list("f8E5M2", "f32", TRUE, TRUE),
    list("f8E5M2", "f8E4M3FN", TRUE, FALSE)
  )
  for (pair in refused) expect_error(do.call(type, pair), class = "joist_promotion_error")
  expect_identical(type_name(common_dtype("i4", "i4", TRUE, TRUE, rules = "anvl")), "i4")
  # The published lattice is what it was.
  expect_identical(nrow(lattice_edges("anvil", all = TRUE)), 41L)
})

test_that("JAX's edges to dtypes of up to a byte are listed where asked for", {
  small <- setdiff(dtypes(), c(documented_dtypes, complexes()))
  expect_length(small, 17)
  for (rules in c("jax", "jax_x32", "jax_strict", "jax_strict_x32")) {
    listed <- lattice_edges(rules)
    all <- lattice_edges(rules, all = TRUE)
    expect_identical(setdiff(all$to, listed$to), setdiff(small, listed$to))
    expect_identical(nrow(all) - nrow(listed), 17L)
    expect_false(any(small %in% unlist(listed)))
  }
  expect_identical(nrow(lattice_edges("jax")), 24L)
  expect_error(lattice_edges("jax", all = NA), class = "joist_value_error")
})

test_that("two guesses of JAX's small dtypes have a common type where their known dtypes have", {
  both <- function(a, b, rules = "jax") {
    tryCatch(
      type_name(common_dtype(a, b, TRUE, TRUE, rules = rules)),
      joist_promotion_error = function(e) "-"
    )
  }
  expect_identical(both("f8E4M3FN", "f8E4M3FN"), "f8E4M3FN?")
  expect_identical(both("f8E4M3FN", "i32"), "f8E4M3FN?")
  expect_identical(both("f8E4M3FN", "bf16"), "-")
  expect_identical(both("i4", "f32"), "-")
  expect_identical(both("i16", "i32", "jax_strict"), "i64?")
  expect_identical(both("i4", "i4", "jax_strict"), "i64?")
  expect_identical(both("f32", "f32", "jax_strict_x32"), "f32?")
  expect_identical(both("bool", "i32", "jax_strict"), "-")
})

test_that("known dtypes have the published common dtype", {
  for (i in seq_along(tables)) {
    want <- read_table(tables[[i]])
    known <- grep("[*]", rownames(want), value = TRUE, invert = TRUE)
    want <- as_living(names(tables)[i], want)[known, known]
    if (names(tables)[i] == "jax") want[want == "f*"] <- "f64?"
    expect_cells(want, common_cells(known, known, names(tables)[i]))
  }
})

test_that("anvil's ambiguous dtypes give way within their category", {
  want <- read_table("anvil_ambiguous_x_known.csv")
  guessed <- want == rownames(want)[row(want)] & want != colnames(want)[col(want)]
  want[guessed] <- paste0(want[guessed], "?")
  expect_cells(
    want, common_cells(rownames(want), colnames(want), "anvil", ambiguous = c(TRUE, FALSE))
  )
  expect_cells(
    t(want), common_cells(colnames(want), rownames(want), "anvil", ambiguous = c(FALSE, TRUE))
  )
  rownames(want) <- paste0(rownames(want), "?")
  expect_cells(want, promotion_table("anvil", rownames(want), colnames(want)))
})

test_that("joins of the published lattices are those of the definition", {
  for (i in seq_along(lattices)) {
    edges <- read_edges(lattices[[i]])
    want <- brute_force_joins(edges)
    expect_cells(want, promotion_table(names(lattices)[i], rownames(want), colnames(want)))
    user <- promotion_lattice(edges)
    expect_cells(want, promotion_table(user))
    expect_identical(lattice_edges(user), edges)
    built_in <- lattice_edges(names(lattices)[i])
    expect_setequal(paste(built_in$from, built_in$to), paste(edges$from, edges$to))
  }
})

test_that("a lattice read from a file promotes like the built-in one", {
  all <- c(
    "bool", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64",
    "f16", "bf16", "f32", "f64", "c64", "c128"
  )
  anvil <- promotion_lattice(read_edges("lattice_anvil.csv"))
  jax <- promotion_lattice(read_edges("lattice_jax.csv"),
    integer = "i64", double = "f64", complex = "c128"
  )
  for (ambiguous in list(c(FALSE, FALSE), c(TRUE, FALSE), c(FALSE, TRUE), c(TRUE, TRUE))) {
    expect_cells(
      common_cells(all, all, "anvil", ambiguous), common_cells(all, all, anvil, ambiguous)
    )
    expect_cells(common_cells(all, all, "jax", ambiguous), common_cells(all, all, jax, ambiguous))
  }
})

test_that("JAX without 64-bit dtypes differs in one edge", {
  edges <- function(id) do.call(paste, lattice_edges(id))
  expect_setequal(setdiff(edges("jax"), edges("jax_x32")), "ui32 i64")
  expect_setequal(setdiff(edges("jax_x32"), edges("jax")), "ui32 i32")
  expect_identical(type_name(common_dtype("ui32", "i8", rules = "jax_x32")), "i32")
  expect_identical(type_name(common_dtype("ui64", "i8", rules = "jax_x32")), "f32?")
})

test_that("two ambiguous JAX dtypes keep what they know", {
  both <- function(a, b) type_name(common_dtype(a, b, TRUE, TRUE, rules = "jax"))
  expect_identical(both("i8", "i16"), "i16?")
  expect_identical(both("i8", "i8"), "i8?")
  expect_identical(both("i64", "ui64"), "f64?")
  expect_identical(both("bool", "bool"), "bool")
})

test_that("result_dtype() looks at ranks and values where the rules do", {
  result <- function(...) type_name(result_dtype(...))
  expect_identical(result("i8", 1L), "i8")
  expect_identical(result("i8", "f32?"), "f32?")
  expect_identical(result("i8", "ui8", "f16", rules = "numpy"), "f32")
  expect_identical(result("i8", 100L, rules = "numpy_legacy"), "i8")
  expect_identical(result("i8", 200L, rules = "numpy_legacy"), "i16")
  expect_identical(result("ui8", 300L, rules = "numpy_legacy"), "ui16")
  expect_identical(result("ui8", -1L, rules = "cupy"), "i16")
  expect_identical(result("i8", 200L, rules = "numpy"), "i8")
  expect_identical(result("f32", 1e300, rules = "dask_legacy"), "f64")
  expect_identical(result("i64", 1.5, rules = "torch"), "f32")
  expect_identical(result("f16", 1i, rules = "torch"), "c32")
  expect_identical(result(1, rules = "jax"), "f64?")
  expect_identical(result(TRUE, rules = "jax"), "bool")
  expect_error(result_dtype(), class = "joist_value_error")
  expect_error(result_dtype("f33"), class = "joist_dtype_error")
})

test_that("an undefined promotion names dtypes, rules and a way out", {
  error <- expect_error(
    common_dtype("f32", "i8", rhs_ambiguous = TRUE, rules = "array_api"),
    class = "joist_promotion_error"
  )
  expect_s3_class(error, "joist_error")
  for (part in c("f32", "i8?", "array_api", "nv_convert()", "with_promotion()")) {
    expect_match(conditionMessage(error), part, fixed = TRUE)
  }
  expect_error(common_dtype("f32", "f33"), class = "joist_dtype_error")
  expect_error(common_dtype("f32", "f32", NA), class = "joist_value_error")
})

test_that("all rule sets can be printed", {
  for (id in promotion_rule_sets()$id) {
    expect_output(print(promotion_rules(id)), paste0(id, ",.*decides by: +.*types"))
  }
})

test_that("unknown rule sets and nodes are errors with class", {
  expect_error(common_dtype("f32", "f32", rules = "nonesuch"), "anvil",
    class = "joist_promotion_error"
  )
  for (bad in list(1, NA_character_, c("jax", "anvil"), raw(3), list())) {
    expect_error(promotion_rules(bad), class = "joist_promotion_error")
  }
  expect_error(promotion_rules(structure(raw(3), class = "joist_rules")),
    class = "joist_promotion_error"
  )
  expect_error(promotion_table("anvil", lhs = "f33"), "f33", class = "joist_dtype_error")
  expect_error(promotion_table("anvil", lhs = "i*"), class = "joist_dtype_error")
})

test_that("tables take any nodes, spelled as they were given", {
  table <- promotion_table("jax", c("i32?", "i*"), c("bool", "i8", "f16"))
  expect_identical(dimnames(table), list(c("i32?", "i*"), c("bool", "i8", "f16")))
  expect_identical(unname(table[1, ]), c("i64?", "i8", "f16"))
  expect_identical(unname(table[2, ]), c("i*", "i8", "f16"))
  expect_identical(dim(promotion_table("jax", character(), "f32")), c(0L, 1L))
})

test_that("the current rules are an option, a scope or the default", {
  ask <- function() type_name(common_dtype("i8", "ui64"))
  withr_free <- options(joist.promotion = NULL)
  on.exit(options(withr_free))
  expect_identical(ask(), "i64")
  expect_identical(with_promotion("jax", ask()), "f64?")
  expect_identical(ask(), "i64")
  expect_error(with_promotion("jax", stop("no")), "no")
  expect_identical(ask(), "i64")
  scoped <- function() {
    local_promotion("numpy")
    ask()
  }
  expect_identical(scoped(), "f64")
  expect_null(getOption("joist.promotion"))
  nested <- function() {
    local_promotion("numpy")
    c(with_promotion("jax", ask()), scoped(), ask())
  }
  expect_identical(nested(), c("f64?", "f64", "f64"))
  expect_identical(ask(), "i64")
  options(joist.promotion = "jax")
  expect_identical(ask(), "f64?")
  options(joist.promotion = promotion_rules("numpy"))
  expect_identical(ask(), "f64")
  options(joist.promotion = "nonesuch")
  expect_error(ask(), class = "joist_promotion_error")
  options(joist.promotion = NULL)
  expect_error(with_promotion("nonesuch", stop("evaluated")), class = "joist_promotion_error")
  expect_identical(ask(), "i64")
})

test_that("literal defaults can be set", {
  x32 <- promotion_rules("jax", integer = "i32", double = "f32", complex = "c64")
  expect_identical(type_name(common_dtype("ui64", "i8", rules = x32)), "f32?")
  expect_identical(type_name(result_dtype(1L, rules = x32)), "i32?")
  expect_identical(type_name(result_dtype(1L, rules = "jax")), "i64?")
  anvil <- promotion_rules("anvil", double = "f64")
  expect_identical(type_name(with_promotion(anvil, result_dtype("i8", 1.5))), "f64?")
  numpy <- promotion_rules("numpy", integer = "i32")
  expect_identical(promotion_table(numpy, "bool", "i*")[[1]], "i32")
  expect_identical(promotion_rules("jax"), promotion_rules(promotion_rules("jax")))
  expect_error(promotion_rules("jax", integer = "f32"), class = "joist_dtype_error")
  expect_error(promotion_rules("jax", double = "f33"), class = "joist_dtype_error")
})

test_that("rule sets are listed", {
  sets <- promotion_rule_sets()
  expect_s3_class(sets, "data.frame")
  expect_identical(sets$id[[1]], "anvil")
  expect_true(all(c(names(tables), names(lattices), "jax_x32") %in% sets$id))
  nodes <- stats::setNames(sets$nodes, sets$id)
  expect_identical(nodes[["anvil"]], 30L)
  expect_identical(nodes[["jax"]], 18L)
  expect_true(all(nzchar(sets$source)))
  expect_identical(sets$policy[sets$id == "torch"], "rank")
})

test_that("a user's lattice has own names", {
  edges <- rbind(c("tiny", "float"), c("float", "huge"), c("i8", "i16"), c("i16", "tiny"))
  mine <- promotion_lattice(edges, id = "mine")
  expect_identical(promotion_table(mine, "i8", "float")[[1]], "float")
  expect_identical(type_name(common_dtype("i8", "i16", rules = mine)), "i16")
  expect_error(common_dtype("i8", "f32", rules = mine), "mine", class = "joist_promotion_error")
  expect_true(check_lattice(mine)$associativity$passed)
  expect_match(format(mine), "mine")
  expect_output(print(mine), "lattice of 5 nodes and 4 edges")
})

test_that("edges that order nothing are errors", {
  cycle <- data.frame(from = c("f16", "f32", "f64"), to = c("f32", "f64", "f16"))
  expect_error(promotion_lattice(cycle), "f16 -> f32 -> f64 -> f16",
    class = "joist_promotion_error"
  )
  expect_error(promotion_lattice(data.frame(from = "f16")), class = "joist_value_error")
  expect_error(promotion_lattice(data.frame(from = character(), to = character())),
    class = "joist_value_error"
  )
  expect_error(promotion_lattice(data.frame(from = NA, to = "f16")), class = "joist_value_error")
  expect_error(
    promotion_lattice(data.frame(from = sprintf("n%d", 1:183), to = "top")), "183",
    class = "joist_promotion_error"
  )
  many <- promotion_lattice(data.frame(from = sprintf("n%d", 1:182), to = "top"))
  expect_identical(promotion_table(many, "n1", c("n1", "n182"))[1, ], c(n1 = "n1", n182 = "top"))
  expect_length(check_lattice(many)$nodes, 183)
})

test_that("anvil and JAX are lattices, NumPy and TensorFlow are not", {
  for (id in c("anvil", "jax", "jax_x32")) {
    check <- check_lattice(id)
    expect_s3_class(check, "joist_lattice_check")
    for (law in c("existence", "commutativity", "associativity")) {
      expect_true(check[[law]]$passed)
      expect_identical(check[[law]]$count, 0L)
    }
  }
  # Associative in every triple that result_dtype() knows.
  nodes <- c("bool", "i8", "ui8", "i64", "f16", "f32", "c64")
  jax_default <- check_lattice("jax_default", nodes)
  expect_identical(jax_default$nodes, nodes)
  expect_true(jax_default$associativity$passed)
  expect_identical(check_lattice("jax_default")$associativity$count, 0L)
  expect_length(check_lattice("anvil")$nodes, 30L)
  numpy <- check_lattice("numpy")
  expect_false(numpy$associativity$passed)
  expect_true(numpy$commutativity$passed)
  found <- numpy$associativity$counterexamples
  expect_named(found, c("a", "b", "c", "left", "right"))
  jep <- found[found$a == "i8" & found$b == "ui8" & found$c == "f16", ]
  expect_identical(c(jep$left, jep$right), c("f32", "f16"))
  expect_output(print(numpy), "(i8, ui8), f16 is f32, but i8, (ui8, f16) is f16", fixed = TRUE)
  expect_false(check_lattice("tensorflow")$commutativity$passed)
  expect_false(check_lattice("array_api")$existence$passed)
})

test_that("counterexamples are those of the published table", {
  for (i in which(names(tables) %in% c("numpy", "torch", "tensorflow", "array_api", "jax_lax"))) {
    cells <- read_table(tables[[i]])
    cells <- rbind(cbind(cells, "-" = "-"), "-" = "-")
    join <- function(a, b) {
      known <- a %in% rownames(cells) & b %in% rownames(cells)
      out <- rep("-", length(a))
      out[known] <- cells[cbind(a[known], b[known])]
      out
    }
    nodes <- setdiff(rownames(cells), "-")
    triples <- expand.grid(a = nodes, b = nodes, c = nodes, stringsAsFactors = FALSE)
    left <- join(join(triples$a, triples$b), triples$c)
    right <- join(triples$a, join(triples$b, triples$c))
    want <- with(triples, paste(a, b, c, left, right))[left != right]
    got <- check_lattice(names(tables)[i])$associativity$counterexamples
    expect_setequal(do.call(paste, got), want)
  }
})

test_that("a dtype is asked about by itself as by its name", {
  for (a in documented_dtypes) {
    expect_identical(common_dtype(as_dtype(a), as_dtype("f16")), common_dtype(a, "f16"))
    expect_identical(
      format(explain_promotion(as_dtype(a), as_dtype("ui8"))), format(explain_promotion(a, "ui8"))
    )
  }
})

test_that("any number of rule sets can be in force, one after the other and within each other", {
  narrow <- nv_tensor(1:2, "i8")
  wide <- nv_tensor(1:2, "i32")
  add <- jit(function(x, y) x + y, cache_size = 1000L)
  sets <- lapply(1:150, function(k) {
    to <- c("f16", "f32", "f64")[k %% 3L + 1L]
    promotion_lattice(cbind(c("i8", "i32"), to), paste0("own", k))
  })
  for (round in 1:2) {
    for (k in seq_along(sets)) {
      to <- c("f16", "f32", "f64")[k %% 3L + 1L]
      with_promotion(sets[[k]], {
        expect_identical(type_of(narrow + wide), to)
        expect_identical(type_of(add(narrow, wide)), to)
        with_promotion(sets[[151L - k]], {
          inner <- c("f16", "f32", "f64")[(151L - k) %% 3L + 1L]
          expect_identical(type_of(narrow + wide), inner)
        })
        expect_identical(type_of(narrow + wide), to)
      })
    }
    gc()
  }
})

test_that("a rule set that is changed after it was in force is another one", {
  x <- nv_tensor(1:2, "i8")
  rules <- promotion_rules("jax", double = "f64")
  expect_identical(type_of(with_promotion(rules, nv_add(x, 1))), "f64?")
  rules[] <- sub("bool, i64", "bool, f64", rules, fixed = TRUE)
  expect_error(with_promotion(rules, nv_add(x, 1)), class = "joist_promotion_error")
  other <- promotion_rules("jax", double = "f32")
  expect_identical(type_of(with_promotion(other, nv_add(x, 1))), "f32?")
})

test_that("a rule set is text, which is kept, deparsed and sent to workers", {
  own <- promotion_rules_new("own",
    table = data.frame(lhs = "i8", rhs = "f32", result = "f16"), base = "torch"
  )
  for (rules in list(promotion_rules("numpy"), promotion_rules("torch", double = "f64"), own)) {
    expect_type(rules, "character")
    file <- withr::local_tempfile()
    saveRDS(rules, file)
    expect_identical(readRDS(file), rules)
    expect_identical(eval(parse(text = deparse(rules))[[1L]]), rules)
    write_promotion_rules(rules, file)
    expect_identical(read_promotion_rules(file), rules)
  }
  file <- withr::local_tempfile()
  saveRDS(own, file)
  out <- run_in_fresh_r(c(
    "library(joist)", sprintf("own <- readRDS('%s')", file),
    "cat(format(common_dtype('i8', 'f32', rules = own)$dtype))"
  ))
  expect_identical(out[length(out)], "f16")
})

test_that("results that are a default dtype follow it, as cells that a file does not list", {
  numpy <- promotion_rules("numpy", integer = "i32", double = "f32", complex = "c64")
  expect_identical(result_dtype(nv_tensor(TRUE), 1L, rules = numpy)$dtype, as_dtype("i32"))
  expect_identical(promotion_table(numpy, "i8", c("f*", "c*"))[1L, ], c("f*" = "f32", "c*" = "c64"))
  tensorflow <- promotion_rules("tensorflow", integer = "i64")
  beside_integers <- function(rules) promotion_table(rules, "i*", c("i32", "i64"))[1L, ]
  expect_identical(beside_integers(tensorflow), c(i32 = "-", i64 = "i64"))
  expect_identical(beside_integers("tensorflow"), c(i32 = "i32", i64 = "-"))
  arrow <- promotion_rules("arrow", integer = "i64")
  expect_identical(
    c(promotion_table(arrow, "i*", "i64?", operation = "power")),
    c(promotion_table(arrow, "i*", "i64?"))
  )
})

# ---- rules of a designer ----

own_rules <- function(...) {
  cells <- matrix(c(...), ncol = 4L, byrow = TRUE)
  table <- data.frame(
    operation = cells[, 1L], lhs = cells[, 2L], rhs = cells[, 3L], result = cells[, 4L]
  )
  promotion_rules_new("own", table = table)
}

test_that("dtypes that joist lacks are operands of every table", {
  rules <- own_rules(
    "common", "i8", "i8", "i8", "common", "i8", "i128", "i128", "common", "i128", "i128", "i128",
    "add", "i8", "i8", "i16", "add", "i8", "i128", "big", "modulo", "i128", "i8", "i8",
    "divide", "i128", "", "f64", "sum", "i128", "", "big"
  )
  cell <- function(operation, lhs, rhs) promotion_table(rules, lhs, rhs, operation)[[1L]]
  expect_identical(cell("add", "i8", "i8"), "i16")
  expect_identical(cell("add", "i8", "i128"), "big")
  expect_identical(cell("multiply", "i8", "i128"), "big")
  expect_identical(cell("add", "i128", "i128"), "i128")
  expect_identical(cell("modulo", "i128", "i8"), "i8")
  expect_identical(cell("modulo", "i8", "i128"), "i128")
  expect_identical(cell("divide", "i8", "i128"), "f64")
  expect_identical(cell("common", "i128", "i8"), "-")
  file <- withr::local_tempfile()
  write_promotion_rules(rules, file)
  expect_identical(read_promotion_rules(file), rules)
  atlas <- promotion_atlas(list(rules))
  found <- subset(atlas, operation == "add" & lhs == "i8" & rhs == "i128")
  expect_identical(found$result, "big")
  facts <- promotion_facts(rules)
  expect_identical(subset(facts, fact == "sum" & operand == "i128")$result, "big")
  expect_identical(subset(facts, fact == "add" & other == "i128")$result, "big")
  based <- promotion_rules_new("more", base = rules)
  expect_identical(
    promotion_table(based, operation = "add"), promotion_table(rules, operation = "add")
  )
  expect_identical(check_lattice(rules, operation = "add")$commutativity$count, 1L)
  expect_identical(check_lattice(rules, c("i8", "i8", "i128"))$nodes, c("i8", "i128"))
  expect_identical(
    compare_rules(c("i8", "i8"), rules, promotion_rules_new("n", base = "numpy"),
      operation = "add")$own[1L], "i16"
  )
})

test_that("cells of dtypes that joist lacks are facts once, however often they are listed", {
  facts <- promotion_facts(own_rules(
    "common", "i8", "i8", "i8", "common", "i8", "big", "big", "add", "i8", "big", "-",
    "add", "i8", "big", "-", "sum", "big", "", "big", "sum", "big", "", "big"
  ))
  expect_identical(sum(facts$operand == "big" | facts$other %in% "big"), 2L)
})

test_that("rules that are printed list what joist lacks, tables and the version", {
  rules <- own_rules("common", "i8", "i61", "I8", "add", "i8", "i8", "i16")
  expect_output(print(rules), "tables: +common, add\n +no dtypes: +i61, I8\n.*version: +no library")
  expect_output(print(promotion_rules("duckdb")), "version: +DuckDB")
})

test_that("a pair has one result of each operation", {
  message <- function(...) tryCatch(own_rules(...), joist_promotion_error = conditionMessage)
  first <- c("common", "i8", "i8", "i8")
  for (cell in list(
    c("common", "i8", "i8"), c("add", "i8", "i8"), c("add", "f*", "i8"), c("modulo", "i8", "i128"),
    c("published", "i8", "i8"), c("sum", "i8", ""), c("sum", "i128", ""), c("common", "i128", "i8")
  )) {
    pair <- paste(cell[-1L][nzchar(cell[-1L])], collapse = " and ")
    expect_identical(
      message(first[cell[1L] != "common"], cell, "i16", cell, "i32"),
      sprintf(
        "row %d of `table`: there should be one result of %s of %s, not 'i16 and i32'",
        2L + (cell[1L] != "common"), cell[1L], pair
      )
    )
    expect_s3_class(own_rules(first, cell, "i8", cell, "i8"), "joist_rules")
  }
  expect_match(message(first, "common", "i8", "i8", "-"), "not 'i8 and -'")
  # f64? comes before f*, in whichever order.
  rules <- own_rules(
    first, "add", "f*", "f*", "f64", "add", "f*", "f64?", "f16", "add", "f64?", "f*", "f32"
  )
  expect_identical(promotion_table(rules, "f64?", "f64?", "add")[[1L]], "f32")
})

test_that("errors of rules name the row and list the choices", {
  message <- function(code) tryCatch(code, joist_error = conditionMessage)
  first <- c("common", "i8", "i8", "i8")
  long <- strrep("x", 24L)
  for (cell in list(c("common", "i8", long, "i8"), c("common", "i8", "f32", long))) {
    expect_match(message(own_rules(first, cell)), "^row 2 of `table`: .*1 to 23 bytes")
  }
  square <- matrix(c("i8", "i8", long, "i8"), 2L, dimnames = rep(list(c("i8", "i16")), 2L))
  expect_match(
    message(promotion_rules_new("own", table = square)), '^`table`."i8", "i16".: .*23 bytes'
  )
  minus <- message(own_rules(first, "minus", "i8", "i8", "i8"))
  expect_match(minus, "row 2 .*one of common, add.*rank_zero")
  expect_match(
    message(promotion_rules_new("own", base = "numpy", facts = list(negate = c(i8 = "i16")))),
    "^row 1 of `facts`: .*inexact, divide.*not 'negate'"
  )
  expect_match(message(promotion_table("numpy", operation = "plus")), "'plus'.*: common, add")
  expect_match(
    message(promotion_rules_new("own", base = "numpy", rule = function(op, args) "Decimal")),
    "`rule` gives an unknown name: 'Decimal'"
  )
  file <- withr::local_tempfile()
  writeLines("# decides by: unsigned", file)
  expect_match(message(read_promotion_rules(file)), "line 1 .*smallest literal.*unsigned literal")
  together <- message(check_lattice(c(own_rules(first), "numpy")))
  expect_match(together, "list(), not c()", fixed = TRUE)
  expect_no_match(together, "# literals")
})

test_that("a table of assignment has the dtypes that stay", {
  expect_identical(
    promotion_table("numpy", "i16", c("i8", "i16", "f32"), "assign")[1L, ],
    c(i8 = "i16", i16 = "i16", f32 = "-")
  )
  for (rules in c("anvil", "jax", "torch", "duckdb")) {
    dtypes <- c("bool", "i8", "ui8", "i64", "f32", "c64")
    table <- promotion_table(rules, dtypes, dtypes, "assign")
    for (lhs in dtypes) {
      for (rhs in dtypes) {
        x <- nv_tensor(c(1, 0), lhs)
        value <- nv_tensor(c(1, 0), rhs)
        got <- tryCatch(with_promotion(rules, {
          x[] <- value
          format(dtype(x))
        }), joist_promotion_error = function(e) "-")
        expect_identical(table[lhs, rhs], got)
      }
    }
  }
})

test_that("facts of rules of one's own are those of their dtypes", {
  rules <- promotion_rules_new("own",
    table = data.frame(lhs = "i8", rhs = "i8", result = "i8"), facts = list(sum = c(ui8 = "ui8"))
  )
  expect_setequal(promotion_facts(rules)$operand, c("i8", "ui8"))
  expect_identical(unique(own_rules(
    "common", "i8", "i8", "i8", "sum", "i8", "", "i8"
  ) |> promotion_facts() |> with(source)), "given by the user")
})
