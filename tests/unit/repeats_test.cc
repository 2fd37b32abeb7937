#include "analyze/summary/repeats.h"

#include <gtest/gtest.h>

#include <string>

namespace shoal::internal {
namespace {

// Finds repeats in a sequence of letters, which stand for items of one line each. Format: "start:period*count".
std::string RepeatsIn(const std::string& letters) {
  const std::vector<uint64_t> hashes(letters.begin(), letters.end());
  const std::vector<int64_t> lines(letters.size(), 1);
  std::string text;
  for (const Repeat& repeat : FindRepeats(hashes, lines))
    text += (text.empty() ? "" : " ") + std::to_string(repeat.start) + ":" + std::to_string(repeat.period) + "*" +
            std::to_string(repeat.count);
  return text;
}

TEST(Repeats, NoRepeats) {
  EXPECT_EQ(RepeatsIn(""), "");
  EXPECT_EQ(RepeatsIn("a"), "");
  EXPECT_EQ(RepeatsIn("abcdabdc"), "");
}

TEST(Repeats, RunsOfOneItemAndOfSeveral) {
  EXPECT_EQ(RepeatsIn("aab"), "0:1*2");
  EXPECT_EQ(RepeatsIn("xabcabcabcy"), "1:3*3");
  EXPECT_EQ(RepeatsIn("aabbbcdcdcd"), "0:1*2 2:1*3 5:2*3");
}

TEST(Repeats, TwoRepeatsOfTwoLinesAreWorthAHeading) { EXPECT_EQ(RepeatsIn("abab"), "0:2*2"); }

TEST(Repeats, PrefersTheLongerPeriod) { EXPECT_EQ(RepeatsIn("aabaabaab"), "0:3*3"); }

TEST(Repeats, PrefersTheLargerSavingOfOverlappingRepeats) { EXPECT_EQ(RepeatsIn("aabababab"), "1:2*4"); }

TEST(Repeats, LayersOfManyEqualItems) {
  std::string layer(100, 'a');
  layer += 'b' + std::string(37, 'c') + 'd';
  std::string all = "x";
  for (int i = 0; i < 32; ++i) all += layer;
  EXPECT_EQ(RepeatsIn(all + "y"), "1:139*32");
}

TEST(Repeats, AMillionItems) {
  std::string all;
  for (int i = 0; i < 100000; ++i) all += "abcdefghij";
  EXPECT_EQ(RepeatsIn(all), "0:10*100000");
}

}  // namespace
}  // namespace shoal::internal
