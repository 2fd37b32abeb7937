// Result and Diag: error handling. Three kinds of error exist: in the user's module (a Diag with a span and a rule),
// in the environment (a Diag without a span), in shoal itself (SHOAL_CHECK). Exceptions never leave a folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/base/check.h"

namespace shoal::internal {

// A range of the user's text. Line and column are computed from the Source when a message is printed, so a span costs
// only eight bytes per instruction. Offset kNowhere with length 0 means no location in a text.
struct TextSpan {
  static constexpr uint32_t kNowhere = UINT32_MAX;
  uint32_t offset = kNowhere;
  uint32_t length = 0;

  bool known() const { return offset != kNowhere; }
};

enum class Severity : uint8_t { kError, kWarning };

// The location in shoal's code that created a Diag; printed only with --verbose.
struct Site {
  const char* file = "";
  int line = 0;
  static Site Here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

struct Diag {
  std::string rule;     // "reverse.C2": names the check and its test; empty for syntax and usage errors
  std::string message;  // the requirement and the value found
  TextSpan at;
  Severity severity = Severity::kError;
  Site site;
};

inline Diag Fail(TextSpan at, std::string_view rule, std::string message, Site site = Site::Here()) {
  return {std::string(rule), std::move(message), at, Severity::kError, site};
}

// Creates an error without a location in a text: files, memory, arguments.
inline Diag Fail(std::string message, Site site = Site::Here()) {
  return {{}, std::move(message), {}, Severity::kError, site};
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : rep_(std::in_place_index<0>, std::move(value)) {}
  Result(Diag diag) : rep_(std::in_place_index<1>, std::move(diag)) {}

  bool ok() const { return rep_.index() == 0; }
  T& value() { return std::get<0>(rep_); }
  const T& value() const { return std::get<0>(rep_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  Diag& diag() { return std::get<1>(rep_); }
  const Diag& diag() const { return std::get<1>(rep_); }

 private:
  std::variant<T, Diag> rep_;
};

// Success without a value.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Diag diag) : diag_(std::move(diag)) {}

  bool ok() const { return !diag_.has_value(); }
  Diag& diag() { return *diag_; }
  const Diag& diag() const { return *diag_; }

 private:
  std::optional<Diag> diag_;
};

using Status = Result<void>;

// Returns an error to the caller: `SHOAL_TRY(CheckDims(hlo));`
#define SHOAL_TRY(expression)                                        \
  do {                                                               \
    auto shoal_result_ = (expression);                               \
    if (!shoal_result_.ok()) return std::move(shoal_result_.diag()); \
  } while (false)

// Declares `name` as the value of a Result, or returns the error to the caller: `SHOAL_ASSIGN(shape, Infer(hlo));`
#define SHOAL_ASSIGN(name, expression)                             \
  auto name##_result = (expression);                               \
  if (!name##_result.ok()) return std::move(name##_result.diag()); \
  auto& name = name##_result.value()

}  // namespace shoal::internal
