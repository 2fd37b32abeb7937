// Modules with one ill-typed instruction: with a missing or additional operand, or a wrong operand or result type.
// mutate.h makes random changes; this header enumerates all variants.
#pragma once

#include <string>
#include <vector>

namespace shoal::internal::fuzz {

// Returns each variant as a separate text, always in the same order. Empty if the text cannot be parsed.
std::vector<std::string> IllTypedVariants(const std::string& text);

}  // namespace shoal::internal::fuzz
