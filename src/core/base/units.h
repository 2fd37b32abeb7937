// Formats and parses numbers with units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shoal::internal {

// Formats 1.23e15 as "1.23 P", with the prefixes k, M, G, T, P, E; numbers below 1000 have none.
std::string FormatSi(double number);
// Formats 1536 as "1.5 KiB".
std::string FormatBytes(double bytes);
// Parses "80GB", "1.5 GiB", "4096"; nullopt if the text is not a number of bytes.
std::optional<int64_t> ParseBytes(std::string_view text);
// "3 loops", "1 loop".
std::string Pluralize(int64_t count, const char* noun);

}  // namespace shoal::internal
