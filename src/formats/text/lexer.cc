#include "formats/text/lexer.h"

#include <array>
#include <bit>
#include <charconv>
#include <limits>

#include "core/base/name_hash.h"
#include "core/base/scan.h"

namespace shoal::internal {
namespace {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Class of the first byte of a token: a single-byte token (a Tok), or one of these.
enum ByteClass : uint8_t { kNameByte = 128, kPercentByte, kNumberByte, kBlankByte, kOtherByte };

constexpr std::array<uint8_t, 256> MakeByteClassTable() {
  std::array<uint8_t, 256> table{};
  table.fill(kOtherByte);
  for (int c = 'a'; c <= 'z'; ++c) table[c] = table[c - 'a' + 'A'] = kNameByte;
  for (int c = '0'; c <= '9'; ++c) table[c] = kNumberByte;
  table['_'] = kNameByte;
  table['%'] = kPercentByte;
  table['?'] = kNumberByte;
  for (char c : {' ', '\n', '\t', '\r', '/'}) table[static_cast<uint8_t>(c)] = kBlankByte;
  constexpr std::pair<char, Tok> kSingles[] = {
      {',', Tok::kComma},   {'(', Tok::kLparen},  {')', Tok::kRparen}, {'{', Tok::kLbrace}, {'}', Tok::kRbrace},
      {'[', Tok::kLsquare}, {']', Tok::kRsquare}, {'=', Tok::kEqual},  {':', Tok::kColon},  {'*', Tok::kAsterisk},
      {'#', Tok::kHash},    {'+', Tok::kPlus},    {'~', Tok::kTilde},
  };
  for (auto [c, kind] : kSingles) table[static_cast<uint8_t>(c)] = static_cast<uint8_t>(kind);
  return table;
}
constexpr auto kByteClasses = MakeByteClassTable();

uint8_t ByteClassOf(char c) { return kByteClasses[static_cast<uint8_t>(c)]; }

// The reserved words: keywords and type names, in a table small enough to stay in cache.
struct Reserved {
  std::string_view text;
  Word word = Word::kNone;
  ElementType type = ElementType::kInvalid;
};
constexpr Reserved kReserved[] = {
    {"true", Word::kTrue},
    {"false", Word::kFalse},
    {"inf", Word::kInf},
    {"HloModule", Word::kHloModule},
    {"ENTRY", Word::kEntry},
    {"ROOT", Word::kRoot},
    {"FileLocations", Word::kFileLocations},
    {"FileNames", Word::kFileNames},
    {"FunctionNames", Word::kFunctionNames},
    {"StackFrames", Word::kStackFrames},
    {"maximal", Word::kMaximal},
    {"replicated", Word::kReplicated},
    {"manual", Word::kManual},
    {"last_tile_dim_replicate", Word::kLastTileDimReplicate},
    {"shard_as", Word::kShardAs},
    {"shard_like", Word::kShardLike},
    {"unknown", Word::kUnknown},
    {"unreduced", Word::kUnreduced},
    {"nan", Word::kNone},
// Tuples and buffers are written with parentheses, so "tuple" and "buffer" are not reserved words.
#define TYPE(Name, text, number, bits, cls) {text, Word::kNone, ElementType::k##Name},
#define FLOAT(Name, text, number, bits, exponent, mantissa, bias, specials) {text, Word::kNone, ElementType::k##Name},
#include "core/ir/element_types.def"
#undef TYPE
#undef FLOAT
};

constexpr size_t kSlots = 256;
constexpr size_t SlotOf(std::string_view text) {
  return (static_cast<uint8_t>(text[0]) * 5 + static_cast<uint8_t>(text[text.size() - 1]) * 31 + text.size() * 67) %
         kSlots;
}
constexpr std::array<uint8_t, kSlots> MakeReservedTable() {
  std::array<uint8_t, kSlots> table{};
  uint8_t number = 0;
  for (const Reserved& entry : kReserved) {
    ++number;
    if (entry.text == "tuple" || entry.text == "buffer") continue;
    size_t slot = SlotOf(entry.text);
    while (table[slot] != 0) slot = (slot + 1) % kSlots;
    table[slot] = number;
  }
  return table;
}
constexpr auto kReservedTable = MakeReservedTable();

const Reserved* FindReserved(std::string_view text) {
  if (text.size() < 2 || text.size() > 23) return nullptr;
  for (size_t slot = SlotOf(text); kReservedTable[slot] != 0; slot = (slot + 1) % kSlots) {
    const Reserved& entry = kReserved[kReservedTable[slot] - 1];
    if (SameName(entry.text, text)) return &entry;
  }
  return nullptr;
}

// Returns a NaN with the given sign and payload.
double MakeNan(bool negative, uint64_t payload) {
  uint64_t bits = uint64_t{0x7FF} << 52 | payload | (negative ? uint64_t{1} << 63 : 0);
  return std::bit_cast<double>(bits);
}
constexpr uint64_t kQuietNan = uint64_t{1} << 51;

}  // namespace

inline bool Lexer::SkipBlank() {
  while (true) {
    char c = At(at_);
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++at_;
    } else if (c == '/' && At(at_ + 1) == '*') {
      size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) return false;
      at_ = end + 2;
    } else if (c == '/' && At(at_ + 1) == '/') {
      at_ = FindAny<'\r', '\n'>(text_, at_);
    } else {
      return true;
    }
  }
}

