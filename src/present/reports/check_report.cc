#include "present/reports/check_report.h"

#include "core/base/printable.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "present/reports/diags_json.h"
#include "present/reports/json.h"

namespace shoal::internal {
namespace {

// "2 computations, 31 instructions"
std::string Contents(const Module& module) {
  int64_t instructions = 0;
  for (const Computation* computation : module.computations) instructions += std::ssize(computation->instructions);
  return StrCat(Pluralize(std::ssize(module.computations), "computation"), ", ", Pluralize(instructions, "instruction"));
}

}  // namespace

CheckReport::CheckReport()
    : files_(std::make_unique<nlohmann::ordered_json>(nlohmann::ordered_json::array())),
      first_error_(std::make_unique<nlohmann::ordered_json>()) {}
CheckReport::~CheckReport() = default;

void CheckReport::Add(const std::string& file, const Module* module, const Source* text, const Diags& diags) {
  const bool good = diags.errors() == 0;
  ++(good ? good_ : bad_);
  files_->push_back({{"file", file},
                     {"ok", good},
                     {"errors", diags.errors()},
                     {"warnings", diags.warnings()},
                     {"diagnostics", DiagsJson(diags, text)}});
  if (good) last_line_ = StrCat(EscapeName(text->name()), ": ok, ", Contents(*module), "\n");
  if (!good && first_error_->is_null()) *first_error_ = FirstErrorJson(file, text, diags);
}

std::string CheckReport::Summary() const {
  return StrCat(Pluralize(static_cast<int64_t>(good_ + bad_), "file"), ": ", good_, " ok, ", bad_, " with errors\n");
}

std::string CheckReport::Json() const {
  nlohmann::ordered_json all = {{"version", kJsonVersion}, {"ok", bad_ == 0}};
  if (bad_ > 0) all["error"] = *first_error_;
  all["files"] = *files_;
  return JsonText(all);
}

}  // namespace shoal::internal
