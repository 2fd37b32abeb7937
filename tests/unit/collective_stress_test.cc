// Runs many small collectives in random groups on many devices. They must not deadlock, and must compute the same
// numbers as a sequential simulation of the devices.
#include <algorithm>
#include <numeric>
#include <random>

#include "core/base/strings.h"
#include "execute/interp/run.h"
#include "hlo_text.h"

namespace shoal::internal {
namespace {

constexpr int64_t kDevices = 64;
constexpr int kOps = 100;  // in the loop
#ifdef __SANITIZE_THREAD__
constexpr int kIterations = 5;  // of the loop
#else
constexpr int kIterations = 100;
#endif
using State = std::vector<uint32_t>;  // one number per device

// One collective of the loop: its text, and its effect on the numbers of the devices.
struct RandomOp {
  std::string text;
  std::function<void(State&)> apply;
};

std::vector<DeviceGroup> RandomGroups(std::mt19937& random, bool uniform) {
  DeviceGroup all(kDevices);
  std::iota(all.begin(), all.end(), 0);
  std::shuffle(all.begin(), all.end(), random);
  std::vector<DeviceGroup> groups;
  const size_t size = size_t{1} << random() % 7;
  for (size_t i = 0; i < all.size();) {
    const size_t n = std::min(uniform ? size : 1 + random() % 20, all.size() - i);
    groups.emplace_back(all.begin() + static_cast<int64_t>(i), all.begin() + static_cast<int64_t>(i + n));
    i += n;
  }
  return groups;
}

std::string GroupsText(const std::vector<DeviceGroup>& groups) {
  return StrCat(
      "replica_groups={",
      StrJoin(groups, ",",
              [](std::string* out, const DeviceGroup& group) { StrAppend(out, "{", StrJoin(group, ","), "}"); }),
      "}");
}

RandomOp RandomReduce(std::mt19937& random, int i) {
  const auto groups = RandomGroups(random, /*uniform=*/false);
  const bool async = random() % 2 == 0;
  std::string text = StrCat(GroupsText(groups), ", to_apply=mix");
  if (async) {
    text = StrCat("start", i, " = u32[] all-reduce-start(old", i, "), ", text, "\n  new", i,
                  " = u32[] all-reduce-done(start", i, ")");
  } else {
    text = StrCat("new", i, " = u32[] all-reduce(old", i, "), ", text);
  }
  return {text, [groups](State& state) {
            for (const DeviceGroup& group : groups) {
              uint32_t mixed = state[static_cast<size_t>(group[0])];
              // Not commutative, so that the result depends on the order.
              for (size_t k = 1; k < group.size(); ++k) mixed = 3 * mixed + state[static_cast<size_t>(group[k])];
              for (int64_t device : group) state[static_cast<size_t>(device)] = mixed;
            }
          }};
}

// An all-gather in uniform groups; its last element is the new number.
RandomOp RandomGather(std::mt19937& random, int i) {
  const auto groups = RandomGroups(random, /*uniform=*/true);
  const size_t n = groups[0].size();
  return {StrCat("flat", i, " = u32[1] reshape(old", i, ")\n  all", i, " = u32[", n, "] all-gather(flat", i, "), ",
                 GroupsText(groups), ", dimensions={0}\n  last", i, " = u32[1] slice(all", i, "), slice={[", n - 1, ":",
                 n, "]}\n  new", i, " = u32[] reshape(last", i, ")"),
          [groups](State& state) {
            for (const DeviceGroup& group : groups)
              for (int64_t device : group)
                state[static_cast<size_t>(device)] = state[static_cast<size_t>(group.back())];
          }};
}

RandomOp RandomPermute(std::mt19937& random, int i) {
  DeviceGroup targets(kDevices);
  std::iota(targets.begin(), targets.end(), 0);
  std::shuffle(targets.begin(), targets.end(), random);
  std::string pairs;
  for (size_t d = 0; d < targets.size(); ++d) StrAppend(&pairs, d == 0 ? "" : ",", "{", d, ",", targets[d], "}");
  return {StrCat("new", i, " = u32[] collective-permute(old", i, "), source_target_pairs={", pairs, "}"),
          [targets](State& state) {
            State next(state.size());
            for (size_t d = 0; d < targets.size(); ++d) next[static_cast<size_t>(targets[d])] = state[d];
            state = next;
          }};
}

std::vector<RandomOp> RandomOps() {
  std::mt19937 random(20);
  std::vector<RandomOp> ops;
  for (int i = 0; i < kOps; ++i) {
    const uint32_t kind = static_cast<uint32_t>(random()) % 4;
    ops.push_back(kind < 2 ? RandomReduce(random, i) : kind == 2 ? RandomGather(random, i) : RandomPermute(random, i));
  }
  return ops;
}

// After each collective a device adds its own id, so that the devices keep different numbers.
std::string TextOf(const std::vector<RandomOp>& ops) {
  std::string text = StrCat("HloModule stress, replica_count=", kDevices, R"(
mix { a = u32[] parameter(0) b = u32[] parameter(1) three = u32[] constant(3) m = u32[] multiply(a, three) ROOT s = u32[] add(m, b) }
condition { s = (u32[], u32[]) parameter(0) i = u32[] get-tuple-element(s), index=0 n = u32[] constant()",
                            kIterations, R"() ROOT c = pred[] compare(i, n), direction=LT }
body {
  s = (u32[], u32[]) parameter(0)
  i = u32[] get-tuple-element(s), index=0
  old0 = u32[] get-tuple-element(s), index=1
  id = u32[] replica-id()
)");
  for (size_t i = 0; i < ops.size(); ++i)
    StrAppend(&text, "  ", ops[i].text, "\n  old", i + 1, " = u32[] add(new", i, ", id)\n");
  StrAppend(&text, "  one = u32[] constant(1)\n  j = u32[] add(i, one)\n  ROOT r = (u32[], u32[]) tuple(j, old",
            ops.size(),
            R"()
}
ENTRY e {
  zero = u32[] constant(0)
  id = u32[] replica-id()
  s = (u32[], u32[]) tuple(zero, id)
  w = (u32[], u32[]) while(s), condition=condition, body=body
  ROOT x = u32[] get-tuple-element(w), index=1
})");
  return text;
}

State Expected(const std::vector<RandomOp>& ops) {
  State state(kDevices);
  std::iota(state.begin(), state.end(), 0);
  for (int i = 0; i < kIterations; ++i) {
    for (const RandomOp& op : ops) {
      op.apply(state);
      for (size_t d = 0; d < state.size(); ++d) state[d] += static_cast<uint32_t>(d);
    }
  }
  return state;
}

TEST(CollectiveStress, TenThousandOnSixtyFourDevices) {
  const std::vector<RandomOp> ops = RandomOps();
  const std::shared_ptr<const Module> module = ModuleFrom(TextOf(ops));
  ASSERT_NE(module, nullptr);
  const ModulePlan plan(module);
  const DeviceGrid grid{kDevices, 1};
  for (int run = 0; run < 2; ++run) {
    Result<RunOutcome> outcome = RunPlan(plan, grid, std::vector<std::vector<Value>>(kDevices), {});
    ASSERT_TRUE(outcome.ok()) << outcome.diag().message;
    State state;
    for (const Value& result : outcome->results) state.push_back(result.array().As<uint32_t>()[0]);
    EXPECT_EQ(state, Expected(ops));
    int64_t calls = 0;
    for (const auto& [opcode, traffic] : outcome->stats.traffic[0]) calls += traffic.calls;
    EXPECT_EQ(calls, kOps * kIterations);
  }
}

}  // namespace
}  // namespace shoal::internal
