// Computations and their instructions: module_parser.cc, called_computations.cc, module_end.cc, error_recovery.cc;
// instruction_parser.cc, instruction_names.cc, operand_parser.cc, forward_references.cc, async_parser.cc. Private to text/.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/ops/syntax_ops.h"
#include "formats/text/header_reader.h"

namespace shoal::internal {

// XLA's NameUniquer: gives each name, in the order asked, a form that no earlier one had.
class NameUniquer {
 public:
  std::string Unique(std::string_view name);
  // As XLA cleans names: letters, digits, '_', '.', '-'; no type name; no leading "__" but "__xla_".
  static std::string Sanitized(std::string_view name);

 private:
  struct Ids {
    int64_t next = 0;
    absl::flat_hash_set<int64_t> used;
  };
  absl::flat_hash_map<std::string, Ids> roots_;
};

class Parser final : public HeaderReader {
 public:
  // `truncated`: the text may end inside a computation, which then is what is there.
  Parser(Module& module, std::string_view text, const ParseOptions& options, bool truncated, Diags& diags)
      : HeaderReader(module, text, options, diags), truncated_(truncated) {}
  bool Run();
  // Where the first instruction or computation begins that could not be read, nor anything behind it.
  std::optional<uint32_t> FirstUnreadableOffset() const;

 private:
  // ---- module_parser.cc, module_end.cc
  bool ReadModuleText();
  bool ReadComputation();
  bool ReadComputationAt(uint32_t start);
  bool FitsEntryLayout(const Computation& computation) const;
  bool ReadSignature(const Shape** result, TextSpan* result_at);
  bool ReadInstructionList(Computation& computation);
  bool ReadSingleInstruction();
  const Shape* WithDefaultLayouts(const Shape& shape);
  bool Finish();
  bool CheckAliases();
  bool CheckAsyncComputations();
  bool FinishComputation(Computation& computation, Instruction* root);
  bool NumberParameters(Computation& computation);

  // ---- called_computations.cc
  // The computation of that name; in loose text it may come later, or not at all.
  Computation* FindComputation(std::string_view name, TextSpan at);
  Computation* ReadAhead(std::string_view name, TextSpan at);
  void IndexComputations();
  bool ReadCalledComputation(Computation** computation) override;

  // ---- instruction_parser.cc
  struct InstructionHead {  // name = shape opcode
    std::string_view name;
    TextSpan name_at;
    const Shape* shape = nullptr;
    Opcode opcode = kUnknownOp;
    std::optional<Opcode> wrapped;  // of a sugared async op: dot-start
    std::string_view opcode_text;
    TextSpan opcode_at;
  };
  bool ReadInstruction(Computation& computation, Instruction** root);
  // After the "=": the instruction is added to `computation` and returned, null after an error.
  Instruction* ReadInstructionBody(Computation& computation, std::string_view name, TextSpan name_at, bool nested);
  bool ReadOpcode(InstructionHead* opening);
  bool ReadOperands(Computation& computation, std::vector<Instruction*>& operands);
  Instruction* ReadOperand(Computation& computation, bool* dropped);
  Instruction* ResolveOperand(Computation& computation, std::string_view name, TextSpan at, const Shape* shape);
  Instruction* MissingOperand(Computation& computation, std::string_view name, TextSpan at, const Shape* shape);
  Instruction* ReadTupleElements(Computation& computation, Instruction* hlo, std::string_view name, TextSpan at);
  bool ReadParenthesised(Instruction& hlo, Computation& computation, std::vector<Instruction*>& operands,
                         std::vector<NamedAttr>& attrs);
  bool ReadTrailingLiteral(Instruction& hlo, std::vector<NamedAttr>& attrs);
  bool ReadAttributes(Instruction& hlo, std::span<const AttrDef> own, std::vector<NamedAttr>& attrs, bool allowed);
  bool CheckRequired(const Instruction& hlo, std::span<const AttrDef> own);
  bool FinishInstruction(Instruction& hlo, const InstructionHead& opening);
  bool InferShape(Instruction& hlo);
  void OrderComputations(Instruction& hlo);
  bool NameInstruction(Instruction& hlo, const InstructionHead& opening);
  Instruction* MakeParameter(Computation& computation, int64_t number, const Shape* shape, std::string_view name,
                             TextSpan at);
  std::string_view AnonymousName(const Instruction& hlo);
  bool ReadInstructionNames(AttrValue* value) override;

