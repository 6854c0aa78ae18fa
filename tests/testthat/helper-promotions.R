# Implicit promotion: which kinds an operation should show, and which it shows.

# The dtypes of the published tables.
documented_dtypes <- c(
  "bool", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "bf16", "f32", "f64",
  "c64", "c128"
)

kinds <- c("widening", "int_to_float", "lossy", "literal")
on_all <- function(level) structure(rep(level, length(kinds)), names = kinds)

# ---- kinds, from the names of dtypes and IEEE 754 ----

part_of <- function(dtype) {
  switch(dtype, c32 = "f16", bc32 = "bf16", c64 = "f32", c128 = "f64", dtype)
}
is_int <- function(dtype) kind_of(dtype) %in% c("int", "uint")
# Of the largest value, and of the least with the sign left out, as powers of two.
int_bits <- function(dtype) width_of(dtype) - (kind_of(dtype) == "int")

int_loses <- function(from, to) {
  signed <- kind_of(from) == "int"
  if (is_int(to)) {
    return(int_bits(from) > int_bits(to) || signed && kind_of(to) == "uint")
  }
  int_bits(from) > with(float_spec(to), min(digits, high + 1))
}

float_loses <- function(from, to) {
  own <- float_spec(from)
  spec <- float_spec(to)
  own$digits > spec$digits || own$high > spec$high ||
    float_min_subnormal(from) < float_min_subnormal(to)
}

loses <- function(from, to) {
  source <- part_of(from)
  target <- part_of(to)
  if (source == "bool" || from == to) {
    return(FALSE)
  }
  if (target == "bool" || source != from && target == to || !is_int(source) && is_int(target)) {
    return(TRUE)
  }
  if (is_int(source)) int_loses(source, target) else float_loses(source, target)
}

expected_kinds <- function(from, to, ambiguous = FALSE) {
  source <- part_of(from)
  target <- part_of(to)
  known <- !ambiguous && from != "bool"
  c(
    if (known && width_of(source) < width_of(target)) "widening",
    if (known && is_int(source) && kind_of(target) == "float") "int_to_float",
    if (loses(from, to)) "lossy"
  )
}

one <- function(dtype, ambiguous = FALSE) {
  nv_tensor(dtype == "bool" || 1, dtype, c(1L, 1L), ambiguous = ambiguous)
}

# The kinds in the warnings that an expression gives.
found_by <- function(code, rules = NULL, on = on_all("warn")) {
  found <- character()
  withCallingHandlers(
    with_promotion(rules, code, on = on),
    joist_promotion_warning = function(w) {
      found <<- c(found, w$kind)
      invokeRestart("muffleWarning")
    }
  )
  sort(unique(found))
}

abstract <- function(x) nv_aval(dtype(x), shape(x), ambiguous(x))

# The three ways to run a function of tensors.
all_ways <- function(f, rules, ...) {
  list(
    eager = found_by(f(...), rules),
    traced = found_by(jit(f)(...), rules),
    abstract = found_by(do.call(f, lapply(list(...), abstract)), rules)
  )
}

rule_sets <- c("anvil", "anvl", "jax", "numpy", "torch", "tensorflow", "option3")

# Rule sets with published tables or lattices, in inst/extdata.
documented_rules <- function() {
  ids <- promotion_rule_sets()$id
  ids[seq_len(match("option3_bf16", ids))]
}
