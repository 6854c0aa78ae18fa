# Promotion rule sets as an R user sees them: asking for common dtypes, choosing the
# rules, printing tables, and checking lattices. Every answer comes from the core.

#' Common dtype of two dtypes
#'
#' `common_dtype()` returns the dtype that two operands are converted to before an operation, and
#' says whether that dtype is ambiguous: only a guess.
#'
#' An *ambiguous* dtype (written `f32?`) is one that was not requested: the default of a bare R
#' number, or a result of such defaults. Most rule sets let it give way to a known dtype.
#'
#' Under most rules, dtypes of up to a byte, such as `i4` and `f8E4M3FN`, have a common dtype only
#' with themselves and with R numbers; [promotion_rules()] says which rules know them.
#'
#' @param lhs_dtype,rhs_dtype dtypes: a name such as `"f32"`, a `joist_dtype`, or a tensor, of which
#'   only the dtype counts.
#' @param lhs_ambiguous,rhs_ambiguous `TRUE` if the dtype is ambiguous.
#' @param rules promotion rules: the id of a built-in set ([promotion_rule_sets()]), a
#'   `joist_rules` object ([promotion_rules()], [promotion_lattice()]), or `NULL` for
#'   the current set (see [with_promotion()]).
#' @return A list of `dtype`, a `joist_dtype`, and `ambiguous`, `TRUE` or `FALSE`.
#' @section Errors:
#' `joist_promotion_error` if the rules define no common dtype, and for unknown rules;
#' `joist_dtype_error` for an unknown dtype; `joist_value_error` for a flag that is neither `TRUE`
#' nor `FALSE`.
#' @seealso [result_dtype()] for tensors and R values, [promotion_table()].
#' @examples
#' common_dtype("i8", "ui8")
#' common_dtype("i32", "f32", lhs_ambiguous = TRUE)
#' common_dtype("i8", "ui64", rules = "jax")
#' try(common_dtype("i32", "f32", rules = "array_api"))
#' @export
common_dtype <- function(lhs_dtype, rhs_dtype, lhs_ambiguous = FALSE, rhs_ambiguous = FALSE,
                         rules = NULL) {
  .Call(joist_r_common_dtype, lhs_dtype, rhs_dtype, lhs_ambiguous, rhs_ambiguous, rules)
}

#' Dtype of a result
#'
#' `result_dtype()` returns the common dtype of any number of tensors, dtypes and R values, as an
#' operation on them finds it: where the rules look at ranks (`"torch"`) or at values
#' (`"numpy_legacy"`, `"dask_legacy"`, `"cupy"`), so does this function.
#'
#' Where rules look at types only, operands are combined from left to right.
#'
#' @param ... tensors; R values (logical, integer, double or complex); dtypes as
#'   `joist_dtype` objects or by name, where `"f32?"` is an ambiguous one. A dtype stands
#'   for a tensor of rank 1 with unknown values.
#' @inheritParams common_dtype
#' @return A list of `dtype`, a `joist_dtype`, and `ambiguous`, `TRUE` or `FALSE`.
#' @section Errors:
#' `joist_promotion_error` if the rules define no common dtype, and for unknown rules;
#' `joist_dtype_error` for an unknown dtype; `joist_value_error` without operands.
#' @source The steps by rank are those of `torch.result_type()`
#'   (<https://pytorch.org/docs/stable/tensor_attributes.html>), those by value of
#'   `numpy.result_type()` in NumPy 1.x
#'   (<https://numpy.org/doc/1.26/reference/generated/numpy.result_type.html>).
#' @examples
#' result_dtype("i8", 1L)
#' result_dtype("i8", 1L, 2.5)
#' result_dtype("i8", 200L, rules = "numpy_legacy")
#' result_dtype("i8", 200L, rules = "numpy")
#' @export
result_dtype <- function(..., rules = NULL) {
  .Call(joist_r_result_dtype, list(...), rules)
}

