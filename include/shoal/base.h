// What every part of the C++ API uses: diagnostics, errors and results.
//
// Every function that can fail returns a Result<T>: a value or an Error with one or more diagnostics. shoal throws no
// exception of its own, prints nothing and never ends the process. Handles (Module, Executable, …) are small; copies
// share one immutable object, and all const functions may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#define SHOAL_API __attribute__((visibility("default")))
#define SHOAL_VERSION_MAJOR 0
#define SHOAL_VERSION_MINOR 1

namespace shoal::internal {
struct ErrorState;
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

enum class Severity : uint8_t { kError, kWarning };

// A range of a text. Lines and columns are one-based, in bytes; line 0: no location in a text.
struct Location {
  std::string file = {};
  int32_t line = 0, column = 0, length = 0;
};

struct Diag {
  Severity severity = Severity::kError;
  std::string rule = {};     // "reverse.C2"; empty for syntax errors and errors of the environment
  std::string message = {};  // what was required and what was found
  Location at = {};
};

// Layout of text.
struct TextStyle {
  size_t width = 0;  // maximum columns of a line; 0: unlimited
  bool color = false;
};

// The rule of the warning that a text ends early. Its complete computations were read.
inline constexpr std::string_view kTruncatedRule = "loose.cut-short";

// Which diagnostics become text, and how.
struct DiagStyle {
  TextStyle text = {};
  bool verbose = false;  // add the location in shoal's own code that created each one
  std::optional<Severity> severity = {};  // only those of this severity
  std::string_view rule = {};             // only those of this rule
};

enum class ErrorKind : uint8_t {
  kModule,       // the module is invalid, or its execution failed
  kArgument,     // a wrong argument of the call: an unknown name, a buffer of the wrong size
  kEnvironment,  // a missing file, a missing part of shoal, a full disk
  kMemory,       // not enough memory
  kCancelled,    // the caller cancelled the call
};

class SHOAL_API Error {
 public:
  explicit Error(std::shared_ptr<const internal::ErrorState> state) : state_(std::move(state)) {}
  // Errors of the caller, of kind kArgument and kEnvironment.
  static Error OfArgument(std::string message);
  static Error OfEnvironment(std::string message);

  ErrorKind kind() const;
  // At least one error, then further errors and warnings.
  std::span<const Diag> diags() const;
  // The message of the first error.
  const std::string& message() const;

  // At most a hundred diagnostics are kept, but all warnings are counted.
  int64_t warning_count() const;

  // What the command line prints: "FILE:LINE:COLUMN: error: …", the line and a caret for each diagnostic.
  const std::string& ToText() const;
  std::string ToText(const DiagStyle& style) const;
  const std::string& ToJson() const;

 private:
  std::shared_ptr<const internal::ErrorState> state_;
};

// A value of type T, or an Error. Access to the value of a failed result throws std::bad_variant_access.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : rep_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : rep_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return rep_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(rep_); }
  const T& value() const& { return std::get<0>(rep_); }
  T&& value() && { return std::get<0>(std::move(rep_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return std::get<1>(rep_); }

 private:
  std::variant<T, Error> rep_;
};

// Success without a value.
struct Nothing {};
using Status = Result<Nothing>;

// The version of the library, such as "0.1".
SHOAL_API std::string_view Version();

}  // namespace shoal::inline v0_1
