// Builds a Module from its message. Private to proto/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/base/diags.h"
#include "core/ops/op.h"
#include "formats/proto/parts.h"

namespace shoal::internal {

// Errors go to the Diags; after one the module is of no use, but reading goes on to find more.
class ModuleReader {
 public:
  ModuleReader(Module& module, bool strict, Diags& diags) : module_(module), strict_(strict), diags_(diags) {}

  // `from` may be changed: what old writers wrote is first brought into today's form.
  void Read(proto::HloModuleProto& from);

 private:
  // ---- what went wrong
  void Error(Diag diag);
  // An error if strict, else a warning. True if reading may go on.
  bool TolerateDeviation(std::string_view rule, const std::string& message, Site site = Site::Here());
  // "computation add, instruction add.3: "
  std::string Place() const;

  // ---- read_header.cc
  void ReadHeader(const proto::HloModuleProto& from);
  Status ReadEntryLayout(const proto::ProgramShapeProto& from);
  Status ReadAliases(const proto::HloModuleProto& from);
  void ReadConfig(const proto::HloModuleProto& from);
  void ReadStackFrames(const proto::StackFrameIndexProto& from);
  void ReadDebugAttributes(const proto::HloModuleProto& from);
  void ReadOriginRecovery(proto::OriginalValueRecoveryTableProto& from);
  void CheckNames(bool final);

  // ---- reading_order.cc: no order of a message is trusted
  std::vector<proto::HloComputationProto*> CalleesFirst(proto::HloModuleProto& from);
  std::vector<proto::HloInstructionProto*> OperandsFirst(proto::HloComputationProto& from);

  // ---- read_computation.cc
  void ReadComputation(proto::HloComputationProto& from);
  void ReadInstructions(proto::HloComputationProto& from, Computation& computation);
  bool NumberInstructions(const proto::HloComputationProto& from);
  void OrderById(Computation& computation);
  Status FinishComputation(const proto::HloComputationProto& from, Computation& computation);
  void OrderComputations(bool by_id);
  void ReadSchedule(const proto::HloScheduleProto& from);
  Status ReadSequence(const proto::HloScheduleProto::InstructionSequence& from, Computation& computation);

  // ---- read_instruction.cc
  // Null, without an error, if it depends on an instruction that could not be read.
  Result<Instruction*> ReadInstruction(proto::HloInstructionProto& from, Computation& computation);
  Status ReadOpcode(const proto::HloInstructionProto& from, Instruction& draft, std::vector<NamedAttr>& attrs);
  Status ReadLinks(const proto::HloInstructionProto& from);
  Status ReadInParentheses(const proto::HloInstructionProto& from, Instruction& draft, std::vector<NamedAttr>& attrs);
  Status ReadAttributes(const proto::HloInstructionProto& from, Instruction& draft, std::vector<NamedAttr>& attrs);
  Status Normalize(Instruction& hlo);

  // An instruction's number counts in its computation; the upper half of an id only repeats the computation's.
  static uint32_t LocalId(int64_t id) { return static_cast<uint32_t>(id); }
  struct Numbered {
    Instruction* hlo = nullptr;
    enum class State : uint8_t { kLater, kRead, kBroken } state = State::kLater;
  };
  Result<Instruction*> Find(int64_t id, const char* what);

  Module& module_;
  const bool strict_;
  Diags& diags_;
  const Payloads* payloads_ = nullptr;
  bool of_executable_ = false;  // the module is a compiled program's, as JAX hands them out
  absl::flat_hash_map<int64_t, Computation*> computations_;
  absl::flat_hash_map<const Computation*, absl::flat_hash_map<uint32_t, Numbered>> numbers_;

  // Where reading is.
  std::string_view computation_name_, instruction_name_;
  absl::flat_hash_map<uint32_t, Numbered>* numbered_ = nullptr;  // the current computation's
  // Of the current instruction.
  std::vector<Instruction*> operands_, control_predecessors_;
  std::vector<Computation*> called_;
  bool depends_on_broken_ = false;
  bool has_written_names_ = false;  // of a text that had them more than once, or of what its printer leaves out
};

}  // namespace shoal::internal
