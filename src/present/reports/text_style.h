// Layout of text output.
#pragma once

#include <cstddef>

namespace shoal::internal {

struct TextStyle {
  size_t width = 0;  // maximum columns of a line; 0: unlimited
  bool color = false;
};

}  // namespace shoal::internal
