#include "core/verify/verifier_context.h"

#include "core/ir/common_attrs.h"

namespace shoal::internal {
namespace {

constexpr size_t kMaxKept = 20'000;  // a hostile file may break a rule in every line

bool IsComplete(const Computation* computation) {
  if (computation == nullptr || !computation->defined || computation->root == nullptr) return false;
  return std::all_of(computation->instructions.begin(), computation->instructions.end(),
                     [](const Instruction* hlo) { return hlo != nullptr && hlo->shape_ != nullptr; });
}

}  // namespace

VerifierContext::VerifierContext(Module& module) : module_(module), calls_(module) {
  for (const Computation* computation : module.computations)
    if (IsComplete(computation)) computations_.push_back(computation);
}

bool VerifierContext::IsCalledBy(const Computation& computation, bool (*kind)(const Instruction&)) const {
  auto callers = CallersOf(computation);
  return std::any_of(callers.begin(), callers.end(), [&](const Instruction* caller) { return kind(*caller); });
}

void VerifierContext::Keep(Diag diag) {
  if (found_.size() < kMaxKept) {
    found_.push_back(std::move(diag));
  } else {
    ++dropped_;
  }
}

void VerifierContext::Add(const Instruction& hlo, Diag diag) {
  if (!diag.at.known())
    diag.message = StrCat("computation ", hlo.parent->name, ", instruction ", hlo.name, ": ", diag.message);
  Keep(std::move(diag));
}

void VerifierContext::Add(const Instruction& hlo, std::string_view rule, std::string message, Site site) {
  Add(hlo, Fail(hlo.at, rule, std::move(message), site));
}

void VerifierContext::Add(const Computation& computation, std::string_view rule, std::string message, Site site) {
  if (!computation.at.known()) message = StrCat("computation ", computation.name, ": ", message);
  Keep(Fail(computation.at, rule, std::move(message), site));
}

void VerifierContext::MoveTo(Diags& diags) {
  std::stable_sort(found_.begin(), found_.end(),
                   [](const Diag& a, const Diag& b) { return a.at.offset < b.at.offset; });
  for (Diag& diag : found_) diags.Add(std::move(diag));
  // Diags keeps fewer errors than this class does, so the dropped ones only increase its count.
  for (size_t i = 0; i < dropped_; ++i) diags.Add(Diag{});
}

const std::string_view* FrontendAttributeOf(const Instruction& hlo, std::string_view name) {
  for (const FrontendAttribute& attribute : hlo[kFrontendAttributes])
    if (attribute.name == name) return &attribute.value;
  return nullptr;
}

}  // namespace shoal::internal
