// Builds a Module from its message. Private to formats/proto.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/base/diags.h"
#include "core/ops/op.h"
#include "formats/proto/parts.h"

namespace shoal::internal {

// Errors are added to `diags`. After an error the module is unusable, but reading continues to find more errors.
class ModuleReader {
 public:
  ModuleReader(Module& module, bool strict, Diags& diags) : module_(module), strict_(strict), diags_(diags) {}

  // May modify `from`: messages from older versions of XLA are upgraded first.
  void Read(proto::HloModuleProto& from);

 private:
  // ---- errors
  void Error(Diag diag);
  // Reports an error if strict, else a warning. Returns true if reading may continue.
  bool TolerateDeviation(std::string_view rule, const std::string& message, Site site = Site::Here());
  // Prefix of messages: "computation add, instruction add.3: "
  std::string LocationPrefix() const;

  // ---- read_header.cc
  void ReadHeader(const proto::HloModuleProto& from);
  Status ReadEntryLayout(const proto::ProgramShapeProto& from);
  Status ReadAliases(const proto::HloModuleProto& from);
  Status ReadRecordedShardings(const proto::HloModuleProto& from);
  void RecordSharding(Instruction& hlo, Sharding sharding, std::string_view field);
  void ReadConfig(const proto::HloModuleProto& from);
  void ReadStackFrames(const proto::StackFrameIndexProto& from);
  void ReadDebugAttributes(const proto::HloModuleProto& from);
  void ReadOriginRecovery(proto::OriginalValueRecoveryTableProto& from);
  void CheckNames(bool final);

  // ---- reading_order.cc: the parts of a message may be in any order
  std::vector<proto::HloComputationProto*> CalleesFirst(proto::HloModuleProto& from);
  std::vector<proto::HloInstructionProto*> OperandsFirst(proto::HloComputationProto& from);

  // ---- read_computation.cc
  void ReadComputation(proto::HloComputationProto& from);
  void ReadInstructions(proto::HloComputationProto& from, Computation& computation);
  bool RecordInstructionIds(const proto::HloComputationProto& from);
  void OrderById(Computation& computation);
  Status FinishComputation(const proto::HloComputationProto& from, Computation& computation);
  void OrderComputations(bool by_id);
  void ReadSchedule(const proto::HloScheduleProto& from);
  Status ReadSequence(const proto::HloScheduleProto::InstructionSequence& from, Computation& computation);

  // ---- read_instruction.cc
  // Returns null, without an error, if the instruction depends on an unreadable one.
  Result<Instruction*> ReadInstruction(proto::HloInstructionProto& from, Computation& computation);
  Status ReadOpcode(const proto::HloInstructionProto& from, Instruction& draft, std::vector<NamedAttr>& attrs);
  Status ReadLinks(const proto::HloInstructionProto& from);
  Status ReadInParentheses(const proto::HloInstructionProto& from, Instruction& draft, std::vector<NamedAttr>& attrs);
  Status ReadAttributes(const proto::HloInstructionProto& from, Instruction& draft, std::vector<NamedAttr>& attrs);
  Status Normalize(Instruction& hlo);

  // The lower half of an id is the instruction's number in its computation; the upper half is the computation's id.
  static uint32_t LocalId(int64_t id) { return static_cast<uint32_t>(id); }
  struct Numbered {
    Instruction* hlo = nullptr;
    enum class State : uint8_t { kUnread, kRead, kBroken } state = State::kUnread;
  };
  Result<Instruction*> Find(int64_t id, const char* role);

  Module& module_;
  const bool strict_;
  Diags& diags_;
  const Payloads* payloads_ = nullptr;
  bool from_executable_ = false;  // the module is from a compiled executable of JAX
  absl::flat_hash_map<int64_t, Computation*> computations_;
  absl::flat_hash_map<const Computation*, absl::flat_hash_map<uint32_t, Numbered>> numbers_;

  // The current location.
  std::string_view computation_name_, instruction_name_;
  absl::flat_hash_map<uint32_t, Numbered>* numbered_ = nullptr;  // instructions of the current computation
  // References of the current instruction.
  std::vector<Instruction*> operands_, control_predecessors_;
  std::vector<Computation*> called_;
  bool depends_on_broken_ = false;
  bool has_written_names_ = false;  // the message records original names that differ from its unique names
};

}  // namespace shoal::internal
