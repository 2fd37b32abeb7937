// Computes the number of executions of each computation per execution of the entry, by multiplying trip counts and
// branch probabilities along the call graph.
#pragma once

#include <string>

#include "analyze/facts/trip_count.h"

namespace shoal::internal {

struct ExecutionOptions {
  std::map<std::string, int64_t> trips;         // trip counts by loop name, which override those of the module
  std::map<std::string, double> probabilities;  // branch probabilities by name of the branch computation
};

// Fail if no module has a loop, or a computation that is a branch, of this name. The error lists the known names.
Status CheckLoopName(const std::string& name, std::initializer_list<const Module*> modules);
Status CheckBranchName(const std::string& name, std::initializer_list<const Module*> modules);

class ExecutionCounts {
 public:
  explicit ExecutionCounts(const Module& module, const ExecutionOptions& options = {});

  // Returns 0 if the computation is unreachable from the entry. A computation that is applied to elements, such as the
  // to_apply of a reduce, counts one execution per execution of the op.
  double Of(const Computation& computation) const;
  double Of(const Instruction& hlo) const { return Of(*hlo.parent); }
  const TripCount& TripCountOfLoop(const Instruction& loop) const { return trips_.at(&loop); }
  // Returns null for a loop that is unreachable from the entry.
  const TripCount* FindTripCount(const Instruction& loop) const {
    auto found = trips_.find(&loop);
    return found == trips_.end() ? nullptr : &found->second;
  }

  // The loops that are reachable from the entry, callees after callers.
  std::vector<const Instruction*> Loops() const;
  // Loops whose trip count depends on data. Their trip count is taken as 1.
  const std::vector<const Instruction*>& unknown_loops() const { return unknown_loops_; }
  // Loops of loose text with a heuristic trip count. See TripCount::Provenance::kAssumed.
  const std::vector<const Instruction*>& heuristic_loops() const { return heuristic_loops_; }
  // All reachable conditionals. Their branches count as equally likely unless ExecutionOptions sets probabilities.
  const std::vector<const Instruction*>& conditionals() const { return conditionals_; }
  const CallGraph& calls() const { return calls_; }

 private:
  void AddCallees(const Instruction& caller, double count, const ExecutionOptions& options);

  CallGraph calls_;
  KnownValues known_;
  absl::flat_hash_map<const Computation*, double> counts_;
  absl::flat_hash_map<const Instruction*, TripCount> trips_;
  std::vector<const Instruction*> unknown_loops_, heuristic_loops_, conditionals_;
};

}  // namespace shoal::internal
