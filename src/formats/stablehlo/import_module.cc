// The module: its attributes, its functions, the entry computation.
#include <algorithm>

#include "core/ops/structure.h"
#include "formats/stablehlo/importer.h"
#include "formats/text/fragments.h"

namespace shoal::internal {
namespace {

using Kind = MlirAttr::Kind;

// A name of HLO: letters, digits, '_', '.', '-', and no digit at the beginning.
std::string HloName(std::string_view text, std::string_view otherwise) {
  std::string name(text.empty() ? otherwise : text);
  for (char& c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                       c == '.' || c == '-';
    if (!plain) c = '_';
  }
  const char first = name[0];
  const bool letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '_';
  return letter ? name : StrCat("_", name);
}

const MlirAttr* FindField(std::span<const MlirNamedAttr> fields, std::string_view name) {
  for (const MlirNamedAttr& field : fields)
    if (field.name == name) return field.value;
  return nullptr;
}

// The attributes of argument or result number i; empty if it has none.
std::span<const MlirNamedAttr> FieldsOf(const MlirAttr* list, size_t i) {
  if (list == nullptr || list->kind != Kind::kArray || i >= list->elements.size()) return {};
  return list->elements[i]->fields;
}

}  // namespace

std::unique_ptr<Module> ImportMlir(const MlirModule& tree, const ImportOptions& options, Diags& diags) {
  auto module = std::make_unique<Module>(nullptr);
  Importer importer(tree, *module, options, diags);
  Status imported = importer.Run();
  if (imported.ok()) return module;
  diags.Add(std::move(imported.diag()));
  return nullptr;
}

const MlirOp* Importer::FindFunction(std::string_view name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

Status Importer::Run() {
  const MlirOp& root = *tree_.op;
  if (root.regions.empty() || root.regions[0].blocks.empty()) return Refused(root, "the module is empty");
  // A module may hold the actual module.
  const MlirBlock& block = root.regions[0].blocks[0];
  std::vector<const MlirOp*> defined;
  for (const MlirOp* op : block.ops) {
    if (op->name != "func.func") continue;
    if (!functions_.emplace(StringAttr(*op, "sym_name"), op).second)
      return Refused(*op, StrCat("the function ", StringAttr(*op, "sym_name"), " is defined twice"));
    if (!op->regions.empty() && !op->regions[0].blocks.empty()) defined.push_back(op);
  }
  SHOAL_TRY(ReadMeshes());
  SHOAL_TRY(ImportModuleAttrs());
  const MlirOp* entry = FindFunction("main");
  if (entry == nullptr && !defined.empty() && !options_.strict) {
    // XLA requires the name main. The only public function, or the first one, has no other meaning.
    entry = defined[0];
    for (const MlirOp* op : defined)
      if (StringAttr(*op, "sym_visibility") == "public") {
        entry = op;
        break;
      }
    diags_.Warn(entry->at, "loose.main",
                StrCat("the module has no function main; ", StringAttr(*entry, "sym_name"), " is the entry"));
  }
  if (entry == nullptr) return Refused(root, "the module needs a function main");
  if (entry->regions.empty() || entry->regions[0].blocks.empty()) return Refused(*entry, "the function main has no body");
  Computation* computation = nullptr;
  SHOAL_TRY(ImportFunction(*entry, &computation));
  locations_.Finish();
  builder_.FinishModule(*computation);
  return ImportEntry(*entry, *computation);
}

Status Importer::ImportModuleAttrs() {
  const MlirOp& root = *tree_.op;
  module_.name = module_.arena.CopyString(HloName(StringAttr(root, "sym_name"), "main"));
  SHOAL_ASSIGN(partitions, IntOf(root, "mhlo.num_partitions", 1));
  SHOAL_ASSIGN(replicas, IntOf(root, "mhlo.num_replicas", 1));
  if (partitions < 1 || replicas < 1) return Refused(root, "the numbers of partitions and replicas must be positive");
  std::vector<FrontendAttribute> attributes;
  if (const MlirAttr* given = root.Find("mhlo.frontend_attributes"); given != nullptr) {
    const auto list = FrontendAttributesOf(given->fields);
    attributes.assign(list.begin(), list.end());
  }
  if (!meshes_.empty()) {
    std::vector<const SdyMesh*> sorted;
    for (const SdyMesh& mesh : meshes_) sorted.push_back(&mesh);
    std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->name < b->name; });
    std::string text = "{";
    for (const SdyMesh* mesh : sorted) {
      if (mesh != sorted[0]) text += ", ";
      StrAppend(&text, mesh->name, " = #sdy.mesh", mesh->text);
    }
    text += "}";
    attributes.push_back({"xla.sdy.meshes", module_.arena.CopyString(text)});
  }
  std::sort(attributes.begin(), attributes.end(), [](auto& a, auto& b) { return a.name < b.name; });
  module_.frontend_attributes = module_.arena.Copy(attributes);
  return {};
}

