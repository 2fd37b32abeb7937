#include <algorithm>

#include "api/cpp/error_state.h"
#include "core/base/diag_width.h"
#include "core/base/environment_error.h"
#include "core/base/strings.h"
#include "execute/interp/run.h"
#include "present/reports/diags_json.h"
#include "shoal/base.h"

namespace shoal::internal {
namespace {

ErrorKind KindOf(const Diags& diags) {
  const auto first = std::find_if(diags.found().begin(), diags.found().end(),
                                  [](const Diag& diag) { return diag.severity == Severity::kError; });
  if (first == diags.found().end()) return ErrorKind::kModule;
  if (first->rule == kMemoryRule) return ErrorKind::kMemory;
  if (first->rule == kRunCancelled) return ErrorKind::kCancelled;
  return IsEnvironmentError(*first) ? ErrorKind::kEnvironment : ErrorKind::kModule;
}

shoal::Diag PublicDiag(const Diag& diag, const std::string& file, const Source* source) {
  shoal::Diag out;
  out.severity = diag.severity == Severity::kError ? shoal::Severity::kError : shoal::Severity::kWarning;
  if (diag.rule != kEnvironmentRule) out.rule = diag.rule;
  out.message = diag.message;
  out.at.file = source != nullptr ? source->name() : file;
  if (source == nullptr || !diag.at.known()) return out;
  const LineColumn location = source->Locate(diag.at.offset);
  out.at.line = static_cast<int32_t>(location.line);
  out.at.column = static_cast<int32_t>(location.column);
  out.at.length = static_cast<int32_t>(diag.at.length);
  return out;
}

Error ErrorWithoutLocation(ErrorKind kind, std::string message) {
  auto state = std::make_shared<ErrorState>();
  state->kind = kind;
  state->located.diags.Add(EnvironmentError(message));
  state->diags = state->located.ToPublic();
  state->text = StrCat("shoal: error: ", message, "\n");
  state->json = ErrorJson("", nullptr, state->located.diags);
  return Error(std::move(state));
}

bool IsSelected(const Diag& diag, const shoal::DiagStyle& style) {
  if (style.severity && (diag.severity == Severity::kError) != (*style.severity == shoal::Severity::kError)) return false;
  return style.rule.empty() || diag.rule == style.rule;
}

}  // namespace

std::vector<shoal::Diag> LocatedDiags::ToPublic() const {
  std::vector<shoal::Diag> all;
  for (const Diag& diag : diags.found()) all.push_back(PublicDiag(diag, file, source.get()));
  return all;
}

std::string LocatedDiags::ToText(const shoal::DiagStyle& style) const {
  Diags selected;
  const bool all = !style.severity && style.rule.empty();
  for (const Diag& diag : diags.found())
    if (!all && IsSelected(diag, style)) selected.Add(diag);
  const std::unique_ptr<Source> empty = source == nullptr ? Source::FromString(file, "") : nullptr;
  return Render(all ? diags : selected, source == nullptr ? *empty : *source, {.color = style.text.color, .verbose = style.verbose},
                style.text.width);
}

Error MakeError(LocatedDiags located) {
  auto state = std::make_shared<ErrorState>();
  state->kind = KindOf(located.diags);
  state->diags = located.ToPublic();
  std::stable_partition(state->diags.begin(), state->diags.end(),
                        [](const shoal::Diag& diag) { return diag.severity == shoal::Severity::kError; });
  state->text = located.HasFile() ? located.ToText({}) : StrCat("shoal: error: ", state->diags.front().message, "\n");
  state->json = ErrorJson(located.file, located.source.get(), located.diags);
  state->located = std::move(located);
  return Error(std::move(state));
}

Error MakeError(const Diag& diag, const std::string& file, std::shared_ptr<const Source> source) {
  LocatedDiags one{{}, file, std::move(source)};
  one.diags.Add(diag);
  return MakeError(std::move(one));
}

Error ArgumentError(std::string message) { return ErrorWithoutLocation(ErrorKind::kArgument, std::move(message)); }
Error MemoryError() { return ErrorWithoutLocation(ErrorKind::kMemory, "not enough memory"); }
Error UnexpectedError(const char* message) {
  return ErrorWithoutLocation(ErrorKind::kModule, StrCat("internal error in shoal: ", message));
}

}  // namespace shoal::internal

namespace shoal::inline v0_1 {

Error Error::OfArgument(std::string message) { return internal::ArgumentError(std::move(message)); }
Error Error::OfEnvironment(std::string message) { return internal::ErrorWithoutLocation(ErrorKind::kEnvironment, std::move(message)); }
ErrorKind Error::kind() const { return state_->kind; }
std::span<const Diag> Error::diags() const { return state_->diags; }
const std::string& Error::message() const { return state_->diags.front().message; }
int64_t Error::warning_count() const { return state_->located.diags.warnings(); }
const std::string& Error::ToText() const { return state_->text; }
std::string Error::ToText(const DiagStyle& style) const {
  return state_->located.HasFile() ? state_->located.ToText(style) : state_->text;
}
const std::string& Error::ToJson() const { return state_->json; }

std::string_view Version() { return SHOAL_VERSION; }

}  // namespace shoal::inline v0_1
