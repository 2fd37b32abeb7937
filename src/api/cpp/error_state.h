// How internal diagnostics become errors of the public API.
#pragma once

#include <memory>
#include <new>
#include <string>
#include <vector>

#include "core/base/diags.h"
#include "shoal/base.h"

namespace shoal::internal {

struct ErrorState {
  ErrorKind kind = ErrorKind::kModule;
  std::vector<shoal::Diag> diags;
  std::string text, json;
};

// Diagnostics with locations as lines and columns of `source`, which may be null. `file` is the name for messages.
std::vector<shoal::Diag> PublicDiags(const Diags& diags, const std::string& file, const Source* source);

// `diags` must have an error.
Error MakeError(const Diags& diags, const std::string& file, const Source* source);
Error MakeError(const Diag& diag, const std::string& file, const Source* source);
// A wrong argument of an API call.
Error ArgumentError(std::string message);
Error MemoryError();
Error UnexpectedError(const char* message);

// Calls `body`, which returns a Result of the public API. No exception leaves it.
template <class Body>
auto Guarded(Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return MemoryError();
  } catch (const std::exception& error) {
    return UnexpectedError(error.what());
  }
}

}  // namespace shoal::internal
