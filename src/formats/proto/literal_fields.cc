#include "formats/proto/literal_fields.h"

#include <cstring>
#include <vector>

namespace shoal::internal {
namespace {

template <class T>
std::string_view Raw(const google::protobuf::RepeatedField<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), static_cast<size_t>(values.size()) * sizeof(T)};
}

template <class T>
void SetRaw(google::protobuf::RepeatedField<T>* values, std::string_view bytes) {
  values->Resize(static_cast<int>(bytes.size() / sizeof(T)), T{});
  if (!bytes.empty()) std::memcpy(values->mutable_data(), bytes.data(), bytes.size());
}

using P = proto::LiteralProto;

#define LIST(Type, field)                                                           \
  {                                                                                 \
    ElementType::Type, [](const P& from) { return Raw(from.field()); },             \
        [](P* to, std::string_view bytes) { SetRaw(to->mutable_##field(), bytes); } \
  }
#define BYTES(Type, field)                                                           \
  {                                                                                  \
    ElementType::Type, [](const P& from) { return std::string_view(from.field()); }, \
        [](P* to, std::string_view bytes) { to->mutable_##field()->assign(bytes); }  \
  }

constexpr LiteralField kFields[] = {
    LIST(kPred, preds),
    BYTES(kS1, s1s),
    BYTES(kS2, s2s),
    BYTES(kS4, s4s),
    BYTES(kS8, s8s),
    BYTES(kS16, s16s),
    LIST(kS32, s32s),
    LIST(kS64, s64s),
    BYTES(kU1, u1s),
    BYTES(kU2, u2s),
    BYTES(kU4, u4s),
    BYTES(kU8, u8s),
    BYTES(kU16, u16s),
    LIST(kU32, u32s),
    LIST(kU64, u64s),
    BYTES(kF16, f16s),
    BYTES(kBf16, bf16s),
    LIST(kF32, f32s),
    LIST(kF64, f64s),
    BYTES(kF8e3m4, f8e3m4s),
    BYTES(kF8e4m3, f8e4m3s),
    BYTES(kF8e4m3fn, f8e4m3fns),
    BYTES(kF8e4m3b11fnuz, f8e4m3b11fnuzs),
    BYTES(kF8e4m3fnuz, f8e4m3fnuzs),
    BYTES(kF8e5m2, f8e5m2s),
    BYTES(kF8e5m2fnuz, f8e5m2fnuzs),
    BYTES(kF8e8m0fnu, f8e8m0fnus),
    BYTES(kF6e3m2fn, f6e3m2fns),
    BYTES(kF6e2m3fn, f6e2m3fns),
    BYTES(kF4e2m1fn, f4e2m1fns),
    LIST(kC64, c64s),
    LIST(kC128, c128s),
};

#undef LIST
#undef BYTES

bool IsRowMajor(const Shape& shape) {
  if (shape.layout() == nullptr) return true;
  int64_t expected = shape.rank();
  for (int64_t dim : shape.layout()->minor_to_major)
    if (dim != --expected) return false;
  return true;
}

}  // namespace

const LiteralField* FindLiteralField(ElementType type) {
  for (const LiteralField& field : kFields)
    if (field.type == type) return &field;
  return nullptr;
}

void Reorder(const Shape& shape, size_t size, Order order, const std::byte* from, std::byte* to) {
  const int64_t count = *shape.ElementCount();
  if (count == 0) return;
  if (IsRowMajor(shape)) {
    std::memcpy(to, from, static_cast<size_t>(count) * size);
    return;
  }
  const size_t rank = shape.dims().size();
  std::vector<int64_t> stride(rank), index(rank, 0);
  int64_t next = 1;
  for (int64_t dim : shape.layout()->minor_to_major) {
    stride[static_cast<size_t>(dim)] = next;
    next *= shape.dim(dim);
  }
  int64_t layout_offset = 0;  // offset of the element `index` in the layout
  for (int64_t i = 0; i < count; ++i) {
    const int64_t source = order == Order::kToRowMajor ? layout_offset : i;
    const int64_t target = order == Order::kToRowMajor ? i : layout_offset;
    std::memcpy(to + static_cast<size_t>(target) * size, from + static_cast<size_t>(source) * size, size);
    for (size_t dim = rank; dim-- > 0;) {
      layout_offset += stride[dim];
      if (++index[dim] < shape.dims()[dim]) break;
      layout_offset -= stride[dim] * index[dim];
      index[dim] = 0;
    }
  }
}

}  // namespace shoal::internal
