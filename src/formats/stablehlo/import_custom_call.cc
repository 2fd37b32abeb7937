// Custom calls, random numbers, and transfers with the host or another device.
#include "core/ops/control_flow.h"
#include "core/ops/random.h"
#include "core/ops/transfer.h"
#include "formats/stablehlo/import_functions.h"
#include "formats/stablehlo/importer.h"
#include "formats/stablehlo/mlir_text.h"

namespace shoal::internal {
namespace {

using Kind = MlirAttr::Kind;
using CustomCall = Op<Opcode::kCustomCall>;

// A shape with the layouts of operand_layouts or result_layouts, one list of dimensions per array.
Result<const Shape*> WithLayout(Importer& importer, const MlirOp& op, const Shape& shape, const MlirAttr& order) {
  SHOAL_ASSIGN(minor_to_major, importer.IntsOf(op, &order));
  if (!shape.IsArray()) return &shape;
  if (static_cast<int>(minor_to_major.size()) != shape.rank())
    return importer.Refused(op, StrCat("a layout of ", Str(shape), " needs ", shape.rank(), " dimensions"));
  Layout layout;
  layout.minor_to_major = minor_to_major;
  std::vector<bool> seen(minor_to_major.size());
  for (const int64_t d : minor_to_major) {
    if (d < 0 || d >= shape.rank() || seen[static_cast<size_t>(d)])
      return importer.Refused(op, "a layout must name each dimension once");
    seen[static_cast<size_t>(d)] = true;
  }
  ShapePool& shapes = importer.module().shapes;
  return shapes.WithLayout(shape, shapes.Intern(layout));
}

Result<const Shape*> ResultWithLayouts(Importer& importer, const MlirOp& op, const Shape* shape) {
  const MlirAttr* layouts = op.Find("result_layouts");
  if (layouts == nullptr || layouts->kind != Kind::kArray || layouts->elements.empty()) return shape;
  if (op.results.size() == 1 && layouts->elements.size() == 1)
    return WithLayout(importer, op, *shape, *layouts->elements[0]);
  if (layouts->elements.size() != op.results.size())
    return importer.Refused(op, "result_layouts must have one layout per result");
  std::vector<const Shape*> elements;
  for (size_t i = 0; i < op.results.size(); ++i) {
    SHOAL_ASSIGN(element, WithLayout(importer, op, shape->element(static_cast<int64_t>(i)), *layouts->elements[i]));
    elements.push_back(element);
  }
  return importer.module().shapes.Tuple(elements);
}

Status AddAliasing(Importer& importer, const MlirOp& op, NamedAttrs& attrs) {
  const MlirAttr* list = op.Find("output_operand_aliases");
  if (list == nullptr || list->elements.empty()) return {};
  std::vector<OutputOperandAlias> aliases;
  for (const MlirAttr* element : list->elements) {
    OutputOperandAlias alias;
    for (const MlirNamedAttr& field : element->fields) {
      SHOAL_ASSIGN(ints, importer.IntsOf(op, field.value));
      if (field.name == "output_tuple_indices") alias.output_index = ints;
      if (field.name == "operand_tuple_indices") alias.operand_index = ints;
      if (field.name == "operand_index" && !ints.empty()) alias.operand = ints[0];
    }
    if (alias.operand < 0 || alias.operand >= static_cast<int64_t>(op.operands.size()))
      return importer.Refused(op, "an alias names an operand that the op lacks");
    aliases.push_back(alias);
  }
  attrs.push_back({kOutputToOperandAliasing.id,
                   std::span<const OutputOperandAlias>(importer.arena().Copy(aliases))});
  return {};
}

// The chlo op that a custom call mhlo.NAME stands for: XLA keeps ops that StableHLO lacks in this form. Null: another call.
const MlirOpInfo* ChloOpOf(std::string_view target) {
  constexpr std::string_view kPrefix = "mhlo.";
  if (!target.starts_with(kPrefix)) return nullptr;
  const std::string_view name = target.substr(kPrefix.size());
  return FindMlirOp(StrCat("chlo.", name == "topk" ? "top_k" : name));
}

// The attributes of the op are those of mhlo.attributes.
Status ImportAsChlo(Importer& importer, const MlirOp& op, const MlirOpInfo& info) {
  std::vector<MlirNamedAttr> attrs;
  for (const MlirNamedAttr& attr : op.attrs) {
    const bool is_own = attr.name == "mhlo.attributes";
    if (is_own) attrs.insert(attrs.end(), attr.value->fields.begin(), attr.value->fields.end());
    if (!is_own && attr.name.find('.') != attr.name.npos) attrs.push_back(attr);
  }
  MlirOp chlo = op;
  chlo.info = &info;
  chlo.name = info.name;
  chlo.attrs = importer.arena().Copy(attrs);
  return importer.ImportOp(chlo);
}

}  // namespace

Status ImportCustomCall(Importer& importer, const MlirOp& op) {
  if (const MlirOpInfo* chlo = ChloOpOf(importer.StringAttr(op, "call_target_name")); chlo != nullptr)
    return ImportAsChlo(importer, op, *chlo);
  SHOAL_ASSIGN(operands, importer.Operands(op));
  NamedAttrs attrs{
      {CustomCall::kTarget.id, importer.arena().CopyString(importer.StringAttr(op, "call_target_name"))}};
  SHOAL_ASSIGN(plain_shape, importer.ResultShape(op));
  SHOAL_ASSIGN(shape, ResultWithLayouts(importer, op, plain_shape));
  const MlirAttr* layouts = op.Find("operand_layouts");
  const MlirAttr* result_layouts = op.Find("result_layouts");
  const bool has_layouts = layouts != nullptr && layouts->kind == Kind::kArray && result_layouts != nullptr &&
                           (!layouts->elements.empty() || !result_layouts->elements.empty());
  if (has_layouts) {
    if (layouts->elements.size() != operands.size())
      return importer.Refused(op, "operand_layouts must have one layout per operand");
    std::vector<const Shape*> shapes;
    for (size_t i = 0; i < operands.size(); ++i) {
      SHOAL_ASSIGN(with_layout, WithLayout(importer, op, operands[i]->shape(), *layouts->elements[i]));
      shapes.push_back(with_layout);
    }
    attrs.push_back({CustomCall::kOperandLayouts.id,
                     std::span<const Shape* const>(importer.arena().Copy(shapes))});
  }
  if (importer.BoolAttr(op, "has_side_effect")) attrs.push_back({CustomCall::kHasSideEffect.id, true});
  SHOAL_TRY(AddAliasing(importer, op, attrs));
  SHOAL_ASSIGN(schedule, importer.IntOf(op, "custom_call_schedule", 0));
  if (schedule > 0 && schedule < 3) attrs.push_back({CustomCall::kSchedule.id, EnumValue{static_cast<uint8_t>(schedule)}});
  const MlirAttr* api = op.Find("api_version");
  int64_t version = 1;
  if (api != nullptr && api->kind == Kind::kInt) version = api->number;
  if (api != nullptr && api->kind == Kind::kKeyword) {
    const AttrDef* def = FindAttr(Opcode::kCustomCall, CustomCall::kApiVersion.id);
    NamedAttr attr{def->id, false};
    SHOAL_TRY(importer.ConvertAttr(op, *def, *api, &attr.value));
    version = std::get<EnumValue>(attr.value).index;
  }
  // A dictionary as configuration implies the typed API.
  if (op.Find("mhlo.backend_config") != nullptr) version = 4;
  if (version < 0 || version > 4) return importer.Refused(op, "api_version must lie in [0, 4]");
  if (version != 1) attrs.push_back({CustomCall::kApiVersion.id, EnumValue{static_cast<uint8_t>(version)}});
  if (const MlirAttr* called = op.Find("called_computations"); called != nullptr && !called->elements.empty()) {
    std::vector<Computation*> computations;
    for (const MlirAttr* symbol : called->elements) {
      const MlirOp* function = importer.FindFunction(symbol->text);
      if (function == nullptr || function->regions.empty() || function->regions[0].blocks.empty())
        return importer.Refused(op, StrCat("there is no function ", symbol->text));
      Computation* computation = nullptr;
      SHOAL_TRY(importer.ImportFunction(*function, &computation));
      computations.push_back(computation);
    }
    importer.Reset(op);
    attrs.push_back({CustomCall::kCalledComputations.id, Computations(importer.arena().Copy(computations))});
  }
  const MlirAttr* config = op.Find("mhlo.backend_config");
  if (config == nullptr) config = op.Find("backend_config");
  if (config != nullptr) {
    const std::string text = config->kind == Kind::kString ? std::string(config->text) : AttrText(*config);
    if (!text.empty()) attrs.push_back({kBackendConfig.id, importer.arena().CopyString(text)});
  }
  SHOAL_ASSIGN(value, importer.Add(Opcode::kCustomCall, operands, attrs, shape));
  return importer.SetResults(op, value);
}

Status ImportRng(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  if (operands.size() < 2) return importer.Refused(op, "the op needs two operands");
  return importer.ImportPlain(op, std::span(operands).first(2));
}

// infeed: HLO's result is (data, token), and the data is a tuple unless there is one array.
Status ImportInfeed(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(token, importer.Operand(op, 0));
  if (op.results.empty()) return importer.Refused(op, "the op needs a token as its last result");
  const size_t count = op.results.size() - 1;
  std::vector<const Shape*> shapes;
  for (size_t i = 0; i < count; ++i) {
    SHOAL_ASSIGN(shape, importer.ShapeOf(*op.results[i].type, op.at));
    shapes.push_back(shape);
  }
  ShapePool& pool = importer.module().shapes;
  const Shape* data = pool.Tuple(shapes);
  const Shape* const both[] = {data, pool.Token()};
  NamedAttrs attrs;
  SHOAL_TRY(importer.ConvertAttrs(op, attrs));
  SHOAL_ASSIGN(infeed, importer.Add(Opcode::kInfeed, {token}, attrs, pool.Tuple(both)));
  if (count > 0) {
    Instruction* values = importer.AddElement(infeed, 0);
    for (size_t i = 0; i < count; ++i)
      op.results[i].lowered = importer.AddElement(values, static_cast<int64_t>(i));
  }
  op.results[count].lowered = importer.AddElement(infeed, 1);
  return {};
}

Status ImportOutfeed(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  if (operands.empty()) return importer.Refused(op, "the op needs a token");
  SHOAL_ASSIGN(data, importer.PassedValue(std::span(operands).first(operands.size() - 1)));
  NamedAttrs attrs{{Op<Opcode::kOutfeed>::kOutfeedShape.id, data->shape_}};
  SHOAL_TRY(importer.ConvertAttrs(op, attrs));
  SHOAL_ASSIGN(token, importer.Add(Opcode::kOutfeed, {data, operands.back()}, attrs,
                                   importer.module().shapes.Token()));
  return importer.SetResult(op, token);
}

namespace {

// The channel and the direction of a send or recv, and its pairs of devices as a frontend attribute.
Status AddTransferAttrs(Importer& importer, const MlirOp& op, NamedAttrs& attrs) {
  SHOAL_TRY(importer.AddChannel(op, attrs));
  if (importer.BoolAttr(op, "is_host_transfer")) attrs.push_back({kIsHostTransfer.id, true});
  const MlirAttr* pairs = op.Find("source_target_pairs");
  if (pairs == nullptr) return {};
  SHOAL_ASSIGN(lists, importer.IntListsOf(op, *pairs));
  if (lists.empty()) return {};
  std::string text = "{";
  for (const Ints& pair : lists) StrAppend(&text, &pair == lists.data() ? "" : ",", ToString(pair));
  importer.AddFrontendAttribute("_xla_send_recv_source_target_pairs", text + "}");
  return {};
}

}  // namespace

Status ImportSend(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  if (operands.empty()) return importer.Refused(op, "the op needs a token");
  SHOAL_ASSIGN(data, importer.PassedValue(std::span(operands).first(operands.size() - 1)));
  NamedAttrs attrs;
  SHOAL_TRY(AddTransferAttrs(importer, op, attrs));
  ShapePool& pool = importer.module().shapes;
  const Shape* const parts[] = {data->shape_, pool.Scalar(ElementType::kU32), pool.Token()};
  SHOAL_ASSIGN(send, importer.Add(Opcode::kSend, {data, operands.back()}, attrs, pool.Tuple(parts)));
  SHOAL_ASSIGN(done, importer.Add(Opcode::kSendDone, {send}, attrs, pool.Token()));
  return importer.SetResult(op, done);
}

Status ImportRecv(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(token, importer.Operand(op, 0));
  if (op.results.empty()) return importer.Refused(op, "the op needs a token as its last result");
  const size_t count = op.results.size() - 1;
  std::vector<const Shape*> shapes;
  for (size_t i = 0; i < count; ++i) {
    SHOAL_ASSIGN(shape, importer.ShapeOf(*op.results[i].type, op.at));
    shapes.push_back(shape);
  }
  NamedAttrs attrs;
  SHOAL_TRY(AddTransferAttrs(importer, op, attrs));
  ShapePool& pool = importer.module().shapes;
  const Shape* data = count == 1 ? shapes[0] : pool.Tuple(shapes);
  const Shape* const begun[] = {data, pool.Scalar(ElementType::kU32), pool.Token()};
  const Shape* const received[] = {data, pool.Token()};
  SHOAL_ASSIGN(recv, importer.Add(Opcode::kRecv, {token}, attrs, pool.Tuple(begun)));
  SHOAL_ASSIGN(done, importer.Add(Opcode::kRecvDone, {recv}, attrs, pool.Tuple(received)));
  Instruction* value = importer.AddElement(done, 0);
  for (size_t i = 0; i < count; ++i)
    op.results[i].lowered = count == 1 ? value : importer.AddElement(value, static_cast<int64_t>(i));
  op.results[count].lowered = importer.AddElement(done, 1);
  return {};
}

}  // namespace shoal::internal
