// The arguments of a run: generated, read from files, or given as buffers.
#include "api/cpp/arguments.h"

#include "core/base/strings.h"
#include "execute/data/inputs.h"
#include "execute/interp/memory_preflight.h"

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

// The arguments of each device as one tuple.
std::vector<Value> AsTuples(Arguments arguments) {
  std::vector<Value> tuples;
  for (std::vector<Value>& device : arguments) tuples.push_back(Value::Tuple(std::move(device)));
  return tuples;
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
    if (buffers[d].size() != executable.parameters.size())
      return ArgumentError(StrCat("the module takes ", executable.parameters.size(), " arrays, got ", buffers[d].size(),
                                  " for device ", d));
    for (size_t i = 0; i < buffers[d].size(); ++i) {
      shoal::Result<Value> value = ValueOf(buffers[d][i], executable.parameters[i], d);
      if (!value.ok()) return value.error();
      leaves[d].push_back(std::move(*value));
    }
  }
  return ArgumentsFromLeaves(executable.module->module(), leaves);
}

}  // namespace shoal::internal

namespace shoal::inline v0_1 {

Result<Buffers> Executable::GenerateArguments(InputMode mode, uint64_t seed) const {
  if (mode > InputMode::kDeviceId) return internal::ArgumentError("unknown input mode");
  return internal::Guarded([&]() -> Result<Buffers> {
    const internal::Module& module = state_->module->module();
    const auto inner = static_cast<internal::ArgumentMode>(mode);
    const internal::DeviceGrid& grid = state_->devices.grid;
    const double bytes = internal::GeneratedBytes(module, grid, inner);
    if (internal::Status fits = CheckRunMemory(module, grid, bytes, grid.count()); !fits.ok())
      return state_->module->MakeError(fits.diag());
    return internal::BuffersOf(internal::AsTuples(internal::GenerateArguments(module, grid, {inner, seed, {}})));
  });
}

Result<Buffers> Executable::ReadArguments(const std::string& path) const {
  return internal::Guarded([&]() -> Result<Buffers> {
    auto read = internal::ReadArguments(state_->module->module(), state_->devices.grid, path);
    if (!read.ok()) return state_->module->MakeError(read.diag());
    return internal::BuffersOf(internal::AsTuples(std::move(*read)));
  });
}

Result<Buffers> Executable::SnapshotArguments() const {
  return internal::Guarded([&]() -> Result<Buffers> {
    if (state_->module->file.arguments.empty() && !state_->parameters.empty())
      return internal::ArgumentError("the module is not a snapshot with arguments");
    auto read = internal::SnapshotArguments(state_->module->module(), state_->devices.grid, state_->module->file.arguments);
    if (!read.ok()) return state_->module->MakeError(read.diag());
    return internal::BuffersOf(internal::AsTuples(std::move(*read)));
  });
}

}  // namespace shoal::inline v0_1
