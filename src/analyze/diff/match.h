// Which instruction of one module is which of another, by what they do: neither names nor the order of the text count.
#pragma once

#include "analyze/diff/value_hash.h"
#include "analyze/facts/execution_counts.h"

namespace shoal::internal {

// One of two modules, with what is known about its values.
struct DiffSide {
  DiffSide(const Module& module, const ExecutionOptions& options, bool without_large_constants);
  DiffSide(const DiffSide&) = delete;
  DiffSide& operator=(const DiffSide&) = delete;

  const Module& module;
  ExecutionCounts executions;
  InstructionIds ids;
  Fingerprints fingerprints;
  DataFlow flow;
  ValueHashes values;
};

inline constexpr uint32_t kNoMatch = UINT32_MAX;

struct Matching {
  std::vector<uint32_t> b_of, a_of;  // of each instruction its partner in the other module, or kNoMatch
};

// Matches first what makes the same values; then, from there, operands with operands and users with users that look
// alike; then what is left by type, attributes and op_name. The time is that of sorting, whatever the modules.
Matching MatchInstructions(const DiffSide& a, const DiffSide& b);

}  // namespace shoal::internal
