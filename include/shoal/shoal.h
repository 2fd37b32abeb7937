/* The C API of shoal.
 *
 * Functions that can fail return a shoal_error, or NULL on success. What a function returns in `out` belongs to the
 * caller, who frees it with shoal_X_free; on failure, `out` is not changed. A shoal_X_free accepts NULL. An object keeps
 * alive what it needs: a module may be freed while an executable made from it is in use.
 *
 * Structs begin with `struct_size`, which the caller sets to sizeof the struct; SHOAL_INIT does so. A field that the
 * library does not know, because the caller was compiled with a newer header, must be zero. Fields that are zero have
 * their default.
 *
 * A `const` object may be used by several threads at once. Texts are UTF-8 or as in the file; those of a shoal_text are
 * not terminated by a zero byte, and they are valid as long as the object that they came from.
 */
#ifndef SHOAL_SHOAL_H_
#define SHOAL_SHOAL_H_

#include <stddef.h>
#include <stdint.h>

#define SHOAL_C_API __attribute__((visibility("default")))
/* shoal_read_options options = SHOAL_INIT(shoal_read_options); */
#ifdef __cplusplus
template <class Struct>
Struct shoal_init() {
  Struct all{};
  all.struct_size = sizeof(Struct);
  return all;
}
#define SHOAL_INIT(type) (shoal_init<type>())

