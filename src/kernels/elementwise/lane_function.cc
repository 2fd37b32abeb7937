#include "kernels/elementwise/lane_function.h"

#include <algorithm>
#include <cstring>

#include "core/ops/working_types.h"
#include "kernels/algorithms/reduction_loop.h"

namespace shoal::internal {

// Translates a computation into ops on registers; calls and fusions are inlined.
class LaneFunctionBuilder {
 public:
  using Registers = std::vector<uint32_t>;  // a scalar has one register, a tuple one per element

  std::unique_ptr<LaneFunction> Build(const Computation& computation) {
    std::vector<Registers> arguments;
    for (const Instruction* parameter : computation.parameters) {
      if (parameter == nullptr || !parameter->shape().IsScalar()) return nullptr;
      function_->parameters_.push_back(parameter->shape().element_type());
      arguments.push_back({NewRegister(parameter->shape().element_type())});
    }
    if (!Inline(computation, arguments, &function_->results_)) return nullptr;
    function_->binary_op_ = BinaryOp();
    return std::move(function_);
  }

 private:
  uint32_t NewRegister(ElementType type) {
    function_->registers_.push_back(type);
    return static_cast<uint32_t>(function_->registers_.size() - 1);
  }

  bool Inline(const Computation& computation, const std::vector<Registers>& arguments, Registers* result) {
    // A larger computation is not translated: inlining nested calls may take exponential time.
    constexpr size_t kMaxOps = 4096, kMaxCalls = 64;
    if (++calls_ > kMaxCalls) return false;
    std::vector<Registers> values(computation.instructions.size());
    for (const Instruction* hlo : computation.instructions) {
      if (!Add(*hlo, arguments, values) || function_->ops_.size() > kMaxOps) return false;
    }
    *result = values[computation.root->index];
    return true;
  }

  bool Add(const Instruction& hlo, const std::vector<Registers>& arguments, std::vector<Registers>& values) {
    auto operand = [&](size_t i) -> const Registers& { return values[hlo.operands[i]->index]; };
    Registers& value = values[hlo.index];
    if (hlo.opcode == Opcode::kParameter) {
      value = arguments[static_cast<size_t>(hlo[kParameterNumber])];
      return true;
    }
    if (hlo.opcode == Opcode::kConstant) return AddConstant(hlo, value);
    if (hlo.opcode == Opcode::kTuple) {
      for (size_t i = 0; i < hlo.operand_count(); ++i) {
        if (hlo.operand_shape(i).IsTuple()) return false;
        value.push_back(operand(i)[0]);
      }
      return true;
    }
    if (hlo.opcode == Opcode::kGetTupleElement) {
      value = {operand(0)[static_cast<size_t>(hlo[Op<Opcode::kGetTupleElement>::kIndex])]};
      return true;
    }
    if (hlo.opcode == Opcode::kCall || hlo.opcode == Opcode::kFusion) {
      std::vector<Registers> inner;
      for (size_t i = 0; i < hlo.operand_count(); ++i) inner.push_back(operand(i));
      return Inline(*(hlo.opcode == Opcode::kCall ? hlo[kToApply] : hlo[kCalls]), inner, &value);
    }
    if (!hlo.shape().IsScalar()) return false;
    if (ForwardsScalar(hlo)) {
      value = operand(0);
      return true;
    }
    return AddElementwise(hlo, values);
  }

  // Ops that forward a scalar. A bitcast forwards its operand if both types have equal width, at least a byte.
  static bool ForwardsScalar(const Instruction& hlo) {
    const bool is_scalar = hlo.operand_count() > 0 && hlo.operand_shape(0).IsScalar();
    if ((hlo.opcode == Opcode::kBitcastConvert || hlo.opcode == Opcode::kBitcast) && is_scalar) {
      const int bits = BitWidth(hlo.shape().element_type());
      return bits >= 8 && bits == BitWidth(hlo.operand_shape(0).element_type());
    }
    static constexpr Opcode kOpcodes[] = {Opcode::kCopy, Opcode::kReshape, Opcode::kBroadcast,
                                          Opcode::kTranspose};
    return std::find(std::begin(kOpcodes), std::end(kOpcodes), hlo.opcode) != std::end(kOpcodes) &&
           hlo.operand_shape(0).IsScalar() && hlo.operand_shape(0).element_type() == hlo.shape().element_type();
  }

  bool AddConstant(const Instruction& hlo, Registers& value) {
    const Literal* literal = hlo[kConstantValue];
    if (!hlo.shape().IsScalar() || literal == nullptr || literal->elided) return false;
    const Array scalar = Array::FromLiteral(*literal);
    const auto width = static_cast<size_t>(scalar.element_bytes());
    LaneFunction::Constant constant{NewRegister(scalar.type()), std::vector<std::byte>(width * LaneFunction::kLanes)};
    for (int64_t i = 0; i < LaneFunction::kLanes; ++i)
      std::memcpy(constant.lanes.data() + static_cast<size_t>(i) * width, scalar.data(), width);
    value = {constant.reg};
    function_->constants_.push_back(std::move(constant));
    return true;
  }

