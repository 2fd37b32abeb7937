// Suggestions for misspelled names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::internal {

// The number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
size_t EditDistance(std::string_view a, std::string_view b);

// The candidate that is most similar to `name`; empty if none is similar.
std::string ClosestName(std::string_view name, std::span<const std::string> candidates);

// "; did you mean 'X'?", or an empty string.
std::string DidYouMean(std::string_view name, std::span<const std::string> candidates);

}  // namespace shoal::internal
