// Generates inputs deterministically.
#pragma once

#include <functional>

#include "analyze/facts/device_grid.h"
#include "execute/transport/placement.h"
#include "execute/data/input_uses.h"
#include "execute/data/leaves.h"
#include "kernels/arrays/value.h"

namespace shoal::internal {

// Arguments, indexed by device and parameter. With a placement, devices of other processes have none.
using Arguments = std::vector<std::vector<Value>>;

// The names are those of XLA's HLO runner.
enum class ArgumentMode : uint8_t {
  kRandom,        // parameters with a sharding: shards of one random array; others: floats differ between devices
  kSharedRandom,  // identical arrays on all devices
  kZeros,
  kDeviceId,  // every element is the number of the device
};
std::optional<ArgumentMode> ParseArgumentMode(std::string_view name);  // "use_random_inputs"
std::vector<std::string> ArgumentModeNames();

// A value for every element of a parameter, by its name or number.
struct FixedInput {
  std::string name;
  double value = 0;
};
struct GenerateOptions {
  ArgumentMode mode = ArgumentMode::kRandom;
  uint64_t seed = 0;
  std::vector<FixedInput> fixed;
};

// Floats are in [-1, 1), scaled down for larger arrays, so that chains of matmuls stay finite. Integers are in [0, 8),
// since they may be trip counts or indices. Random inputs with a special use (input_uses.h) get suitable values.
// GenerateArguments calls `on_bytes` with the number of bytes as they are generated. GeneratedBytes returns the total.
// Devices share identical arrays, which therefore count once.
using OnBytesGenerated = std::function<void(int64_t bytes)>;
Arguments GenerateArguments(const Module& module, const DeviceGrid& grid, const GenerateOptions& options,
                            const OnBytesGenerated& on_bytes = {}, const Placement* placement = nullptr);
double GeneratedBytes(const Module& module, const DeviceGrid& grid, ArgumentMode mode,
                      const Placement* placement = nullptr);
// Total bytes of one device's arguments.
double ArgumentBytes(const Module& module);

// A slice of a random array with dimensions `whole`: the part of size `dims` at `start`. The array depends only on
// `seed` and `stream`.
Array RandomArray(ElementType type, Ints whole, Ints start, Ints dims, uint64_t seed, uint64_t stream,
                  const OnBytesGenerated& on_bytes = {}, const InputUse& use = {});

// The parameter that a FixedInput names; null if there is none.
const Instruction* FindParameter(const Module& module, std::string_view name);

// Assembles arguments from leaves[device][leaf].
Arguments ArgumentsFromLeaves(const Module& module, const std::vector<std::vector<Value>>& leaves);

}  // namespace shoal::internal
