#include "core/ops/working_types.h"

#include <algorithm>

#include "core/ops/rules.h"

namespace shoal::internal {
namespace {

// Operands and leaves of the result that share a type.
enum class TypeSharing : uint8_t {
  kNone,   // the op handles its types itself, or must not mix them
  kAll,    // one type for all floats
  kPairs,  // operand k and leaf k of the result
};

struct WorkingType {
  Opcode opcode;
  TypeSharing sharing;
};
// Ops that differ from the rest of their class.
constexpr WorkingType kWorkingTypes[] = {
    {Opcode::kBitcast, TypeSharing::kNone},
    {Opcode::kBitcastConvert, TypeSharing::kNone},
    {Opcode::kCollectiveBroadcast, TypeSharing::kPairs},
    {Opcode::kCollectivePermute, TypeSharing::kPairs},
    {Opcode::kConvert, TypeSharing::kNone},
    {Opcode::kAllGather, TypeSharing::kPairs},
    {Opcode::kAllReduce, TypeSharing::kPairs},
    {Opcode::kAllToAll, TypeSharing::kAll},
    {Opcode::kRaggedAllToAll, TypeSharing::kAll},
    {Opcode::kReduceScatter, TypeSharing::kPairs},
    {Opcode::kScatter, TypeSharing::kNone},
    {Opcode::kSelectAndScatter, TypeSharing::kAll},
    {Opcode::kSort, TypeSharing::kPairs},
    {Opcode::kStochasticConvert, TypeSharing::kNone},
    {Opcode::kTopK, TypeSharing::kAll},
};

TypeSharing TypeSharingOf(const Instruction& hlo) {
  for (const WorkingType& row : kWorkingTypes)
    if (row.opcode == hlo.opcode) return row.sharing;
  switch (Info(hlo.opcode).op_class) {
    case OpClass::kElementwise:
    case OpClass::kIndexMap:
    case OpClass::kGatherScatter:
    case OpClass::kLinearAlgebra:
    case OpClass::kRandom:
      return TypeSharing::kAll;
    default:
      return TypeSharing::kNone;
  }
}

void AppendTypes(const Shape& shape, std::vector<ElementType>& types) {
  if (!shape.IsTuple()) return types.push_back(shape.element_type());
  for (const Shape* element : shape.elements()) AppendTypes(*element, types);
}

// Sets all float types among `types` to the widest one.
void Unify(std::span<ElementType* const> types) {
  ElementType widest = ElementType::kInvalid;
  for (const ElementType* type : types)
    if (IsFloat(*type)) widest = widest == ElementType::kInvalid ? *type : HigherPrecision(widest, *type);
  for (ElementType* type : types)
    if (IsFloat(*type)) *type = widest;
}

ElementType PartType(ElementType complex) { return complex == ElementType::kC128 ? ElementType::kF64 : ElementType::kF32; }

// The type in which the result is computed if one of operand and result is complex and the other is a float, as in
// real, complex and fft. Otherwise the declared type of the result.
ElementType ComputedResultType(const Instruction& hlo) {
  const ElementType declared = hlo.shape().element_type();
  const OpClass op_class = Info(hlo.opcode).op_class;
  if ((op_class != OpClass::kElementwise && op_class != OpClass::kLinearAlgebra) || hlo.operand_count() == 0) return declared;
  ElementType operand = hlo.operand_shape(0).element_type();
  if (IsComplex(operand) && IsFloat(declared)) return PartType(operand);
  if (!IsFloat(operand) || !IsComplex(declared)) return declared;
  for (const Instruction* other : hlo.operands) operand = HigherPrecision(operand, other->shape().element_type());
  return operand == ElementType::kF64 ? ElementType::kC128 : ElementType::kC64;
}

// True if all floats of operands and result have one declared type, which is nearly always the case.
bool HasOneFloatType(const Instruction& hlo) {
  if (!hlo.shape().IsArray()) return false;
  ElementType first = hlo.shape().element_type();
  for (const Instruction* operand : hlo.operands) {
    const ElementType type = operand->shape().element_type();
    if (!IsFloat(type)) continue;
    if (IsFloat(first) && type != first) return false;
    first = type;
  }
  return true;
}

}  // namespace

WorkingTypes WorkingTypesOf(const Instruction& hlo) {
  WorkingTypes types;
  const TypeSharing sharing = TypeSharingOf(hlo);
  if (sharing == TypeSharing::kNone) return types;
  const bool crosses_complex = hlo.shape().IsArray() && ComputedResultType(hlo) != hlo.shape().element_type();
  if (HasOneFloatType(hlo) && !crosses_complex) return types;
  for (const Instruction* operand : hlo.operands) types.operands.push_back(operand->shape().element_type());
  AppendTypes(hlo.shape(), types.results);
  const WorkingTypes declared = types;
  std::vector<ElementType*> shared;
  if (sharing == TypeSharing::kAll) {
    for (ElementType& type : types.operands) shared.push_back(&type);
    for (ElementType& type : types.results) shared.push_back(&type);
    if (crosses_complex) types.results[0] = ComputedResultType(hlo);
    Unify(shared);
  } else {
    for (size_t k = 0; k < std::min(types.operands.size(), types.results.size()); ++k)
      Unify(std::vector{&types.operands[k], &types.results[k]});
  }
  types.mixed = types.operands != declared.operands || types.results != declared.results;
  return types;
}

bool ReturnsAnOperand(Opcode opcode) {
  static constexpr Opcode kReturningOperand[] = {Opcode::kSelect,  Opcode::kNegate,  Opcode::kAbs,
                                                 Opcode::kMaximum, Opcode::kMinimum, Opcode::kClamp};
  return std::ranges::find(kReturningOperand, opcode) != std::end(kReturningOperand);
}

}  // namespace shoal::internal
