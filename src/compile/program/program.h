// Program: a Module prepared for execution. Each instruction is a compiled kernel, a library function, or evaluated by
// the interpreter. Plain data; `shoal run --explain` prints it.
//
// The instructions belong to a private copy of the module, in which passes have fused everything that one loop nest can
// compute. Instructions run in the order of their computation. Values are reference-counted blocks from the device's
// memory pool. After the last use of a value, its block is reused for the next value of that size, or in place if the
// instruction supports that. So loops need no copies, and pages are faulted in only once, not in each run.
#pragma once

#include <memory>
#include <unordered_map>

#include "compile/library/library.h"
#include "compile/program/routine.h"
#include "core/ir/module.h"
#include "transform/loops/kernel_cache.h"

namespace shoal::internal {

// A group that a pass did not fuse, or a fusion that the interpreter evaluates, because the kernel builder refused it.
struct Refusal {
  std::string name;  // of the fusion, or of the root of the group
  std::string_view reason;
};

struct LoweredInstruction {
  enum class Kind : uint8_t {
    kKernel,    // kernels[kernel] and part_kernels: each computes a part of the result
    kLibrary,   // library; or applied_library, whose function is kernels[kernel]
    kRoutine,   // routines[kernel]: a whole loop as one function
    kSequence,  // sequences[kernel]: a whole loop, or a call of small ops
    kEvaluate,  // the interpreter evaluates it on the same arrays
  };
  Kind kind = Kind::kEvaluate;
  size_t kernel = 0;
  LibraryFunction library = nullptr;
  std::vector<size_t> part_kernels;
  AppliedLibraryFunction applied_library = nullptr;
};

struct Sequence {
  std::unique_ptr<Routine> routine;
  std::vector<size_t> kernels;    // the routine's kernels, as indices into Program::kernels
  std::vector<size_t> functions;  // the functions that the routine calls, as indices into Program::routines
};

struct Program {
  std::shared_ptr<Module> module;    // the module after the passes
  std::vector<FusedKernel> kernels;  // unique; several instructions may share a kernel
  std::vector<std::shared_ptr<const Routine>> routines;  // loops as functions
  std::vector<Sequence> sequences;
  std::unordered_map<const Instruction*, LoweredInstruction> steps;
  std::vector<Refusal> refusals;

  const LoweredInstruction& StepOf(const Instruction& hlo) const {
    static const LoweredInstruction kEvaluated;
    auto found = steps.find(&hlo);
    return found == steps.end() ? kEvaluated : found->second;
  }
};

// kFused: fusions and loops are compiled as a unit. kOps: every op runs separately, also inside fusions and loops, so
// that each of their values can be observed.
enum class LoweringGranularity : uint8_t { kFused, kOps };

// Lowers a module after the passes have run.
Program Lower(std::shared_ptr<Module> module, LoweringGranularity steps, KernelCache& kernels);

// The instructions that run as steps of their own, except parameters, tuples and other structure: those in fusions,
// routines and sequences are parts of a step.
std::vector<const Instruction*> StepsOf(const Program& program);

std::string ToString(const Program& program);

}  // namespace shoal::internal
