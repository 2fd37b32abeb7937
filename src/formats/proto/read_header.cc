#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ir/module_shardings.h"
#include "core/verify/sharding_rules.h"
#include "formats/proto/module_reader.h"

namespace shoal::internal {
namespace {

template <class T>
std::vector<std::string_view> CopyStrings(Module& module, const T& from) {
  std::vector<std::string_view> copies;
  for (const std::string& text : from) copies.push_back(module.arena.CopyString(text));
  return copies;
}

// True if the name is valid in HLO text: letters, digits, '_', '.', '-'; not a type; no leading "__" except "__xla_".
bool IsCleanName(std::string_view name) {
  auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  auto is_allowed = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-'; };
  if (name.empty() || !is_letter(name[0]) || !std::all_of(name.begin(), name.end(), is_allowed)) return false;
  if (name.starts_with("__") && !name.starts_with("__xla_")) return false;
  return name == "tuple" || name == "buffer" || !ParseElementType(name);
}

}  // namespace

void ModuleReader::ReadHeader(const proto::HloModuleProto& from) {
  if (from.has_host_program_shape()) {
    if (Status read = ReadEntryLayout(from.host_program_shape()); !read.ok()) Error(std::move(read.diag()));
  }
  if (Status read = ReadAliases(from); !read.ok()) Error(std::move(read.diag()));
  module_.frontend_attributes = ReadFrontendAttributes(module_, from.frontend_attributes());
  ReadConfig(from);
  if (Status read = ReadRecordedShardings(from); !read.ok()) Error(std::move(read.diag()));
  ReadStackFrames(from.stack_frame_index());
  ReadDebugAttributes(from);
}

Status ModuleReader::ReadEntryLayout(const proto::ProgramShapeProto& from) {
  EntryLayout layout;
  for (const proto::ShapeProto& parameter : from.parameters()) {
    SHOAL_ASSIGN(shape, ReadShape(module_, parameter));
    layout.parameters.push_back(shape);
  }
  SHOAL_ASSIGN(result, ReadShape(module_, from.result()));
  layout.result = result;
  module_.entry_layout = std::move(layout);
  return {};
}

Status ModuleReader::ReadAliases(const proto::HloModuleProto& from) {
  constexpr int kMayAlias = 1;
  for (const auto& entry : from.input_output_alias().entries()) {
    InputOutputAlias alias{ToVector(entry.output_shape_index()), entry.parameter_number(),
                           ToVector(entry.parameter_shape_index()),
                           entry.kind() == kMayAlias ? AliasKind::kMay : AliasKind::kMust};
    if (alias.parameter < 0)
      return Fail(StrCat("input_output_alias: parameter number must not be negative, got ", alias.parameter));
    if (module_.entry->result_shape().At(alias.output_index) == nullptr)
      return Fail(StrCat("input_output_alias: the result ", ToString(module_.entry->result_shape()), " has no element ",
                         ToString(alias.output_index)));
    module_.input_output_alias.push_back(std::move(alias));
  }
  auto& aliases = module_.input_output_alias;
  std::sort(aliases.begin(), aliases.end(),
            [](const auto& a, const auto& b) { return a.output_index < b.output_index; });
  for (size_t i = 1; i < aliases.size(); ++i)
    if (aliases[i - 1].output_index == aliases[i].output_index)
      return Fail(StrCat("input_output_alias: output ", ToString(aliases[i].output_index), " is aliased twice"));
  for (const auto& entry : from.buffer_donor().entries()) {
    if (entry.parameter_number() < 0)
      return Fail(StrCat("buffer_donor: parameter number must not be negative, got ", entry.parameter_number()));
    module_.buffer_donors.push_back({entry.parameter_number(), ToVector(entry.parameter_shape_index())});
  }
  auto& donors = module_.buffer_donors;
  std::sort(donors.begin(), donors.end());
  donors.erase(std::unique(donors.begin(), donors.end(), [](const auto& a, const auto& b) { return !(a < b); }),
               donors.end());
  return {};
}

Status ModuleReader::ReadRecordedShardings(const proto::HloModuleProto& from) {
  const std::vector<Instruction*>& parameters = module_.entry->parameters;
  const int count = from.spmd_parameters_shardings_size();
  if (count > 0 && count != std::ssize(parameters))
    diags_.Warn({}, "loose.field", StrCat("spmd_parameters_shardings is ignored: it has ", count, " entries for ",
                                          Pluralize(std::ssize(parameters), "parameter")));
  for (int i = 0; i < count && count == std::ssize(parameters); ++i) {
    SHOAL_ASSIGN(sharding, ReadSharding(module_, from.payloads(), from.spmd_parameters_shardings(i)));
    if (parameters[static_cast<size_t>(i)] != nullptr)
      RecordSharding(*parameters[static_cast<size_t>(i)], std::move(sharding), "spmd_parameters_shardings");
  }
  if (!from.has_spmd_output_sharding() || module_.entry->root == nullptr) return {};
  SHOAL_ASSIGN(sharding, ReadSharding(module_, from.payloads(), from.spmd_output_sharding()));
  RecordSharding(*module_.entry->root, std::move(sharding), "spmd_output_sharding");
  return {};
}

// If a parameter is the root, it has the sharding of the parameter.
void ModuleReader::RecordSharding(Instruction& hlo, Sharding sharding, std::string_view field) {
  if (hlo.has(kRecordedSharding)) return;
  const std::optional<int64_t> devices = module_.num_partitions > 1 ? std::optional(module_.num_partitions) : std::nullopt;
  if (const ShardingProblem problem = ProblemOf(sharding, hlo.shape(), devices); !problem.rule.empty())
    return diags_.Warn({}, "loose.field", StrCat(field, " is ignored for ", hlo.name, ": ", problem.message));
  std::span<NamedAttr> attrs = module_.arena.NewSpan<NamedAttr>(hlo.attrs.size() + 1);
  std::copy(hlo.attrs.begin(), hlo.attrs.end(), attrs.begin());
  attrs.back() = {kRecordedSharding.id, static_cast<const Sharding*>(module_.arena.New<Sharding>(std::move(sharding)))};
  hlo.attrs = attrs;
}

// Sets properties that XLA stores outside of the module: from shoal's own field if set, else inferred for executables.
void ModuleReader::ReadConfig(const proto::HloModuleProto& from) {
  if (from.has_shoal_config()) {
    const proto::ShoalConfig& config = from.shoal_config();
    module_.has_header = !config.no_header();
    for (const std::string& attribute : config.unknown_attributes())
      module_.unknown_attributes.push_back(module_.arena.CopyString(attribute));
    module_.replica_count = config.replica_count();
    module_.num_partitions = config.num_partitions();
    module_.alias_passthrough_params = config.alias_passthrough_params();
    const auto& parameters = config.allow_spmd_sharding_propagation_to_parameters();
    const auto& output = config.allow_spmd_sharding_propagation_to_output();
    module_.allow_spmd_sharding_propagation_to_parameters.assign(parameters.begin(), parameters.end());
    module_.allow_spmd_sharding_propagation_to_output.assign(output.begin(), output.end());
    return;
  }
  if (!from_executable_) return;
  module_.replica_count = std::max(from.device_assignment().replica_count(), 1);
  module_.num_partitions = std::max(from.device_assignment().computation_count(), 1);
  // In executables of JAX, shardings of parameters are fixed, and those of results may be chosen by the compiler.
  const size_t parameters = module_.entry->parameters.size();
  const Shape& result = module_.entry->result_shape();
  const size_t outputs = result.IsTuple() ? result.elements().size() : 1;
  if (parameters > 0) module_.allow_spmd_sharding_propagation_to_parameters.assign(parameters, false);
  if (outputs > 0) module_.allow_spmd_sharding_propagation_to_output.assign(outputs, true);
}

void ModuleReader::ReadStackFrames(const proto::StackFrameIndexProto& from) {
  StackFrames& tables = module_.stack_frames;
  tables.file_names = module_.arena.Copy(CopyStrings(module_, from.file_names()));
  tables.function_names = module_.arena.Copy(CopyStrings(module_, from.function_names()));
  std::vector<StackFrames::Location> locations;
  for (const auto& row : from.file_locations())
    locations.push_back(
        {row.file_name_id(), row.function_name_id(), row.line(), row.end_line(), row.column(), row.end_column()});
  tables.locations = module_.arena.Copy(locations);
  std::vector<StackFrames::Frame> frames;
  for (const auto& row : from.stack_frames()) {
    // A parent that does not exist is treated as no parent.
    const bool is_valid = row.parent_frame_id() >= 0 && row.parent_frame_id() <= from.stack_frames_size();
    frames.push_back({row.file_location_id(), is_valid ? row.parent_frame_id() : 0});
  }
  tables.frames = module_.arena.Copy(frames);
}

void ModuleReader::ReadDebugAttributes(const proto::HloModuleProto& from) {
  using LogMode = DebugAttributes::LogMode;
  for (const proto::DebugAttributeTableEntryProto& row : from.debug_attributes()) {
    DebugAttributesEntry entry{ReadOriginalArray(module_, row.original_array()), {}};
    for (const proto::DebugAttributesProto& one : row.debug_attributes()) {
      // HLO text cannot express the other modes.
      const bool is_valid = one.log_mode() >= 0 && one.log_mode() <= static_cast<int>(LogMode::kFusionDebugger);
      if (!is_valid)
        TolerateDeviation("loose.field", StrCat("debug_attributes: log_mode ", one.log_mode(), " is ignored"));
      entry.attributes.push_back({is_valid ? static_cast<LogMode>(one.log_mode()) : LogMode::kNone, one.callback_id(),
                                  one.op_id(), one.partitioned()});
    }
    auto& all = module_.debug_attributes;
    auto same = std::find_if(all.begin(), all.end(), [&](const auto& other) { return other.array == entry.array; });
    if (same == all.end()) {
      all.push_back(std::move(entry));
    } else {
      same->attributes.insert(same->attributes.end(), entry.attributes.begin(), entry.attributes.end());
    }
  }
  std::sort(module_.debug_attributes.begin(), module_.debug_attributes.end(),
            [](const auto& a, const auto& b) { return a.array < b.array; });
}

void ModuleReader::ReadOriginRecovery(proto::OriginalValueRecoveryTableProto& from) {
  for (auto& row : *from.mutable_entries()) {
    OriginRecovery entry{ReadOriginalArray(module_, row.old_original_array()),
                         ReadOriginalArray(module_, row.new_original_array()), nullptr};
    if (row.has_recovery_module()) {
      entry.module = std::make_unique<Module>(Source::FromString("origin_recovery_table", ""));
      ModuleReader(*entry.module, strict_, diags_).Read(*row.mutable_recovery_module());
    }
    module_.origin_recovery.push_back(std::move(entry));
  }
  std::stable_sort(module_.origin_recovery.begin(), module_.origin_recovery.end(),
                   [](const OriginRecovery& a, const OriginRecovery& b) { return a.replaced < b.replaced; });
}

// Names in a message are final if they are valid and unique. Otherwise the printer makes them valid and unique.
void ModuleReader::CheckNames(bool final) {
  module_.names_are_final = final;
  if (!final || has_written_names_) return;
  absl::flat_hash_set<std::string_view> computations, instructions;
  auto check = [&](absl::flat_hash_set<std::string_view>& seen, std::string_view name) {
    const bool taken = !seen.insert(name).second;
    if (taken) TolerateDeviation("loose.name", "duplicate name");
    if (!taken && !IsCleanName(name))
      diags_.Warn({}, "loose.name", StrCat(LocationPrefix(), "the name is not valid in HLO text"));
    if (taken || !IsCleanName(name)) module_.names_are_final = false;
  };
  for (const Computation* computation : module_.computations) {
    computation_name_ = computation->name;
    instruction_name_ = {};
    check(computations, computation->name);
    for (const Instruction* hlo : computation->instructions) {
      instruction_name_ = hlo->name;
      check(instructions, hlo->name);
    }
  }
  computation_name_ = instruction_name_ = {};
}

}  // namespace shoal::internal