void Lexer::Next() {
  previous_end_ = token_.end;
  if (At(at_) == ' ') ++at_;
  uint8_t byte_class = ByteClassOf(At(at_));
  if (byte_class == kBlankByte) {  // more than the one blank that precedes most tokens
    if (!SkipBlank()) {
      token_.offset = static_cast<uint32_t>(at_);
      Take(Tok::kError, at_ + 2);
      token_.end = static_cast<uint32_t>(at_);
      return;
    }
    byte_class = ByteClassOf(At(at_));
  }
  token_.offset = static_cast<uint32_t>(at_);
  if (byte_class < kNameByte) {
    Take(static_cast<Tok>(byte_class), at_ + 1);
  } else if (byte_class == kPercentByte) {
    LexPercent();
  } else if (byte_class == kNameByte) {
    LexIdentifier();
  } else if (byte_class == kNumberByte) {
    LexNumber();
  } else {
    LexOther();
  }
  token_.end = static_cast<uint32_t>(at_);
}

void Lexer::LexOther() {
  if (at_ >= text_.size()) return Take(Tok::kEof, text_.size());
  const char c = text_[at_];
  if (c == '"' || c == '\'') return LexString(c);
  if (c == '<' && At(at_ + 1) == '=') return Take(Tok::kLeq, at_ + 2);
  if (c == '.' && text_.compare(at_, 3, "...") == 0) return Take(Tok::kDots, at_ + 3);
  if (c == '-') return At(at_ + 1) == '>' ? Take(Tok::kArrow, at_ + 2) : LexNumber();
  Take(Tok::kError, at_ + 1);
}

Tok Lexer::Peek() {
  if (kind() == Tok::kEof || kind() == Tok::kError) return kind();
  if (uint8_t byte_class = ByteClassOf(At(at_)); byte_class < kNameByte) return static_cast<Tok>(byte_class);
  Token saved = token_;
  size_t at = at_;
  uint32_t previous = previous_end_;
  Next();
  Tok next = kind();
  previous_end_ = previous;
  token_ = saved;
  at_ = at;
  return next;
}

void Lexer::Seek(uint32_t offset) {
  at_ = offset;
  Next();
  previous_end_ = offset;
}

bool IsTypeName(std::string_view name) {
  const Reserved* reserved = FindReserved(name);
  return reserved != nullptr && reserved->type != ElementType::kInvalid;
}

inline void Lexer::LexIdentifier() {
  const size_t end = EndOfName(text_, at_ + 1);
  const char next = At(end);
  if (next == ':' || next == '=') {
    Take(next == ':' ? Tok::kName : Tok::kAttrName, end);
    at_ = end + 1;
    return;
  }
  std::string_view name = text_.substr(at_, end - at_);
  if (const Reserved* reserved = FindReserved(name)) {
    if (reserved->type != ElementType::kInvalid) {
      token_.type = reserved->type;
      return Take(Tok::kType, end);
    }
    if (reserved->word == Word::kNone) {
      if (!LexNan(end, false)) Take(Tok::kError, end);
      return;
    }
    token_.word = reserved->word;
    return Take(Tok::kKeyword, end);
  }
  if ((next == '>' && name.back() == '-') || next == '?') {
    if (size_t labels = MatchDimLabels(at_)) return Take(Tok::kDimLabels, labels);
  }
  Take(Tok::kIdent, end);
}

