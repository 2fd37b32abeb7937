// What can be said about scalars without running the module: constants, and what is computed from them, followed
// through tuples, copies, converts, fusions, calls and the state of loops that leave a value alone. On a device that is
// named, also what follows from its ids.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "core/ir/call_graph.h"
#include "core/ops/value_flow.h"
#include "kernels/arrays/array.h"

namespace shoal::internal {

// What replica-id and partition-id give on one device.
struct DeviceIds {
  int64_t replica = 0, partition = 0;
};

// A scalar somewhere in an instruction's value: the instruction, and the path into its tuple.
class KnownValues {
 public:
  explicit KnownValues(const CallGraph& calls, std::optional<DeviceIds> device = {}) : calls_(calls), device_(device) {}

  // The scalar's value, if it is the same whenever the instruction runs.
  std::optional<Array> Of(const ValueRef& place);
  // The same of an integer or a pred.
  std::optional<int64_t> IntegerAt(const ValueRef& place);

  // The value at `place` in a computation whose parameter 0 is a loop's state. `state` gives the scalars of that state;
  // what it does not give is not known. Anything else is looked up outside.
  using State = std::function<std::optional<Array>(const ShapeIndex& path)>;
  std::optional<Array> InIteration(const ValueRef& place, const State& state);

  // If the loop's body hands the scalar at this path of its state on unchanged.
  bool IsInvariant(const Instruction& loop, const ShapeIndex& path);

 private:
  class Walk;
  std::optional<Array> OfParameter(const Instruction& parameter, const ShapeIndex& path);

  const CallGraph& calls_;
  std::optional<DeviceIds> device_;
  std::map<ValueRef, std::optional<Array>> known_;
  int depth_ = 0;
};

}  // namespace shoal::internal
