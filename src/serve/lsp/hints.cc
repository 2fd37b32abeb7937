// Inlay hints and code lenses.
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ops/traits.h"
#include "present/reports/time_report.h"
#include "serve/lsp/features.h"

namespace shoal::internal {
namespace {

constexpr double kMinShare = 0.01;  // smaller shares of the step's time get no hint

// The hints of one instruction, joined: "× 4, 384 B, 12 %".
std::string HintOf(const View& view, const ModuleAnalysis& analysis, const Instruction& hlo) {
  std::vector<std::string> parts;
  const LspSettings& settings = view.settings;
  if (settings.trip_counts && IsLoop(hlo))
    if (const TripCount* trips = analysis.executions().FindTripCount(hlo))
      parts.push_back(trips->known() ? StrCat("× ", trips->count) : "× ?");
  const LogicalCollective* collective = analysis.CollectiveOf(hlo);
  if (settings.collective_bytes && collective != nullptr && collective->start == &hlo)
    parts.push_back(StrCat(FormatBytes(static_cast<double>(collective->MaxRingBytes())), " over ", collective->axis()));
  if (settings.memory_peak && analysis.memory() != nullptr && analysis.memory()->at_peak == &hlo)
    parts.push_back(StrCat("memory peak ", FormatBytes(static_cast<double>(analysis.memory()->device.peak))));
  const OpTime* time = settings.time_share ? analysis.TimeOf(hlo) : nullptr;
  if (time != nullptr) {
    const double step = analysis.prediction()->prediction.step_seconds;
    if (time->seconds >= kMinShare * step) parts.push_back(Percent(time->seconds, step));
  }
  return StrJoin(parts, ", ");
}

}  // namespace

json InlayHintsOf(const View& view, TextSpan range) {
  constexpr int kTypeHint = 1;
  json hints = json::array();
  const ModuleAnalysis* analysis = view.snapshot->analysis();
  if (analysis == nullptr) return hints;
  const std::span<const IndexedInstruction> all = view.index().instructions();
  auto at = std::partition_point(all.begin(), all.end(),
                                 [&](const IndexedInstruction& hlo) { return hlo.whole.offset < range.offset; });
  for (; at != all.end() && at->whole.offset <= range.offset + range.length; ++at) {
    const Instruction* hlo = at->opcode.known() ? view.snapshot->InstructionOf(*at) : nullptr;
    if (hlo == nullptr) continue;
    if (std::string label = HintOf(view, *analysis, *hlo); !label.empty())
      hints.push_back({{"position", view.PositionOf(at->opcode.offset)},
                       {"label", std::move(label)},
                       {"kind", kTypeHint},
                       {"paddingRight", true}});
  }
  return hints;
}

json CodeLensesOf(const View& view) {
  json lenses = json::array();
  const ModuleAnalysis* analysis = view.snapshot->analysis();
  if (analysis == nullptr || !view.settings.code_lenses) return lenses;
  for (const IndexedComputation& written : view.index().computations()) {
    const Computation* computation = view.snapshot->ComputationOf(written);
    if (computation == nullptr) continue;
    std::string title = Pluralize(std::ssize(computation->instructions), "instruction");
    if (written.is_entry) {
      StrAppend(&title, " on ", analysis->facts()->devices().from, ", ", FormatSi(analysis->facts()->cost().total.flops), " flops");
      if (analysis->memory() != nullptr)
        StrAppend(&title, ", peak ", FormatBytes(static_cast<double>(analysis->memory()->device.peak)));
      if (const Prediction* prediction = analysis->prediction())
        StrAppend(&title, ", ", Seconds(prediction->prediction.step_seconds), " on ", prediction->machine.name);
      if (!analysis->prediction_error().empty()) StrAppend(&title, ", no prediction: ", analysis->prediction_error());
    } else {
      StrAppend(&title, ", × ", FormatSi(analysis->executions().Of(*computation)), " per step");
    }
    lenses.push_back({{"range", view.RangeOf(written.name)}, {"command", {{"title", title}, {"command", ""}}}});
  }
  return lenses;
}

}  // namespace shoal::internal
