#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "core/base/strings.h"
#include "core/ops/structure.h"
#include "core/ops/traits.h"
#include "formats/proto/module_reader.h"

namespace shoal::internal {
// Records all instruction ids, so that an id used before its definition is distinguished from an unknown id.
bool ModuleReader::RecordInstructionIds(const proto::HloComputationProto& from) {
  bool unique = true;
  for (const proto::HloInstructionProto& instruction : from.instructions()) {
    if (numbered_->try_emplace(LocalId(instruction.id())).second) continue;
    instruction_name_ = instruction.name();
    Error(Fail(StrCat("duplicate id ", instruction.id())));
    unique = false;
  }
  instruction_name_ = {};
  return unique;
}

void ModuleReader::ReadComputation(proto::HloComputationProto& from) {
  const std::string& name = from.shoal_written_name().empty() ? from.name() : from.shoal_written_name();
  has_written_names_ |= !from.shoal_written_name().empty();
  Computation* computation = module_.NewComputation(module_.arena.CopyString(name));
  computation_name_ = computation->name;
  instruction_name_ = {};
  numbered_ = &numbers_[computation];
  module_.computations.push_back(computation);
  if (!from.execution_thread().empty())
    computation->execution_thread = module_.arena.CopyString(from.execution_thread());
  if (from.name().empty()) Error(Fail("a computation has no name"));
  if (computations_.contains(from.id())) return Error(Fail(StrCat("duplicate id ", from.id())));
  if (RecordInstructionIds(from)) ReadInstructions(from, *computation);
  // Added only now, so that the computation cannot call itself.
  computations_.emplace(from.id(), computation);
}

void ModuleReader::ReadInstructions(proto::HloComputationProto& from, Computation& computation) {
  bool all_read = true;
  computation.instructions.reserve(static_cast<size_t>(from.instructions_size()));
  for (proto::HloInstructionProto* instruction : OperandsFirst(from)) {
    instruction_name_ = instruction->name();
    Numbered& number = (*numbered_)[LocalId(instruction->id())];
    Result<Instruction*> hlo = ReadInstruction(*instruction, computation);
    if (!hlo.ok()) Error(std::move(hlo.diag()));
    number.hlo = hlo.ok() ? *hlo : nullptr;
    number.state = number.hlo != nullptr ? Numbered::State::kRead : Numbered::State::kBroken;
    all_read &= number.hlo != nullptr;
  }
  instruction_name_ = {};
  if (!all_read) return;
  OrderById(computation);
  if (Status finished = FinishComputation(from, computation); !finished.ok()) Error(std::move(finished.diag()));
}

// XLA stores instructions sorted by id, and derives the order in which it prints them from that.
void ModuleReader::OrderById(Computation& computation) {
  std::vector<std::pair<uint32_t, Instruction*>> order;
  for (const auto& [id, number] : *numbered_) order.emplace_back(id, number.hlo);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Instruction*> instructions;
  for (const auto& [id, hlo] : order) instructions.push_back(hlo);
  computation.instructions = std::move(instructions);
  for (size_t i = 0; i < computation.instructions.size(); ++i)
    computation.instructions[i]->index = static_cast<uint32_t>(i);
}

// Sets the parameters and the root.
Status ModuleReader::FinishComputation(const proto::HloComputationProto& from, Computation& computation) {
  std::vector<Instruction*> parameters;
  for (Instruction* hlo : computation.instructions)
    if (IsParameter(*hlo)) parameters.push_back(hlo);
  computation.parameters.assign(parameters.size(), nullptr);
  for (Instruction* hlo : parameters) {
    const int64_t number = (*hlo)[kParameterNumber];
    if (number >= std::ssize(parameters))
      return Fail(StrCat("parameter number of ", hlo->name, " must lie in [0, ", parameters.size(), "), got ", number));
    Instruction*& slot = computation.parameters[static_cast<size_t>(number)];
    if (slot != nullptr) return Fail(StrCat("parameters ", slot->name, " and ", hlo->name, " have the same number"));
    slot = hlo;
  }
  auto root = numbered_->find(LocalId(from.root_id()));
  if (root == numbered_->end()) return Fail(StrCat("root id ", from.root_id(), " does not exist"));
  computation.root = root->second.hlo;
  return {};
}

// XLA prints computations in an order determined by the ids of their instructions, not by the schedule. A Module does
// not store those ids; the message that is written from it has the order instead.
void ModuleReader::OrderComputations(bool by_id) {
  if (!by_id) {
    module_.computations = PostOrder(module_);
    return;
  }
  std::vector<std::pair<int64_t, Computation*>> order;
  for (const auto& [id, computation] : computations_) order.emplace_back(id, computation);
  std::sort(order.begin(), order.end());
  module_.computations.clear();
  for (const auto& [id, computation] : order) module_.computations.push_back(computation);
}

void ModuleReader::ReadSchedule(const proto::HloScheduleProto& from) {
  module_.is_scheduled = true;
  absl::flat_hash_map<const Computation*, const proto::HloScheduleProto::InstructionSequence*> sequences;
  for (const proto::HloScheduleProto::Entry& entry : from.sequences())
    if (auto found = computations_.find(entry.key()); found != computations_.end())
      sequences[found->second] = &entry.value();
  for (Computation* computation : module_.computations) {
    computation_name_ = computation->name;
    auto found = sequences.find(computation);
    if (found == sequences.end()) {
      // XLA then treats the computation as not scheduled.
      SetOrder(*computation, PostOrder(*computation));
    } else if (Status read = ReadSequence(*found->second, *computation); !read.ok()) {
      Error(std::move(read.diag()));
    } else if (!strict_ && !IsInOrder(*computation)) {
      TolerateDeviation("loose.schedule", "the schedule has operands after their users and is ignored");
      SetOrder(*computation, PostOrder(*computation));
    }
  }
}

Status ModuleReader::ReadSequence(const proto::HloScheduleProto::InstructionSequence& from, Computation& computation) {
  const auto& numbers = numbers_.at(&computation);
  const size_t count = computation.instructions.size();
  if (static_cast<size_t>(from.instruction_ids_size()) != count)
    return Fail(StrCat("the schedule lists ", from.instruction_ids_size(), " instructions, expected ", count));
  std::vector<Instruction*> order;
  std::vector<bool> seen(count);
  for (int64_t id : from.instruction_ids()) {
    auto found = numbers.find(LocalId(id));
    if (found == numbers.end()) return Fail(StrCat("the schedule lists instruction id ", id, ", which does not exist"));
    Instruction* hlo = found->second.hlo;
    if (seen[hlo->index]) return Fail(StrCat("the schedule lists instruction ", hlo->name, " twice"));
    seen[hlo->index] = true;
    order.push_back(hlo);
  }
  SetOrder(computation, std::move(order));
  return {};
}

}  // namespace shoal::internal
