// The definitions and references in HLO and StableHLO text, found by tokens alone: available while the text has errors.
// In StableHLO text, the functions are the computations. Instructions in regions belong to the function around them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/base/result.h"
#include "core/ops/opcode.h"

namespace shoal::internal {

struct IndexedInstruction {
  TextSpan name;
  TextSpan shape;     // unknown if the text omits it
  TextSpan opcode;    // unknown if the text ends before it
  TextSpan operands;  // between the parentheses
  TextSpan whole;     // from ROOT or the name to the end of the last attribute
  uint32_t computation = 0;
  bool is_root = false;
  bool is_argument = false;  // of a StableHLO function or region: only a name and a type
};

struct IndexedComputation {
  TextSpan name;
  TextSpan whole;                // from ENTRY or the name to the closing brace
  uint32_t open = 0, close = 0;  // offsets of the braces; `close` is the end of the text if there is none
  uint32_t first = 0, last = 0;  // its instructions: [first, last)
  bool is_entry = false;
};

// A name: either the name of its definition or a use of it.
struct NameReference {
  static constexpr uint32_t kNone = UINT32_MAX;
  TextSpan at;
  uint32_t target = kNone;  // index of an instruction or computation; kNone if no such name is defined
  uint32_t from = kNone;    // the instruction that uses the name; kNone for the name of a computation
  bool is_computation = false;
  bool is_definition = false;
};

struct IndexedText {
  std::vector<IndexedInstruction> instructions;
  std::vector<IndexedComputation> computations;
  std::vector<NameReference> references;
  absl::flat_hash_map<std::string_view, uint32_t> computation_names;
};

// The name without % or @.
std::string_view BareName(std::string_view text, TextSpan name);

class TextIndex {
 public:
  // The text must outlive the index.
  explicit TextIndex(std::string_view text);

  std::string_view text() const { return text_; }
  bool is_stablehlo() const { return is_stablehlo_; }
  Opcode OpcodeOf(const IndexedInstruction& hlo) const;
  // Empty for an unknown span.
  std::string_view TextOf(TextSpan span) const {
    return span.known() ? text_.substr(span.offset, span.length) : std::string_view();
  }
  std::string_view NameOf(const IndexedInstruction& hlo) const { return Bare(hlo.name); }
  std::string_view NameOf(const IndexedComputation& computation) const { return Bare(computation.name); }
  std::string_view Bare(TextSpan name) const { return BareName(text_, name); }

  std::span<const IndexedInstruction> instructions() const { return all_.instructions; }
  std::span<const IndexedComputation> computations() const { return all_.computations; }
  std::span<const IndexedInstruction> InstructionsOf(const IndexedComputation& computation) const {
    return std::span(all_.instructions).subspan(computation.first, computation.last - computation.first);
  }
  // All names, in the order of the text.
  std::span<const NameReference> references() const { return all_.references; }

  // The name at an offset, also directly behind it; null if there is none.
  const NameReference* ReferenceAt(uint32_t offset) const;
  const IndexedInstruction* InstructionAt(uint32_t offset) const;
  const IndexedComputation* ComputationAt(uint32_t offset) const;
  // References to the same definition, including the definition.
  std::vector<const NameReference*> ReferencesTo(const NameReference& reference) const;
  const IndexedComputation* FindComputation(std::string_view name) const;
  const IndexedInstruction* FindInstruction(const IndexedComputation& computation, std::string_view name) const;

 private:
  void ResolveComputations();

  std::string_view text_;
  bool is_stablehlo_;
  IndexedText all_;
};

}  // namespace shoal::internal
