#include "execute/data/generate.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/strings.h"
#include "execute/data/shards.h"
#include "analyze/facts/manual_regions.h"
#include "kernels/arrays/floats.h"

namespace shoal::internal {
namespace {

struct NamedMode {
  std::string_view name;
  ArgumentMode mode;
};
constexpr NamedMode kModes[] = {{"use_random_inputs", ArgumentMode::kRandom},
                                {"use_shared_random_inputs", ArgumentMode::kSharedRandom},
                                {"use_zeros_as_input", ArgumentMode::kZeros},
                                {"use_device_id_as_input", ArgumentMode::kDeviceId}};

// SplitMix64: each element of the sequence can be computed without its predecessors.
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Encodes n elements of the type from `numbers`. A complex element consumes two numbers.
void StoreNumbers(ElementType type, const double* numbers, std::byte* out, int64_t n) {
  const int bytes = StorageBytes(type);
  if (IsFloat(type)) return EncodeDoubles(type, numbers, out, n);
  for (int64_t i = 0; i < n; ++i) {
    if (IsComplex(type)) {
      EncodeDoubles(type == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64, numbers + 2 * i, out + i * bytes,
                    2);
      continue;
    }
    const auto integer = static_cast<int64_t>(numbers[i]);
    std::copy_n(reinterpret_cast<const std::byte*>(&integer), bytes, out + i * bytes);
  }
}

// The scale of the elements. It is chosen so that a matmul of two such matrices has elements of order 1.
double Scale(ElementType type, Ints whole) {
  if (!IsComplex(type) && (!IsFloat(type) || BitWidth(type) < 16)) return 1;
  if (whole.size() < 2) return 1;
  const int64_t longest = *std::max_element(whole.begin(), whole.end());
  return std::min(1.0, std::sqrt(3.0 / static_cast<double>(std::max<int64_t>(longest, 1))));
}

// Fills rows of consecutive elements of the whole array.
class RandomRows {
 public:
  RandomRows(ElementType type, Ints whole, uint64_t seed, uint64_t stream, const InputUse& use)
      : type_(type), use_(use), scale_(Scale(type, whole)), key_(Mix(Mix(seed) ^ stream)) {
    limit_ = type == ElementType::kPred ? 2 : BitWidth(type) < 8 ? 1 << (BitWidth(type) - (IsSigned(type) ? 1 : 0)) : 8;
    limit_ = std::min(limit_, 8);
    if (use.domain == OperandDomain::kIndex) limit_ = static_cast<int>(std::min<int64_t>(use.limit, MaxIndex(type)));
  }

  void Fill(int64_t first, int64_t n, std::byte* out) const {
    double numbers[kBlock];
    const int64_t each = IsComplex(type_) ? 2 : 1;
    for (int64_t done = 0; done < n; done += kBlock / 2) {
      const int64_t now = std::min<int64_t>(kBlock / 2, n - done);
      for (int64_t i = 0; i < now * each; ++i) numbers[i] = Number(static_cast<uint64_t>((first + done) * each + i));
      StoreNumbers(type_, numbers, out + done * StorageBytes(type_), now);
    }
  }

 private:
  static constexpr int64_t kBlock = 512;

  double Number(uint64_t index) const {
    const uint64_t bits = Mix(key_ + index);
    const bool positive = use_.domain == OperandDomain::kPositive;
    if (!IsFloat(type_) && !IsComplex(type_))
      return static_cast<double>(positive ? 1 + bits % static_cast<uint64_t>(std::max(limit_ - 1, 1))
                                          : bits % static_cast<uint64_t>(limit_));
    if (use_.domain == OperandDomain::kExponent) return static_cast<double>(1 + bits % 3);
    const double unit = static_cast<double>(bits >> 40) * 0x1p-23 - 1;
    if (positive) return 0.75 + 0.25 * unit;
    const double number = scale_ * unit;
    return Info(type_).specials == FloatSpecials::kFnu ? std::abs(number) : number;  // the type has no sign
  }

  // The largest index that the type can hold.
  static int64_t MaxIndex(ElementType type) {
    const int bits = std::min(BitWidth(type) - (IsSigned(type) ? 1 : 0), 31);
    return (int64_t{1} << bits) - 1;
  }

