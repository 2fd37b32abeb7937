#include "execute/collectives/collective_runtime.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "execute/collectives/deadlock.h"
#include "hlo_text.h"

namespace shoal::internal {
namespace {

constexpr const char* kText = R"(HloModule m
add { a = u32[] parameter(0) b = u32[] parameter(1) ROOT s = u32[] add(a, b) }
ENTRY e {
  p = u32[] parameter(0)
  q = u32[2] parameter(1)
  one = u32[] all-reduce(p), replica_groups={}, to_apply=add
  two = u32[] all-reduce(p), replica_groups={}, to_apply=add
  long = u32[2] all-reduce(q), replica_groups={}, to_apply=add
  other = u32[2] all-gather(q), replica_groups={{0},{1},{2},{3}}, dimensions={0}
  pass = u32[] collective-permute(p), source_target_pairs={{0,1},{1,2},{2,3}}
  ROOT t = (u32[], u32[], u32[2], u32[2], u32[]) tuple(one, two, long, other, pass)
})";

Arrays Number(uint32_t number) { return {Array::Scalar<uint32_t>(ElementType::kU32, number)}; }
uint32_t Number(const Arrays& arrays) { return arrays[0].As<uint32_t>()[0]; }

Result<std::vector<Arrays>> Sum(const std::vector<Arrays>& contributions) {
  uint32_t sum = 0;
  for (const Arrays& each : contributions) sum += Number(each);
  return std::vector<Arrays>(contributions.size(), Number(sum));
}

class CollectiveRuntimeTest : public testing::Test {
 protected:
  explicit CollectiveRuntimeTest(int64_t devices = 4) : CollectiveRuntimeTest(devices, devices) {}
  CollectiveRuntimeTest(int64_t devices, int64_t slots) : runtime_({devices, 1}, module_->source.get(), slots) {}

  const Instruction& Hlo(std::string_view name) const { return Named(*module_, name); }

  Result<Handle> Arrive(int64_t device, std::string_view name, uint32_t number) {
    const Groups& groups = **runtime_.GroupsOf(Hlo(name));
    const Groups::Member member = groups.members[static_cast<size_t>(device)];
    const auto group = static_cast<size_t>(member.group);
    return runtime_.Arrive(Hlo(name), *groups.rendezvous[group], member.rank, Number(number), Sum);
  }

  Result<Arrays> Reduce(int64_t device, std::string_view name, uint32_t number) {
    SHOAL_ASSIGN(handle, Arrive(device, name, number));
    return runtime_.Wait(device, Hlo(name), states_[static_cast<size_t>(device)], handle);
  }

  // Runs each device in its own thread; `body` returns the error of the device, if any.
  template <class Body>
  void RunAll(Body body) {
    std::vector<std::jthread> threads;
    for (int64_t device = 0; device < runtime_.grid().count(); ++device)
      threads.emplace_back([this, body, device] {
        const Status status = body(device);
        if (status.ok()) {
          runtime_.Finish(device, states_[static_cast<size_t>(device)]);
        } else {
          runtime_.Stop(status.diag());
        }
      });
  }