  // ---- forward_references.cc: loose text may define operands and control predecessors later in the computation
  struct Named {
    std::string_view name;
    TextSpan at;
  };
  bool IsMissing(std::string_view name, TextSpan at);
  bool IsInSignature(std::string_view name);
  Instruction* MakeFromSignature(Computation& computation, const Named& named);
  void Defer(uint32_t start, std::string_view name);
  void SkipInstruction(uint32_t start);
  bool ReadDeferred(Computation& computation, Instruction** root);
  bool ReportUnresolved();
  bool ResolveControlPredecessors(Computation& computation);

  // ---- async_parser.cc
  Instruction* ReadAsync(Computation& computation, const InstructionHead& opening, bool nested);
  void RecogniseWrappedCollective(InstructionHead* opening);
  Computation* ReadWrappedOp(Instruction& start, const InstructionHead& opening, std::vector<NamedAttr>& attrs, bool nested);
  bool CheckContinuation(Instruction& hlo, const InstructionHead& opening);
  void SetExecutionThread(Computation& computation, std::string_view thread);
  void ShareWithWrapped(Instruction& hlo, const InstructionHead& opening);
  void FitWrappedToCalled(Computation& wrapped);
  void FitWrapped(Computation& wrapped, const Shape& result, std::span<const Shape* const> operands);

  // Lists under construction, one pair per level of nesting, so that they are allocated once.
  struct Scratch {
    std::vector<NamedAttr> attrs;
    std::vector<Instruction*> operands;
  };
  Scratch& TakeScratch() {
    if (scratch_depth_ == scratch_.size()) scratch_.push_back(std::make_unique<Scratch>());
    Scratch& scratch = *scratch_[scratch_depth_++];
    scratch.attrs.clear();
    scratch.operands.clear();
    return scratch;
  }
  void ReleaseScratch() { --scratch_depth_; }

  // ---- error_recovery.cc
  void SkipToNextInstruction(uint32_t failed);
  void SkipComputation();

  // A computation's names, and what its signature calls its parameters.
  struct Scope {
    NameTable names;
    std::map<std::string, Instruction*> elements;  // by their paths: name#1
    std::vector<Instruction*> parameters;
    std::vector<std::pair<std::string_view, const Shape*>> signature;
    absl::flat_hash_set<std::string_view> broken;  // instructions that could not be read: do not complain again
    std::vector<Named> missing;                    // of the instruction that is being read: names not defined yet
    struct Deferred {
      std::string_view name;
      uint32_t start = 0;
      std::vector<Named> missing;
    };
    std::vector<Deferred> deferred;  // instructions to be read when all of the computation is known
    struct PendingControlDependency {
      Instruction* user = nullptr;
      Named before;
    };
    std::vector<PendingControlDependency> late_control;
  };
  Scope& scope() { return *scopes_.back(); }
  void OpenScope();
  void CloseScope();

  const bool truncated_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  std::vector<std::unique_ptr<Scope>> spare_scopes_;
  absl::flat_hash_map<std::string_view, Computation*, TextHash> computations_;
  absl::flat_hash_map<std::string_view, uint32_t> computation_offsets_;  // filled by IndexComputations
  bool indexed_ = false;
  absl::flat_hash_set<uint32_t> read_offsets_;  // computations read ahead of their place
  std::vector<std::string_view> reading_;       // computations that are being read, each inside the one before
  bool saw_async_ = false;
  std::optional<NameUniquer> uniquer_;  // made when the first nested instruction needs a name
  bool single_instruction_ = false;
  int64_t missing_parameters_ = 0;
  std::vector<std::unique_ptr<Scratch>> scratch_;
  size_t scratch_depth_ = 0;
  // Where instructions and computations begin that could not be read, and the last one that could.
  std::vector<uint32_t> broken_;
  uint32_t last_read_ = 0;
  std::vector<Instruction*> spare_list_;  // room for the instructions of the next computation
  static constexpr int kMaxErrors = 100;
  static constexpr int64_t kMaxMissingParameters = 1 << 16;
};

}  // namespace shoal::internal
