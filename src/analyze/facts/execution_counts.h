// How often each computation runs when the entry runs once: trip counts and branch probabilities multiplied through
// the call graph.
#pragma once

#include <string>

#include "analyze/facts/trip_count.h"

namespace shoal::internal {

struct ExecutionOptions {
  std::map<std::string, int64_t> trips;         // of loops by name, in place of what the module says
  std::map<std::string, double> probabilities;  // of branch computations by name
};

class ExecutionCounts {
 public:
  explicit ExecutionCounts(const Module& module, const ExecutionOptions& options = {});

  // 0 if the entry does not lead to it. A computation that is part of an op (to_apply of a reduce) runs as often as
  // the op.
  double Of(const Computation& computation) const;
  double Of(const Instruction& hlo) const { return Of(*hlo.parent); }
  const TripCount& TripsOf(const Instruction& loop) const { return trips_.at(&loop); }
  // Null for a loop that the entry does not lead to.
  const TripCount* FindTrips(const Instruction& loop) const {
    auto found = trips_.find(&loop);
    return found == trips_.end() ? nullptr : &found->second;
  }

  // Loops that depend on data, which count as one round, and conditionals whose branches count as equally likely.
  const std::vector<const Instruction*>& unknown_loops() const { return unknown_loops_; }
  // Loops of loose text whose condition does not fit their state; TripCount says how they are read.
  const std::vector<const Instruction*>& heuristic_loops() const { return heuristic_loops_; }
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
