// The data that devices contribute to a collective, and functions that combine it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "kernels/arrays/value.h"

namespace shoal::internal {

using Arrays = std::vector<Array>;
// Maps the contributions of all members, in rank order, to the results of all members.
using Combine = std::function<Result<std::vector<Arrays>>(std::vector<Arrays> contributions)>;

// Used by collectives between processes (execute/collectives/exchange.h).
class Exchange;
struct GroupLayout;
using MakeExchange = std::function<std::unique_ptr<Exchange>()>;

}  // namespace shoal::internal
