#include "core/ops/async_pairs.h"

#include "core/ops/families.h"

namespace shoal::internal {
namespace {

constexpr AsyncPair kPairs[] = {
    {Opcode::kAllGatherStart, Opcode::kAllGatherDone, Opcode::kAllGather},
    {Opcode::kAllReduceStart, Opcode::kAllReduceDone, Opcode::kAllReduce, true},
    {Opcode::kAsyncStart, Opcode::kAsyncDone, Opcode::kAsyncStart},
    {Opcode::kCollectivePermuteStart, Opcode::kCollectivePermuteDone, Opcode::kCollectivePermute},
    {Opcode::kCopyStart, Opcode::kCopyDone, Opcode::kCopy},
    {Opcode::kRecv, Opcode::kRecvDone, Opcode::kSend, false, true, true},
    {Opcode::kSend, Opcode::kSendDone, Opcode::kSend, false, true, true},
};

}  // namespace

const AsyncPair* PairOf(Opcode opcode) {
  for (const AsyncPair& pair : kPairs)
    if (pair.start == opcode || pair.done == opcode) return &pair;
  return nullptr;
}

bool IsAsyncStart(const Instruction& hlo) {
  const AsyncPair* pair = PairOf(hlo.opcode);
  return pair != nullptr && pair->start == hlo.opcode;
}

bool IsAsyncDone(const Instruction& hlo) {
  const AsyncPair* pair = PairOf(hlo.opcode);
  return pair != nullptr && pair->done == hlo.opcode;
}

bool IsAsyncChain(const Instruction& hlo) {
  return hlo.opcode == Opcode::kAsyncStart || hlo.opcode == Opcode::kAsyncUpdate || hlo.opcode == Opcode::kAsyncDone;
}

Opcode KindOf(Opcode opcode) {
  const AsyncPair* pair = PairOf(opcode);
  return pair == nullptr || pair->start != opcode ? opcode : pair->kind;
}

StartParts StartPartsOf(const Instruction& start) {
  switch (start.opcode) {
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
      return {0, 1, true};
    case Opcode::kAllReduceStart:
      return HasAsyncShape(start) ? StartParts{0, 1, true} : StartParts{};
    case Opcode::kAllGatherStart:
    case Opcode::kCollectivePermuteStart:
      return {0, 1, HasAsyncShape(start) || (start.operand_count() > 1 && start[kPermuteSliceSizes].empty())};
    case Opcode::kCopyStart:
      return {1, 0};
    case Opcode::kSend:
      return {0, std::nullopt};
    case Opcode::kRecv:
      return {std::nullopt, 0};
    default:
      return {};
  }
}

std::optional<int64_t> ResultPartOf(const Instruction& done) {
  const AsyncPair* pair = PairOf(done.opcode);
  if (pair == nullptr || done.operands.empty()) return std::nullopt;
  if (pair->start == Opcode::kCopyStart || pair->start == Opcode::kRecv) return 0;
  if (pair->start == Opcode::kSend) return 2;
  if (pair->start_is_result && !HasAsyncShape(*done.operands[0])) return std::nullopt;
  return 1;
}

bool ReturnsToken(const Instruction& done) { return done.opcode == Opcode::kRecvDone; }

}  // namespace shoal::internal
