#include <algorithm>

#include "api/cpp/facts_state.h"
#include "core/base/environment_error.h"
#include "core/verify/verify.h"
#include "present/reports/check_report.h"
#include "shoal/files.h"

namespace shoal::internal {

struct CheckedFileState {
  LocatedDiags located;
};

namespace {

shoal::CheckedFile CheckFile(const std::string& path, const std::vector<std::string>& own_packages, CheckReport& report) {
  ModuleFile file = ReadModuleFile(path, {.strict = true});
  if (file.module != nullptr) {
    Verify(*file.module, file.diags);
    file.diags = WithStacks(file.diags, *file.module, own_packages);
  }
  report.Add(path, file.module.get(), file.text(), file.diags);
  shoal::CheckedFile out{path, file.diags.errors(), file.diags.warnings()};
  if (std::ranges::any_of(file.diags.found(), IsEnvironmentError)) out.kind = ErrorKind::kEnvironment;
  if (out.errors == 0) out.summary = report.LastLine();
  auto state = std::make_shared<CheckedFileState>();
  state->located = Located(std::move(file));
  out.diags = state->located.ToPublic();
  out.state = std::move(state);
  return out;
}

}  // namespace
}  // namespace shoal::internal

namespace shoal::inline v0_1 {

std::string CheckedFile::DiagText(const DiagStyle& style) const { return state == nullptr ? "" : state->located.ToText(style); }

Result<CheckResult> Check(const std::vector<std::string>& paths, const std::function<void(const CheckedFile&)>& done,
                          const std::vector<std::string>& own_packages) {
  return internal::Guarded([&]() -> Result<CheckResult> {
    auto report = std::make_shared<internal::CheckReport>();
    CheckResult result;
    for (const std::string& path : paths) {
      const CheckedFile file = internal::CheckFile(path, own_packages, *report);
      ++(file.errors == 0 ? result.ok : result.failed);
      if (done) done(file);
    }
    static_cast<View&>(result) =
        internal::MakeView([report](const auto&) { return report->Summary(); }, [report] { return report->Json(); });
    return result;
  });
}

}  // namespace shoal::inline v0_1
