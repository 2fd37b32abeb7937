#include <algorithm>
#include <map>

#include "absl/container/flat_hash_set.h"
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

// Collectives that will be combined, and the indices of the buckets on which they depend.
struct Bucket {
  std::vector<Instruction*> members;
  double bytes = 0;
  absl::flat_hash_set<size_t> needs;
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
    absl::flat_hash_set<size_t> needs;
    auto add_needs = [&](const Instruction* before) {
      if (auto found = needs_.find(before); found != needs_.end()) needs.insert(found->second.begin(), found->second.end());
      if (auto found = bucket_of_.find(before); found != bucket_of_.end()) needs.insert(found->second);
    };
    for (const Instruction* operand : hlo.operands) add_needs(operand);
    for (const Instruction* before : hlo[kControlPredecessors]) add_needs(before);
    if (CanBeCombined(hlo)) {
      const size_t bucket = BucketFor(hlo, needs);
      buckets_[bucket].needs.insert(needs.begin(), needs.end());
      bucket_of_[&hlo] = bucket;
    }
    if (!needs.empty()) needs_[&hlo] = std::move(needs);
  }

  // Returns the last bucket with this key, or a new bucket if that one is full or `hlo` depends on it.
  size_t BucketFor(Instruction& hlo, const absl::flat_hash_set<size_t>& needs) {
    const double bytes = std::max(LeafBytesOf(hlo.shape()), LeafBytesOf(hlo.operand_shape(0)));
    auto [last, inserted] = last_.try_emplace(KeyOf(hlo), buckets_.size());
    if (!inserted) {
      Bucket& bucket = buckets_[last->second];
      const bool full = bucket.bytes + bytes > kMaxBytes || bucket.members.size() >= kMaxMembers;
      if (!full && !Reaches(needs, last->second)) {
        bucket.members.push_back(&hlo);
        bucket.bytes += bytes;
        return last->second;
      }
      last->second = buckets_.size();
    }
    buckets_.push_back({{&hlo}, bytes, {}});
    return buckets_.size() - 1;
  }

  bool Reaches(const absl::flat_hash_set<size_t>& from, size_t to) const {
    std::vector<size_t> stack(from.begin(), from.end());
    absl::flat_hash_set<size_t> seen(from.begin(), from.end());
    while (!stack.empty()) {
      const size_t bucket = stack.back();
      stack.pop_back();
      if (bucket == to) return true;
      for (size_t next : buckets_[bucket].needs)
        if (seen.insert(next).second) stack.push_back(next);
    }
    return false;
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
  absl::flat_hash_map<const Instruction*, absl::flat_hash_set<size_t>> needs_;
  absl::flat_hash_map<const Instruction*, size_t> bucket_of_;
};

}  // namespace

Result<bool> CombineCollectives(Module& module, const PassContext&) {
  bool any = false;
  for (Computation* computation : module.computations) any |= CollectiveCombiner(module, *computation).Run();
  return any;
}

}  // namespace shoal::internal
