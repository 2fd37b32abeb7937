#include "serve/rpc/message_json.h"

#include <utility>
#include <vector>

#include "core/base/json_reader.h"

namespace shoal::internal {
namespace {

using nlohmann::json;

constexpr size_t kMaxDepth = 200;
constexpr size_t kMaxValues = 4'000'000;

constexpr size_t kLongString = 1 << 16;

// A long string, and the number of strings, keys included, before it.
struct LongString {
  size_t index = 0;
  std::string value;
};

// Decodes long strings and leaves "" in their places: nlohmann's lexer would store two more copies of an opened document.
// Strings with errors stay, so that the lexer reports them.
std::vector<LongString> TakeLongStrings(std::string& text) {
  std::vector<LongString> taken;
  std::string rest;
  size_t copied = 0, index = 0;
  for (size_t at = text.find('"'); at != std::string::npos; at = text.find('"', at), ++index) {
    size_t end = at + 1;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    if (end >= text.size()) break;
    if (end - at > kLongString) {
      JsonReader reader(std::string_view(text).substr(at, end + 1 - at));
      std::string value;
      value.reserve(end - at);
      if (reader.TakeString(value); reader.ok()) {
        taken.push_back({index, std::move(value)});
        rest.append(text, copied, at + 1 - copied);
        copied = end;
      }
    }
    at = end + 1;
  }
  if (!taken.empty()) text = std::move(rest.append(text, copied));
  return taken;
}

class Builder : public nlohmann::json_sax<json> {
 public:
  explicit Builder(std::vector<LongString> long_strings) : long_strings_(std::move(long_strings)) {}

  bool null() override { return Add(nullptr); }
  bool boolean(bool value) override { return Add(value); }
  bool number_integer(number_integer_t value) override { return Add(value); }
  bool number_unsigned(number_unsigned_t value) override { return Add(value); }
  bool number_float(number_float_t value, const string_t&) override { return Add(value); }
  bool string(string_t& value) override {
    const size_t index = strings_++;
    const bool is_long = next_long_ < long_strings_.size() && long_strings_[next_long_].index == index;
    return is_long ? Add(std::move(long_strings_[next_long_++].value)) : Add(value);
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return Open(json::object()); }
  bool start_array(size_t) override { return Open(json::array()); }
  bool key(string_t& value) override {
    ++strings_;
    key_ = value;
    return true;
  }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool parse_error(size_t at, const std::string&, const nlohmann::detail::exception&) override {
    error_at_ = at;
    return false;
  }

  Result<json> Take(bool ok) {
    if (ok) return std::move(root_);
    if (too_large_) return Fail("the JSON is nested too deeply or has too many values");
    return Fail("invalid JSON at byte " + std::to_string(error_at_));
  }

 private:
  template <class T>
  bool Add(T&& value) {
    return Place(json(std::forward<T>(value))) != nullptr;
  }
  bool Open(json container) {
    if (open_.size() >= kMaxDepth) {
      too_large_ = true;
      return false;
    }
    json* placed = Place(std::move(container));
    if (placed != nullptr) open_.push_back(placed);
    return placed != nullptr;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }
  json* Place(json value) {
    if (++values_ > kMaxValues) {
      too_large_ = true;
      return nullptr;
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    json& parent = *open_.back();
    if (parent.is_array()) return &parent.emplace_back(std::move(value));
    json& member = parent[key_];
    member = std::move(value);
    return &member;
  }

  json root_;
  std::vector<json*> open_;  // valid while open: a container gets no sibling before it is closed
  std::string key_;
  std::vector<LongString> long_strings_;
  size_t strings_ = 0, next_long_ = 0;  // strings read, and the next one of long_strings_
  size_t values_ = 0, error_at_ = 0;
  bool too_large_ = false;
};

}  // namespace

Result<json> ReadJson(std::string text) {
  Builder builder(TakeLongStrings(text));
  const bool ok = json::sax_parse(text.begin(), text.end(), &builder);
  return builder.Take(ok);
}

std::string WriteJson(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace shoal::internal
