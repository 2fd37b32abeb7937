// Rules of ops that call computations.
#pragma once

#include <vector>

#include "core/ops/attrs.h"
#include "core/ops/rules.h"

namespace shoal::internal {

// What a computation takes and gives; no pointer is null.
struct Signature {
  std::vector<const Shape*> parameters;
  const Shape* result = nullptr;
};

// Of the computation that `key` names. C0 is broken if it is not all there, which only loose text brings
// about.
Result<Signature> SignatureOf(const Instruction& hlo, const Attr<Computation*>& key);
Result<Signature> SignatureOf(const Instruction& hlo, std::string_view key, const Computation* callee);

// Equal but for layouts, dynamic dimensions and the precision of floats.
bool SameButPrecision(const Shape& a, const Shape& b);
bool IsScalarOf(const Shape& shape, ElementType type);

// A reduction: (accumulators…, elements…) -> accumulators, all scalars. `inits` are what the accumulators
// start from. Each number is a rule of the op that calls it. Floats of different precision may meet, as XLA
// lets them.
struct ReducerRules {
  std::string_view parameter_count, result, types;
};
Status CheckReducer(const Instruction& hlo, const Attr<Computation*>& key, const Signature& reducer,
                    std::span<const Shape* const> inits, std::span<const ElementType> elements,
                    const ReducerRules& rules);

// output_to_operand_aliasing names places that exist and have one shape.
struct AliasRules {
  std::string_view operand, index, shape;
};
struct AliasLeniency {
  bool any_shape = false;
  bool buffers_as_arrays = false;  // b(f32[4]) may share with f32[4]
};
Status CheckAliasing(const Instruction& hlo, const AliasRules& rules, AliasLeniency leniency = {});

// The shapes of operands [first, first + count).
std::vector<const Shape*> OperandShapes(const Instruction& hlo, size_t first, size_t count);
inline std::vector<const Shape*> OperandShapes(const Instruction& hlo) {
  return OperandShapes(hlo, 0, hlo.operand_count());
}
// The one shape, or a tuple of them.
const Shape* OneOrTuple(std::span<const Shape* const> parts, ShapePool& shapes);

}  // namespace shoal::internal
