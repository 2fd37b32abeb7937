// Every async start has exactly one done.
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/ops/async_pairs.h"
#include "core/ops/custom_calls.h"
#include "core/ops/families.h"
#include "core/ops/value_flow.h"
#include "core/verify/async_trace.h"
#include "core/verify/checks.h"

namespace shoal::internal {
namespace {

// True for async-start and async-update, whose result is still pending.
bool IsPending(const Instruction& hlo) { return IsAsyncChain(hlo) && !IsAsyncDone(hlo); }

// Rule C1: the result of an async-start or async-update is pending; only some ops may use it.
void CheckUses(const Instruction& user, VerifierContext& context) {
  constexpr Forwarding kMayCarry =
      kCarriesAsync | Forwarding::kDomain | Forwarding::kCalled | Forwarding::kLoopState | Forwarding::kBranch;
  for (size_t i = 0; i < user.operand_count(); ++i) {
    const Instruction& operand = *user.operands[i];
    if (!IsPending(operand)) continue;
    const bool continues = IsAsyncChain(user) && !IsAsyncStart(user);
    const bool is_allowed = continues ? i == 0 : Has(kMayCarry, ForwardingOf(user));
    if (!is_allowed)
      context.Add(user, "async.C1",
                  StrCat("operand ", i, ", ", operand.name,
                         ", must be used as operand 0 of async-update or async-done, or forwarded by tuples, "
                         "calls and loops, got ",
                         Text(user.opcode)));
  }
}

// Rules C2 and C3.
void CheckStart(const Instruction& start, const AsyncPair& pair, VerifierContext& context) {
  if (pair.alone_in_wrapper && &start == start.parent->root && context.IsAsync(*start.parent)) return;
  size_t count = 0;
  const Instruction* user = nullptr;
  for (const Instruction* each : context.UsersOf(start)) {
    if (IsControlDependency(*each)) continue;
    if (user == nullptr) user = each;
    ++count;
  }
  if (count != 1)
    return context.Add(start, "async.C2",
                       StrCat(start.name, " must have one user, its ", Text(pair.done), ", got ", count));
  if (user->opcode != pair.done && !Has(kCarriesAsync | Forwarding::kLoopState, ForwardingOf(*user)))
    context.Add(start, "async.C3",
                StrCat(start.name, " must be used by ", Text(pair.done), ", got ", Text(user->opcode)));
}

// Rule C4.
void CheckDone(const Instruction& done, const AsyncPair& pair, VerifierContext& context) {
  if (done.operands.empty()) return;
  const Instruction& operand = *done.operands[0];
  if (operand.opcode == pair.start || (pair.in_tuple && ForwardingOf(operand) == Forwarding::kTupleElement)) return;
  const Instruction* producer = AsyncProducer(operand, context);
  if (producer != nullptr && producer->opcode == pair.start) return;
  context.Add(done, "async.C4",
              StrCat("operand 0 must come from ", Text(pair.start), ", got ", Text(operand.opcode)));
}

// Rules C5 to C8: chains of async-start, async-update…, async-done. The rules of these ops check that every done has
// a start. This class checks that every start has a done.
class Chains {
 public:
  explicit Chains(VerifierContext& context) : context_(context) {}

  void Check() {
    ForEachInstruction(context_, [&](const Instruction& hlo) {
      if (IsAsyncChain(hlo) && IsAsyncDone(hlo)) Follow(hlo);
    });
    ForEachInstruction(context_, [&](const Instruction& hlo) {
      if (IsAsyncChain(hlo) && IsAsyncStart(hlo) && !dones_.contains(&hlo) && !CrossesLoopBoundary(hlo, context_))
        context_.Add(hlo, "async.C7", StrCat(hlo.name, " must have an async-done, got none"));
      if (ForwardingOf(hlo) == Forwarding::kAsyncUpdate && !updates_.contains(&hlo) &&
          !CrossesLoopBoundary(hlo, context_))
        context_.Add(hlo, "async.C8", StrCat(hlo.name, " must lead to an async-done, got none"));
    });
  }

 private:
  void Follow(const Instruction& done) {
    const Instruction* at = &done;
    do {
      at = at->operands.empty() ? nullptr : AsyncProducer(*at->operands[0], context_);
      if (at == nullptr) return;
      if (ForwardingOf(*at) == Forwarding::kAsyncUpdate && !updates_.insert(at).second)
        return context_.Add(done, "async.C5", StrCat(at->name, " must lead to only one async-done, got a second one"));
    } while (ForwardingOf(*at) == Forwarding::kAsyncUpdate);
    auto [entry, inserted] = dones_.emplace(at, &done);
    if (!inserted)
      context_.Add(done, "async.C6",
                   StrCat(at->name, " must have only one async-done, but already has ", entry->second->name));
  }

  VerifierContext& context_;
  absl::flat_hash_map<const Instruction*, const Instruction*> dones_;  // keyed by async-start
  absl::flat_hash_set<const Instruction*> updates_;
};

// Rule C9: on the main thread an async computation is a single op, an annotated group of collectives, or a barrier.
void CheckWrapped(const Computation& wrapped, VerifierContext& context) {
  if (wrapped.execution_thread != kAsyncExecutionThread.fallback) return;
  const Instruction* start = nullptr;
  size_t starts = 0;
  for (const Instruction* caller : context.CallersOf(wrapped)) {
    if (!IsAsyncChain(*caller) || !IsAsyncStart(*caller)) continue;
    start = caller;
    ++starts;
  }
  if (starts == 1 && FrontendAttributeOf(*start, "_collectives_group") != nullptr) return;
  for (const Instruction* hlo : wrapped.instructions)
    if (hlo != wrapped.root && !Has(Forwarding::kTupleElement | Forwarding::kArgument, ForwardingOf(*hlo)))
      return context.Add(*hlo, "async.C9",
                         StrCat("async computation ", wrapped.name, " must contain one op and its parameters, but has ",
                                hlo->name, " and ", wrapped.root->name));
}

}  // namespace

void CheckAsync(VerifierContext& context) {
  ForEachInstruction(context, [&](const Instruction& hlo) {
    CheckUses(hlo, context);
    if (const AsyncPair* pair = PairOf(hlo.opcode); pair != nullptr && !IsAsyncChain(hlo))
      (hlo.opcode == pair->start ? CheckStart : CheckDone)(hlo, *pair, context);
  });
  Chains(context).Check();
  for (const Computation* computation : context.computations())
    if (context.IsAsync(*computation)) CheckWrapped(*computation, context);
}

}  // namespace shoal::internal
