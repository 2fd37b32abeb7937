// Characters and words of MLIR text.
#include <algorithm>
#include <charconv>
#include <cstring>

#include "formats/stablehlo/text_reader.h"

namespace shoal::internal {
namespace {

bool IsWordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '.';
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void MlirTextReader::SkipComments() {
  for (; at_ != end_; ++at_) {
    if (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r') continue;
    if (*at_ != '/' || end_ - at_ < 2 || at_[1] != '/') return;
    while (at_ != end_ && *at_ != '\n') ++at_;
    if (at_ == end_) return;
  }
}

bool MlirTextReader::AtKeyword(std::string_view word) {
  return At(word) && (at_ + word.size() == end_ || !IsWordChar(at_[word.size()]));
}

bool MlirTextReader::EatKeyword(std::string_view word) {
  if (!AtKeyword(word)) return false;
  at_ += word.size();
  return true;
}

bool MlirTextReader::Expect(char c) { return Eat(c) || Error(StrCat("expected '", std::string_view(&c, 1), "'")); }
bool MlirTextReader::Expect(std::string_view token) { return Eat(token) || Error(StrCat("expected '", token, "'")); }

bool MlirTextReader::ErrorAt(const char* at, std::string message) {
  // An error inside a construct would cause others at its end.
  if (failed_) return false;
  failed_ = true;
  if (at == end_) message += "; the text ends here";
  const char* stop = at;
  while (stop != end_ && IsWordChar(*stop)) ++stop;
  const auto length = begin_ == end_ ? 0 : static_cast<uint32_t>(std::max<ptrdiff_t>(stop - at, 1));
  Diag error = Fail({static_cast<uint32_t>(at - begin_), length}, "", std::move(message));
  SkipSpace();
  if (loose_ && at_ == end_) {
    end_error_ = std::move(error);
  } else {
    diags_.Add(std::move(error));
  }
  return false;
}

bool MlirTextReader::ReportEnd() {
  if (end_error_) diags_.Add(std::move(*end_error_));
  end_error_.reset();
  return false;
}

std::string_view MlirTextReader::ReadBareName() {
  SkipSpace();
  const char* start = at_;
  while (at_ != end_ && IsWordChar(*at_)) ++at_;
  return {start, static_cast<size_t>(at_ - start)};
}

std::string_view MlirTextReader::ReadWord() {
  SkipSpace();
  const char* start = at_;
  while (at_ != end_ && (IsWordChar(*at_) || *at_ == '-')) ++at_;
  return {start, static_cast<size_t>(at_ - start)};
}

bool MlirTextReader::ReadInt(int64_t* value) {
  SkipSpace();
  auto [stop, error] = std::from_chars(at_, end_, *value);
  if (error == std::errc::result_out_of_range) return Error("the number does not fit in 64 bits");
  if (error != std::errc()) return Error("expected an integer");
  at_ = stop;
  return true;
}

bool MlirTextReader::ReadString(std::string_view* value) {
  if (Peek() != '"') return Error("expected a string");
  const char* const open = at_++;
  const char* const start = at_;
  bool plain = true;
  for (;; ++at_) {
    const char* stop = at_;
    while (stop != end_ && *stop != '"' && *stop != '\\' && *stop != '\n') ++stop;
    at_ = stop;
    if (at_ == end_ || *at_ == '\n') return ErrorAt(open, "the string is not terminated");
    if (*at_ == '"') break;
    plain = false;
    if (++at_ == end_) return ErrorAt(open, "the string is not terminated");
  }
  const std::string_view raw(start, static_cast<size_t>(at_ - start));
  ++at_;
  *value = raw;
  if (plain) return true;
  std::string decoded;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      decoded += raw[i];
      continue;
    }
    const char next = raw[++i];
    if (next == 'n') {
      decoded += '\n';
    } else if (next == 't') {
      decoded += '\t';
    } else if (next == '"' || next == '\\') {
      decoded += next;
    } else if (i + 1 < raw.size() && HexDigit(next) >= 0 && HexDigit(raw[i + 1]) >= 0) {
      decoded += static_cast<char>(HexDigit(next) * 16 + HexDigit(raw[++i]));
    } else {
      return ErrorAt(start + i - 1, "unknown escape in a string");
    }
  }
  *value = module_.arena.CopyString(decoded);
  return true;
}

bool MlirTextReader::ReadSymbol(std::string_view* value) {
  if (Peek() != '@') return Error("expected a symbol name, @name");
  const char* start = ++at_;
  if (at_ != end_ && *at_ == '"') return ReadString(value);
  while (at_ != end_ && (IsWordChar(*at_) || *at_ == '-')) ++at_;
  if (at_ == start) return Error("expected a symbol name, @name");
  *value = {start, static_cast<size_t>(at_ - start)};
  // A nested symbol, @a::@b, names the last one.
  if (At("::@")) {
    at_ += 2;
    return ReadSymbol(value);
  }
  return true;
}

bool MlirTextReader::ReadBalanced(std::string_view* text) {
  SkipSpace();
  const char* const start = at_;
  std::string open;
  do {
    if (at_ == end_) return ErrorAt(start, "the bracket is not closed");
    const char c = *at_;
    if (c == '"') {
      std::string_view ignored;
      if (!ReadString(&ignored)) return false;
      continue;
    }
    if (c == '-' && end_ - at_ > 1 && at_[1] == '>') {
      at_ += 2;
      continue;
    }
    ++at_;
    if (c == '<') open += '>';
    if (c == '[') open += ']';
    if (c == '(') open += ')';
    if (c == '{') open += '}';
    if (c != '>' && c != ']' && c != ')' && c != '}') {
      if (open.empty()) return ErrorAt(start, "expected a bracket");
      continue;
    }
    if (open.empty() || open.back() != c) return ErrorAt(at_ - 1, "the bracket does not match");
    open.pop_back();
    if (open.size() > static_cast<size_t>(kMaxDepth)) return ErrorAt(start, "nested too deeply");
  } while (!open.empty());
  *text = {start, static_cast<size_t>(at_ - start)};
  return true;
}

}  // namespace shoal::internal
