// Semantic tokens in the relative encoding of the protocol: five numbers for each.
#pragma once

#include <vector>

#include "serve/lsp/view.h"

namespace shoal::internal {

// In the order of the legend.
enum class TokenType : uint32_t { kKeyword, kType, kFunction, kVariable, kClass, kProperty, kString, kNumber, kEnumMember };
inline constexpr uint32_t kDeclarationToken = 1;

struct TokenClass {
  TokenType type{};
  uint32_t modifiers = 0;
};

class TokenEncoder {
 public:
  explicit TokenEncoder(const View& view) : view_(view) {}

  // A token of several lines becomes one token for each line, because most clients cannot show it otherwise.
  void Add(uint32_t offset, uint32_t end, TokenClass token_class);
  std::vector<uint32_t> Take() { return std::move(data_); }

 private:
  void AddInLine(uint32_t line, uint32_t offset, uint32_t end, TokenClass token_class);

  const View& view_;
  std::vector<uint32_t> data_;
  uint32_t line_ = UINT32_MAX, at_ = 0, character_ = 0;  // a position whose character is known
  uint32_t last_line_ = 0, last_character_ = 0;
};

// The tokens that begin in `range`.
std::vector<uint32_t> StablehloTokensOf(const View& view, TextSpan range);

}  // namespace shoal::internal
