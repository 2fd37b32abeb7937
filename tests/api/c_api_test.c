/* Every function of shoal.h, with what makes it fail. The last line is "N passed, N failed". */
#define _GNU_SOURCE
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shoal/shoal.h"

static atomic_int passed, failed; /* callbacks run on other threads */

static void Check(int ok, const char *what, int line) {
  ok ? ++passed : ++failed;
  if (!ok) printf("%s:%d: FAILED: %s\n", __FILE__, line, what);
}
#define CHECK(condition) Check((condition) != 0, #condition, __LINE__)

/* The call succeeds. */
static void Must(shoal_error *error, const char *what, int line) {
  Check(error == NULL, what, line);
  if (error != NULL) printf("  %s", shoal_error_text(error));
  shoal_error_free(error);
}
#define MUST(call) Must(call, #call, __LINE__)

/* The call fails with an error of this kind that has a message. */
static void Fails(shoal_error *error, shoal_error_kind kind, const char *what, int line) {
  Check(error != NULL && shoal_error_get_kind(error) == kind && shoal_error_count(error) > 0 &&
            strlen(shoal_error_message(error)) > 0 && strlen(shoal_error_text(error)) > 0 && shoal_error_json(error)[0] == '{',
        what, line);
  shoal_error_free(error);
}
#define FAILS(kind, call) Fails(call, kind, #call, __LINE__)

static int Is(shoal_text text, const char *expected) {
  return text.size == strlen(expected) && memcmp(text.data, expected, text.size) == 0;
}

static int Contains(shoal_string *string, const char *part) {
  const int found = string != NULL && strlen(shoal_string_data(string)) == shoal_string_size(string) &&
                    strstr(shoal_string_data(string), part) != NULL;
  shoal_string_free(string);
  return found;
}

static const char kSum[] =
    "HloModule sum, replica_count=2\n\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
    "  ROOT s = f32[] add(a, b)\n}\n\nENTRY main {\n  x = f32[3] parameter(0)\n"
    "  ROOT sum = f32[3] all-reduce(x), replica_groups={{0,1}}, to_apply=add, metadata={op_name=\"jit(f)/psum\"}\n}\n";
static const char kBad[] =
    "HloModule bad\n\nENTRY e {\n  p = f32[3,2] parameter(0)\n  ROOT r = f32[3,2] reverse(p), dimensions={0,2}\n}\n";
static const char kLoop[] =
    "HloModule loop\nbody {\n  i = s64[] parameter(0)\n  one = s64[] constant(1)\n  ROOT n = s64[] add(i, one)\n}\n"
    "condition {\n  i = s64[] parameter(0)\n  end = s64[] constant(1000000000000)\n"
    "  ROOT less = pred[] compare(i, end), direction=LT\n}\n"
    "ENTRY main {\n  start = s64[] parameter(0)\n  ROOT end = s64[] while(start), condition=condition, body=body\n}\n";

static shoal_module *Parsed(const char *text) {
  shoal_module *module = NULL;
  MUST(shoal_module_parse(text, strlen(text), "test.hlo", NULL, &module));
  return module;
}

