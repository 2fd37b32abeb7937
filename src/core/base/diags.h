// Collects what readers and checkers found, so that they can go on, and prints it with file, line, column and caret.
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
    // The first hundred are kept; beyond that only counted, so that a hostile file cannot fill the memory.
    if (found_.size() < kKept) found_.push_back(std::move(diag));
  }
  void Warn(TextSpan at, std::string_view rule, std::string message, Site site = Site::Here()) {
    Add({std::string(rule), std::move(message), at, Severity::kWarning, site});
  }

  int errors() const { return errors_; }
  int warnings() const { return warnings_; }
  const std::vector<Diag>& found() const { return found_; }

 private:
  static constexpr size_t kKept = 100;
  std::vector<Diag> found_;
  int errors_ = 0;
  int warnings_ = 0;
};

struct DiagStyle {
  bool color = false;
  bool verbose = false;  // adds the place in our own code
  size_t limit = 20;     // then a count
};

// "FILE:LINE:COLUMN: error: message [rule]", the line, a caret under the span.
std::string Render(const Diag& diag, const Source& source, const DiagStyle& style = {});
// All of them, at most style.limit errors and as many warnings, then how many more there are.
std::string Render(const Diags& diags, const Source& source, const DiagStyle& style = {});

}  // namespace shoal::internal
