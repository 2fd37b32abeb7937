#include "serve/lsp/completion_items.h"

namespace shoal::internal {
namespace {

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-' ||
         c == '%' || c == '@';
}

}  // namespace

CompletionItems::CompletionItems(const View& view, uint32_t offset) {
  const std::string_view text = view.index().text();
  uint32_t start = offset;
  while (start > 0 && IsNameByte(text[start - 1])) --start;
  range_ = view.RangeOf({start, offset - start});
  word_ = text.substr(start, offset - start);
}

void CompletionItems::Add(std::string label, int kind, std::string detail, std::string documentation) {
  json item = {{"label", label}, {"kind", kind}, {"textEdit", {{"range", range_}, {"newText", label}}}};
  if (!detail.empty()) item["detail"] = std::move(detail);
  if (!documentation.empty()) item["documentation"] = std::move(documentation);
  items_.push_back(std::move(item));
}

}  // namespace shoal::internal
