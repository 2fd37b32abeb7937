// The op table, built from ops.def and the headers of the op families.
#include <algorithm>
#include <memory>

#include "core/base/name_hash.h"
#include "core/ir/module_shardings.h"
#include "core/ops/families.h"

namespace shoal::internal {
namespace {

// An unknown op keeps its declared shape.
ShapeResult InferUnknown(const Instruction& hlo, ShapePool&) { return hlo.shape_; }

// Op<>::Cost is a function, or a pointer to one that several ops share.
template <class Operation>
constexpr auto CostFunction() -> void (*)(const Instruction&, OpCostBuilder&) {
  if constexpr (requires { *Operation::Cost; }) return Operation::Cost;
}

constexpr OpInfo kOps[] = {
#define OP(Name, text, arity)         \
  {text,                              \
   arity,                             \
   Op<Opcode::k##Name>::kClass,       \
   Op<Opcode::k##Name>::kCallKind,    \
   Op<Opcode::k##Name>::kInfersShape, \
   Op<Opcode::k##Name>::kAttrs,       \
   &Op<Opcode::k##Name>::Normalize,   \
   &Op<Opcode::k##Name>::Infer,       \
   CostFunction<Op<Opcode::k##Name>>()},
#include "core/ops/ops.def"
#undef OP
    {"unknown", -1, OpClass::kOpaque, CallKind::kElements, false, {}, &OpBase::Normalize, &InferUnknown, &OpBase::Cost},
};
static_assert(std::size(kOps) == kOpcodeCount + 1);

constexpr AttrDef kCommonAttrs[] = {
    IfGiven(kSharding),   Optional(kFrontendAttributes),   IfGiven(kControlPredecessors),
    IfGiven(kStatistics), Optional(kResultAccuracy),       IfGiven(kOrigin),
    IfGiven(kMetadata),   AsJson(IfGiven(kBackendConfig)), Unprinted(kParameterReplication),
};

// Attributes are stored only by id, so two names with the same id would be one attribute.
constexpr bool AttrIdsAreUnique() {
  std::array<AttrDef, 512> seen{};
  size_t count = 0;
  auto add = [&](std::string_view name, uint32_t id) {
    for (size_t i = 0; i < count; ++i)
      if (seen[i].id == id) return seen[i].name == name;
    seen[count].name = name;
    seen[count++].id = id;
    return true;
  };
  bool unique = add(kParameterNumber.name, kParameterNumber.id) && add(kConstantValue.name, kConstantValue.id) &&
                add(kUnknownOpcode.name, kUnknownOpcode.id) && add(kRecordedSharding.name, kRecordedSharding.id);
  for (const AttrDef& def : kCommonAttrs) unique &= add(def.name, def.id);
  for (const OpInfo& op : kOps)
    for (const AttrDef& def : op.attrs) unique &= add(def.name, def.id);
  return unique;
}
static_assert(AttrIdsAreUnique());

// A hash table from names to opcodes, with open addressing. The length and four letters distinguish all names of
// ops.def, and the table is a quarter full, so nearly every lookup compares one string.
constexpr size_t kSlots = 512;

constexpr size_t Slot(std::string_view text) {
  const size_t n = text.size();
  auto letter = [text](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(text[i])); };
  const uint32_t key = letter(0) ^ (letter(n / 4) << 7) ^ (letter(n / 2) << 14) ^ (letter(n - 1) << 21);
  return ((key + static_cast<uint32_t>(n)) * 2654435769u) >> 23;
}

constexpr std::array<Opcode, kSlots> MakeSlots() {
  std::array<Opcode, kSlots> slots{};
  slots.fill(Opcode::kUnknown);
  for (int i = 0; i < kOpcodeCount; ++i) {
    size_t slot = Slot(kOps[i].text);
    while (slots[slot] != Opcode::kUnknown) slot = (slot + 1) % kSlots;
    slots[slot] = static_cast<Opcode>(i);
  }
  return slots;
}
constexpr std::array<Opcode, kSlots> kSlotOpcodes = MakeSlots();

}  // namespace

const OpInfo& Info(Opcode opcode) { return kOps[std::min<size_t>(static_cast<size_t>(opcode), kOpcodeCount)]; }

std::optional<Opcode> ParseOpcode(std::string_view text) {
  if (text.empty()) return std::nullopt;
  for (size_t slot = Slot(text);; slot = (slot + 1) % kSlots) {
    const Opcode opcode = kSlotOpcodes[slot];
    if (opcode == Opcode::kUnknown) return std::nullopt;
    if (SameName(kOps[static_cast<size_t>(opcode)].text, text)) return opcode;
  }
}

std::string_view ToString(OpClass op_class) {
  static constexpr std::string_view kNames[] = {"elementwise",    "index-map",      "reduction", "contraction",
                                                "gather-scatter", "linear-algebra", "random",    "control-flow",
                                                "collective",     "transfer",       "structure", "opaque"};
  static_assert(std::size(kNames) == static_cast<size_t>(OpClass::kOpaque) + 1);
  return kNames[static_cast<size_t>(op_class)];
}

const AttrDef* FindAttr(std::span<const AttrDef> attrs, uint32_t id) {
  for (const AttrDef& def : attrs)
    if (def.id == id) return &def;
  return nullptr;
}

const AttrDef* FindAttr(Opcode opcode, uint32_t id) {
  if (const AttrDef* own = FindAttr(Info(opcode).attrs, id)) return own;
  // The common list has result_accuracy only to fix its position in the printed order; few ops accept it.
  return id == kResultAccuracy.id ? nullptr : FindAttr(kCommonAttrs, id);
}

std::span<const AttrDef> CommonAttrs() { return kCommonAttrs; }

void SetAttr(Instruction& hlo, Module& module, uint32_t id, AttrValue value) {
  for (NamedAttr& attr : hlo.attrs) {
    if (attr.id != id) continue;
    attr.value = value;
    return;
  }
  std::span<NamedAttr> longer = module.arena.NewSpan<NamedAttr>(hlo.attrs.size() + 1);
  std::uninitialized_copy(hlo.attrs.begin(), hlo.attrs.end(), longer.begin());
  std::construct_at(&longer.back(), NamedAttr{id, value});
  hlo.attrs = longer;
}

Diag Broken(const Instruction& hlo, std::string_view rule, std::string message, Site site) {
  return Fail(hlo.at, StrCat(Text(hlo.opcode), ".", rule), std::move(message), site);
}

}  // namespace shoal::internal
