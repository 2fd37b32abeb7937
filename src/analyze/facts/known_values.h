// Evaluates constant scalars through elementwise ops, tuples, copies, fusions, calls and loop-invariant state. If a
// device is given, its replica id and partition id are constants too.
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
  // Like Of, but for integers and preds.
  std::optional<int64_t> IntegerAt(const ValueRef& position);

  // Returns the value at `position` in the body or condition of a loop, in one iteration. `state` returns a scalar of
  // the loop state, or nullopt for an unknown scalar. All other values are evaluated as in Of.
  using State = std::function<std::optional<Array>(const ShapeIndex& path)>;
  std::optional<Array> InIteration(const ValueRef& position, const State& state);

  // True if the loop body returns the element at `path` of the loop state unchanged.
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
