#include "execute/data/output_shards.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <set>

#include "analyze/facts/shardy.h"
#include "core/base/settings.h"
#include "core/base/strings.h"
#include "core/ir/common_attrs.h"
#include "core/ir/sizes.h"
#include "core/ops/dimension_flow.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// The smallest number of parts of `whole` elements that have `shard` elements each and whose number divides `devices`.
// The last parts may be partly or entirely padding: 3 elements over 4 devices form 4 parts of 1. Returns 0 if there is
// none: parts of 7 imply 2 parts, but 2 parts of 10 elements have 5 each.
int64_t PartsOf(int64_t whole, int64_t shard, int64_t devices) {
  if (shard == whole) return 1;
  if (shard <= 0 || shard > whole) return 0;
  for (int64_t parts = CeilDiv(whole, shard); parts <= devices && CeilDiv(whole, parts) == shard; ++parts)
    if (devices % parts == 0) return parts;
  return 0;
}

// Returns the number of parts along each dimension, or nullopt if `shard` cannot be a shard of `whole`.
std::optional<Dims> TilesOf(Ints whole, Ints shard, int64_t devices) {
  if (whole.size() != shard.size()) return std::nullopt;
  Dims tiles;
  for (size_t d = 0; d < whole.size(); ++d) {
    tiles.push_back(PartsOf(whole[d], shard[d], devices));
    if (tiles[d] == 0) return std::nullopt;
    devices /= tiles[d];
  }
  return tiles;
}

// For each device, the index of its part along one dimension.
using Coordinates = std::vector<int64_t>;

// Builds the grid from the coordinates along each dimension. Returns nullopt if some boxes have fewer copies than
// others.
std::optional<ShardGrid> GridOf(const Dims& tiles, const std::vector<Coordinates>& coordinates, int64_t devices) {
  ShardGrid grid{tiles, std::vector<Dims>(static_cast<size_t>(devices), Dims(tiles.size(), 0))};
  std::vector<int64_t> copies(static_cast<size_t>(ElementCount(AsInts(tiles))));
  for (size_t device = 0; device < grid.positions.size(); ++device) {
    size_t box = 0;
    for (size_t d = 0; d < tiles.size(); ++d) {
      grid.positions[device][d] = coordinates[d].empty() ? 0 : coordinates[d][device];
      box = box * static_cast<size_t>(tiles[d]) + static_cast<size_t>(grid.positions[device][d]);
    }
    ++copies[box];
  }
  if (std::adjacent_find(copies.begin(), copies.end(), std::not_equal_to<>()) != copies.end()) return std::nullopt;
  return grid;
}

// The number of the leaf at `index` of the shape; -1 if there is none.
int64_t LeafNumber(const Shape& shape, std::span<const int64_t> index) {
  if (index.empty()) return shape.IsTuple() ? -1 : 0;
  if (!shape.IsTuple() || index[0] < 0 || index[0] >= std::ssize(shape.elements())) return -1;
  int64_t before = 0;
  const std::function<int64_t(const Shape&)> leaves = [&](const Shape& each) {
    int64_t count = each.IsTuple() ? 0 : 1;
    if (each.IsTuple())
      for (const Shape* element : each.elements()) count += leaves(*element);
    return count;
  };
  for (int64_t i = 0; i < index[0]; ++i) before += leaves(shape.element(static_cast<int>(i)));
  const int64_t rest = LeafNumber(shape.element(static_cast<int>(index[0])), index.subspan(1));
  return rest < 0 ? -1 : before + rest;
}

// Traces a dimension of a result back to the nearest value with a sharding. Searches breadth-first from the result
// through operands, callers and callees.
class DimensionSearch {
 public:
  DimensionSearch(const PartitionedPair& pair, int64_t parts) : pair_(pair), parts_(parts) {}

  struct Match {
    Coordinates coordinates;
    std::string value;
  };
  std::optional<Match> Find(const Instruction& root, ShapeIndex index, int64_t dimension) {
    Visit({&root, std::move(index), dimension, nullptr});
    for (; !queue_.empty() && seen_.size() < kMaxVisited; queue_.pop_front())
      if (std::optional<Match> match = Inspect(queue_.front())) return match;
    return std::nullopt;
  }

