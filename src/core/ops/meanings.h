// The meaning of each op in one line, for people.
#pragma once

#include <array>
#include <string_view>

#include "core/ops/opcode.h"

namespace shoal::internal {

inline constexpr auto kMeanings = [] {
  std::array<std::string_view, kOpcodeCount> meanings{};
#define MEANING(Name, sentence) meanings[static_cast<size_t>(Opcode::k##Name)] = sentence;
#include "core/ops/meanings.def"
#undef MEANING
  return meanings;
}();
static_assert([] {
  for (const std::string_view meaning : kMeanings)
    if (meaning.empty()) return false;
  return true;
}(), "each op needs a row in meanings.def");

// Empty for kUnknown.
constexpr std::string_view MeaningOf(Opcode opcode) {
  return opcode == Opcode::kUnknown ? std::string_view() : kMeanings[static_cast<size_t>(opcode)];
}

}  // namespace shoal::internal