#' Promotion rule sets
#'
#' `promotion_rules()` returns a rule set as an object, with other default dtypes for R values if
#' wanted; `promotion_rule_sets()` lists the built-in ones.
#'
#' | id | rules | as of |
#' |---|---|---|
#' | `anvil` | the default: what is guessed gives way within a category | anvil's article |
#' | `anvl` | anvil's successor: results are known, `ui64` with signed is undefined | 2026 |
#' | `jax`, `jax_x32` | JAX with and without 64-bit dtypes | its pages; JAX 0.10.2, 0.12.0.1 |
#' | `jax_strict`, `jax_strict_x32` | JAX, strict: only R values promote | JAX 0.10.2, 0.12.0.1 |
#' | `jax_lax` | `jax.lax`: hardly any promotion | JEP 9407; JAX 0.10.2 |
#' | `numpy` | NumPy 2: R values have a category, no value | NumPy 2.4.6, 2.5.5, ml_dtypes 0.6.0 |
#' | `numpy_legacy`, `dask_legacy` | NumPy 1.x: values of R values and rank 0 count | NumPy 1.26.4 |
#' | `cupy` | the same, but values of R values only | NumPy 1.26.4 |
#' | `torch` | PyTorch: category, then rank > 0, rank 0, numbers | JEP 9407; PyTorch 2.15.0 |
#' | `tensorflow` | TensorFlow: the left operand decides | JEP 9407 |
#' | `array_api` | the array API's minimum: the unspecified is an error | the issue of 2021 |
#' | `array_api_2024` | the array API with Python's numbers and complex | standard 2024.12 |
#' | `python`, `option0` ... `option3`, `option3_bf16` | steps to JAX's lattice | JEP 9407 |
#'
#' Other systems, whose versions `promotion_rules(id)` prints, with the operations that have a table
#' and the names of dtypes that joist lacks:
#'
#' * arrays: `dask`, `mlx`, `tinygrad`, `paddle`, `keras`, `tensorflow_2`, `tf_numpy_all`,
#'   `tf_numpy_safe`, `tf_numpy_legacy`, `tf_numpy_prefer32`, `jax_default`, `array_api_2025`,
#'   `awkward`, `sparse`, `blosc2`, `numexpr`, `ndonnx`, `onnxscript`, `anvl_2026_09`;
#' * languages: `octave`, `base_r`, `julia`, `c`;
#' * compilers and runtimes: `numba`, `numba_scalar`, `pytensor`, `taichi`, `halide`, `triton`,
#'   `onnx`, `openvino`;
#' * tables and databases: `pandas`, `pandas_nullable`, `pandas_arrow`, `arrow`, `polars`, `duckdb`,
#'   `clickhouse`, `datafusion`, `postgresql`, `sqlite` (whose integers become reals beyond 64 bits,
#'   which no table can say: they wrap here).
#'
#' JEP 9407 is JAX's design document, whose tables show the libraries of its time;
#' [promotion_table()] prints what was published. A version says which library the rest was read
#' from: where it differs from its table (`torch`), operations follow the library, and
#' [promotion_facts()] lists the cells, with the floats that integers become and the dtypes of sums.
#' Rule sets without a version join integers with the default float, and their sums of integers have
#' 64 bits.
#'
#' Dtypes of up to a byte (`i4`, `f8E4M3FN`; see [dtypes()]) are younger than the published tables.
#' Tables and lattices list them only where asked for. Rule sets that are not in this table leave
#' them undefined; [nv_convert()] is the way out:
#'
#' | rules | what dtypes of up to a byte meet |
#' |---|---|
#' | `anvil`, `anvl` | themselves, `bool`, and guesses of their category, which give way |
#' | `jax`, `jax_x32` | as in JAX: themselves, weak types, and dtypes below these |
#' | `jax_strict`, `jax_strict_x32` | as in JAX: themselves and weak types |
#' | `numpy` | as in ml_dtypes, also `bf16`: many pairs, such as `f8E4M3FN` with `f32` |
#' | `torch` | themselves and numbers; unsigned integers of up to 4 bits also floats |
#'
#' So do `c32` and `bc32`, which are as young; JAX has neither:
#'
#' | rules | what `c32` and `bc32` meet |
#' |---|---|
#' | `anvil`, `anvl` | themselves, `bool`, and all guesses, which give way |
#' | `numpy` | as in ml_dtypes: one another, `bool`, `i8`, `ui8`, complex dtypes and numbers |
#' | `torch` | each other dtype of at least 8 bits but `ui16`, `ui32`, `ui64` and floats of 8 bits |
#'
#' JAX divides integers of 2 bits as integers in `/`, `mean()` and linear algebra, and ml_dtypes
#' divides small integers so in `mean()`: in joist these are errors.
#'
#' Under `array_api_2024` `bool` is not a number: it can be combined only with `bool`, and has no
#' sum.
#'
#' A `joist_rules` object is a string, the text of the rules as [write_promotion_rules()] keeps it:
#' it can be saved, sent to a worker and compared with [identical()].
#'
#' @param id the id of a built-in set, a `joist_rules` object, or `NULL` for the current
#'   set.
#' @param integer,double,complex dtypes that bare R values of this type default to, or `NULL` to
#'   keep those of the set. Logical values are `bool`.
#' @return `promotion_rules()`: an object of class `joist_rules`.
#'   `promotion_rule_sets()`: a data frame with columns `id`, `kind` (`"lattice"` or
#'   `"table"`), `policy` (what counts besides the two dtypes: only their `"type"`, or
#'   `"rank"`, `"value"`, `"literal value"`), `nodes` (their number) and `source`.
#' @section Errors:
#' `joist_promotion_error` for an unknown id; `joist_dtype_error` for an unknown dtype, or
#' one of another category.
#' @examples
#' promotion_rule_sets()[, c("id", "kind", "policy", "nodes")]
#' promotion_rules("anvil", double = "f64")
#' @export
promotion_rules <- function(id = NULL, integer = NULL, double = NULL, complex = NULL) {
  with_literals(rules_text(id), integer, double, complex)
}

