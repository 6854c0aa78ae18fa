# What tools/demo shows: promotion tables of several rule sets, and the examples of anvil's
# article "Type Promotion Rules".
library(joist)

# Prints the code of an expression, then its value.
show <- function(expr) {
  code <- substitute(expr)
  cat("> ", paste(deparse(code), collapse = "\n+ "), "\n", sep = "")
  print(eval(code, parent.frame()))
  cat("\n")
}

heading <- function(text) cat("\n== ", text, "\n\n", sep = "")

print_table <- function(table) print(noquote(table), right = TRUE)

options(width = 150)

heading("anvil: known x known (\"?\" marks an ambiguous result, \"-\" an undefined one)")
known <- c(
  "bool", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f32", "f64"
)
ambiguous <- c(
  "bool?", "i8?", "i16?", "i32?", "i64?", "ui8?", "ui16?", "ui32?", "ui64?", "f32?", "f64?"
)
print_table(promotion_table("anvil", known, known))

heading("anvil: ambiguous (row) x known (column)")
print_table(promotion_table("anvil", ambiguous, known))

for (rules in c("anvil", "jax", "numpy", "torch", "tensorflow", "array_api")) {
  heading(paste(rules, "(all published nodes)"))
  print_table(promotion_table(rules))
}

heading("The examples of anvil's article on type promotion")
show(jit(nv_add)(nv_scalar(1.0, dtype = "f32"), nv_scalar(1.0, dtype = "f64")))
show(common_dtype("f64", "f32")$dtype)
show(common_dtype("i64", "f32")$dtype)
show(jit(\() list(1L, 1.0, TRUE))())
show(common_dtype("f32", "f64", FALSE, TRUE))
show(common_dtype("f32", "f64", TRUE, TRUE))
show(common_dtype("f32", "f64", FALSE, FALSE))
f <- jit(function(x, y) {
  z <- x + 1L
  z * y
})
cat("> f <- jit(function(x, y) {\n+   z <- x + 1L\n+   z * y\n+ })\n")
show(f(nv_scalar(TRUE), nv_scalar(2L, dtype = "i16")))
