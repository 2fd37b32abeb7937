// Trip counts of while loops.
#pragma once

#include "analyze/facts/known_values.h"

namespace shoal::internal {

struct TripCount {
  enum class Provenance : uint8_t {
    kGiven,     // known_trip_count in backend_config
    kInferred,  // derived from the initial value, the step and the condition
    kAssumed,   // heuristic for a condition that does not match the state: a counter from 0 or between constants
    kUnknown,   // the trip count depends on data
  };
  // The integer that counts the iterations, if known.
  struct Counter {
    int64_t start = 0, step = 1;
  };
  int64_t count = 1;
  Provenance from = Provenance::kUnknown;
  std::optional<Counter> counter;

  bool known() const { return from != Provenance::kUnknown; }
};

TripCount TripCountOf(const Instruction& loop, KnownValues& known);

}  // namespace shoal::internal
