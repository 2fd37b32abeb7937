#include "core/ops/callee.h"
#include "formats/text/parser.h"
#include "formats/text/printer.h"
#include "mutate.h"

namespace shoal::internal::fuzz {
namespace {

bool HasShapes(const Instruction& hlo) {
  for (const Instruction* operand : hlo.operands)
    if (operand->shape_ == nullptr) return false;
  return hlo.shape_ != nullptr;
}

// Gives the parameters of an instruction's callees the shapes of its operands, or their element type.
void PropagateToCallees(const Instruction& hlo, Module& module, Random& random) {
  const CallKind kind = CallKindOf(hlo);
  for (Computation* callee : CalledComputations(hlo)) {
    for (size_t i = 0; i < callee->parameters.size(); ++i) {
      Instruction* parameter = callee->parameters[i];
      if (parameter == nullptr || parameter->shape_ == nullptr || hlo.operand_count() == 0) continue;
      if (kind == CallKind::kOnce && i < hlo.operand_count()) parameter->shape_ = hlo.operands[i]->shape_;
      if (kind == CallKind::kLoop && i == 0) parameter->shape_ = hlo.operands[0]->shape_;
      const Shape& first = hlo.operand_shape(0);
      if (kind == CallKind::kElements && first.IsArray() && parameter->shape().IsScalar() && !random.OneIn(8))
        parameter->shape_ = module.shapes.Scalar(first.element_type());
    }
  }
}

void Repair(Instruction& hlo, Module& module, Random& random) {
  if (!HasShapes(hlo)) return;
  PropagateToCallees(hlo, module, random);
  const OpInfo& op = Info(hlo.opcode);
  if (op.infer == nullptr || (op.arity >= 0 && hlo.operand_count() != static_cast<size_t>(op.arity))) return;
  Result<const Shape*> inferred = op.infer(hlo, module.shapes);
  if (inferred.ok() && !EqualExceptPrecision(**inferred, hlo.shape())) hlo.shape_ = *inferred;
}

}  // namespace

std::optional<std::string> Repaired(const std::string& text, Random& random) {
  std::unique_ptr<Source> source = Source::FromString("fuzz", text);
  Diags diags;
  std::unique_ptr<Module> module = ParseModule(source, {}, diags);
  if (module == nullptr) return std::nullopt;
  module->entry_layout.reset();
  // Shapes propagate into callees and back.
  for (int pass = 0; pass < 2; ++pass)
    for (Computation* computation : module->computations)
      for (Instruction* hlo : computation->instructions) Repair(*hlo, *module, random);
  return PrintModule(*module);
}

}  // namespace shoal::internal::fuzz
