# What the manual's pages claim, as calls: `raised_errors` has a call for every class of error
# that the section "Errors" of a page names, `given_dtypes` calls and the dtypes of their
# results. Read by test-documentation.R, which evaluates the calls where these are defined:

x <- nv_tensor(matrix(c(3, 1, 2, 5, 4, 7), 2))
v <- nv_tensor(c(3, 1, 2))
i <- nv_tensor(1:3, "i16")
b <- nv_tensor(c(TRUE, FALSE, TRUE))
u <- nv_tensor(1L, "ui8")
z <- nv_tensor(1i)
z_matrix <- nv_tensor(matrix(1i))
s <- nv_tensor(diag(2))
a3 <- nv_fill(1, c(1, 1, 2))
none <- nv_tensor(numeric())
huge <- nv_aval("i8", c(2^16, 2^16))
key <- nv_key(1)
no_key <- nv_tensor(1:3, "ui32")
strict <- function(code) with_promotion("array_api", code)
refusing <- function(kind, code) {
  with_promotion(NULL, code, on = structure("error", names = kind))
}

raised_errors <- alist(
  as.data.frame.nv_tensor = list(
    joist_shape_error = as.data.frame(nv_fill(0, c(1, 1, 1))),
    joist_value_error = as.data.frame(nv_aval("f32", 3)),
    joist_value_error = as.data.frame(v, as = "python")
  ),
  as_array = list(
    joist_value_error = as_array(nv_scalar(2^53, "i64") + 1L),
    joist_value_error = as_array(nv_scalar(-2^31, "i32")),
    joist_value_error = as_array(nv_aval("f32", 3)),
    joist_value_error = as_array(v, as = "text"),
    joist_dtype_error = as_array(v, as = "integer")
  ),
  as_dtype = list(joist_dtype_error = as_dtype("f31")),
  as_tensor = list(
    joist_value_error = as_tensor(factor("a")),
    joist_dtype_error = as_tensor(1, dtype = "f31")
  ),
  base_functions = list(
    joist_value_error = length(v) <- 1:2,
    joist_value_error = cov(nv_tensor(cbind(c(1, NA), 1:2)), use = "all.obs"),
    joist_value_error = diag(v[1]),
    joist_value_error = jit(function(x) x %in% 1)(v),
    joist_value_error = cov(x, use = "some"),
    joist_value_error = rle(nv_aval("f32", 3)),
    joist_shape_error = rle(x),
    joist_shape_error = ifelse(nv_scalar(TRUE), v, 0),
    joist_dtype_error = var(z)
  ),
  check_lattice = list(joist_promotion_error = check_lattice("none")),
  common_dtype = list(
    joist_promotion_error = common_dtype("i32", "f32", rules = "array_api"),
    joist_promotion_error = common_dtype("i32", "f32", rules = "none"),
    joist_dtype_error = common_dtype("i31", "f32"),
    joist_value_error = common_dtype("i32", "f32", NA)
  ),
  compare_rules = list(
    joist_promotion_error = compare_rules(c("i32", "f32"), "none", "numpy"),
    joist_dtype_error = compare_rules(c("i31", "f32"), "jax", "numpy"),
    joist_value_error = compare_rules("no function", "jax", "numpy")
  ),
  diff.nv_tensor = list(
    joist_shape_error = scale(nv_fill(1, c(2, 2, 2))),
    joist_shape_error = scale(x, center = c(1, 2)),
    joist_dtype_error = diff(b)
  ),
  dtype_info = list(joist_dtype_error = dtype_info("f31")),
  explain_promotion = list(
    joist_value_error = explain_promotion(nv_convert(v, "f64")),
    joist_value_error = explain_promotion("i8"),
    joist_dtype_error = explain_promotion("i8", "f31"),
    joist_promotion_error = explain_promotion("i8", "i8", rules = "none")
  ),
  gradient = list(
    joist_dtype_error = gradient(function(x) sum(x))(i),
    joist_dtype_error = gradient(function(x) sum(x > 1))(v),
    joist_dtype_error = gradient(function(x) sum(Re(sqrt(x * 1i))))(v),
    joist_shape_error = gradient(function(x) x)(v),
    joist_value_error = gradient(function(x) x, "y"),
    joist_value_error = value_and_gradient(function(x) sum(nv_polygamma(20, x)))(v)
  ),
  nv_while = list(
    joist_promotion_error = nv_for(2, v, function(i, v) v + nv_scalar(1, "f64")),
    joist_shape_error = nv_for(2, v, function(i, v) c(v, v)),
    joist_shape_error = nv_if(TRUE, v, 1),
    joist_shape_error = nv_scan(0, 1.5, function(s, x) list(s, x)),
    joist_value_error = nv_scan(0, length = 1.5, body = function(s, i) list(s, i)),
    joist_value_error = nv_scan(0, 1:3, function(s, i) list(s, i), length = 2),
    joist_value_error = nv_for(2, list(v), function(i, s) v),
    joist_value_error = nv_while(v, function(v) v > 1, function(v) v),
    joist_value_error = nv_if(b, 1, 2),
    joist_value_error = nv_if(nv_mask(b[[1]], TRUE), 1, 2),
    joist_value_error = nv_while(v, function(v) nv_mask(all(v > 1), b[[2]]), function(v) v),
    joist_value_error = nv_for(1.5, v, function(i, v) v)
  ),
  jacobian = list(
    joist_dtype_error = jacobian(function(x) x > 1)(v),
    joist_dtype_error = hessian(sum)(i),
    joist_value_error = jacobian(sin, mode = "up"),
    joist_value_error = jit(jacobian(sin, sparse = TRUE))(v),
    joist_value_error = hessian(nv_sin, wrt = "z"),
    joist_shape_error = hessian(sin)(v)
  ),
  nv_vjp = list(
    joist_dtype_error = nv_vjp(function(x) x > 1, list(v), list(v)),
    joist_dtype_error = nv_jvp(function(x) x, list(i), list(i)),
    joist_shape_error = nv_vjp(function(x) x, list(v), list(v, v)),
    joist_shape_error = nv_jvp(function(x) x, list(v), list(x)),
    joist_value_error = nv_vjp(sin, list(v, v), list(v)),
    joist_shape_error = nv_linearize(function(x) x, list(v))$tangent(list(x)),
    joist_value_error = nv_jvp(nv_sin, list(), list()),
    joist_value_error = nv_vjp(function(x) nv_polygamma(20, x), list(v), list(v))
  ),
  nv_stop_gradient = list(
    joist_value_error = nv_stop_gradient("a"),
    joist_value_error = custom_gradient(1, identity),
    joist_value_error = gradient(custom_gradient(function(x) list(x), function(...) 1))(v[1]),
    joist_value_error = gradient(function(x) sum(custom_gradient(exp, function(...) 1)(x)))(v)
  ),
  nv_print = list(
    joist_value_error = nv_print("a"),
    joist_value_error = nv_print(v, label = 1)
  ),
  nv_checkpoint = list(
    joist_value_error = nv_checkpoint(1),
    joist_value_error = gradient(nv_checkpoint(function(x) list(x)))(v[1])
  ),
  check_gradient = list(
    joist_value_error = check_gradient(function(x) sum(x * nv_stop_gradient(x)), v),
    joist_value_error = check_gradient(function(x) sum(nv_polygamma(20, x)), v),
    joist_value_error = check_gradient(sum, v, step = 0),
    joist_value_error = check_gradient(sum, v, tolerance = 0),
    joist_dtype_error = check_gradient(sum, i),
    joist_shape_error = check_gradient(function(x) x, v)
  ),
  nv_scatter_add = list(
    joist_shape_error = nv_scatter_add(v, 4, 1),
    joist_value_error = nv_scatter_add(v, NA, 1),
    joist_value_error = nv_scatter_add(v, 1.5, 1),
    joist_shape_error = nv_scatter_add(v, 1:2, v),
    joist_dtype_error = nv_scatter_add(v, v, v),
    joist_dtype_error = nv_scatter_add(b, 1, b),
    joist_promotion_error = nv_scatter_add(i, 1, v)
  ),
  nv_segment_sum = list(
    joist_value_error = nv_segment_sum(v, c(1, NA, 2), 2),
    joist_value_error = nv_segment_sum(v, c(1, 1.5, 2), 2),
    joist_shape_error = nv_segment_sum(v, c(1, 2, 3), 2),
    joist_value_error = nv_segment_sum(v, c(1, 1, 1), -1),
    joist_shape_error = nv_segment_sum(v, 1:2, 2),
    joist_shape_error = nv_segment_sum(v[1][[1]], 1, 2),
    joist_dtype_error = nv_segment_sum(v, v, 3),
    joist_dtype_error = nv_segment_sum(b, c(1, 1, 1), 2),
    joist_dtype_error = nv_segment_max(nv_tensor(1i), 1, 1)
  ),
  nv_segment_cumsum = list(joist_dtype_error = nv_segment_rank(nv_tensor(1i), 1, 1)),
  nv_group = list(
    joist_value_error = nv_group(list()),
    joist_value_error = jit(function(x) nv_group(x)$count)(v),
    joist_shape_error = nv_group(list(1:2, 1:3))
  ),
  jit = list(
    joist_value_error = jit(function(x) if (x > 1) x)(nv_scalar(1)),
    joist_trace_error = jit(function(x) if (x > 1) x)(nv_scalar(1)),
    joist_trace_error = jit(function(x) dnorm(x))(v),
    joist_trace_error = jit(function(x) cat(x))(v),
    joist_shape_error = jit(function(x) {
      while (sum(x) < 9) x <- c(x, x)
      x
    })(v),
    joist_promotion_error = jit(function(x) {
      while (sum(x) < 9) x <- nv_convert(x, "i32")
      x
    })(v)
  ),
  nv_to_arrow = list(
    joist_dtype_error = nv_to_arrow(z),
    joist_value_error = nv_to_arrow(v, "paper"),
    joist_shape_error = nv_to_arrow(nv_fill(0, c(1, 1, 1)), "arrow"),
    joist_value_error = nv_from_arrow(list(1), nv_to_arrow(v)$schema),
    joist_shape_error = with(
      nv_to_arrow(nv_fill(0, 2^20, "i8")), nv_from_arrow(rep(list(array), 2^11), schema)
    )
  ),
  nv_na_omit = list(
    joist_value_error = nv_na_omit(nv_aval("f32", 3)),
    joist_value_error = jit(function(x) nv_na_omit(x))(v),
    joist_value_error = nv_merge(v, v),
    joist_value_error = nv_merge(data.frame(k = 1), data.frame(k = 1), how = "outer"),
    joist_value_error = nv_merge(data.frame(k = 1), data.frame(k = 1), by = "z", how = "left")
  ),
  nv_add = list(
    joist_promotion_error = strict(i + v),
    joist_shape_error = i + nv_tensor(1:2),
    joist_dtype_error = b - b,
    joist_value_error = i %/% 0L,
    joist_value_error = i^-1L,
    joist_value_error = u + 300L
  ),
  nv_and = list(
    joist_promotion_error = strict(i & v),
    joist_shape_error = i & nv_tensor(1:2),
    joist_value_error = b & NaN
  ),
  nv_apply = list(joist_shape_error = nv_apply(x, 3, sum)),
  nv_vmap = list(
    joist_shape_error = nv_vmap(sum)(v[[1]]),
    joist_shape_error = nv_vmap(nv_add)(x, v),
    joist_shape_error = nv_vmap(sum, 3)(x),
    joist_value_error = nv_vmap(nv_add, 1:3)(v, v),
    joist_value_error = nv_vmap(nv_sin, c(z = 1))(v),
    joist_value_error = nv_vmap(nv_sin, NULL)(v),
    joist_value_error = nv_vmap(nv_sin, ""),
    joist_value_error = nv_vmap(nv_sin, out_dims = NULL)(v),
    joist_value_error = nv_vmap(nv_sin, out_dims = list(1, 1))(v)
  ),
  nv_argmin = list(
    joist_shape_error = nv_argmin(x, 3),
    joist_shape_error = nv_argmin(huge),
    joist_value_error = nv_argmin(none),
    joist_dtype_error = nv_argmin(z)
  ),
  nv_aval = list(
    joist_dtype_error = nv_aval("f31"),
    joist_shape_error = nv_aval("f32", -1),
    joist_value_error = nv_aval("f32", ambiguous = NA)
  ),
  nv_bitwise_and = list(
    joist_promotion_error = strict(nv_bitwise_and(no_key, nv_tensor(1L, "ui64") + i)),
    joist_shape_error = nv_bitwise_and(i, nv_tensor(1:2)),
    joist_dtype_error = nv_bitwise_and(v, v),
    joist_dtype_error = nv_popcnt(z),
    joist_dtype_error = nv_shift_left(b, b)
  ),
  nv_broadcast_arrays = list(
    joist_shape_error = nv_broadcast_arrays(i, nv_tensor(1:2)),
    joist_shape_error = nv_outer(nv_fill(0, rep(1, 20)), nv_fill(0, rep(1, 20)))
  ),
  nv_clamp = list(
    joist_promotion_error = strict(nv_clamp(i, v, v)),
    joist_shape_error = nv_clamp(0, v, c(1, 2)),
    joist_shape_error = nv_clamp(v, 0, 1),
    joist_dtype_error = nv_clamp(0, z, 1),
    joist_value_error = nv_ifelse(b, u, 300L),
    joist_value_error = nv_ifelse(NaN, u, u)
  ),
  nv_concatenate = list(
    joist_shape_error = nv_concatenate(x, v),
    joist_value_error = nv_concatenate(list(v, list(v))),
    joist_value_error = nv_stack(list(v), v),
    joist_shape_error = rbind(x, c(1, 2)),
    joist_shape_error = nv_stack(v, c(1, 2)),
    joist_promotion_error = strict(c(i, v)),
    joist_value_error = nv_stack(v, v, dims = 1)
  ),
  nv_convert = list(
    joist_dtype_error = nv_convert(v, "f31"),
    joist_dtype_error = nv_bitcast_convert(v, "i8"),
    joist_dtype_error = nv_bitcast_convert(b, "i8")
  ),
  nv_cov = list(
    joist_shape_error = nv_cov(v, 1:2),
    joist_dtype_error = nv_cor(z, z),
    joist_value_error = nv_cov(x, correction = "a")
  ),
  nv_cumsum = list(
    joist_shape_error = nv_cumsum(x, 3),
    joist_shape_error = nv_cumsum(huge),
    joist_dtype_error = nv_cummin(z)
  ),
  nv_device = list(joist_device_error = nv_device("moon")),
  nv_eq = list(
    joist_promotion_error = strict(i == v),
    joist_shape_error = i == nv_tensor(1:2),
    joist_dtype_error = z < z
  ),
  nv_gather = list(
    joist_shape_error = nv_gather(v, 4),
    joist_shape_error = nv_gather(v, 0),
    joist_shape_error = nv_gather(v, 1, 2),
    joist_dtype_error = nv_gather(v, v),
    joist_value_error = nv_gather(v, 1.5)
  ),
  nv_key = list(
    joist_value_error = nv_key(1.5),
    joist_value_error = nv_fold_in(key, 1.5),
    joist_value_error = jit(function() nv_runif(2, key = nv_key()))(),
    joist_dtype_error = nv_fold_in(v, 1),
    joist_shape_error = nv_fold_in(no_key, 1)
  ),
  nv_match = list(
    joist_promotion_error = strict(nv_match(i, v)),
    joist_value_error = nv_searchsorted(v, 1),
    joist_value_error = nv_searchsorted(1:3, 1, side = "up"),
    joist_value_error = nv_match(i, 1L, nomatch = 1.5),
    joist_value_error = nv_match(i, 1L, nomatch = NA),
    joist_value_error = nv_searchsorted(c(1, NA), 1),
    joist_shape_error = nv_searchsorted(x, 1),
    joist_dtype_error = nv_searchsorted(z, 1)
  ),
  nv_conv = list(
    joist_shape_error = nv_conv(a3, array(1, c(1, 3, 1))),
    joist_shape_error = nv_conv2d(a3, a3), joist_shape_error = nv_conv(a3, array(1, c(1, 3, 9))),
    joist_value_error = nv_conv(a3, a3, stride = 0),
    joist_value_error = nv_conv(a3, a3, padding = "no"),
    joist_value_error = nv_conv(a3, a3, dilation = c(1, 1)),
    joist_value_error = nv_conv(a3, a3, groups = 0),
    joist_value_error = nv_conv(a3, a3, output_padding = 1),
    joist_promotion_error = strict(nv_conv(a3, nv_convert(a3, "i16"))),
    joist_dtype_error = nv_conv(a3, a3, accumulate = "i32")
  ),
  nv_reduce_window = list(
    joist_value_error = nv_reduce_window(v, 0),
    joist_value_error = nv_reduce_window(v, 2, stride = 0),
    joist_value_error = nv_avg_pool(a3, 1, padding = -1), joist_shape_error = nv_max_pool(v, 1),
    joist_value_error = nv_unfold(v, 2, dilation = 0), joist_shape_error = nv_unfold(v, 9),
    joist_shape_error = nv_reduce_window(v, 2, dims = 2),
    joist_shape_error = nv_reduce_window(v, 9),
    joist_dtype_error = nv_reduce_window(z_matrix, 1)
  ),
  nv_resize = list(
    joist_value_error = nv_resize(x, 0), joist_value_error = nv_resize(x, 2, "box"),
    joist_shape_error = nv_resize(x, 2, dims = 3), joist_shape_error = nv_resize(none, 2),
    joist_shape_error = nv_interp(v, v, x)
  ),
  nv_rolling = list(
    joist_value_error = nv_rolling(v, 0), joist_value_error = nv_rolling(v, 2, "sd"),
    joist_shape_error = nv_rolling(v, 2, dim = 2), joist_shape_error = nv_rolling(v, 9),
    joist_dtype_error = nv_rolling(z_matrix, 1)
  ),
  nv_mask = list(
    joist_dtype_error = nv_mask(v, 1),
    joist_shape_error = nv_mask(v, c(TRUE, FALSE)),
    joist_shape_error = nv_replace_na(v, c(1, 2)),
    joist_shape_error = nv_coalesce(v, c(1, 2)),
    joist_value_error = nv_replace_na(u, 300L),
    joist_promotion_error = nv_replace_na(u, v[1])
  ),
  nv_matmul = list(
    joist_shape_error = nv_matmul(x, x),
    joist_shape_error = nv_dot(x, x, contracting_dims = list(1, 2)),
    joist_promotion_error = strict(nv_matmul(i, v)),
    joist_dtype_error = nv_matmul(x, t(x), accumulate = "i32")
  ),
  nv_median = list(
    joist_shape_error = nv_median(x, 3),
    joist_dtype_error = nv_median(z),
    joist_value_error = nv_quantile(v, 1.5),
    joist_value_error = nv_quantile(v, type = 10)
  ),
  nv_memory = list(joist_value_error = nv_memory(-1)),
  nv_negate = list(
    joist_dtype_error = -b,
    joist_dtype_error = sign(b),
    joist_dtype_error = floor(z)
  ),
  nv_quantize = list(
    joist_dtype_error = nv_quantize(x, "ui8"),
    joist_shape_error = nv_quantize(x, "i8", block = 0),
    joist_value_error = nv_quantize(x, "i8", dims = 1, block = 2)
  ),
  nv_pad = list(
    joist_shape_error = nv_pad(x, 0L, c(1, 2, 3), 0),
    joist_shape_error = nv_split(v, 2),
    joist_value_error = nv_split(v, 3, sizes = c(1, 2)),
    joist_shape_error = nv_tril(v),
    joist_promotion_error = nv_pad(i, nv_scalar(1), 1, 1),
    joist_value_error = nv_pad(u, 300L, 1, 1)
  ),
  expect_equal_tensor = list(joist_value_error = expect_equal_tensor(1, 1)),
  nv_qr = list(
    joist_value_error = nv_svd(matrix(c(1, NaN, 2, 3), 2)),
    joist_shape_error = nv_eigh(x)
  ),
  nv_eig = list(
    joist_value_error = nv_eigvals(matrix(c(1, NaN, 2, 3), 2)), joist_shape_error = nv_eig(x)
  ),
  nv_lstsq = list(
    joist_value_error = nv_pinv(matrix(c(1, NaN, 2, 3), 2)),
    joist_value_error = nv_matrix_power(s, -1.5), joist_value_error = nv_lstsq(x, v, tol = NA),
    joist_value_error = nv_trace(x, 0.5), joist_shape_error = nv_expm(x),
    joist_shape_error = nv_cross(x, x)
  ),
  mapped_files = list(joist_value_error = nv_share(v)),
  nv_read_npy = list(
    joist_value_error = nv_read_npy(as.raw(1:20)),
    joist_value_error = nv_read_npy(nv_write_npy(v)[-1]),
    joist_value_error = nv_read_npy(c(nv_write_npy(v), raw(1))),
    joist_value_error = nv_read_npy(tempfile()),
    joist_value_error = nv_read_npz(tempfile()),
    joist_dtype_error = nv_read_npy( # two bytes of text
      replace(nv_write_npy(nv_tensor(1L, "ui16")), 23, charToRaw("S"))
    )
  ),
  nv_read_gguf = list(
    joist_value_error = nv_read_gguf(test_path("gguf", "F32.values.npy")),
    joist_value_error = nv_read_gguf(test_path("gguf", "Q8_0.gguf"), "y"),
    joist_dtype_error = {
      bytes <- readBin(test_path("gguf", "F32.gguf"), "raw", 4000)
      at <- which(bytes == charToRaw("x"))[2] # a name, then rank, two extents and the type
      writeBin(replace(bytes, at + 21L, as.raw(99)), file <- tempfile())
      nv_read_gguf(file)
    }
  ),
  nv_write_gguf = list(
    joist_dtype_error = nv_write_gguf(list(a = nv_convert(z, "c128")), tempfile()),
    joist_value_error = nv_write_gguf(list(a = v), tempfile(), list(b = NULL)),
    joist_value_error = nv_write_gguf(list(a = v), file.path(tempfile(), "a"))
  ),
  nv_packed = list(joist_value_error = nv_quantize(rep(1, 32), type = "q8_0") + 1),
  nv_read_pt = list(
    joist_value_error = nv_read_pt(test_path("pytorch", "hostile.pt")),
    joist_value_error = nv_read_pt(test_path("pytorch", "beyond.pt")),
    joist_value_error = nv_read_pt(test_path("gguf", "F32.gguf"))
  ),
  nv_zarr = list(
    joist_value_error = nv_zarr(tempfile()),
    joist_value_error = nv_zarr_create(tempfile(), "f32", 3, codecs = "lzma"),
    joist_value_error = nv_zarr_create(tempfile(), "f32", 3, fill = 1:2),
    joist_dtype_error = nv_zarr_create(tempfile(), "f33", 3),
    joist_dtype_error = nv_zarr(nv_zarr_store(function(key) {
      charToRaw(paste0(
        "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[],\"data_type\":\"int3\"}"
      ))
    })),
    joist_shape_error = nv_zarr_create(tempfile(), "f32", 3, chunks = 0)
  ),
  nv_zarr_store = list(joist_value_error = nv_zarr_store(get = 1)),
  nv_hdf5 = list(joist_value_error = nv_hdf5(tempfile())),
  chunked = list(
    joist_value_error = as_array(nv_zarr_create(tempfile(), "f32", 3)),
    joist_value_error = nv_store(v, tempfile(), node = ".."),
    joist_value_error = nv_compute(v, retries = -1),
    joist_dtype_error = nv_bitwise_and(nv_chunked(v), 1L),
    joist_shape_error = nv_zarr_create(tempfile(), "f32", 3)[4]
  ),
  nv_write_safetensors = list(
    joist_value_error = nv_unserialize(as.raw(1:20)),
    joist_value_error = nv_unserialize(nv_serialize(list(a = v)), "b"),
    joist_value_error = nv_save(list(v, v), tempfile()),
    joist_value_error = nv_read(tempfile()),
    joist_dtype_error = nv_serialize(list(a = nv_convert(z, "c128")))
  ),
  nv_read_bin = list(
    joist_value_error = nv_read_bin(as.raw(1:3), "f32"),
    joist_value_error = nv_read_bin(as.raw(1:4), "bool"),
    joist_value_error = nv_read_bin(1, "f32"),
    joist_value_error = nv_write_bin(v, endian = "middle"),
    joist_shape_error = nv_read_bin(as.raw(1:4), "f32", 2),
    joist_dtype_error = nv_read_bin(as.raw(1:4), "f31")
  ),
  nv_real = list(joist_promotion_error = strict(nv_arg(i))),
  nv_reduce_sum = list(
    joist_shape_error = nv_reduce_sum(x, 3),
    joist_value_error = max(none),
    joist_dtype_error = max(z)
  ),
  nv_reshape = list(
    joist_shape_error = nv_reshape(v, 4),
    joist_shape_error = nv_broadcast_to(v, c(2, 2))
  ),
  nv_round = list(
    joist_dtype_error = round(z, 1),
    joist_dtype_error = signif(z, 1),
    joist_value_error = round(v, 1:2)
  ),
  nv_runif = list(
    joist_dtype_error = nv_runif(1, dtype = "i32"),
    joist_dtype_error = nv_rnorm(1, dtype = "i32"),
    joist_dtype_error = nv_random_bits(1, "f32"),
    joist_value_error = nv_runif(1, 2, 1),
    joist_value_error = nv_randint(1, 1L, 300L, "ui8"),
    joist_value_error = nv_rnorm(1, sd = -1),
    joist_value_error = nv_rbinom(1, 1.5, 0.5),
    joist_value_error = nv_rbinom(1, 300, 0.5, "ui8"),
    joist_value_error = nv_rbernoulli(1, 2),
    joist_value_error = jit(function() nv_runif(2))(),
    joist_shape_error = nv_runif(2, c(1, 2, 3))
  ),
  nv_rexp = list(
    joist_dtype_error = nv_rexp(2, dtype = "i32"),
    joist_dtype_error = nv_rpois(2, 1, "bool"),
    joist_value_error = nv_rexp(2, -1),
    joist_value_error = nv_rgamma(2, NaN),
    joist_value_error = nv_rpois(2, 1e3, "i8"),
    joist_value_error = nv_rcategorical(2, c(-Inf, -Inf)),
    joist_value_error = gradient(function(x) {
      sum(gradient(function(x) sum(nv_rgamma(3, x, key = key)))(x)$x)
    })(v),
    joist_value_error = jit(function(x) nv_rexp(2, x))(v),
    joist_shape_error = nv_rexp(4, v),
    joist_shape_error = nv_rcategorical(4, nv_fill(0, c(3, 2)))
  ),
  nv_rlnorm = list(
    joist_dtype_error = nv_rlnorm(2, dtype = "i32"), joist_dtype_error = nv_rgeom(2, 0.5, "bool"),
    joist_value_error = nv_rlogis(2, 0, -1), joist_value_error = nv_rbeta(2, 0, 1),
    joist_value_error = nv_rt(2, NaN), joist_value_error = nv_rchisq(2, NA),
    joist_value_error = nv_rhyper(9, 200, 0, 200, "i8"),
    joist_value_error = jit(function(x) nv_rt(2, x))(v), joist_shape_error = nv_rt(4, v)
  ),
  nv_rmultinom = list(
    joist_value_error = nv_rmultinom(1, 2, c(1, -1)),
    joist_value_error = nv_dmultinom(1:2, c(0, 0)),
    joist_value_error = nv_rmultinom(1, 0.5, 1:2), joist_value_error = nv_rmvnorm(1, 1, matrix(-1)),
    joist_value_error = nv_dmvnorm(1:2, 1:2, matrix(1:4, 2)),
    joist_value_error = jit(function(x) nv_rmultinom(1, 2, x))(v),
    joist_shape_error = nv_rmvnorm(1, 1:3, diag(2)), joist_shape_error = nv_dmvnorm(1, v, diag(3)),
    joist_dtype_error = nv_rmvnorm(1, 0, matrix(1), "i8"), joist_dtype_error = nv_dmultinom(z, 1)
  ),
  nv_sample = list(
    joist_value_error = nv_sample(v, 2, prob = c(1, 0, 0)),
    joist_value_error = nv_sample(v, prob = c(1, -1, 1)),
    joist_shape_error = nv_sample(v, prob = 1),
    joist_value_error = nv_sample(v, 4),
    joist_value_error = jit(function(x) nv_sample(x))(v),
    joist_dtype_error = nv_sample(v, key = v),
    joist_shape_error = nv_sample(v, key = no_key)
  ),
  nv_set_threads = list(joist_value_error = nv_set_threads(0)),
  nv_solve = list(
    joist_value_error = nv_solve(matrix(1, 2, 2)),
    joist_value_error = nv_chol(matrix(c(1, 2, 2, 1), 2)),
    joist_value_error = nv_inv(matrix(c(1, Inf, 1, 1), 2)),
    joist_shape_error = nv_solve(x),
    joist_shape_error = nv_solve(s, 1:3)
  ),
  nv_sort = list(
    joist_dtype_error = sort(z),
    joist_shape_error = nv_sort(x, 3),
    joist_value_error = nv_sort(v, decreasing = NA),
    joist_value_error = sort(v, na.last = "a"),
    joist_value_error = jit(function(x) order(x))(v),
    joist_value_error = jit(function(x) xtfrm(x))(v)
  ),
  nv_erf = list(
    joist_promotion_error = strict(nv_erf(i)),
    joist_dtype_error = nv_erfc(z)
  ),
  nv_dbeta = list(
    joist_promotion_error = strict(nv_pbeta(i, 1L, 1L)), joist_dtype_error = nv_dbinom(z, 2, 0.5),
    joist_shape_error = nv_qt(v, nv_tensor(c(1, 2))), joist_value_error = nv_dt(v, 2, log = NA)
  ),
  nv_dexp = list(
    joist_promotion_error = strict(nv_ppois(i, 1L)), joist_dtype_error = nv_dgamma(z, 2),
    joist_shape_error = nv_qexp(v, nv_tensor(c(1, 2))), joist_value_error = nv_pgamma(v, 2, 1, NULL)
  ),
  nv_dnorm = list(
    joist_promotion_error = strict(nv_dnorm(i, 0L, 1L)), joist_dtype_error = nv_pnorm(z),
    joist_shape_error = nv_pnorm(v, nv_tensor(c(1, 2))),
    joist_value_error = nv_dnorm("a"), joist_value_error = nv_qnorm(v, lower.tail = 1)
  ),
  nv_lbeta = list(
    joist_promotion_error = strict(nv_lbeta(i, 1L)), joist_dtype_error = nv_beta(z, 1),
    joist_shape_error = nv_beta(v, nv_tensor(c(1, 2))), joist_value_error = nv_lbeta("a", 1)
  ),
  nv_erf_inv = list(
    joist_promotion_error = strict(nv_erf_inv(i)),
    joist_dtype_error = nv_erf_inv(z)
  ),
  nv_logsumexp = list(
    joist_promotion_error = strict(nv_softplus(i)),
    joist_dtype_error = nv_softmax(z),
    joist_shape_error = nv_logsumexp(v, 2)
  ),
  nv_einsum = list(
    joist_value_error = nv_einsum("i-j", x),
    joist_value_error = nv_einsum("ij,jk", x),
    joist_shape_error = nv_einsum("i", x),
    joist_shape_error = nv_einsum("ii", x),
    joist_promotion_error = strict(nv_einsum("i,i", i, v))
  ),
  nv_switch = list(
    joist_value_error = nv_switch(1), joist_value_error = nv_switch(1.5, v),
    joist_value_error = nv_switch(v, v), joist_value_error = nv_switch(nv_mask(i[[1]], TRUE), v),
    joist_value_error = nv_switch(1, v, list(v)), joist_shape_error = nv_switch(1, v, x),
    joist_promotion_error = strict(nv_switch(1, i, v))
  ),
  nv_associative_scan = list(
    joist_value_error = nv_associative_scan(list(), nv_add),
    joist_shape_error = nv_associative_scan(v[[1]], nv_add),
    joist_value_error = nv_associative_scan(v, function(a, b) list(a, b)),
    joist_shape_error = nv_associative_scan(v, function(a, b) c(a, b)),
    joist_promotion_error = nv_associative_scan(v, function(a, b) nv_convert(a, "f64"))
  ),
  nv_one_hot = list(
    joist_dtype_error = nv_one_hot(v, 2), joist_value_error = nv_one_hot(i, 1.5)
  ),
  nv_linspace = list(
    joist_value_error = nv_seq(1, 2, -1),
    joist_value_error = nv_seq_len(-1),
    joist_value_error = nv_linspace(0, 1, 1.5),
    joist_value_error = nv_linspace(0, 300, 3, dtype = "i8"),
    joist_value_error = jit(function(to) nv_seq(1, to))(nv_scalar(3)),
    joist_shape_error = nv_linspace(v, 1, 3),
    joist_shape_error = nv_seq(1, 1e10, dtype = "i64"),
    joist_dtype_error = nv_linspace(0, 1, 2, dtype = "bool"),
    joist_dtype_error = nv_seq(1, 2, dtype = "c64"),
    joist_promotion_error = strict(nv_seq(nv_scalar(1L), nv_scalar(2.5)))
  ),
  nv_fill_like = list(
    joist_value_error = nv_fill_like(i, 1e5),
    joist_dtype_error = nv_zeros_like(i, "i31"),
    joist_shape_error = nv_ones_like(i, shape = -1),
    joist_shape_error = nv_fill_like(i, 1:2)
  ),
  nv_roll = list(
    joist_value_error = nv_roll(v, 1.5),
    joist_value_error = nv_roll(v, 1:2, 1),
    joist_shape_error = nv_roll(v, 1, 2)
  ),
  with_default_dtypes = list(
    joist_dtype_error = with_default_dtypes(c(float = "i8"), 1),
    joist_dtype_error = with_default_dtypes(c(int = "f99"), 1),
    joist_value_error = with_default_dtypes(c(double = "f64"), 1)
  ),
  nv_polygamma = list(
    joist_value_error = nv_polygamma(21, v),
    joist_promotion_error = strict(nv_trigamma(i)),
    joist_dtype_error = nv_polygamma(1, z)
  ),
  program = list(
    joist_value_error = program(jit(function(x) x)),
    joist_value_error = program(function(x) x, v, what = "text")
  ),
  nv_sqrt = list(
    joist_promotion_error = strict(sqrt(i)),
    joist_dtype_error = nv_cbrt(z), joist_dtype_error = nv_sinpi(z),
    joist_dtype_error = nv_cospi(z), joist_dtype_error = nv_tanpi(z)
  ),
  nv_tensor = list(
    joist_value_error = nv_tensor(c(1.5, 2), "i32"),
    joist_value_error = nv_tensor(NA, na = "error"),
    joist_value_error = nv_tensor(c(1, NA), "i8", na = "nan"),
    joist_value_error = nv_tensor(factor("a")),
    joist_value_error = nv_tensor(Sys.Date()),
    joist_value_error = nv_tensor("a"),
    joist_value_error = nv_tensor(list(1)),
    joist_shape_error = nv_tensor(1:3, shape = 4),
    joist_dtype_error = nv_tensor(1, "f31")
  ),
  nv_to_dlpack = list(
    joist_value_error = nv_to_dlpack(nv_aval("f32", 3)),
    joist_value_error = nv_from_dlpack(v)
  ),
  nv_fft = list(
    joist_value_error = nv_fft(v, 0), joist_value_error = nv_fft(v, c(2, 2)),
    joist_value_error = nv_fft(v, norm = "none"), joist_shape_error = nv_fft(v[[1]]),
    joist_shape_error = nv_fft(v, dims = 2), joist_dtype_error = nv_rfft(z),
    joist_dtype_error = nv_ihfft(z)
  ),
  nv_fftfreq = list(joist_value_error = nv_fftfreq(0), joist_value_error = nv_rfftfreq(2, NaN)),
  nv_unique = list(
    joist_value_error = nv_unique(v, inverse = NA), joist_value_error = jit(nv_unique)(v),
    joist_value_error = nv_union(nv_aval("f32", 3), v),
    joist_promotion_error = strict(nv_union(i, b))
  ),
  nv_histogram = list(
    joist_value_error = nv_digitize(v, c(2, 1)), joist_value_error = nv_histogram(v, 0),
    joist_value_error = nv_histogram(v, 2, c(1, 0)), joist_value_error = nv_digitize(v, 1, NA),
    joist_shape_error = nv_histogram(v, 2, weights = u), joist_dtype_error = nv_histogram(z)
  ),
  nv_lexsort = list(
    joist_shape_error = nv_lexsort(v, x), joist_shape_error = nv_partition(v, 1, dim = 2),
    joist_shape_error = nv_partition(v, 4), joist_value_error = nv_lexsort(),
    joist_value_error = nv_lexsort(v, decreasing = NA), joist_value_error = nv_partition(v, 0.5),
    joist_dtype_error = nv_lexsort(z)
  ),
  nv_trapz = list(
    joist_shape_error = nv_trapz(v, 1:2), joist_shape_error = nv_trapz(v, dim = 2),
    joist_value_error = nv_trapz(v, dx = "a")
  ),
  nv_dlnorm = list(
    joist_promotion_error = strict(nv_pf(i, 1L, 1L)), joist_dtype_error = nv_dlnorm(z),
    joist_shape_error = nv_plogis(x, v), joist_value_error = nv_dchisq("1", 1),
    joist_value_error = nv_qcauchy(v, lower.tail = NA)
  ),
  nv_dgeom = list(
    joist_promotion_error = strict(nv_pgeom(i, 1L)), joist_dtype_error = nv_dgeom(z, 0.5),
    joist_shape_error = nv_pnbinom(x, v, 0.5), joist_value_error = nv_qhyper("1", 1, 1, 1),
    joist_value_error = nv_qgeom(v, 0.5, log.p = NA)
  ),
  nv_frexp = list(
    joist_dtype_error = nv_frexp(z), joist_dtype_error = nv_ldexp(v, v),
    joist_promotion_error = strict(nv_frexp(i)), joist_shape_error = nv_ldexp(v, 1:2),
    joist_value_error = nv_ldexp(v, 0.5), joist_value_error = nv_is_close(v, v, rtol = NA),
    joist_value_error = nv_nan_to_num(v, nan = "a")
  ),
  nv_gcd = list(
    joist_promotion_error = strict(nv_gcd(i, b)), joist_dtype_error = nv_gcd(v, 1L),
    joist_dtype_error = nv_clz(v), joist_shape_error = nv_gcd(i, 1:2),
    joist_value_error = nv_divmod(i, 0L), joist_value_error = nv_rotate_left(i, 0.5)
  ),
  nv_meshgrid = list(
    joist_value_error = nv_meshgrid(v, indexing = "yx"), joist_value_error = nv_tile(v, -1),
    joist_value_error = nv_rot90(x, 0.5), joist_shape_error = nv_meshgrid(x),
    joist_shape_error = nv_rot90(v), joist_shape_error = nv_rot90(x, dims = 1)
  ),
  nv_packbits = list(
    joist_dtype_error = nv_packbits(v), joist_dtype_error = nv_unpackbits(i),
    joist_shape_error = nv_packbits(b, 2), joist_value_error = nv_packbits(b, bitorder = "up"),
    joist_value_error = nv_unpackbits(u, count = 9)
  ),
  nv_hypot = list(
    joist_dtype_error = nv_hypot(z, v), joist_dtype_error = nv_signbit(b),
    joist_promotion_error = strict(nv_hypot(i, i))
  ),
  nv_top_k = list(
    joist_dtype_error = nv_top_k(z, 1),
    joist_dtype_error = nv_take_along(v, v, 1),
    joist_shape_error = nv_top_k(v, 1, 2),
    joist_shape_error = nv_top_k(v, 4),
    joist_shape_error = nv_take_along(x, nv_tensor(1:3), 1),
    joist_shape_error = nv_take_along(v, nv_tensor(4L), 1),
    joist_value_error = nv_top_k(v, 1.5)
  ),
  nv_transpose = list(
    joist_shape_error = nv_transpose(x, c(1, 1)),
    joist_shape_error = nv_squeeze(x, 1),
    joist_shape_error = nv_unsqueeze(x, 4),
    joist_shape_error = nv_reverse(x, 3)
  ),
  nv_var = list(
    joist_shape_error = nv_var(x, 3),
    joist_value_error = nv_var(x, correction = "a"),
    joist_value_error = nv_var(nv_chunked(v), na_rm = TRUE),
    joist_value_error = nv_norm(x, p = -1),
    joist_value_error = nv_norm(none, p = Inf)
  ),
  nv_which = list(
    joist_value_error = jit(function(x) nv_which(x))(b),
    joist_value_error = nv_which(nv_aval("bool", 3)),
    joist_value_error = jit(function(x) nv_tabulate(x))(i),
    joist_dtype_error = nv_which(i),
    joist_dtype_error = nv_tabulate(z),
    joist_shape_error = nv_tabulate(i, 3, v[1])
  ),
  plot_promotion = list(
    joist_promotion_error = plot(promotion_rules("numpy")),
    joist_dtype_error = plot(promotion_rules("jax"), highlight = c("i8", "i9")),
    joist_value_error = plot(promotion_table("jax", character(), "i8"))
  ),
  promotion_atlas = list(joist_promotion_error = promotion_atlas("nobody")),
  promotion_rules_new = list(
    joist_promotion_error = read_promotion_rules({
      file <- tempfile()
      writeLines("common,i8", file)
      file
    }),
    joist_value_error = promotion_rules_new("none")
  ),
  promotion_lattice = list(
    joist_promotion_error = promotion_lattice(cbind(c("a", "b"), c("b", "a"))),
    joist_value_error = promotion_lattice(1)
  ),
  promotion_explorer = list(
    joist_value_error = promotion_explorer(1),
    joist_promotion_error = promotion_explorer(tempfile(), "none")
  ),
  promotion_rules = list(
    joist_promotion_error = promotion_rules("none"),
    joist_dtype_error = promotion_rules("anvil", double = "f31"),
    joist_dtype_error = promotion_rules("anvil", double = "i32")
  ),
  promotion_facts = list(joist_promotion_error = promotion_facts("none")),
  promotion_table = list(
    joist_dtype_error = promotion_table("anvil", "f31"),
    joist_promotion_error = promotion_table("none"),
    joist_value_error = promotion_table("jax", operation = "root")
  ),
  result_dtype = list(
    joist_promotion_error = result_dtype("i32", "f32", rules = "array_api"),
    joist_dtype_error = result_dtype("f31"),
    joist_value_error = result_dtype()
  ),
  shape = list(joist_value_error = shape(1)),
  subset = list(
    joist_shape_error = v[4],
    joist_shape_error = x[1, 1, 1],
    joist_shape_error = v[1:2] <- 1:3,
    joist_promotion_error = i[1] <- nv_scalar(1.5),
    joist_value_error = v["a"],
    joist_value_error = u[1] <- 300L
  ),
  unique = list(
    joist_value_error = jit(function(x) unique(x))(v),
    joist_value_error = duplicated(nv_aval("f32", 3)),
    joist_value_error = jit(function(x) anyDuplicated(x))(v)
  ),
  to_r = list(joist_value_error = to_r(nv_aval("f32", 3))),
  lint_promotion = list(
    joist_promotion_error = lint_promotion("script.R", "none"),
    joist_value_error = lint_promotion("no such script.R"),
    joist_value_error = lint_promotion("stats", kinds = "odd")
  ),
  trace_dtypes = list(
    joist_promotion_error = trace_dtypes(\(x) x, v, rules = "none"),
    joist_value_error = trace_dtypes("no function", v)
  ),
  with_promotion = list(
    joist_overflow_error = with_promotion(
      NULL, nv_scalar(127L, "i8") + 1L,
      on = c(overflow = "error")
    ),
    joist_loss_error = with_promotion(NULL, nv_tensor(123456789), on = c(loss = "error")),
    joist_changed_values_error = with_promotion(
      NULL, -nv_scalar(1L, "ui8"),
      on = c(overflow = "error")
    ),
    joist_promotion_error = with_promotion("none", 1),
    joist_promotion_error = local_promotion("none"),
    joist_value_error = with_promotion(NULL, 1, on = c(wide = "error")),
    joist_value_error = local_promotion(on = c(lossy = "never")),
    joist_widening_error = refusing("widening", i + nv_tensor(1L)),
    joist_int_to_float_error = refusing("int_to_float", exp(i)),
    joist_lossy_error = refusing("lossy", v + nv_tensor(1L)),
    joist_literal_error = refusing("literal", v + (2^24 + 1))
  )
)