# The text of rules, an object of class joist_rules.
rules_text <- function(rules) {
  if (is.null(rules)) rules <- current_rules()
  id <- rules_id(rules)
  if (inherits(rules, "joist_rules")) return(rules)
  read_promotion_rules(system.file("promotion", paste0(id, ".csv"), package = "joist"))
}

# Rules with other default dtypes, each NULL to keep the former one.
with_literals <- function(rules, integer, double, complex) {
  if (is.null(integer) && is.null(double) && is.null(complex)) return(rules)
  line <- paste("# literals:", .Call(joist_r_literals, rules, integer, double, complex))
  text <- unclass(rules)
  former <- regexpr("(?m)^# *literals:[^\r\n]*", text, perl = TRUE)
  if (former < 0L) text <- paste0(line, "\n", text) else regmatches(text, former) <- line
  .Call(joist_r_read_rules, text, rule_of(rules))
}

#' @rdname promotion_rules
#' @export
promotion_rule_sets <- function() {
  as.data.frame(.Call(joist_r_promotion_rule_sets), stringsAsFactors = FALSE)
}

#' Choose promotion rules
#'
#' `with_promotion()` sets the promotion rules while an expression is evaluated, `local_promotion()`
#' until the calling function returns, even if it ends with an error. The rules in force are the
#' option `joist.promotion`: an id, a `joist_rules` object, or unset, which means `"anvil"`. With
#' `on` you also choose which kinds of implicit promotion are allowed meanwhile, warned about, or
#' refused.
#'
#' An operation promotes an operand *implicitly* where the rules give it another dtype than
#' its own. There are four kinds; an operand may see several:
#'
#' | kind | what happens |
#' |---|---|
#' | `widening` | a known number dtype becomes one of more bits (in a complex dtype, of a part) |
#' | `int_to_float` | a known integer dtype becomes a float or complex one |
#' | `lossy` | a tensor's dtype becomes one that cannot hold all its values |
#' | `literal` | a whole R number is rounded, or one other than 0 becomes 0 |
#'
#' They are found wherever operands meet: in arithmetic, comparisons, [nv_ifelse()], matrix
#' products, `c()` and its like and assignment, and in functions such as [exp()] and [mean()] that
#' turn integers into floats; R numbers also where they become a tensor of their default dtype.
#' What an operation does by definition is not a promotion: `sum()` of `i8` is wider, and tests such
#' as `&` and the condition of [nv_ifelse()] only ask whether a number is zero. Nor is a conversion
#' that was requested by [nv_convert()] or an argument `dtype`. A rounded fraction, such as 0.1 in
#' `f32`, is not counted; an R number that does not fit a dtype is an error anyway.
#'
#' Two more kinds are about values that are computed:
#'
#' | kind | what happens |
#' |---|---|
#' | `overflow` | the result of an integer operation does not fit its dtype |
#' | `loss` | an implicit conversion changes an element, such as `i64` 123456789 to `f32` |
#'
#' `lossy` looks at dtypes, `loss` at the elements that are there; making a tensor of a whole R
#' number that its default dtype rounds is a `loss`, too. By default both are `"warn"`: a result
#' that does not fit wraps around modulo 2^n, and a warning says how many elements are affected
#' and which is the first. They are found in arithmetic (`+ - * ^ %/%`, negation, `abs()`,
#' shifts), sums, products, cumulative ones, matrix products, [nv_scatter_add()] and implicit
#' conversions between integer dtypes, in every dtype, also in programs of [jit()]. With
#' `overflow = "saturate"` such results become the least or greatest value of the dtype, as in
#' Octave and MATLAB; sums and products are exact until then. Assignment is stricter, by `[<-`,
#' [nv_fill_like()], [nv_pad()], [nv_scatter_add()] and to stores: an element beyond the range of
#' the dtype is an error (`joist_overflow_error`), as an R number is, whatever `on` says, but for
#' integer dtypes with `overflow = "saturate"`; one that is rounded is a `loss`. Ambiguous floats
#' are rounded as R numbers are: a `loss` is what becomes infinite, as 70000 in `f16`. Missing
#' elements do not count, nor does what [nv_convert()] or an argument `dtype` asks for. Code that
#' wraps on purpose, such as a hash, sets `overflow = "ok"`, which costs nothing.
#'
#' Rules with `mixed = "double"` (see [promotion_rules_new()]; `octave` is one) compute an integer
#' and a float in double and round the result to the integer dtype. A result that does not fit
#' becomes the least or greatest value, and NaN becomes 0, whatever `overflow` says; `"warn"` and
#' `"error"` still report it. `c()`, `ifelse()` and assignment convert the float to the integer
#' dtype instead: a fraction that is dropped is a `loss`.
#'
#' A vector of class `integer64` is read as `i64` that was asked for, and its elements count for
#' `loss` as those of a tensor do. Before R 4.3, however, R applies neither class's method to
#' `x + y` of a tensor and such a vector: it warns of incompatible methods, and the result is wrong.
#' Write `x + as_tensor(y)`.
#'
#' An error about promotion is raised before anything is computed, one about values afterwards. A
#' warning is given once per call site and dtype: the operation, the R call and its line, if the
#' function has kept its source (`options(keep.source = TRUE)`). While [jit()] traces a function
#' the same is found in the same places; the compiled program does not warn again. Only R numbers
#' among its arguments are looked at in every call, for `literal`.
#'
#' @param rules promotion rules: an id, a `joist_rules` object, or `NULL` to keep the rules in
#'   force.
#' @param expr an expression, evaluated under the rules.
#' @param envir the frame of the function at whose end the former rules come back. In the
#'   global environment they stay until they are changed.
#' @param on a character vector named by kinds, each `"ok"`, `"warn"` or `"error"`, for `overflow`
#'   also `"saturate"`. Kinds that are not named keep their setting, with `NULL` all of them: by
#'   default `overflow` and `loss` are `"warn"`, the others `"ok"`.
#' @return `with_promotion()`: the value of `expr`. `local_promotion()`: the former value of
#'   the option, invisibly.
#' @section Errors:
#' `joist_promotion_error` for unknown rules and `joist_value_error` for an invalid `on`, before
#' `expr` is evaluated.
#'
#' What is refused raises `joist_widening_error`, `joist_int_to_float_error`,
#' `joist_lossy_error`, `joist_literal_error` (also of class `joist_promotion_error`), what
#' is warned about `joist_widening_warning` and so on (also of class `joist_promotion_warning`).
#' Errors and warnings have the class `joist_implicit_promotion`, and say what happened in
#' `kind`, `operands` (their dtypes), `result` (its dtype), `op`, `call`, `file` and `line`.
#' One condition is given for all kinds that an operation shows.
#'
#' Conditions about values have the classes `joist_overflow_warning`, `joist_loss_warning` (also
#' `joist_changed_values_warning`), or `joist_overflow_error`, `joist_loss_error` (also
#' `joist_changed_values_error` and `joist_value_error`), and the fields `kind`, `op`, `dtype`,
#' `operands`, `count`, `position`, `call`, `file` and `line`.
#' @examples
#' with_promotion("jax", common_dtype("ui64", "i8"))
#'
#' torch_dtype <- function(...) {
#'   local_promotion("torch")
#'   result_dtype(...)
#' }
#' torch_dtype("i64", 1.5)
#'
#' old <- options(joist.promotion = "numpy")
#' common_dtype("i32", "f32")
#' options(old)
#'
#' x <- nv_tensor(1:3, "f32")
#' try(with_promotion(NULL, x * nv_scalar(0.5, "f64"), on = c(widening = "error")))
#' with_promotion(NULL, x * 0.5, on = c(widening = "error"))
#'
#' byte <- nv_tensor(c(100L, 200L), "ui8")
#' byte + byte
#' with_promotion(NULL, byte + byte, on = c(overflow = "saturate"))
#' @export
with_promotion <- function(rules, expr, on = NULL) {
  .Call(joist_r_under_promotion, rules, promotion_policy(on, keep = TRUE), environment())
}

