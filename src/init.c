/* Registration of the .Call entry points and what is set up once per process. */
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#include "core/base/threads.h"
#include "core/kernels/kernels.h"
#include "r/arrays/access.h"
#include "r/arrays/assign.h"
#include "r/arrays/column.h"
#include "r/arrays/concatenate.h"
#include "r/arrays/index.h"
#include "r/arrays/subset.h"
#include "r/arrays/tensor_create.h"
#include "r/arrays/tensor_export.h"
#include "r/arrays/value_shaped.h"
#include "r/audit/ledger.h"
#include "r/audit/ledger_casts.h"
#include "r/audit/ledger_view.h"
#include "r/audit/promotion.h"
#include "r/audit/promotion_explain.h"
#include "r/base/arguments.h"
#include "r/base/conditions.h"
#include "r/base/findings.h"
#include "r/base/poison.h"
#include "r/base/policy.h"
#include "r/base/session.h"
#include "r/call/jit.h"
#include "r/call/missing.h"
#include "r/call/operations.h"
#include "r/call/show.h"
#include "r/call/transfer.h"
#include "r/exchange/arrow.h"
#include "r/exchange/binary.h"
#include "r/exchange/c_api.h"
#include "r/exchange/chunks.h"
#include "r/exchange/dlpack.h"
#include "r/exchange/gguf.h"
#include "r/exchange/json.h"
#include "r/exchange/npy.h"
#include "r/exchange/packed.h"
#include "r/exchange/safetensors.h"
#include "r/memory/altrep_payload.h"
#include "r/memory/blas.h"
#include "r/memory/devices.h"
#include "r/memory/foreign.h"
#include "r/memory/mapped.h"
#include "r/memory/native.h"
#include "r/memory/process.h"
#include "r/tensor/dtypes.h"
#include "r/tensor/exact_mark.h"
#include "r/tensor/name_references.h"
#include "r/tensor/properties.h"
#include "r/tensor/rules.h"
#include "r/tensor/same.h"
#include "r/tensor/share.h"
#include "r/tensor/unknown.h"
#include "r/tensor/view.h"
#include "r/trace/attributes.h"
#include "r/trace/blocks.h"
#include "r/trace/code.h"
#include "r/trace/colouring.h"
#include "r/trace/program_view.h"
#include "r/trace/recorded.h"
#include "r/trace/regions.h"
#include "r/trace/residuals.h"
#include "r/trace/strictness.h"
#include "r/trace/trace.h"
#include "r/trace/trace_call.h"
#include "r/trace/trace_names.h"
#include "r/trace/trace_walk.h"
#include "r/trace/world.h"