  bool AddElementwise(const Instruction& hlo, std::vector<Registers>& values) {
    if (Info(hlo.opcode).op_class != OpClass::kElementwise) return false;
    if (WorkingTypesOf(hlo).mixed) return false;
    LaneFunction::LaneOp lane_op{.kernel = ElementLoopFor(hlo)};
    if (lane_op.kernel.loop == nullptr || lane_op.kernel.result != hlo.shape().element_type()) return false;
    for (size_t i = 0; i < hlo.operand_count(); ++i) lane_op.in[i] = values[hlo.operands[i]->index][0];
    lane_op.out = NewRegister(hlo.shape().element_type());
    values[hlo.index] = {lane_op.out};
    function_->ops_.push_back(lane_op);
    last_op_ = hlo.opcode;
    return true;
  }

  std::optional<Opcode> BinaryOp() const {
    const LaneFunction& f = *function_;
    if (f.ops_.size() != 1 || f.parameters_.size() != 2 || f.results_.size() != 1) return std::nullopt;
    const LaneFunction::LaneOp& lane_op = f.ops_[0];
    const bool uses_both = lane_op.in[0] + lane_op.in[1] == 1 && lane_op.kernel.operand_count == 2;
    const bool same_type = f.parameters_[0] == f.parameters_[1] && lane_op.kernel.result == f.parameters_[0];
    if (!uses_both || !same_type || f.results_[0] != lane_op.out) return std::nullopt;
    // Swapping the operands is valid for ops that have a reduction loop: they are commutative.
    if (lane_op.in[0] != 0 && !ReductionLoop::Of(last_op_, lane_op.kernel.result)) return std::nullopt;
    return last_op_;
  }

  std::unique_ptr<LaneFunction> function_ = std::make_unique<LaneFunction>();
  Opcode last_op_{};
  size_t calls_ = 0;
};

std::unique_ptr<LaneFunction> LaneFunction::Of(const Computation& computation) {
  return LaneFunctionBuilder().Build(computation);
}

void LaneFunction::Run(std::span<std::byte* const> outs, std::span<const std::byte* const> ins, int64_t n) const {
  // Sixteen bytes hold an element of any type.
  thread_local std::vector<std::byte> workspace;
  const size_t needed = registers_.size() * static_cast<size_t>(std::min(n, kLanes)) * 16;
  if (workspace.size() < needed) workspace.resize(needed);
  for (int64_t start = 0; start < n; start += kLanes) {
    const int64_t count = std::min(kLanes, n - start);
    std::byte* block_outs[16];
    const std::byte* block_ins[32];
    std::vector<std::byte*> many_outs;
    std::vector<const std::byte*> many_ins;
    std::byte** to = block_outs;
    const std::byte** from = block_ins;
    if (outs.size() > 16 || ins.size() > 32) {
      many_outs.resize(outs.size());
      many_ins.resize(ins.size());
      to = many_outs.data();
      from = many_ins.data();
    }
    for (size_t k = 0; k < outs.size(); ++k) to[k] = outs[k] + start * StorageBytes(result_type(k));
    for (size_t k = 0; k < ins.size(); ++k) from[k] = ins[k] + start * StorageBytes(parameters_[k]);
    RunBlock({to, outs.size()}, {from, ins.size()}, count, workspace.data());
  }
}

void LaneFunction::RunBlock(std::span<std::byte* const> outs, std::span<const std::byte* const> ins, int64_t n,
                            std::byte* workspace) const {
  absl::InlinedVector<const std::byte*, 32> registers(registers_.size());
  for (size_t i = 0; i < registers_.size(); ++i)
    registers[i] = i < ins.size() ? ins[i] : workspace + i * static_cast<size_t>(n) * 16;
  for (const Constant& constant : constants_) registers[constant.reg] = constant.lanes.data();
  for (const LaneOp& lane_op : ops_) {
    const std::byte* in[3] = {registers[lane_op.in[0]], registers[lane_op.in[1]], registers[lane_op.in[2]]};
    lane_op.kernel.Run(const_cast<std::byte*>(registers[lane_op.out]), in, n);
  }
  // Outputs may be inputs, so results that are parameters are saved before anything is overwritten.
  for (uint32_t result : results_) {
    if (result >= ins.size() || outs.size() == 1) continue;
    std::byte* saved = workspace + result * static_cast<size_t>(n) * 16;
    if (registers[result] != saved)
      std::memcpy(saved, registers[result], static_cast<size_t>(n * StorageBytes(registers_[result])));
    registers[result] = saved;
  }
  for (size_t k = 0; k < outs.size(); ++k)
    std::memmove(outs[k], registers[results_[k]], static_cast<size_t>(n * StorageBytes(result_type(k))));
}

}  // namespace shoal::internal
