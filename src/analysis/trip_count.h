// How often a while goes round.
#pragma once

#include "analysis/known_values.h"

namespace shoal {

struct TripCount {
  enum class From : uint8_t {
    kGiven,     // known_trip_count in backend_config
    kInferred,  // from the initial value, the step and the condition
    kUnknown,   // it depends on data
  };
  int64_t count = 1;
  From from = From::kUnknown;

  bool known() const { return from != From::kUnknown; }
};

TripCount TripCountOf(const Instruction& loop, KnownValues& known);

}  // namespace shoal
