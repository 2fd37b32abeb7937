// What `shoal comm` says.
#pragma once

#include <string>

#include "analyze/cost/overlap.h"
#include "analyze/facts/infer_devices.h"
#include "analyze/facts/traffic.h"
#include "present/reports/table.h"

namespace shoal::internal {

// A row of the ledger.
struct CommRow {
  const LogicalCollective* use = nullptr;
  int64_t ring_bytes = 0, direct_bytes = 0;  // that the device which receives most receives, each time
  NodeSplit split;
  Overlap overlap;
  std::string line;  // of the user's program; empty: nothing says
};

struct CommReport {
  std::string file;
  InferredGrid devices;
  int64_t devices_per_node = 8;
  ModuleCollectives collectives;
  std::vector<CommRow> rows;               // in the order of execution
  std::vector<const Instruction*> loops;   // that are reached
  std::vector<std::string> assumptions;    // one sentence each
  const ExecutionCounts* executions = nullptr;  // for the loops
  bool matrix = false;
  int64_t top = 20;  // rows of each table; 0: all
};

// For people: a row per collective, totals by kind, by axis and by line, and the matrix if it is asked for.
std::string CommText(const CommReport& report, const TextStyle& style = OutputStyle());
// For programs; docs/comm.md says what stands in it.
std::string CommJson(const CommReport& report);
// The device × device matrix alone.
std::string CommMatrixCsv(const CommReport& report);

}  // namespace shoal::internal