static void TestModules(void) {
  shoal_module *module = NULL;
  FAILS(SHOAL_ERROR_ENVIRONMENT, shoal_module_read("/no/such/file", NULL, &module));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_module_read(NULL, NULL, &module));
  FAILS(SHOAL_ERROR_MODULE, shoal_module_parse("nonsense", 8, NULL, NULL, &module));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_module_parse(NULL, 8, NULL, NULL, &module));
  CHECK(module == NULL);

  /* The location of an error. */
  const char *bad = "HloModule m\nENTRY e {\n  a = f32[2] foo bar\n}\n";
  shoal_error *error = shoal_module_parse(bad, strlen(bad), "bad.hlo", NULL, &module);
  shoal_diag diag = SHOAL_INIT(shoal_diag);
  MUST(shoal_error_get(error, 0, &diag));
  CHECK(Is(diag.file, "bad.hlo") && diag.line == 3 && diag.is_warning == 0 && diag.message.size > 0);
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_error_get(error, 1000, &diag));
  shoal_error_free(error);

  module = Parsed(kSum);
  shoal_module_info info = SHOAL_INIT(shoal_module_info);
  MUST(shoal_module_get(module, &info));
  CHECK(Is(info.name, "sum") && Is(info.path, "test.hlo") && info.replica_count == 2 && info.computations == 2);
  shoal_computation_info entry = SHOAL_INIT(shoal_computation_info);
  MUST(shoal_computation_get(module, info.entry, &entry));
  CHECK(Is(entry.name, "main") && entry.instructions == 2 && entry.root == 1);
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_computation_get(module, 2, &entry));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_computation_get(NULL, 0, &entry));
  shoal_instruction_info root = SHOAL_INIT(shoal_instruction_info);
  MUST(shoal_instruction_get(module, info.entry, entry.root, &root));
  CHECK(Is(root.name, "sum") && Is(root.opcode, "all-reduce") && Is(root.op_name, "jit(f)/psum") && root.operands == 1 && root.line == 11);
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_instruction_get(module, info.entry, -1, &root));
  int64_t operand = -1;
  MUST(shoal_instruction_operand(module, info.entry, entry.root, 0, &operand));
  CHECK(operand == 0);
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_instruction_operand(module, info.entry, entry.root, 1, &operand));
  shoal_string *text = NULL;
  MUST(shoal_instruction_shape(module, info.entry, entry.root, &text));
  CHECK(Contains(text, "f32[3]{0}"));
  MUST(shoal_instruction_attribute(module, info.entry, entry.root, "replica_groups", &text));
  CHECK(Contains(text, "{{0,1}}"));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_instruction_attribute(module, info.entry, entry.root, NULL, &text));

  shoal_print_options print = SHOAL_INIT(shoal_print_options);
  print.format = SHOAL_FORMAT_SHORT;
  MUST(shoal_module_print(module, &print, &text));
  CHECK(Contains(text, "all-reduce(x)"));
  MUST(shoal_module_print(module, NULL, &text));
  CHECK(Contains(text, "all-reduce(%x)"));
  print.format = 9;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_module_print(module, &print, &text));

  shoal_diags *diags = NULL;
  MUST(shoal_module_verify(module, &diags));
  CHECK(shoal_diags_count(diags) == 0);
  shoal_diags_free(diags);
  MUST(shoal_module_warnings(module, &diags));
  CHECK(shoal_diags_count(diags) == 0);
  shoal_diags_free(diags);
  shoal_module_free(module);

  module = Parsed(kBad);
  MUST(shoal_module_verify(module, &diags));
  CHECK(shoal_diags_count(diags) == 1);
  MUST(shoal_diags_get(diags, 0, &diag));
  CHECK(Is(diag.rule, "reverse.C2") && diag.line == 5);
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_diags_get(diags, 1, &diag));
  shoal_diags_free(diags);
  shoal_executable *executable = NULL;
  FAILS(SHOAL_ERROR_MODULE, shoal_compile(module, NULL, &executable));
  shoal_module_free(module);
  shoal_module_free(NULL);
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_module_get(NULL, &info));
}

/* The lines of own packages are the user's. */
static void TestOwnPackages(void) {
  static const char kText[] =
      "HloModule m\n\nFileNames\n1 \"train.py\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n"
      "1 {file_name_id=1 function_name_id=1 line=5 end_line=0 column=0 end_column=0}\n\nStackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n"
      "ENTRY e {\n  p = f32[2] parameter(0)\n  ROOT r = f32[2] negate(p), metadata={op_name=\"f\" "
      "source_file=\"/lib/python3.12/site-packages/ours/mlp.py\" source_line=8 stack_frame_id=1}\n}\n";
  const char *packages[] = {"ours"};
  for (size_t count = 0; count < 2; ++count) {
    shoal_read_options options = SHOAL_INIT(shoal_read_options);
    options.own_packages = packages;
    options.own_package_count = count;
    shoal_module *module = NULL;
    MUST(shoal_module_parse(kText, strlen(kText), NULL, &options, &module));
    shoal_facts *facts = NULL;
    MUST(shoal_facts_new(module, NULL, &facts));
    shoal_view_options view = SHOAL_INIT(shoal_view_options);
    view.cost_by = "line";
    shoal_string *text = NULL;
    MUST(shoal_facts_text(facts, SHOAL_VIEW_COST, &view, &text));
    CHECK(Contains(text, count == 0 ? "train.py:5" : "ours/mlp.py:8"));
    shoal_facts_free(facts);
    shoal_module_free(module);
  }
}

/* Structs of other versions: a longer one is accepted if the unknown bytes are zero, a shorter one is filled partly. */
static void TestStructSizes(void) {
  struct {
    shoal_read_options known;
    int64_t later;
  } options;
  memset(&options, 0, sizeof(options));
  options.known.struct_size = sizeof(options);
  shoal_module *module = NULL;
  MUST(shoal_module_parse(kSum, strlen(kSum), NULL, &options.known, &module));
  options.later = 1;
  shoal_module *none = NULL;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_module_parse(kSum, strlen(kSum), NULL, &options.known, &none));
  options.later = 0;
  options.known.own_package_count = 1; /* without a list */
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_module_parse(kSum, strlen(kSum), NULL, &options.known, &none));
  options.known.struct_size = 0;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_module_parse(kSum, strlen(kSum), NULL, &options.known, &none));

  shoal_module_info info;
  memset(&info, 0x7f, sizeof(info));
  info.struct_size = offsetof(shoal_module_info, path);
  MUST(shoal_module_get(module, &info));
  CHECK(Is(info.name, "sum") && info.entry == 0x7f7f7f7f7f7f7f7f);
  info.struct_size = 0;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_module_get(module, &info));
  shoal_module_free(module);
}

