#include "execute/data/output_shards.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <set>

#include "analyze/facts/shardy.h"
#include "core/base/strings.h"
#include "core/ir/common_attrs.h"
#include "core/ir/sizes.h"
#include "core/ops/dimension_flow.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// Parts along each dimension; nothing if the shapes cannot be a whole and its shard.
std::optional<Dims> TilesOf(Ints whole, Ints shard, int64_t devices) {
  if (whole.size() != shard.size()) return std::nullopt;
  Dims tiles;
  int64_t used = 1;
  for (size_t d = 0; d < whole.size(); ++d) {
    if (shard[d] == whole[d]) {
      tiles.push_back(1);
      continue;
    }
    if (shard[d] <= 0 || shard[d] > whole[d]) return std::nullopt;
    tiles.push_back(CeilDiv(whole[d], shard[d]));
    // 10 over 4 devices is shards of 3; shards of 7 could only be of two, whose shards would be of 5.
    if (CeilDiv(whole[d], tiles[d]) != shard[d] || devices % tiles[d] != 0) return std::nullopt;
    used *= tiles[d];
    if (used > devices || devices % used != 0) return std::nullopt;
  }
  return tiles;
}

// A dimension's part that each device holds.
using Coordinates = std::vector<int64_t>;

// Of the coordinates along each dimension; nothing if some part is held by fewer devices than others.
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

// The number of the leaf at `index` among those of the shape, or -1 where there is no such place.
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

// Looks for the nearest value with a sharding along whose dimension the dimension of a result runs: breadth first from
// the result to its operands, out of and into called computations.
class DimensionSearch {
 public:
  DimensionSearch(const PartitionedPair& pair, int64_t parts) : pair_(pair), parts_(parts) {}

  struct Found {
    Coordinates coordinates;  // of each device
    std::string value;
  };
  std::optional<Found> From(const Instruction& root, ShapeIndex index, int64_t dimension) {
    Visit({&root, std::move(index), dimension, nullptr});
    for (; !queue_.empty() && seen_.size() < kMaxPlaces; queue_.pop_front())
      if (std::optional<Found> found = At(queue_.front())) return found;
    return std::nullopt;
  }

 private:
  static constexpr size_t kMaxPlaces = 100'000;
  struct Frame {
    const Instruction* call = nullptr;
    const Computation* callee = nullptr;
    const Frame* caller = nullptr;
  };
  struct Place {
    const Instruction* hlo = nullptr;
    ShapeIndex index;
    int64_t dimension = 0;
    const Frame* frame = nullptr;
  };

  void Visit(Place place) {
    if (seen_.insert({place.hlo, place.index, place.dimension}).second) queue_.push_back(std::move(place));
  }

  std::optional<Found> At(const Place& place) {
    const int64_t leaf = LeafNumber(place.hlo->shape(), place.index);
    if (leaf < 0) return std::nullopt;
    std::optional<ShardGrid> grid = GridAt(place, leaf);
    if (!grid) {
      Follow(place);
      return std::nullopt;
    }
    const auto d = static_cast<size_t>(place.dimension);
    if (d >= grid->tiles.size() || grid->tiles[d] != parts_) return std::nullopt;
    Found found{{}, std::string(place.hlo->name)};
    for (const Dims& position : grid->positions) found.coordinates.push_back(position[d]);
    return found;
  }

