#include "execute/data/outputs.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/files.h"
#include "core/base/strings.h"
#include "core/ir/literal.h"
#include "execute/data/compare.h"
#include "kernels/arrays/npy_array.h"

namespace shoal::internal {
namespace {

std::vector<Value> LeavesOf(const Value& value) {
  std::vector<Value> leaves;
  AppendLeaves(value, leaves);
  return leaves;
}

}  // namespace

std::vector<Output> GroupEqualOutputs(const std::vector<Value>& results) {
  std::vector<std::vector<Value>> leaves;
  for (const Value& result : results) leaves.push_back(LeavesOf(result));
  std::vector<Output> outputs;
  size_t leaf_count = 0;  // devices of other processes have no leaves
  for (const std::vector<Value>& of_device : leaves) leaf_count = std::max(leaf_count, of_device.size());
  for (size_t number = 0; number < leaf_count; ++number) {
    const size_t first = outputs.size();
    for (size_t device = 0; device < leaves.size(); ++device) {
      if (number >= leaves[device].size() || !leaves[device][number].IsArray()) continue;
      const Array& array = leaves[device][number].array();
      auto identical = std::find_if(outputs.begin() + static_cast<int64_t>(first), outputs.end(),
                                    [&](const Output& output) { return AreBitIdentical(output.array, array); });
      if (identical == outputs.end())
        identical = outputs.insert(identical, {static_cast<int64_t>(number), {}, array, {}});
      identical->devices.push_back(static_cast<int64_t>(device));
    }
  }
  for (Output& output : outputs) output.summary = Summarize(output.array);
  return outputs;
}

Status WriteOutputs(const std::vector<Value>& results, const std::string& folder, const Placement* placement) {
  for (size_t device = 0; device < results.size(); ++device) {
    if (placement != nullptr && !placement->IsLocal(static_cast<int64_t>(device))) continue;
    const std::string of_device = StrCat(folder, "/d", device);
    SHOAL_TRY(CreateDirectories(of_device));
    const std::vector<Value> leaves = LeavesOf(results[device]);
    for (size_t number = 0; number < leaves.size(); ++number)
      if (leaves[number].IsArray()) SHOAL_TRY(WriteNpy(StrCat(of_device, "/", number, ".npy"), leaves[number].array()));
  }
  return {};
}

std::string LiteralText(const Array& array) {
  Arena arena;
  ShapePool shapes(arena);
  Literal literal;
  literal.shape = shapes.Array(array.type(), array.dims());
  literal.data = {const_cast<std::byte*>(array.data()), static_cast<size_t>(array.bytes())};
  std::string text = ToString(array) + " ";
  AppendLiteral(text, literal, /*with_shape=*/false);
  return text;
}

ArraySummary Summarize(const Array& array) {
  ArraySummary summary;
  summary.min = std::numeric_limits<double>::infinity();
  summary.max = -summary.min;
  double sum = 0;
  ForEachNumber(array, [&](int64_t, double number) {
    if (std::isnan(number)) {
      ++summary.nans;
    } else if (std::isinf(number)) {
      ++summary.infs;
    } else {
      ++summary.finite;
      summary.min = std::min(summary.min, number);
      summary.max = std::max(summary.max, number);
      sum += number;
    }
  });
  if (summary.finite == 0) summary.min = summary.max = 0;
  summary.mean = summary.finite == 0 ? 0 : sum / static_cast<double>(summary.finite);
  summary.crc32 = static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(array.data()), static_cast<size_t>(array.bytes())));
  return summary;
}

}  // namespace shoal::internal
