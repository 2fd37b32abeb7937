// The text of Shardy's meshes and shardings: <["x"=2, "y"=4]>, <@mesh, [{"x"}, {"y":(1)2, ?}], replicated={"z"}>.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/device_groups.h"

namespace shoal::internal {

struct SdyAxis {
  std::string name;
  std::optional<SubAxis> sub;
};
struct SdySharding {
  std::string mesh;        // name; empty for an inlined mesh
  std::string mesh_text;   // the inlined mesh
  std::vector<std::vector<SdyAxis>> dims;
  std::vector<SdyAxis> replicated, unreduced;
};

std::optional<Mesh> ParseSdyMesh(std::string_view text);
// One sharding, with or without "#sdy.sharding" in front.
std::optional<SdySharding> ParseSdySharding(std::string_view text);
// The shardings in [<…>, <…>], with or without "#sdy.sharding_per_value<" around.
std::optional<std::vector<SdySharding>> ParseSdyShardingList(std::string_view text);

}  // namespace shoal::internal
