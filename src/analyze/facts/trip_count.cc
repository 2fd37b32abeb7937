#include "analyze/facts/trip_count.h"

#include <algorithm>
#include <charconv>

#include "core/ops/elementwise.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// Limit on step-by-step evaluation. Longer loops are analyzed only if their counter has a constant step.
constexpr int64_t kMaxIterations = 2000;

// Reads the annotation "known_trip_count":{"n":"10"}.
std::optional<int64_t> AnnotatedTripCount(const Instruction& loop) {
  const std::string_view config = loop[kBackendConfig];
  size_t at = config.find("known_trip_count");
  if (at == std::string_view::npos) return std::nullopt;
  at = config.find("\"n\"", at);
  if (at == std::string_view::npos) return std::nullopt;
  at = config.find_first_of("-0123456789", at + 3);
  int64_t count = 0;
  if (at == std::string_view::npos) return std::nullopt;
  auto [end, error] = std::from_chars(config.data() + at, config.data() + config.size(), count);
  return error == std::errc() && count >= 0 ? std::optional(count) : std::nullopt;
}

// The values in one iteration of the scalars that the loop condition depends on.
class LoopState {
 public:
  LoopState(const Instruction& loop, KnownValues& known) : loop_(loop), known_(known) {}

  // Evaluates the condition in the current state. Returns nullopt if the value is unknown.
  std::optional<bool> Continues() {
    const Instruction* root = ConditionOf(loop_)->root;
    std::optional<Array> value = known_.InIteration({root, {}}, [&](const ShapeIndex& path) { return Scalar(path); });
    if (!value) return std::nullopt;
    return IntAt(*value, 0) != 0;
  }

  // Evaluates an integer instruction of the condition. Returns nullopt if the value is unknown.
  std::optional<int64_t> InCondition(const Instruction& hlo) {
    std::optional<Array> value = known_.InIteration({&hlo, {}}, [&](const ShapeIndex& path) { return Scalar(path); });
    return value && IsInteger(value->type()) ? std::optional(IntAt(*value, 0)) : std::nullopt;
  }

  // Advances by one iteration. Returns false if a scalar that the condition depends on becomes unknown.
  bool Advance() {
    const Instruction* root = BodyOf(loop_)->root;
    std::map<ShapeIndex, std::optional<Array>> next;
    const KnownValues::State state = [&](const ShapeIndex& path) { return Scalar(path); };
    // Evaluating one scalar may read other scalars, which are then appended to order_.
    for (size_t done = 0; done < order_.size(); ++done) {
      if (root->shape().At(order_[done]) == nullptr) return false;  // possible in loose text
      next[order_[done]] = known_.InIteration({root, order_[done]}, state);
    }
    for (auto& [path, value] : next) {
      if (!value) return false;
      scalars_[path] = std::move(value);
    }
    return true;
  }

  // In loose text, the loop's operand may lack elements that the condition reads. Sets such integers to 0.
  bool AssumeZeros() {
    bool assumed = false;
    const Computation& condition = *ConditionOf(loop_);
    if (loop_.operands.empty() || condition.parameters.empty() || condition.parameters[0] == nullptr) return false;
    for (const ShapeIndex& path : order_) {
      const Shape* expected = condition.parameters[0]->shape().At(path);
      if (loop_.operand_shape(0).At(path) != nullptr || expected == nullptr) continue;
      if (!expected->IsScalar() || !IsInteger(expected->element_type())) continue;
      scalars_[path] = Array(expected->element_type(), Dims{});
      MoveTo(path, 0);
      assumed = true;
    }
    return assumed;
  }

  bool reads_state() const { return !order_.empty(); }

  // Returns the scalar that changes, if there is exactly one and it is an integer.
  std::optional<ShapeIndex> Counter() {
    std::optional<ShapeIndex> counter;
    for (const ShapeIndex& path : order_) {
      if (known_.IsInvariant(loop_, path)) continue;
      if (counter || !scalars_[path] || !IsInteger(scalars_[path]->type())) return std::nullopt;
      counter = path;
    }
    return counter;
  }

