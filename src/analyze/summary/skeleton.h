// The execution skeleton of a module: a tree of its loops, branches, calls and important ops, with folded repeats.
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
    kOp,           // an op, also an async one with nothing between its start and its done
    kStart,        // start of an async op
    kDone,         // done of an async op
    kLoop,         // blocks: the body
    kConditional,  // blocks: the branches
    kCall,         // blocks: the called computation; also an expanded fusion or an async computation
    kMinor,        // blocks: several consecutive minor fusions
    kRepeat,       // blocks: one period of a sequence that occurs `repeats` times in a row
  };
  Kind kind = Kind::kOp;
  bool is_async = false;                          // an op with a start and a done
  const Instruction* hlo = nullptr;               // null if several instructions form one item
  const LogicalCollective* collective = nullptr;  // the collective that the item is, starts or completes
  int64_t repeats = 1;
  std::vector<const SkeletonBlock*> blocks;
  std::string op_name;  // set if it differs between repeats, with * for the differing numbers
  uint64_t hash = 0;    // equal for equivalent items
  int64_t lines = 1;    // including its blocks; at most kMaxLines
};

struct SkeletonBlock {
  std::vector<SkeletonItem> items;
  int64_t hidden = 0;  // number of instructions that do work but are not shown
  uint64_t hash = 0;
  int64_t lines = 0;
};
inline constexpr int64_t kMaxLines = INT64_MAX / 4;

class Skeleton {
 public:
  // The module, the counts and the collectives must outlive the skeleton.
  Skeleton(const Module& module, const ExecutionCounts& executions, const ModuleCollectives& collectives,
           const SkeletonOptions& options);

  // Blocks are shared: a computation with two callers is one block.
  const SkeletonBlock& entry() const { return *entry_; }
  FusionWorks& works() { return works_; }

 private:
  class Builder;
  std::deque<SkeletonBlock> blocks_;
  const SkeletonBlock* entry_ = nullptr;
  FusionWorks works_;
};

// The op_name of an instruction, without the bracketed parameters that older JAX versions append; empty if none.
std::string_view OpNameOf(const Instruction& hlo);

}  // namespace shoal::internal
