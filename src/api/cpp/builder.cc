#include "shoal/builder.h"

#include "api/cpp/builder_state.h"
#include "api/cpp/module_state.h"
#include "api/cpp/public_shape.h"
#include "core/base/strings.h"
#include "core/ops/traits.h"
#include "formats/text/value_text.h"

namespace shoal::internal {
namespace {

bool IsName(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !is_letter(name[0])) return false;
  for (char c : name)
    if (!is_letter(c) && (c < '0' || c > '9') && c != '.' && c != '-') return false;
  return true;
}

shoal::Status CheckName(std::string_view name) {
  if (name.empty() || IsName(name)) return Nothing();
  return ArgumentError(StrCat("a name has letters, digits, '_', '.' and '-', and does not begin with a digit, got '", name, "'"));
}

}  // namespace

std::string UnusedName(BuilderState& state, std::string_view name) {
  std::string unused(name);
  while (state.names.contains(unused)) unused = StrCat(name, ".", ++state.next_number[std::string(name)]);
  return unused;
}

shoal::Result<std::string> NewName(BuilderState& state, std::string_view opcode, std::string_view name) {
  if (const shoal::Status legal = CheckName(name); !legal.ok()) return legal.error();
  return UnusedName(state, name.empty() ? opcode : name);
}

shoal::Result<ComputationBuilder> StartComputation(const std::shared_ptr<BuilderState>& state, std::string_view name) {
  const auto index = static_cast<int32_t>(state->parts.size());
  BuilderState::Part& part = state->parts.emplace_back();
  if (state->module != nullptr) {
    const std::string base(IsName(name) ? name : "computation");
    std::string unused = base;
    for (int i = 1; !state->computation_names.insert(unused).second; ++i) unused = StrCat(base, ".", i);
    part.computation = &state->builder.NewComputation(unused);
  }
  return ComputationBuilder(state, index);
}

namespace {

// Adds the value to the computation.
shoal::Value Recorded(BuilderState& state, int32_t index, Instruction* hlo) {
  if (!state.names.insert(std::string(hlo->name)).second) {
    hlo->name = state.module->arena.CopyString(UnusedName(state, OpcodeTextOf(*hlo)));
    state.names.insert(std::string(hlo->name));
  }
  std::vector<Instruction*>& values = state.parts[static_cast<size_t>(index)].values;
  values.push_back(hlo);
  return {index, static_cast<int32_t>(values.size()) - 1};
}

shoal::Result<Instruction*> InstructionOf(const BuilderState& state, int32_t index, shoal::Value value) {
  if (value.computation != index) return ArgumentError("an operand must be a value of the same computation");
  const std::vector<Instruction*>& values = state.parts[static_cast<size_t>(index)].values;
  if (value.index < 0 || value.index >= std::ssize(values)) return ArgumentError("there is no such value");
  return values[static_cast<size_t>(value.index)];
}

// The name for an instruction, or why nothing can be added.
shoal::Result<std::string> Ready(BuilderState& state, int32_t index, std::string_view name) {
  if (state.module == nullptr) return ArgumentError("the module is finished");
  if (state.parts[static_cast<size_t>(index)].is_finished) return ArgumentError("the computation is finished");
  return name.empty() ? std::string() : NewName(state, {}, name);
}

Error Failed(const Diag& diag) { return MakeError(diag, "module under construction"); }

}  // namespace
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

using internal::ArgumentError;
using internal::StrCat;

ModuleBuilder::ModuleBuilder(const std::string& name, int64_t replica_count, int64_t num_partitions)
    : state_(std::make_shared<internal::BuilderState>(
          std::make_shared<internal::Module>(internal::Source::FromString(name, "")))) {
  state_->module->name = state_->module->arena.CopyString(name);
  state_->module->replica_count = replica_count;
  state_->module->num_partitions = num_partitions;
}

ComputationBuilder ModuleBuilder::NewComputation(std::string_view name) {
  return *internal::StartComputation(state_, name);
}

Result<Module> ModuleBuilder::Finish(const ComputationBuilder& entry) {
  if (state_->module == nullptr) return ArgumentError("the module is finished");
  if (entry.state() != state_) return ArgumentError("the entry computation belongs to another module");
  if (state_->module->replica_count < 1 || state_->module->num_partitions < 1)
    return ArgumentError("the number of replicas and partitions must be positive");
  for (const internal::BuilderState::Part& part : state_->parts)
    if (!part.is_finished) return ArgumentError(StrCat("computation ", part.computation->name, " is not finished"));
  return internal::Guarded([&]() -> Result<Module> {
    state_->builder.FinishModule(*state_->parts[static_cast<size_t>(entry.index())].computation);
    internal::ModuleFile file;
    file.path = state_->module->source->name();
    file.module = std::move(state_->module);
    auto state = std::make_shared<const internal::ModuleState>(std::move(file), /*strict=*/true);
    if (state->Verified().errors() > 0) return internal::MakeError(internal::LocatedDiags{state->Verified(), state->file.path, state->text()});
    return Module(std::move(state));
  });
}

std::string_view ComputationBuilder::name() const {
  const internal::Computation* computation = state_->parts[static_cast<size_t>(index_)].computation;
  return computation == nullptr || state_->module == nullptr ? std::string_view() : computation->name;
}