// The last part of the name in the location, or Arg_n.
std::string Importer::ParameterName(const MlirValue& argument) {
  const std::string_view name = locations_.NameOf(argument.location);
  const std::string_view last = name.substr(name.rfind('/') + 1);
  return last.empty() ? StrCat("Arg_", argument.index) : HloName(last, {});
}

Status Importer::ImportFunction(const MlirOp& function, Computation** computation) {
  const auto known = imported_.find(&function);
  if (known != imported_.end()) {
    *computation = known->second;
    if (known->second == nullptr) return Refused(function, "the function calls itself");
    return {};
  }
  imported_[&function] = nullptr;
  if (depth_ > 100) return Refused(function, "calls are nested too deeply");
  ++depth_;
  Computation* const outer = computation_;
  Instruction* const outer_returned = returned_;
  const NamedAttrs outer_common = common_;
  builder_.SetOrigin(function.at, nullptr);
  Computation& body = builder_.NewComputation(HloName(StringAttr(function, "sym_name"), "function"));
  computation_ = &body;
  const bool is_entry = outer == nullptr;
  const MlirBlock& block = function.regions[0].blocks[0];
  if (function.regions[0].blocks.size() != 1) return Refused(function, "a function must have exactly one block");
  if (block.ops.empty()) return Refused(function, "a function must end with a return");
  const MlirAttr* argument_attrs = function.Find("arg_attrs");
  for (const MlirValue& argument : block.arguments) {
    SHOAL_ASSIGN(shape, ShapeOf(*argument.type, function.at));
    const auto fields = FieldsOf(argument_attrs, argument.index);
    common_.clear();
    frontend_attributes_.clear();
    if (const MlirAttr* given = FindField(fields, "mhlo.frontend_attributes")) {
      const auto list = FrontendAttributesOf(given->fields);
      frontend_attributes_.assign(list.begin(), list.end());
      if (!list.empty()) common_.push_back({kFrontendAttributes.id, list});
    }
    if (const MlirAttr* sharding = FindField(fields, "mhlo.sharding")) {
      SHOAL_ASSIGN(parsed, ParseSharding(module_.arena.CopyString(sharding->text), module_));
      common_.push_back({kSharding.id, parsed});
    } else if (const MlirAttr* sdy = FindField(fields, "sdy.sharding")) {
      const std::string text = CanonicalSdyText(sdy->text);
      AddFrontendAttribute("xla.sdy.sharding", text);
      if (const Sharding* hlo = HloSharding(text, shape->IsArray() ? shape->rank() : 0))
        common_.push_back({kSharding.id, hlo});
    }
    builder_.SetOrigin(function.at, locations_.NameMetadataOf(argument.location));
    Instruction* parameter = builder_.Parameter(body, shape, ParameterName(argument));
    for (const NamedAttr& attr : common_) SetAttr(*parameter, module_, attr.id, attr.value);
    argument.lowered = parameter;
  }
  common_.clear();
  SHOAL_TRY(ImportBlock(block, {}, is_entry));
  SHOAL_TRY(ShardResults(function, body));
  builder_.Finish(body, returned_);
  imported_[&function] = *computation = &body;
  computation_ = outer;
  returned_ = outer_returned;
  common_ = outer_common;
  --depth_;
  return {};
}

