// Text on a terminal: how many columns it takes, and how it is made to take fewer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::internal {

// Letters of East Asia and pictures take two columns, combining marks and colours none; a byte that is no UTF-8 one.
size_t TextWidth(std::string_view text);

// Which part of a text goes where it is too wide.
enum class ElideMode : uint8_t {
  kNever,
  kRight,   // its end
  kLeft,    // its beginning
  kMiddle,
  kPath,    // whole parts of a path at its beginning: …/layers/attention.py:12
};

// At most `columns` columns of it, with … where something is missing. kNever: all of it.
std::string ElideTo(std::string_view text, size_t columns, ElideMode cut);

// Lines of at most `width` columns, broken at spaces where there are some; 0: as they are. Continued lines are indented
// by as much as the line they continue, and by `hang` more.
std::string Wrapped(std::string_view text, size_t width, size_t hang = 2);

}  // namespace shoal::internal
