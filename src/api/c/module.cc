#include "api/c/handles.h"
#include "shoal/transform.h"

namespace shoal::internal {
namespace {

shoal::Result<shoal::Computation> ComputationAt(const shoal_module* module, int64_t index) {
  if (module == nullptr) return ArgumentError("the module must not be null");
  const auto all = module->value.computations();
  if (index < 0 || index >= std::ssize(all)) return ArgumentError(StrCat("the module has ", all.size(), " computations, got index ", index));
  return all[static_cast<size_t>(index)];
}

shoal::Result<shoal::Instruction> InstructionAt(const shoal_module* module, int64_t computation, int64_t index) {
  const auto found = ComputationAt(module, computation);
  if (!found.ok()) return found.error();
  const auto all = found->instructions();
  if (index < 0 || index >= std::ssize(all))
    return ArgumentError(StrCat(found->name(), " has ", all.size(), " instructions, got index ", index));
  return all[static_cast<size_t>(index)];
}

template <class Element>
int64_t IndexOf(const std::vector<Element>& all, const std::optional<Element>& element) {
  for (size_t i = 0; element && i < all.size(); ++i)
    if (all[i] == *element) return static_cast<int64_t>(i);
  return -1;
}

shoal_error* GiveModule(shoal::Result<shoal::Module> module, shoal_module** out) {
  if (!module.ok()) return MakeCError(module.error());
  *out = new shoal_module{std::move(*module)};
  return nullptr;
}

shoal_error* ReadOptionsOf(const shoal_read_options* given, shoal::ReadOptions& out) {
  shoal_read_options options;
  SHOAL_C_TRY(ReadStruct(given, options));
  out.strict = options.strict != 0;
  return ReadStrings(options.own_packages, options.own_package_count, out.own_packages);
}

}  // namespace
}  // namespace shoal::internal

using namespace shoal::internal;  // the functions below are C

