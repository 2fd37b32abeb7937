#include "shoal/module.h"

#include "api/cpp/module_state.h"
#include "api/cpp/public_shape.h"
#include "core/base/strings.h"
#include "core/ir/common_attrs.h"
#include "core/ir/source_location.h"
#include "core/ops/op.h"
#include "formats/text/attr_text.h"

namespace shoal::inline v0_1 {
namespace {

static_assert(kTruncatedRule == internal::kTruncatedRule);

using internal::ModuleHandle;
using internal::StrCat;

Location LocationAt(const ModuleHandle& state, const internal::TextSpan& at) {
  const internal::Source& source = *state->module().source;
  if (!at.known()) return {source.name(), 0, 0, 0};
  const internal::LineColumn location = source.Locate(at.offset);
  return {source.name(), static_cast<int32_t>(location.line), static_cast<int32_t>(location.column),
          static_cast<int32_t>(at.length)};
}

template <class Range>
std::vector<Instruction> Views(const ModuleHandle& state, const Range& range) {
  std::vector<Instruction> all;
  for (const internal::Instruction* hlo : range)
    if (hlo != nullptr) all.emplace_back(state, hlo);
  return all;
}

internal::ParseOptions InternalOptions(const ReadOptions& options) {
  return {options.strict, options.xla_compatible, /*collects_deviations=*/options.strict && options.verify};
}

Result<Module> Finished(internal::ModuleFile file, const ReadOptions& options) {
  if (file.module == nullptr) return internal::MakeError(std::move(file));
  const bool has_deviations = file.diags.errors() > 0;
  auto state = std::make_shared<const internal::ModuleState>(std::move(file), options.strict, options.own_packages);
  if (has_deviations || (options.verify && state->Verified().errors() > 0)) return state->InvalidModuleError();
  return Module(std::move(state));
}

}  // namespace

std::string_view Module::name() const { return empty() ? std::string_view() : state_->module().name; }
std::string_view Module::path() const { return empty() ? std::string_view() : state_->file.path; }
int64_t Module::replica_count() const { return empty() ? 0 : state_->module().replica_count; }
int64_t Module::num_partitions() const { return empty() ? 0 : state_->module().num_partitions; }
bool Module::is_scheduled() const { return !empty() && state_->module().is_scheduled; }

std::vector<Computation> Module::computations() const {
  std::vector<Computation> all;
  if (empty()) return all;
  for (const internal::Computation* computation : state_->module().computations) all.emplace_back(state_, computation);
  return all;
}

std::optional<Computation> Module::entry() const {
  if (empty() || state_->module().entry == nullptr) return std::nullopt;
  return Computation(state_, state_->module().entry);
}

std::optional<Instruction> Module::Find(std::string_view name) const {
  const internal::Instruction* found = empty() ? nullptr : state_->Find(name);
  if (found == nullptr) return std::nullopt;
  return Instruction(state_, found);
}

std::vector<Shape> Module::parameter_shapes() const {
  std::vector<Shape> shapes;
  if (empty() || state_->module().entry == nullptr) return shapes;
  for (const internal::Instruction* parameter : state_->module().entry->parameters)
    shapes.push_back(parameter == nullptr ? Shape() : internal::PublicShape(parameter->shape()));
  return shapes;
}

Shape Module::result_shape() const {
  if (empty() || state_->module().entry == nullptr || state_->module().entry->root == nullptr) return {};
  return internal::PublicShape(state_->module().entry->result_shape());
}

std::vector<Diag> Module::warnings() const {
  if (empty()) return {};
  return state_->ReaderDiags().ToPublic();
}
int64_t Module::warning_count() const { return empty() ? 0 : state_->file.diags.warnings(); }
std::string Module::WarningText(const DiagStyle& style) const { return empty() ? "" : state_->ReaderDiags().ToText(style); }

std::string_view Computation::name() const { return computation_->name; }
bool Computation::is_entry() const { return module_->module().entry == computation_; }
std::vector<Instruction> Computation::instructions() const { return Views(module_, computation_->instructions); }
std::vector<Instruction> Computation::parameters() const { return Views(module_, computation_->parameters); }
std::optional<Instruction> Computation::root() const {
  if (computation_->root == nullptr) return std::nullopt;
  return Instruction(module_, computation_->root);
}
Location Computation::location() const { return LocationAt(module_, computation_->at); }

std::string_view Instruction::name() const { return instruction_->name; }
std::string_view Instruction::opcode() const {
  const std::string_view unknown = (*instruction_)[internal::kUnknownOpcode];
  return unknown.empty() ? internal::Info(instruction_->opcode).text : unknown;
}
Shape Instruction::shape() const { return internal::PublicShape(instruction_->shape()); }
std::vector<Instruction> Instruction::operands() const { return Views(module_, instruction_->operands); }
std::vector<Instruction> Instruction::users() const { return Views(module_, module_->UsersOf(*instruction_)); }
Computation Instruction::computation() const { return Computation(module_, instruction_->parent); }
Location Instruction::location() const { return LocationAt(module_, instruction_->at); }

std::vector<Computation> Instruction::called_computations() const {
  std::vector<Computation> all;
  for (const internal::Computation* callee : CalledComputations(*instruction_)) all.emplace_back(module_, callee);
  return all;
}

std::vector<Attribute> Instruction::attributes() const {
  std::vector<Attribute> all;
  ForEachAttr(module_->module(), *instruction_,
              [&](const internal::AttrDef*, std::string_view name, std::string_view text) {
                all.push_back({std::string(name), std::string(text)});
              });
  return all;
}

std::string Instruction::attribute(std::string_view name) const {
  for (Attribute& attribute : attributes())
    if (attribute.name == name) return std::move(attribute.value);
  return "";
}

Metadata Instruction::metadata() const {
  const internal::Metadata* metadata = (*instruction_)[internal::kMetadata];
  if (metadata == nullptr) return {};
  return {metadata->op_type, metadata->op_name, module_->SourceOf(*instruction_)};
}

std::vector<SourceFrame> Instruction::source_stack() const {
  std::vector<SourceFrame> stack;
  const internal::Metadata* metadata = (*instruction_)[internal::kMetadata];
  if (metadata == nullptr) return stack;
  for (const internal::SourceFrame& frame : StackOf(module_->module().stack_frames, metadata->stack_frame_id))
    stack.push_back({frame.file, frame.function, frame.line, frame.column});
  return stack;
}

Result<Module> Read(const std::string& path, const ReadOptions& options) {
  return internal::Guarded([&]() -> Result<Module> {
    return Finished(internal::ReadModuleFile(path, InternalOptions(options)), options);
  });
}

Result<Module> Parse(std::string_view bytes, const ReadOptions& options, const std::string& name) {
  return internal::Guarded([&]() -> Result<Module> {
    auto source = internal::Source::FromBytes(name, std::string(bytes));
    if (!source.ok()) return internal::MakeError(source.diag(), name);
    return Finished(internal::ReadModuleSource(std::move(*source), InternalOptions(options)), options);
  });
}

Result<std::vector<Diag>> Verify(const Module& module) {
  if (module.empty()) return internal::NoModuleError();
  const internal::ModuleState& state = *module.state();
  return internal::Guarded([&]() -> Result<std::vector<Diag>> {
    return internal::LocatedDiags{state.Verified(), state.file.path, state.text()}.ToPublic();
  });
}

Result<std::string> Print(const Module& module, const PrintOptions& options) {
  if (module.empty()) return internal::NoModuleError();
  const auto format = static_cast<internal::ModuleFormat>(options.format);
  if (options.format > Format::kStablehlo) return internal::ArgumentError("unknown format");
  return internal::Guarded([&]() -> Result<std::string> {
    internal::Result<std::string> text =
        FormatModule(module.state()->module(), {format, options.elide_large_constants, options.renumber});
    if (!text.ok()) return module.state()->MakeError(text.diag());
    return std::move(*text);
  });
}

Result<std::string> Serialize(const Module& module) { return Print(module, {.format = Format::kProto}); }

}  // namespace shoal::inline v0_1
