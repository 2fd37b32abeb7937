// Whatever is started is done, once.
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/ops/async_pairs.h"
#include "core/ops/families.h"
#include "core/ops/value_flow.h"
#include "core/verify/async_trace.h"
#include "core/verify/checks.h"

namespace shoal::internal {
namespace {

// async-start and async-update: what they give is no value yet.
bool IsUnderway(const Instruction& hlo) { return IsAsyncChain(hlo) && !IsAsyncDone(hlo); }

// Rule C1: what an async-start or async-update gives is no value yet; only some ops may touch it.
void CheckUses(const Instruction& user, VerifierContext& inspection) {
  constexpr Forwarding kMayCarry =
      kCarriesAsync | Forwarding::kDomain | Forwarding::kCalled | Forwarding::kLoopState | Forwarding::kBranch;
  for (size_t i = 0; i < user.operand_count(); ++i) {
    const Instruction& operand = *user.operands[i];
    if (!IsUnderway(operand)) continue;
    const bool continues = IsAsyncChain(user) && !IsAsyncStart(user);
    const bool fits = continues ? i == 0 : Has(kMayCarry, ForwardingOf(user));
    if (!fits)
      inspection.Add(user, "async.C1",
                     StrCat("operand ", i, ", ", operand.name,
                            ", must be used as operand 0 of async-update or async-done, or handed on by tuples, "
                            "calls and loops, got ",
                            Text(user.opcode)));
  }
}

// Custom calls of this name only order things.
bool IsControlDependency(const Instruction& hlo) {
  return TargetOf(hlo) == "control_dep";
}

// Rules C2 and C3.
void CheckStart(const Instruction& start, const AsyncPair& pair, VerifierContext& inspection) {
  if (pair.alone_in_wrapper && &start == start.parent->root && inspection.IsAsync(*start.parent)) return;
  size_t count = 0;
  const Instruction* user = nullptr;
  for (const Instruction* each : inspection.UsersOf(start)) {
    if (IsControlDependency(*each)) continue;
    if (user == nullptr) user = each;
    ++count;
  }
  if (count != 1)
    return inspection.Add(start, "async.C2",
                          StrCat(start.name, " must have one user, its ", Text(pair.done), ", got ", count));
  if (user->opcode != pair.done && !Has(kCarriesAsync | Forwarding::kLoopState, ForwardingOf(*user)))
    inspection.Add(start, "async.C3",
                   StrCat(start.name, " must be used by ", Text(pair.done), ", got ", Text(user->opcode)));
}

// Rule C4.
void CheckDone(const Instruction& done, const AsyncPair& pair, VerifierContext& inspection) {
  if (done.operands.empty()) return;
  const Instruction& operand = *done.operands[0];
  if (operand.opcode == pair.start || (pair.in_tuple && ForwardingOf(operand) == Forwarding::kTupleElement)) return;
  const Instruction* producer = AsyncProducer(operand, inspection);
  if (producer != nullptr && producer->opcode == pair.start) return;
  inspection.Add(done, "async.C4",
                 StrCat("operand 0 must come from ", Text(pair.start), ", got ", Text(operand.opcode)));
}

// Rules C5 to C8: chains of async-start, async-update…, async-done. The rules of these ops say what an end
// must come from; here: each beginning has one.
class Chains {
 public:
  explicit Chains(VerifierContext& inspection) : inspection_(inspection) {}

  void Check() {
    ForEachInstruction(inspection_, [&](const Instruction& hlo) {
      if (IsAsyncChain(hlo) && IsAsyncDone(hlo)) Follow(hlo);
    });
    ForEachInstruction(inspection_, [&](const Instruction& hlo) {
      if (IsAsyncChain(hlo) && IsAsyncStart(hlo) && !dones_.contains(&hlo) && !CrossesLoopBoundary(hlo, inspection_))
        inspection_.Add(hlo, "async.C7", StrCat(hlo.name, " must have an async-done, got none"));
      if (ForwardingOf(hlo) == Forwarding::kAsyncUpdate && !updates_.contains(&hlo) && !CrossesLoopBoundary(hlo, inspection_))
        inspection_.Add(hlo, "async.C8", StrCat(hlo.name, " must lead to an async-done, got none"));
    });
  }

 private:
  void Follow(const Instruction& done) {
    const Instruction* at = &done;
    do {
      at = at->operands.empty() ? nullptr : AsyncProducer(*at->operands[0], inspection_);
      if (at == nullptr) return;
      if (ForwardingOf(*at) == Forwarding::kAsyncUpdate && !updates_.insert(at).second)
        return inspection_.Add(done, "async.C5", StrCat(at->name, " must lead to one async-done, got another"));
    } while (ForwardingOf(*at) == Forwarding::kAsyncUpdate);
    auto [known, fresh] = dones_.emplace(at, &done);
    if (!fresh)
      inspection_.Add(done, "async.C6",
                      StrCat(at->name, " must have one async-done, but ", known->second->name, " is there already"));
  }

  VerifierContext& inspection_;
  absl::flat_hash_map<const Instruction*, const Instruction*> dones_;  // by what they end
  absl::flat_hash_set<const Instruction*> updates_;
};

// Rule C9: on the main thread an async computation is one op, a group of collectives marked as such, or a
// barrier.
void CheckWrapped(const Computation& wrapped, VerifierContext& inspection) {
  if (wrapped.execution_thread != kAsyncExecutionThread.fallback) return;
  const Instruction* start = nullptr;
  size_t starts = 0;
  for (const Instruction* caller : inspection.CallersOf(wrapped)) {
    if (!IsAsyncChain(*caller) || !IsAsyncStart(*caller)) continue;
    start = caller;
    ++starts;
  }
  if (starts == 1 && FrontendAttributeOf(*start, "_collectives_group") != nullptr) return;
  for (const Instruction* hlo : wrapped.instructions)
    if (hlo != wrapped.root && !Has(Forwarding::kTupleElement | Forwarding::kArgument, ForwardingOf(*hlo)))
      return inspection.Add(*hlo, "async.C9",
                            StrCat("async computation ", wrapped.name, " must be one op and its parameters, but has ",
                                   hlo->name, " beside ", wrapped.root->name));
}

}  // namespace

void CheckAsync(VerifierContext& inspection) {
  ForEachInstruction(inspection, [&](const Instruction& hlo) {
    CheckUses(hlo, inspection);
    if (const AsyncPair* pair = PairOf(hlo.opcode); pair != nullptr && !IsAsyncChain(hlo))
      (hlo.opcode == pair->start ? CheckStart : CheckDone)(hlo, *pair, inspection);
  });
  Chains(inspection).Check();
  for (const Computation* computation : inspection.computations())
    if (inspection.IsAsync(*computation)) CheckWrapped(*computation, inspection);
}

}  // namespace shoal::internal