static void TestPasses(void) {
  CHECK(shoal_pass_count() > 10);
  shoal_pass_info pass = SHOAL_INIT(shoal_pass_info);
  MUST(shoal_pass_get(0, &pass));
  CHECK(pass.name.size > 0 && pass.reason.size > 0 && pass.is_communication == 0);
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_pass_get(1000, &pass));
  shoal_module *module = Parsed("HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  y = f32[2] negate(x)\n  ROOT z = f32[2] abs(x)\n}\n");
  const char *names[] = {"remove-dead-code"};
  shoal_transform_options options = SHOAL_INIT(shoal_transform_options);
  options.passes = names;
  options.pass_count = 1;
  shoal_module *smaller = NULL;
  MUST(shoal_module_transform(module, &options, &smaller));
  shoal_module_free(module); /* the transformed module keeps what it needs */
  shoal_computation_info entry = SHOAL_INIT(shoal_computation_info);
  MUST(shoal_computation_get(smaller, 0, &entry));
  CHECK(entry.instructions == 2);
  names[0] = "no-such-pass";
  shoal_module *none = NULL;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_module_transform(smaller, &options, &none));
  options.passes = NULL;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_module_transform(smaller, &options, &none));
  MUST(shoal_module_transform(smaller, NULL, &none));
  shoal_module_free(none);
  shoal_module_free(smaller);
}

/* Writes the predicted trace as if it were measured. */
static const char *WrittenProfile(const shoal_prediction *prediction) {
  static char path[] = "/tmp/shoal_c_api_XXXXXX.json";
  const int file = mkstemps(path, 5);
  shoal_string *trace = NULL;
  MUST(shoal_prediction_trace(prediction, &trace));
  CHECK(file >= 0 && write(file, shoal_string_data(trace), shoal_string_size(trace)) == (ssize_t)shoal_string_size(trace));
  close(file);
  shoal_string_free(trace);
  return path;
}

