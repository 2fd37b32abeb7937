// Both ends of a transfer agree. That a done op has the channel of its operand, the op itself checks.
#include "absl/container/flat_hash_map.h"
#include "core/ops/rules.h"
#include "core/ops/transfer.h"
#include "core/verify/checks.h"

namespace shoal::internal {
namespace {

// Send and recv, which are told from other transfers by their attribute.
bool IsEnd(const Instruction& hlo) { return IsAsyncStart(hlo) && FindAttr(hlo.opcode, kIsHostTransfer.id) != nullptr; }
bool IsDone(const Instruction& hlo) { return IsAsyncDone(hlo) && FindAttr(hlo.opcode, kIsHostTransfer.id) != nullptr; }

std::string_view Text(bool value) { return value ? "true" : "false"; }

// The same up to what is sent: op, shape, and shapes of operands.
bool Alike(const Instruction& a, const Instruction& b) {
  auto same = [](const Instruction* s, const Instruction* t) { return s->shape_ == t->shape_; };
  return a.opcode == b.opcode && a.shape_ == b.shape_ &&
         std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(), b.operands.end(), same);
}

}  // namespace

void CheckChannels(VerifierContext& inspection) {
  absl::flat_hash_map<int64_t, const Instruction*> to_host;  // the first on each channel
  ForEachInstruction(inspection, [&](const Instruction& hlo) {
    if (!hlo.has(kChannelId)) return;
    if (IsDone(hlo) && !hlo.operands.empty()) {
      const Instruction& end = *hlo.operands[0];
      if (IsEnd(end) && end[kIsHostTransfer] != hlo[kIsHostTransfer])
        inspection.Add(hlo, "channel.C1",
                       StrCat("is_host_transfer must be ", Text(end[kIsHostTransfer]), " as in ", end.name, ", got ",
                              Text(hlo[kIsHostTransfer])));
    }
    if (!IsEnd(hlo) || !hlo[kIsHostTransfer]) return;
    auto [first, fresh] = to_host.emplace(hlo[kChannelId], &hlo);
    if (!fresh && !Alike(*first->second, hlo))
      inspection.Add(hlo, "channel.C2",
                     StrCat("host transfers on channel ", hlo[kChannelId], " must be alike, got ",
                            shoal::internal::Text(hlo.opcode), " of ", Str(hlo.shape()), " beside ",
                            shoal::internal::Text(first->second->opcode), " of ", Str(first->second->shape())));
  });
}

}  // namespace shoal::internal
