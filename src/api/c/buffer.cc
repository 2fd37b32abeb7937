#include "api/c/handles.h"

namespace shoal::internal {
namespace {

shoal_error* GiveBuffer(shoal::Result<shoal::Buffer> buffer, shoal_buffer** out) {
  if (!buffer.ok()) return MakeCError(buffer.error());
  *out = new shoal_buffer{std::move(*buffer)};
  return nullptr;
}

// Fails if there is no such array.
shoal_error* CheckArray(int32_t type, const int64_t* dims, int32_t rank) {
  if (type < 0 || type > 255) return Wrong(StrCat("unknown element type ", type));
  if (rank < 0 || (rank > 0 && dims == nullptr)) return Wrong("the rank must not be negative, and the dimensions not null");
  return nullptr;
}

}  // namespace

shoal_error* GiveBuffer(const Buffers& buffers, size_t device, size_t leaf, shoal_buffer** out) {
  if (device >= buffers.size() || leaf >= buffers[device].size())
    return Wrong(StrCat("there is no array ", leaf, " on device ", device));
  *out = new shoal_buffer{buffers[device][leaf]};
  return nullptr;
}

}  // namespace shoal::internal

using namespace shoal::internal;  // the functions below are C

extern "C" {

shoal_error* shoal_buffer_borrow(const shoal_borrow_args* given, shoal_buffer** out) {
  if (given == nullptr || out == nullptr) return Null("the arguments and out");
  return GuardedC([&]() -> shoal_error* {
    shoal_borrow_args args;
    SHOAL_C_TRY(ReadStruct(given, args));
    SHOAL_C_TRY(CheckArray(args.type, args.dims, args.rank));
    std::function<void()> release;
    if (args.release != nullptr) release = [call = args.release, data = args.user_data] { call(data); };
    std::span<const int64_t> strides;
    if (args.byte_strides != nullptr) strides = {args.byte_strides, static_cast<size_t>(args.rank)};
    return GiveBuffer(shoal::Buffer::Borrow(args.data, static_cast<shoal::ElementType>(args.type),
                                            {args.dims, args.dims + args.rank}, std::move(release), strides), out);
  });
}

shoal_error* shoal_buffer_new(int32_t type, const int64_t* dims, int32_t rank, shoal_buffer** out) {
  if (out == nullptr) return Null("out");
  return GuardedC([&]() -> shoal_error* {
    SHOAL_C_TRY(CheckArray(type, dims, rank));
    return GiveBuffer(shoal::Buffer::Allocate(static_cast<shoal::ElementType>(type), {dims, dims + rank}), out);
  });
}

shoal_error* shoal_buffer_copy(const void* data, size_t bytes, int32_t type, const int64_t* dims, int32_t rank,
                               shoal_buffer** out) {
  if (out == nullptr || (data == nullptr && bytes > 0)) return Null("data and out");
  return GuardedC([&]() -> shoal_error* {
    SHOAL_C_TRY(CheckArray(type, dims, rank));
    return GiveBuffer(shoal::Buffer::Copy(data, bytes, static_cast<shoal::ElementType>(type), {dims, dims + rank}), out);
  });
}

shoal_error* shoal_buffer_shape(const shoal_buffer* buffer, shoal_array_shape* out) {
  if (buffer == nullptr) return Null("the buffer");
  const auto dims = buffer->value.dims();
  return WriteStruct({0, static_cast<int32_t>(buffer->value.type()), static_cast<int32_t>(dims.size()), dims.data()}, out);
}

const void* shoal_buffer_data(const shoal_buffer* buffer) { return buffer == nullptr ? nullptr : buffer->value.data(); }
void* shoal_buffer_mutable_data(shoal_buffer* buffer) { return buffer == nullptr ? nullptr : buffer->value.mutable_data(); }
size_t shoal_buffer_bytes(const shoal_buffer* buffer) { return buffer == nullptr ? 0 : buffer->value.bytes(); }
void shoal_buffer_free(shoal_buffer* buffer) { delete buffer; }

}  // extern "C"
