// A module under construction, which ModuleBuilder and ModuleEditor share.
#pragma once

#include <map>
#include <set>

#include "api/cpp/error_state.h"
#include "core/ops/module_builder.h"
#include "shoal/builder.h"

namespace shoal::internal {

struct BuilderState {
  struct Part {
    Computation* computation = nullptr;
    std::vector<Instruction*> values;
    bool is_finished = false;
  };

  explicit BuilderState(std::shared_ptr<Module> under_construction)
      : module(std::move(under_construction)), builder(*module) {}

  std::shared_ptr<Module> module;  // null once it is finished
  ModuleBuilder builder;
  std::vector<Part> parts;
  std::set<std::string, std::less<>> names, computation_names;
  std::map<std::string, int, std::less<>> next_number;  // by name
};

// A name that no instruction has: `name`, or `name` with a number.
std::string UnusedName(BuilderState& state, std::string_view name);
// A legal name that no instruction has, also if `name` is empty. Fails if `name` is not legal.
shoal::Result<std::string> NewName(BuilderState& state, std::string_view opcode, std::string_view name);
shoal::Result<ComputationBuilder> StartComputation(const std::shared_ptr<BuilderState>& state, std::string_view name);

}  // namespace shoal::internal
