// input_output_alias and buffer_donor name arrays that can share memory. The rules of the ops check the aliases
// that fusions and custom calls declare for their own operands.
#include <set>

#include "core/ops/rules.h"
#include "core/verify/checks.h"

namespace shoal::internal {
namespace {

// The parameter and result shapes of the entry computation, as its callers see them.
struct Interface {
  std::vector<const Shape*> parameters;
  const Shape* result = nullptr;
};

Interface InterfaceOf(const Module& module) {
  const Computation& entry = *module.entry;
  const bool declared = module.entry_layout && module.entry_layout->result != nullptr &&
                        module.entry_layout->parameters.size() == entry.parameters.size();
  if (declared) return {module.entry_layout->parameters, module.entry_layout->result};
  Interface interface;
  for (const Instruction* parameter : entry.parameters)
    interface.parameters.push_back(parameter == nullptr ? nullptr : parameter->shape_);
  interface.result = entry.root->shape_;
  return interface;
}

// Size without padding; no value if it is unknown or overflows.
std::optional<int64_t> ByteSize(const Shape& array) {
  const std::optional<int64_t> count = array.ElementCount();
  const bool packed = array.layout() != nullptr && array.layout()->element_size_in_bits > 0;
  const int64_t bits = packed ? array.layout()->element_size_in_bits : int64_t{8} * StorageBytes(array.element_type());
  int64_t size = 0;
  if (Contains(array.dims(), kUnboundedSize) || !count || __builtin_mul_overflow(*count, bits, &size)) return {};
  return size / 8 + (size % 8 != 0 ? 1 : 0);
}

bool SameSize(const Shape& a, const Shape& b) {
  if (Compatible(a, b)) return true;
  const std::optional<int64_t> size_a = ByteSize(a), size_b = ByteSize(b);
  return !size_a || !size_b || *size_a == *size_b;
}

class AliasCheck {
 public:
  explicit AliasCheck(VerifierContext& context)
      : context_(context), entry_(*context.module().entry), interface_(InterfaceOf(context.module())) {}

  // Rules C1 to C6.
  void Check(const InputOutputAlias& alias) {
    const Shape* parameter = Find("input_output_alias", alias.parameter, alias.parameter_index, "alias.C1", "alias.C2");
    if (parameter == nullptr) return;
    const Shape* output = interface_.result->At(alias.output_index);
    if (output == nullptr || !output->IsArray())
      return Add("alias.C3", StrCat("input_output_alias must name an array of the result, got ",
                                    ToString(alias.output_index), " in ", Str(*interface_.result)));
    const std::string pair = StrCat("output ", ToString(alias.output_index), " and parameter ", alias.parameter, " at ",
                                    ToString(alias.parameter_index));
    if (!SameSize(*parameter, *output))
      return Add("alias.C4",
                 StrCat(pair, " must have equal sizes to share memory, got ", Str(*output), " and ", Str(*parameter)));
    if (alias.kind == AliasKind::kMust && parameter != output)
      return Add("alias.C5", StrCat(pair, " must have equal shapes and layouts, since they must alias, got ",
                                    ToString(*output, true), " and ", ToString(*parameter, true)));
    if (!aliased_.insert({alias.parameter, alias.parameter_index}).second)
      Add("alias.C6", StrCat("parameter ", alias.parameter, " at ", ToString(alias.parameter_index),
                             " must alias only one output, got two"));
  }

  // Rules C7 to C9. Must be called after all aliases are checked.
  void Check(const BufferDonor& donor) {
    if (Find("buffer_donor", donor.parameter, donor.parameter_index, "alias.C7", "alias.C8") == nullptr) return;
    if (aliased_.contains(donor))
      Add("alias.C9", StrCat("parameter ", donor.parameter, " at ", ToString(donor.parameter_index),
                             " must be in input_output_alias or buffer_donor, got both"));
  }

 private:
  void Add(std::string_view rule, std::string message, Site site = Site::Here()) {
    context_.Add(entry_, rule, std::move(message), site);
  }

  // The array at `index` in a parameter. Adds an error and returns null if it does not exist.
  const Shape* Find(std::string_view attribute, int64_t parameter, const ShapeIndex& index,
                    std::string_view parameter_rule, std::string_view index_rule) {
    const int64_t count = std::ssize(interface_.parameters);
    const Shape* shape = nullptr;
    if (parameter >= 0 && parameter < count) shape = interface_.parameters[static_cast<size_t>(parameter)];
    if (shape == nullptr) {
      Add(parameter_rule, StrCat(attribute, " must name a parameter in [0, ", count, "), got ", parameter));
      return nullptr;
    }
    const Shape* part = shape->At(index);
    if (part != nullptr && part->IsArray()) return part;
    Add(index_rule, StrCat(attribute, " must name an array of parameter ", parameter, ", got ", ToString(index), " in ",
                           Str(*shape)));
    return nullptr;
  }

  VerifierContext& context_;
  const Computation& entry_;
  const Interface interface_;
  std::set<BufferDonor> aliased_;
};

}  // namespace

void CheckAliases(VerifierContext& context) {
  const Module& module = context.module();
  if (module.entry == nullptr || module.entry->root == nullptr) return;
  AliasCheck check(context);
  for (const InputOutputAlias& alias : module.input_output_alias) check.Check(alias);
  for (const BufferDonor& donor : module.buffer_donors) check.Check(donor);
}

}  // namespace shoal::internal
