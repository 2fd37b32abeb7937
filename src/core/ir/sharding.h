// The partitioning of an array over devices: sharding={devices=[4,1]<=[4]}, {replicated}, {mesh['x'=4], [{'x'}, {}]}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/device_groups.h"
#include "core/ir/metadata.h"

namespace shoal::internal {

enum class ReductionOp : uint8_t { kSum, kMax, kMin };

struct Sharding {
  // Numbers of the protobuf format.
  enum class Kind : uint8_t {
    kReplicated = 0,
    kMaximal = 1,
    kTuple = 2,
    kTiled = 3,
    kManual = 4,
    kUnknown = 5,
    kUnreduced = 6,
    kNamed = 7,  // sharded by mesh axes; not a number of the format
  };
  enum class Group : uint8_t { kNone, kAs, kLike };

  Kind kind = Kind::kReplicated;
  std::vector<Sharding> elements;  // kTuple
  TileAssignment tiles;            // kTiled; kMaximal: the one device
  bool replicate_last_dim = false;
  std::vector<Kind> last_tile_dims;  // kinds of the last dimensions of `tiles`: manual, …
  Group group = Group::kNone;
  int64_t group_id = 0;
  std::vector<Metadata> metadata;
  ReductionOp reduction = ReductionOp::kSum;

  // kNamed.
  struct Dimension {
    std::vector<AxisRef> axes;
    bool closed = true;  // no "?"
    bool operator==(const Dimension&) const = default;
  };
  std::optional<Mesh> mesh;
  std::vector<Dimension> dimensions;
  std::vector<AxisRef> replicated_axes, unreduced_axes, manual_axes;

  // A tiled sharding in XLA's normal form: subgroups are merged and sorted, trivial ones removed; a sharding that is
  // only manual or replicated becomes {manual} or {replicated}. `types` are the kinds of the last dimensions of
  // `tiles`. All dimensions of `tiles` must be positive, and an iota canonical.
  static Sharding Tiled(TileAssignment tiles, std::vector<Kind> types, std::vector<Metadata> metadata);
  // Expands a single sharding of a tuple shape to one sharding per leaf.
  static Sharding ForShape(Sharding sharding, const Shape& shape);
  // Sets `reduction` from metadata of type kReductionOpType, the only place for it in the older syntax. Parsers call
  // this last. Keeps the metadata entry: XLA removes it from protobufs, but not from text.
  void ExtractReductionOp();
  static constexpr std::string_view kReductionOpType = "sdy::reduction_op";  // op_name: SUM, MAX, MIN
  bool operator==(const Sharding&) const = default;
};

void AppendSharding(std::string& out, const Sharding& sharding);

}  // namespace shoal::internal
