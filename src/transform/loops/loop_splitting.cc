#include "transform/loops/loop_splitting.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "core/ir/sizes.h"
#include "core/ops/index_maps.h"
#include "core/ops/concat_like.h"
#include "transform/loops/loop_ops.h"

namespace shoal::internal {
namespace {

// The index along one dimension: `factor` * (the index of the root along dimension `dim`) + `offset`.
struct AffineDim {
  int64_t dim = -1;  // -1: the index is the constant `offset`
  int64_t factor = 0, offset = 0;
  bool operator==(const AffineDim&) const = default;
};
using View = std::vector<AffineDim>;  // the index at which an array is read
using Views = std::vector<View>;

constexpr size_t kMaxViews = 64;  // maximum number of indices at which one value is read

// Sums and products of two numbers with smaller magnitudes do not overflow.
constexpr int64_t kMaxMagnitude = int64_t{1} << 31;
bool IsSmallEnough(int64_t number) { return number > -kMaxMagnitude && number < kMaxMagnitude; }
bool IsSmallEnough(const AffineDim& index) { return IsSmallEnough(index.factor) && IsSmallEnough(index.offset); }
bool IsSmallEnough(const Shape& shape) {
  return std::all_of(shape.dims().begin(), shape.dims().end(), [](int64_t dim) { return IsSmallEnough(dim); });
}

// The builder for the index maps of core/ops. Fails if an index is not an affine function of one index of the root.
class ViewBuilder {
 public:
  AffineDim Int(int64_t value) { return Checked({-1, 0, value}); }
  AffineDim Add(const AffineDim& a, const AffineDim& b) {
    if (a.dim >= 0 && b.dim >= 0) failed_ = true;
    return Checked({std::max(a.dim, b.dim), a.factor + b.factor, a.offset + b.offset});
  }
  AffineDim Multiply(const AffineDim& a, int64_t by) {
    if (a == AffineDim()) return a;
    if (!IsSmallEnough(by)) failed_ = true;
    return failed_ ? AffineDim() : Checked({a.dim, a.factor * by, a.offset * by});
  }
  struct ViewedShape {
    const View& view;
    Ints dims;
  };
  ViewedShape Linearize(const View& view, Ints dims) { return {view, dims}; }
  // Supports reshapes that only add or remove dimensions of size 1; fails for others.
  View Delinearize(const ViewedShape& from, Ints dims) {
    View result(dims.size());
    size_t next = 0;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] == 1) continue;
      while (next < from.dims.size() && from.dims[next] == 1) ++next;
      if (next == from.dims.size() || from.dims[next] != dims[d]) return failed_ = true, result;
      result[d] = from.view[next++];
    }
    return result;
  }
  bool failed() const { return failed_; }

 private:
  AffineDim Checked(const AffineDim& index) {
    failed_ = failed_ || !IsSmallEnough(index);
    return failed_ ? AffineDim() : index;
  }
  bool failed_ = false;
};

// Returns the index at which operand `number` is read to compute `hlo` at index `view`; nullopt if it is not affine.
std::optional<View> ViewOfOperand(const Instruction& hlo, size_t number, View view) {
  if (hlo.operand_shape(number).rank() == 0) return View();
  if (!IsSmallEnough(hlo.shape()) || !IsSmallEnough(hlo.operand_shape(number))) return std::nullopt;
  // In a dimension of size 1 the index is always 0.
  for (size_t d = 0; d < view.size(); ++d)
    if (hlo.shape().dim(static_cast<int64_t>(d)) == 1) view[d] = {};
  ViewBuilder builder;
  if (IsSplittableConcat(hlo)) {
    for (size_t d = 0; d < view.size(); ++d)
      view[d] = builder.Add(view[d], builder.Int(-OffsetAlong(hlo, number, static_cast<int64_t>(d))));
  } else if (const auto map = FindIndexMap<ViewBuilder, View>(hlo.opcode); map != nullptr && IsLoopOp(hlo)) {
    view = map(builder, hlo, view);
  } else if (Info(hlo.opcode).op_class != OpClass::kElementwise) {
    return std::nullopt;
  }
  if (builder.failed()) return std::nullopt;
  return view;
}

// For each instruction that the loops of a root compute, the indices at which the loops read its value.
class RootViews {
 public:
  RootViews(const Instruction& root, const LoopSplits::Users& users, const LoopSplits::IsInside& is_inside)
      : root_(root), users_(users), is_inside_(is_inside) {}

