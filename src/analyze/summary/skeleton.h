// The execution skeleton of a module: a tree of its loops, branches, calls and important ops, with folded repeats.
#pragma once

#include <deque>

#include "absl/container/flat_hash_map.h"
#include "analyze/facts/logical_collective.h"
#include "analyze/summary/module_facts.h"
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
    kOp,           // an op, or an async op without other items between its start and its done
    kStart,        // the start of an async op
    kDone,         // the done of an async op
    kLoop,         // `blocks` has the body
    kConditional,  // `blocks` has the branches
    kCall,         // a call, an async computation or an expanded fusion; `blocks` has the called computation
    kMinor,        // `blocks` has several consecutive minor fusions
    kRepeat,       // `blocks` has one period of a sequence that occurs `repeats` times in a row
  };
  Kind kind = Kind::kOp;
  bool is_async = false;                          // true for a kOp that consists of a start and a done
  const Instruction* hlo = nullptr;               // null if several instructions form one item
  const LogicalCollective* collective = nullptr;  // the collective of which the item is the op, start or done
  int64_t repeats = 1;
  std::vector<const SkeletonBlock*> blocks;
  std::string op_name;  // set only if the op_names of the repeats differ; has * for each differing number
  uint64_t hash = 0;    // equivalent items have equal hashes
  int64_t lines = 1;    // number of lines of the item and its blocks, at most kMaxLines
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
  // The facts must outlive the skeleton.
  Skeleton(const ModuleFacts& facts, const SkeletonOptions& options);

  // The block of the entry computation. A computation with several callers has only one block.
  const SkeletonBlock& entry() const { return *entry_; }

 private:
  class Builder;
  std::deque<SkeletonBlock> blocks_;
  const SkeletonBlock* entry_ = nullptr;
};

// Returns the op_name of an instruction, without bracketed parameters (from old JAX versions). Empty if there is none.
std::string_view OpNameOf(const Instruction& hlo);

}  // namespace shoal::internal
