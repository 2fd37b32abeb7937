// One version of a document. Immutable: each derived object is computed once, on first use, by any thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "core/base/diags.h"
#include "core/ir/module.h"
#include "serve/documents/analysis.h"
#include "serve/documents/lines.h"
#include "serve/documents/text_index.h"

namespace shoal::internal {

class Snapshot {
 public:
  Snapshot(std::string uri, std::shared_ptr<const std::string> text, int64_t version,
           AnalysisSettings settings);

  const std::string& uri() const { return uri_; }
  const std::string& text() const { return *text_; }
  std::shared_ptr<const std::string> shared_text() const { return text_; }
  int64_t version() const { return version_; }

  const Lines& lines() const;
  const TextIndex& index() const;
  // The diagnostics of parser and verifier. They are in the order of their discovery.
  const Diags& diags() const;
  // Null if the text has syntax errors.
  const Module* module() const;
  // Null if there is no module. A module that breaks rules has one, as far as its meaning is clear.
  const ModuleAnalysis* analysis() const;

  // The instruction of the module with this name; null if there is none.
  const Instruction* InstructionOf(const IndexedInstruction& hlo) const;
  const Computation* ComputationOf(const IndexedComputation& computation) const;
  // The location of an instruction in the text; null if it is not written as an instruction of its own.
  const IndexedInstruction* IndexOf(const Instruction& hlo) const;

 private:
  void Parse() const;
  void IndexModule() const;
  void IndexStablehlo() const;
  uint32_t KeyOf(const IndexedInstruction& hlo) const;
  uint32_t KeyOf(const IndexedComputation& computation) const;

  const std::string uri_;
  const std::shared_ptr<const std::string> text_;
  const int64_t version_;
  const AnalysisSettings settings_;

  mutable std::once_flag lines_once_, index_once_, parse_once_, module_index_once_, analysis_once_;
  mutable std::unique_ptr<Lines> lines_;
  mutable std::unique_ptr<TextIndex> index_;
  mutable Diags diags_;
  mutable std::unique_ptr<Source> source_;
  mutable std::unique_ptr<Module> module_;
  // By the offset of the name.
  mutable absl::flat_hash_map<uint32_t, const Instruction*> instructions_;
  mutable absl::flat_hash_map<uint32_t, const Computation*> computations_;
  mutable std::unique_ptr<ModuleAnalysis> analysis_;
};

}  // namespace shoal::internal