  std::optional<int64_t> ValueAt(const ShapeIndex& path) {
    std::optional<Array> value = Scalar(path);
    return value ? std::optional(IntAt(*value, 0)) : std::nullopt;
  }
  // Sets the counter to another value.
  void MoveTo(const ShapeIndex& path, int64_t value) {
    std::optional<Array>& scalar = scalars_[path];
    Array moved(scalar->type(), Dims{});
    std::copy_n(reinterpret_cast<const std::byte*>(&value), moved.element_bytes(), moved.mutable_data());
    scalar = std::move(moved);
  }
  int64_t Max(const ShapeIndex& path) const {
    const ElementType type = scalars_.at(path)->type();
    const int bits = BitWidth(type) - (IsSigned(type) ? 1 : 0);
    return bits >= 63 ? INT64_MAX : (int64_t{1} << bits) - 1;
  }
  int64_t Min(const ShapeIndex& path) const {
    const ElementType type = scalars_.at(path)->type();
    if (!IsSigned(type)) return 0;
    return BitWidth(type) >= 64 ? INT64_MIN : -(int64_t{1} << (BitWidth(type) - 1));
  }

 private:
  std::optional<Array> Scalar(const ShapeIndex& path) {
    auto found = scalars_.find(path);
    if (found != scalars_.end()) return found->second;
    order_.push_back(path);
    return scalars_[path] = known_.Of({loop_.operands[0], path});
  }

  const Instruction& loop_;
  KnownValues& known_;
  std::map<ShapeIndex, std::optional<Array>> scalars_;
  std::vector<ShapeIndex> order_;
};

// For a condition `i != n`, returns the number of steps from i to n, or nullopt if the steps do not reach n exactly.
std::optional<int64_t> UntilEqual(const Instruction& compare, LoopState& state, int64_t start, int64_t step) {
  state.MoveTo(*state.Counter(), start);
  std::optional<int64_t> counter, bound;
  for (const Instruction* side : compare.operands) {
    std::optional<int64_t> value = state.InCondition(*side);
    if (!value) return std::nullopt;
    (*value == start && !counter ? counter : bound) = value;
  }
  int64_t distance = 0;
  if (!counter || !bound || __builtin_sub_overflow(*bound, start, &distance)) return std::nullopt;
  if (distance % step != 0 || distance / step < 0) return std::nullopt;
  return distance / step;
}

// Finds the trip count of a loop that is too long to evaluate, by a binary search. Requires a counter with a constant
// step, and assumes that a false condition stays false.
std::optional<int64_t> LongTripCount(const Instruction& loop, LoopState& state, const ShapeIndex& counter) {
  const int64_t start = *state.ValueAt(counter);
  if (!state.Advance()) return std::nullopt;
  const int64_t step = *state.ValueAt(counter) - start;
  if (step == 0) return std::nullopt;
  const Instruction* root = ConditionOf(loop)->root;
  const bool is_unequal =
      IsCompare(*root) && DirectionOf(*root) == ComparisonDirection::kNe;
  // The distance from the start to the limit of the counter's type may overflow 64 bits.
  int64_t span = 0;
  if (__builtin_sub_overflow(step > 0 ? state.Max(counter) : state.Min(counter), start, &span)) return std::nullopt;
  const int64_t max_iterations = span / step;
  auto continues_after = [&](int64_t iterations) {
    state.MoveTo(counter, start + iterations * step);
    return state.Continues().value_or(false);
  };
  // Check that the step is the same at three distant counter values.
  for (int64_t probe : {max_iterations / 3, max_iterations / 2, max_iterations - 1}) {
    const int64_t at = start + probe * step;
    state.MoveTo(counter, at);
    if (!state.Advance() || *state.ValueAt(counter) - at != step) return std::nullopt;
  }
  if (is_unequal) return UntilEqual(*root, state, start, step);
  int64_t low = 0, high = max_iterations;  // the condition is true at low
  if (continues_after(high)) return std::nullopt;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (continues_after(middle) ? low : high) = middle;
  }
  return high;
}

