// Base class of the readers: tokens and error reporting. Private to formats/text, as are the readers. Each one extends
// the one before: ShapeReader, LiteralReader, MetadataReader, ShardingReader, AttrReader, HeaderReader and Parser.
// Parser reads computations and their instructions.
//
// Read functions return false after reporting an error. Error reports invalid text. TolerateDeviation reports text
// that XLA rejects but whose meaning is clear: an error if strict, else a warning, and reading continues.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/strings.h"
#include "core/ops/op.h"
#include "formats/text/lexer.h"
#include "formats/text/parser.h"

namespace shoal::internal {

class Cursor {
 protected:
  Cursor(Module& module, std::string_view text, const ParseOptions& options, Diags& diags)
      : module_(module), options_(options), diags_(diags), lexer_(text) {}

  // ---- errors
  bool Error(TextSpan at, std::string message, Site site = Site::Here());
  bool ErrorHere(std::string message, Site site = Site::Here()) {
    return Error(lexer_.token().span(), std::move(message), site);
  }
  // Returns true if reading may continue.
  bool TolerateDeviation(TextSpan at, std::string_view rule, std::string message, Site site = Site::Here());

  // ---- tokens
  const Token& token() const { return lexer_.token(); }
  Tok kind() const { return lexer_.kind(); }
  bool Eat(Tok wanted) {
    if (kind() != wanted) return false;
    lexer_.Next();
    return true;
  }
  bool Expect(Tok wanted, const char* item) { return Eat(wanted) || Expected(item); }
  bool Expected(const char* item);  // reports that `item` is missing
  bool ReadName(std::string_view* name) {
    *name = token().text;
    return Eat(Tok::kName) || Eat(Tok::kIdent) || Expected("a name");
  }
  bool ReadAttrName(std::string_view* name) {
    *name = token().text;
    return Expect(Tok::kAttrName, "an attribute");
  }
  bool ReadInt(int64_t* value);
  bool ReadInt32(int32_t* value);
  bool ReadDouble(double* value);
  bool ReadBool(bool* value);
  bool ReadString(std::string_view* text);
  bool ReadStringOrJson(std::string_view* text);
  // Reads `{` item `,` item … `}`, with the given brackets and delimiter.
  template <class ReadItem>
  bool ReadList(Tok open, Tok close, Tok delimiter, ReadItem read_item);
  bool ReadInts(Ints* ints, Tok open = Tok::kLbrace, Tok close = Tok::kRbrace, Tok delimiter = Tok::kComma);
  bool ReadShapeIndex(Ints* index);

  // ---- nesting
  class Depth {
   public:
    explicit Depth(Cursor& cursor) : cursor_(cursor) { ++cursor_.depth_; }
    ~Depth() { --cursor_.depth_; }
    bool TooDeep() { return cursor_.depth_ > kMaxDepth && !cursor_.ErrorHere("nesting is deeper than 1024 levels"); }

   private:
    Cursor& cursor_;
  };
  static constexpr int kMaxDepth = 1024;

  Module& module_;
  const ParseOptions options_;
  Diags& diags_;
  Lexer lexer_;
  uint32_t last_error_ = TextSpan::kNowhere;  // the search for the next instruction starts here
  int depth_ = 0;

 private:
  std::vector<int64_t> int_scratch_;
};

template <class ReadItem>
bool Cursor::ReadList(Tok open, Tok close, Tok delimiter, ReadItem read_item) {
  if (!Expect(open, "a list")) return false;
  if (kind() != close) {
    do {
      if (!read_item()) return false;
    } while (Eat(delimiter));
  }
  return Expect(close, "the end of the list");
}

}  // namespace shoal::internal
