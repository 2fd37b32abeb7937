// async-start, async-update, async-done: a computation that runs asynchronously.

#include "core/ops/async_pairs.h"
#include "core/ops/control_flow.h"
#include "core/ops/structure.h"
#include "core/ops/transfer.h"
#include "core/ops/value_flow.h"

namespace shoal::internal {
namespace {

constexpr int kMaxChainLength = 10'000;  // longer than any real chain; bounds the time for malicious text

// The async-start or async-update whose result reaches `hlo` through forwarding ops; null if there is none.
const Instruction* Producer(const Instruction* hlo) {
  ValueRef value{hlo, {}};
  for (int steps = 0; steps < kMaxChainLength; ++steps) {
    if (value.hlo->opcode == Opcode::kAsyncStart || value.hlo->opcode == Opcode::kAsyncUpdate) return value.hlo;
    if (!TraceToOperand(value, kCarriesAsync)) return nullptr;
  }
  return nullptr;
}

// The computation that the chain runs; null if it is unknown.
const Computation* Wrapped(const Instruction& hlo) {
  const Instruction* start = AsyncStartOf(hlo);
  const Computation* computation = hlo.has(kCalls) || start == nullptr ? hlo[kCalls] : (*start)[kCalls];
  return computation == nullptr || computation->root == nullptr ? nullptr : computation;
}

// True if `prefix` is the beginning of `shape`: an async op may bind its operands and results incrementally.
bool IsPrefix(const Shape& prefix, const Shape& shape) {
  if (Compatible(prefix, shape)) return true;
  if (!prefix.IsTuple() || prefix.elements().empty()) return prefix.IsTuple();
  if (!shape.IsTuple() || prefix.elements().size() > shape.elements().size()) return false;
  for (size_t i = 0; i < prefix.elements().size(); ++i)
    if (!IsPrefix(prefix.element(i), shape.element(i))) return false;
  return true;
}

bool HasAsyncShape(const Shape& shape) {
  return shape.IsTuple() && shape.elements().size() >= 2 && shape.element(0).IsTuple();
}

Status CheckShape(const Instruction& hlo) {
  if (HasAsyncShape(hlo.shape())) return {};
  return Broken(hlo, "C1", StrCat("the result must be ((operands), result, …), got ", Str(hlo.shape())));
}

// Checks the operands and results bound so far against the parameters and results of the computation.
Status CheckComputation(const Instruction& hlo, const Computation& computation) {
  const std::span<const Shape* const> bound = hlo.shape().element(0).elements();
  bool fits = bound.size() <= computation.parameters.size();
  for (size_t i = 0; fits && i < bound.size(); ++i)
    fits = computation.parameters[i] != nullptr && IsPrefix(*bound[i], computation.parameters[i]->shape());
  if (!fits)
    return Broken(hlo, "C2",
                  StrCat("element 0 of the result must match the first parameters of ", computation.name, ", got ",
                         Str(hlo.shape().element(0))));
  if (!IsPrefix(hlo.shape().element(1), computation.result_shape()))
    return Broken(hlo, "C3",
                  StrCat("element 1 of the result must match the result of ", computation.name, ", ",
                         Str(computation.result_shape()), ", got ", Str(hlo.shape().element(1))));
  return {};
}

// Checks that the operands, starting at `first`, match the elements of element 0 of the result, starting at `bound`.
Status CheckOperands(const Instruction& hlo, size_t first, size_t bound) {
  const Shape& expected = hlo.shape().element(0);
  bool fits = hlo.operand_count() - first + bound == expected.elements().size();
  for (size_t i = first; fits && i < hlo.operand_count(); ++i)
    fits = Compatible(hlo.operand_shape(i), expected.element(i - first + bound));
  if (fits) return {};
  std::string got;
  for (size_t i = first; i < hlo.operand_count(); ++i)
    StrAppend(&got, i == first ? "" : ", ", Str(hlo.operand_shape(i)));
  return Broken(hlo, "C5",
                StrCat("operands must match element 0 of the result, ", Str(expected),
                       bound == 0 ? "" : StrCat(", starting at its element ", bound), ", got (", got, ")"));
}

// Both sides of an alias must exist and have the same shape. An update may only alias contexts, which are in element 2.
Status CheckAliasing(const Instruction& hlo, const Computation& computation) {
  const bool update = hlo.opcode == Opcode::kAsyncUpdate;
  for (const OutputOperandAlias& alias : hlo[kOutputToOperandAliasing]) {
    const Shape* output = alias.output_index.empty() ? nullptr : hlo.shape().At(alias.output_index);
    const Shape* operand = nullptr;
    if (update) {
      const bool contexts = !alias.output_index.empty() && alias.output_index[0] == 2 && !alias.operand_index.empty() &&
                            alias.operand_index[0] == 2;
      if (alias.operand == 0 && contexts) operand = hlo.operand_shape(0).At(alias.operand_index);
    } else if (alias.operand >= 0 && alias.operand < static_cast<int64_t>(computation.parameters.size())) {
      const Instruction* parameter = computation.parameters[alias.operand];
      if (parameter != nullptr) operand = parameter->shape().At(alias.operand_index);
    }
    if (output == nullptr || operand == nullptr || !Compatible(ArrayIn(*output), ArrayIn(*operand)))
      return Broken(
          hlo, "C8",
          StrCat("output_to_operand_aliasing must name ", update ? "contexts" : "parts", " of the same shape, got ",
                 Str(alias.output_index), ": (", alias.operand, ", ", Str(alias.operand_index), ")"));
  }
  return {};
}

Status CheckProducer(const Instruction& hlo) {
  if (hlo.operand_count() == 0) return Broken(hlo, "C0", "takes at least 1 operand, got 0");
  if (Producer(hlo.operands[0]) != nullptr) return {};
  return Broken(hlo, "C6",
                StrCat("operand 0 must come from async-start or async-update, got ", Text(hlo.operands[0]->opcode)));
}

}  // namespace

bool IsOtherThread(const Instruction& hlo) { return hlo[kAsyncExecutionThread] != kAsyncExecutionThread.fallback; }

const Instruction* AsyncStartOf(const Instruction& hlo) {
  const Instruction* at = &hlo;
  for (int steps = 0; at != nullptr && steps < kMaxChainLength; ++steps) {
    if (at->opcode == Opcode::kAsyncStart) return at;
    const bool continues = at->opcode == Opcode::kAsyncUpdate || at->opcode == Opcode::kAsyncDone;
    if (!continues || at->operand_count() == 0) return nullptr;
    at = Producer(at->operands[0]);
  }
  return nullptr;
}

Instruction* AsyncWrapped(const Instruction& hlo) {
  if (!IsAsyncChain(hlo)) return nullptr;
  const Computation* computation = Wrapped(hlo);
  if (computation == nullptr) return nullptr;
  for (const Instruction* each : computation->instructions)
    if (each != computation->root && each->opcode != Opcode::kParameter) return nullptr;
  return computation->root;
}

ShapeResult Op<Opcode::kAsyncStart>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(CheckShape(hlo));
  const Computation* computation = Wrapped(hlo);
  if (computation == nullptr) return Broken(hlo, "C6", "calls must name a computation");
  SHOAL_TRY(CheckComputation(hlo, *computation));
  SHOAL_TRY(CheckOperands(hlo, 0, 0));
  SHOAL_TRY(CheckAliasing(hlo, *computation));
  return hlo.shape_;
}

