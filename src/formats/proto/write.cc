#include "formats/proto/write.h"

#include <google/protobuf/arena.h>

#include <algorithm>
#include <climits>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "core/base/strings.h"
#include "core/ir/module_shardings.h"
#include "core/ops/order.h"
#include "core/ops/structure.h"
#include "core/ops/traits.h"
#include "formats/proto/attr_fields.h"
#include "formats/proto/auto_upgrade.h"
#include "formats/proto/json.h"
#include "formats/text/canonical.h"
#include "formats/text/printer.h"

namespace shoal::internal {
namespace {

// Orders each computation after those it calls, as readers of the message require.
Result<std::vector<const Computation*>> CalleesFirst(const Module& module) {
  enum class State : uint8_t { kNew, kOpen, kDone };
  absl::flat_hash_map<const Computation*, State> states;
  struct Frame {
    const Computation* computation;
    std::vector<const Computation*> called;  // callees still to visit, in reverse order
  };
  auto open = [&](const Computation& computation) {
    states[&computation] = State::kOpen;
    Frame frame{&computation, {}};
    for (const Instruction* hlo : computation.instructions)
      for (const Computation* called : CalledComputations(*hlo)) frame.called.push_back(called);
    std::reverse(frame.called.begin(), frame.called.end());
    return frame;
  };
  std::vector<const Computation*> order;
  std::vector<Frame> stack;
  for (const Computation* start : module.computations) {
    if (states[start] == State::kDone) continue;
    stack.push_back(open(*start));
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.called.empty()) {
        states[top.computation] = State::kDone;
        order.push_back(top.computation);
        stack.pop_back();
        continue;
      }
      const Computation* next = top.called.back();
      top.called.pop_back();
      if (states[next] == State::kOpen) return Fail(StrCat("computation ", next->name, " calls itself"));
      if (states[next] == State::kNew) stack.push_back(open(*next));
    }
  }
  return order;
}

class ModuleWriter {
 public:
  explicit ModuleWriter(const Module& module) : module_(module), names_(module), final_(IsCanonicalText(module)) {
    if (!final_) frames_.emplace(module);
  }
  Status Write(proto::HloModuleProto* to);

 private:
  Status CheckSize();
  void WriteInstruction(const Instruction& hlo, proto::HloInstructionProto* to);
  void WriteComputation(const Computation& computation, proto::HloComputationProto* to);
  void WriteSchedule(proto::HloScheduleProto* to);
  void WriteEntryLayout(proto::ProgramShapeProto* to);
  void WriteAliases(proto::HloModuleProto* to);
  void WriteConfig(proto::HloModuleProto* to);
  void WriteRecordedShardings(proto::HloModuleProto* to);
  void WriteStackFrames(proto::HloModuleProto* to);
  void WriteDebugAttributes(proto::HloModuleProto* to);
  Status WriteOriginRecovery(proto::HloModuleProto* to);

  const Module& module_;
  CanonicalNames names_;
  const bool final_;
  std::optional<CanonicalFrames> frames_;  // none if the frames are already in order
  Ids ids_;
  absl::flat_hash_set<const Computation*> fused_;
};

Status ModuleWriter::Write(proto::HloModuleProto* to) {
  if (module_.entry == nullptr) return Fail("the module has no entry computation");
  for (size_t i = 0; i < module_.computations.size(); ++i) {
    const Computation& computation = *module_.computations[i];
    ids_.computations[&computation] = static_cast<int64_t>(i);
    if (computation.root == nullptr) return Fail(StrCat("computation ", computation.name, " has no root"));
    for (uint32_t position = 0; position < computation.as_written.size(); ++position)
      ids_.written.emplace(computation.as_written[position], position);
  }
  for (const Computation* computation : module_.computations) {
    for (const Instruction* hlo : computation->instructions) {
      for (const Computation* called : CalledComputations(*hlo)) {
        if (!ids_.computations.contains(called))
          return Fail(StrCat("computation ", called->name, " is called, but not defined"));
      }
    }
  }
  fused_ = FusedComputations(module_);
  SHOAL_TRY(CheckSize());
  SHOAL_ASSIGN(order, CalleesFirst(module_));

  Assign(to->mutable_name(), module_.name);
  Assign(to->mutable_entry_computation_name(), names_(*module_.entry));
  to->set_entry_computation_id(ids_.Of(*module_.entry));
  for (const Computation* computation : order) WriteComputation(*computation, to->add_computations());
  if (module_.is_scheduled) WriteSchedule(to->mutable_schedule());
  WriteEntryLayout(to->mutable_host_program_shape());
  WriteAliases(to);
  WriteFrontendAttributes(module_.frontend_attributes, to->mutable_frontend_attributes());
  WriteConfig(to);
  WriteRecordedShardings(to);
  WriteStackFrames(to);
  WriteDebugAttributes(to);
  return WriteOriginRecovery(to);
}

