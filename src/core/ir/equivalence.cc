#include "core/ir/equivalence.h"

#include <cstring>

#include "absl/hash/hash.h"
#include "core/ir/common_attrs.h"
#include "core/ir/module.h"

namespace shoal::internal {
namespace {

// Attributes that say where an instruction came from, not what it is.
bool IsNote(uint32_t id) { return id == kMetadata.id || id == kOrigin.id || id == kStatistics.id; }

template <class T>
bool SameBytes(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

bool SameLiteral(const Literal* a, const Literal* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || a->elided || b->elided || !a->elements.empty() || !b->elements.empty()) return false;
  return a->data.size() <= 4096 && SameBytes<std::byte>(a->data, b->data);
}

// How far to look into computations that an instruction names: those that name others again must be the same ones, so
// that calls in calls cost nothing.
enum class Callees : uint8_t { kSame, kAlike };

bool SameInstructions(const Computation& a, const Computation& b, Callees callees);

// Of two attributes of one id.
bool SameValue(const AttrValue& a, const AttrValue& b, Callees callees) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&]<class T>(const T& x) {
        const T& y = std::get<T>(b);
        if constexpr (std::is_same_v<T, const Literal*>) {
          return SameLiteral(x, y);
        } else if constexpr (std::is_same_v<T, EnumValue>) {
          return x.index == y.index;
        } else if constexpr (std::is_same_v<T, Ints> || std::is_same_v<T, std::span<const SliceRange>> ||
                             std::is_same_v<T, std::span<const PaddingDim>>) {
          return SameBytes(x, y);
        } else if constexpr (std::is_same_v<T, Computation*>) {
          return x == y || (callees == Callees::kAlike && x != nullptr && y != nullptr && SameInstructions(*x, *y, Callees::kSame));
        } else if constexpr (requires { x.data(); }) {
          return x.data() == y.data() && x.size() == y.size();
        } else if constexpr (requires { x == y; }) {
          return x == y;
        } else {
          return false;
        }
      },
      a);
}

// Every attribute of `a` is in `b`.
bool Covers(const Instruction& a, const Instruction& b, Callees callees) {
  for (const NamedAttr& attr : a.attrs) {
    if (IsNote(attr.id)) continue;
    const AttrValue* other = b.Find(attr.id);
    if (other == nullptr || !SameValue(attr.value, *other, callees)) return false;
  }
  return true;
}

// The same op of the same types, of operands at the same places.
bool SameInPlace(const Instruction& a, const Instruction& b, Callees callees) {
  if (a.opcode != b.opcode || a.shape_ != b.shape_ || a.operand_count() != b.operand_count()) return false;
  for (size_t i = 0; i < a.operand_count(); ++i)
    if (a.operands[i]->index != b.operands[i]->index) return false;
  return Covers(a, b, callees) && Covers(b, a, callees);
}

bool SameInstructions(const Computation& a, const Computation& b, Callees callees) {
  if (&a == &b) return true;
  if (a.instructions.size() != b.instructions.size() || a.root->index != b.root->index) return false;
  for (size_t i = 0; i < a.instructions.size(); ++i)
    if (!SameInPlace(*a.instructions[i], *b.instructions[i], callees)) return false;
  return true;
}

}  // namespace

bool HaveEqualAttributes(const Instruction& a, const Instruction& b) {
  return Covers(a, b, Callees::kAlike) && Covers(b, a, Callees::kAlike);
}

bool HaveEqualBodies(const Computation& a, const Computation& b) { return SameInstructions(a, b, Callees::kAlike); }

size_t BodyHash::operator()(const Computation* computation) const {
  size_t hash = computation->instructions.size();
  for (const Instruction* hlo : computation->instructions) {
    hash = absl::HashOf(hash, static_cast<int>(hlo->opcode), hlo->shape_);
    for (const Instruction* operand : hlo->operands) hash = absl::HashOf(hash, operand->index);
  }
  return hash;
}

}  // namespace shoal::internal
