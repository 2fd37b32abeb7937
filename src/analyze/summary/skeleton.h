// The execution skeleton of a module: its loops, branches and calls as a tree, with the ops that matter, and repeated
// layers folded.
#pragma once

#include <deque>

#include "absl/container/flat_hash_map.h"
#include "analyze/facts/logical_collective.h"
#include "analyze/summary/op_category.h"

namespace shoal::internal {

enum class ShownOps : uint8_t { kImportant, kCommunication, kComputation, kAll };

struct SkeletonOptions {
  ShownOps ops = ShownOps::kImportant;
  bool inside_fusions = false;
};

struct SkeletonBlock;
struct SkeletonItem {
  enum class Kind : uint8_t {
    kOp,           // also an async one with nothing between its start and its done
    kStart,        // of an async op
    kDone,         // of one
    kLoop,         // blocks: the body
    kConditional,  // blocks: the branches
    kCall,         // blocks: what is called; also a fusion that is looked into, and an async computation
    kMinor,        // blocks: several light fusions in a row
    kRepeat,       // blocks: one round of what stands `repeats` times in a row
  };
  Kind kind = Kind::kOp;
  bool is_async = false;                      // an op that has a start and a done
  const Instruction* hlo = nullptr;           // null where several instructions are one item
  const LogicalCollective* collective = nullptr;  // which it is, or begins or ends
  int64_t repeats = 1;
  std::vector<const SkeletonBlock*> blocks;
  std::string op_name;  // if it differs between repeats: with * for the numbers that do
  uint64_t hash = 0;    // the same for items that look the same
  int64_t lines = 1;    // with its blocks; at most kMaxLines
};

struct SkeletonBlock {
  std::vector<SkeletonItem> items;
  int64_t hidden = 0;  // instructions that compute something and are not shown
  uint64_t hash = 0;
  int64_t lines = 0;
};
inline constexpr int64_t kMaxLines = INT64_MAX / 4;

class Skeleton {
 public:
  // All three must outlive it.
  Skeleton(const Module& module, const ExecutionCounts& executions, const ModuleCollectives& collectives,
           const SkeletonOptions& options);

  // Blocks are shared: a computation that is called from two places is one block.
  const SkeletonBlock& entry() const { return *entry_; }
  FusionWorks& works() { return works_; }

 private:
  class Builder;
  std::deque<SkeletonBlock> blocks_;
  const SkeletonBlock* entry_ = nullptr;
  FusionWorks works_;
};

// The op_name an instruction carries, without the parameters that older JAX writes behind it in brackets; empty if
// none.
std::string_view OpNameOf(const Instruction& hlo);

}  // namespace shoal::internal
