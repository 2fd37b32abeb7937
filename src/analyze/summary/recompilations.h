// Modules that are one program, compiled for different shapes or constants.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/ir/module.h"

namespace shoal::internal {

// The part of a module that is equal for all shapes, and its parameters.
struct ProgramKey {
  uint64_t ops = 0;   // hash of the ops and their operands, without shapes, names and constants
  int64_t count = 0;  // number of instructions
  std::vector<std::string> parameters;  // shapes
  std::string result;
  std::vector<std::pair<std::string, std::string>> constants;  // name and value of each constant, in order
};
ProgramKey ProgramKeyOf(const ModuleFacts& facts);

struct Recompilation {
  std::vector<size_t> modules;           // indices, in order
  std::vector<std::string> differences;  // "parameter 0: f32[2,3], f32[3,3]"
};
// Groups modules with equal ops whose parameters, results or constants differ, in the order of their first modules. A
// constant often is a number of the Python program, such as a learning rate or the step.
std::vector<Recompilation> FindRecompilations(std::span<const ProgramKey> keys);

}  // namespace shoal::internal
