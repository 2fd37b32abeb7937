#include "serve/lsp/source_stack.h"

#include <algorithm>
#include <charconv>

#include "analyze/facts/source_lines.h"
#include "core/base/strings.h"
#include "core/ir/common_attrs.h"
#include "serve/lsp/features.h"

namespace shoal::internal {
namespace {

json LocationIn(const SourceFrame& frame, const LspSettings& settings) {
  const json at = {{"line", std::max(frame.line - 1, 0)}, {"character", std::max(frame.column - 1, 0)}};
  return {{"uri", UriOfPath(LocalPath(frame.file, settings))}, {"range", {{"start", at}, {"end", at}}}};
}

}  // namespace

std::vector<SourceFrame> SourceFramesOf(const View& view, const Instruction& hlo) {
  const ModuleAnalysis* analysis = view.snapshot->analysis();
  return analysis == nullptr ? StackOf(hlo, *view.snapshot->module()) : analysis->facts()->sources().StackOf(hlo);
}

std::string LocalPath(std::string_view file, const LspSettings& settings) {
  const std::pair<const std::string, std::string>* longest = nullptr;
  for (const auto& entry : settings.paths)
    if (file.starts_with(entry.first) && (longest == nullptr || entry.first.size() > longest->first.size()))
      longest = &entry;
  return longest == nullptr ? std::string(file) : StrCat(longest->second, file.substr(longest->first.size()));
}

json SourceAt(const View& view, uint32_t offset) {
  const IndexedInstruction* at = view.index().InstructionAt(offset);
  const Instruction* hlo = at == nullptr ? nullptr : view.snapshot->InstructionOf(*at);
  if (hlo == nullptr) return nullptr;
  std::vector<SourceFrame> frames = SourceFramesOf(view, *hlo);
  // Editors go to the first location, or list all.
  std::ranges::stable_partition(frames, [&](const SourceFrame& frame) { return !IsInstalledFile(frame.file, view.settings.own_packages); });
  json all = json::array();
  for (const SourceFrame& frame : frames) all.push_back(LocationIn(frame, view.settings));
  return all.empty() ? json() : all;
}

// The links are the paths in the text: source_file="…" in metadata, and "…":line:column in locations of StableHLO.
json DocumentLinksOf(const View& view) {
  constexpr size_t kMaxLinks = 5000;
  const bool is_stablehlo = view.index().is_stablehlo();
  const std::string_view key = is_stablehlo ? "loc(\"" : "source_file=\"";
  json links = json::array();
  const std::string& text = view.snapshot->text();
  for (size_t at = text.find(key); at != std::string::npos && links.size() < kMaxLinks; at = text.find(key, at + 1)) {
    const size_t start = at + key.size(), end = text.find('"', start);
    if (end == std::string::npos) break;
    const std::string_view behind = std::string_view(text).substr(end + 1);
    int64_t line = 0;
    if (is_stablehlo) {
      if (!behind.starts_with(':')) continue;  // the name of an op
      std::from_chars(behind.data() + 1, behind.data() + behind.size(), line);
    } else if (const IndexedInstruction* written = view.index().InstructionAt(static_cast<uint32_t>(at))) {
      const Instruction* hlo = view.snapshot->InstructionOf(*written);
      const Metadata* metadata = hlo == nullptr ? nullptr : (*hlo)[kMetadata];
      if (metadata != nullptr) line = metadata->source_line;
    }
    std::string target = UriOfPath(LocalPath(text.substr(start, end - start), view.settings));
    if (line > 0) StrAppend(&target, "#L", line);
    links.push_back({{"range", view.RangeOf({static_cast<uint32_t>(start), static_cast<uint32_t>(end - start)})},
                     {"target", target}});
  }
  return links;
}

}  // namespace shoal::internal
