# Writes an object of each kind with this version of joist, for test-tensor-saved.R to read for
# ever:
#
#   Rscript write.R FOLDER
#
# The file is FOLDER/VERSION.rds; what another version wrote is never written again.
library(joist)
numbers <- list(
  bool = c(TRUE, FALSE), i8 = c(-128, 127), i16 = c(-32768, 32767),
  i32 = c(-2147483647, 2147483647),
  i64 = c(-2^53 + 1, 2^53 - 1), ui8 = c(0, 255), ui16 = c(0, 65535), ui32 = c(0, 4294967295),
  ui64 = c(0, 2^53), f16 = c(-0.5, 65504, NaN, Inf), bf16 = c(-0.5, 2^127, NaN, -Inf),
  f32 = c(-0.5, 2^-149, NaN, Inf), f64 = c(-0.1, 5e-324, NaN, -Inf), c64 = c(1 - 0.5i, 2i),
  c128 = c(0.1 - 1e300i, 2i)
)
tensors <- Map(function(values, dtype) {
  list(value = array(values, c(length(values) / 2L, 2L, 1L)), dtype = dtype)
}, numbers, names(numbers))
for (dtype in names(tensors)) {
  tensors[[dtype]]$tensor <- nv_tensor(tensors[[dtype]]$value, dtype)
}
f <- jit(function(x, n = 2L) sum(x * x) + n, static = "n")
invisible(f(nv_tensor(c(1, 2)), n = 3L))
saveRDS(
  list(
    tensors = tensors,
    long = nv_tensor(1:10000, "i16"),
    none = nv_tensor(numeric()), scalar = nv_scalar(2.5), ambiguous = nv_tensor(1L) / 2L,
    avals = Map(function(values, dtype) nv_aval(dtype, c(2, 3)), numbers, names(numbers)),
    guess = nv_aval("f32", 3, ambiguous = TRUE),
    dtypes = lapply(names(numbers), as_dtype), device = nv_device(), key = nv_key(7),
    jit = f, program = program(f, nv_tensor(c(1, 2)), n = 3L),
    rules = promotion_rules("numpy"),
    own = promotion_lattice(
      data.frame(from = c("bool", "i8", "i8"), to = c("i8", "i16", "f32")),
      id = "own"
    ),
    table = promotion_table("jax"), explanation = explain_promotion("i8", "ui8"),
    frame = data.frame(id = 1:2, x = nv_tensor(c(0.5, 1))), info = joist_info()
  ),
  file.path(commandArgs(TRUE)[1L], paste0(packageVersion("joist"), ".rds"))
)
