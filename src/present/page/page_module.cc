#include "present/page/page_module.h"

#include "analyze/facts/op_paths.h"
#include "analyze/facts/source_lines.h"
#include "analyze/summary/module_role.h"
#include "analyze/summary/program_rows.h"
#include "analyze/summary/totals.h"
#include "analyze/summary/work_kind.h"
#include "core/base/strings.h"
#include "core/ir/source_location.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "formats/text/printer.h"
#include "nlohmann/json.hpp"

namespace shoal::internal {
namespace {

using Json = nlohmann::ordered_json;

std::string FileName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// The label of an instruction: "dot + bias", "all-reduce", the target of a custom call.
std::string RowLabelOf(const Instruction& hlo, const FusionWorks& works) {
  const Instruction& op = Unwrapped(hlo);
  if (IsFusion(op)) return works.Of(op).label;
  const std::string_view target = TargetOf(op);
  return IsCustomCall(op) && !target.empty() ? std::string(target) : LabelOf(op, works);
}

// The Python stack of an instruction, innermost frame first, one "model.py:12 in layer" per line.
std::string StackText(const Metadata* metadata, const StackFrames& frames) {
  constexpr size_t kMaxFrames = 40;
  std::string text;
  if (metadata == nullptr) return text;
  const std::vector<SourceFrame> stack = StackOf(frames, metadata->stack_frame_id);
  for (size_t i = 0; i < stack.size() && i < kMaxFrames; ++i) {
    StrAppend(&text, i == 0 ? "" : "\n", stack[i].file, ":", stack[i].line);
    if (!stack[i].function.empty()) StrAppend(&text, " in ", stack[i].function);
  }
  return text;
}

// The columns of all instructions, in id order.
class InstructionColumns {
 public:
  InstructionColumns(PageModule& page, StringTable& strings) : page_(page), strings_(strings) {
    const size_t count = page.ids.size();
    for (size_t c = 0; c < page.module.computations.size(); ++c)
      computation_of_[page.module.computations[c]] = static_cast<uint32_t>(c);
    times_.assign(count, 0);
    flops_ = transcendentals_ = read_ = written_ = wire_ = times_;
    step_.assign(count, -1);
    flags_.assign(count, 0);
    for (uint32_t id = 0; id < count; ++id) AddInstruction(page.ids[id]);
    AddCosts();
  }

  void WriteTo(PageSection& section) const {
    section.Add("name", name_);
    section.Add("computation", computation_);
    section.Add("opcode", opcode_);
    section.Add("label", label_);
    section.Add("kind", kind_);
    section.Add("flags", flags_);
    section.Add("type", type_);
    section.Add("scope", scope_);
    section.Add("module", module_path_);
    section.Add("source", source_);
    section.Add("stack", stack_);
    section.Add("operand_end", operand_end_);
    section.Add("operand_back", operand_back_);
    section.Add("call_end", call_end_);
    section.Add("call", call_);
    section.Add("times", times_);
    section.Add("flops", flops_);
    section.Add("transcendentals", transcendentals_);
    section.Add("read", read_);
    section.Add("written", written_);
    section.Add("wire", wire_);
    section.Add("step", step_);
  }

 private:
  enum Flag : uint8_t { kUnknownCost = 1 };

  void AddInstruction(const Instruction& hlo) {
    const uint32_t id = page_.ids(hlo);
    name_.emplace_back(hlo.name);
    computation_.push_back(computation_of_.at(hlo.parent));
    opcode_.push_back(strings_(OpcodeTextOf(hlo)));
    label_.push_back(strings_(RowLabelOf(hlo, page_.facts->fusion_works())));
    kind_.push_back(static_cast<uint8_t>(WorkKindOf(hlo, page_.facts->fusion_works())));
    type_.push_back(strings_(TypeOf(hlo.shape())));
    const Metadata* metadata = hlo[kMetadata];
    scope_.push_back(strings_(metadata == nullptr ? "" : metadata->op_name));
    module_path_.push_back(strings_(metadata == nullptr ? "" : ModulePathOf(metadata->op_name)));
    source_.push_back(strings_(page_.facts->sources().Of(hlo)));
    stack_.push_back(strings_(StackText(metadata, page_.module.stack_frames)));
    for (const Instruction* operand : hlo.operands) operand_back_.push_back(id - page_.ids(*operand));
    operand_end_.push_back(static_cast<uint32_t>(operand_back_.size()));
    if (CallsComputations(hlo))
      for (const Computation* callee : CalledComputations(hlo))
        // A module that was parsed leniently may refer to an undefined computation.
        if (auto found = computation_of_.find(callee); found != computation_of_.end()) call_.push_back(found->second);
    call_end_.push_back(static_cast<uint32_t>(call_.size()));
    times_[id] = page_.facts->executions().Of(hlo);
  }

