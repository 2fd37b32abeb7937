#include "serve/documents/text_index.h"

#include <algorithm>

#include "core/base/strings.h"
#include "core/ops/traits.h"
#include "formats/stablehlo/op_table.h"
#include "formats/stablehlo/read.h"
#include "serve/documents/text_scanners.h"

namespace shoal::internal {

std::string_view BareName(std::string_view text, TextSpan name) {
  std::string_view bare = name.known() ? text.substr(name.offset, name.length) : std::string_view();
  if (!bare.empty() && (bare.front() == '%' || bare.front() == '@')) bare.remove_prefix(1);
  return bare;
}

TextIndex::TextIndex(std::string_view text) : text_(text), is_stablehlo_(LooksLikeStablehlo(text)) {
  is_stablehlo_ ? ScanStablehlo(text, all_) : ScanHlo(text, all_);
  ResolveComputations();
}

Opcode TextIndex::OpcodeOf(const IndexedInstruction& hlo) const {
  std::string_view name = TextOf(hlo.opcode);
  if (!is_stablehlo_) return internal::OpcodeOf(name);
  if (name.size() > 1 && name.front() == '"') name = name.substr(1, name.size() - 2);
  const MlirOpInfo* info = FindMlirOp(name);
  if (info == nullptr) info = FindMlirOp(StrCat("func.", name));  // the dialect may be omitted
  return info == nullptr ? Opcode::kUnknown : info->opcode;
}

// A computation may be used before its definition.
void TextIndex::ResolveComputations() {
  for (NameReference& reference : all_.references) {
    if (!reference.is_computation || reference.is_definition) continue;
    const auto found = all_.computation_names.find(Bare(reference.at));
    if (found != all_.computation_names.end()) reference.target = found->second;
  }
}

const NameReference* TextIndex::ReferenceAt(uint32_t offset) const {
  auto next = std::upper_bound(all_.references.begin(), all_.references.end(), offset,
                               [](uint32_t at, const NameReference& reference) { return at < reference.at.offset; });
  if (next == all_.references.begin()) return nullptr;
  const NameReference& found = *--next;
  return offset <= found.at.offset + found.at.length ? &found : nullptr;
}

const IndexedInstruction* TextIndex::InstructionAt(uint32_t offset) const {
  auto next = std::upper_bound(all_.instructions.begin(), all_.instructions.end(), offset,
                               [](uint32_t at, const IndexedInstruction& hlo) { return at < hlo.whole.offset; });
  if (next == all_.instructions.begin()) return nullptr;
  --next;
  // The arguments of a region lie within the op that has the region.
  const auto ends_before = [&] { return offset > next->whole.offset + next->whole.length; };
  while (ends_before() && next->is_argument && next != all_.instructions.begin()) --next;
  return ends_before() ? nullptr : &*next;
}

const IndexedComputation* TextIndex::ComputationAt(uint32_t offset) const {
  auto next = std::upper_bound(all_.computations.begin(), all_.computations.end(), offset,
                               [](uint32_t at, const IndexedComputation& c) { return at < c.whole.offset; });
  if (next == all_.computations.begin()) return nullptr;
  const IndexedComputation& found = *--next;
  return offset <= found.whole.offset + found.whole.length ? &found : nullptr;
}

std::vector<const NameReference*> TextIndex::ReferencesTo(const NameReference& reference) const {
  std::vector<const NameReference*> found;
  if (reference.target == NameReference::kNone) return {&reference};
  for (const NameReference& other : all_.references)
    if (other.is_computation == reference.is_computation && other.target == reference.target) found.push_back(&other);
  return found;
}

const IndexedComputation* TextIndex::FindComputation(std::string_view name) const {
  const auto found = all_.computation_names.find(name);
  return found == all_.computation_names.end() ? nullptr : &all_.computations[found->second];
}

const IndexedInstruction* TextIndex::FindInstruction(const IndexedComputation& computation,
                                                     std::string_view name) const {
  for (const IndexedInstruction& hlo : InstructionsOf(computation))
    if (NameOf(hlo) == name) return &hlo;
  return nullptr;
}

}  // namespace shoal::internal