// A short text can declare a large constant of zeros. Reports it instead of allocating it.
Status ModuleWriter::CheckSize() {
  int64_t left = INT_MAX;
  for (const Computation* computation : module_.computations) {
    for (const Instruction* hlo : computation->instructions) {
      for (const NamedAttr& attr : hlo->attrs) {
        const Literal* const* literal = std::get_if<const Literal*>(&attr.value);
        if (literal == nullptr) continue;
        const int64_t bytes = BytesOf(**literal);
        if (bytes > left) return Fail(StrCat("constant ", hlo->name, " does not fit into the 2 GiB of a protobuf"));
        left -= bytes;
      }
    }
  }
  return {};
}

void ModuleWriter::WriteInstruction(const Instruction& hlo, proto::HloInstructionProto* to) {
  Assign(to->mutable_name(), names_(hlo));
  if (names_(hlo) != hlo.name) Assign(to->mutable_shoal()->mutable_written_name(), hlo.name);
  Assign(to->mutable_opcode(), IsUnknown(hlo) ? hlo[kUnknownOpcode] : Text(hlo.opcode));
  WriteShape(hlo.shape(), to->mutable_shape());
  to->set_id(ids_.Of(hlo));
  for (const Instruction* operand : hlo.operands) to->add_operand_ids(ids_.Of(*operand));
  if (IsParameter(hlo)) to->set_parameter_number(hlo[kParameterNumber]);
  // A constant whose values are elided has no literal.
  if (const Literal* value = hlo[kConstantValue]; value != nullptr && !value->elided)
    WriteLiteral(*value, to->mutable_literal());

  AttrTarget target{hlo, ids_, *to};
  for (const AttrField& field : FieldsOf(hlo.opcode)) {
    const AttrValue* value = hlo.Find(field.def->id);
    if (value != nullptr && std::holds_alternative<RawText>(*value)) value = nullptr;
    // The absence of an attribute must be written if it differs in meaning from the absence of the field.
    const bool may_omit = field.def->shown == Shown::kIfGiven && field.def->shown_if == nullptr;
    if (value != nullptr || !may_omit) field.codec->write(field, value, target);
  }
  MarkAsCurrent(*to);
  for (const NamedAttr& attr : hlo.attrs)
    if (const RawText* raw = std::get_if<RawText>(&attr.value))
      to->mutable_shoal()->add_unknown_attributes(std::string(raw->text));
  if (frames_ && to->metadata().stack_frame_id() != 0)
    to->mutable_metadata()->set_stack_frame_id(frames_->NewId(to->metadata().stack_frame_id()));
}

void ModuleWriter::WriteComputation(const Computation& computation, proto::HloComputationProto* to) {
  Assign(to->mutable_name(), names_(computation));
  if (names_(computation) != computation.name) Assign(to->mutable_shoal_written_name(), computation.name);
  to->set_id(ids_.Of(computation));
  for (const Instruction* hlo : PostOrder(computation)) WriteInstruction(*hlo, to->add_instructions());
  to->set_root_id(ids_.Of(*computation.root));
  for (const Instruction* parameter : computation.parameters) {
    if (parameter == nullptr) continue;
    WriteShape(parameter->shape(), to->mutable_program_shape()->add_parameters());
    to->mutable_program_shape()->add_parameter_names(std::string(names_(*parameter)));
  }
  WriteShape(computation.result_shape(), to->mutable_program_shape()->mutable_result());
  to->set_is_fusion_computation(fused_.contains(&computation));
  if (computation.execution_thread != "main") Assign(to->mutable_execution_thread(), computation.execution_thread);
}

void ModuleWriter::WriteSchedule(proto::HloScheduleProto* to) {
  for (const Computation* computation : module_.computations) {
    if (fused_.contains(computation)) continue;
    proto::HloScheduleProto::Entry* entry = to->add_sequences();
    entry->set_key(ids_.Of(*computation));
    for (const Instruction* hlo : computation->instructions) entry->mutable_value()->add_instruction_ids(ids_.Of(*hlo));
  }
}

void ModuleWriter::WriteEntryLayout(proto::ProgramShapeProto* to) {
  EntryLayout layout;
  if (module_.entry_layout) {
    layout = *module_.entry_layout;
  } else {
    for (const Instruction* parameter : module_.entry->parameters)
      if (parameter != nullptr) layout.parameters.push_back(&parameter->shape());
    layout.result = &module_.entry->result_shape();
  }
  for (size_t i = 0; i < layout.parameters.size(); ++i) {
    WriteShape(*layout.parameters[i], to->add_parameters());
    to->add_parameter_names(StrCat("p", i));
  }
  WriteShape(*layout.result, to->mutable_result());
}

void ModuleWriter::WriteAliases(proto::HloModuleProto* to) {
  for (const InputOutputAlias& alias : module_.input_output_alias) {
    auto* entry = to->mutable_input_output_alias()->add_entries();
    Assign(entry->mutable_output_shape_index(), alias.output_index);
    entry->set_parameter_number(alias.parameter);
    Assign(entry->mutable_parameter_shape_index(), alias.parameter_index);
    entry->set_kind(alias.kind == AliasKind::kMay ? 1 : 2);
  }
  for (const BufferDonor& donor : module_.buffer_donors) {
    auto* entry = to->mutable_buffer_donor()->add_entries();
    entry->set_parameter_number(donor.parameter);
    Assign(entry->mutable_parameter_shape_index(), donor.parameter_index);
  }
}