static void TestFactsAndPredictions(void) {
  shoal_module *module = Parsed(kSum), *other = Parsed(kLoop);
  shoal_facts *facts = NULL, *loop_facts = NULL;
  MUST(shoal_facts_new(module, NULL, &facts));
  shoal_fact_options options = SHOAL_INIT(shoal_fact_options);
  options.backend = "abacus";
  shoal_facts *none = NULL;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_facts_new(module, &options, &none));
  options.backend = "gpu";
  const char *loops[] = {"end"};
  const int64_t counts[] = {7};
  options.loops = loops;
  options.trip_counts = counts;
  options.loop_count = 1;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_facts_new(module, &options, &none)); /* has no loop */
  MUST(shoal_facts_new(other, &options, &loop_facts));
  shoal_totals totals = SHOAL_INIT(shoal_totals);
  MUST(shoal_facts_totals(loop_facts, &totals));
  CHECK(totals.devices == 1 && totals.instructions > 7);
  MUST(shoal_facts_totals(facts, &totals));
  CHECK(totals.devices == 2 && totals.collectives == 1 && totals.wire_bytes == 12);
  size_t count = 0;
  MUST(shoal_facts_collective_count(facts, &count));
  CHECK(count == 1);
  shoal_collective collective = SHOAL_INIT(shoal_collective);
  MUST(shoal_facts_collective_get(facts, 0, &collective));
  CHECK(Is(collective.name, "sum") && Is(collective.kind, "all-reduce") && collective.payload_bytes == 12 &&
        collective.group_count == 1 && collective.group_size == 2 && collective.executions == 1);
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_facts_collective_get(facts, 1, &collective));
  shoal_memory memory = SHOAL_INIT(shoal_memory);
  MUST(shoal_facts_memory(facts, &memory));
  CHECK(memory.argument_bytes == 12 && memory.output_bytes == 12 && memory.device_bytes >= 24);
  shoal_string *text = NULL;
  const char *parts[] = {"sum on 2 devices", "all-reduce", "flops", "peak"};
  for (int view = 0; view < 4; ++view) {
    MUST(shoal_facts_text(facts, view, NULL, &text));
    if (!Contains(text, parts[view])) printf("view %d lacks %s\n", view, parts[view]), ++failed;
    MUST(shoal_facts_json(facts, view, NULL, &text));
    CHECK(Contains(text, "\"version\""));
  }
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_facts_text(facts, 9, NULL, &text));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_facts_json(NULL, SHOAL_VIEW_COST, NULL, &text));
  shoal_view_options view = SHOAL_INIT(shoal_view_options);
  view.cost_by = "opcode";
  view.top = -1;
  view.width = 60;
  MUST(shoal_facts_text(facts, SHOAL_VIEW_COST, &view, &text));
  CHECK(Contains(text, "opcode"));
  view.sort = "name";
  MUST(shoal_facts_json(facts, SHOAL_VIEW_COST, &view, &text));
  CHECK(Contains(text, "opcode"));
  view.cost_by = NULL;
  view.sort = "payload";
  MUST(shoal_facts_json(facts, SHOAL_VIEW_COLLECTIVES, &view, &text));
  CHECK(Contains(text, "\"version\""));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_facts_text(facts, SHOAL_VIEW_COST, &view, &text));
  view.sort = NULL;
  view.cost_by = "colour";
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_facts_text(facts, SHOAL_VIEW_COST, &view, &text));

  shoal_machine *machine = NULL;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_machine_load("abacus", &machine));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_machine_parse("name: [", "x.yaml", &machine));
  MUST(shoal_machine_load("h100x8", &machine));
  CHECK(shoal_machine_devices(machine) == 8);
  MUST(shoal_machine_set(machine, "nodes=2"));
  CHECK(shoal_machine_devices(machine) == 16);
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_machine_set(machine, "wings=2"));
  shoal_prediction *prediction = NULL;
  MUST(shoal_predict(facts, machine, &prediction));
  shoal_prediction_info info = SHOAL_INIT(shoal_prediction_info);
  MUST(shoal_prediction_get(prediction, &info));
  CHECK(info.step_seconds > 0 && info.communication_seconds > 0);
  shoal_predicted_op op = SHOAL_INIT(shoal_predicted_op);
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_prediction_op(prediction, info.ops, &op));
  MUST(shoal_prediction_text(prediction, &text));
  CHECK(Contains(text, "step "));
  MUST(shoal_prediction_json(prediction, &text));
  CHECK(Contains(text, "\"step_seconds\""));
  MUST(shoal_prediction_trace(prediction, &text));
  CHECK(Contains(text, "traceEvents"));
  shoal_trace *trace = NULL;
  FAILS(SHOAL_ERROR_ENVIRONMENT, shoal_profile_read("/no/such/profile.json", &trace));
  const char *path = WrittenProfile(prediction);
  MUST(shoal_profile_read(path, &trace));
  MUST(shoal_prediction_match_json(prediction, trace, &text));
  CHECK(Contains(text, "\"measured"));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_prediction_match_json(prediction, NULL, &text));
  shoal_trace_free(trace);
  remove(path);
  shoal_string *page = NULL;
  const shoal_machine *machines[] = {machine};
  shoal_page_options page_options = SHOAL_INIT(shoal_page_options);
  page_options.machines = machines;
  page_options.machine_count = 1;
  MUST(shoal_page(facts, loop_facts, &page_options, &page));
  CHECK(Contains(page, "</html>"));
  page_options.machines = NULL;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_page(facts, NULL, &page_options, &page));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_page(NULL, NULL, NULL, &page));
  shoal_prediction_free(prediction);
  shoal_machine_free(machine);

  shoal_diff *diff = NULL;
  const char *thresholds[] = {"collectives<=+0", "collectives>5"};
  shoal_diff_options diff_options = SHOAL_INIT(shoal_diff_options);
  diff_options.thresholds = thresholds;
  diff_options.threshold_count = 2;
  MUST(shoal_diff_new(facts, loop_facts, &diff_options, &diff));
  CHECK(shoal_diff_count(diff) > 0 && shoal_diff_exceeded(diff) == 1);
  shoal_change change = SHOAL_INIT(shoal_change);
  MUST(shoal_diff_get(diff, 0, &change));
  CHECK(change.kind.size > 0 && change.count > 0);
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_diff_get(diff, 100000, &change));
  MUST(shoal_diff_text(diff, &text));
  CHECK(Contains(text, "all-reduce"));
  MUST(shoal_diff_json(diff, &text));
  CHECK(Contains(text, "\"changes\""));
  shoal_diff_free(diff);
  thresholds[0] = "nonsense";
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_diff_new(facts, loop_facts, &diff_options, &diff));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_diff_new(facts, NULL, NULL, &diff));
  shoal_facts_free(facts);
  shoal_facts_free(loop_facts);

  int32_t agrees = 0;
  shoal_compare_options compare = SHOAL_INIT(shoal_compare_options);
  compare.random_seed = 3;
  MUST(shoal_compare(module, module, &compare, &agrees, &text));
  CHECK(agrees == 1 && Contains(text, "\"outputs\""));
  FAILS(SHOAL_ERROR_MODULE, shoal_compare(module, other, NULL, &agrees, NULL));
  compare.inputs = "/no/such/folder";
  FAILS(SHOAL_ERROR_ENVIRONMENT, shoal_compare(module, module, &compare, &agrees, NULL));
  compare.input_mode = 9;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_compare(module, module, &compare, &agrees, NULL));
  shoal_module_free(module);
  shoal_module_free(other);
}

