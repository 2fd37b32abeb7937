// Exchange: one process's share of a collective whose members are in several processes. Members in the same process
// share memory. The processes exchange parts in one or two all-to-all rounds. The results are bit-identical to those of
// a run in one process.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "execute/collectives/contribution.h"
#include "execute/transport/communicator.h"

namespace shoal::internal {

// The distribution of a group's members over processes. Omits processes without a member.
struct GroupLayout {
  std::vector<int> ranks;                    // ranks of the processes, ascending
  std::vector<std::vector<size_t>> members;  // members of each process in `ranks`
  size_t self = 0;                           // index of this process in `ranks`
  size_t count = 0;                          // total number of members

  const std::vector<size_t>& local() const { return members[self]; }
};

struct ArrayType {
  ElementType type{};
  Dims dims;
  bool operator==(const ArrayType&) const = default;
};
using ArrayTypes = std::vector<ArrayType>;
std::string ToString(const ArrayType& type);  // such as f32[2,3]

// A contiguous byte range of an array.
struct Block {
  Array array;
  int64_t offset = 0, bytes = 0;
};
Block WholeBlock(Array array);

class Exchange {
 public:
  virtual ~Exchange() = default;
  // Called when all local members have arrived. `contributions` is indexed by member; it is empty for remote members.
  virtual void Begin(const GroupLayout& layout, std::vector<Arrays> contributions) = 0;
  virtual int rounds() const { return 1; }
  // The blocks to send to another process in a round. `process` is an index into the layout. The bytes of the blocks do
  // not change during the lifetime of this Exchange.
  virtual Result<std::vector<Block>> OutgoingBlocks(int round, size_t process) = 0;
  // Called when a process arrives before others, if its contributions and all local ones have these types. Returns true
  // if IncomingBuffers may be called for that process now. OnTypesAgreed detects different types in a later process.
  virtual bool CanPrepost(const ArrayTypes& /*contribution*/) { return false; }
  // Called when all members have arrived at compatible instructions. `contributions` has the types of each member's
  // contribution, and outlives this Exchange.
  virtual Status OnTypesAgreed(const std::vector<ArrayTypes>& contributions) = 0;
  // The memory for the blocks that another process sends in this round; the blocks have these types.
  virtual Result<std::vector<std::span<std::byte>>> IncomingBuffers(int round, size_t process,
                                                                    const ArrayTypes& blocks) = 0;
  // Does local work while the receives of the first round are pending. Must call `advance` regularly, since bytes move
  // between processes only during such calls.
  virtual Status OverlapWork(const std::function<void()>& /*advance*/) { return {}; }
  virtual Status OnRoundReceived(int round) = 0;
  // After the last round: the reductions that the transport then performs in place.
  struct Reduction {
    ReduceOp op{};
    ReduceType type{};
    std::byte* data = nullptr;
    int64_t count = 0;
  };
  virtual std::vector<Reduction> Reductions() { return {}; }
  // After the last round and the reductions: returns the results of the local members, indexed by member.
  virtual Result<std::vector<Arrays>> Finish() = 0;
};

// The rules of a one-round exchange in which each contribution is split into one part per process.
struct PartRules {
  using Targets = std::span<const size_t>;
  // Returns the parts of `source`'s contribution that the members `targets` need.
  std::function<Result<Arrays>(size_t source, const Arrays& contribution, Targets targets)> split;
  // Combines these parts of all members into the results of `targets`. `contributions` are the types before the split.
  std::function<Result<std::vector<Arrays>>(std::vector<Arrays> parts, const std::vector<ArrayTypes>& contributions,
                                            Targets targets)>
      join;
  // Optional. If the result arrays consist of all members' parts in rank order, returns the types of the arrays, one
  // per part of a split. The parts are then received directly into these arrays, and `join` is not called. If
  // `one_each`, each target gets its own array, else all targets get all arrays.
  std::function<std::optional<ArrayTypes>(const std::vector<ArrayTypes>& contributions, Targets)> contiguous_types;
  bool one_each = false;
  // True if the members in a process share result arrays. Results are then frozen, even for a single member.
  bool is_shared = false;
};
std::unique_ptr<Exchange> NewPartExchange(PartRules rules);
// Rules for an exchange in which every process receives all contributions and combines them for its own members.
PartRules GatherRules(Combine combine);
// True if all contributions have equal dimensions, and the parts of an array along `dim` are contiguous in memory.
bool AreContiguousParts(const std::vector<ArrayTypes>& contributions, size_t operand, int64_t dim);

// A fold of contributions in rank order.
class OrderedFold {
 public:
  virtual ~OrderedFold() = default;
  virtual Status Add(Arrays& sum, Arrays next) const = 0;  // `sum` is initially empty
  virtual Arrays Finish(Arrays sum) const = 0;             // rounds to the operand types
  // Does the same as Add for the last contribution and then Finish, and writes the result to `outs`.
  virtual Status FinishWith(Arrays sum, Arrays last, std::span<std::byte* const> outs) const = 0;
  // Folds two parts of operand k into `out`. Returns false unless the fold is one binary op on the operand's type.
  virtual bool FoldSameType(size_t k, std::byte* out, const std::byte* first, const std::byte* second,
                            int64_t count) const = 0;
  virtual Arrays Widen(Arrays sum) const = 0;  // converts to the accumulation types
};
using FoldPtr = std::shared_ptr<const OrderedFold>;
// An all-reduce: each process folds its share of the elements, then all processes gather the shares. `size_mismatch`
// creates the error for contributions of different sizes.
std::unique_ptr<Exchange> NewAllReduceExchange(
    FoldPtr fold, std::function<Diag(const ArrayType&, const ArrayType&)> size_mismatch);

// An all-reduce: each process folds its members' contributions; the transport reduces these results in any order.
std::unique_ptr<Exchange> NewFastReduceExchange(FoldPtr fold, ReduceOp op);
std::optional<ReduceType> ReduceTypeOf(ElementType type);

// The size limit for messages with whole contributions. Larger contributions are split.
inline constexpr int64_t kSmallMessageBytes = 16 << 10;

}  // namespace shoal::internal
