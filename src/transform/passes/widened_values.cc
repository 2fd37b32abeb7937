#include "transform/passes/widened_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/ir/call_graph.h"
#include "core/ir/users.h"
#include "core/ops/collective_kinds.h"
#include "core/ops/data_movement.h"
#include "core/ops/families.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// The content of a value. Ordered: data movement yields the minimum over its operands.
enum class Content : uint8_t {
  kWide,      // elements that the narrow type cannot represent
  kNarrow,    // converted elements of the narrow type
  kConstant,  // only constants that the narrow type can represent
};

constexpr size_t kMaxConstant = 1 << 16;  // larger constants count as wide

bool IsF32(const Instruction& hlo) {
  if (hlo.shape().IsArray()) return hlo.shape().element_type() == ElementType::kF32;
  const auto& elements = hlo.shape().elements();
  return IsCollective(hlo) && !elements.empty() && std::all_of(elements.begin(), elements.end(), [](const Shape* e) {
    return e->IsArray() && e->element_type() == ElementType::kF32;
  });
}

bool IsRepresentable(const Instruction& constant, ElementType narrow) {
  const Literal* literal = constant[kConstantValue];
  if (literal == nullptr || literal->elided || literal->data.size() > kMaxConstant) return false;
  for (size_t at = 0; at + 4 <= literal->data.size(); at += 4) {
    uint32_t bits = 0;
    std::memcpy(&bits, literal->data.data() + at, sizeof(bits));
    const double value = DecodeFloat(ElementType::kF32, bits);
    const double rounded = DecodeFloat(narrow, EncodeFloat(narrow, value));
    if (value != rounded && !(std::isnan(value) && std::isnan(rounded))) return false;
  }
  return true;
}

// True if all users of the tuple `state` are get-tuple-elements of it.
bool IsReadByElement(const Instruction& state, Users& users) {
  const auto all = users.Of(state);
  return state.parent->root != &state &&
         std::all_of(all.begin(), all.end(), [](const Instruction* user) { return IsGetTupleElement(*user); });
}

class Finder {
 public:
  Finder(const Module& module, ElementType narrow) : module_(module), narrow_(narrow), loops_(module) {
    for (const Computation* computation : module.computations)
      for (const Instruction* hlo : computation->instructions) {
        if (LoopElement e = ReadBy(*hlo); e.loop != nullptr) reads_[e].push_back(hlo);
        all_.push_back(hlo);
      }
  }

