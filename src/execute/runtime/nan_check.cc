#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "core/base/settings.h"
#include "core/base/strings.h"
#include "execute/data/compare.h"
#include "execute/data/outputs.h"
#include "execute/runtime/observers.h"
#include "core/ops/data_movement.h"
#include "core/ops/op.h"
#include "core/ops/structure.h"
#include "core/ops/traits.h"
#include "kernels/arrays/all_finite.h"

namespace shoal::internal {
namespace {

struct Specials {
  int64_t nans = 0, infs = 0;
  int64_t count = 0;   // number of elements
  int64_t first = -1;  // index of the first NaN, or of the first infinity if there is no NaN
  const Array* in = nullptr;
};

void Count(const Value& value, ThreadPool& pool, Specials& found) {
  if (value.IsTuple())
    for (const Value& element : value.elements()) Count(element, pool, found);
  if (!value.IsArray()) return;
  const ElementType type = value.array().type();
  if (IsFloat(type) || IsComplex(type)) found.count += value.array().count();
  if (AreAllFinite(value.array(), pool)) return;
  ForEachNumber(value.array(), [&](int64_t i, double number) {
    if (std::isfinite(number)) return;
    const bool nan = std::isnan(number);
    if (found.first < 0 || (nan && found.nans == 0)) {
      found.first = i;
      found.in = &value.array();
    }
    ++(nan ? found.nans : found.infs);
  });
}

class NanCheck : public Observer {
 public:
  NanCheck(const Module& module, int64_t devices)
      : module_(module), seen_(static_cast<size_t>(devices)), counts_(static_cast<size_t>(devices)) {
    for (const Computation* computation : module.computations)
      for (const Instruction* hlo : computation->instructions)
        for (const Computation* callee : CalledComputations(*hlo))
          if (!callers_.emplace(callee, hlo).second) shared_.insert(callee);
  }

  Status OnValue(const Device& device, const Instruction& hlo, const Value& value) override {
    CountIterations(counts_[static_cast<size_t>(device.id())], hlo);
    Specials found;
    Seen& seen = seen_[static_cast<size_t>(device.id())];
    if (!MustBeFinite(hlo, seen)) Count(value, device.pool(), found);
    if (found.first < 0) {
      seen[&hlo] = {};
      return {};
    }
    const SpecialKinds before = OperandSpecials(hlo, seen);
    const bool is_input = IsParameter(hlo) || IsConstant(hlo);
    seen[&hlo] = {found.nans > 0, found.infs > 0};
    if (is_input || (found.nans > 0 ? before.nan : before.inf || before.nan)) return {};
    return Fail(hlo.at, "", Message(device, hlo, found));
  }

 private:
  struct SpecialKinds {
    bool nan = false, inf = false;
  };
  using Seen = std::unordered_map<const Instruction*, SpecialKinds>;        // specials in each instruction's last value
  using IterationCounts = std::unordered_map<const Computation*, int64_t>;  // executions of each loop's computation

  // True if the value consists of elements of finite values, so that it need not be read.
  bool MustBeFinite(const Instruction& hlo, const Seen& seen) const {
    auto is_finite = [&](const Instruction* source) {
      const auto found = seen.find(source);
      return found != seen.end() && !found->second.nan && !found->second.inf;
    };
    if (IsParameter(hlo)) return IsFiniteParameter(hlo, is_finite);
    if (CallsComputations(hlo)) {
      if (CallKindOf(hlo) == CallKind::kElements) return false;
      const auto callees = CalledComputations(hlo);
      const bool may_return_operand = CallKindOf(hlo) == CallKind::kLoop;
      return std::ranges::all_of(callees, [&](const Computation* callee) { return is_finite(callee->root); }) &&
             (!may_return_operand || std::ranges::all_of(hlo.operands, is_finite));
    }
    if (IsCollective(hlo)) return false;  // it has values of other devices
    const bool is_structure = Info(hlo.opcode).op_class == OpClass::kStructure;
    const auto moved = is_structure ? std::span<Instruction* const>(hlo.operands.begin(), hlo.operands.end()) : MovedOperands(hlo);
    return !moved.empty() && std::ranges::all_of(moved, is_finite);
  }

  // The parameter of a computation with one caller is an operand of the caller; in a loop, also the body's result.
  bool IsFiniteParameter(const Instruction& parameter, const auto& is_finite) const {
    const auto found = callers_.find(parameter.parent);
    if (found == callers_.end() || shared_.contains(parameter.parent)) return false;
    const Instruction& caller = *found->second;
    const auto number = static_cast<size_t>(parameter[kParameterNumber]);
    switch (CallKindOf(caller)) {
      case CallKind::kOnce: return number < caller.operand_count() && is_finite(caller.operands[number]);
      case CallKind::kLoop: return std::ranges::all_of(caller.operands, is_finite) && is_finite(BodyOf(caller)->root);
      default: return false;
    }
  }

