// Builds a module instruction by instruction.
//
//     ModuleBuilder builder("sum");
//     ComputationBuilder add = builder.NewComputation("add");
//     …
//     ComputationBuilder main = builder.NewComputation("main");
//     Result<Value> x = main.Parameter("f32[3,4]");
//     Result<Value> zero = main.Constant("f32[]", "0");
//     Result<Value> sum = main.Add("reduce", {*x, *zero}, "dimensions={1}, to_apply=add");
//     main.Finish(*sum);
//     Result<Module> module = builder.Finish(main);
#pragma once

#include <initializer_list>

#include "shoal/module.h"

namespace shoal::internal {
struct BuilderState;
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

class ComputationBuilder;

// An instruction of a computation that is being built.
struct Value {
  int32_t computation = -1, index = -1;
};

// A module that is being built. It belongs to one thread.
class SHOAL_API ModuleBuilder {
 public:
  explicit ModuleBuilder(const std::string& name, int64_t replica_count = 1, int64_t num_partitions = 1);

  // Names that are already in use get a number: add, add.1.
  ComputationBuilder NewComputation(std::string_view name);
  // Makes `entry` the entry computation, verifies the module and returns it. The builder is empty afterwards. All
  // computations must be finished.
  Result<Module> Finish(const ComputationBuilder& entry);

 private:
  std::shared_ptr<internal::BuilderState> state_;
};

// A computation that is being built.
class SHOAL_API ComputationBuilder {
 public:
  ComputationBuilder(std::shared_ptr<internal::BuilderState> state, int32_t index) : state_(std::move(state)), index_(index) {}

  std::string_view name() const;
  // The next parameter. `shape` is HLO text: "f32[2,3]", "(f32[], s32[4])".
  Result<Value> Parameter(std::string_view shape, std::string_view name = {});
  // `value` is HLO text: "1", "{1, 2}".
  Result<Value> Constant(std::string_view shape, std::string_view value, std::string_view name = {});
  // An array from `bytes` bytes, which are copied.
  Result<Value> Constant(ElementType type, const std::vector<int64_t>& dims, const void* data, size_t bytes,
                         std::string_view name = {});
  // Any other op. `attributes` is HLO text: "dimensions={1}, to_apply=add"; a called computation must be finished. If
  // `shape` is empty, it is inferred, which some ops such as all-reduce do not allow; else it must equal the inferred one
  // except for layouts. A failed call adds nothing.
  Result<Value> Add(std::string_view opcode, std::span<const Value> operands, std::string_view attributes = {},
                    std::string_view shape = {}, std::string_view name = {});
  Result<Value> Add(std::string_view opcode, std::initializer_list<Value> operands, std::string_view attributes = {},
                    std::string_view shape = {}, std::string_view name = {}) {
    return Add(opcode, std::span(operands.begin(), operands.size()), attributes, shape, name);
  }
  Result<Shape> ShapeOf(Value value) const;
  // Sets the root. Nothing can be added afterwards.
  Status Finish(Value root);

  int32_t index() const { return index_; }
  const std::shared_ptr<internal::BuilderState>& state() const { return state_; }

 private:
  std::shared_ptr<internal::BuilderState> state_;
  int32_t index_;
};

}  // namespace shoal::inline v0_1
