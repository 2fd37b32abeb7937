#include "core/ops/working_types.h"

#include <algorithm>

#include "core/ops/rules.h"

namespace shoal::internal {
namespace {

// Which operands and leaves of the result share a type.
enum class Sharing : uint8_t {
  kNone,   // the op looks after its types itself, or may not mix them
  kAll,    // one type for all floats
  kPairs,  // operand k and leaf k of the result
};

struct WorkingType {
  Opcode opcode;
  Sharing sharing;
};
// What differs from the rest of its class.
constexpr WorkingType kWorkingTypes[] = {
    {Opcode::kBitcast, Sharing::kNone},
    {Opcode::kBitcastConvert, Sharing::kNone},
    {Opcode::kCollectiveBroadcast, Sharing::kPairs},
    {Opcode::kCollectivePermute, Sharing::kPairs},
    {Opcode::kConvert, Sharing::kNone},
    {Opcode::kAllGather, Sharing::kPairs},
    {Opcode::kAllReduce, Sharing::kPairs},
    {Opcode::kAllToAll, Sharing::kAll},
    {Opcode::kRaggedAllToAll, Sharing::kAll},
    {Opcode::kReduceScatter, Sharing::kPairs},
    {Opcode::kScatter, Sharing::kNone},
    {Opcode::kSelectAndScatter, Sharing::kAll},
    {Opcode::kSort, Sharing::kPairs},
    {Opcode::kStochasticConvert, Sharing::kNone},
    {Opcode::kTopK, Sharing::kAll},
};

Sharing SharingOf(const Instruction& hlo) {
  for (const WorkingType& row : kWorkingTypes)
    if (row.opcode == hlo.opcode) return row.sharing;
  switch (Info(hlo.opcode).op_class) {
    case OpClass::kElementwise:
    case OpClass::kIndexMap:
    case OpClass::kGatherScatter:
    case OpClass::kLinearAlgebra:
    case OpClass::kRandom:
      return Sharing::kAll;
    default:
      return Sharing::kNone;
  }
}

void AppendTypes(const Shape& shape, std::vector<ElementType>& types) {
  if (!shape.IsTuple()) return types.push_back(shape.element_type());
  for (const Shape* element : shape.elements()) AppendTypes(*element, types);
}

// Makes the floats among them one type, the widest.
void Unify(std::span<ElementType* const> types) {
  ElementType widest = ElementType::kInvalid;
  for (const ElementType* type : types)
    if (IsFloat(*type)) widest = widest == ElementType::kInvalid ? *type : HigherPrecision(widest, *type);
  for (ElementType* type : types)
    if (IsFloat(*type)) *type = widest;
}

ElementType PartType(ElementType complex) { return complex == ElementType::kC128 ? ElementType::kF64 : ElementType::kF32; }

// Where one of the two is complex and the other its parts, as in real, complex and fft: what the result is computed in; else
// what it is declared as.
ElementType ResultOfParts(const Instruction& hlo) {
  const ElementType declared = hlo.shape().element_type();
  const OpClass op_class = Info(hlo.opcode).op_class;
  if ((op_class != OpClass::kElementwise && op_class != OpClass::kLinearAlgebra) || hlo.operand_count() == 0) return declared;
  ElementType operand = hlo.operand_shape(0).element_type();
  if (IsComplex(operand) && IsFloat(declared)) return PartType(operand);
  if (!IsFloat(operand) || !IsComplex(declared)) return declared;
  for (const Instruction* other : hlo.operands) operand = HigherPrecision(operand, other->shape().element_type());
  return operand == ElementType::kF64 ? ElementType::kC128 : ElementType::kC64;
}

// All floats that take part are declared as one type: nearly always.
bool HasOneFloat(const Instruction& hlo) {
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
  const Sharing sharing = SharingOf(hlo);
  if (sharing == Sharing::kNone) return types;
  const bool by_parts = hlo.shape().IsArray() && ResultOfParts(hlo) != hlo.shape().element_type();
  if (HasOneFloat(hlo) && !by_parts) return types;
  for (const Instruction* operand : hlo.operands) types.operands.push_back(operand->shape().element_type());
  AppendTypes(hlo.shape(), types.results);
  const WorkingTypes declared = types;
  std::vector<ElementType*> shared;
  if (sharing == Sharing::kAll) {
    for (ElementType& type : types.operands) shared.push_back(&type);
    for (ElementType& type : types.results) shared.push_back(&type);
    if (by_parts) types.results[0] = ResultOfParts(hlo);
    Unify(shared);
  } else {
    for (size_t k = 0; k < std::min(types.operands.size(), types.results.size()); ++k)
      Unify(std::vector{&types.operands[k], &types.results[k]});
  }
  types.mixed = types.operands != declared.operands || types.results != declared.results;
  return types;
}

bool GivesAnOperand(Opcode opcode) {
  static constexpr Opcode kGiving[] = {Opcode::kSelect,  Opcode::kNegate,  Opcode::kAbs,
                                       Opcode::kMaximum, Opcode::kMinimum, Opcode::kClamp};
  return std::ranges::find(kGiving, opcode) != std::end(kGiving);
}

}  // namespace shoal::internal
