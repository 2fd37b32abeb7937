// What a device brings to a collective and takes from it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "kernels/arrays/value.h"

namespace shoal::internal {

using Arrays = std::vector<Array>;
// Everybody's contributions, in the order of the members, to everybody's results.
using Combine = std::function<Result<std::vector<Arrays>>(std::vector<Arrays> contributions)>;

// Between processes (execute/collectives/exchange.h).
class Exchange;
struct GroupLayout;
using MakeExchange = std::function<std::unique_ptr<Exchange>()>;

}  // namespace shoal::internal