#' Default dtypes for some code
#'
#' `with_default_dtypes()` changes the default dtypes of R numbers while an expression is evaluated:
#' in constructors without a `dtype`, and as operands, where the promotion rules give no other
#' dtype. It is short for [with_promotion()] with [promotion_rules()] of other defaults. For `f64`
#' in the whole session, set `options(joist.promotion = promotion_rules(double = "f64"))`. Tensors
#' that are `f32` already stay `f32`.
#'
#' @param dtypes A vector or list of dtypes with the names `float` and `int`, or one of them: what R
#'   numbers of type double and integer become. A default that is not given stays, as does that of
#'   complex numbers.
#' @param expr An expression, evaluated with the defaults.
#' @return The value of `expr`.
#' @section Errors: `joist_dtype_error` for an unknown dtype, or one of another category;
#'   `joist_value_error` for other names.
#' @examples
#' with_default_dtypes(c(float = "f64"), nv_tensor(c(1, 2)))
#' with_default_dtypes(c(float = "f64", int = "i64"), list(nv_fill(0, 2), nv_tensor(1:3)))
#' @concept double precision
#' @concept f64
#' @export
with_default_dtypes <- function(dtypes, expr) {
  known <- c("float", "int")
  if (length(dtypes) == 0L || !has_names(dtypes) || !all(names(dtypes) %in% known)) {
    stop_joist(
      "joist_value_error", "`dtypes` must be dtypes named \"float\" and \"int\", one or both, ",
      "such as c(float = \"f64\")"
    )
  }
  dtypes <- as.list(dtypes)
  with_promotion(promotion_rules(integer = dtypes[["int"]], double = dtypes[["float"]]), expr)
}

