// The output of `shoal mem`.
#pragma once

#include <optional>
#include <string>

#include "analyze/memory/memory.h"
#include "analyze/summary/module_facts.h"
#include "analyze/summary/rematerialization.h"
#include "execute/interp/dry_run_memory.h"
#include "present/reports/table.h"

namespace shoal::internal {

struct MemReport {
  std::string file;
  const ModuleFacts* facts = nullptr;
  std::optional<RunMemory> run;   // memory of `shoal run`, with --run
  std::optional<int64_t> budget;  // bytes of a device
  int64_t top = 10;               // buffers; 0: all
  std::vector<RematerializationCandidate> candidates;  // refer to `memory`

  bool Fits() const;
};

// The facts must outlive the report.
MemReport MemReportOf(const ModuleFacts& facts, const std::string& file, std::optional<int64_t> budget, int64_t top);

// A row per memory space, the plot over the schedule, and the buffers live at the peak.
std::string MemText(const MemReport& report, const TextStyle& style);
// JSON, as described in docs/mem.md.
std::string MemJson(const MemReport& report);

}  // namespace shoal::internal
