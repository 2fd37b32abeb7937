#include "api/c/handles.h"
#include "shoal/report.h"

namespace shoal::internal {
namespace {

shoal::Result<shoal::View> ViewOf(const shoal::Facts& facts, shoal_view view) {
  const auto as_view = [](auto result) -> shoal::Result<shoal::View> {
    if (!result.ok()) return result.error();
    return static_cast<const shoal::View&>(*result);
  };
  if (view == SHOAL_VIEW_OUTLINE) return facts.outline();
  if (view == SHOAL_VIEW_COLLECTIVES) return as_view(facts.collectives());
  if (view == SHOAL_VIEW_COST) return as_view(facts.cost());
  if (view == SHOAL_VIEW_MEMORY) return as_view(facts.memory());
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
    if (options.loop_count > 0 && (options.loops == nullptr || options.trip_counts == nullptr)) return Null("loops and trip_counts");
    for (size_t i = 0; i < options.loop_count; ++i) inner.trip_counts[options.loops[i]] = options.trip_counts[i];
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

shoal_error* shoal_facts_text(const shoal_facts* facts, shoal_view view, shoal_string** out) {
  if (facts == nullptr || out == nullptr) return Null("the facts and out");
  return GuardedC([&]() -> shoal_error* {
    const auto found = ViewOf(facts->value, view);
    return found.ok() ? Give(found->ToText(), out) : MakeCError(found.error());
  });
}

shoal_error* shoal_facts_json(const shoal_facts* facts, shoal_view view, shoal_string** out) {
  if (facts == nullptr || out == nullptr) return Null("the facts and out");
  return GuardedC([&]() -> shoal_error* {
    const auto found = ViewOf(facts->value, view);
    return found.ok() ? Give(found->ToJson(), out) : MakeCError(found.error());
  });
}

shoal_error* shoal_diff_new(const shoal_facts* a, const shoal_facts* b, shoal_diff** out) {
  if (a == nullptr || b == nullptr || out == nullptr) return Null("the facts and out");
  return GuardedC([&]() -> shoal_error* {
    auto diff = shoal::Diff(a->value, b->value);
    if (!diff.ok()) return MakeCError(diff.error());
    *out = new shoal_diff{std::move(*diff)};
    return nullptr;
  });
}

size_t shoal_diff_count(const shoal_diff* diff) { return diff == nullptr ? 0 : diff->value.changes.size(); }

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

shoal_error* shoal_compare(const shoal_module* a, const shoal_module* b, int32_t* agrees, shoal_string** json) {
  if (a == nullptr || b == nullptr || agrees == nullptr) return Null("the modules and agrees");
  return GuardedC([&]() -> shoal_error* {
    const auto comparison = shoal::Compare(a->value, b->value);
    if (!comparison.ok()) return MakeCError(comparison.error());
    *agrees = comparison->agrees;
    return json == nullptr ? nullptr : Give(comparison->ToJson(), json);
  });
}

shoal_error* shoal_page(const shoal_facts* a, const shoal_facts* b, const shoal_machine* const* machines,
                        size_t machine_count, shoal_string** out) {
  if (a == nullptr || out == nullptr || (machines == nullptr && machine_count > 0)) return Null("the facts, machines and out");
  return GuardedC([&]() -> shoal_error* {
    shoal::PageOptions options;
    for (size_t i = 0; i < machine_count; ++i) options.machines.push_back(machines[i]->value);
    auto page = shoal::Page(a->value, options, b == nullptr ? nullptr : &b->value);
    return page.ok() ? Give(std::move(*page), out) : MakeCError(page.error());
  });
}

}  // extern "C"
