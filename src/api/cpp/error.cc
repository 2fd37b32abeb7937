#include <algorithm>

#include "api/cpp/error_state.h"
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
  Diags diags;
  diags.Add(EnvironmentError(message));
  auto state = std::make_shared<ErrorState>();
  state->kind = kind;
  state->diags = PublicDiags(diags, "", nullptr);
  state->text = StrCat("shoal: error: ", message, "\n");
  state->json = ErrorJson("", nullptr, diags);
  return Error(std::move(state));
}

}  // namespace

std::vector<shoal::Diag> PublicDiags(const Diags& diags, const std::string& file, const Source* source) {
  std::vector<shoal::Diag> all;
  for (const Diag& diag : diags.found()) all.push_back(PublicDiag(diag, file, source));
  return all;
}

Error MakeError(const Diags& diags, const std::string& file, const Source* source) {
  auto state = std::make_shared<ErrorState>();
  state->kind = KindOf(diags);
  state->diags = PublicDiags(diags, file, source);
  std::stable_partition(state->diags.begin(), state->diags.end(),
                        [](const shoal::Diag& diag) { return diag.severity == shoal::Severity::kError; });
  const std::unique_ptr<Source> empty = source == nullptr ? Source::FromString(file, "") : nullptr;
  state->text = Render(diags, source == nullptr ? *empty : *source);
  state->json = ErrorJson(file, source, diags);
  return Error(std::move(state));
}

Error MakeError(const Diag& diag, const std::string& file, const Source* source) {
  Diags one;
  one.Add(diag);
  return MakeError(one, file, source);
}

Error ArgumentError(std::string message) { return ErrorWithoutLocation(ErrorKind::kArgument, std::move(message)); }
Error MemoryError() { return ErrorWithoutLocation(ErrorKind::kMemory, "not enough memory"); }
Error UnexpectedError(const char* message) {
  return ErrorWithoutLocation(ErrorKind::kModule, StrCat("internal error in shoal: ", message));
}

}  // namespace shoal::internal

namespace shoal::inline v0_1 {

Error Error::OfArgument(std::string message) { return internal::ArgumentError(std::move(message)); }
ErrorKind Error::kind() const { return state_->kind; }
std::span<const Diag> Error::diags() const { return state_->diags; }
const std::string& Error::message() const { return state_->diags.front().message; }
const std::string& Error::ToText() const { return state_->text; }
const std::string& Error::ToJson() const { return state_->json; }

std::string_view Version() { return SHOAL_VERSION; }

}  // namespace shoal::inline v0_1
