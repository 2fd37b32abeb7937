#include "mutate.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "core/ops/op.h"

namespace shoal::internal::fuzz {
namespace {

constexpr std::string_view kTypes[] = {"pred",   "s2",        "s4",      "s8",        "s16",      "s32",
                                       "s64",    "u2",        "u4",      "u8",        "u16",      "u32",
                                       "u64",    "f16",       "bf16",    "f32",       "f64",      "f8e5m2",
                                       "f8e4m3", "f8e4m3fn",  "f8e3m4",  "f4e2m1fn",  "f8e8m0fnu", "f8e4m3b11fnuz",
                                       "c64",    "c128",      "token",   "f8e5m2fnuz"};
constexpr std::string_view kFloats[] = {"f16", "bf16", "f32", "f64", "f8e5m2", "f8e4m3fn"};

bool IsType(std::string_view word) { return std::find(std::begin(kTypes), std::end(kTypes), word) != std::end(kTypes); }
bool IsNumber(std::string_view token) { return !token.empty() && std::isdigit(static_cast<unsigned char>(token[0])); }
bool IsWord(std::string_view token) {
  return !token.empty() && (std::isalpha(static_cast<unsigned char>(token[0])) || token[0] == '_');
}

// Splits the text into words, numbers, strings and single characters. Their concatenation is the text.
std::vector<std::string> Tokens(std::string_view text) {
  std::vector<std::string> tokens;
  auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-'; };
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (std::isalpha(static_cast<unsigned char>(text[i])) || text[i] == '_') {
      while (end < text.size() && in_word(text[end])) ++end;
    } else if (std::isdigit(static_cast<unsigned char>(text[i]))) {
      while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) || text[end] == '.')) ++end;
    } else if (text[i] == '"') {
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
    }
    tokens.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return tokens;
}

class Mutator {
 public:
  Mutator(const std::string& text, const std::string& other, Random& random)
      : random_(random), other_(other), tokens_(Tokens(text)) {}

  std::string Run() {
    using Change = void (Mutator::*)();
    static constexpr Change kChanges[] = {
        &Mutator::Type,      &Mutator::Type,       &Mutator::AllOfType,  &Mutator::Size,     &Mutator::AllOfSize,
        &Mutator::AllOfSize, &Mutator::Number,     &Mutator::Number,     &Mutator::Opcode,   &Mutator::Opcode,
        &Mutator::Operand,   &Mutator::Operand,    &Mutator::SwapLines,  &Mutator::DropLine, &Mutator::DoubleLine,
        &Mutator::Attribute, &Mutator::Attribute,  &Mutator::DropAttr,   &Mutator::Layout,   &Mutator::Groups,
        &Mutator::Header,    &Mutator::Dynamic,    &Mutator::DropToken,  &Mutator::Splice,   &Mutator::Byte,
        &Mutator::FloatType, &Mutator::FloatType,  &Mutator::FloatType,  &Mutator::Constant, &Mutator::SwapOperands,
    };
    for (int64_t n = 1 + random_.Below(4); n > 0 && !tokens_.empty(); --n) (this->*random_.Of(kChanges))();
    std::string text;
    for (const std::string& token : tokens_) text += token;
    if (random_.OneIn(200)) text.resize(static_cast<size_t>(random_.Below(static_cast<int64_t>(text.size()) + 1)));
    return text;
  }

