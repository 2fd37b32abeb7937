// The documentation of shoal, embedded for agents.
#pragma once

#include <span>
#include <string_view>

namespace shoal::internal {

struct DocumentPage {
  std::string_view name, text;  // "comm.md"
};
std::span<const DocumentPage> DocumentPages();

}  // namespace shoal::internal
