// The arrays that go into a module and come out of it, tuples flattened depth first. Their numbers are the names of
// files: leaf K is K.npy.
#pragma once

#include <string>
#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

struct Leaf {
  int64_t number = 0;
  const Instruction* hlo = nullptr;    // the parameter, or the root of the entry
  int64_t parameter = 0;               // its number
  ShapeIndex index;                    // where in its shape
  const Shape* shape = nullptr;        // an array, or a token or opaque value, which has a number but no file
  const Sharding* sharding = nullptr;  // null: none given
  bool replicated = false;             // parameter_replication says that it is the same on all replicas
};

std::vector<Leaf> ParameterLeaves(const Module& module);
std::vector<Leaf> ResultLeaves(const Module& module);

// "parameter 3 (weights)", "element {0,1} of parameter 3 (state)"
std::string DescribeInput(const Leaf& leaf);

}  // namespace shoal::internal
