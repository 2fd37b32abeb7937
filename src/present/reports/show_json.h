// The JSON of `shoal show`, as described in docs/show.md.
#pragma once

#include "present/reports/skeleton_text.h"

namespace shoal::internal {

struct ShownDevices {
  int64_t count = 1;
  std::string from;
};

std::string ShowJson(const std::string& file, const ShownModule& shown, const ShownDevices& devices,
                     const std::vector<std::string>& assumptions);

}  // namespace shoal::internal
