// Trace: timed events on each device and stream, predicted or read from a profile.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace shoal::internal {

class Instruction;

struct TraceEvent {
  std::string name;   // the instruction's name
  uint32_t device = 0, stream = 0;
  double start = 0, duration = 0;  // seconds
  std::string category;            // "matrix", "memory", "communication", "idle", …
  std::vector<std::pair<std::string, std::string>> details;
  double times = 1;  // number of equal events that this one represents
  const Instruction* hlo = nullptr;  // set in predictions; names are unique only within a computation
};

// An arrow from one event to another.
struct TraceFlow {
  size_t from = 0, to = 0;
};

struct Trace {
  std::string source;                // "predicted", or the file or command it comes from
  std::vector<std::string> devices;  // device names
  std::vector<std::string> streams;
  std::vector<TraceEvent> events;  // sorted by start within each stream
  std::vector<TraceFlow> flows;
};

}  // namespace shoal::internal
