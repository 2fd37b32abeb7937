#include "analyze/facts/trip_count.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "core/ops/elementwise.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// Rounds that are simply gone through; a longer loop must have a counter with a constant step.
constexpr int64_t kMaxRounds = 2000;

// "known_trip_count":{"n":"10"}
std::optional<int64_t> GivenTripCount(const Instruction& loop) {
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

// The scalars that decide when a loop ends, round by round.
class LoopState {
 public:
  LoopState(const Instruction& loop, KnownValues& known) : loop_(loop), known_(known) {}

  // Whether the loop goes on from here; nothing if that is not known.
  std::optional<bool> GoesOn() {
    const Instruction* root = ConditionOf(loop_)->root;
    std::optional<Array> value = known_.InIteration({root, {}}, [&](const ShapeIndex& path) { return Scalar(path); });
    if (!value) return std::nullopt;
    return IntAt(*value, 0) != 0;
  }

  // An integer in the condition.
  std::optional<int64_t> InCondition(const Instruction& hlo) {
    std::optional<Array> value = known_.InIteration({&hlo, {}}, [&](const ShapeIndex& path) { return Scalar(path); });
    return value && IsInteger(value->type()) ? std::optional(IntAt(*value, 0)) : std::nullopt;
  }

  // One round further. False if a scalar that matters gets a value nobody knows.
  bool Step() {
    const Instruction* root = BodyOf(loop_)->root;
    std::map<ShapeIndex, std::optional<Array>> next;
    const KnownValues::State state = [&](const ShapeIndex& path) { return Scalar(path); };
    // Working out one scalar may ask for more of them, which then matter too.
    for (size_t done = 0; done < order_.size(); ++done) {
      if (root->shape().At(order_[done]) == nullptr) return false;  // in loose text a round may give something else
      next[order_[done]] = known_.InIteration({root, order_[done]}, state);
    }
    for (auto& [path, value] : next) {
      if (!value) return false;
      scalars_[path] = std::move(value);
    }
    return true;
  }

  // Integers that the condition reads and that the loop's operand, which is loose text, does not have, begin as 0.
  // True if there are some.
  bool AssumeZeros() {
    bool assumed = false;
    const Computation& condition = *ConditionOf(loop_);
    if (loop_.operands.empty() || condition.parameters.empty() || condition.parameters[0] == nullptr) return false;
    for (const ShapeIndex& path : order_) {
      const Shape* wanted = condition.parameters[0]->shape().At(path);
      if (loop_.operand_shape(0).At(path) != nullptr || wanted == nullptr) continue;
      if (!wanted->IsScalar() || !IsInteger(wanted->element_type())) continue;
      scalars_[path] = Array(wanted->element_type(), Dims{});
      MoveTo(path, 0);
      assumed = true;
    }
    return assumed;
  }

  // What the condition reads of the state.
  bool reads_state() const { return !order_.empty(); }

  // The one scalar that changes, if it is an integer.
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
  // The loop with its counter somewhere else.
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

// `i != n`: as many steps as lie between them, if n is on the way.
std::optional<int64_t> UntilEqual(const Instruction& compare, LoopState& state, int64_t start, int64_t step) {
  state.MoveTo(*state.Counter(), start);
  std::optional<int64_t> here, there;
  for (const Instruction* side : compare.operands) {
    std::optional<int64_t> value = state.InCondition(*side);
    if (!value) return std::nullopt;
    (*value == start && !here ? here : there) = value;
  }
  int64_t distance = 0;
  if (!here || !there || __builtin_sub_overflow(*there, start, &distance)) return std::nullopt;
  if (distance % step != 0 || distance / step < 0) return std::nullopt;
  return distance / step;
}

// A loop too long to go through: its counter moves by the same step wherever it is, so that the last round can be
// found by halving, as long as the condition, once false, stays so.
std::optional<int64_t> LongTripCount(const Instruction& loop, LoopState& state, const ShapeIndex& counter) {
  const int64_t start = *state.ValueAt(counter);
  if (!state.Step()) return std::nullopt;
  const int64_t step = *state.ValueAt(counter) - start;
  if (step == 0) return std::nullopt;
  const Instruction* root = ConditionOf(loop)->root;
  const bool is_unequal =
      IsCompare(*root) && DirectionOf(*root) == ComparisonDirection::kNe;
  // How far the counter can go in its type; from a far end of 64 bits that is more than can be counted.
  int64_t span = 0;
  if (__builtin_sub_overflow(step > 0 ? state.Max(counter) : state.Min(counter), start, &span)) return std::nullopt;
  const int64_t room = span / step;
  auto goes_on = [&](int64_t rounds) {
    state.MoveTo(counter, start + rounds * step);
    return state.GoesOn().value_or(false);
  };
  // The same step at three places far apart.
  for (int64_t probe : {room / 3, room / 2, room - 1}) {
    const int64_t at = start + probe * step;
    state.MoveTo(counter, at);
    if (!state.Step() || *state.ValueAt(counter) - at != step) return std::nullopt;
  }
  if (is_unequal) return UntilEqual(*root, state, start, step);
  int64_t low = 0, high = room;  // goes on at low
  if (goes_on(high)) return std::nullopt;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (goes_on(middle) ? low : high) = middle;
  }
  return high;
}

// Where the counter begins and how far one round takes it; the state is moved.
std::optional<TripCount::Counter> CounterOf(LoopState& state) {
  if (!state.GoesOn().value_or(false)) return std::nullopt;
  const std::optional<ShapeIndex> counter = state.Counter();
  if (!counter) return std::nullopt;
  const std::optional<int64_t> start = state.ValueAt(*counter);
  int64_t step = 0;
  if (!start || !state.Step()) return std::nullopt;
  const std::optional<int64_t> next = state.ValueAt(*counter);
  if (!next || __builtin_sub_overflow(*next, *start, &step)) return std::nullopt;
  return TripCount::Counter{*start, step};
}

// `0 < 5`, whatever the state: as it stands the loop never ends. Meant is a counter from the one to the other.
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
  std::optional<bool> goes_on = state.GoesOn();
  if (!goes_on && state.AssumeZeros()) {
    from = TripCount::Provenance::kAssumed;
    goes_on = state.GoesOn();
  }
  if (goes_on.value_or(false) && !state.reads_state())
    return BetweenConstants(*ConditionOf(loop)->root, state).value_or(TripCount{});
  for (int64_t round = 0; round < kMaxRounds; ++round) {
    if (!goes_on) return {};
    if (!*goes_on) return {round, from, {}};
    if (!state.Step()) return {};
    goes_on = state.GoesOn();
  }
  const std::optional<ShapeIndex> counter = state.Counter();
  const std::optional<int64_t> more = counter ? LongTripCount(loop, state, *counter) : std::nullopt;
  return more ? TripCount{kMaxRounds + *more, from, {}} : TripCount{};
}

}  // namespace

TripCount TripCountOf(const Instruction& loop, KnownValues& known) {
  TripCount trips;
  const std::optional<int64_t> given = GivenTripCount(loop);
  if (given) trips = {*given, TripCount::Provenance::kGiven, {}};
  const Computation* condition = ConditionOf(loop);
  const Computation* body = BodyOf(loop);
  const bool whole = condition != nullptr && body != nullptr && condition->root != nullptr && body->root != nullptr;
  if (!whole || loop.operands.empty()) return trips;
  if (!given) {
    LoopState state(loop, known);
    trips = InferTripCount(loop, state);
  }
  if (trips.known() && !trips.counter) {
    LoopState state(loop, known);
    if (trips.from == TripCount::Provenance::kAssumed && !state.GoesOn()) state.AssumeZeros();
    trips.counter = CounterOf(state);
  }
  return trips;
}

}  // namespace shoal::internal
