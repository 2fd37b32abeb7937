// Shapes as types, instructions as values, metadata as locations.
#include <utility>

#include "formats/stablehlo/exporter.h"
#include "formats/stablehlo/mlir_text.h"

namespace shoal::internal {

Result<const MlirType*> Exporter::TypeOf(const Shape& shape) {
  const MlirType*& known = types_[&shape];
  if (known != nullptr) return known;
  MlirType type;
  if (shape.IsArray()) {
    type.kind = MlirType::Kind::kTensor;
    type.element = shape.element_type();
    std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end()), bounds(dims.size(), kUnboundedSize);
    bool bounded = false;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (!shape.is_dynamic(static_cast<int64_t>(i))) continue;
      bounded |= dims[i] != kUnboundedSize;
      bounds[i] = std::exchange(dims[i], kUnboundedSize);
    }
    type.dims = arena().Copy(dims);
    if (bounded) type.bounds = arena().Copy(bounds);
  } else if (shape.IsTuple()) {
    type.kind = MlirType::Kind::kTuple;
    Types elements;
    for (const Shape* element : shape.elements()) {
      SHOAL_ASSIGN(each, TypeOf(*element));
      elements.push_back(each);
    }
    type.elements = arena().Copy(elements);
  } else if (shape.IsToken()) {
    type.kind = MlirType::Kind::kToken;
  } else if (shape.IsBuffer() && shape.element(0).IsArray()) {
    type.kind = MlirType::Kind::kBuffer;
    type.element = shape.element(0).element_type();
    type.dims = arena().Copy(shape.element(0).dims());
  } else {
    return Fail({}, "stablehlo.form", StrCat("StableHLO has no type ", ToString(shape)));
  }
  // Shapes that differ in their layout have the same type.
  const MlirType*& same = types_by_text_[TypeText(type)];
  if (same == nullptr) same = arena().New<MlirType>(type);
  return types_[&shape] = same;
}

std::string LayoutText(const Shape& shape) {
  std::string text;
  if (!shape.IsArray() || shape.layout() == nullptr) return text;
  const Layout& layout = *shape.layout();
  bool row_major = layout.plain();
  for (size_t i = 0; i < layout.minor_to_major.size(); ++i)
    row_major &= layout.minor_to_major[i] == shape.rank() - 1 - static_cast<int64_t>(i);
  if (!row_major) AppendLayout(text, layout);
  return text;
}

const MlirType* Exporter::ScalarType(ElementType type) {
  const MlirType*& known = scalar_types_[type];
  if (known != nullptr) return known;
  MlirType scalar;
  scalar.kind = MlirType::Kind::kElement;
  scalar.element = type;
  return known = arena().New<MlirType>(scalar);
}

Result<Exporter::Types> Exporter::ResultTypes(const Shape& shape, bool keep_single) {
  if (shape.IsTuple() && (!keep_single || shape.elements().size() != 1)) {
    Types types;
    for (const Shape* element : shape.elements()) {
      SHOAL_ASSIGN(type, TypeOf(*element));
      types.push_back(type);
    }
    return types;
  }
  SHOAL_ASSIGN(type, TypeOf(shape));
  return Types{type};
}

Result<Exporter::Types> Exporter::LeafTypes(const Shape& shape) {
  Types types;
  for (const Shape* leaf : LeafShapes(shape)) {
    SHOAL_ASSIGN(type, TypeOf(*leaf));
    types.push_back(type);
  }
  return types;
}

Result<MlirValue*> Exporter::Operand(const Instruction& hlo, size_t i) { return Single(ValueOf(*hlo.operands[i]), hlo); }

Result<std::vector<MlirValue*>> Exporter::Operands(const Instruction& hlo) {
  std::vector<MlirValue*> operands;
  for (size_t i = 0; i < hlo.operand_count(); ++i) {
    SHOAL_ASSIGN(operand, Operand(hlo, i));
    operands.push_back(operand);
  }
  return operands;
}

Result<MlirValue*> Exporter::Single(Value& value, const Instruction& user) {
  if (value.single != nullptr) return value.single;
  std::vector<MlirValue*> parts;
  Types types;
  for (Value& part : value.parts) {
    SHOAL_ASSIGN(single, Single(part, user));
    parts.push_back(single);
    types.push_back(single->type);
  }
  MlirType tuple;
  tuple.kind = MlirType::Kind::kTuple;
  tuple.elements = arena().Copy(types);
  MlirOp* op = Add(*FindMlirOp("stablehlo.tuple"), user, parts, {}, {arena().New<MlirType>(tuple)});
  op->attrs = {};
  return &op->results[0];
}

Result<Exporter::Value> Exporter::Part(Value& value, size_t index, const Instruction& user) {
  if (value.single == nullptr) {
    if (index >= value.parts.size()) return Refused(user, "the index is not that of an element of the tuple");
    return value.parts[index];
  }
  const MlirType& type = *value.single->type;
  if (type.kind != MlirType::Kind::kTuple || index >= type.elements.size())
    return Refused(user, "the index is not that of an element of the tuple");
  MlirValue* const operands[] = {value.single};
  MlirOp* op = Add(*FindMlirOp("stablehlo.get_tuple_element"), user, operands,
                   {{"index", IntAttr(static_cast<int64_t>(index), ElementType::kS32)}}, {type.elements[index]});
  op->attrs = op->attrs.first(1);
  return Value{&op->results[0], {}};
}

