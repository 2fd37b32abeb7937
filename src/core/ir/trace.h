// Trace: what happened when, on which device and stream: predicted, or from a profile that somebody made.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace shoal::internal {

class Instruction;

struct TraceEvent {
  std::string name;   // of the instruction
  uint32_t device = 0, stream = 0;
  double start = 0, duration = 0;  // seconds
  std::string category;            // "matrix", "memory", "communication", "idle", …
  std::vector<std::pair<std::string, std::string>> details;
  double times = 1;  // it stands for so many like it
  const Instruction* hlo = nullptr;  // of a prediction; names of two computations may be equal
};

// An arrow from one event to another.
struct TraceFlow {
  size_t from = 0, to = 0;
};

struct Trace {
  std::string source;                // who made it
  std::vector<std::string> devices;  // names
  std::vector<std::string> streams;
  std::vector<TraceEvent> events;  // by rising start on each stream
  std::vector<TraceFlow> flows;
};

}  // namespace shoal::internal