extern "C" {

shoal_error* shoal_module_read(const char* path, const shoal_read_options* given, shoal_module** out) {
  if (path == nullptr || out == nullptr) return Null("path and out");
  return GuardedC([&]() -> shoal_error* {
    shoal::ReadOptions inner;
    SHOAL_C_TRY(ReadOptionsOf(given, inner));
    return GiveModule(shoal::Read(path, inner), out);
  });
}

shoal_error* shoal_module_parse(const void* bytes, size_t size, const char* name, const shoal_read_options* given,
                                shoal_module** out) {
  if (out == nullptr || (bytes == nullptr && size > 0)) return Null("bytes and out");
  return GuardedC([&]() -> shoal_error* {
    shoal::ReadOptions inner;
    SHOAL_C_TRY(ReadOptionsOf(given, inner));
    const std::string_view text(static_cast<const char*>(bytes), size);
    return GiveModule(shoal::Parse(text, inner, name == nullptr ? "<memory>" : name), out);
  });
}

void shoal_module_free(shoal_module* module) { delete module; }

shoal_error* shoal_module_get(const shoal_module* module, shoal_module_info* out) {
  if (module == nullptr) return Null("the module");
  return GuardedC([&]() -> shoal_error* {
    const shoal::Module& value = module->value;
    shoal_module_info info{};
    info.name = TextOf(value.name());
    info.path = TextOf(value.path());
    info.replica_count = value.replica_count();
    info.num_partitions = value.num_partitions();
    const auto all = value.computations();
    info.computations = std::ssize(all);
    info.entry = IndexOf(all, value.entry());
    info.is_scheduled = value.is_scheduled();
    return WriteStruct(info, out);
  });
}

shoal_error* shoal_computation_get(const shoal_module* module, int64_t computation, shoal_computation_info* out) {
  return GuardedC([&]() -> shoal_error* {
    const auto found = ComputationAt(module, computation);
    if (!found.ok()) return MakeCError(found.error());
    shoal_computation_info info{};
    info.name = TextOf(found->name());
    const auto all = found->instructions();
    info.instructions = std::ssize(all);
    info.root = IndexOf(all, found->root());
    return WriteStruct(info, out);
  });
}

shoal_error* shoal_instruction_get(const shoal_module* module, int64_t computation, int64_t instruction,
                                   shoal_instruction_info* out) {
  return GuardedC([&]() -> shoal_error* {
    const auto found = InstructionAt(module, computation, instruction);
    if (!found.ok()) return MakeCError(found.error());
    shoal_instruction_info info{};
    info.name = TextOf(found->name());
    info.opcode = TextOf(found->opcode());
    info.op_name = TextOf(found->metadata().op_name);
    info.operands = std::ssize(found->operands());
    info.line = found->location().line;
    info.column = found->location().column;
    return WriteStruct(info, out);
  });
}

shoal_error* shoal_instruction_operand(const shoal_module* module, int64_t computation, int64_t instruction,
                                       int64_t operand, int64_t* out) {
  if (out == nullptr) return Null("out");
  return GuardedC([&]() -> shoal_error* {
    const auto found = InstructionAt(module, computation, instruction);
    if (!found.ok()) return MakeCError(found.error());
    const auto operands = found->operands();
    if (operand < 0 || operand >= std::ssize(operands))
      return Wrong(StrCat(found->name(), " has ", operands.size(), " operands, got index ", operand));
    *out = IndexOf(found->computation().instructions(), std::optional(operands[static_cast<size_t>(operand)]));
    return nullptr;
  });
}

shoal_error* shoal_instruction_shape(const shoal_module* module, int64_t computation, int64_t instruction,
                                     shoal_string** out) {
  if (out == nullptr) return Null("out");
  return GuardedC([&]() -> shoal_error* {
    const auto found = InstructionAt(module, computation, instruction);
    return found.ok() ? Give(found->shape().text, out) : MakeCError(found.error());
  });
}

shoal_error* shoal_instruction_attribute(const shoal_module* module, int64_t computation, int64_t instruction,
                                         const char* name, shoal_string** out) {
  if (name == nullptr || out == nullptr) return Null("name and out");
  return GuardedC([&]() -> shoal_error* {
    const auto found = InstructionAt(module, computation, instruction);
    return found.ok() ? Give(found->attribute(name), out) : MakeCError(found.error());
  });
}

shoal_error* shoal_module_warnings(const shoal_module* module, shoal_diags** out) {
  if (module == nullptr || out == nullptr) return Null("the module and out");
  return GuardedC([&]() -> shoal_error* {
    *out = new shoal_diags{module->value.warnings()};
    return nullptr;
  });
}

shoal_error* shoal_module_verify(const shoal_module* module, shoal_diags** out) {
  if (module == nullptr || out == nullptr) return Null("the module and out");
  return GuardedC([&]() -> shoal_error* {
    auto diags = shoal::Verify(module->value);
    if (!diags.ok()) return MakeCError(diags.error());
    *out = new shoal_diags{std::move(*diags)};
    return nullptr;
  });
}

shoal_error* shoal_module_print(const shoal_module* module, const shoal_print_options* given, shoal_string** out) {
  if (module == nullptr || out == nullptr) return Null("the module and out");
  return GuardedC([&]() -> shoal_error* {
    shoal_print_options options;
    SHOAL_C_TRY(ReadStruct(given, options));
    if (options.format < 0 || options.format > SHOAL_FORMAT_STABLEHLO) return Wrong("unknown format");
    auto text = shoal::Print(module->value, {static_cast<shoal::Format>(options.format), options.elide_large_constants != 0,
                                             options.renumber != 0});
    return text.ok() ? Give(std::move(*text), out) : MakeCError(text.error());
  });
}

size_t shoal_pass_count(void) { return shoal::Passes().size(); }

shoal_error* shoal_pass_get(size_t index, shoal_pass_info* out) {
  return GuardedC([&]() -> shoal_error* {
    const auto all = shoal::Passes();
    if (index >= all.size()) return Wrong(StrCat("there are ", all.size(), " passes, got index ", index));
    shoal_pass_info info{};
    info.name = TextOf(all[index].name);
    info.reason = TextOf(all[index].reason);
    info.is_communication = all[index].group == shoal::PassGroup::kCommunication;
    return WriteStruct(info, out);
  });
}

shoal_error* shoal_module_transform(const shoal_module* module, const shoal_transform_options* given, shoal_module** out) {
  if (module == nullptr || out == nullptr) return Null("the module and out");
  return GuardedC([&]() -> shoal_error* {
    shoal_transform_options options;
    SHOAL_C_TRY(ReadStruct(given, options));
    std::vector<std::string> passes;
    shoal::TransformOptions inner;
    SHOAL_C_TRY(ReadStrings(options.passes, options.pass_count, passes));
    SHOAL_C_TRY(ReadStrings(options.disabled, options.disabled_count, inner.disabled));
    return GiveModule(shoal::Transform(module->value, passes, inner), out);
  });
}

}  // extern "C"
