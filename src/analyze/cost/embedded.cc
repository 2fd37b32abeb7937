#include "analyze/cost/embedded.h"

#include <vector>

#include "analyze/cost/machine.h"

namespace shoal::internal {
namespace {

constexpr EmbeddedData kFiles[] = {
#include "analyze/cost/embedded_machines.inc"
};

}  // namespace

std::span<const EmbeddedData> EmbeddedFiles() { return kFiles; }

std::string_view EmbeddedFile(std::string_view name) {
  for (const EmbeddedData& file : kFiles)
    if (file.name == name) return file.text;
  return {};
}

std::span<const Preset> Presets() {
  static const std::vector<Preset> presets = [] {
    std::vector<Preset> result;
    for (const EmbeddedData& file : kFiles)
      if (file.name.find('/') == std::string_view::npos)
        result.push_back({file.name.substr(0, file.name.rfind('.')), file.text});
    return result;
  }();
  return presets;
}

}  // namespace shoal::internal
