#include "ill_typed.h"

#include <algorithm>
#include <string_view>

#include "core/base/strings.h"
#include "formats/text/parser.h"
#include "formats/text/printer.h"

namespace shoal::internal::fuzz {
namespace {

// A value of some shape. `lines` are instructions, the last of which is named "ill_typed".
struct WrongValue {
  std::string_view shape, lines;
};

constexpr WrongValue kWrongValues[] = {
    {"s32[]", "ill_typed = s32[] constant(3)\n"},
    {"f32[2,3]", "ill_typed = f32[2,3] constant({{1,2,3},{4,5,6}})\n"},
    {"f64[1]", "ill_typed = f64[1] constant({1})\n"},
    {"bf16[0]", "ill_typed = bf16[0] constant({})\n"},
    {"pred[4]", "ill_typed = pred[4] constant({1,0,1,0})\n"},
    {"s4[5]", "ill_typed = s4[5] constant({1,2,3,4,5})\n"},
    {"c64[2]", "ill_typed = c64[2] constant({(1,2), (3,4)})\n"},
    {"()", "ill_typed = () tuple()\n"},
    {"(f32[2,3], s32[])", "ill_typed.a = f32[2,3] constant({{1,2,3},{4,5,6}})\n  ill_typed.b = s32[] constant(3)\n"
                          "  ill_typed = (f32[2,3], s32[]) tuple(ill_typed.a, ill_typed.b)\n"},
    {"token[]", "ill_typed = token[] after-all()\n"},
    {"f32[2]", "ill_typed.a = f32[2] constant({1,2})\n"
               "  ill_typed = f32[2] all-reduce-start(ill_typed.a), replica_groups={}, to_apply=ill_typed.sum\n"},
    {"(f32[2], f32[2])", "ill_typed.a = f32[2] constant({1,2})\n"
                         "  ill_typed = (f32[2], f32[2]) all-gather-start(ill_typed.a), replica_groups={{0}}, dimensions={0}\n"},
    {"(f32[2], f32[2], u32[])", "ill_typed.a = f32[2] constant({1,2})\n"
                                "  ill_typed = (f32[2], f32[2], u32[]) copy-start(ill_typed.a)\n"},
    {"((f32[2]), f32[2], s32[])", "ill_typed.a = f32[2] constant({1,2})\n"
                                  "  ill_typed = ((f32[2]), f32[2], s32[]) negate-start(ill_typed.a)\n"},
};

constexpr std::string_view kSum =
    "ill_typed.sum {\n  ill_typed.x = f32[] parameter(0)\n  ill_typed.y = f32[] parameter(1)\n"
    "  ROOT ill_typed.z = f32[] add(ill_typed.x, ill_typed.y)\n}\n\n";

// "  ROOT name = shape opcode(operands), attributes": the offsets of its parts in the text.
struct Line {
  size_t begin, shape, opcode;
  std::vector<std::pair<size_t, size_t>> operands;  // first and one past the last character
  size_t close;                                     // the parenthesis after them
};

// The offset of the first of `ends` after `at` that is not in parentheses, or the end of the line.
size_t EndOf(std::string_view text, size_t at, std::string_view ends) {
  for (int64_t depth = 0; at < text.size() && text[at] != '\n'; ++at) {
    if (depth == 0 && ends.find(text[at]) != ends.npos) break;
    if (std::string_view("([{").find(text[at]) != std::string_view::npos) ++depth;
    if (std::string_view(")]}").find(text[at]) != std::string_view::npos) --depth;
  }
  return at;
}

std::vector<Line> LinesOf(std::string_view text) {
  std::vector<Line> lines;
  for (size_t at = 0, end; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    const size_t equals = text.find(" = ", at);
    if (!text.substr(at).starts_with("  ") || equals >= end) continue;
    Line line{.begin = at + 2, .shape = equals + 3, .opcode = 0, .operands = {}, .close = 0};
    line.opcode = EndOf(text, line.shape, " ") + 1;
    const size_t open = text.find('(', line.opcode);
    const std::string_view opcode = text.substr(line.opcode, open - line.opcode);
    if (open >= end || opcode == "parameter" || opcode == "constant") continue;
    size_t operand = open + 1;
    for (line.close = operand; line.close < end && text[line.close] != ')';) {
      line.close = EndOf(text, operand, ",)");
      if (line.close > operand) line.operands.emplace_back(operand, line.close);
      operand = line.close + 2;  // past ", "
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

// Creates all ill-typed variants of one text.
class VariantWriter {
 public:
  explicit VariantWriter(std::string text) : text_(std::move(text)), sum_at_(text_.find("\n\n") + 2) {}

  std::vector<std::string> All() && {
    if (sum_at_ < 2) return {};
    for (const Line& line : LinesOf(text_)) {
      for (const auto& [first, last] : line.operands) Operand(line, first, last);
      for (const WrongValue& wrong : kWrongValues) Operands(line, wrong);
      for (const WrongValue& wrong : kWrongValues) Write(line.shape, line.opcode - 1, wrong.shape);
    }
    return std::move(variants_);
  }

 private:
  void Operand(const Line& line, size_t first, size_t last) {
    const std::string operand = text_.substr(first, last - first);
    const bool is_last = line.operands.back().first == first;
    const size_t comma = is_last ? 0 : 2;
    Write(first, last + comma, "");
    Write(first, first, operand + ", ");
    for (const WrongValue& wrong : kWrongValues) Write(first, last, "ill_typed", line.begin, wrong.lines);
  }

  // Adds one operand.
  void Operands(const Line& line, const WrongValue& wrong) {
    const bool none = line.operands.empty();
    Write(line.close, line.close, none ? "ill_typed" : ", ill_typed", line.begin, wrong.lines);
  }

  // Adds a variant: replaces the range [first, last) by `by` and inserts `lines` at `begin`, which precedes the range.
  void Write(size_t first, size_t last, std::string_view by, size_t begin = 0, std::string_view lines = "") {
    std::string text = text_;
    text.replace(first, last - first, by);
    if (!lines.empty()) text.insert(begin, StrCat(lines, "  "));
    if (lines.find("ill_typed.sum") != lines.npos) text.insert(sum_at_, kSum);
    variants_.push_back(std::move(text));
  }

  const std::string text_;
  size_t sum_at_;  // after the header and its tables, before the first computation
  std::vector<std::string> variants_;
};

}  // namespace

std::vector<std::string> IllTypedVariants(const std::string& text) {
  std::unique_ptr<Source> source = Source::FromString("fuzz", text);
  Diags diags;
  std::unique_ptr<Module> module = ParseModule(source, {}, diags);
  if (module == nullptr) return {};
  module->entry_layout.reset();
  return VariantWriter(PrintModule(*module, PrintOptions::Short())).All();
}

}  // namespace shoal::internal::fuzz