  bool IsLoop(const Instruction& hlo) const {
    return CallsComputations(hlo) && CallKindOf(hlo) == CallKind::kLoop;
  }

  // The first parameter marks the start of a computation. A loop has ended when it produces its value.
  void CountIterations(IterationCounts& counts, const Instruction& hlo) const {
    if (!hlo.parent->parameters.empty() && hlo.parent->parameters[0] == &hlo) ++counts[hlo.parent];
    if (IsLoop(hlo))
      for (const Computation* callee : CalledComputations(hlo)) counts[callee] = 0;
  }

  // Describes the enclosing loops of the computation: ", in iteration 3 of inner, in iteration 7 of outer".
  std::string Iterations(const IterationCounts& counts, const Computation* computation) const {
    std::string text;
    for (auto caller = callers_.find(computation); caller != callers_.end();
         caller = callers_.find(caller->second->parent)) {
      const Instruction& hlo = *caller->second;
      const auto count = counts.find(caller->first);
      if (IsLoop(hlo) && count != counts.end()) StrAppend(&text, ", in iteration ", count->second, " of ", hlo.name);
    }
    return text;
  }

  // The specials in the operands of an instruction, and in the roots of the computations that it called.
  static SpecialKinds OperandSpecials(const Instruction& hlo, const Seen& seen) {
    SpecialKinds kinds;
    auto add = [&](const Instruction* source) {
      const auto found = seen.find(source);
      if (found == seen.end()) return;
      kinds.nan |= found->second.nan;
      kinds.inf |= found->second.inf;
    };
    for (const Instruction* operand : hlo.operands) add(operand);
    for (const Computation* callee : CalledComputations(hlo)) add(callee->root);
    return kinds;
  }

  std::string Message(const Device& device, const Instruction& hlo, const Specials& found) const {
    const bool nan = found.nans > 0;
    std::string message = StrCat(hlo.name, " produced ", nan ? "NaN" : "inf", " on device ", device.id(), ": ",
                                 nan ? found.nans : found.infs, " of ", found.count, " elements");
    if (found.in->rank() > 0) StrAppend(&message, ", the first at ", IndexText(found.first, found.in->dims()));
    if (hlo.parent != module_.entry) StrAppend(&message, ", in computation ", hlo.parent->name);
    message += Iterations(counts_[static_cast<size_t>(device.id())], hlo.parent);
    const std::string purpose = StrCat("for the values of ", hlo.name, hlo.operands.empty() ? "" : " and its operands");
    return message + NextStep(purpose, kSameCommand, {Setting("dump=" + NamePattern(hlo))});
  }

  // A regular expression that matches the names of an instruction and its operands.
  static std::string NamePattern(const Instruction& hlo) {
    std::vector<std::string_view> names = {hlo.name};
    for (const Instruction* operand : hlo.operands)
      if (std::ranges::find(names, operand->name) == names.end()) names.push_back(operand->name);
    std::string pattern = StrJoin(names, "|", [](std::string* out, std::string_view name) { *out += re2::RE2::QuoteMeta({name.data(), name.size()}); });
    re2::RE2::GlobalReplace(&pattern, R"(\\-)", "-");  // easier to read, and no operator outside of brackets
    return StrCat("^(", pattern, ")$");
  }

  const Module& module_;
  std::vector<Seen> seen_;
  std::vector<IterationCounts> counts_;
  std::unordered_map<const Computation*, const Instruction*> callers_;  // the first caller of each computation
  std::unordered_set<const Computation*> shared_;                       // computations with several callers
};

class Observers : public Observer {
 public:
  explicit Observers(std::vector<Observer*> observers) : observers_(std::move(observers)) {}
  Status OnValue(const Device& device, const Instruction& hlo, const Value& value) override {
    for (Observer* observer : observers_) SHOAL_TRY(observer->OnValue(device, hlo, value));
    return {};
  }

 private:
  std::vector<Observer*> observers_;
};

}  // namespace

std::unique_ptr<Observer> NewNanCheck(const Module& module, int64_t devices) {
  return std::make_unique<NanCheck>(module, devices);
}

std::unique_ptr<Observer> NewObservers(std::vector<Observer*> observers) {
  return std::make_unique<Observers>(std::move(observers));
}

}  // namespace shoal::internal
