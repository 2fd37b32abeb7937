// Both ends of a transfer agree. The rules of done ops check that a done has the channel of its operand.
#include "absl/container/flat_hash_map.h"
#include "core/ops/rules.h"
#include "core/ops/transfer.h"
#include "core/verify/checks.h"

namespace shoal::internal {
namespace {

// True for send and recv, the transfers with the attribute is_host_transfer.
bool HasTransferAttr(const Instruction& hlo) { return FindAttr(hlo.opcode, kIsHostTransfer.id) != nullptr; }
bool IsSendOrRecv(const Instruction& hlo) { return IsAsyncStart(hlo) && HasTransferAttr(hlo); }
bool IsSendOrRecvDone(const Instruction& hlo) { return IsAsyncDone(hlo) && HasTransferAttr(hlo); }

std::string_view Text(bool value) { return value ? "true" : "false"; }

// True if op, shape and operand shapes are equal. The transferred values may differ.
bool HaveEqualTypes(const Instruction& a, const Instruction& b) {
  auto same = [](const Instruction* s, const Instruction* t) { return s->shape_ == t->shape_; };
  return a.opcode == b.opcode && a.shape_ == b.shape_ &&
         std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(), b.operands.end(), same);
}

}  // namespace

void CheckChannels(VerifierContext& context) {
  absl::flat_hash_map<int64_t, const Instruction*> to_host;  // the first transfer on each channel
  ForEachInstruction(context, [&](const Instruction& hlo) {
    if (!hlo.has(kChannelId)) return;
    if (IsSendOrRecvDone(hlo) && !hlo.operands.empty()) {
      const Instruction& start = *hlo.operands[0];
      if (IsSendOrRecv(start) && start[kIsHostTransfer] != hlo[kIsHostTransfer])
        context.Add(hlo, "channel.C1",
                    StrCat("is_host_transfer must be ", Text(start[kIsHostTransfer]), " as in ", start.name, ", got ",
                           Text(hlo[kIsHostTransfer])));
    }
    if (!IsSendOrRecv(hlo) || !hlo[kIsHostTransfer]) return;
    auto [first, inserted] = to_host.emplace(hlo[kChannelId], &hlo);
    if (!inserted && !HaveEqualTypes(*first->second, hlo))
      context.Add(hlo, "channel.C2",
                  StrCat("host transfers on channel ", hlo[kChannelId], " must have equal ops and shapes, got ",
                         shoal::internal::Text(hlo.opcode), " of ", Str(hlo.shape()), " and ",
                         shoal::internal::Text(first->second->opcode), " of ", Str(first->second->shape())));
  });
}

}  // namespace shoal::internal