  std::unique_ptr<Module> module_ = ModuleFrom(kText);
  CollectiveRuntime runtime_;
  std::vector<ControlFlowState> states_{static_cast<size_t>(runtime_.grid().count())};
};

TEST_F(CollectiveRuntimeTest, TheNthArrivalJoinsTheNthOperation) {
  RunAll([&](int64_t device) -> Status {
    for (uint32_t iteration = 0; iteration < 1000; ++iteration) {
      // Two equal instructions share a rendezvous, so a device that executes the other one still meets the rest.
      SHOAL_ASSIGN(sum, Reduce(device, device == 2 ? "two" : "one", iteration + static_cast<uint32_t>(device)));
      EXPECT_EQ(Number(sum), 4 * iteration + 6);
    }
    return {};
  });
  EXPECT_FALSE(runtime_.reason());
}

TEST_F(CollectiveRuntimeTest, ArrivingDoesNotWait) {
  RunAll([&](int64_t device) -> Status {
    std::vector<Handle> handles;
    for (uint32_t i = 0; i < 100; ++i) {
      SHOAL_ASSIGN(handle, Arrive(device, "one", i));
      handles.push_back(std::move(handle));
    }
    for (uint32_t i = 100; i-- > 0;) {
      SHOAL_ASSIGN(sum, runtime_.Wait(device, Hlo("one"), states_[static_cast<size_t>(device)], handles[i]));
      EXPECT_EQ(Number(sum), 4 * i);
    }
    return {};
  });
  EXPECT_FALSE(runtime_.reason());
}

TEST_F(CollectiveRuntimeTest, AResultMayBeReadSeveralTimes) {
  RunAll([&](int64_t device) -> Status {
    SHOAL_ASSIGN(handle, Arrive(device, "one", 1));
    for (bool keep : {true, true, false}) {
      SHOAL_ASSIGN(sum, runtime_.Wait(device, Hlo("one"), states_[static_cast<size_t>(device)], handle, keep));
      EXPECT_EQ(Number(sum), 4u);
    }
    return {};
  });
  EXPECT_FALSE(runtime_.reason());
}

TEST_F(CollectiveRuntimeTest, ASourceDoesNotWait) {
  RunAll([&](int64_t device) -> Status {
    const Routes& routes = **runtime_.RoutesOf(Hlo("pass"));
    for (uint32_t i = 0; i < 100; ++i)
      for (const Route* route : routes.from[static_cast<size_t>(device)])
        runtime_.Deliver(Hlo("pass"), *route, Number(i + static_cast<uint32_t>(device)));
    for (uint32_t i = 0; i < 100; ++i) {
      for (const Route* route : routes.to[static_cast<size_t>(device)]) {
        SHOAL_ASSIGN(received, runtime_.Wait(device, Hlo("pass"), states_[static_cast<size_t>(device)],
                                             runtime_.Expect(Hlo("pass"), *route)));
        EXPECT_EQ(Number(received), i + static_cast<uint32_t>(device) - 1);
      }
    }
    return {};
  });
  EXPECT_FALSE(runtime_.reason());
}

TEST_F(CollectiveRuntimeTest, AFailureStopsWaitingDevices) {
  RunAll([&](int64_t device) -> Status {
    if (device == 3) return Fail("out of paper");
    SHOAL_TRY(Reduce(device, "one", 0));
    ADD_FAILURE() << "device " << device << " continued";
    return {};
  });
  EXPECT_EQ(runtime_.reason()->message, "out of paper");
  EXPECT_TRUE(runtime_.stopped());
}

TEST_F(CollectiveRuntimeTest, AFailureOfTheLastToArriveStopsTheRun) {
  RunAll([&](int64_t device) -> Status {
    const Groups& groups = **runtime_.GroupsOf(Hlo("one"));
    auto fail = [](const std::vector<Arrays>&) -> Result<std::vector<Arrays>> { return Fail("cannot add"); };
    SHOAL_ASSIGN(handle, runtime_.Arrive(Hlo("one"), *groups.rendezvous[0], device, Number(0), fail));
    SHOAL_TRY(runtime_.Wait(device, Hlo("one"), states_[static_cast<size_t>(device)], handle));
    return {};
  });
  EXPECT_EQ(runtime_.reason()->message, "cannot add");
}

TEST_F(CollectiveRuntimeTest, RejectsIncompatibleInstructions) {
  RunAll([&](int64_t device) -> Status {
    SHOAL_TRY(Reduce(device, device == 2 ? "long" : "one", 0));
    return {};
  });
  EXPECT_EQ(runtime_.reason()->message,
            "mismatched collectives: device 0 is at one (line 6), device 2 is at long (line 8): operand 0 is u32[] and "
            "u32[2]");
}

TEST_F(CollectiveRuntimeTest, ExplainsThatADeviceHasFinished) {
  RunAll([&](int64_t device) -> Status {
    if (device != 1) SHOAL_TRY(Reduce(device, "one", 0));
    return {};
  });
  EXPECT_EQ(runtime_.reason()->message,
            "deadlock: devices 0,2,3 wait at all-reduce one (line 6) for device 1\n"
            "  device 1 has finished\n"
            "  next:\u00a0for the order of the collectives:\u00a0show with the\u00a0setting\u00a0op=communication and "
            "the\u00a0setting\u00a0groups");
}

TEST_F(CollectiveRuntimeTest, ExplainsThatDevicesWaitForEachOther) {
  RunAll([&](int64_t device) -> Status {
    const Routes& routes = **runtime_.RoutesOf(Hlo("pass"));
    if (device == 1) {
      SHOAL_TRY(runtime_.Wait(device, Hlo("pass"), states_[1], runtime_.Expect(Hlo("pass"), *routes.to[1][0])));
    }
    SHOAL_TRY(Reduce(device, "one", 0));
    return {};
  });
  EXPECT_EQ(runtime_.reason()->message,
            "deadlock: devices 0,2,3 wait at all-reduce one (line 6) for device 1\n"
            "  device 1 waits at collective-permute pass (line 10) for device 0\n"
            "  next:\u00a0for the order of the collectives:\u00a0show with the\u00a0setting\u00a0op=communication and "
            "the\u00a0setting\u00a0groups");
}

TEST_F(CollectiveRuntimeTest, ExplainsDifferentTripCounts) {
  RunAll([&](int64_t device) -> Status {
    int64_t& iterations = states_[static_cast<size_t>(device)].iterations[&Hlo("t")];
    for (iterations = 0; iterations < (device < 2 ? 3 : 5);) {
      ++iterations;
      SHOAL_TRY(Reduce(device, "one", 0));
    }
    return {};
  });
  EXPECT_EQ(runtime_.reason()->message,
            "deadlock: devices 2,3 wait at all-reduce one (line 6) for devices 0,1\n"
            "  devices 0,1 have finished\n"
            "  in tuple t (line 11): devices 0,1 started 3 iterations; devices 2,3 started 4 iterations\n"
            "  next:\u00a0for the order of the collectives:\u00a0show with the\u00a0setting\u00a0op=communication and "
            "the\u00a0setting\u00a0groups");
}

TEST_F(CollectiveRuntimeTest, CombinesContributionsInMemberOrder) {
  const Accumulate digits{[](Arrays& sum, Arrays next) -> Status {
                            sum = sum.empty() ? std::move(next) : Number(10 * Number(sum) + Number(next));
                            return {};
                          },
                          [](const Arrays& sum) -> Result<std::vector<Arrays>> { return std::vector<Arrays>(4, sum); }};
  RunAll([&](int64_t device) -> Status {
    const Groups& groups = **runtime_.GroupsOf(Hlo("one"));
    for (uint32_t iteration = 0; iteration < 1000; ++iteration) {
      const auto number = static_cast<uint32_t>(device) + 1;
      SHOAL_ASSIGN(handle, runtime_.Arrive(Hlo("one"), *groups.rendezvous[0], device, Number(number), digits));
      SHOAL_ASSIGN(sum, runtime_.Wait(device, Hlo("one"), states_[static_cast<size_t>(device)], handle));
      EXPECT_EQ(Number(sum), 1234u);
    }
    return {};
  });
  EXPECT_FALSE(runtime_.reason());
}

class RunSlotsTest : public CollectiveRuntimeTest {
 protected:
  RunSlotsTest() : CollectiveRuntimeTest(/*devices=*/4, /*slots=*/2) {}
};

TEST_F(RunSlotsTest, RunsNoMoreDevicesThanRunSlots) {
  std::atomic<int> running = 0, max_running = 0;
  RunAll([&](int64_t device) -> Status {
    runtime_.AcquireRunSlot(device);
    for (uint32_t iteration = 0; iteration < 500; ++iteration) {
      max_running = std::max(max_running.load(), ++running);
      std::this_thread::yield();
      --running;
      SHOAL_ASSIGN(sum, Reduce(device, "one", iteration));
      EXPECT_EQ(Number(sum), 4 * iteration);
    }
    runtime_.ReleaseRunSlot(device);
    return {};
  });
  EXPECT_FALSE(runtime_.reason());
  EXPECT_LE(max_running, 2);
}

TEST_F(CollectiveRuntimeTest, CountsTraffic) {
  runtime_.Count(1, Opcode::kAllGatherStart, {1, 8, 24});
  runtime_.Count(1, Opcode::kAllGather, {1, 8, 24});
  const Traffic traffic = runtime_.traffic()[1][Opcode::kAllGather];
  EXPECT_EQ(traffic.calls, 2);
  EXPECT_EQ(traffic.payload_bytes, 16);
  EXPECT_EQ(traffic.wire_bytes, 48);
}

TEST(DeviceList, IsShort) {
  EXPECT_EQ(DeviceList({3}), "device 3");
  EXPECT_EQ(DeviceList({0, 1}), "devices 0,1");
  EXPECT_EQ(DeviceList({0, 1, 2, 3, 8, 10, 11}), "devices 0-3,8,10,11");
}

}  // namespace
}  // namespace shoal::internal
