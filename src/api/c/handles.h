// The objects behind the handles of shoal.h, and the conversions that all its functions use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <string>

#include "api/cpp/error_state.h"
#include "core/base/strings.h"
#include "shoal/diff.h"
#include "shoal/execute.h"
#include "shoal/facts.h"
#include "shoal/predict.h"
#include "shoal/shoal.h"

struct shoal_error {
  shoal::Error value;
};
struct shoal_string {
  std::string value;
};
struct shoal_diags {
  std::vector<shoal::Diag> value;
};
struct shoal_module {
  shoal::Module value;
};
struct shoal_facts {
  shoal::Facts value;
  mutable std::once_flag has_collectives;
  mutable std::vector<shoal::Collective> collectives;

  // Texts of the C API point into these.
  const std::vector<shoal::Collective>& Collectives() const {
    std::call_once(has_collectives, [this] {
      if (auto found = value.collectives(); found.ok()) collectives = std::move(found->all);
    });
    return collectives;
  }
};
struct shoal_machine {
  shoal::Machine value;
};
struct shoal_prediction {
  shoal::Prediction value;
};
struct shoal_trace {
  shoal::Trace value;
};
struct shoal_diff {
  shoal::ModuleDiff value;
};
struct shoal_pool {
  shoal::ThreadPool value;
};
struct shoal_stop {
  std::stop_source value;
};
struct shoal_executable {
  shoal::Executable value;
  std::vector<shoal::Shape> arguments, results;
};
struct shoal_buffer {
  shoal::Buffer value;
};
struct shoal_buffers {
  shoal::Buffers value;
};
struct shoal_results {
  shoal::RunResult value;
};
struct shoal_pending {
  shoal::PendingRun value;
};

namespace shoal::internal {

// Null if there is no memory for an error; then OutOfMemory() is returned instead.
shoal_error* MakeCError(const Error& error);
// An error that needs no memory. It is never freed.
shoal_error* OutOfMemory();

inline shoal_error* Wrong(std::string message) { return MakeCError(ArgumentError(std::move(message))); }
inline shoal_error* Null(const char* what) { return Wrong(StrCat(what, " must not be null")); }

// Calls `body`, which returns a shoal_error. No exception leaves it.
template <class Body>
shoal_error* GuardedC(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  } catch (const std::exception& error) {
    return MakeCError(UnexpectedError(error.what()));
  }
}

// Zero stands for a count that is not given.
inline std::optional<int64_t> Given(int64_t count) { return count == 0 ? std::nullopt : std::optional(count); }

inline std::string_view OrNothing(const char* text) { return text == nullptr ? "" : text; }

inline shoal_text TextOf(std::string_view text) { return {text.data(), text.size()}; }

inline shoal_error* Give(std::string text, shoal_string** out) {
  *out = new shoal_string{std::move(text)};
  return nullptr;
}

// Reads a struct of the caller, which may be shorter or longer than ours. Null: all defaults. Fails if a field that is
// unknown here is not zero.
template <class Struct>
shoal_error* ReadStruct(const Struct* given, Struct& out) {
  out = Struct{};
  if (given == nullptr) return nullptr;
  const size_t size = given->struct_size;
  if (size < sizeof(size_t)) return Wrong("struct_size is not set; SHOAL_INIT sets it");
  std::memcpy(static_cast<void*>(&out), given, std::min(size, sizeof(Struct)));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (size_t i = sizeof(Struct); i < size; ++i)
    if (bytes[i] != 0) return Wrong("a struct has a field that this version of shoal does not know");
  return nullptr;
}

// Fills a struct of the caller as far as it reaches.
template <class Struct>
shoal_error* WriteStruct(Struct value, Struct* out) {
  if (out == nullptr) return Null("out");
  const size_t size = out->struct_size;
  if (size < sizeof(size_t)) return Wrong("struct_size is not set; SHOAL_INIT sets it");
  value.struct_size = size;
  std::memcpy(static_cast<void*>(out), &value, std::min(size, sizeof(Struct)));
  return nullptr;
}

inline shoal_error* ReadStrings(const char* const* given, size_t count, std::vector<std::string>& out) {
  for (size_t i = 0; i < count; ++i) {
    if (given == nullptr || given[i] == nullptr) return Null("a string of a list");
    out.emplace_back(given[i]);
  }
  return nullptr;
}

// Of the execution functions, which a comparison uses too.
shoal_error* ReadCompileOptions(const shoal_compile_options* given, shoal::CompileOptions& out);
shoal_error* ReadExecuteOptions(const shoal_execute_options* given, shoal::ExecuteOptions& out);

shoal_error* WriteDiag(const shoal::Diag& diag, shoal_diag* out);
shoal_error* GiveBuffer(const Buffers& buffers, size_t device, size_t leaf, shoal_buffer** out);

#define SHOAL_C_TRY(expression)                              \
  do {                                                       \
    if (shoal_error* failed = (expression)) return failed;   \
  } while (false)

}  // namespace shoal::internal
