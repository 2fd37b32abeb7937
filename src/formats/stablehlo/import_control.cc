// Control flow and calls.
#include "core/ops/control_flow.h"
#include "formats/stablehlo/import_functions.h"
#include "formats/stablehlo/importer.h"
#include "formats/stablehlo/mlir_text.h"

namespace shoal::internal {

// Terminators are handled with their block.
Status ImportReturn(Importer& importer, const MlirOp& op) { return importer.Refused(op, "a return must end a region"); }

Status ImportWhile(Importer& importer, const MlirOp& op) {
  if (op.regions.size() != 2) return importer.Refused(op, "the op needs two regions");
  const MlirRegion& condition = op.regions[0];
  const MlirRegion& body = op.regions[1];
  const std::vector<MlirValue*> captured = importer.CapturedValues(op.regions);
  SHOAL_ASSIGN(operands, importer.Operands(op));
  for (size_t i = 0; i < captured.size(); ++i) {
    if (captured[i]->lowered == nullptr) return importer.Refused(op, "a region uses a value that is not defined");
    operands.push_back(captured[i]->lowered);
  }
  if (operands.empty()) return importer.Refused(op, "a while without a value is not supported");
  SHOAL_ASSIGN(body_computation, importer.ImportRegionWithCaptures(body, captured, captured, op.at));
  SHOAL_ASSIGN(condition_computation, importer.ImportRegionWithCaptures(condition, captured, {}, op.at));
  importer.Reset(op);
  SHOAL_ASSIGN(passed, importer.PassedValue(operands));
  using WhileOp = Op<Opcode::kWhile>;
  SHOAL_ASSIGN(loop, importer.Add(Opcode::kWhile, {passed},
                                  {{WhileOp::kCondition.id, condition_computation}, {WhileOp::kBody.id, body_computation}}));
  return operands.size() == 1 ? importer.SetResult(op, loop) : importer.SetElements(op, loop);
}

namespace {

// The branches of a conditional, and the values that each captures.
Status ImportBranches(Importer& importer, const MlirOp& op, std::vector<Computation*>& computations,
                      std::vector<Instruction*>& operands) {
  for (const MlirRegion& branch : op.regions) {
    const std::vector<MlirValue*> captured = importer.CapturedValues({&branch, 1});
    std::vector<Instruction*> values;
    for (const MlirValue* value : captured) {
      if (value->lowered == nullptr) return importer.Refused(op, "a region uses a value that is not defined");
      values.push_back(value->lowered);
    }
    SHOAL_ASSIGN(computation, importer.ImportRegionWithCaptures(branch, captured, {}, op.at));
    importer.Reset(op);
    computations.push_back(computation);
    SHOAL_ASSIGN(passed, importer.PassedValue(values));
    operands.push_back(passed);
  }
  return {};
}

}  // namespace

Status ImportIf(Importer& importer, const MlirOp& op) {
  if (op.regions.size() != 2) return importer.Refused(op, "the op needs two regions");
  SHOAL_ASSIGN(predicate, importer.Operand(op, 0));
  std::vector<Computation*> computations;
  std::vector<Instruction*> operands{predicate};
  SHOAL_TRY(ImportBranches(importer, op, computations, operands));
  using Conditional = Op<Opcode::kConditional>;
  SHOAL_ASSIGN(value, importer.Add(Opcode::kConditional, operands,
                                   {{Conditional::kTrueComputation.id, computations[0]},
                                    {Conditional::kFalseComputation.id, computations[1]}}));
  return importer.SetResults(op, value);
}

Status ImportCase(Importer& importer, const MlirOp& op) {
  if (op.regions.empty()) return importer.Refused(op, "the op needs a region");
  SHOAL_ASSIGN(index, importer.Operand(op, 0));
  std::vector<Computation*> computations;
  std::vector<Instruction*> operands{index};
  SHOAL_TRY(ImportBranches(importer, op, computations, operands));
  const Computations branches = importer.arena().Copy(computations);
  SHOAL_ASSIGN(value, importer.Add(Opcode::kConditional, operands,
                                   {{Op<Opcode::kConditional>::kBranchComputations.id, branches}}));
  return importer.SetResults(op, value);
}

namespace {

Result<Computation*> Callee(Importer& importer, const MlirOp& op, std::string_view name) {
  const MlirOp* function = importer.FindFunction(name);
  if (function == nullptr) return importer.Refused(op, StrCat("there is no function ", name));
  if (function->regions.empty() || function->regions[0].blocks.empty())
    return importer.Refused(op, StrCat("the function ", name, " has no body"));
  Computation* callee = nullptr;
  SHOAL_TRY(importer.ImportFunction(*function, &callee));
  importer.Reset(op);
  return callee;
}

}  // namespace

Status ImportFunctionCall(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  SHOAL_ASSIGN(callee, Callee(importer, op, importer.StringAttr(op, "callee")));
  SHOAL_ASSIGN(value, importer.Add(Opcode::kCall, operands, {{kToApply.id, callee}}));
  return importer.SetResults(op, value);
}

// A call with the name, the attributes and the version of the composite as frontend attributes.
Status ImportComposite(Importer& importer, const MlirOp& op) {
  if (!op.regions.empty()) return importer.Refused(op, "composites with regions are not supported");
  SHOAL_ASSIGN(operands, importer.Operands(op));
  SHOAL_ASSIGN(callee, Callee(importer, op, importer.StringAttr(op, "decomposition")));
  SHOAL_ASSIGN(version, importer.IntOf(op, "version", 0));
  const MlirAttr* attributes = op.Find("composite_attributes");
  importer.AddFrontendAttribute("composite.attributes", attributes == nullptr ? "{}" : AttrText(*attributes));
  importer.AddFrontendAttribute("composite.name", std::string(importer.StringAttr(op, "name")));
  importer.AddFrontendAttribute("composite.version", std::to_string(version));
  SHOAL_ASSIGN(value, importer.Add(Opcode::kCall, operands,
                                   {{kToApply.id, callee}, {Op<Opcode::kCall>::kIsComposite.id, true}}));
  importer.common_attrs().clear();
  return importer.SetResults(op, value);
}

Status ImportBarrier(Importer& importer, const MlirOp& op) {
  SHOAL_ASSIGN(operands, importer.Operands(op));
  if (operands.empty()) return {};
  SHOAL_ASSIGN(passed, importer.PassedValue(operands));
  SHOAL_ASSIGN(value, importer.Add(Opcode::kOptimizationBarrier, {passed}));
  return importer.SetResults(op, value);
}

}  // namespace shoal::internal
