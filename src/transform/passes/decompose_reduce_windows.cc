// Decomposes large overlapping windows by doubling: computes the sums of two adjacent elements, from these the sums of
// four elements, and so on. A window is then the sum of one such value per set bit of its size. A window of 64 elements
// takes 6 additions instead of 64. A prefix scan with any associative function takes log(length) steps.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ir/sizes.h"
#include "core/ops/new_ops.h"
#include "core/ops/working_types.h"
#include "transform/loops/loop_ops.h"
#include "transform/passes/apply_to_arrays.h"
#include "transform/passes/embedded_computations.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

using Pad = Op<Opcode::kPad>;

bool IsTrivial(const WindowDim& dim) {
  return dim.size == 1 && dim.stride == 1 && dim.pad_low == 0 && dim.pad_high == 0 && dim.base_dilation == 1;
}

// True if doubling is profitable because most elements are in many windows.
bool Overlaps(const WindowDim& dim) {
  return dim.size >= 8 && dim.size >= 4 * dim.stride && dim.base_dilation == 1 && dim.window_dilation == 1 && !dim.reversal &&
         dim.pad_low >= 0 && dim.pad_high >= 0;
}

// True if each window contains all elements up to some element, or all elements starting at some element.
bool IsPrefixScan(const WindowDim& dim, int64_t size) {
  return dim.size == size && dim.stride == 1 && std::max(dim.pad_low, dim.pad_high) == size - 1 && std::min(dim.pad_low, dim.pad_high) == 0;
}

// Sums and products of narrow floats round at each step, so their order must not change.
bool CanReassociate(const Computation& function, ElementType type) {
  const Instruction* op = OnlyOpOf(function);
  if (op == nullptr) return IsElementwiseFunction(function);
  const bool is_narrow = IsFloat(type) && BitWidth(type) < 32;
  return IsElementwiseFunction(function) && (ReturnsAnOperand(op->opcode) || !is_narrow);
}

// True for a prefix scan that a library kernel computes in one pass.
bool IsLibraryScan(const Instruction& hlo, const WindowDim& dim, int64_t size) {
  static constexpr Opcode kOps[] = {Opcode::kAdd, Opcode::kMultiply, Opcode::kMaximum, Opcode::kMinimum};
  const Instruction* op = OnlyOpOf(*hlo[kToApply]);
  return op != nullptr && std::find(std::begin(kOps), std::end(kOps), op->opcode) != std::end(kOps) && IsPrefixScan(dim, size);
}

// If the windows extend over only one dimension and should be decomposed, returns that dimension, else nullopt.
std::optional<size_t> DoubledDim(const Instruction& hlo) {
  if (hlo.opcode != Opcode::kReduceWindow || hlo.operand_count() != 2 || !hlo[kControlPredecessors].empty()) return std::nullopt;
  const Window* window = hlo[kWindow];
  const Shape &in = hlo.operand_shape(0), &out = hlo.shape();
  if (window == nullptr || !out.IsArray() || in.has_dynamic() || out.has_dynamic() || std::ssize(window->dims) != out.rank())
    return std::nullopt;
  const ElementType type = out.element_type();
  for (const Shape* shape : {&in, &hlo.operand_shape(1), &hlo[kToApply]->root->shape()})
    if (shape->element_type() != type) return std::nullopt;
  std::optional<size_t> doubled;
  for (size_t d = 0; d < window->dims.size(); ++d) {
    if (IsTrivial(window->dims[d])) continue;
    if (doubled || !Overlaps(window->dims[d])) return std::nullopt;
    doubled = d;
  }
  constexpr int64_t kMin = 1 << 14;  // minimum number of applications of the function
  if (!doubled || out.ElementCount().value_or(0) * window->dims[*doubled].size < kMin) return std::nullopt;
  if (IsLibraryScan(hlo, window->dims[*doubled], in.dim(static_cast<int64_t>(*doubled)))) return std::nullopt;
  return CanReassociate(*hlo[kToApply], type) ? doubled : std::nullopt;
}

class WindowDoubling {
 public:
  WindowDoubling(const Instruction& hlo, size_t d, Module& module, Computation& computation)
      : hlo_(hlo), d_(d), function_(*hlo[kToApply]), module_(module), computation_(computation) {}

