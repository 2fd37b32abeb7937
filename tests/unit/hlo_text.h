// Parses modules from text, for tests.
#pragma once

#include <gtest/gtest.h>

#include "formats/text/parser.h"

namespace shoal::internal {

inline std::unique_ptr<Module> ModuleFrom(std::string text) {
  std::unique_ptr<Source> source = Source::FromString("test.hlo", std::move(text));
  Diags diags;
  std::unique_ptr<Module> module = ParseModule(source, {}, diags);
  EXPECT_NE(module, nullptr) << (source == nullptr ? "" : Render(diags, *source));
  return module;
}

// The first instruction with this name in any computation.
inline const Instruction& Named(const Module& module, std::string_view name) {
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (hlo->name == name) return *hlo;
  ADD_FAILURE() << "no instruction " << name;
  return *module.entry->root;
}

}  // namespace shoal::internal