#define ENTRY(name, arguments) \
  { #name, (DL_FUNC)(void (*)(void))name, arguments }

static const R_CallMethodDef entries[] = {
    ENTRY(joist_r_init, 1),
    ENTRY(joist_r_common_dtype, 5),
    ENTRY(joist_r_result_dtype, 2),
    ENTRY(joist_r_explain, 4),
    ENTRY(joist_r_explain_op, 2),
    ENTRY(joist_r_rules_init, 1),
    ENTRY(joist_r_conversion_loses, 2),
    ENTRY(joist_r_read_rules, 2),
    ENTRY(joist_r_literals, 4),
    ENTRY(joist_r_promotion_table, 5),
    ENTRY(joist_r_promotion_rule_sets, 0),
    ENTRY(joist_r_check_lattice, 3),
    ENTRY(joist_r_lattice_edges, 2),
    ENTRY(joist_r_promotion_facts, 1),
    ENTRY(joist_r_rules_info, 1),
    ENTRY(joist_r_set_promotion, 3),
    ENTRY(joist_r_under_promotion, 3),
    ENTRY(joist_r_make_policy, 2),
    ENTRY(joist_r_session_view, 0),
    ENTRY(joist_r_push_trace, 3),
    ENTRY(joist_r_pop_sessions, 1),
    ENTRY(joist_r_judge_met, 2),
    ENTRY(joist_r_make, 6),
    ENTRY(joist_r_make_aval, 4),
    ENTRY(joist_r_with_shape, 2),
    ENTRY(joist_r_as_array, 4),
    ENTRY(joist_r_column_kind, 2),
    ENTRY(joist_r_column_values, 2),
    ENTRY(joist_r_column_halves, 1),
    ENTRY(joist_r_column_restored, 2),
    ENTRY(joist_r_format, 3),
    ENTRY(joist_r_integer_text, 1),
    ENTRY(joist_r_exact_doubles, 1),
    ENTRY(joist_r_first_change, 2),
    ENTRY(joist_r_grouped_digits, 1),
    ENTRY(joist_r_from_bytes, 4),
    ENTRY(joist_r_read_bin, 5),
    ENTRY(joist_r_to_bytes, 2),
    ENTRY(joist_r_write_bin, 3),
    ENTRY(joist_r_from_chunk, 5),
    ENTRY(joist_r_to_chunk, 3),
    ENTRY(joist_r_pack_chunks, 4),
    ENTRY(joist_r_read_chunks, 9),
    ENTRY(joist_r_shard_index, 2),
    ENTRY(joist_r_file_bytes, 3),
    ENTRY(joist_r_write_chunks, 5),
    ENTRY(joist_r_blank, 1),
    ENTRY(joist_r_block_round, 2),
    ENTRY(joist_r_block_plan, 3),
    ENTRY(joist_r_block_append, 4),
    ENTRY(joist_r_part_type, 2),
    ENTRY(joist_r_place, 4),
    ENTRY(joist_r_checksum, 2),
    ENTRY(joist_r_codecs, 0),
    ENTRY(joist_r_unpack, 3),
    ENTRY(joist_r_pack, 3),
    ENTRY(joist_r_read_json, 1),
    ENTRY(joist_r_read_npy, 6),
    ENTRY(joist_r_npy_size, 2),
    ENTRY(joist_r_write_npy, 4),
    ENTRY(joist_r_block_types, 0),
    ENTRY(joist_r_gguf, 1),
    ENTRY(joist_r_gguf_code, 1),
    ENTRY(joist_r_write_gguf, 5),
    ENTRY(joist_r_read_gguf, 4),
    ENTRY(joist_r_read_safetensors, 6),
    ENTRY(joist_r_write_safetensors, 3),
    ENTRY(joist_r_share, 1),
    ENTRY(joist_r_mapped_place, 1),
    ENTRY(joist_r_to_dlpack, 2),
    ENTRY(joist_r_from_dlpack, 1),
    ENTRY(joist_r_dlpack_take, 1),
    ENTRY(joist_r_dlpack_pointer, 2),
    ENTRY(joist_r_from_memory, 5),
    ENTRY(joist_r_dlpack_functions, 0),
    ENTRY(joist_r_arrow_pointers, 0),
    ENTRY(joist_r_arrow_address, 1),
    ENTRY(joist_r_to_arrow, 3),
    ENTRY(joist_r_to_arrow_schema, 3),
    ENTRY(joist_r_from_arrow, 3),
    ENTRY(joist_r_dims_by_name, 3),
    ENTRY(joist_r_dtype_size, 1),
    ENTRY(joist_r_as_dtype, 2),
    ENTRY(joist_r_format_dtype, 2),
    ENTRY(joist_r_dtype_info, 1),
    ENTRY(joist_r_dtype_has_nan, 1),
    ENTRY(joist_r_dtype_kind, 1),
    ENTRY(joist_r_dtype_names, 0),
    ENTRY(joist_r_op1, 2),
    ENTRY(joist_r_op2, 3),
    ENTRY(joist_r_op3, 4),
    ENTRY(joist_r_operator, 3),
    ENTRY(joist_r_operator1, 2),
    ENTRY(joist_r_summary, 2),
    ENTRY(joist_r_operation, 3),
    ENTRY(joist_r_pack_blocks, 2),
    ENTRY(joist_r_packed_product, 4),
    ENTRY(joist_r_key_split, 3),
    ENTRY(joist_r_convert_into, 4),
    ENTRY(joist_r_subset, 4),
    ENTRY(joist_r_assign, 5),
    ENTRY(joist_r_empty_indices, 2),
    ENTRY(joist_r_concatenate, 3),
    ENTRY(joist_r_pieces, 4),
    ENTRY(joist_r_split, 2),
    ENTRY(joist_r_unsplit, 2),
    ENTRY(joist_r_unique, 1),
    ENTRY(joist_r_duplicated, 1),
    ENTRY(joist_r_which, 2),
    ENTRY(joist_r_group, 2),
    ENTRY(joist_r_mask_of, 1),
    ENTRY(joist_r_with_mask, 2),
    ENTRY(joist_r_op_names, 0),
    ENTRY(joist_r_blas, 1),
    ENTRY(joist_r_trace_begin, 3),
    ENTRY(joist_r_trace_end, 3),
    ENTRY(joist_r_jit_state, 2),
    ENTRY(joist_r_native_setup, 4),
    ENTRY(joist_r_native_figures, 0),
    ENTRY(joist_r_native_stop, 0),
    ENTRY(joist_r_program_c, 1),
    ENTRY(joist_r_jit_call, 6),
    ENTRY(joist_r_jit_kept, 2),
    ENTRY(joist_r_can_fuse, 1),
    ENTRY(joist_r_jit_run, 7),
    ENTRY(joist_r_jit_store, 6),
    ENTRY(joist_r_jit_programs, 1),
    ENTRY(joist_r_ledger_begin, 2),
    ENTRY(joist_r_ledger_pause, 0),
    ENTRY(joist_r_ledger_arguments, 2),
    ENTRY(joist_r_ledger_argument_of, 2),
    ENTRY(joist_r_ledger_table, 1),
    ENTRY(joist_r_ledger_infer, 4),
    ENTRY(joist_r_ledger_casts, 5),
    ENTRY(joist_r_trace_constant, 2),
    ENTRY(joist_r_trace_mark, 2),
    ENTRY(joist_r_trace_known, 1),
    ENTRY(joist_r_trace_is_number, 1),
    ENTRY(joist_r_trace_as_number, 1),
    ENTRY(joist_r_trace_mixed, 2),
    ENTRY(joist_r_trace_in_full, 1),
    ENTRY(joist_r_trace_rule, 2),
    ENTRY(joist_r_code_quotes, 1),
    ENTRY(joist_r_code_reads, 1),
    ENTRY(joist_r_code_assigned, 2),
    ENTRY(joist_r_code_whole, 2),
    ENTRY(joist_r_code_called, 1),
    ENTRY(joist_r_code_strings, 1),
    ENTRY(joist_r_code_escapes, 1),
    ENTRY(joist_r_code_run, 2),
    ENTRY(joist_r_code_parts, 2),
    ENTRY(joist_r_world, 3),
    ENTRY(joist_r_world_look, 3),
    ENTRY(joist_r_world_own, 4),
    ENTRY(joist_r_world_unsure, 1),
    ENTRY(joist_r_world_changes, 2),
    ENTRY(joist_r_code_always_escapes, 1),
    ENTRY(joist_r_trace_walk, 3),
    ENTRY(joist_r_trace_length, 1),
    ENTRY(joist_r_trace_instructions, 1),
    ENTRY(joist_r_trace_again, 2),
    ENTRY(joist_r_trace_captured, 4),
    ENTRY(joist_r_region_begin, 2),
    ENTRY(joist_r_region_end, 2),
    ENTRY(joist_r_region_apply, 5),
    ENTRY(joist_r_region_inline, 5),
    ENTRY(joist_r_region_batch, 7),
    ENTRY(joist_r_region_marks, 1),
    ENTRY(joist_r_colour_columns, 6),
    ENTRY(joist_r_body_keep, 6),
    ENTRY(joist_r_body_copy, 5),
    ENTRY(joist_r_trace_replace, 2),
    ENTRY(joist_r_traced_number, 1),
    ENTRY(joist_r_is_traced, 1),
    ENTRY(joist_r_is_number, 1),
    ENTRY(joist_r_is_operand, 1),
    ENTRY(joist_r_is_whole, 1),
    ENTRY(joist_r_stored, 1),
    ENTRY(joist_r_has_elements, 1),
    ENTRY(joist_r_are_same, 2),
    ENTRY(joist_r_named_like, 2),
    ENTRY(joist_r_decided, 1),
    ENTRY(joist_r_are_undecided, 1),
    ENTRY(joist_r_with_undecided, 2),
    ENTRY(joist_r_poison_explain, 0),
    ENTRY(joist_r_poison_note, 1),
    ENTRY(joist_r_program_text, 1),
    ENTRY(joist_r_program_table, 1),
    ENTRY(joist_r_program_bytes, 1),
    ENTRY(joist_r_threads, 1),
    ENTRY(joist_r_instruction_set, 1),
    ENTRY(joist_r_build, 0),
    ENTRY(joist_r_device, 1),
    ENTRY(joist_r_dtype_of, 1),
    ENTRY(joist_r_shape_of, 1),
    ENTRY(joist_r_is_ambiguous, 1),
    ENTRY(joist_r_length_of, 1),
    ENTRY(joist_r_dim_of, 1),
    ENTRY(joist_r_device_of, 1),
    ENTRY(joist_r_same_type, 2),
    ENTRY(joist_r_type_alone, 1),
    ENTRY(joist_r_are_dims, 3),
    ENTRY(joist_r_device_names, 0),
    ENTRY(joist_r_memory, 1),
    ENTRY(joist_r_to, 2),
    ENTRY(joist_r_made_beside, 2),
    ENTRY(joist_r_scalar_like, 2),
    ENTRY(joist_r_diagnose, 0),
    ENTRY(joist_r_device_memory, 1),
    ENTRY(joist_r_synchronize, 1),
    ENTRY(joist_r_trim_memory, 0),
    ENTRY(joist_r_devices_in_use, 0),
    {NULL, NULL, 0},
};

attribute_visible void R_unload_joist(DllInfo *info) {
  (void)info;
  joist_r_unload();
}

/* Where R is told to look for no symbols besides the registered ones, it finds no other
 * function to call before it unloads the library either. */
static const R_CMethodDef unloading[] = {
    {"R_unload_joist", (DL_FUNC)(void (*)(void))R_unload_joist, 1, NULL},
    {NULL, NULL, 0, NULL},
};

/* Functions that read the frame of their caller. */
static const R_ExternalMethodDef external[] = {
    ENTRY(joist_r_take, 2),
    ENTRY(joist_r_put, 4),
    {NULL, NULL, 0},
};

attribute_visible void R_init_joist(DllInfo *info) {
  R_registerRoutines(info, unloading, entries, NULL, external);
  R_useDynamicSymbols(info, FALSE);
  R_forceSymbols(info, TRUE);
  joist_threads_init();
  joist_kernels_select(NULL);
  joist_r_blas_init();
  joist_r_session_init();
  joist_r_c_api_init();
  joist_r_map_init();
  joist_r_view_init();
  joist_r_exact_mark_init();
  joist_r_unknown_init();
  joist_r_name_references_init();
  joist_r_recorded_init();
  joist_r_foreign_init();
  joist_r_show_init();
  joist_r_code_init();
#if JOIST_R_PAYLOADS_ARE_ALTREP
  joist_r_altrep_payload_init();
#endif
}