// Returns the start and the step of the counter. Advances `state` by one iteration.
std::optional<TripCount::Counter> CounterOf(LoopState& state) {
  if (!state.Continues().value_or(false)) return std::nullopt;
  const std::optional<ShapeIndex> counter = state.Counter();
  if (!counter) return std::nullopt;
  const std::optional<int64_t> start = state.ValueAt(*counter);
  int64_t step = 0;
  if (!start || !state.Advance()) return std::nullopt;
  const std::optional<int64_t> next = state.ValueAt(*counter);
  if (!next || __builtin_sub_overflow(*next, *start, &step)) return std::nullopt;
  return TripCount::Counter{*start, step};
}

// For a condition between constants, such as `0 < 5`, assumes a counter that runs from one constant to the other.
std::optional<TripCount> BetweenConstants(const Instruction& compare, LoopState& state) {
  if (!IsCompare(compare) || compare.operand_count() != 2) return std::nullopt;
  const std::optional<int64_t> from = state.InCondition(*compare.operands[0]);
  const std::optional<int64_t> to = state.InCondition(*compare.operands[1]);
  int64_t distance = 0;
  if (!from || !to || __builtin_sub_overflow(*to, *from, &distance) || distance == INT64_MIN) return std::nullopt;
  const ComparisonDirection direction = DirectionOf(compare);
  const bool inclusive = direction == ComparisonDirection::kLe || direction == ComparisonDirection::kGe;
  const int64_t count = std::abs(distance) + (inclusive && distance != INT64_MAX ? 1 : 0);
  return TripCount{count, TripCount::Provenance::kAssumed, TripCount::Counter{*from, distance < 0 ? -1 : 1}};
}

TripCount InferTripCount(const Instruction& loop, LoopState& state) {
  TripCount::Provenance from = TripCount::Provenance::kInferred;
  std::optional<bool> continues = state.Continues();
  if (!continues && state.AssumeZeros()) {
    from = TripCount::Provenance::kAssumed;
    continues = state.Continues();
  }
  if (continues.value_or(false) && !state.reads_state())
    return BetweenConstants(*ConditionOf(loop)->root, state).value_or(TripCount{});
  for (int64_t iteration = 0; iteration < kMaxIterations; ++iteration) {
    if (!continues) return {};
    if (!*continues) return {iteration, from, {}};
    if (!state.Advance()) return {};
    continues = state.Continues();
  }
  const std::optional<ShapeIndex> counter = state.Counter();
  const std::optional<int64_t> remaining = counter ? LongTripCount(loop, state, *counter) : std::nullopt;
  return remaining ? TripCount{kMaxIterations + *remaining, from, {}} : TripCount{};
}

}  // namespace

TripCount TripCountOf(const Instruction& loop, KnownValues& known) {
  TripCount trips;
  const std::optional<int64_t> annotated = AnnotatedTripCount(loop);
  if (annotated) trips = {*annotated, TripCount::Provenance::kGiven, {}};
  const Computation* condition = ConditionOf(loop);
  const Computation* body = BodyOf(loop);
  const bool complete = condition != nullptr && body != nullptr && condition->root != nullptr && body->root != nullptr;
  if (!complete || loop.operands.empty()) return trips;
  if (!annotated) {
    LoopState state(loop, known);
    trips = InferTripCount(loop, state);
  }
  if (trips.known() && !trips.counter) {
    LoopState state(loop, known);
    if (trips.from == TripCount::Provenance::kAssumed && !state.Continues()) state.AssumeZeros();
    trips.counter = CounterOf(state);
  }
  return trips;
}

}  // namespace shoal::internal