  // What is said about the leaf there, for every device.
  std::optional<ShardGrid> GridAt(const Place& place, int64_t leaf) const {
    const Instruction& hlo = *place.hlo;
    if (IsParameter(hlo) && place.frame == nullptr) {
      const int64_t number = FirstLeafOf(hlo) + leaf;
      return number < std::ssize(pair_.parameters) ? pair_.parameters[static_cast<size_t>(number)] : std::nullopt;
    }
    const std::vector<Sharding> stated = AnnotatedShardings(pair_.whole, hlo);
    const Sharding* sharding =
        leaf < std::ssize(stated) ? &stated[static_cast<size_t>(leaf)] : LeafSharding(hlo[kSharding], leaf);
    if (sharding == nullptr) return std::nullopt;
    const auto d = static_cast<size_t>(place.dimension);
    if (d < sharding->dimensions.size() && !sharding->dimensions[d].closed && sharding->dimensions[d].axes.empty())
      return std::nullopt;  // "?": whatever follows from elsewhere
    const Shape& shape = ShapeAt(hlo.shape(), place.index);
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

  void Follow(const Place& place) {
    const Instruction& hlo = *place.hlo;
    if (IsParameter(hlo)) return ToCaller(place);
    if (ValueRef from{&hlo, place.index}; TraceToOperand(from, Forwarding::kTupleElement | Forwarding::kTuple))
      return Visit({from.hlo, std::move(from.path), place.dimension, place.frame});
    if (IsTuple(hlo)) return;
    if (CallKindOf(hlo) != CallKind::kElements) return IntoCallees(place);
    if (!place.index.empty()) {  // a sort or a reduction of several arrays, an optimization-barrier
      const bool one = hlo.operands.size() == 1 && hlo.operand_shape(0).IsTuple();
      const auto operand = static_cast<size_t>(place.index[0]);
      if (one) return Visit({hlo.operands[0], place.index, place.dimension, place.frame});
      if (operand < hlo.operands.size() && hlo.operands[operand]->shape().IsArray() &&
          std::ranges::equal(hlo.operands[operand]->shape().dims(), ShapeAt(hlo.shape(), place.index).dims()))
        Visit({hlo.operands[operand], {}, place.dimension, place.frame});
      return;
    }
    for (const OperandDimension& source : DimensionSources(hlo, place.dimension))
      Visit({hlo.operands[source.operand], {}, source.dimension, place.frame});
  }

  void IntoCallees(const Place& place) {
    // A loop hands its state on: what it starts from is divided as what it leaves.
    if (CallKindOf(*place.hlo) == CallKind::kLoop)
      Visit({place.hlo->operands[0], place.index, place.dimension, place.frame});
    const Shape& shape = ShapeAt(place.hlo->shape(), place.index);
    for (const Computation* callee : CalledComputations(*place.hlo)) {
      if (callee->root == nullptr || LeafNumber(callee->result_shape(), place.index) < 0) continue;
      const Shape& result = ShapeAt(callee->result_shape(), place.index);
      if (!result.IsArray() || !shape.IsArray() || !std::ranges::equal(result.dims(), shape.dims())) continue;
      Visit({callee->root, place.index, place.dimension, &frames_.emplace_back(Frame{place.hlo, callee, place.frame})});
    }
  }

  void ToCaller(const Place& place) {
    if (place.frame == nullptr) return;
    const Instruction& call = *place.frame->call;
    const auto& parameters = place.frame->callee->parameters;
    const auto found = std::find(parameters.begin(), parameters.end(), place.hlo);
    auto number = static_cast<size_t>(found - parameters.begin());
    if (CallKindOf(call) == CallKind::kBranch) {  // operand 0 is the selector
      const std::vector<Computation*> callees = CalledComputations(call);
      number = 1 + static_cast<size_t>(std::find(callees.begin(), callees.end(), place.frame->callee) - callees.begin());
    }
    if (number < call.operands.size())
      Visit({call.operands[number], place.index, place.dimension, place.frame->caller});
  }

  const PartitionedPair& pair_;
  const int64_t parts_;
  std::deque<Place> queue_;
  std::deque<Frame> frames_;  // stays where it is
  std::set<std::tuple<const Instruction*, ShapeIndex, int64_t>> seen_;
};

std::optional<InferredShards> ByDimensions(const PartitionedPair& pair, const Leaf& leaf, const Dims& tiles) {
  std::vector<Coordinates> coordinates(tiles.size());
  std::vector<std::string> values;
  for (size_t d = 0; d < tiles.size(); ++d) {
    if (tiles[d] == 1) continue;
    auto found = DimensionSearch(pair, tiles[d]).From(*leaf.hlo, leaf.index, static_cast<int64_t>(d));
    if (!found) return std::nullopt;
    coordinates[d] = std::move(found->coordinates);
    if (std::find(values.begin(), values.end(), found->value) == values.end()) values.push_back(found->value);
  }
  std::optional<ShardGrid> grid = GridOf(tiles, coordinates, pair.grid.count());
  if (!grid) return std::nullopt;
  return InferredShards{std::move(*grid), StrCat("by the sharding of ", StrJoin(values, " and "))};
}

// The ways to make the parts of each dimension of whole axes, those of one dimension in the order of the mesh.
class AxisChoices {
 public:
  AxisChoices(const Mesh& mesh, const Dims& tiles) : mesh_(mesh), tiles_(tiles), owner_(mesh.axis_names.size(), -1) {
    Assign(0, 0, 1);
  }
  // For each axis the dimension that it divides, or -1; nothing if there is no way or more than one.
  std::optional<std::vector<int>> Only() const { return count_ == 1 ? std::optional(only_) : std::nullopt; }

