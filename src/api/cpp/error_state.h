// How internal diagnostics become errors of the public API.
#pragma once

#include <memory>
#include <new>
#include <string>
#include <vector>

#include "core/base/diags.h"
#include "shoal/base.h"

namespace shoal::internal {

// Diagnostics and the text that they refer to.
struct LocatedDiags {
  Diags diags = {};
  std::string file = {};                        // the name for messages if there is no source
  std::shared_ptr<const Source> source = {};    // may be null

  // False: the error is one of the call itself.
  bool HasFile() const { return !file.empty() || source != nullptr; }
  // With locations as lines and columns.
  std::vector<shoal::Diag> ToPublic() const;
  std::string ToText(const shoal::DiagStyle& style) const;
};

struct ErrorState {
  ErrorKind kind = ErrorKind::kModule;
  LocatedDiags located;
  std::vector<shoal::Diag> diags;  // errors first
  std::string text, json;
};

// `located` must have an error.
Error MakeError(LocatedDiags located);
Error MakeError(const Diag& diag, const std::string& file, std::shared_ptr<const Source> source = {});
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