extern "C" {
#else
#define SHOAL_INIT(type) ((type){.struct_size = sizeof(type)})
#endif

typedef struct shoal_error shoal_error;
typedef struct shoal_string shoal_string;
typedef struct shoal_diags shoal_diags;
typedef struct shoal_module shoal_module;
typedef struct shoal_facts shoal_facts;
typedef struct shoal_machine shoal_machine;
typedef struct shoal_prediction shoal_prediction;
typedef struct shoal_trace shoal_trace;
typedef struct shoal_diff shoal_diff;
typedef struct shoal_builder shoal_builder;
typedef struct shoal_edit shoal_edit;
typedef struct shoal_pool shoal_pool;
typedef struct shoal_stop shoal_stop;
typedef struct shoal_executable shoal_executable;
typedef struct shoal_buffer shoal_buffer;
typedef struct shoal_buffers shoal_buffers;
typedef struct shoal_results shoal_results;
typedef struct shoal_pending shoal_pending;

typedef struct {
  const char *data;
  size_t size;
} shoal_text;

/* ---- Library */

/* 256 * major + minor */
SHOAL_C_API uint32_t shoal_version(void);

/* ---- Strings that a function makes */

SHOAL_C_API const char *shoal_string_data(const shoal_string *); /* ends with a zero byte */
SHOAL_C_API size_t shoal_string_size(const shoal_string *);
SHOAL_C_API void shoal_string_free(shoal_string *);

/* ---- Errors */

typedef enum {
  SHOAL_ERROR_MODULE = 0,      /* the module is invalid, or its execution failed */
  SHOAL_ERROR_ARGUMENT = 1,    /* a wrong argument of the call */
  SHOAL_ERROR_ENVIRONMENT = 2, /* a missing file, a full disk */
  SHOAL_ERROR_MEMORY = 3,
  SHOAL_ERROR_CANCELLED = 4
} shoal_error_kind;

typedef struct {
  size_t struct_size;
  int32_t is_warning;
  int32_t line, column, length; /* line and column are one-based; line 0: no location in a text */
  shoal_text rule;              /* "reverse.C2" */
  shoal_text message;
  shoal_text file;
} shoal_diag;

SHOAL_C_API shoal_error_kind shoal_error_get_kind(const shoal_error *);
/* The number of diagnostics, at least one; the errors come first. */
SHOAL_C_API size_t shoal_error_count(const shoal_error *);
SHOAL_C_API shoal_error *shoal_error_get(const shoal_error *, size_t index, shoal_diag *out);
SHOAL_C_API const char *shoal_error_message(const shoal_error *); /* of the first */
SHOAL_C_API const char *shoal_error_text(const shoal_error *);    /* all, as the command line prints them */
SHOAL_C_API const char *shoal_error_json(const shoal_error *);
SHOAL_C_API void shoal_error_free(shoal_error *);

SHOAL_C_API size_t shoal_diags_count(const shoal_diags *);
SHOAL_C_API shoal_error *shoal_diags_get(const shoal_diags *, size_t index, shoal_diag *out);
SHOAL_C_API void shoal_diags_free(shoal_diags *);

/* ---- Types */

/* The numbers are those of XLA's PrimitiveType: 11 is f32. */
SHOAL_C_API int32_t shoal_type_parse(const char *name); /* 0: unknown */
SHOAL_C_API const char *shoal_type_name(int32_t type);
SHOAL_C_API int32_t shoal_type_bytes(int32_t type); /* of an element in a buffer */

/* An array. `dims` is valid as long as the object that it came from. */
typedef struct {
  size_t struct_size;
  int32_t type;
  int32_t rank;
  const int64_t *dims;
} shoal_array_shape;

/* ---- Modules */

typedef struct {
  size_t struct_size;
  int32_t strict; /* each deviation from XLA's grammar is an error */
  /* Installed packages that count as the user's program in source lines. */
  const char *const *own_packages;
  size_t own_package_count;
} shoal_read_options;

SHOAL_C_API shoal_error *shoal_module_read(const char *path, const shoal_read_options *, shoal_module **out);
/* `name` is the name for diagnostics; NULL: "<memory>". The bytes are copied. */
SHOAL_C_API shoal_error *shoal_module_parse(const void *bytes, size_t size, const char *name, const shoal_read_options *,
                                            shoal_module **out);
SHOAL_C_API void shoal_module_free(shoal_module *);

typedef struct {
  size_t struct_size;
  shoal_text name, path;
  int64_t replica_count, num_partitions;
  int64_t computations; /* their number */
  int64_t entry;        /* index of the entry computation; -1: none */
  int32_t is_scheduled;
} shoal_module_info;
SHOAL_C_API shoal_error *shoal_module_get(const shoal_module *, shoal_module_info *out);

typedef struct {
  size_t struct_size;
  shoal_text name;
  int64_t instructions; /* their number */
  int64_t root;         /* index of the root; -1: none */
} shoal_computation_info;
SHOAL_C_API shoal_error *shoal_computation_get(const shoal_module *, int64_t computation, shoal_computation_info *out);

typedef struct {
  size_t struct_size;
  shoal_text name, opcode, op_name;
  int64_t operands; /* their number */
  int32_t line, column;
} shoal_instruction_info;
SHOAL_C_API shoal_error *shoal_instruction_get(const shoal_module *, int64_t computation, int64_t instruction,
                                               shoal_instruction_info *out);
/* The index, in the same computation, of an operand. */
SHOAL_C_API shoal_error *shoal_instruction_operand(const shoal_module *, int64_t computation, int64_t instruction,
                                                   int64_t operand, int64_t *out);
/* The shape as text, "f32[2,3]{1,0}". */
SHOAL_C_API shoal_error *shoal_instruction_shape(const shoal_module *, int64_t computation, int64_t instruction,
                                                 shoal_string **out);
/* An attribute as text; empty if the instruction does not have it. */
SHOAL_C_API shoal_error *shoal_instruction_attribute(const shoal_module *, int64_t computation, int64_t instruction,
                                                     const char *name, shoal_string **out);

/* The deviations that the reader tolerated, and the broken rules. Empty: none. */
SHOAL_C_API shoal_error *shoal_module_warnings(const shoal_module *, shoal_diags **out);
SHOAL_C_API shoal_error *shoal_module_verify(const shoal_module *, shoal_diags **out);

typedef enum {
  SHOAL_FORMAT_HLO = 0,
  SHOAL_FORMAT_SHORT = 1,
  SHOAL_FORMAT_PROTO = 2,
  SHOAL_FORMAT_PROTO_JSON = 3,
  SHOAL_FORMAT_STABLEHLO = 4 /* text; an error for a module without such a form */
} shoal_format;
typedef struct {
  size_t struct_size;
  int32_t format; /* shoal_format */
  int32_t elide_large_constants;
  int32_t renumber;
} shoal_print_options;
SHOAL_C_API shoal_error *shoal_module_print(const shoal_module *, const shoal_print_options *, shoal_string **out);

/* ---- Passes */

typedef struct {
  size_t struct_size;
  shoal_text name, reason;
  int32_t is_communication;
} shoal_pass_info;
SHOAL_C_API size_t shoal_pass_count(void);
SHOAL_C_API shoal_error *shoal_pass_get(size_t index, shoal_pass_info *out);
typedef struct {
  size_t struct_size;
  const char *const *passes; /* in order; none: the compiler's own */
  size_t pass_count;
  const char *const *disabled;
  size_t disabled_count;
} shoal_transform_options;
/* A copy of the module after the passes. */
SHOAL_C_API shoal_error *shoal_module_transform(const shoal_module *, const shoal_transform_options *, shoal_module **out);

/* ---- Building a module. Shapes, constants and attributes are HLO text; computations and values are numbers. */

SHOAL_C_API shoal_error *shoal_builder_new(const char *name, int64_t replica_count, int64_t num_partitions,
                                           shoal_builder **out);
SHOAL_C_API shoal_error *shoal_builder_computation(shoal_builder *, const char *name, int32_t *out);
/* `name` may be NULL. */
SHOAL_C_API shoal_error *shoal_builder_parameter(shoal_builder *, int32_t computation, const char *shape, const char *name,
                                                 int32_t *out);
SHOAL_C_API shoal_error *shoal_builder_constant(shoal_builder *, int32_t computation, const char *shape, const char *value,
                                                const char *name, int32_t *out);
typedef struct {
  size_t struct_size;
  const char *opcode;
  const int32_t *operands; /* values of the same computation */
  size_t operand_count;
  const char *attributes; /* "dimensions={1}, to_apply=add"; NULL: none */
  const char *shape;      /* NULL: inferred */
  const char *name;       /* NULL: after the op */
} shoal_new_instruction;
SHOAL_C_API shoal_error *shoal_builder_add(shoal_builder *, int32_t computation, const shoal_new_instruction *, int32_t *out);
SHOAL_C_API shoal_error *shoal_builder_finish_computation(shoal_builder *, int32_t computation, int32_t root);
/* The verified module. */
SHOAL_C_API shoal_error *shoal_builder_finish(shoal_builder *, int32_t entry, shoal_module **out);
SHOAL_C_API void shoal_builder_free(shoal_builder *);

/* ---- Editing a copy of a module. Instructions are given by their names. A failed call changes nothing. */

SHOAL_C_API shoal_error *shoal_edit_new(const shoal_module *, shoal_edit **out);
typedef struct {
  size_t struct_size;
  const char *opcode;
  const char *const *operands; /* of one computation */
  size_t operand_count;
  const char *attributes; /* "dimensions={1}, to_apply=add"; NULL: none */
  const char *shape;      /* NULL: inferred */
  const char *name;       /* NULL: after the op */
  const char *at;         /* takes the origin and the computation of this instruction; NULL: of the first operand */
} shoal_edit_instruction;
/* `out` is the name of the new instruction. */
SHOAL_C_API shoal_error *shoal_edit_add(shoal_edit *, const shoal_edit_instruction *, shoal_string **out);
/* `name` may be NULL. */
SHOAL_C_API shoal_error *shoal_edit_constant(shoal_edit *, const char *shape, const char *value, const char *at,
                                             const char *name, shoal_string **out);
/* Users of `hlo` use `replacement` instead, except those from which it is computed. Removes `hlo` if it has no users left. */
SHOAL_C_API shoal_error *shoal_edit_replace(shoal_edit *, const char *hlo, const char *replacement);
SHOAL_C_API shoal_error *shoal_edit_set_operand(shoal_edit *, const char *hlo, int64_t index, const char *operand);
SHOAL_C_API shoal_error *shoal_edit_set_attributes(shoal_edit *, const char *hlo, const char *attributes);
SHOAL_C_API shoal_error *shoal_edit_set_root(shoal_edit *, const char *hlo);
SHOAL_C_API shoal_error *shoal_edit_remove(shoal_edit *, const char *hlo);
/* The verified module, without the instructions that lost their users. */
SHOAL_C_API shoal_error *shoal_edit_finish(shoal_edit *, shoal_module **out);
SHOAL_C_API void shoal_edit_free(shoal_edit *);

/* ---- Facts */

typedef struct {
  size_t struct_size;
  int64_t num_replicas, num_partitions; /* 0: from the module */
  const char *backend;                  /* cpu, gpu or tpu; NULL: from the module */
  /* Trip counts that override those of the module. */
  const char *const *loops;
  const int64_t *trip_counts;
  size_t loop_count;
  /* Probabilities of branch computations. */
  const char *const *branches;
  const double *probabilities;
  size_t branch_count;
} shoal_fact_options;
SHOAL_C_API shoal_error *shoal_facts_new(const shoal_module *, const shoal_fact_options *, shoal_facts **out);
SHOAL_C_API void shoal_facts_free(shoal_facts *);

typedef struct {
  size_t struct_size;
  int64_t devices, replicas, partitions;
  double instructions, flops, transcendentals, bytes, wire_bytes, collectives, peak_memory; /* per step and device */
} shoal_totals;
SHOAL_C_API shoal_error *shoal_facts_totals(const shoal_facts *, shoal_totals *out);

typedef struct {
  size_t struct_size;
  shoal_text name, kind, axis;
  double executions; /* per step */
  int64_t payload_bytes, wire_bytes, ring_bytes, group_count, group_size;
  int32_t is_async;
} shoal_collective;
SHOAL_C_API shoal_error *shoal_facts_collective_count(const shoal_facts *, size_t *out);
SHOAL_C_API shoal_error *shoal_facts_collective_get(const shoal_facts *, size_t index, shoal_collective *out);

typedef struct {
  size_t struct_size;
  int64_t device_bytes, peak_bytes, argument_bytes, output_bytes, constant_bytes, temporary_bytes;
} shoal_memory;
SHOAL_C_API shoal_error *shoal_facts_memory(const shoal_facts *, shoal_memory *out);

typedef enum { SHOAL_VIEW_OUTLINE = 0, SHOAL_VIEW_COLLECTIVES = 1, SHOAL_VIEW_COST = 2, SHOAL_VIEW_MEMORY = 3 } shoal_view;
typedef struct {
  size_t struct_size;
  int64_t top;              /* rows of a table; 0: the default, -1: all */
  const char *cost_by;      /* op, opcode, computation, line, op_name; NULL: op */
  int64_t devices_per_node; /* of collectives; 0: 8 */
  int32_t matrix;           /* collectives: the traffic between all pairs of devices */
  int64_t budget;           /* memory of a device in bytes; 0: none */
  int64_t depth;            /* levels of the outline; 0: all */
  int32_t all_ops;          /* the outline has every op */
  int64_t width;            /* columns of text; 0: unlimited */
  const char *sort;         /* order of collectives or cost, as of --sort; NULL: the default */
} shoal_view_options;
/* What shoal show, comm, cost and mem print. */
SHOAL_C_API shoal_error *shoal_facts_text(const shoal_facts *, int32_t view /* shoal_view */, const shoal_view_options *,
                                         shoal_string **out);
SHOAL_C_API shoal_error *shoal_facts_json(const shoal_facts *, int32_t view /* shoal_view */, const shoal_view_options *,
                                         shoal_string **out);

/* ---- Predictions */

SHOAL_C_API shoal_error *shoal_machine_load(const char *name, shoal_machine **out);
SHOAL_C_API shoal_error *shoal_machine_parse(const char *yaml, const char *name, shoal_machine **out);
/* "nic=100GB/s" */
SHOAL_C_API shoal_error *shoal_machine_set(shoal_machine *, const char *assignment);
SHOAL_C_API double shoal_machine_devices(const shoal_machine *);
SHOAL_C_API void shoal_machine_free(shoal_machine *);

typedef struct {
  size_t struct_size;
  double step_seconds, device_seconds;
  double matrix_seconds, memory_seconds, communication_seconds, copy_seconds, idle_seconds;
  double model_flops_utilization;
  size_t ops; /* their number */
} shoal_prediction_info;
typedef struct {
  size_t struct_size;
  shoal_text name, kind;
  double executions, seconds, flops, bytes;
} shoal_predicted_op;
SHOAL_C_API shoal_error *shoal_predict(const shoal_facts *, const shoal_machine *, shoal_prediction **out);
SHOAL_C_API shoal_error *shoal_prediction_get(const shoal_prediction *, shoal_prediction_info *out);
SHOAL_C_API shoal_error *shoal_prediction_op(const shoal_prediction *, size_t index, shoal_predicted_op *out);
SHOAL_C_API shoal_error *shoal_prediction_text(const shoal_prediction *, shoal_string **out);
SHOAL_C_API shoal_error *shoal_prediction_json(const shoal_prediction *, shoal_string **out);
SHOAL_C_API shoal_error *shoal_prediction_trace(const shoal_prediction *, shoal_string **out); /* for Perfetto */
SHOAL_C_API void shoal_prediction_free(shoal_prediction *);

/* A measured profile, and its comparison with a prediction as JSON. */
SHOAL_C_API shoal_error *shoal_profile_read(const char *path, shoal_trace **out);
SHOAL_C_API shoal_error *shoal_prediction_match_json(const shoal_prediction *, const shoal_trace *, shoal_string **out);
SHOAL_C_API void shoal_trace_free(shoal_trace *);

/* ---- Differences and pages */

/* Sixteen hexadecimal digits, equal for modules that differ at most in names, text order and metadata. */
SHOAL_C_API shoal_error *shoal_module_fingerprint(const shoal_module *, shoal_string **out);

typedef struct {
  size_t struct_size;
  shoal_text kind, a, b, what, before, after; /* a, b: names of the instructions; empty: none */
  int64_t count;
} shoal_change;
typedef struct {
  size_t struct_size;
  const char *const *thresholds; /* "wire_bytes<=+2%" */
  size_t threshold_count;
} shoal_diff_options;
SHOAL_C_API shoal_error *shoal_diff_new(const shoal_facts *a, const shoal_facts *b, const shoal_diff_options *,
                                        shoal_diff **out);
SHOAL_C_API size_t shoal_diff_count(const shoal_diff *);
SHOAL_C_API size_t shoal_diff_exceeded(const shoal_diff *); /* thresholds that do not hold */
SHOAL_C_API shoal_error *shoal_diff_get(const shoal_diff *, size_t index, shoal_change *out);
SHOAL_C_API shoal_error *shoal_diff_text(const shoal_diff *, shoal_string **out);
SHOAL_C_API shoal_error *shoal_diff_json(const shoal_diff *, shoal_string **out);
SHOAL_C_API void shoal_diff_free(shoal_diff *);

typedef struct {
  size_t struct_size;
  const shoal_machine *const *machines; /* for predictions */
  size_t machine_count;
  const char *const *profiles; /* files of measured profiles */
  size_t profile_count;
  int64_t devices_per_node; /* 0: 8 */
  int64_t budget;           /* memory of a device in bytes; 0: none */
} shoal_page_options;
/* One HTML page. `b` may be NULL. */
SHOAL_C_API shoal_error *shoal_page(const shoal_facts *a, const shoal_facts *b, const shoal_page_options *,
                                    shoal_string **out);

/* ---- Compiling and running */

SHOAL_C_API shoal_error *shoal_pool_new(int32_t threads, shoal_pool **out); /* 0: one thread per core */
SHOAL_C_API void shoal_pool_free(shoal_pool *);

SHOAL_C_API shoal_error *shoal_stop_new(shoal_stop **out);
SHOAL_C_API void shoal_stop_request(shoal_stop *); /* from any thread */
SHOAL_C_API void shoal_stop_free(shoal_stop *);

typedef enum { SHOAL_ENGINE_JIT = 0, SHOAL_ENGINE_INTERPRETER = 1 } shoal_engine;
typedef struct {
  size_t struct_size;
  int32_t engine;         /* shoal_engine */
  int32_t threads;        /* 0: one per core */
  const shoal_pool *pool; /* in place of own threads */
  const char *cpu;        /* NULL: the CPU of this machine */
  const char *cache_dir;  /* folder for compiled code; NULL: no cache */
  int64_t num_replicas, num_partitions; /* 0: from the module */
  int32_t reject_elided;  /* fail if literals are missing from the dump, instead of generating them */
  const shoal_stop *stop;
  int32_t observable; /* keep every instruction, for on_value and check_nans of a run; slower */
} shoal_compile_options;
SHOAL_C_API shoal_error *shoal_compile(const shoal_module *, const shoal_compile_options *, shoal_executable **out);
SHOAL_C_API void shoal_executable_free(shoal_executable *);

typedef struct {
  size_t struct_size;
  int64_t devices, replicas, partitions;
  size_t arguments, results; /* leaves of each device */
  int32_t engine;            /* the one in use */
  double compile_seconds;
} shoal_executable_info;
SHOAL_C_API shoal_error *shoal_executable_get(const shoal_executable *, shoal_executable_info *out);
SHOAL_C_API shoal_error *shoal_executable_argument(const shoal_executable *, size_t leaf, shoal_array_shape *out);
SHOAL_C_API shoal_error *shoal_executable_result(const shoal_executable *, size_t leaf, shoal_array_shape *out);
/* The compiled program as text. */
SHOAL_C_API shoal_error *shoal_executable_explain(const shoal_executable *, shoal_string **out);

typedef void (*shoal_release)(void *user_data);
/* Memory of the caller, valid and unchanged until shoal calls `release` (which may be NULL), from any thread. */
typedef struct {
  size_t struct_size;
  const void *data;
  int32_t type;
  int32_t rank;
  const int64_t *dims;
  const int64_t *byte_strides; /* NULL: row-major; other layouts and unaligned data are copied */
  shoal_release release;
  void *user_data;
} shoal_borrow_args;
SHOAL_C_API shoal_error *shoal_buffer_borrow(const shoal_borrow_args *, shoal_buffer **out);
/* Uninitialised memory of shoal. */
SHOAL_C_API shoal_error *shoal_buffer_new(int32_t type, const int64_t *dims, int32_t rank, shoal_buffer **out);
SHOAL_C_API shoal_error *shoal_buffer_copy(const void *data, size_t bytes, int32_t type, const int64_t *dims, int32_t rank,
                                           shoal_buffer **out);
SHOAL_C_API shoal_error *shoal_buffer_shape(const shoal_buffer *, shoal_array_shape *out);
SHOAL_C_API const void *shoal_buffer_data(const shoal_buffer *);
SHOAL_C_API void *shoal_buffer_mutable_data(shoal_buffer *); /* NULL: no memory */
SHOAL_C_API size_t shoal_buffer_bytes(const shoal_buffer *);
SHOAL_C_API void shoal_buffer_free(shoal_buffer *);

typedef enum {
  SHOAL_INPUTS_RANDOM = 0,
  SHOAL_INPUTS_SHARED_RANDOM = 1,
  SHOAL_INPUTS_ZEROS = 2,
  SHOAL_INPUTS_DEVICE_ID = 3
} shoal_input_mode;
/* Arguments of all devices, as `shoal run` makes or reads them. */
SHOAL_C_API shoal_error *shoal_arguments_generate(const shoal_executable *, int32_t mode /* shoal_input_mode */,
                                                  uint64_t seed, shoal_buffers **out);
SHOAL_C_API shoal_error *shoal_arguments_read(const shoal_executable *, const char *path, shoal_buffers **out);
SHOAL_C_API shoal_error *shoal_arguments_snapshot(const shoal_executable *, shoal_buffers **out);
/* Another handle to one of them, which the caller frees. A token is an empty buffer. */
SHOAL_C_API shoal_error *shoal_buffers_get(const shoal_buffers *, size_t device, size_t leaf, shoal_buffer **out);
SHOAL_C_API void shoal_buffers_free(shoal_buffers *);

typedef struct {
  double seconds, instructions, expected_instructions;
} shoal_progress;
typedef struct {
  size_t struct_size;
  uint64_t random_seed;
  int32_t stub_custom_calls, profile;
  int64_t max_instructions, max_bytes; /* of each device; 0: no limit */
  double max_seconds;
  const shoal_stop *stop;
  void (*progress)(const shoal_progress *, void *user_data); /* from another thread */
  void *user_data;
  int32_t check_nans; /* stop at the first instruction that makes a NaN or an infinity */
  /* Called after each instruction on the thread of the device, with the arrays of its value as the only device of
   * `arrays`, which is valid during the call. 0 stops the run. Both need shoal_compile_options.observable. */
  int32_t (*on_value)(int64_t device, shoal_text instruction, const shoal_buffers *arrays, void *user_data);
} shoal_execute_options;

/* The arguments of all devices: arguments[device * leaves + leaf]; NULL stands for a token. */
typedef struct {
  size_t struct_size;
  shoal_buffer *const *arguments;
  size_t count;
  /* NULL, or for each argument: not 0 if the run may overwrite its memory. The buffer must have no other owner, and it
   * is empty afterwards; the caller still frees it. */
  const uint8_t *donated;
} shoal_arguments;

SHOAL_C_API shoal_error *shoal_execute(const shoal_executable *, const shoal_arguments *, const shoal_execute_options *,
                                       shoal_results **out);
SHOAL_C_API shoal_error *shoal_execute_buffers(const shoal_executable *, const shoal_buffers *,
                                               const shoal_execute_options *, shoal_results **out);

/* Calls done(error, results, user_data) on another thread; the callee frees both. If `done` is NULL, the result is taken
 * with shoal_pending_take. */
typedef void (*shoal_done)(shoal_error *, shoal_results *, void *user_data);
SHOAL_C_API shoal_error *shoal_execute_async(const shoal_executable *, const shoal_arguments *,
                                             const shoal_execute_options *, shoal_done done, void *user_data,
                                             shoal_pending **out);
SHOAL_C_API int32_t shoal_pending_wait(const shoal_pending *, double seconds); /* 1: the run has ended */
SHOAL_C_API void shoal_pending_cancel(const shoal_pending *);
SHOAL_C_API shoal_error *shoal_pending_take(shoal_pending *, shoal_results **out);
SHOAL_C_API void shoal_pending_free(shoal_pending *); /* waits for the end */

typedef struct {
  size_t struct_size;
  const char *inputs; /* a folder or an .npz file; NULL: generated */
  int32_t input_mode; /* shoal_input_mode */
  uint64_t random_seed;
  int32_t has_bounds; /* use atol and rtol in place of the bounds of the element types */
  double atol, rtol;
  const shoal_compile_options *compile;
  const shoal_execute_options *execute;
} shoal_compare_options;
/* Runs both modules on the same inputs. `json` may be NULL. */
SHOAL_C_API shoal_error *shoal_compare(const shoal_module *a, const shoal_module *b, const shoal_compare_options *,
                                       int32_t *agrees, shoal_string **json);

typedef struct {
  size_t struct_size;
  size_t devices, outputs; /* leaves of each device */
  double seconds;
  int64_t instructions, iterations, peak_bytes; /* peak_bytes: of the device with the largest */
} shoal_results_info;
SHOAL_C_API shoal_error *shoal_results_get(const shoal_results *, shoal_results_info *out);
/* Another handle to an output, which the caller frees. A token is an empty buffer. */
SHOAL_C_API shoal_error *shoal_results_output(const shoal_results *, size_t device, size_t leaf, shoal_buffer **out);
SHOAL_C_API shoal_error *shoal_results_warnings(const shoal_results *, shoal_diags **out);
SHOAL_C_API shoal_error *shoal_results_text(const shoal_results *, shoal_string **out);
SHOAL_C_API shoal_error *shoal_results_json(const shoal_results *, shoal_string **out);
/* With shoal_execute_options.profile: the trace for Perfetto. */
SHOAL_C_API shoal_error *shoal_results_trace(const shoal_results *, shoal_string **out);
SHOAL_C_API void shoal_results_free(shoal_results *);

#ifdef __cplusplus
}
#endif
#endif
