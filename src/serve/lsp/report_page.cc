#include "serve/lsp/report_page.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "core/base/environment_error.h"
#include "core/base/strings.h"
#include "present/page/page.h"

namespace shoal::internal {

Result<std::string> WriteReportPage(const View& view, const std::string& name) {
  if (view.snapshot->analysis() == nullptr) return Fail("the module has errors");
  PageOptions options;
  if (!view.settings.machine.empty()) {
    SHOAL_ASSIGN(machine, LoadMachine(view.settings.machine));
    options.machines.push_back(std::move(machine));
  }
  SHOAL_ASSIGN(page, MakePage({PathOfUri(view.snapshot->uri()), view.snapshot->analysis()->facts()}, nullptr, options));
  const std::string& html = page.html;
  std::error_code error;
  std::string path = (std::filesystem::temp_directory_path(error) / "shoal-XXXXXX.html").string();
  const int file = mkstemps(path.data(), 5);
  if (file < 0) return EnvironmentError("cannot create a temporary file");
  std::string_view rest = html;
  while (!rest.empty()) {
    const ssize_t written = write(file, rest.data(), rest.size());
    if (written <= 0) break;
    rest.remove_prefix(static_cast<size_t>(written));
  }
  close(file);
  if (!rest.empty()) {
    unlink(path.c_str());
    return EnvironmentError(StrCat("cannot write ", path));
  }
  return StrCat(UriOfPath(path), name.empty() ? "" : StrCat("#program&i=", name));
}

}  // namespace shoal::internal
