// A function of scalars as nodes of a kernel: in a kernel of its own, which applies it lane by lane, or inlined.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/module.h"
#include "transform/loops/kernel.h"

namespace shoal::internal {

// The nodes of a function. A node of kind kLoad is the parameter number `input`.
struct FunctionNodes {
  std::vector<KernelNode> nodes;
  std::vector<int> results;  // numbers of nodes
};

// True if the function consists of few elementwise ops on real or complex scalars; its root may be a tuple.
bool IsLaneFunction(const Computation& function);
// The function must be an IsLaneFunction.
FunctionNodes NodesOf(const Computation& function);
// Adds the nodes to a kernel, with the nodes `arguments` as parameters. Returns the nodes of the results.
std::vector<int> AddFunction(FusedKernel& kernel, const Computation& function, const std::vector<int>& arguments);

// A kernel that applies the function to rows of kLaneRow lanes. Inputs: the parameters; outputs: the results. Each has
// kLaneRows rows, of which the code computes the first ones.
inline constexpr int64_t kLaneRow = 16, kLaneRows = 16;
FusedKernel LaneKernelOf(const Computation& function);

}  // namespace shoal::internal
