#include "core/ir/equivalence.h"

#include <cstring>

#include "absl/hash/hash.h"
#include "core/ir/common_attrs.h"
#include "core/ir/module_shardings.h"
#include "core/ir/module.h"
#include "core/ir/sharding.h"

namespace shoal::internal {
namespace {

// Attributes that describe the origin of an instruction, not its semantics.
bool IsInformational(uint32_t id) {
  return id == kMetadata.id || id == kOrigin.id || id == kStatistics.id || id == kRecordedSharding.id;
}

template <class T>
bool EqualBytes(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

bool EqualLiterals(const Literal* a, const Literal* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || a->elided || b->elided || !a->elements.empty() || !b->elements.empty()) return false;
  return a->data.size() <= 4096 && EqualBytes<std::byte>(a->data, b->data);
}

// Called computations are compared by address, or by body. Inside a body, callees are compared by address: it is fast.
enum class Callees : uint8_t { kIdentical, kEqual };

bool EqualInstructions(const Computation& a, const Computation& b, Callees callees);

// Compares two values of the same attribute.
bool EqualValues(const AttrValue& a, const AttrValue& b, Callees callees) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&]<class T>(const T& x) {
        const T& y = std::get<T>(b);
        if constexpr (std::is_same_v<T, const Literal*>) {
          return EqualLiterals(x, y);
        } else if constexpr (std::is_same_v<T, const Sharding*>) {
          return x == y || (x != nullptr && y != nullptr && *x == *y);
        } else if constexpr (std::is_same_v<T, EnumValue>) {
          return x.index == y.index;
        } else if constexpr (std::is_same_v<T, Ints> || std::is_same_v<T, std::span<const SliceRange>> ||
                             std::is_same_v<T, std::span<const PaddingDim>>) {
          return EqualBytes(x, y);
        } else if constexpr (std::is_same_v<T, Computation*>) {
          return x == y || (callees == Callees::kEqual && x != nullptr && y != nullptr &&
                            EqualInstructions(*x, *y, Callees::kIdentical));
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

// True if `b` has every attribute of `a` with an equal value.
bool Covers(const Instruction& a, const Instruction& b, Callees callees) {
  for (const NamedAttr& attr : a.attrs) {
    if (IsInformational(attr.id)) continue;
    const AttrValue* other = b.Find(attr.id);
    if (other == nullptr || !EqualValues(attr.value, *other, callees)) return false;
  }
  return true;
}

// True for equal ops of equal types whose operands have equal indices in their computations.
bool IsEqualInstruction(const Instruction& a, const Instruction& b, Callees callees) {
  if (a.opcode != b.opcode || a.shape_ != b.shape_ || a.operand_count() != b.operand_count()) return false;
  for (size_t i = 0; i < a.operand_count(); ++i)
    if (a.operands[i]->index != b.operands[i]->index) return false;
  return Covers(a, b, callees) && Covers(b, a, callees);
}

bool EqualInstructions(const Computation& a, const Computation& b, Callees callees) {
  if (&a == &b) return true;
  if (a.instructions.size() != b.instructions.size() || a.root->index != b.root->index) return false;
  for (size_t i = 0; i < a.instructions.size(); ++i)
    if (!IsEqualInstruction(*a.instructions[i], *b.instructions[i], callees)) return false;
  return true;
}

}  // namespace

bool HaveEqualAttributes(const Instruction& a, const Instruction& b) {
  return Covers(a, b, Callees::kEqual) && Covers(b, a, Callees::kEqual);
}

bool HaveEqualBodies(const Computation& a, const Computation& b) { return EqualInstructions(a, b, Callees::kEqual); }

size_t BodyHash::operator()(const Computation* computation) const {
  size_t hash = computation->instructions.size();
  for (const Instruction* hlo : computation->instructions) {
    hash = absl::HashOf(hash, static_cast<int>(hlo->opcode), hlo->shape_);
    for (const Instruction* operand : hlo->operands) hash = absl::HashOf(hash, operand->index);
  }
  return hash;
}

}  // namespace shoal::internal
