// Formats numbers for the page, with about three digits. The other commands print exact numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::internal {

std::string Grouped(int64_t number);       // "12,345"
std::string Grouped(int64_t number, std::string_view noun);  // "12,345 ops", "1 op"
std::string ShortPercent(double fraction); // "4.2 %", "42 %"
std::string ShortBytes(double bytes);      // "1.5 KiB", "150 KiB"
std::string ShortSeconds(double seconds);  // "6.83 ms", "403 µs"

}  // namespace shoal::internal
