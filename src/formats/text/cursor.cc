// Reads the basic elements of the text: numbers, strings, lists of integers.
#include <cmath>
#include <limits>

#include "formats/text/cursor.h"

namespace shoal::internal {
namespace {

std::string Describe(const Token& token) {
  if (token.kind == Tok::kEof) return "the end of the text";
  if (token.kind == Tok::kError && token.text.size() == 1 && static_cast<unsigned char>(token.text[0]) < ' ')
    return StrCat("the byte 0x", Hex(static_cast<unsigned char>(token.text[0])));
  std::string_view shown = token.text.substr(0, 40);
  return token.kind == Tok::kString ? StrCat("the string \"", shown, "\"") : StrCat("'", shown, "'");
}

}  // namespace

bool Cursor::Error(TextSpan at, std::string message, Site site) {
  last_error_ = at.offset;
  diags_.Add(Fail(at, "", std::move(message), site));
  return false;
}

bool Cursor::TolerateDeviation(TextSpan at, std::string_view rule, std::string message, Site site) {
  if (!options_.strict) {
    diags_.Warn(at, rule, std::move(message), site);
    return true;
  }
  last_error_ = at.offset;
  diags_.Add(Fail(at, rule, std::move(message), site));
  return false;
}

bool Cursor::Expected(const char* item) { return ErrorHere(StrCat("expected ", item, ", found ", Describe(token()))); }

bool Cursor::ReadInt(int64_t* value) {
  if (kind() != Tok::kInt) return Expected("an integer");
  *value = token().integer;
  lexer_.Next();
  return true;
}

bool Cursor::ReadInt32(int32_t* value) {
  TextSpan at = token().span();
  int64_t wide = 0;
  if (!ReadInt(&wide)) return false;
  *value = static_cast<int32_t>(wide);
  return *value == wide || Error(at, StrCat(wide, " does not fit into 32 bits"));
}

bool Cursor::ReadDouble(double* value) {
  if (kind() == Tok::kDecimal) {
    *value = token().decimal;
    if (std::isinf(*value)) return ErrorHere(StrCat(token().text, " is out of the range of a double"));
  } else if (kind() == Tok::kInt) {
    *value = static_cast<double>(token().integer);
    // XLA prints minus zero as -0 but reads -0 as 0. shoal keeps the sign, so that a round trip does not change values.
    if (token().integer == 0 && token().text[0] == '-' && !options_.xla_compatible) *value = -0.0;
  } else if (token().Is(Word::kInf) || kind() == Tok::kNegInf) {
    *value =
        kind() == Tok::kNegInf ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  } else {
    return Expected("a number");
  }
  lexer_.Next();
  return true;
}

bool Cursor::ReadBool(bool* value) {
  if (!token().Is(Word::kTrue) && !token().Is(Word::kFalse)) return Expected("true or false");
  *value = token().Is(Word::kTrue);
  lexer_.Next();
  return true;
}

bool Cursor::ReadString(std::string_view* text) {
  if (kind() != Tok::kString) return Expected("a string");
  *text = token().text;
  if (text->find('\\') != std::string_view::npos) {
    std::string plain;
    if (!Unescape(*text, &plain)) return ErrorHere("the string has an escape sequence that is not valid in C");
    *text = module_.arena.CopyString(plain);
  }
  lexer_.Next();
  return true;
}

bool Cursor::ReadStringOrJson(std::string_view* text) {
  if (kind() != Tok::kLbrace) return ReadString(text);
  return lexer_.TakeJson(text) || ErrorHere("unclosed brace in a JSON dictionary");
}

bool Cursor::ReadInts(Ints* ints, Tok open, Tok close, Tok delimiter) {
  const size_t base = int_scratch_.size();
  bool good = ReadList(open, close, delimiter, [&] {
    int64_t value = 0;
    if (!ReadInt(&value)) return false;
    int_scratch_.push_back(value);
    return true;
  });
  *ints = module_.arena.Copy(std::span(int_scratch_).subspan(base));
  int_scratch_.resize(base);
  return good;
}

// {0,1}, with an optional trailing comma.
bool Cursor::ReadShapeIndex(Ints* index) {
  std::vector<int64_t> path;
  if (!Expect(Tok::kLbrace, "'{' before a shape index")) return false;
  while (kind() != Tok::kRbrace) {
    path.emplace_back();
    if (!ReadInt(&path.back())) return false;
    if (!Eat(Tok::kComma)) break;
  }
  *index = module_.arena.Copy(path);
  return Expect(Tok::kRbrace, "'}' after a shape index");
}

}  // namespace shoal::internal