 private:
  static constexpr size_t kMaxVisited = 100'000;
  struct Frame {
    const Instruction* call = nullptr;
    const Computation* callee = nullptr;
    const Frame* caller = nullptr;
  };
  struct LeafDimension {
    const Instruction* hlo = nullptr;
    ShapeIndex index;
    int64_t dimension = 0;
    const Frame* frame = nullptr;
    bool reversed = false;  // with respect to the result
  };

  void Visit(LeafDimension node) {
    if (seen_.insert({node.hlo, node.index, node.dimension}).second) queue_.push_back(std::move(node));
  }

  // Returns the coordinates if the value has a sharding. Otherwise enqueues the values from which it derives.
  std::optional<Match> Inspect(const LeafDimension& node) {
    const int64_t leaf = LeafNumber(node.hlo->shape(), node.index);
    if (leaf < 0) return std::nullopt;
    std::optional<ShardGrid> grid = GridAt(node, leaf);
    if (!grid) {
      EnqueueSources(node);
      return std::nullopt;
    }
    const auto d = static_cast<size_t>(node.dimension);
    if (d >= grid->tiles.size() || grid->tiles[d] != parts_) return std::nullopt;
    Match match{{}, std::string(node.hlo->name)};
    for (const Dims& box : grid->positions)
      match.coordinates.push_back(node.reversed ? parts_ - 1 - box[d] : box[d]);
    return match;
  }

  // The shards that the leaf's sharding specifies for every device.
  std::optional<ShardGrid> GridAt(const LeafDimension& node, int64_t leaf) const {
    const Instruction& hlo = *node.hlo;
    if (IsParameter(hlo) && node.frame == nullptr) {
      const int64_t number = FirstLeafOf(hlo) + leaf;
      return number < std::ssize(pair_.parameters) ? pair_.parameters[static_cast<size_t>(number)] : std::nullopt;
    }
    const std::vector<Sharding> annotated = AnnotatedShardings(pair_.whole, hlo);
    const Sharding* sharding =
        leaf < std::ssize(annotated) ? &annotated[static_cast<size_t>(leaf)] : LeafSharding(hlo[kSharding], leaf);
    if (sharding == nullptr) return std::nullopt;
    const auto d = static_cast<size_t>(node.dimension);
    if (d < sharding->dimensions.size() && !sharding->dimensions[d].closed && sharding->dimensions[d].axes.empty())
      return std::nullopt;  // "?": the sharding is open: other values determine it
    const Shape& shape = ShapeAt(hlo.shape(), node.index);
    std::optional<ShardGrid> grid = ShardGridOf(*sharding, shape.rank(), pair_.grid.partitions);
    if (!grid) return std::nullopt;
    ShardGrid all{grid->tiles, {}};
    for (int64_t device = 0; device < pair_.grid.count(); ++device)
      all.positions.push_back(grid->positions[static_cast<size_t>(pair_.grid.PartitionOf(device))]);
    return all;
  }

  static const Shape& ShapeAt(const Shape& shape, const ShapeIndex& index) {
    const Shape* at = &shape;
    for (int64_t i : index) at = &at->element(static_cast<int>(i));
    return *at;
  }

  int64_t FirstLeafOf(const Instruction& parameter) const {
    const std::vector<Leaf> leaves = ParameterLeaves(pair_.whole);
    const auto first =
        std::find_if(leaves.begin(), leaves.end(), [&](const Leaf& leaf) { return leaf.hlo == &parameter; });
    return first - leaves.begin();
  }