ShapeResult Op<Opcode::kAsyncUpdate>::Infer(const Instruction& hlo, ShapePool&) {
  SHOAL_TRY(CheckShape(hlo));
  SHOAL_TRY(CheckProducer(hlo));
  const Computation* computation = Wrapped(hlo);
  if (computation == nullptr) return hlo.shape_;  // an earlier op of the chain is invalid, and has its own error
  SHOAL_TRY(CheckComputation(hlo, *computation));
  const Shape& before = hlo.operand_shape(0);
  if (!HasAsyncShape(before) || !IsPrefix(before.element(0), hlo.shape().element(0)) ||
      !IsPrefix(before.element(1), hlo.shape().element(1)))
    return Broken(hlo, "C7",
                  StrCat("the result must keep the bindings of operand 0, ", Str(before), ", got ", Str(hlo.shape())));
  SHOAL_TRY(CheckOperands(hlo, 1, before.element(0).elements().size()));
  SHOAL_TRY(CheckAliasing(hlo, *computation));
  return hlo.shape_;
}

ShapeResult Op<Opcode::kAsyncDone>::Infer(const Instruction& hlo, ShapePool& shapes) {
  SHOAL_TRY(OperandCount(hlo, 1));
  SHOAL_TRY(CheckProducer(hlo));
  const Computation* computation = Wrapped(hlo);
  if (computation == nullptr) return hlo.shape_;
  std::vector<const Shape*> parameters;
  for (const Instruction* parameter : computation->parameters)
    if (parameter != nullptr) parameters.push_back(parameter->shape_);
  const Shape* all = shapes.Tuple(parameters);
  const Shape& before = Producer(hlo.operands[0])->shape();
  // A binding of a wrong shape is an error of the producer.
  const bool has_valid_prefix = HasAsyncShape(before) && IsPrefix(before.element(0), *all);
  if (has_valid_prefix && !Compatible(before.element(0), *all))
    return Broken(hlo, "C7",
                  StrCat("operand 0 must have bound all parameters of ", computation->name, ", got ", Str(before)));
  return computation->root->shape_;
}

}  // namespace shoal::internal