  WidenedValues Run() {
    constexpr int kMaxSweeps = 8;  // each sweep finds products that depend on those of the previous one
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
      FindContents();
      FindRounded();
      if (!AddValues()) break;
    }
    return std::move(found_);
  }

 private:
  LoopElement ReadBy(const Instruction& hlo) const {
    return IsGetTupleElement(hlo) && hlo.shape().IsArray() ? loops_.ReadBy(hlo) : LoopElement();
  }

  // An instruction whose type the pass can change: it only moves elements.
  bool Moves(const Instruction& hlo) const {
    return IsF32(hlo) && (!MovedOperands(hlo).empty() || ReadBy(hlo).loop != nullptr || IsCollectiveElement(hlo));
  }
  static bool IsCollectiveElement(const Instruction& hlo) { return IsGetTupleElement(hlo) && IsCollective(*hlo.operands[0]); }

  Content ContentOf(const Instruction& hlo) const {
    auto found = contents_.find(&hlo);
    return found == contents_.end() ? Content::kConstant : found->second;  // the start of a greatest fixed point
  }

  Content Compute(const Instruction& hlo) const {
    if (!IsF32(hlo)) return Content::kWide;
    if (found_.values.contains(&hlo)) return Content::kNarrow;
    if (IsConvert(hlo)) return hlo.operand_shape(0).element_type() == narrow_ ? Content::kNarrow : Content::kWide;
    if (IsConstant(hlo)) return IsRepresentable(hlo, narrow_) ? Content::kConstant : Content::kWide;
    if (const LoopElement e = ReadBy(hlo); e.loop != nullptr)
      return std::min(ContentOf(*e.loop->operands[0]->operands[e.index]), ContentOf(*BodyOf(*e.loop)->root->operands[e.index]));
    if (IsCollectiveElement(hlo)) return ContentOf(*hlo.operands[0]);
    Content content = Content::kConstant;
    const auto moved = MovedOperands(hlo);
    if (moved.empty()) return Content::kWide;
    for (const Instruction* operand : moved) content = std::min(content, ContentOf(*operand));
    return content;
  }

  void FindContents() {
    contents_.clear();
    for (bool changed = true; changed;) {
      changed = false;
      for (const Instruction* hlo : all_) {
        const Content content = Compute(*hlo);
        auto [at, inserted] = contents_.try_emplace(hlo, Content::kConstant);
        if (content == at->second) continue;
        at->second = content;
        changed = true;
      }
    }
  }

  bool IsRounded(const Instruction& hlo) const { return !not_rounded_.contains(&hlo); }
  bool IsElementRounded(const LoopElement& element) const {
    auto reads = reads_.find(element);
    return reads != reads_.end() && std::all_of(reads->second.begin(), reads->second.end(), [&](const Instruction* read) { return IsRounded(*read); });
  }

  // True if `user` needs the operand only in the narrow type.
  bool RoundsOperand(const Instruction& user, const Instruction& operand) const {
    if (IsConvert(user)) return user.shape().element_type() == narrow_;
    if (found_.contractions.contains(&user)) return true;
    if (ReducesOverDevices(user)) return IsF32(user) && IsRounded(user);
    if (IsTuple(user)) return RoundsTuple(user, operand);
    const auto moved = MovedOperands(user);
    const bool is_moved = std::find(moved.begin(), moved.end(), &operand) != moved.end();
    return (is_moved || IsCollectiveElement(user)) && IsF32(user) && IsRounded(user);
  }

  bool RoundsTuple(const Instruction& tuple, const Instruction& operand) const {
    Instruction* loop = loops_.LoopOf(tuple);
    if (loop == nullptr) return false;
    for (size_t i = 0; i < tuple.operand_count(); ++i)
      if (tuple.operands[i] == &operand && !IsElementRounded({loop, i})) return false;
    return true;
  }

  // Computes the values that their users round, as a greatest fixed point: removes values from the set of all.
  void FindRounded() {
    not_rounded_.clear();
    const auto is_rounded = [&](const Instruction& hlo) {
      if (!IsF32(hlo) || hlo.parent->root == &hlo) return false;
      const auto users = users_.Of(hlo);
      if (users.empty()) return false;
      return std::all_of(users.begin(), users.end(), [&](const Instruction* user) { return RoundsOperand(*user, hlo); });
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (auto it = all_.rbegin(); it != all_.rend(); ++it)
        if (!not_rounded_.contains(*it) && !is_rounded(**it)) not_rounded_.insert(*it), changed = true;
    }
  }

  // Returns true if it found more than the previous sweep.
  bool AddValues() {
    const size_t before = found_.values.size() + found_.loop_elements.size() + found_.contractions.size();
    for (const auto& [element, reads] : reads_) {
      const Instruction* read = reads.front();
      if (!IsF32(*read)) continue;
      if (ContentOf(*read) == Content::kNarrow || IsElementRounded(element)) found_.loop_elements.insert(element);
    }
    for (const Instruction* hlo : all_) {
      if (!IsF32(*hlo)) continue;
      if (const LoopElement e = ReadBy(*hlo); e.loop != nullptr) {
        if (found_.loop_elements.contains(e)) found_.values.insert(hlo);
      } else if (IsContraction(*hlo)) {
        AddContraction(*hlo);
      } else if (ReducesOverDevices(*hlo)) {
        const bool sums_products = std::all_of(hlo->operands.begin(), hlo->operands.end(),
                                               [&](const Instruction* operand) { return IsMovedProduct(*operand); });
        if (sums_products || IsRounded(*hlo)) found_.values.insert(hlo);
      } else if (Moves(*hlo) && (ContentOf(*hlo) == Content::kNarrow || IsRounded(*hlo))) {
        found_.values.insert(hlo);
      }
    }
    return found_.values.size() + found_.loop_elements.size() + found_.contractions.size() > before;
  }

  // True for a widened product, also if data movement follows it.
  bool IsMovedProduct(const Instruction& hlo) const {
    const Instruction* at = &hlo;
    while (!found_.contractions.contains(at)) {
      const auto moved = MovedOperands(*at);
      if (moved.empty() || !IsF32(*at)) return false;
      at = moved.front();
    }
    return true;
  }

  void AddContraction(const Instruction& hlo) {
    const auto is_narrow = [&](const Instruction* operand) {
      return operand->shape().element_type() == narrow_ || ContentOf(*operand) == Content::kNarrow;
    };
    const bool has_types = std::all_of(hlo.operands.begin(), hlo.operands.end(), [&](const Instruction* operand) {
      return operand->shape().element_type() == narrow_ || IsF32(*operand);
    });
    if (!has_types) return;
    if (!std::any_of(hlo.operands.begin(), hlo.operands.end(), is_narrow) && !IsRounded(hlo)) return;
    // A product that the module declares with narrow operands and a wide result was written so.
    const bool declared = std::all_of(hlo.operands.begin(), hlo.operands.end(), [&](const Instruction* operand) {
      return operand->shape().element_type() == narrow_;
    });
    if (declared && !IsRounded(hlo)) return;
    found_.contractions.insert(&hlo);
    found_.values.insert(&hlo);
  }

  const Module& module_;
  const ElementType narrow_;
  LoopElements loops_;
  Users users_;
  std::vector<const Instruction*> all_;
  absl::flat_hash_map<LoopElement, std::vector<const Instruction*>> reads_;
  absl::flat_hash_map<const Instruction*, Content> contents_;
  absl::flat_hash_set<const Instruction*> not_rounded_;
  WidenedValues found_;
};

}  // namespace

