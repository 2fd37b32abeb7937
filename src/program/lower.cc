#include <unordered_set>

#include "base/strings.h"
#include "ops/families.h"
#include "ops/traits.h"
#include "ops/working_types.h"
#include "program/program.h"

namespace shoal {
namespace {

class Lowering {
 public:
  explicit Lowering(std::unique_ptr<Module> module) { program_.module = std::move(module); }

  Program Run() {
    for (const Computation* computation : program_.module->computations)
      for (const Instruction* hlo : computation->instructions) Add(*hlo);
    return std::move(program_);
  }

 private:
  void Add(const Instruction& hlo) {
    if (WorkingTypesOf(hlo).mixed) return;  // converted and checked where it is evaluated
    if (std::unique_ptr<FusedKernel> kernel = FusedKernelOf(hlo)) {
      const auto [same, is_new] = kernels_.try_emplace(ToString(*kernel), program_.kernels.size());
      if (is_new) program_.kernels.push_back(std::move(*kernel));
      program_.steps[&hlo] = {ProgramStep::Kind::kKernel, same->second, nullptr};
    } else if (LibraryFunction library = LibraryFunctionOf(hlo)) {
      program_.steps[&hlo] = {ProgramStep::Kind::kLibrary, 0, library};
    }
  }

  Program program_;
  std::unordered_map<std::string, size_t> kernels_;  // by their text
};

}  // namespace

Program Lower(std::unique_ptr<Module> module) { return Lowering(std::move(module)).Run(); }

// Computations that are part of the instruction that names them: fused ones, and functions of elements.
static std::unordered_set<const Computation*> PartsOfSteps(const Module& module) {
  std::unordered_set<const Computation*> parts;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (IsFusion(*hlo) || CallKindOf(*hlo) == CallKind::kElements)
        for (const Computation* callee : CalledComputations(*hlo)) parts.insert(callee);
  return parts;
}

std::string ToString(const Program& program) {
  std::string out;
  const std::unordered_set<const Computation*> parts = PartsOfSteps(*program.module);
  for (const Computation* computation : program.module->computations) {
    if (parts.contains(computation)) continue;
    bool named = false;
    for (const Instruction* hlo : computation->instructions) {
      if (Info(hlo->opcode).op_class == OpClass::kStructure) continue;
      const ProgramStep& step = program.StepOf(*hlo);
      if (!named) StrAppend(&out, computation->name, computation == program.module->entry ? " (entry)\n" : "\n");
      named = true;
      StrAppend(&out, "  ", hlo->name, " ", ToString(hlo->shape()), ": ");
      if (step.kind == ProgramStep::Kind::kKernel) StrAppend(&out, "kernel ", step.kernel);
      if (step.kind == ProgramStep::Kind::kLibrary) StrAppend(&out, "library ", Text(hlo->opcode));
      if (step.kind == ProgramStep::Kind::kEvaluate) StrAppend(&out, "evaluate ", Text(hlo->opcode));
      out += "\n";
    }
  }
  for (size_t i = 0; i < program.kernels.size(); ++i) StrAppend(&out, "kernel ", i, ": ", ToString(program.kernels[i]));
  return out;
}

}  // namespace shoal
