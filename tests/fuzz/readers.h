// The readers of everything but modules: arrays, archives, machines, profiles, snapshots, options, numbers, placements
// and entries of the code cache. Each is a target that takes any bytes.
#pragma once

#include <span>
#include <string>

#include "random.h"

namespace shoal::internal::fuzz {

struct ReaderTarget {
  const char* name;  // also of its folders in tests/fuzz/corpus and tests/fuzz/findings/readers
  // Reads `bytes` and uses what was read. Returns a complaint if the result is wrong, else an empty string. `folder`
  // belongs to the caller's process.
  std::string (*run)(const std::string& bytes, const std::string& folder);
  std::string (*mutate)(const std::string& bytes, const std::string& other, Random& random);
};

std::span<const ReaderTarget> ReaderTargets();

}  // namespace shoal::internal::fuzz
