#include <cstring>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "ir/rewrite.h"
#include "passes/loop_ops.h"
#include "passes/pass.h"

namespace shoal {
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

// Of two attributes of one id. Compound ones are only the same if they are one object: that is less, not wrong.
bool SameValue(const AttrValue& a, const AttrValue& b) {
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

struct HashOf {
  size_t operator()(const Instruction* hlo) const {
    size_t hash = absl::HashOf(static_cast<int>(hlo->opcode), hlo->shape_);
    for (const Instruction* operand : hlo->operands) hash = absl::HashOf(hash, operand);
    return hash;
  }
};

struct SameAs {
  bool operator()(const Instruction* a, const Instruction* b) const {
    if (a == b) return true;
    if (a->opcode != b->opcode || a->shape_ != b->shape_ || a->operand_count() != b->operand_count()) return false;
    for (size_t i = 0; i < a->operand_count(); ++i)
      if (a->operands[i] != b->operands[i]) return false;
    return Covers(*a, *b) && Covers(*b, *a);
  }
  // Every attribute of `a` is in `b`.
  static bool Covers(const Instruction& a, const Instruction& b) {
    for (const NamedAttr& attr : a.attrs) {
      if (IsNote(attr.id)) continue;
      const AttrValue* other = b.Find(attr.id);
      if (other == nullptr || !SameValue(attr.value, *other)) return false;
    }
    return true;
  }
};

}  // namespace

Result<bool> ShareCommonSubexpressions(Module& module) {
  bool any = false;
  for (Computation* computation : module.computations) {
    Replacements replacements;
    absl::flat_hash_set<Instruction*, HashOf, SameAs> seen;
    for (Instruction* hlo : computation->instructions) {
      for (Instruction*& operand : hlo->operands) operand = Resolve(replacements, operand);
      if (!IsFunction(*hlo) || !(*hlo)[kControlPredecessors].empty()) continue;
      auto [first, is_new] = seen.insert(hlo);
      if (!is_new) replacements[hlo] = *first;
    }
    any |= !replacements.empty();
    Apply(replacements, module, *computation);
  }
  if (any) SHOAL_TRY(RemoveDeadCode(module));  // in a fusion nothing may be left unused
  return any;
}

}  // namespace shoal
