// The answer to a completion request. Its items replace the word before the cursor.
#pragma once

#include <string>

#include "serve/lsp/view.h"

namespace shoal::internal {

// CompletionItemKind
enum CompletionKind : int { kFunctionItem = 3, kVariableItem = 6, kClassItem = 7, kPropertyItem = 10, kEnumMemberItem = 20 };

class CompletionItems {
 public:
  CompletionItems(const View& view, uint32_t offset);

  void Add(std::string label, int kind, std::string detail, std::string documentation = "");
  std::string_view word() const { return word_; }
  json Take() { return {{"isIncomplete", incomplete_}, {"items", std::move(items_)}}; }
  // A computation may have more values than a client can show.
  bool full() {
    incomplete_ = incomplete_ || items_.size() >= 1000;
    return incomplete_;
  }

 private:
  json range_;
  std::string_view word_;
  json items_ = json::array();
  bool incomplete_ = false;
};

// completion.cc calls it for StableHLO text.
json StablehloCompletionsAt(const View& view, uint32_t offset);

}  // namespace shoal::internal
