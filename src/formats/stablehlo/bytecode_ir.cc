// Ops, blocks and regions of bytecode.
#include <algorithm>

#include "formats/stablehlo/bytecode_reader.h"

namespace shoal::internal {
namespace {

enum OpMask : uint8_t {
  kHasAttrs = 0x01,
  kHasResults = 0x02,
  kHasOperands = 0x04,
  kHasSuccessors = 0x08,
  kHasRegions = 0x10,
  kHasUseListOrders = 0x20,
  kHasProperties = 0x40,
};

struct BytecodeOp {
  std::string_view name, attributes;
};

std::string_view StoredAttributes(std::string_view name) {
  static constexpr BytecodeOp kOps[] = {
#define BYTECODE_OP(name, attributes) {name, attributes},
#include "formats/stablehlo/bytecode_ops.def"
#undef BYTECODE_OP
  };
  static const auto kByName = [] {
    absl::flat_hash_map<std::string_view, std::string_view> rows;
    for (const BytecodeOp& op : kOps) rows.emplace(op.name, op.attributes);
    return rows;
  }();
  const auto found = kByName.find(name);
  return found == kByName.end() ? std::string_view() : found->second;
}

int64_t CountVarints(std::string_view data) {
  BytecodeStream stream(data);
  int64_t count = 0;
  for (; !stream.AtEnd() && !stream.failed(); ++count) stream.Varint();
  return count;
}

// vhlo.add_v1 is stablehlo.add; func_v1, call_v1 and return_v1 belong to other dialects.
std::string CanonicalName(std::string_view full) {
  if (!full.starts_with("vhlo.")) return std::string(full);
  std::string_view name = full.substr(5);
  const size_t version = name.rfind("_v");
  if (version != name.npos) name = name.substr(0, version);
  if (name == "func" || name == "call") return StrCat("func.", name);
  return StrCat("stablehlo.", name);
}

}  // namespace

bool MlirBytecodeReader::ReadIr(std::string_view data) {
  BytecodeStream stream(data);
  scopes_.emplace_back().next.push_back(0);
  MlirBlock block;
  if (!ReadBlock(stream, block)) return false;
  if (block.ops.size() != 1 || block.ops[0]->name != "builtin.module") return Error(data.data(), "expected one module");
  module_.op = block.ops[0];
  return true;
}

bool MlirBytecodeReader::Define(MlirValue* value) {
  Scope& scope = scopes_.back();
  size_t& next = scope.next.back();
  if (next >= scope.values.size()) return Error("a region defines more values than it declares");
  scope.values[next++] = value;
  return true;
}

bool MlirBytecodeReader::ReadBlock(BytecodeStream& stream, MlirBlock& block) {
  bool has_arguments = false;
  const uint64_t count = stream.VarintWithFlag(&has_arguments);
  if (stream.failed() || count > stream.left()) return Error(stream.position(), "the number of ops is too large");
  if (has_arguments && !ReadBlockArguments(stream, block)) return false;
  if (version_ >= 3 && has_arguments && stream.Byte() != 0 && !SkipUseListOrders(stream, block.arguments.size()))
    return false;
  block.ops = module_.arena.NewSpan<MlirOp*>(count);
  for (MlirOp*& op : block.ops) {
    op = ReadOp(stream);
    if (op == nullptr) return false;
  }
  return true;
}

bool MlirBytecodeReader::ReadBlockArguments(BytecodeStream& stream, MlirBlock& block) {
  const uint64_t count = stream.Count();
  block.arguments = module_.arena.NewSpan<MlirValue>(count);
  for (uint64_t i = 0; i < count; ++i) {
    MlirValue value;
    bool has_location = true;
    const uint64_t type = version_ >= 4 ? stream.VarintWithFlag(&has_location) : stream.Varint();
    value.type = Type(type);
    if (value.type == nullptr) return Error(stream.position(), "the type of an argument is missing");
    if (has_location) value.location = Location(stream.Varint());
    value.index = static_cast<uint32_t>(i);
    new (&block.arguments[i]) MlirValue(value);
    if (!Define(&block.arguments[i])) return false;
  }
  return !stream.failed() || Error(stream.position(), "the arguments of a block are cut short");
}

MlirOp* MlirBytecodeReader::ReadOp(BytecodeStream& stream) {
  const char* const start = stream.position();
  const uint64_t number = stream.Varint();
  if (number >= op_names_.size()) {
    Error(start, "the op has an unknown name");
    return nullptr;
  }
  BytecodeOpName& name = op_names_[number];
  if (name.full.empty()) {
    name.full = module_.arena.CopyString(StrCat(name.dialect, ".", name.name));
    const std::string canonical = CanonicalName(name.full);
    name.info = FindMlirOp(canonical);
    name.attributes = StoredAttributes(name.full);
    name.canonical = name.info != nullptr ? name.info->name : module_.arena.CopyString(canonical);
  }
  MlirOp* op = module_.arena.New<MlirOp>();
  op->name = name.canonical;
  op->info = name.info;
  const uint8_t mask = stream.Byte();
  op->location = Location(stream.Varint());
  if (!ReadAttributesOf(stream, mask, *op, name)) return nullptr;
  if (mask & kHasResults) {
    op->results = module_.arena.NewSpan<MlirValue>(stream.Count());
    for (size_t i = 0; i < op->results.size(); ++i) {
      MlirValue value;
      value.type = ReadType(stream);
      value.owner = op;
      value.index = static_cast<uint32_t>(i);
      if (value.type == nullptr) {
        Error(start, "the type of a result is missing");
        return nullptr;
      }
      new (&op->results[i]) MlirValue(value);
    }
  }
  if (mask & kHasOperands) {
    op->operands = module_.arena.NewSpan<MlirValue*>(stream.Count());
    const std::vector<MlirValue*>& values = scopes_.back().values;
    for (MlirValue*& operand : op->operands) {
      const uint64_t index = stream.Varint();
      operand = index < values.size() ? values[index] : nullptr;
      if (operand == nullptr) {
        Error(start, StrCat("the op ", op->name, " uses a value that is not defined before it"));
        return nullptr;
      }
    }
  }
  if (mask & kHasSuccessors)
    for (uint64_t i = stream.Count(); i-- > 0;) stream.Varint();
  if ((mask & kHasUseListOrders) && !SkipUseListOrders(stream, op->results.size())) return nullptr;
  bool isolated = false;
  const uint64_t regions = (mask & kHasRegions) ? stream.VarintWithFlag(&isolated) : 0;
  if (stream.failed()) {
    Error(start, "the op is cut short");
    return nullptr;
  }
  for (MlirValue& result : op->results)
    if (!Define(&result)) return nullptr;
  if (regions == 0) return op;
  if (++depth_ > kMaxDepth || regions > stream.left()) {
    Error(start, "ops are nested too deeply");
    return nullptr;
  }
  bool good = true;
  if (isolated) scopes_.emplace_back();
  if (isolated && version_ >= 2) {
    uint8_t id = 0;
    std::string_view data;
    good = ReadSection(stream, &id, &data);
    BytecodeStream nested(data);
    good = good && ReadRegions(nested, regions, *op);
  } else {
    good = ReadRegions(stream, regions, *op);
  }
  if (isolated) scopes_.pop_back();
  --depth_;
  return good ? op : nullptr;
}

bool MlirBytecodeReader::ReadRegions(BytecodeStream& stream, uint64_t count, MlirOp& op) {
  op.regions = module_.arena.NewSpan<MlirRegion>(count);
  for (MlirRegion& region : op.regions) {
    new (&region) MlirRegion();
    const uint64_t blocks = stream.Count();
    if (stream.failed()) return Error(stream.position(), "a region is cut short");
    if (blocks == 0) continue;
    const uint64_t values = stream.Count();
    Scope& scope = scopes_.back();
    const size_t first = scope.values.size();
    if (values > stream.left() * 2) return Error(stream.position(), "the region declares too many values");
    scope.values.resize(first + values);
    scope.next.push_back(first);
    region.blocks = module_.arena.NewSpan<MlirBlock>(blocks);
    for (MlirBlock& block : region.blocks) {
      new (&block) MlirBlock();
      if (!ReadBlock(stream, block)) return false;
    }
    scopes_.back().values.resize(first);
    scopes_.back().next.pop_back();
  }
  return true;
}

// The order of uses does not matter here.
bool MlirBytecodeReader::SkipUseListOrders(BytecodeStream& stream, size_t count) {
  uint64_t values = 1;
  if (count > 1) values = stream.Count();
  for (uint64_t i = 0; i < values && !stream.failed(); ++i) {
    if (count > 1) stream.Varint();
    bool pairs = false;
    for (uint64_t left = stream.VarintWithFlag(&pairs); left-- > 0 && !stream.failed();) stream.Varint();
  }
  return !stream.failed() || Error(stream.position(), "the order of uses is cut short");
}

bool MlirBytecodeReader::ReadAttributesOf(BytecodeStream& stream, uint8_t mask, MlirOp& op, const BytecodeOpName& name) {
  std::span<const MlirNamedAttr> discardable;
  if (mask & kHasAttrs) {
    const MlirAttr* dictionary = ReadAttr(stream);
    if (dictionary == nullptr) return Error(stream.position(), StrCat("the attributes of ", op.name, " are missing"));
    op.attrs = discardable = dictionary->fields;
  }
  if (!(mask & kHasProperties)) return true;
  const std::span<const MlirNamedAttr>* own = ReadOpProperties(stream.Varint(), name);
  if (own == nullptr) return false;
  if (discardable.empty()) {
    op.attrs = *own;
    return true;
  }
  std::vector<MlirNamedAttr> attrs(discardable.begin(), discardable.end());
  attrs.insert(attrs.end(), own->begin(), own->end());
  op.attrs = module_.arena.Copy(attrs);
  return true;
}

// The attributes of an op in the order of its row; an optional one has a flag. Ops that are not registered have a
// dictionary.
const std::span<const MlirNamedAttr>* MlirBytecodeReader::ReadOpProperties(uint64_t index, const BytecodeOpName& op) {
  if (index >= properties_.size()) {
    Error(StrCat("the properties of ", op.full, " are missing"));
    return nullptr;
  }
  Properties& entry = properties_[index];
  if (entry.owner == &op) return &entry.attrs;
  BytecodeStream stream(entry.data);
  std::vector<MlirNamedAttr> attrs;
  if (!op.registered) {
    if (const MlirAttr* dictionary = ReadAttr(stream)) attrs.assign(dictionary->fields.begin(), dictionary->fields.end());
  }
  std::string_view rest = op.registered ? op.attributes : std::string_view();
  // Each attribute is one number, so the numbers tell an older version.
  const bool is_older = rest.find('+') != rest.npos && CountVarints(entry.data) <= std::count(rest.begin(), rest.end(), ' ');
  while (!rest.empty()) {
    std::string_view name = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    const bool optional = name[0] == '?';
    if (optional) name.remove_prefix(1);
    const bool is_new = name[0] == '+';
    if (is_new && is_older) continue;
    if (is_new) name.remove_prefix(1);
    bool present = true;
    const uint64_t number = optional ? stream.VarintWithFlag(&present) : stream.Varint();
    if (stream.failed()) {
      Error(stream.position(), StrCat("the properties of ", op.full, " are cut short"));
      return nullptr;
    }
    if (!present) continue;
    const MlirAttr* attr = Attr(number);
    if (attr == nullptr) {
      Error(stream.position(), StrCat("the attribute ", name, " of ", op.full, " is missing"));
      return nullptr;
    }
    attrs.push_back({name, attr});
  }
  if (failed_) return nullptr;
  properties_[index].owner = &op;
  properties_[index].attrs = module_.arena.Copy(attrs);
  return &properties_[index].attrs;
}

}  // namespace shoal::internal
