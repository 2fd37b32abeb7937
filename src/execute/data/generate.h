// Inputs that nobody gave: made up, the same each time.
#pragma once

#include <functional>

#include "analyze/facts/device_grid.h"
#include "execute/transport/placement.h"
#include "execute/data/leaves.h"
#include "kernels/arrays/value.h"

namespace shoal::internal {

// [device][parameter]; where a placement is given, nothing for the devices of other processes.
using Arguments = std::vector<std::vector<Value>>;

// As XLA's runner names them.
enum class ArgumentMode : uint8_t {
  kRandom,        // parts of one random array where a sharding says so, else each device its own floats
  kSharedRandom,  // every device the same
  kZeros,
  kDeviceId,  // every element is the number of the device
};
std::optional<ArgumentMode> ParseArgumentMode(std::string_view name);  // "use_random_inputs"
std::vector<std::string> ArgumentModeNames();

// Floats lie in [-1, 1), closer to 0 the larger the array, so that products of many matrices stay finite. Integers
// lie in [0, 8): they may count iterations or be indices.
// `made` is told of bytes as they are made; GeneratedBytes says how many there will be, which is what they take in
// memory: devices share what is the same.
using OnBytesGenerated = std::function<void(int64_t bytes)>;
Arguments GenerateArguments(const Module& module, const DeviceGrid& grid, ArgumentMode mode, uint64_t seed,
                            const OnBytesGenerated& made = {}, const Placement* placement = nullptr);
double GeneratedBytes(const Module& module, const DeviceGrid& grid, ArgumentMode mode,
                      const Placement* placement = nullptr);
// Of the arrays that one device is given.
double ArgumentBytes(const Module& module);

// The part of a random array of dimensions `whole` that begins at index `start` and has dimensions `dims`. The array
// depends on seed and stream alone.
Array RandomArray(ElementType type, Ints whole, Ints start, Ints dims, uint64_t seed, uint64_t stream,
                  const OnBytesGenerated& made = {});

// Arguments from leaves[device][leaf].
Arguments ArgumentsFromLeaves(const Module& module, const std::vector<std::vector<Value>>& leaves);

}  // namespace shoal::internal