// Results with a sharding: XLA marks each with a custom call (sdy), or puts the shardings on the root (mhlo).
Status Importer::ShardResults(const MlirOp& function, Computation& body) {
  const MlirAttr* result_attrs = function.Find("res_attrs");
  const size_t count = returned_->shape().IsTuple() ? returned_->operand_count() : 1;
  bool has_mhlo = false, has_sdy = false;
  std::vector<const Sharding*> shardings;
  std::vector<std::string> sdy_texts(count);
  for (size_t i = 0; i < count; ++i) {
    const auto fields = FieldsOf(result_attrs, i);
    shardings.push_back(nullptr);
    if (const MlirAttr* mhlo = FindField(fields, "mhlo.sharding")) {
      SHOAL_ASSIGN(parsed, ParseSharding(module_.arena.CopyString(mhlo->text), module_));
      shardings.back() = parsed;
      has_mhlo = true;
    } else if (const MlirAttr* sdy = FindField(fields, "sdy.sharding")) {
      sdy_texts[i] = CanonicalSdyText(sdy->text);
      has_sdy = true;
    }
  }
  if (!has_mhlo && !has_sdy) return {};
  const bool is_tuple = count != 1 || (returned_->shape().IsTuple());
  std::vector<Instruction*> values(1, returned_);
  if (is_tuple) {
    values.assign(returned_->operands.begin(), returned_->operands.end());
    body.instructions.pop_back();
  }
  for (size_t i = 0; i < count; ++i) {
    if (sdy_texts[i].empty()) continue;
    SHOAL_ASSIGN(marked, MarkResult(values[i], sdy_texts[i], &shardings[i]));
    values[i] = marked;
  }
  common_.clear();
  const bool any = std::any_of(shardings.begin(), shardings.end(), [](const Sharding* s) { return s != nullptr; });
  if (!is_tuple && !any) {
    returned_ = values[0];
    return {};
  }
  Sharding tuple;
  tuple.kind = Sharding::Kind::kTuple;
  for (const Sharding* sharding : shardings) tuple.elements.push_back(sharding == nullptr ? Sharding() : *sharding);
  const Sharding* whole = module_.arena.New<Sharding>(tuple);
  Instruction* root = AddTuple(values);
  if (any) SetAttr(*root, module_, kSharding, whole);
  returned_ = root;
  if (is_tuple) return {};
  // One result: XLA wraps it in a tuple to hold the sharding, and takes it out again.
  returned_ = builder_.GetTupleElement(body, root, 0);
  SetAttr(*returned_, module_, kSharding, shardings[0]);
  return {};
}

// mhlo.layout_mode, entry_computation_layout, donation and aliasing.
Status Importer::ImportEntry(const MlirOp& function, const Computation& entry) {
  const MlirAttr* argument_attrs = function.Find("arg_attrs");
  const MlirAttr* result_attrs = function.Find("res_attrs");
  auto with_layout = [&](const Shape& shape, std::span<const MlirNamedAttr> fields) -> Result<const Shape*> {
    const MlirAttr* mode = FindField(fields, "mhlo.layout_mode");
    if (mode == nullptr || mode->text == "default" || mode->text == "auto" || !shape.IsArray()) return &shape;
    Result<const Shape*> parsed = ParseShape(StrCat(ToString(shape), mode->text), module_);
    if (parsed.ok() && Compatible(**parsed, shape)) return parsed;
    return Refused(function, StrCat("invalid mhlo.layout_mode ", mode->text));
  };
  EntryLayout& layout = module_.entry_layout.emplace();
  const bool is_tuple = entry.root->shape().IsTuple();
  const size_t results = is_tuple ? entry.root->shape().elements().size() : 1;
  for (size_t i = 0; i < entry.parameters.size(); ++i) {
    const auto fields = FieldsOf(argument_attrs, i);
    SHOAL_ASSIGN(shape, with_layout(entry.parameters[i]->shape(), fields));
    layout.parameters.push_back(shape);
    const auto number = static_cast<int64_t>(i);
    if (const MlirAttr* donor = FindField(fields, "jax.buffer_donor"); donor != nullptr && donor->number != 0)
      module_.buffer_donors.push_back({number, {}});
    const MlirAttr* aliased = FindField(fields, "tf.aliasing_output");
    if (aliased == nullptr) continue;
    if (aliased->kind != Kind::kInt || aliased->number < 0 || aliased->number >= static_cast<int64_t>(results))
      return Refused(function, StrCat("tf.aliasing_output must lie in [0, ", results, "), got ", aliased->number));
    InputOutputAlias alias;
    if (is_tuple) alias.output_index = {aliased->number};
    alias.parameter = number;
    module_.input_output_alias.push_back(alias);
  }
  std::sort(module_.input_output_alias.begin(), module_.input_output_alias.end(),
            [](auto& a, auto& b) { return a.output_index < b.output_index; });
  if (!is_tuple) {
    SHOAL_ASSIGN(shape, with_layout(entry.root->shape(), FieldsOf(result_attrs, 0)));
    layout.result = shape;
    return {};
  }
  std::vector<const Shape*> elements;
  for (size_t i = 0; i < results; ++i) {
    SHOAL_ASSIGN(shape, with_layout(entry.root->shape().element(static_cast<int64_t>(i)), FieldsOf(result_attrs, i)));
    elements.push_back(shape);
  }
  layout.result = module_.shapes.Tuple(elements);
  return {};
}

}  // namespace shoal::internal
