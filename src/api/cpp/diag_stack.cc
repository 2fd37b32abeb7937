#include "api/cpp/diag_stack.h"

#include <algorithm>

#include "analyze/facts/source_lines.h"
#include "core/base/settings.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ir/common_attrs.h"

namespace shoal::internal {
namespace {

constexpr size_t kMaxCalls = 6;

const Instruction* InstructionAt(const Module& module, uint32_t offset) {
  for (const Computation* computation : module.computations)
    for (const Instruction* hlo : computation->instructions)
      if (hlo->at.offset == offset) return hlo;
  return nullptr;
}

// The calls outside of installed packages; if there are none, the innermost call. XLA repeats the callers of a function
// when it inlines the function; here, each call is listed once.
std::vector<std::string> UserCalls(const SourceLines& lines, const Instruction& hlo, std::span<const std::string> own_packages) {
  const std::vector<SourceFrame> stack = lines.StackOf(hlo);
  std::vector<std::string> calls;
  for (const SourceFrame& frame : stack) {
    std::string call = IsInstalledFile(frame.file, own_packages) ? "" : FormatCall(frame);
    if (!call.empty() && std::ranges::find(calls, call) == calls.end()) calls.push_back(std::move(call));
  }
  if (calls.empty() && !stack.empty()) calls.push_back(FormatCall(stack[0]));
  if (lines.ForwardOf(hlo) != nullptr)
    for (std::string& call : calls) call += SourceLines::kVia;
  return calls;
}

// "\n  from jit(step)/log, model.py:12". Several frames have a line each.
std::string OriginOf(const Diag& diag, const Module& module, std::span<const std::string> own_packages) {
  const Instruction* hlo = diag.at.known() ? InstructionAt(module, diag.at.offset) : nullptr;
  const Metadata* metadata = hlo == nullptr ? nullptr : (*hlo)[kMetadata];
  if (metadata == nullptr) return "";
  const std::vector<std::string> calls = UserCalls(SourceLines(module, own_packages), *hlo, own_packages);
  std::vector<std::string> first;
  if (!metadata->op_name.empty()) first.emplace_back(metadata->op_name);
  if (calls.size() == 1) first.push_back(calls[0]);
  std::string text = first.empty() && calls.empty() ? "" : StrCat("\n  from ", StrJoin(first, ", "));
  if (calls.size() == 1) return text;
  for (size_t i = 0; i < calls.size() && i < kMaxCalls; ++i) StrAppend(&text, "\n    ", calls[i]);
  if (calls.size() > kMaxCalls) StrAppend(&text, "\n    … and ", Pluralize(calls.size() - kMaxCalls, "more frame"));
  return text;
}

// The suggestion of a command remains the last line.
Diag WithText(Diag diag, const std::string& origin) {
  diag.message.insert(std::min(diag.message.find(kNextStep), diag.message.size()), origin);
  return diag;
}

}  // namespace

Diag WithStack(const Diag& diag, const Module& module, std::span<const std::string> own_packages) {
  return WithText(diag, OriginOf(diag, module, own_packages));
}

Diags WithStacks(const Diags& diags, const Module& module, std::span<const std::string> own_packages) {
  Diags all;
  std::string last;
  for (const Diag& diag : diags.found()) {
    const std::string origin = diag.severity == Severity::kError ? OriginOf(diag, module, own_packages) : "";
    all.Add(origin == last ? diag : WithText(diag, origin));
    if (!origin.empty()) last = origin;
  }
  // Those that are only counted.
  while (all.errors() < diags.errors()) all.Add(Fail(""));
  while (all.warnings() < diags.warnings()) all.Warn({}, "", "");
  return all;
}

}  // namespace shoal::internal
