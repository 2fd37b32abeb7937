#include "present/page/findings.h"

#include <cctype>
#include <cstdio>
#include <map>

#include "analyze/cost/overlap.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ir/sharding.h"
#include "core/ops/op.h"
#include "present/page/page_text.h"

namespace shoal::internal {
namespace {

void AddUnknown(const PageModule& page, std::vector<Finding>& all) {
  for (const auto& [target, count] : page.cost.unknown_calls)
    all.push_back({StrCat(Pluralize(count, "custom call"), " of ", target, ": nobody can say what it costs"),
                   "program&q=opcode:custom-call"});
  for (const Instruction* loop : page.executions.unknown_loops())
    all.push_back({StrCat("the loop ", loop->name, " has no known trip count and counts as one round"),
                   StrCat("program&", AddressOf(*loop))});
}

// Groups of alike collectives that are too small to be worth their latency.
void AddSmallCollectives(const PageModule& page, std::vector<Finding>& all) {
  constexpr int64_t kSmall = 64 * 1024;
  constexpr double kMany = 32;
  std::map<std::pair<Opcode, int64_t>, double> times;  // of those of one kind and payload
  for (const LogicalCollective& use : page.collectives.all)
    if (use.payload_bytes <= kSmall) times[{use.kind, use.payload_bytes}] += use.times;
  for (const auto& [key, count] : times)
    if (count >= kMany)
      all.push_back({StrCat(Grouped(static_cast<int64_t>(count)), " × ", Text(key.first), " of ", ShortBytes(static_cast<double>(key.second)),
                            " in a step: latency, not bandwidth"),
                     StrCat("communication&q=", Text(key.first))});
}

void AddExposed(const PageModule& page, std::vector<Finding>& all) {
  Overlaps overlaps(page.cost, page.executions);
  int64_t sync = 0, bare = 0, first_bare = -1;
  const auto& uses = page.collectives.all;
  for (size_t i = 0; i < uses.size(); ++i) {
    if (!uses[i].async()) {
      ++sync;
    } else if (overlaps.Of(*uses[i].start, *uses[i].done).nothing()) {
      if (bare++ == 0) first_bare = static_cast<int64_t>(i);
    }
  }
  const auto count = Grouped(static_cast<int64_t>(uses.size()));
  if (sync > 0)
    all.push_back({StrCat(Grouped(static_cast<int64_t>(sync)), " of ", count, uses.size() == 1 ? " collective is" : " collectives are",
                          " not async: nothing runs beside them"),
                   "communication"});
  if (bare > 0)
    all.push_back({StrCat(Grouped(static_cast<int64_t>(bare)), " of ", count,
                          " collectives are async with nothing between start and done"),
                   StrCat("program&", AddressOf(*uses[static_cast<size_t>(first_bare)].start))});
}

// Collectives that the step waits for.
void AddWaitedFor(const PageModule& page, std::vector<Finding>& all) {
  if (page.forecasts.empty()) return;
  const Prediction& forecast = page.forecasts.front();
  const double step = forecast.prediction.step_seconds;
  constexpr double kMin = 0.02;
  constexpr size_t kMax = 3;
  size_t said = 0;
  for (const AsyncTime& time : forecast.prediction.asyncs)
    if (time.exposed > kMin * step && said++ < kMax)
      all.push_back({StrCat("the step waits ", ShortSeconds(time.exposed), " for ", time.async->start->name, ", ",
                            ShortPercent(time.exposed / step), " of it, on ", forecast.machine.name),
                     StrCat("timeline&", AddressOf(*time.async->start))});
  for (const std::string& warning : forecast.warnings) all.push_back({warning, ""});
}

// Arguments that every device holds whole.
void AddReplicated(const PageModule& page, std::vector<Finding>& all) {
  if (page.devices.grid.count() < 2 || page.memory.device.peak <= 0) return;
  constexpr double kMin = 0.01;
  for (const LiveBuffer& held : page.memory.live_at_peak) {
    if (held.kind != LiveBuffer::Kind::kArgument || held.hlo == nullptr) continue;
    const double part = static_cast<double>(held.bytes) / static_cast<double>(page.memory.device.peak);
    const Sharding* sharding = (*held.hlo)[kSharding];
    if (part < kMin || sharding == nullptr) continue;
    if (sharding->kind == Sharding::Kind::kTuple) {
      const size_t leaf = held.index.empty() ? 0 : static_cast<size_t>(held.index[0]);
      if (held.index.size() > 1 || leaf >= sharding->elements.size()) continue;
      sharding = &sharding->elements[leaf];
    }
    if (sharding->kind != Sharding::Kind::kReplicated) continue;
    all.push_back({StrCat("every device holds all of ", held.hlo->name, ": ", ShortBytes(static_cast<double>(held.bytes)),
                          ", ", ShortPercent(part), " of the peak"),
                   StrCat("memory&", AddressOf(*held.hlo))});
  }
}

void AddMemory(const PageModule& page, std::vector<Finding>& all) {
  const int64_t needed = DeviceBytes(page.memory);
  if (page.budget >= 0 && needed > page.budget)
    all.push_back({StrCat("it does not fit: ", ShortBytes(static_cast<double>(needed)), " of ",
                          ShortBytes(static_cast<double>(page.budget))),
                   "memory"});
  const SpaceMemory& device = page.memory.device;
  constexpr double kWaste = 0.1;
  const double gap = static_cast<double>(device.temporaries - device.live);
  if (device.live > 0 && gap > kWaste * static_cast<double>(device.peak))
    all.push_back({StrCat("packing leaves gaps of ", ShortBytes(gap), ", ", ShortPercent(gap / static_cast<double>(device.peak)),
                          " of the peak"),
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
  AddMemory(page, all);
  AddUnknown(page, all);
  AddSmallCollectives(page, all);
  AddExposed(page, all);
  AddWaitedFor(page, all);
  AddReplicated(page, all);
  return all;
}

}  // namespace shoal::internal
