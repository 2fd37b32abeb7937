// Checks the rules of each op, and compares the declared with the inferred shape.
#include "absl/container/flat_hash_set.h"
#include "core/ir/sizes.h"
#include "core/ops/callee.h"
#include "core/ops/op.h"
#include "core/ops/traits.h"
#include "core/verify/checks.h"

namespace shoal::internal {
namespace {

// True if the shapes are compatible, where a dimension written "?" matches any size.
bool Fits(const Shape& a, const Shape& b) {
  if (Compatible(a, b)) return true;
  if (a.element_type() != b.element_type()) return false;
  if (a.IsArray()) return SameDims(a, b);
  auto fits = [](const Shape* s, const Shape* t) { return Fits(*s, *t); };
  return std::equal(a.elements().begin(), a.elements().end(), b.elements().begin(), b.elements().end(), fits);
}

bool MayBeDeclared(const Instruction& hlo, const Shape& inferred) {
  if (Compatible(hlo.shape(), inferred)) return true;
  return KeepsPrecision(hlo) ? Fits(hlo.shape(), inferred) : EqualExceptPrecision(hlo.shape(), inferred);
}

// The GPU compiler wraps collectives in async-start, and XLA prints them under the opcodes of the collectives' own
// starts. Their shape identifies them: ((operands), result, …).
bool IsWrapped(const Instruction& start) {
  const Shape* operands = start.shape().At(ShapeIndex{0});
  if (operands == nullptr || !operands->IsTuple() || start.shape().elements().size() < 2) return false;
  auto same = [](const Shape* shape, const Instruction* operand) { return Compatible(*shape, operand->shape()); };
  return std::equal(operands->elements().begin(), operands->elements().end(), start.operands.begin(),
                    start.operands.end(), same);
}

bool FitsWrapped(const Instruction& hlo, const Shape& inferred) {
  const AsyncPair* pair = IsCollective(hlo) ? PairOf(hlo.opcode) : nullptr;
  if (pair == nullptr) return false;
  if (hlo.opcode == pair->done) {
    const Instruction& start = *hlo.operands[0];
    return pair->start_is_result && start.opcode == pair->start && IsWrapped(start) &&
           EqualExceptPrecision(hlo.shape(), start.shape().element(1));
  }
  const Shape* result = pair->start_is_result ? &inferred : inferred.At(ShapeIndex{1});
  return result != nullptr && IsWrapped(hlo) && EqualExceptPrecision(hlo.shape().element(1), *result);
}

void CheckInstruction(const Instruction& hlo, VerifierContext& context) {
  const OpInfo& op = Info(hlo.opcode);
  if (op.infer == nullptr) return;
  if (op.arity >= 0)
    if (Status count = OperandCount(hlo, static_cast<size_t>(op.arity)); !count.ok())
      return context.Add(hlo, std::move(count.diag()));
  Result<const Shape*> inferred = op.infer(hlo, context.module().shapes);
  if (!inferred.ok()) return context.Add(hlo, std::move(inferred.diag()));
  if (MayBeDeclared(hlo, **inferred) || FitsWrapped(hlo, **inferred)) return;
  context.Add(hlo, "shape.C1",
              StrCat("the inferred shape of ", op.text, " is ", Str(**inferred), ", but ", Str(hlo.shape()),
                     " is declared"));
}

// Rule C2. Each shape is checked once.
void CheckSize(const Instruction& hlo, absl::flat_hash_set<const Shape*>& seen, VerifierContext& context) {
  if (!seen.insert(&hlo.shape()).second || !SizeOverflows(hlo.shape())) return;
  context.Add(hlo, "shape.C2",
              StrCat("the size of a shape in bytes must fit in 64 bits, got ", Str(hlo.shape())));
}

}  // namespace

void CheckInstructions(VerifierContext& context) {
  absl::flat_hash_set<const Shape*> seen;
  ForEachInstruction(context, [&](const Instruction& hlo) {
    CheckInstruction(hlo, context);
    CheckSize(hlo, seen, context);
  });
}

}  // namespace shoal::internal
