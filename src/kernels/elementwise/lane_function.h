// LaneFunction: a scalar computation, such as the to_apply of a reduce, prepared to run on many elements. Every
// instruction becomes a loop over lanes.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernels/elementwise/element_loops.h"

namespace shoal::internal {

class LaneFunction {
 public:
  // Null if the computation does more than elementwise work on scalars.
  static std::unique_ptr<LaneFunction> Of(const Computation& computation);

  // outs[k][i] = result k of f(ins[0][i], ins[1][i], …) for i < n. An output may be the same array as an input.
  void Run(std::span<std::byte* const> outs, std::span<const std::byte* const> ins, int64_t n) const;

  size_t parameter_count() const { return parameters_.size(); }
  size_t result_count() const { return results_.size(); }
  ElementType parameter_type(size_t i) const { return parameters_[i]; }
  ElementType result_type(size_t i) const { return registers_[results_[i]]; }

  // The op, such as add, if the function is only op(parameter 0, parameter 1), in either order if op is commutative.
  std::optional<Opcode> binary_op() const { return binary_op_; }

 private:
  friend class LaneFunctionBuilder;
  struct LaneOp {
    ElementLoop kernel;
    uint32_t out = 0;
    uint32_t in[3] = {0, 0, 0};
  };
  struct Constant {
    uint32_t reg = 0;
    std::vector<std::byte> lanes;  // the value, repeated kLanes times
  };

  static constexpr int64_t kLanes = 256;  // per block: lanes and intermediate results fit in the cache
  void RunBlock(std::span<std::byte* const> outs, std::span<const std::byte* const> ins, int64_t n,
                std::byte* workspace) const;

  std::vector<ElementType> parameters_;
  std::vector<ElementType> registers_;  // the type of each register; parameters come first
  std::vector<Constant> constants_;
  std::vector<LaneOp> ops_;
  std::vector<uint32_t> results_;
  std::optional<Opcode> binary_op_;
};

}  // namespace shoal::internal
