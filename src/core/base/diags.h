// Collects diagnostics, so that parsers and verifiers can continue after an error, and renders them with a caret.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/source.h"

namespace shoal::internal {

class Diags {
 public:
  void Add(Diag diag) {
    if (diag.severity == Severity::kError) {
      ++errors_;
    } else {
      ++warnings_;
    }
    // Stores the first hundred and only counts the rest, so that a hostile file cannot exhaust memory.
    if (found_.size() < kMaxStored) found_.push_back(std::move(diag));
  }
  void Warn(TextSpan at, std::string_view rule, std::string message, Site site = Site::Here()) {
    Add({std::string(rule), std::move(message), at, Severity::kWarning, site});
  }

  int errors() const { return errors_; }
  int warnings() const { return warnings_; }
  const std::vector<Diag>& found() const { return found_; }

 private:
  static constexpr size_t kMaxStored = 100;
  std::vector<Diag> found_;
  int errors_ = 0;
  int warnings_ = 0;
};

struct DiagStyle {
  bool color = false;
  bool verbose = false;  // adds the location in shoal's code that created the diagnostic
  size_t limit = 20;     // maximum number of errors, and of warnings, to print; the rest are only counted
};

// Renders "FILE:LINE:COLUMN: error: message [rule]", the source line, and carets under the span.
std::string Render(const Diag& diag, const Source& source, const DiagStyle& style = {});
// Renders at most style.limit errors and style.limit warnings, then the number of remaining ones.
std::string Render(const Diags& diags, const Source& source, const DiagStyle& style = {});

}  // namespace shoal::internal
