// Tokens of MLIR text, for features that must work while the text has errors. (formats/stablehlo reads without tokens.)
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/result.h"

namespace shoal::internal {

enum class MlirTok : uint8_t {
  kEof,
  kValue,      // %0; "#1" is not a part of it
  kSymbol,     // @main
  kBlock,      // ^bb0
  kAttribute,  // #stablehlo.dot, #loc1
  kType,       // !stablehlo.token
  kWord,       // stablehlo.add, tensor, cond
  kNumber,
  kString,
  kComment,
  kArrow,
  kPunctuation,
};

struct MlirToken {
  MlirTok kind = MlirTok::kEof;
  uint32_t offset = 0, end = 0;
  bool is_first_on_line = false;
  TextSpan span() const { return {offset, end - offset}; }
};

class MlirLexer {
 public:
  explicit MlirLexer(std::string_view text, uint32_t offset = 0) : text_(text), at_(offset) { Next(); }

  const MlirToken& token() const { return token_; }
  MlirTok kind() const { return token_.kind; }
  std::string_view text() const { return text_.substr(token_.offset, token_.end - token_.offset); }
  bool Is(std::string_view text) const { return this->text() == text; }
  bool Is(char c) const { return kind() == MlirTok::kPunctuation && text_[token_.offset] == c; }
  void Next();

 private:
  MlirTok Lex();
  size_t NameEnd(size_t from) const;
  size_t StringEnd(size_t from) const;

  std::string_view text_;
  size_t at_;
  MlirToken token_;
};

}  // namespace shoal::internal
