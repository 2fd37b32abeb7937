// FFT calls of jaxlib up to 0.4.30.
#include <cstring>

#include "execute/interp/custom_calls/old_call.h"
#include "kernels/algorithms/fft_batches.h"
#include "kernels/linalg/lapack.h"

namespace shoal::internal {
namespace {

// The parameters of an FFT, in the bytes of a FlatBuffers table: (rank, is_double, type, axes, forward), or for static
// shapes (is_double, type, shape, strides, strides, axes, forward, scale).
struct FftDescriptor {
  int64_t type = 0;
  bool forward = false;
  std::vector<int64_t> axes;
  double scale = 1;
};

class FlatTable {
 public:
  explicit FlatTable(std::span<const uint8_t> bytes) : bytes_(bytes), table_(Read<uint32_t>(0)) {
    vtable_ = table_ - Read<int32_t>(table_);
  }
  // The value of field number `slot`; zero if the table does not have it.
  template <class T>
  T Get(int64_t slot) const {
    const int64_t at = PositionOf(slot);
    return at == 0 ? T{} : Read<T>(at);
  }
  std::vector<int64_t> List(int64_t slot) const {
    int64_t at = PositionOf(slot);
    if (at == 0) return {};
    at += Read<uint32_t>(at);
    std::vector<int64_t> list;
    const int64_t count = std::min<int64_t>(Read<uint32_t>(at), std::ssize(bytes_) / 4);
    for (int64_t i = 1; i <= count; ++i) list.push_back(Read<uint32_t>(at + 4 * i));
    return list;
  }

 private:
  template <class T>
  T Read(int64_t at) const {
    T value{};
    if (at >= 0 && at + static_cast<int64_t>(sizeof(T)) <= std::ssize(bytes_))
      std::memcpy(&value, bytes_.data() + at, sizeof(T));
    return value;
  }
  int64_t PositionOf(int64_t slot) const {
    const int64_t entry = 4 + 2 * slot;
    if (entry >= Read<uint16_t>(vtable_)) return 0;
    const int64_t offset = Read<uint16_t>(vtable_ + entry);
    return offset == 0 ? 0 : table_ + offset;
  }

  std::span<const uint8_t> bytes_;
  int64_t table_, vtable_;
};

enum class FftTable : uint8_t { kDynamic, kStatic };

FftDescriptor ReadDescriptor(const Array& bytes, FftTable form) {
  const FlatTable table(bytes.As<uint8_t>());
  if (form == FftTable::kDynamic) return {table.Get<int8_t>(2), table.Get<int8_t>(4) != 0, table.List(3), 1};
  return {table.Get<int8_t>(1), table.Get<int8_t>(6) != 0, table.List(5), table.Get<double>(7)};
}

template <class T>
void Scale(Array& array, double factor) {
  for (T& x : array.Mutable<T>()) x *= static_cast<lapack::Real<T>>(factor);
}

// The transform of operand 1, multiplied by the scale.
Result<Value> RunFft(Call& call, const FftDescriptor& descriptor) {
  const Array& x = call.array(1);
  const Shape& shape = call.hlo.shape();
  // The axes are the last ones, in order; the type is complex, complex to real, or real to complex.
  const auto count = std::ssize(descriptor.axes);
  bool are_last = count > 0 && count <= x.rank() && shape.rank() == x.rank();
  for (int64_t i = 0; are_last && i < count; ++i)
    are_last = descriptor.axes[static_cast<size_t>(i)] == x.rank() - count + i;
  const bool is_real = IsComplex(x.type()) != IsComplex(shape.element_type());
  if (!are_last || (descriptor.type != 0) != is_real || (!is_real && !IsComplex(x.type()))) return BadOldCall(call);
  const FftType type = !is_real              ? descriptor.forward ? FftType::kFft : FftType::kIfft
                       : IsComplex(x.type()) ? FftType::kIrfft
                                             : FftType::kRfft;
  // The transformed sizes are those of the real or complex signal: of the result if it is real, else of the operand.
  const Ints signal = type == FftType::kIrfft ? shape.dims() : x.dims();
  const Ints length = signal.subspan(signal.size() - static_cast<size_t>(count));
  Array out = Array::Zeros(shape.element_type(), shape.dims());
  for (int64_t i = 0; i < x.rank(); ++i)
    if (x.dim(i) != shape.dim(i) && (!is_real || i + 1 < x.rank())) return BadOldCall(call);
  const int64_t spectrum = length.back() / 2 + 1;
  if (is_real && (type == FftType::kRfft ? shape.dims().back() : x.dims().back()) != spectrum) return BadOldCall(call);
  if (out.count() == 0) return Value(std::move(out));
  TransformBatches(type, length, x, out);
  // XLA's inverse transforms divide by the number of elements.
  const bool inverse = type == FftType::kIfft || type == FftType::kIrfft;
  const double factor = descriptor.scale * (inverse ? static_cast<double>(ElementCount(length)) : 1);
  if (out.type() == ElementType::kF32) Scale<float>(out, factor);
  if (out.type() == ElementType::kF64) Scale<double>(out, factor);
  if (out.type() == ElementType::kC64) Scale<std::complex<float>>(out, factor);
  if (out.type() == ElementType::kC128) Scale<std::complex<double>>(out, factor);
  return Value(std::move(out));
}

bool HasDescriptor(const Call& call) {
  const bool are_arrays = std::all_of(call.operands.begin(), call.operands.end(), [](const Value& value) { return value.IsArray(); });
  return are_arrays && call.operands.size() > 1 && call.array(0).type() == ElementType::kU8 && call.hlo.shape_->IsArray();
}

}  // namespace

// ducc_fft: (descriptor, x) -> the transform of x, multiplied by the descriptor's scale.
Result<Value> StaticDuccFft(Call& call) {
  if (!HasDescriptor(call) || call.operands.size() != 2) return BadOldCall(call);
  return RunFft(call, ReadDescriptor(call.array(0), FftTable::kStatic));
}

// dynamic_ducc_fft: (descriptor, x, sizes, strides, strides, scale) -> the transform of x, multiplied by scale. A last
// operand may have the sizes of the result.
Result<Value> DuccFft(Call& call) {
  const bool has_count = call.operands.size() == 6 || call.operands.size() == 7;
  if (!HasDescriptor(call) || !has_count) return BadOldCall(call);
  const Array& scale = call.array(5);
  FftDescriptor descriptor = ReadDescriptor(call.array(0), FftTable::kDynamic);
  if (scale.count() != 1 || (scale.type() != ElementType::kF32 && scale.type() != ElementType::kF64)) return BadOldCall(call);
  descriptor.scale = scale.type() == ElementType::kF32 ? scale.As<float>()[0] : scale.As<double>()[0];
  return RunFft(call, descriptor);
}

}  // namespace shoal::internal
