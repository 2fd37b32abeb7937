// Executables shared by threads, and memory over many executables.
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "api/modules.h"

namespace shoal {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kRuns = 5, kCycles = 50;
#else
constexpr int kRuns = 40, kCycles = 1000;
#endif

TEST(Threads, ShareExecutablesAndAPool) {
  const ThreadPool pool = Must(ThreadPool::Create(2));
  const Module mlp = Must(Read(SHOAL_EXAMPLES "/mlp.hlo")), sum = Must(Parse(kAllReduce));
  const Executable first = Must(Compile(mlp, {.pool = pool})), second = Must(Compile(sum, {.pool = pool}));
  const Buffers first_arguments = Must(first.GenerateArguments()), second_arguments = Must(second.GenerateArguments());
  const std::string expected = Must(first.Execute(first_arguments)).ToLiterals();
  const std::string expected_sum = Must(second.Execute(second_arguments)).ToLiterals();
  std::atomic<int> failures = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kRuns; ++i) {
          const bool is_first = (i + t) % 2 == 0;
          // Some threads compile for themselves.
          const Executable own = t < 2 ? Must(Compile(is_first ? mlp : sum, {.pool = pool})) : is_first ? first : second;
          const RunResult run = Must(own.Execute(is_first ? first_arguments : second_arguments));
          failures += run.ToLiterals() != (is_first ? expected : expected_sum);
          if (i % 10 == 0) failures += !Must(Verify(mlp)).empty();
          failures += mlp.entry()->root()->operands().empty() ? 0 : mlp.entry()->root()->operands()[0].users().empty();
        }
      });
    }
  }
  EXPECT_EQ(failures, 0);
}

// What the process holds: bytes of the heap, resident bytes, memory mappings (compiled code has its own).
struct Held {
  int64_t heap = 0, resident = 0, mappings = 0;
};
Held HeldNow() {
  Held held;
  held.heap = static_cast<int64_t>(mallinfo2().uordblks);
  std::ifstream("/proc/self/statm") >> held.resident >> held.resident;
  held.resident *= getpagesize();
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) ++held.mappings;
  return held;
}

TEST(Threads, ManyExecutablesLeaveNothingBehind) {
  const Module module = Must(Parse(kAddOne));
  const ThreadPool pool = Must(ThreadPool::Create(1));
  Held before;
  for (int i = 0; i < kCycles; ++i) {
    if (i == kCycles / 5) before = HeldNow();
    const Executable executable = Must(Compile(module, {.pool = pool}));
    ASSERT_EQ(ToFloats(Must(executable.Execute({{Floats({1, 2, 3, 4})}})).outputs[0][0])[0], 2);
  }
  const Held after = HeldNow();
  EXPECT_LT(after.heap, before.heap + 200'000);
  EXPECT_LT(after.mappings, before.mappings + 20);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(after.resident, before.resident + 2'000'000);
#endif
}

}  // namespace
}  // namespace shoal
