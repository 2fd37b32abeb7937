#include "kernels/arrays/strided.h"

#include <cstring>

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

struct SixteenBytes {  // an element of sixteen bytes
  uint64_t half[2];
};

// Copies the innermost dimension.
template <class T>
void CopyRow(int64_t n, T* out, int64_t out_stride, const T* in, int64_t in_stride) {
  if (out_stride == 1 && in_stride == 1) {
    std::memcpy(out, in, static_cast<size_t>(n) * sizeof(T));
  } else if (out_stride == 1 && in_stride == 0) {
    const T value = *in;
    for (int64_t i = 0; i < n; ++i) out[i] = value;
  } else {
    for (int64_t i = 0; i < n; ++i) out[i * out_stride] = in[i * in_stride];
  }
}

// Copies the two innermost dimensions, in tiles that stay in the cache for transposes.
template <class T>
void CopyPlane(const StridedLoop& outer, const StridedLoop& inner, T* out, const T* in) {
  constexpr int64_t kTile = 32;
  if (inner.in == 1 || inner.in == 0 || outer.size < 4) {
    for (int64_t i = 0; i < outer.size; ++i)
      CopyRow(inner.size, out + i * outer.out, inner.out, in + i * outer.in, inner.in);
    return;
  }
  for (int64_t i0 = 0; i0 < outer.size; i0 += kTile) {
    const int64_t rows = std::min(kTile, outer.size - i0);
    for (int64_t j0 = 0; j0 < inner.size; j0 += kTile) {
      const int64_t columns = std::min(kTile, inner.size - j0);
      for (int64_t i = i0; i < i0 + rows; ++i)
        CopyRow(columns, out + i * outer.out + j0 * inner.out, inner.out, in + i * outer.in + j0 * inner.in, inner.in);
    }
  }
}

template <class T>
void CopyLoops(std::span<const StridedLoop> loops, T* out, const T* in) {
  if (loops.size() == 1) return CopyRow(loops[0].size, out, loops[0].out, in, loops[0].in);
  if (loops.size() == 2) return CopyPlane(loops[0], loops[1], out, in);
  for (int64_t i = 0; i < loops[0].size; ++i) CopyLoops(loops.subspan(1), out + i * loops[0].out, in + i * loops[0].in);
}

template <class T>
void CopyTyped(Ints sizes, std::byte* out, const Strided& to, const std::byte* in, const Strided& from) {
  const auto loops = MergedLoops(sizes, AsInts(to.strides), AsInts(from.strides));
  CopyLoops<T>(loops, reinterpret_cast<T*>(out) + to.offset, reinterpret_cast<const T*>(in) + from.offset);
}

}  // namespace

absl::InlinedVector<StridedLoop, 6> MergedLoops(Ints sizes, Ints to, Ints from) {
  absl::InlinedVector<StridedLoop, 6> loops;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    const StridedLoop loop{sizes[d], to[d], from[d]};
    if (!loops.empty() && loops.back().out == loop.out * loop.size && loops.back().in == loop.in * loop.size) {
      loops.back() = {loops.back().size * loop.size, loop.out, loop.in};
    } else {
      loops.push_back(loop);
    }
  }
  if (loops.empty()) loops.push_back({1, 1, 1});
  return loops;
}

void CopyStrided(Ints sizes, int element_bytes, std::byte* out, const Strided& to, const std::byte* in,
                 const Strided& from) {
  if (ElementCount(sizes) == 0) return;
  switch (element_bytes) {
    case 1:
      return CopyTyped<uint8_t>(sizes, out, to, in, from);
    case 2:
      return CopyTyped<uint16_t>(sizes, out, to, in, from);
    case 4:
      return CopyTyped<uint32_t>(sizes, out, to, in, from);
    case 8:
      return CopyTyped<uint64_t>(sizes, out, to, in, from);
    default:
      return CopyTyped<SixteenBytes>(sizes, out, to, in, from);
  }
}

std::vector<int64_t> BoxOffsets(Ints sizes, Ints strides) {
  std::vector<int64_t> offsets{0};
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 1) continue;
    std::vector<int64_t> finer;
    finer.reserve(offsets.size() * static_cast<size_t>(sizes[d]));
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < sizes[d]; ++i) finer.push_back(offset + i * strides[d]);
    offsets = std::move(finer);
  }
  return offsets;
}

bool IsInBounds(int64_t count, Ints sizes, const Strided& box) {
  int64_t first = box.offset, last = box.offset;
  bool overflows = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    int64_t extent = 0;
    if (sizes[d] < 1) return sizes[d] == 0;
    overflows |= __builtin_mul_overflow(sizes[d] - 1, box.strides[d], &extent);
    int64_t& end = extent < 0 ? first : last;
    overflows |= __builtin_add_overflow(end, extent, &end);
  }
  return !overflows && first >= 0 && last < count;
}

Array Gathered(const Array& in, Dims sizes, const Strided& from) {
  if (!IsInBounds(in.count(), AsInts(sizes), from))
    throw std::length_error(StrCat("the box is out of bounds of ", ToString(in)));
  Array out(in.type(), std::move(sizes));
  CopyStrided(out.dims(), in.element_bytes(), out.mutable_data(), {0, RowMajorStrides(out.dims())}, in.data(), from);
  return out;
}

Array Transposed(const Array& in, Ints order) {
  const Dims strides = RowMajorStrides(in.dims());
  Strided from;
  Dims sizes;
  for (int64_t d : order) {
    sizes.push_back(in.dim(d));
    from.strides.push_back(strides[static_cast<size_t>(d)]);
  }
  return Gathered(in, std::move(sizes), from);
}

}  // namespace shoal::internal
