// Fits an answer into a budget of tokens: lists keep their first, most important rows, and the answer says how many rows
// were left out and which call returns them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace shoal::internal {

// A rule of thumb for the tokenizers of language models.
inline constexpr size_t kBytesPerToken = 4;
inline constexpr int64_t kDefaultBudget = 2000;  // tokens

// Removes the first `offset` elements of the member `list`, then shortens lists until the value has at most `bytes` bytes
// of JSON. Adds "left_out": [{"list", "shown", "total", "next_offset"}]; next_offset only for `list`.
void FitToBudget(nlohmann::json& value, const std::string& list, int64_t offset, size_t bytes);

// The first lines of a text, with a last line that counts the others.
std::string FirstLines(const std::string& text, size_t bytes);

}  // namespace shoal::internal
