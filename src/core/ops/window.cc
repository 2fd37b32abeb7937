#include "core/ops/window.h"

namespace shoal::internal {
namespace {

// The extent of `size` elements with dilation - 1 holes between them; no value if it overflows.
std::optional<int64_t> Dilated(int64_t size, int64_t dilation) {
  if (size == 0) return 0;
  int64_t extent;
  if (__builtin_mul_overflow(size - 1, dilation, &extent) || __builtin_add_overflow(extent, 1, &extent))
    return std::nullopt;
  return extent;
}

std::optional<int64_t> Padded(int64_t size, int64_t low, int64_t high) {
  if (__builtin_add_overflow(size, low, &size) || __builtin_add_overflow(size, high, &size)) return std::nullopt;
  return size;
}

}  // namespace

Result<std::vector<int64_t>> WindowedOutputDims(const Instruction& hlo, const Window* window, Ints base,
                                                const WindowRules& rules) {
  std::span<const WindowDim> dims = window == nullptr ? std::span<const WindowDim>() : window->dims;
  if (dims.size() != base.size())
    return Broken(hlo, rules.rank, StrCat("window must have ", Count(base.size(), "dimension"), ", got ", dims.size()));
  std::vector<int64_t> output_sizes;
  for (size_t i = 0; i < dims.size(); ++i) {
    const WindowDim& dim = dims[i];
    for (auto [name, value] :
         {std::pair("size", dim.size), std::pair("stride", dim.stride), std::pair("lhs_dilate", dim.base_dilation),
          std::pair("rhs_dilate", dim.window_dilation)})
      if (value < 1)
        return Broken(hlo, rules.positive,
                      StrCat("window ", name, " must be positive, got ", value, " in dimension ", i));
    if (base[i] == kUnboundedSize) {
      output_sizes.push_back(kUnboundedSize);
      continue;
    }
    std::optional<int64_t> bound = Dilated(base[i], dim.base_dilation);
    if (bound) bound = Padded(*bound, dim.pad_low, dim.pad_high);
    std::optional<int64_t> extent = Dilated(dim.size, dim.window_dilation);
    if (!bound || !extent) return Broken(hlo, rules.bounds, StrCat("window is too large for 64 bits in dimension ", i));
    if (*bound < 0)
      return Broken(hlo, rules.bounds,
                    StrCat("window padding must leave a size of 0 or more, got ", *bound, " in dimension ", i));
    output_sizes.push_back(*bound == 0 || *extent > *bound ? 0 : (*bound - *extent) / dim.stride + 1);
  }
  return output_sizes;
}

}  // namespace shoal::internal
