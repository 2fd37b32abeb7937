// Reads parts of HLO text that other formats carry as strings.
#pragma once

#include <string_view>

#include "core/ir/module.h"

namespace shoal::internal {

// {devices=[2,1]<=[2]}, {replicated}, …
Result<const Sharding*> ParseSharding(std::string_view text, Module& module);
// f32[2,3]{0,1:T(8,128)}
Result<const Shape*> ParseShape(std::string_view text, Module& module);

}  // namespace shoal::internal