 private:
  template <class Predicate>
  std::vector<size_t> Matching(Predicate predicate) const {
    std::vector<size_t> found;
    for (size_t i = 0; i < tokens_.size(); ++i)
      if (predicate(i)) found.push_back(i);
    return found;
  }
  std::string_view At(size_t i) const { return i < tokens_.size() ? std::string_view(tokens_[i]) : ""; }
  bool IsTypeAt(size_t i) const { return IsType(At(i)) && At(i + 1) == "["; }
  bool IsSizeAt(size_t i) const {
    if (!IsNumber(At(i))) return false;
    size_t k = i;
    while (k > 0 && (IsNumber(At(k)) || At(k) == "," || At(k) == "<" || At(k) == "=" || At(k) == " ")) --k;
    return At(k) == "[" && k > 0 && IsType(At(k - 1));
  }
  std::string SmallNumber() {
    if (random_.OneIn(60)) return std::to_string((int64_t{1} << random_.Below(63)) - random_.Below(2));
    if (random_.OneIn(30)) return "-" + std::to_string(random_.Below(5));
    return std::to_string(random_.Below(random_.OneIn(4) ? 33 : 6));
  }
  // The first tokens of lines with an assignment.
  std::vector<size_t> Lines() const {
    return Matching([&](size_t i) {
      if (i > 0 && tokens_[i - 1] != "\n") return false;
      for (size_t k = i; k < tokens_.size() && tokens_[k] != "\n"; ++k)
        if (tokens_[k] == "=") return true;
      return false;
    });
  }
  size_t LineEnd(size_t i) const {
    while (i < tokens_.size() && tokens_[i] != "\n") ++i;
    return std::min(i + 1, tokens_.size());
  }
  std::vector<std::string> Line(size_t i) const {
    return {tokens_.begin() + static_cast<int64_t>(i), tokens_.begin() + static_cast<int64_t>(LineEnd(i))};
  }
  void Replace(size_t first, size_t last, const std::vector<std::string>& by) {
    tokens_.erase(tokens_.begin() + static_cast<int64_t>(first), tokens_.begin() + static_cast<int64_t>(last));
    tokens_.insert(tokens_.begin() + static_cast<int64_t>(first), by.begin(), by.end());
  }

