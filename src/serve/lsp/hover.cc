// The hover text of instructions and computations, as Markdown.
#include <algorithm>

#include "analyze/facts/source_lines.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ir/common_attrs.h"
#include "core/ir/sizes.h"
#include "core/ops/meanings.h"
#include "core/ops/traits.h"
#include "present/reports/time_report.h"
#include "serve/lsp/features.h"
#include "serve/lsp/sharding_picture.h"
#include "serve/lsp/source_stack.h"

namespace shoal::internal {
namespace {

void AddCost(const ModuleAnalysis& analysis, const Instruction& hlo, std::string& text) {
  const InstructionCost* cost = analysis.CostOf(hlo);
  if (cost == nullptr) return;
  if (cost->unknown) {
    text += "- cost: unknown custom call\n";
    return;
  }
  const Cost& once = cost->once;
  StrAppend(&text, "- cost: ", FormatSi(once.flops), " flops, ", FormatBytes(once.bytes()), " per execution");
  if (cost->times != 1) StrAppend(&text, ", ", FormatSi(cost->times), " executions per step");
  if (const double total = analysis.facts()->cost().total.flops; total > 0 && once.flops > 0)
    StrAppend(&text, ", ", Percent(once.flops * cost->times, total), " of all flops");
  text += "\n";
}

void AddTime(const ModuleAnalysis& analysis, const Instruction& hlo, std::string& text) {
  if (analysis.prediction() == nullptr) return;
  const Prediction& prediction = *analysis.prediction();
  const double step = prediction.prediction.step_seconds;
  if (const OpTime* time = analysis.TimeOf(hlo))
    StrAppend(&text, "- predicted on ", prediction.machine.name, ": ", Seconds(time->seconds), " per step, ",
              Percent(time->seconds, step), " of ", Seconds(step), "\n");
  if (const AsyncTime* time = analysis.AsyncTimeOf(hlo))
    StrAppend(&text, "- predicted on ", prediction.machine.name, ": ", Seconds(time->seconds), " per step, ",
              Seconds(time->exposed), " exposed\n");
}

void AddCollective(const ModuleAnalysis& analysis, const Instruction& hlo, std::string& text) {
  const LogicalCollective* collective = analysis.CollectiveOf(hlo);
  if (collective == nullptr) return;
  const std::string axis = collective->axis();
  StrAppend(&text, "- groups: ", axis.empty() ? "none" : axis);
  if (analysis.facts()->collectives().mesh) StrAppend(&text, " of the mesh ", analysis.facts()->collectives().mesh->ToText());
  StrAppend(&text, "\n- payload: ", FormatBytes(static_cast<double>(collective->payload_bytes)), ", wire: ",
            FormatBytes(static_cast<double>(collective->MaxRingBytes())), " received per device and execution (ring), ",
            FormatSi(collective->times), " executions per step\n");
  if (!collective->async()) {
    text += "- overlap: none, the collective is synchronous\n";
    return;
  }
  const Overlap overlap = analysis.OverlapOf(*collective);
  StrAppend(&text, "- overlap: ", Pluralize(overlap.instructions, "op"), ", ", FormatSi(overlap.flops), " flops",
            overlap.crosses_iteration ? ", into the next iteration" : "", "\n");
}

void AddSharding(const Instruction& hlo, std::string& text) {
  const Sharding* sharding = hlo[kSharding];
  if (sharding == nullptr) return;
  text += "- sharding: `";
  AppendSharding(text, *sharding);
  text += "`\n";
  if (const std::string picture = ShardingPicture(*sharding, hlo.shape()); !picture.empty())
    StrAppend(&text, "\n```text\n", picture, "```\n");
}

void AddLoop(const ModuleAnalysis& analysis, const Instruction& hlo, std::string& text) {
  if (!IsLoop(hlo)) return;
  const TripCount* trips = analysis.executions().FindTripCount(hlo);
  if (trips == nullptr) return;
  StrAppend(&text, "- trip count: ", trips->known() ? StrCat(trips->count) : std::string("depends on data"), "\n");
}

void AddMemory(const ModuleAnalysis& analysis, const Instruction& hlo, std::string& text) {
  if (analysis.memory() == nullptr) return;
  const ModuleMemory& memory = *analysis.memory();
  if (memory.at_peak == &hlo)
    StrAppend(&text, "- the device's memory is at its peak here: ", FormatBytes(static_cast<double>(memory.device.peak)), "\n");
  int64_t live = 0;
  for (const LiveBuffer& buffer : memory.live_at_peak)
    if (buffer.hlo == &hlo) live += buffer.bytes;
  if (live > 0) StrAppend(&text, "- live at the peak of memory: ", FormatBytes(static_cast<double>(live)), "\n");
}

void AddSource(const View& view, const Instruction& hlo, std::string& text) {
  if (const Metadata* metadata = hlo[kMetadata]; metadata != nullptr && !metadata->op_name.empty())
    StrAppend(&text, "- op_name: `", metadata->op_name, "`\n");
  const std::vector<SourceFrame> frames = SourceFramesOf(view, hlo);
  if (frames.empty()) return;
  const ModuleAnalysis* analysis = view.snapshot->analysis();
  StrAppend(&text, "- source: `", analysis == nullptr ? FormatFrame(frames[0]) : analysis->facts()->sources().Of(hlo), "`\n");
  constexpr size_t kMaxShown = 8;
  for (size_t i = 0; i < std::min(frames.size(), kMaxShown); ++i)
    StrAppend(&text, "  - `", frames[i].file, ":", frames[i].line, "`",
              frames[i].function.empty() ? "" : StrCat(" in ", frames[i].function), "\n");
}

// The definition as it is written.
std::string WrittenText(const TextIndex& index, const IndexedInstruction& written) {
  const std::string_view shape = index.TextOf(written.shape), opcode = index.TextOf(written.opcode);
  if (!index.is_stablehlo()) return StrCat("```hlo\n", index.NameOf(written), " = ", shape, " ", opcode, "\n```\n");
  return StrCat("```mlir\n", index.TextOf(written.name), opcode.empty() ? "" : " = ", opcode, " : ", shape, "\n```\n");
}

std::string TextOfInstruction(const View& view, const IndexedInstruction& written, const Instruction& hlo) {
  std::string text = view.index().is_stablehlo() ? WrittenText(view.index(), written) : "";
  StrAppend(&text, "```hlo\n", hlo.name, " = ", ToString(hlo.shape(), true), " ", OpcodeTextOf(hlo), "\n```\n");
  if (const std::string_view meaning = MeaningOf(hlo.opcode); !meaning.empty())
    StrAppend(&text, "**", OpcodeTextOf(hlo), "**: ", meaning, "\n\n");
  const double bytes = static_cast<double>(HostBytesOf(hlo.shape()));
  const ModuleAnalysis* analysis = view.snapshot->analysis();
  StrAppend(&text, "- size: ", FormatBytes(bytes));
  if (analysis != nullptr) StrAppend(&text, ", ", Pluralize(analysis->UserCountOf(hlo), "user"));
  text += "\n";
  if (analysis != nullptr) {
    AddLoop(*analysis, hlo, text);
    AddCollective(*analysis, hlo, text);
    AddCost(*analysis, hlo, text);
    AddTime(*analysis, hlo, text);
    AddMemory(*analysis, hlo, text);
  }
  AddSharding(hlo, text);
  AddSource(view, hlo, text);
  return text;
}

std::string TextOfComputation(const View& view, const IndexedComputation& written) {
  const TextIndex& index = view.index();
  std::string text = StrCat("```hlo\n", written.is_entry ? "ENTRY " : "", index.NameOf(written), "\n```\n",
                            Pluralize(written.last - written.first, "instruction"), "\n");
  const ModuleAnalysis* analysis = view.snapshot->analysis();
  const Computation* computation = view.snapshot->ComputationOf(written);
  if (analysis == nullptr || computation == nullptr) return text;
  StrAppend(&text, "- executions per step: ", FormatSi(analysis->executions().Of(*computation)), "\n");
  constexpr size_t kMaxCallers = 8;
  size_t shown = 0;
  for (const Instruction* caller : analysis->executions().calls().CallersOf(*computation)) {
    if (++shown > kMaxCallers) break;
    StrAppend(&text, "- called by `", caller->name, "` (", OpcodeTextOf(*caller));
    if (const TripCount* trips = IsLoop(*caller) ? analysis->executions().FindTripCount(*caller) : nullptr)
      StrAppend(&text, ", ", trips->known() ? StrCat(trips->count, " iterations") : std::string("unknown trip count"));
    StrAppend(&text, ") in `", caller->parent->name, "`\n");
  }
  return text;
}

json Markdown(const View& view, std::string text, TextSpan at) {
  return {{"contents", {{"kind", "markdown"}, {"value", std::move(text)}}}, {"range", view.RangeOf(at)}};
}

bool Contains(TextSpan span, uint32_t offset) {
  return span.known() && offset >= span.offset && offset <= span.offset + span.length;
}

std::string TextWithoutModule(const TextIndex& index, const IndexedInstruction& hlo) {
  std::string text = WrittenText(index, hlo);
  if (const std::string_view meaning = MeaningOf(index.OpcodeOf(hlo)); !meaning.empty()) text += meaning;
  return text;
}

}  // namespace

json HoverAt(const View& view, uint32_t offset) {
  const TextIndex& index = view.index();
  const NameReference* reference = index.ReferenceAt(offset);
  if (reference != nullptr && reference->target == NameReference::kNone) return nullptr;
  if (reference != nullptr && reference->is_computation)
    return Markdown(view, TextOfComputation(view, index.computations()[reference->target]), reference->at);
  const IndexedInstruction* written = index.InstructionAt(offset);
  TextSpan at;
  if (reference != nullptr) {
    written = &index.instructions()[reference->target];
    at = reference->at;
  } else if (written != nullptr && Contains(written->opcode, offset)) {
    at = written->opcode;
  } else if (written != nullptr && Contains(written->shape, offset)) {
    at = written->shape;
  } else {
    return nullptr;
  }
  const Instruction* hlo = view.snapshot->InstructionOf(*written);
  return Markdown(view, hlo == nullptr ? TextWithoutModule(index, *written) : TextOfInstruction(view, *written, *hlo), at);
}

}  // namespace shoal::internal
