// What is computed from constants alone is worked out now, by the interpreter, where the result is small: scalars that
// index, sizes, tables. Large ones are cheaper to compute in a loop than to read.
#include <algorithm>
#include <cstring>

#include "core/ir/rewrite.h"
#include "core/ops/families.h"
#include "core/ops/new_ops.h"
#include "core/ops/traits.h"
#include "transform/loops/loop_ops.h"
#include "transform/passes/embedded_computations.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

constexpr int64_t kMaxElements = 1024;

bool IsKnown(const Instruction& hlo) {
  if (!IsConstant(hlo) || !hlo.shape().IsArray()) return false;
  const Literal* literal = hlo[kConstantValue];
  return literal != nullptr && !literal->elided && literal->elements.empty();
}

bool IsFoldedOp(const Instruction& hlo) {
  const OpClass op_class = Info(hlo.opcode).op_class;
  const bool is_plain = op_class == OpClass::kElementwise || op_class == OpClass::kIndexMap;
  if (!is_plain || CallsComputations(hlo) || !IsPureAndMovable(hlo) || !hlo[kControlPredecessors].empty()) return false;
  if (hlo.operand_count() == 0 || !hlo.shape().IsArray() || hlo.shape().has_dynamic()) return false;
  const int64_t count = hlo.shape().ElementCount().value_or(INT64_MAX);
  const ElementType type = hlo.shape().element_type();
  return count > 0 && count <= kMaxElements && (BitWidth(type) >= 8 || type == ElementType::kPred);
}

class Folding {
 public:
  Folding(Module& module, Computation& computation, const PassContext& context)
      : module_(module), computation_(computation), context_(context) {}

  Result<bool> Run() {
    Find();
    if (wanted_.empty()) return false;
    SHOAL_ASSIGN(values, Values());
    Replacements replacements;
    for (size_t i = 0; i < wanted_.size(); ++i)
      replacements[wanted_[i]] = Constant(*wanted_[i], values.elements()[i].array());
    Apply(replacements, module_, computation_);
    std::erase_if(computation_.instructions, [&](const Instruction* hlo) { return replacements.contains(hlo); });
    SortTopologically(computation_);
    return true;
  }

 private:
  // The last of each chain: what something that cannot be folded uses. A broadcast of a constant stays: loops have it
  // for nothing. Indices are arrays.
  void Find() {
    for (Instruction* hlo : computation_.instructions) {
      const bool known = std::all_of(hlo->operands.begin(), hlo->operands.end(), [&](const Instruction* operand) {
        return IsKnown(*operand) || folded_.contains(operand);
      });
      if (known && IsFoldedOp(*hlo)) folded_.insert({hlo, nullptr});
    }
    const auto want = [&](Instruction* hlo, bool as_array) {
      if (!folded_.contains(hlo) || (IsBroadcast(*hlo) && !as_array)) return;
      if (std::find(wanted_.begin(), wanted_.end(), hlo) == wanted_.end()) wanted_.push_back(hlo);
    };
    for (Instruction* hlo : computation_.instructions)
      if (!folded_.contains(hlo) || IsBroadcast(*hlo))
        for (Instruction* operand : hlo->operands) want(operand, Info(hlo->opcode).op_class == OpClass::kGatherScatter);
    want(computation_.root, false);
  }

  // A module of the chains, with a tuple of what is wanted as its root, run on one device.
  Result<Value> Values() {
    Module chains{std::unique_ptr<Source>()};
    Computation* entry = chains.NewComputation("folded");
    chains.computations.push_back(entry);
    chains.entry = entry;
    std::vector<Instruction*> results;
    for (const Instruction* hlo : wanted_) results.push_back(Copy(*hlo, chains, *entry));
    entry->root = NewTuple(chains, *entry, results, *wanted_[0]);
    return context_.evaluate(chains);
  }

  Instruction* Copy(const Instruction& hlo, Module& chains, Computation& entry) {
    if (auto known = copies_.find(&hlo); known != copies_.end()) return known->second;
    std::vector<Instruction*> operands;
    for (const Instruction* operand : hlo.operands) operands.push_back(Copy(*operand, chains, entry));
    Instruction* copy = CopyInstruction(chains, entry, hlo, operands);
    copy->shape_ = chains.shapes.Import(hlo.shape());
    return copies_[&hlo] = copy;
  }

  Instruction* Constant(const Instruction& hlo, const Array& array) {
    Instruction* made = NewConstant(module_, computation_, hlo.shape_, hlo);
    const std::span<std::byte> bytes = module_.arena.NewSpan<std::byte>(static_cast<size_t>(array.bytes()));
    std::memcpy(bytes.data(), array.data(), bytes.size());
    Literal literal;
    literal.shape = hlo.shape_;
    literal.data = bytes;
    SetAttr(*made, module_, kConstantValue.id, static_cast<const Literal*>(module_.arena.New<Literal>(literal)));
    return made;
  }

  Module& module_;
  Computation& computation_;
  const PassContext& context_;
  Replacements folded_;  // as a set
  std::vector<Instruction*> wanted_;
  absl::flat_hash_map<const Instruction*, Instruction*> copies_;
};

}  // namespace

Result<bool> FoldConstants(Module& module, const PassContext& context) {
  bool any = false;
  const auto parts = EmbeddedComputations(module);
  for (Computation* computation : module.computations) {
    if (parts.contains(computation)) continue;
    SHOAL_ASSIGN(changed, Folding(module, *computation, context).Run());
    any |= changed;
  }
  return any;
}

}  // namespace shoal::internal
