// Exchange: one collective whose members are in several processes, as one of them sees it. Members of one process share
// memory; the processes exchange parts in one or two rounds, each with each. What comes out is bit for bit what one
// process would have made.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "execute/collectives/contribution.h"
#include "execute/transport/communicator.h"

namespace shoal::internal {

// How the members of a group lie in the processes that have any.
struct GroupLayout {
  std::vector<int> ranks;                    // of those processes, ascending
  std::vector<std::vector<size_t>> members;  // of each of them
  size_t self = 0;                           // which of them is this one
  size_t count = 0;                          // of all members

  const std::vector<size_t>& local() const { return members[self]; }
};

struct ArrayType {
  ElementType type{};
  Dims dims;
  bool operator==(const ArrayType&) const = default;
};
using ArrayTypes = std::vector<ArrayType>;
std::string ToString(const ArrayType& type);  // f32[2,3]

// Bytes of an array, one after the other.
struct Block {
  Array array;
  int64_t offset = 0, bytes = 0;
};
Block WholeBlock(Array array);

class Exchange {
 public:
  virtual ~Exchange() = default;
  // All members of this process have come: contributions of those are there, by member.
  virtual void Begin(const GroupLayout& layout, std::vector<Arrays> contributions) = 0;
  virtual int rounds() const { return 1; }
  // What another process, by its index in the layout, gets in a round. The bytes stay as they are while this lives.
  virtual Result<std::vector<Block>> OutgoingBlocks(int round, size_t process) = 0;
  // Another process has come before all have, and its members' contributions have the types of those here, which are
  // alike: whether From can be asked for it already. If others come with different ones Matched will tell.
  virtual bool CanPrepost(const ArrayTypes& /*each*/) { return false; }
  // All have come, with contributions of these types, which are there as long as this is; that their instructions fit
  // each other is known.
  virtual Status OnTypesAgreed(const std::vector<ArrayTypes>& contributions) = 0;
  // Where blocks of these types that another process sends go.
  virtual Result<std::vector<std::span<std::byte>>> IncomingBuffers(int round, size_t process, const ArrayTypes& blocks) = 0;
  // The receives of the first round are posted: there is time for what needs nothing from others. `advance` is called now
  // and then, since bytes move between processes only while somebody looks after them.
  virtual Status OverlapWork(const std::function<void()>& /*advance*/) { return {}; }
  // Everything of this round is there.
  virtual Status OnRoundReceived(int round) = 0;
  // After the last round: what the transport itself is to reduce, in place.
  struct Reduction {
    ReduceOp op{};
    ReduceType type{};
    std::byte* data = nullptr;
    int64_t count = 0;
  };
  virtual std::vector<Reduction> Reductions() { return {}; }
  // The results of this process's members, by member; after the last round.
  virtual Result<std::vector<Arrays>> Finish() = 0;
};

// One round of parts, which are cut for all members of a process together.
struct PartRules {
  using Targets = std::span<const size_t>;
  // What the members `targets` need of the contribution of `source`.
  std::function<Result<Arrays>(size_t source, const Arrays& contribution, Targets targets)> cut;
  // The results of `targets` from such parts of all members; `contributions` are the types of what was cut.
  std::function<Result<std::vector<Arrays>>(std::vector<Arrays> parts, const std::vector<ArrayTypes>& contributions,
                                            Targets targets)>
      join;
  // Where the parts of all members lie side by side in arrays, in the order of the members, they are received right
  // there and nothing is joined: the types of those arrays, one for each part of a cut, or nothing. Of them each target
  // gets its own (`one_each`), or all get all.
  std::function<std::optional<ArrayTypes>(const std::vector<ArrayTypes>& contributions, Targets targets)> side_by_side;
  bool one_each = false;
  // In one process all members have the same arrays, which nobody writes then: nor does a member that is alone here.
  bool is_shared = false;
};
std::unique_ptr<Exchange> NewPartExchange(PartRules rules);
// Everybody gets everything, and works out the results of its own members.
PartRules GatherRules(Combine combine);
// Whether all contributions are alike and their parts along `dim` lie side by side in an array.
bool AreContiguousParts(const std::vector<ArrayTypes>& contributions, size_t operand, int64_t dim);

// How contributions are folded, one after the other in the order of the members.
class OrderedFold {
 public:
  virtual ~OrderedFold() = default;
  virtual Status Add(Arrays& sum, Arrays next) const = 0;  // `sum` is empty at first
  virtual Arrays Finish(Arrays sum) const = 0;             // rounds to the operands' own types
  // Both at once, with the last one: what Finish would give is written to these places.
  virtual Status FinishWith(Arrays sum, Arrays last, std::span<std::byte* const> outs) const = 0;
  // out = first and second of operand k, folded, if that is one op of two numbers of the operand's own type.
  virtual bool FoldSameType(size_t k, std::byte* out, const std::byte* first, const std::byte* second, int64_t count) const = 0;
  virtual Arrays Widen(Arrays sum) const = 0;              // to the types in which sums are kept
};
using FoldPtr = std::shared_ptr<const OrderedFold>;
// An all-reduce: each process folds its share of the elements, then all gather the shares.
std::unique_ptr<Exchange> NewAllReduceExchange(
    FoldPtr fold, std::function<Diag(const ArrayType&, const ArrayType&)> differ);

// An all-reduce in which each process folds what its own members bring and the transport the rest, in any order.
std::unique_ptr<Exchange> NewFastReduceExchange(FoldPtr fold, ReduceOp op);
std::optional<ReduceType> ReduceTypeOf(ElementType type);

// Contributions of more than that are cut up; fewer bytes are quicker in one message.
inline constexpr int64_t kFewBytes = 16 << 10;

}  // namespace shoal::internal
