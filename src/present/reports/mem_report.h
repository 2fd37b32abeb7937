// What `shoal mem` says.
#pragma once

#include <optional>
#include <string>

#include "analyze/memory/memory.h"
#include "execute/interp/dry_run_memory.h"
#include "present/reports/table.h"

namespace shoal::internal {

struct MemReport {
  std::string file;
  const Module* module = nullptr;
  ModuleMemory memory;
  std::optional<RunMemory> run;   // what a run of ours would hold, if that was asked
  std::optional<int64_t> budget;  // bytes a device has
  int64_t top = 10;               // buffers; 0: all

  bool Fits() const;
};

// For people: a row for each memory space, the curve over the schedule, and what is there at the peak.
std::string MemText(const MemReport& report, const TextStyle& style = OutputStyle());
// For programs; docs/mem.md says what stands in it.
std::string MemJson(const MemReport& report);

}  // namespace shoal::internal
