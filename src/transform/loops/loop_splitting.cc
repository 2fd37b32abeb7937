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

// A place along one dimension: factor * (the root's index of dimension `dim`) + offset.
struct AffineDim {
  int64_t dim = -1;  // none: the offset alone
  int64_t factor = 0, offset = 0;
  bool operator==(const AffineDim&) const = default;
};
using View = std::vector<AffineDim>;  // of an array: where it is read
using Views = std::vector<View>;

constexpr size_t kMaxViews = 64;  // of one value

// Of numbers below this neither sums nor products overflow.
constexpr int64_t kLargest = int64_t{1} << 31;
bool IsModest(int64_t number) { return number > -kLargest && number < kLargest; }
bool IsModest(const AffineDim& at) { return IsModest(at.factor) && IsModest(at.offset); }
bool IsModest(const Shape& shape) {
  return std::all_of(shape.dims().begin(), shape.dims().end(), [](int64_t dim) { return IsModest(dim); });
}

// What the ops' index maps are written against. Fails where a place is no multiple of one index of the root.
class ViewBuilder {
 public:
  AffineDim Int(int64_t value) { return Held({-1, 0, value}); }
  AffineDim Add(const AffineDim& a, const AffineDim& b) {
    if (a.dim >= 0 && b.dim >= 0) failed_ = true;
    return Held({std::max(a.dim, b.dim), a.factor + b.factor, a.offset + b.offset});
  }
  AffineDim Multiply(const AffineDim& a, int64_t by) {
    if (a == AffineDim()) return a;
    if (!IsModest(by)) failed_ = true;
    return failed_ ? AffineDim() : Held({a.dim, a.factor * by, a.offset * by});
  }
  struct Place {
    const View& view;
    Ints dims;
  };
  Place Linearize(const View& view, Ints dims) { return {view, dims}; }
  // The same elements in the same order along the dimensions that are longer than 1; other reshapes fail.
  View Delinearize(const Place& place, Ints dims) {
    View result(dims.size());
    size_t next = 0;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] == 1) continue;
      while (next < place.dims.size() && place.dims[next] == 1) ++next;
      if (next == place.dims.size() || place.dims[next] != dims[d]) return failed_ = true, result;
      result[d] = place.view[next++];
    }
    return result;
  }
  bool failed() const { return failed_; }

 private:
  AffineDim Held(const AffineDim& at) {
    failed_ = failed_ || !IsModest(at);
    return failed_ ? AffineDim() : at;
  }
  bool failed_ = false;
};

// How operand `number` of `hlo` is read where `hlo` is read as `view` says.
std::optional<View> ThroughOp(const Instruction& hlo, size_t number, View view) {
  if (hlo.operand_shape(number).rank() == 0) return View();
  if (!IsModest(hlo.shape()) || !IsModest(hlo.operand_shape(number))) return std::nullopt;
  // Of one element only that one is ever read.
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

// How the loops of a root read what they compute.
class Reading {
 public:
  Reading(const Instruction& root, const LoopSplits::Users& users, const LoopSplits::IsInside& is_inside)
      : root_(root), users_(users), is_inside_(is_inside) {}

  const std::optional<Views>& Of(const Instruction& hlo) {
    if (auto found = known_.find(&hlo); found != known_.end()) return *found->second;
    auto views = std::make_unique<std::optional<Views>>(New(hlo));
    return *known_.emplace(&hlo, std::move(views)).first->second;
  }

 private:
  std::optional<Views> New(const Instruction& hlo) {
    Views views;
    if (&hlo == &root_) {
      View own;
      for (int64_t d = 0; d < hlo.shape().rank(); ++d) own.push_back({d, 1, 0});
      return Views{own};
    }
    for (const Instruction* user : users_(hlo)) {
      if (!is_inside_(*user)) continue;
      if (!user->shape().IsArray()) return std::nullopt;
      const std::optional<Views>& outer = Of(*user);
      if (!outer) return std::nullopt;
      for (size_t i = 0; i < user->operand_count(); ++i) {
        if (user->operands[i] != &hlo) continue;
        for (const View& view : *outer) {
          std::optional<View> inner = ThroughOp(*user, i, view);
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
  absl::flat_hash_map<const Instruction*, std::unique_ptr<std::optional<Views>>> known_;
};

}  // namespace

int64_t FirstIterationPast(int64_t border, int64_t factor, int64_t offset) {
  const int64_t way = factor > 0 ? border - offset : offset - border + 1;
  const int64_t step = std::abs(factor);
  return way <= 0 ? 0 : CeilDiv(way, step);
}

LoopSplits::LoopSplits(const Instruction& root) : root_(&root), cuts_(static_cast<size_t>(root.shape().IsArray() ? root.shape().rank() : 0)) {}

std::optional<LoopSplits> LoopSplits::With(const Instruction& hlo, const Users& users, const IsInside& is_inside) const {
  if (!root_->shape().IsArray()) return std::nullopt;
  Reading reading(*root_, users, is_inside);
  const std::optional<Views>& views = reading.Of(hlo);
  if (!views) return std::nullopt;
  LoopSplits result = *this;
  for (const View& view : *views) {
    for (int64_t d = 0; d < hlo.shape().rank(); ++d) {
      const AffineDim& at = view[static_cast<size_t>(d)];
      if (at.dim < 0 || at.factor == 0) continue;
      for (int64_t border : OperandBoundaries(hlo, d)) {
        const int64_t cut = FirstIterationPast(border, at.factor, at.offset);
        if (cut > 0 && cut < root_->shape().dim(at.dim)) result.cuts_[static_cast<size_t>(at.dim)].insert(cut);
      }
      if (result.Pieces() > kMaxSplits) return std::nullopt;
    }
  }
  if (!result.AreLongEnough()) return std::nullopt;
  return result;
}

int64_t LoopSplits::Pieces() const {
  int64_t pieces = 1;
  for (const auto& cuts : cuts_) pieces = std::min(pieces * static_cast<int64_t>(cuts.size() + 1), kMaxSplits + 1);
  return pieces;
}

// Lanes run along the last dimension; pieces with few of them (but with one, where they run along another) are slow.
bool LoopSplits::AreLongEnough() const {
  constexpr int64_t kShort = 16, kFewElements = 4096;
  if (root_->shape().ElementCount().value_or(0) <= kFewElements) return true;
  size_t last = cuts_.size();
  while (last > 0 && root_->shape().dim(static_cast<int64_t>(last) - 1) == 1) --last;
  if (last == 0 || cuts_[last - 1].empty()) return true;
  const int64_t size = root_->shape().dim(static_cast<int64_t>(last) - 1);
  int64_t begin = 0, in_short = 0;
  auto add = [&](int64_t end) {
    if (end - begin > 1 && end - begin < kShort) in_short += end - begin;
    begin = end;
  };
  for (int64_t cut : cuts_[last - 1]) add(cut);
  add(size);
  return in_short * 8 <= size;
}

}  // namespace shoal::internal
