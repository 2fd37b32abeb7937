#include <algorithm>

#include "core/base/strings.h"
#include "core/ops/collective_kinds.h"
#include "core/ops/families.h"
#include "execute/collectives/rendezvous.h"

namespace shoal::internal {
namespace {

bool HaveEqualConstants(const Instruction& a, const Instruction& b) {
  const Literal* x = a[kConstantValue];
  const Literal* y = b[kConstantValue];
  if (x == nullptr || y == nullptr) return x == y;
  return std::equal(x->data.begin(), x->data.end(), y->data.begin(), y->data.end());
}

// True if both computations apply the same ops to the same operands; ignores names.
bool AreEquivalent(const Computation* a, const Computation* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || a->instructions.size() != b->instructions.size()) return false;
  if (a->root->index != b->root->index) return false;
  for (size_t i = 0; i < a->instructions.size(); ++i) {
    const Instruction &x = *a->instructions[i], &y = *b->instructions[i];
    auto same_index = [](const Instruction* s, const Instruction* t) { return s->index == t->index; };
    const bool same =
        x.opcode == y.opcode && Compatible(x.shape(), y.shape()) && x[kParameterNumber] == y[kParameterNumber] &&
        HaveEqualConstants(x, y) &&
        std::equal(x.operands.begin(), x.operands.end(), y.operands.begin(), y.operands.end(), same_index);
    if (!same) return false;
  }
  return true;
}

// The data of send and recv must have compatible shapes. The operands of a recv are not data.
std::string TransferMismatch(const Instruction& send, const Instruction& recv) {
  const Shape& sent = send.operand_shape(0);
  const Shape& received = recv.shape().element(0);
  if (Compatible(sent, received)) return {};
  return StrCat("the data sent is ", ToString(sent), ", the data received ", ToString(received));
}

}  // namespace

std::string CollectiveMismatch(const Instruction& a, const Instruction& b) {
  if (&a == &b) return {};
  if (IsRecv(b)) return TransferMismatch(a, b);
  if (a.operand_count() != b.operand_count())
    return StrCat("operand counts are ", a.operand_count(), " and ", b.operand_count());
  for (size_t i = 0; i < a.operand_count(); ++i)
    if (!Compatible(a.operand_shape(i), b.operand_shape(i)))
      return StrCat("operand ", i, " is ", ToString(a.operand_shape(i)), " and ", ToString(b.operand_shape(i)));
  const Ints dims_a = a[kDimensions], dims_b = b[kDimensions];
  if (!std::equal(dims_a.begin(), dims_a.end(), dims_b.begin(), dims_b.end()))
    return StrCat("dimensions are ", ToString(dims_a), " and ", ToString(dims_b));
  if (!AreEquivalent(a[kToApply], b[kToApply]))
    return StrCat("to_apply is ", a[kToApply]->name, " and ", b[kToApply]->name);
  return {};
}

}  // namespace shoal::internal
