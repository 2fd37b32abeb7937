// Modules in which one instruction has something it does not expect: an operand too few or too many, one of another kind,
// another result. Where mutate.h tries what it happens upon, these are all there are.
#pragma once

#include <string>
#include <vector>

namespace shoal::internal::fuzz {

// Each as a text of its own, always in the same order; none of a text that cannot be read.
std::vector<std::string> IllTypedVariants(const std::string& text);

}  // namespace shoal::internal::fuzz
