// Computes the names and stack frames that XLA derives from a text. A Module keeps them as written; they are computed
// when the module is printed or written as a protobuf.
#pragma once

#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/ir/module.h"

namespace shoal::internal {

// Maps computations and instructions to names that are unique in the module.
class CanonicalNames {
 public:
  explicit CanonicalNames(const Module& module);
  std::string_view operator()(const Computation& computation) const;
  std::string_view operator()(const Instruction& hlo) const;

 private:
  struct Names {
    std::string_view computation;
    std::vector<std::string_view> instructions;  // indexed by Instruction::index
  };
  Arena arena_;
  bool final_ = false;
  absl::flat_hash_map<const Computation*, Names> names_;
};

// The stack frames that instructions use, renumbered in the order of their first use.
struct CanonicalFrames {
  explicit CanonicalFrames(const Module& module);
  StackFrames tables;
  // Returns the new number of a frame, or 0 if the frame does not exist.
  int32_t NewId(int32_t old_id) const;

 private:
  int32_t Renumber(int32_t old_id, const StackFrames& old);
  int32_t Intern(const StackFrames::Location& location, int32_t parent, const StackFrames& old);

  absl::flat_hash_map<int32_t, int32_t> new_ids_;
  std::vector<std::string_view> file_names_, function_names_;
  std::vector<StackFrames::Location> locations_;
  std::vector<StackFrames::Frame> frames_;
  absl::flat_hash_map<std::string_view, int32_t> file_ids_, function_ids_;
  absl::flat_hash_map<std::vector<int32_t>, int32_t> location_ids_;
  absl::flat_hash_map<std::pair<int32_t, int32_t>, int32_t> frame_ids_;
};

}  // namespace shoal::internal
