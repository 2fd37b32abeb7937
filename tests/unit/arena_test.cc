#include "core/base/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace shoal::internal {
namespace {

bool IsAligned(const void* p, size_t alignment) { return reinterpret_cast<uintptr_t>(p) % alignment == 0; }

TEST(Arena, AlignsWithoutOverlap) {
  Arena arena;
  auto* byte = static_cast<char*>(arena.Allocate(1, 1));
  auto* word = static_cast<char*>(arena.Allocate(8, 8));
  auto* line = static_cast<char*>(arena.Allocate(64, 64));
  EXPECT_TRUE(IsAligned(word, 8));
  EXPECT_TRUE(IsAligned(line, 64));
  EXPECT_GE(word, byte + 1);
  EXPECT_GE(line, word + 8);
}

TEST(Arena, DestroysInReverseOrder) {
  struct Logged {
    std::vector<int>* log;
    int number;
    ~Logged() { log->push_back(number); }
  };
  std::vector<int> log;
  {
    Arena arena;
    for (int i = 0; i < 3; ++i) arena.New<Logged>(&log, i);
    EXPECT_TRUE(log.empty());
  }
  EXPECT_EQ(log, (std::vector<int>{2, 1, 0}));
}

TEST(Arena, AllocatesMoreThanABlock) {
  Arena arena;
  size_t size = size_t{5} << 20;
  std::span<uint8_t> large = arena.NewSpan<uint8_t>(size);
  std::fill(large.begin(), large.end(), uint8_t{7});
  auto* after = arena.New<int>(3);
  EXPECT_EQ(*after, 3);
  EXPECT_EQ(large.back(), 7);
  EXPECT_GE(arena.bytes_reserved(), size);
}

TEST(Arena, ObjectsKeepTheirAddressWhenBlocksAreAdded) {
  Arena arena;
  std::vector<int64_t*> numbers;
  for (int64_t i = 0; i < 100'000; ++i) numbers.push_back(arena.New<int64_t>(i));
  for (int64_t i = 0; i < 100'000; ++i) ASSERT_EQ(*numbers[static_cast<size_t>(i)], i);
  EXPECT_GE(arena.bytes_reserved(), 100'000 * sizeof(int64_t));
  EXPECT_LE(arena.bytes_reserved(), size_t{4} << 20);
}

TEST(Arena, CopiesRangesAndStrings) {
  Arena arena;
  std::vector<int64_t> dims(1000);
  std::iota(dims.begin(), dims.end(), 0);
  std::string text = "all-reduce";
  std::span<int64_t> copied_dims = arena.Copy(dims);
  std::string_view copied_text = arena.CopyString(text);
  std::vector<int64_t> before = dims;
  dims.assign(dims.size(), -1);
  text.assign(text.size(), 'x');
  EXPECT_EQ(std::vector<int64_t>(copied_dims.begin(), copied_dims.end()), before);
  EXPECT_EQ(copied_text, "all-reduce");
}

TEST(Arena, EmptyCopies) {
  Arena arena;
  EXPECT_TRUE(arena.Copy(std::vector<int>()).empty());
  EXPECT_TRUE(arena.CopyString("").empty());
}

}  // namespace
}  // namespace shoal::internal
