#include "core/base/json_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/numbers.h"
#include "core/base/strings.h"

namespace shoal::internal {
namespace {

void AppendUtf8(std::string& out, uint32_t code) {
  auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    tail(12), tail(6), tail(0);
  }
}

}  // namespace

JsonReader::JsonReader(std::string_view text) : all_(text) {
  if (all_.starts_with("\xef\xbb\xbf")) at_ = 3;  // a byte order mark
}

std::string JsonReader::error() const {
  const std::string_view before = all_.substr(0, at_);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t start = before.rfind('\n') + 1;  // 0 if there is none
  return StrCat("is not valid JSON: line ", line, ", column ", at_ - start + 1, ": ", error_);
}

void JsonReader::Fail(std::string_view message) {
  if (ok()) error_ = message;
}

void JsonReader::SkipBlanks() {
  while (at_ < all_.size() && (all_[at_] == ' ' || all_[at_] == '\n' || all_[at_] == '\t' || all_[at_] == '\r')) ++at_;
}

bool JsonReader::Consume(char c) {
  SkipBlanks();
  if (at_ >= all_.size() || all_[at_] != c) return false;
  ++at_;
  return true;
}

JsonReader::Kind JsonReader::Peek() {
  if (!ok()) return Kind::kNone;
  SkipBlanks();
  if (at_ >= all_.size()) return Kind::kNone;
  switch (const char c = all_[at_]) {
    case '{': return Kind::kObject;
    case '[': return Kind::kArray;
    case '"': return Kind::kString;
    case 't': case 'f': case 'n': return Kind::kOther;
    default: return c == '-' || IsDigit(c) ? Kind::kNumber : Kind::kNone;
  }
}

void JsonReader::EnterObject() {
  if (!ok()) return;
  if (!Consume('{')) return Fail("expected '{'");
  if (++depth_ > kMaxJsonDepth) return Fail(StrCat("nested more than ", kMaxJsonDepth, " levels deep"));
  is_first_ = true;
}

void JsonReader::EnterArray() {
  if (!ok()) return;
  if (!Consume('[')) return Fail("expected '['");
  if (++depth_ > kMaxJsonDepth) return Fail(StrCat("nested more than ", kMaxJsonDepth, " levels deep"));
  is_first_ = true;
}

// Advances past a comma, or past the end.
bool JsonReader::Next(char end) {
  if (!ok()) return false;
  if (Consume(end)) {
    --depth_;
    is_first_ = false;
    return false;
  }
  if (!is_first_ && !Consume(',')) {
    Fail(StrCat("expected ',' or '", end, "'"));
    return false;
  }
  is_first_ = false;
  return true;
}

bool JsonReader::NextElement() { return Next(']'); }

bool JsonReader::NextKey() {
  if (!Next('}')) return false;
  SkipBlanks();
  ReadString(text_);
  if (ok() && !Consume(':')) Fail("expected ':'");
  return ok();
}

void JsonReader::ReadString(std::string& out) {
  out.clear();
  if (at_ >= all_.size() || all_[at_] != '"') return Fail("expected a string");
  ++at_;
  while (ok()) {
    const size_t start = at_;
    while (at_ < all_.size() && all_[at_] != '"' && all_[at_] != '\\' && static_cast<uint8_t>(all_[at_]) >= 0x20) ++at_;
    out += all_.substr(start, at_ - start);
    if (at_ >= all_.size()) return Fail("the string has no end");
    if (all_[at_] == '"') break;
    if (all_[at_] != '\\') return Fail("a control character in a string");
    ++at_;
    ReadEscape(out);
  }
  if (ok()) ++at_;
}

bool JsonReader::ReadHex(uint32_t& code) {
  const std::string_view digits = all_.substr(std::min(at_, all_.size()), 4);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (digits.size() < 4 || error != std::errc() || end != digits.data() + 4) {
    Fail("expected four hexadecimal digits");
    return false;
  }
  at_ += 4;
  return true;
}

void JsonReader::ReadEscape(std::string& out) {
  if (at_ >= all_.size()) return Fail("the string has no end");
  static constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
  const char c = all_[at_];
  if (const size_t name = kNames.find(c); name != std::string_view::npos) {
    out += kValues[name];
    ++at_;
    return;
  }
  if (c != 'u') return Fail("an unknown escape in a string");
  ++at_;
  uint32_t code = 0, low = 0;
  if (!ReadHex(code)) return;
  if (code >= 0xd800 && code < 0xdc00 && all_.substr(at_, 2) == "\\u") {
    at_ += 2;
    if (!ReadHex(low)) return;
    if (low >= 0xdc00 && low < 0xe000) code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  if (code >= 0xd800 && code < 0xe000) return Fail("half of a surrogate pair in a string");
  AppendUtf8(out, code);
}

double JsonReader::ReadNumber() {
  const size_t start = at_;
  auto digits = [&] {
    const size_t first = at_;
    while (at_ < all_.size() && IsDigit(all_[at_])) ++at_;
    return at_ > first;
  };
  auto is_next = [&](char c) { return at_ < all_.size() && all_[at_] == c; };
  if (is_next('-')) ++at_;
  const bool leading_zero = is_next('0');
  const size_t first = at_;
  bool valid = digits() && !(leading_zero && at_ - first > 1);
  if (valid && is_next('.')) {
    ++at_;
    valid = digits();
  }
  if (valid && (is_next('e') || is_next('E'))) {
    ++at_;
    if (is_next('+') || is_next('-')) ++at_;
    valid = digits();
  }
  double number = 0;
  const auto [end, error] = std::from_chars(all_.data() + start, all_.data() + at_, number);
  if (valid && error == std::errc() && std::isfinite(number)) return number;
  // A number that is too small for its type is zero, as in other readers.
  if (valid && error == std::errc::result_out_of_range && all_.substr(start, at_ - start).find('-', 1) != std::string_view::npos)
    return 0;
  Fail(valid ? "a number is too large" : "a malformed number");
  return 0;
}

void JsonReader::ReadWord() {
  for (std::string_view word : {"true", "false", "null"})
    if (all_.substr(at_).starts_with(word)) {
      at_ += word.size();
      return;
    }
  Fail("expected a value");
}

void JsonReader::TakeString(std::string& value) {
  value.clear();
  if (Peek() == Kind::kString) {
    ReadString(value);
  } else {
    Skip();
  }
}

std::string JsonReader::TakeString() {
  std::string value;
  TakeString(value);
  return value;
}

double JsonReader::TakeNumber() {
  if (Peek() == Kind::kNumber) return ReadNumber();
  Skip();
  return 0;
}

// The recursion is limited by kMaxJsonDepth.
void JsonReader::Skip() {
  switch (Peek()) {
    case Kind::kObject:
      for (EnterObject(); NextKey();) Skip();
      break;
    case Kind::kArray:
      for (EnterArray(); NextElement();) Skip();
      break;
    case Kind::kString:
      ReadString(text_);
      break;
    case Kind::kNumber: ReadNumber(); break;
    case Kind::kOther: ReadWord(); break;
    case Kind::kNone: Fail("expected a value");
  }
}

void JsonReader::ExpectEnd() {
  SkipBlanks();
  if (ok() && at_ < all_.size()) Fail("unexpected text after the end");
}

bool IsTooDeepJson(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace shoal::internal
