// Modules with one ill-typed instruction: with a missing or additional operand, or a wrong operand or result type.
// mutate.h samples at random; these are all variants.
#pragma once

#include <string>
#include <vector>

namespace shoal::internal::fuzz {

// Each variant is a separate text, always in the same order; none for a text that cannot be parsed.
std::vector<std::string> IllTypedVariants(const std::string& text);

}  // namespace shoal::internal::fuzz
