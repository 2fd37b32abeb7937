#include "formats/proto/read_snapshot.h"

#include <cstring>

#include "core/base/strings.h"
#include "formats/proto/literal_fields.h"
#include "formats/proto/parts.h"

namespace shoal::internal {
namespace {

// The bytes of an array in a file, in the form of a LiteralProto: narrow elements are packed in the file.
Result<std::string> TakeElements(const Shape& shape, std::string_view& values) {
  const int bits = BitWidth(shape.element_type());
  const std::optional<int64_t> count = shape.ElementCount();
  bool is_dynamic = !count;
  for (int64_t i = 0; i < shape.rank(); ++i) is_dynamic |= shape.is_dynamic(i);
  if (is_dynamic) return Fail(StrCat(ToString(shape), " has dynamic dimensions, which is not supported here"));
  const auto elements = static_cast<size_t>(*count);
  if (bits >= 8) {
    const size_t size = static_cast<size_t>(StorageBytes(shape.element_type()));
    if (elements > values.size() / size) return Fail("the file is truncated");
    std::string bytes(values.substr(0, elements * size));
    values.remove_prefix(bytes.size());
    return bytes;
  }
  const size_t per_byte = 8 / static_cast<size_t>(bits), packed = (elements + per_byte - 1) / per_byte;
  if (packed > values.size()) return Fail("the file is truncated");
  std::string bytes(elements, 0);
  for (size_t i = 0; i < elements; ++i)
    bytes[i] = static_cast<char>(static_cast<uint8_t>(values[i / per_byte]) >> (i % per_byte * static_cast<size_t>(bits)) & ((1 << bits) - 1));
  values.remove_prefix(packed);
  return bytes;
}

Status TakeValue(Module& module, const proto::ShapeProto& from, std::string_view& values, proto::LiteralProto* to) {
  SHOAL_ASSIGN(shape, ReadShape(module, from));
  *to->mutable_shape() = from;
  for (const proto::ShapeProto& element : from.tuple_shapes()) SHOAL_TRY(TakeValue(module, element, values, to->add_tuple_literals()));
  if (!shape->IsArray()) return {};
  const LiteralField* field = FindLiteralField(shape->element_type());
  if (field == nullptr) return Fail(StrCat(Text(shape->element_type()), " cannot have a value"));
  SHOAL_ASSIGN(bytes, TakeElements(*shape, values));
  field->set(to, bytes);
  return {};
}

// A literal in XLA's own format: the size of the shape's message in 8 bytes, the message, the elements of each array.
Result<proto::LiteralProto> ReadSerialized(Module& module, std::string_view bytes) {
  uint64_t size = 0;
  if (bytes.size() < sizeof size) return Fail("the file is truncated");
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes.remove_prefix(sizeof size);
  proto::ShapeProto shape;
  if (size > bytes.size() || !shape.ParseFromArray(bytes.data(), static_cast<int>(size))) return Fail("the shape is corrupt");
  bytes.remove_prefix(size);
  proto::LiteralProto literal;
  SHOAL_TRY(TakeValue(module, shape, bytes, &literal));
  return literal;
}

// Reads a literal and reports its errors.
class Reader {
 public:
  Reader(ProtoInput& input, Diags& diags) : input_(input), diags_(diags) {}

  const Literal* Read(const proto::LiteralProto& literal, const std::string& owner) {
    Result<const Literal*> value = ReadLiteral(*input_.module, literal);
    if (value.ok()) return *value;
    Error(owner, value.diag().message);
    return nullptr;
  }
  void Error(const std::string& owner, const std::string& message) {
    diags_.Add(Fail(StrCat("snapshot, ", owner, ": ", message)));
  }

 private:
  ProtoInput& input_;
  Diags& diags_;
};

}  // namespace

void ReadSnapshotValues(const proto::HloSnapshot& from, ProtoInput& input, Diags& diags) {
  Reader reader(input, diags);
  for (int i = 0; i < from.arguments_size(); ++i)
    input.arguments.push_back(reader.Read(from.arguments(i), StrCat("argument ", i)));
  if (from.has_result()) input.result = reader.Read(from.result(), "result");
}

void ReadPartitionInputs(const proto::HloUnoptimizedSnapshot& from, std::string_view values, ProtoInput& input, Diags& diags) {
  Reader reader(input, diags);
  if (from.version() != 0) return reader.Error("inputs", "an unknown version of the format");
  for (int p = 0; p < from.partitions_size(); ++p) {
    const proto::HloInputs& partition = from.partitions(p);
    const auto owner = [&](int i) { return StrCat("argument ", i, " of partition ", p); };
    for (int i = 0; i < partition.arguments_size(); ++i) input.arguments.push_back(reader.Read(partition.arguments(i), owner(i)));
    for (int i = 0; i < partition.arguments_descriptors_size(); ++i) {
      const proto::HloInputs::LiteralDescriptor& descriptor = partition.arguments_descriptors(i);
      if (descriptor.version() != 0 || descriptor.argument_size_bytes() > values.size())
        return reader.Error(owner(i), descriptor.version() != 0 ? "an unknown version of the format" : "the file is truncated");
      const Result<proto::LiteralProto> literal = ReadSerialized(*input.module, values.substr(0, descriptor.argument_size_bytes()));
      if (!literal.ok()) return reader.Error(owner(i), literal.diag().message);
      values.remove_prefix(descriptor.argument_size_bytes());
      input.arguments.push_back(reader.Read(*literal, owner(i)));
    }
  }
}

}  // namespace shoal::internal
