#include "analyze/cost/kernel_config.h"

#include "core/base/json_reader.h"
#include "core/base/numbers.h"
#include "core/ir/common_attrs.h"

namespace shoal::internal {

ConfigJson ConfigOf(const Instruction& hlo) {
  const std::string_view text = hlo[kBackendConfig];
  if (text.empty()) return ConfigJson::object();
  if (IsTooDeepJson(text)) return ConfigJson::object();
  ConfigJson config = ConfigJson::parse(text, nullptr, /*allow_exceptions=*/false);
  return config.is_object() ? config : ConfigJson::object();
}

const ConfigJson& MemberOf(const ConfigJson& object, const char* name) {
  static const ConfigJson empty = ConfigJson::object();
  return object.is_object() && object.contains(name) ? object[name] : empty;
}

double NumberOf(const ConfigJson& value, double fallback) {
  if (value.is_number()) return value.get<double>();
  return value.is_string() ? ParseNumber(value.get<std::string>()).value_or(fallback) : fallback;
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
  std::string_view rest = text.substr(offset + key.size());
  return TakeNumber(rest);
}

}  // namespace shoal::internal
