// Numbers that are equal for what means the same, whatever it is called and wherever it stands.
#pragma once

#include <string>
#include <unordered_map>

#include "analyze/facts/instruction_ids.h"
#include "formats/text/attr_text.h"

namespace shoal::internal {

// An attribute that means something, with a number for its meaning: replica groups and shardings by their devices,
// channels by whether there is one.
struct AttrMeaning {
  std::string name, text;
  uint64_t hash = 0;
};

// An array type as the text would have it, layouts that are left out filled in.
std::string TypeText(const Shape& shape);

class Fingerprints {
 public:
  // Without large constants: those of more than ten elements count by type alone, for a module compared with one that
  // leaves them out.
  Fingerprints(const Module& module, const InstructionIds& ids, bool without_large_constants);

  // Opcode, type and attributes, and what an op folds its elements with (to_apply of a reduce).
  uint64_t OpHash(uint32_t id) const { return own_[id]; }
  // The same whatever the layouts of its type.
  uint64_t OpHashWithoutLayout(uint32_t id) const { return bare_[id]; }
  // With operands and all that is called.
  uint64_t SubgraphHash(uint32_t id) const { return whole_[id]; }
  // Instructions in any order.
  uint64_t Of(const Computation& computation) const;

  std::vector<AttrMeaning> AttrsOf(const Instruction& hlo) const;

 private:
  // All but the type.
  uint64_t MeaningOf(const Instruction& hlo) const;
  struct TypeHashes {
    uint64_t with_layout = 0, without = 0;
  };
  const TypeHashes& TypeOf(const Shape& shape) const;
  uint64_t HashAttr(const Instruction& hlo, const AttrDef* def, std::string_view name, std::string_view text) const;
  void Visit(const Computation& computation);

  const Module& module_;
  const InstructionIds& ids_;
  const bool without_large_constants_;
  std::vector<uint64_t> own_, bare_, whole_;
  std::unordered_map<const Computation*, uint64_t> computations_;
  mutable std::unordered_map<const Shape*, TypeHashes> types_;
  mutable std::unordered_map<std::string, uint64_t> devices_;  // of groups and shardings, by their text
};

// A constant that dumps leave out, and one that was.
bool IsLargeConstant(const Instruction& hlo);
bool IsElided(const Instruction& hlo);

}  // namespace shoal::internal