  void EnqueueSources(const LeafDimension& node) {
    const Instruction& hlo = *node.hlo;
    if (IsParameter(hlo)) return EnqueueCaller(node);
    if (ValueRef from{&hlo, node.index}; TraceToOperand(from, Forwarding::kTupleElement | Forwarding::kTuple))
      return Visit({from.hlo, std::move(from.path), node.dimension, node.frame, node.reversed});
    if (IsTuple(hlo)) return;
    if (CallKindOf(hlo) != CallKind::kElements) return EnqueueCallees(node);
    if (!node.index.empty()) {  // a sort or reduction of several arrays, or an optimization-barrier
      const bool one = hlo.operands.size() == 1 && hlo.operand_shape(0).IsTuple();
      const auto operand = static_cast<size_t>(node.index[0]);
      if (one) return Visit({hlo.operands[0], node.index, node.dimension, node.frame, node.reversed});
      if (operand < hlo.operands.size() && hlo.operands[operand]->shape().IsArray() &&
          std::ranges::equal(hlo.operands[operand]->shape().dims(), ShapeAt(hlo.shape(), node.index).dims()))
        Visit({hlo.operands[operand], {}, node.dimension, node.frame, node.reversed});
      return;
    }
    for (const OperandDimension& source : DimensionSources(hlo, node.dimension))
      Visit({hlo.operands[source.operand], {}, source.dimension, node.frame, node.reversed != source.reversed});
  }

  void EnqueueCallees(const LeafDimension& node) {
    // A loop's initial state has the same sharding as its final state.
    if (CallKindOf(*node.hlo) == CallKind::kLoop)
      Visit({node.hlo->operands[0], node.index, node.dimension, node.frame, node.reversed});
    const Shape& shape = ShapeAt(node.hlo->shape(), node.index);
    for (const Computation* callee : CalledComputations(*node.hlo)) {
      if (callee->root == nullptr || LeafNumber(callee->result_shape(), node.index) < 0) continue;
      const Shape& result = ShapeAt(callee->result_shape(), node.index);
      if (!result.IsArray() || !shape.IsArray() || !std::ranges::equal(result.dims(), shape.dims())) continue;
      Visit({callee->root, node.index, node.dimension, &frames_.emplace_back(Frame{node.hlo, callee, node.frame}), node.reversed});
    }
  }

  void EnqueueCaller(const LeafDimension& node) {
    if (node.frame == nullptr) return;
    const Instruction& call = *node.frame->call;
    const auto& parameters = node.frame->callee->parameters;
    const auto found = std::find(parameters.begin(), parameters.end(), node.hlo);
    auto number = static_cast<size_t>(found - parameters.begin());
    if (CallKindOf(call) == CallKind::kBranch) {  // operand 0 is the selector
      const std::vector<Computation*> callees = CalledComputations(call);
      const auto callee = std::find(callees.begin(), callees.end(), node.frame->callee);
      number = 1 + static_cast<size_t>(callee - callees.begin());
    }
    if (number < call.operands.size())
      Visit({call.operands[number], node.index, node.dimension, node.frame->caller, node.reversed});
  }

  const PartitionedPair& pair_;
  const int64_t parts_;
  std::deque<LeafDimension> queue_;
  std::deque<Frame> frames_;  // a deque, so that addresses stay valid
  std::set<std::tuple<const Instruction*, ShapeIndex, int64_t>> seen_;
};

std::optional<InferredShards> ByDimensions(const PartitionedPair& pair, const Leaf& leaf, const Dims& tiles) {
  std::vector<Coordinates> coordinates(tiles.size());
  std::vector<std::string> values;
  for (size_t d = 0; d < tiles.size(); ++d) {
    if (tiles[d] == 1) continue;
    auto match = DimensionSearch(pair, tiles[d]).Find(*leaf.hlo, leaf.index, static_cast<int64_t>(d));
    if (!match) return std::nullopt;
    coordinates[d] = std::move(match->coordinates);
    if (std::find(values.begin(), values.end(), match->value) == values.end()) values.push_back(match->value);
  }
  std::optional<ShardGrid> grid = GridOf(tiles, coordinates, pair.grid.count());
  if (!grid) return std::nullopt;
  return InferredShards{std::move(*grid), StrCat("by the sharding of ", StrJoin(values, " and "))};
}

// Assigns mesh axes to dimensions so that the axis sizes yield the part counts. A dimension's axes are in mesh order.
class AxisChoices {
 public:
  AxisChoices(const Mesh& mesh, const Dims& tiles)
      : mesh_(mesh), tiles_(tiles), dimension_of_(mesh.axis_names.size(), -1) {
    Assign(0, 0, 1);
  }
  // For each axis, the dimension that it divides, or -1. Returns nullopt unless there is exactly one assignment.
  std::optional<std::vector<int>> Unique() const { return count_ == 1 ? std::optional(last_) : std::nullopt; }

