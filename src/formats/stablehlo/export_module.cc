// The module, its functions, and the attributes of the entry's arguments and results.
#include <algorithm>

#include "core/ops/traits.h"
#include "formats/stablehlo/exporter.h"

namespace shoal::internal {
namespace {

using Kind = MlirAttr::Kind;

}  // namespace

Result<std::unique_ptr<MlirModule>> ExportMlir(const Module& module) {
  auto tree = std::make_unique<MlirModule>();
  Exporter exporter(module, *tree);
  SHOAL_TRY(exporter.Run());
  return tree;
}

Status Exporter::Run() {
  std::vector<MlirOp*> outside;
  ops_ = &outside;
  if (module_.entry == nullptr) return Fail("the module has no entry computation");
  if (!module_.unknown_attributes.empty())
    return Fail({}, "stablehlo.form", StrCat("the module's attribute ", module_.unknown_attributes[0], " has no StableHLO form"));
  SHOAL_TRY(CheckRegion(*module_.entry));
  used_names_.push_back("main");
  names_[module_.entry] = "main";
  SHOAL_TRY(ExportFunction(*module_.entry, "main"));
  tree_.op = arena().New<MlirOp>();
  tree_.op->name = "builtin.module";
  tree_.op->info = FindMlirOp(tree_.op->name);
  Attrs attrs{{"sym_name", TextAttr(Kind::kString, module_.name)}};
  Attrs fields;
  for (const FrontendAttribute& attribute : module_.frontend_attributes)
    fields.push_back({attribute.name, TextAttr(Kind::kString, attribute.value)});
  if (!fields.empty()) attrs.push_back({"mhlo.frontend_attributes", DictionaryAttr({}, fields)});
  attrs.push_back({"mhlo.num_partitions", IntAttr(std::max<int64_t>(module_.num_partitions, 1), ElementType::kS32)});
  attrs.push_back({"mhlo.num_replicas", IntAttr(std::max<int64_t>(module_.replica_count, 1), ElementType::kS32)});
  tree_.op->attrs = arena().Copy(attrs);
  // The entry comes first, as in JAX's text.
  std::rotate(functions_.begin(), functions_.end() - 1, functions_.end());
  ops_ = &functions_;
  const std::span<MlirRegion> regions = arena().NewSpan<MlirRegion>(1);
  regions[0] = RegionWith({});
  tree_.op->regions = regions;
  return {};
}

Result<std::string_view> Exporter::FunctionOf(Computation& computation) {
  if (const auto known = names_.find(&computation); known != names_.end()) return known->second;
  SHOAL_TRY(CheckRegion(computation));
  std::string name(computation.name);
  for (int i = 0; std::find(used_names_.begin(), used_names_.end(), name) != used_names_.end(); ++i)
    name = StrCat(computation.name, "_", i);
  const std::string_view kept = arena().CopyString(name);
  used_names_.push_back(kept);
  names_[&computation] = kept;
  SHOAL_TRY(ExportFunction(computation, kept));
  return kept;
}

Result<std::vector<MlirValue*>> Exporter::Returned(const Instruction& root) {
  Value& value = ValueOf(root);
  std::vector<MlirValue*> results;
  const size_t count = root.shape().IsTuple() ? root.shape().elements().size() : 1;
  if (!root.shape().IsTuple() || count == 1) {
    SHOAL_ASSIGN(single, Single(value, root));
    results.push_back(single);
    return results;
  }
  for (size_t i = 0; i < count; ++i) {
    SHOAL_ASSIGN(part, Part(value, i, root));
    SHOAL_ASSIGN(single, Single(part, root));
    results.push_back(single);
  }
  return results;
}

Result<Exporter::Attrs> Exporter::ArgumentAttrs(const Instruction& parameter, size_t number, bool is_entry) {
  Attrs attrs;
  AddCommonAttrs(parameter, attrs);
  if (!is_entry) return attrs;
  const auto index = static_cast<int64_t>(number);
  for (const BufferDonor& donor : module_.buffer_donors)
    if (donor.parameter == index && donor.parameter_index.empty()) attrs.push_back({"jax.buffer_donor", BoolAttr(true)});
  for (const InputOutputAlias& alias : module_.input_output_alias)
    if (alias.parameter == index)
      attrs.push_back({"tf.aliasing_output",
                       IntAttr(alias.output_index.empty() ? 0 : alias.output_index[0], ElementType::kS32)});
  if (module_.entry_layout && number < module_.entry_layout->parameters.size()) {
    const std::string mode = LayoutText(*module_.entry_layout->parameters[number]);
    if (!mode.empty()) attrs.push_back({"mhlo.layout_mode", TextAttr(Kind::kString, mode)});
  }
  return attrs;
}

Result<Exporter::Attrs> Exporter::ReturnedAttrs(const Instruction& root, size_t number, size_t count, bool is_entry) {
  Attrs attrs;
  const Sharding* sharding = root[kSharding];
  const bool is_tuple = root.shape().IsTuple() && count != 1;
  if (sharding != nullptr && is_tuple && IsTuple(root) && sharding->kind == Sharding::Kind::kTuple) {
    if (number < sharding->elements.size() && root.shape().LeafCount() == static_cast<int64_t>(count))
      AddSharding(&sharding->elements[number], attrs);
  } else if (sharding != nullptr && ((is_tuple && IsTuple(root)) || IsGetTupleElement(root))) {
    AddSharding(sharding, attrs);
  }
  if (!is_entry || !module_.entry_layout || module_.entry_layout->result == nullptr) return attrs;
  const Shape* shape = module_.entry_layout->result;
  if (is_tuple && shape->IsTuple() && number < shape->elements().size()) shape = &shape->element(static_cast<int64_t>(number));
  const std::string mode = LayoutText(*shape);
  if (!mode.empty()) attrs.push_back({"mhlo.layout_mode", TextAttr(Kind::kString, mode)});
  return attrs;
}

// StableHLO's arguments are donated or aliased as a whole.
Status Exporter::CheckAliases(size_t results) {
  for (const InputOutputAlias& alias : module_.input_output_alias)
    if (!alias.parameter_index.empty() || alias.output_index.size() > 1 || (results != 1 && alias.output_index.empty()))
      return Fail({}, "stablehlo.form", StrCat("input_output_alias of part ", ToString(alias.output_index),
                                               " of the result has no StableHLO form"));
  for (const BufferDonor& donor : module_.buffer_donors)
    if (!donor.parameter_index.empty())
      return Fail({}, "stablehlo.form", "buffer_donor of a part of a parameter has no StableHLO form");
  return {};
}

Status Exporter::ExportFunction(Computation& computation, std::string_view name) {
  ++depth_;
  const bool is_entry = &computation == module_.entry;
  std::vector<MlirOp*> body;
  std::vector<MlirOp*>* const outer = std::exchange(ops_, &body);
  std::vector<MlirValue> arguments;
  std::vector<const MlirAttr*> argument_attrs, result_attrs;
  for (const Instruction* parameter : computation.parameters) {
    SHOAL_ASSIGN(type, TypeOf(parameter->shape()));
    SHOAL_ASSIGN(attrs, ArgumentAttrs(*parameter, arguments.size(), is_entry));
    argument_attrs.push_back(DictionaryAttr({}, attrs));
    MlirValue value;
    value.type = type;
    value.index = static_cast<uint32_t>(arguments.size());
    value.lowered = const_cast<Instruction*>(parameter);
    value.location = LocationOf((*parameter)[kMetadata]);
    arguments.push_back(value);
  }
  const std::span<MlirValue> values = arena().Copy(arguments);
  for (MlirValue& value : values) values_[value.lowered] = {&value, {}};
  SHOAL_TRY(ExportInstructions(computation));
  SHOAL_ASSIGN(returned, Returned(*computation.root));
  if (is_entry) SHOAL_TRY(CheckAliases(returned.size()));
  SHOAL_TRY(AddReturn("func.return", *computation.root, returned));
  MlirType type;
  type.kind = MlirType::Kind::kFunction;
  Types inputs, results;
  for (const MlirValue& value : values) inputs.push_back(value.type);
  for (size_t i = 0; i < returned.size(); ++i) {
    results.push_back(returned[i]->type);
    SHOAL_ASSIGN(attrs, ReturnedAttrs(*computation.root, i, returned.size(), is_entry));
    result_attrs.push_back(DictionaryAttr({}, attrs));
  }
  type.elements = arena().Copy(inputs);
  type.results = arena().Copy(results);
  auto list = [&](std::vector<const MlirAttr*>& elements) {
    MlirAttr* attr = NewAttr(Kind::kArray);
    attr->elements = arena().Copy(elements);
    return attr;
  };
  MlirAttr* type_attr = NewAttr(Kind::kType);
  type_attr->type = arena().New<MlirType>(type);
  const Attrs attrs{{"sym_name", TextAttr(Kind::kString, name)},
                    {"sym_visibility", TextAttr(Kind::kString, is_entry ? "public" : "private")},
                    {"function_type", type_attr},
                    {"arg_attrs", list(argument_attrs)},
                    {"res_attrs", list(result_attrs)}};
  MlirOp* function = arena().New<MlirOp>();
  function->name = "func.func";
  function->info = FindMlirOp(function->name);
  function->at = computation.at;
  function->attrs = arena().Copy(attrs);
  const std::span<MlirRegion> regions = arena().NewSpan<MlirRegion>(1);
  regions[0] = RegionWith(values);
  function->regions = regions;
  functions_.push_back(function);
  ops_ = outer;
  --depth_;
  return {};
}

}  // namespace shoal::internal
