// Reads shardings, replica groups and meshes.
#pragma once

#include "formats/text/metadata_reader.h"

namespace shoal::internal {

class ShardingReader : public MetadataReader {
 protected:
  using MetadataReader::MetadataReader;

  bool ReadSharding(Sharding* sharding);
  bool ReadReplicaGroups(AttrValue* value);
  bool ReadMesh(Mesh* mesh);

 private:
  bool ReadSingleSharding(Sharding* sharding);  // starts after the '{'
  bool ReadTileAssignment(TileAssignment* tiles, bool iota_only);
  bool ReadIota(std::vector<int64_t> dims, IotaTiles* iota);
  bool ReadShardingMetadata(std::vector<Metadata>* metadata);
  bool ReadLastTileDims(std::vector<Sharding::Kind>* kinds);
  bool FinishTiledSharding(Sharding* sharding, TextSpan at);
  void TakeReductionOp(Sharding* sharding);

  // mesh_reader.cc
  bool ReadNamedSharding(Sharding* sharding);
  bool ReadReductionOp(Sharding* sharding);
  bool ReadMeshDevices(Mesh* mesh);
  bool AtMeshDeviceIds();
  bool ReadAxisRef(const Mesh& mesh, AxisRef* axis);
  bool ReadAxisRefs(const Mesh& mesh, std::vector<AxisRef>* axes);
  bool ReadDimensionSharding(const Mesh& mesh, Sharding::Dimension* dimension);
};

}  // namespace shoal::internal
