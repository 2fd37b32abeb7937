#include "verify/inspection.h"

#include <utility>

#include "ir/common_attrs.h"

namespace shoal {
namespace {

constexpr size_t kKeptPerFlush = 20'000;  // a hostile file may break a rule in every line

bool IsWhole(const Computation* computation) {
  if (computation == nullptr || !computation->defined || computation->root == nullptr) return false;
  return std::all_of(computation->instructions.begin(), computation->instructions.end(),
                     [](const Instruction* hlo) { return hlo != nullptr && hlo->shape_ != nullptr; });
}

}  // namespace

Inspection::Inspection(Module& module) : module_(module) {
  for (const Computation* computation : module.computations)
    if (IsWhole(computation)) computations_.push_back(computation);
  ForEachInstruction(*this, [&](const Instruction& hlo) {
    if (!CallsComputations(hlo)) return;
    for (const Computation* called : CalledComputations(hlo))
      if (called != nullptr) callers_[called].push_back(&hlo);
  });
}

const Inspection::Users& Inspection::UsersIn(const Computation& computation) {
  auto [place, fresh] = users_.try_emplace(&computation);
  Users& users = place->second;
  if (!fresh) return users;
  const auto& all = computation.instructions;
  auto for_each_use = [&](auto visit) {
    std::vector<const Instruction*> last_user(all.size(), nullptr);
    for (const Instruction* user : all)
      for (const Instruction* operand : user->operands) {
        if (operand->parent != &computation || operand->index >= all.size()) continue;
        if (std::exchange(last_user[operand->index], user) != user) visit(operand->index, user);
      }
  };
  users.starts.assign(all.size() + 1, 0);
  for_each_use([&](uint32_t used, const Instruction*) { ++users.starts[used + 1]; });
  for (size_t i = 0; i < all.size(); ++i) users.starts[i + 1] += users.starts[i];
  users.all.resize(users.starts.back());
  std::vector<uint32_t> next(users.starts.begin(), users.starts.end() - 1);
  for_each_use([&](uint32_t used, const Instruction* user) { users.all[next[used]++] = user; });
  return users;
}

std::span<const Instruction* const> Inspection::UsersOf(const Instruction& hlo) {
  const Users& users = UsersIn(*hlo.parent);
  const uint32_t start = users.starts[hlo.index];
  return std::span(users.all).subspan(start, users.starts[hlo.index + 1] - start);
}

std::span<const Instruction* const> Inspection::CallersOf(const Computation& computation) const {
  auto found = callers_.find(&computation);
  if (found == callers_.end()) return {};
  return found->second;
}

bool Inspection::IsCalledBy(const Computation& computation, std::initializer_list<Opcode> opcodes) const {
  auto callers = CallersOf(computation);
  return std::any_of(callers.begin(), callers.end(),
                     [&](const Instruction* caller) { return IsOneOf(*caller, std::span(opcodes)); });
}

void Inspection::Keep(Diag diag) {
  if (found_.size() < kKeptPerFlush) {
    found_.push_back(std::move(diag));
  } else {
    ++dropped_;
  }
}

void Inspection::Add(const Instruction& hlo, Diag diag) {
  if (!diag.at.known())
    diag.message = StrCat("computation ", hlo.parent->name, ", instruction ", hlo.name, ": ", diag.message);
  Keep(std::move(diag));
}

void Inspection::Add(const Instruction& hlo, std::string_view rule, std::string message, Site site) {
  Add(hlo, Fail(hlo.at, rule, std::move(message), site));
}

void Inspection::Add(const Computation& computation, std::string_view rule, std::string message, Site site) {
  if (!computation.at.known()) message = StrCat("computation ", computation.name, ": ", message);
  Keep(Fail(computation.at, rule, std::move(message), site));
}

void Inspection::MoveTo(Diags& diags) {
  std::stable_sort(found_.begin(), found_.end(),
                   [](const Diag& a, const Diag& b) { return a.at.offset < b.at.offset; });
  for (Diag& diag : found_) diags.Add(std::move(diag));
  // Diags itself keeps fewer than we did; these are only counted.
  for (size_t i = 0; i < dropped_; ++i) diags.Add(Diag{});
}

const std::string_view* FrontendAttributeOf(const Instruction& hlo, std::string_view name) {
  for (const FrontendAttribute& attribute : hlo[kFrontendAttributes])
    if (attribute.name == name) return &attribute.value;
  return nullptr;
}

}  // namespace shoal
