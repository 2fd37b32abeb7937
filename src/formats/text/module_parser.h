// Reads computations and their instructions. The section headings name the .cc files. Private to formats/text.
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

// XLA's NameUniquer: makes each name different from the names of all earlier calls.
class NameUniquer {
 public:
  std::string Unique(std::string_view name);
  // Cleans a name as XLA does: letters, digits, '_', '.', '-'; not a type name; no leading "__" except "__xla_".
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
  // If `truncated`, the text may end inside a computation, which then has the instructions before the end.
  Parser(Module& module, std::string_view text, const ParseOptions& options, bool truncated, Diags& diags)
      : HeaderReader(module, text, options, diags), truncated_(truncated) {}
  bool Run();
  // Offset of the first unreadable instruction or computation after which nothing is readable.
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
  // Finds the computation `name`. Loose text may define it later, or not at all.
  Computation* FindComputation(std::string_view name, TextSpan at);
  Computation* ReadAhead(std::string_view name, TextSpan at);
  void IndexComputations();
  bool ReadCalledComputation(Computation** computation) override;

  // ---- instruction_parser.cc, instruction_names.cc, operand_parser.cc
  struct InstructionHead {  // name = shape opcode
    std::string_view name;
    TextSpan name_at;
    const Shape* shape = nullptr;
    Opcode opcode = kUnknownOp;
    std::optional<Opcode> wrapped;  // dot, for the short form dot-start
    std::string_view opcode_text;
    TextSpan opcode_at;
  };
  bool ReadInstruction(Computation& computation, Instruction** root);
  // Reads the text after "=". Returns the instruction, added to `computation`, or null after an error.
  Instruction* ReadInstructionBody(Computation& computation, std::string_view name, TextSpan name_at, bool nested);
  bool ReadOpcode(InstructionHead* head);
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
  bool FinishInstruction(Instruction& hlo, const InstructionHead& head);
  bool InferShape(Instruction& hlo);
  void OrderComputations(Instruction& hlo);
  bool NameInstruction(Instruction& hlo, const InstructionHead& head);
  Instruction* MakeParameter(Computation& computation, int64_t number, const Shape* shape, std::string_view name,
                             TextSpan at);
  std::string_view AnonymousName(const Instruction& hlo);
  bool ReadInstructionNames(AttrValue* value) override;

  // ---- forward_references.cc: loose text may define operands and control predecessors later in the computation
  struct NameUse {
    std::string_view name;
    TextSpan at;
  };
  bool RecordMissing(std::string_view name, TextSpan at);
  bool IsInSignature(std::string_view name);
  Instruction* MakeFromSignature(Computation& computation, const NameUse& use);
  void Defer(uint32_t start, std::string_view name);
  void SkipInstruction(uint32_t start);
  bool ReadDeferred(Computation& computation, Instruction** root);
  bool ReportUnresolved();
  bool ResolveControlPredecessors(Computation& computation);

  // ---- async_parser.cc
  Instruction* ReadAsync(Computation& computation, const InstructionHead& head, bool nested);
  void RecogniseWrappedCollective(InstructionHead* head);
  Computation* ReadWrappedOp(Instruction& start, const InstructionHead& head, std::vector<NamedAttr>& attrs, bool nested);
  bool CheckContinuation(Instruction& hlo, const InstructionHead& head);
  void SetExecutionThread(Computation& computation, std::string_view thread);
  void CopyAttrsToWrapped(Instruction& hlo, const InstructionHead& head);
  void SetWrappedShapesFromCallee(Computation& wrapped);
  void SetWrappedShapes(Computation& wrapped, const Shape& result, std::span<const Shape* const> operands);

  // Reusable lists for the instructions being read, one pair per level of nesting.
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

  // The names defined in a computation, and the parameters in its signature.
  struct Scope {
    NameTable names;
    std::map<std::string, Instruction*> elements;  // keyed by path: name#1
    std::vector<Instruction*> parameters;
    std::vector<std::pair<std::string_view, const Shape*>> signature;
    absl::flat_hash_set<std::string_view> broken;  // unreadable instructions; do not report them again
    std::vector<NameUse> missing;                  // names not yet defined that the current instruction uses
    struct Deferred {
      std::string_view name;
      uint32_t start = 0;
      std::vector<NameUse> missing;
    };
    std::vector<Deferred> deferred;  // instructions to read at the end of the computation
    struct PendingControlDependency {
      Instruction* user = nullptr;
      NameUse predecessor;
    };
    std::vector<PendingControlDependency> pending_control;
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
  absl::flat_hash_set<uint32_t> read_offsets_;       // computations that ReadAhead has read
  std::vector<std::string_view> open_computations_;  // names of computations being read, outermost first
  bool saw_async_ = false;
  std::optional<NameUniquer> uniquer_;  // created when a nested instruction first needs a name
  bool single_instruction_ = false;
  int64_t missing_parameters_ = 0;
  std::vector<std::unique_ptr<Scratch>> scratch_;
  size_t scratch_depth_ = 0;
  // Offsets of the unreadable instructions and computations, and of the last readable instruction.
  std::vector<uint32_t> unreadable_;
  uint32_t last_read_ = 0;
  std::vector<Instruction*> spare_list_;  // reused for the instructions of the next computation
  static constexpr int kMaxErrors = 100;
  static constexpr int64_t kMaxMissingParameters = 1 << 16;
};

}  // namespace shoal::internal