Result<Value> ComputationBuilder::Parameter(std::string_view shape, std::string_view name) {
  return internal::Guarded([&]() -> Result<Value> {
    const Result<std::string> ready = internal::Ready(*state_, index_, name);
    if (!ready.ok()) return ready.error();
    auto read = ReadShapeText(*state_->module, shape);
    if (!read.ok()) return internal::Failed(read.diag());
    internal::Computation& computation = *state_->parts[static_cast<size_t>(index_)].computation;
    return internal::Recorded(*state_, index_, state_->builder.Parameter(computation, *read, *ready));
  });
}

Result<Value> ComputationBuilder::Constant(std::string_view shape, std::string_view value, std::string_view name) {
  return internal::Guarded([&]() -> Result<Value> {
    const Result<std::string> ready = internal::Ready(*state_, index_, name);
    if (!ready.ok()) return ready.error();
    auto read = ReadShapeText(*state_->module, shape);
    if (!read.ok()) return internal::Failed(read.diag());
    auto literal = ReadLiteralText(*state_->module, **read, value);
    if (!literal.ok()) return internal::Failed(literal.diag());
    internal::Instruction* hlo = state_->builder.Constant(*state_->parts[static_cast<size_t>(index_)].computation, *literal);
    if (!ready->empty()) hlo->name = state_->module->arena.CopyString(*ready);
    return internal::Recorded(*state_, index_, hlo);
  });
}

Result<Value> ComputationBuilder::Constant(ElementType type, const std::vector<int64_t>& dims, const void* data,
                                           size_t bytes, std::string_view name) {
  return internal::Guarded([&]() -> Result<Value> {
    const Result<std::string> ready = internal::Ready(*state_, index_, name);
    if (!ready.ok()) return ready.error();
    const auto inner = static_cast<internal::ElementType>(type);
    double expected = internal::StorageBytes(inner);
    for (int64_t size : dims) expected *= static_cast<double>(std::max<int64_t>(size, -1));
    if (!internal::IsArrayType(inner) || expected != static_cast<double>(bytes) || (data == nullptr && bytes > 0))
      return ArgumentError(StrCat("a constant ", Name(type), internal::ToString(internal::Ints(dims)), " has ", expected,
                                  " bytes, got ", bytes));
    internal::Arena& arena = state_->module->arena;
    const auto* from = static_cast<const std::byte*>(data);
    auto* literal = arena.New<internal::Literal>();
    literal->shape = state_->module->shapes.Array(inner, arena.Copy(dims));
    literal->data = arena.Copy(std::span(from, bytes));
    internal::Instruction* hlo = state_->builder.Constant(*state_->parts[static_cast<size_t>(index_)].computation, literal);
    if (!ready->empty()) hlo->name = arena.CopyString(*ready);
    return internal::Recorded(*state_, index_, hlo);
  });
}

Result<Value> ComputationBuilder::Add(std::string_view opcode, std::span<const Value> operands,
                                      std::string_view attributes, std::string_view shape, std::string_view name) {
  return internal::Guarded([&]() -> Result<Value> {
    const Result<std::string> ready = internal::Ready(*state_, index_, name);
    if (!ready.ok()) return ready.error();
    const std::optional<internal::Opcode> op = internal::ParseOpcode(opcode);
    if (!op) return ArgumentError(StrCat("unknown op '", opcode, "'"));
    if (*op == internal::Opcode::kParameter || *op == internal::Opcode::kConstant)
      return ArgumentError("Parameter and Constant add parameters and constants");
    std::vector<internal::Instruction*> inner;
    for (const Value& operand : operands) {
      const Result<internal::Instruction*> found = internal::InstructionOf(*state_, index_, operand);
      if (!found.ok()) return found.error();
      inner.push_back(*found);
    }
    const internal::Shape* declared = nullptr;
    if (!shape.empty()) {
      auto read = ReadShapeText(*state_->module, shape);
      if (!read.ok()) return internal::Failed(read.diag());
      declared = *read;
    }
    auto attrs = ReadAttrsText(*state_->module, *op, attributes);
    if (!attrs.ok()) return internal::Failed(attrs.diag());
    internal::Computation& computation = *state_->parts[static_cast<size_t>(index_)].computation;
    auto hlo = state_->builder.Add(computation, *op, inner, *attrs, declared, *ready);
    if (!hlo.ok()) return internal::Failed(hlo.diag());
    return internal::Recorded(*state_, index_, *hlo);
  });
}

Result<Shape> ComputationBuilder::ShapeOf(Value value) const {
  if (state_->module == nullptr) return ArgumentError("the module is finished");
  const Result<internal::Instruction*> found = internal::InstructionOf(*state_, index_, value);
  if (!found.ok()) return found.error();
  return internal::PublicShape((*found)->shape());
}

Status ComputationBuilder::Finish(Value root) {
  const Result<std::string> ready = internal::Ready(*state_, index_, {});
  if (!ready.ok()) return ready.error();
  const Result<internal::Instruction*> found = internal::InstructionOf(*state_, index_, root);
  if (!found.ok()) return found.error();
  internal::BuilderState::Part& part = state_->parts[static_cast<size_t>(index_)];
  part.is_finished = true;
  state_->builder.Finish(*part.computation, *found);
  return Nothing();
}

}  // namespace shoal::inline v0_1
