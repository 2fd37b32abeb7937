// Measures, shortens and wraps text by its width in terminal columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::internal {

// East Asian letters and emoji take two columns, combining marks and colour codes none, an invalid UTF-8 byte one.
size_t TextWidth(std::string_view text);

// The part of a text that … replaces if the text is too wide.
enum class ElideMode : uint8_t {
  kNever,
  kRight,   // the end
  kLeft,    // the beginning
  kMiddle,
  kPath,    // leading components of a path: …/layers/attention.py:12
};

// Shortens `text` to at most `columns` columns, with … for the omitted part. kNever: returns it unchanged.
std::string ElideTo(std::string_view text, size_t columns, ElideMode mode);

// Wraps lines at `width` columns, at spaces if possible; 0: returns them unchanged. Continuation lines have the
// indentation of the line they continue, plus `hang`.
std::string Wrapped(std::string_view text, size_t width, size_t hang = 2);

}  // namespace shoal::internal
