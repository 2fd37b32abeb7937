// Uses the interpreter to evaluate instructions that depend only on constants, if the result is small: index scalars,
// sizes, tables. Large results are cheaper to compute in a loop than to read.
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

bool IsKnownConstant(const Instruction& hlo) {
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

class ConstantFolder {
 public:
  ConstantFolder(Module& module, Computation& computation, const PassContext& context)
      : module_(module), computation_(computation), context_(context) {}

  Result<bool> Run() {
    FindResults();
    if (results_.empty()) return false;
    SHOAL_ASSIGN(values, EvaluateResults());
    Replacements replacements;
    for (size_t i = 0; i < results_.size(); ++i)
      replacements[results_[i]] = NewConstantFrom(*results_[i], values.elements()[i].array());
    Apply(replacements, module_, computation_);
    std::erase_if(computation_.instructions, [&](const Instruction* hlo) { return replacements.contains(hlo); });
    SortTopologically(computation_);
    return true;
  }

 private:
  // Finds the last instruction of each foldable chain: its user cannot be folded. Broadcasts of constants are kept,
  // because they are free in loops, except as operands of gathers and scatters.
  void FindResults() {
    for (Instruction* hlo : computation_.instructions) {
      const bool is_known = std::all_of(hlo->operands.begin(), hlo->operands.end(), [&](const Instruction* operand) {
        return IsKnownConstant(*operand) || folded_.contains(operand);
      });
      if (is_known && IsFoldedOp(*hlo)) folded_.insert({hlo, nullptr});
    }
    const auto add_result = [&](Instruction* hlo, bool as_array) {
      if (!folded_.contains(hlo) || (IsBroadcast(*hlo) && !as_array)) return;
      if (std::find(results_.begin(), results_.end(), hlo) == results_.end()) results_.push_back(hlo);
    };
    for (Instruction* hlo : computation_.instructions)
      if (!folded_.contains(hlo) || IsBroadcast(*hlo))
        for (Instruction* operand : hlo->operands) add_result(operand, Info(hlo->opcode).op_class == OpClass::kGatherScatter);
    add_result(computation_.root, false);
  }

  // Evaluates, on one device, a module that consists of the chains and whose root is a tuple of the results.
  Result<Value> EvaluateResults() {
    Module chain_module{std::unique_ptr<Source>()};
    Computation* entry = chain_module.NewComputation("folded");
    chain_module.computations.push_back(entry);
    chain_module.entry = entry;
    std::vector<Instruction*> results;
    for (const Instruction* hlo : results_) results.push_back(CopyChain(*hlo, chain_module, *entry));
    entry->root = NewTuple(chain_module, *entry, results, *results_[0]);
    return context_.evaluate(chain_module);
  }

  Instruction* CopyChain(const Instruction& hlo, Module& chain_module, Computation& entry) {
    if (auto found = copies_.find(&hlo); found != copies_.end()) return found->second;
    std::vector<Instruction*> operands;
    for (const Instruction* operand : hlo.operands) operands.push_back(CopyChain(*operand, chain_module, entry));
    Instruction* copy = CopyInstruction(chain_module, entry, hlo, operands);
    copy->shape_ = chain_module.shapes.Import(hlo.shape());
    return copies_[&hlo] = copy;
  }

  Instruction* NewConstantFrom(const Instruction& hlo, const Array& array) {
    Instruction* constant = NewConstant(module_, computation_, hlo.shape_, hlo);
    const std::span<std::byte> bytes = module_.arena.NewSpan<std::byte>(static_cast<size_t>(array.bytes()));
    std::memcpy(bytes.data(), array.data(), bytes.size());
    Literal literal;
    literal.shape = hlo.shape_;
    literal.data = bytes;
    SetAttr(*constant, module_, kConstantValue.id, static_cast<const Literal*>(module_.arena.New<Literal>(literal)));
    return constant;
  }

  Module& module_;
  Computation& computation_;
  const PassContext& context_;
  Replacements folded_;  // used as a set
  std::vector<Instruction*> results_;
  absl::flat_hash_map<const Instruction*, Instruction*> copies_;
};

}  // namespace

Result<bool> FoldConstants(Module& module, const PassContext& context) {
  if (!context.evaluate) return false;
  bool any = false;
  const auto embedded = EmbeddedComputations(module);
  for (Computation* computation : module.computations) {
    if (embedded.contains(computation)) continue;
    SHOAL_ASSIGN(changed, ConstantFolder(module, *computation, context).Run());
    any |= changed;
  }
  return any;
}

}  // namespace shoal::internal
