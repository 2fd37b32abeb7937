#include "serve/documents/snapshot.h"

#include "core/verify/verify.h"
#include "formats/stablehlo/read.h"
#include "formats/text/parser.h"

namespace shoal::internal {

Snapshot::Snapshot(std::string uri, std::shared_ptr<const std::string> text, int64_t version,
                   AnalysisSettings settings)
    : uri_(std::move(uri)), text_(std::move(text)), version_(version), settings_(std::move(settings)) {}

const Lines& Snapshot::lines() const {
  std::call_once(lines_once_, [this] { lines_ = std::make_unique<Lines>(*text_); });
  return *lines_;
}

const TextIndex& Snapshot::index() const {
  std::call_once(index_once_, [this] { index_ = std::make_unique<TextIndex>(*text_); });
  return *index_;
}

void Snapshot::Parse() const {
  source_ = Source::Share(uri_, text_);
  if (text_->empty()) return;
  module_ = LooksLikeStablehlo(*text_) ? ReadStablehlo(source_, /*strict=*/false, diags_)
                                      : ParseModule(source_, {}, diags_);
  if (module_ == nullptr) return;
  Verify(*module_, diags_);
}

// The location that an instruction or a computation of the module has.
uint32_t Snapshot::KeyOf(const IndexedInstruction& hlo) const {
  return index().is_stablehlo() ? hlo.opcode.offset : hlo.name.offset;
}
uint32_t Snapshot::KeyOf(const IndexedComputation& computation) const {
  return index().is_stablehlo() ? computation.whole.offset : computation.name.offset;
}

void Snapshot::IndexModule() const {
  for (const Computation* computation : module_->computations) {
    if (computation->at.known()) computations_.emplace(computation->at.offset, computation);
    for (const Instruction* hlo : computation->instructions)
      if (hlo->name_at.known()) instructions_.emplace(hlo->name_at.offset, hlo);
  }
  if (index().is_stablehlo()) IndexStablehlo();
}

// An op may have become several instructions: it stands for the one with its opcode, else for the first. An argument of a
// function is a parameter.
void Snapshot::IndexStablehlo() const {
  absl::flat_hash_map<uint32_t, Opcode> opcodes;
  for (const IndexedInstruction& written : index().instructions())
    if (!written.is_argument) opcodes.emplace(KeyOf(written), index().OpcodeOf(written));
  for (const Computation* computation : module_->computations)
    for (const Instruction* hlo : computation->instructions) {
      const auto found = hlo->name_at.known() ? opcodes.find(hlo->name_at.offset) : opcodes.end();
      if (found == opcodes.end() || found->second != hlo->opcode) continue;
      const Instruction*& chosen = instructions_[found->first];
      if (chosen->opcode != hlo->opcode) chosen = hlo;
    }
  for (const IndexedComputation& written : index().computations()) {
    const auto found = computations_.find(KeyOf(written));
    if (found == computations_.end()) continue;
    const std::span<const IndexedInstruction> all = index().InstructionsOf(written);
    for (size_t i = 0; i < std::min(all.size(), found->second->parameters.size()) && all[i].is_argument; ++i)
      instructions_.emplace(all[i].name.offset, found->second->parameters[i]);
  }
}

const Diags& Snapshot::diags() const {
  std::call_once(parse_once_, [this] { Parse(); });
  return diags_;
}

const Module* Snapshot::module() const {
  diags();
  return module_.get();
}

const ModuleAnalysis* Snapshot::analysis() const {
  if (module() == nullptr) return nullptr;
  std::call_once(analysis_once_, [this] { analysis_ = std::make_unique<ModuleAnalysis>(*module_, settings_); });
  return analysis_.get();
}

const Instruction* Snapshot::InstructionOf(const IndexedInstruction& hlo) const {
  if (module() == nullptr) return nullptr;
  std::call_once(module_index_once_, [this] { IndexModule(); });
  const auto found = instructions_.find(hlo.is_argument ? hlo.name.offset : KeyOf(hlo));
  return found == instructions_.end() ? nullptr : found->second;
}

const Computation* Snapshot::ComputationOf(const IndexedComputation& computation) const {
  if (module() == nullptr) return nullptr;
  std::call_once(module_index_once_, [this] { IndexModule(); });
  const auto found = computations_.find(KeyOf(computation));
  return found == computations_.end() ? nullptr : found->second;
}

const IndexedInstruction* Snapshot::IndexOf(const Instruction& hlo) const {
  if (!hlo.name_at.known()) return nullptr;
  const IndexedInstruction* found = index().InstructionAt(hlo.name_at.offset);
  return found != nullptr && KeyOf(*found) == hlo.name_at.offset ? found : nullptr;
}

}  // namespace shoal::internal
