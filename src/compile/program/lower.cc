#include <unordered_set>

#include "compile/program/evaluation_reason.h"
#include "compile/program/program.h"
#include "core/base/strings.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"
#include "core/ops/working_types.h"
#include "transform/loops/lane_kernel.h"

namespace shoal::internal {
namespace {

using ComputationSet = std::unordered_set<const Computation*>;

void AddReached(const Instruction& hlo, ComputationSet& reached) {
  for (const Computation* callee : CalledComputations(hlo))
    if (reached.insert(callee).second)
      for (const Instruction* inside : callee->instructions)
        if (CallsComputations(*inside)) AddReached(*inside, reached);
}

// Computations that are part of the instruction that calls them, such as fused computations and reducers.
ComputationSet ComputationsInsideOps(const Module& module) {
  ComputationSet inside_ops;
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (IsFusion(*hlo) || CallKindOf(*hlo) == CallKind::kElements) AddReached(*hlo, inside_ops);
  return inside_ops;
}

class Lowering {
 public:
  Lowering(std::shared_ptr<Module> module, LoweringGranularity steps, KernelCache& kernels)
      : by_ops_(steps == LoweringGranularity::kOps), cache_(kernels) {
    program_.module = std::move(module);
  }

  Program Run() {
    Visit(*program_.module->entry);
    for (const Computation* computation : program_.module->computations)
      if (visited_.contains(computation))
        for (const Instruction* hlo : computation->instructions) Add(*hlo);
    return std::move(program_);
  }

 private:
  // Visits computations that run instruction by instruction, so not the computations of compiled loops and fusions.
  void Visit(const Computation& computation) {
    if (!visited_.insert(&computation).second) return;
    for (const Instruction* hlo : computation.instructions) {
      if (!CallsComputations(*hlo)) continue;
      if (!by_ops_ && (AddLoop(*hlo) || IsKernel(*hlo) || AddSequence(*hlo, SequenceOf(*hlo)))) continue;
      for (const Computation* callee : CalledComputations(*hlo)) Visit(*callee);
    }
  }

  bool AddLoop(const Instruction& hlo) {
    std::unique_ptr<Routine> routine = RoutineOf(hlo);
    if (routine == nullptr || !routine->is_function) return AddSequence(hlo, std::move(routine));
    program_.steps[&hlo] = {LoweredInstruction::Kind::kRoutine, AddFunction(std::move(routine)), nullptr, {}};
    return true;
  }

  size_t AddFunction(std::shared_ptr<const Routine> function) {
    for (const Instruction* inside : function->evaluated) Add(*inside);
    program_.routines.push_back(std::move(function));
    return program_.routines.size() - 1;
  }

  bool AddSequence(const Instruction& hlo, std::unique_ptr<Routine> routine) {
    if (routine == nullptr) return false;
    Sequence sequence{std::move(routine), {}, {}};
    for (const FusedKernel& kernel : sequence.routine->kernels) sequence.kernels.push_back(KernelNumber(kernel));
    for (const auto& function : sequence.routine->routines) sequence.functions.push_back(AddFunction(function));
    for (const Instruction* inside : sequence.routine->evaluated) Add(*inside);
    program_.steps[&hlo] = {LoweredInstruction::Kind::kSequence, program_.sequences.size(), nullptr, {}};
    program_.sequences.push_back(std::move(sequence));
    return true;
  }

  void Add(const Instruction& hlo) {
    if (program_.steps.contains(&hlo) || (by_ops_ && IsFusion(hlo))) return;
    if (IsKernel(hlo)) {
      const std::vector<size_t>& kernels = KernelNumbersOf(hlo);
      program_.steps[&hlo] = {LoweredInstruction::Kind::kKernel, kernels[0], nullptr, {kernels.begin() + 1, kernels.end()}};
      return;
    }
    if (IsFusion(hlo) && !WorkingTypesOf(hlo).mixed) program_.refusals.push_back({std::string(hlo.name), cache_.Of(hlo).refusal});
    if (LibraryFunction library = LibraryFunctionOf(hlo)) {
      program_.steps[&hlo] = {LoweredInstruction::Kind::kLibrary, 0, library, {}};
    } else if (AppliedLibraryFunction applied = AppliedLibraryFunctionOf(hlo)) {
      program_.steps[&hlo] = {LoweredInstruction::Kind::kLibrary, KernelNumber(LaneKernelOf(*hlo[kToApply])), nullptr, {}, applied};
    }
  }