  Instruction* Result() {
    const WindowDim& dim = hlo_[kWindow]->dims[d_];
    if (IsPrefixScan(dim, hlo_.operand_shape(0).dim(static_cast<int64_t>(d_)))) return PrefixScan(dim);
    Instruction* sums = PadOperand(dim);  // sums of 1, 2, 4, … elements
    const int64_t reach = (hlo_.shape().dim(static_cast<int64_t>(d_)) - 1) * dim.stride + 1;
    Instruction* windows = nullptr;
    for (int64_t bit = 1, done = 0; bit <= dim.size; bit *= 2) {
      if ((dim.size & bit) != 0) {
        Instruction* next = SliceOf(sums, done, done + reach, dim.stride);
        windows = windows == nullptr ? next : ApplyFunction(windows, next);
        done += bit;
      }
      if (2 * bit > dim.size) break;
      const int64_t size = sums->shape().dim(static_cast<int64_t>(d_));
      sums = ApplyFunction(SliceOf(sums, 0, size - bit, 1), SliceOf(sums, bit, size, 1));
    }
    return windows;
  }

 private:
  const Shape* WithSize(const Shape& shape, int64_t size) {
    std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
    dims[d_] = size;
    return module_.shapes.Array(shape.element_type(), dims);
  }

  // Computes a prefix scan: combines each element with the element 1, 2, 4, … positions earlier, if there is one.
  Instruction* PrefixScan(const WindowDim& dim) {
    Instruction* sums = hlo_.operands[0];
    for (int64_t back = 1; back < dim.size; back *= 2) {
      Instruction* longer = ApplyFunction(SliceOf(sums, 0, dim.size - back, 1), SliceOf(sums, back, dim.size, 1));
      const bool from_here_on = dim.pad_low == 0;
      Instruction* whole = from_here_on ? SliceOf(sums, dim.size - back, dim.size, 1) : SliceOf(sums, 0, back, 1);
      sums = NewInstruction(module_, computation_, Opcode::kConcatenate, hlo_.shape_,
                            from_here_on ? std::vector{longer, whole} : std::vector{whole, longer}, hlo_);
      SetAttr(*sums, module_, kDimensions, Ints(module_.arena.Copy(std::vector{static_cast<int64_t>(d_)})));
    }
    return sums;
  }

  Instruction* PadOperand(const WindowDim& dim) {
    Instruction* operand = hlo_.operands[0];
    if (dim.pad_low == 0 && dim.pad_high == 0) return operand;
    const Shape* shape = WithSize(operand->shape(), operand->shape().dim(static_cast<int64_t>(d_)) + dim.pad_low + dim.pad_high);
    Instruction* pad = NewInstruction(module_, computation_, Opcode::kPad, shape, std::vector{operand, hlo_.operands[1]}, hlo_);
    std::span<PaddingDim> padding = module_.arena.NewSpan<PaddingDim>(static_cast<size_t>(shape->rank()));
    for (size_t d = 0; d < padding.size(); ++d) padding[d] = d == d_ ? PaddingDim{dim.pad_low, dim.pad_high, 0} : PaddingDim{};
    SetAttr(*pad, module_, Pad::kPadding, std::span<const PaddingDim>(padding));
    return pad;
  }

  Instruction* SliceOf(Instruction* operand, int64_t start, int64_t limit, int64_t stride) {
    const Shape& full = operand->shape();
    if (start == 0 && limit == full.dim(static_cast<int64_t>(d_)) && stride == 1) return operand;
    return NewSlice(module_, computation_, operand, {static_cast<int64_t>(d_), start, limit, stride}, hlo_);
  }

  Instruction* ApplyFunction(Instruction* a, Instruction* b) {
    return ApplyToArrays(function_, std::vector{a, b}, module_, computation_, hlo_);
  }

  const Instruction& hlo_;
  size_t d_;
  const Computation& function_;
  Module& module_;
  Computation& computation_;
};

}  // namespace

Result<bool> DecomposeReduceWindows(Module& module, const PassContext& context) {
  bool any = false;
  const auto embedded = EmbeddedComputations(module);
  for (Computation* computation : module.computations) {
    if (embedded.contains(computation)) continue;
    Replacements replacements;
    const std::vector<Instruction*> before = computation->instructions;
    for (Instruction* hlo : before)
      if (const std::optional<size_t> d = DoubledDim(*hlo)) replacements[hlo] = WindowDoubling(*hlo, *d, module, *computation).Result();
    if (replacements.empty()) continue;
    any = true;
    Apply(replacements, module, *computation);
    SortTopologically(*computation);
  }
  return any ? RemoveDeadCode(module, context) : Result<bool>(false);
}

}  // namespace shoal::internal
