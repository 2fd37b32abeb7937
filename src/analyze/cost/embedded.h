// The files of machines/, embedded in the program.
#pragma once

#include <span>
#include <string_view>

namespace shoal::internal {

struct EmbeddedData {
  std::string_view name, text;  // "h100.yaml"
};
std::span<const EmbeddedData> EmbeddedFiles();
// Returns the text of the embedded file `name`, or an empty string if there is no such file.
std::string_view EmbeddedFile(std::string_view name);

}  // namespace shoal::internal
