#include "present/page/findings.h"

#include <cctype>
#include <map>

#include "analyze/cost/overlap.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ir/module_shardings.h"
#include "core/ops/op.h"
#include "present/page/page_text.h"

namespace shoal::internal {
namespace {

void AddUnknown(const PageModule& page, std::vector<Finding>& all) {
  for (const auto& [target, count] : page.facts->cost().unknown_calls)
    all.push_back({StrCat(Pluralize(count, "custom call"), " of ", target, ": unknown cost"),
                   "program&q=opcode:custom-call"});
  for (const Instruction* loop : page.facts->executions().unknown_loops())
    all.push_back({StrCat("the loop ", loop->name, " has an unknown trip count and counts as one iteration"),
                   StrCat("program&", AddressOf(*loop))});
}

// Groups of equivalent small collectives, whose time is dominated by latency.
void AddSmallCollectives(const PageModule& page, std::vector<Finding>& all) {
  constexpr int64_t kSmall = 64 * 1024;
  constexpr double kMany = 32;
  std::map<std::pair<Opcode, int64_t>, double> counts;  // executions by kind and payload
  for (const LogicalCollective& use : page.facts->collectives().all)
    if (use.payload_bytes <= kSmall) counts[{use.kind, use.payload_bytes}] += use.times;
  for (const auto& [key, count] : counts)
    if (count >= kMany)
      all.push_back({StrCat(Grouped(static_cast<int64_t>(count)), " × ", Text(key.first), " of ",
                            ShortBytes(static_cast<double>(key.second)), " per step: latency-bound, could be combined"),
                     StrCat("communication&q=", Text(key.first))});
}

void AddExposed(const PageModule& page, std::vector<Finding>& all) {
  int64_t sync = 0, exposed = 0, first_exposed = -1;
  const auto& uses = page.facts->collectives().all;
  for (size_t i = 0; i < uses.size(); ++i) {
    if (!uses[i].async()) {
      ++sync;
    } else if (page.facts->overlaps()[i].nothing()) {
      if (exposed++ == 0) first_exposed = static_cast<int64_t>(i);
    }
  }
  const auto count = Grouped(static_cast<int64_t>(uses.size()));
  if (sync > 0)
    all.push_back({StrCat(Grouped(static_cast<int64_t>(sync)), " of ", count, uses.size() == 1 ? " collective is" : " collectives are",
                          " synchronous: no computation overlaps them"),
                   "communication"});
  if (exposed > 0)
    all.push_back({StrCat(Grouped(static_cast<int64_t>(exposed)), " of ", count,
                          " collectives are async, but nothing is scheduled between start and done"),
                   StrCat("program&", AddressOf(*uses[static_cast<size_t>(first_exposed)].start))});
}

// Collectives that the step waits for.
void AddWaitedFor(const PageModule& page, std::vector<Finding>& all) {
  if (page.forecasts.empty()) return;
  const Prediction& forecast = page.forecasts.front();
  const double step = forecast.prediction.step_seconds;
  constexpr double kMin = 0.02;
  constexpr size_t kMax = 3;
  size_t shown = 0;
  for (const AsyncTime& time : forecast.prediction.asyncs)
    if (time.exposed > kMin * step && shown++ < kMax)
      all.push_back({StrCat("on ", forecast.machine.name, ", the step waits ", ShortSeconds(time.exposed), " (",
                            ShortPercent(time.exposed / step), ") for ", time.async->start->name),
                     StrCat("timeline&", AddressOf(*time.async->start))});
  for (const std::string& warning : forecast.warnings) all.push_back({warning, ""});
}

// Large replicated arguments.
void AddReplicated(const PageModule& page, std::vector<Finding>& all) {
  if (page.facts->devices().grid.count() < 2 || page.facts->memory().device.peak <= 0) return;
  constexpr double kMin = 0.01;
  for (const LiveBuffer& buffer : page.facts->memory().live_at_peak) {
    if (buffer.kind != LiveBuffer::Kind::kArgument || buffer.hlo == nullptr) continue;
    const double fraction = static_cast<double>(buffer.bytes) / static_cast<double>(page.facts->memory().device.peak);
    const Sharding* sharding = EntrySharding(*buffer.hlo);
    if (fraction < kMin || sharding == nullptr) continue;
    if (sharding->kind == Sharding::Kind::kTuple) {
      const size_t leaf = buffer.index.empty() ? 0 : static_cast<size_t>(buffer.index[0]);
      if (buffer.index.size() > 1 || leaf >= sharding->elements.size()) continue;
      sharding = &sharding->elements[leaf];
    }
    if (sharding->kind != Sharding::Kind::kReplicated) continue;
    all.push_back({StrCat("replicated argument ", buffer.hlo->name, ": ", ShortBytes(static_cast<double>(buffer.bytes)),
                          ", ", ShortPercent(fraction), " of the peak"),
                   StrCat("memory&", AddressOf(*buffer.hlo))});
  }
}

void AddMemory(const PageModule& page, std::vector<Finding>& all) {
  const int64_t needed = DeviceBytes(page.facts->memory());
  if (page.budget >= 0 && needed > page.budget)
    all.push_back({StrCat("exceeds the memory budget: needs ", ShortBytes(static_cast<double>(needed)), " of ",
                          ShortBytes(static_cast<double>(page.budget))),
                   "memory"});
  const SpaceMemory& device = page.facts->memory().device;
  constexpr double kWaste = 0.1;
  const double gap = static_cast<double>(device.temporaries - device.live);
  if (device.live > 0 && gap > kWaste * static_cast<double>(device.peak))
    all.push_back({StrCat("fragmentation: gaps between temporaries take ", ShortBytes(gap), ", ",
                          ShortPercent(gap / static_cast<double>(device.peak)), " of the peak"),
                   "memory"});
}

}  // namespace

std::string AddressOf(const Instruction& hlo) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out = "i=";
  for (std::string_view part : {hlo.parent->name, std::string_view("/"), hlo.name})
    for (const char c : part) {
      const auto byte = static_cast<uint8_t>(c);
      if (std::isalnum(byte) != 0 || c == '.' || c == '_' || c == '-' || c == '/') {
        out += c;
      } else {
        out += '%';
        out += kHex[byte >> 4];
        out += kHex[byte & 15];
      }
    }
  return out;
}

std::vector<Finding> FindIssues(const PageModule& page) {
  std::vector<Finding> all;
  for (const Prediction& forecast : page.forecasts)
    if (!forecast.backend_mismatch.empty()) all.push_back({StrCat(forecast.machine.name, ": ", forecast.backend_mismatch), ""});
  AddMemory(page, all);
  AddUnknown(page, all);
  AddSmallCollectives(page, all);
  AddExposed(page, all);
  AddWaitedFor(page, all);
  AddReplicated(page, all);
  return all;
}

}  // namespace shoal::internal
