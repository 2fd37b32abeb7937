// Program: a Module made ready to run: which instruction is a compiled kernel, which a call into the library of array
// functions, which is left to the interpreter's evaluator. Plain data; `shoal run --explain` prints it.
//
// The instructions are those of a private copy of the module, after the passes: everything that one loop nest can
// compute has become one fusion there. Steps run in the order of each computation's instructions. Values are counted
// references to blocks of the device's own pool of memory: a value that nobody asks for again gives its block to the
// next step that wants one of that size, and is written in place where the step may, so that loops need no copies
// and memory is touched for the first time once, not once per run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "compile/library/library.h"
#include "compile/program/routine.h"
#include "core/ir/module.h"
#include "transform/loops/kernel.h"

namespace shoal::internal {

struct LoweredInstruction {
  enum class Kind : uint8_t {
    kKernel,    // kernels[kernel], and those of `pieces`: each of them computes a part of the result
    kLibrary,   // library
    kRoutine,   // routines[kernel]: a loop with all its rounds
    kSequence,  // sequences[kernel]: a call of small steps
    kEvaluate,  // the interpreter's evaluator, on the same arrays
  };
  Kind kind = Kind::kEvaluate;
  size_t kernel = 0;
  LibraryFunction library = nullptr;
  std::vector<size_t> pieces;
};

struct Sequence {
  std::unique_ptr<Routine> routine;
  std::vector<size_t> kernels;  // of the program: the routine's
};

struct Program {
  std::unique_ptr<Module> module;  // after the passes
  std::vector<FusedKernel> kernels;     // each of them once, however many instructions it serves
  std::vector<std::unique_ptr<Routine>> routines;
  std::vector<Sequence> sequences;
  std::unordered_map<const Instruction*, LoweredInstruction> steps;

  const LoweredInstruction& StepOf(const Instruction& hlo) const {
    static const LoweredInstruction kEvaluated;
    auto found = steps.find(&hlo);
    return found == steps.end() ? kEvaluated : found->second;
  }
};

// What a step computes: a fusion or a loop as one, or every op by itself, those inside of fusions and loops too, for
// somebody who looks at each of their values.
enum class LoweringGranularity : uint8_t { kFused, kOps };

// Of a module that has gone through the passes.
Program Lower(std::unique_ptr<Module> module, LoweringGranularity steps = LoweringGranularity::kFused);

std::string ToString(const Program& program);

}  // namespace shoal::internal
