// Rules of ops that call computations.
#pragma once

#include <vector>

#include "core/ops/attrs.h"
#include "core/ops/rules.h"

namespace shoal::internal {

// The parameter and result shapes of a computation; never null.
struct Signature {
  std::vector<const Shape*> parameters;
  const Shape* result = nullptr;
};

// The signature of the computation that `key` names. Reports rule C0 if it is incomplete, as in loose text.
Result<Signature> SignatureOf(const Instruction& hlo, const Attr<Computation*>& key);
Result<Signature> SignatureOf(const Instruction& hlo, std::string_view key, const Computation* callee);

// True if the shapes are equal except for layouts, dynamic dimensions and the precision of floats.
bool EqualExceptPrecision(const Shape& a, const Shape& b);
bool IsScalarOf(const Shape& shape, ElementType type);

// Checks that a computation is a reduction: (accumulators…, elements…) -> accumulators, all of them scalars. `inits`
// are the initial values of the accumulators. `rules` has the rule ids of the calling op. As in XLA, the precision of
// floats may differ.
struct ReducerRules {
  std::string_view parameter_count, result, types;
};
Status CheckReducer(const Instruction& hlo, const Attr<Computation*>& key, const Signature& reducer,
                    std::span<const Shape* const> inits, std::span<const ElementType> elements,
                    const ReducerRules& rules);

// Checks that output_to_operand_aliasing names existing parts of operands and result that have the same shape.
struct AliasRules {
  std::string_view operand, index, shape;
};
struct AliasLeniency {
  bool any_shape = false;
  bool buffers_as_arrays = false;  // b(f32[4]) may alias f32[4]
};
Status CheckAliasing(const Instruction& hlo, const AliasRules& rules, AliasLeniency leniency = {});

// The shapes of operands [first, first + count).
std::vector<const Shape*> OperandShapes(const Instruction& hlo, size_t first, size_t count);
inline std::vector<const Shape*> OperandShapes(const Instruction& hlo) {
  return OperandShapes(hlo, 0, hlo.operand_count());
}
// The shape itself if there is only one, else a tuple of the shapes.
const Shape* OneOrTuple(std::span<const Shape* const> parts, ShapePool& shapes);

}  // namespace shoal::internal