 private:
  void Assign(size_t dimension, size_t axis, int64_t parts) {
    if (count_ > 1) return;
    if (dimension == tiles_.size()) {
      only_ = owner_;
      ++count_;
      return;
    }
    if (parts == tiles_[dimension]) return Assign(dimension + 1, 0, 1);
    for (; axis < owner_.size(); ++axis) {
      const int64_t size = mesh_.devices.dims[axis];
      if (owner_[axis] >= 0 || size == 1 || tiles_[dimension] % (parts * size) != 0) continue;
      owner_[axis] = static_cast<int>(dimension);
      Assign(dimension, axis + 1, parts * size);
      owner_[axis] = -1;
    }
  }
  const Mesh& mesh_;
  const Dims& tiles_;
  std::vector<int> owner_, only_;
  int count_ = 0;
};

std::optional<InferredShards> ByMesh(const PartitionedPair& pair, const Dims& tiles) {
  for (const Mesh& mesh : DeclaredMeshes(pair.whole)) {
    if (mesh.devices.DeviceCount() != pair.grid.partitions) continue;
    const std::optional<std::vector<int>> owners = AxisChoices(mesh, tiles).Only();
    if (!owners) continue;
    Sharding sharding;
    sharding.kind = Sharding::Kind::kNamed;
    sharding.mesh = mesh;
    sharding.dimensions.resize(tiles.size());
    std::string axes;
    for (size_t axis = 0; axis < owners->size(); ++axis) {
      if ((*owners)[axis] < 0) continue;
      sharding.dimensions[static_cast<size_t>((*owners)[axis])].axes.push_back({static_cast<int64_t>(axis), {}});
      StrAppend(&axes, axes.empty() ? "" : ", ", mesh.axis_names[axis]);
    }
    Dims ones(tiles.begin(), tiles.end()), shard(tiles.size(), 1);
    if (std::optional<ShardGrid> grid = ShardsByAnnotation(&sharding, AsInts(ones), AsInts(shard), pair.grid))
      return InferredShards{std::move(*grid), StrCat("by axis ", axes, ", since no other makes as many parts")};
  }
  return std::nullopt;
}

// The sharding of the parameter that the partitioned module returns the result in.
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
  if (std::optional<ShardGrid> given = ShardsByAnnotation(of_parts.sharding, whole, shard, pair.grid))
    return InferredShards{std::move(*given), "by its sharding"};
  if (std::optional<ShardGrid> given = ShardsByAnnotation(of_whole.sharding, whole, shard, pair.grid))
    return InferredShards{std::move(*given), "by its sharding"};
  if (!tiles) return std::nullopt;
  if (const std::optional<ShardGrid>* aliased = AliasedParameter(pair, of_parts);
      aliased != nullptr && aliased->has_value() && (*aliased)->tiles == *tiles)
    return InferredShards{**aliased, "as the parameter it is aliased with"};
  if (std::optional<InferredShards> known = ByDimensions(pair, of_whole, *tiles)) return known;
  if (std::optional<InferredShards> known = ByMesh(pair, *tiles)) return known;
  return InferredShards{*DefaultShards(whole, shard, pair.grid.count()),
                     "in the order of the devices, since no sharding says otherwise"};
}

}  // namespace shoal::internal
