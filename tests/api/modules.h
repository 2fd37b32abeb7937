// Modules that the tests of the API share.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "shoal/execute.h"
#include "shoal/module.h"

namespace shoal {

inline constexpr char kAddOne[] = R"(HloModule add_one

ENTRY main {
  x = f32[4] parameter(0)
  one = f32[] constant(1)
  ones = f32[4] broadcast(one), dimensions={}
  ROOT sum = f32[4] add(x, ones), metadata={op_name="jit(f)/add" source_file="model.py" source_line=12}
}
)";

inline constexpr char kAllReduce[] = R"(HloModule sum, replica_count=2

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY main {
  x = f32[3] parameter(0)
  ROOT sum = f32[3] all-reduce(x), replica_groups={{0,1}}, to_apply=add
}
)";

inline constexpr char kBadReverse[] = R"(HloModule bad

ENTRY main {
  p = f32[3,2] parameter(0)
  ROOT r = f32[3,2] reverse(p), dimensions={0,2}
}
)";

// Counts to 1e12, so that it ends only if it is stopped.
inline constexpr char kEndless[] = R"(HloModule endless

body {
  i = s64[] parameter(0)
  one = s64[] constant(1)
  ROOT n = s64[] add(i, one)
}

condition {
  i = s64[] parameter(0)
  end = s64[] constant(1000000000000)
  ROOT less = pred[] compare(i, end), direction=LT
}

ENTRY main {
  start = s64[] parameter(0)
  ROOT end = s64[] while(start), condition=condition, body=body
}
)";

template <class T>
T Must(Result<T> result) {
  EXPECT_TRUE(result.ok()) << result.error().ToText();
  return std::move(result).value();
}

inline Buffer Floats(const std::vector<float>& values) {
  return Must(Buffer::Copy(values.data(), values.size() * sizeof(float), ElementType::kF32,
                           {static_cast<int64_t>(values.size())}));
}

inline std::vector<float> ToFloats(const Buffer& buffer) {
  std::vector<float> values(static_cast<size_t>(buffer.elements()));
  std::memcpy(values.data(), buffer.data(), buffer.bytes());
  return values;
}

}  // namespace shoal
