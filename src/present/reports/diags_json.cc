#include "present/reports/diags_json.h"

#include <algorithm>

#include "core/base/counted_diags.h"
#include "core/base/environment_error.h"
#include "present/reports/json.h"

namespace shoal::internal {

Json DiagJson(const Diag& diag, const Source* text) {
  Json one = {{"severity", diag.severity == Severity::kError ? "error" : "warning"}, {"message", diag.message}};
  if (!diag.rule.empty() && diag.rule != kEnvironmentRule) one["rule"] = diag.rule;
  if (diag.at.known() && text != nullptr) {
    const LineColumn location = text->Locate(diag.at.offset);
    one["line"] = location.line;
    one["column"] = location.column;
    one["length"] = diag.at.length;
  }
  return one;
}

Json DiagsJson(const Diags& diags, const Source* text) {
  Json all = Json::array();
  for (const CountedDiag& each : Deduplicated(diags)) {
    all.push_back(DiagJson(*each.diag, text));
    if (each.times > 1) all.back()["times"] = each.times;
  }
  return all;
}

Json FirstErrorJson(const std::string& file, const Source* text, const Diags& diags) {
  Json error = Json::object();
  const auto first = std::find_if(diags.found().begin(), diags.found().end(),
                                  [](const Diag& diag) { return diag.severity == Severity::kError; });
  if (first != diags.found().end()) error = DiagJson(*first, text);
  error.erase("severity");
  if (!file.empty()) error["file"] = file;
  return error;
}

std::string ErrorJson(const std::string& file, const Source* text, const Diags& diags) {
  Json all = {{"version", kJsonVersion}, {"ok", false}};
  if (!file.empty()) all["file"] = file;
  all["error"] = FirstErrorJson(file, text, diags);
  all["diagnostics"] = DiagsJson(diags, text);
  return JsonText(all);
}

}  // namespace shoal::internal