  const std::optional<Views>& ViewsOf(const Instruction& hlo) {
    if (auto found = views_.find(&hlo); found != views_.end()) return *found->second;
    auto views = std::make_unique<std::optional<Views>>(ComputeViews(hlo));
    return *views_.emplace(&hlo, std::move(views)).first->second;
  }

 private:
  std::optional<Views> ComputeViews(const Instruction& hlo) {
    Views views;
    if (&hlo == &root_) {
      View own;
      for (int64_t d = 0; d < hlo.shape().rank(); ++d) own.push_back({d, 1, 0});
      return Views{own};
    }
    for (const Instruction* user : users_(hlo)) {
      if (!is_inside_(*user)) continue;
      if (!user->shape().IsArray()) return std::nullopt;
      const std::optional<Views>& outer = ViewsOf(*user);
      if (!outer) return std::nullopt;
      for (size_t i = 0; i < user->operand_count(); ++i) {
        if (user->operands[i] != &hlo) continue;
        for (const View& view : *outer) {
          std::optional<View> inner = ViewOfOperand(*user, i, view);
          if (!inner) return std::nullopt;
          if (std::find(views.begin(), views.end(), *inner) == views.end()) views.push_back(std::move(*inner));
          if (views.size() > kMaxViews) return std::nullopt;
        }
      }
    }
    return views;
  }

  const Instruction& root_;
  const LoopSplits::Users& users_;
  const LoopSplits::IsInside& is_inside_;
  absl::flat_hash_map<const Instruction*, std::unique_ptr<std::optional<Views>>> views_;
};

}  // namespace

int64_t FirstIterationPast(int64_t border, int64_t factor, int64_t offset) {
  const int64_t distance = factor > 0 ? border - offset : offset - border + 1;
  const int64_t step = std::abs(factor);
  return distance <= 0 ? 0 : CeilDiv(distance, step);
}

LoopSplits::LoopSplits(const Instruction& root) : root_(&root), split_points_(static_cast<size_t>(root.shape().IsArray() ? root.shape().rank() : 0)) {}

std::optional<LoopSplits> LoopSplits::WithSplitsFor(const Instruction& hlo, const Users& users, const IsInside& is_inside) const {
  if (!root_->shape().IsArray()) return std::nullopt;
  RootViews root_views(*root_, users, is_inside);
  const std::optional<Views>& views = root_views.ViewsOf(hlo);
  if (!views) return std::nullopt;
  LoopSplits result = *this;
  for (const View& view : *views) {
    for (int64_t d = 0; d < hlo.shape().rank(); ++d) {
      const AffineDim& at = view[static_cast<size_t>(d)];
      if (at.dim < 0 || at.factor == 0) continue;
      for (int64_t border : OperandBoundaries(hlo, d)) {
        const int64_t split = FirstIterationPast(border, at.factor, at.offset);
        if (split > 0 && split < root_->shape().dim(at.dim)) result.split_points_[static_cast<size_t>(at.dim)].insert(split);
      }
      if (result.PartCount() > kMaxSplits) return std::nullopt;
    }
  }
  if (!result.AreLongEnough()) return std::nullopt;
  return result;
}

int64_t LoopSplits::PartCount() const {
  int64_t parts = 1;
  for (const auto& splits : split_points_) parts = std::min(parts * static_cast<int64_t>(splits.size() + 1), kMaxSplits + 1);
  return parts;
}

// False if too many elements are in parts with few lanes, which are slow. With one lane, another loop is vectorized.
bool LoopSplits::AreLongEnough() const {
  constexpr int64_t kShort = 16, kFewElements = 4096;
  if (root_->shape().ElementCount().value_or(0) <= kFewElements) return true;
  size_t last = split_points_.size();
  while (last > 0 && root_->shape().dim(static_cast<int64_t>(last) - 1) == 1) --last;
  if (last == 0 || split_points_[last - 1].empty()) return true;
  const int64_t size = root_->shape().dim(static_cast<int64_t>(last) - 1);
  int64_t begin = 0, in_short = 0;
  auto add = [&](int64_t end) {
    if (end - begin > 1 && end - begin < kShort) in_short += end - begin;
    begin = end;
  };
  for (int64_t split : split_points_[last - 1]) add(split);
  add(size);
  return in_short * 8 <= size;
}

}  // namespace shoal::internal
