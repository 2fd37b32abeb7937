#include "execute/transport/ring.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

namespace shoal::internal {
namespace {

// Message number n. The sizes cover all that fit into a slot, from 0 to the maximum.
std::string Message(size_t n) { return std::string(n * 7919 % (Ring::kSlotBytes + 1), static_cast<char>('a' + n % 26)); }

TEST(Ring, FullUntilRead) {
  const auto ring = std::make_unique<Ring>();
  RingWriter writer(*ring);
  RingReader reader(*ring);
  const auto nothing = [](int, std::string_view) { FAIL(); };
  EXPECT_FALSE(reader.Read(nothing));
  for (size_t n = 0; n < Ring::kSlots; ++n) EXPECT_TRUE(writer.Write(static_cast<int>(n), {"one ", "", "message"}));
  EXPECT_FALSE(writer.Write(9, {"too many"}));
  for (int n = 0; n < static_cast<int>(Ring::kSlots); ++n) {
    EXPECT_TRUE(reader.Read([&](int tag, std::string_view bytes) {
      EXPECT_EQ(tag, n);
      EXPECT_EQ(bytes, "one message");
    }));
  }
  EXPECT_FALSE(reader.Read(nothing));
  EXPECT_TRUE(writer.Write(9, {"room again"}));
}

TEST(Ring, KeepsOrderBetweenTwoThreads) {
  constexpr size_t kCount = 5000;
  const auto ring = std::make_unique<Ring>();
  std::thread other([&] {
    RingWriter writer(*ring);
    for (size_t n = 0; n < kCount; ++n) {
      const std::string all = Message(n);
      const std::string_view text = all;
      while (!writer.Write(static_cast<int>(n), {text.substr(0, text.size() / 2), text.substr(text.size() / 2)}))
        std::this_thread::yield();
    }
  });
  RingReader reader(*ring);
  size_t wrong = 0;
  for (size_t n = 0; n < kCount; ++n) {
    const auto take = [&](int tag, std::string_view bytes) { wrong += tag != static_cast<int>(n) || bytes != Message(n); };
    while (!reader.Read(take)) std::this_thread::yield();
  }
  other.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace shoal::internal
