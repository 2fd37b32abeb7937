#include "analyze/cost/estimated_fusion.h"
#include "core/base/strings.h"
#include "core/ir/rewrite.h"
#include "core/ops/control_flow.h"
#include "core/ops/new_ops.h"
#include "core/ops/traits.h"
#include "transform/passes/embedded_computations.h"
#include "transform/passes/pass.h"

namespace shoal::internal {
namespace {

class KernelFuser {
 public:
  KernelFuser(Module& module, Computation& computation) : module_(module), computation_(computation) {}

  bool Run() {
    SortTopologically(computation_);
    const EstimatedFusion estimate(computation_);
    Replacements replacements;
    const std::vector<Instruction*> before = computation_.instructions;
    for (Instruction* hlo : before) {
      if (estimate.IsInlined(*hlo) || !(*hlo)[kControlPredecessors].empty() || !hlo->shape().IsArray()) continue;
      const FusionRegion region = estimate.RegionOf(*hlo);
      if (region.body.size() > 1 && HasWork(region, *hlo)) replacements[hlo] = Fuse(*hlo, region);
    }
    if (!replacements.empty()) {
      ApplyReplacements(replacements, module_, computation_);
      RemoveUnused(computation_, HasSideEffect);
    }
    bool any = !replacements.empty();
    for (Instruction* hlo : computation_.instructions) any |= TurnReshapeIntoBitcast(*hlo, module_);
    return any;
  }

 private:
  // False if views and constants are all that a fusion would add to the root, or all that it has.
  static bool HasWork(const FusionRegion& region, const Instruction& root) {
    return std::any_of(region.body.begin(), region.body.end(), [&](const Instruction* hlo) {
      return !IsFreeView(*hlo) && !IsConstant(*hlo) && (hlo != &root || !IsContraction(root));
    });
  }

  Instruction* Fuse(const Instruction& root, const FusionRegion& region) {
    Computation* fused = module_.NewComputation(module_.arena.CopyString(StrCat("fused_", root.name)));
    fused->at = root.name_at;
    absl::flat_hash_map<const Instruction*, Instruction*> copies;
    std::vector<Instruction*> arguments;
    for (const Instruction* input : region.inputs) {
      copies[input] = NewParameter(module_, *fused, input->shape_, *input);
      arguments.push_back(const_cast<Instruction*>(input));  // an instruction of `computation_`
    }
    for (const Instruction* hlo : region.body) {
      std::vector<Instruction*> operands;
      for (const Instruction* operand : hlo->operands) operands.push_back(copies.at(operand));
      copies[hlo] = CopyInstruction(module_, *fused, *hlo, operands);
    }
    fused->root = copies.at(&root);
    module_.computations.push_back(fused);
    Instruction* fusion = NewInstruction(module_, computation_, Opcode::kFusion, root.shape_, arguments, root);
    SetAttr(*fusion, module_, Op<Opcode::kFusion>::kKind.id, EnumValue{static_cast<uint8_t>(IsContraction(root) ? FusionKind::kOutput : FusionKind::kInput)});
    SetAttr(*fusion, module_, kCalls, fused);
    return fusion;
  }

  Module& module_;
  Computation& computation_;
};

}  // namespace

Result<bool> FuseKernels(Module& module, const PassContext&) {
  const auto embedded = EmbeddedComputations(module);
  bool any = false;
  const std::vector<Computation*> computations = module.computations;
  for (Computation* computation : computations)
    if (!embedded.contains(computation)) any |= KernelFuser(module, *computation).Run();
  return any;
}

}  // namespace shoal::internal