Status Exporter::Flatten(Value& value, const Shape& shape, const Instruction& user, std::vector<MlirValue*>& leaves) {
  if (!shape.IsTuple()) {
    SHOAL_ASSIGN(single, Single(value, user));
    leaves.push_back(single);
    return {};
  }
  for (size_t i = 0; i < shape.elements().size(); ++i) {
    SHOAL_ASSIGN(part, Part(value, i, user));
    SHOAL_TRY(Flatten(part, shape.element(static_cast<int64_t>(i)), user, leaves));
  }
  return {};
}

Exporter::Value Exporter::Unflatten(const Shape& shape, std::span<MlirValue> leaves, size_t* next) {
  if (!shape.IsTuple()) return {&leaves[(*next)++], {}};
  Value value;
  for (const Shape* element : shape.elements()) value.parts.push_back(Unflatten(*element, leaves, next));
  return value;
}

void Exporter::SetResults(const Instruction& hlo, MlirOp& op) {
  Value value;
  const bool is_tuple_of_results =
      hlo.shape().IsTuple() && (op.results.size() != 1 || op.results[0].type->kind != MlirType::Kind::kTuple);
  if (!is_tuple_of_results) value.single = &op.results[0];
  for (MlirValue& result : op.results) {
    result.lowered = const_cast<Instruction*>(&hlo);
    if (is_tuple_of_results) value.parts.push_back({&result, {}});
  }
  values_[&hlo] = std::move(value);
}

namespace {

const MlirLocation* NewLocation(Arena& arena, MlirLocation::Kind kind, std::string_view text,
                                std::initializer_list<const MlirLocation*> children) {
  MlirLocation location;
  location.kind = kind;
  location.text = text;
  location.children = arena.Copy(std::span(children.begin(), children.size()));
  return arena.New<MlirLocation>(location);
}

const MlirLocation* FileLocation(Arena& arena, std::string_view file, int32_t line, int32_t end_line, int32_t column,
                                 int32_t end_column) {
  MlirLocation location;
  location.kind = MlirLocation::Kind::kFile;
  location.text = file;
  location.line = line;
  location.end_line = end_line;
  location.column = column;
  location.end_column = end_column;
  return arena.New<MlirLocation>(location);
}

std::string_view Named(std::span<const std::string_view> names, int32_t id) {
  return id >= 1 && id <= std::ssize(names) ? names[static_cast<size_t>(id) - 1] : std::string_view();
}

// The frames from `id` outwards, innermost first. Ids that lead nowhere or in a circle end the list.
std::vector<int32_t> FramesFrom(const StackFrames& tables, int32_t id) {
  std::vector<int32_t> ids;
  constexpr size_t kMaxFrames = 400;
  while (id >= 1 && id <= std::ssize(tables.frames) && ids.size() < kMaxFrames) {
    ids.push_back(id);
    const int32_t parent = tables.frames[static_cast<size_t>(id) - 1].parent_frame_id;
    if (parent == id) break;
    id = parent;
  }
  return ids;
}

}  // namespace

// The inverse of LocationTable: "op_name"("op_type:"(call stack, or file)).
const MlirLocation* Exporter::LocationOf(const Metadata* metadata) {
  if (metadata == nullptr || metadata->empty()) return nullptr;
  const MlirLocation*& known = locations_[metadata];
  if (known != nullptr) return known;
  using Kind = MlirLocation::Kind;
  const MlirLocation* location = nullptr;
  const StackFrames& tables = module_.stack_frames;
  const std::vector<int32_t> frames = FramesFrom(tables, metadata->stack_frame_id);
  for (size_t i = frames.size(); i-- > 0;) {
    const MlirLocation*& stack = frames_[frames[i]];
    if (stack == nullptr) {
      const int32_t id = tables.frames[static_cast<size_t>(frames[i]) - 1].file_location_id;
      StackFrames::Location at;
      if (id >= 1 && id <= std::ssize(tables.locations)) at = tables.locations[static_cast<size_t>(id) - 1];
      const MlirLocation* file = FileLocation(arena(), Named(tables.file_names, at.file_name_id), at.line, at.end_line,
                                              at.column, at.end_column);
      const MlirLocation* frame =
          NewLocation(arena(), Kind::kName, Named(tables.function_names, at.function_name_id), {file});
      stack = location == nullptr ? frame : NewLocation(arena(), Kind::kCallSite, {}, {frame, location});
    }
    location = stack;
  }
  if (frames.empty() && !metadata->source_file.empty())
    location = FileLocation(arena(), metadata->source_file, metadata->source_line, metadata->source_end_line,
                            metadata->source_column, metadata->source_end_column);
  auto named = [&](std::string_view name) {
    return location == nullptr ? NewLocation(arena(), Kind::kName, name, {})
                               : NewLocation(arena(), Kind::kName, name, {location});
  };
  if (!metadata->op_type.empty()) location = named(arena().CopyString(StrCat(metadata->op_type, ":")));
  // Without a name, the function of the innermost frame would become the name.
  if (!metadata->op_name.empty() || !frames.empty()) location = named(metadata->op_name);
  return known = location;
}

}  // namespace shoal::internal
