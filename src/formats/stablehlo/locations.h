// Source locations of MLIR as HLO metadata: op_name, source file and line, stack frames.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/ir/module.h"
#include "formats/stablehlo/mlir.h"

namespace shoal::internal {

class LocationTable {
 public:
  explicit LocationTable(Module& module) : module_(module) {}

  // The metadata of an op at `location`; null if it says nothing.
  const Metadata* MetadataOf(const MlirLocation* location);
  // The name in a location, for parameters: only op_name is set.
  const Metadata* NameMetadataOf(const MlirLocation* location) { return Named(location).metadata; }
  std::string_view NameOf(const MlirLocation* location) { return Named(location).name; }
  // Sets the module's tables of stack frames.
  void Finish();

 private:
  struct Name {
    std::string_view name;
    const Metadata* metadata = nullptr;
  };
  const Name& Named(const MlirLocation* location);
  int32_t AddFrame(const MlirLocation& frame, int32_t parent);

  Module& module_;
  std::vector<const Metadata*> metadata_;  // by MlirLocation::import_id
  absl::flat_hash_map<const MlirLocation*, Name> names_;
  std::vector<std::string_view> files_, functions_;
  std::vector<StackFrames::Location> locations_;
  std::vector<StackFrames::Frame> frames_;
  absl::flat_hash_map<std::string_view, int32_t> file_ids_, function_ids_;
  std::map<std::tuple<int32_t, int32_t, int32_t, int32_t>, int32_t> location_ids_;
  std::map<std::pair<int32_t, int32_t>, int32_t> frame_ids_;
};

}  // namespace shoal::internal
