// The sections about time: predicted time per instruction on the first machine, measured time, and traces.
#include <unordered_map>

#include "core/base/strings.h"
#include "predict/timeline/profile_match.h"
#include "present/page/page_trace.h"

namespace shoal::internal {
namespace {

// Finds instructions by name or kernel name. If several computations use a name, instructions that run as their own
// kernel take precedence.
class NamedInstructions {
 public:
  explicit NamedInstructions(const PageModule& page) {
    for (uint32_t id = 0; id < page.ids.size(); ++id)
      if (!IsCostedByCaller(*page.ids[id].parent, page.facts->executions().calls())) Add(page.ids[id].name, id);
    for (uint32_t id = 0; id < page.ids.size(); ++id) Add(page.ids[id].name, id);
  }
  int32_t operator()(std::string_view name) const {
    auto found = ids_.find(std::string(name));
    return found == ids_.end() ? -1 : static_cast<int32_t>(found->second);
  }

 private:
  void Add(std::string_view name, uint32_t id) {
    ids_.try_emplace(std::string(name), id);
    ids_.try_emplace(KernelName(name), id);
  }
  std::unordered_map<std::string, uint32_t> ids_;
};

int32_t IdOf(const PageModule& page, const Instruction* hlo) {
  return hlo == nullptr ? -1 : static_cast<int32_t>(page.ids(*hlo));
}

// The instruction as a row of the page: for an instruction of a fusion that the prediction took apart, the fusion.
uint32_t RowOf(const PageModule& page, const Instruction& hlo) {
  const Instruction* row = &hlo;
  for (int depth = 0; depth < 64 && IsCostedByCaller(*row->parent, page.facts->executions().calls()); ++depth) {
    const auto callers = page.facts->executions().calls().CallersOf(*row->parent);
    if (callers.empty()) break;
    row = callers.front();
  }
  return page.ids(*row);
}

// The time that the step waits for each instruction: the full time of a kernel, the exposed time of a collective.
void AddSeconds(const PageModule& page, PageSection& section) {
  std::vector<double> seconds(page.ids.size(), 0), async_seconds(page.ids.size(), 0);
  const SimulatedStep& prediction = page.forecasts.front().prediction;
  for (const OpTime& op : prediction.ops) seconds[RowOf(page, *op.hlo)] += op.seconds;
  for (const AsyncTime& time : prediction.asyncs) {
    seconds[page.ids(*time.async->start)] += time.exposed;
    async_seconds[page.ids(*time.async->start)] += time.seconds;
  }
  section.Add("seconds", seconds);
  section.Add("async_seconds", async_seconds);
}

// The measured time of each instruction in a profile, per step.
std::vector<double> MeasuredSeconds(const PageModule& page, const ProfileComparison& against) {
  std::vector<double> measured(page.ids.size(), 0);
  for (const MeasuredOp& op : against.ops) measured[page.ids(*op.hlo)] += op.measured;
  return measured;
}

}  // namespace

void AddTimeSections(PageModule& page, const std::string& prefix, PageSections& sections) {
  int index = 0;
  auto next = [&]() -> PageSection& { return sections.Add(prefix + "trace." + std::to_string(index++)); };
  for (const Prediction& forecast : page.forecasts) {
    const Trace& trace = forecast.prediction.trace;
    AddTrace(page, {forecast.machine.name, trace, true, 1, [&](size_t i) { return IdOf(page, trace.events[i].hlo); }}, next());
  }
  // With a prediction, CompareWith matches events (also library kernels) to instructions; without one, names do.
  std::vector<double> measured;  // from the first profile
  for (const auto& [name, trace] : page.measured) {
    if (page.forecasts.empty()) {
      const NamedInstructions named(page);
      AddTrace(page, {name, trace, false, 1, [&, &events = trace.events](size_t i) { return named(events[i].name); }}, next());
      continue;
    }
    const ProfileComparison against = CompareWith(page.forecasts.front().prediction, trace);
    if (const std::string reason = WhyProfileDiffers(against); !reason.empty()) {
      page.assumptions.push_back(StrCat(name, " is probably not a profile of this module: ", reason));
    } else if (measured.empty()) {
      measured = MeasuredSeconds(page, against);
    }
    AddTrace(page, {name, trace, false, against.steps, [&](size_t i) { return IdOf(page, against.owners[i]); }}, next());
  }
  if (page.forecasts.empty()) return;
  PageSection& section = sections.Add(prefix + "time");
  AddSeconds(page, section);
  if (!measured.empty()) section.Add("measured", measured);
}

}  // namespace shoal::internal
