// The leaves of a module's parameters and result: arrays, with tuples flattened depth first. Leaf K is in file K.npy.
#pragma once

#include <string>
#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

struct Leaf {
  int64_t number = 0;
  const Instruction* hlo = nullptr;    // the parameter, or the root of the entry computation
  int64_t parameter = 0;               // the number of the parameter
  ShapeIndex index;                    // index of the leaf in the shape of `hlo`
  const Shape* shape = nullptr;        // an array; or a token or opaque value, which has a number but no file
  const Sharding* sharding = nullptr;  // null: none
  bool replicated = false;             // identical on all replicas, according to parameter_replication
};

std::vector<Leaf> ParameterLeaves(const Module& module);
std::vector<Leaf> ResultLeaves(const Module& module);

// The leaf as text: "parameter 3 (weights)", "element {0,1} of parameter 3 (state)".
std::string DescribeInput(const Leaf& leaf);

}  // namespace shoal::internal