static void TestBuilder(void) {
  shoal_builder *builder = NULL;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_builder_new(NULL, 1, 1, &builder));
  MUST(shoal_builder_new("built", 2, 1, &builder));
  int32_t add = -1, main_computation = -1, a = -1, b = -1, sum = -1;
  MUST(shoal_builder_computation(builder, "add", &add));
  MUST(shoal_builder_parameter(builder, add, "f32[]", NULL, &a));
  MUST(shoal_builder_parameter(builder, add, "f32[]", "b", &b));
  const int32_t both[] = {a, b};
  shoal_new_instruction hlo = SHOAL_INIT(shoal_new_instruction);
  hlo.opcode = "add";
  hlo.operands = both;
  hlo.operand_count = 2;
  MUST(shoal_builder_add(builder, add, &hlo, &sum));
  MUST(shoal_builder_finish_computation(builder, add, sum));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_builder_add(builder, add, &hlo, &sum));
  MUST(shoal_builder_computation(builder, "main", &main_computation));
  int32_t x = -1, one = -1;
  MUST(shoal_builder_parameter(builder, main_computation, "f32[3]", "x", &x));
  FAILS(SHOAL_ERROR_MODULE, shoal_builder_parameter(builder, main_computation, "f32[", "x", &x));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_builder_parameter(builder, 7, "f32[]", "x", &x));
  MUST(shoal_builder_constant(builder, main_computation, "f32[3]", "{1, 2, 3}", NULL, &one));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_builder_constant(builder, main_computation, NULL, "1", NULL, &one));
  const int32_t values[] = {x, one};
  hlo.operands = values;
  MUST(shoal_builder_add(builder, main_computation, &hlo, &sum));
  hlo.opcode = "all-reduce";
  hlo.operands = &sum;
  hlo.operand_count = 1;
  hlo.attributes = "replica_groups={{0,1}}, to_apply=add";
  hlo.shape = "f32[3]";
  hlo.name = "total";
  int32_t total = -1;
  MUST(shoal_builder_add(builder, main_computation, &hlo, &total));
  shoal_module *module = NULL;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_builder_finish(builder, main_computation, &module));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_builder_finish_computation(builder, main_computation, 99));
  MUST(shoal_builder_finish_computation(builder, main_computation, total));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_builder_finish(builder, 9, &module));
  MUST(shoal_builder_finish(builder, main_computation, &module));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_builder_finish(builder, main_computation, &module));
  shoal_builder_free(builder);
  shoal_string *text = NULL;
  MUST(shoal_module_print(module, NULL, &text));
  CHECK(Contains(text, "%total = f32[3]{0} all-reduce"));
  shoal_module_free(module);
}

static void TestEdit(void) {
  shoal_module *module = Parsed(kSum);
  shoal_edit *edit = NULL;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_edit_new(NULL, &edit));
  MUST(shoal_edit_new(module, &edit));
  shoal_string *name = NULL;
  MUST(shoal_edit_constant(edit, "f32[3]", "{1, 2, 3}", "x", NULL, &name));
  CHECK(Contains(name, "constant"));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_edit_constant(edit, "f32[3]", "{1, 2, 3}", "y", NULL, &name));
  const char *operands[] = {"sum", "constant"};
  shoal_edit_instruction hlo = SHOAL_INIT(shoal_edit_instruction);
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_edit_add(edit, &hlo, &name));
  hlo.opcode = "multiply";
  hlo.operands = operands;
  hlo.operand_count = 2;
  hlo.at = "nothing";
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_edit_add(edit, &hlo, &name));
  hlo.at = NULL;
  hlo.name = "scaled";
  MUST(shoal_edit_add(edit, &hlo, &name));
  CHECK(Contains(name, "scaled"));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_edit_set_operand(edit, "scaled", 2, "x"));
  MUST(shoal_edit_set_operand(edit, "scaled", 1, "x"));
  MUST(shoal_edit_replace(edit, "sum", "scaled"));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_edit_replace(edit, "sum", "nothing"));
  FAILS(SHOAL_ERROR_MODULE, shoal_edit_set_attributes(edit, "sum", "colour={1}"));
  MUST(shoal_edit_set_attributes(edit, "sum", "replica_groups={{0},{1}}"));
  MUST(shoal_edit_set_root(edit, "scaled"));
  MUST(shoal_edit_remove(edit, "constant"));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_edit_remove(edit, "sum"));
  shoal_module *edited = NULL;
  MUST(shoal_edit_finish(edit, &edited));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_edit_finish(edit, &edited));
  shoal_edit_free(edit);
  shoal_module_free(module);
  shoal_string *text = NULL;
  MUST(shoal_module_print(edited, NULL, &text));
  CHECK(Contains(text, "ROOT %scaled = f32[3]{0} multiply(%sum, %x)"));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_module_fingerprint(NULL, &text));
  MUST(shoal_module_fingerprint(edited, &text));
  CHECK(shoal_string_size(text) == 16);
  shoal_string_free(text);
  shoal_module_free(edited);
}

