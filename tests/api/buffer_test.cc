// Memory of buffers: borrowed, copied, shared.
#include <array>

#include "api/modules.h"

namespace shoal {
namespace {

TEST(Buffer, BorrowsAlignedRowMajorMemory) {
  alignas(4) const std::array<float, 6> own{0, 1, 2, 3, 4, 5};
  int releases = 0;
  {
    const Buffer buffer = Must(Buffer::Borrow(own.data(), ElementType::kF32, {2, 3}, [&] { ++releases; }));
    EXPECT_EQ(buffer.data(), own.data());
    const Buffer copy = buffer;
    EXPECT_EQ(copy.data(), own.data());
    EXPECT_EQ(releases, 0);
  }
  EXPECT_EQ(releases, 1);
}

TEST(Buffer, CopiesOtherLayouts) {
  const std::array<float, 6> own{0, 1, 2, 3, 4, 5};
  int releases = 0;
  const std::array<int64_t, 2> strides{4, 12};  // column-major [3,2]
  const Buffer buffer = Must(Buffer::Borrow(own.data(), ElementType::kF32, {3, 2}, [&] { ++releases; }, strides));
  EXPECT_EQ(releases, 1);
  EXPECT_EQ(ToFloats(buffer), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  const std::array<int64_t, 1> reversed{-4};
  EXPECT_EQ(ToFloats(Must(Buffer::Borrow(&own[5], ElementType::kF32, {6}, {}, reversed))),
            (std::vector<float>{5, 4, 3, 2, 1, 0}));
}

TEST(Buffer, CopiesUnalignedMemory) {
  std::array<char, 12> bytes{};
  const float value = 7;
  std::memcpy(bytes.data() + 1, &value, sizeof(value));
  const Buffer buffer = Must(Buffer::Borrow(bytes.data() + 1, ElementType::kF32, {1}));
  EXPECT_NE(static_cast<const void*>(bytes.data() + 1), buffer.data());
  EXPECT_EQ(ToFloats(buffer)[0], 7);
}

TEST(Buffer, WritesDoNotReachOtherOwners) {
  Buffer a = Floats({1, 2});
  const Buffer b = a;
  static_cast<float*>(a.mutable_data())[0] = 9;
  EXPECT_EQ(ToFloats(b)[0], 1);
  EXPECT_EQ(ToFloats(a)[0], 9);
  const std::array<float, 1> own{3};
  Buffer borrowed = Must(Buffer::Borrow(own.data(), ElementType::kF32, {1}));
  static_cast<float*>(borrowed.mutable_data())[0] = 4;
  EXPECT_EQ(own[0], 3);
}

TEST(Buffer, HasNoElementsOrDimensions) {
  const Buffer none = Must(Buffer::Borrow(nullptr, ElementType::kF32, {0, 3}));
  EXPECT_EQ(none.bytes(), 0u);
  EXPECT_FALSE(none.empty());
  const Buffer scalar = Must(Buffer::Allocate(ElementType::kS32, {}));
  EXPECT_EQ(scalar.elements(), 1);
  EXPECT_TRUE(Buffer().empty());
  EXPECT_EQ(Buffer().mutable_data(), nullptr);
}

}  // namespace
}  // namespace shoal
