// Attributes of an instruction: a short list of (name, value), read through typed keys that are declared beside the
// op they belong to: hlo[kDimensions].
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "core/ir/literal.h"
#include "core/ir/sharding.h"

namespace shoal::internal {

class Instruction;
class Computation;

// Attribute values with several fields.
struct WindowDim {
  int64_t size = 1, stride = 1, pad_low = 0, pad_high = 0, base_dilation = 1, window_dilation = 1;
  bool reversal = false;
};
struct Window {
  std::span<const WindowDim> dims;
};
// dim_labels=b01f_01io->b01f, as dimension numbers.
struct ConvDims {
  int64_t input_batch = 0, input_feature = 0, kernel_input_feature = 0, kernel_output_feature = 0, output_batch = 0,
          output_feature = 0;
  Ints input_spatial, kernel_spatial, output_spatial;
};
struct SliceRange {
  int64_t start = 0, limit = 0, stride = 1;
};
struct PaddingDim {
  int64_t low = 0, high = 0, interior = 0;
};
struct FrontendAttribute {
  std::string_view name, value;
};
struct Statistic {
  std::string_view name;
  double value = 0;
};
struct Statistics {
  int64_t visualizing_index = 0;
  std::span<const Statistic> values;
};
struct OutputOperandAlias {
  Ints output_index;
  int64_t operand = 0;
  Ints operand_index;
};
struct Domain {
  std::string_view kind;
  const Sharding* entry = nullptr;
  const Sharding* exit = nullptr;
};
struct ResultAccuracy {
  bool has_tolerance = false;
  uint8_t mode = 0;  // index into kResultAccuracyModes
  double atol = 0, rtol = 0;
  int64_t ulps = 0;
};
struct TensorSparsity {
  int64_t num_non_zero = 0, block_size = 0, dimension = 0, stride = 0, idx = 0;
};
struct SparsityConfig {
  std::optional<TensorSparsity> lhs, rhs;
};
// origin={({"a"}, {"b" {1}})}: the names of an instruction's leaves before compilation.
struct OriginalArray {
  std::string_view instruction_name;  // empty: a leaf without a value, {}
  Ints shape_index;
  bool operator==(const OriginalArray& other) const;
  bool operator<(const OriginalArray& other) const;
};
void AppendOriginalArray(std::string& out, const OriginalArray& array);  // "a" {1}
struct OriginalValue {
  // {…,["f"]}: the calls the value passed through; {[synthetic_call]} in older texts is one unnamed call.
  std::span<const std::string_view> calls;
  struct Leaf {
    Ints index;  // index into the instruction's shape
    OriginalArray array;
  };
  std::span<const Leaf> leaves;
};

// Attribute values as an instruction stores them. The module owns the memory of spans and pointers.
using Computations = std::span<Computation* const>;
using Instructions = std::span<Instruction* const>;
using IntLists = std::span<const Ints>;
struct EnumValue {
  uint8_t index = 0;  // index into the names of the attribute's enum
};
using EnumList = std::span<const EnumValue>;
struct RawText {
  std::string_view text;  // "name=value", for unknown attributes
};
using AttrValue =
    std::variant<bool, int64_t, double, EnumValue, std::string_view, Ints, IntLists, Computation*, Computations,
                 Instructions, const Window*, const ConvDims*, std::span<const SliceRange>, std::span<const PaddingDim>,
                 const Sharding*, const ReplicaGroups*, std::span<const FrontendAttribute>, const Statistics*,
                 std::span<const bool>, const Metadata*, const Domain*, EnumList, const Shape*,
                 std::span<const Shape* const>, const Literal*, const ResultAccuracy*,
                 std::span<const OutputOperandAlias>, const OriginalValue*, const SparsityConfig*, RawText>;

// The id of an attribute: a hash of its name.
constexpr uint32_t AttrId(std::string_view name) {
  uint32_t hash = 2166136261u;
  for (char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  return hash;
}

struct NamedAttr {
  uint32_t id = 0;
  AttrValue value;
};

// A typed key. T is one of AttrValue's types, or an enum class whose names are in EnumNames<T>.
template <class T>
struct Attr {
  std::string_view name;
  T fallback{};  // the value for an instruction without the attribute
  uint32_t id = AttrId(name);

  constexpr Attr(std::string_view name, T fallback = {}) : name(name), fallback(fallback) {}
};

}  // namespace shoal::internal
