// The op table: for each opcode, its class, its attributes, the rules for its operands and attributes, and its shape
// inference. Parser, printer, verifier and all later stages use the table and never name an op.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "core/ir/common_attrs.h"
#include "core/ir/module.h"
#include "core/ops/opcode.h"
#include "core/ops/op_cost.h"

namespace shoal::internal {

// The kind of work of an op. Code outside core/ops switches on the class, never on the opcode.
enum class OpClass : uint8_t {
  kElementwise,    // result[i] from operands[i]
  kIndexMap,       // result[i] = operand[f(i)]: reshape, slice, transpose, broadcast, …
  kReduction,      // applies a computation over dimensions or windows; sort, scan
  kContraction,    // dot, convolution
  kGatherScatter,  // indices that are operands
  kLinearAlgebra,  // cholesky, triangular-solve, fft, batch norm
  kRandom,
  kControlFlow,  // runs other computations: while, conditional, call, fusion
  kCollective,   // communicates with other devices
  kTransfer,     // send, recv, infeed, outfeed, copy-start, async wrappers
  kStructure,    // parameter, constant, tuple, tokens: no work
  kOpaque,       // custom-call and unknown ops
};
std::string_view ToString(OpClass op_class);

// The way in which an op runs its called computations.
enum class CallKind : uint8_t {
  kElements,  // runs to_apply of a reduce, sort, … on scalars, as part of the op
  kOnce,      // runs once with the operands as arguments: call, fusion, async-start
  kLoop,      // while
  kBranch,    // conditional
};

// The syntax of an attribute; formats/text has a parse function (attr_reader.cc) and a print function for each.
enum class AttrKind : uint8_t {
  kBool,
  kInt,
  kInt32,
  kFloat,
  kString,
  kStringOrJson,
  kEnum,
  kEnumList,
  kInts,
  kIntLists,
  kComputation,
  kComputations,
  kInstructions,
  kWindow,
  kConvDims,
  kSliceRanges,
  kPadding,
  kSharding,
  kReplicaGroups,
  kFrontendAttributes,
  kStatistics,
  kBools,
  kMetadata,
  kDomain,
  kShape,
  kShapes,
  kLiteral,
  kResultAccuracy,
  kAliasing,
  kOriginalValue,
  kSparsity,
};

// The condition for printing an attribute.
enum class Shown : uint8_t {
  kAlways,        // even if the text did not have it
  kIfGiven,       // if the text had it
  kIfNotDefault,  // if the text had it with a value other than the default
  kNever,         // parsed and dropped, or printed elsewhere
};

struct AttrDef {
  std::string_view name;
  uint32_t id = 0;
  AttrKind kind = AttrKind::kBool;
  bool required = false;
  Shown shown = Shown::kIfNotDefault;
  std::span<const std::string_view> enum_names;
  int64_t default_int = 0;                         // for kInt, kBool, kEnum
  bool (*shown_if)(const Instruction&) = nullptr;  // a further condition for printing
  bool (*not_required_if)(const Instruction&) = nullptr;
};

// The names of an enum attribute's values, in order. Each enum has a specialization.
template <class E>
struct EnumNames;

// The kind of attribute for a key's C++ type. AsInt32 and AsJson below select other spellings of the same type.
template <class T>
constexpr AttrKind AttrKindOf() {
  if constexpr (std::is_enum_v<T>) return AttrKind::kEnum;
  if constexpr (std::is_same_v<T, bool>) return AttrKind::kBool;
  if constexpr (std::is_same_v<T, int64_t>) return AttrKind::kInt;
  if constexpr (std::is_same_v<T, double>) return AttrKind::kFloat;
  if constexpr (std::is_same_v<T, std::string_view>) return AttrKind::kString;
  if constexpr (std::is_same_v<T, Ints>) return AttrKind::kInts;
  if constexpr (std::is_same_v<T, IntLists>) return AttrKind::kIntLists;
  if constexpr (std::is_same_v<T, Computation*>) return AttrKind::kComputation;
  if constexpr (std::is_same_v<T, Computations>) return AttrKind::kComputations;
  if constexpr (std::is_same_v<T, Instructions>) return AttrKind::kInstructions;
  if constexpr (std::is_same_v<T, const Window*>) return AttrKind::kWindow;
  if constexpr (std::is_same_v<T, const ConvDims*>) return AttrKind::kConvDims;
  if constexpr (std::is_same_v<T, std::span<const SliceRange>>) return AttrKind::kSliceRanges;
  if constexpr (std::is_same_v<T, std::span<const PaddingDim>>) return AttrKind::kPadding;
  if constexpr (std::is_same_v<T, const Sharding*>) return AttrKind::kSharding;
  if constexpr (std::is_same_v<T, const ReplicaGroups*>) return AttrKind::kReplicaGroups;
  if constexpr (std::is_same_v<T, std::span<const FrontendAttribute>>) return AttrKind::kFrontendAttributes;
  if constexpr (std::is_same_v<T, const Statistics*>) return AttrKind::kStatistics;
  if constexpr (std::is_same_v<T, std::span<const bool>>) return AttrKind::kBools;
  if constexpr (std::is_same_v<T, const Metadata*>) return AttrKind::kMetadata;
  if constexpr (std::is_same_v<T, const Domain*>) return AttrKind::kDomain;
  if constexpr (std::is_same_v<T, EnumList>) return AttrKind::kEnumList;
  if constexpr (std::is_same_v<T, const Shape*>) return AttrKind::kShape;
  if constexpr (std::is_same_v<T, std::span<const Shape* const>>) return AttrKind::kShapes;
  if constexpr (std::is_same_v<T, const Literal*>) return AttrKind::kLiteral;
  if constexpr (std::is_same_v<T, const ResultAccuracy*>) return AttrKind::kResultAccuracy;
  if constexpr (std::is_same_v<T, std::span<const OutputOperandAlias>>) return AttrKind::kAliasing;
  if constexpr (std::is_same_v<T, const OriginalValue*>) return AttrKind::kOriginalValue;
  if constexpr (std::is_same_v<T, const SparsityConfig*>) return AttrKind::kSparsity;
}

template <class T>
constexpr AttrDef Define(const Attr<T>& key, bool required, Shown shown) {
  AttrDef def{key.name, key.id, AttrKindOf<T>(), required, shown, {}, 0, nullptr, nullptr};
  if constexpr (std::is_enum_v<T>) def.enum_names = EnumNames<T>::kNames;
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int64_t> || std::is_enum_v<T>)
    def.default_int = static_cast<int64_t>(key.fallback);
  return def;
}

