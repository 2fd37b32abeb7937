#include "execute/data/input_uses.h"

#include <deque>
#include <set>
#include <tuple>

#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/ir/users.h"
#include "core/ops/callee.h"
#include "core/ops/traits.h"

namespace shoal::internal {
namespace {

// Follows one leaf forward.
class UseSearch {
 public:
  explicit UseSearch(Users& users) : users_(users) {}

  InputUse Find(const Leaf& leaf) {
    Visit({leaf.hlo, leaf.index});
    for (; !queue_.empty() && seen_.size() < kMaxVisited; queue_.pop_front()) {
      const ValueRef value = queue_.front();
      for (const Instruction* user : users_.Of(*value.hlo)) Follow(value, *user);
    }
    return found_;
  }

 private:
  static constexpr size_t kMaxVisited = 1000;  // a bias reaches every later op through the residual stream

  void Visit(ValueRef value) {
    if (seen_.insert({value.hlo, value.path}).second) queue_.push_back(std::move(value));
  }

  void Follow(const ValueRef& value, const Instruction& user) {
    for (size_t i = 0; i < user.operands.size(); ++i) {
      if (user.operands[i] != value.hlo) continue;
      if (IsGetTupleElement(user)) {
        if (!value.path.empty() && value.path[0] == ElementIndexOf(user))
          Visit({&user, ShapeIndex(value.path.begin() + 1, value.path.end())});
      } else if (IsTuple(user)) {
        ShapeIndex path{static_cast<int64_t>(i)};
        path.insert(path.end(), value.path.begin(), value.path.end());
        Visit({&user, std::move(path)});
      } else if (CallsComputations(user) && CallKindOf(user) != CallKind::kElements) {
        FollowCall(value, user, i);
      } else if (ForwardingOf(user) == Forwarding::kSame && i == 0) {
        Visit({&user, value.path});
      } else if (value.path.empty()) {
        Inspect(user, i);
      }
    }
  }

  void FollowCall(const ValueRef& value, const Instruction& user, size_t operand) {
    const std::vector<Computation*> callees = CalledComputations(user);
    for (size_t c = 0; c < callees.size(); ++c) {
      size_t number = operand;
      if (CallKindOf(user) == CallKind::kBranch) {  // operand 0 is the selector
        if (operand != c + 1) continue;
        number = 0;
      }
      const auto& parameters = callees[c]->parameters;
      if (number < parameters.size() && parameters[number] != nullptr) Visit({parameters[number], value.path});
    }
    // A loop returns its state; the states of later iterations are not followed.
    if (CallKindOf(user) == CallKind::kLoop) Visit({&user, value.path});
  }

  void Inspect(const Instruction& user, size_t i) {
    const OperandUse use = OperandUseOf(user, i);
    const bool is_stricter =
        use.domain > found_.domain ||
        (use.domain == OperandDomain::kIndex && found_.domain == use.domain && use.limit < found_.limit);
    if (is_stricter && (use.domain != OperandDomain::kIndex || use.limit > 0)) found_ = {use.domain, use.limit, &user};
    if (!use.passes) return;
    Visit({&user, {}});
  }

  Users& users_;
  InputUse found_;
  std::deque<ValueRef> queue_;
  std::set<std::pair<const Instruction*, ShapeIndex>> seen_;
};

const char* ValuesFor(OperandDomain domain) {
  switch (domain) {
    case OperandDomain::kPositive:
      return "positive numbers";
    case OperandDomain::kExponent:
      return "1, 2 or 3";
    default:
      return "numbers below the size of the indexed dimension";
  }
}

}  // namespace

std::vector<InputUse> InputUsesOf(const std::vector<Leaf>& leaves) {
  Users users;
  std::vector<InputUse> uses;
  for (const Leaf& leaf : leaves) {
    const ElementType type = leaf.shape->IsArray() ? leaf.shape->element_type() : ElementType::kInvalid;
    InputUse use;
    if (IsFloat(type) || (IsInteger(type) && BitWidth(type) >= 8)) use = UseSearch(users).Find(leaf);
    // Fractional indices and exponents that are integers are not restricted.
    if (IsFloat(type) == (use.domain == OperandDomain::kIndex)) use = {};
    if (IsInteger(type) && use.domain == OperandDomain::kExponent) use = {};
    uses.push_back(use);
  }
  return uses;
}

std::vector<std::string> InputUseNotes(const std::vector<Leaf>& leaves, const std::vector<InputUse>& uses) {
  std::vector<std::string> notes;
  for (OperandDomain domain : {OperandDomain::kPositive, OperandDomain::kExponent, OperandDomain::kIndex}) {
    std::string first;
    int64_t more = -1;
    for (size_t i = 0; i < uses.size(); ++i) {
      if (uses[i].domain != domain) continue;
      if (++more == 0)
        first = StrCat(DescribeInput(leaves[i]), ", which is ", ToString(domain), " of ", uses[i].hlo->name);
    }
    if (more < 0) continue;
    notes.push_back(StrCat("generated ", ValuesFor(domain), " for ", first,
                           more == 0 ? "" : StrCat("; likewise for ", Pluralize(more, "other input"))));
  }
  return notes;
}

}  // namespace shoal::internal