  ElementType type_;
  const InputUse use_;
  double scale_;
  uint64_t key_;
  int limit_ = 8;
};

Array FilledArray(const Shape& shape, double number) {
  Array array = Array::Zeros(shape.element_type(), shape.dims());
  const double numbers[2] = {number, 0};
  const int bytes = array.element_bytes();
  std::byte* out = array.mutable_data();
  for (int64_t i = 0; i < array.count(); ++i) StoreNumbers(array.type(), numbers, out + i * bytes, 1);
  return array;
}

// Generates the arrays of one leaf on all devices.
class LeafGenerator {
 public:
  // `whole`: the leaf's shape is the global one, and each device receives the whole array.
  LeafGenerator(const Leaf& leaf, const DeviceGrid& grid, bool any_sharding, bool whole, uint64_t seed,
                const InputUse& use = {})
      : leaf_(leaf), devices_(grid), any_sharding_(any_sharding || whole), seed_(seed), use_(use) {
    const int rank = leaf.shape->rank();
    if (leaf.sharding != nullptr && !whole) shards_ = ShardGridOf(*leaf.sharding, rank, grid.partitions);
    if (!shards_) shards_ = ShardGrid::Replicated(rank, grid.partitions);
  }

  int64_t DistinctCount(const Placement* placement) const {
    std::set<Key> keys;
    for (int64_t device = 0; device < devices_.count(); ++device)
      if (placement == nullptr || placement->IsLocal(device)) keys.insert(KeyOf(device));
    return std::ssize(keys);
  }

  Array ArrayFor(int64_t device, const OnBytesGenerated& on_bytes) {
    const Key key = KeyOf(device);
    const Dims& position = key.first;
    for (const auto& [known_key, array] : arrays_)
      if (known_key == key) return array;
    const Ints dims = leaf_.shape->dims();
    Dims start = position;
    for (size_t d = 0; d < start.size(); ++d) start[d] *= dims[d];
    const auto stream = static_cast<uint64_t>(leaf_.number) + (static_cast<uint64_t>(key.second) << 32);
    Array array =
        RandomArray(leaf_.shape->element_type(), AsInts(WholeDims(*shards_, dims)), AsInts(start), dims, seed_, stream,
                    on_bytes, use_);
    arrays_.emplace_back(key, array);
    return array;
  }

 private:
  using Key = std::pair<Dims, int64_t>;  // index of the shard; variant of the device
  Key KeyOf(int64_t device) const {
    return {shards_->positions[static_cast<size_t>(devices_.PartitionOf(device))], Variant(device)};
  }

  // Devices with different variants receive different numbers. Integers and booleans have only one variant: they may
  // decide branches, and devices that take different branches deadlock.
  int64_t Variant(int64_t device) const {
    const ElementType type = leaf_.shape->element_type();
    if (!IsFloat(type) && !IsComplex(type)) return 0;
    const int64_t replica = leaf_.replicated ? 0 : devices_.ReplicaOf(device);
    // In a partitioned module, a parameter without a sharding is replicated.
    return any_sharding_ ? replica : replica * devices_.partitions + devices_.PartitionOf(device);
  }