// The rows of an op's attribute list, in the order in which XLA prints them.
template <class T>
constexpr AttrDef Required(const Attr<T>& key) {
  return Define(key, true, Shown::kAlways);
}
template <class T>
constexpr AttrDef Optional(const Attr<T>& key) {
  return Define(key, false, Shown::kIfNotDefault);
}
template <class T>
constexpr AttrDef IfGiven(const Attr<T>& key) {
  return Define(key, false, Shown::kIfGiven);
}
template <class T>
constexpr AttrDef Always(const Attr<T>& key) {
  return Define(key, false, Shown::kAlways);
}
template <class T>
constexpr AttrDef Unprinted(const Attr<T>& key) {
  return Define(key, false, Shown::kNever);
}

constexpr AttrDef AsInt32(AttrDef def) {
  def.kind = AttrKind::kInt32;
  return def;
}
constexpr AttrDef AsJson(AttrDef def) {
  def.kind = AttrKind::kStringOrJson;
  return def;
}
constexpr AttrDef ShownIf(AttrDef def, bool (*condition)(const Instruction&)) {
  def.shown_if = condition;
  return def;
}
constexpr AttrDef NotRequiredIf(AttrDef def, bool (*condition)(const Instruction&)) {
  def.not_required_if = condition;
  return def;
}
constexpr AttrDef OneOf(AttrDef def, std::span<const std::string_view> names) {
  def.enum_names = names;
  return def;
}

// Default members of Op<>, which each op may override.
struct OpBase {
  static constexpr std::array<AttrDef, 0> kAttrs{};
  // The text may omit the result shape; Infer then provides it.
  static constexpr bool kInfersShape = false;
  static constexpr CallKind kCallKind = CallKind::kElements;
  // Checks the rules that XLA's own parser enforces, and normalizes the instruction as XLA's parser does: it computes
  // some shapes and fills in some attributes. Called for every parsed instruction.
  static Status Normalize(Instruction&, Module&) { return {}; }
  // Adds to the default cost, which is to read all operands and to write the result, or replaces it.
  static void Cost(const Instruction&, OpCostBuilder&) {}
};
// The costs of ops that access no memory, and of ops with one operation per element.
void NoCost(const Instruction& hlo, OpCostBuilder& builder);
void CostOfElementwise(const Instruction& hlo, OpCostBuilder& builder, bool transcendental);

// Op<k> also has
//   static constexpr OpClass kClass;
//   static Result<const Shape*> Infer(const Instruction& hlo, ShapePool& shapes);
// Infer returns the shape that operands and attributes determine, or the first broken rule. If they do not determine
// the shape (parameter, bitcast, …), it checks the existing rules and returns the declared shape.
template <Opcode>
struct Op;

struct OpInfo {
  std::string_view text;
  int arity = -1;
  OpClass op_class = OpClass::kOpaque;
  CallKind call_kind = CallKind::kElements;
  bool infers_shape = false;
  std::span<const AttrDef> attrs;
  Status (*form)(Instruction&, Module&) = nullptr;
  Result<const Shape*> (*infer)(const Instruction&, ShapePool&) = nullptr;
  void (*cost)(const Instruction&, OpCostBuilder&) = nullptr;
};

const OpInfo& Info(Opcode opcode);
inline CallKind CallKindOf(const Instruction& hlo) { return Info(hlo.opcode).call_kind; }
// The attribute with this id among the op's own and the common ones; null if there is none.
const AttrDef* FindAttr(Opcode opcode, uint32_t id);
const AttrDef* FindAttr(std::span<const AttrDef> attrs, uint32_t id);
// The attributes that every op has, in the order in which they are printed, after the op's own.
std::span<const AttrDef> CommonAttrs();

// The name of an unknown op.
inline constexpr Attr<std::string_view> kUnknownOpcode{"(opcode)"};

// Adds or replaces an attribute.
void SetAttr(Instruction& hlo, Module& module, uint32_t id, AttrValue value);
template <class T>
void SetAttr(Instruction& hlo, Module& module, const Attr<T>& key, T value) {
  SetAttr(hlo, module, key.id, AttrValue(value));
}

// An error about a broken rule of `hlo`'s op. The rule id is the op's name and `rule`, as in "reverse.C2".
Diag Broken(const Instruction& hlo, std::string_view rule, std::string message, Site site = Site::Here());

}  // namespace shoal::internal