#' @rdname with_promotion
#' @export
local_promotion <- function(rules = NULL, envir = parent.frame(), on = NULL) {
  check_environment(envir, "envir")
  former <- current_rules()
  lasting <- identical(envir, globalenv())
  depth <- set_promotion(rules, promotion_policy(on, keep = TRUE), lasting)
  if (!lasting) {
    # do.call() runs on.exit() in the caller's frame.
    back <- as.call(list(restore_promotion, depth))
    do.call(on.exit, list(back, add = TRUE, after = FALSE), envir = envir)
  }
  invisible(former)
}

# Evaluates code whose integers wrap on purpose.
wrapping <- function(expr) {
  .Call(joist_r_under_promotion, NULL, promotion_policy(c(overflow = "ok")), environment())
}

# What `on` asks for, and where warnings were given. Kinds of promotion that it does not name keep
# their setting, or else are "ok".
promotion_policy <- function(on, keep = FALSE) {
  if (!is.null(on)) list(.Call(joist_r_make_policy, on, keep), new.env(parent = emptyenv()))
}

# Rules and a policy in a session that restore_promotion() pops, which is given its depth; NULL
# changes neither. What lasts are the policy and R's option.
set_promotion <- function(rules, policy, lasting = FALSE) {
  depth <- session()$depth
  .Call(joist_r_set_promotion, rules, policy, lasting)
  if (lasting && !is.null(rules)) options(joist.promotion = rules)
  depth
}

