// The names of options in messages of the library, which name settings (core/base/settings.h).
#pragma once

#include <string>
#include <string_view>

namespace shoal::cli {

// Replaces "the setting max_seconds" by "--max_seconds".
std::string WithOptionNames(std::string_view text);

}  // namespace shoal::cli
