// Formatting and code actions.
#include <algorithm>
#include <set>

#include "core/base/strings.h"
#include "core/ir/call_graph.h"
#include "core/ir/common_attrs.h"
#include "core/ops/traits.h"
#include "formats/text/printer.h"
#include "serve/lsp/features.h"
#include "serve/lsp/source_stack.h"

namespace shoal::internal {
namespace {

json Edit(const View& view, TextSpan at, std::string text) {
  return {{"range", view.RangeOf(at)}, {"newText", std::move(text)}};
}

json Action(const View& view, std::string title, const char* kind, json edits) {
  return {{"title", std::move(title)},
          {"kind", kind},
          {"edit", {{"changes", {{view.snapshot->uri(), std::move(edits)}}}}}};
}

// The shape that operands and attributes determine, if the text declares another one.
json DeclareInferredShape(const View& view, const IndexedInstruction& written, const Instruction& hlo) {
  if (!written.shape.known()) return nullptr;
  Arena arena;
  ShapePool shapes(arena);
  const Result<const Shape*> inferred = Info(hlo.opcode).infer(hlo, shapes);
  if (!inferred.ok() || &shapes.Import(hlo.shape())->bare() == &shapes.Import(**inferred)->bare()) return nullptr;
  const std::string text = ToString(**inferred, true);
  return Action(view, StrCat("Declare the inferred shape ", ToString(**inferred)), "quickfix",
                json::array({Edit(view, written.shape, text)}));
}

// The instruction with its line break and indentation.
TextSpan LinesOf(std::string_view text, TextSpan at) {
  uint32_t start = at.offset, end = at.offset + at.length;
  while (start > 0 && (text[start - 1] == ' ' || text[start - 1] == '\t')) --start;
  while (end < text.size() && (text[end] == ' ' || text[end] == '\r')) ++end;
  if (end < text.size() && text[end] == '\n') ++end;
  return {start, end - start};
}

json RemoveDead(const View& view, const IndexedInstruction& written, const Instruction& hlo) {
  const TextIndex& index = view.index();
  if (written.is_root || IsParameter(hlo) || HasSideEffect(hlo) || hlo.parent->root == &hlo) return nullptr;
  const NameReference* definition = index.ReferenceAt(written.name.offset);
  if (definition == nullptr || index.ReferencesTo(*definition).size() > 1) return nullptr;
  return Action(view, StrCat("Remove the unused instruction ", hlo.name), "quickfix",
                json::array({Edit(view, LinesOf(index.text(), written.whole), "")}));
}

// Replaces stack_frame_id=N by the file and line that it stands for, so that the text no longer needs the tables.
json InlineSourceLocation(const View& view, const IndexedInstruction& written, const Instruction& hlo) {
  const Metadata* metadata = hlo[kMetadata];
  if (metadata == nullptr || metadata->stack_frame_id == 0 || !metadata->source_file.empty()) return nullptr;
  const std::vector<SourceFrame> frames = StackOf(hlo, *view.snapshot->module());
  constexpr std::string_view kKey = "stack_frame_id=";
  const std::string_view text = view.index().TextOf(written.whole);
  const size_t at = text.find(StrCat(kKey, metadata->stack_frame_id));
  if (frames.empty() || at == std::string_view::npos) return nullptr;
  std::string location = "source_file=\"";
  AppendEscaped(location, frames.front().file);
  StrAppend(&location, "\" source_line=", frames.front().line);
  const auto length = static_cast<uint32_t>(StrCat(kKey, metadata->stack_frame_id).size());
  return Action(view, StrCat("Write the source location ", frames.front().file, ":", frames.front().line, " in place"),
                "refactor.inline",
                json::array({Edit(view, {written.whole.offset + static_cast<uint32_t>(at), length}, location)}));
}

// All computations that the instruction calls, directly or not, callees first.
std::vector<const Computation*> CalleesOf(const Instruction& hlo, const Module& module) {
  std::vector<const Computation*> found;
  std::set<const Computation*> seen;
  const auto add = [&](const Instruction& caller) {
    for (const Computation* callee : CalledComputations(caller))
      if (seen.insert(callee).second) found.push_back(callee);
  };
  add(hlo);
  for (size_t i = 0; i < found.size(); ++i)
    for (const Instruction* inner : found[i]->instructions) add(*inner);
  std::vector<const Computation*> ordered;
  for (const Computation* computation : CalleesFirst(module))
    if (seen.contains(computation)) ordered.push_back(computation);
  return ordered;
}

// A module with the instruction as the root of its entry, and its operands as parameters.
json ExtractModule(const View& view, const IndexedInstruction& written, const Instruction& hlo) {
  const TextIndex& index = view.index();
  const std::string path = PathOfUri(view.snapshot->uri());
  if (IsParameter(hlo) || path.empty() || !written.opcode.known()) return nullptr;
  std::string text = StrCat("HloModule ", hlo.name, "\n\n");
  for (const Computation* callee : CalleesOf(hlo, *view.snapshot->module())) {
    const IndexedComputation* computation = index.FindComputation(callee->name);
    if (computation == nullptr) return nullptr;
    StrAppend(&text, index.TextOf(computation->whole), "\n\n");
  }
  text += "ENTRY main {\n";
  std::set<std::string_view> named;
  for (const Instruction* operand : hlo.operands) {
    if (!named.insert(operand->name).second) continue;
    StrAppend(&text, "  ", operand->name, " = ", ToString(operand->shape(), true), " parameter(", named.size() - 1, ")\n");
  }
  const std::string_view body =
      index.text().substr(written.name.offset, written.whole.offset + written.whole.length - written.name.offset);
  StrAppend(&text, "  ROOT ", body, "\n}\n");
  const std::string target =
      UriOfPath(StrCat(path.substr(0, path.rfind('/') + 1), std::string(hlo.name), ".extracted.hlo"));
  const json start = {{"line", 0}, {"character", 0}};
  return {{"title", StrCat("Extract ", hlo.name, " into a module of its own")},
          {"kind", "refactor.extract"},
          {"edit",
           {{"documentChanges",
             json::array({{{"kind", "create"}, {"uri", target}, {"options", {{"ignoreIfExists", true}}}},
                          {{"textDocument", {{"uri", target}, {"version", nullptr}}},
                           {"edits", json::array({{{"range", {{"start", start}, {"end", start}}},
                                                   {"newText", text}}})}}})}}}};
}

json OpenPage(const View& view, const Instruction& hlo) {
  return {{"title", StrCat("Open the report page at ", hlo.name)},
          {"kind", "source"},
          {"command",
           {{"title", "Open the report page"},
            {"command", "shoal.openPage"},
            {"arguments", json::array({view.snapshot->uri(), hlo.name})}}}};
}

}  // namespace

json FormattingOf(const View& view) {
  const Module* module = view.snapshot->module();
  if (module == nullptr || view.index().is_stablehlo()) return nullptr;
  std::string printed = PrintModuleLikeSource(*module);
  const std::string& text = view.snapshot->text();
  if (printed == text) return json::array();
  return json::array({Edit(view, {0, static_cast<uint32_t>(text.size())}, std::move(printed))});
}

json CodeActionsFor(const View& view, TextSpan range) {
  json actions = json::array();
  const IndexedInstruction* written = view.index().InstructionAt(range.offset);
  const Instruction* hlo = written == nullptr ? nullptr : view.snapshot->InstructionOf(*written);
  if (hlo == nullptr) return actions;
  if (!view.index().is_stablehlo())
    for (const auto& make : {DeclareInferredShape, RemoveDead, InlineSourceLocation, ExtractModule})
      if (json action = make(view, *written, *hlo); !action.is_null()) actions.push_back(std::move(action));
  if (view.snapshot->analysis() != nullptr) actions.push_back(OpenPage(view, *hlo));
  return actions;
}

}  // namespace shoal::internal