inline void Lexer::LexPercent() {
  if (ByteClassOf(At(at_ + 1)) != kNameByte) return Take(Tok::kError, at_ + 1);
  Take(Tok::kName, EndOfName(text_, at_ + 2));
  token_.text.remove_prefix(1);
}

// nan or nan(0x1); `after` is the offset at which a payload may begin.
bool Lexer::LexNan(size_t after, bool negative) {
  uint64_t payload = kQuietNan;
  if (At(after) == '(') {
    if (text_.compare(after, 3, "(0x") != 0) return false;
    const char* begin = text_.data() + after + 3;
    auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), payload, 16);
    if (error != std::errc() || end == text_.data() + text_.size() || *end != ')') return false;
    if (payload == 0 || payload >= uint64_t{1} << 52) return false;
    after = static_cast<size_t>(end - text_.data()) + 1;
  }
  token_.decimal = MakeNan(negative, payload);
  Take(Tok::kDecimal, after);
  return true;
}

// [0-9bf?]{2,}_[0-9io?]{2,}->[0-9bf?]{2,}; returns the end of the match, or 0.
size_t Lexer::MatchDimLabels(size_t at) const {
  auto run = [&](size_t from, char a, char b) {
    size_t end = from;
    while (IsDigit(At(end)) || At(end) == a || At(end) == b || At(end) == '?') ++end;
    return end - from >= 2 ? end : 0;
  };
  size_t end = run(at, 'b', 'f');
  if (end == 0 || At(end) != '_') return 0;
  end = run(end + 1, 'i', 'o');
  if (end == 0 || At(end) != '-' || At(end + 1) != '>') return 0;
  return run(end + 2, 'b', 'f');
}

void Lexer::LexNumber() {
  size_t at = at_ + (text_[at_] == '-' ? 1 : 0);
  const size_t digits = at;
  uint64_t value = 0;
  for (; IsDigit(At(at)); ++at) value = value * 10 + static_cast<uint64_t>(text_[at] - '0');
  const bool has_integer = at > digits;
  const char next = At(at);
  if (has_integer && next != '.' && next != 'e' && next != 'E') {
    bool pattern = next == 'x' || next == '_' || next == 'b' || next == 'f' || next == '?';
    if (pattern && LexPattern()) return;
    if (at - digits >= std::numeric_limits<int64_t>::digits10) {  // may exceed 64 bits
      if (!LexInteger()) Take(Tok::kError, at);
      return;
    }
    token_.integer = static_cast<int64_t>(digits > at_ ? -value : value);
    return Take(Tok::kInt, at);
  }
  bool fraction = false;
  if (next == '.') {
    size_t start = ++at;
    while (IsDigit(At(at))) ++at;
    fraction = has_integer || at > start;
    if (!fraction) at = start - 1;
  }
  bool exponent = false;
  if ((has_integer || fraction) && (At(at) == 'e' || At(at) == 'E')) {
    size_t end = at + 1;
    if (At(end) == '+' || At(end) == '-') ++end;
    size_t start = end;
    while (IsDigit(At(end))) ++end;
    exponent = end > start;
    if (exponent) at = end;
  }
  if (fraction || exponent) {
    const char* begin = text_.data() + at_;
    auto result = std::from_chars(begin, text_.data() + at, token_.decimal);
    if (result.ec == std::errc::result_out_of_range) {
      // Underflow yields zero, overflow infinity; from_chars does not distinguish them.
      bool tiny = false;
      for (size_t i = at_; i < at; ++i) tiny |= (text_[i] == 'e' || text_[i] == 'E') && text_[i + 1] == '-';
      double value = tiny ? 0.0 : std::numeric_limits<double>::infinity();
      token_.decimal = text_[at_] == '-' ? -value : value;
    }
    return Take(Tok::kDecimal, at);
  }
  if (LexPattern()) return;
  if (has_integer) {
    if (!LexInteger()) Take(Tok::kError, at);
    return;
  }
  if (text_.compare(at_, 4, "-inf") == 0) return Take(Tok::kNegInf, at_ + 4);
  if (text_.compare(at_, 4, "-nan") == 0 && LexNan(at_ + 4, true)) return;
  Take(text_[at_] == '?' ? Tok::kQuestion : Tok::kError, at_ + 1);
}

