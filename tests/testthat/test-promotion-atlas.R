# The table of all systems, their laws by brute force, and their distances.

test_that("the atlas has every cell of every system", {
  atlas <- promotion_atlas()
  expect_setequal(atlas$rules, promotion_rule_sets()$id)
  for (id in unique(atlas$rules)) {
    table <- unclass(promotion_table(id))
    cells <- atlas[atlas$rules == id & atlas$operation == "common", ]
    expect_identical(nrow(cells), length(table))
    expect_identical(cells$result, unname(table[cbind(cells$lhs, cells$rhs)]))
  }
  expect_false(anyNA(atlas[c("rules", "operation", "lhs", "result", "source", "version")]))
  expect_identical(is.na(atlas$available), atlas$result == "-")
  huge <- atlas[atlas$rules == "duckdb" & atlas$lhs == "i8" & atlas$rhs %in% "ui64" &
    atlas$operation == "common", ]
  expect_identical(huge$result, "HUGEINT")
  expect_false(huge$available)
})

# How often a lower operand gives a result that is not lower, from a table alone.
falls_in <- function(cells, nodes) {
  below <- cells == colnames(cells)[col(cells)] & t(cells) == colnames(cells)[col(cells)]
  falls <- 0L
  for (x in nodes) for (y in nodes[below[x, ] & nodes != x]) for (z in nodes) {
    left <- cells[x, z]
    right <- cells[y, z]
    if (left != "-" && right != "-" && left != right) falls <- falls + !below[left, right]
  }
  falls
}

test_that("the table of laws is what brute force finds", {
  laws <- check_lattice(promotion_rule_sets()$id)
  expect_identical(laws$rules, promotion_rule_sets()$id)
  for (id in c("anvil", "jax", "numpy", "tensorflow", "array_api", "octave", "base_r")) {
    row <- laws[laws$rules == id, ]
    nodes <- check_lattice(id)$nodes
    expect_identical(row$nodes, length(nodes))
    cells <- unclass(promotion_table(id, nodes, nodes))
    # Results that are not operands end a way.
    cells[!cells %in% nodes] <- "-"
    undefined <- sum(unclass(promotion_table(id, nodes, nodes)) == "-")
    expect_identical(row$undefined, undefined)
    expect_identical(row$commutativity, sum(cells != t(cells)) %/% 2L)
    expect_identical(row$monotonicity, falls_in(cells, nodes))
  }
  lattices <- c("anvil", "jax", "jax_x32", "python")
  expect_identical(laws$lattice[laws$rules %in% lattices], rep(TRUE, 4))
  expect_false(any(laws$lattice[laws$rules %in% c("numpy", "torch", "tensorflow")]))
  # i64 with f16 is f16 in JAX and f64 in NumPy.
  expect_gt(laws$lossy[laws$rules == "jax"], laws$lossy[laws$rules == "numpy"])
  # A cell that loses: f16 does not hold 100000, i8 holds no 200.
  few <- check_lattice(list(
    promotion_rules_new("two", data.frame(
      lhs = c("i8", "i8", "ui8", "ui8"), rhs = c("i8", "ui8", "i8", "ui8"),
      result = c("i8", "i8", "i16", "ui8")
    )),
    "python"
  ))
  expect_identical(few$lossy, c(1L, 0L))
  expect_identical(few$commutativity, c(1L, 0L))
})

test_that("distances count the cells that differ", {
  far <- promotion_distances(c("jax", "numpy", "python", "jax_x32"))
  some <- c(
    "bool", paste0("i", 2^(3:6)), paste0("ui", 2^(3:6)), "f16", "f32", "f64", "c64", "c128"
  )
  jax <- unclass(promotion_table("jax", some, some))
  numpy <- unclass(promotion_table("numpy", some, some))
  expect_equal(as.matrix(far)["jax", "numpy"], mean(jax != numpy))
  expect_true(all(is.na(as.matrix(far)["python", c("jax", "numpy")])))
  expect_s3_class(far, "dist")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  places <- plot(promotion_distances())
  expect_true(all(c("jax", "octave") %in% places$rules))
  expect_false("python" %in% places$rules)
  # Those that agree in all cells share a place, those that differ in some do not.
  place_of <- function(id) unlist(places[places$rules == id, c("x", "y")], use.names = FALSE)
  expect_identical(place_of("numpy"), place_of("cupy"))
  expect_gt(max(abs(place_of("numpy") - place_of("jax"))), 0.01)
})

test_that("pairs of several dtypes are compared", {
  found <- compare_rules(c("i8", "ui8", "f16"), "anvil", c("jax", "numpy"))
  expect_named(found, c("lhs", "rhs", "anvil", "jax", "numpy"))
  for (k in seq_len(nrow(found))) {
    for (id in c("anvil", "jax", "numpy")) {
      expect_identical(
        found[[id]][k], promotion_table(id)[found$lhs[k], found$rhs[k]]
      )
    }
  }
  expect_identical(nrow(compare_rules(c("i8", "i16", "i32"), "jax", "numpy")), 0L)
})