  void Type() {
    auto matches = Matching([&](size_t i) { return IsTypeAt(i); });
    if (!matches.empty()) tokens_[random_.Of(matches)] = random_.Of(kTypes);
  }
  void FloatType() {
    auto matches = Matching([&](size_t i) {
      return IsTypeAt(i) && std::find(std::begin(kFloats), std::end(kFloats), At(i)) != std::end(kFloats);
    });
    if (!matches.empty()) tokens_[random_.Of(matches)] = random_.Of(kFloats);
  }
  void AllOfType() {
    auto matches = Matching([&](size_t i) { return IsTypeAt(i); });
    if (matches.empty()) return;
    const std::string old_text = tokens_[random_.Of(matches)], new_text(random_.Of(kTypes));
    const bool some = random_.OneIn(3);
    for (size_t i : matches)
      if (tokens_[i] == old_text && (!some || random_.OneIn(2))) tokens_[i] = new_text;
  }
  void Size() {
    auto matches = Matching([&](size_t i) { return IsSizeAt(i); });
    if (!matches.empty()) tokens_[random_.Of(matches)] = SmallNumber();
  }
  void AllOfSize() {
    auto matches = Matching([&](size_t i) { return IsSizeAt(i); });
    if (matches.empty()) return;
    const std::string old_text = tokens_[random_.Of(matches)], new_text = SmallNumber();
    const bool everywhere = random_.OneIn(2);
    for (size_t i : everywhere ? Matching([&](size_t k) { return IsNumber(At(k)); }) : matches)
      if (tokens_[i] == old_text) tokens_[i] = new_text;
  }
  void Number() {
    auto matches = Matching([&](size_t i) { return IsNumber(At(i)); });
    if (!matches.empty()) tokens_[random_.Of(matches)] = SmallNumber();
  }
  void Constant() {
    static constexpr std::string_view kValues[] = {"nan", "inf", "-inf", "true", "1e300", "-128", "9223372036854775807"};
    auto matches =
        Matching([&](size_t i) { return i > 1 && IsNumber(At(i)) && At(i - 1) == "(" && At(i - 2) == "constant"; });
    if (!matches.empty()) tokens_[random_.Of(matches)] = random_.Of(kValues);
  }
  void Opcode() {
    static const std::vector<std::string_view> kOpcodes = [] {
      std::vector<std::string_view> all;
#define OP(Name, text, arity) all.push_back(text);
#include "core/ops/ops.def"
#undef OP
      return all;
    }();
    auto matches = Matching([&](size_t i) { return i > 1 && IsWord(At(i)) && At(i + 1) == "(" && At(i - 1) == " "; });
    if (matches.empty()) return;
    std::string& opcode = tokens_[random_.Of(matches)];
    // Usually picks an opcode with the same number of operands.
    static constexpr std::string_view kUnary[] = {"abs", "negate", "exponential", "not", "sign", "copy", "convert", "cosine",
                                                  "is-finite", "real", "bitcast", "bitcast-convert", "popcnt", "log",
                                                  "reshape", "transpose", "broadcast", "reverse", "optimization-barrier"};
    static constexpr std::string_view kBinary[] = {"add", "subtract", "multiply", "divide", "maximum", "minimum", "and",
                                                   "or", "xor", "power", "remainder", "atan2", "complex", "compare",
                                                   "shift-left", "shift-right-arithmetic", "shift-right-logical"};
    static constexpr std::string_view kCollectives[] = {"all-reduce", "all-gather", "all-to-all", "reduce-scatter",
                                                        "collective-broadcast", "collective-permute",
                                                        "all-reduce-start", "all-gather-start"};
    auto in = [&](const auto& list) { return std::find(std::begin(list), std::end(list), opcode) != std::end(list); };
    if (!random_.OneIn(5)) {
      if (in(kUnary)) return void(opcode = random_.Of(kUnary));
      if (in(kBinary)) return void(opcode = random_.Of(kBinary));
      if (in(kCollectives)) return void(opcode = random_.Of(kCollectives));
    }
    opcode = random_.Of(kOpcodes);
  }
  // Names that lines define, and the positions of their uses in parentheses.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (size_t i = 0; i + 2 < tokens_.size(); ++i)
      if (IsWord(At(i)) && At(i + 1) == " " && At(i + 2) == "=") names.push_back(tokens_[i]);
    return names;
  }
  std::vector<size_t> Uses(const std::vector<std::string>& names) const {
    return Matching([&](size_t i) {
      return At(i + 1) != " " && IsWord(At(i)) && std::find(names.begin(), names.end(), At(i)) != names.end();
    });
  }
  void Operand() {
    const std::vector<std::string> names = Names();
    auto uses = Uses(names);
    if (!uses.empty()) tokens_[random_.Of(uses)] = random_.Of(names);
  }
  void SwapOperands() {
    auto uses = Uses(Names());
    if (uses.size() < 2) return;
    const auto i = static_cast<size_t>(random_.Below(static_cast<int64_t>(uses.size()) - 1));
    std::swap(tokens_[uses[i]], tokens_[uses[i + 1]]);
  }
  void SwapLines() {
    auto lines = Lines();
    if (lines.size() < 2) return;
    size_t a = random_.Of(lines), b = random_.Of(lines);
    if (a == b) return;
    if (a > b) std::swap(a, b);
    const auto first = Line(a), second = Line(b);
    Replace(b, LineEnd(b), first);
    Replace(a, LineEnd(a), second);
  }
  void DropLine() {
    auto lines = Lines();
    if (lines.empty()) return;
    const size_t line = random_.Of(lines);
    Replace(line, LineEnd(line), {});
  }
  void DoubleLine() {
    auto lines = Lines();
    if (lines.empty()) return;
    auto copy = Line(random_.Of(lines));
    for (std::string& token : copy) {
      if (!IsWord(token) || token == "ROOT") continue;
      if (!random_.OneIn(4)) token += ".again";
      break;
    }
    const size_t at = random_.Of(lines);
    Replace(at, at, copy);
  }
  // The end of the attribute ", name=value" whose comma is at `i`.
  size_t AttrEnd(const std::vector<std::string>& tokens, size_t i) const {
    int64_t depth = 0;
    for (++i; i < tokens.size() && tokens[i] != "\n"; ++i) {
      const char c = tokens[i][0];
      if (c == '{' || c == '(' || c == '[') ++depth;
      if (c == '}' || c == ')' || c == ']') --depth;
      if (depth < 0 || (depth == 0 && c == ',')) break;
    }
    return i;
  }
  static std::vector<size_t> Attrs(const std::vector<std::string>& tokens) {
    std::vector<size_t> found;
    for (size_t i = 0; i + 3 < tokens.size(); ++i)
      if (tokens[i] == "," && tokens[i + 1] == " " && IsWord(tokens[i + 2]) && tokens[i + 3] == "=") found.push_back(i);
    return found;
  }
  void DropAttr() {
    auto attrs = Attrs(tokens_);
    if (attrs.empty()) return;
    const size_t i = random_.Of(attrs);
    Replace(i, AttrEnd(tokens_, i), {});
  }
  // Copies an attribute of this or the other text over one of the same name, or to the end of a line.
  void Attribute() {
    const std::vector<std::string> from = random_.OneIn(2) ? tokens_ : Tokens(other_);
    auto attrs = Attrs(from);
    if (attrs.empty()) return;
    const size_t i = random_.Of(attrs);
    const std::vector<std::string> attr(from.begin() + static_cast<int64_t>(i),
                                        from.begin() + static_cast<int64_t>(AttrEnd(from, i)));
    auto same = Matching([&](size_t k) { return At(k) == "," && k + 2 < tokens_.size() && At(k + 2) == attr[2]; });
    if (!same.empty() && !random_.OneIn(4)) {
      const size_t at = random_.Of(same);
      return Replace(at, AttrEnd(tokens_, at), attr);
    }
    auto lines = Lines();
    if (lines.empty()) return;
    const size_t end = LineEnd(random_.Of(lines)) - 1;
    Replace(end, end, attr);
  }
  void Layout() {
    static constexpr std::string_view kLayouts[] = {"{}",         "{0}",        "{0,1}",       "{1,0}",
                                                    "{2,1,0}",    "{0,1,2}",    "{5}",         "{1,0:T(8,128)}",
                                                    "{0:T(1024)}", "{1,0:S(1)}", "{0:S(5)}",    "{1,0:T(2,128)(2,1)}",
                                                    "{1,0:E(4)}", "{0,0}",      "{-1}",        "{1,0:T(8,128)M(3)}",
                                                    "{0:L(7)}",   "{3,2,1,0}",  "{1,0:T(0)}", "{1,0:T(*,4)}"};
    auto matches = Matching([&](size_t i) { return At(i) == "]" && i > 1; });
    if (matches.empty()) return;
    size_t at = random_.Of(matches) + 1;
    size_t end = at;
    if (At(at) == "{")
      while (end < tokens_.size() && At(end++) != "}") {
      }
    Replace(at, end, {std::string(random_.Of(kLayouts))});
  }
  void Groups() {
    static constexpr std::string_view kGroups[] = {
        "{}",          "{{0}}",        "{{0,1}}",       "{{1,0}}",         "{{0,1},{2,3}}", "{{0,2},{1,3}}",
        "[2,2]<=[4]",  "[1,4]<=[4]",   "[2,4]<=[4,2]T(1,0)", "{{0,1,2,3}}", "{{0},{1}}",     "[4,1]<=[4]",
        "[1,2]<=[2]",  "{{0,0}}",      "{{0,7}}",       "[1,1000000000]<=[1000000000]", "mesh['x'=2,'y'=2] {'y'}"};
    static constexpr std::string_view kPairs[] = {"{{0,1},{1,0}}", "{}", "{{0,0}}", "{{0,1}}", "{{0,1},{1,2},{2,3},{3,0}}",
                                                  "{{3,1}}", "{{0,1},{0,1}}"};
    auto matches = Matching([&](size_t i) { return At(i) == "replica_groups" || At(i) == "source_target_pairs"; });
    if (matches.empty()) return;
    const size_t name = random_.Of(matches);
    const std::string by(At(name) == "replica_groups" ? random_.Of(kGroups) : random_.Of(kPairs));
    Replace(name + 2, std::max(name + 2, std::min(AttrEnd(tokens_, name + 1), tokens_.size())), {by});
  }
  void Header() {
    static constexpr std::string_view kFlags[] = {
        ", replica_count=2", ", num_partitions=2", ", replica_count=4", ", num_partitions=4",
        ", is_scheduled=true", ", replica_count=3, num_partitions=2", ", replica_count=1000000",
        ", input_output_alias={ {}: (0, {}, may-alias) }", ", num_partitions=0",
        ", entry_computation_layout={()->f32[]}", ", input_output_alias={ {0}: (1, {}, must-alias) }"};
    auto matches = Matching([&](size_t i) { return At(i) == "HloModule"; });
    if (matches.empty()) return;
    const size_t end = std::min(matches[0] + 3, tokens_.size());
    Replace(end, end, {std::string(random_.Of(kFlags))});
  }
  void Dynamic() {
    auto matches = Matching([&](size_t i) { return IsSizeAt(i); });
    if (matches.empty()) return;
    std::string& size = tokens_[random_.Of(matches)];
    const std::string old_text = size;
    const std::string new_text = random_.OneIn(6) ? "?" : "<=" + old_text;
    if (!random_.OneIn(3)) return void(size = new_text);
    for (size_t i : matches)
      if (tokens_[i] == old_text) tokens_[i] = new_text;
  }
  void DropToken() {
    const auto i = static_cast<size_t>(random_.Below(static_cast<int64_t>(tokens_.size())));
    Replace(i, i + 1, {});
  }
  void Splice() {
    std::vector<std::string> from = Tokens(other_);
    if (from.empty()) return;
    const auto i = static_cast<size_t>(random_.Below(static_cast<int64_t>(from.size())));
    const auto end = std::min(from.size(), i + 1 + static_cast<size_t>(random_.Below(12)));
    const auto at = static_cast<size_t>(random_.Below(static_cast<int64_t>(tokens_.size())));
    Replace(at, at, {from.begin() + static_cast<int64_t>(i), from.begin() + static_cast<int64_t>(end)});
  }
  void Byte() {
    std::string& token = random_.Of(tokens_);
    random_.Of(token) = static_cast<char>(random_.Below(256));
  }

  Random& random_;
  const std::string& other_;
  std::vector<std::string> tokens_;
};

}  // namespace

std::string Mutated(const std::string& text, const std::string& other, Random& random) {
  return Mutator(text, other, random).Run();
}

std::string MutatedBytes(std::string bytes, Random& random) {
  for (int64_t n = 1 + random.Below(6); n > 0 && !bytes.empty(); --n) {
    const auto at = static_cast<size_t>(random.Below(static_cast<int64_t>(bytes.size())));
    const auto length = std::min(bytes.size() - at, static_cast<size_t>(1 + random.Below(16)));
    switch (random.Below(5)) {
      case 0:
        bytes.erase(at, length);
        break;
      case 1:
        bytes.insert(at, bytes.substr(at, length));
        break;
      case 2:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.Below(8)));
        break;
      case 3:
        bytes[at] = static_cast<char>(bytes[at] + (random.OneIn(2) ? 1 : -1));
        break;
      default:
        bytes[at] = static_cast<char>(random.OneIn(3) ? 0xff : random.Below(256));
    }
  }
  if (random.OneIn(50)) bytes.resize(static_cast<size_t>(random.Below(static_cast<int64_t>(bytes.size()) + 1)));
  return bytes;
}

}  // namespace shoal::internal::fuzz
