#include "core/base/json_reader.h"

#include <gtest/gtest.h>

namespace shoal::internal {
namespace {

// "ok", or the error.
std::string Outcome(const std::string& text) {
  JsonReader reader(text);
  reader.Skip();
  reader.ExpectEnd();
  return reader.ok() ? "ok" : reader.error();
}

TEST(JsonReader, ReadsMembersAndElements) {
  JsonReader reader(R"({"name": "a\u00e9\ud83d\udc1f\n", "skipped": {"x": [1, {}]}, "list": [1, -2.5e1, "no number"]})");
  std::string name;
  std::vector<double> list;
  for (reader.EnterObject(); reader.NextKey();) {
    if (reader.text() == "name") {
      name = reader.TakeString();
    } else if (reader.text() == "list") {
      for (reader.EnterArray(); reader.NextElement();) list.push_back(reader.TakeNumber());
    } else {
      reader.Skip();
    }
  }
  reader.ExpectEnd();
  EXPECT_TRUE(reader.ok()) << reader.error();
  EXPECT_EQ(name, "a\xc3\xa9\xf0\x9f\x90\x9f\n");
  EXPECT_EQ(list, (std::vector<double>{1, -25, 0}));
}

TEST(JsonReader, RejectsMalformedText) {
  for (const char* text : {"", "{", "[1,]", "[1 2]", "{\"a\" 1}", "{a: 1}", "[01]", "[1.]", "[1e]", "[-]", "[+1]", "[nan]", "\"\\x\"",
                           "\"\\u12\"", "\"\\ud800\"", "\"", "tru", "[1] 2", "[1e999]", "]", "\"\t\""})
    EXPECT_NE(Outcome(text), "ok") << text;
  EXPECT_EQ(Outcome("{\n  \"a\": [1,\n  x]}"), "is not valid JSON: line 3, column 3: expected a value");
}

TEST(JsonReader, LimitsDepth) {
  EXPECT_EQ(Outcome(std::string(kMaxJsonDepth, '[') + std::string(kMaxJsonDepth, ']')), "ok");
  const std::string deep = std::string(10'000'000, '[');
  EXPECT_NE(Outcome(deep).find("levels deep"), std::string::npos);
  EXPECT_TRUE(IsTooDeepJson(deep));
  EXPECT_FALSE(IsTooDeepJson("[\"" + deep + "\"]"));
}

}  // namespace
}  // namespace shoal::internal
