#include "kernels/arrays/npy_array.h"

#include <cstring>

#include "core/base/files.h"
#include "core/base/strings.h"
#include "kernels/arrays/strided.h"

namespace shoal::internal {
namespace {

// NumPy's letter for the type; V if it has none.
char NpyKind(ElementType type) {
  const int bits = BitWidth(type);
  if (type == ElementType::kPred) return 'b';
  if (bits < 8) return 'V';
  if (IsSigned(type)) return 'i';
  if (IsUnsigned(type)) return 'u';
  if (IsComplex(type)) return 'c';
  return bits >= 16 && type != ElementType::kBf16 ? 'f' : 'V';
}

// Brings elements narrower than a byte into the form that all arrays use: sign- or zero-extended to a byte.
void KeepLowBits(Array& array) {
  const ElementType type = array.type();
  std::span<uint8_t> bytes = array.Mutable<uint8_t>();
  if (type == ElementType::kPred) {
    for (uint8_t& byte : bytes) byte = byte != 0;
    return;
  }
  const int unused = 8 - BitWidth(type);
  for (uint8_t& byte : bytes) {
    const auto high = static_cast<uint8_t>(byte << unused);
    byte = IsSigned(type) ? static_cast<uint8_t>(static_cast<int8_t>(high) >> unused) : high >> unused;
  }
}

}  // namespace

std::string NpyDescr(ElementType type) {
  const int bytes = StorageBytes(type);
  return StrCat(bytes == 1 ? '|' : '<', NpyKind(type), bytes);
}

bool NpyHolds(const NpyArray& npy, ElementType type) {
  if (npy.item_bytes != StorageBytes(type)) return false;
  if (npy.kind == NpyKind(type) || npy.kind == 'V' || npy.kind == 'u') return true;
  if (npy.kind == 'f' && npy.item_bytes == 1 && IsFloat(type)) return true;  // '<f1', as ml_dtypes writes f8e5m2
  return npy.kind == 'i' && BitWidth(type) < 8 && IsSigned(type);
}

Result<Array> FromNpy(const NpyArray& header, ElementType type, const ReadNpyData& read) {
  Array array(type, Dims(header.dims.begin(), header.dims.end()));
  if (array.count() != 0 && header.fortran_order) {
    Array stored(type, Dims(array.dims().begin(), array.dims().end()));
    SHOAL_TRY(read(stored.mutable_data()));
    const Dims backwards(header.dims.rbegin(), header.dims.rend());
    const Dims strides = RowMajorStrides(AsInts(backwards));
    CopyStrided(array.dims(), array.element_bytes(), array.mutable_data(), {0, RowMajorStrides(array.dims())},
                stored.data(), {0, Dims(strides.rbegin(), strides.rend())});
  } else if (array.count() != 0) {
    SHOAL_TRY(read(array.mutable_data()));
  }
  if (BitWidth(type) < 8) KeepLowBits(array);
  return array;
}

Status WriteNpy(const std::string& path, const Array& array) {
  const std::string header = NpyHeader(NpyDescr(array.type()), {array.dims().begin(), array.dims().end()});
  const auto* data = reinterpret_cast<const char*>(array.data());
  return WriteFile(path, {header, {data, static_cast<size_t>(array.bytes())}});
}

}  // namespace shoal::internal
