// Numbers as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shoal::internal {

// 1.23e15 as "1.23 P", with the prefixes k, M, G, T, P, E; small numbers as they are.
std::string FormatSi(double number);
// 1536 as "1.5 KiB" and so on.
std::string FormatBytes(double bytes);
// The other way round: "80GB", "1.5 GiB", "4096"; nothing if that is no number of bytes.
std::optional<int64_t> ParseBytes(std::string_view text);
// "3 loops", "1 loop".
std::string Pluralize(int64_t count, const char* what);

}  // namespace shoal::internal