  const Leaf& leaf_;
  const DeviceGrid& devices_;
  bool any_sharding_;
  uint64_t seed_;
  const InputUse use_;
  std::optional<ShardGrid> shards_;
  std::vector<std::pair<Key, Array>> arrays_;
};

bool AnySharding(const std::vector<Leaf>& leaves) {
  return std::any_of(leaves.begin(), leaves.end(), [](const Leaf& leaf) { return leaf.sharding != nullptr; });
}

// Returns a double, since an integer could overflow.
double BytesOf(const Leaf& leaf) {
  if (!leaf.shape->IsArray()) return 0;
  double bytes = StorageBytes(leaf.shape->element_type());
  for (int64_t size : leaf.shape->dims()) bytes *= static_cast<double>(size);
  return bytes;
}

}  // namespace

std::optional<ArgumentMode> ParseArgumentMode(std::string_view name) {
  for (const NamedMode& row : kModes)
    if (row.name == name) return row.mode;
  return std::nullopt;
}

std::vector<std::string> ArgumentModeNames() {
  std::vector<std::string> names;
  for (const NamedMode& row : kModes) names.emplace_back(row.name);
  return names;
}

Array RandomArray(ElementType type, Ints whole, Ints start, Ints dims, uint64_t seed, uint64_t stream,
                  const OnBytesGenerated& on_bytes, const InputUse& use) {
  const RandomRows rows(type, whole, seed, stream, use);
  Array array(type, dims);
  if (array.count() == 0) return array;
  const Dims strides = RowMajorStrides(whole);
  const int64_t row = dims.empty() ? 1 : dims.back();
  int64_t first = 0;
  for (size_t d = 0; d < dims.size(); ++d) first += start[d] * strides[d];
  Dims index(dims.size(), 0);
  std::byte* out = array.mutable_data();
  constexpr int64_t kReportBytes = 1 << 22;
  int64_t unreported = 0;
  for (int64_t done = 0; done < array.count(); done += row) {
    rows.Fill(first, row, out + done * array.element_bytes());
    unreported += row * array.element_bytes();
    if (on_bytes && (unreported >= kReportBytes || done + row >= array.count())) on_bytes(std::exchange(unreported, 0));
    for (size_t d = dims.size(); d-- > 0;) {
      if (d + 1 == dims.size()) continue;
      first += strides[d];
      if (++index[d] < dims[d]) break;
      first -= strides[d] * dims[d];
      index[d] = 0;
    }
  }
  return array;
}

Arguments ArgumentsFromLeaves(const Module& module, const std::vector<std::vector<Value>>& leaves) {
  const bool has_leaves = !ParameterLeaves(module).empty();  // false if all parameters are empty tuples
  Arguments arguments;
  for (const std::vector<Value>& of_device : leaves) {
    size_t next = 0;
    arguments.emplace_back();
    if (of_device.empty() && has_leaves) continue;  // a device of another process
    for (const Instruction* parameter : module.entry->parameters)
      arguments.back().push_back(FromLeaves(parameter->shape(), of_device, next));
  }
  return arguments;
}

double ArgumentBytes(const Module& module) {
  double bytes = 0;
  for (const Leaf& leaf : ParameterLeaves(module)) bytes += BytesOf(leaf);
  return bytes;
}

double GeneratedBytes(const Module& module, const DeviceGrid& grid, ArgumentMode mode, const Placement* placement) {
  const auto local_devices = placement == nullptr ? grid.count() : std::ssize(placement->Local());
  const std::vector<Leaf> leaves = ParameterLeaves(module);
  const bool any_sharding = AnySharding(leaves), whole = HasManualRegions(module);
  double bytes = 0;
  for (const Leaf& leaf : leaves) {
    if (!leaf.shape->IsArray()) continue;
    int64_t arrays = 1;
    if (mode == ArgumentMode::kRandom)
      arrays = LeafGenerator(leaf, grid, any_sharding, whole, 0).DistinctCount(placement);
    if (mode == ArgumentMode::kDeviceId) arrays = local_devices;
    bytes += BytesOf(leaf) * static_cast<double>(arrays);
  }
  return bytes;
}

const Instruction* FindParameter(const Module& module, std::string_view name) {
  const auto& parameters = module.entry->parameters;
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i]->name == name || StrCat(i) == name) return parameters[i];
  return nullptr;
}

Arguments GenerateArguments(const Module& module, const DeviceGrid& grid, const GenerateOptions& options,
                            const OnBytesGenerated& on_bytes, const Placement* placement) {
  const ArgumentMode mode = options.mode;
  const std::vector<Leaf> leaves = ParameterLeaves(module);
  const std::vector<InputUse> uses = InputUsesOf(leaves);
  const bool any_sharding = AnySharding(leaves);
  const bool whole = HasManualRegions(module);
  std::vector<std::vector<Value>> values(static_cast<size_t>(grid.count()));
  for (size_t i = 0; i < leaves.size(); ++i) {
    const Leaf& leaf = leaves[i];
    LeafGenerator generator(leaf, grid, any_sharding, whole, options.seed, uses[i]);
    Value shared;
    const FixedInput* fixed = nullptr;
    for (const FixedInput& one : options.fixed)
      if (FindParameter(module, one.name) == leaf.hlo) fixed = &one;
    if (fixed != nullptr && leaf.shape->IsArray()) shared = Value(FilledArray(*leaf.shape, fixed->value));
    for (int64_t device = 0; device < grid.count(); ++device) {
      if (placement != nullptr && !placement->IsLocal(device)) continue;
      Value value;
      if (!leaf.shape->IsArray()) {
        // a token
      } else if (fixed != nullptr) {
        value = shared;
      } else if (mode == ArgumentMode::kRandom) {
        value = generator.ArrayFor(device, on_bytes);
      } else if (mode == ArgumentMode::kDeviceId) {
        value = FilledArray(*leaf.shape, device);
      } else if (shared.IsToken()) {
        const bool zeros = mode == ArgumentMode::kZeros;
        shared = zeros ? Value(FilledArray(*leaf.shape, 0)) : Value(generator.ArrayFor(0, on_bytes));
      }
      values[static_cast<size_t>(device)].push_back(
          fixed != nullptr || mode == ArgumentMode::kRandom || mode == ArgumentMode::kDeviceId ? std::move(value)
                                                                                               : shared);
    }
  }
  return ArgumentsFromLeaves(module, values);
}

}  // namespace shoal::internal
