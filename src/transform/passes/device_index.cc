#include "transform/passes/device_index.h"

#include <algorithm>
#include <cstring>

#include "core/ops/collective_kinds.h"
#include "core/ops/traits.h"
#include "kernels/elementwise/element_loops.h"

namespace shoal::internal {
namespace {

constexpr int kMaxDepth = 64;

std::optional<int64_t> ReadInteger(const std::byte* data, ElementType type) {
  const int bytes = StorageBytes(type);
  if ((!IsInteger(type) && type != ElementType::kPred) || bytes > 8) return std::nullopt;
  int64_t value = 0;
  std::memcpy(&value, data, static_cast<size_t>(bytes));
  const auto unused = static_cast<unsigned>(64 - 8 * bytes);
  return IsSigned(type) ? (value << unused) >> unused : value;
}

bool IsScalar(const Shape& shape) { return shape.IsArray() && shape.ElementCount() == 1; }

class DeviceEvaluator {
 public:
  DeviceEvaluator(const DeviceGrid& grid, int64_t device) : grid_(grid), device_(device) {}

  std::optional<int64_t> ValueOf(const Instruction& hlo, int depth = 0) const {
    if (depth > kMaxDepth || !IsScalar(hlo.shape())) return std::nullopt;
    if (IsPartitionId(hlo)) return grid_.PartitionOf(device_);
    if (IsReplicaId(hlo)) return grid_.ReplicaOf(device_);
    if (IsConstant(hlo)) return TableElement(hlo, 0);
    if (IsDynamicSlice(hlo)) return EvaluateTableLookup(hlo, depth);
    const OpClass op_class = Info(hlo.opcode).op_class;
    if (op_class == OpClass::kIndexMap && hlo.operand_count() == 1) return ValueOf(*hlo.operands[0], depth + 1);
    return op_class == OpClass::kElementwise ? EvaluateElementwise(hlo, depth) : std::nullopt;
  }

 private:
  static std::optional<int64_t> TableElement(const Instruction& constant, int64_t offset) {
    const Literal* literal = constant[kConstantValue];
    if (literal == nullptr || literal->elided || !literal->shape->IsArray()) return std::nullopt;
    const Array values = Array::FromLiteral(*literal);
    if (offset < 0 || offset >= values.count()) return std::nullopt;
    return ReadInteger(values.data() + offset * values.element_bytes(), values.type());
  }

  std::optional<int64_t> EvaluateTableLookup(const Instruction& slice, int depth) const {
    const Instruction& table = *slice.operands[0];
    if (!IsConstant(table) || !table.shape().IsArray()) return std::nullopt;
    const Shape& shape = table.shape();
    if (slice.operand_count() != static_cast<size_t>(shape.rank()) + 1) return std::nullopt;
    int64_t offset = 0;
    for (int64_t d = 0; d < shape.rank(); ++d) {
      const auto index = ValueOf(*slice.operands[static_cast<size_t>(d) + 1], depth + 1);
      if (!index || shape.dim(d) < 1) return std::nullopt;
      offset = offset * shape.dim(d) + std::clamp<int64_t>(*index, 0, shape.dim(d) - 1);
    }
    return TableElement(table, offset);
  }

  std::optional<int64_t> EvaluateElementwise(const Instruction& hlo, int depth) const {
    if (hlo.operand_count() > 3) return std::nullopt;
    const ElementLoop kernel = ElementLoopFor(hlo);
    if (kernel.loop == nullptr) return std::nullopt;
    int64_t values[3] = {};
    const std::byte* in[3] = {};
    for (size_t i = 0; i < hlo.operand_count(); ++i) {
      const auto value = ValueOf(*hlo.operands[i], depth + 1);
      if (!value) return std::nullopt;
      values[i] = *value;  // little-endian: the first bytes hold the number in a narrower type
      in[i] = reinterpret_cast<const std::byte*>(&values[i]);
    }
    Array out(kernel.result, Dims{});
    kernel.Run(out.mutable_data(), in, 1);
    return ReadInteger(std::as_const(out).data(), out.type());
  }

  const DeviceGrid& grid_;
  int64_t device_;
};

}  // namespace

std::optional<int64_t> EvaluateOnDevice(const Instruction& hlo, const DeviceGrid& grid, int64_t device) {
  return DeviceEvaluator(grid, device).ValueOf(hlo);
}

}  // namespace shoal::internal