static void CountRelease(void *count) { ++*(int *)count; }

static void TestBuffers(void) {
  float own[6] = {0, 1, 2, 3, 4, 5};
  int released = 0;
  const int64_t dims[] = {3, 2}, strides[] = {4, 12};
  shoal_borrow_args args = SHOAL_INIT(shoal_borrow_args);
  args.data = own;
  args.type = shoal_type_parse("f32");
  args.rank = 2;
  args.dims = dims;
  args.release = CountRelease;
  args.user_data = &released;
  shoal_buffer *buffer = NULL;
  MUST(shoal_buffer_borrow(&args, &buffer));
  CHECK(shoal_buffer_data(buffer) == own && shoal_buffer_bytes(buffer) == 24 && released == 0);
  shoal_array_shape shape = SHOAL_INIT(shoal_array_shape);
  MUST(shoal_buffer_shape(buffer, &shape));
  CHECK(shape.type == 11 && shape.rank == 2 && shape.dims[0] == 3 && shape.dims[1] == 2);
  CHECK(shoal_buffer_mutable_data(buffer) != own);
  shoal_buffer_free(buffer);
  CHECK(released == 1);
  args.byte_strides = strides;
  MUST(shoal_buffer_borrow(&args, &buffer));
  CHECK(released == 2 && ((const float *)shoal_buffer_data(buffer))[1] == 3);
  shoal_buffer_free(buffer);
  MUST(shoal_buffer_new(args.type, dims, 2, &buffer));
  CHECK(shoal_buffer_bytes(buffer) == 24 && shoal_buffer_mutable_data(buffer) != NULL);
  shoal_buffer_free(buffer);
  shoal_buffer *none = NULL;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_buffer_copy(own, 20, args.type, dims, 2, &none));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_buffer_new(999, dims, 2, &none));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_buffer_new(11, NULL, 2, &none));
  const int64_t huge[] = {(int64_t)1 << 50};
  FAILS(SHOAL_ERROR_MEMORY, shoal_buffer_new(11, huge, 1, &none));
  args.rank = -1;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_buffer_borrow(&args, &none));
  CHECK(shoal_type_parse("float") == 0 && strcmp(shoal_type_name(16), "bf16") == 0 && shoal_type_bytes(12) == 8);
  CHECK(strcmp(shoal_type_name(-1), "invalid") == 0 && shoal_type_bytes(1000) == 0);
  shoal_buffer_free(NULL);
}

static shoal_buffer *Floats(float a, float b, float c) {
  const float values[] = {a, b, c};
  const int64_t dims[] = {3};
  shoal_buffer *buffer = NULL;
  MUST(shoal_buffer_copy(values, sizeof(values), 11, dims, 1, &buffer));
  return buffer;
}

static int FirstIs(const shoal_results *results, size_t device, float expected) {
  shoal_buffer *output = NULL;
  MUST(shoal_results_output(results, device, 0, &output));
  const int same = output != NULL && fabsf(((const float *)shoal_buffer_data(output))[0] - expected) < 1e-6f;
  shoal_buffer_free(output);
  return same;
}

static int done_calls;
static void OnDone(shoal_error *error, shoal_results *results, void *user_data) {
  CHECK(error == NULL && results != NULL && user_data == &done_calls);
  ++*(int *)user_data;
  shoal_error_free(error);
  shoal_results_free(results);
}
static void OnProgress(const shoal_progress *progress, void *user_data) { *(double *)user_data = progress->seconds; }

static int32_t OnValue(int64_t device, shoal_text instruction, const shoal_buffers *arrays, void *user_data) {
  shoal_buffer *array = NULL;
  MUST(shoal_buffers_get(arrays, 0, 0, &array));
  CHECK(shoal_buffer_bytes(array) == 12 && device < 2);
  shoal_buffer_free(array);
  ++*(int *)user_data;
  return !Is(instruction, "sum");
}

