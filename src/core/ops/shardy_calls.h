// The custom calls that stand for ops of Shardy in HLO.
#pragma once

#include <string_view>

namespace shoal::internal {

inline constexpr std::string_view kShardingConstraintTarget = "Sharding";
inline constexpr std::string_view kResultShardingTarget = "xla.sdy.FuncResultSharding";
inline constexpr std::string_view kGlobalToLocalTarget = "xla.sdy.GlobalToLocalShape";
inline constexpr std::string_view kLocalToGlobalTarget = "xla.sdy.LocalToGlobalShape";
inline constexpr std::string_view kShardingGroupTarget = "xla.sdy.ShardingGroup";
inline constexpr std::string_view kPropagationBarrierTarget = "xla.sdy.PropagationBarrier";

}  // namespace shoal::internal
