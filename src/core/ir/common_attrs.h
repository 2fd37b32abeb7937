// Attributes that any instruction may carry.
#pragma once

#include "core/ir/attr.h"

namespace shoal::internal {

inline constexpr Attr<const Sharding*> kSharding{"sharding"};
inline constexpr Attr<std::span<const FrontendAttribute>> kFrontendAttributes{"frontend_attributes"};
inline constexpr Attr<Instructions> kControlPredecessors{"control-predecessors"};
inline constexpr Attr<const Statistics*> kStatistics{"statistics"};
inline constexpr Attr<const OriginalValue*> kOrigin{"origin"};
inline constexpr Attr<const Metadata*> kMetadata{"metadata"};
inline constexpr Attr<std::string_view> kBackendConfig{"backend_config"};
inline constexpr Attr<std::span<const bool>> kParameterReplication{"parameter_replication"};

}  // namespace shoal::internal