# As they were given; NULL if they never were.
current_rules <- function() {
  rules <- session()$rules
  if (is.null(rules)) getOption("joist.promotion") else rules
}

restore_promotion <- function(depth) .Call(joist_r_pop_sessions, depth)

#' Promotion lattices
#'
#' `promotion_lattice()` makes a rule set from edges: the common dtype of two nodes is
#' their join, the lowest node that can be reached from both. Where there is none, or no
#' single lowest one, the promotion is undefined.
#'
#' Node names that are dtypes (`"f32"`), ambiguous dtypes (`"f32?"`) or weak types
#' (`"i*"`, `"f*"`, `"c*"`) mean those; all other names are nodes of your own, at most 183, which
#' show in tables but are not dtypes of tensors. An ambiguous dtype that is not a node is taken as
#' the weak type of its category; if the lattice lacks that, too, combining it is undefined.
#'
#' @param edges a data frame or a character matrix of two columns, from and to, in which
#'   `from` promotes to `to`.
#' @param id the name of the rule set in messages, at most 23 bytes.
#' @param integer,double,complex dtypes that bare R values of this type default to; `NULL` for
#'   `i32`, `f32` and `c64`.
#' @inheritParams common_dtype
#' @param all `TRUE` lists edges to dtypes of up to a byte, too. Published lattices leave these out;
#'   the built-in rules of JAX have them.
#' @return `promotion_lattice()`: an object of class `joist_rules`. `lattice_edges()`: a
#'   data frame with the columns `from` and `to`, without rows for rules that are a table.
#' @section Errors:
#' `joist_promotion_error` for edges with a cycle (the message shows it) and for too many
#' nodes; `joist_value_error` for edges that are not two columns of names.
#' @examples
#' floats <- promotion_lattice(data.frame(
#'   from = c("f16", "bf16", "f32"),
#'   to = c("f32", "f32", "f64")
#' ))
#' promotion_table(floats)
#' common_dtype("f16", "bf16", rules = floats)
#' head(lattice_edges("anvil"))
#' tail(lattice_edges("jax", all = TRUE))
#' @seealso [check_lattice()]
#' @export
promotion_lattice <- function(edges, id = "user", integer = NULL, double = NULL,
                              complex = NULL) {
  rules <- promotion_rules_new(id, edges = edges, source = "edges given by the user")
  with_literals(rules, integer, double, complex)
}

#' @rdname promotion_lattice
#' @export
lattice_edges <- function(rules = NULL, all = FALSE) {
  as.data.frame(.Call(joist_r_lattice_edges, rules, all), stringsAsFactors = FALSE)
}

