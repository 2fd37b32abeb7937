#include "api/c/handles.h"
#include "shoal/report.h"

namespace shoal::internal {
namespace {

int64_t Rows(int64_t top, int64_t fallback) { return top == 0 ? fallback : top < 0 ? 0 : top; }

shoal::Result<shoal::View> ViewOf(const shoal::Facts& facts, int32_t view, const shoal_view_options& options) {
  const auto as_view = [](auto result) -> shoal::Result<shoal::View> {
    if (!result.ok()) return result.error();
    return static_cast<const shoal::View&>(*result);
  };
  if (view == SHOAL_VIEW_OUTLINE) {
    shoal::OutlineOptions outline;
    outline.depth = options.depth;
    if (options.all_ops != 0) outline.ops = shoal::OutlineOptions::Ops::kAll;
    return facts.outline(outline);
  }
  if (view == SHOAL_VIEW_COLLECTIVES) {
    shoal::CollectiveOptions collectives{.top = Rows(options.top, 20), .matrix = options.matrix != 0};
    if (options.devices_per_node != 0) collectives.devices_per_node = options.devices_per_node;
    if (options.sort != nullptr) collectives.sort = options.sort;
    return as_view(facts.collectives(collectives));
  }
  if (view == SHOAL_VIEW_COST) {
    shoal::CostOptions cost{.top = Rows(options.top, 20)};
    if (options.cost_by != nullptr) cost.by = options.cost_by;
    if (options.sort != nullptr) cost.sort = options.sort;
    return as_view(facts.cost(cost));
  }
  if (view == SHOAL_VIEW_MEMORY) return as_view(facts.memory({Rows(options.top, 10), Given(options.budget)}));
  return ArgumentError("unknown view");
}

}  // namespace
}  // namespace shoal::internal

using namespace shoal::internal;  // the functions below are C

