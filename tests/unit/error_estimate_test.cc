#include "execute/data/error_estimate.h"

#include <gtest/gtest.h>

#include "core/base/strings.h"
#include "formats/text/parser.h"

namespace shoal::internal {
namespace {

std::vector<double> ErrorsOf(const std::string& text) {
  std::unique_ptr<Source> source = Source::FromString("m", text);
  Diags diags;
  const std::unique_ptr<Module> module = ParseModule(source, {}, diags);
  EXPECT_NE(module, nullptr);
  return module == nullptr ? std::vector<double>() : EstimateResultErrors(*module);
}

TEST(ErrorEstimate, GrowsWithTheLengthOfAReduction) {
  const auto sum = [](int size) {
    return StrCat("HloModule m\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\nENTRY e {\n  p = f32[",
                  size, "] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=add\n}\n");
  };
  EXPECT_LT(ErrorsOf(sum(10))[0], ErrorsOf(sum(1000))[0]);
}

// The branches call each other's successors: a walk along the calls would visit the last computation 2^60 times.
TEST(ErrorEstimate, EndsForExponentiallyManyCalls) {
  std::string text = "HloModule m\nc0 { p = f32[] parameter(0) ROOT r = f32[] sine(p) }\n";
  constexpr int kLevels = 60;
  for (int i = 1; i <= kLevels; ++i)
    StrAppend(&text, "c", i, " {\n  p = f32[] parameter(0)\n  t = pred[] constant(true)\n  ROOT r = f32[] conditional(t, p, p), true_computation=c",
              i - 1, ", false_computation=c", i - 1, "\n}\n");
  StrAppend(&text, "ENTRY e {\n  p = f32[] parameter(0)\n  ROOT r = f32[] call(p), to_apply=c", kLevels, "\n}\n");
  EXPECT_GT(ErrorsOf(text)[0], 0);
}

}  // namespace
}  // namespace shoal::internal
