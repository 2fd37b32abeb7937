// Reads sharding= and replica_groups=, with the meshes and device lists in them.
#include <algorithm>

#include "core/ir/sizes.h"
#include "core/ops/collective.h"
#include "formats/text/sharding_reader.h"

namespace shoal::internal {
namespace {

std::optional<Sharding::Kind> SubgroupKind(const Token& token) {
  if (token.Is(Word::kMaximal)) return Sharding::Kind::kMaximal;
  if (token.Is(Word::kReplicated)) return Sharding::Kind::kReplicated;
  if (token.Is(Word::kManual)) return Sharding::Kind::kManual;
  if (token.Is(Word::kUnreduced)) return Sharding::Kind::kUnreduced;
  return std::nullopt;
}

bool IsMeshWord(const Token& token) {
  if (token.kind != Tok::kIdent) return false;
  return token.text == "mesh" || token.text == "single_device" || token.text == "maximal_mesh";
}

}  // namespace

// {…} or {{…}, {…}}
bool ShardingReader::ReadSharding(Sharding* sharding) {
  if (!Expect(Tok::kLbrace, "'{' before the sharding")) return false;
  if (kind() != Tok::kLbrace && kind() != Tok::kRbrace) return ReadSingleSharding(sharding);
  sharding->kind = Sharding::Kind::kTuple;
  if (kind() != Tok::kRbrace) {
    do {
      sharding->elements.emplace_back();
      if (!Expect(Tok::kLbrace, "'{' before the sharding") || !ReadSingleSharding(&sharding->elements.back()))
        return false;
    } while (Eat(Tok::kComma));
  }
  return Expect(Tok::kRbrace, "'}' after the sharding");
}

// Reads the text of one sharding after its '{', including the '}'.
bool ShardingReader::ReadSingleSharding(Sharding* sharding) {
  if (IsMeshWord(token())) return ReadNamedSharding(sharding);
  using Kind = Sharding::Kind;
  const TextSpan at = token().span();
  bool replicated = false, maximal = false, manual = false, unknown = false, unreduced = false;
  while (kind() != Tok::kRbrace) {
    const Word word = kind() == Tok::kKeyword ? token().word : Word::kNone;
    if (word == Word::kShardAs || word == Word::kShardLike) {
      sharding->group = word == Word::kShardAs ? Sharding::Group::kAs : Sharding::Group::kLike;
      lexer_.Next();
      if (!ReadInt(&sharding->group_id)) return false;
      continue;
    }
    bool* flag = word == Word::kReplicated             ? &replicated
                 : word == Word::kMaximal              ? &maximal
                 : word == Word::kManual               ? &manual
                 : word == Word::kUnknown              ? &unknown
                 : word == Word::kUnreduced            ? &unreduced
                 : word == Word::kLastTileDimReplicate ? &sharding->replicate_last_dim
                                                       : nullptr;
    if (flag != nullptr) {
      *flag = true;
      lexer_.Next();
      continue;
    }
    std::string_view name;
    if (!ReadAttrName(&name)) return false;
    bool good = true;
    if (name == "device") {
      sharding->tiles.devices.assign(1, 0);
      good = ReadInt(&sharding->tiles.devices[0]);
    } else if (name == "devices") {
      sharding->tiles = {};
      good = ReadTileAssignment(&sharding->tiles, /*iota_only=*/false);
    } else if (name == "metadata") {
      good = ReadShardingMetadata(&sharding->metadata);
    } else if (name == "last_tile_dims") {
      good = ReadLastTileDims(&sharding->last_tile_dims);
    } else {
      good = ErrorHere(StrCat("unknown sharding field ", name, "; known: device, devices, metadata, last_tile_dims"));
    }
    if (!good) return false;
  }
  lexer_.Next();
  const bool has_devices = !sharding->tiles.devices.empty();
  if (replicated || manual || unknown || unreduced) {
    sharding->kind = replicated ? Kind::kReplicated
                     : maximal  ? Kind::kMaximal
                     : manual   ? Kind::kManual
                     : unknown  ? Kind::kUnknown
                                : Kind::kUnreduced;
    if (sharding->kind != Kind::kMaximal && has_devices) return Error(at, "this kind of sharding cannot list devices");
  }
  if (maximal && !replicated) {
    sharding->kind = Kind::kMaximal;
    if (sharding->tiles.devices.size() != 1) return Error(at, "a maximal sharding must name exactly one device");
  }
  if (!replicated && !maximal && !manual && !unknown && !unreduced) return FinishTiledSharding(sharding, at);
  sharding->replicate_last_dim = false;
  sharding->last_tile_dims.clear();
  if (sharding->kind != Kind::kMaximal) sharding->tiles = {};
  TakeReductionOp(sharding);
  return true;
}

// The printer writes the reduction as a metadata entry. XLA's parser keeps that entry and so duplicates it.
void ShardingReader::TakeReductionOp(Sharding* sharding) {
  sharding->ExtractReductionOp();
  if (options_.xla_compatible) return;
  std::erase_if(sharding->metadata, [](const Metadata& entry) { return entry.op_type == Sharding::kReductionOpType; });
}

bool ShardingReader::FinishTiledSharding(Sharding* sharding, TextSpan at) {
  TileAssignment& tiles = sharding->tiles;
  if (tiles.dims.empty()) return Error(at, "expected devices=[…] with the dimensions of the tile assignment");
  if (std::find(tiles.dims.begin(), tiles.dims.end(), 0) != tiles.dims.end())
    return Error(at, "a tile assignment cannot have a dimension of size 0");
  const int64_t count = SaturatingProduct(tiles.dims);
  if (count < 0 || count > kLargestCluster) return Error(at, "the tile assignment must have at most 2^24 devices");
  if (!tiles.iota && tiles.devices.size() <= 1) return Error(at, "a tiled sharding must name more than one device");
  if (tiles.DeviceCount() != count)
    return Error(
        at, StrCat("the tile assignment needs ", count, " devices, but ", tiles.DeviceCount(), " are listed"));
  std::vector<Sharding::Kind> types = std::move(sharding->last_tile_dims);
  if (sharding->replicate_last_dim) {
    if (!types.empty()) return Error(at, "last_tile_dim_replicate and last_tile_dims cannot be combined");
    types.push_back(Sharding::Kind::kReplicated);
  }
  if (types.size() > tiles.dims.size()) return Error(at, "last_tile_dims has more entries than there are dimensions");
  Sharding tiled = Sharding::Tiled(std::move(tiles), std::move(types), std::move(sharding->metadata));
  tiled.group = sharding->group;
  tiled.group_id = sharding->group_id;
  *sharding = std::move(tiled);
  TakeReductionOp(sharding);
  return true;
}

// [2,4]<=[4,2]T(1,0) or [2,2]0,1,2,3
bool ShardingReader::ReadTileAssignment(TileAssignment* tiles, bool iota_only) {
  if (!Expect(Tok::kLsquare, "'[' before the tile assignment")) return false;
  do {
    tiles->dims.emplace_back();
    if (!ReadInt(&tiles->dims.back())) return false;
  } while (Eat(Tok::kComma));
  if (!Expect(Tok::kRsquare, "']' after the tile assignment")) return false;
  if (Eat(Tok::kLeq)) return ReadIota(tiles->dims, &tiles->iota.emplace());
  if (iota_only) return ErrorHere("expected '<=' and the device order");
  do {
    tiles->devices.emplace_back();
    if (!ReadInt(&tiles->devices.back())) return false;
  } while (Eat(Tok::kComma));
  return true;
}

// [4,2]T(1,0)
bool ShardingReader::ReadIota(std::vector<int64_t> dims, IotaTiles* iota) {
  const TextSpan at = token().span();
  std::vector<int64_t> reshape;
  std::vector<int> perm;
  if (!Expect(Tok::kLsquare, "'[' before the device order")) return false;
  do {
    reshape.emplace_back();
    if (!ReadInt(&reshape.back())) return false;
  } while (Eat(Tok::kComma));
  if (!Expect(Tok::kRsquare, "']' after the device order")) return false;
  if (reshape.size() == 1) {
    perm = {0};
  } else {
    if (kind() != Tok::kIdent || token().text != "T") return ErrorHere("expected T(…), the order of the dimensions");
    lexer_.Next();
    if (!Expect(Tok::kLparen, "'(' after T")) return false;
    do {
      int64_t dim = 0;
      if (!ReadInt(&dim)) return false;
      if (dim < 0 || dim >= static_cast<int64_t>(reshape.size()))
        return ErrorHere(StrCat("a dimension in T(…) must lie in [0, ", reshape.size(), "), got ", dim));
      perm.push_back(static_cast<int>(dim));
    } while (Eat(Tok::kComma));
    if (!Expect(Tok::kRparen, "')' after T(…")) return false;
  }
  std::vector<int> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  bool permutes = sorted.size() == reshape.size();
  for (size_t i = 0; permutes && i < sorted.size(); ++i) permutes = sorted[i] == static_cast<int>(i);
  if (!permutes) return Error(at, "T(…) must list each dimension of the device order exactly once");
  const int64_t count = SaturatingProduct(reshape);
  if (count > kLargestCluster)
    return Error(at,
                 StrCat("the device order has ", count, " devices, more than the maximum of ", kLargestCluster));
  const bool positive = std::all_of(dims.begin(), dims.end(), [](int64_t dim) { return dim > 0; });
  if (count <= 0 || !positive || count != SaturatingProduct(dims))
    return Error(at, StrCat("the device order has ", count, " devices, but the dimensions before it have ",
                            SaturatingProduct(dims)));
  *iota = IotaTiles::Canonical(std::move(dims), std::move(reshape), std::move(perm));
  return true;
}

// {manual, replicated}
bool ShardingReader::ReadLastTileDims(std::vector<Sharding::Kind>* kinds) {
  return ReadList(Tok::kLbrace, Tok::kRbrace, Tok::kComma, [&] {
    std::optional<Sharding::Kind> kind = SubgroupKind(token());
    if (!kind) return ErrorHere("expected manual, replicated, maximal or unreduced");
    kinds->push_back(*kind);
    lexer_.Next();
    return true;
  });
}

// {…} or {{…}, {…}}
bool ShardingReader::ReadShardingMetadata(std::vector<Metadata>* metadata) {
  if (kind() != Tok::kLbrace || lexer_.Peek() != Tok::kLbrace) return ReadMetadata(&metadata->emplace_back());
  return ReadList(Tok::kLbrace, Tok::kRbrace, Tok::kComma, [&] { return ReadMetadata(&metadata->emplace_back()); });
}

// {{0,1},{2,3}}, [2,4]<=[8], mesh['x'=2] {'x'}
bool ShardingReader::ReadReplicaGroups(AttrValue* value) {
  ReplicaGroups* groups = module_.arena.New<ReplicaGroups>();
  *value = static_cast<const ReplicaGroups*>(groups);
  if (kind() == Tok::kLbrace) {
    auto& lists = groups->rep.emplace<ReplicaGroups::Lists>();
    auto read_group = [&] {
      auto read_id = [&] {
        lists.ids.emplace_back();
        return ReadInt(&lists.ids.back());
      };
      if (!ReadList(Tok::kLbrace, Tok::kRbrace, Tok::kComma, read_id)) return false;
      lists.ends.push_back(lists.ids.size());
      return true;
    };
    bool good = ReadList(Tok::kLbrace, Tok::kRbrace, Tok::kComma, read_group);
    lists.ids.shrink_to_fit();
    lists.ends.shrink_to_fit();
    return good;
  }
  if (IsMeshWord(token())) {
    auto& axes = groups->rep.emplace<ReplicaGroups::MeshAxes>();
    return ReadMesh(&axes.mesh) && ReadAxisRefs(axes.mesh, &axes.axes);
  }
  const TextSpan at = token().span();
  TileAssignment tiles;
  if (!ReadTileAssignment(&tiles, /*iota_only=*/true)) return false;
  if (tiles.dims.size() != 2) return Error(at, "replica groups must have two dimensions: groups and group size");
  groups->rep = std::move(*tiles.iota);
  return true;
}

}  // namespace shoal::internal
