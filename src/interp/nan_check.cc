#include <cmath>
#include <unordered_map>

#include "base/strings.h"
#include "interp/data/compare.h"
#include "interp/data/outputs.h"
#include "interp/observers.h"
#include "ir/common_attrs.h"
#include "ir/source_place.h"

namespace shoal {
namespace {

struct Specials {
  int64_t nans = 0, infs = 0;
  int64_t count = 0;   // of elements
  int64_t first = -1;  // index of the first nan, or of the first inf if there is none
  const Array* in = nullptr;
};

bool MayHaveSpecials(ElementType type) { return IsFloat(type) || IsComplex(type); }

void Count(const Value& value, Specials& found) {
  if (value.IsTuple())
    for (const Value& element : value.elements()) Count(element, found);
  if (!value.IsArray() || !MayHaveSpecials(value.array().type())) return;
  found.count += value.array().count();
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
  NanCheck(const Module& module, int64_t devices) : module_(module), seen_(static_cast<size_t>(devices)) {}

  Status Saw(const Device& device, const Instruction& hlo, const Value& value) override {
    Specials found;
    Count(value, found);
    Seen& seen = seen_[static_cast<size_t>(device.id())];
    if (found.first < 0) {
      seen.erase(&hlo);
      return {};
    }
    Marks before = MarksBefore(hlo, seen);
    const bool given = hlo.opcode == Opcode::kParameter || hlo.opcode == Opcode::kConstant;
    seen[&hlo] = {found.nans > 0, found.infs > 0};
    if (given || (found.nans > 0 ? before.nan : before.inf || before.nan)) return {};
    return Fail(hlo.at, "", Message(device, hlo, found));
  }

 private:
  struct Marks {
    bool nan = false, inf = false;
  };
  using Seen = std::unordered_map<const Instruction*, Marks>;  // what the last value of an instruction had

  // What operands had, and roots of computations that this instruction ran.
  static Marks MarksBefore(const Instruction& hlo, const Seen& seen) {
    Marks marks;
    auto add = [&](const Instruction* from) {
      const auto at = seen.find(from);
      if (at == seen.end()) return;
      marks.nan |= at->second.nan;
      marks.inf |= at->second.inf;
    };
    for (const Instruction* operand : hlo.operands) add(operand);
    for (const Computation* callee : CalledComputations(hlo)) add(callee->root);
    return marks;
  }

  std::string Message(const Device& device, const Instruction& hlo, const Specials& found) const {
    const bool nan = found.nans > 0;
    std::string message = StrCat(hlo.name, " made ", nan ? "nan" : "inf", " on device ", device.id(), ": ",
                                 nan ? found.nans : found.infs, " of ", found.count, " elements");
    if (found.in->rank() > 0) StrAppend(&message, ", the first at ", IndexText(found.first, found.in->dims()));
    if (hlo.parent != module_.entry) StrAppend(&message, ", in computation ", hlo.parent->name);
    const Metadata* metadata = hlo[kMetadata];
    if (metadata == nullptr) return message;
    const std::string source = SourcePlace(*metadata, module_.stack_frames);
    if (!metadata->op_name.empty()) StrAppend(&message, "; it comes from ", metadata->op_name);
    if (!source.empty()) StrAppend(&message, metadata->op_name.empty() ? "; it comes from " : ", ", source);
    return message;
  }

  const Module& module_;
  std::vector<Seen> seen_;
};

class Observers : public Observer {
 public:
  explicit Observers(std::vector<Observer*> observers) : observers_(std::move(observers)) {}
  Status Saw(const Device& device, const Instruction& hlo, const Value& value) override {
    for (Observer* observer : observers_) SHOAL_TRY(observer->Saw(device, hlo, value));
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

}  // namespace shoal
