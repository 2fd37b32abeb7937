#include <algorithm>
#include <map>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "core/base/index_set.h"
#include "core/base/strings.h"
#include "core/ir/rewrite.h"
#include "core/ops/collective_kinds.h"
#include "core/ops/families.h"
#include "core/ops/new_ops.h"
#include "core/ops/op_cost.h"
#include "transform/loops/loop_ops.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

constexpr double kMaxBytes = 30 << 20;  // limit per combined collective, as in XLA's GPU pipeline
constexpr size_t kMaxMembers = 256;

bool CanBeCombined(const Instruction& hlo) {
  return IsCombinable(hlo) && hlo.operand_count() == 1 && hlo.shape().IsArray() && hlo[kControlPredecessors].empty();
}

// Only collectives with equal keys may be combined.
std::string KeyOf(const Instruction& hlo) {
  std::string key = StrCat(static_cast<int>(hlo.opcode), "/", static_cast<int>(hlo.shape().element_type()), "/",
                           hlo.has(kChannelId) ? "c" : "", hlo[kUseGlobalDeviceIds] ? "g/" : "/");
  if (const ReplicaGroups* groups = hlo[kReplicaGroups]) AppendReplicaGroups(key, *groups);
  if (hlo.has(kDimensions))
    for (int64_t d : hlo[kDimensions]) StrAppend(&key, "/", d);
  if (const Computation* function = hlo[kToApply]) {
    const Instruction* op = OnlyOpOf(*function);
    StrAppend(&key, "/", op == nullptr ? std::string(function->name) : StrCat(static_cast<int>(op->opcode)));
  }
  return key;
}

// Collectives that will be combined, and all buckets that must run before, also those that other buckets need.
struct Bucket {
  std::vector<Instruction*> members;
  double bytes = 0;
  IndexSet needs;
};

// The buckets that must run before an instruction. They include those that other buckets needed when `growths` of them
// had grown.
struct Needs {
  IndexSet buckets;
  size_t growths = 0;
};

class CollectiveCombiner {
 public:
  CollectiveCombiner(Module& module, Computation& computation) : module_(module), computation_(computation) {}

  bool Run() {
    for (Instruction* hlo : computation_.instructions) Visit(*hlo);
    bool any = false;
    for (const Bucket& bucket : buckets_) any |= bucket.members.size() > 1;
    if (!any) return false;
    Replacements replacements;
    for (const Bucket& bucket : buckets_)
      if (bucket.members.size() > 1) Combine(bucket, replacements);
    std::erase_if(computation_.instructions, [&](const Instruction* hlo) { return replacements.contains(hlo); });
    Apply(replacements, module_, computation_);
    SortTopologically(computation_);
    return true;
  }

 private:
  void Visit(Instruction& hlo) {
    std::shared_ptr<const Needs> needs = NeedsOf(hlo);
    if (CanBeCombined(hlo)) {
      const IndexSet current = needs == nullptr ? IndexSet() : CurrentBuckets(*needs);
      const size_t bucket = BucketFor(hlo, current);
      AddNeeds(bucket, current);
      IndexSet with_own = buckets_[bucket].needs;
      with_own.Add(bucket);
      needs = std::make_shared<Needs>(std::move(with_own), growths_.size());
    }
    if (needs != nullptr) needs_[&hlo] = std::move(needs);
  }

  // The union of what the operands and control predecessors need, themselves included; null if they need no bucket. Most
  // instructions share it with their only operand of that kind.
  std::shared_ptr<const Needs> NeedsOf(const Instruction& hlo) const {
    std::shared_ptr<const Needs> shared;
    std::shared_ptr<Needs> merged;
    auto add = [&](const Instruction* before) {
      const auto found = needs_.find(before);
      if (found == needs_.end() || found->second == shared) return;
      if (shared == nullptr) {
        shared = found->second;
        return;
      }
      if (merged == nullptr) merged = std::make_shared<Needs>(*shared);
      merged->buckets.Add(found->second->buckets);
      merged->growths = std::min(merged->growths, found->second->growths);
    };
    for (const Instruction* operand : hlo.operands) add(operand);
    for (const Instruction* before : hlo[kControlPredecessors]) add(before);
    return merged != nullptr ? merged : shared;
  }

  IndexSet CurrentBuckets(const Needs& needs) const {
    IndexSet current = needs.buckets;
    for (size_t i = needs.growths; i < growths_.size(); ++i)
      if (current.Contains(growths_[i])) current.Add(buckets_[growths_[i]].needs);
    return current;
  }

  // Returns the last bucket with this key, or a new bucket if that one is full or `hlo` depends on it.
  size_t BucketFor(Instruction& hlo, const IndexSet& needs) {
    const double bytes = std::max(LeafBytesOf(hlo.shape()), LeafBytesOf(hlo.operand_shape(0)));
    auto [last, inserted] = last_.try_emplace(KeyOf(hlo), buckets_.size());
    if (!inserted) {
      Bucket& bucket = buckets_[last->second];
      const bool full = bucket.bytes + bytes > kMaxBytes || bucket.members.size() >= kMaxMembers;
      if (!full && !needs.Contains(last->second)) {
        bucket.members.push_back(&hlo);
        bucket.bytes += bytes;
        return last->second;
      }
      last->second = buckets_.size();
    }
    buckets_.push_back({{&hlo}, bytes, {}});
    return buckets_.size() - 1;
  }

  void AddNeeds(size_t bucket, const IndexSet& needs) {
    if (!buckets_[bucket].needs.Add(needs) || buckets_[bucket].members.size() == 1) return;
    growths_.push_back(bucket);
    for (Bucket& other : buckets_)
      if (other.needs.Contains(bucket)) other.needs.Add(buckets_[bucket].needs);
  }

  // Creates one collective with many operands and a tuple result.
  void Combine(const Bucket& bucket, Replacements& replacements) {
    std::vector<Instruction*> operands;
    std::vector<const Shape*> shapes;
    for (const Instruction* member : bucket.members) {
      operands.push_back(member->operands[0]);
      shapes.push_back(member->shape_);
    }
    Instruction* combined = CopyInstruction(module_, computation_, *bucket.members.front(), operands);
    combined->shape_ = module_.shapes.Tuple(shapes);
    for (size_t i = 0; i < bucket.members.size(); ++i) {
      replacements[bucket.members[i]] =
          NewGetTupleElement(module_, computation_, combined, static_cast<int64_t>(i), *bucket.members[i]);
    }
  }

  Module& module_;
  Computation& computation_;
  std::vector<Bucket> buckets_;
  std::map<std::string, size_t> last_;  // by key: the index of the last bucket
  std::vector<size_t> growths_;         // buckets whose needs grew when a member was added, in order
  absl::flat_hash_map<const Instruction*, std::shared_ptr<const Needs>> needs_;
};

}  // namespace

Result<bool> CombineCollectives(Module& module, const PassContext&) {
  bool any = false;
  for (Computation* computation : module.computations) any |= CollectiveCombiner(module, *computation).Run();
  return any;
}

}  // namespace shoal::internal
