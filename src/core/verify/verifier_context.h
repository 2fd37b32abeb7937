// A module under inspection: what the families of rules ask about it, and what they have found. Private to
// verify/.
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
  // Those that can be looked into: with a root and shapes everywhere. All of them, if the module was read
  // strictly.
  std::span<const Computation* const> computations() const { return computations_; }

  // Each user once, in the order of the text.
  std::span<const Instruction* const> UsersOf(const Instruction& hlo) { return users_.Of(hlo); }
  std::span<const Instruction* const> CallersOf(const Computation& computation) const {
    return calls_.CallersOf(computation);
  }
  bool IsCalledBy(const Computation& computation, bool (*kind)(const Instruction&)) const;
  bool IsFused(const Computation& computation) const { return IsCalledBy(computation, IsFusion); }
  bool IsAsync(const Computation& computation) const { return IsCalledBy(computation, IsAsyncChain); }

  // What is broken. Without a text, the message begins with the name of the instruction or computation.
  void Add(const Instruction& hlo, Diag diag);
  void Add(const Instruction& hlo, std::string_view rule, std::string message, Site site = Site::Here());
  void Add(const Computation& computation, std::string_view rule, std::string message, Site site = Site::Here());

  // Hands everything over, sorted by place.
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

// Membership in a short list of opcodes.
inline bool IsOneOf(const Instruction& hlo, std::span<const Opcode> opcodes) {
  return std::find(opcodes.begin(), opcodes.end(), hlo.opcode) != opcodes.end();
}

// Calls visit(hlo) for every instruction, in the order of the text.
template <class Visit>
void ForEachInstruction(const VerifierContext& inspection, const Visit& visit) {
  for (const Computation* computation : inspection.computations())
    for (const Instruction* hlo : computation->instructions) visit(*hlo);
}

// Calls visit(leaf) for every part of a shape that is no tuple.
template <class Visit>
void ForEachLeaf(const Shape& shape, const Visit& visit) {
  if (!shape.IsTuple()) return visit(shape);
  for (const Shape* element : shape.elements()) ForEachLeaf(*element, visit);
}

// The value of a frontend attribute; null if it is not there.
const std::string_view* FrontendAttributeOf(const Instruction& hlo, std::string_view name);

}  // namespace shoal::internal
