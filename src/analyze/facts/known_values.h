// Constant evaluation of scalars: constants and values computed from them, traced through tuples, copies, converts,
// fusions, calls and loop-invariant state. For a given device, also values computed from its replica and partition id.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "core/ir/call_graph.h"
#include "core/ops/value_flow.h"
#include "kernels/arrays/array.h"

namespace shoal::internal {

// The values of replica-id and partition-id on one device.
struct DeviceIds {
  int64_t replica = 0, partition = 0;
};

// A ValueRef is an instruction and a path into its tuple.
class KnownValues {
 public:
  explicit KnownValues(const CallGraph& calls, std::optional<DeviceIds> device = {}) : calls_(calls), device_(device) {}

  // Returns the scalar's value if it is known and equal in every execution of the instruction.
  std::optional<Array> Of(const ValueRef& position);
  // As Of, for an integer or a pred.
  std::optional<int64_t> IntegerAt(const ValueRef& position);

  // Returns the value at `position` in a computation whose parameter 0 is a loop's state. `state` returns the scalars
  // of that state, or nullopt for unknown ones. All other values are evaluated as in Of.
  using State = std::function<std::optional<Array>(const ShapeIndex& path)>;
  std::optional<Array> InIteration(const ValueRef& position, const State& state);

  // True if the loop's body forwards the scalar at this path of its state unchanged.
  bool IsInvariant(const Instruction& loop, const ShapeIndex& path);

 private:
  class Evaluation;
  std::optional<Array> ParameterValue(const Instruction& parameter, const ShapeIndex& path);

  const CallGraph& calls_;
  std::optional<DeviceIds> device_;
  std::map<ValueRef, std::optional<Array>> cache_;
  int depth_ = 0;
};

}  // namespace shoal::internal