// Tries dim labels, then 3x3, then 1_1x0_0, in that order.
bool Lexer::LexPattern() {
  if (size_t end = MatchDimLabels(at_)) {
    Take(Tok::kDimLabels, end);
    return true;
  }
  auto digits = [&](size_t from) {
    size_t end = from;
    while (IsDigit(At(end))) ++end;
    return end > from ? end : 0;
  };
  size_t end = digits(at_);
  if (end != 0 && At(end) == 'x' && IsDigit(At(end + 1))) {
    while (At(end) == 'x' && IsDigit(At(end + 1))) end = digits(end + 1);
    Take(Tok::kDxD, end);
    return true;
  }
  // low_high or low_high_interior; low and high may be negative.
  auto pad = [&](size_t from) -> size_t {
    size_t low = digits(from + (At(from) == '-' ? 1 : 0));
    if (low == 0 || At(low) != '_') return 0;
    size_t high = digits(low + 1 + (At(low + 1) == '-' ? 1 : 0));
    if (high == 0) return 0;
    if (At(high) == '_' && IsDigit(At(high + 1))) return digits(high + 1);
    return high;
  };
  end = pad(at_);
  if (end == 0) return false;
  while (At(end) == 'x') {
    size_t more = pad(end + 1);
    if (more == 0) break;
    end = more;
  }
  Take(Tok::kPad, end);
  return true;
}

bool Lexer::LexInteger() {
  const char* begin = text_.data() + at_;
  const char* limit = text_.data() + text_.size();
  std::from_chars_result result{};
  if (*begin == '-') {
    result = std::from_chars(begin, limit, token_.integer);
  } else {
    uint64_t value = 0;
    result = std::from_chars(begin, limit, value);
    token_.integer = static_cast<int64_t>(value);
  }
  if (result.ec != std::errc()) return false;
  Take(Tok::kInt, static_cast<size_t>(result.ptr - text_.data()));
  return true;
}

void Lexer::LexString(char quote) {
  size_t at = at_ + 1;
  while (true) {
    at = quote == '"' ? FindAny<'"', '\\'>(text_, at) : FindAny<'\'', '\\'>(text_, at);
    if (at >= text_.size()) return Take(Tok::kError, at_ + 1);
    if (text_[at] == quote) break;
    if (at + 1 >= text_.size() || text_[at + 1] == '\n') return Take(Tok::kError, at_ + 1);
    at += 2;
  }
  Take(Tok::kString, at + 1);
  token_.text = token_.text.substr(1, token_.text.size() - 2);
}

bool Lexer::TakeJson(std::string_view* json) {
  size_t at = token_.offset;
  int64_t depth = 0;
  while (true) {
    at = FindAny<'{', '}', '"'>(text_, at);
    if (at >= text_.size()) return false;
    if (text_[at] == '{') {
      ++depth;
    } else if (text_[at] == '}') {
      if (--depth == 0) break;
    } else {
      size_t end = at + 1;
      while (true) {
        end = FindAny<'"', '\\'>(text_, end);
        if (end + 1 >= text_.size()) return false;
        if (text_[end] == '"') break;
        if (text_[end + 1] == '\n') return false;
        end += 2;
      }
      at = end;
    }
    ++at;
  }
  *json = text_.substr(token_.offset, at + 1 - token_.offset);
  at_ = at + 1;
  Next();
  return true;
}

bool LexesAsJsonDict(std::string_view text) {
  if (text.size() > TextSpan::kNowhere - 1) return false;
  Lexer lexer(text);
  std::string_view json;
  return lexer.kind() == Tok::kLbrace && lexer.TakeJson(&json) && lexer.kind() == Tok::kEof;
}

}  // namespace shoal::internal