#' Facts of promotion rules
#'
#' `promotion_facts()` lists what a rule set says about operations that do more than join dtypes, as
#' read from the library itself: which float dtype integers become, and the dtype of sums.
#'
#' | fact | says what becomes of the joined dtype in |
#' |---|---|
#' | `inexact` | `sqrt()`, `exp()`, `sin()`, `gamma()` and similar functions |
#' | `divide` | `/` |
#' | `angle` | `Arg()` |
#' | `linalg` | `solve()`, `qr()`, `svd()` and their like |
#' | `mean` | `mean()` |
#' | `sum`, `prod` | `sum()`, `prod()` |
#' | `cumsum` | `cumsum()`, `cumprod()` |
#' | `power` | `^`, `%/%` and `%%` of `bool`, which lacks them; `^` of integers of up to 4 bits |
#' | `common` | operations on two dtypes, where the library differs from its published table |
#' | others | that operation on two dtypes, where its result is not the common dtype |
#'
#' Whatever the dtype of a sum, integers are added modulo its size, and floats in double. Dtypes
#' that the library lacks are left out, and so are ambiguous dtypes that it lacks; of rules of your
#' own, dtypes that neither a cell nor a fact names.
#'
#' @inheritParams common_dtype
#' @return A data frame: `rules`, the id; `fact`; `operand`, a dtype such as `"i32"` or, ambiguous,
#'   `"i32?"`; `other`, the second operand of `common` and of the tables of single operations,
#'   otherwise `NA`; `result`, a dtype, the name of one that joist does not have, or `NA` where the
#'   operation is an error; `ambiguous`, whether the result is; `source`, the library and its
#'   version.
#' @section Errors:
#' `joist_promotion_error` for unknown rules.
#' @seealso [promotion_table()] for the published tables.
#' @examples
#' numpy <- promotion_facts("numpy")
#' subset(numpy, fact == "inexact" & result != operand)
#' subset(promotion_facts("jax"), fact == "sum" & operand %in% c("bool", "i8", "ui8"))
#' subset(promotion_facts("torch"), fact == "common" & operand == "ui16")
#' @export
promotion_facts <- function(rules = NULL) {
  as.data.frame(.Call(joist_r_promotion_facts, rules), stringsAsFactors = FALSE)
}

#' Check the laws of a lattice
#'
#' `check_lattice()` checks, by brute force over all nodes, the laws that make promotion independent
#' of the order of operands: that every pair has a common node, that it is the same both ways round,
#' and that it doesn't matter which two of three operands meet first. It works for tables as well as
#' for lattices. The nodes are those of the published table, or all nodes of a lattice.
#'
#' @param rules promotion rules as in [common_dtype()]; or several of them, as a vector of ids or a
#'   list of rules, which are compared in one table.
#' @param nodes the nodes that are looked at, by name, instead of these.
#' @param operation whose results are looked at, as in [promotion_table()].
#' @return An object of class `joist_lattice_check`: a list of `rules` (the id), `nodes` (their
#'   names), and `existence`, `commutativity` and `associativity`. Each of the latter is a list of
#'   `passed` (`TRUE` or `FALSE`), `count` (number of counterexamples) and `counterexamples`, a data
#'   frame of the nodes `a`, `b`, `c` and the results `left` and `right` that differ (for
#'   associativity, of `(a, b), c` and `a, (b, c)`; `"-"` is undefined), those of known dtypes and
#'   of earlier nodes first.
#'
#'   For several rule sets, a data frame with a row for each: `rules`, `nodes` (their number),
#'   `lattice` (whether all pairs are defined and the laws hold), `undefined` (pairs), the numbers
#'   of counterexamples of `idempotence` (a node whose common node with itself is another one),
#'   `commutativity`, `associativity` and `monotonicity` (`x` is below `y` if `y` is their common
#'   node; what `x` has in common with any `z` is then below what `y` has), then `cells`, the pairs
#'   of dtypes whose common dtype joist has, and `lossy`, how many of these have an operand with
#'   values that the common dtype cannot hold.
#' @section Errors:
#' `joist_promotion_error` for unknown rules.
#' @source The counterexample for NumPy, `i8`, `ui8` and `f16`, is from the JAX design
#'   document JEP 9407 (<https://docs.jax.dev/en/latest/jep/9407-type-promotion.html>).
#' @examples
#' check_lattice("anvil")
#' numpy <- check_lattice("numpy")
#' numpy
#' subset(numpy$associativity$counterexamples, a == "i8" & b == "ui8")
#' check_lattice(c("anvil", "jax", "numpy", "torch", "tensorflow"))
#' @export
check_lattice <- function(rules = NULL, nodes = NULL, operation = "common") {
  if (length(rules) > 1L && !inherits(rules, "joist_rules")) {
    return(do.call(rbind, unname(lapply(rules_list(rules), laws_of, nodes, operation))))
  }
  info <- .Call(joist_r_rules_info, rules)
  if (is.character(nodes)) nodes <- unique(nodes)
  found <- .Call(joist_r_check_lattice, rules, nodes, operation)
  laws <- lapply(found[c("existence", "commutativity", "associativity")], function(columns) {
    rows <- as.data.frame(columns, stringsAsFactors = FALSE)
    rows <- rows[simplest_first(rows[c("a", "b", "c")], found$nodes), ]
    rownames(rows) <- NULL
    list(passed = nrow(rows) == 0L, count = nrow(rows), counterexamples = rows)
  })
  structure(c(list(rules = info$id, nodes = found$nodes), laws), class = "joist_lattice_check")
}

