#include "api/cpp/diag_stack.h"

#include <algorithm>

#include "analyze/facts/source_lines.h"
#include "core/base/settings.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ir/common_attrs.h"

namespace shoal::internal {
namespace {

constexpr size_t kMaxFrames = 6;

const Instruction* InstructionAt(const Module& module, uint32_t offset) {
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (hlo->at.offset == offset) return hlo;
  return nullptr;
}

// The frames outside of installed packages; if there are none, the innermost frame.
std::vector<SourceFrame> UserFrames(const SourceLines& lines, const Instruction& hlo) {
  std::vector<SourceFrame> stack = lines.StackOf(hlo);
  const auto installed = std::ranges::stable_partition(stack, [](const SourceFrame& frame) { return !IsInstalledFile(frame.file); });
  stack.erase(std::max(installed.begin(), stack.begin() + (stack.empty() ? 0 : 1)), stack.end());
  return stack;
}

// "\n  from jit(step)/log, model.py:12". Several frames have a line each.
std::string OriginOf(const Diag& diag, const Module& module) {
  const Instruction* hlo = diag.at.known() ? InstructionAt(module, diag.at.offset) : nullptr;
  const Metadata* metadata = hlo == nullptr ? nullptr : (*hlo)[kMetadata];
  if (metadata == nullptr) return "";
  const std::vector<SourceFrame> frames = UserFrames(SourceLines(module), *hlo);
  std::vector<std::string> first;
  if (!metadata->op_name.empty()) first.emplace_back(metadata->op_name);
  if (frames.size() == 1) first.push_back(FormatCall(frames[0]));
  std::string text = first.empty() && frames.empty() ? "" : StrCat("\n  from ", StrJoin(first, ", "));
  if (frames.size() == 1) return text;
  for (size_t i = 0; i < frames.size() && i < kMaxFrames; ++i) StrAppend(&text, "\n    ", FormatCall(frames[i]));
  if (frames.size() > kMaxFrames) StrAppend(&text, "\n    … and ", Pluralize(frames.size() - kMaxFrames, "more frame"));
  return text;
}

// The suggestion of a command remains the last line.
Diag WithText(Diag diag, const std::string& origin) {
  diag.message.insert(std::min(diag.message.find(kNextStep), diag.message.size()), origin);
  return diag;
}

}  // namespace

Diag WithStack(const Diag& diag, const Module& module) { return WithText(diag, OriginOf(diag, module)); }

Diags WithStacks(const Diags& diags, const Module& module) {
  Diags all;
  std::string last;
  for (const Diag& diag : diags.found()) {
    const std::string origin = diag.severity == Severity::kError ? OriginOf(diag, module) : "";
    all.Add(origin == last ? diag : WithText(diag, origin));
    if (!origin.empty()) last = origin;
  }
  // Those that are only counted.
  while (all.errors() < diags.errors()) all.Add(Fail(""));
  while (all.warnings() < diags.warnings()) all.Warn({}, "", "");
  return all;
}

}  // namespace shoal::internal