 private:
  void Assign(size_t dimension, size_t axis, int64_t parts) {
    if (count_ > 1) return;
    if (dimension == tiles_.size()) {
      last_ = dimension_of_;
      ++count_;
      return;
    }
    if (parts == tiles_[dimension]) return Assign(dimension + 1, 0, 1);
    for (; axis < dimension_of_.size(); ++axis) {
      const int64_t size = mesh_.devices.dims[axis];
      if (dimension_of_[axis] >= 0 || size == 1 || tiles_[dimension] % (parts * size) != 0) continue;
      dimension_of_[axis] = static_cast<int>(dimension);
      Assign(dimension, axis + 1, parts * size);
      dimension_of_[axis] = -1;
    }
  }
  const Mesh& mesh_;
  const Dims& tiles_;
  std::vector<int> dimension_of_, last_;
  int count_ = 0;
};

std::optional<InferredShards> ByMesh(const PartitionedPair& pair, const Dims& tiles) {
  for (const Mesh& mesh : DeclaredMeshes(pair.whole)) {
    if (mesh.devices.DeviceCount() != pair.grid.partitions) continue;
    const std::optional<std::vector<int>> assignment = AxisChoices(mesh, tiles).Unique();
    if (!assignment) continue;
    Sharding sharding;
    sharding.kind = Sharding::Kind::kNamed;
    sharding.mesh = mesh;
    sharding.dimensions.resize(tiles.size());
    std::string axes;
    for (size_t axis = 0; axis < assignment->size(); ++axis) {
      if ((*assignment)[axis] < 0) continue;
      sharding.dimensions[static_cast<size_t>((*assignment)[axis])].axes.push_back({static_cast<int64_t>(axis), {}});
      StrAppend(&axes, axes.empty() ? "" : ", ", mesh.axis_names[axis]);
    }
    Dims ones(tiles.begin(), tiles.end()), shard(tiles.size(), 1);
    if (std::optional<ShardGrid> grid = ShardsByAnnotation(&sharding, AsInts(ones), AsInts(shard), pair.grid))
      return InferredShards{std::move(*grid), StrCat("by mesh axis ", axes, ", the only choice with as many parts")};
  }
  return std::nullopt;
}

// The shards of the parameter with which the result is aliased in the partitioned module; null if there is none.
const std::optional<ShardGrid>* AliasedParameter(const PartitionedPair& pair, const Leaf& leaf) {
  for (const InputOutputAlias& alias : pair.parts.input_output_alias) {
    if (alias.output_index != leaf.index) continue;
    const std::vector<Leaf> parameters = ParameterLeaves(pair.parts);
    for (size_t i = 0; i < parameters.size() && i < pair.parameters.size(); ++i)
      if (parameters[i].parameter == alias.parameter && parameters[i].index == alias.parameter_index)
        return &pair.parameters[i];
  }
  return nullptr;
}

// The shards of devices that are numbered by the digits of `order`, slowest first: a dimension's part, or a copy.
ShardGrid ShardsInOrder(const Dims& tiles, const std::vector<size_t>& order, int64_t copies) {
  const int64_t devices = ElementCount(AsInts(tiles)) * copies;
  ShardGrid grid{tiles, std::vector<Dims>(static_cast<size_t>(devices), Dims(tiles.size(), 0))};
  for (int64_t device = 0; device < devices; ++device) {
    int64_t rest = device;
    for (size_t i = order.size(); i-- > 0;) {
      const int64_t size = order[i] == tiles.size() ? copies : tiles[order[i]];
      if (order[i] < tiles.size()) grid.positions[static_cast<size_t>(device)][order[i]] = rest % size;
      rest /= size;
    }
  }
  return grid;
}

