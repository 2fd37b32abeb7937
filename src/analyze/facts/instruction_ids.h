// Numbers the instructions of a module, so that facts about them can be kept in vectors.
#pragma once

#include <unordered_map>
#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

// Combines two 64-bit values into one hash. The hash depends only on these values, so it is comparable across modules.
inline uint64_t Mix(uint64_t hash, uint64_t word) {
  const unsigned __int128 product = static_cast<unsigned __int128>(hash ^ 0x9E3779B97F4A7C15u) *
                                    (static_cast<unsigned __int128>(word) + 0xD1B54A32D192ED03u);
  return static_cast<uint64_t>(product) ^ (static_cast<uint64_t>(product >> 64) * 0xBF58476D1CE4E5B9u);
}

class InstructionIds {
 public:
  explicit InstructionIds(const Module& module) {
    for (const Computation* computation : module.computations) {
      first_[computation] = static_cast<uint32_t>(all_.size());
      all_.insert(all_.end(), computation->instructions.begin(), computation->instructions.end());
    }
  }

  // Ids start at 0 and follow text order.
  uint32_t operator()(const Instruction& hlo) const { return first_.at(hlo.parent) + hlo.index; }
  const Instruction& operator[](uint32_t id) const { return *all_[id]; }
  size_t size() const { return all_.size(); }

 private:
  std::unordered_map<const Computation*, uint32_t> first_;
  std::vector<const Instruction*> all_;
};

}  // namespace shoal::internal
