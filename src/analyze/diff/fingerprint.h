// Hashes the meaning of instructions and computations. The hashes do not depend on names and text order.
#pragma once

#include <string>
#include <unordered_map>

#include "analyze/facts/instruction_ids.h"
#include "formats/text/attr_text.h"

namespace shoal::internal {

// An attribute that affects meaning, and a hash of its meaning. The hash of a replica group or sharding depends only on
// the devices. For a channel, only its presence affects the hash.
struct AttrMeaning {
  std::string name, text;
  uint64_t hash = 0;
};

// Returns the type in HLO syntax, with default layouts written out.
std::string TypeText(const Shape& shape);

class Fingerprints {
 public:
  // `without_large_constants` hashes constants of more than ten elements by type only. Set this flag if the other
  // module elides large constants.
  Fingerprints(const Module& module, const InstructionIds& ids, bool without_large_constants);

  // Hash of the opcode, type and attributes. The hash of a reduce also covers its reducer (to_apply).
  uint64_t OpHash(uint32_t id) const { return op_[id]; }
  // Like OpHash, but independent of layouts.
  uint64_t OpHashWithoutLayout(uint32_t id) const { return without_layout_[id]; }
  // Combines OpHash with the SubgraphHash of each operand and the hash of each called computation.
  uint64_t SubgraphHash(uint32_t id) const { return subgraph_[id]; }
  // Hash of a computation, independent of instruction order.
  uint64_t Of(const Computation& computation) const;

  std::vector<AttrMeaning> AttrsOf(const Instruction& hlo) const;

 private:
  // Hash of the opcode, attributes and constant value, but not of the type.
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
  std::vector<uint64_t> op_, without_layout_, subgraph_;
  std::unordered_map<const Computation*, uint64_t> computations_;
  mutable std::unordered_map<const Shape*, TypeHashes> types_;
  mutable std::unordered_map<std::string, uint64_t> devices_;  // hashes of groups and shardings, by text
};

// Hash of the whole module: its computations from the entry, the device counts, aliases and donated buffers. Equal for
// modules that differ at most in names, text order, channel numbers and metadata.
uint64_t ModuleFingerprint(const Module& module);

// IsLargeConstant: true for a constant that a dump may elide. IsElided: true for a constant that this dump elided.
bool IsLargeConstant(const Instruction& hlo);
bool IsElided(const Instruction& hlo);

}  // namespace shoal::internal