extern "C" {

shoal_error* shoal_facts_new(const shoal_module* module, const shoal_fact_options* given, shoal_facts** out) {
  if (module == nullptr || out == nullptr) return Null("the module and out");
  return GuardedC([&]() -> shoal_error* {
    shoal_fact_options options;
    SHOAL_C_TRY(ReadStruct(given, options));
    shoal::FactOptions inner;
    inner.num_replicas = Given(options.num_replicas);
    inner.num_partitions = Given(options.num_partitions);
    if (options.backend != nullptr) inner.backend = options.backend;
    if (options.loop_count > 0 && options.trip_counts == nullptr) return Null("the trip counts");
    std::vector<std::string> loops, branches;
    SHOAL_C_TRY(ReadStrings(options.loops, options.loop_count, loops));
    SHOAL_C_TRY(ReadStrings(options.branches, options.branch_count, branches));
    if (!branches.empty() && options.probabilities == nullptr) return Null("the probabilities");
    for (size_t i = 0; i < loops.size(); ++i) inner.trip_counts[loops[i]] = options.trip_counts[i];
    for (size_t i = 0; i < branches.size(); ++i) inner.probabilities[branches[i]] = options.probabilities[i];
    auto facts = shoal::Facts::Of(module->value, inner);
    if (!facts.ok()) return MakeCError(facts.error());
    *out = new shoal_facts{std::move(*facts), {}, {}};
    return nullptr;
  });
}

void shoal_facts_free(shoal_facts* facts) { delete facts; }

shoal_error* shoal_facts_totals(const shoal_facts* facts, shoal_totals* out) {
  if (facts == nullptr) return Null("the facts");
  return GuardedC([&]() -> shoal_error* {
    const shoal::Totals totals = facts->value.totals();
    const shoal::Devices devices = facts->value.devices();
    shoal_totals info{};
    info.devices = devices.count;
    info.replicas = devices.replicas;
    info.partitions = devices.partitions;
    info.instructions = totals.instructions;
    info.flops = totals.flops;
    info.transcendentals = totals.transcendentals;
    info.bytes = totals.bytes;
    info.wire_bytes = totals.wire_bytes;
    info.collectives = totals.collectives;
    info.peak_memory = totals.peak_memory;
    return WriteStruct(info, out);
  });
}

shoal_error* shoal_facts_collective_count(const shoal_facts* facts, size_t* out) {
  if (facts == nullptr || out == nullptr) return Null("the facts and out");
  return GuardedC([&]() -> shoal_error* {
    *out = facts->Collectives().size();
    return nullptr;
  });
}

shoal_error* shoal_facts_collective_get(const shoal_facts* facts, size_t index, shoal_collective* out) {
  if (facts == nullptr) return Null("the facts");
  return GuardedC([&]() -> shoal_error* {
    const auto& all = facts->Collectives();
    if (index >= all.size()) return Wrong(StrCat("there are ", all.size(), " collectives, got index ", index));
    const shoal::Collective& one = all[index];
    shoal_collective info{};
    info.name = TextOf(one.instruction.name());
    info.kind = TextOf(one.kind);
    info.axis = TextOf(one.axis);
    info.executions = one.executions;
    info.payload_bytes = one.payload_bytes;
    info.wire_bytes = one.wire_bytes;
    info.ring_bytes = one.ring_bytes;
    info.group_count = one.group_count;
    info.group_size = one.group_size;
    info.is_async = one.is_async;
    return WriteStruct(info, out);
  });
}

shoal_error* shoal_facts_memory(const shoal_facts* facts, shoal_memory* out) {
  if (facts == nullptr) return Null("the facts");
  return GuardedC([&]() -> shoal_error* {
    const auto memory = facts->value.memory();
    if (!memory.ok()) return MakeCError(memory.error());
    return WriteStruct({0, memory->device_bytes, memory->peak_bytes, memory->argument_bytes, memory->output_bytes,
                        memory->constant_bytes, memory->temporary_bytes}, out);
  });
}

shoal_error* shoal_facts_text(const shoal_facts* facts, int32_t view, const shoal_view_options* given,
                               shoal_string** out) {
  if (facts == nullptr || out == nullptr) return Null("the facts and out");
  return GuardedC([&]() -> shoal_error* {
    shoal_view_options options;
    SHOAL_C_TRY(ReadStruct(given, options));
    const auto found = ViewOf(facts->value, view, options);
    return found.ok() ? Give(found->ToText({static_cast<size_t>(std::max<int64_t>(options.width, 0)), false}), out) : MakeCError(found.error());
  });
}

shoal_error* shoal_facts_json(const shoal_facts* facts, int32_t view, const shoal_view_options* given,
                               shoal_string** out) {
  if (facts == nullptr || out == nullptr) return Null("the facts and out");
  return GuardedC([&]() -> shoal_error* {
    shoal_view_options options;
    SHOAL_C_TRY(ReadStruct(given, options));
    const auto found = ViewOf(facts->value, view, options);
    return found.ok() ? Give(found->ToJson(), out) : MakeCError(found.error());
  });
}

shoal_error* shoal_module_fingerprint(const shoal_module* module, shoal_string** out) {
  if (module == nullptr || out == nullptr) return Null("the module and out");
  return GuardedC([&]() -> shoal_error* {
    auto fingerprint = shoal::Fingerprint(module->value);
    return fingerprint.ok() ? Give(std::move(*fingerprint), out) : MakeCError(fingerprint.error());
  });
}

shoal_error* shoal_diff_new(const shoal_facts* a, const shoal_facts* b, const shoal_diff_options* given,
                            shoal_diff** out) {
  if (a == nullptr || b == nullptr || out == nullptr) return Null("the facts and out");
  return GuardedC([&]() -> shoal_error* {
    shoal_diff_options options;
    SHOAL_C_TRY(ReadStruct(given, options));
    shoal::DiffOptions inner;
    SHOAL_C_TRY(ReadStrings(options.thresholds, options.threshold_count, inner.thresholds));
    auto diff = shoal::Diff(a->value, b->value, inner);
    if (!diff.ok()) return MakeCError(diff.error());
    *out = new shoal_diff{std::move(*diff)};
    return nullptr;
  });
}

size_t shoal_diff_count(const shoal_diff* diff) { return diff == nullptr ? 0 : diff->value.changes.size(); }
size_t shoal_diff_exceeded(const shoal_diff* diff) { return diff == nullptr ? 0 : diff->value.exceeded.size(); }

shoal_error* shoal_diff_get(const shoal_diff* diff, size_t index, shoal_change* out) {
  if (diff == nullptr) return Null("the difference");
  if (index >= diff->value.changes.size()) return Wrong("the index exceeds the number of changes");
  const shoal::Change& change = diff->value.changes[index];
  shoal_change info{};
  info.kind = TextOf(change.kind);
  if (change.a) info.a = TextOf(change.a->name());
  if (change.b) info.b = TextOf(change.b->name());
  info.what = TextOf(change.what);
  info.before = TextOf(change.before);
  info.after = TextOf(change.after);
  info.count = change.count;
  return WriteStruct(info, out);
}

shoal_error* shoal_diff_text(const shoal_diff* diff, shoal_string** out) {
  if (diff == nullptr || out == nullptr) return Null("the difference and out");
  return GuardedC([&] { return Give(diff->value.ToText(), out); });
}

shoal_error* shoal_diff_json(const shoal_diff* diff, shoal_string** out) {
  if (diff == nullptr || out == nullptr) return Null("the difference and out");
  return GuardedC([&] { return Give(diff->value.ToJson(), out); });
}

void shoal_diff_free(shoal_diff* diff) { delete diff; }

shoal_error* shoal_compare(const shoal_module* a, const shoal_module* b, const shoal_compare_options* given,
                           int32_t* agrees, shoal_string** json) {
  if (a == nullptr || b == nullptr || agrees == nullptr) return Null("the modules and agrees");
  return GuardedC([&]() -> shoal_error* {
    shoal_compare_options options;
    SHOAL_C_TRY(ReadStruct(given, options));
    if (options.input_mode < 0 || options.input_mode > SHOAL_INPUTS_DEVICE_ID) return Wrong("unknown input mode");
    shoal::CompareOptions inner;
    if (options.inputs != nullptr) inner.inputs.path = options.inputs;
    inner.inputs.mode = static_cast<shoal::InputMode>(options.input_mode);
    inner.inputs.seed = options.random_seed;
    if (options.has_bounds != 0) inner.atol = options.atol;
    if (options.has_bounds != 0) inner.rtol = options.rtol;
    SHOAL_C_TRY(ReadCompileOptions(options.compile, inner.compile));
    SHOAL_C_TRY(ReadExecuteOptions(options.execute, inner.execute));
    const auto comparison = shoal::Compare(a->value, b->value, inner);
    if (!comparison.ok()) return MakeCError(comparison.error());
    *agrees = comparison->agrees;
    return json == nullptr ? nullptr : Give(comparison->ToJson(), json);
  });
}

shoal_error* shoal_page(const shoal_facts* a, const shoal_facts* b, const shoal_page_options* given, shoal_string** out) {
  if (a == nullptr || out == nullptr) return Null("the facts and out");
  return GuardedC([&]() -> shoal_error* {
    shoal_page_options options;
    SHOAL_C_TRY(ReadStruct(given, options));
    shoal::PageOptions inner;
    for (size_t i = 0; i < options.machine_count; ++i) {
      if (options.machines == nullptr || options.machines[i] == nullptr) return Null("a machine");
      inner.machines.push_back(options.machines[i]->value);
    }
    SHOAL_C_TRY(ReadStrings(options.profiles, options.profile_count, inner.profiles));
    if (options.devices_per_node != 0) inner.devices_per_node = options.devices_per_node;
    inner.budget = Given(options.budget);
    auto page = shoal::Page(a->value, inner, b == nullptr ? nullptr : &b->value);
    return page.ok() ? Give(std::move(page->html), out) : MakeCError(page.error());
  });
}

}  // extern "C"
