#include "formats/proto/sort_json.h"

#include <algorithm>
#include <vector>

#include "core/base/strings.h"

namespace shoal::internal {
namespace {

class Sorter {
 public:
  explicit Sorter(std::string_view json) : json_(json) {}

  std::optional<std::string> Sort() {
    std::string out;
    if (!Value(out)) return std::nullopt;
    SkipBlank();
    if (at_ != json_.size()) return std::nullopt;
    return out;
  }

 private:
  static constexpr int kMaxDepth = 100;

  char Peek() const { return at_ < json_.size() ? json_[at_] : '\0'; }
  static bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  void SkipBlank() {
    while (IsBlank(Peek())) ++at_;
  }
  bool Eat(char c) {
    SkipBlank();
    if (Peek() != c) return false;
    ++at_;
    return true;
  }

  bool Value(std::string& out) {
    SkipBlank();
    if (Peek() == '{') return List(out, '}');
    if (Peek() == '[') return List(out, ']');
    return Word(out);
  }

  // Reads an object or an array; its opening bracket is next.
  bool List(std::string& out, char close) {
    if (++depth_ > kMaxDepth) return false;
    out += json_[at_++];
    std::vector<std::string> elements;
    while (!Eat(close)) {
      if (at_ >= json_.size()) return false;
      std::string& element = elements.emplace_back();
      if (close == '}') {
        if (!Word(element) || !Eat(':')) return false;
        element += ':';
      }
      if (!Value(element)) return false;
      Eat(',');
    }
    if (close == '}') std::sort(elements.begin(), elements.end());
    StrAppend(&out, StrJoin(elements, ","), close);
    --depth_;
    return true;
  }

  // Copies a string, a number, true, false or null unchanged.
  bool Word(std::string& out) {
    SkipBlank();
    const size_t start = at_;
    const bool quoted = Peek() == '"';
    constexpr std::string_view kFirst = "\"+-ftn0123456789";
    if (at_ >= json_.size() || kFirst.find(Peek()) == std::string_view::npos) return false;
    for (++at_; at_ < json_.size(); ++at_) {
      const char c = json_[at_];
      if (c == '\\') {
        ++at_;
      } else if (quoted && c == '"') {
        ++at_;
        break;
      } else if (!quoted && (IsBlank(c) || std::string_view(",{}[]:").find(c) != std::string_view::npos)) {
        break;
      }
    }
    at_ = std::min(at_, json_.size());
    out += json_.substr(start, at_ - start);
    return true;
  }

  std::string_view json_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<std::string> SortJson(std::string_view json) { return Sorter(json).Sort(); }

}  // namespace shoal::internal
