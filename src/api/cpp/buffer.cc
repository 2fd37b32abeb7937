#include <cstring>
#include <limits>

#include "api/cpp/execute_state.h"
#include "core/base/strings.h"
#include "execute/data/outputs.h"

namespace shoal::internal {

shoal::Buffer MakeBuffer(Array array) {
  return shoal::Buffer(std::make_shared<BufferState>(BufferState{std::move(array)}));
}

namespace {

// The size of an array, or why there is no such array.
shoal::Result<size_t> BufferBytes(shoal::ElementType type, std::span<const int64_t> dims) {
  const auto inner = static_cast<ElementType>(type);
  if (!IsArrayType(inner)) return ArgumentError(StrCat("a buffer's element type must be that of an array, got ", Name(type)));
  double bytes = StorageBytes(inner);
  for (int64_t size : dims) {
    if (size < 0) return ArgumentError(StrCat("the dimensions of a buffer must not be negative, got ", ToString(dims)));
    bytes *= static_cast<double>(size);
  }
  if (bytes > 0x1p62) return ArgumentError(StrCat("a buffer of ", Name(type), ToString(dims), " is too large"));
  return static_cast<size_t>(StorageBytes(inner)) * static_cast<size_t>(ElementCount(dims));
}

// Complex numbers have the alignment of their parts.
size_t AlignmentOf(ElementType type) { return static_cast<size_t>(StorageBytes(type)) / (IsComplex(type) ? 2 : 1); }

bool IsRowMajor(std::span<const int64_t> dims, std::span<const int64_t> strides, int element_bytes) {
  int64_t expected = element_bytes;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] > 1 && strides[i] != expected) return false;
    expected *= dims[i];
  }
  return true;
}

// Copies the elements of dimension `d` and further ones, and advances `out`.
void CopyStrided(const std::byte* from, std::span<const int64_t> dims, std::span<const int64_t> strides, size_t d,
                 size_t element_bytes, std::byte*& out) {
  if (d == dims.size()) {
    std::memcpy(out, from, element_bytes);
    out += element_bytes;
    return;
  }
  for (int64_t i = 0; i < dims[d]; ++i) CopyStrided(from + i * strides[d], dims, strides, d + 1, element_bytes, out);
}

}  // namespace
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

using internal::ArgumentError;
using internal::StrCat;

Result<ThreadPool> ThreadPool::Create(int threads) {
  if (threads < 0 || threads > 1024) return ArgumentError(StrCat("a pool has 0 to 1024 threads, got ", threads));
  return internal::Guarded([&]() -> Result<ThreadPool> {
    return ThreadPool(std::make_shared<internal::ThreadPool>(threads));
  });
}

int ThreadPool::threads() const { return state_->threads(); }

Result<Buffer> Buffer::Borrow(const void* data, ElementType type, std::vector<int64_t> dims, std::function<void()> release,
                              std::span<const int64_t> byte_strides) {
  return internal::Guarded([&]() -> Result<Buffer> {
    const Result<size_t> bytes = internal::BufferBytes(type, dims);
    if (!bytes.ok()) return bytes.error();
    if (data == nullptr && *bytes > 0) return ArgumentError("the data of a buffer must not be null");
    if (!byte_strides.empty() && byte_strides.size() != dims.size())
      return ArgumentError(StrCat("a buffer needs one stride for each of its ", dims.size(), " dimensions, got ",
                                  byte_strides.size()));
    const auto inner = static_cast<internal::ElementType>(type);
    const auto element_bytes = static_cast<size_t>(internal::StorageBytes(inner));
    const auto* from = static_cast<const std::byte*>(data);
    const bool in_place = (byte_strides.empty() || internal::IsRowMajor(dims, byte_strides, static_cast<int>(element_bytes))) &&
                          reinterpret_cast<uintptr_t>(data) % internal::AlignmentOf(inner) == 0;
    if (in_place && *bytes > 0) {
      std::shared_ptr<const void> owner;
      if (release) owner = std::shared_ptr<const void>(data, [release](const void*) { release(); });
      internal::Buffer borrowed = internal::Buffer::Share(from, *bytes, std::move(owner));
      return internal::MakeBuffer(internal::Array(inner, internal::ToDims(dims), std::move(borrowed)));
    }
    internal::Array copy(inner, internal::ToDims(dims));
    std::byte* out = copy.mutable_data();
    if (*bytes > 0 && byte_strides.empty()) std::memcpy(out, from, *bytes);
    if (*bytes > 0 && !byte_strides.empty()) internal::CopyStrided(from, dims, byte_strides, 0, element_bytes, out);
    Buffer buffer = internal::MakeBuffer(std::move(copy));
    if (release) release();
    return buffer;
  });
}

Result<Buffer> Buffer::Copy(const void* data, size_t bytes, ElementType type, std::vector<int64_t> dims) {
  Result<Buffer> buffer = Allocate(type, std::move(dims));
  if (!buffer.ok()) return buffer;
  if (buffer->bytes() != bytes)
    return ArgumentError(StrCat("a buffer of ", ToString(buffer->state()->array), " has ", buffer->bytes(), " bytes, got ", bytes));
  if (bytes > 0) std::memcpy(buffer->mutable_data(), data, bytes);
  return buffer;
}

Result<Buffer> Buffer::Allocate(ElementType type, std::vector<int64_t> dims) {
  return internal::Guarded([&]() -> Result<Buffer> {
    const Result<size_t> bytes = internal::BufferBytes(type, dims);
    if (!bytes.ok()) return bytes.error();
    return internal::MakeBuffer(internal::Array(static_cast<internal::ElementType>(type), internal::ToDims(dims)));
  });
}

ElementType Buffer::type() const { return empty() ? ElementType::kToken : static_cast<ElementType>(state_->array.type()); }
std::span<const int64_t> Buffer::dims() const { return empty() ? std::span<const int64_t>() : state_->array.dims(); }
int64_t Buffer::elements() const { return empty() ? 0 : state_->array.count(); }
size_t Buffer::bytes() const { return empty() ? 0 : static_cast<size_t>(state_->array.bytes()); }
const void* Buffer::data() const { return empty() ? nullptr : state_->array.data(); }

std::string Buffer::ToLiteral() const { return empty() ? "" : LiteralText(state_->array); }

void* Buffer::mutable_data() try {
  if (empty()) return nullptr;
  if (state_.use_count() > 1) state_ = std::make_shared<internal::BufferState>(*state_);
  return state_->array.mutable_data();
} catch (const std::bad_alloc&) {
  return nullptr;
}

}  // namespace shoal::inline v0_1