  bool IsKernel(const Instruction& hlo) {
    if (by_ops_ || !IsFusion(hlo) || WorkingTypesOf(hlo).mixed) return false;
    return !cache_.Of(hlo).kernels.empty();
  }

  // The indices in Program::kernels of the kernels of a fusion.
  const std::vector<size_t>& KernelNumbersOf(const Instruction& fusion) {
    const KernelCache::Entry& entry = cache_.Of(fusion);
    std::vector<size_t>& numbers = numbers_[&entry];
    if (numbers.empty())
      for (const FusedKernel& kernel : entry.kernels) numbers.push_back(KernelNumber(kernel));
    return numbers;
  }

  size_t KernelNumber(const FusedKernel& kernel) {
    const auto [found, is_new] = kernels_.try_emplace(ToString(kernel), program_.kernels.size());
    if (is_new) program_.kernels.push_back(kernel);
    return found->second;
  }

  const bool by_ops_;
  Program program_;
  ComputationSet visited_;
  KernelCache& cache_;
  std::unordered_map<const KernelCache::Entry*, std::vector<size_t>> numbers_;  // indices in Program::kernels
  std::unordered_map<std::string, size_t> kernels_;  // index in Program::kernels, by kernel text
};

}  // namespace

Program Lower(std::shared_ptr<Module> module, LoweringGranularity steps, KernelCache& kernels) {
  return Lowering(std::move(module), steps, kernels).Run();
}

std::vector<const Instruction*> StepsOf(const Program& program) {
  ComputationSet inside_ops = ComputationsInsideOps(*program.module);
  for (const auto& [hlo, step] : program.steps)
    if (step.kind == LoweredInstruction::Kind::kRoutine || step.kind == LoweredInstruction::Kind::kSequence) AddReached(*hlo, inside_ops);
  std::vector<const Instruction*> steps;
  for (const Computation* computation : program.module->computations) {
    if (inside_ops.contains(computation)) continue;
    for (const Instruction* hlo : computation->instructions)
      if (Info(hlo->opcode).op_class != OpClass::kStructure) steps.push_back(hlo);
  }
  return steps;
}

std::string ToString(const Program& program) {
  std::string out;
  const Computation* last = nullptr;
  for (const Instruction* hlo : StepsOf(program)) {
    const LoweredInstruction& step = program.StepOf(*hlo);
    if (hlo->parent != last) StrAppend(&out, hlo->parent->name, hlo->parent == program.module->entry ? " (entry)\n" : "\n");
    last = hlo->parent;
    StrAppend(&out, "  ", hlo->name, " ", ToString(hlo->shape()), ": ");
    if (step.kind == LoweredInstruction::Kind::kKernel) StrAppend(&out, "kernel ", step.kernel, step.part_kernels.empty() ? "" : ",", StrJoin(step.part_kernels, ","));
    if (step.kind == LoweredInstruction::Kind::kRoutine) StrAppend(&out, "routine ", step.kernel);
    if (step.kind == LoweredInstruction::Kind::kSequence) StrAppend(&out, "sequence ", step.kernel);
    if (step.kind == LoweredInstruction::Kind::kLibrary) StrAppend(&out, "library ", Text(hlo->opcode));
    if (step.kind == LoweredInstruction::Kind::kEvaluate) StrAppend(&out, "evaluate ", Text(hlo->opcode), " (", EvaluationReason(*hlo), ")");
    out += "\n";
  }
  for (const Refusal& refusal : program.refusals) StrAppend(&out, "no kernel for ", refusal.name, ": ", refusal.reason, "\n");
  for (size_t i = 0; i < program.kernels.size(); ++i) StrAppend(&out, "kernel ", i, ": ", ToString(program.kernels[i]));
  auto append_evaluated = [&](const Routine& routine) {
    for (const Instruction* hlo : routine.evaluated)
      if (program.StepOf(*hlo).kind == LoweredInstruction::Kind::kEvaluate)
        StrAppend(&out, "  evaluates ", hlo->name, " ", ToString(hlo->shape()), ": ", EvaluationReason(*hlo), "\n");
  };
  for (size_t i = 0; i < program.routines.size(); ++i) {
    StrAppend(&out, "routine ", i, ": ", ToString(*program.routines[i]));
    append_evaluated(*program.routines[i]);
  }
  for (size_t i = 0; i < program.sequences.size(); ++i) {
    StrAppend(&out, "sequence ", i, ": ", ToString(*program.sequences[i].routine, program.sequences[i].kernels));
    append_evaluated(*program.sequences[i].routine);
  }
  return out;
}

}  // namespace shoal::internal
