// The module being verified, the queries that the families of rules share, and the errors found so far.
// Private to core/verify.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diags.h"
#include "core/base/strings.h"
#include "core/ir/call_graph.h"
#include "core/ir/users.h"
#include "core/ops/traits.h"

namespace shoal::internal {

class VerifierContext {
 public:
  explicit VerifierContext(Module& module);

  Module& module() { return module_; }
  // The complete computations: those with a root and with a shape for every instruction. If the module was parsed
  // strictly, all computations are complete.
  std::span<const Computation* const> computations() const { return computations_; }

  // Each user once, in text order.
  std::span<const Instruction* const> UsersOf(const Instruction& hlo) { return users_.Of(hlo); }
  std::span<const Instruction* const> CallersOf(const Computation& computation) const {
    return calls_.CallersOf(computation);
  }
  bool IsCalledBy(const Computation& computation, bool (*kind)(const Instruction&)) const;
  bool IsFused(const Computation& computation) const { return IsCalledBy(computation, IsFusion); }
  bool IsAsync(const Computation& computation) const { return IsCalledBy(computation, IsAsyncChain); }

  // Adds an error. If the source location is unknown, the message begins with the instruction or computation name.
  void Add(const Instruction& hlo, Diag diag);
  void Add(const Instruction& hlo, std::string_view rule, std::string message, Site site = Site::Here());
  void Add(const Computation& computation, std::string_view rule, std::string message, Site site = Site::Here());

  // Moves all errors to `diags`, sorted by source location.
  void MoveTo(Diags& diags);

 private:
  void Keep(Diag diag);

  Module& module_;
  std::vector<const Computation*> computations_;
  CallGraph calls_;
  Users users_;
  std::vector<Diag> found_;
  size_t dropped_ = 0;
};

// True if the opcode is in a short list.
inline bool IsOneOf(const Instruction& hlo, std::span<const Opcode> opcodes) {
  return std::find(opcodes.begin(), opcodes.end(), hlo.opcode) != opcodes.end();
}

// Calls visit(hlo) for every instruction, in text order.
template <class Visit>
void ForEachInstruction(const VerifierContext& context, const Visit& visit) {
  for (const Computation* computation : context.computations())
    for (const Instruction* hlo : computation->instructions) visit(*hlo);
}

// Calls visit(leaf) for every part of a shape that is not a tuple.
template <class Visit>
void ForEachLeaf(const Shape& shape, const Visit& visit) {
  if (!shape.IsTuple()) return visit(shape);
  for (const Shape* element : shape.elements()) ForEachLeaf(*element, visit);
}

// The value of a frontend attribute; null if the attribute is absent.
const std::string_view* FrontendAttributeOf(const Instruction& hlo, std::string_view name);

}  // namespace shoal::internal
