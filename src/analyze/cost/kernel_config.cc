#include "analyze/cost/kernel_config.h"

#include <cstdlib>

#include "core/ir/common_attrs.h"

namespace shoal::internal {

ConfigJson ConfigOf(const Instruction& hlo) {
  const std::string_view text = hlo[kBackendConfig];
  if (text.empty()) return ConfigJson::object();
  ConfigJson config = ConfigJson::parse(text, nullptr, /*allow_exceptions=*/false);
  return config.is_object() ? config : ConfigJson::object();
}

const ConfigJson& MemberOf(const ConfigJson& object, const char* name) {
  static const ConfigJson empty = ConfigJson::object();
  return object.is_object() && object.contains(name) ? object[name] : empty;
}

double NumberOf(const ConfigJson& value, double fallback) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) {
    const std::string text = value.get<std::string>();
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (end != text.c_str() && *end == '\0') return number;
  }
  return fallback;
}

std::vector<double> NumbersOf(const ConfigJson& list) {
  std::vector<double> numbers;
  if (list.is_array())
    for (const ConfigJson& value : list) numbers.push_back(NumberOf(value, 0));
  return numbers;
}

std::optional<double> DictionaryNumber(const Instruction& hlo, std::string_view name) {
  const std::string_view text = hlo[kBackendConfig];
  const std::string key = std::string(name) + " = ";
  const size_t offset = text.find(key);
  if (offset == std::string_view::npos) return std::nullopt;
  const std::string rest(text.substr(offset + key.size(), 32));
  char* end = nullptr;
  const double number = std::strtod(rest.c_str(), &end);
  return end == rest.c_str() ? std::nullopt : std::optional(number);
}

}  // namespace shoal::internal
