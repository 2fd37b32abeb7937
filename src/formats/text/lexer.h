// Splits HLO text into tokens, one at a time, without copying: a token is a view of the text.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/result.h"
#include "core/ir/element_type.h"

namespace shoal::internal {

enum class Tok : uint8_t {
  kEof,
  kError,
  kEqual,
  kComma,
  kColon,
  kAsterisk,
  kQuestion,
  kHash,
  kPlus,
  kTilde,
  kLsquare,
  kRsquare,
  kLbrace,
  kRbrace,
  kLparen,
  kRparen,
  kArrow,
  kLeq,
  kDots,
  kIdent,     // name without %, opcode, enum value
  kName,      // %name, or name: (the colon belongs to the token)
  kAttrName,  // name= (the equals sign belongs to the token)
  kType,      // f32
  kKeyword,   // ROOT, true, replicated, … (see Token::word)
  kString,    // "…" or '…', still escaped
  kInt,
  kDecimal,
  kNegInf,
  kDimLabels,  // b01f_01io->b01f
  kDxD,        // 3x3
  kPad,        // 1_1x0_0
};

enum class Word : uint8_t {
  kNone,
  kTrue,
  kFalse,
  kInf,
  kHloModule,
  kEntry,
  kRoot,
  kFileLocations,
  kFileNames,
  kFunctionNames,
  kStackFrames,
  kMaximal,
  kReplicated,
  kManual,
  kLastTileDimReplicate,
  kShardAs,
  kShardLike,
  kUnknown,
  kUnreduced,
};

struct Token {
  Tok kind = Tok::kEof;
  Word word = Word::kNone;
  ElementType type = ElementType::kInvalid;
  std::string_view text;  // name without % : =; string without quotes, still escaped; else the whole token
  int64_t integer = 0;    // for kInt; wraps above INT64_MAX, as in XLA
  double decimal = 0;     // for kDecimal
  uint32_t offset = 0;    // offset of the first byte
  uint32_t end = 0;       // offset past the last byte

  TextSpan span() const { return {offset, end - offset}; }
  bool Is(Word w) const { return kind == Tok::kKeyword && word == w; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { Next(); }

  const Token& token() const { return token_; }
  Tok kind() const { return token_.kind; }
  void Next();
  // Returns the kind of the token after the current one.
  Tok Peek();
  // If the current token is '{': consumes everything up to the matching '}' as one string, braces included.
  bool TakeJson(std::string_view* json);
  // Continues at `offset`, to read part of the text again or to skip an error.
  void Seek(uint32_t offset);
  std::string_view text() const { return text_; }
  // Offset of the end of the previous token.
  uint32_t previous_end() const { return previous_end_; }

 private:
  char At(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  bool SkipBlank();
  void LexIdentifier();
  void LexPercent();
  void LexNumber();
  bool LexPattern();
  bool LexInteger();
  void LexOther();
  void LexString(char quote);
  bool LexNan(size_t after, bool negative);
  size_t MatchDimLabels(size_t at) const;
  void Take(Tok kind, size_t end) {
    token_.kind = kind;
    at_ = end;
    token_.text = {text_.data() + token_.offset, end - token_.offset};
  }

  std::string_view text_;
  size_t at_ = 0;
  uint32_t previous_end_ = 0;
  Token token_;
};

// True if a name without % would be read as a type, for example "f32".
bool IsTypeName(std::string_view name);

// True if `text` lexes as one JSON dictionary. XLA prints such text without quotes.
bool LexesAsJsonDict(std::string_view text);

}  // namespace shoal::internal
