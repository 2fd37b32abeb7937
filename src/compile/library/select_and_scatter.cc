// Implements select-and-scatter with a comparison and a sum, the gradient of pooling. Lanes run along the last
// dimension if windows do not extend over it. Threads split the images of a batch.
#include <algorithm>

#include "compile/library/rows.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "core/ops/fusion_label_ops.h"
#include "transform/loops/loop_ops.h"

namespace shoal::internal {
namespace {

bool IsOneElement(const WindowDim& dim) {
  return dim.size == 1 && dim.stride == 1 && dim.pad_low == 0 && dim.pad_high == 0 && dim.window_dilation == 1;
}

// One image: all dimensions except dimension 0 and, if windows do not extend over it, the last dimension.
struct Image {
  std::vector<int64_t> sizes, windows;  // size of the operand and number of windows in each dimension
  std::vector<WindowDim> dims;
  int64_t lanes = 1;
  int64_t operand_count = 1, window_count = 1;  // elements and windows per lane
};

Image ImageOf(const Instruction& hlo) {
  const Shape &operand = hlo.operand_shape(0), &source = hlo.operand_shape(1);
  const auto dims = hlo[kWindow]->dims;
  Image image;
  auto last = operand.rank();
  if (last > 1 && IsOneElement(dims[static_cast<size_t>(last - 1)])) image.lanes = operand.dim(--last);
  for (int64_t d = 1; d < last; ++d) {
    image.sizes.push_back(operand.dim(d));
    image.windows.push_back(source.dim(d));
    image.dims.push_back(dims[static_cast<size_t>(d)]);
    image.operand_count *= operand.dim(d);
    image.window_count *= source.dim(d);
  }
  return image;
}

// Finds the elements of the operand that window number `window` covers, in window order.
void FindElements(const Image& image, int64_t window, std::vector<int64_t>& elements) {
  elements.assign(1, 0);
  int64_t stride = image.window_count, rest = window;
  std::vector<int64_t> next;
  for (size_t d = 0; d < image.dims.size(); ++d) {
    stride /= image.windows[d];
    const int64_t at = rest / stride;
    rest %= stride;
    const WindowDim& dim = image.dims[d];
    next.clear();
    for (int64_t element : elements) {
      for (int64_t w = 0; w < dim.size; ++w) {
        const int64_t index = at * dim.stride + w * dim.window_dilation - dim.pad_low;
        if (index >= 0 && index < image.sizes[d]) next.push_back(element * image.sizes[d] + index);
      }
    }
    elements.swap(next);
  }
}

struct KeepChosen {
  ComparisonDirection direction;
  template <class T>
  bool operator()(T chosen, T candidate) const {
    using D = ComparisonDirection;
    return direction == D::kGe   ? chosen >= candidate
           : direction == D::kGt ? chosen > candidate
           : direction == D::kLe ? chosen <= candidate
                                 : chosen < candidate;
  }
};

template <class T, class Keeps>
void ScatterImage(const Image& image, const T* operand, const T* source, T* out, const Keeps& keeps) {
  const int64_t lanes = image.lanes;
  std::vector<int64_t> elements;
  std::vector<T> chosen(static_cast<size_t>(lanes));
  std::vector<int64_t> from(static_cast<size_t>(lanes));
  for (int64_t window = 0; window < image.window_count; ++window) {
    FindElements(image, window, elements);
    if (elements.empty()) continue;
    const T* first = operand + elements[0] * lanes;
    std::copy_n(first, lanes, chosen.data());
    std::fill(from.begin(), from.end(), elements[0]);
    for (size_t p = 1; p < elements.size(); ++p) {
      const T* candidates = operand + elements[p] * lanes;
      for (int64_t c = 0; c < lanes; ++c) {
        const auto i = static_cast<size_t>(c);
        const bool stays = keeps(chosen[i], candidates[c]);
        chosen[i] = stays ? chosen[i] : candidates[c];
        from[i] = stays ? from[i] : elements[p];
      }
    }
    const T* value = source + window * lanes;
    for (int64_t c = 0; c < lanes; ++c) out[from[static_cast<size_t>(c)] * lanes + c] += value[c];
  }
}

template <class T>
Status ScatterSelected(const Instruction& hlo, std::span<const Array> operands, std::span<Array> results, ThreadPool& pool) {
  const Image image = ImageOf(hlo);
  const ComparisonDirection direction = DirectionOf(*hlo[SelectAndScatterOp::kSelect]->root);
  const T *operand = operands[0].As<T>().data(), *source = operands[1].As<T>().data();
  T* out = results[0].Mutable<T>().data();
  const T init = operands[2].As<T>()[0];
  const int64_t in = image.operand_count * image.lanes, windows = image.window_count * image.lanes;
  ForBlocks(pool, operands[0].dim(0), std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, in)), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      std::fill_n(out + b * in, in, init);
      if (direction == ComparisonDirection::kGe)
        ScatterImage(image, operand + b * in, source + b * windows, out + b * in, [](T a, T c) { return a >= c; });
      else
        ScatterImage(image, operand + b * in, source + b * windows, out + b * in, KeepChosen{direction});
    }
  });
  return {};
}

}  // namespace

LibraryFunction SelectAndScatterFunction(const Instruction& hlo) {
  const Shape& shape = hlo.shape();
  if (!shape.IsArray() || shape.has_dynamic() || shape.rank() < 2 || shape.ElementCount().value_or(0) <= 0) return nullptr;
  const Window* window = hlo[kWindow];
  if (window == nullptr || !IsOneElement(window->dims[0])) return nullptr;
  for (const WindowDim& dim : window->dims)
    if (dim.base_dilation != 1 || dim.reversal) return nullptr;
  const ElementType type = shape.element_type();
  for (size_t i = 0; i < 3; ++i)
    if (hlo.operand_shape(i).element_type() != type) return nullptr;
  const Instruction *select = OnlyOpOf(*hlo[SelectAndScatterOp::kSelect]), *scatter = OnlyOpOf(*hlo[SelectAndScatterOp::kScatter]);
  if (select == nullptr || !IsCompare(*select) || scatter == nullptr || !IsSum(*scatter)) return nullptr;
  const ComparisonDirection direction = DirectionOf(*select);
  const bool is_order = direction != ComparisonDirection::kEq && direction != ComparisonDirection::kNe;
  const bool straight = IsParameter(*select->operands[0]) && (*select->operands[0])[kParameterNumber] == 0;
  if (!is_order || !straight || OrderOf(*select) == ComparisonOrder::kTotal) return nullptr;
  if (select->operand_shape(0).element_type() != type || scatter->shape().element_type() != type) return nullptr;
  if (type == ElementType::kF32) return &ScatterSelected<float>;
  if (type == ElementType::kF64) return &ScatterSelected<double>;
  return nullptr;
}

}  // namespace shoal::internal