# Dtypes of results under the rules of anvil.
given_dtypes <- alist(
  mapped_files = list(i16 = {
    file <- tempfile()
    nv_write_npy(i, file)
    nv_share(nv_read_npy(file, mmap = TRUE))
  }),
  nv_read_npy = list(i16 = nv_read_npy(nv_write_npy(i)), bool = nv_read_npy(nv_write_npy(b))),
  nv_zarr = list(i16 = {
    folder <- tempfile()
    nv_zarr_create(folder, "i16", 3)
    nv_zarr(folder)
  }),
  nv_hdf5 = list(f64 = {
    path <- tempfile()
    file <- hdf5r::H5File$new(path, "w")
    file[["x"]] <- c(1, 2)
    file$close_all()
    nv_hdf5(path, "x")
  }),
  chunked = list(i16 = nv_compute(nv_store(i, tempfile())), f32 = nv_store(v, tempfile()) + 1,
    i16 = nv_chunked(i)),
  nv_write_safetensors = list(ui8 = nv_unserialize(nv_serialize(list(a = u)))$a),
  as_tensor = list(ui8 = as_tensor(as.raw(1)), i16 = as_tensor(i), f32 = as_tensor(1)),
  base_functions = list(
    f32 = subset(v, v > 1), i16 = `length<-`(i, 2),
    f32 = rowSums(x), i64 = colSums(nv_tensor(matrix(1:4, 2))),
    `f32?` = rowMeans(nv_tensor(matrix(1:4, 2))),
    f32 = pmax(v, 2), f32 = pmin(2, v), f32 = var(x), `f32?` = var(i), f32 = sd(x, TRUE),
    `f32?` = cor(i, i),
    i16 = rle(i)$values, i16 = ave(i, i, FUN = max), f32 = ifelse(v > 1, v, 0),
    f32 = atan2(v, 1), i16 = bitwAnd(i, 1), i16 = bitwShiftL(i, 1L),
    f32 = diag(x)
  ),
  diff.nv_tensor = list(i16 = diff(i), f32 = scale(x), `f32?` = scale(nv_tensor(matrix(1:6, 3)))),
  nv_add = list(f32 = i + v, `f32?` = i / i, i16 = i + 1L, `f32?` = i + 1, i16 = nv_max(i, u)),
  nv_and = list(bool = i & v, bool = !i),
  nv_argmin = list(i32 = nv_argmin(x), i32 = nv_argmax(i, 1)),
  nv_bitwise_and = list(i16 = nv_bitwise_and(i, u), bool = nv_bitwise_not(b), i16 = nv_popcnt(i)),
  nv_clamp = list(f32 = nv_clamp(0, v, 2), i16 = nv_ifelse(v > 1, i, 0L)),
  nv_concatenate = list(f32 = c(i, v), i16 = nv_stack(i, c(u, u, u)), i16 = rbind(i, 1:3)),
  nv_cov = list(f32 = nv_cov(x), `f32?` = nv_cor(i, i), f32 = nv_cov(i, v)),
  nv_cumsum = list(
    i64 = nv_cumsum(i), i64 = nv_cumprod(b), ui64 = nv_cumsum(u), f32 = nv_cumsum(v),
    c64 = nv_cumprod(z), i16 = nv_cummax(i), f64 = nv_cumsum(i, dtype = "f64")
  ),
  nv_eq = list(bool = i == v),
  gradient = list(
    f32 = gradient(function(x) sum(x * x))(v)$x, `f64?` = gradient(function(x) x * x)(2)$x,
    f16 = gradient(function(x) sum(x * v))(nv_convert(v, "f16"))$x,
    f64 = value_and_gradient(function(x) sum(x, nv_scalar(1, "f64")))(v)$value
  ),
  nv_while = list(
    f64 = nv_for(2, 0, function(i, s) s + nv_scalar(1, "f64")),
    f32 = nv_for(2, v, function(i, v) 0 * v + 1), f32 = nv_for(2, nv_scalar(1), function(i, v) 0),
    f32 = nv_if(TRUE, i, v), `i32?` = nv_for(2, 0L, function(i, s) i),
    `f32?` = nv_scan(0, 1:3, function(s, x) list(s, x / 2))$ys
  ),
  nv_vmap = list(i16 = nv_vmap(function(x) x * 2L)(i)),
  jacobian = list(f32 = jacobian(sin)(v)[[1]], `f64?` = hessian(function(x) x^3)(1)$x$x),
  nv_vjp = list(
    f32 = nv_vjp(sin, list(v), list(nv_convert(v, "f64")))$grad[[1]],
    `f64?` = nv_jvp(sin, list(1), list(v[[1]]))$tangent,
    `f64?` = nv_linearize(sin, list(1))$tangent(list(v[[1]]))
  ),
  nv_checkpoint = list(f32 = nv_checkpoint(exp)(v)),
  nv_print = list(i16 = nv_print(i), f32 = nv_print(v, "v")),
  nv_stop_gradient = list(i16 = nv_stop_gradient(i), `f32?` = nv_stop_gradient(1)),
  nv_gather = list(i16 = nv_gather(i, 2)),
  nv_segment_sum = list(
    f32 = nv_segment_sum(v, c(1, 1, 2), 2), i16 = nv_segment_max(i, c(1, 1, 2), 2),
    bool = nv_segment_any(v, c(1, 1, 2), 2), i64 = nv_segment_count(v, c(1, 1, 2), 2)
  ),
  nv_segment_cumsum = list(
    i64 = nv_segment_cumsum(i, c(1, 1, 2), 2), i16 = nv_segment_cummax(i, c(1, 1, 2), 2),
    f64 = nv_segment_rank(v, c(1, 1, 2), 2), i32 = nv_segment_rank(v, c(1, 1, 2), 2, "min")
  ),
  nv_group = list(i32 = nv_group(v)$ids),
  nv_scatter_add = list(f32 = nv_scatter_add(v, 1, i[1]), `f32?` = nv_scatter_add(1, 1, 2)),
  nv_key = list(ui32 = nv_key(1), ui32 = nv_fold_in(key, 2), ui32 = nv_key_split(key)[[2]]),
  nv_match = list(i32 = nv_match(i, v), i32 = nv_searchsorted(1:3, v), bool = nv_is_in(i, 1L)),
  nv_mask = list(
    f32 = nv_mask(v, b), i16 = nv_mask(i, NA), bool = nv_is_na(v), ui8 = nv_replace_na(u, 0),
    f32 = nv_coalesce(i, v)
  ),
  nv_conv = list(
    f32 = nv_conv(a3, a3), i16 = nv_conv(nv_convert(a3, "i16"), nv_convert(a3, "i16")),
    f64 = nv_conv1d(a3, a3, accumulate = "f64"), f32 = nv_conv(a3, a3, transposed = TRUE)
  ),
  nv_reduce_window = list(
    i16 = nv_reduce_window(i, 2), i16 = nv_reduce_window(i, 2, "min"),
    f32 = nv_reduce_window(v, 2, "sum"), f32 = nv_avg_pool(a3, 2), f32 = nv_max_pool(a3, 2),
    i16 = nv_unfold(i, 2), `f32?` = nv_reduce_window(i, 2, "mean")
  ),
  nv_resize = list(
    i16 = nv_resize(i, 2, "nearest"), f32 = nv_resize(v, 2), `f32?` = nv_resize(i, 2),
    f32 = nv_interp(v, nv_sort(v), v)
  ),
  nv_rolling = list(
    f32 = nv_rolling(v, 2), i16 = nv_rolling(i, 2, "max"), `f32?` = nv_rolling(i, 2, "median"),
    f32 = nv_rolling(v, 2, "var")
  ),
  nv_matmul = list(
    f32 = nv_matmul(i, v), i16 = nv_crossprod(i), i64 = nv_matmul(i, i, accumulate = "i64"),
    i16 = nv_dot(i, 1:3, contracting_dims = list(1, 1))
  ),
  nv_median = list(f32 = nv_median(v), `f32?` = nv_median(i), `f32?` = nv_quantile(i, 0.5)),
  nv_negate = list(i16 = -i, f32 = abs(z), i16 = floor(i), bool = nv_abs(b)),
  nv_quantize = list(
    i4 = nv_quantize(x, "i4")$values, f32 = nv_quantize(x, "i4")$scales,
    f8E8M0FNU = nv_quantize(x, "i4", block = 2)$scales,
    f16 = nv_dequantize(x, nv_scalar(1, "f32"), dtype = "f16")
  ),
  nv_pad = list(
    i16 = nv_pad(i, 0L, 1, 1), f32 = nv_tril(x), i16 = nv_diag(i), f32 = nv_split(v, 3)[[1]],
    i16 = split(i, c(1, 1, 2))[["2"]]
  ),
  nv_qr = list(
    f32 = nv_qr(x)$R, `f32?` = nv_svd(nv_tensor(matrix(1:4, 2)))$d, f32 = nv_eigh(s)$values
  ),
  nv_eig = list(c64 = nv_eig(s)$vectors, `c64?` = nv_eigvals(diag(2)), i32 = nv_lu(x)$p),
  nv_lstsq = list(
    f32 = nv_pinv(x), i64 = nv_matrix_rank(x), f32 = nv_expm(s), i16 = nv_kron(i, i),
    f32 = nv_trace(x)
  ),
  nv_real = list(f32 = Re(z), f32 = Im(z), f32 = Arg(z), c64 = Conj(z), `f32?` = nv_arg(i)),
  nv_reduce_sum = list(
    i64 = sum(i), i64 = sum(b), ui64 = prod(u), f32 = sum(v), c64 = sum(z), i16 = max(i),
    i16 = nv_range(i),
    `f32?` = mean(i), bool = any(b), bool = nv_reduce_all(b),
    f16 = nv_reduce_sum(i, dtype = "f16")
  ),
  nv_round = list(i16 = round(i, -1), f32 = nv_signif(v, 1), `f32?` = nv_round(0.15, 1)),
  nv_runif = list(
    f32 = nv_runif(2), i32 = nv_randint(2, 1L, 6L), i32 = nv_rbinom(2, 3, 0.5),
    bool = nv_rbernoulli(2), ui32 = nv_random_bits(2), c128 = nv_rnorm(2, dtype = "c128")
  ),
  nv_rexp = list(
    f32 = nv_rexp(2), f16 = nv_rgamma(2, 1, dtype = "f16"), i32 = nv_rpois(2, 3),
    i32 = nv_rcategorical(2, v), i64 = nv_rpois(2, 3, "i64")
  ),
  nv_rlnorm = list(
    f32 = nv_rlnorm(2), f16 = nv_rbeta(2, 1, 1, "f16"), i32 = nv_rgeom(2, 0.5),
    i64 = nv_rhyper(2, 3, 4, 5, "i64")
  ),
  nv_rmultinom = list(
    i32 = nv_rmultinom(2, 5, 1:2), f32 = nv_rmvnorm(2, 1:2, diag(2)), f32 = nv_dmultinom(v, 1:3),
    `f32?` = nv_dmultinom(i, c(1, 1, 1)), f64 = nv_dmvnorm(v, v, nv_eye(3, "f64"))
  ),
  nv_sample = list(i16 = nv_sample(i, 2), i16 = nv_sample(i, 2, prob = v)),
  nv_solve = list(
    f32 = nv_solve(s, 1:2), `f32?` = nv_solve(nv_tensor(diag(2), "i8")), f32 = nv_det(s),
    f32 = nv_chol(s), f64 = nv_solve(s, nv_tensor(1:2, "f64")), f32 = nv_determinant(s)$sign
  ),
  nv_sort = list(i16 = nv_sort(i), i32 = nv_argsort(v), f32 = sort(v)),
  nv_dbeta = list(f32 = nv_pbinom(v, 5, 0.5), `f32?` = nv_qt(0.5, i), f32 = nv_dbeta(v, 1, 2)),
  nv_dexp = list(f32 = nv_ppois(v, i), `f32?` = nv_dpois(i, 2L), f32 = nv_qgamma(v, 1)),
  nv_dnorm = list(
    f32 = nv_pnorm(v), `f32?` = nv_dnorm(i), f64 = nv_qnorm(nv_scalar(0.1, "f64"), v)
  ),
  nv_lbeta = list(f32 = nv_lbeta(v, 2), `f32?` = nv_beta(i, b)),
  nv_erf_inv = list(f32 = nv_erf_inv(v), `f32?` = nv_erf_inv(i)),
  nv_logsumexp = list(
    f32 = nv_logsumexp(v), `f32?` = nv_softmax(i), f32 = nv_log_softmax(v, 1),
    `f32?` = nv_softplus(b), f32 = nv_gelu(v)
  ),
  nv_einsum = list(
    i16 = nv_einsum("i,i", i, i), f32 = nv_einsum("i,j", i, v), bool = nv_einsum("i->", b),
    i8 = nv_einsum("i,i", nv_tensor(1:3, "i8"), 1:3)
  ),
  nv_switch = list(f32 = nv_switch(1, i, v), `i32?` = nv_switch(nv_scalar(2L), 3L, 4L)),
  nv_associative_scan = list(
    f32 = nv_associative_scan(v, nv_add), i16 = nv_associative_scan(i, function(a, b) a + 1L)
  ),
  nv_one_hot = list(f32 = nv_one_hot(i, 3), bool = nv_one_hot(i, 3, "bool")),
  nv_linspace = list(
    f32 = nv_linspace(0, 1, 3), f32 = nv_linspace(0L, 1L, 3), f16 = nv_linspace(0, 1, 3, "f16"),
    i32 = nv_seq(1, 3), f32 = nv_seq(1, 3, by = 1), i32 = nv_seq(1L, 3L, by = 1L),
    i16 = nv_seq(i[[1]], 3L), f32 = nv_linspace(nv_scalar(1L, "i8"), v[[1]], 2)
  ),
  nv_fill_like = list(
    i16 = nv_zeros_like(i), `f32?` = nv_ones_like(1), i8 = nv_fill_like(1, 2, "i8"),
    f32 = nv_empty_like(v), c64 = nv_empty("c64", 2)
  ),
  nv_roll = list(i16 = nv_roll(i, 1), `f32?` = nv_roll(1, 2)),
  with_default_dtypes = list(f64 = with_default_dtypes(c(float = "f64"), nv_tensor(1.5))),
  nv_polygamma = list(f32 = nv_polygamma(2, v), `f32?` = nv_trigamma(i), `f32?` = trigamma(b)),
  nv_erf = list(f32 = nv_erf(v), `f32?` = gamma(i), `f32?` = lgamma(b), f32 = digamma(v)),
  nv_sqrt = list(f32 = sqrt(v), `f32?` = sqrt(i), c64 = exp(z), `f32?` = nv_exp(b)),
  nv_to_arrow = list(i16 = with(nv_to_arrow(i), nv_from_arrow(array, schema))),
  nv_fft = list(
    c64 = nv_fft(v), `c64?` = nv_rfft(i), f32 = nv_irfft(v), c128 = nv_ifft(nv_convert(v, "f64")),
    f64 = nv_hfft(nv_convert(z, "c128"), 2), c64 = nv_ihfft(nv_convert(v, "f16"))
  ),
  nv_fftfreq = list(
    f64 = nv_fftfreq(3), f32 = nv_rfftfreq(3, dtype = "f32"), i16 = nv_fftshift(i),
    c64 = nv_ifftshift(z)
  ),
  nv_unique = list(
    f32 = nv_unique(v), i32 = nv_unique(i, index = TRUE)$index, i16 = nv_setdiff(i, 2L),
    i32 = nv_unique(i, inverse = TRUE)$inverse, i64 = nv_unique(i, counts = TRUE)$counts,
    f32 = nv_union(v, i), i16 = nv_intersect(i, v)
  ),
  nv_histogram = list(
    i64 = nv_histogram(v)$counts, f32 = nv_histogram(v, weights = v)$counts,
    f64 = nv_histogram(v, density = TRUE)$counts, i32 = nv_digitize(i, 1:2)
  ),
  nv_lexsort = list(i32 = nv_lexsort(v, i), i16 = nv_partition(i, 1)),
  nv_trapz = list(f32 = nv_trapz(v), f64 = nv_trapz(nv_convert(v, "f64"), v)),
  nv_dlnorm = list(
    f32 = nv_dlnorm(v), `f32?` = nv_plnorm(1L), f64 = nv_qlnorm(0.5, nv_scalar(0, "f64")),
    f32 = nv_dweibull(v, 2), f32 = nv_pweibull(v, 2), f32 = nv_qweibull(v, 2), f32 = nv_dlogis(v),
    f32 = nv_plogis(v), f32 = nv_qlogis(v), f32 = nv_dcauchy(v), f32 = nv_pcauchy(v),
    f16 = nv_qcauchy(nv_convert(v, "f16")), f32 = nv_dchisq(v, 2), f32 = nv_pchisq(v, 2),
    f32 = nv_qchisq(v, 2), f32 = nv_df(v, 1, 2), f32 = nv_pf(v, 1, 2), f32 = nv_qf(v, 1, 2)
  ),
  nv_dgeom = list(
    f32 = nv_dgeom(v, 0.5), f32 = nv_pgeom(v, 0.5), f32 = nv_qgeom(v, 0.5),
    f32 = nv_dnbinom(v, 2, 0.5), f32 = nv_pnbinom(v, 2, 0.5), f32 = nv_qnbinom(v, 2, 0.5),
    f32 = nv_dhyper(v, 3, 4, 2), f32 = nv_phyper(v, 3, 4, 2), f32 = nv_qhyper(v, 3, 4, 2)
  ),
  nv_frexp = list(
    f32 = nv_frexp(v)$mantissa, `f32?` = nv_frexp(3L)$mantissa, i32 = nv_frexp(v)$exponent,
    f16 = nv_ldexp(nv_convert(v, "f16"), 1L), f32 = nv_nan_to_num(v), bool = nv_is_close(v, 1)
  ),
  nv_gcd = list(
    i16 = nv_gcd(i, 2L), i16 = nv_lcm(i, i), i16 = nv_divmod(i, 2L)$remainder, i32 = nv_clz(u),
    i32 = nv_ctz(u), ui8 = nv_reverse_bits(u), i16 = nv_rotate_left(i, 1L),
    i16 = nv_rotate_right(i, u), f32 = nv_byteswap(v)
  ),
  nv_meshgrid = list(
    f32 = nv_meshgrid(v, i)[[1]], i16 = nv_meshgrid(v, i)[[2]], i16 = nv_tile(i, 2),
    f32 = nv_rot90(x)
  ),
  nv_packbits = list(ui8 = nv_packbits(i), bool = nv_unpackbits(u)),
  nv_hypot = list(
    f32 = nv_hypot(v, i), `f32?` = nv_logaddexp(i, 1L), bool = nv_signbit(v),
    f16 = nv_copysign(nv_convert(v, "f16"), 1), f64 = nv_nextafter(nv_scalar(1, "f64"), v)
  ),
  nv_top_k = list(
    i16 = nv_top_k(i, 2)$values, i32 = nv_top_k(i, 2)$indices,
    i16 = nv_take_along(i, nv_tensor(2L), 1)
  ),
  nv_transpose = list(f32 = t(x), i16 = nv_unsqueeze(i, 1), i16 = rev(i), f32 = nv_flatten(x)),
  nv_var = list(
    f32 = nv_var(v), `f32?` = nv_sd(i), f32 = nv_norm(z), f32 = nv_var(z),
    i64 = nv_count_nonzero(v)
  ),
  nv_which = list(
    i32 = nv_which(b), i64 = nv_tabulate(i),
    f32 = nv_tabulate(i, weights = v)
  ),
  subset = list(i16 = i[2], f32 = x[[2, 3]], i16 = `[<-`(i, 1, value = 7L)),
  unique = list(i16 = unique(i))
)
