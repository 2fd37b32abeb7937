// Reports on files rather than on one module: `shoal check` and `shoal stats`.
#pragma once

#include <functional>

#include "shoal/facts.h"

namespace shoal::internal {
struct CheckedFileState;
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

// A file that was read strictly and verified.
struct SHOAL_API CheckedFile {
  std::string path = {};
  int64_t errors = 0, warnings = 0;
  ErrorKind kind = ErrorKind::kModule;  // of the errors: kEnvironment if the file could not be read
  std::string summary = {};             // "m.hlo: ok, 2 computations, 31 instructions"; empty if there are errors
  std::vector<Diag> diags = {};         // at most a hundred

  std::string DiagText(const DiagStyle& style = {}) const;

  std::shared_ptr<const internal::CheckedFileState> state = {};
};

struct CheckResult : View {
  int64_t ok = 0, failed = 0;  // files
};
// Checks each file, and calls `done` after each. For `own_packages`, see ReadOptions.
SHOAL_API Result<CheckResult> Check(const std::vector<std::string>& paths,
                                    const std::function<void(const CheckedFile&)>& done = {},
                                    const std::vector<std::string>& own_packages = {});

struct StatsOptions {
  bool strict = false;
  bool stages = false;  // also the changes from each compilation stage to the next
  int64_t top = 30;     // modules in the text; 0: all
  std::vector<std::string> own_packages = {};  // as in ReadOptions
  // Called from several threads, one at a time.
  std::function<void(int64_t files_read, int64_t files, std::string_view module)> progress = {};
};
struct DumpStats : View {
  int64_t modules = 0;     // with at least one readable file
  int64_t unreadable = 0;  // files and folders
};
// Summarizes an XLA dump directory, or a file of XLA_SAVE_TENSORS_FILE.
SHOAL_API Result<DumpStats> Stats(const std::string& folder, const StatsOptions& options = {});

}  // namespace shoal::inline v0_1