  const std::string& TypeOf(const Shape& shape) {
    std::string& text = types_[&shape];
    if (text.empty()) text = ToString(shape);
    return text;
  }

  void AddCosts() {
    for (const InstructionCost& cost : page_.facts->cost().instructions) {
      const uint32_t id = page_.ids(*cost.hlo);
      flops_[id] = cost.once.flops * cost.times;
      transcendentals_[id] = cost.once.transcendentals * cost.times;
      read_[id] = cost.once.bytes_read * cost.times;
      written_[id] = cost.once.bytes_written * cost.times;
      if (cost.unknown) flags_[id] |= kUnknownCost;
    }
    for (const LogicalCollective& use : page_.facts->collectives().all)
      wire_[page_.ids(*use.start)] += use.times * static_cast<double>(use.MaxWireBytes());
    for (size_t step = 0; step < page_.facts->memory().steps.size(); ++step)
      step_[page_.ids(*page_.facts->memory().steps[step])] = static_cast<int32_t>(step);
  }

  PageModule& page_;
  StringTable& strings_;
  std::unordered_map<const Computation*, uint32_t> computation_of_;
  std::unordered_map<const Shape*, std::string> types_;
  std::vector<std::string> name_;
  std::vector<uint32_t> computation_, opcode_, label_, type_, scope_, module_path_, source_, stack_, operand_end_, operand_back_, call_end_,
      call_;
  std::vector<uint8_t> kind_, flags_;
  std::vector<double> times_, flops_, transcendentals_, read_, written_, wire_;
  std::vector<int32_t> step_;
};

void AddComputations(const PageModule& page, StringTable& strings, PageSection& section) {
  std::vector<uint32_t> name, count;
  std::vector<double> times;
  for (const Computation* computation : page.module.computations) {
    name.push_back(strings(computation->name));
    count.push_back(static_cast<uint32_t>(computation->instructions.size()));
    times.push_back(page.facts->executions().Of(*computation));
  }
  section.Add("name", name);
  section.Add("instructions", count);
  section.Add("times", times);
}

void AddRows(PageModule& page, StringTable& strings, PageSection& section) {
  std::vector<uint8_t> kind;
  std::vector<int32_t> parent;
  std::vector<uint32_t> label, repeats, member_end, member;
  for (const ProgramRow& row :
       page.facts->rows()) {
    kind.push_back(static_cast<uint8_t>(row.kind));
    parent.push_back(row.parent);
    label.push_back(strings(row.label));
    repeats.push_back(static_cast<uint32_t>(std::min<int64_t>(row.repeats, UINT32_MAX)));
    member.insert(member.end(), row.members.begin(), row.members.end());
    member_end.push_back(static_cast<uint32_t>(member.size()));
  }
  section.Add("kind", kind);
  section.Add("parent", parent);
  section.Add("label", label);
  section.Add("repeats", repeats);
  section.Add("member_end", member_end);
  section.Add("member", member);
}

// The loops reachable from the entry, with their trip counts; -1: unknown.
Json LoopsOf(const PageModule& page) {
  Json loops = Json::array();
  for (const Computation* computation : page.facts->executions().calls().ReachableFromEntry())
    for (const Instruction* hlo : computation->instructions)
      if (CallsComputations(*hlo) && CallKindOf(*hlo) == CallKind::kLoop)
        if (const TripCount* trips = page.facts->executions().FindTripCount(*hlo))
          loops.push_back({page.ids(*hlo), trips->known() ? trips->count : -1});
  return loops;
}

Json MemoryOf(const SpaceMemory& space) {
  return {{"arguments", space.arguments}, {"outputs", space.outputs},         {"aliased", space.aliased},
          {"constants", space.constants}, {"temporaries", space.temporaries}, {"live", space.live},
          {"peak", space.peak}};
}

// The machines of the predictions.
Json MachinesOf(const PageModule& page) {
  Json all = Json::array();
  for (const Prediction& forecast : page.forecasts) {
    const DeviceModel& device = forecast.machine.device;
    Json kinds = Json::array();
    for (size_t i = 0; i < kTimeKinds; ++i)
      kinds.push_back({{"name", ToString(static_cast<TimeKind>(i))}, {"seconds", forecast.prediction.kinds[i]}});
    all.push_back({{"name", forecast.machine.name},
                   {"step_seconds", forecast.prediction.step_seconds},
                   {"device_seconds", forecast.prediction.device_seconds},
                   {"capacity", device.memory},
                   {"peak_flops", std::max(device.peak.bf16, device.peak.f32)},
                   {"bandwidth", device.bandwidth},
                   {"mfu", forecast.mfu},
                   {"hfu", forecast.hfu},
                   {"mismatch", forecast.backend_mismatch},
                   {"by_kind", std::move(kinds)}});
  }
  return all;
}

Json SummaryJson(const PageModule& page) {
  static constexpr const char* kBackends[] = {"cpu", "gpu", "tpu"};
  Json mesh = Json::array();
  if (page.facts->collectives().mesh)
    for (const DeviceMesh::Axis& axis : page.facts->collectives().mesh->Axes())
      mesh.push_back({{"name", axis.name}, {"size", axis.size}, {"stride", axis.stride}});
  return {{"name", page.module.name},
          {"role", ToString(RoleOf(*page.facts))},
          {"line", MainLineOf(*page.facts)},
          {"file", page.file},
          {"scheduled", page.module.is_scheduled},
          {"backend", kBackends[static_cast<size_t>(page.facts->memory().backend)]},
          {"devices", page.facts->devices().grid.count()},
          {"devices_from", page.facts->devices().from},
          {"devices_per_node", page.devices_per_node},
          {"mesh", std::move(mesh)},
          {"totals",
           {{"flops", page.facts->cost().total.flops},
            {"transcendentals", page.facts->cost().total.transcendentals},
            {"read", page.facts->cost().total.bytes_read},
            {"written", page.facts->cost().total.bytes_written},
            {"wire", page.facts->totals().wire_bytes}}},
          {"memory", MemoryOf(page.facts->memory().device)},
          {"needed", DeviceBytes(page.facts->memory())},
          {"budget", page.budget},
          {"at_peak", page.facts->memory().at_peak == nullptr ? Json() : Json(page.ids(*page.facts->memory().at_peak))},
          {"machines", MachinesOf(page)},
          {"loops", LoopsOf(page)},
          {"assumptions", page.assumptions}};
}

}  // namespace

PageModule::PageModule(const std::string& path, std::shared_ptr<const ModuleFacts> facts)
    : file(FileName(path)), facts(std::move(facts)), module(this->facts->module()), ids(this->facts->ids()) {}

void AddModuleSections(PageModule& page, const std::string& prefix, PageSections& sections) {
  StringTable strings;
  strings("");  // index 0
  PageSection& about = sections.Add(prefix + "about");
  about.Add("json", {SummaryJson(page).dump(-1, ' ', false, Json::error_handler_t::replace)});
  PageSection& string_section = sections.Add(prefix + "strings");
  const InstructionColumns columns(page, strings);
  columns.WriteTo(sections.Add(prefix + "instr"));
  AddComputations(page, strings, sections.Add(prefix + "computations"));
  AddRows(page, strings, sections.Add(prefix + "rows"));
  AddCommSections(page, prefix, strings, sections);
  AddMemorySections(page, prefix, strings, sections);
  AddTimeSections(page, prefix, sections);
  sections.Add(prefix + "text").Add("lines", {PrintInstructions(page.module)});
  string_section.Add("string", strings.all());
}

}  // namespace shoal::internal
