#include "api/cpp/arguments.h"

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

bool HasShape(const Array& array, const Shape& shape) {
  if (array.type() != shape.element_type() || array.rank() != shape.rank()) return false;
  for (int64_t i = 0; i < shape.rank(); ++i)
    if (shape.is_dynamic(i) ? array.dim(i) > shape.dim(i) : array.dim(i) != shape.dim(i)) return false;
  return true;
}

std::string Found(const shoal::Buffer& buffer) {
  return buffer.empty() ? "an empty buffer" : ToString(buffer.state()->array);
}

shoal::Result<Value> ValueOf(shoal::Buffer& buffer, const Leaf& leaf, size_t device) {
  const bool fits = leaf.shape->IsArray() ? !buffer.empty() && HasShape(buffer.state()->array, *leaf.shape) : buffer.empty();
  if (!fits)
    return ArgumentError(StrCat("argument ", leaf.number, " of device ", device, ", ", DescribeInput(leaf), ", must be ",
                                leaf.shape->IsArray() ? ToString(*leaf.shape) : "an empty buffer", ", got ", Found(buffer)));
  if (buffer.empty()) return Value();
  if (buffer.state().use_count() > 1) return Value(buffer.state()->array);
  Value value(std::move(buffer.state()->array));
  buffer = shoal::Buffer();
  return value;
}

}  // namespace

Buffers BuffersOf(const std::vector<Value>& values) {
  Buffers all;
  for (const Value& value : values) {
    std::vector<Value> leaves;
    AppendLeaves(value, leaves);
    std::vector<shoal::Buffer>& buffers = all.emplace_back();
    for (Value& leaf : leaves) buffers.push_back(leaf.IsArray() ? MakeBuffer(leaf.array()) : shoal::Buffer());
  }
  return all;
}

shoal::Result<Arguments> ArgumentsOf(Buffers buffers, const ExecutableState& executable) {
  const auto devices = static_cast<size_t>(executable.devices.grid.count());
  if (buffers.size() != devices)
    return ArgumentError(StrCat("the module runs on ", executable.devices.from, "; the arguments are for ", buffers.size()));
  std::vector<std::vector<Value>> leaves(devices);
  for (size_t d = 0; d < devices; ++d) {
    if (!executable.IsLocal(d)) continue;
    if (buffers[d].size() != executable.parameters.size())
      return ArgumentError(StrCat("the module takes ", executable.parameters.size(), " arrays, got ", buffers[d].size(),
                                  " for device ", d));
    for (size_t i = 0; i < buffers[d].size(); ++i) {
      shoal::Result<Value> value = ValueOf(buffers[d][i], executable.parameters[i], d);
      if (!value.ok()) return value.error();
      leaves[d].push_back(std::move(*value));
    }
  }
  if (!executable.placement_in_job) return ArgumentsFromLeaves(executable.module->module(), leaves);
  Arguments arguments(devices);
  for (size_t d = 0; d < devices; ++d)
    if (executable.IsLocal(d)) arguments[d] = std::move(ArgumentsFromLeaves(executable.module->module(), {std::move(leaves[d])})[0]);
  return arguments;
}

}  // namespace shoal::internal
