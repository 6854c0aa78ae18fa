#' joist: typed arrays with lattice-based type promotion
#'
#' Typed n-dimensional arrays in 34 dtypes, with known and ambiguous types and the
#' promotion rules of your choice. Start with [nv_tensor()], [common_dtype()] and
#' [jit()]; `vignette("type-promotion")` and `vignette("arrays")` show how they fit together.
#'
#' @section Pages of this manual:
#' \itemize{
#' \item Tensors: [nv_tensor()], [nv_fill_like()], [nv_linspace()] and [nv_one_hot()] make
#'   them, [nv_aval()] makes
#'   them without data; [shape()] and the like return their properties; [as_dtype()] makes dtypes
#'   and [dtype_info()] describes them; [nv_convert()] and [nv_quantize()] cast;
#'   [print.nv_tensor()] prints, [all.equal.nv_tensor()] compares, and [expect_equal_tensor()]
#'   compares in tests; [as_array()] converts to R.
#' \item Files: [nv_read_npy()], [nv_write_safetensors()], [nv_read_gguf()],
#'   [nv_write_gguf()], [nv_packed], [nv_read_pt()], [nv_read_bin()] and [mapped_files];
#'   [nv_zarr()] for Zarr arrays, [nv_zarr_store()] for the stores that keep them, [nv_hdf5()] for
#'   HDF5 files, and [chunked] for operations on them.
#' \item Promotion: [common_dtype()] and [result_dtype()] for single promotions,
#'   [promotion_table()] and [promotion_facts()] for all of a rule set; [promotion_rules()],
#'   [with_promotion()] and [with_default_dtypes()] choose rules, [promotion_rules_new()] and
#'   [promotion_lattice()] make your own, [check_lattice()] checks their laws;
#'   [explain_promotion()] explains a promotion, [trace_dtypes()] and [compare_rules()] follow it
#'   through a function, [lint_promotion()] through scripts and packages; [promotion_atlas()],
#'   [plot_promotion] and [promotion_explorer()] show all systems in a table, pictures and a page.
#' \item Elementwise: arithmetic [nv_add()], comparison [nv_eq()], logic [nv_and()], bits
#'   [nv_bitwise_and()], choices [nv_clamp()], functions [nv_sqrt()], [nv_hypot()], [nv_frexp()],
#'   [nv_gcd()], [nv_erf()],
#'   [nv_erf_inv()],
#'   [nv_polygamma()], [nv_lbeta()] and [nv_logsumexp()], distributions [nv_dnorm()], [nv_dexp()],
#'   [nv_dbeta()], [nv_dlnorm()] and [nv_dgeom()], signs [nv_negate()], rounding
#'   [nv_round()], complex numbers [nv_real()], NaN [nv_is_nan()], missing values [nv_mask()].
#' \item Subsets and shapes: [subset], [nv_gather()], [nv_scatter_add()],
#'   [nv_group()], [nv_segment_sum()], [nv_segment_cumsum()], [nv_reshape()], [nv_transpose()],
#'   [nv_concatenate()], [nv_pad()], [nv_roll()], [nv_broadcast_arrays()], [nv_meshgrid()],
#'   [nv_packbits()], [diff.nv_tensor()].
#' \item Reductions and statistics: [nv_reduce_sum()], [nv_var()], [nv_cov()], [nv_median()],
#'   `rowSums()`, [nv_argmin()], [nv_cumsum()], [nv_trapz()], slices [nv_apply()],
#'   functions of slices [nv_vmap()].
#' \item Sorting and searching: [nv_sort()], [nv_lexsort()], [nv_top_k()], [nv_match()],
#'   [nv_which()], [nv_histogram()], [unique][unique.nv_tensor], [nv_unique()].
#' \item Linear algebra: [nv_matmul()], [nv_einsum()], [nv_solve()], [nv_qr()], [nv_eig()],
#'   [nv_lstsq()].
#' \item Signals: [nv_fft()], [nv_fftfreq()], convolutions [nv_conv()], windows
#'   [nv_reduce_window()], [nv_rolling()], images [nv_resize()].
#' \item Random numbers: [nv_key()], [nv_runif()], [nv_rexp()], [nv_rlnorm()],
#'   [nv_rmultinom()], [nv_sample()].
#' \item Other libraries: [as_tensor()] for the data of other packages, [nv_to_arrow()] for Arrow,
#'   [python] for Python's arrays, and [nv_to_dlpack()] for any library that reads DLPack.
#' \item Loops and branches: [nv_while()], [nv_for()], [nv_scan()], [nv_if()], [nv_switch()],
#'   [nv_associative_scan()]; [nv_print()] in them.
#' \item Derivatives: [gradient()], [jacobian()], [nv_vjp()], [nv_stop_gradient()],
#'   [nv_checkpoint()], [check_gradient()].
#' \item Base R: [base_functions]; data frames with [as.data.frame.nv_tensor()], [nv_merge()] and
#'   [nv_na_omit()], and [to_r()], which makes R vectors of all tensors in them.
#' \item Programs and machines: [jit()], [program()], [nv_device()], [cuda_diagnostics()],
#'   [nv_set_threads()], [nv_memory()], [joist_info()].
#' }
#'
#' @section Errors: Every error is a condition that inherits from `joist_error`:
#'   `joist_promotion_error` (no common dtype, or a promotion that [with_promotion()] refuses),
#'   `joist_dtype_error` (unknown dtype, or an operation that a dtype does not have),
#'   `joist_shape_error` (shapes that do not fit), `joist_value_error` (a value that cannot be
#'   represented, a missing value where none is allowed, division by zero; and wherever a tensor is
#'   expected, an R object that is not an array of numbers), `joist_device_error` (a device that is
#'   missing) and `joist_memory_error`.
#'
#' @useDynLib joist, .registration = TRUE
#' @keywords internal
"_PACKAGE"
