#include "passes/loop_pieces.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "ops/families.h"
#include "passes/loop_ops.h"

namespace shoal {
namespace {

// A place along one dimension: factor * (the root's index of dimension `dim`) + offset.
struct Along {
  int64_t dim = -1;  // none: the offset alone
  int64_t factor = 0, offset = 0;
  bool operator==(const Along&) const = default;
};
using View = std::vector<Along>;  // of an array: where it is read
using Views = std::vector<View>;

constexpr size_t kMostViews = 64;  // of one value

// Of numbers below this neither sums nor products overflow.
constexpr int64_t kLargest = int64_t{1} << 31;
bool IsModest(const Along& at) { return std::abs(at.factor) < kLargest && std::abs(at.offset) < kLargest; }
bool IsModest(const Shape& shape) {
  return std::all_of(shape.dims().begin(), shape.dims().end(), [](int64_t dim) { return dim < kLargest; });
}

// The same elements in the same order along the dimensions that are longer than 1; nothing for other reshapes.
std::optional<View> ThroughReshape(const Instruction& hlo, const View& view) {
  const Ints from = hlo.shape().dims(), to = hlo.operand_shape(0).dims();
  View result(to.size());
  size_t next = 0;
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] == 1) continue;
    while (next < from.size() && from[next] == 1) ++next;
    if (next == from.size() || from[next] != to[d]) return std::nullopt;
    result[d] = view[next++];
  }
  return result;
}

// How operand `number` of `hlo` is read where `hlo` is read as `view` says.
std::optional<View> ThroughOp(const Instruction& hlo, size_t number, View view) {
  const Shape& operand = hlo.operand_shape(number);
  if (operand.rank() == 0) return View();
  switch (hlo.opcode) {
    case Opcode::kCopy:
      return view;
    case Opcode::kReshape:
    case Opcode::kBitcast:
      return ThroughReshape(hlo, view);
    case Opcode::kBroadcast: {
      View result;
      for (int64_t d : hlo[kDimensions]) result.push_back(view[static_cast<size_t>(d)]);
      return result;
    }
    case Opcode::kTranspose: {
      View result = view;
      const Ints dimensions = hlo[kDimensions];
      for (size_t d = 0; d < dimensions.size(); ++d) result[static_cast<size_t>(dimensions[d])] = view[d];
      return result;
    }
    case Opcode::kReverse:
      for (int64_t d : hlo[kDimensions]) {
        Along& at = view[static_cast<size_t>(d)];
        at = {at.dim, -at.factor, operand.dim(d) - 1 - at.offset};
      }
      return view;
    case Opcode::kSlice: {
      const auto ranges = hlo[Op<Opcode::kSlice>::kSlice];
      for (size_t d = 0; d < view.size(); ++d) {
        // Of one element only that one is ever read.
        const bool is_one = hlo.shape().dim(static_cast<int64_t>(d)) == 1;
        if (!is_one && ranges[d].stride >= kLargest) return std::nullopt;
        view[d] = is_one ? Along{-1, 0, ranges[d].start}
                         : Along{view[d].dim, view[d].factor * ranges[d].stride, view[d].offset * ranges[d].stride + ranges[d].start};
      }
      return view;
    }
    case Opcode::kConcatenate: {
      const int64_t along = hlo[kDimensions][0];
      for (size_t i = 0; i < number; ++i) view[static_cast<size_t>(along)].offset -= hlo.operand_shape(i).dim(along);
      return view;
    }
    case Opcode::kPad:
      for (size_t d = 0; d < view.size(); ++d) view[d].offset -= PaddingOf(hlo)[d].low;
      return view;
    default:
      if (Info(hlo.opcode).op_class != OpClass::kElementwise) return std::nullopt;
      return view;
  }
}

// How the loops of a root read what they compute.
class Reading {
 public:
  Reading(const Instruction& root, const LoopCuts::Users& users, const LoopCuts::IsInside& is_inside)
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
      if (!user->shape().IsArray() || !IsModest(user->shape())) return std::nullopt;
      const std::optional<Views>& outer = Of(*user);
      if (!outer) return std::nullopt;
      for (size_t i = 0; i < user->operand_count(); ++i) {
        if (user->operands[i] != &hlo) continue;
        for (const View& view : *outer) {
          std::optional<View> inner = ThroughOp(*user, i, view);
          if (!inner || !IsModest(hlo.shape()) || !std::all_of(inner->begin(), inner->end(), [](const Along& at) { return IsModest(at); }))
            return std::nullopt;
          if (std::find(views.begin(), views.end(), *inner) == views.end()) views.push_back(std::move(*inner));
          if (views.size() > kMostViews) return std::nullopt;
        }
      }
    }
    return views;
  }

  const Instruction& root_;
  const LoopCuts::Users& users_;
  const LoopCuts::IsInside& is_inside_;
  absl::flat_hash_map<const Instruction*, std::unique_ptr<std::optional<Views>>> known_;
};

// The first round of a loop of which `at` has passed `border`, from below or from above.
int64_t RoundPast(const Along& at, int64_t border) {
  const int64_t way = at.factor > 0 ? border - at.offset : at.offset - border + 1;
  const int64_t step = std::abs(at.factor);
  return way <= 0 ? 0 : (way + step - 1) / step;
}

// Where, along a dimension of `hlo`, another operand begins.
std::vector<int64_t> BordersOf(const Instruction& hlo, int64_t d) {
  std::vector<int64_t> borders;
  if (hlo.opcode == Opcode::kPad) {
    const PaddingDim& padding = PaddingOf(hlo)[static_cast<size_t>(d)];
    return {padding.low, padding.low + hlo.operand_shape(0).dim(d)};
  }
  if (d != hlo[kDimensions][0]) return {};
  int64_t end = 0;
  for (size_t i = 0; i + 1 < hlo.operand_count(); ++i) borders.push_back(end += hlo.operand_shape(i).dim(d));
  return borders;
}

}  // namespace

LoopCuts::LoopCuts(const Instruction& root) : root_(&root), cuts_(static_cast<size_t>(root.shape().IsArray() ? root.shape().rank() : 0)) {}

std::optional<LoopCuts> LoopCuts::With(const Instruction& hlo, const Users& users, const IsInside& is_inside) const {
  if (!root_->shape().IsArray()) return std::nullopt;
  Reading reading(*root_, users, is_inside);
  const std::optional<Views>& views = reading.Of(hlo);
  if (!views) return std::nullopt;
  LoopCuts result = *this;
  for (const View& view : *views) {
    for (int64_t d = 0; d < hlo.shape().rank(); ++d) {
      const Along& at = view[static_cast<size_t>(d)];
      if (at.dim < 0 || at.factor == 0) continue;
      for (int64_t border : BordersOf(hlo, d)) {
        const int64_t cut = RoundPast(at, border);
        if (cut > 0 && cut < root_->shape().dim(at.dim)) result.cuts_[static_cast<size_t>(at.dim)].insert(cut);
      }
      if (result.Pieces() > kMostPieces) return std::nullopt;
    }
  }
  if (!result.AreLongEnough()) return std::nullopt;
  return result;
}

int64_t LoopCuts::Pieces() const {
  int64_t pieces = 1;
  for (const auto& cuts : cuts_) pieces = std::min(pieces * static_cast<int64_t>(cuts.size() + 1), kMostPieces + 1);
  return pieces;
}

// Lanes run along the last dimension; pieces with few of them (but with one, where they run along another) are slow.
bool LoopCuts::AreLongEnough() const {
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

}  // namespace shoal