LoopElements::LoopElements(const Module& module) {
  Users users;
  const CallGraph calls(module);
  for (const Computation* computation : module.computations)
    for (Instruction* hlo : computation->instructions) {
      if (!IsLoop(*hlo) || hlo->operand_count() != 1 || !IsTuple(*hlo->operands[0])) continue;
      const Computation *body = BodyOf(*hlo), *condition = ConditionOf(*hlo);
      if (body == nullptr || condition == nullptr || !IsTuple(*body->root)) continue;
      if (calls.CallersOf(*body).size() != 1 || calls.CallersOf(*condition).size() != 1) continue;
      if (body->parameters.size() != 1 || condition->parameters.size() != 1) continue;
      if (!IsReadByElement(*hlo, users) || !IsReadByElement(*body->parameters[0], users) ||
          !IsReadByElement(*condition->parameters[0], users) || users.Of(*hlo->operands[0]).size() != 1 ||
          !users.Of(*body->root).empty())
        continue;
      loops_.push_back(hlo);
      for (const Instruction* state : {static_cast<const Instruction*>(hlo), static_cast<const Instruction*>(body->parameters[0]),
                                       static_cast<const Instruction*>(condition->parameters[0])})
        loop_of_state_[state] = hlo;
      loop_of_tuple_[hlo->operands[0]] = hlo;
      loop_of_tuple_[body->root] = hlo;
    }
}

LoopElement LoopElements::ReadBy(const Instruction& element) const {
  if (!IsGetTupleElement(element)) return {};
  auto found = loop_of_state_.find(element.operands[0]);
  return found == loop_of_state_.end() ? LoopElement() : LoopElement{found->second, static_cast<size_t>(ElementIndexOf(element))};
}

Instruction* LoopElements::LoopOf(const Instruction& tuple) const {
  auto found = loop_of_tuple_.find(&tuple);
  return found == loop_of_tuple_.end() ? nullptr : found->second;
}

WidenedValues FindWidenedValues(const Module& module, ElementType narrow) { return Finder(module, narrow).Run(); }

}  // namespace shoal::internal