// The shards in every order of the axes of a mesh that has one axis for each divided dimension and one for the copies.
std::vector<ShardGrid> OtherOrders(const Dims& tiles, int64_t devices) {
  constexpr size_t kMaxAxes = 4;
  const int64_t copies = devices / ElementCount(AsInts(tiles));
  std::vector<size_t> order;
  for (size_t d = 0; d < tiles.size(); ++d)
    if (tiles[d] > 1) order.push_back(d);
  if (copies > 1) order.push_back(tiles.size());
  std::vector<ShardGrid> grids;
  if (order.size() > kMaxAxes) return grids;
  while (std::next_permutation(order.begin(), order.end())) grids.push_back(ShardsInOrder(tiles, order, copies));
  return grids;
}

}  // namespace

std::optional<ShardGrid> DefaultShards(Ints whole, Ints shard, int64_t devices) {
  const std::optional<Dims> tiles = TilesOf(whole, shard, devices);
  if (!tiles) return std::nullopt;
  const int64_t copies = devices / ElementCount(AsInts(*tiles));
  ShardGrid grid{*tiles, {}};
  for (int64_t device = 0; device < devices; ++device) {
    int64_t box = device / copies;
    Dims position(tiles->size(), 0);
    for (size_t d = tiles->size(); d-- > 0; box /= (*tiles)[d]) position[d] = box % (*tiles)[d];
    grid.positions.push_back(std::move(position));
  }
  return grid;
}

std::string DescribeShards(const ShardGrid& grid) {
  std::string text;
  for (size_t d = 0; d < grid.tiles.size(); ++d)
    if (grid.tiles[d] > 1) StrAppend(&text, text.empty() ? "" : ", ", "dimension ", d, " in ", grid.tiles[d], " parts");
  return text.empty() ? "replicated" : text;
}

std::optional<ShardGrid> ShardsByAnnotation(const Sharding* sharding, Ints whole, Ints shard, const DeviceGrid& grid) {
  if (sharding == nullptr) return std::nullopt;
  std::optional<ShardGrid> shards = ShardGridOf(*sharding, static_cast<int>(whole.size()), grid.partitions);
  if (!shards || !std::ranges::equal(AsInts(ShardDims(*shards, whole)), shard)) return std::nullopt;
  ShardGrid all{shards->tiles, {}};
  for (int64_t device = 0; device < grid.count(); ++device)
    all.positions.push_back(shards->positions[static_cast<size_t>(grid.PartitionOf(device))]);
  return all;
}

std::optional<InferredShards> OutputShards(const PartitionedPair& pair, size_t leaf, Ints whole, Ints shard) {
  const std::optional<Dims> tiles = TilesOf(whole, shard, pair.grid.count());
  const Leaf of_parts = ResultLeaves(pair.parts)[leaf], of_whole = ResultLeaves(pair.whole)[leaf];
  if (pair.shardings != nullptr) {
    const std::vector<Leaf> given = ResultLeaves(*pair.shardings);
    const Sharding* sharding = leaf < given.size() ? given[leaf].sharding : nullptr;
    if (std::optional<ShardGrid> annotated = ShardsByAnnotation(sharding, whole, shard, pair.grid))
      return InferredShards{std::move(*annotated), "by its sharding in the module of " + Setting("shardings_from")};
  }
  if (std::optional<ShardGrid> annotated = ShardsByAnnotation(of_parts.sharding, whole, shard, pair.grid))
    return InferredShards{std::move(*annotated), "by its sharding"};
  if (std::optional<ShardGrid> annotated = ShardsByAnnotation(of_whole.sharding, whole, shard, pair.grid))
    return InferredShards{std::move(*annotated), "by its sharding"};
  if (!tiles) return std::nullopt;
  if (const std::optional<ShardGrid>* aliased = AliasedParameter(pair, of_parts);
      aliased != nullptr && aliased->has_value() && (*aliased)->tiles == *tiles)
    return InferredShards{**aliased, "like the parameter that it aliases"};
  if (std::optional<InferredShards> shards = ByDimensions(pair, of_whole, *tiles)) return shards;
  if (std::optional<InferredShards> shards = ByMesh(pair, *tiles)) return shards;
  return InferredShards{*DefaultShards(whole, shard, pair.grid.count()),
                        "in device order, since no sharding specifies it", true, OtherOrders(*tiles, pair.grid.count())};
}

}  // namespace shoal::internal