# Known nodes before ambiguous and weak ones, then by published position.
simplest_first <- function(operands, nodes) {
  weak <- Reduce(`|`, lapply(operands, grepl, pattern = "[?*]$"))
  position <- Reduce(`+`, lapply(operands, function(names) match(names, nodes, nomatch = 0L)))
  order(weak, position)
}

#' @export
print.joist_lattice_check <- function(x, n = 4L, ...) {
  cat("<joist_lattice_check> ", x$rules, ", ", length(x$nodes), " nodes\n", sep = "")
  for (law in c("existence", "commutativity", "associativity")) {
    check <- x[[law]]
    cat(
      "  ", format(law, width = 14L),
      if (check$passed) "holds" else paste(check$count, "counterexamples"), "\n",
      sep = ""
    )
    rows <- utils::head(check$counterexamples, n)
    cat(sprintf("    %s\n", format_counterexamples(law, rows)), sep = "")
    if (check$count > nrow(rows)) cat("    ...\n")
  }
  invisible(x)
}

format_counterexamples <- function(law, rows) {
  a <- rows$a
  b <- rows$b
  switch(law,
    existence = sprintf("%s, %s is undefined", a, b),
    commutativity = sprintf("%s, %s is %s, but %s, %s is %s", a, b, rows$left, b, a, rows$right),
    associativity = sprintf(
      "(%s, %s), %s is %s, but %s, (%s, %s) is %s",
      a, b, rows$c, rows$left, a, b, rows$c, rows$right
    )
  )
}

#' @export
format.joist_rules <- function(x, ...) {
  info <- .Call(joist_r_rules_info, x)
  sprintf("<joist_rules> %s, a %s of %d nodes", info$id, info$kind, length(info$nodes))
}

#' @export
print.joist_rules <- function(x, ...) {
  info <- .Call(joist_r_rules_info, x)
  decides <- c(
    type = "the types of the operands",
    rank = "types, then rank > 0, rank 0, numbers",
    value = "types, and values of R values and tensors of rank 0",
    "literal value" = "types, and values of R values",
    "fitting literal" = "types, and whether whole R numbers fit them",
    "smallest literal" = "types, and values of whole R numbers",
    "unsigned literal" = "types, and values of whole R numbers",
    "signed literal" = "types, and values of R numbers"
  )
  cat(
    format(x), if (info$edges > 0L) paste(" and", count_of(info$edges, "edge")), "\n",
    if (info$rule) "  rule:       a function, asked before the tables\n",
    "  decides by: ", decides[[info$policy]], "\n",
    "  R values:   ", paste(names(info$literals), info$literals, collapse = ", "), "\n",
    if (length(info$operations) > 1L) rules_field("tables:", info$operations),
    if (length(info$own) > 0L) rules_field("no dtypes:", info$own),
    "  source:     ", info$source, "\n",
    "  version:    ", info$version, "\n",
    sep = ""
  )
  invisible(x)
}

rules_field <- function(name, values) {
  texts <- strwrap(toString(values), 66L)
  paste0(formatC(c(paste0("  ", name), rep("", length(texts) - 1L)), width = -14L), texts, "\n")
}
