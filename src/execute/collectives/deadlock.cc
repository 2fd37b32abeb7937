#include "execute/collectives/deadlock.h"

#include <algorithm>

#include "core/base/settings.h"
#include "core/base/strings.h"
#include "core/ops/families.h"

namespace shoal::internal {
namespace {

constexpr size_t kMaxLines = 6;  // limit for each kind of line

std::string NameAndLine(const Instruction& hlo, const Source* source) {
  return StrCat(Text(hlo.opcode), " ", hlo.name, LineOf(hlo, source));
}

bool TextOrder(const Instruction* a, const Instruction* b) {
  return std::tie(a->at.offset, a->name) < std::tie(b->at.offset, b->name);
}

std::string BranchName(const Instruction& conditional, int64_t branch) {
  const std::vector<Computation*> branches = CalledComputations(conditional);
  const Computation* computation =
      branch >= 0 && branch < std::ssize(branches) ? branches[static_cast<size_t>(branch)] : nullptr;
  return computation == nullptr ? StrCat(branch) : std::string(computation->name);
}

}  // namespace

std::string LineOf(const Instruction& hlo, const Source* source) {
  if (source == nullptr || !hlo.at.known() || hlo.at.offset > source->text().size()) return {};
  const std::string_view before = source->text().substr(0, hlo.at.offset);
  return StrCat(" (line ", std::count(before.begin(), before.end(), '\n') + 1, ")");
}

std::string DeviceList(const DeviceGroup& sorted) {
  std::string list = sorted.size() == 1 ? "device " : "devices ";
  for (size_t i = 0; i < sorted.size();) {
    size_t end = i + 1;
    while (end < sorted.size() && sorted[end] == sorted[end - 1] + 1) ++end;
    StrAppend(&list, i == 0 ? "" : ",", sorted[i]);
    if (end - i > 1) StrAppend(&list, end - i == 2 ? "," : "-", sorted[end - 1]);
    i = end;
  }
  return list;
}

DeviceGroup DeadlockReport::MissingFor(const CollectiveRuntime::DeviceState& state) const {
  const Operation& operation = *state.waits_for;
  DeviceGroup missing;
  const size_t needed = operation.rendezvous->transfer ? 1 : operation.instructions.size();
  for (size_t i = 0; i < needed; ++i)
    if (operation.instructions[i] == nullptr) missing.push_back(operation.rendezvous->members[i]);
  std::sort(missing.begin(), missing.end());
  return missing;
}

std::vector<DeadlockReport::Waiting> DeadlockReport::AllWaiting() const {
  std::vector<Waiting> all;
  std::map<std::pair<const Instruction*, DeviceGroup>, size_t> indices;
  for (size_t device = 0; device < runtime_.devices_.size(); ++device) {
    const CollectiveRuntime::DeviceState& state = *runtime_.devices_[device];
    if (state.waits_for == nullptr) continue;
    DeviceGroup missing = MissingFor(state);
    auto [it, is_new] = indices.emplace(std::pair(state.waits_at, missing), all.size());
    if (is_new) all.push_back({state.waits_at, std::move(missing), {}});
    all[it->second].devices.push_back(static_cast<int64_t>(device));
  }
  return all;
}

std::string DeadlockReport::Describe(const Waiting& waiting) const {
  return StrCat(DeviceList(waiting.devices), waiting.devices.size() == 1 ? " waits at " : " wait at ",
                NameAndLine(*waiting.at, runtime_.source_), " for ", DeviceList(waiting.missing));
}

// Adds a line with the iterations that each device has started or the branch it took; no value: it did not reach `hlo`.
std::string DeadlockReport::Difference(const Instruction& hlo,
                                       const std::map<std::optional<int64_t>, DeviceGroup>& by_count,
                                       bool branches) const {
  // The rows, sorted by device.
  std::vector<std::pair<DeviceGroup, std::optional<int64_t>>> rows;
  for (const auto& [count, devices] : by_count) rows.emplace_back(devices, count);
  std::sort(rows.begin(), rows.end());
  return StrCat("in ", NameAndLine(hlo, runtime_.source_), ": ",
                StrJoin(rows, "; ", [&](std::string* out, const auto& each) {
                  StrAppend(out, DeviceList(each.first));
                  if (!each.second) {
                    StrAppend(out, " did not reach it");
                  } else if (branches) {
                    StrAppend(out, " took branch ", BranchName(hlo, *each.second));
                  } else {
                    StrAppend(out, " started ", *each.second, *each.second == 1 ? " iteration" : " iterations");
                  }
                }));
}

std::vector<std::string> DeadlockReport::Differences(const DeviceGroup& devices, bool branches) const {
  auto counts_of = [&](int64_t device) -> const std::map<const Instruction*, int64_t>& {
    const ControlFlowState& state = *runtime_.devices_[static_cast<size_t>(device)]->control_flow_state;
    return branches ? state.branches : state.iterations;
  };
  std::vector<const Instruction*> all;
  for (int64_t device : devices)
    for (const auto& [hlo, count] : counts_of(device)) all.push_back(hlo);
  std::sort(all.begin(), all.end(), TextOrder);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<std::string> lines;
  for (const Instruction* hlo : all) {
    std::map<std::optional<int64_t>, DeviceGroup> by_count;
    for (int64_t device : devices) {
      const auto& counts = counts_of(device);
      const auto it = counts.find(hlo);
      by_count[it == counts.end() ? std::nullopt : std::optional(it->second)].push_back(device);
    }
    if (by_count.size() > 1) lines.push_back(Difference(*hlo, by_count, branches));
  }
  return lines;
}

std::optional<Diag> DeadlockReport::Explain() const {
  const std::vector<Waiting> all = AllWaiting();
  if (all.empty()) return std::nullopt;
  std::string message = "deadlock: ";
  auto add = [&](const std::vector<std::string>& lines) {
    for (size_t i = 0; i < lines.size() && i < kMaxLines; ++i) StrAppend(&message, "\n  ", lines[i]);
    if (lines.size() > kMaxLines) StrAppend(&message, "\n  … and ", lines.size() - kMaxLines, " more such lines");
  };
  StrAppend(&message, Describe(all[0]));
  std::vector<std::string> lines;
  for (size_t i = 1; i < all.size(); ++i) lines.push_back(Describe(all[i]));
  add(lines);
  DeviceGroup involved, finished;
  for (size_t device = 0; device < runtime_.devices_.size(); ++device) {
    const auto id = static_cast<int64_t>(device);
    const bool done = runtime_.devices_[device]->finished;
    const bool is_missing = std::any_of(all.begin(), all.end(), [&](const Waiting& each) {
      return std::binary_search(each.missing.begin(), each.missing.end(), id);
    });
    if (done && is_missing) finished.push_back(id);
    if (!done || is_missing) involved.push_back(id);
  }
  if (!finished.empty())
    StrAppend(&message, "\n  ", DeviceList(finished), finished.size() == 1 ? " has finished" : " have finished");
  add(Differences(involved, /*branches=*/true));
  add(Differences(involved, /*branches=*/false));
  message += NextStep("for the order of the collectives", "show", {Setting("op=communication"), Setting("groups")});
  return Fail(all[0].at->at, "", std::move(message));
}

}  // namespace shoal::internal