static void TestObservers(void) {
  shoal_module *module = Parsed(kSum);
  shoal_compile_options compile = SHOAL_INIT(shoal_compile_options);
  shoal_executable *executable = NULL;
  MUST(shoal_compile(module, &compile, &executable));
  shoal_buffers *arguments = NULL;
  MUST(shoal_arguments_generate(executable, SHOAL_INPUTS_ZEROS, 0, &arguments));
  int calls = 0;
  shoal_execute_options options = SHOAL_INIT(shoal_execute_options);
  options.on_value = OnValue;
  options.user_data = &calls;
  shoal_results *results = NULL;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_execute_buffers(executable, arguments, &options, &results));
  shoal_executable_free(executable);
  compile.observable = 1;
  compile.threads = 1; /* one device at a time */
  MUST(shoal_compile(module, &compile, &executable));
  FAILS(SHOAL_ERROR_CANCELLED, shoal_execute_buffers(executable, arguments, &options, &results));
  CHECK(calls >= 2);
  options.on_value = NULL;
  options.check_nans = 1;
  MUST(shoal_execute_buffers(executable, arguments, &options, &results));
  shoal_results_free(results);
  shoal_buffers_free(arguments);
  shoal_executable_free(executable);
  shoal_module_free(module);
}

static void TestExecution(void) {
  shoal_pool *pool = NULL;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_pool_new(-1, &pool));
  MUST(shoal_pool_new(2, &pool));
  shoal_module *module = Parsed(kSum);
  shoal_compile_options compile = SHOAL_INIT(shoal_compile_options);
  shoal_executable *executable = NULL;
  compile.engine = 7;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_compile(module, &compile, &executable));
  compile.engine = SHOAL_ENGINE_JIT;
  compile.pool = pool;
  MUST(shoal_compile(module, &compile, &executable));
  shoal_module_free(module); /* the executable keeps it */
  shoal_pool_free(pool);
  shoal_executable_info info = SHOAL_INIT(shoal_executable_info);
  MUST(shoal_executable_get(executable, &info));
  CHECK(info.devices == 2 && info.replicas == 2 && info.arguments == 1 && info.results == 1 && info.engine == SHOAL_ENGINE_JIT);
  shoal_array_shape shape = SHOAL_INIT(shoal_array_shape);
  MUST(shoal_executable_argument(executable, 0, &shape));
  CHECK(shape.type == 11 && shape.rank == 1 && shape.dims[0] == 3);
  MUST(shoal_executable_result(executable, 0, &shape));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_executable_result(executable, 1, &shape));
  shoal_string *text = NULL;
  MUST(shoal_executable_explain(executable, &text));
  CHECK(Contains(text, "all-reduce"));

  shoal_buffer *buffers[] = {Floats(1, 2, 3), Floats(10, 20, 30)};
  const uint8_t donated[] = {1, 0};
  shoal_arguments arguments = SHOAL_INIT(shoal_arguments);
  arguments.arguments = buffers;
  arguments.count = 2;
  shoal_execute_options options = SHOAL_INIT(shoal_execute_options);
  options.profile = 1;
  shoal_results *results = NULL;
  MUST(shoal_execute(executable, &arguments, &options, &results));
  CHECK(FirstIs(results, 0, 11) && FirstIs(results, 1, 11));
  shoal_results_info run = SHOAL_INIT(shoal_results_info);
  MUST(shoal_results_get(results, &run));
  CHECK(run.devices == 2 && run.outputs == 1 && run.instructions > 0 && run.peak_bytes > 0);
  MUST(shoal_results_text(results, &text));
  CHECK(Contains(text, "ran on 2 devices"));
  MUST(shoal_results_json(results, &text));
  CHECK(Contains(text, "\"outputs\""));
  MUST(shoal_results_trace(results, &text));
  CHECK(Contains(text, "traceEvents"));
  shoal_diags *warnings = NULL;
  MUST(shoal_results_warnings(results, &warnings));
  CHECK(shoal_diags_count(warnings) == 0);
  shoal_diags_free(warnings);
  shoal_buffer *none = NULL;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_results_output(results, 2, 0, &none));
  shoal_results_free(results);

  shoal_results *no_results = NULL;
  arguments.count = 1;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_execute(executable, &arguments, NULL, &no_results));
  arguments.count = 2;
  options.max_seconds = -1;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_execute(executable, &arguments, &options, &no_results));
  arguments.donated = donated;
  MUST(shoal_execute(executable, &arguments, NULL, &results));
  CHECK(FirstIs(results, 1, 11) && shoal_buffer_data(buffers[0]) == NULL && shoal_buffer_data(buffers[1]) != NULL);
  shoal_results_free(results);
  arguments.donated = NULL;
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_execute(executable, &arguments, NULL, &no_results)); /* one is empty now */
  shoal_buffer_free(buffers[0]);
  buffers[0] = Floats(1, 2, 3);

  shoal_pending *pending = NULL;
  MUST(shoal_execute_async(executable, &arguments, NULL, OnDone, &done_calls, &pending));
  CHECK(shoal_pending_wait(pending, 60) == 1);
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_pending_take(pending, &no_results));
  shoal_pending_free(pending);
  CHECK(done_calls == 1);
  MUST(shoal_execute_async(executable, &arguments, NULL, NULL, NULL, &pending));
  MUST(shoal_pending_take(pending, &results));
  CHECK(FirstIs(results, 0, 11));
  shoal_pending_free(pending);
  shoal_buffer_free(buffers[0]);
  shoal_buffer_free(buffers[1]);

  shoal_buffers *generated = NULL;
  MUST(shoal_arguments_generate(executable, SHOAL_INPUTS_DEVICE_ID, 0, &generated));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_arguments_generate(executable, 9, 0, &generated));
  shoal_buffer *argument = NULL;
  MUST(shoal_buffers_get(generated, 1, 0, &argument));
  CHECK(((const float *)shoal_buffer_data(argument))[0] == 1);
  shoal_buffer_free(argument);
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_buffers_get(generated, 0, 1, &argument));
  shoal_results_free(results);
  MUST(shoal_execute_buffers(executable, generated, NULL, &results));
  CHECK(FirstIs(results, 0, 1));
  shoal_buffers_free(generated);
  shoal_buffers *unread = NULL;
  FAILS(SHOAL_ERROR_ENVIRONMENT, shoal_arguments_read(executable, "/no/such/folder", &unread));
  FAILS(SHOAL_ERROR_ARGUMENT, shoal_arguments_snapshot(executable, &unread));
  shoal_executable_free(executable);
  CHECK(FirstIs(results, 0, 1)); /* results outlive the executable */
  shoal_results_free(results);
}

