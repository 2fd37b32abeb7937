// Matches the instructions of two modules by their meaning, independent of names and text order.
#pragma once

#include "analyze/diff/value_hash.h"
#include "analyze/summary/module_facts.h"

namespace shoal::internal {

// One of the two compared modules, with its analyses.
struct DiffSide {
  // The facts must outlive the side.
  DiffSide(const ModuleFacts& facts, bool without_large_constants);
  DiffSide(const DiffSide&) = delete;
  DiffSide& operator=(const DiffSide&) = delete;

  const ModuleFacts& facts;
  const Module& module;
  const ExecutionCounts& executions;
  const InstructionIds& ids;
  Fingerprints fingerprints;
  DataFlow flow;
  ValueHashes values;
};

inline constexpr uint32_t kNoMatch = UINT32_MAX;

struct Matching {
  std::vector<uint32_t> b_of, a_of;  // the partner of each instruction in the other module, or kNoMatch
};

// First matches instructions with equal values. Then propagates matches to similar operands and users. Then matches the
// remaining instructions by type, attributes and op_name. The worst-case running time is O(n log n).
Matching MatchInstructions(const DiffSide& a, const DiffSide& b);

}  // namespace shoal::internal