void ModuleWriter::WriteConfig(proto::HloModuleProto* to) {
  const std::vector<bool> kDefault{false};
  const auto& parameters = module_.allow_spmd_sharding_propagation_to_parameters;
  const auto& output = module_.allow_spmd_sharding_propagation_to_output;
  const bool by_id = PostOrder(module_) != module_.computations;
  if (!by_id && final_ && module_.has_header && module_.replica_count == 1 && module_.num_partitions == 1 &&
      !module_.alias_passthrough_params && parameters == kDefault && output == kDefault &&
      module_.unknown_attributes.empty())
    return;
  proto::ShoalConfig* config = to->mutable_shoal_config();
  config->set_no_header(!module_.has_header);
  config->set_computations_by_id(by_id);
  config->set_not_final(!final_);
  for (std::string_view attribute : module_.unknown_attributes) config->add_unknown_attributes(std::string(attribute));
  config->set_replica_count(module_.replica_count);
  config->set_num_partitions(module_.num_partitions);
  config->set_alias_passthrough_params(module_.alias_passthrough_params);
  for (bool allowed : parameters) config->add_allow_spmd_sharding_propagation_to_parameters(allowed);
  for (bool allowed : output) config->add_allow_spmd_sharding_propagation_to_output(allowed);
}

void ModuleWriter::WriteRecordedShardings(proto::HloModuleProto* to) {
  const std::vector<Instruction*>& parameters = module_.entry->parameters;
  const auto is_recorded = [](const Instruction* hlo) { return hlo->has(kRecordedSharding); };
  if (!parameters.empty() && std::ranges::all_of(parameters, is_recorded))
    for (const Instruction* parameter : parameters)
      WriteSharding(*(*parameter)[kRecordedSharding], to->add_spmd_parameters_shardings());
  if (const Sharding* sharding = (*module_.entry->root)[kRecordedSharding])
    WriteSharding(*sharding, to->mutable_spmd_output_sharding());
}

void ModuleWriter::WriteStackFrames(proto::HloModuleProto* to) {
  const StackFrames& tables = frames_ ? frames_->tables : module_.stack_frames;
  if (tables.empty()) return;
  proto::StackFrameIndexProto* index = to->mutable_stack_frame_index();
  for (std::string_view name : tables.file_names) index->add_file_names(std::string(name));
  for (std::string_view name : tables.function_names) index->add_function_names(std::string(name));
  for (const StackFrames::Location& row : tables.locations) {
    auto* location = index->add_file_locations();
    location->set_file_name_id(row.file_name_id);
    location->set_function_name_id(row.function_name_id);
    location->set_line(row.line);
    location->set_end_line(row.end_line);
    location->set_column(row.column);
    location->set_end_column(row.end_column);
  }
  for (const StackFrames::Frame& row : tables.frames) {
    auto* frame = index->add_stack_frames();
    frame->set_file_location_id(row.file_location_id);
    frame->set_parent_frame_id(row.parent_frame_id);
  }
}

void ModuleWriter::WriteDebugAttributes(proto::HloModuleProto* to) {
  for (const DebugAttributesEntry& entry : module_.debug_attributes) {
    proto::DebugAttributeTableEntryProto* row = to->add_debug_attributes();
    WriteOriginalArray(entry.array, row->mutable_original_array());
    for (const DebugAttributes& one : entry.attributes) {
      proto::DebugAttributesProto* attributes = row->add_debug_attributes();
      attributes->set_log_mode(static_cast<int32_t>(one.log_mode));
      attributes->set_callback_id(one.callback_id);
      attributes->set_op_id(one.op_id);
      attributes->set_partitioned(one.partitioned);
    }
  }
}

Status ModuleWriter::WriteOriginRecovery(proto::HloModuleProto* to) {
  for (const OriginRecovery& entry : module_.origin_recovery) {
    auto* row = to->mutable_original_value_recovery_table()->add_entries();
    WriteOriginalArray(entry.replaced, row->mutable_old_original_array());
    WriteOriginalArray(entry.replacing, row->mutable_new_original_array());
    if (entry.module != nullptr) SHOAL_TRY(ModuleWriter(*entry.module).Write(row->mutable_recovery_module()));
  }
  return {};
}

}  // namespace

Result<std::string> WriteProto(const Module& module) {
  google::protobuf::Arena arena;
  auto* message = google::protobuf::Arena::CreateMessage<proto::HloModuleProto>(&arena);
  SHOAL_TRY(ModuleWriter(module).Write(message));
  if (message->ByteSizeLong() > INT_MAX) return Fail("the module does not fit into a protobuf: it exceeds 2 GiB");
  return message->SerializeAsString();
}

Result<std::string> WriteProtoAsJson(const Module& module) {
  google::protobuf::Arena arena;
  auto* message = google::protobuf::Arena::CreateMessage<proto::HloModuleProto>(&arena);
  SHOAL_TRY(ModuleWriter(module).Write(message));
  return ToJson(*message);
}

}  // namespace shoal::internal