static void TestStop(void) {
  shoal_module *module = Parsed(kLoop);
  shoal_compile_options compile = SHOAL_INIT(shoal_compile_options);
  compile.engine = SHOAL_ENGINE_INTERPRETER;
  shoal_stop *stop = NULL;
  MUST(shoal_stop_new(&stop));
  compile.stop = stop;
  shoal_executable *executable = NULL;
  MUST(shoal_compile(module, &compile, &executable));
  const int64_t zero = 0;
  shoal_buffer *start = NULL;
  MUST(shoal_buffer_copy(&zero, sizeof(zero), shoal_type_parse("s64"), NULL, 0, &start));
  shoal_arguments arguments = SHOAL_INIT(shoal_arguments);
  arguments.arguments = &start;
  arguments.count = 1;
  double seconds = 0;
  shoal_execute_options options = SHOAL_INIT(shoal_execute_options);
  options.progress = OnProgress;
  options.user_data = &seconds;
  options.stop = stop;
  shoal_pending *pending = NULL;
  MUST(shoal_execute_async(executable, &arguments, &options, NULL, NULL, &pending));
  CHECK(shoal_pending_wait(pending, 0.3) == 0);
  shoal_pending_cancel(pending);
  CHECK(shoal_pending_wait(pending, 60) == 1);
  CHECK(seconds > 0);
  shoal_results *results = NULL;
  FAILS(SHOAL_ERROR_CANCELLED, shoal_pending_take(pending, &results));
  shoal_pending_free(pending);
  options.max_instructions = 1000;
  FAILS(SHOAL_ERROR_MODULE, shoal_execute(executable, &arguments, &options, &results));
  shoal_stop_request(stop);
  FAILS(SHOAL_ERROR_CANCELLED, shoal_execute(executable, &arguments, &options, &results));
  compile.engine = SHOAL_ENGINE_JIT;
  shoal_executable *none = NULL;
  FAILS(SHOAL_ERROR_CANCELLED, shoal_compile(module, &compile, &none));
  shoal_buffer_free(start);
  shoal_stop_free(stop);
  shoal_executable_free(executable);
  shoal_module_free(module);
}

int main(void) {
  CHECK(shoal_version() == 1);
  TestModules();
  TestOwnPackages();
  TestStructSizes();
  TestPasses();
  TestBuilder();
  TestEdit();
  TestFactsAndPredictions();
  TestBuffers();
  TestExecution();
  TestObservers();
  TestStop();
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
