#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "core/base/strings.h"
#include "core/ops/structure.h"
#include "core/ops/traits.h"
#include "formats/proto/module_reader.h"

namespace shoal::internal {
// Learns which numbers there are, so that one that is used too early can be told from one that is nowhere.
bool ModuleReader::NumberInstructions(const proto::HloComputationProto& from) {
  bool unique = true;
  for (const proto::HloInstructionProto& instruction : from.instructions()) {
    if (numbered_->try_emplace(LocalId(instruction.id())).second) continue;
    instruction_name_ = instruction.name();
    Error(Fail(StrCat("its id ", instruction.id(), " is taken already")));
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
  if (from.name().empty()) Error(Fail("it has no name"));
  if (computations_.contains(from.id())) return Error(Fail(StrCat("its id ", from.id(), " is taken already")));
  if (NumberInstructions(from)) ReadInstructions(from, *computation);
  // Only now, so that it cannot call itself.
  computations_.emplace(from.id(), computation);
}

void ModuleReader::ReadInstructions(proto::HloComputationProto& from, Computation& computation) {
  bool whole = true;
  computation.instructions.reserve(static_cast<size_t>(from.instructions_size()));
  for (proto::HloInstructionProto* instruction : OperandsFirst(from)) {
    instruction_name_ = instruction->name();
    Numbered& number = (*numbered_)[LocalId(instruction->id())];
    Result<Instruction*> hlo = ReadInstruction(*instruction, computation);
    if (!hlo.ok()) Error(std::move(hlo.diag()));
    number.hlo = hlo.ok() ? *hlo : nullptr;
    number.state = number.hlo != nullptr ? Numbered::State::kRead : Numbered::State::kBroken;
    whole &= number.hlo != nullptr;
  }
  instruction_name_ = {};
  if (!whole) return;
  OrderById(computation);
  if (Status finished = FinishComputation(from, computation); !finished.ok()) Error(std::move(finished.diag()));
}

// XLA keeps instructions by number, and its orders of printing start from that.
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

// Parameters and root.
Status ModuleReader::FinishComputation(const proto::HloComputationProto& from, Computation& computation) {
  std::vector<Instruction*> parameters;
  for (Instruction* hlo : computation.instructions)
    if (IsParameter(*hlo)) parameters.push_back(hlo);
  computation.parameters.assign(parameters.size(), nullptr);
  for (Instruction* hlo : parameters) {
    const int64_t number = (*hlo)[kParameterNumber];
    if (number >= std::ssize(parameters))
      return Fail(StrCat("parameter ", hlo->name, " has number ", number, ", but there are ", parameters.size()));
    Instruction*& place = computation.parameters[static_cast<size_t>(number)];
    if (place != nullptr) return Fail(StrCat("parameters ", place->name, " and ", hlo->name, " have one number"));
    place = hlo;
  }
  auto root = numbered_->find(LocalId(from.root_id()));
  if (root == numbered_->end()) return Fail(StrCat("root id ", from.root_id(), " does not exist"));
  computation.root = root->second.hlo;
  return {};
}

// XLA prints computations in an order that follows from the numbers of their instructions, whatever the schedule. Those
// numbers are not kept; a module that is written again has the order instead.
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
      // XLA then takes it as if there were no schedule.
      SetOrder(*computation, PostOrder(*computation));
    } else if (Status read = ReadSequence(*found->second, *computation); !read.ok()) {
      Error(std::move(read.diag()));
    } else if (!strict_ && !IsInOrder(*computation)) {
      TolerateDeviation("loose.schedule", "its schedule has operands behind their users, and is not followed");
      SetOrder(*computation, PostOrder(*computation));
    }
  }
}

Status ModuleReader::ReadSequence(const proto::HloScheduleProto::InstructionSequence& from, Computation& computation) {
  const auto& numbers = numbers_.at(&computation);
  const size_t count = computation.instructions.size();
  if (static_cast<size_t>(from.instruction_ids_size()) != count)
    return Fail(StrCat("its schedule has ", from.instruction_ids_size(), " instructions of ", count));
  std::vector<Instruction*> order;
  std::vector<bool> seen(count);
  for (int64_t id : from.instruction_ids()) {
    auto found = numbers.find(LocalId(id));
    if (found == numbers.end()) return Fail(StrCat("its schedule names instruction id ", id, ", which does not exist"));
    Instruction* hlo = found->second.hlo;
    if (seen[hlo->index]) return Fail(StrCat("its schedule names instruction ", hlo->name, " twice"));
    seen[hlo->index] = true;
    order.push_back(hlo);
  }
  SetOrder(computation, std::move(order));
  return {};
}

}  // namespace shoal::internal
